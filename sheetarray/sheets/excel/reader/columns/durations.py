"""Durations, which are numbers of days: spreadsheet programs keep milliseconds. Source: ECMA-376 part 1, 18.17.4."""

from __future__ import annotations

_MILLISECONDS = 86_400_000  # of a day
_LONGEST_DURATION = 1e8  # days: no program shows as many as a duration


def format_duration(serial: float) -> str | None:
    """Return hours, minutes and seconds, as programs show a number of days as a duration; None if it is too large.

    Example:
        >>> format_duration(1.5), format_duration(0.000000058)
        ('36:00:00', '00:00:00.005')
    """
    if not abs(serial) < _LONGEST_DURATION:
        return None
    seconds, milliseconds = divmod(round(abs(serial) * _MILLISECONDS), 1000)
    fraction = f".{milliseconds:03}" if milliseconds else ""
    hours, seconds = divmod(seconds, 3600)
    sign = "-" if serial < 0 else ""
    return f"{sign}{hours:02}:{seconds // 60:02}:{seconds % 60:02}{fraction}"
