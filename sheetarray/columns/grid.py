"""Addresses, and anchors: where in a sheet arrays begin.

An array begins at the cells `version`, a version, `ndarray`, one under another (or side by side), wherever people
have moved them. What lies within the data of an array is never taken for the beginning of another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ..elements import Cell, is_blank
from ..errors import Finding, FormatError
from ..header import FIELDS, LONGEST, Header, HeaderCutError, key_of, parse_header

Orient = Literal["columns", "rows"]
Grid = Sequence[Sequence[Cell]]

RESERVED = ("version", "ndarray")
_SEMVER = re.compile(r"\s*\d+\.\d+\.\d+\s*", re.ASCII)


def letters(column: int) -> str:
    """The letters of a column, counted from 0.

    Example:
        >>> letters(0), letters(25), letters(26)
        ('A', 'Z', 'AA')
    """
    text = ""
    column += 1
    while column:
        column, digit = divmod(column - 1, 26)
        text = chr(65 + digit) + text
    return text


def a1(row: int, column: int) -> str:
    """The address of a cell, row and column counted from 0.

    Example:
        >>> a1(16, 2)
        'C17'
    """
    return f"{letters(column)}{row + 1}"


@dataclass(frozen=True)
class Anchor:
    """Where an array, or a part of one, begins.

    Attributes:
        row, column: of its first cell (`version`), counted from 0.
        orient: "columns" where the list runs downwards, "rows" where it runs to the right.
        name: the text before the first cell, or the column's letter (the row's number).
        header: None where it is broken; then `error` says how.
        start: index of the first data cell in the flat list.
        notes: what was accepted all the same.
        cut: the header runs beyond the cells that were looked at.
        title: of the sheet, where the container has several.
    """

    row: int
    column: int
    orient: Orient
    name: str
    header: Header | None = None
    start: int = 0
    error: FormatError | None = field(default=None, compare=False)
    notes: tuple[Finding, ...] = ()
    cut: bool = False
    title: str | None = None

    def address(self, index: int) -> str:
        """The address of a cell of the flat list, by its index; with the sheet's title, where it has one."""
        down, across = (index, 0) if self.orient == "columns" else (0, index)
        cell = a1(self.row + down, self.column + across)
        return cell if self.title is None else f"{self.title}!{cell}"

    def data_address(self, index: int) -> str:
        """The address of a data cell, by its index."""
        return self.address(self.start + index)


def find_anchors(grid: Grid, *, strict: bool = False, ended: bool = True, title: str | None = None) -> list[Anchor]:
    """Every anchor in the first rows of a sheet, in the order in which arrays are written.

    Args:
        grid: rows of cells, from the sheet's first cell on; rows may differ in length.
        strict: refuse lists without a version.
        ended: whether the grid is the whole sheet.
        title: of the sheet, for addresses.
    """
    anchors: list[Anchor] = []
    free_from: dict[int, int] = {}  # column -> the first row below the arrays found in it
    for row, cells in enumerate(grid):
        cut = not ended and row == len(grid) - 1
        start = 0
        while (column := _next_word(cells, start)) is not None:
            start = column + 1
            if free_from.get(column, 0) > row:
                continue
            below = [_at(grid, row + step, column) for step in range(3)]
            across = [_at(grid, row, column + step) for step in range(3)]
            if _begins(below):
                anchor = _read(grid, Anchor(row, column, "columns", "", title=title), strict, ended)
                free_from[column] = row + _extent(anchor)
            elif _begins(across) and free_from.get(column + 2, 0) <= row:
                anchor = _read(grid, Anchor(row, column, "rows", "", title=title), strict, not cut)
                start = len(cells) if anchor.header is None else column + _extent(anchor)
            else:
                continue
            anchors.append(anchor)
    return sorted(anchors, key=lambda a: (a.row, a.column) if a.orient == "rows" else (a.column, a.row))


def _next_word(cells: Sequence[Cell], start: int) -> int | None:
    for column in range(start, len(cells)):
        cell = cells[column]
        if type(cell) is str and cell[:1] in _FIRST and key_of(cell) in RESERVED:
            return column
    return None


_FIRST = frozenset("vVnN \t\n\r\xa0")


def _at(grid: Grid, row: int, column: int) -> Cell:
    return grid[row][column] if 0 <= row < len(grid) and 0 <= column < len(grid[row]) else None


def _begins(three: Sequence[Cell]) -> bool:
    first, second, third = map(key_of, three)
    if first == "version":
        return third == "ndarray" or second == "ndarray"
    return second in FIELDS


def _read(grid: Grid, anchor: Anchor, strict: bool, ended: bool) -> Anchor:
    row, column = anchor.row, anchor.column
    if anchor.orient == "columns":
        cells = [_at(grid, r, column) for r in range(row, len(grid))]
        before, otherwise = _at(grid, row - 1, column), letters(column)
    else:
        cells = list(grid[row][column : column + LONGEST])
        before, otherwise = _at(grid, row, column - 1), str(row + 1)
    anchor = replace(anchor, name=otherwise if is_blank(before) else str(before))
    notes: list[Finding] = []
    try:
        if key_of(cells[0]) == "ndarray" and isinstance(before, str) and _SEMVER.fullmatch(before):
            raise FormatError("expected 'version' two cells before 'ndarray'", location=anchor.address(-2))
        header, start = parse_header(cells, strict=strict, address=anchor.address, note=notes.append)
    except FormatError as error:
        return replace(anchor, error=error, cut=isinstance(error, HeaderCutError) and not ended)
    return replace(anchor, header=header, start=start, notes=tuple(notes))


def _extent(anchor: Anchor) -> int:
    """How many cells the array may take from its first one on; the rest of the column where nobody knows."""
    if anchor.header is None or anchor.header.part:
        return 2**62
    each = 2 if anchor.header.dtype.kind == "complex" else 1
    return anchor.start + each * anchor.header.capacity
