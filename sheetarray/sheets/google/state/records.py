"""The records that say which arrays the tables of a worksheet are, as its developer metadata hold or name them.

A record is a list of notes, one for each table, as JSON that is compressed and made text. The metadata of a worksheet
have room for a short one. A longer one stands in the first column of a hidden sheet of its own, which the metadata name
by its id. A hidden sheet is never changed: another record gets another sheet, so that the record and the cells of its
table, fetched by one request, are of one moment.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....errors import LimitError, warn_caller
from ...record_texts import MOST, pack_text, unpack_text
from ..requests import Answer
from .notes import find_metadata, parse_integer

TABLE_KEY, RECORD_KEY = "sheetarray_table", "sheetarray_record"  # of the metadata of a table, and of a hidden sheet
MOST_TEXT = 25_000  # characters of a record in metadata: all those of a worksheet have at most 30,000
_MOST_PACKED = 9_000_000  # characters of a record: one request carries 10 MiB


@dataclass(frozen=True, slots=True)
class TableRecord:
    """The record of the tables of a worksheet."""

    id: int | None = None  # of the metadata; None where there are none
    text: str = ""  # empty for no record, and for one in a hidden sheet until it is fetched
    gid: int | None = None  # the id of the hidden sheet; None for a record in metadata

    @property
    def exists(self) -> bool:
        """Whether there is a record."""
        return bool(self.text) or self.gid is not None

    def read(self) -> list[dict[str, Any]]:
        """Return the notes of tables; none where there is no record, or where it is damaged."""
        if not self.text:
            return []
        try:
            notes = json.loads(unpack_text(self.text))
        except (ValueError, RecursionError, zlib.error):
            notes = None
        if not isinstance(notes, list) or not all(isinstance(note, dict) for note in notes):
            warn_caller("the record of a table is damaged, and not used")
            return []
        return notes

    @classmethod
    def from_metadata(cls, metadata: Sequence[Answer]) -> TableRecord:
        """Return the record in the metadata of a worksheet; an empty one if it has none."""
        entry, text = find_metadata(metadata, TABLE_KEY)
        if not text.startswith("{"):  # a packed text begins with a letter
            return cls(entry, text)
        try:
            return cls(entry, gid=parse_integer(json.loads(text)["sheet"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            return cls(entry, text)  # which `read` says is damaged


def pack_notes(notes: Sequence[Mapping[str, Any]]) -> str:
    """Return the notes of the tables of a worksheet as the text of a record; an empty one for none.

    Raises:
        LimitError: they are too long.
    """
    noted = [note for note in notes if note]
    text = json.dumps(noted, separators=(",", ":")) if noted else ""
    packed = pack_text(text) if 0 < len(text) <= MOST else ""
    if len(text) > MOST or len(packed) > _MOST_PACKED:
        raise LimitError(f"the dtypes and labels of the table take {len(text):,} characters: write several tables")
    return packed


def is_record_sheet(metadata: Sequence[Answer]) -> bool:
    """Return whether the metadata of a worksheet say that it is a hidden sheet with a record."""
    return any(entry.get("metadataKey") == RECORD_KEY for entry in metadata)
