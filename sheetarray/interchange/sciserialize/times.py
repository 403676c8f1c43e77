"""datetime and timedelta <-> the dicts that stand for them.

Times are naive or have an offset from UTC; the name of a time zone is not kept. Offsets are read as `Z +HH +HHMM
+HH:MM`, and fractions with up to nine digits, of which a datetime keeps six.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from ...errors import DTypeError, Finding, FormatError
from ...linear.parsing import warn_of_finding
from .words import TYPE, path_inside

_ISO = re.compile(
    r"\d{4}-\d\d-\d\d[T ](?:[01]\d|2[0-3]):\d\d(?::\d\d(?:\.(\d{1,9}))?)?"
    r"(?:Z|[+-]\d\d(?::?[0-5]\d(?::[0-5]\d(?:\.\d{6})?)?)?)?",
    re.ASCII,
)
_MOST_MICROSECONDS = 10**22  # beyond any timedelta


def encode_datetime(value: datetime) -> dict[str, Any]:
    """Return the dict of a time.

    Example:
        >>> encode_datetime(datetime(2015, 2, 18, 21, 40, 23, 511717))
        {'isostr': '2015-02-18T21:40:23.511717', '__type__': 'datetime'}
    """
    text = value.isoformat()
    if _ISO.fullmatch(text) is None:
        raise DTypeError(f"{value!r} is not a time: store None instead")
    return {"isostr": text, TYPE: "datetime"}


def decode_datetime(form: Mapping[str, Any], path: str) -> datetime:
    """Return the time of a dict."""
    text, path = form.get("isostr"), path_inside(path, "isostr")
    match = _ISO.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise FormatError(
            f"expected a time such as 2015-02-18T21:40:23.511717+01:00, found {text!r:.60}", location=path
        )
    if (match[1] or "")[6:].strip("0"):
        warn_of_finding(
            Finding("warning", path, f"{match[0]} has more digits than the microseconds that a datetime keeps")
        )
    try:
        return datetime.fromisoformat(match[0])
    except ValueError as error:
        raise FormatError(f"no such time: {match[0]} ({error})", location=path) from error


def encode_timedelta(value: timedelta) -> dict[str, Any]:
    """Return the dict of a timedelta, in which only `days` may be negative.

    Example:
        >>> encode_timedelta(timedelta(seconds=-1))
        {'microsec': 0, 'seconds': 86399, '__type__': 'timedelta', 'days': -1}
    """
    if getattr(value, "nanoseconds", 0):
        raise DTypeError(f"{value!r} has nanoseconds; a timedelta holds microseconds: round it first")
    return {"microsec": value.microseconds, "seconds": value.seconds, TYPE: "timedelta", "days": value.days}


def decode_timedelta(form: Mapping[str, Any], path: str) -> timedelta:
    """Return the difference of a dict."""
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
