"""The words of headers, where in a sheet they stand, and the anchors that they are: where an array begins.

A container finds the cells that hold a word by searching its bytes, its shared strings or its columns, whichever is
fast; the positions are then compared here for all of them at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..dtypes import Positions
from ..elements import Cell
from ..errors import Finding, FormatError
from ..linear.header import FIELDS, Header
from ..linear.parsing import normalize_key
from .grid import Orient, cell_address

SEMVER = re.compile(r"\s*\d+\.\d+\.\d+\s*", re.ASCII)
"""What stands between `version` and `ndarray`."""
DESCRIPTION = "dataset.json"
"""The name of the array of text that describes the labels of the others. None of its elements is blank."""


@dataclass(slots=True, unsafe_hash=True)  # nobody changes one; a frozen one takes three times as long to make
class Anchor:
    """The beginning of an array, or of a part of one.

    Attributes:
        row, column: of its first cell (`version`), counted from 0.
        orient: "columns" where the list runs downwards, "rows" where it is written as a row.
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
        """The row of the first cell of a list that stands in a column; its column if the list lies in a row."""
        return self.row if self.orient == "columns" else self.column

    @property
    def name_cell(self) -> tuple[int, int] | None:
        """Row and column of its name; None where it has none."""
        return self.cell(-self.blanks - 1) if self.named else None

    @property
    def data_cell(self) -> tuple[int, int]:
        """Column and row of the first data cell."""
        down, across = (self.start, 0) if self.orient == "columns" else (0, self.start)
        return self.column + across, self.row + down

    def cell(self, index: int) -> tuple[int, int]:
        """Return the row and the column of a cell of the flat list, by its index."""
        return (self.row + index, self.column) if self.orient == "columns" else (self.row, self.column + index)

    def address(self, index: int) -> str:
        """Return the address of a cell of the flat list, by its index; with the sheet's title, where it has one."""
        cell = cell_address(*self.cell(index))
        return cell if self.title is None else f"{self.title}!{cell}"

    def data_address(self, index: int) -> str:
        """Return the address of a data cell, by its index."""
        return self.address(self.start + index)


WORDS = ("version", "ndarray", *FIELDS, "part", "data")  # the keys in the order in which a header has them
VERSION, NDARRAY, FIRST_FIELD, LAST_FIELD, DATA = 0, 1, 2, len(FIELDS) + 1, len(FIELDS) + 3
NONE = 255  # the code of a cell that holds no word
CODES = {word: code for code, word in enumerate(WORDS)}
LONGEST_WORD = max(map(len, WORDS))

WordCodes = np.ndarray[tuple[int], np.dtype[np.uint8]]
_FIRST = frozenset("vnsodlcpVNSODLCP \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0")
_SHIFT = 31  # bits of a row or a column in a position


def code_of(cell: Cell) -> int:
    """Return the code of the word that a cell holds, `NONE` where it holds another thing."""
    if type(cell) is not str or len(cell) < 4:
        return NONE
    if cell.isascii() and (cell[0] not in _FIRST or (len(cell) > LONGEST_WORD and cell[0] > " " < cell[-1])):
        return NONE  # nothing around it makes it so long
    code = CODES.get(cell)  # most words are written as they are here
    return CODES.get(normalize_key(cell), NONE) if code is None else code


@dataclass(frozen=True, eq=False)
class Words:
    """The cells of a sheet that hold a word of a header, in the order of their rows, then their columns.

    Attributes:
        rows, columns: of the cells, counted from 0.
        codes: which word it is, its index in `WORDS`.
        searches: the anchors that a search has made of them already, without or with `strict`.
    """

    rows: Positions
    columns: Positions
    codes: WordCodes
    searches: dict[bool, list[Anchor]] = field(default_factory=dict, repr=False)

    @classmethod
    def from_positions(cls, rows: Any, columns: Any, codes: Any) -> Words:
        """Sort cells that come in any order, each of them once."""
        words = cls(np.asarray(rows, np.int64), np.asarray(columns, np.int64), np.asarray(codes, np.uint8))
        positions = words.positions
        if len(positions) > 1 and not (positions[1:] > positions[:-1]).all():
            _, order = np.unique(positions, return_index=True)
            words = cls(words.rows[order], words.columns[order], words.codes[order])
        return words

    @classmethod
    def from_cells(cls, cells: Iterable[tuple[int, int, Cell]]) -> Words:
        """Find the words among single cells, each with its row and its column."""
        word_cells = [(row, column, code) for row, column, cell in cells if (code := code_of(cell)) != NONE]
        rows, columns, codes = zip(*word_cells, strict=True) if word_cells else ((), (), ())
        return cls.from_positions(rows, columns, codes)

    @classmethod
    def from_grid(cls, grid: Sequence[Sequence[Cell]]) -> Words:
        """Find the words in rows of cells; those that `code_of` refuses at a glance are not even handed to it."""
        return cls.from_cells(
            (row, column, cell)
            for row, cells in enumerate(grid)
            for column, cell in enumerate(cells)
            if type(cell) is str and len(cell) >= 4 and (cell[0] in _FIRST or not cell.isascii())
        )

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def positions(self) -> Positions:
        """Each cell as one number, ascending: row before column."""
        return (self.rows << _SHIFT) | self.columns

    @cached_property
    def transposed(self) -> Words:
        """The same words in the sheet turned over: rows are columns, and columns rows."""
        return Words.from_positions(self.columns, self.rows, self.codes)

    def select(self, wanted: np.ndarray[Any, np.dtype[Any]]) -> Words:
        """Return only some of the words: those at indices, or where a mask is true."""
        return Words(self.rows[wanted], self.columns[wanted], self.codes[wanted])

    def codes_at(self, rows: Positions, columns: Positions) -> WordCodes:
        """Return the codes of the words in other cells, `NONE` where a cell holds none."""
        codes = np.full(len(rows), NONE, np.uint8)
        if len(self):
            sought = (rows << _SHIFT) | columns
            index = np.minimum(np.searchsorted(self.positions, sought), len(self) - 1)
            match = (self.positions[index] == sought) & (rows >= 0) & (columns >= 0)
            codes[match] = self.codes[index[match]]
        return codes

    def next_in_column(self, code: int, rows: Positions, columns: Positions) -> Positions:
        """Return the row of the first word of that code from each cell on down its column; -1 if none follows."""
        turned = self.transposed
        positions = turned.positions[turned.codes == code]
        result = np.full(len(rows), -1, np.int64)
        if len(positions):
            sought = (columns << _SHIFT) | rows
            index = np.searchsorted(positions, sought)
            next_index = np.minimum(index, len(positions) - 1)
            match = (index < len(positions)) & (positions[next_index] >> _SHIFT == columns)
            result[match] = positions[next_index[match]] & ((1 << _SHIFT) - 1)
        return result
