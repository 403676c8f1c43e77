"""Sheets of arrays as people change them: edits that the contract calls harmless, on any kind of sheet.

An edit knows four things that every spreadsheet program does: insert rows at the top, insert a column, move a column,
and type into a cell. `Edited` keeps account of which array stands where, so that a test knows what must come back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hypothesis import strategies as st

import sheetarray as sa
from sheetarray.columns import column_letters

NOTES = ["note", "version", "ndarray", "data", "shape", "1.0.0", "7", "2,5", "-1.5", "a, b; c\td", 'say "x"', "TRUE"]
BEGINNINGS = ("version", "ndarray", "shape")  # two of them side by side are the broken beginning of an array
TABLE = [["country", "2019", "2020"], ["Å", "1.5", "2"], ["B", "-3", ""], ["C", "0.25", "1e3"]]
EDITS = ["above", "column", "column", "table", "formulas", "move", "stack", "notes"]


class Sheet(Protocol):
    """What can be done to a sheet; rows and columns count from 0, and arrays run down its columns."""

    def insert_rows(self, count: int) -> None:
        """Insert rows at the top."""

    def insert_column(self, at: int) -> None:
        """Insert a column."""

    def move_column(self, source: int, target: int) -> None:
        """Take a column out, and insert it where it then has another index."""

    def put(self, row: int, column: int, cell: Any) -> None:
        """Type into a cell; text that begins with = is a formula where there are any."""


class Rows:
    """Rows of cells as a sheet."""

    def __init__(self, rows: Sequence[Sequence[Any]], blank: Any = "", make: Callable[[Any], Any] = str) -> None:
        width = max(map(len, rows))
        self.rows = [[*row, *[blank] * (width - len(row))] for row in rows]
        self._blank, self._make = blank, make

    def insert_rows(self, count: int) -> None:
        self.rows[:0] = [[self._blank] * len(self.rows[0]) for _ in range(count)]

    def insert_column(self, at: int) -> None:
        for row in self.rows:
            row.insert(at, self._blank)

    def move_column(self, source: int, target: int) -> None:
        for row in self.rows:
            row.insert(target, row.pop(source))

    def put(self, row: int, column: int, cell: Any) -> None:
        while len(self.rows) <= row:
            self.rows.append([self._blank] * len(self.rows[0]))
        while len(self.rows[0]) <= column:
            self.insert_column(len(self.rows[0]))
        self.rows[row][column] = self._make(cell)


@dataclass
class Edited:
    """A sheet, and what must be read from it.

    Attributes:
        sheet: what is edited.
        owners: for each column the names of the arrays that run down it.
        ends: for each column how many rows of it are in use.
        named: whether names stand above the arrays.
        arrays: by name.
        top: the row in which the names stand, or the arrays begin.
        notable: what may still be typed; not two words that would be the beginning of an array.
        log: what was done.
    """

    sheet: Sheet
    owners: list[list[str]]
    ends: list[int]
    arrays: dict[str, Any]
    named: bool = True
    top: int = 0
    notable: list[str] = field(default_factory=lambda: list(NOTES))
    log: list[str] = field(default_factory=list)

    def expected(self, *, lying: bool = False) -> dict[str, Any]:
        """The arrays by the names under which they are to be read."""
        if self.named:
            return self.arrays
        return {
            str(column + 1) if lying else column_letters(column): self.arrays[names[0]]
            for column, names in enumerate(self.owners)
            if names
        }

    def insert(self, at: int, cells: dict[int, Any]) -> None:
        self.sheet.insert_column(at)
        self.owners.insert(at, [])
        self.ends.insert(at, max(cells, default=-1) + 1)
        for row, cell in cells.items():
            self.sheet.put(row, at, cell)

    def remark(self, draw: Any) -> str:
        """A note, or nothing."""
        cell: str = draw(st.sampled_from(["", *self.notable]))
        if cell in BEGINNINGS:
            self.notable = [other for other in self.notable if other not in BEGINNINGS]
        return cell

    # Edits ---------------------------------------------------------------------------------------------------

    def above(self, draw: Any) -> None:
        """Rows above everything, with notes.

        Above arrays without names no note stands right above one, and no two stand in one row: a note would be the
        name, and so would two above blanks, which is how names stand above headers of unlike heights.
        """
        count = draw(st.integers(1, 4))
        self.sheet.insert_rows(count)
        self.ends = [end + count for end in self.ends]
        self.top += count
        free = list(range(count if self.named else count - 1))
        for column, names in enumerate(self.owners):
            if free and (cell := self.remark(draw)):
                row = draw(st.sampled_from(free))
                self.sheet.put(row, column, cell)
                if names and not self.named:
                    free.remove(row)

    def column(self, draw: Any) -> None:
        """A column to the left, between or to the right, with a few notes in it, no two of them adjacent."""
        rows = draw(st.lists(st.integers(0, max(self.ends) // 2), max_size=4, unique=True))
        cells = {2 * row: self.remark(draw) for row in rows}
        self.insert(draw(st.integers(0, len(self.ends))), cells)

    def table(self, draw: Any) -> None:
        """An ordinary table beside the arrays or among them, at any height."""
        at, row = draw(st.integers(0, len(self.ends))), draw(st.integers(0, max(self.ends) + 2))
        for column in range(len(TABLE[0])):
            self.insert(at + column, {row + index: cells[column] for index, cells in enumerate(TABLE) if cells[column]})

    def formulas(self, draw: Any) -> None:
        """A column of formulas to the right of an array."""
        at = draw(st.integers(1, len(self.ends)))
        first, last = self.top, self.ends[at - 1] - 1
        rows = range(first, last + 1, draw(st.integers(1, 3)))
        self.insert(at, {row: f"={column_letters(at - 1)}{row + 1}*2" for row in rows})

    def move(self, draw: Any) -> None:
        """A column taken elsewhere."""
        source, target = draw(st.integers(0, len(self.ends) - 1)), draw(st.integers(0, len(self.ends) - 1))
        self.sheet.move_column(source, target)
        self.owners.insert(target, self.owners.pop(source))
        self.ends.insert(target, self.ends.pop(source))

    def stack(self, draw: Any) -> None:
        """One more array below another."""
        name = f"stacked {len(self.arrays)}"
        column, gap = draw(st.integers(0, len(self.ends) - 1)), draw(st.integers(0, 2))
        if not self.named or name in self.arrays:
            return
        array = draw(st.sampled_from([[5, -2], [[1, 2], [3, 4]], ["p", "data", "q"]]))
        cells = [name, *sa.to_linear(array)]
        for row, cell in enumerate(cells, self.ends[column] + (gap if self.owners[column] else gap + 1)):
            self.sheet.put(row, column, cell)
            self.ends[column] = row + 1
        self.owners[column].append(name)
        self.arrays[name] = sa.from_linear(cells[1:])

    def notes(self, draw: Any) -> None:
        """Notes below everything, in columns that no array runs down."""
        for column, names in enumerate(self.owners):
            if not names and (cell := self.remark(draw)):
                self.ends[column] += 2
                self.sheet.put(self.ends[column] - 1, column, cell)

    def edit(self, draw: Any, edits: Sequence[str] = EDITS, most: int = 5) -> None:
        """Any edits, one after another."""
        for edit in draw(st.lists(st.sampled_from(edits), max_size=most)):
            self.log.append(edit)
            getattr(self, edit)(draw)
