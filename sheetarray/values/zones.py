"""Time zones by their names: `Europe/Berlin`, `UTC`, `UTC+02:00`."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from ..errors import DTypeError

_ZONE = re.compile(r"UTC[+-]\d\d:\d\d|[A-Za-z][A-Za-z0-9_+\-]{0,40}(/[A-Za-z0-9_+\-]{1,40}){0,3}")


def find_zone(name: str) -> dt.tzinfo:
    """Return the zone of a name such as `Europe/Berlin`, `UTC` or `UTC+02:00`.

    Raises:
        ValueError: no zone has that name here.
    """
    if not _ZONE.fullmatch(name):
        raise ValueError(f"{name!r:.80} is not the name of a zone")
    if name == "UTC":
        return dt.UTC
    if name.startswith("UTC") and name[3:]:
        sign, hours, minutes = -1 if name[3] == "-" else 1, int(name[4:6]), int(name[7:9])
        return dt.timezone(sign * dt.timedelta(hours=hours, minutes=minutes))
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, OSError) as error:
        raise ValueError(f"the zone {name!r} is not known here: pip install tzdata") from error


def check_zone(zone: Any, how: str) -> str:
    """Return the name of a zone, from which `find_zone` makes it again.

    Raises:
        DTypeError: it has no such name; says how to get UTC.
    """
    name = str(zone)
    try:
        find_zone(name)
    except ValueError as error:
        raise DTypeError(f"times of the zone {name:.80}, which has no name to be found by: {how}") from error
    return name
