"""Dates, times of day and durations written by a pattern such as `yyyy-mm-dd hh:mm`."""

from __future__ import annotations

import re
from calendar import day_name, month_name
from datetime import date, datetime, timedelta

EPOCH = datetime(1899, 12, 30)
_TOKENS = re.compile(
    r'"[^"]*"|\\.|\[(?:h+|m+|s+)\]|\[[^\]]*\]|(?<=[s\]])\.0{1,6}|y+|m+|d+|h+|s+|am/pm|a/p|[ap]m\b|.',
    re.IGNORECASE | re.DOTALL,
)
_ELAPSED = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000}  # microseconds in one hour, minute and second


def serial(moment: date | datetime) -> float:
    """Return the serial date of a day or a moment: days since 30 December 1899."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    return (moment - EPOCH) / timedelta(days=1)


def write_moment(number: float, pattern: str) -> str | None:
    """Return a serial date written by a pattern of dates and times; None if it lies outside the years 1 to 9999.

    Example:
        >>> write_moment(43831.75, "d mmm yyyy h am/pm"), write_moment(1.5, "[h]:mm:ss")
        ('1 Jan 2020 6 PM', '36:00:00')
    """
    tokens = _TOKENS.findall(pattern)
    digits = max((len(token) - 1 for token in tokens if re.fullmatch(r"\.0+", token)), default=0)
    try:
        microseconds = round(round(number * 86_400, digits) * 1_000_000)
        elapsed = any(map(_is_elapsed, tokens))
        moment = EPOCH + timedelta(microseconds=abs(microseconds) if elapsed else microseconds)
    except (OverflowError, ValueError):
        return None
    clock = any(_is_half(token.lower()) for token in tokens)
    parts = ["-" if elapsed and microseconds < 0 else ""]
    for index, token in enumerate(tokens):
        if _is_elapsed(token):
            parts.append(_written_elapsed(abs(microseconds), tokens, index))
        elif token[0] in "mM" and not _is_half(token.lower()) and len(token) < 3 and _is_minute(tokens, index):
            parts.append(f"{moment.minute:0{len(token)}d}")
        else:
            parts.append(_write_token(moment, token, clock=clock))
    return "".join(parts)


def _is_elapsed(token: str) -> bool:
    """Return whether a token is elapsed time, such as `[h]`: all hours of a duration, not those of a day."""
    return re.fullmatch(r"\[(h+|m+|s+)\]", token, re.IGNORECASE) is not None


def _is_half(key: str) -> bool:
    """Return whether a token, in small letters, stands for AM or PM."""
    return key in ("am/pm", "a/p", "am", "pm")


def _letter(token: str) -> str:
    """Return the letter of a token such as `yyyy` or `[mm]`; "" for a token of any other kind."""
    letter = token.strip("[]")[:1].lower()
    return letter if letter in "ymdhs" and not _is_half(token.lower()) and token[0] not in '"\\' else ""


def _is_minute(tokens: list[str], index: int) -> bool:
    """Return whether an `m` means minutes: right after hours, or right before seconds."""
    before = next((letter for token in reversed(tokens[:index]) if (letter := _letter(token))), "")
    after = next((letter for token in tokens[index + 1 :] if (letter := _letter(token))), "")
    return before == "h" or after == "s"


def _written_elapsed(microseconds: int, tokens: list[str], index: int) -> str:
    """Return the hours, minutes or seconds for the token `[h]`, `[m]` or `[s]` of an index.

    After another such token, only what is left of the last full hour, minute or second of that one counts.
    """
    key = tokens[index].strip("[]").lower()
    larger = [token.strip("[]").lower()[0] for token in tokens[:index] if _is_elapsed(token)]
    if larger:
        microseconds %= _ELAPSED[larger[-1]]
    return f"{microseconds // _ELAPSED[key[0]]:0{len(key)}d}"


def _write_token(moment: datetime, token: str, *, clock: bool) -> str:
    """Return the text for one token of a pattern; `clock` is whether hours go from 1 to 12."""
    key = token.lower()
    if token[0] == "\\" or (token[0] == '"' and len(token) > 1):
        return token[1:] if token[0] == "\\" else token[1:-1]
    if token[0] == "[" and len(token) > 1:
        return ""  # a colour
    if key[0] == "." and len(key) > 1:
        return f".{moment.microsecond:06d}"[: len(key)]
    if _is_half(key):
        half = "AM" if moment.hour < 12 else "PM"
        return half if key != "a/p" else half[0] if token[0] == "A" else half[0].lower()
    if key[0] == "y":
        return f"{moment.year % 100:02d}" if len(key) < 3 else f"{moment.year:04d}"
    if key[0] == "m" and len(key) > 2:
        name = month_name[moment.month]
        return name[:3] if len(key) == 3 else name[0] if len(key) == 5 else name
    if key[0] == "d" and len(key) > 2:
        return day_name[moment.weekday()][: 3 if len(key) == 3 else None]
    hour = (moment.hour - 1) % 12 + 1 if clock else moment.hour
    numbers = {"m": moment.month, "d": moment.day, "h": hour, "s": moment.second}
    return f"{numbers[key[0]]:0{min(len(key), 2)}d}" if key[0] in numbers else token
