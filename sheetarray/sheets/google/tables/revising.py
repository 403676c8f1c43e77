"""Puts other cells, and other rows, into tables of worksheets, by one batch; all else in the spreadsheet stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ....changes.formulas import Formula
from ....columns import LayoutColumn, keeping_unreadable
from ....dtypes import Array, from_name, from_numpy
from ....elements import Cell
from ....elements.equality import index_changes
from ....errors import DTypeError, FormatError, LimitError, NotFoundError, locating, warn_caller
from ....files import PathLike
from ....tables import TableColumns, is_same_column, list_new_texts
from ...content import TableRevision
from ...formula_texts import text_in_cell
from ...recorded_tables import open_recorded, renew_note
from ...sheet_choice import find_title
from ..address import Rect, parse_address, worksheet_url
from ..appearance import show_dates
from ..at_once import SheetChange, write_checked
from ..changes import Requests, Swap, copy_formats, resize_sheet, update_cells
from ..named_ranges import PlacedColumn
from ..plan import check_cells
from ..requests import Answer, SheetsApi, open_service
from ..retries import TIMEOUT, ChangedError
from ..sent_cells import MOST_DIRECT_BYTES, batch_size, cells_to_json
from ..standing import StandingSheet, fetch_standing, overwrite_error
from ..state.spreadsheet import MOST_CELLS, State, Worksheet, fetch_state
from ..worksheet import GoogleSheet
from .recorded import find_places_of_tables, read_ordinary, renew_record
from .records import drop_records, put_record

_ATTEMPTS = 8  # while others write to the spreadsheet
_TEXT = from_name("string")
Formulas = Mapping[tuple[int, int], Formula]  # by row and column


def revise_tables_gsheet(
    source: Any,
    target: Any,
    revisions: Sequence[TableRevision],
    *,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
) -> str:
    """Put other cells and rows into tables of a spreadsheet, in one batch: all of them, or nothing at all.

    Only cells that change are sent. A formula that is to stand where the same formula stands stays as it is. The
    records of tables become true.

    Args:
        source: the spreadsheet, as for `read_gsheet`.
        target: the same spreadsheet.
        revisions: of tables, several of which may stand in one worksheet.
        client: as for `write_gsheet`.
        credentials: as for `write_gsheet`.
        timeout: as for `write_gsheet`.

    Returns:
        The URL of the first worksheet.

    Raises:
        NotFoundError: the target is another spreadsheet, which has no such tables.
        FormatError: a table has changed since it was read; or a cell below it is in the way of added rows.
        LimitError: more cells change than one request carries. Nothing was changed.
        RemoteError: the service cannot be reached, or refuses.
    """
    if parse_address(source).key != parse_address(target).key:
        raise NotFoundError("the tables of a spreadsheet are changed where they stand")
    service = open_service(source, None, client, credentials, timeout, writing=True)

    def attempt() -> tuple[list[_Plan], str | None]:
        state = fetch_state(service)
        by_sheet: dict[int, tuple[Worksheet, list[TableRevision]]] = {}
        for revision in revisions:
            sheet = _select_worksheet(service, state, revision)
            by_sheet.setdefault(sheet.gid, (sheet, []))[1].append(revision)
        planned = [_plan(service, state, *of_sheet) for of_sheet in by_sheet.values()]
        changes = [each.change for each in planned if each.change.requests]
        size = sum(each.size for each in planned)
        if size > MOST_DIRECT_BYTES:
            raise LimitError(f"the changed cells take {size:,} bytes, and one request carries {MOST_DIRECT_BYTES:,}")
        first = drop_records(state, [change.swap.gid for change in changes])
        return planned, write_checked(service, state, changes, first, hint="merge again") if changes else None

    with locating(source=service.address.label):
        planned, difference = service.patience.change_unchanged(attempt, _ATTEMPTS, "merge again")
        if difference is not None:
            raise DTypeError(difference)
    return worksheet_url(service.key, planned[0].change.swap.gid)


def _select_worksheet(service: SheetsApi, state: State, revision: TableRevision) -> Worksheet:
    """Return the worksheet of a table."""
    address, titles = service.address, [sheet.title for sheet in state.arrays]
    if address.gid is not None or address.title is not None:
        sheet = state.select_worksheet(address.gid, address.title)
    else:
        sheet = state.by_title(find_title(revision.before.title or 0, titles))
    if sheet is None:
        raise ChangedError("a worksheet is gone")
    return sheet


@dataclass
class _Edits:
    """The changes of a worksheet: runs of new cells below each other, and what they do besides."""

    columns: list[PlacedColumn] = field(default_factory=list)
    results: list[PlacedColumn] = field(default_factory=list)  # the cells that get other formulas, as far as known
    formulas: dict[tuple[int, int], str] = field(default_factory=dict)  # which they get, by row and column
    requests: Requests = field(default_factory=list)

    def add(self, other: _Edits) -> None:
        """Take over the changes of another table."""
        self.columns += other.columns
        self.results += other.results
        self.formulas |= other.formulas
        self.requests += other.requests

    @property
    def placed(self) -> list[PlacedColumn]:
        """All cells that change."""
        return [*self.columns, *self.results]

    @property
    def bottom(self) -> int:
        return max([placed.cells.bottom for placed in self.placed], default=0)

    @property
    def right(self) -> int:
        return max([placed.column + 1 for placed in self.placed], default=0)


@dataclass(frozen=True)
class _Plan:
    """The change of one worksheet."""

    change: SheetChange
    size: int  # its bytes in a batch


def _plan(service: SheetsApi, state: State, sheet: Worksheet, revisions: Sequence[TableRevision]) -> _Plan:
    """Return the change of one worksheet.

    Raises:
        ChangedError: others write to it.
    """
    edits = _Edits()
    with locating(sheet=sheet.title):
        content = fetch_standing(service, state, sheet)
        content.view.title, content.view.is_proven = sheet.title, True  # the batch proves it
        content.view.fetch_whole()
        formulas = content.list_formulas()
        for revision in revisions:
            names = [*revision.before] if revision.options.is_split else None
            with keeping_unreadable():
                present = read_ordinary(content.view, names, revision.options)
                _refuse_others(present, revision.before, formulas)
                if texts := list_new_texts(present, revision.columns):
                    as_text = replace(revision.options, dtype=dict.fromkeys(texts, "string"))
                    present |= read_ordinary(content.view, texts, as_text)
            of_table = _find_edits(content, present, revision, formulas)
            _refuse_cells_below(content, present, of_table)
            edits.add(of_table)
    rows, columns = max(sheet.rows, edits.bottom), max(sheet.columns, edits.right)
    cells_beside = sum(other.cells for other in state.worksheets if other.gid != sheet.gid)
    check_cells(cells_beside + rows * columns, MOST_CELLS, cells_beside)
    requests: Requests = []
    record = _renew(content, edits.placed)
    if edits.placed or record is not None:
        requests = [*resize_sheet(sheet, rows, columns), *edits.requests]
        requests += put_record(content.view.record, sheet.gid, record) if record is not None else []
    swap = Swap(state, sheet.gid, own=sheet.notes.own)
    restore = _restoring(sheet.gid, content, edits.placed, formulas)
    change = SheetChange(swap, sheet.title, edits.columns, requests, (rows, columns), restore, content.sheet.record)
    return _Plan(change, _measure(edits, record))


def _refuse_others(present: TableColumns, before: TableColumns, formulas: Formulas) -> None:
    """Refuse a table that is not as it was read: nobody knows then what its other cells should become.

    `formulas`: of its worksheet.
    """
    is_same = [*present] == [*before] and present.list_rows() == before.list_rows()
    is_same = is_same and all(is_same_column(present[name], before[name]) for name in before)
    if is_same and before.list_formulas is not None:
        seen, rows = before.list_formulas(), {*before.list_rows()}
        columns = {before.column_of(name) for name in before}
        of_table = [
            {cell: formula.text for cell, formula in cells.items() if cell[0] in rows and cell[1] in columns}
            for cells in (seen, formulas)
        ]
        is_same = of_table[0] == of_table[1]
    if not is_same:
        raise FormatError("the table has changed since it was read", hint="merge again")


def _find_edits(content: StandingSheet, present: TableColumns, revision: TableRevision, formulas: Formulas) -> _Edits:
    """Return the cells of a table that change; `formulas`: of its worksheet."""
    gid, listed = content.sheet.gid, present.list_rows()
    count, last = len(listed), (listed or [present.name_row])[-1]
    height = max([len(column) for column in revision.columns.values()], default=0)
    rows = [*listed, *range(last + 1, last + 1 + height - count)]
    numbers = present.place_columns([*revision.columns])
    held = content.view.fetched_columns()
    edits = _Edits()
    if count and height > count:
        left, right = min(numbers.values()), max(numbers.values()) + 1
        below = Rect(last + 1, left, last + 1 + height - count, right)
        edits.requests.append(copy_formats(gid, Rect(last, left, last + 1, right), below))
    for name, column in revision.columns.items():
        number, now = numbers[name], revision.renamed.get(name, name)
        if now != name or name not in present:
            piece = LayoutColumn(now, [], _TEXT, np.array([now]))
            edits.columns.append(PlacedColumn(0, piece, present.name_row, number, named=False))
        there = held[number] if number < len(held) else []
        cells = [there[row] if row < len(there) else "" for row in listed]
        serials = column.dtype.kind == "M" and not any(isinstance(cell, str) and cell for cell in cells)
        places = [(row, number) for row in rows[: len(column)]]
        asked = revision.formulas.get(name)
        asked = np.full(len(column), None, object) if asked is None else asked
        recomputed = [index for index, place in enumerate(places) if _is_other(asked[index], formulas.get(place))]
        changed = {*_find_other_values(present.get(name), column), *recomputed}
        free = sorted(index for index in changed if asked[index] is None)
        for run in _list_runs([rows[index] for index in free]):
            part = column[[free[place] for place in run]]
            placed = PlacedColumn(0, _to_piece(now, part, serials=serials), rows[free[run.start]], number, named=False)
            edits.columns.append(placed)
            if serials and any(not _is_number(cells[free[place]]) for place in run if free[place] < count):
                edits.requests += show_dates(gid, [placed])
        for index in recomputed:
            if asked[index] is not None:
                edits.formulas[places[index]] = text_in_cell(asked[index], *places[index])
                result = _to_piece(now, column[[index]], serials=serials)
                edits.results.append(PlacedColumn(0, result, rows[index], number, named=False))
        gone = rows[len(column) : count]
        for run in _list_runs(gone):
            piece = LayoutColumn(now, [], _TEXT, np.full(len(run), ""))
            edits.columns.append(PlacedColumn(0, piece, gone[run.start], number, named=False))
    edits.requests += [
        update_cells(gid, placed.row, placed.column, [[cell] for cell in placed.sent()]) for placed in edits.columns
    ]
    edits.requests += [update_cells(gid, *place, [[""]], {place: text}) for place, text in edits.formulas.items()]
    return edits


def _is_other(asked: Formula | None, there: Formula | None) -> bool:
    """Return whether a cell is to have another formula than stands there, or none instead of one."""
    return there is not None if asked is None else not asked.says_the_same(there)


def _find_other_values(before: Array | None, column: Array) -> list[int]:
    """Return the indices of the elements that are others than in the column before; all where there was none."""
    if before is None:
        return [*range(len(column))]
    both = min(len(before), len(column))
    old = before[:both].astype(object) if column.dtype.kind == "O" else before[:both]
    return [*index_changes(old, column[:both]).tolist(), *range(both, len(column))]


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _list_runs(rows: Sequence[int]) -> Iterator[range]:
    """Yield the places of rows that stand right below each other.

    Example:
        >>> list(_list_runs([3, 4, 6]))
        [range(0, 2), range(2, 3)]
    """
    start = 0
    for place in range(1, len(rows) + 1):
        if place == len(rows) or rows[place] != rows[place - 1] + 1:
            yield range(start, place)
            start = place


def _to_piece(name: str, column: Array, *, serials: bool) -> LayoutColumn:
    """Return elements as the column of an ordinary table, whose cells they become."""
    if column.dtype.kind == "O" and all(value is None or isinstance(value, str) for value in column.tolist()):
        column = np.array([value or "" for value in column.tolist()], np.str_)
    dtype = from_name("generic") if column.dtype.kind == "O" else from_numpy(column.dtype)
    nulls = None
    if column.dtype.kind in "fmM":
        nulls = np.isnan(column) if column.dtype.kind == "f" else np.isnat(column)
    return LayoutColumn(name, [], dtype, np.ascontiguousarray(column), serials=serials, nulls=nulls)


def _refuse_cells_below(content: StandingSheet, present: TableColumns, edits: _Edits) -> None:
    """Refuse added rows and columns that would go over other cells."""
    last = max([*present.list_rows(), present.name_row])
    taken = {present.column_of(name) for name in present}
    cells = [placed.cells for placed in edits.placed]
    fresh = [rect if rect.left not in taken else rect._replace(top=max(rect.top, last + 1)) for rect in cells]
    for row, column in content.find_filled([rect for rect in fresh if rect.top < rect.bottom]):
        raise overwrite_error("a cell beside the table", row, column, "the merged cells")


def _renew(content: StandingSheet, columns: Sequence[PlacedColumn]) -> str | None:
    """Return the record of a worksheet as it has to be once its cells have changed; None where it may stay.

    Warns:
        SheetArrayWarning: a table does not hold the arrays of its record any more.
    """
    if not content.view.record.exists or not columns:
        return None
    view: GoogleSheet = content.view.with_cells(columns)
    notes: list[tuple[Any, Mapping[str, Any]]] = []
    try:
        for place in find_places_of_tables([view]):
            (table,) = open_recorded([place])
            if not table.unreadable_labels:
                notes.append((place, renew_note(table)))
    except FormatError as error:
        warn_caller(f"the merged table does not hold the arrays of its record any more: {error}")
    return renew_record(view.record, notes) if notes else None


def _restoring(
    gid: int, content: StandingSheet, columns: Sequence[PlacedColumn], formulas: Formulas
) -> Callable[[], Iterator[Answer]]:
    """Return what yields the requests that put back the cells of some columns as they were."""
    held, texts = content.view.fetched_columns(), {place: formula.text for place, formula in formulas.items()}

    def restore() -> Iterator[Answer]:
        for placed in columns:
            there = held[placed.column] if placed.column < len(held) else []
            cells = [there[row] if row < len(there) else "" for row in range(placed.cells.top, placed.cells.bottom)]
            yield update_cells(gid, placed.row, placed.column, [[cell] for cell in cells], texts)

    return restore


def _measure(edits: _Edits, record: str | None) -> int:
    """Return the bytes that cells and a record take in a batch."""
    sent = [cells_to_json(placed.sent(), placed.piece.name) for placed in edits.columns]
    texts = [cells_to_json([text], "a formula") for text in edits.formulas.values()]
    cells = sum(len(placed.sent()) for placed in edits.columns) + len(texts)
    size = batch_size(sum(map(len, [*sent, *texts])), cells)
    return size + 200 * (len(edits.columns) + len(texts)) + len(record or "")
