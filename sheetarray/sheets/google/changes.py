"""Requests of a batchUpdate, and how a batch of them takes effect once and only in the state that it was made for."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from .address import Rect
from .requests import Answer, SheetsApi
from .retries import FailedError, RefusedError
from .state import METADATA_KEY, NamedRange, State, Worksheet, WriteNotes, fetch_state, generation_name

Requests = list[Answer]


def apply_changes(service: SheetsApi, requests: Requests, happened: Callable[[State], bool]) -> None:
    """Make changes whose effect can be recognised; a batch of which the answer is lost is looked for.

    Raises:
        RefusedError: they were refused, and had not been made before.
        RemoteError: the service does not answer; `happened` may become true yet.
    """
    row, doubtful = 0, False
    while True:
        try:
            service.batch_update(requests)
            return
        except RefusedError as refused:
            if doubtful and happened(fetch_state(service)):
                return
            refused.batch = requests
            raise
        except FailedError as failure:
            row += 1
            service.patience.wait_for(failure, row)
            if not failure.undone:
                doubtful = True
                if happened(fetch_state(service)):
                    return


class Swap:
    """What makes a batch the only one that follows on the generation of a worksheet that was seen.

    Args:
        gid: of the worksheet.
        seen: its generation; None for none.
        notes: of earlier writes.
        own: whether the worksheet is ours.
    """

    def __init__(self, gid: int, seen: NamedRange | None, notes: WriteNotes, *, own: bool) -> None:
        self.stamp = secrets.token_hex(6)
        self._gid, self._seen, self._notes, self._own = gid, seen, notes, own

    def wrap(self, requests: Requests, rows: int, columns: int) -> Requests:
        """Requests, with those before and after that swap the generation; the grid is of this size after them."""
        return [
            *(claim(self._seen) if self._seen else ()),
            *requests,
            put_named_range(generation_name(self._gid), self._gid, Rect(0, 0, rows, columns)),
            self._note(),
        ]

    def took_effect(self, state: State) -> bool:
        """Return whether the batch took effect."""
        sheet = state.by_id(self._gid)
        return sheet is not None and self.stamp in sheet.notes.stamps

    def _note(self) -> Answer:
        text = self._notes.with_stamp(self.stamp, self._own)
        if self._notes.id is not None:
            lookup = {"developerMetadataLookup": {"metadataId": self._notes.id}}
            changed = {"metadataValue": text}
            return {
                "updateDeveloperMetadata": {
                    "dataFilters": [lookup],
                    "developerMetadata": changed,
                    "fields": "metadataValue",
                }
            }
        made = {
            "metadataKey": METADATA_KEY,
            "metadataValue": text,
            "location": {"sheetId": self._gid},
            "visibility": "DOCUMENT",
        }
        return {"createDeveloperMetadata": {"developerMetadata": made}}


def prove_range(named: NamedRange) -> Answer:
    """Return a request that changes nothing, and is refused where the range is gone."""
    rect = named.rect or Rect(0, 0, 1, 1)
    unchanged = {"namedRangeId": named.id, "name": named.name, "range": rect.to_grid_range(named.gid)}
    return {"updateNamedRange": {"namedRange": unchanged, "fields": "range"}}


def claim(named: NamedRange) -> Requests:
    """Take a generation away, so that nobody else can."""
    return [prove_range(named), {"deleteNamedRange": {"namedRangeId": named.id}}]


def remove_sheet_requests(state: State, sheet: Worksheet) -> Requests:
    """Delete a stage; refused where it has become a worksheet meanwhile."""
    seen = state.generation(sheet.gid)
    return [*(claim(seen) if seen else ()), {"deleteSheet": {"sheetId": sheet.gid}}]


def put_named_range(name: str, gid: int, rect: Rect, known: NamedRange | None = None) -> Answer:
    """Add a named range, or move one that is there."""
    range_ = {"name": name, "range": rect.to_grid_range(gid)}
    if known is None:
        return {"addNamedRange": {"namedRange": range_}}
    return {"updateNamedRange": {"namedRange": {"namedRangeId": known.id, **range_}, "fields": "range"}}


def resize_sheet(sheet: Worksheet, rows: int, columns: int) -> Requests:
    """Change the size of a grid: what shrinks first, since each step must stay within the limit of cells."""
    sizes = {"rowCount": (sheet.rows, rows), "columnCount": (sheet.columns, columns)}
    changed = sorted(((new - old, key, new) for key, (old, new) in sizes.items() if new != old))
    return [
        change_properties(sheet.gid, {"gridProperties": {key: new}}, f"gridProperties.{key}") for _, key, new in changed
    ]


def change_properties(gid: int, changed: Answer, fields: str) -> Answer:
    """Change properties of a worksheet."""
    return {"updateSheetProperties": {"properties": {"sheetId": gid, **changed}, "fields": fields}}


def clear_cells(gid: int, rect: Rect) -> Answer:
    """Empty cells, and leave their formats."""
    return {"repeatCell": {"range": rect.to_grid_range(gid), "cell": {}, "fields": "userEnteredValue"}}


def make_bold(gid: int, rect: Rect) -> Answer:
    """Make cells bold."""
    cell = {"userEnteredFormat": {"textFormat": {"bold": True}}}
    return {
        "repeatCell": {"range": rect.to_grid_range(gid), "cell": cell, "fields": "userEnteredFormat.textFormat.bold"}
    }
