"""The cells of one sheet: a list of values per column, as long as its last cell that is not blank."""

from __future__ import annotations

from collections.abc import Sequence
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

    def copy(self) -> SheetGrid:
        """Another one with the same cells; the cells themselves are shared."""
        other = SheetGrid(self.rows, self.columns)
        other._cells = [column.copy() for column in self._cells]
        other._marks = {column: runs.copy() for column, runs in self._marks.items()}
        return other

    def column(self, column: int, top: int, bottom: int) -> list[GridCell]:
        """Return the cells of a part of a column, without trailing blanks."""
        part = self._cells[column][top:bottom] if column < len(self._cells) else []
        return _trimmed(part)

    def cell(self, row: int, column: int) -> GridCell:
        """Return one cell."""
        return self._cells[column][row] if column < len(self._cells) and row < len(self._cells[column]) else None

    def write(self, column: int, top: int, cells: Sequence[GridCell | Skip]) -> None:
        """Put cells below each other; a blank clears, SKIP leaves what is there."""
        while len(self._cells) <= column:
            self._cells.append([])
        held = self._cells[column]
        if top >= len(held) and all(cell is None or cell is SKIP for cell in cells):
            return  # blanks below the end are not kept: row by row, they would be made and taken off again
        if top > len(held):
            held.extend([None] * (top - len(held)))
        old = held[top : top + len(cells)]
        old.extend([None] * (len(cells) - len(old)))
        held[top : top + len(cells)] = [
            before if cell is SKIP else cell for cell, before in zip(cells, old, strict=True)
        ]
        _trimmed(held)

    def clear(self, area: GridArea) -> None:
        """Make cells blank; their marks stay."""
        for column in range(area.left, min(area.right, len(self._cells))):
            held = self._cells[column]
            count = max(0, min(area.bottom, len(held)) - area.top)
            held[area.top : area.top + count] = [None] * count
            _trimmed(held)

    def block(self, area: GridArea) -> list[list[GridCell]]:
        """Return the cells of an area by column, each without trailing blanks."""
        return [self.column(column, area.top, area.bottom) for column in range(area.left, area.right)]

    def mark(self, row: int, column: int) -> Json | None:
        """Return what else is known of a cell: format, note, validation, by the names of CellData."""
        runs = self._marks.get(column)
        return runs.at(row) if runs else None

    def marks(self, column: int) -> Runs[Json]:
        """Return those of a column, to change in place."""
        return self._marks.setdefault(column, Runs())

    def marked(self, column: int) -> Runs[Json] | None:
        """Return those of a column, where there are any."""
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
            _trimmed(held)
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
            _trimmed(held)
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


def _trimmed(cells: list[GridCell]) -> list[GridCell]:
    """Return the list itself, trailing blanks taken off."""
    if cells and cells[-1] is None:
        end = len(cells) - 1
        while end and cells[end - 1] is None:
            end -= 1
        del cells[end:]
    return cells
