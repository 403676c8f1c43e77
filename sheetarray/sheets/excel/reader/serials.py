"""Doubles of workbooks: which ones tell all that was written, and durations, which are numbers of days.

Spreadsheet programs keep milliseconds of durations. Source: ECMA-376 part 1, 18.17.4.
"""

from __future__ import annotations

import numpy as np

from ....dtypes import Mask
from .cells import ROUNDED

Doubles = np.ndarray[tuple[int], np.dtype[np.float64]]

_MILLISECONDS = 86_400_000  # of a day
_LONGEST = 1e8  # days: no program shows as many as a duration


def format_duration(serial: float) -> str | None:
    """Return hours, minutes and seconds, as programs show a number of days as a duration; None if it is too large.

    Example:
        >>> format_duration(1.5), format_duration(0.000000058)
        ('36:00:00', '00:00:00.005')
    """
    if not abs(serial) < _LONGEST:
        return None
    seconds, milliseconds = divmod(round(abs(serial) * _MILLISECONDS), 1000)
    fraction = f".{milliseconds:03}" if milliseconds else ""
    hours, seconds = divmod(seconds, 3600)
    sign = "-" if serial < 0 else ""
    return f"{sign}{hours:02}:{seconds // 60:02}:{seconds % 60:02}{fraction}"


def are_exact_doubles(numbers: Doubles) -> Mask:
    """Return a mask of the doubles that are so small that none stands for several integers."""
    with np.errstate(invalid="ignore"):  # NaN that signals
        return np.abs(numbers) < ROUNDED


def are_plain_doubles(numbers: Doubles) -> bool:
    """Return whether doubles tell all that was written: none is so large that it may have been rounded, none is -0."""
    return bool(mark_plain_doubles(numbers).all())


def mark_plain_doubles(numbers: Doubles) -> Mask:
    """Return a mask of the doubles of which `are_plain_doubles` is true."""
    mask = are_exact_doubles(numbers)
    zeros = np.flatnonzero(numbers == 0)
    mask[zeros[np.signbit(numbers[zeros])]] = False
    return mask
