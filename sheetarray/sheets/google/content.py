"""What stands in a worksheet that is to be changed: its arrays, and the cells that are filled or formatted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ...columns import Anchor, SheetArrays, cell_address, find_anchors
from ...elements import Cell
from ...errors import FormatError, SheetArrayError
from ...labels import NAME, find_notes
from ...linear.array import LinearArray
from .address import Rect, one_cell, range_on_sheet
from .requests import Answer, ChangedError, RefusedError, SheetsApi
from .spreadsheet_state import CELL_FIELDS, State, Worksheet
from .worksheet import FetchedColumns, GoogleSheet, fetch_values

# The cells of a worksheet with their formulas, as GridData of the service's JSON hold them.
#
# One request shows values and formulas of one moment. The answer to a batch of changes shows those that stand after
# it.

# Cells of the largest grid that is fetched in this way; most of them are blank as a rule, and if all are filled, the
# answer has some 10 MB
MOST_CELLS_AT_ONCE = 100_000

_KINDS = ("numberValue", "stringValue", "boolValue")


@dataclass(slots=True)
class GridCells:
    """The cells of a worksheet, and their formulas."""

    # the values of each column from the first row on; a blank is "", and may be missing at the end
    columns: FetchedColumns = field(default_factory=list)
    # the text of each cell that is a formula, by row and column
    formulas: dict[tuple[int, int], str] = field(default_factory=dict)
    # the note of each cell that has one, by row and column
    notes: dict[tuple[int, int], str] = field(default_factory=dict)

    @classmethod
    def from_data(cls, data: list[Answer]) -> GridCells:
        """Return the cells in the GridData of one worksheet."""
        cells = cls()
        for block in data:
            top, left = int(block.get("startRow", 0)), int(block.get("startColumn", 0))
            for row, line in enumerate(block.get("rowData", []), top):
                for column, cell in enumerate(line.get("values", []), left):
                    if cell:
                        cells._put(row, column, cell)
        return cells

    def _put(self, row: int, column: int, cell: Answer) -> None:
        """Add a cell, given its CellData; the cells of a column come from top to bottom."""
        value = _to_value(cell.get("effectiveValue") or {})
        formula = (cell.get("userEnteredValue") or {}).get("formulaValue")
        if formula is not None:
            self.formulas[row, column] = str(formula)
        if cell.get("note"):
            self.notes[row, column] = str(cell["note"])
        if value != "":
            while len(self.columns) <= column:
                self.columns.append([])
            held = self.columns[column]
            held.extend([""] * (row - len(held)))
            held[row:] = [value]

    def cells(self, rect: Rect) -> FetchedColumns:
        """Return the columns of a range, each of its full height; its bottom and sides must be given."""
        bottom = rect.bottom
        return [
            [*part, *[""] * (bottom - rect.top - len(part))]
            for column in range(rect.left, rect.right)
            for part in [self.columns[column][rect.top : bottom] if column < len(self.columns) else []]
        ]

    def iter_filled(self, rect: Rect) -> Iterator[tuple[int, int]]:
        """Yield row and column of each cell of a range that is not blank; a formula is never blank."""
        for column, cells in enumerate(self.cells(rect), rect.left):
            for row, cell in enumerate(cells, rect.top):
                if cell != "" or (row, column) in self.formulas:
                    yield row, column


def _to_value(extended: dict[str, Any]) -> Cell:
    """Return the cell that an ExtendedValue stands for: an error as the text of its name, nothing as ""."""
    for kind in _KINDS:
        if kind in extended:
            value: Cell = extended[kind]
            return value
    return f"#{extended['errorValue']['type']}" if "errorValue" in extended else ""


def fetch_grid(service: SheetsApi, sheet: Worksheet, rect: Rect, fields: str = CELL_FIELDS) -> GridCells:
    """Return the cells of a range, in one request; a ChangedError if there is no worksheet of this title any more."""
    fields = f"spreadsheetId,sheets(properties(sheetId),{fields})"
    ranges = [range_on_sheet(sheet.title, rect)]
    try:
        return service.get("", lambda answer: _cells_shown(answer, sheet.gid), ranges=ranges, fields=fields)
    except RefusedError as refused:
        raise ChangedError(refused.message) from None


def cells_after(answer: Answer, gid: int) -> GridCells | None:
    """Return the cells of a worksheet that the answer to a batch of changes shows; None if it shows none."""
    try:
        return _cells_shown(answer["updatedSpreadsheet"], gid)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _cells_shown(answer: Answer, gid: int) -> GridCells:
    """Return the cells of a worksheet that the JSON of a spreadsheet shows."""
    (data,) = [sheet["data"] for sheet in answer["sheets"] if sheet["properties"].get("sheetId", 0) == gid]
    return GridCells.from_data(data)


# The content of a worksheet before a write: its arrays and the cells that they take, and the columns that are used.


@dataclass(frozen=True, slots=True)
class StandingArray:
    """An array, or a part of one, in a worksheet."""

    anchor: Anchor  # where it begins, and its header
    cells: Rect  # the cells that it takes, without its name
    name_cell: Rect | None  # the cell of its name; None if it has no name

    @property
    def rects(self) -> list[Rect]:
        """All cells that it takes."""
        return [self.cells, *([self.name_cell] if self.name_cell else [])]

    @property
    def above(self) -> Rect:
        """The cell right above its header."""
        row, column = self.anchor.row, self.anchor.column
        return Rect(row - 1, column, row, column + 1)

    @property
    def data(self) -> tuple[int, int]:
        """Row and column of the first element."""
        return self.anchor.row + self.anchor.start, self.anchor.column


@dataclass(frozen=True, slots=True)
class SheetContent:
    """The content of a worksheet."""

    sheet: Worksheet
    view: GoogleSheet
    arrays: dict[str, list[StandingArray]]  # by name, parts in their order
    width: int  # the number of columns up to the last that holds something, as far as the first rows show
    blank: bool  # whether the first rows hold nothing
    grid: GridCells | None  # all cells, if the worksheet is small enough; else None

    def fetch_column(self, rect: Rect) -> list[Cell]:
        """Return the cells of a range in one column."""
        titled = [(self.sheet.title, rect)]
        (columns,) = [self.grid.cells(rect)] if self.grid else fetch_values(self.view.service, titled)
        return [cell for cells in columns for cell in cells]

    def find_filled(self, rects: Iterable[Rect]) -> list[tuple[int, int]]:
        """Return rows and columns of the cells that hold something, in order, be it a formula that shows nothing.

        Raises:
            ChangedError: the worksheet is gone, or has become smaller.
        """
        inside = [clipped for rect in rects if (clipped := rect.clip(self.sheet.rows, self.sheet.columns))]
        if self.grid is not None:
            return sorted(position for rect in inside for position in self.grid.iter_filled(rect))
        titled = [(self.sheet.title, rect) for rect in inside]
        return sorted(
            (row, column)
            for rect, columns in zip(inside, fetch_values(self.view.service, titled, formulas=True), strict=True)
            for column, cells in enumerate(columns, rect.left)
            for row, cell in enumerate(cells, rect.top)
            if cell not in (None, "")
        )

    def fetch_notes(self, rows: Rect) -> CellNotes:
        """Return the notes in some rows; no request for a small worksheet; a ChangedError if it is gone."""
        fields = "data(startRow,startColumn,rowData.values.note)"
        standing = (self.grid or fetch_grid(self.view.service, self.sheet, rows, fields)).notes
        own: frozenset[str] = frozenset()
        if standing and NAME in self.arrays:
            with suppress(SheetArrayError):  # people have damaged the labels
                labels = {NAME: LinearArray.from_numpy(SheetArrays([self.view]).read([NAME])[NAME])}
                own = frozenset(find_notes(labels).values())
        return CellNotes(standing, own)


@dataclass(frozen=True, slots=True)
class CellNotes:
    """The notes of cells, by row and column, and the texts of those that a write has put there, as labels say."""

    standing: dict[tuple[int, int], str] = field(default_factory=dict)
    own: frozenset[str] = frozenset()


def fetch_content(service: SheetsApi, state: State, sheet: Worksheet) -> SheetContent:
    """Look at all of a worksheet that may hold arrays: one request, or a few; a ChangedError if it is gone."""
    view = GoogleSheet(service, sheet, state)
    view.title = None  # whoever asks tells the sheet
    grid: GridCells | None = None
    if sheet.cells <= MOST_CELLS_AT_ONCE:
        grid = fetch_grid(service, sheet, Rect(0, 0, max(sheet.rows, 1), max(sheet.columns, 1)))
        view.keep_head(sheet.rows, grid.columns)
    anchors = find_anchors(view)
    arrays: dict[str, list[StandingArray]] = {}
    for anchor in anchors:
        arrays.setdefault(anchor.name, []).append(_to_standing(anchor, sheet))
    for group in arrays.values():
        group.sort(key=lambda one: one.anchor.header.part[0] if one.anchor.header and one.anchor.header.part else 0)
    rows, _ = view.head(0)  # what has been fetched for the search
    filled = [column for row in rows for column, cell in enumerate(row) if cell not in (None, "")]
    return SheetContent(sheet, view, arrays, max(filled, default=-1) + 1, not filled and not anchors, grid)


def _to_standing(anchor: Anchor, sheet: Worksheet) -> StandingArray:
    row, column, header = anchor.row, anchor.column, anchor.header
    end = anchor.start + header.capacity if header and not header.part else max(sheet.rows, sheet.columns)
    if anchor.orient == "columns":
        cells = Rect(row, column, min(row + end, max(sheet.rows, row + 1)), column + 1)
    else:
        cells = Rect(row, column, row + 1, min(column + end, max(sheet.columns, column + 1)))
    name = anchor.name_cell
    return StandingArray(anchor, cells, one_cell(*name) if name else None)


def overwrite_error(what: str, row: int, column: int, why: str) -> FormatError:
    """Return the error that refuses to write over something."""
    return FormatError(
        f"{what} is in the way of {why}",
        location=cell_address(row, column),
        hint="move it, or write to another worksheet",
    )
