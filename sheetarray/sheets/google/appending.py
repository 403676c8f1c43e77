"""Rows that are appended to the arrays, or to a recorded table, of a Google worksheet: all of them, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...columns import (
    ArrayInfo,
    LayoutColumn,
    cell_address,
)
from ...columns.refusals import check_cell_texts
from ...elements import Cell
from ...errors import NO_ARRAY, DTypeError, FormatError, LimitError, NotFoundError, locating
from ...files import PathLike
from ...formats.contract import Progress, ignore_progress
from ...linear.array import LinearArray
from ...linear.header import Header
from ...linear.named import linear_arrays
from ...linear.parsing import changed_header_cells
from ...linear.resizing import find_slow_axis, resize_header
from ..arrays_of_sheets import scan_sheets, spread_rows
from .address import Rect, one_cell, worksheet_url
from .appearance import show_dates
from .at_once import SheetChange, write_checked
from .changes import Swap, clear_cells, put_named_range, resize_sheet, update_cells
from .named_ranges import PlacedColumn
from .plan import check_cells
from .requests import Answer, SheetsApi, open_service
from .retries import TIMEOUT, ChangedError
from .sent_cells import MOST_DIRECT_BYTES, batch_size, cells_to_json
from .standing import StandingArray, StandingSheet, fetch_standing, overwrite_error
from .state.spreadsheet import MOST_CELLS, MOST_CHARACTERS, State, Worksheet, fetch_state, generation_name
from .tables.recorded import (
    AppendedRows,
    append_to_table,
    find_place_of_columns,
    find_places_on,
    has_table_of,
    renew_record,
)
from .tables.records import drop_records, put_record
from .views.writing import renew_grown_views

_ATTEMPTS = 8  # while others write to the worksheet


@dataclass(frozen=True, slots=True)
class _AppendedRows:
    """The rows that are appended to one array."""

    placed: PlacedColumn  # the new elements, and the cells that they take
    standing: StandingArray  # the array as it stands
    header: Header  # its header afterwards
    old: list[Cell]  # the cells of its header as they stand, from `version` on

    @property
    def last(self) -> tuple[int, int]:
        """The cell above the new ones, of the last element."""
        return self.placed.row - 1, self.placed.column

    @property
    def needs_last(self) -> bool:
        """Whether the last element of the array has to be read, since its cell cannot be blank if it is still there."""
        return not self.was_empty and self.header.dtype.name not in ("string", "generic")

    @property
    def was_empty(self) -> bool:
        """Whether the array has no elements yet."""
        return self.header.capacity == len(self.placed.piece.buffer)

    def changes(self, state: State, gid: int) -> Iterator[Answer]:
        """Yield the changes that put the rows below the array, and make its header and named ranges say so."""
        anchor, placed = self.standing.anchor, self.placed
        yield update_cells(gid, placed.row, placed.column, [[cell] for cell in placed.sent()])
        for index, value in changed_header_cells(self.old, self.header).items():
            yield update_cells(gid, anchor.row + index, anchor.column, [[value]])
        row, column = self.standing.data
        elements = Rect(row, column, row + self.header.capacity, column + 1)
        yield from cover(state, gid, elements, was_empty=self.was_empty)


def cover(state: State, gid: int, rect: Rect, *, was_empty: bool) -> Iterator[Answer]:
    """Yield the changes by which named ranges over the elements of an array take in its new rows."""
    tops = [rect.top, rect.top - 1] if was_empty else [rect.top]  # that of an empty array is over the word `data`
    for named in state.ranges:
        if named.gid != gid or named.rect is None or named.name == generation_name(gid):
            continue
        if named.rect.left == rect.left and named.rect.top in tops:
            yield put_named_range(named.name, gid, rect, named)


def _grow_array(name: str, array: LinearArray, content: StandingSheet) -> _AppendedRows:
    """Return the rows of one array, and its header with them; an error says why they cannot be appended."""
    group = content.arrays.get(name, [])
    if not group:
        raise NotFoundError(f"no array {name!r}; there is {', '.join(map(repr, content.arrays)) or 'none'}")
    anchor, address = group[0].anchor, group[0].anchor.address(0)
    header = anchor.header
    if header is None or len(group) > 1 or anchor.orient == "rows":
        why = (
            "it is broken"
            if header is None
            else "it takes several columns"
            if len(group) > 1
            else "it is written as a row"
        )
        raise FormatError(f"{name}: nothing can be appended to this array: {why}", location=address)
    axis = find_slow_axis(header)
    if axis is None:
        raise LimitError(f"{name}: an array of shape {header.shape} has no axis that rows can be appended along")
    if array.dtype_entry.name != header.dtype.name:
        raise DTypeError(f"{name}: rows of {array.dtype}, and the array is of {header.dtype.name}")
    rest, new = header.shape[:axis] + header.shape[axis + 1 :], array.shape[:axis] + array.shape[axis + 1 :]
    if len(array.shape) != len(header.shape) or rest != new:
        taken_shape = str((*header.shape[:axis], "n", *header.shape[axis + 1 :])).replace("'n'", "n")
        raise LimitError(f"{name}: rows of shape {array.shape}; the array takes rows of shape {taken_shape}")
    buffer = array.to_numpy().ravel(order="C" if header.order == "row-major" else "F")
    longer = resize_header(header, header.capacity + len(buffer))
    assert longer is not None
    piece = LayoutColumn(name, [], array.dtype_entry, np.ascontiguousarray(buffer), header.capacity, serials=True)
    row, column = group[0].data
    old = content.fetch_column(Rect(anchor.row, anchor.column, row, column + 1))
    placed = PlacedColumn(0, piece, row + header.capacity, column, named=False)
    return _AppendedRows(placed, group[0], longer, old)


def append_gsheet(
    target: Any,
    arrays: Any,
    *,
    sheet: str | None = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
    fit: Callable[[Mapping[str, ArrayInfo]], Mapping[str, Any]] | None = None,
) -> str:
    """Append rows to arrays of a Google worksheet. All rows arrive, or none.

    Rows are appended along the first axis; for a column-major array, along the last. Existing elements are not sent
    again. A reader never sees some of the new rows without the others.

    Args:
        target: as for `write_gsheet`.
        arrays: a mapping of names of existing arrays to their new rows, or anything else that `write_gsheet` takes,
            except awkward arrays. Rows must have the dtype of the array, and its size along all other axes. Labels stay
            as they are.
        sheet: the title of a worksheet; None means "arrays", or if there is none the worksheet that holds the arrays.
        client: as for `write_gsheet`.
        credentials: as for `write_gsheet`.
        timeout: as for `write_gsheet`.
        progress: as for `write_gsheet`. One request sends all rows, so `progress` is called only before and after it.
        fit: returns the rows as they fit the arrays of which it gets the infos; called anew if others were faster.

    Returns:
        The URL of the worksheet.

    Raises:
        NotFoundError: the worksheet or an array does not exist.
        DTypeError: rows have another dtype than their array. Nothing was changed.
        FormatError: a cell below an array is not empty, and `.location` is its address; or the header or the last
            element of an array is broken. Nothing was changed.
        LimitError: rows have another shape than the array needs, or are too many for one request. Nothing was changed.
        RemoteError: the service cannot be reached, or refuses. Nothing was changed.

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
    if fit is not None and not callable(fit):
        raise TypeError(f"fit is a function that gets infos, not {fit!r:.80}")
    linear = _to_linear(arrays) if fit is None else {}
    names = list(linear if fit is None else arrays)
    service = open_service(
        target, "arrays" if sheet is None else sheet, client, credentials, timeout, progress, writing=True
    )
    address = service.address
    report, cells = progress or ignore_progress, sum(array.length for array in linear.values())
    if fit is not None:
        cells = sum(map(np.size, arrays.values()))

    def attempt() -> tuple[State, Worksheet]:
        state = fetch_state(service)
        named = state.select_worksheet(address.gid, address.title)
        candidates = [named] if named else state.arrays if sheet is None and address.gid is None else []
        candidates = sorted(candidates, key=lambda each: -has_table_of(each.record, names))
        for grown in candidates:
            try:
                _append(service, state, grown, names, linear, fit)
            except FormatError as error:  # the answers before it may be of two moments
                if fetch_state(service).generation(grown.gid) != state.generation(grown.gid):
                    raise ChangedError from None
                if grown is candidates[-1] or error.reason != NO_ARRAY:
                    raise
            except NotFoundError:
                if grown is candidates[-1]:
                    raise
            else:
                return state, grown
        raise state.not_found_error(repr(address.title))

    report(0, cells)
    with locating(source=address.label):
        state, grown = service.patience.change_unchanged(attempt, _ATTEMPTS, "append again")
        report(cells, cells)
        renew_grown_views(service, state, grown, names)
    return worksheet_url(address.key, grown.gid)


def _to_linear(arrays: Any) -> dict[str, LinearArray]:
    """Return rows as they are sent, or refuse them where a cell has no room for a text."""
    linear = linear_arrays(spread_rows(arrays, limit=MOST_CHARACTERS))
    check_cell_texts(linear, MOST_CHARACTERS)
    return linear


def _append(
    service: SheetsApi,
    state: State,
    sheet: Worksheet,
    names: Sequence[str],
    arrays: Mapping[str, LinearArray],
    fit: Callable[[Mapping[str, ArrayInfo]], Mapping[str, Any]] | None,
) -> None:
    """Append rows to the arrays, or to the recorded table, of a worksheet that has the generation that was seen.

    `names`: of the arrays. `fit`: as for `append_gsheet`.

    Raises:
        ChangedError, RefusedError: others write to it; nothing is changed.
        DTypeError: the service does not keep a cell as it is; nothing is changed.
        RemoteError: the service does not keep a cell as it is, and the rows could not be taken back.
    """
    with locating(sheet=sheet.title):
        content = fetch_standing(service, state, sheet)
        places = find_places_on(content)
        if (place := find_place_of_columns(places, names)) is not None:
            given = {name: array.to_numpy() for name, array in arrays.items()}
            rows = append_to_table(place, fit or (lambda _: given))
            _append_to_table(service, state, content, rows, renew_record(content.view.record, [(place, rows.note)]))
            return
        content.view.title = None
        if fit is not None:
            arrays = _to_linear(fit(scan_sheets([content.view])))
        grown = [_grow_array(name, array, content) for name, array in arrays.items()]
        grown = [rows for rows in grown if len(rows.placed.piece.buffer)]
        columns = [rows.placed for rows in grown]
        if not grown:
            return
        _check_size(columns, sum(len(placed.piece.buffer) for placed in columns))
        _check_cells_below(grown, content)
    height = _check_height(state, sheet, columns)
    swap = Swap(state, sheet.gid, own=sheet.notes.own)
    requests = [
        *resize_sheet(sheet, height, sheet.columns),
        *(change for rows in grown for change in rows.changes(state, sheet.gid)),
        *show_dates(sheet.gid, columns),
    ]

    def restore() -> Iterator[Answer]:
        for rows in grown:
            yield clear_cells(sheet.gid, rows.placed.cells)
            anchor, formulas = rows.standing.anchor, content.grid.formulas if content.grid else None
            yield update_cells(sheet.gid, anchor.row, anchor.column, [[cell] for cell in rows.old], formulas)

    change = SheetChange(swap, sheet.title, columns, requests, (height, sheet.columns), restore)
    difference = write_checked(service, state, [change], hint="clear the rows, and accept")
    if difference is not None:
        raise DTypeError(difference)


def _append_to_table(service: SheetsApi, state: State, content: StandingSheet, rows: AppendedRows, record: str) -> None:
    """Append rows to a table that has a record, and write its new record. Raises as `_append`."""
    columns, sheet = [placed for placed in rows.columns if len(placed.piece.buffer)], content.sheet
    if not columns:
        return
    cells = sum(len(placed.piece.buffer) for placed in columns)
    _check_size(columns, cells)
    for row, column in content.find_filled([placed.cells for placed in columns]):
        raise overwrite_error("a cell below the table", row, column, "the new rows")
    height = _check_height(state, sheet, columns)
    requests = [
        *resize_sheet(sheet, height, sheet.columns),
        *(update_cells(sheet.gid, each.row, each.column, [[cell] for cell in each.sent()]) for each in columns),
        *show_dates(sheet.gid, columns),
        *put_record(sheet.record, sheet.gid, record),
    ]

    def restore() -> Iterator[Answer]:
        for placed in columns:
            yield clear_cells(sheet.gid, placed.cells)

    swap = Swap(state, sheet.gid, own=sheet.notes.own)
    change = SheetChange(swap, sheet.title, columns, requests, (height, sheet.columns), restore, sheet.record)
    difference = write_checked(service, state, [change], drop_records(state, [sheet.gid]), hint="clear the rows")
    if difference is not None:
        raise DTypeError(difference)


def _check_size(columns: Sequence[PlacedColumn], cells: int) -> None:
    """Refuse more cells than one request carries."""
    size = batch_size(sum(len(cells_to_json(placed.sent(), placed.piece.name)) for placed in columns), cells)
    if size > MOST_DIRECT_BYTES:
        most = cells * MOST_DIRECT_BYTES // size
        raise LimitError(f"{cells:,} cells are too many for one request: append about {most:,} at once")


def _check_height(state: State, sheet: Worksheet, columns: Sequence[PlacedColumn]) -> int:
    """Return the rows of the grid with new cells, or refuse them where the spreadsheet has no room."""
    height = max(sheet.rows, *(placed.cells.bottom for placed in columns))
    cells_beside = sum(other.cells for other in state.worksheets if other.gid != sheet.gid)
    check_cells(cells_beside + height * sheet.columns, MOST_CELLS, cells_beside)
    return height


def _check_cells_below(grown: list[_AppendedRows], content: StandingSheet) -> None:
    """Refuse rows that would go over other cells, or below a gap, where the last element of an array is gone."""
    lasts = {rows.last: rows.placed.piece.name for rows in grown if rows.needs_last}
    rects = [one_cell(row, column) for row, column in lasts]
    filled = content.find_filled([*rects, *(rows.placed.cells for rows in grown)])
    for row, column in filled:
        if (row, column) not in lasts:
            (name,) = {rows.placed.piece.name for rows in grown if rows.placed.column == column}
            raise overwrite_error("a cell that belongs to no array", row, column, name)
    for last in sorted(lasts.keys() - set(filled)):
        raise FormatError(
            f"{lasts[last]}: nothing can be appended, since its last element is gone",
            location=cell_address(*last),
            hint="if rows were deleted, accept corrects the header",
        )
