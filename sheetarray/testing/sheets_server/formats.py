"""How a number looks: the number formats that typed text brings with it, and the look of a number that has none."""

from __future__ import annotations

import re
from calendar import day_name, month_name
from datetime import date, datetime, timedelta
from decimal import Decimal

from .errors import Json
from .number_patterns import write_number

EPOCH = datetime(1899, 12, 30)
_PARTS = re.compile(
    r'"[^"]*"|\\.|(?<=s)\.0{1,6}|yyyy|yy|mmmm|mmm|mm|m|dddd|ddd|dd|d|hh|h|ss|s|am/pm|.', re.IGNORECASE | re.DOTALL
)
_FRACTION = re.compile(r"(?<=s)\.(0{1,6})", re.IGNORECASE)  # of a second
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_DATE_TYPES = {"DATE", "TIME", "DATE_TIME"}


def format_plain(number: float) -> str:
    """Return a number without a format: at most ten significant digits, unless it is whole."""
    if number == int(number) and abs(number) < 1e15:
        return str(int(number))
    text = f"{number:.10g}"
    mantissa, mark, exponent = text.partition("e")
    if not mark:
        return text
    if -6 < int(exponent) < 15:
        return f"{Decimal(text):f}"
    return f"{float(mantissa):.6g}E{int(exponent):+03d}"


def format_number(number: float, number_format: Json | None) -> str:
    """Return a number in a NumberFormat."""
    kind = (number_format or {}).get("type")
    pattern = (number_format or {}).get("pattern", "")
    if not number_format or not pattern:
        return format_plain(number)
    if kind in _DATE_TYPES:
        return _moment(number, pattern)
    if kind == "TEXT":
        return format_plain(number)
    written = write_number(number, pattern)
    return format_plain(number) if written is None else written


def is_date(number_format: Json | None) -> bool:
    """Return whether a number of this format is a date or a time of day."""
    return (number_format or {}).get("type") in _DATE_TYPES


def serial(moment: date | datetime) -> float:
    """Return the days since 30 December 1899."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    return (moment - EPOCH) / timedelta(days=1)


def format_pattern(number: float, pattern: str) -> str:
    """Return a number by a pattern of either kind: one with letters of dates and times is a moment's.

    Example:
        >>> format_pattern(0.5, "0%"), format_pattern(43831.75, "yyyy-mm-dd hh:mm")
        ('50%', '2020-01-01 18:00')
    """
    if re.search("[ymdhs]", _QUOTED.sub("", pattern), re.IGNORECASE):
        return _moment(number, pattern)
    written = write_number(number, pattern)
    return format_plain(number) if written is None else written


def _moment(number: float, pattern: str) -> str:
    try:
        digits = max((len(fraction) for fraction in _FRACTION.findall(_QUOTED.sub("", pattern))), default=0)
        moment = EPOCH + timedelta(microseconds=round(round(number * 86_400, digits) * 1_000_000))
    except OverflowError:
        return format_plain(number)
    clock = "am/pm" in pattern.lower()
    parts: list[str] = []
    after_hours = False
    for part in _PARTS.findall(pattern):
        key = part.lower()
        if key in ("mm", "m") and after_hours:
            parts.append(f"{moment.minute:0{len(key)}d}")
        elif key in ("hh", "h"):
            hour = (moment.hour - 1) % 12 + 1 if clock else moment.hour
            parts.append(f"{hour:0{len(key)}d}")
        else:
            parts.append(_part(moment, key, part))
        if key.isalpha():
            after_hours = key in ("hh", "h")
    return "".join(parts)


def _part(moment: datetime, key: str, part: str) -> str:
    numbers = {"yyyy": moment.year, "m": moment.month, "mm": moment.month, "d": moment.day, "dd": moment.day}
    if key[0] == "." and len(key) > 1:
        return f".{moment.microsecond:06d}"[: len(key)]
    numbers |= {"s": moment.second, "ss": moment.second}
    if key == "yy":
        return f"{moment.year % 100:02d}"
    if key in ("mmm", "mmmm"):
        name = month_name[moment.month]
        return name if key == "mmmm" else name[:3]
    if key in ("ddd", "dddd"):
        return day_name[moment.weekday()][: 3 if key == "ddd" else None]
    if part[0] == "\\" or (part[0] == '"' and len(part) > 1):
        return part.strip('"').removeprefix("\\")
    if key == "am/pm":
        return "AM" if moment.hour < 12 else "PM"
    return f"{numbers[key]:0{len(key)}d}" if key in numbers else part
