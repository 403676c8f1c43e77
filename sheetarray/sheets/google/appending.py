"""Rows that arrays gain or lose: `append_gsheet` adds some, `adopt_gsheet` takes what people have added or deleted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...adapters import Progress, ignore_progress
from ...arrays import linear_arrays
from ...columns import (
    ArrayInfo,
    HeaderEdit,
    LayoutColumn,
    ResizedArray,
    cell_address,
    find_header_edits,
    info_of_resized,
)
from ...columns.layout import check_texts
from ...composite import read_resized_arrays, spread_rows
from ...elements import Cell, Missing
from ...errors import DTypeError, FormatError, LimitError, NotFoundError, RemoteError, locating
from ...files import PathLike
from ...header import Header, changed_header_cells, find_slow_axis, resize_header
from ...linear import LinearArray
from .address import Rect, range_on_sheet, worksheet_url
from .appearance import show_dates
from .changes import Requests, Swap, apply_changes, clear_cells, put_named_range, resize_sheet, update_cells
from .content import (
    ConflictError,
    SheetContent,
    StandingArray,
    cells_after,
    fetch_content,
    find_filled,
    overwrite_error,
)
from .plan import check_cells
from .reading import select_sheets
from .requests import Answer, SheetsApi, open_service
from .retries import TIMEOUT, ChangedError, RefusedError
from .sent_cells import CELL_OVERHEAD, MOST_DIRECT_BYTES, find_difference, to_cells
from .spreadsheet_state import MOST_CELLS, MOST_CHARACTERS, State, Worksheet, fetch_state
from .views import renew_grown_views, renew_views
from .worksheet import fetch_column

# The rows that are appended to an array: its new elements, their cells, and its header afterwards.


@dataclass(frozen=True, slots=True)
class AppendedRows:
    """The rows that are appended to one array.

    Attributes:
        piece: the new elements.
        cells: the cells that they become.
        standing: the array as it stands.
        header: its header afterwards.
    """

    piece: LayoutColumn
    cells: list[Cell]
    standing: StandingArray
    header: Header

    @property
    def rect(self) -> Rect:
        """The cells that are written."""
        row, column = self.standing.data
        top = row + self.header.capacity - len(self.cells)
        return Rect(top, column, top + len(self.cells), column + 1)

    @property
    def last(self) -> tuple[int, int]:
        """The cell above them, of the last element."""
        return self.rect.top - 1, self.standing.data[1]

    @property
    def needs_last(self) -> bool:
        """Whether the last element of the array has to be read, since its cell cannot be blank if it is still there."""
        return self.header.capacity > len(self.cells) and self.header.dtype.name not in ("string", "generic")


def grow_array(name: str, array: LinearArray, content: SheetContent) -> AppendedRows:
    """Return the rows of one array, and its header with them.

    Raises:
        NotFoundError, FormatError, DTypeError, LimitError: they cannot be appended.
    """
    group = content.arrays.get(name, [])
    if not group:
        raise NotFoundError(f"no array {name!r}; there is {', '.join(map(repr, content.arrays)) or 'none'}")
    anchor, address = group[0].anchor, group[0].anchor.address(0)
    header = anchor.header
    if header is None or len(group) > 1 or anchor.orient == "rows":
        why = "it is broken" if header is None else "it is one of several" if len(group) > 1 else "it runs to the right"
        raise FormatError(f"{name}: nothing can be appended to this array: {why}", location=address)
    axis = find_slow_axis(header)
    if axis is None:
        raise LimitError(f"{name}: an array of shape {header.shape} has no axis that rows can be appended along")
    if array.dtype_entry.name != header.dtype.name:
        raise DTypeError(f"{name}: rows of {array.dtype}, and the array is of {header.dtype.name}")
    rest, new = header.shape[:axis] + header.shape[axis + 1 :], array.shape[:axis] + array.shape[axis + 1 :]
    if len(array.shape) != len(header.shape) or rest != new:
        wanted = str((*header.shape[:axis], "n", *header.shape[axis + 1 :])).replace("'n'", "n")
        raise LimitError(f"{name}: rows of shape {array.shape}; the array takes rows of shape {wanted}")
    buffer = array.to_numpy().ravel(order="C" if header.order == "row-major" else "F")
    longer = resize_header(header, header.capacity + len(buffer))
    assert longer is not None
    piece = LayoutColumn(name, [], array.dtype_entry, np.ascontiguousarray(buffer), header.capacity, serials=True)
    return AppendedRows(piece, to_cells(piece, 0, len(buffer)), group[0], longer)


def check_grown(grown: list[AppendedRows]) -> None:
    """Refuse rows whose cells are too many for one request.

    Raises:
        LimitError: they are.
    """
    size = 0
    for rows in grown:
        try:
            size += len(json.dumps(rows.cells, ensure_ascii=False).encode()) + CELL_OVERHEAD * len(rows.cells)
        except UnicodeEncodeError as error:
            raise DTypeError(f"{rows.piece.name}: text that is no valid Unicode: {error.reason}") from error
    if size > MOST_DIRECT_BYTES:
        cells = sum(len(rows.cells) for rows in grown)
        most = cells * MOST_DIRECT_BYTES // size
        raise LimitError(f"{cells:,} cells are too many for one request: append about {most:,} at once")


# Rows appended to arrays in a spreadsheet: cells below them, and their headers, changed by one batch or not at all.

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
    service = open_service(target, worksheet, client, credentials, timeout, progress, writing=True)
    address = service.address
    message, report = "", progress or ignore_progress
    cells = sum(array.length for array in linear.values())
    report(0, cells)
    with locating(source=address.label):
        for _ in service.patience.attempts(_ATTEMPTS):
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
        content = fetch_content(service, state, sheet)
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
    return fetch_column(service, sheet.title, rect)


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
        return fetch_column(service, sheet.title, rect)
    except RefusedError:
        return []


def _take_back(
    service: SheetsApi,
    before: State,
    state: State,
    sheet: Worksheet,
    grown: list[AppendedRows],
    headers: list[list[Cell]],
) -> None:
    """Clear the appended rows, and give headers and named ranges the values that they had before.

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


# Headers in a spreadsheet made true to the cells below them: one batch, which changes everything or nothing.

_ADOPTIONS = 5


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
    service = open_service(source, worksheet, client, credentials, timeout, progress, writing=True)
    with locating(source=service.address.label):
        for _ in service.patience.attempts(_ADOPTIONS):
            try:
                state = fetch_state(service)
                sheets = select_sheets(service)
                arrays = read_resized_arrays(sheets, missing=missing)
                edits = find_header_edits(sheets, arrays)
                if edits:
                    requests, swap = _make_batch(state, edits, arrays)
                    apply_changes(service, requests, swap.took_effect, confirmed=True)
                renew_views(service, state, arrays, [name for name, array in arrays.items() if array.is_changed])
                return {name: info_of_resized(array) for name, array in arrays.items() if array.is_changed}
            except (ChangedError, RefusedError) as changed:
                message = str(changed)
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
        changes += _stretch_ranges(state, sheet, arrays)
        swap = Swap(sheet.gid, state.generation(sheet.gid), sheet.notes, own=sheet.notes.own)
        requests += swap.wrap(changes, sheet.rows, sheet.columns)
    assert swap is not None
    return requests, swap


def _change_cell(gid: int, edit: HeaderEdit) -> Answer:
    start = {"sheetId": gid, "rowIndex": edit.row, "columnIndex": edit.column}
    values = [{"userEnteredValue": {"numberValue": edit.value}}]
    return {"updateCells": {"start": start, "rows": [{"values": values}], "fields": "userEnteredValue"}}


def _stretch_ranges(state: State, sheet: Worksheet, arrays: Mapping[str, ResizedArray]) -> Iterator[Answer]:
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
