"""The cells of a worksheet with their formulas, as GridData of the service's JSON hold them.

One request shows values and formulas of one moment. The answer to a batch of changes shows those that stand after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...elements import Cell
from .address import Rect, range_on_sheet
from .requests import Answer, SheetsApi
from .retries import ChangedError, RefusedError
from .state.spreadsheet import CELL_FIELDS, State, Worksheet, generation_name
from .worksheet import FetchedColumns

# Cells of the largest grid that is fetched in this way; most of them are blank as a rule, and if all are filled, the
# answer has some 10 MB
MOST_CELLS_AT_ONCE = 100_000

_KINDS = ("numberValue", "stringValue", "boolValue")
_ERRORS = {  # what people see, by the names of the service
    "ERROR": "#ERROR!",
    "NULL_VALUE": "#NULL!",
    "DIVIDE_BY_ZERO": "#DIV/0!",
    "VALUE": "#VALUE!",
    "REF": "#REF!",
    "NAME": "#NAME?",
    "NUM": "#NUM!",
    "N_A": "#N/A",
    "LOADING": "Loading...",
}


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
        """Add a cell from its CellData. The cells of a column must come from top to bottom."""
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
        """Return the columns of a range, all of the same height. The range must have a bottom and sides."""
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
    if "errorValue" in extended:
        kind = str(extended["errorValue"]["type"])
        return _ERRORS.get(kind, f"#{kind}")
    return ""


def fetch_grid(service: SheetsApi, sheet: Worksheet, rect: Rect, fields: str = CELL_FIELDS) -> GridCells:
    """Return the cells of a range, in one request; a ChangedError if there is no worksheet of this title any more."""
    (cells,) = fetch_grids(service, [(sheet, rect)], fields)
    return cells


def fetch_grids(
    service: SheetsApi, ranges: Sequence[tuple[Worksheet, Rect]], fields: str = CELL_FIELDS
) -> list[GridCells]:
    """Return the cells of a range of each of some worksheets, in one request; see `fetch_grid`."""
    fields = f"spreadsheetId,sheets(properties(sheetId),{fields})"
    names = [range_on_sheet(sheet.title, rect) for sheet, rect in ranges]

    def parse(answer: Answer) -> list[GridCells]:
        return [_cells_shown(answer, sheet.gid) for sheet, _ in ranges]

    try:
        return service.get("", parse, ranges=names, fields=fields)
    except RefusedError as refused:
        raise ChangedError(refused.message) from None


def fetch_proven(service: SheetsApi, state: State, ranges: Sequence[tuple[Worksheet, Rect]]) -> list[FetchedColumns]:
    """Fetch the columns of some ranges in one request, and raise a ChangedError if somebody has written to their
    worksheets.

    Raises:
        ChangedError: somebody has written to one of them since their state was fetched.
    """
    fields = f"spreadsheetId,namedRanges,sheets(properties(sheetId),{CELL_FIELDS})"
    names = [range_on_sheet(sheet.title, rect) for sheet, rect in ranges]

    def parse(answer: Answer) -> tuple[list[FetchedColumns], list[object]]:
        generations = {str(named["name"]): named["namedRangeId"] for named in answer.get("namedRanges", [])}
        cells = [_cells_shown(answer, sheet.gid).columns for sheet, _ in ranges]
        return cells, [generations.get(generation_name(sheet.gid)) for sheet, _ in ranges]

    try:
        columns, ids = service.get("", parse, ranges=names, fields=fields)
    except RefusedError as refused:
        raise ChangedError(refused.message) from None
    seen = [named.id if (named := state.generation(sheet.gid)) else None for sheet, _ in ranges]
    if ids != seen:
        raise ChangedError
    return columns


def cells_after(answer: Answer, gid: int) -> GridCells | None:
    """Return the cells of a worksheet from the answer to a batch of changes; None if the answer has no cells."""
    try:
        return _cells_shown(answer["updatedSpreadsheet"], gid)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _cells_shown(answer: Answer, gid: int) -> GridCells:
    """Return the cells of a worksheet that the JSON of a spreadsheet shows."""
    (data,) = [sheet["data"] for sheet in answer["sheets"] if sheet["properties"].get("sheetId", 0) == gid]
    return GridCells.from_data(data)
