"""Names of the files in a folder of arrays: the name of an array, if every system takes it, and `.ra`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from ...errors import LimitError

SUFFIX = ".ra"

_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # Windows opens these instead
_LONGEST = 255 - len(SUFFIX)  # bytes of a name


def check_file_names(names: Iterable[str]) -> None:
    """Refuse names that some systems do not allow for a file."""
    taken: dict[str, str] = {}
    for name in names:
        if problem := _problem(name):
            raise LimitError(
                f"the name {name!r:.80} {problem}: rename it, because each array becomes a file of this name"
            )
        same = unicodedata.normalize("NFC", name).casefold()
        if same in taken:
            raise LimitError(f"the names {taken[same]!r} and {name!r} are one file on some systems: rename one")
        taken[same] = name


def _problem(name: str) -> str | None:
    if not name or name.startswith((".", " ")) or name != name.strip():
        return "is empty, begins with a dot, or begins or ends with white space"
    if wrong := next((mark for mark in name if mark in '/\\:*?"<>|' or not mark.isprintable()), None):
        return f"has {wrong!r} in it"
    if _DEVICES.fullmatch(name):
        return "is the name of a device"
    return f"is longer than {_LONGEST} bytes" if len(name.encode()) > _LONGEST else None
