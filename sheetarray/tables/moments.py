"""Dates as people write them: by a format, the day first, or with a zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import numpy as np

from ..dtypes import Array
from .numerals import WHITE

DAY_FIRST = "dayfirst"
"""The format of dates such as 28/02/2024, 28.2.2024 or 28-02-24, with a time of day behind some of them."""

_DAY_FIRST = re.compile(
    r"([0-9]{1,2})([-/. ])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})"
    r"(?:[T ,]+((?:[01]?[0-9]|2[0-3]):[0-5][0-9])(:[0-5][0-9](?:\.[0-9]{1,9})?)?)?"
)
_ZONE = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:\.[0-9]+)?) ?(Z|[+-][0-9]{2}(?::?[0-9]{2})?)"
)
_SHORTEST = 17  # characters of a moment with a zone
_PIVOT = 69  # two digits of a year from here on are of the 20th century, as in `strptime`


def check_date_format(date_format: object) -> None:
    """Refuse a format of dates that has no field.

    Raises:
        ValueError: it has none.
    """
    if not isinstance(date_format, str) or ("%" not in date_format and date_format != DAY_FIRST):
        raise ValueError(
            f'date_format is a format of strptime such as "%d/%m/%Y", or "dayfirst", not {date_format!r:.80}'
        )


def read_formatted(texts: list[str | None], date_format: str) -> list[str | None]:
    """Return dates in a format as ISO texts; other cells as they are.

    Example:
        >>> read_formatted(["28.02.2024", "1/3/24 10:00", "x"], "dayfirst")
        ['2024-02-28', '2024-03-01T10:00:00', 'x']
        >>> read_formatted(["Feb 28, 2024"], "%b %d, %Y")
        ['2024-02-28']
    """
    iso_of: dict[str | None, str | None] = {None: None}
    for text in texts:
        if text is not None and text not in iso_of:
            bare = text.strip(WHITE)
            iso_of[text] = (
                _read_day_first(bare) if date_format == DAY_FIRST else _read_format(bare, date_format)
            ) or text
    return [iso_of[text] for text in texts]


def _read_day_first(text: str) -> str | None:
    match = _DAY_FIRST.fullmatch(text)
    if match is None:
        return None
    day, _, month, year, clock, seconds = match.groups()
    number = int(year) if len(year) == 4 else int(year) + (1900 if int(year) >= _PIVOT else 2000)
    try:
        date = datetime(number, int(month), int(day))
    except ValueError:
        return None
    return f"{date:%Y-%m-%d}".zfill(10) + (f"T{clock.zfill(5)}{seconds or ':00'}" if clock else "")


def _read_format(text: str, date_format: str) -> str | None:
    try:
        moment = datetime.strptime(text, date_format)
    except ValueError:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    has_time = any(field in date_format for field in ("%H", "%I", "%M", "%S", "%f", "%c", "%X", "%p"))
    return moment.isoformat() if has_time else moment.date().isoformat()


def without_zones(texts: list[str | None]) -> list[str | None]:
    """Return ISO moments with a zone as those of UTC; other cells as they are.

    Example:
        >>> without_zones(["2024-02-28T10:00:00+01:00", "2024-02-28 10:00Z", None])
        ['2024-02-28T09:00:00', '2024-02-28 10:00', None]
    """
    return [text if text is None or len(text) < _SHORTEST else _without_zone(text) for text in texts]


def _without_zone(text: str) -> str:
    match = _ZONE.fullmatch(text.strip(WHITE))
    if match is None:
        return text
    moment, zone = match.groups()
    digits = zone.replace(":", "")
    if digits in ("Z", "+00", "-00", "+0000", "-0000"):
        return moment
    whole, point, fraction = moment.partition(".")
    hours, minutes = int(digits[1:3]), int(digits[3:5] or 0)
    offset = timedelta(hours=hours, minutes=minutes) * (-1 if digits[0] == "-" else 1)
    try:
        shifted = datetime.fromisoformat(whole) - offset
    except (ValueError, OverflowError):
        return text
    return shifted.isoformat() + point + fraction


def are_held_dates(moments: Array) -> bool:
    """Return whether a spreadsheet holds each of some moments as a date: milliseconds from 1900-03-01 to 9999.

    Example:
        >>> [are_held_dates(np.array([day], "M8")) for day in ("2024-01-01", "1899-12-31", "2024-01-01T00:00:00.0001")]
        [True, False, False]
    """
    held = moments[~np.isnat(moments)]
    if not len(held) or np.datetime_data(moments.dtype)[0] in ("us", "ns"):
        return False
    return bool(held.min() >= np.datetime64("1900-03-01") and held.max() < np.datetime64("10000-01-01"))
