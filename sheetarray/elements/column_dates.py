"""datetime64 <-> ISO text in bulk: the engine for its own units and years of four digits, `elements` for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import Buffer, DType
from .column_strings import to_byte_rows
from .dates import dates_to_iso
from .engine import compute_columns
from .spelling import DAY, NO_TIME, moment_pattern

if TYPE_CHECKING:
    import polars as pl

_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}  # of the fraction of a second
_FIRST, _LAST = np.datetime64("0000-01-01"), np.datetime64("9999-12-31")
_MIDNIGHT = "T00:00:00"
_ANY = f"1970-01-01{_MIDNIGHT}.000000000"
_ZERO = np.uint8(ord("0"))
_DAYS = np.zeros(256, np.uint8)
_DAYS[1:13] = 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
_CUT_SHORT = (10, 19, 23, 26)  # the number of characters of a text whose zeros at the end were left out


def dates_to_text(buffer: Buffer) -> pl.Series:
    """Return the ISO texts of a buffer, `NaT` where there is no date."""
    import polars as pl

    unit, count = np.datetime_data(buffer.dtype)
    held = buffer[~np.isnat(buffer)]
    if count != 1 or unit not in (*_DIGITS, "D") or not _have_four_digit_years(held, unit):
        return pl.Series(dates_to_iso(buffer), dtype=pl.String)
    if unit == "D" and len(held) and 2 * (last_day := int((held.max() - held.min()).astype(np.int64))) < len(buffer):
        places = (buffer - held.min()).astype(np.int64)  # each day is written once
        places[np.isnat(buffer)] = last_day + 1
        days = [*map(str, held.min() + np.arange(last_day + 1)), NO_TIME]
        return pl.Series(days, dtype=pl.String).gather(places)
    fraction = f"%.{_DIGITS[unit]}f" if _DIGITS.get(unit) else ""
    dates = pl.Series(buffer.astype("datetime64[ms]") if unit == "s" else buffer)
    text = pl.col("dates").dt.to_string("%Y-%m-%d" if unit == "D" else f"%Y-%m-%dT%H:%M:%S{fraction}")
    return compute_columns({"dates": dates}, text=text.fill_null(NO_TIME))["text"]


def dates_to_short_text(buffer: Buffer) -> pl.Series:
    """Return the ISO texts of a buffer, `2024-01-01` instead of `2024-01-01T00:00:00.000000`: times of day and decimals
    that are zero are left out where the unit is finer than milliseconds. A moment has the same text in every buffer.
    """
    unit, count = np.datetime_data(buffer.dtype)
    digits = _DIGITS.get(unit, 0)
    if count != 1 or digits <= _DIGITS["ms"]:
        return dates_to_text(buffer)
    counts = buffer[~np.isnat(buffer)].view(np.int64)
    for coarser, seconds in (("D", 86_400), ("s", 1)):
        if not (counts % (seconds * 10**digits)).any():
            buffer, digits = buffer.astype(f"datetime64[{coarser}]"), _DIGITS.get(coarser, 0)
            break
    texts = dates_to_text(buffer)
    for zeros in ["000"] * (digits // 3 - 1) + [".000"] * bool(digits):
        texts = texts.str.strip_suffix(zeros)
    return texts.str.strip_suffix(_MIDNIGHT)


def _have_four_digit_years(held: Buffer, unit: str) -> bool:
    """Return whether all years of dates have four digits; no date is missing."""
    if unit == "ns":
        return True  # 1677 to 2262, and no room for more
    return not len(held) or bool(held.min() >= _FIRST and held.max() < _LAST)


def dates_from_text(column: pl.Series, dtype: DType) -> tuple[Buffer, pl.Series] | None:
    """Return the dates of a column, and a mask of the cells that have to be looked at singly, since they are not
    written exactly as `dates_to_text` or `dates_to_short_text` writes them.

    The result is None if the engine does not have the unit, or a cell is a day that no calendar has.
    """
    import polars as pl

    unit, count = np.datetime_data(dtype.numpy)
    if count != 1 or unit not in (*_DIGITS, "D") or not len(column):
        return None
    digits = _DIGITS.get(unit)
    pattern = DAY if digits is None else moment_pattern(str(digits) if digits else "", between="T")
    width = 10 if digits is None else 19 + bool(digits) + digits
    plain = column.str.contains(f"^{pattern}$").fill_null(value=False)
    if not plain.all() and (column := _lengthen(given := column, width)) is not given:
        plain = column.str.contains(f"^{pattern}$").fill_null(value=False)
    missing = (column == NO_TIME).fill_null(value=False)
    texts = (
        column if plain.all() else pl.select(pl.when(plain).then(column).otherwise(pl.lit(_ANY[:width]))).to_series()
    )
    rows = to_byte_rows(texts, width)
    if unit == "ns":
        years = (rows[:, :4] - np.uint8(48)).astype(np.int64) @ [1000, 100, 10, 1]
        if np.min(years) < 1678 or np.max(years) > 2261:
            return None  # beyond the range of nanoseconds, or so near its ends that each cell has to be looked at
    dates = cast_dates(rows, dtype.numpy)
    if dates is None:
        return None
    dates[missing.to_numpy()] = NO_TIME
    return dates, ~(plain | missing)


def cast_dates(rows: np.ndarray[Any, np.dtype[np.uint8]], dtype: np.dtype[Any]) -> Buffer | None:
    """Return dates that are written alike, `2024-01-31` or that and a time of day; None if one is no day of a calendar.

    Days are checked before NumPy sees them: it crashes when it casts more than 500 byte strings and one is not a date
    (seen with 2.4.6).

    `rows`: ASCII codes, of the shape (texts, characters); digits where digits are due, and times of day that exist.
    `dtype`: datetime64 of any unit.
    """
    month, day = ((rows[:, first] - _ZERO) * np.uint8(10) + (rows[:, first + 1] - _ZERO) for first in (5, 8))
    if (day - np.uint8(1) >= _DAYS[month]).any():
        return None
    last = np.flatnonzero((month == 2) & (day == 29))
    if len(last):
        years = (rows[last, :4] - _ZERO).astype(np.int64) @ [1000, 100, 10, 1]
        if ((years % 4 != 0) | ((years % 100 == 0) & (years % 400 != 0))).any():
            return None
    dates: Buffer = rows.view(f"S{rows.shape[1]}").ravel().astype(dtype)
    return dates


def _lengthen(column: pl.Series, width: int) -> pl.Series:
    """Return texts of `width` characters: zeros are put back where they were left out; the same series if nowhere."""
    import polars as pl

    lengths = column.str.len_bytes()
    for short in _CUT_SHORT:
        if short < width and (cut := lengths == short).any():
            column = pl.select(pl.when(cut).then(column + _ANY[short:width]).otherwise(column)).to_series()
    return column
