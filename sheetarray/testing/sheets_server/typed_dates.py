"""Dates, times of day and durations as people type them, and the number formats that they bring with them."""

from __future__ import annotations

import re
from calendar import month_name
from datetime import date

from .errors import Json
from .moments import serial

_ISO = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})")
_MONTH_FIRST = re.compile(r"(\d{1,2})([-/])(\d{1,2})(?:\2(\d{4}|\d{2}))?")
_DAY_AND_NAME = re.compile(r"(\d{1,2})([- ])([a-z]{3,9})(?:\2(\d{4}|\d{2}))?", re.IGNORECASE)
_NAME_AND_DAY = re.compile(r"([a-z]{3,9})([- ])(\d{1,2})(?:(,? )(\d{4}))?", re.IGNORECASE)
_NAME_AND_YEAR = re.compile(r"([a-z]{3,9})([- ])(\d{4})", re.IGNORECASE)
_CLOCK = re.compile(r"(\d{1,4}):(\d{2})(?::(\d{2})(\.\d{1,3})?)?(?: ?([ap]m))?", re.IGNORECASE)
_HOUR = re.compile(r"(\d{1,2})( ?)([ap]m)", re.IGNORECASE)
_BOTH = re.compile(r"(.*\d),? (\d{1,2}(?::\d{2}.*| ?[ap]m))", re.IGNORECASE)
_MONTHS = {name.casefold(): index for index, name in enumerate(month_name) if name}
_MONTHS |= {name[:3].casefold(): index for index, name in enumerate(month_name) if name}

_NAME = re.compile(r"[a-z]{3,9}(?=[- ]\d)", re.IGNORECASE)

Typed = tuple[float, Json | None]  # the number that a cell holds, and its NumberFormat


def begins_with_month(value: str) -> bool:
    """Return whether a text begins with the name of a month and a digit after it, as in `Jan 5`."""
    match = _NAME.match(value)
    return match is not None and match[0].casefold() in _MONTHS


def typed_date(value: str) -> Typed | None:
    """Return the serial date that a text means, and a format that shows it as it was written; None for other text.

    Example:
        >>> typed_date("Jan 5, 2024")
        (45296.0, {'type': 'DATE', 'pattern': 'mmm d, yyyy'})
    """
    parts = _parse_numbers(value) or _parse_month_name(value)
    if parts is None:
        return None
    year, month, day, pattern = parts
    if len(year) == 2:
        year = f"{20 if int(year) < 30 else 19}{year}"
    try:
        return serial(date(int(year or date.today().year), month, day)), {"type": "DATE", "pattern": pattern}
    except ValueError:
        return None


def _parse_numbers(value: str) -> tuple[str, int, int, str] | None:
    """Return year, month, day and pattern of a date such as `2024-01-05` or `1/5/24`; the year may be ""."""
    if match := _ISO.fullmatch(value):
        year, mark, month, day = match.groups()
        return year, int(month), int(day), f"yyyy{mark}{'m' * len(month)}{mark}{'d' * len(day)}"
    if match := _MONTH_FIRST.fullmatch(value):
        month, mark, day, year = match.groups()
        pattern = f"{'m' * len(month)}{mark}{'d' * len(day)}" + (f"{mark}{'y' * len(year)}" if year else "")
        return year or "", int(month), int(day), pattern
    return None


def _parse_month_name(value: str) -> tuple[str, int, int, str] | None:
    """Return year, month, day and pattern of a date such as `5 Jan 2024` or `January 2024`; the year may be ""."""
    if match := _DAY_AND_NAME.fullmatch(value):
        day, mark, name, year = match.groups()
        pattern = f"{'d' * len(day)}{mark}{_letters(name)}" + (f"{mark}{'y' * len(year)}" if year else "")
    elif match := _NAME_AND_DAY.fullmatch(value):
        name, mark, day, between, year = match.groups()
        pattern = f"{_letters(name)}{mark}{'d' * len(day)}" + (f"{between}yyyy" if year else "")
    elif match := _NAME_AND_YEAR.fullmatch(value):
        name, mark, year = match.groups()
        day, pattern = "1", f"{_letters(name)}{mark}yyyy"
    else:
        return None
    month = _MONTHS.get(name.casefold())
    return None if month is None else (year or "", month, int(day), pattern)


def _letters(name: str) -> str:
    return "mmm" if len(name) == 3 else "mmmm"


def typed_time(value: str) -> Typed | None:
    """Return the time of day that a text means, in days, and its format; from 24 hours on it is a duration."""
    if match := _HOUR.fullmatch(value):
        hours, space, half = match.groups()
        minutes, seconds, fraction, pattern = "0", None, None, f"{'h' * len(hours)}{space}am/pm"
    elif match := _CLOCK.fullmatch(value):
        hours, minutes, seconds, fraction, half = match.groups()
        letters = "h" * min(len(hours), 2) if int(hours) < 24 else "[h]"
        pattern = f"{letters}:mm" + (":ss" if seconds else "") + (f".{'0' * (len(fraction) - 1)}" if fraction else "")
        pattern += " am/pm" if half else ""
    else:
        return None
    hour, minute, second = int(hours), int(minutes), float(f"{seconds or 0}{fraction or ''}")
    if minute > 59 or second >= 60 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + 12 * (half.lower() == "pm")
    return (hour * 3600 + minute * 60 + second) / 86_400, {"type": "TIME", "pattern": pattern}


def typed_moment(value: str) -> Typed | None:
    """Return the serial date that a text of a date and a time of day means, and its format; None for other text."""
    match = _BOTH.fullmatch(value)
    day, time = (typed_date(match[1]), typed_time(match[2])) if match else (None, None)
    if day is None or time is None or time[0] >= 1:
        return None
    patterns = [str((typed[1] or {})["pattern"]) for typed in (day, time)]
    return day[0] + time[0], {"type": "DATE_TIME", "pattern": " ".join(patterns)}
