"""What the sheet of a guard holds, the snapshots of one write: column A, text by text, and nothing else.

A1                  sheetarray guard 1
A2                  {"name": "t", "dtype": "float64", "length": 20000, ..., "texts": 6, "crc": 1234567890}
A3 .. A8            the snapshot, in texts of at most 32,000 characters
A9                  the next header
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Collection, Sequence

from ..errors import FormatError
from .snapshot import SnapshotHeader, parse_snapshot_header

MARK = "sheetarray guard"
VERSION = 1
FIRST_TEXT = f"{MARK} {VERSION}"
_END = " guard"  # of the title of such a sheet
_LONGEST_TITLE = 31  # UTF-16 units


def guard_title(title: str) -> str:
    """Return the title of the guard's sheet, given the title of the first sheet of arrays.

    Example:
        >>> guard_title("arrays"), guard_title("a title of thirty-one characters"[:31])
        ('arrays guard', 'a title of thirt-c19a92b3 guard')
    """
    units = title.encode("utf-16-le", "surrogatepass")
    if len(units) // 2 + len(_END) <= _LONGEST_TITLE:
        return title + _END
    beginning = units[: 2 * (_LONGEST_TITLE - len(_END) - 9)].decode("utf-16-le", "ignore")
    return f"{beginning}-{binascii.crc32(units):08x}{_END}"


def may_be_guard(title: str) -> bool:
    """Return whether the title may be a guard's; `is_guard` then reads the first cell of the sheet."""
    return title.casefold().endswith(_END)


def drop_snapshots(texts: Sequence[str], names: Collection[str]) -> list[str]:
    """Return the texts below the first one of a guard, without the snapshots of some arrays and what is damaged."""
    snapshots = keep_snapshots(texts, lambda snapshot: snapshot.name not in names)
    return [text for snapshot in snapshots for text in snapshot]


def keep_snapshots(texts: Sequence[str], stays: Callable[[SnapshotHeader], bool]) -> list[list[str]]:
    """Return the texts of those snapshots of a guard that stay; damaged ones go.

    `stays`: returns whether a snapshot stays, given its header.
    """
    snapshots: list[list[str]] = []
    is_kept = False
    for text in texts:
        if text.startswith("{"):
            try:
                is_kept = stays(parse_snapshot_header(text))
            except FormatError:
                is_kept = False
            snapshots += [[]] if is_kept else []
        if is_kept:
            snapshots[-1].append(text)
    return snapshots
