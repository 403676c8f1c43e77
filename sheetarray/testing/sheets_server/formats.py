"""How a number looks: the number formats that typed text brings with it, and the look of a number that has none."""

from __future__ import annotations

import re
from calendar import month_name
from datetime import date, datetime, timedelta
from decimal import Decimal

from .errors import Json

EPOCH = datetime(1899, 12, 30)
_PARTS = re.compile(r"yyyy|yy|mmmm|mmm|mm|m|dd|d|hh|h|ss|s|am/pm|.", re.IGNORECASE)
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
    return _number(number, pattern)


def is_date(number_format: Json | None) -> bool:
    """Return whether a number of this format is a date or a time of day."""
    return (number_format or {}).get("type") in _DATE_TYPES


def serial(moment: date | datetime) -> float:
    """Return the days since 30 December 1899."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    return (moment - EPOCH) / timedelta(days=1)


def _number(number: float, pattern: str) -> str:
    match = re.fullmatch(r"([^#0\[\];]*)([#0,]+)(?:\.(0+))?(E\+00)?(%?)", pattern)
    if match is None:
        return format_plain(number)
    prefix, whole, fraction, scientific, percent = match.groups()
    digits = len(fraction or "")
    if scientific:
        return f"{prefix}{number:.{digits}E}"
    sign = "-" if number < 0 else ""
    return f"{sign}{prefix}{abs(number) * (100 if percent else 1):{',' if ',' in whole else ''}.{digits}f}{percent}"


def _moment(number: float, pattern: str) -> str:
    try:
        moment = EPOCH + timedelta(seconds=round(number * 86_400))
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
    numbers |= {"s": moment.second, "ss": moment.second}
    if key == "yy":
        return f"{moment.year % 100:02d}"
    if key in ("mmm", "mmmm"):
        name = month_name[moment.month]
        return name if key == "mmmm" else name[:3]
    if key == "am/pm":
        return "AM" if moment.hour < 12 else "PM"
    return f"{numbers[key]:0{len(key)}d}" if key in numbers else part
