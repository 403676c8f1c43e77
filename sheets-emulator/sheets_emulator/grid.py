"""The cells of one sheet: their values, and their marks, which are all that CellData has besides the value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Generic, TypeVar

from .errors import Json
from .ranges import GridArea

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Formula:
    """A cell that holds a formula; `text` begins with an equals sign."""

    text: str


GridCell = bool | float | str | Formula | None  # None is a blank; a number is always a float


class Skip(Enum):
    """Stands in a list of cells to be written for a cell that is to stay as it is."""

    SKIP = "skip"


SKIP: Final = Skip.SKIP


class Layer(Generic[T]):
    """One kind of content of all cells of a sheet: for each column a list that ends with the last that is not None."""

    def __init__(self, columns: list[list[T | None]] | None = None) -> None:
        self.columns = columns or []

    def column(self, column: int, top: int, bottom: int) -> list[T | None]:
        """Return the contents of a column from row `top` up to, but without, `bottom`, without None at the end."""
        return _trim(self.columns[column][top:bottom]) if column < len(self.columns) else []

    def at(self, row: int, column: int) -> T | None:
        """Return the content of one cell."""
        return self.columns[column][row] if column < len(self.columns) and row < len(self.columns[column]) else None

    def write(self, column: int, top: int, contents: Sequence[T | None]) -> None:
        """Replace the contents of a column from row `top` downwards."""
        self.columns += [[] for _ in range(column + 1 - len(self.columns))]
        held = self.columns[column]
        if top < len(held) or any(content is not None for content in contents):
            held += [None] * (top - len(held))
            held[top : top + len(contents)] = contents
            _trim(held)

    def resize(self, rows: int, columns: int) -> None:
        """Forget what lies outside of a grid of so many rows and columns."""
        del self.columns[columns:]
        self.delete_rows(rows, max(map(len, self.columns), default=0))

    def insert_rows(self, at: int, count: int) -> None:
        """Insert blank rows before the row `at`."""
        for held in self.columns:
            if at < len(held):
                held[at:at] = [None] * count

    def delete_rows(self, start: int, stop: int) -> None:
        """Delete the rows `start` to `stop`; those below move up."""
        for held in self.columns:
            del held[start:stop]
            _trim(held)

    def insert_columns(self, at: int, count: int) -> None:
        """Insert blank columns before the column `at`."""
        if at < len(self.columns):
            self.columns[at:at] = [[] for _ in range(count)]


class SheetGrid:
    """The cells of a sheet: their values and marks, and the number of rows and columns, blank ones included."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self._values: Layer[bool | float | str | Formula] = Layer()
        self._marks: Layer[Json] = Layer()
        self.may_have_formulas = False  # whether one was ever written

    def copy(self) -> SheetGrid:
        """Return a grid with the same cells, which may be changed without changing this one."""
        other = SheetGrid(self.rows, self.columns)
        other._values = Layer([column.copy() for column in self._values.columns])
        other._marks = Layer([column.copy() for column in self._marks.columns])
        other.may_have_formulas = self.may_have_formulas
        return other

    def column(self, column: int, top: int, bottom: int) -> list[GridCell]:
        """Return the values of a column from row `top` up to, but without, `bottom`, without trailing blanks."""
        return self._values.column(column, top, bottom)

    def block(self, area: GridArea) -> list[list[GridCell]]:
        """Return the values of an area by column, each without trailing blanks."""
        return [self.column(column, area.top, area.bottom) for column in range(area.left, area.right)]

    def cell(self, row: int, column: int) -> GridCell:
        """Return the value of one cell."""
        return self._values.at(row, column)

    def write(self, column: int, top: int, cells: Sequence[GridCell | Skip]) -> None:
        """Write values of one column, from row `top` downwards; None clears a cell, SKIP leaves it as it is."""
        self.may_have_formulas = self.may_have_formulas or Formula in map(type, cells)
        self._values.write(
            column,
            top,
            [self._values.at(row, column) if cell is SKIP else cell for row, cell in enumerate(cells, top)],
        )

    def rewrite_formulas(self, change: Callable[[str], str]) -> None:
        """Replace the text of every formula by what `change` returns for it."""
        for held in self._values.columns if self.may_have_formulas else ():
            for row, cell in enumerate(held):
                if type(cell) is Formula and (text := change(cell.text)) != cell.text:
                    held[row] = Formula(text)

    def clear(self, area: GridArea) -> None:
        """Make cells blank; their marks stay."""
        for column in range(area.left, min(area.right, len(self._values.columns))):
            count = min(area.bottom, len(self._values.columns[column])) - area.top
            self._values.write(column, area.top, [None] * max(0, count))

    def mark(self, row: int, column: int) -> Json | None:
        """Return the marks of a cell by their names in CellData; None if it has none."""
        return self._marks.at(row, column)

    def put_mark(self, row: int, column: int, mark: Json | None) -> None:
        """Give a cell its marks."""
        self._marks.write(column, row, [mark])

    def change_marks(self, column: int, top: int, bottom: int, change: Callable[[Json | None], Json | None]) -> None:
        """Replace the marks of cells of a column by what `change` returns for them; equal ones are changed once."""
        held = self._marks.column(column, top, bottom)
        new = {id(mark): change(mark) for mark in [None, *held]}
        self._marks.write(column, top, [new[id(mark)] for mark in held] + [new[id(None)]] * (bottom - top - len(held)))

    def bottom(self, area: GridArea) -> int:
        """Return the row below the last one of an area with a value or a mark; its top row if all is blank."""
        columns = range(area.left, area.right)
        layers = (self._values, self._marks)
        return area.top + max(len(layer.column(at, area.top, area.bottom)) for layer in layers for at in columns)

    def resize(self, rows: int, columns: int) -> None:
        """Add or remove rows at the bottom and columns at the right; removed cells are lost."""
        self._values.resize(rows, columns)
        self._marks.resize(rows, columns)
        self.rows, self.columns = rows, columns

    def size(self, dimension: str) -> int:
        """Return the number of rows (ROWS) or columns (COLUMNS)."""
        return self.rows if dimension == "ROWS" else self.columns

    def insert(self, dimension: str, at: int, count: int) -> None:
        """Insert blank rows or columns before the one `at`."""
        for layer in (self._values, self._marks):
            (layer.insert_rows if dimension == "ROWS" else layer.insert_columns)(at, count)
        self.rows += count if dimension == "ROWS" else 0
        self.columns += count if dimension == "COLUMNS" else 0

    def delete(self, dimension: str, start: int, stop: int) -> None:
        """Delete the rows or columns `start` to `stop`; those after them move up or left."""
        if dimension == "ROWS":
            self._values.delete_rows(start, stop)
            self._marks.delete_rows(start, stop)
            self.rows -= stop - start
        else:
            del self._values.columns[start:stop], self._marks.columns[start:stop]
            self.columns -= stop - start


def _trim(contents: list[T | None]) -> list[T | None]:
    """Remove None from the end of a list, and return the list."""
    end = len(contents)
    while end and contents[end - 1] is None:
        end -= 1
    del contents[end:]
    return contents
