"""datetime64 <-> serial dates, the days since 1899-12-30 as spreadsheets count them: where that is exact.

A double counts days from 1900-03-01 to the end of 9999 finely enough for milliseconds. Before that Excel has a day that
never was (its day 1 is 1900-01-01, and day 60 the 29th of February). Moments between two milliseconds are text, and so
are periods: years, months and weeks. Workbooks may count from 1904-01-01 instead, which is their day 0.
Source: ECMA-376 part 1, 18.17.4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import Array, Buffer, Mask

UNITS_A_DAY = {
    "D": 1,
    "h": 24,
    "m": 1440,
    "s": 86_400,
    "ms": 86_400_000,
    "us": 86_400_000_000,
    "ns": 86_400_000_000_000,
}
"""How many of each unit of datetime64 a day has, for those that can be serial dates."""

_DAY, _MINUTE = "yyyy-mm-dd", "yyyy-mm-dd hh:mm"
DATE_CODES = {"D": _DAY, "h": _MINUTE, "m": _MINUTE, "s": f"{_MINUTE}:ss", "ms": f"{_MINUTE}:ss.000"}
"""The number format of dates in spreadsheets, by the unit of datetime64; see `shown_unit` for finer units."""

_EPOCH = 25_569  # the serial date of 1970-01-01
FIRST_SERIAL, _LAST = 61, 2_958_465  # 1900-03-01, from which on all programs count alike, and 9999-12-31
_BEFORE = {False: np.datetime64("1899-12-30"), True: np.datetime64("1904-01-01")}
_LAST_DAY = np.datetime64("9999-12-31")


def serial_unit(dtype: np.dtype[Any]) -> str | None:
    """Return the unit of a datetime64 dtype whose moments can be serial dates; None for any other dtype.

    Example:
        >>> serial_unit(np.dtype("M8[us]")), serial_unit(np.dtype("M8[M]")), serial_unit(np.dtype("M8[25s]"))
        ('us', None, None)
    """
    if dtype.kind != "M":
        return None
    unit, multiple = np.datetime_data(dtype)
    return unit if multiple == 1 and unit in UNITS_A_DAY else None


def shown_unit(buffer: Buffer) -> str | None:
    """Return the unit down to which times are shown, a key of `DATE_CODES`; None if no spreadsheet's date fits.

    Moments are shown as days, minutes, seconds or milliseconds, as they need, and no finer than they are counted.

    Example:
        >>> shown_unit(np.array(["2026-07-01", "NaT"], "M8[s]")), shown_unit(np.array(["2026-07-01T12:30"], "M8[ns]"))
        ('D', 'm')
    """
    unit = serial_unit(buffer.dtype)
    if unit is None:
        return None
    counts, exact = np.ascontiguousarray(buffer).view(np.int64), _are_serials(buffer, unit)
    for shown in ("D", "m", "s"):
        step = UNITS_A_DAY[unit] // UNITS_A_DAY[shown]
        if step <= 1 or not (counts % step)[exact].any():
            return shown if step else unit
    return "ms"


def _are_serials(buffer: Buffer, unit: str) -> Mask:
    """Return a mask of the moments that are serial dates: whole milliseconds from 1900-03-01 to the end of 9999."""
    a_day = UNITS_A_DAY[unit]
    counts = np.ascontiguousarray(buffer).view(np.int64)
    last = min((_LAST + 1 - _EPOCH) * a_day, np.iinfo(np.int64).max)
    inside: Mask = (counts >= max((FIRST_SERIAL - _EPOCH) * a_day, -np.iinfo(np.int64).max)) & (counts < last)
    if a_day > UNITS_A_DAY["ms"]:
        inside &= counts % (a_day // UNITS_A_DAY["ms"]) == 0
    return inside


def dates_to_serials(buffer: Buffer, unit: str) -> tuple[Buffer, Mask]:
    """Return the serial dates of moments, integers for days, and which of them are exact; the others are text.

    Example:
        >>> serials, exact = dates_to_serials(np.array(["1900-02-28T12", "1900-03-01T12", "NaT"], "M8[h]"), "h")
        >>> serials[exact].tolist(), exact.tolist()
        ([61.5], [False, True, False])
    """
    exact = _are_serials(buffer, unit)
    counts = np.where(exact, np.ascontiguousarray(buffer).view(np.int64), 0)
    if UNITS_A_DAY[unit] > UNITS_A_DAY["ms"]:
        counts, unit = counts // (UNITS_A_DAY[unit] // UNITS_A_DAY["ms"]), "ms"
    units = counts + _EPOCH * UNITS_A_DAY[unit]
    return (units if unit == "D" else units / UNITS_A_DAY[unit]), exact


def serials_to_counts(serials: Buffer, unit: str) -> tuple[Buffer, Mask]:
    """Return moments as counts of a unit since 1970, and a mask of the serial dates that are such moments: the opposite
    of `dates_to_serials`.

    A serial date stands for the nearest millisecond. One that is not a whole number of the unit, such as a time of day
    where days are counted, is not in the mask: the caller has to look at its cell.
    """
    inside = (serials >= FIRST_SERIAL) & (serials < _LAST + 1)
    counts = np.rint((np.where(inside, serials, float(FIRST_SERIAL)) - _EPOCH) * UNITS_A_DAY["ms"]).astype(np.int64)
    fits = inside & (counts < (_LAST + 1 - _EPOCH) * UNITS_A_DAY["ms"])
    if UNITS_A_DAY[unit] > UNITS_A_DAY["ms"]:
        finer = UNITS_A_DAY[unit] // UNITS_A_DAY["ms"]
        fits &= np.abs(counts) <= np.iinfo(np.int64).max // finer  # nanoseconds end in 2262
        return np.where(fits, counts, 0) * finer, fits
    whole, rest = np.divmod(counts, UNITS_A_DAY["ms"] // UNITS_A_DAY[unit])
    return whole, fits & (rest == 0)


def _moments_of(serials: Buffer, from_1904: bool) -> tuple[Any, Mask]:
    """Return the moments of serial dates to a millisecond, and a mask of those that are dates."""
    first, before = (0.0 if from_1904 else 1.0), _BEFORE[from_1904]
    days = np.where((serials < 60) & (not from_1904), serials + 1, serials)
    fits = (serials >= first) & (days < float((_LAST_DAY - before).astype(np.int64)) + 1)
    if not from_1904:
        fits &= (serials < 60) | (serials >= 61)
    counts = np.rint(np.where(fits, days, 1.0) * UNITS_A_DAY["ms"]).astype("timedelta64[ms]")
    dates: Any = before.astype("datetime64[ms]") + counts
    return dates, fits


def serials_to_moments(columns: Array, *, from_1904: bool) -> list[Array | None]:
    """Return the moments of which `serials_to_dates` gives the text, column by column: days, or seconds, or
    milliseconds where one has any; None for a column in which a number is not a date.

    `columns`: of serial dates, each a row of the array. `from_1904`: whether they count from 1904.

    Example:
        >>> serials_to_moments(np.array([[61.0, 61.5], [62.0, 62.0], [62.0, -1.0]]), from_1904=False)[1:]
        [array(['1900-03-02', '1900-03-02'], dtype='datetime64[D]'), None]
    """
    dates, fits = _moments_of(columns, from_1904)
    counts = dates.view(np.int64)
    moments_of_columns: list[Array | None] = [None] * len(columns)
    rest = fits.all(axis=1)
    for unit in ("D", "s", "ms"):
        whole = rest & ~(counts % (UNITS_A_DAY["ms"] // UNITS_A_DAY[unit])).any(axis=1)
        rest &= ~whole
        indices = np.flatnonzero(whole)
        for index, moments in zip(indices.tolist(), dates[indices].astype(f"M8[{unit}]"), strict=True):
            moments_of_columns[index] = moments.copy()  # a view would keep all columns in memory
    return moments_of_columns


def serials_to_dates(serials: Buffer, *, from_1904: bool) -> list[str | None]:
    """Return the dates as ISO text; None for what is not a date: a negative number, a time of day, day 60, beyond 9999.

    `from_1904`: whether they count from 1904.

    Example:
        >>> serials_to_dates(np.array([1.0, 61.5, 0.25, 60.0]), from_1904=False)
        ['1900-01-01', '1900-03-01T12:00:00', None, None]
    """
    dates, fits = _moments_of(serials, from_1904)
    whole = np.datetime_as_string(dates, unit="ms").tolist()
    return [
        text.removesuffix(".000").removesuffix("T00:00:00") if fit else None
        for text, fit in zip(whole, fits.tolist(), strict=True)
    ]
