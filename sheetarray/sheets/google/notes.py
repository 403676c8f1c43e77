"""The notes that writes leave on a worksheet, and on a view, in the developer metadata of the spreadsheet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .requests import Answer

METADATA_KEY = "sheetarray"
VIEW_KEY = "sheetarray_view"
_STAMPS = 16  # of the last writes


@dataclass(frozen=True, slots=True)
class WriteNotes:
    """The notes of writes on a worksheet, in its developer metadata.

    Attributes:
        id: of the metadata; None before the first write.
        own: whether the worksheet was made, or found blank, by a write.
        stamps: of the last writes.
    """

    id: int | None = None
    own: bool = False
    stamps: tuple[str, ...] = ()

    def with_stamp(self, stamp: str, own: bool) -> str:
        """Return the text that notes one more write."""
        return json.dumps({"own": own, "writes": [*self.stamps, stamp][-_STAMPS:]})


@dataclass(frozen=True, slots=True)
class ViewNotes:
    """The notes on a worksheet that is a view, in its developer metadata.

    Attributes:
        of: the id of the worksheet in which the array stands.
        array: its name.
        rows, columns: the dimensions that run down and across.
        colors: as `View` has them.
        dates: whether the array's worksheet has real dates.
        content: a number for the formulas that were written.
    """

    of: int
    array: str
    rows: str
    columns: str
    colors: str
    dates: bool
    content: int


def parse_integer(value: Any) -> int:
    """Return a number of an answer, which must be an integer from 0 to 2^31 - 1."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise ValueError("no index")
    return value


def parse_notes(metadata: Sequence[Answer]) -> WriteNotes:
    """Return the notes of writes in the metadata of a worksheet; empty ones if there are no sound ones."""
    for entry in metadata:
        if entry.get("metadataKey") == METADATA_KEY:
            known = parse_integer(entry["metadataId"])
            try:
                content: Any = json.loads(entry.get("metadataValue", ""))
                return WriteNotes(known, content["own"] is True, tuple(map(str, content["writes"])))
            except (ValueError, KeyError, TypeError):
                return WriteNotes(known)
    return WriteNotes()


def parse_view(metadata: Sequence[Answer]) -> ViewNotes | None:
    """Return the notes on a view; None if no write has made any."""
    for entry in metadata:
        if entry.get("metadataKey") == VIEW_KEY:
            try:
                says: Any = json.loads(entry.get("metadataValue", ""))
                array, rows, columns, colors = (str(says[key]) for key in ("array", "rows", "columns", "colors"))
                of, content = parse_integer(says["of"]), int(says["content"])
                return ViewNotes(of, array, rows, columns, colors, says["dates"] is True, content)
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                return None
    return None
