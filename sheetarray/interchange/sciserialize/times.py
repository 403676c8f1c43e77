"""datetime and timedelta <-> their dicts.

Source: https://github.com/SciSerialize/Definition, Date Time Iso String Coder and Time Delta Coder. Times are naive or
have an offset from UTC; a time zone's name is not kept. Read are offsets `Z +HH +HHMM +HH:MM` and fractions of up to
nine digits, of which a datetime keeps six.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from ...errors import DTypeError, Finding, FormatError
from ...header import warn_of_finding
from .keys import TYPE, path_inside

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
    r"(Z|([+-])(\d\d)(?::?(\d\d)(?::(\d\d)(?:\.(\d{6}))?)?)?)?",
    re.ASCII,
)
_MOST_MICROSECONDS = 10**22  # beyond any timedelta


def encode_datetime(value: datetime) -> dict[str, Any]:
    """Return the dict of a time.

    Raises:
        DTypeError: pandas' NaT, which is no time.

    Example:
        >>> encode_datetime(datetime(2015, 2, 18, 21, 40, 23, 511717))
        {'isostr': '2015-02-18T21:40:23.511717', '__type__': 'datetime'}
    """
    text = value.isoformat()
    if _ISO.fullmatch(text) is None:
        raise DTypeError(f"{value!r} is no time: store None instead")
    return {"isostr": text, TYPE: "datetime"}


def decode_datetime(form: Mapping[str, Any], path: str) -> datetime:
    """Return the time of a dict.

    Raises:
        FormatError: it has no such text, or there is no such time.
    """
    text, path = form.get("isostr"), path_inside(path, "isostr")
    match = _ISO.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise FormatError(
            f"expected a time such as 2015-02-18T21:40:23.511717+01:00, found {text!r:.60}", location=path
        )
    year, month, day, hour, minute = (int(part) for part in match.groups()[:5])
    fraction = match[7] or ""
    if fraction[6:].strip("0"):
        warn_of_finding(
            Finding("warning", path, f"{match[0]} has more digits than the microseconds that a datetime keeps")
        )
    try:
        zone = _zone(match)
        return datetime(year, month, day, hour, minute, int(match[6] or 0), int(fraction[:6].ljust(6, "0")), zone)
    except ValueError as error:
        raise FormatError(f"no such time: {match[0]} ({error})", location=path) from error


def _zone(match: re.Match[str]) -> timezone | None:
    if match[8] is None or match[8] == "Z":
        return UTC if match[8] else None
    hours, minutes, seconds, micro = (int(part or 0) for part in match.groups()[9:13])
    if minutes > 59 or seconds > 59:
        raise ValueError("minutes and seconds of an offset are less than 60")
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds, microseconds=micro)
    return timezone(-offset if match[9] == "-" else offset)


def encode_timedelta(value: timedelta) -> dict[str, Any]:
    """Return the dict of a difference; only its days may be negative.

    Raises:
        DTypeError: pandas' Timedelta with nanoseconds.

    Example:
        >>> encode_timedelta(timedelta(seconds=-1))
        {'microsec': 0, 'seconds': 86399, '__type__': 'timedelta', 'days': -1}
    """
    if getattr(value, "nanoseconds", 0):
        raise DTypeError(f"{value!r} has nanoseconds; a timedelta holds microseconds: round it first")
    return {"microsec": value.microseconds, "seconds": value.seconds, TYPE: "timedelta", "days": value.days}


def decode_timedelta(form: Mapping[str, Any], path: str) -> timedelta:
    """Return the difference of a dict.

    Raises:
        FormatError: one of its three numbers is missing or no integer, or together they are too large.
    """
    days, seconds, micro = (_integer_field(form, key, path) for key in ("days", "seconds", "microsec"))
    try:
        return timedelta(days, seconds, micro)
    except OverflowError as error:
        raise FormatError(f"no such timedelta ({error})", location=path) from error


def _integer_field(form: Mapping[str, Any], key: str, path: str) -> int:
    value = form.get(key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # Matlab has no other numbers
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _MOST_MICROSECONDS:
        raise FormatError(f"expected an integer, found {type(value).__name__}", location=path_inside(path, key))
    return value
