"""The notes that writes leave on a worksheet, a table and a view, in the developer metadata of a spreadsheet."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from ....errors import warn_caller
from ..requests import Answer

METADATA_KEY = "sheetarray"
_VIEW_KEY, _TABLE_KEY = "sheetarray_view", "sheetarray_table"
_MOST_TEXT = 25_000  # characters of the note of a table: all metadata of a worksheet have at most 30,000
_MOST_JSON = 2**22  # bytes of the note that this text is
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
        entry, says = _find_metadata(metadata, METADATA_KEY)
        try:
            return cls(entry, says["own"] is True, tuple(map(str, says["writes"])))
        except (KeyError, TypeError):
            return cls(entry)


def _find_metadata(metadata: Sequence[Answer], key: str) -> tuple[int | None, Any]:
    """Return the id and the content of the metadata that programs have put under a key; None if there are none."""
    for entry in metadata:
        if entry.get("metadataKey") == key:
            with suppress(ValueError, RecursionError):
                return parse_integer(entry["metadataId"]), json.loads(entry.get("metadataValue", ""))
            return parse_integer(entry["metadataId"]), None
    return None, None


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
        _, says = _find_metadata(metadata, _VIEW_KEY)
        try:
            array, rows, columns, colors = (str(says[key]) for key in ("array", "rows", "columns", "colors"))
            of, content = parse_integer(says["of"]), int(says["content"])
            north_up = says.get("north_up") is True
            return cls(of, array, rows, columns, colors, says["dates"] is True, content, north_up)
        except (ValueError, KeyError, TypeError, OverflowError):
            return None


@dataclass(frozen=True, slots=True)
class TableRecord:
    """The note that says which arrays a table is: JSON, compressed and made text, as workbooks have it."""

    id: int | None = None  # of the metadata; None where there are none
    text: str = ""  # empty for no note

    def to_metadata(self, note: Mapping[str, Any], gid: int) -> list[Answer]:
        """Return the requests that put a note into the metadata of a worksheet, given its id; an empty one removes it.

        Warns:
            SheetArrayWarning: the note is too long.
        """
        packed = base64.b64encode(zlib.compress(json.dumps(note).encode())).decode() if note else ""
        if len(packed) > _MOST_TEXT:
            size = f"{len(packed):,} characters, and developer metadata hold {_MOST_TEXT:,}"
            warn_caller(f"the table is written without its labels and dtypes: they take {size}")
            packed = ""
        if self.id is not None:
            lookup = {"developerMetadataLookup": {"metadataId": self.id}}
            changed = {"dataFilters": [lookup], "developerMetadata": {"metadataValue": packed}}
            return [{"updateDeveloperMetadata": {**changed, "fields": "metadataValue"}}]
        entry = {"metadataKey": _TABLE_KEY, "metadataValue": packed, "visibility": "DOCUMENT"}
        request = {"createDeveloperMetadata": {"developerMetadata": {**entry, "location": {"sheetId": gid}}}}
        return [request] if packed else []

    def read(self) -> dict[str, Any]:
        """Return the note; an empty one where there is none, or where it is damaged."""
        if not self.text:
            return {}
        try:
            inflater = zlib.decompressobj()
            content = inflater.decompress(base64.b64decode(self.text, validate=True), _MOST_JSON)
            note = json.loads(content) if inflater.eof else None
        except (ValueError, RecursionError, zlib.error):
            note = None
        if not isinstance(note, dict):
            warn_caller("the note of a table is damaged, and not used")
            return {}
        return note

    @classmethod
    def from_metadata(cls, metadata: Sequence[Answer]) -> TableRecord:
        """Return the note in the metadata of a worksheet; an empty one if it has none."""
        for entry in metadata:
            if entry.get("metadataKey") == _TABLE_KEY:
                return cls(parse_integer(entry["metadataId"]), str(entry.get("metadataValue", "")))
        return cls()


def parse_integer(value: Any) -> int:
    """Return a number of an answer, which must be an integer from 0 to 2^31 - 1."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise ValueError("no index")
    return value
