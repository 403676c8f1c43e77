"""Addresses, and what an anchor is: where in a sheet an array begins, and what its header says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from ..elements import Cell
from ..errors import Finding, FormatError
from ..header import Header

Orient = Literal["columns", "rows"]
CellGrid = Sequence[Sequence[Cell]]


def quote_title(title: str) -> str:
    """Return a title as it stands before the `!` of a reference.

    Example:
        >>> quote_title("Ann's run")
        "'Ann''s run'"
    """
    return "'" + title.replace("'", "''") + "'"


@lru_cache(maxsize=2**14)  # the columns of a sheet, which are asked for again and again
def column_letters(column: int) -> str:
    """Return the letters of a column, counted from 0.

    Example:
        >>> column_letters(0), column_letters(25), column_letters(26)
        ('A', 'Z', 'AA')
    """
    text = ""
    column += 1
    while column:
        column, digit = divmod(column - 1, 26)
        text = chr(65 + digit) + text
    return text


def column_number(letters: str) -> int:
    """Return the number of a column, counted from 0, by its letters; the opposite of `column_letters`.

    Example:
        >>> column_number("A"), column_number("z"), column_number("AA")
        (0, 25, 26)
    """
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


def cell_address(row: int, column: int) -> str:
    """Return the address of a cell, row and column counted from 0.

    Example:
        >>> cell_address(16, 2)
        'C17'
    """
    return f"{column_letters(column)}{row + 1}"


class Area(NamedTuple):
    """A range of cells: from a row and a column, counted from 0, to those before `bottom` and `right`."""

    top: int
    left: int
    bottom: int
    right: int


_AREA = re.compile(
    r"(?:(?:'(?P<quoted>(?:[^']|'')+)'|(?P<title>[^'!]+))!)?"
    r"\$?(?P<left>[A-Z]{1,3})?\$?(?P<top>[1-9][0-9]{0,6})?(?::(?=\$?[A-Z0-9])\$?(?P<right>[A-Z]{1,3})?\$?(?P<bottom>[1-9][0-9]{0,6})?)?",
    re.IGNORECASE,
)
_NO_END = 2**31  # rows or columns, of a range that has all of them


def parse_area(text: str) -> tuple[str | None, Area] | None:
    """Return the title of a sheet, if there is one, and the range in A1 notation; None for any other text.

    Example:
        >>> parse_area("A1:C5"), parse_area("'Ann''s run'!$B$2"), parse_area("sales")
        ((None, Area(top=0, left=0, bottom=5, right=3)), ("Ann's run", Area(top=1, left=1, bottom=2, right=2)), None)
        >>> parse_area("B:C")[1].left, parse_area("3:7")[1].top
        (1, 2)
    """
    match = _AREA.fullmatch(text)
    if match is None:
        return None
    first, last = match.group("left", "top"), match.group("right", "bottom")
    if not any(last):  # one cell
        last = first if all(first) else (None, None)
    if [text is None for text in first] != [text is None for text in last] or not any(first):
        return None
    left, right = sorted(map(column_number, (first[0], last[0]))) if first[0] else (0, _NO_END)
    top, bottom = sorted(map(int, (first[1], last[1]))) if first[1] else (1, _NO_END)
    title = match["quoted"].replace("''", "'") if match["quoted"] else match["title"]
    return title, Area(top - 1, left, bottom, right + 1)


SEMVER = re.compile(r"\s*\d+\.\d+\.\d+\s*", re.ASCII)
"""What stands between `version` and `ndarray`."""


@dataclass(slots=True, unsafe_hash=True)  # nobody changes one; a frozen one takes three times as long to make
class Anchor:
    """The beginning of an array, or of a part of one.

    Attributes:
        row, column: of its first cell (`version`), counted from 0.
        orient: "columns" where the list runs downwards, "rows" where it runs to the right.
        name: the text before the first cell, or the column's letter (the row's number).
        header: as it was parsed; None where it is broken, and `error` says in which way.
        start: index of the first data cell in the flat list.
        notes: findings about what was accepted although it is not as `write` writes it.
        title: of the sheet; None where the container has only one.
        named: whether its name is a cell of the sheet.
        blanks: how many cells are blank between its name and its first cell.
        aliases: other texts that may be the name of a damaged array; None where the error concerns every array.
    """

    row: int
    column: int
    orient: Orient
    name: str
    header: Header | None = None
    start: int = 0
    error: FormatError | None = field(default=None, compare=False)
    notes: tuple[Finding, ...] = ()
    title: str | None = None
    named: bool = False
    blanks: int = 0
    aliases: tuple[str, ...] | None = ()

    @property
    def line(self) -> int:
        """The column that the flat list runs down, or the row in which it lies."""
        return self.column if self.orient == "columns" else self.row

    @property
    def first(self) -> int:
        """The row of its first cell, or the column where the list lies in a row."""
        return self.row if self.orient == "columns" else self.column

    @property
    def name_cell(self) -> tuple[int, int] | None:
        """Row and column of its name; None where it has none."""
        if not self.named:
            return None
        before = self.blanks + 1
        return (self.row - before, self.column) if self.orient == "columns" else (self.row, self.column - before)

    @property
    def data_cell(self) -> tuple[int, int]:
        """Column and row of the first data cell."""
        down, across = (self.start, 0) if self.orient == "columns" else (0, self.start)
        return self.column + across, self.row + down

    def address(self, index: int) -> str:
        """Return the address of a cell of the flat list, by its index; with the sheet's title, where it has one."""
        down, across = (index, 0) if self.orient == "columns" else (0, index)
        cell = cell_address(self.row + down, self.column + across)
        return cell if self.title is None else f"{self.title}!{cell}"

    def data_address(self, index: int) -> str:
        """Return the address of a data cell, by its index."""
        return self.address(self.start + index)
