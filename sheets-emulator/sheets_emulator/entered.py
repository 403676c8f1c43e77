"""Cells made of values that a request writes: as they are (RAW), or as if someone had typed them (USER_ENTERED)."""

from __future__ import annotations

import math
import re
from datetime import date
from typing import Any

from .errors import Json, invalid
from .formats import serial
from .grid import SKIP, Formula, GridCell, Skip

CHARACTERS_LIMIT = 50_000  # that the text of a cell may have, counted in UTF-16 code units

_ISO_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_US_DATE = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,3})?)?")
_NUMBER = re.compile(r"([-+]?)([$€£¥]?)(\d{1,3}(?:,\d{3})+|\d+)?(\.\d*)?([eE][-+]?\d+)?(%?)")


def cell_from_raw(value: Any) -> GridCell | Skip:
    """Return the cell for a JSON value that is not interpreted: text stays text; null, as SKIP, changes no cell."""
    if value is None:
        return SKIP
    if isinstance(value, str):
        return cell_from_text(value)
    return value if isinstance(value, bool) else cell_from_number(value)


def cell_from_number(value: float) -> float:
    """Return the cell for a JSON number: a finite double; minus zero becomes zero."""
    try:
        double = float(value)
    except OverflowError:
        double = math.inf
    if not math.isfinite(double):
        raise invalid("Invalid JSON payload received. A number is beyond the range of a double.")
    return double or 0.0


def cell_from_text(value: str) -> str | None:
    """Return the cell for a text that is not too long; "" makes a blank."""
    if len(value) > CHARACTERS_LIMIT // 2 and len(value.encode("utf-16-le")) > 2 * CHARACTERS_LIMIT:
        raise invalid(f"Your input contains more than the maximum of {CHARACTERS_LIMIT} characters in a single cell.")
    return value or None


def cell_from_entry(value: Any) -> tuple[GridCell | Skip, Json | None]:
    """Return the cell that somebody makes by typing a value, and the number format that the cell gets by it, if any."""
    if not isinstance(value, str) or not value:
        return cell_from_raw(value), None
    cell_from_text(value)
    if value.startswith("'"):
        return value[1:] or None, None
    if value.startswith("=") and len(value) > 1:
        return Formula(value), None
    stripped = value.strip()
    if stripped.upper() in ("TRUE", "FALSE"):
        return stripped.upper() == "TRUE", None
    if stripped[:1].isalpha():
        return value, None  # a short cut for most text
    for reading in (_typed_number, _typed_date, _typed_time, _typed_moment):
        if (cell := reading(stripped)) is not None:
            return cell
    return value, None


def _typed_number(value: str) -> tuple[float, Json | None] | None:
    """Return the number that a text is, and its number format; None if the text is no number."""
    match = _NUMBER.fullmatch(value)
    if match is None or not (match[3] or (match[4] or ".") != "."):
        return None
    sign, currency, whole, fraction, exponent, percent = match.groups()
    if bool(percent) + bool(currency) + bool(exponent) > 1:
        return None
    digits = f"{sign}{(whole or '0').replace(',', '')}{fraction or ''}{exponent or ''}"
    double = float(digits)
    if not math.isfinite(double):
        return None
    if percent:
        double = float(f"{digits}e-2")
    decimals = ".00" if fraction and len(fraction) > 1 else ""
    kind, pattern = "", ""
    if exponent:
        kind, pattern = "SCIENTIFIC", "0.00E+00"
    elif percent:
        kind, pattern = "PERCENT", f"0{decimals}%"
    elif currency:
        kind, pattern = "CURRENCY", f"{currency if currency == '$' else f'[${currency}]'}#,##0{decimals}"
    elif whole and "," in whole:
        kind, pattern = "NUMBER", f"#,##0{decimals}"
    return double or 0.0, {"type": kind, "pattern": pattern} if kind else None


def _typed_date(value: str) -> tuple[float, Json | None] | None:
    """Return the serial date that `2024-01-05` or `1/5/2024` means, and a format that shows it as it was written."""
    if match := _ISO_DATE.fullmatch(value):
        year, month, day = match.groups()
        pattern = f"yyyy-{'m' * len(month)}-{'d' * len(day)}"
    elif match := _US_DATE.fullmatch(value):
        month, day, year = match.groups()
        pattern = f"{'m' * len(month)}/{'d' * len(day)}/yyyy"
    else:
        return None
    try:
        return serial(date(int(year), int(month), int(day))), {"type": "DATE", "pattern": pattern}
    except ValueError:
        return None


def _typed_time(value: str) -> tuple[float, Json | None] | None:
    """Return the time of day that a text such as `6:00` or `06:00:00.5` means, in days, and its format."""
    match = _CLOCK.fullmatch(value)
    if match is None:
        return None
    hours, minutes, seconds, fraction = match.groups()
    hour, minute, second = int(hours), int(minutes), float(f"{seconds or 0}{fraction or ''}")
    if hour > 23 or minute > 59 or second >= 60:
        return None
    pattern = f"{'h' * len(hours)}:mm" + (":ss" if seconds else "")
    pattern += f".{'0' * (len(fraction) - 1)}" if fraction else ""
    return (hour * 3600 + minute * 60 + second) / 86_400, {"type": "TIME", "pattern": pattern}


def _typed_moment(value: str) -> tuple[float, Json | None] | None:
    """Return the serial date that a date and a time of day mean, and its format."""
    first, _, second = value.partition(" ")
    day, time = _typed_date(first), _typed_time(second)
    if day is None or time is None:
        return None
    patterns = [str((typed[1] or {})["pattern"]) for typed in (day, time)]
    return day[0] + time[0], {"type": "DATE_TIME", "pattern": " ".join(patterns)}
