"""Headers in a spreadsheet made true to the cells below them: one batch, which changes everything or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...adapters import Progress
from ...columns import ArrayInfo, HeaderEdit, ResizedArray, find_header_edits, info_of_resized
from ...composite import read_resized_arrays
from ...elements import Missing
from ...errors import LimitError, RemoteError, locating
from ...files import PathLike
from .address import Rect, parse_address
from .changes import Requests, Swap, apply_changes, put_named_range
from .client import http_client
from .consistent import pause_listener, select_sheets
from .requests import Answer, SheetsApi
from .retries import TIMEOUT, ChangedError, RefusedError, Retries
from .sheet import MOST_AT_ONCE, GoogleSheet
from .state import State, Worksheet, fetch_state
from .view_renewal import renew_views

_ATTEMPTS = 5


def adopt_gsheet(
    source: Any,
    target: None = None,
    *,
    worksheet: str | None = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    missing: Missing = "error",
    progress: Progress | None = None,
) -> dict[str, ArrayInfo]:
    """Make the headers of arrays in a Google spreadsheet, their named ranges and views, true to the cells below them.

    Args:
        source: as for `read_gsheet`.
        target: None; a spreadsheet is changed in place.
        worksheet: as for `read_gsheet`.
        client: as for `read_gsheet`.
        credentials: as for `write_gsheet`.
        timeout: as for `write_gsheet`.
        missing: as for `read_gsheet`.
        progress: its attribute `waiting` is called as by `read_gsheet`; itself it is not.

    Returns:
        The infos of the arrays that had other lengths, as their headers say them now.

    Raises:
        FormatError: as `read_gsheet`; nothing is changed.
        LimitError: a target.
        RemoteError: the service cannot be reached, or refuses; nothing is changed.

    Example:
        >>> import numpy as np
        >>> from sheetarray.sheets.google import write_gsheet
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     key, client = server.create(), server.client()
        ...     url = write_gsheet(key, {"t": np.array([1.5, 2.5])}, client=client)
        ...     _ = client.open_by_url(url).worksheet("arrays").append_row([3.5])
        ...     adopt_gsheet(key, client=client)["t"].shape
        (3,)
    """
    if target is not None:
        raise LimitError("a spreadsheet is adopted in place: leave the target out, or name a file")
    address = parse_address(source, worksheet)
    http = address.http if address.http is not None and client is None else client
    patience = Retries(pause_listener(progress), timeout=timeout)
    service = SheetsApi(http_client(http, credentials, writing=True), address.key, patience)
    sheets: list[GoogleSheet] = []
    with locating(source=address.label):
        for number in range(_ATTEMPTS):
            try:
                state = fetch_state(service)
                sheets[:] = select_sheets(service, address, first=False, at_once=MOST_AT_ONCE)
                arrays = read_resized_arrays(sheets, missing=missing)
                edits = find_header_edits(sheets, arrays)
                if edits:
                    requests, swap = _make_batch(state, edits, arrays)
                    apply_changes(service, requests, swap.took_effect, confirmed=True)
                renew_views(service, state, arrays, [name for name, array in arrays.items() if array.is_changed])
                return {name: info_of_resized(array) for name, array in arrays.items() if array.is_changed}
            except (ChangedError, RefusedError) as changed:
                message = str(changed)
            patience.pause(0.25 * 2**number, "others write to the worksheet")
    raise RemoteError(f"others change the spreadsheet again and again: {message:.200}", hint="adopt it once more")


def _make_batch(state: State, edits: list[HeaderEdit], arrays: Mapping[str, ResizedArray]) -> tuple[Requests, Swap]:
    """Return the batch that changes headers and named ranges, and follows on the generation of each worksheet."""
    requests: Requests = []
    swap: Swap | None = None
    for title in dict.fromkeys(edit.title for edit in edits):
        sheet = state.by_title(title or "")
        if sheet is None:
            raise ChangedError(f"the worksheet {title!r} is gone")
        changes = [_change_cell(sheet.gid, edit) for edit in edits if edit.title == title]
        changes += _move_ranges(state, sheet, arrays)
        swap = Swap(sheet.gid, state.generation(sheet.gid), sheet.notes, own=sheet.notes.own)
        requests += swap.wrap(changes, sheet.rows, sheet.columns)
    assert swap is not None
    return requests, swap


def _change_cell(gid: int, edit: HeaderEdit) -> Answer:
    start = {"sheetId": gid, "rowIndex": edit.row, "columnIndex": edit.column}
    values = [{"userEnteredValue": {"numberValue": edit.value}}]
    return {"updateCells": {"start": start, "rows": [{"values": values}], "fields": "userEnteredValue"}}


def _move_ranges(state: State, sheet: Worksheet, arrays: Mapping[str, ResizedArray]) -> Iterator[Answer]:
    """Yield the changes of named ranges that begin where the elements of an array do."""
    for array in arrays.values():
        anchor, count = array.column.group[0], array.column.header.capacity
        if anchor.title != sheet.title or not array.is_changed or not count:
            continue
        column, row = anchor.data_cell
        down, across = (count, 1) if anchor.orient == "columns" else (1, count)
        rect = Rect(row, column, row + down, column + across)
        for named in state.ranges:
            if named.gid == sheet.gid and named.rect is not None and named.rect[:2] == rect[:2] != (0, 0):
                yield put_named_range(named.name, sheet.gid, rect, named)
