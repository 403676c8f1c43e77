"""The cells of a column, all at once, as a Series of the engine's dtype.

A run holds the cells of the column alone, sorted, their rows counted from the first requested one. Where a cell is in
doubt, there is no Series, and `ColumnTexts` looks at the cells one by one.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .....columns.sheet import Numbers
from .....dtypes import DType, Mask
from .....elements import engine_dtype
from .....elements.floats import find_ties
from .....elements.serials import serial_unit, serials_to_counts
from .....loops import Doubles
from ..cells import (
    BOOLEAN,
    LARGE,
    NUMBER,
    ROUNDED,
    SERIAL,
    TEXT,
    CellRun,
)

if TYPE_CHECKING:
    import polars as pl


DAYS_TO_1904 = 1462  # from the day 0 of 1900 to that of 1904


def to_numbers(run: CellRun, dtype: DType) -> pl.Series | Numbers | None:
    """Convert a column at once to a Series of a polars dtype; None if its cells have to be converted one by one.

    That is where a cell is neither a number nor text that reads as one, or where the dtype may not hold its number
    exactly. Doubles without blanks between them come as `Numbers`.
    """
    import polars as pl

    if not _mark_known_kinds(dtype.kind)[run.kinds].all():
        return None
    if dtype.kind == "float":
        values, are_numerals = to_doubles(run)
        narrow = round_once(values, dtype) if are_numerals else None
        if narrow is None:
            return None
        is_finite = np.isfinite(narrow).all()
        if not is_finite and not (np.isfinite(values) | (run.kinds == TEXT)).all():
            return None  # a cell of text, such as `Infinity`, need not be finite
        return np.array(narrow) if is_finite and run.height == len(run) else run.put_nulls(pl.Series(narrow))
    target, values = engine_dtype(dtype), run.numbers
    is_text = np.isnan(values)
    if (places := np.flatnonzero(is_text)).size:
        texts = run.written(places)
        parsed = None if texts is None or dtype.kind == "bool" else texts.cast(target, strict=False)
        if parsed is None or parsed.null_count():
            return None
        values = np.where(is_text, 0, values)
    if len(values) and not np.abs(values).max() < ROUNDED:
        return None
    counts = values.astype(np.int64)
    if (counts != values).any() or (dtype.kind == "bool" and len(counts) and int(counts.view(np.uint64).max()) > 1):
        return None
    numbers = pl.Series(counts).cast(target, strict=False)
    if numbers.null_count():
        return None
    return run.put_nulls(numbers.scatter(places, parsed) if len(places) else numbers)


def to_doubles(run: CellRun) -> tuple[Doubles, bool]:
    """Return the number of each cell, and whether each has one. A text that is a numeral has its number, others NaN."""
    import polars as pl

    numbers = run.numbers
    if not len(places := np.flatnonzero(np.isnan(numbers))):
        return numbers, True
    if (texts := run.written(places)) is None:
        return numbers, False
    parsed = texts.cast(pl.Float64, strict=False)
    numbers = numbers.copy()
    numbers[places] = parsed.to_numpy()
    return numbers, not parsed.null_count()


def to_moments(run: CellRun, dtype: DType, *, from_1904: bool) -> pl.Series | None:
    """Convert a column of dates at once to integers in the dtype's unit; None if its cells have to be converted one by
    one.

    That is where a cell is not a date, or its moment is not a whole number of units.
    """
    import polars as pl

    unit = serial_unit(dtype.numpy)
    if unit is None or not (run.kinds == SERIAL).all():
        return None
    serials, are_numerals = to_doubles(run)
    if not are_numerals:
        return None
    counts, exact = serials_to_counts(serials + DAYS_TO_1904 * from_1904, unit)
    return run.put_nulls(pl.Series(counts)) if exact.all() else None


@cache
def _mark_known_kinds(kind: str) -> Mask:
    """Return a mask of the kinds of cells whose values need no check for this kind of dtype.

    LARGE, whose double may not be the number that was written, is among them for floats alone.
    """
    accepted = {"bool": [BOOLEAN], "float": [NUMBER, TEXT, LARGE]}.get(kind, [NUMBER, TEXT])
    return np.isin(np.arange(LARGE + 1), accepted)


def round_once(values: np.ndarray[Any, Any], dtype: DType) -> np.ndarray[Any, Any] | None:
    """Round float64 values to a shorter float dtype; None if a value lies in the middle between two, so that its text
    has to decide.
    """
    if dtype.numpy.itemsize == 8:
        return values
    with np.errstate(over="ignore", under="ignore"):
        narrow = values.astype(dtype.numpy)
    return None if len(find_ties(values, narrow)) else narrow
