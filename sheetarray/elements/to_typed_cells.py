"""A buffer of elements -> cells of a container that tells numbers, text and booleans apart, and has only doubles.

What a double keeps is a number: finite floats, and integers up to a magnitude. All else is the text that a
container of text would hold. Blanks are empty text and None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import Buffer, DType, Mask, Positions
from .column_dates import dates_to_short_text
from .column_strings import unicode_text
from .encode import encode_generic
from .generics import generic_to_typed
from .serials import DATE_CODES, dates_to_serials, serial_unit
from .spelling import TextLook
from .to_cells import buffer_to_text

if TYPE_CHECKING:
    import polars as pl

_TYPED = TextLook(".", "typed")


@dataclass(frozen=True, slots=True)
class TypedCells:
    """The cells of a piece of a column, each a number, a text, a boolean or a blank."""

    # a numeric Series with null for every cell that is no number; None if no cell is one
    numbers: pl.Series | None = None
    texts: pl.Series | None = None  # a String Series with null for every cell that is not text; None if no cell is one
    # a Boolean Series with null for every cell that is no boolean; None if no cell is one
    booleans: pl.Series | None = None

    @property
    def kinds(self) -> list[pl.Series]:
        """Return the series that are not None, with the kind of cell that each holds."""
        return [kind for kind in (self.numbers, self.texts, self.booleans) if kind is not None]

    def __len__(self) -> int:
        return max(map(len, self.kinds), default=0)

    def with_null(self, nulls: Mask, null: str) -> TypedCells:
        """Return the cells with `null` as the text of missing values in columns of text; "" makes them blank.

        `nulls`: a mask of the missing values.
        """
        return self if self.texts is None else replace(self, texts=put_null(self.texts, nulls, null))


def put_null(cells: pl.Series, nulls: Mask, null: str) -> pl.Series:
    """Return cells with a text at the places of a mask; "" makes these cells blank."""
    import polars as pl

    if not nulls.any():
        return cells
    if not null:
        return cells.zip_with(_to_series(~nulls), pl.Series([None], dtype=cells.dtype))
    return cells.cast(pl.String).zip_with(_to_series(~nulls), pl.Series([null]))


def buffer_to_typed(
    buffer: Buffer, dtype: DType, *, exact: int, as_text: bool = False, serials: bool = False, start: int = 0
) -> TypedCells:
    """Return the cells of a buffer.

    `buffer`: 1-D and contiguous, of `dtype.numpy`. `exact`: the largest magnitude of an integer that is a number, 2^32
    at least; larger ones are text. `serials`: make dates the serial numbers that spreadsheets count, where those are
    exact. `start`: index of the first element in the array's buffer, for messages.

    Raises:
        DTypeError: text that is not Unicode (lone surrogates), or a generic element that no cell holds.

    Example:
        >>> from sheetarray import dtypes
        >>> cells = buffer_to_typed(np.array([1, 2**60]), dtypes.from_name("int64"), exact=10**15)
        >>> cells.numbers.to_list(), cells.texts.to_list()
        ([1, None], [None, '1152921504606846976'])
    """
    if as_text:
        return TypedCells(texts=_blank_to_null(_to_texts(buffer, dtype, start)))
    match dtype.kind:
        case "float":
            return _split_kinds(buffer, dtype, np.isfinite(buffer))
        case "int":
            return _split_kinds(buffer, dtype, _is_exact_number(buffer, exact))
        case "timedelta":
            return _split_kinds(buffer, dtype, _is_exact_number(buffer.view(np.int64), exact))
        case "bool":
            return TypedCells(booleans=_to_series(buffer.view(np.uint8) != 0))
        case "datetime" if serials and (unit := serial_unit(buffer.dtype)):
            return _split_dates(buffer, dtype, unit, start)
        case "datetime":
            return TypedCells(texts=dates_to_short_text(buffer))
        case "generic":
            return _split_generics(buffer, exact)
        case _:
            return TypedCells(texts=_blank_to_null(_to_texts(buffer, dtype, start)))


def _to_series(values: Any) -> pl.Series:
    import polars as pl

    return pl.Series(values)


def _to_texts(buffer: Buffer, dtype: DType, start: int = 0) -> pl.Series:
    import polars as pl

    return buffer_to_text(buffer, dtype, _TYPED, start=start).cast(pl.String)


def _blank_to_null(texts: pl.Series) -> pl.Series:
    """Return the texts with null for each empty one, which is a blank cell."""
    import polars as pl

    empty = texts == ""
    return texts.zip_with(~empty, pl.Series([None], dtype=pl.String)) if empty.any() else texts


def _is_exact_number(counts: Buffer, exact: int) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """Return a mask of the integers that a double holds exactly, or None if all of them are."""
    if counts.dtype.itemsize < 8 or not len(counts) or (int(counts.min()) >= -exact and int(counts.max()) <= exact):
        return None
    return (counts <= exact) if counts.dtype.kind == "u" else (counts >= -exact) & (counts <= exact)


def _split_kinds(buffer: Buffer, dtype: DType, plain: np.ndarray[Any, np.dtype[np.bool_]] | None) -> TypedCells:
    numbers = _to_series(buffer.view(np.int64) if dtype.kind == "timedelta" else buffer)
    return _split(numbers, plain, lambda others: _to_texts(np.ascontiguousarray(buffer[others]), dtype))


def _split_dates(buffer: Buffer, dtype: DType, unit: str, start: int) -> TypedCells:
    """Return serial dates as numbers, and text for moments that no serial date can hold."""
    numbers, exact = dates_to_serials(buffer, unit)

    def texts_of(others: Positions) -> pl.Series:
        moments = np.ascontiguousarray(buffer[others])
        return _to_texts(moments, dtype, start) if unit in DATE_CODES else dates_to_short_text(moments)

    return _split(_to_series(numbers), exact, texts_of)


def _split(numbers: pl.Series, is_number: Mask | None, texts_of: Callable[[Positions], pl.Series]) -> TypedCells:
    """Return numbers where a mask is true, or everywhere without one, and texts in all other places."""
    import polars as pl

    if is_number is None or is_number.all():
        return TypedCells(numbers=numbers)
    text_places = np.flatnonzero(~is_number)
    texts = pl.repeat(None, len(numbers), dtype=pl.String, eager=True).scatter(text_places, texts_of(text_places))
    if len(text_places) == len(numbers):
        return TypedCells(texts=texts)
    return TypedCells(numbers=pl.select(pl.when(_to_series(is_number)).then(numbers)).to_series(), texts=texts)


def _split_generics(buffer: Buffer, exact: int) -> TypedCells:
    import polars as pl

    cells = [generic_to_typed(cell, exact) for cell in encode_generic(buffer, exact=None)]
    return TypedCells(
        numbers=pl.Series([_to_numeral(cell) for cell in cells], dtype=pl.String),
        texts=unicode_text([cell if isinstance(cell, str) else None for cell in cells]),
        booleans=pl.Series([cell if isinstance(cell, bool) else None for cell in cells], dtype=pl.Boolean),
    )


def _to_numeral(cell: Any) -> str | None:
    return None if cell is None or isinstance(cell, (str, bool)) else repr(cell)
