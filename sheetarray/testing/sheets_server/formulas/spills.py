"""The arrays that formulas come to, and the cells beside and below that they fill (see `Evaluator._spread`)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ....columns.grid import column_letters
from ..grid import Formula, SheetGrid, Spilled
from ..runs import Runs
from ..spreadsheet import ServedSheet, Spreadsheet
from .arrays import ArrayBlock
from .functions import may_spread
from .operands import FormulaError, Value

CellKey = tuple[int, int, int]  # the id of a sheet, a row, a column
ROUNDS = 100  # in which arrays are worked out; a formula whose array changes even then refers to itself in a circle


class Spills:
    """The arrays of one round.

    Attributes:
        arrays: by the cell of their formula.

    Example:
        >>> sheet = ServedSheet(0, "S", SheetGrid(4, 4))
        >>> spills = Spills()
        >>> pair = ArrayBlock([[1.0, 2.0]], 2)
        >>> spills.claim(sheet, 0, 0, pair), spills.claim(sheet, 1, 0, pair)
        (1.0, FormulaError('#REF!'))
    """

    def __init__(self) -> None:
        self.arrays: dict[CellKey, ArrayBlock] = {}
        self._taken: dict[tuple[int, int], Runs[bool]] = {}

    def claim(self, sheet: ServedSheet, row: int, column: int, array: ArrayBlock) -> Value:
        """Return the value for the cell of a formula: the first of its array, or an error if that has no room.

        An array that has room is kept in `arrays`.
        """
        grid = sheet.grid
        for word, missing in (
            ("rows", row + array.height - grid.rows),
            ("columns", column + array.width - grid.columns),
        ):
            if missing > 0:
                reason = f"Result was not automatically expanded, please insert more {word} ({missing})."
                return FormulaError("#REF!", reason)
        obstacle = min(self._obstacles(sheet, row, column, array), default=None)
        if obstacle is not None:
            address = f"{column_letters(obstacle[1])}{obstacle[0] + 1}"
            return FormulaError("#REF!", f"Array result was not expanded because it would overwrite data in {address}.")
        for index in range(column, column + array.width):
            self._taken.setdefault((sheet.id, index), Runs()).put(row, row + array.height, value=True)
        self.arrays[sheet.id, row, column] = array
        return array.lines[0][0]

    def _obstacles(self, sheet: ServedSheet, row: int, column: int, array: ArrayBlock) -> Iterator[tuple[int, int]]:
        """Yield the first cell of each column that an array cannot fill, since another value or array is there."""
        bottom = row + array.height
        for index in range(column, column + array.width):
            cells = sheet.grid.column(index, row, bottom)
            places = ((place, index) for place, cell in enumerate(cells, row) if cell is not None)
            yield from itertools.islice((place for place in places if place != (row, column)), 1)
            if taken := self._taken.get((sheet.id, index)):
                yield from ((start, index) for start, _, held in taken.runs_between(row, bottom) if held)

    def grids(self, spreadsheet: Spreadsheet) -> dict[int, SheetGrid]:
        """Return copies of the grids of sheets with arrays, by sheet id, with the arrays filled in."""
        grids: dict[int, SheetGrid] = {}
        for (sheet_id, row, column), array in self.arrays.items():
            if sheet_id not in grids:
                grids[sheet_id] = spreadsheet.sheet(sheet_id).grid.copy()
            for index, line in enumerate(array.lines):
                first = row + (index == 0)  # the cell of the formula stays as it is
                cells = [None if value is None else Spilled("", value) for value in line[first - row :]]
                grids[sheet_id].write(column + index, first, cells)
        return grids


def find_spreading(spreadsheet: Spreadsheet) -> list[tuple[CellKey, Formula]]:
    """Return the formulas that may come to an array, with their cells."""
    return [
        ((sheet.id, row, column), cell)
        for sheet in spreadsheet.sheets
        if sheet.grid.may_have_formulas
        for column in range(sheet.grid.columns)
        for row, cell in enumerate(sheet.grid.column(column, 0, sheet.grid.rows))
        if type(cell) is Formula and may_spread(cell.text)
    ]
