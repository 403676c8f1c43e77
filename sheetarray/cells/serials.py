"""datetime64 -> serial dates, the days since 1899-12-30 as spreadsheets count them: where that is exact.

A double counts days from 1900-03-01 to the end of 9999 finely enough for milliseconds. Before that Excel has a day that
never was, and other units are finer, or are periods rather than days: those moments are text.
Source: ECMA-376 part 1, 18.17.4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import Buffer, Mask

UNITS_A_DAY = {"D": 1, "h": 24, "m": 1440, "s": 86_400, "ms": 86_400_000}
"""How many of each unit of datetime64 a day has, for those that serial dates keep."""

_EPOCH = 25_569  # the serial date of 1970-01-01
_FIRST, _LAST = 61, 2_958_465  # 1900-03-01, 9999-12-31


def serial_unit(dtype: np.dtype[Any]) -> str | None:
    """Return the unit of a datetime64 dtype of which serial dates keep every moment; None for any other dtype.

    Example:
        >>> serial_unit(np.dtype("M8[ms]")), serial_unit(np.dtype("M8[us]")), serial_unit(np.dtype("M8[25s]"))
        ('ms', None, None)
    """
    if dtype.kind != "M":
        return None
    unit, multiple = np.datetime_data(dtype)
    return unit if multiple == 1 and unit in UNITS_A_DAY else None


def dates_to_serials(buffer: Buffer, unit: str) -> tuple[Buffer, Mask]:
    """Return the serial dates of moments, integers for days, and which of them are exact; the others are text.

    Example:
        >>> serials, exact = dates_to_serials(np.array(["1900-02-28T12", "1900-03-01T12", "NaT"], "M8[h]"), "h")
        >>> serials[exact].tolist(), exact.tolist()
        ([61.5], [False, True, False])
    """
    a_day = UNITS_A_DAY[unit]
    counts = np.ascontiguousarray(buffer).view(np.int64)
    exact: Mask = (counts >= (_FIRST - _EPOCH) * a_day) & (counts < (_LAST + 1 - _EPOCH) * a_day)
    known = np.where(exact, counts, 0) + _EPOCH * a_day
    return (known if unit == "D" else known / a_day), exact


def serials_to_counts(serials: Buffer, unit: str) -> tuple[Buffer, Mask]:
    """Return moments as counts of a unit since 1970, and which serial dates are such moments: the opposite.

    A serial date stands for the nearest millisecond. One that is none in this unit, such as a time of day where days
    are counted, is left to those who look at single cells.
    """
    inside = (serials >= _FIRST) & (serials < _LAST + 1)
    counts = np.rint((np.where(inside, serials, float(_FIRST)) - _EPOCH) * UNITS_A_DAY["ms"]).astype(np.int64)
    whole, rest = np.divmod(counts, UNITS_A_DAY["ms"] // UNITS_A_DAY[unit])
    return whole, inside & (rest == 0) & (counts < (_LAST + 1 - _EPOCH) * UNITS_A_DAY["ms"])
