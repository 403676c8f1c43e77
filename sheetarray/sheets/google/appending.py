"""Rows appended to arrays in a spreadsheet: cells below them, and their headers, changed by one batch or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...adapters import Progress, ignore_progress
from ...arrays import linear_arrays
from ...columns import cell_address
from ...columns.limits import check_texts
from ...composite import spread_rows
from ...elements import Cell
from ...errors import DTypeError, FormatError, RemoteError, locating
from ...files import PathLike
from ...linear import LinearArray
from ...resizing import changed_header_cells
from .address import Rect, parse_address, range_on_sheet, worksheet_url
from .appearance import show_dates
from .appended_rows import AppendedRows, check_grown, grow_array
from .body import find_difference
from .changes import Requests, Swap, apply_changes, clear_cells, put_named_range, resize_sheet, update_cells
from .client import http_client
from .consistent import pause_listener
from .content import ConflictError, SheetContent, fetch_content, find_filled, overwrite_error
from .fetch import fetch_values
from .grid import cells_after
from .plan import check_cells
from .requests import SheetsApi
from .retries import TIMEOUT, RefusedError, Retries
from .state import MOST_CELLS, MOST_CHARACTERS, State, Worksheet, fetch_state
from .view_renewal import renew_grown_views

_ATTEMPTS = 8  # while others write to the worksheet


def append_gsheet(
    target: Any,
    arrays: Any,
    *,
    worksheet: str = "arrays",
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> str:
    """Append rows to arrays of a worksheet: all of them, or nothing at all; a reader sees the arrays before or after.

    A row is what one index of the first axis holds, of a column-major array the last axis. The elements that stand in
    the worksheet are not sent again; of them, only the last one of each array is read.

    Args:
        target: as for `write_gsheet`.
        arrays: a mapping of the names of existing arrays to their new rows, which have the same dtype and the same
            size along all other axes; or anything else that `write_gsheet` takes, but no awkward arrays. Labels stay as
            they are.
        worksheet: as for `write_gsheet`.
        client: as for `write_gsheet`.
        credentials: as for `write_gsheet`.
        timeout: as for `write_gsheet`.
        progress: as for `write_gsheet`. One request sends all rows, so that the number of cells written is 0 before it
            and all of them after it.

    Returns:
        The URL of the worksheet.

    Raises:
        NotFoundError: no such worksheet, or no array of a name.
        DTypeError: rows of another dtype than their array; nothing is changed.
        FormatError: something stands below an array, at `.location`, its last element is gone, or its header is broken;
            nothing is changed.
        LimitError: rows that do not fit an array, or are too many for one request; nothing is changed.
        RemoteError: the service cannot be reached, or refuses; nothing is changed.

    Example:
        >>> import numpy as np
        >>> from sheetarray.sheets.google import read_gsheet, write_gsheet
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     key, client = server.create(), server.client()
        ...     url = write_gsheet(key, {"t": np.array([[1.5, 2.5]])}, client=client)
        ...     url = append_gsheet(key, {"t": np.array([[3.5, 4.5]])}, client=client)
        ...     read_gsheet(key, client=client)["t"]
        array([[1.5, 2.5],
               [3.5, 4.5]])
    """
    linear = linear_arrays(spread_rows(arrays, limit=MOST_CHARACTERS))
    check_texts(linear, MOST_CHARACTERS)
    address = parse_address(target, worksheet)
    http = address.http if address.http is not None and client is None else client
    service = SheetsApi(
        http_client(http, credentials, writing=True), address.key, Retries(pause_listener(progress), timeout=timeout)
    )
    message, report = "", progress or ignore_progress
    cells = sum(array.length for array in linear.values())
    report(0, cells)
    with locating(source=address.label):
        for number in range(_ATTEMPTS):
            state = fetch_state(service)
            sheet = state.select_worksheet(address.gid, address.title)
            if sheet is None:
                raise state.not_found_error(repr(address.title))
            try:
                check = _append(service, state, sheet, linear)
            except ConflictError:
                message = "the worksheet changes"
            except RefusedError as refused:
                message = refused.message
            else:  # the rows stand: from now on no error may make anybody append them once more
                check()
                report(cells, cells)
                renew_grown_views(service, state, sheet, linear)
                return worksheet_url(address.key, sheet.gid)
            service.patience.pause(0.25 * 2**number, "others write to the worksheet")
    raise RemoteError(f"others change the spreadsheet again and again: {message:.200}", hint="append it once more")


def _append(
    service: SheetsApi, state: State, sheet: Worksheet, arrays: Mapping[str, LinearArray]
) -> Callable[[], None]:
    """Append rows to the arrays of a worksheet, if it still has the generation that was seen.

    Returns:
        A function that compares the rows in the worksheet with those that were sent; the caller calls it after noting
        that the rows stand.

    Raises:
        ConflictError, RefusedError: others write to it; nothing is changed.
    """
    with locating(sheet=sheet.title):
        content = fetch_content(service, sheet)
        grown = [grow_array(name, array, content) for name, array in arrays.items()]
        grown = [rows for rows in grown if rows.cells]
        if not grown:
            return lambda: None
        check_grown(grown)
        lasts = {rows.last: rows for rows in grown if rows.needs_last}
        rects = [Rect(row, column, row + 1, column + 1) for row, column in lasts]
        filled = sorted(find_filled(service, sheet, [*rects, *(rows.rect for rows in grown)], content.grid))
        for row, column in filled:
            if (row, column) not in lasts:
                (name,) = {rows.piece.name for rows in grown if rows.rect.left == column}
                raise overwrite_error("a cell that belongs to no array", row, column, name)
        for last in sorted(lasts.keys() - set(filled)):
            raise FormatError(
                f"{lasts[last].piece.name}: nothing can be appended, since its last element is gone",
                location=cell_address(*last),
                hint="adopt makes the header true where rows were deleted",
            )
    height = max(sheet.rows, *(rows.rect.bottom or 0 for rows in grown))
    others = sum(other.cells for other in state.worksheets if other.gid != sheet.gid)
    check_cells(others + height * sheet.columns, MOST_CELLS, others)
    headers = [_header_cells(service, sheet, content, rows) for rows in grown]
    swap = Swap(sheet.gid, state.generation(sheet.gid), sheet.notes, own=sheet.notes.own)
    requests = [
        *resize_sheet(sheet, height, sheet.columns),
        *(update_cells(sheet.gid, rows.rect.top, rows.rect.left or 0, [[c] for c in rows.cells]) for rows in grown),
        *show_dates(sheet.gid, [(rows.rect, rows.piece) for rows in grown]),
        *(change for rows, cells in zip(grown, headers, strict=True) for change in _change_header(sheet, rows, cells)),
        *_move_ranges(state, sheet, grown),
    ]
    shown = [range_on_sheet(sheet.title, rows.rect) for rows in grown]
    answer = apply_changes(
        service, swap.wrap(requests, height, sheet.columns), swap.took_effect, shown=shown, confirmed=True
    )
    return lambda: _check_kept(service, state, sheet, swap, grown, headers, answer)


# What is appended ----------------------------------------------------------------------------------------------


def _header_cells(service: SheetsApi, sheet: Worksheet, content: SheetContent, rows: AppendedRows) -> list[Cell]:
    """Return the cells of a header as they stand, from `version` on."""
    anchor = rows.standing.anchor
    rect = Rect(anchor.row, anchor.column, anchor.row + anchor.start, anchor.column + 1)
    if content.grid is not None:
        return content.grid.cells(rect)[0]
    ((_, columns),) = fetch_values(service, [(sheet.title, rect)])
    return columns[0] if columns else []


# The batch -----------------------------------------------------------------------------------------------------


def _change_header(sheet: Worksheet, rows: AppendedRows, cells: list[Cell]) -> Iterator[dict[str, Any]]:
    """Yield the changes that make a header say what is true after the rows were appended."""
    anchor = rows.standing.anchor
    for index, value in changed_header_cells(cells, rows.header).items():
        yield update_cells(sheet.gid, anchor.row + index, anchor.column, [[value]])


def _move_ranges(state: State, sheet: Worksheet, grown: list[AppendedRows]) -> Iterator[dict[str, Any]]:
    """Yield the changes by which named ranges over the elements of an array take in its new rows."""
    for rows in grown:
        row, column = rows.standing.data
        capacity_before = rows.header.capacity - len(rows.cells)
        tops = [row] if capacity_before else [row, row - 1]  # the range of an empty array is over the word `data`
        rect = Rect(row, column, row + rows.header.capacity, column + 1)
        for named in state.ranges:
            if named.gid == sheet.gid and named.rect and named.rect.left == column and named.rect.top in tops:
                yield put_named_range(named.name, sheet.gid, rect, named)


def _check_kept(
    service: SheetsApi,
    before: State,
    sheet: Worksheet,
    swap: Swap,
    grown: list[AppendedRows],
    headers: list[list[Cell]],
    answer: dict[str, Any] | None,
) -> None:
    """Compare the rows in the worksheet with those that were sent; take them back if the service has changed a cell.

    Args:
        service: the spreadsheet.
        before: the state of the spreadsheet before the batch.
        sheet: the worksheet, as it was in that state.
        swap: with which the batch was sent.
        grown: the rows.
        headers: the cells of the arrays' headers before the batch.
        answer: the answer to the batch; None if the rows have to be fetched.

    Raises:
        DTypeError: the service does not keep a cell as it is; nothing is changed.
        RemoteError: the service does not keep a cell as it is, and the rows could not be taken back.
    """
    grid = cells_after(answer, sheet.gid) if answer else None
    for rows in grown:
        kept = grid.cells(rows.rect)[0] if grid else _fetch_column(service, sheet, rows.rect)
        wrong = find_difference(rows.cells, kept)
        if wrong is None:
            continue
        state = fetch_state(service)
        if grid is None and not swap.is_last(state):
            return  # somebody else has written since: the cells are not those that this batch has put there
        location = f"{rows.piece.name}, buffer element {rows.piece.start + wrong}"
        kept_cell = kept[wrong] if wrong < len(kept) else ""
        what = f"{location}: the service keeps {rows.cells[wrong]!r:.60} as {kept_cell!r:.60}"
        try:
            if not swap.is_last(state):
                raise RefusedError(409, "others have written since")
            _take_back(service, before, state, sheet, grown, headers)
        except RefusedError:
            what += ", and the rows could not be taken back"
            raise RemoteError(what, hint="clear them, and adopt") from None
        raise DTypeError(what)


def _fetch_column(service: SheetsApi, sheet: Worksheet, rect: Rect) -> list[Cell]:
    """Return the cells of a range of one column; none if the service refuses it."""
    try:
        ((_, columns),) = fetch_values(service, [(sheet.title, rect)])
    except RefusedError:
        return []
    return columns[0] if columns else []


def _take_back(
    service: SheetsApi,
    before: State,
    state: State,
    sheet: Worksheet,
    grown: list[AppendedRows],
    headers: list[list[Cell]],
) -> None:
    """Clear the appended rows, and give headers and named ranges the values that they had before.

    Args:
        service: the spreadsheet.
        before: the state of the spreadsheet before the rows were appended.
        state: the state now.
        sheet: the worksheet.
        grown: the rows.
        headers: the cells of the arrays' headers before.

    Raises:
        RefusedError: somebody else has written since.
    """
    now = state.by_id(sheet.gid)
    assert now is not None
    requests: Requests = [clear_cells(sheet.gid, rows.rect) for rows in grown]
    for rows, cells in zip(grown, headers, strict=True):
        anchor = rows.standing.anchor
        for index in changed_header_cells(cells, rows.header):
            requests.append(update_cells(sheet.gid, anchor.row + index, anchor.column, [[cells[index]]]))
    starts = {rows.standing.data for rows in grown}
    for named in before.ranges:
        rect = named.rect
        if named.gid == sheet.gid and rect and {(rect.top, rect.left), (rect.top + 1, rect.left)} & starts:
            requests.append(put_named_range(named.name, sheet.gid, rect, named))
    undo = Swap(sheet.gid, state.generation(sheet.gid), now.notes, own=now.notes.own)
    apply_changes(service, undo.wrap(requests, now.rows, now.columns), undo.took_effect, confirmed=True)
