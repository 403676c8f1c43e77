"""Serial dates and durations, as workbooks count days -> text.

In the system of 1900 day 1 is 1900-01-01, and day 60 a 29th of February that never was; in that of 1904 day 0 is
1904-01-01. Source: ECMA-376 part 1, 18.17.4. Spreadsheets keep milliseconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Doubles = np.ndarray[tuple[int], np.dtype[np.float64]]

_MILLISECONDS = 86_400_000  # a day
_BEFORE = {False: np.datetime64("1899-12-30"), True: np.datetime64("1904-01-01")}
_LAST_DAY = np.datetime64("9999-12-31")
_LONGEST = 1e8  # days


def serials_to_dates(serials: Doubles, *, from_1904: bool) -> list[str | None]:
    """Return the dates as ISO text; None for a number that is none: negative, a time of day alone, day 60, beyond 9999.

    Args:
        serials: days and fractions of a day.
        from_1904: whether they count from 1904.

    Example:
        >>> serials_to_dates(np.array([1.0, 61.5, 0.25, 60.0]), from_1904=False)
        ['1900-01-01', '1900-03-01T12:00:00', None, None]
    """
    first, before = (0.0 if from_1904 else 1.0), _BEFORE[from_1904]
    days = np.where((serials < 60) & (not from_1904), serials + 1, serials)
    fits = (serials >= first) & (days < float((_LAST_DAY - before).astype(np.int64)) + 1)
    if not from_1904:
        fits &= (serials < 60) | (serials >= 61)
    counts = np.rint(np.where(fits, days, 1.0) * _MILLISECONDS).astype("timedelta64[ms]")
    dates: Any = before.astype("datetime64[ms]") + counts
    whole = np.datetime_as_string(dates, unit="ms").tolist()
    return [
        text.removesuffix(".000").removesuffix("T00:00:00") if fit else None
        for text, fit in zip(whole, fits.tolist(), strict=True)
    ]


def format_duration(serial: float) -> str | None:
    """Hours, minutes and seconds, as a spreadsheet shows a duration or a time of day; None for no such number.

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
