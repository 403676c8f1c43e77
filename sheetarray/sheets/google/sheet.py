"""A worksheet as a sheet of cells: its first rows in one request, whole columns in as few as they need.

The columns that `worksheet_reader` fetches are of one generation each; whatever is fetched later brings its header
along, which must be the one that was seen first.
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

MOST_HEAD_ROWS = 1200
MOST_AT_ONCE = 150_000  # cells of a grid, or of arrays, that are fetched at once: 131,072 doubles and their headers
_HEAD = 20_000  # cells that are looked at first
_SMALL_GRID = 2_000_000  # cells, blanks among them, that are fetched at once where arrays leave them free
_ALL_ROWS = 10_000_000
_FIRST_ROWS = 250  # of a worksheet of unknown width


def _itself(cell: Cell) -> Cell:
    return cell


class GoogleSheet:
    """A worksheet; `columns.Sheet` says what each method is for.

    Args:
        service: the spreadsheet.
        title: of the worksheet.
        size: rows and columns of its grid, where they are known.
        meaning: what cells of headers are taken for, where that is another thing than what they hold.
        at_once: how large a grid is fetched as a whole.

    Attributes:
        service: the spreadsheet.
        report: called with how many more cells of columns have been fetched, where it is set.
    """

    look = TextLook(formulas="typed")
    max_rows: int | None = None

    def __init__(
        self,
        service: SheetsApi,
        title: str,
        size: tuple[int, int] | None = None,
        *,
        meaning: Callable[[Cell], Cell] = _itself,
        at_once: int = MOST_AT_ONCE,
    ) -> None:
        self.title: str | None = title
        self.notes: list[Finding] = []
        self.report: Callable[[int], None] | None = None
        self.service, self._reader = service, WorksheetReader(service, title, size)
        self._meaning, self._at_once = meaning, at_once
        self._head: FetchedColumns = []
        self._rows = 0  # of the head
        self._ended = False
        self._whole: dict[tuple[int, int], list[Cell]] = {}  # by column and first row
        self._below: dict[int, tuple[int, list[Cell]]] = {}  # by column: what no array above takes, and its first row

    # The first rows ------------------------------------------------------------------------------------------

    def first_rows(self, budget: int) -> Rect:
        """Return the rows that a look at about `budget` cells takes in; all of a small worksheet."""
        size = self._reader.size
        if size and size[0] * size[1] <= self._at_once:
            return Rect(0, None, max(size[0], 1), None)
        width = size[1] if size else len(self._head)
        rows = min(max(budget // width, 200), MOST_HEAD_ROWS) if width else _FIRST_ROWS
        if size:
            rows = min(rows, size[0])
        return Rect(0, None, max(rows, self._rows), None)

    def keep_head(self, rows: int, columns: FetchedColumns) -> None:
        """Keep the first rows, however they were fetched."""
        self._head, self._rows = columns, rows
        size = self._reader.size
        self._ended = size is not None and rows >= size[0]  # blank rows end nothing

    def head(self, budget: int) -> tuple[Sequence[Sequence[Cell]], bool]:
        """Return the first rows."""
        wanted = self.first_rows(budget).bottom or 1
        if not self._ended and wanted > self._rows:
            self.keep_head(wanted, self._reader.fetch([Rect(0, None, wanted, None)])[0])
        return self._grid(), self._ended

    def _grid(self) -> list[list[Cell]]:
        height = max(map(len, self._head), default=0)
        padded = [[*column, *[None] * (height - len(column))] for column in self._head]
        return [list(row) for row in zip(*padded, strict=True)]

    # Arrays --------------------------------------------------------------------------------------------------

    def words(self) -> Words:
        """Return the words of headers, wherever in the worksheet they are."""
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
        """Fetch what may hold arrays below the first rows: everything; of much data only what no array takes.

        Where arrays end is known from their headers, so that what has to be looked at is as a rule blank.
        """
        if self._ended or self._below:
            return
        ends: dict[int, int] = {}
        for anchor in anchors_of_grid([[self._meaning(cell) for cell in row] for row in self._grid()]):
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
                place = column - (rect.left or 0)
                self._below[column] = rect.top, cells[place] if place < len(cells) else []

    def cell(self, row: int, column: int) -> Cell:
        """Return a cell of the sheet, which must be among those that were fetched."""
        if self._ended or row < self._rows:
            cells = self._cells_seen(column)
            return cells[row] if row < len(cells) else None
        top, cells = self._below.get(column, (row, []))
        return cells[row - top] if 0 <= row - top < len(cells) else None

    def first_cells(self) -> Iterator[Cell]:
        """Yield the cells of the first rows that have been fetched."""
        return chain.from_iterable(self._head)

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return a few cells here and there, of those that have been fetched."""
        return [
            [self._meaning(self.cell(zone.row + step, zone.column)) for step in range(zone.count)]
            if zone.orient == "columns"
            else [self._meaning(self.cell(zone.row, zone.column + step)) for step in range(zone.count)]
            for zone in zones
        ]

    def rows(self, requests: Sequence[Request]) -> Iterator[ColumnCells]:
        """Yield rows, as they were fetched."""
        width = max([len(self._head), *(column + 1 for column in self._below)])
        for request in requests:
            end = width if request.stop is None else min(request.stop, width)
            yield [], [self.cell(request.row, column) for column in range(request.column, end)]

    # Columns -------------------------------------------------------------------------------------------------

    def columns(self, requests: Sequence[Request], *, typed: bool) -> list[ColumnCells]:  # noqa: ARG002  (always typed)
        """Return columns as Python scalars; dates as text."""
        if not self._ended:
            wanted = [(request.column, request.row) for request in requests if request.row <= self._rows]
            absent = {column: row for column, row in sorted(wanted, reverse=True) if (column, row) not in self._whole}
            if absent:
                self._whole.update(self._fetch_columns(absent))
        return [([], put_dates(self._cells_of(request), request.dtype)) for request in requests]

    def _cells_of(self, request: Request) -> list[Cell]:
        """Return the cells of a request, of which the column has been fetched."""
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
        """Return all cells of the worksheet, all of one generation.

        Raises:
            ChangedError: somebody has written meanwhile.
        """
        columns = self._head if self._ended else self._reader.fetch_all(len(self._head))
        height = max(map(len, columns), default=0)
        columns = self._reader.put_dates(columns, height)
        return Table(height, {place: ScalarColumn(cells) for place, cells in enumerate(columns) if cells})

    @property
    def is_whole(self) -> bool:
        """Whether all cells have been fetched, at one moment."""
        return self._ended

    def fetch_cells(self, row: int, stop: int, column: int, dtype: DType) -> list[Cell]:
        """Return some cells of a column of one dtype; blanks may be missing at the end."""
        if self._ended:
            return put_dates(self._cells_seen(column)[row:stop], dtype)
        (columns,) = self._reader.fetch([Rect(row, column, stop, column + 1)])
        return put_dates(columns[0] if columns else [], dtype)

    def _cells_seen(self, column: int) -> list[Cell]:
        return self._head[column] if column < len(self._head) else []

    def _fetch_columns(self, wanted: dict[int, int]) -> dict[tuple[int, int], list[Cell]]:
        """Return columns down to their ends, all of one generation of the worksheet.

        Args:
            wanted: columns, and how many cells of each make the header, which must be as it was seen, and is left out.

        Raises:
            ChangedError: they are not, or not of the one of which the first rows were.
        """
        cells_by_column = self._reader.fetch_columns(self._expected_ends(wanted), self.report)
        if any(cells_by_column[column][:count] != self._cells_seen(column)[:count] for column, count in wanted.items()):
            raise ChangedError
        for column, count in wanted.items():
            del cells_by_column[column][:count]
        return {(column, count): cells_by_column[column] for column, count in wanted.items()}

    def _expected_ends(self, columns: Iterable[int]) -> dict[int, int]:
        """Return about how far down each column goes, by what the headers say."""
        ends = dict.fromkeys(columns, self._rows)
        for anchor in anchors_of_grid(self._grid()):
            if anchor.header and anchor.orient == "columns" and anchor.column in ends:
                ends[anchor.column] = max(ends[anchor.column], anchor.row + anchor.start + anchor.header.capacity)
        return ends

    def generation(self) -> tuple[int, str | None]:
        """Return the number and the id that tell this state of the worksheet from all others, in one request.

        Raises:
            ChangedError: it is gone.
        """
        return self._reader.generation()
