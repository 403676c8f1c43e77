"""The notes that writes leave on a worksheet and on a view, in the developer metadata of a spreadsheet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from ..requests import Answer

METADATA_KEY = "sheetarray"
_VIEW_KEY = "sheetarray_view"
_STAMPS = 16  # of the last writes


@dataclass(frozen=True, slots=True)
class WriteNotes:
    """The notes of writes on a worksheet, in its developer metadata."""

    id: int | None = None  # of the metadata; None before the first write
    own: bool = False  # whether the worksheet was made, or found blank, by a write
    stamps: tuple[str, ...] = ()  # of the last writes

    def with_stamp(self, stamp: str, own: bool) -> str:
        """Return the text that notes one more write."""
        return json.dumps({"own": own, "writes": [*self.stamps, stamp][-_STAMPS:]})

    @classmethod
    def from_metadata(cls, metadata: Sequence[Answer]) -> WriteNotes:
        """Return the notes in the metadata of a worksheet; empty notes if none can be read."""
        entry, text = find_metadata(metadata, METADATA_KEY)
        try:
            says = _read_json(text)
            return cls(entry, says["own"] is True, tuple(map(str, says["writes"])))
        except (KeyError, TypeError):
            return cls(entry)


def find_metadata(metadata: Sequence[Answer], key: str) -> tuple[int | None, str]:
    """Return the id and the text of the metadata that programs have put under a key; None and "" for none."""
    for entry in metadata:
        if entry.get("metadataKey") == key:
            return parse_integer(entry["metadataId"]), str(entry.get("metadataValue", ""))
    return None, ""


def _read_json(text: str) -> Any:
    """Return what a text says in JSON; None for any other text."""
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


@dataclass(frozen=True, slots=True)
class ViewNotes:
    """The notes on a worksheet that is a view; its developer metadata hold these attributes as JSON."""

    of: int  # the id of the worksheet in which the array stands
    array: str  # its name
    rows: str  # the dimensions that run down and across
    columns: str
    colors: str  # as `View` has them
    dates: bool  # whether the array's worksheet has real dates
    content: int  # a number for the formulas that were written
    north_up: bool = False  # whether the rows are a latitude that was turned

    def to_metadata(self, gid: int) -> Answer:
        """Return the metadata of the worksheet of the view, given its id."""
        noted = {"metadataKey": _VIEW_KEY, "metadataValue": json.dumps(asdict(self)), "visibility": "DOCUMENT"}
        return {**noted, "location": {"sheetId": gid}}

    @classmethod
    def from_metadata(cls, metadata: Sequence[Answer]) -> ViewNotes | None:
        """Return the notes in the metadata of a worksheet; None if it is no view."""
        says = _read_json(find_metadata(metadata, _VIEW_KEY)[1])
        try:
            array, rows, columns, colors = (str(says[key]) for key in ("array", "rows", "columns", "colors"))
            of, content = parse_integer(says["of"]), int(says["content"])
            north_up = says.get("north_up") is True
            return cls(of, array, rows, columns, colors, says["dates"] is True, content, north_up)
        except (ValueError, KeyError, TypeError, OverflowError):
            return None


def parse_integer(value: Any) -> int:
    """Return a number of an answer, which must be an integer from 0 to 2^31 - 1."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise ValueError("no index")
    return value
