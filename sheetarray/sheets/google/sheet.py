"""A worksheet as a `columns.Sheet`: its first rows in one request, whole columns in as few requests as possible.

The columns that one call of `worksheet_reader` fetches are of one generation. Columns that are fetched later begin with
their headers, which are compared with those that were seen first; if somebody has changed one, the read begins again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from ...cells import TextLook
from ...columns import ColumnCells, Request, Words, Zone, anchors_of_grid
from ...dtypes import DType
from ...elements import Cell
from ...errors import Finding
from ...tables import ScalarColumn, Table
from .address import Rect
from .dates import put_dates
from .fetch import FetchedColumns
from .requests import SheetsApi
from .retries import ChangedError
from .worksheet_reader import WorksheetReader

MOST_HEAD_ROWS = 1200  # rows that are fetched first of a worksheet that is not fetched as a whole
MOST_AT_ONCE = 150_000  # cells of a grid, or of arrays, that one request fetches: 131,072 doubles and their headers
_HEAD = 20_000  # cells, about, that are looked at first
_SMALL_GRID = 2_000_000  # cells, most of them blank, of a grid that one request fetches if its arrays are small
_ALL_ROWS = 10_000_000  # more rows than any worksheet has
_FIRST_ROWS = 250  # rows that are fetched first of a worksheet of unknown width


class GoogleSheet:
    """A worksheet; `columns.Sheet` says what each method is for.

    Args:
        service: the spreadsheet.
        title: of the worksheet.
        size: the rows and columns of its grid; None if they are not known yet.
        at_once: the number of cells of a grid up to which the worksheet is fetched as a whole.

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
        """Take over the first rows that somebody else has fetched.

        Args:
            rows: the number of these rows.
            columns: their cells.
        """
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
        """Return some cells of a column whose elements have one dtype; blanks may be missing at the end.

        Args:
            row, stop: the first row, and the one after the last.
            column: the column.
            dtype: of the elements; dates become text.
        """
        if self._ended:
            return put_dates(self._cells_seen(column)[row:stop], dtype)
        (columns,) = self._reader.fetch([Rect(row, column, stop, column + 1)])
        return put_dates(columns[0] if columns else [], dtype)

    def _cells_seen(self, column: int) -> list[Cell]:
        """Return the cells of a column in the first rows."""
        return self._head[column] if column < len(self._head) else []

    def _fetch_columns(self, wanted: dict[int, int]) -> dict[tuple[int, int], list[Cell]]:
        """Return the cells of columns below their headers, all of one generation; by the column and its first row.

        Args:
            wanted: the number of cells in each column down to the end of its header, by the column. These cells are
                fetched too, and compared with those of the first rows.

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
