"""Requests of a batchUpdate, and `Swap`, which lets a batch take effect once and only in the state it was made for."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence

from ...elements import Cell
from .address import Rect
from .requests import Answer, SheetsApi, batch_body
from .retries import FailedError, RefusedError
from .state.notes import METADATA_KEY, WriteNotes
from .state.spreadsheet import (
    SHOWN_FIELDS,
    LineGroup,
    NamedRange,
    State,
    Worksheet,
    fetch_state,
    generation_name,
    shown_state,
)

Requests = list[Answer]

TOO_LARGE = 413  # the HTTP status of a request that is too large


def apply_changes(
    service: SheetsApi,
    requests: Requests,
    happened: Callable[[State], bool],
    *,
    shown: Sequence[str] = (),
    attempts: int | None = None,
) -> Answer | None:
    """Make changes that can be recognised later; if an answer is lost, look whether the batch took effect.

    It returns the answer, if it shows the change; None if the change was seen in the fetched spreadsheet.

    Raises:
        RefusedError: they were refused, and had not been made before; or so many attempts have failed, perhaps since
            the batch is too large.
        RemoteError: the service does not answer; `happened` may become true yet.
    """
    failures, doubtful = 0, False
    body = batch_body(requests, shown)
    while True:
        try:
            answer = service.batch_update(body, fields=SHOWN_FIELDS if shown else "")
            state = shown_state(service, answer) if shown else None
            if state is not None and happened(state):
                return answer
            if happened(fetch_state(service)):
                return None
            failure = FailedError("the service answered, but did not make the change")
        except RefusedError as refused:
            if doubtful and happened(fetch_state(service)):
                return None
            refused.batch = requests
            raise
        except FailedError as caught:
            failure = caught
        failures += 1
        service.patience.wait_for(failure, failures)
        if not failure.undone:
            doubtful = True
            if happened(fetch_state(service)):
                return None
            if failures == attempts:
                raise RefusedError(TOO_LARGE, failure.what)


class Swap:
    """The requests that make a batch take effect only on the generation of a worksheet that a state shows.

    `gid`: the id of the worksheet. `own`: whether it is ours.
    """

    def __init__(self, state: State, gid: int, *, own: bool) -> None:
        sheet = state.by_id(gid)
        self.gid = gid
        self.stamp = secrets.token_hex(6)  # by which the batch is recognised
        self._seen, self._own = state.generation(gid), own
        self._notes = sheet.notes if sheet else WriteNotes()

    def wrap(self, requests: Requests, rows: int, columns: int, *, last: bool = False) -> Requests:
        """Return requests, with those before and after that swap the generation."""
        marked = put_named_range(generation_name(self.gid), self.gid, Rect(0, 0, rows, columns))
        return [*(claim_range(self._seen) if self._seen else ()), *requests, *(() if last else (marked,)), self._note()]

    def took_effect(self, state: State) -> bool:
        """Return whether the batch took effect."""
        sheet = state.by_id(self.gid)
        return sheet is not None and self.stamp in sheet.notes.stamps

    def is_last(self, state: State) -> bool:
        """Return whether the batch took effect, and no other write since."""
        sheet = state.by_id(self.gid)
        return sheet is not None and sheet.notes.stamps[-1:] == (self.stamp,)

    def _note(self) -> Answer:
        text = self._notes.with_stamp(self.stamp, self._own)
        if self._notes.id is not None:
            return change_metadata(self._notes.id, text)
        return create_metadata(self.gid, METADATA_KEY, text)


def new_gid() -> int:
    """Return a random id for a worksheet; one of 2^31, so that most probably no worksheet has it yet."""
    return 1 + secrets.randbelow(2**31 - 2)


def create_metadata(gid: int, key: str, text: str) -> Answer:
    """Add developer metadata to a worksheet, given its id."""
    entry = {"metadataKey": key, "metadataValue": text, "visibility": "DOCUMENT"}
    return {"createDeveloperMetadata": {"developerMetadata": {**entry, "location": {"sheetId": gid}}}}


def change_metadata(entry: int, text: str) -> Answer:
    """Change the value of developer metadata, given their id."""
    lookup = {"developerMetadataLookup": {"metadataId": entry}}
    changed = {"dataFilters": [lookup], "developerMetadata": {"metadataValue": text}}
    return {"updateDeveloperMetadata": {**changed, "fields": "metadataValue"}}


def prove_range(named: NamedRange) -> Answer:
    """Return a request that changes nothing, and is refused where the range is gone."""
    rect = named.rect or Rect(0, 0, 1, 1)
    unchanged = {"namedRangeId": named.id, "name": named.name, "range": rect.to_grid_range(named.gid)}
    return {"updateNamedRange": {"namedRange": unchanged, "fields": "range"}}


def claim_range(named: NamedRange) -> Requests:
    """Remove a generation, so that no other write can build on it."""
    return [prove_range(named), {"deleteNamedRange": {"namedRangeId": named.id}}]


def remove_sheet_requests(state: State, sheet: Worksheet) -> Requests:
    """Delete a stage; refused where it has become a worksheet meanwhile."""
    seen = state.generation(sheet.gid)
    return [*(claim_range(seen) if seen else ()), {"deleteSheet": {"sheetId": sheet.gid}}]


def put_named_range(name: str, gid: int, rect: Rect, known: NamedRange | None = None) -> Answer:
    """Add a named range, or move one that exists already."""
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


def freeze_rows(gid: int, rows: int) -> Answer:
    """Make some rows at the top stay in sight."""
    return change_properties(gid, {"gridProperties": {"frozenRowCount": rows}}, "gridProperties.frozenRowCount")


def repeat_cell(gid: int, rect: Rect, cell: Answer, fields: str) -> Answer:
    """Set some fields of all cells in a range to the same content; a formula is written as for the first cell."""
    return {"repeatCell": {"range": rect.to_grid_range(gid), "cell": cell, "fields": fields}}


def copy_formats(gid: int, source: Rect, goal: Rect) -> Answer:
    """Give cells the formats of others of the same worksheet, again and again."""
    ranges = {"source": source.to_grid_range(gid), "destination": goal.to_grid_range(gid)}
    return {"copyPaste": {**ranges, "pasteType": "PASTE_FORMAT", "pasteOrientation": "NORMAL"}}


def clear_cells(gid: int, rect: Rect) -> Answer:
    """Empty cells, and leave their formats."""
    return repeat_cell(gid, rect, {}, "userEnteredValue")


def make_bold(gid: int, rect: Rect) -> Answer:
    """Make cells bold."""
    cell = {"userEnteredFormat": {"textFormat": {"bold": True}}}
    return repeat_cell(gid, rect, cell, "userEnteredFormat.textFormat.bold")


def show_as(gid: int, rect: Rect, number_format: Answer | None) -> Answer:
    """Set the number format of cells, or remove it."""
    shown: Answer = {"userEnteredFormat": {"numberFormat": number_format}} if number_format else {}
    return repeat_cell(gid, rect, shown, "userEnteredFormat.numberFormat")


def update_cells(
    gid: int,
    row: int,
    column: int,
    rows: Sequence[Sequence[Cell]],
    formulas: Mapping[tuple[int, int], str] | None = None,
) -> Answer:
    """Put cells into a block that begins at a row and a column; blanks among them clear."""
    start = {"sheetId": gid, "rowIndex": row, "columnIndex": column}
    data = [[_cell_data(cell) for cell in cells] for cells in rows]
    for (formula_row, formula_column), formula in (formulas or {}).items():
        down, across = formula_row - row, formula_column - column
        if 0 <= down < len(data) and 0 <= across < len(data[down]):
            data[down][across] = {"userEnteredValue": {"formulaValue": formula}}
    values = [{"values": cells} for cells in data]
    return {"updateCells": {"start": start, "rows": values, "fields": "userEnteredValue"}}


def _cell_data(cell: Cell) -> Answer:
    if cell is None or cell == "":
        return {}
    kind = "boolValue" if isinstance(cell, bool) else "stringValue" if isinstance(cell, str) else "numberValue"
    return {"userEnteredValue": {kind: cell}}


def lines_of(gid: int, dimension: str, start: int, end: int) -> Answer:
    """Return the DimensionRange of some rows ("ROWS") or columns ("COLUMNS"): the first, and the one after the last."""
    return {"sheetId": gid, "dimension": dimension, "startIndex": start, "endIndex": end}


def change_lines(lines: Answer, properties: Answer) -> Answer:
    """Change properties of rows or columns, given their DimensionRange."""
    return {"updateDimensionProperties": {"range": lines, "properties": properties, "fields": ",".join(properties)}}


def collapse(gid: int, group: LineGroup, *, collapsed: bool) -> Answer:
    """Collapse a group of rows or columns, or show it."""
    lines = lines_of(gid, group.dimension, group.start, group.end)
    changed = {"range": lines, "depth": group.depth, "collapsed": collapsed}
    return {"updateDimensionGroup": {"dimensionGroup": changed, "fields": "collapsed"}}


def add_group(gid: int, group: LineGroup) -> Requests:
    """Make rows or columns a group, and collapse it if it is a collapsed one."""
    lines = lines_of(gid, group.dimension, group.start, group.end)
    return [
        {"addDimensionGroup": {"range": lines}},
        *([collapse(gid, group, collapsed=True)] if group.collapsed else []),
    ]


def delete_group(gid: int, group: LineGroup) -> Requests:
    """Show a group of rows or columns, and remove it."""
    lines = lines_of(gid, group.dimension, group.start, group.end)
    return [collapse(gid, group, collapsed=False), {"deleteDimensionGroup": {"range": lines}}]
