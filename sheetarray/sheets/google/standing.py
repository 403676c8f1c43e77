"""What stands in a worksheet before a write: its arrays and the cells that they take, and the columns that are used."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ...changes.formulas import Formula
from ...columns import Anchor, SheetArrays, cell_address, find_anchors
from ...elements import Cell
from ...errors import FormatError, SheetArrayError
from ...labels import NAME, find_notes
from ...linear.array import LinearArray
from ..formula_texts import to_formula
from .address import Rect, one_cell
from .grid_cells import MOST_CELLS_AT_ONCE, GridCells, fetch_grid, fetch_grids
from .requests import SheetsApi
from .state.spreadsheet import State, Worksheet
from .worksheet import GoogleSheet, fetch_values


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
        """The cell directly above its header."""
        row, column = self.anchor.row, self.anchor.column
        return Rect(row - 1, column, row, column + 1)

    @property
    def data(self) -> tuple[int, int]:
        """Row and column of the first element."""
        return self.anchor.row + self.anchor.start, self.anchor.column


@dataclass(frozen=True, slots=True)
class StandingSheet:
    """What stands in a worksheet."""

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

    def list_formulas(self) -> dict[tuple[int, int], Formula]:
        """Return all formulas by row and column; those of a worksheet that is not small are fetched."""
        if self.grid is None:
            return self.view.list_formulas()
        return {place: to_formula(text, *place) for place, text in self.grid.formulas.items()}

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


def fetch_standing(service: SheetsApi, state: State, sheet: Worksheet) -> StandingSheet:
    """Look at all of a worksheet that may hold arrays: one request, or a few; a ChangedError if it is gone.

    Its record is fetched, too.
    """
    view = GoogleSheet(service, sheet, state)
    view.title = None  # whoever asks tells the sheet
    grid: GridCells | None = None
    hidden = state.record_sheet(sheet)
    of_record = [] if hidden is None else [(hidden, Rect(0, 0, hidden.rows, 1))]
    if sheet.cells <= MOST_CELLS_AT_ONCE:
        whole = Rect(0, 0, max(sheet.rows, 1), max(sheet.columns, 1))
        grid, *records = fetch_grids(service, [(sheet, whole), *of_record])
        view.keep_head(sheet.rows, grid.columns)
    else:
        records = fetch_grids(service, of_record) if of_record else []
    for record in records:
        view.keep_record(record.columns)
    sheet = replace(sheet, record=view.record)
    anchors = find_anchors(view)
    arrays: dict[str, list[StandingArray]] = {}
    for anchor in anchors:
        arrays.setdefault(anchor.name, []).append(_to_standing(anchor, sheet))
    for group in arrays.values():
        group.sort(key=lambda one: one.anchor.header.part[0] if one.anchor.header and one.anchor.header.part else 0)
    rows = view.fetched_rows()
    filled = [column for row in rows for column, cell in enumerate(row) if cell not in (None, "")]
    return StandingSheet(sheet, view, arrays, max(filled, default=-1) + 1, not filled and not anchors, grid)


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
