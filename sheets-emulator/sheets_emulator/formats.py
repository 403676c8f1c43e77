"""Formats of cells as the service keeps them, and numbers and dates as cells show them."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np

from .errors import Json

EPOCH = datetime(1899, 12, 30)
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
_DIGITS = re.compile(r"(?P<whole>[#0,]+)(?:\.(?P<fraction>[#0]*))?(?P<exponent>E\+0+)?")
_MOMENT_TOKENS = re.compile(r'"[^"]*"|(?<=s)\.0{1,6}|y+|m+|d+|h+|s+|am/pm|.', re.IGNORECASE | re.DOTALL)


def with_pattern(number_format: Json) -> Json:
    """Return a NumberFormat with a pattern: its own, or the default one of its type; as it is if neither exists."""
    pattern = number_format.get("pattern") or _DEFAULTS.get(number_format.get("type") or "")
    return number_format | {"pattern": pattern} if pattern else number_format


def is_date(number_format: Json | None) -> bool:
    """Return whether a number of this format is a date or a time of day."""
    return (number_format or {}).get("type") in _DATE_TYPES


def format_number(number: float, number_format: Json | None) -> str:
    """Return a number as a cell with a NumberFormat shows it; as without one where the emulator lacks the pattern."""
    number_format = with_pattern(number_format or {})
    pattern = number_format.get("pattern")
    if not pattern or number_format.get("type") == "TEXT":
        return format_plain(number)
    shown = _write_moment(number, pattern) if is_date(number_format) else _write_number(number, pattern)
    return format_plain(number) if shown is None else shown


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


def _write_number(number: float, pattern: str) -> str | None:
    """Return a number written by a pattern of digits, with text before and after them; None for other patterns."""
    match = _DIGITS.search(pattern)
    if match is None or re.search(r'[#0;?"\\\[_*@/]', pattern[: match.start()] + pattern[match.end() :]):
        return None
    whole, fraction = match["whole"], match["fraction"] or ""
    before, after = pattern[: match.start()], pattern[match.end() :]
    size = Decimal(repr(abs(number))).scaleb(2 * (before + after).count("%"))
    power = 0
    if match["exponent"]:
        power = size.adjusted() if size else 0
        size = size.scaleb(-power)
    if size.adjusted() + len(fraction) > 25:
        return None
    rounded = size.quantize(Decimal(1).scaleb(-len(fraction)), rounding=ROUND_HALF_UP)
    integer, _, decimals = f"{rounded:f}".partition(".")
    integer = integer.lstrip("0").rjust(whole.count("0"), "0")
    if "," in whole:
        integer = f"{int(integer or 0):,}" if integer else ""
    while decimals and decimals[-1] == "0" and fraction[len(decimals) - 1] == "#":
        decimals = decimals[:-1]
    exponent = f"E{power:+0{len(match['exponent']) - 1}d}" if match["exponent"] else ""
    sign = "-" if number < 0 and rounded else ""
    return f"{sign}{before}{integer}{'.' if decimals else ''}{decimals}{exponent}{after}"


def serial(moment: date | datetime) -> float:
    """Return the serial date of a day or a moment: days since 30 December 1899."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    return (moment - EPOCH) / timedelta(days=1)


def to_moment(number: float) -> datetime | None:
    """Return the moment of a serial date, in whole seconds; None if it lies outside the years 1 to 9999."""
    try:
        return EPOCH + timedelta(seconds=round(number * 86_400))
    except (OverflowError, ValueError):
        return None


def _write_moment(number: float, pattern: str) -> str | None:
    """Return a serial date written by a pattern of dates and times; None if it lies outside the years 1 to 9999."""
    tokens = _MOMENT_TOKENS.findall(pattern)
    digits = max((len(token) - 1 for token in tokens if re.fullmatch(r"\.0+", token)), default=0)
    try:
        moment = EPOCH + timedelta(microseconds=round(round(number * 86_400, digits) * 1_000_000))
    except (OverflowError, ValueError):
        return None
    halves = any(token.lower() == "am/pm" for token in tokens)
    letters = [token[0].lower() if token[0].lower() in "ymdhs" else "" for token in tokens]
    parts = []
    for index, token in enumerate(tokens):
        before = next((letter for letter in reversed(letters[:index]) if letter), "")
        after = next((letter for letter in letters[index + 1 :] if letter), "")
        minutes = letters[index] == "m" and len(token) < 3 and (before == "h" or after == "s")
        parts.append(_write_token(moment, token, minutes=minutes, halves=halves))
    return "".join(parts)


def _write_token(moment: datetime, token: str, *, minutes: bool, halves: bool) -> str:
    key = token.lower()
    if key == "am/pm":
        return "AM" if moment.hour < 12 else "PM"
    if key[0] == "." and len(key) > 1:
        return f".{moment.microsecond:06d}"[: len(key)]
    if key[0] == '"' and len(key) > 1:
        return token[1:-1]
    if key[0] == "y":
        return f"{moment.year % 100:02d}" if len(key) < 3 else f"{moment.year:04d}"
    if key[0] in "md" and len(key) > 2:
        name = f"{moment:%B}" if key[0] == "m" else f"{moment:%A}"
        return name[:3] if len(key) == 3 else name
    hour = (moment.hour - 1) % 12 + 1 if halves else moment.hour
    numbers = {"m": moment.minute if minutes else moment.month, "d": moment.day, "h": hour, "s": moment.second}
    return f"{numbers[key[0]]:0{min(len(key), 2)}d}" if key[0] in numbers else token


_WHITE = {"red": 1, "green": 1, "blue": 1}
DEFAULT_FORMAT: Json = {
    "backgroundColor": _WHITE,
    "padding": {"top": 2, "right": 3, "bottom": 2, "left": 3},
    "verticalAlignment": "BOTTOM",
    "wrapStrategy": "OVERFLOW_CELL",
    "textFormat": {
        "foregroundColor": {},
        "fontFamily": "arial,sans,sans-serif",
        "fontSize": 10,
        **dict.fromkeys(("bold", "italic", "strikethrough", "underline"), False),
        "foregroundColorStyle": {"rgbColor": {}},
    },
    "backgroundColorStyle": {"rgbColor": _WHITE},
}
_DEEP = {"textFormat", "padding"}
_CHANNELS = {"red", "green", "blue"}
_COLORS = {"backgroundColor", "color", "foregroundColor", "tabColor"}


def normalize_look(look: Any) -> Any:
    """Return a format or a colour as the service keeps it.

    Channels of colours are multiples of 1/255 in single precision, and left out if they are zero. Each colour stands
    under a second name as well, such as `backgroundColorStyle` besides `backgroundColor`.
    """
    if isinstance(look, float):
        return int(look) if look.is_integer() else look
    if not isinstance(look, dict):
        return look
    if look and look.keys() <= _CHANNELS | {"alpha"}:
        return {name: _channel(value) for name, value in look.items() if value}
    parts = {name: normalize_look(part) for name, part in look.items() if part is not None}
    for name in _COLORS & parts.keys():
        parts.setdefault(f"{name}Style", {"rgbColor": parts[name]})
    return parts


def widen_mask(mask: dict[str, Any]) -> dict[str, Any]:
    """Return a mask that names the `...Style` of each colour that it names (see `normalize_look`)."""
    wide = {name: widen_mask(branch) for name, branch in mask.items()}
    for name in _COLORS & wide.keys():
        wide.setdefault(f"{name}Style", {})
    return wide


def _channel(value: float) -> int | float:
    """Return a channel, from 0 to 1, as the service answers it: a multiple of 1/255 in single precision."""
    step = int(np.float32(value) * np.float32(255) + np.float32(1e-4))
    return step // 255 if step in (0, 255) else float(str(np.float32(step / 255)))


def build_effective_format(mark: Json | None, value: object) -> Json:
    """Return the format in which a cell with some marks shows a value: its own, over the default one."""
    layer: Json = (mark or {}).get("userEnteredFormat") or {}
    alignment = "RIGHT" if type(value) is float else "LEFT" if isinstance(value, str) else "CENTER"
    effective = DEFAULT_FORMAT | ({} if value is None else {"horizontalAlignment": alignment}) | layer
    for name in _DEEP & layer.keys():
        effective[name] = DEFAULT_FORMAT[name] | layer[name]
    if effective.get("numberFormat"):
        effective["numberFormat"] = with_pattern(effective["numberFormat"])
    return {"hyperlinkDisplayType": "PLAIN_TEXT"} | effective
