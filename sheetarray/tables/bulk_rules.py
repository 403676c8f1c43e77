"""Whether a whole column of numerals is integers, keeps its digits as doubles, or is dates."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cells import cast_dates, longest_text, to_byte_rows
from ..dtypes import Array
from ..elements import DAY
from .numerals import keeps_number
from .short import MOMENT, dates_of, unit_of_digits

if TYPE_CHECKING:
    import polars as pl

_PRINTED = re.compile(r"[+-]?[0-9]+\.([0-9]+)(?:([eE])[+-][0-9]{2,3})?")
_CELLS_A_PRINT = 2**16


def engine_double() -> Any:
    """Return the engine's dtype of doubles, which is imported when it is needed."""
    import polars as pl

    return pl.Float64


def are_long_integers(texts: pl.Series) -> bool:
    """Return whether a column holds nothing but integers, one of which has so many digits that it may be an id.

    Such a column stays text even if doubles hold its integers exactly, as they hold 10^22.
    """
    first = texts.drop_nulls().head(1)
    if not len(first) or not first[0].lstrip("+-").isdigit():
        return False
    return bool((texts.str.len_bytes() > 16).any()) and bool(texts.str.contains("^[+-]?[0-9]+$").all())


def find_lost_numeral(texts: pl.Series, values: pl.Series) -> int | None:
    """Return the index of the first numeral that would lose digits as a double; None if none would."""
    numerals, doubles = texts.to_list(), values.to_list()
    for start in range(0, len(numerals), _CELLS_A_PRINT):
        some, numbers = numerals[start : start + _CELLS_A_PRINT], doubles[start : start + _CELLS_A_PRINT]
        if _are_printed_alike(some, numbers):
            continue
        for index, (text, number) in enumerate(zip(some, numbers, strict=True)):
            if not keeps_number(text, number):
                return start + index
    return None


def _are_printed_alike(texts: list[str], values: list[float]) -> bool:
    """Return whether numerals look like doubles printed with one fixed number of digits after the point."""
    match = _PRINTED.fullmatch(texts[0])
    if match is None:
        return False
    plus = "+" if texts[0].startswith("+") else ""
    form = f"%{plus}.{len(match[1])}{match[2] or 'f'}\n"
    return form * len(texts) % tuple(values) == "\n".join(texts) + "\n"


def parse_dates(column: pl.Series) -> Array | None:
    """Return a column of dates or moments as datetime64; None if it holds anything else."""
    held = column.drop_nulls()
    if held.str.contains(f"^(?:{DAY}|NaT)$").all():
        if (held == "NaT").all():
            return None
        unit = "D"
    elif held.str.contains(f"^(?:{DAY}|{MOMENT}|NaT)$").all():
        unit = unit_of_digits(longest_text(held.str.extract(r"\.([0-9]+)$")))
    else:
        return None
    if unit != "ns" and len(held) == len(column) and (dates := _parse_even_dates(column, unit)) is not None:
        return dates
    return dates_of(column.fill_null("NaT").to_list(), unit)


def _parse_even_dates(column: pl.Series, unit: str) -> Array | None:
    """Return dates that are all written with as many characters, of their bytes; None where they are not, or one of
    them does not exist.
    """
    lengths = column.str.len_bytes()
    width = int(lengths[0])
    if lengths.min() != lengths.max():
        return None
    return cast_dates(to_byte_rows(column, width), np.dtype(f"datetime64[{unit}]"))
