"""A worksheet as `columns` reads it: its cells are fetched as they are asked for, of one generation of the sheet."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Protocol
from urllib.parse import quote

import numpy as np

from ...changes.formulas import Formula
from ...columns import Block, ColumnCells, Request, Words, Zone, anchors_of_grid
from ...dtypes import DType, from_name
from ...elements import Cell, TextLook
from ...elements.serials import FIRST_SERIAL, serials_to_dates
from ...errors import Finding, FormatError
from ...tables import TOP, ScalarColumn, Table
from ..formula_texts import to_formula
from .address import ALL_COLUMNS, ALL_ROWS, Rect, join_columns, range_on_sheet
from .requests import Answer, SheetsApi, pack
from .retries import ChangedError, RefusedError
from .state.spreadsheet import State, Worksheet, fetch_state

FetchedColumns = list[list[Cell]]

CELLS_A_REQUEST = 100_000  # cells that one request fetches at most; doubles are some 2 MB of JSON
_DATE = from_name("datetime64[D]")
_LONGEST_QUERY = 6000  # bytes of a URL that every server takes


def fetch_values(
    service: SheetsApi, ranges: Iterable[tuple[str, Rect]], *, formulas: bool = False, dates: bool = False
) -> Iterator[FetchedColumns]:
    """Yield the columns of each range, without blanks at the ends; a ChangedError if there are no such cells."""
    for batch in _group_ranges(ranges):
        try:
            yield from service.get(
                "/values:batchGet",
                partial(_parse_columns, wanted=batch),
                ranges=batch,
                majorDimension="COLUMNS",
                valueRenderOption="FORMULA" if formulas else "UNFORMATTED_VALUE",
                dateTimeRenderOption="FORMATTED_STRING" if dates else "SERIAL_NUMBER",
            )
        except RefusedError as refused:
            raise ChangedError(refused.message) from None


def _group_ranges(ranges: Iterable[tuple[str, Rect]]) -> Iterator[list[str]]:
    """Yield groups of ranges in A1 notation that fit the URL of one request."""
    texts = (range_on_sheet(title, rect) for title, rect in ranges)
    return pack(((text, len(quote(text, safe="")) + 8) for text in texts), _LONGEST_QUERY)


def _parse_columns(answer: Answer, wanted: Sequence[str]) -> list[FetchedColumns]:
    """Return the columns of each range of an answer; a ValueError if it answers a request for other ranges."""
    ranges = answer["valueRanges"]
    if len(ranges) != len(wanted):
        raise ValueError("the answer has another number of ranges than the request")
    fetched = [list(block.get("values", [])) for block in ranges]
    if not all(isinstance(column, list) for columns in fetched for column in columns):
        raise ValueError("no columns")
    if not all(is_same_range(block.get("range"), name) for block, name in zip(ranges, wanted, strict=True)):
        raise ValueError("the answer has other ranges than the request")
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


def _put_shown_dates(cells: list[Cell], top: int, shown: list[Cell]) -> None:
    """Replace the numbers of a column that its worksheet shows as dates: by the text of the date.

    Durations, and dates before `FIRST_SERIAL`, of which programs disagree, become the text that is shown.
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


def _put_dates(cells: list[Cell], dtype: DType) -> list[Cell]:
    """Return the cells of a column of dates with the text of each date that is a serial number."""
    if dtype.kind != "datetime":
        return cells
    serials = np.array([_to_serial(cell) for cell in cells], np.float64)
    texts = serials_to_dates(serials, from_1904=False)
    return [cell if text is None else text for cell, text in zip(cells, texts, strict=True)]


def _cut(column: int, end: int) -> Iterator[tuple[Rect, int]]:
    """Yield the ranges of a column, each with the cells that are likely to be filled; the last one has no bottom."""
    tops = range(0, max(end, 1), CELLS_A_REQUEST)
    for top in tops[:-1]:
        yield Rect(top, column, top + CELLS_A_REQUEST, column + 1), CELLS_A_REQUEST
    yield Rect(tops[-1], column, ALL_ROWS, column + 1), end - tops[-1]


class PlacedCells(Protocol):
    """Cells below each other that go into a column of a worksheet."""

    @property
    def row(self) -> int:
        """The row of the first one."""

    @property
    def column(self) -> int:
        """The column in which they stand."""

    @property
    def cells(self) -> Rect:
        """The cells that they take."""

    def sent(self) -> list[Cell]:
        """Return them as they are sent."""


MOST_AT_ONCE = 150_000  # cells of a grid, or of arrays, that one request fetches: 131,072 doubles and their headers
_MOST_HEAD_ROWS = 1200  # rows that are fetched first of a worksheet that is not fetched as a whole
_HEAD = 20_000  # cells, about, that are looked at first
_SMALL_GRID = 2_000_000  # cells, most of them blank, of a grid that one request fetches if its arrays are small


class GoogleSheet:
    """A worksheet; `columns.Sheet` says what each method is for.

    The cells in the answer to one request are all of one moment. If cells take several requests, the generation of the
    worksheet is fetched after them; if it is another than in the state that was fetched before them, somebody has
    written meanwhile. Whole columns are fetched after the first rows, with their headers again, which must be the same.

    `sheet`: the worksheet in a `state` of the spreadsheet. `at_once`: the number of cells of a grid up to which it is
    fetched as a whole.
    """

    look = TextLook(formulas="typed")
    max_rows: int | None = None
    keeps_blanks = False

    def __init__(self, service: SheetsApi, sheet: Worksheet, state: State, *, at_once: int = MOST_AT_ONCE) -> None:
        self.service = service
        self.title: str | None = sheet.title  # None for addresses without it
        self.notes: list[Finding] = []  # about the worksheet itself; always empty
        self.report: Callable[[int], None] | None = None  # called with the cells of each request for columns
        self.is_whole = False  # whether all cells have been fetched, by one request
        self.is_proven = False  # whether the cells are known to be of the generation of the state
        self._sheet, self._generation, self._at_once = sheet, state.generation(sheet.gid), at_once
        self.record = sheet.record  # which arrays its tables are
        self._head: FetchedColumns = []  # the columns of the first rows
        self._rows = 0  # the number of the first rows that have been fetched
        self._columns: dict[int, list[Cell]] = {}  # the columns that have been fetched as a whole
        self._words: Words | None = None
        self._formulas: dict[tuple[int, int], Formula] | None = None

    # Requests ------------------------------------------------------------------------------------------------

    def check_unchanged(self) -> None:
        """Compare the worksheet's generation, which each write changes, with the one that was seen first."""
        state = fetch_state(self.service)
        sheet = state.by_id(self._sheet.gid)
        if sheet is None or sheet.title != self._sheet.title or state.generation(sheet.gid) != self._generation:
            raise ChangedError
        self.is_proven = True

    def _fetch(
        self, batches: Sequence[Sequence[Rect]], *, formulas: bool = False, dates: bool = False
    ) -> list[tuple[Rect, FetchedColumns]]:
        """Return ranges with their columns, all of one generation; each batch takes a request or more.

        Raises:
            ChangedError: somebody has written meanwhile, or has deleted the worksheet or these rows.
        """
        fetched: list[tuple[Rect, FetchedColumns]] = []
        requests = 0
        for rects in batches:
            titled = [(self._sheet.title, rect) for rect in rects]
            requests += sum(1 for _ in _group_ranges(titled))
            columns = list(fetch_values(self.service, titled, formulas=formulas, dates=dates))
            fetched += zip(rects, columns, strict=True)
            if self.report and not dates and not formulas:
                self.report(sum(len(cells) for range_columns in columns for cells in range_columns))
        if requests > 1:
            self.check_unchanged()
        return fetched

    # The first rows ------------------------------------------------------------------------------------------

    def choose_head(self, budget: int) -> Rect:
        """Return the range of the first rows that hold about `budget` cells; all rows of a small worksheet.

        These are all that it has by now, since it may have grown.
        """
        rows, columns = max(self._sheet.rows, 1), max(self._sheet.columns, 1)
        if rows * columns <= self._at_once:
            return Rect(0, 0, ALL_ROWS, ALL_COLUMNS)
        return Rect(0, 0, max(min(rows, _MOST_HEAD_ROWS, max(budget // columns, 200)), self._rows), ALL_COLUMNS)

    def keep_head(self, rows: int, columns: FetchedColumns) -> None:
        """Take over the first rows that somebody else has fetched."""
        self._head, self._rows = columns, rows
        self.is_whole = rows >= self._sheet.rows  # there may be more cells below blank rows

    def keep_record(self, columns: FetchedColumns) -> None:
        """Take over the cells of the hidden sheet with its record, which somebody else has fetched."""
        self.record = replace(self.record, text="".join(str(cell) for cells in columns[:1] for cell in cells))

    def first_rows(self) -> list[list[Cell]]:
        """Return the first rows, in which arrays are looked for."""
        self._fetch_head(self.choose_head(TOP))
        return self.fetched_rows()

    def _fetch_head(self, rect: Rect) -> None:
        """Fetch the first rows that are to be looked at, unless that has happened."""
        if not self.is_whole and rect.bottom > self._rows:
            ((_, columns),) = self._fetch([[rect]])
            self.keep_head(rect.bottom, columns)

    def fetched_columns(self) -> FetchedColumns:
        """Return the columns of the first rows; all cells once they have been fetched as a whole."""
        return self._head

    def with_cells(self, columns: Iterable[PlacedCells]) -> GoogleSheet:
        """Return the worksheet as it is once some columns have got other cells; all cells have been fetched."""
        changed = copy(self)
        changed._head, changed._words = [[*cells] for cells in self._head], None
        for placed in columns:
            while len(changed._head) <= placed.column:
                changed._head.append([])
            cells = changed._head[placed.column]
            cells += [""] * (placed.cells.bottom - len(cells))
            cells[placed.row : placed.cells.bottom] = placed.sent()
        return changed

    def fetched_rows(self) -> list[list[Cell]]:
        """Return the fetched first rows, all of one length, with None for blanks at the end of a column."""
        height = max(map(len, self._head), default=0)
        padded = [[*column, *[None] * (height - len(column))] for column in self._head]
        return [list(row) for row in zip(*padded, strict=True)]

    # Arrays --------------------------------------------------------------------------------------------------

    def words(self) -> Words:
        """Return the cells in which words of headers stand, anywhere in the worksheet."""
        if self._words is None:
            self._fetch_head(self.choose_head(_HEAD))
            if not self.is_whole:
                self._search()
            columns = dict(enumerate(self._head)) | self._columns
            self._words = Words.from_cells(
                (row, column, cell) for column, cells in columns.items() for row, cell in enumerate(cells)
            )
        return self._words

    def _search(self) -> None:
        """Fetch the cells below the first rows in which headers may stand.

        Of a grid that is not large, and holds few elements, these are all cells. Otherwise they are the cells below the
        arrays that begin in the first rows, whose headers say where they end. As a rule those cells are blank, and cost
        nothing; a column in which they are not is fetched as a whole.
        """
        ends = self._ends()
        rows, columns = self._sheet.rows, self._sheet.columns
        if rows * columns <= _SMALL_GRID and sum(ends.values()) <= MOST_AT_ONCE:
            ((_, whole),) = self._fetch([[Rect(0, 0, ALL_ROWS, ALL_COLUMNS)]])
            self.keep_head(ALL_ROWS, whole)
            return
        tops = {column: max(self._rows, ends.get(column, 0)) for column in range(columns)}
        rects = join_columns(Rect(top, column, rows, column + 1) for column, top in tops.items() if top < rows)
        fetched = self._fetch([rects]) if rects else []
        filled = [
            rect.left + index for rect, range_columns in fetched for index, cells in enumerate(range_columns) if cells
        ]
        self._fetch_columns(dict.fromkeys(filled, 0))

    def _ends(self) -> dict[int, int]:
        """Return the row below the arrays of each column, by the headers in the first rows."""
        ends: dict[int, int] = {}
        for anchor in anchors_of_grid(self.fetched_rows()):
            if anchor.header and anchor.orient == "columns":
                end = anchor.row + anchor.start + anchor.header.capacity
                ends[anchor.column] = max(ends.get(anchor.column, 0), end)
        return ends

    def _cells(self, column: int) -> list[Cell]:
        """Return the cells of a column from the first row on, as far as they have been fetched."""
        if column in self._columns:
            return self._columns[column]
        return self._head[column] if column < len(self._head) else []

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of each of some zones, of those that have been fetched."""
        return [
            self._cells(zone.column)[zone.row : zone.row + zone.count]
            if zone.orient == "columns"
            else self._row(zone.row, range(zone.column, zone.column + zone.count))
            for zone in zones
        ]

    def rows(self, requests: Sequence[Request]) -> Iterator[ColumnCells]:
        """Yield the cells of the row of each request, of those that have been fetched."""
        width = max([len(self._head), *(column + 1 for column in self._columns)])
        for request in requests:
            end = width if request.stop is None else min(request.stop, width)
            yield [], self._row(request.row, range(request.column, end))

    def _row(self, row: int, columns: Iterable[int]) -> list[Cell]:
        """Return some cells of a row, None for those that are blank or have not been fetched."""
        return [cells[row] if row < len(cells) else None for cells in map(self._cells, columns)]

    # Columns -------------------------------------------------------------------------------------------------

    def blocks(
        self,
        requests: Sequence[Request],
        counts: Sequence[int] | None = None,
        *,
        typed: bool,  # noqa: ARG002  (always typed)
    ) -> Iterator[Block]:
        """Yield the cells of columns as Python scalars; dates of a dtype of dates as text.

        With `counts` no others are fetched, by two requests for each block.

        Raises:
            ChangedError: the worksheet has changed since its first rows were read.
        """
        if counts is not None:
            for place, (request, count) in enumerate(zip(requests, counts, strict=True)):
                for row in range(request.row, request.row + count, CELLS_A_REQUEST):
                    stop = min(row + CELLS_A_REQUEST, request.row + count)
                    cells: ColumnCells = [], self.fetch_elements(request.column, row, stop, request.dtype)
                    if not self.is_whole:
                        self.check_unchanged()
                    yield Block(place, cells, stop - row, partial(_as_they_are, cells))
            return
        if not self.is_whole:
            firsts = sorted(((request.column, request.row) for request in requests), reverse=True)
            self._fetch_columns({column: row for column, row in firsts if column not in self._columns})
        for place, request in enumerate(requests):
            yield Block(place, ([], self._elements(request.column, request.row, request.stop, request.dtype)))

    def _elements(self, column: int, row: int, stop: int | None, dtype: DType) -> list[Cell]:
        return _put_dates(self._cells(column)[row:stop], dtype)

    def fetch_elements(self, column: int, row: int, stop: int, dtype: DType) -> list[Cell]:
        """Return some cells of a column whose elements have one dtype, and fetch no others; blanks may be missing at
        the end.
        """
        if self.is_whole or column in self._columns or row == stop:
            return self._elements(column, row, stop, dtype)
        tops = range(row, stop, CELLS_A_REQUEST)
        rects = [[Rect(top, column, min(top + CELLS_A_REQUEST, stop), column + 1)] for top in tops]
        cells: list[Cell] = []
        for (rect,), (_, columns) in zip(rects, self._fetch(rects), strict=True):
            cells += [""] * (rect.top - row - len(cells))
            cells += columns[0] if columns else []
        return _put_dates(cells, dtype)

    def _fetch_columns(self, wanted: Mapping[int, int]) -> None:
        """Fetch columns as a whole, given for each the number of its first cells that must be as they were seen."""
        ends = self._ends()
        ends = {column: min(max(ends.get(column, 0), self._rows), self._sheet.rows) for column in wanted}
        ranges = (piece for column in sorted(wanted) for piece in _cut(column, ends[column]))
        columns = _stack(self._fetch([join_columns(rects) for rects in pack(ranges, CELLS_A_REQUEST)]))
        for column, count in wanted.items():
            cells = columns.get(column, [])
            if cells[:count] != self._cells(column)[:count]:
                raise ChangedError
            self._columns[column] = cells

    # Tables --------------------------------------------------------------------------------------------------

    def fetch_whole(self) -> None:
        """Fetch all cells of the worksheet, all of one generation, unless that has happened."""
        if not self.is_whole:
            self.keep_head(ALL_ROWS, self._fetch_rows())

    def _fetch_rows(self, *, formulas: bool = False) -> FetchedColumns:
        """Return the columns of all rows."""
        rows, step = self._sheet.rows, max(CELLS_A_REQUEST // max(len(self._head), 1), 1)
        batches = [[Rect(top, 0, min(top + step, rows), ALL_COLUMNS)] for top in range(0, rows, step)]
        columns = _stack(self._fetch(batches, formulas=formulas))
        return [columns.get(column, []) for column in range(max(columns, default=-1) + 1)]

    def list_formulas(self) -> dict[tuple[int, int], Formula]:
        """Return the formulas of the worksheet, all of whose cells have been fetched, by row and column.

        Raises:
            FormatError: somebody has changed other cells since.
        """
        if self._formulas is None:
            formulas = {}
            for column, contents in enumerate(self._fetch_rows(formulas=True)):
                values = self._head[column] if column < len(self._head) else []
                for row, content in enumerate(contents):
                    value = values[row] if row < len(values) else ""
                    if isinstance(content, str) and content.startswith("=") and content != value:
                        formulas[row, column] = to_formula(content, row, column)
                    elif not _may_show(content, value):
                        hint = "others are writing to it: try again"
                        raise FormatError("the table has changed since it was read", location=self.title, hint=hint)
            self._formulas = formulas
        return self._formulas

    def fetched_table(self, dates: Collection[int]) -> Table:
        """Return all cells that have been fetched as a table; in columns of dates, numbers are dates."""
        cells = self._dated_columns(dates)
        height = max(map(len, cells.values()), default=0)
        return Table(height, {column: ScalarColumn(held) for column, held in cells.items() if held})

    def _dated_columns(self, dates: Collection[int]) -> dict[int, list[Cell]]:
        """Return the columns that have been fetched; in those of dates, numbers are dates."""
        return {
            column: _put_dates(cells, _DATE) if column in dates else cells for column, cells in enumerate(self._head)
        }

    def table(self, dates: Collection[int] = ()) -> Table:
        """Return all cells of the worksheet as an ordinary table, all of one generation; dates are text.

        `dates`: the columns in which numbers are dates, however they are shown.
        """
        self.fetch_whole()
        columns = self._dated_columns(dates)
        height = max(map(len, columns.values()), default=0)
        numeric = [column for column, cells in columns.items() if any(type(cell) in (int, float) for cell in cells)]
        runs = (rect for column in sorted(numeric) for rect, _ in _cut(column, height))
        rects = join_columns(rect._replace(bottom=min(rect.bottom, height)) for rect in runs)
        columns |= {column: [*columns[column]] for column in numeric}
        for rect, shown in self._fetch([rects], dates=True) if rects else ():
            for column, texts in enumerate(shown, rect.left):
                _put_shown_dates(columns[column], rect.top, texts)
        return Table(height, {column: ScalarColumn(cells) for column, cells in columns.items() if cells})


def _stack(fetched: Iterable[tuple[Rect, FetchedColumns]]) -> dict[int, list[Cell]]:
    """Return the columns of ranges, those of one column one below the other."""
    columns: dict[int, list[Cell]] = {}
    for rect, range_columns in fetched:
        for column, cells in enumerate(range_columns, rect.left):
            held = columns.setdefault(column, [])
            if cells:
                held += [""] * (rect.top - len(held))
                held += cells
    return columns


def _may_show(content: Cell, value: Cell) -> bool:
    """Return whether a cell of some content, which is no formula, may have a value.

    A blank cell shows a value if the formula of another cell fills it, too; a date is a number, or its text.
    """
    if content in (None, "") or content == value:
        return True
    if isinstance(content, (int, float)) and isinstance(value, (int, float)):
        return math.isclose(content, value)
    return isinstance(content, str) and type(value) in (int, float)


def _as_they_are(cells: ColumnCells) -> ColumnCells:
    return cells
