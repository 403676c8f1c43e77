"""A worksheet as `columns` reads it: its cells are fetched as they are asked for, of one generation of the sheet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from urllib.parse import quote

import numpy as np

from ...cells import TextLook
from ...cells.serials import FIRST_SERIAL, serials_to_dates
from ...columns import ColumnCells, Request, Words, Zone, anchors_of_grid
from ...dtypes import DType
from ...elements import Cell
from ...errors import Finding
from ...tables import ScalarColumn, Table
from .address import Rect, range_on_sheet
from .requests import Answer, SheetsApi
from .retries import ChangedError, RefusedError
from .spreadsheet_state import fetch_state

# Columns of a worksheet, cut into runs of rows and joined to batches, each of which one request fetches.

CELLS_A_REQUEST = 100_000  # cells that one request fetches at most; doubles are some 2 MB of JSON


@dataclass(frozen=True, slots=True)
class RunToFetch:
    """Neighbouring cells of a column, to be fetched together.

    Attributes:
        column: the column, counted from 0.
        top: the row of the first cell, counted from 0.
        bottom: the row after the last cell; None for all cells down to the end of the worksheet.
        expected: the number of cells that are likely to be filled.
    """

    column: int
    top: int
    bottom: int | None
    expected: int


def plan_batches(ends: dict[int, int], size: tuple[int, int] | None) -> list[list[RunToFetch]]:
    """Return columns cut into runs, and these in batches of at most `CELLS_A_REQUEST` cells each."""
    batches: list[list[RunToFetch]] = [[]]
    cells = 0
    for run in (run for column in sorted(ends) for run in cut_column(column, ends[column], size)):
        if batches[-1] and cells + run.expected > CELLS_A_REQUEST:
            batches.append([])
            cells = 0
        batches[-1].append(run)
        cells += run.expected
    return batches


def cut_column(column: int, end: int, size: tuple[int, int] | None) -> list[RunToFetch]:
    """Return the runs of a column from its first cell down to the end of the worksheet; the last one has no bottom."""
    end = max(end if size is None else min(end, size[0]), 1)
    tops = range(0, end, CELLS_A_REQUEST)
    closed = [RunToFetch(column, top, top + CELLS_A_REQUEST, CELLS_A_REQUEST) for top in tops[:-1]]
    return [*closed, RunToFetch(column, tops[-1], None, end - tops[-1])]


def join_ranges(runs: Sequence[RunToFetch]) -> list[Rect]:
    """Return runs as ranges; runs of neighbouring columns over the same rows become one range."""
    rects: list[Rect] = []
    for run in runs:
        last = rects[-1] if rects else None
        if last and (last.top, last.bottom, last.right) == (run.top, run.bottom, run.column):
            rects[-1] = last._replace(right=run.column + 1)
        else:
            rects.append(Rect(run.top, run.column, run.bottom, run.column + 1))
    return rects


# Serial numbers that are dates: in columns of arrays by their dtype, in tables by how a worksheet shows them.


def put_shown_dates(cells: list[Cell], top: int, shown: list[Cell]) -> None:
    """Replace the numbers of a column that its worksheet shows as dates: by the text of the date.

    Durations, and dates before `FIRST_SERIAL`, of which programs disagree, become the text that is shown.

    Raises:
        ChangedError: the column has fewer cells than are shown.
    """
    if top + len(shown) > len(cells):
        raise ChangedError
    numbers = [row for row, text in enumerate(shown, top) if isinstance(text, str) and not isinstance(cells[row], str)]
    serials = np.array([_to_serial(cells[row]) for row in numbers], np.float64)
    for row, date in zip(numbers, serials_to_dates(serials, from_1904=False), strict=True):
        if type(cells[row]) in (int, float):
            cells[row] = shown[row - top] if date is None else date


def _to_serial(cell: Cell) -> float:
    """Return a number that all programs take for the same date; NaN for anything else."""
    return float(cell) if type(cell) in (int, float) and cell >= FIRST_SERIAL else np.nan


def put_dates(cells: list[Cell], dtype: DType) -> list[Cell]:
    """Return the cells of a column of dates with the text of each date that is a serial number."""
    if dtype.kind != "datetime":
        return cells
    serials = np.array([_to_serial(cell) for cell in cells], np.float64)
    texts = serials_to_dates(serials, from_1904=False)
    return [cell if text is None else text for cell, text in zip(cells, texts, strict=True)]


# Fetches the values of ranges, as columns: in one request, or in several if its URL would become too long.

FetchedColumns = list[list[Cell]]

_LONGEST_QUERY = 6000  # bytes of a URL that every server takes


def fetch_values(
    service: SheetsApi, ranges: Sequence[tuple[str, Rect]], *, formulas: bool = False, dates: bool = False
) -> Iterator[tuple[int, FetchedColumns]]:
    """Yield the columns of each range, without what is blank at the ends.

    Yields:
        The number of the request, counted from 0, and the columns of the next range. Ranges with the same number show
            the worksheet at one moment.

    Raises:
        RefusedError: there is no such worksheet, or the range begins beyond its end.
    """
    for index, some in enumerate(_group_ranges([range_on_sheet(title, rect) for title, rect in ranges])):
        answer = service.get(
            "/values:batchGet",
            lambda answer, some=some: len(_parse_columns(answer, some)) == len(some),  # type: ignore[misc]
            ranges=some,
            majorDimension="COLUMNS",
            valueRenderOption="FORMULA" if formulas else "UNFORMATTED_VALUE",
            dateTimeRenderOption="FORMATTED_STRING" if dates else "SERIAL_NUMBER",
        )
        for columns in _parse_columns(answer, some):
            yield index, columns


def _group_ranges(ranges: list[str]) -> Iterator[list[str]]:
    some: list[str] = []
    length = 0
    for cells in ranges:
        added = len(quote(cells, safe="")) + 8
        if some and length + added > _LONGEST_QUERY:
            yield some
            some, length = [], 0
        some.append(cells)
        length += added
    if some:
        yield some


def _parse_columns(answer: Answer, wanted: Sequence[str]) -> list[FetchedColumns]:
    """Return the columns of each range of an answer.

    Raises:
        ValueError: it answers a request for other ranges; other errors if it is no answer at all.
    """
    ranges = answer["valueRanges"]
    if len(ranges) != len(wanted):
        raise ValueError("not as many ranges as were asked for")
    fetched = [list(block.get("values", [])) for block in ranges]
    if not all(isinstance(column, list) for columns in fetched for column in columns):
        raise ValueError("no columns")
    if not all(is_same_range(block.get("range"), name) for block, name in zip(ranges, wanted, strict=True)):
        raise ValueError("other ranges than were asked for")
    return fetched


def is_same_range(answered: object, wanted: str) -> bool:
    """Return whether the range that an answer names may be the one that was asked for: its worksheet and first cell.

    Example:
        >>> is_same_range("Sheet1!A1:Z9", "'sheet1'!1:9"), is_same_range("Sheet1!B1:B2", "'Sheet1'!A1:A2")
        (True, False)
    """
    if not isinstance(answered, str):
        return answered is None
    title, _, cells = answered.rpartition("!")
    wanted_title, _, wanted_cells = wanted.rpartition("!")
    if _unquote(title) != _unquote(wanted_title):
        return False
    first = wanted_cells.partition(":")[0]
    return cells.partition(":")[0] in (first, f"A{first}")


def _unquote(title: str) -> str:
    return (title[1:-1].replace("''", "'") if title[:1] == "'" else title).casefold()


def count_requests(ranges: Sequence[tuple[str, Rect]]) -> int:
    """Return the number of requests that `fetch_values` makes for some ranges."""
    return len(list(_group_ranges([range_on_sheet(title, rect) for title, rect in ranges])))


# Fetches cells of a worksheet: ranges, whole columns and dates as they are shown, all of one generation of it.


class WorksheetReader:
    """A reader of one worksheet, which fetches cells and keeps none of them.

    The cells in the answer to one request are all of one moment. Where several requests are needed, the worksheet's
    generation is fetched before and after them; if it has changed, the cells are not of one write.

    `size`: the rows and columns of its grid; None if they are not known yet.
    """

    def __init__(self, service: SheetsApi, title: str, size: tuple[int, int] | None = None) -> None:
        self.service, self.title, self.size = service, title, size

    def generation(self) -> tuple[int, str | None]:
        """Return the worksheet's id and its generation, in one request; each write changes the generation.

        The generation is None if nothing was written to the worksheet by this package.

        Raises:
            ChangedError: there is no worksheet of this title any more.
        """
        state = fetch_state(self.service)
        sheet = state.by_title(self.title)
        if sheet is None:
            raise ChangedError
        self.size = (sheet.rows, sheet.columns)
        named = state.generation(sheet.gid)
        return sheet.gid, named.id if named else None

    def fetch(self, rects: Sequence[Rect], *, dates: bool = False) -> list[FetchedColumns]:
        """Return the columns of each of some ranges.

        Raises:
            NotFoundError: there is no worksheet of this title.
            ChangedError: the service refuses the ranges, such as rows that somebody has deleted.
        """
        try:
            ranges = [(self.title, rect) for rect in rects]
            return [columns for _, columns in fetch_values(self.service, ranges, dates=dates)]
        except RefusedError as refused:
            state = fetch_state(self.service)
            if state.by_title(self.title) is None:
                raise state.not_found_error(repr(self.title)) from None
            raise ChangedError(refused.message) from None

    def known_size(self) -> tuple[int, int]:
        """Return the number of rows and columns of the grid; they are fetched if they are not known yet.

        Raises:
            ChangedError: there is no worksheet of this title any more.
        """
        if self.size is None:
            self.generation()
        return self.size or (0, 0)

    def fetch_all(self, width: int) -> FetchedColumns:
        """Return all columns of the worksheet; each request fetches a block of whole rows.

        Raises:
            ChangedError: somebody has written between two requests.
        """
        rows, _ = self.known_size()
        step = max(CELLS_A_REQUEST // max(width, 1), 1)
        tops = range(0, rows, step)
        before = self.generation() if len(tops) > 1 else None
        columns: FetchedColumns = []
        for top in tops:
            for column, cells in enumerate(self.fetch([Rect(top, None, min(top + step, rows), None)])[0]):
                columns += [[] for _ in range(column + 1 - len(columns))]
                columns[column] += [None] * (top - len(columns[column]) if cells else 0)
                columns[column] += cells
        if before is not None and self.generation() != before:
            raise ChangedError
        return columns

    def fetch_columns(self, ends: dict[int, int], report: Callable[[int], None] | None) -> dict[int, list[Cell]]:
        """Return columns from their first cell down to their ends.

        Raises:
            ChangedError: somebody has written between two requests.
        """
        before: tuple[int, str | None] | None = None
        if sum(ends.values()) > CELLS_A_REQUEST:
            before = self.generation()
        batches = [join_ranges(batch) for batch in plan_batches(ends, self.size)]
        if sum(count_requests([(self.title, rect) for rect in rects]) for rects in batches) > 1 and before is None:
            before = self.generation()
        cells_by_column: dict[int, list[Cell]] = {column: [] for column in ends}
        cells_reported = 0
        for rects in batches:
            for rect, columns in zip(rects, self.fetch(rects), strict=True):
                for column, cells in enumerate(columns, rect.left or 0):
                    cells_by_column[column].extend([""] * (rect.top - len(cells_by_column[column]) if cells else 0))
                    cells_by_column[column].extend(cells)
            if report:
                report(sum(map(len, cells_by_column.values())) - cells_reported)
                cells_reported = sum(map(len, cells_by_column.values()))
        if before is not None and self.generation() != before:
            raise ChangedError
        return cells_by_column

    def put_dates(self, columns: FetchedColumns, height: int) -> FetchedColumns:
        """Return columns in which each number that the worksheet shows as a date has become the text of that date.

        The columns that hold numbers are fetched once more, as they are shown; large ones in several requests.

        Raises:
            ChangedError: the cells that are shown are not those of the columns.
        """
        numeric = [column for column, cells in enumerate(columns) if any(type(cell) in (int, float) for cell in cells)]
        runs = [run for column in numeric for run in cut_column(column, height, (height, len(columns)))]
        rects = join_ranges([replace(run, bottom=run.bottom or height) for run in runs])
        changed = list(columns)
        for rect, shown in zip(rects, self.fetch(rects, dates=True) if rects else (), strict=True):
            for column, texts in enumerate(shown, rect.left or 0):
                changed[column] = [*changed[column]] if changed[column] is columns[column] else changed[column]
                put_shown_dates(changed[column], rect.top, texts)
        return changed


# A worksheet as a `columns.Sheet`: its first rows in one request, whole columns in as few requests as possible.
#
# The columns that one call of `worksheet_reader` fetches are of one generation. Columns that are fetched later
# begin with their headers, which are compared with those that were seen first; if somebody has changed one, the
# read begins again.

MOST_HEAD_ROWS = 1200  # rows that are fetched first of a worksheet that is not fetched as a whole
MOST_AT_ONCE = 150_000  # cells of a grid, or of arrays, that one request fetches: 131,072 doubles and their headers
_HEAD = 20_000  # cells, about, that are looked at first
_SMALL_GRID = 2_000_000  # cells, most of them blank, of a grid that one request fetches if its arrays are small
_ALL_ROWS = 10_000_000  # more rows than any worksheet has
_FIRST_ROWS = 250  # rows that are fetched first of a worksheet of unknown width


class GoogleSheet:
    """A worksheet; `columns.Sheet` says what each method is for.

    `size`: the rows and columns of its grid; None if they are not known yet. `at_once`: the number of cells of a grid
    up to which the worksheet is fetched as a whole.

    Attributes:
        title: of the worksheet.
        notes: findings about the worksheet itself; always empty.
        service: the spreadsheet.
        report: called after each request for columns with the number of cells that it has fetched; None for nobody.
    """

    look = TextLook(formulas="typed")
    max_rows: int | None = None
    keeps_blanks = False

    def __init__(
        self,
        service: SheetsApi,
        title: str,
        size: tuple[int, int] | None = None,
        *,
        at_once: int = MOST_AT_ONCE,
    ) -> None:
        self.title: str | None = title
        self.notes: list[Finding] = []
        self.report: Callable[[int], None] | None = None
        self.service, self._reader = service, WorksheetReader(service, title, size)
        self._at_once = at_once
        self._head: FetchedColumns = []  # the columns of the first rows
        self._rows = 0  # the number of the first rows that have been fetched
        self._ended = False  # whether these are all rows
        self._whole: dict[tuple[int, int], list[Cell]] = {}  # cells to the end of a column, by it and their first row
        # By column: the cells below the first rows that no array from above takes, and the row of the first of them
        self._below: dict[int, tuple[int, list[Cell]]] = {}

    # The first rows ------------------------------------------------------------------------------------------

    def first_rows(self, budget: int) -> Rect:
        """Return the range of the first rows that hold about `budget` cells; all rows of a small worksheet."""
        size = self._reader.size
        if size and size[0] * size[1] <= self._at_once:
            return Rect(0, None, max(size[0], 1), None)
        width = size[1] if size else len(self._head)
        rows = min(max(budget // width, 200), MOST_HEAD_ROWS) if width else _FIRST_ROWS
        if size:
            rows = min(rows, size[0])
        return Rect(0, None, max(rows, self._rows), None)

    def keep_head(self, rows: int, columns: FetchedColumns) -> None:
        """Take over the first rows that somebody else has fetched."""
        self._head, self._rows = columns, rows
        size = self._reader.size
        self._ended = size is not None and rows >= size[0]  # there may be more cells below blank rows

    def head(self, budget: int) -> tuple[Sequence[Sequence[Cell]], bool]:
        """Return the first rows, about `budget` cells of them, and whether they are all rows."""
        wanted = self.first_rows(budget).bottom or 1
        if not self._ended and wanted > self._rows:
            self.keep_head(wanted, self._reader.fetch([Rect(0, None, wanted, None)])[0])
        return self._grid(), self._ended

    def _grid(self) -> list[list[Cell]]:
        """Return the first rows as rows of one length, with None for blanks at the end of a column."""
        height = max(map(len, self._head), default=0)
        padded = [[*column, *[None] * (height - len(column))] for column in self._head]
        return [list(row) for row in zip(*padded, strict=True)]

    # Arrays --------------------------------------------------------------------------------------------------

    def words(self) -> Words:
        """Return the cells in which words of headers stand, anywhere in the worksheet."""
        self.head(_HEAD)
        self._search()
        first = ((row, column, cell) for column, cells in enumerate(self._head) for row, cell in enumerate(cells))
        below = (
            (row, column, cell)
            for column, (top, cells) in self._below.items()
            for row, cell in enumerate(cells, top)
            if row >= self._rows
        )
        return Words.from_cells(chain(first, below))

    def _search(self) -> None:
        """Fetch the cells below the first rows in which headers may stand.

        Of a grid that is not large, and holds few elements, these are all cells. Otherwise they are, in each column,
        the cells below the arrays that begin in the first rows, whose headers say where they end; as a rule those cells
        are blank, and cost nothing.
        """
        if self._ended or self._below:
            return
        ends: dict[int, int] = {}
        for anchor in anchors_of_grid(self._grid()):
            if anchor.header and anchor.orient == "columns":
                _, row = anchor.data_cell
                ends[anchor.column] = max(ends.get(anchor.column, 0), row + anchor.header.capacity)
        size = self._reader.size
        small = size is None or size[0] * size[1] <= _SMALL_GRID
        if small and sum(ends.values()) <= MOST_AT_ONCE:
            whole = self._reader.fetch([Rect(0, None, _ALL_ROWS, None)])[0]
            self.keep_head(max([self._rows, *map(len, whole)]), whole)
            self._ended = True
            return
        rows, columns = self._reader.known_size()
        rects: list[Rect] = []
        for column in range(columns):
            top = max(self._rows, ends.get(column, 0))
            if top >= rows:
                self._below[column] = top, []
            elif rects and rects[-1].top == top and rects[-1].right == column:
                rects[-1] = rects[-1]._replace(right=column + 1)
            else:
                rects.append(Rect(top, column, rows, column + 1))
        for rect, cells in zip(rects, self._reader.fetch(rects) if rects else [], strict=True):
            for column in range(rect.left or 0, rect.right or 0):
                index = column - (rect.left or 0)
                self._below[column] = rect.top, cells[index] if index < len(cells) else []

    def cell(self, row: int, column: int) -> Cell:
        """Return a cell; None if it is blank or has not been fetched."""
        if self._ended or row < self._rows:
            cells = self._cells_seen(column)
            return cells[row] if row < len(cells) else None
        top, cells = self._below.get(column, (row, []))
        return cells[row - top] if 0 <= row - top < len(cells) else None

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of each of some zones, of those that have been fetched."""
        return [
            [self.cell(zone.row + step, zone.column) for step in range(zone.count)]
            if zone.orient == "columns"
            else [self.cell(zone.row, zone.column + step) for step in range(zone.count)]
            for zone in zones
        ]

    def rows(self, requests: Sequence[Request]) -> Iterator[ColumnCells]:
        """Yield the cells of the row of each request, of those that have been fetched."""
        width = max([len(self._head), *(column + 1 for column in self._below)])
        for request in requests:
            end = width if request.stop is None else min(request.stop, width)
            yield [], [self.cell(request.row, column) for column in range(request.column, end)]

    # Columns -------------------------------------------------------------------------------------------------

    def columns(self, requests: Sequence[Request], *, typed: bool) -> list[ColumnCells]:  # noqa: ARG002  (always typed)
        """Return the cells of the column of each request, as Python scalars; dates of a dtype of dates as text."""
        if not self._ended:
            wanted = [(request.column, request.row) for request in requests if request.row <= self._rows]
            absent = {column: row for column, row in sorted(wanted, reverse=True) if (column, row) not in self._whole}
            if absent:
                self._whole.update(self._fetch_columns(absent))
        return [([], put_dates(self._cells_of(request), request.dtype)) for request in requests]

    def _cells_of(self, request: Request) -> list[Cell]:
        """Return the cells of a request, whose column has been fetched."""
        if self._ended:
            return self._cells_seen(request.column)[request.row : request.stop]
        stop = None if request.stop is None else request.stop - request.row
        if request.row > self._rows:
            top, cells = self._below[request.column]
            return cells[request.row - top :][:stop]
        if (request.column, request.row) in self._whole:
            return self._whole[request.column, request.row][:stop]
        row = min(row for column, row in self._whole if column == request.column and row <= request.row)
        return self._whole[request.column, row][request.row - row :][:stop]

    def table(self) -> Table:
        """Return all cells of the worksheet as an ordinary table, all of one generation.

        Raises:
            ChangedError: somebody has written between two requests.
        """
        columns = self._head if self._ended else self._reader.fetch_all(len(self._head))
        height = max(map(len, columns), default=0)
        columns = self._reader.put_dates(columns, height)
        return Table(height, {column: ScalarColumn(cells) for column, cells in enumerate(columns) if cells})

    @property
    def is_whole(self) -> bool:
        """Whether all cells of the worksheet have been fetched, by one request."""
        return self._ended

    def fetch_cells(self, row: int, stop: int, column: int, dtype: DType) -> list[Cell]:
        """Return some cells of a column whose elements have one dtype; blanks may be missing at the end."""
        if self._ended:
            return put_dates(self._cells_seen(column)[row:stop], dtype)
        (columns,) = self._reader.fetch([Rect(row, column, stop, column + 1)])
        return put_dates(columns[0] if columns else [], dtype)

    def _cells_seen(self, column: int) -> list[Cell]:
        """Return the cells of a column in the first rows."""
        return self._head[column] if column < len(self._head) else []

    def _fetch_columns(self, wanted: dict[int, int]) -> dict[tuple[int, int], list[Cell]]:
        """Return the cells of columns below their headers, all of one generation; by the column and its first row.

        Raises:
            ChangedError: somebody has written between two requests, or has changed a header since it was seen.
        """
        cells_by_column = self._reader.fetch_columns(self._expected_ends(wanted), self.report)
        if any(cells_by_column[column][:count] != self._cells_seen(column)[:count] for column, count in wanted.items()):
            raise ChangedError
        for column, count in wanted.items():
            del cells_by_column[column][:count]
        return {(column, count): cells_by_column[column] for column, count in wanted.items()}

    def _expected_ends(self, columns: Iterable[int]) -> dict[int, int]:
        """Return about how many rows of each column are filled, by the headers in the first rows."""
        ends = dict.fromkeys(columns, self._rows)
        for anchor in anchors_of_grid(self._grid()):
            if anchor.header and anchor.orient == "columns" and anchor.column in ends:
                ends[anchor.column] = max(ends[anchor.column], anchor.row + anchor.start + anchor.header.capacity)
        return ends

    def generation(self) -> tuple[int, str | None]:
        """Return the worksheet's id and its generation, in one request; each write changes the generation.

        The generation is None if nothing was written to the worksheet by this package.

        Raises:
            ChangedError: there is no worksheet of this title any more.
        """
        return self._reader.generation()
