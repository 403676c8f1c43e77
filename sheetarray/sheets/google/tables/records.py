"""The requests that make, replace and remove the record of the tables of a worksheet."""

from __future__ import annotations

import json
from collections.abc import Collection

from ..changes import Requests, change_metadata, create_metadata, new_gid, update_cells
from ..state.records import MOST_TEXT, RECORD_KEY, TABLE_KEY, TableRecord
from ..state.spreadsheet import MOST_CHARACTERS, State


def put_record(record: TableRecord, gid: int, text: str) -> Requests:
    """Return the requests that give a worksheet another record: in its metadata, or in a new hidden sheet.

    `record`: the one that it has. `gid`: its id. `text`: of the record; an empty one takes it away.
    """
    requests: Requests = []
    held = text
    if len(text) > MOST_TEXT:
        sheet = new_gid()
        held = json.dumps({"sheet": sheet})
        cells = [[text[start : start + MOST_CHARACTERS]] for start in range(0, len(text), MOST_CHARACTERS)]
        grid = {"rowCount": len(cells), "columnCount": 1}
        properties = {"sheetId": sheet, "title": f"sheetarray record {sheet}", "hidden": True, "gridProperties": grid}
        requests = [
            {"addSheet": {"properties": properties}},
            update_cells(sheet, 0, 0, cells),
            create_metadata(sheet, RECORD_KEY, "1"),
        ]
    if record.id is not None:
        requests.append(change_metadata(record.id, held))
    elif held:
        requests.append(create_metadata(gid, TABLE_KEY, held))
    return requests


def drop_records(state: State, rewritten: Collection[int] = ()) -> Requests:
    """Return the requests that remove the hidden sheets whose records are of no worksheet; see `unused_records`."""
    return [{"deleteSheet": {"sheetId": sheet.gid}} for sheet in state.unused_records(rewritten)]


def count_record_cells(text: str) -> int:
    """Return the number of cells that a record takes."""
    return -(-len(text) // MOST_CHARACTERS) if len(text) > MOST_TEXT else 0
