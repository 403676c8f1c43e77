"""datetime64 -> ISO 8601 text, for the moments that NumPy converts without an overflow near the ends of int64.

NumPy multiplies a count by the multiple of its unit (`[7D]`), and weeks by seven, adds 1970 to years, takes days away,
and rounds down on reading, all in int64 and without a look at overflow. Inside `iso_limits` both directions are right.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import numpy as np

from ..dtypes import Array, Buffer
from ..errors import DTypeError

_SHORT_YEAR = re.compile(r"^-(\d{3})(?!\d)")
_ZERO_TIME = re.compile(r"(T00:00(:00)?)?(\.0+)?$")
_LEAST, _MOST = -(2**63) + 1, 2**63 - 1  # counts; the one below is NaT
_DAYS_TO_2000 = 365 * 30 + 7  # NumPy takes them away from a count of days


def iso_limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Return the least and the greatest count of a datetime64 dtype whose ISO text NumPy gets right.

    Example:
        >>> iso_limits(np.dtype("M8[s]")) == (-(2**63) + 1, 2**63 - 1)
        True
        >>> iso_limits(np.dtype("M8[2h]"))[1] == (2**63 - 1) // 2
        True
    """
    unit, multiple = np.datetime_data(dtype)
    least = _LEAST + (multiple - 1)  # which reading takes away, to round down
    most = _MOST - (1970 if unit == "Y" else 0)
    if unit in ("D", "W"):
        least = max(least, _LEAST + _DAYS_TO_2000)
        multiple *= 7 if unit == "W" else 1
    return -(-least // multiple), most // multiple


def find_dates_without_text(buffer: Buffer) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the indices of the moments that have no ISO text: beyond the limits, and not NaT."""
    least, most = iso_limits(buffer.dtype)
    counts = buffer.astype(buffer.dtype.newbyteorder("="), copy=False).view(np.int64)
    if (least, most) == (_LEAST, _MOST) or not len(counts):
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(((counts < least) | (counts > most)) & (counts >= _LEAST))


def find_date_problem(buffer: Buffer) -> tuple[int, str] | None:
    """Return the first moment of a datetime64 buffer that has no ISO text: its index, and why; None if all have one."""
    indices = find_dates_without_text(buffer)
    if not len(indices):
        return None
    index = int(indices[0])
    count = int(buffer[index].astype(np.int64))
    reason = f"({count} units of {buffer.dtype.name} since 1970) is beyond the dates that NumPy can print"
    return index, f"{reason}: write the counts themselves, a.astype('int64')"


def dates_to_iso(buffer: Buffer) -> list[str]:
    """Return the ISO 8601 texts of a datetime64 buffer, `NaT` for a missing one; years have four digits at least."""
    if problem := find_date_problem(buffer):
        raise DTypeError(f"element {problem[0]} {problem[1]}")
    return known_dates_to_iso(buffer)


def known_dates_to_iso(buffer: Buffer) -> list[str]:
    """Return the ISO texts of a datetime64 buffer, empty where a moment has none."""
    shown = np.datetime_as_string(buffer)
    texts: list[str] = shown.tolist()
    signs = shown.view(np.uint32).reshape(len(texts), -1)[:, 0] if texts else np.empty(0)
    for index in np.flatnonzero(signs == ord("-")).tolist():
        texts[index] = _SHORT_YEAR.sub(r"-0\1", texts[index])  # NumPy counts the sign among the four
    for index in find_dates_without_text(buffer).tolist():
        texts[index] = ""
    return texts


def label_text(value: Any) -> str:
    """Return the text of a label in a message: a date without a time of day, or decimals, that are zero.

    Example:
        >>> label_text(np.datetime64("2026-03-01T00:00:00.000000")), label_text(np.datetime64("2026-03-01T12:30", "ms"))
        ('2026-03-01', '2026-03-01T12:30:00')
    """
    return _ZERO_TIME.sub("", str(value)) if isinstance(value, np.datetime64) else str(value)


def convert_times(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return dates or durations in another unit; where that unit does not reach, other times than they were.

    NumPy wraps these silently, and refuses all of an array from 2.5 on: there they become NaT.

    Example:
        >>> convert_times(np.array(["2020-01-01", "2020-01-02"], "M8[D]"), np.dtype("M8[h]")).astype(str).tolist()
        ['2020-01-01T00', '2020-01-02T00']
    """
    try:
        return np.asarray(array.astype(dtype))
    except OverflowError:
        converted = np.full(array.shape, "NaT", dtype)
        for index in np.ndindex(array.shape):
            with suppress(OverflowError):
                converted[index] = array[index].astype(dtype)
        return converted
