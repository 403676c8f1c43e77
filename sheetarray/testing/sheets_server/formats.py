"""How a number looks: the number formats that typed text brings with it, and the look of a number that has none."""

from __future__ import annotations

import re
from decimal import Decimal

from .errors import Json
from .moments import write_moment
from .number_patterns import write_number, write_text

_QUOTED = re.compile(r'"[^"]*"|\\.|\[(?!(?:h+|m+|s+)\])[^\]]*\]', re.IGNORECASE)
_DEFAULTS = {
    "CURRENCY": "$#,##0.00",
    "DATE": "m/d/yyyy",
    "DATE_TIME": "m/d/yyyy h:mm:ss",
    "NUMBER": "#,##0.00",
    "PERCENT": "0.00%",
    "SCIENTIFIC": "0.00E+00",
    "TIME": "h:mm:ss am/pm",
}
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


def with_pattern(number_format: Json) -> Json:
    """Return a NumberFormat with the pattern that its type has by default, where it has none."""
    pattern = number_format.get("pattern") or _DEFAULTS.get(number_format.get("type") or "")
    return number_format | {"pattern": pattern} if pattern else number_format


def format_number(number: float, number_format: Json | None) -> str:
    """Return a number in a NumberFormat."""
    number_format = with_pattern(number_format or {})
    kind, pattern = number_format.get("type"), number_format.get("pattern")
    if not pattern or kind == "TEXT":
        return format_plain(number)
    if kind in _DATE_TYPES:
        written = write_moment(number, pattern)
        return format_plain(number) if written is None else written
    written = write_number(number, pattern)
    return format_plain(number) if written is None else written


def format_text(text: str, number_format: Json | None) -> str:
    """Return a text in a NumberFormat, whose pattern may say what stands around it."""
    pattern = (number_format or {}).get("pattern")
    return write_text(text, pattern) if pattern else text


def is_date(number_format: Json | None) -> bool:
    """Return whether a number of this format is a date or a time of day."""
    return (number_format or {}).get("type") in _DATE_TYPES


def format_pattern(number: float, pattern: str) -> str:
    """Return a number by a pattern of either kind: one with letters of dates and times is a moment's.

    Example:
        >>> format_pattern(0.5, "0%"), format_pattern(43831.75, "yyyy-mm-dd hh:mm")
        ('50%', '2020-01-01 18:00')
    """
    moment = re.search("[ymdhs]", _QUOTED.sub("", pattern), re.IGNORECASE)
    written = write_moment(number, pattern) if moment else write_number(number, pattern)
    return format_plain(number) if written is None else written
