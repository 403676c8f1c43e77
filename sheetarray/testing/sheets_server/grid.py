"""The cells of one sheet: for each column a list of its cells that ends with the last one that is not blank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from .errors import Json
from .ranges import GridArea
from .runs import Runs


@dataclass(frozen=True, slots=True)
class Formula:
    """A cell that holds a formula; `text` begins with an equals sign."""

    text: str


@dataclass(frozen=True, slots=True)
class Spilled(Formula):
    """A cell that holds nothing, but shows a value of the array that the formula in another cell has come to."""

    value: object


GridCell = bool | float | str | Formula | None  # None is a blank; a number is always a float


class Skip(Enum):
    """Stands in a list of cells to be written for a cell that is to stay as it is."""

    SKIP = "skip"


SKIP: Final = Skip.SKIP


class SheetGrid:
    """The cells of a sheet: their values, and their marks.

    The marks of a cell are all that CellData has besides the value: format, note, validation and others.

    Attributes:
        rows: the number of rows, blank ones included.
        columns: the number of columns, blank ones included.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.rows = rows
        self.columns = columns
        self._cells: list[list[GridCell]] = []
        self._marks: dict[int, Runs[Json]] = {}
        self._formulas = False  # whether one was ever written

    def copy(self) -> SheetGrid:
        """Return a grid with the same cells, which may be changed without changing this one."""
        other = SheetGrid(self.rows, self.columns)
        other._cells = [column.copy() for column in self._cells]
        other._marks = {column: runs.copy() for column, runs in self._marks.items()}
        other._formulas = self._formulas
        return other

    def column(self, column: int, top: int, bottom: int) -> list[GridCell]:
        """Return the cells of a column from row `top` up to, but without, `bottom`, without trailing blanks."""
        part = self._cells[column][top:bottom] if column < len(self._cells) else []
        return _trim(part)

    def cell(self, row: int, column: int) -> GridCell:
        """Return one cell."""
        return self._cells[column][row] if column < len(self._cells) and row < len(self._cells[column]) else None

    def write(self, column: int, top: int, cells: Sequence[GridCell | Skip]) -> None:
        """Write cells of one column, from row `top` downwards; None clears a cell, SKIP leaves it as it is."""
        while len(self._cells) <= column:
            self._cells.append([])
        held = self._cells[column]
        self._formulas = self._formulas or Formula in map(type, cells)
        if top >= len(held) and all(cell is None or cell is SKIP for cell in cells):
            return  # otherwise, blanks below the end would be added here and trimmed again
        if top > len(held):
            held.extend([None] * (top - len(held)))
        old = held[top : top + len(cells)]
        old.extend([None] * (len(cells) - len(old)))
        held[top : top + len(cells)] = [
            before if cell is SKIP else cell for cell, before in zip(cells, old, strict=True)
        ]
        _trim(held)

    @property
    def may_have_formulas(self) -> bool:
        """Whether a formula was ever written here."""
        return self._formulas

    def rewrite_formulas(self, change: Callable[[str], str]) -> None:
        """Replace the text of every formula by what `change` returns for it."""
        if not self._formulas:
            return
        for held in self._cells:
            for row, cell in enumerate(held):
                if type(cell) is Formula and (text := change(cell.text)) != cell.text:
                    held[row] = Formula(text)

    def rewrite_validation(self, change: Callable[[Json], Json]) -> None:
        """Replace every DataValidationRule of cells by what `change` returns for it."""
        for runs in self._marks.values():
            for start, stop, mark in list(runs.runs_between(0, runs.stop)):
                if mark and "dataValidation" in mark:
                    runs.put(start, stop, mark | {"dataValidation": change(mark["dataValidation"])})

    def move_rows(self, start: int, stop: int, before: int) -> None:
        """Move the rows `start` to `stop` before another one, whose number is counted before the move."""
        arrival = before if before <= start else before - (stop - start)
        for held in self._cells:
            if start < len(held) or before < len(held):
                held.extend([None] * (max(stop, before) - len(held)))
                block = held[start:stop]
                del held[start:stop]
                held[arrival:arrival] = block
                _trim(held)
        for runs in self._marks.values():
            moving = list(runs.runs_between(start, stop))
            runs.delete(start, stop)
            runs.insert(arrival, stop - start)
            for first, last, mark in moving:
                runs.put(first - start + arrival, last - start + arrival, mark)

    def move_columns(self, start: int, stop: int, before: int) -> None:
        """Move the columns `start` to `stop` before another one, whose number is counted before the move."""
        order = [column for column in range(self.columns) if not start <= column < stop]
        arrival = before if before <= start else before - (stop - start)
        order[arrival:arrival] = range(start, stop)
        self._cells.extend([] for _ in range(self.columns - len(self._cells)))
        self._cells = [self._cells[column] for column in order]
        self._marks = {place: self._marks[column] for place, column in enumerate(order) if column in self._marks}

    def clear(self, area: GridArea) -> None:
        """Make cells blank; their marks stay."""
        for column in range(area.left, min(area.right, len(self._cells))):
            held = self._cells[column]
            count = max(0, min(area.bottom, len(held)) - area.top)
            held[area.top : area.top + count] = [None] * count
            _trim(held)

    def block(self, area: GridArea) -> list[list[GridCell]]:
        """Return the cells of an area by column, each without trailing blanks."""
        return [self.column(column, area.top, area.bottom) for column in range(area.left, area.right)]

    def mark(self, row: int, column: int) -> Json | None:
        """Return the marks of a cell by their names in CellData; None if it has none."""
        runs = self._marks.get(column)
        return runs.at(row) if runs else None

    def marks(self, column: int) -> Runs[Json]:
        """Return the marks of a column by row, to be changed in place; without marks, empty ones that are kept."""
        return self._marks.setdefault(column, Runs())

    def marks_of(self, column: int) -> Runs[Json] | None:
        """Return the marks of a column by row, to be read only; None if nobody has asked to change them."""
        return self._marks.get(column)

    def bottom(self, area: GridArea) -> int:
        """Return the row below the last one of an area with a value or a mark; its top row if all is blank."""
        ends = [area.top]
        for column in range(area.left, area.right):
            ends.append(area.top + len(self.column(column, area.top, area.bottom)))
            if runs := self._marks.get(column):
                ends.append(min(runs.stop, area.bottom))
        return max(ends)

    def resize(self, rows: int, columns: int) -> None:
        """Add or remove rows at the bottom and columns at the right; removed cells are lost."""
        del self._cells[columns:]
        for held in self._cells:
            del held[rows:]
            _trim(held)
        self._marks = {column: runs for column, runs in self._marks.items() if column < columns}
        for runs in self._marks.values():
            runs.put(rows, max(rows, runs.stop), None)
        self.rows, self.columns = rows, columns

    def insert_rows(self, at: int, count: int) -> None:
        """Insert blank rows before the row `at`."""
        for held in self._cells:
            if at < len(held):
                held[at:at] = [None] * count
        for runs in self._marks.values():
            runs.insert(at, count)
        self.rows += count

    def delete_rows(self, start: int, stop: int) -> None:
        """Delete the rows `start` to `stop`; those below move up."""
        for held in self._cells:
            del held[start:stop]
            _trim(held)
        for runs in self._marks.values():
            runs.delete(start, stop)
        self.rows -= stop - start

    def insert_columns(self, at: int, count: int) -> None:
        """Insert blank columns before the column `at`."""
        if at < len(self._cells):
            self._cells[at:at] = [[] for _ in range(count)]
        self._marks = {column + count * (column >= at): runs for column, runs in self._marks.items()}
        self.columns += count

    def delete_columns(self, start: int, stop: int) -> None:
        """Delete the columns `start` to `stop`; those to the right move left."""
        del self._cells[start:stop]
        self._marks = {
            column - (stop - start) * (column >= stop): runs
            for column, runs in self._marks.items()
            if not start <= column < stop
        }
        self.columns -= stop - start


def _trim(cells: list[GridCell]) -> list[GridCell]:
    """Remove trailing blanks from a list, and return the list."""
    if cells and cells[-1] is None:
        end = len(cells) - 1
        while end and cells[end - 1] is None:
            end -= 1
        del cells[end:]
    return cells
