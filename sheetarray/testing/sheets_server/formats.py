"""Numbers and texts written in a NumberFormat, or without one."""

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
    """Return a number as a cell without a format shows it: with ten significant digits at most, unless it is whole."""
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
    """Return a NumberFormat with a pattern: its own, or the default one of its type; as it is if neither exists."""
    pattern = number_format.get("pattern") or _DEFAULTS.get(number_format.get("type") or "")
    return number_format | {"pattern": pattern} if pattern else number_format


def format_number(number: float, number_format: Json | None) -> str:
    """Return a number as a cell with a NumberFormat shows it."""
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
    """Return a text as a cell with a NumberFormat shows it; a pattern with `@` may put other text around it."""
    pattern = (number_format or {}).get("pattern")
    return write_text(text, pattern) if pattern else text


def is_date(number_format: Json | None) -> bool:
    """Return whether a number of this format is a date or a time of day."""
    return (number_format or {}).get("type") in _DATE_TYPES


def format_pattern(number: float, pattern: str) -> str:
    """Return a number written by a pattern: as a date or time if the pattern has letters of these, such as `y` or `h`.

    Example:
        >>> format_pattern(0.5, "0%"), format_pattern(43831.75, "yyyy-mm-dd hh:mm")
        ('50%', '2020-01-01 18:00')
    """
    moment = re.search("[ymdhs]", _QUOTED.sub("", pattern), re.IGNORECASE)
    written = write_moment(number, pattern) if moment else write_number(number, pattern)
    return format_plain(number) if written is None else written
