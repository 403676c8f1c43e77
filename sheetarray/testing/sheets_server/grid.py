"""The cells of one sheet: a list of values per column, as long as its last cell that is not blank."""

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
    """A cell that holds nothing, and shows a value of the array that a formula elsewhere has come to."""

    value: object


GridCell = bool | float | str | Formula | None  # None is a blank; a number is always a float


class Skip(Enum):
    """A cell of a written block that leaves what is there."""

    SKIP = "skip"


SKIP: Final = Skip.SKIP


class SheetGrid:
    """Rows, columns, and what they hold.

    Attributes:
        rows: how many rows there are, blank ones too.
        columns: how many columns there are.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.rows = rows
        self.columns = columns
        self._cells: list[list[GridCell]] = []
        self._marks: dict[int, Runs[Json]] = {}
        self._formulas = False  # whether there may be any

    def copy(self) -> SheetGrid:
        """Return another one with the same cells; the cells themselves are shared."""
        other = SheetGrid(self.rows, self.columns)
        other._cells = [column.copy() for column in self._cells]
        other._marks = {column: runs.copy() for column, runs in self._marks.items()}
        other._formulas = self._formulas
        return other

    def column(self, column: int, top: int, bottom: int) -> list[GridCell]:
        """Return the cells of a part of a column, without trailing blanks."""
        part = self._cells[column][top:bottom] if column < len(self._cells) else []
        return _trim(part)

    def cell(self, row: int, column: int) -> GridCell:
        """Return one cell."""
        return self._cells[column][row] if column < len(self._cells) and row < len(self._cells[column]) else None

    def write(self, column: int, top: int, cells: Sequence[GridCell | Skip]) -> None:
        """Put cells below each other; a blank clears, SKIP leaves what is there."""
        while len(self._cells) <= column:
            self._cells.append([])
        held = self._cells[column]
        self._formulas = self._formulas or Formula in map(type, cells)
        if top >= len(held) and all(cell is None or cell is SKIP for cell in cells):
            return  # blanks below the end are not kept: row by row, they would be made and taken off again
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
        """Give every formula the text that `change` makes of it."""
        if not self._formulas:
            return
        for held in self._cells:
            for row, cell in enumerate(held):
                if type(cell) is Formula and (text := change(cell.text)) != cell.text:
                    held[row] = Formula(text)

    def rewrite_marks(self, change: Callable[[Json], Json]) -> None:
        """Give every validation of cells what `change` makes of it."""
        for runs in self._marks.values():
            for start, stop, mark in list(runs.runs_between(0, runs.stop)):
                if mark and "dataValidation" in mark:
                    runs.put(start, stop, mark | {"dataValidation": change(mark["dataValidation"])})

    def move_rows(self, start: int, stop: int, before: int) -> None:
        """Put rows before another one."""
        arrival = before if before <= start else before - (stop - start)
        for held in self._cells:
            if start < len(held) or before < len(held):
                held.extend([None] * (max(stop, before) - len(held)))
                block = held[start:stop]
                del held[start:stop]
                held[arrival:arrival] = block
                _trim(held)
        for runs in self._marks.values():
            pieces = list(runs.runs_between(start, stop))
            runs.delete(start, stop)
            runs.insert(arrival, stop - start)
            for first, last, mark in pieces:
                runs.put(first - start + arrival, last - start + arrival, mark)

    def move_columns(self, start: int, stop: int, before: int) -> None:
        """Put columns before another one."""
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
        """Return the marks of a cell: format, note, validation, by the names of CellData."""
        runs = self._marks.get(column)
        return runs.at(row) if runs else None

    def marks(self, column: int) -> Runs[Json]:
        """Return the marks of a column (see `mark`), to change in place."""
        return self._marks.setdefault(column, Runs())

    def marks_of(self, column: int) -> Runs[Json] | None:
        """Return the marks of a column to be read; None if no cell of it has one."""
        return self._marks.get(column)

    def bottom(self, area: GridArea) -> int:
        """Return the row after the last one of an area with a value or a mark."""
        ends = [area.top]
        for column in range(area.left, area.right):
            ends.append(area.top + len(self.column(column, area.top, area.bottom)))
            if runs := self._marks.get(column):
                ends.append(min(runs.stop, area.bottom))
        return max(ends)

    def resize(self, rows: int, columns: int) -> None:
        """Change the size at the bottom and the right; what lies outside is lost."""
        del self._cells[columns:]
        for held in self._cells:
            del held[rows:]
            _trim(held)
        self._marks = {column: runs for column, runs in self._marks.items() if column < columns}
        for runs in self._marks.values():
            runs.put(rows, max(rows, runs.stop), None)
        self.rows, self.columns = rows, columns

    def insert_rows(self, at: int, count: int) -> None:
        """Insert blank rows."""
        for held in self._cells:
            if at < len(held):
                held[at:at] = [None] * count
        for runs in self._marks.values():
            runs.insert(at, count)
        self.rows += count

    def delete_rows(self, start: int, stop: int) -> None:
        """Take rows away; those below move up."""
        for held in self._cells:
            del held[start:stop]
            _trim(held)
        for runs in self._marks.values():
            runs.delete(start, stop)
        self.rows -= stop - start

    def insert_columns(self, at: int, count: int) -> None:
        """Insert blank columns."""
        if at < len(self._cells):
            self._cells[at:at] = [[] for _ in range(count)]
        self._marks = {column + count * (column >= at): runs for column, runs in self._marks.items()}
        self.columns += count

    def delete_columns(self, start: int, stop: int) -> None:
        """Take columns away; those to the right move left."""
        del self._cells[start:stop]
        self._marks = {
            column - (stop - start) * (column >= stop): runs
            for column, runs in self._marks.items()
            if not start <= column < stop
        }
        self.columns -= stop - start


def _trim(cells: list[GridCell]) -> list[GridCell]:
    """Return the list itself, trailing blanks taken off."""
    if cells and cells[-1] is None:
        end = len(cells) - 1
        while end and cells[end - 1] is None:
            end -= 1
        del cells[end:]
    return cells
