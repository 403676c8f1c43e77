"""Headers in a spreadsheet made true to the cells below them: one batch, which changes everything or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...columns import (
    HeaderEdit,
    ResizedArray,
    find_header_edits,
)
from ...elements import MissingOption, NaValues, missing_of
from ...errors import NO_ARRAY, FormatError, locating
from ...files import PathLike
from ...formats.contract import Progress
from ..accepted import AcceptedArrays, read_accepted
from ..table_areas import take_named
from .address import Rect
from .appending import cover
from .changes import Requests, Swap, apply_changes, update_cells
from .reading import select_worksheets
from .requests import Answer, open_service
from .retries import TIMEOUT, ChangedError
from .state.spreadsheet import State, fetch_state
from .tables.recorded import accept_tables, find_places_of_tables
from .tables.records import drop_records
from .views.writing import write_views_again

_ACCEPTANCES = 5


def accept_gsheet(
    source: Any,
    target: None = None,
    *,
    sheet: str | None = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    missing: MissingOption = "error",
    na_values: NaValues = (),
    progress: Progress | None = None,
) -> AcceptedArrays:
    """Make the headers of arrays in a Google spreadsheet, their named ranges and views, true to the cells below them.

    A spreadsheet is changed in place, so that there is no `target`. Of `progress` only the attribute `waiting` is
    called.
    """
    as_missing = missing_of(missing, na_values)
    if target is not None:
        raise ValueError("a spreadsheet is changed in place: leave the target out, or name a file")
    service = open_service(source, sheet, client, credentials, timeout, progress, writing=True)

    def attempt() -> tuple[State, AcceptedArrays, dict[str, ResizedArray]]:
        state = fetch_state(service)
        sheets = select_worksheets(service)
        places = take_named(find_places_of_tables(sheets), as_missing)
        try:
            accepted, arrays = read_accepted(sheets, missing=as_missing)
        except FormatError as error:
            if error.reason != NO_ARRAY or not places:
                raise
            accepted, arrays = read_accepted((), missing=as_missing)
        accepted, notes = accept_tables(sheets, places, state, accepted)
        edits = find_header_edits(sheets, arrays) if arrays else []
        if edits or notes:
            requests, swap = _make_batch(state, edits, arrays, notes)
            apply_changes(service, requests, swap.took_effect)
        return state, accepted, arrays

    with locating(source=service.address.label):
        state, accepted, arrays = service.patience.change_unchanged(attempt, _ACCEPTANCES, "accept it again")
        write_views_again(service, state, arrays, [name for name, array in arrays.items() if array.is_changed])
    return accepted


def _make_batch(
    state: State,
    edits: list[HeaderEdit],
    arrays: Mapping[str, ResizedArray],
    notes: Mapping[int, Sequence[Answer]],
) -> tuple[Requests, Swap]:
    """Return the batch that changes headers and named ranges, and follows on the generation of each worksheet.

    `notes`: the requests that change the notes of tables, by the ids of worksheets.
    """
    requests: Requests = drop_records(state, notes)
    swap: Swap | None = None
    of_tables = [sheet.title for sheet in state.worksheets if sheet.gid in notes]
    for title in dict.fromkeys([*(edit.title for edit in edits), *of_tables]):
        sheet = state.by_title(title or "")
        if sheet is None:
            raise ChangedError(f"the worksheet {title!r} is gone")
        changes = [update_cells(sheet.gid, e.row, e.column, [[e.value]]) for e in edits if e.title == title]
        for array in arrays.values():
            anchor, count = array.column.group[0], array.column.header.capacity
            if anchor.title == sheet.title and array.is_changed and count:
                column, row = anchor.data_cell
                down, across = (count, 1) if anchor.orient == "columns" else (1, count)
                rect = Rect(row, column, row + down, column + across)
                changes += cover(state, sheet.gid, rect, was_empty=not array.column.written.capacity)
        changes += notes.get(sheet.gid, ())
        swap = Swap(state, sheet.gid, own=sheet.notes.own)
        requests += swap.wrap(changes, sheet.rows, sheet.columns)
    assert swap is not None
    return requests, swap
