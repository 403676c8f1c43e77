"""The columns of a large text that are numbers: parsed where they stand, their texts read only if somebody asks.

The first rows say which columns these are. A column in which any cell below them is no number, or one that loses digits
as a double, is read as text. So each file is gone over once, and files with such columns twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...dtypes import Array, Mask, Positions
from ...elements import Cell
from ...tables import RawColumn, TableColumn, TableOptions, TextColumn
from .records import Records, Run

if TYPE_CHECKING:
    import polars as pl

_HEAD = 32  # rows that say which columns are numbers
_NAMES = 16  # of them may hold names, or stand above the table
_NUMERAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMERALS = re.compile(rf"(?:(?:{_NUMERAL.pattern})?\n)*(?:{_NUMERAL.pattern})?")  # one a line
_AT_ONCE = 64  # records that are listed together
_FRACTION, _POINT, _OTHER_POINT = 1, 2, 4  # what numbers show, as the compiled loop says it
_DTYPES = "float64", "int64"  # that the caller may give


class Kept(NamedTuple):
    """The numbers of a column, NaN for blanks."""

    numbers: Array
    blanks: int  # how many
    shown: int  # what they show, as the bits above


def plan_numbers(records: Records, options: TableOptions) -> dict[int, int]:
    """Return the columns of numbers, and of each the first row below which all cells that are looked at are numbers.

    None is left if options ask for something of their texts.
    """
    dtype = options.dtype
    asks_for_text = options.na_values or options.missing == "error" or options.date_format is not None
    if asks_for_text or options.decimal == "," or options.thousands is not None or options.comment is not None:
        return {}
    if dtype is not None and (not isinstance(dtype, (str, type, np.dtype)) or not _is_number(dtype)):
        return {}
    head = records.head(_HEAD)
    if len(head) < _HEAD:
        return {}
    plan: dict[int, int] = {}
    for column, cells in enumerate(zip_longest(*head, fillvalue="")):
        first = 1 if _NUMERALS.fullmatch("\n".join(cells[1:])) else len(cells)
        while first and (not cells[first - 1] or _NUMERAL.fullmatch(cells[first - 1])):
            first -= 1
        if first <= _NAMES and any(cells[first:]):
            plan[column] = first
    return plan


def _is_number(dtype: Any) -> bool:
    try:
        return np.dtype(dtype).name in _DTYPES
    except TypeError:  # a name of the format's own
        return False


class NumberColumns:
    """The columns of numbers of a text, and the texts of those that are asked for."""

    def __init__(self, records: Records, first: int, end: int, options: TableOptions) -> None:
        self._records, self._first, self._end = records, first, end
        self.is_nullable = options.nullable
        self._numbers: list[int] = []
        self._texts: dict[int, pl.Series] = {}
        self._blocks: dict[int, list[list[str]]] = {}
        self._listed: dict[tuple[int, ...], list[tuple[str, ...]]] = {}  # by rows, their cells of each column

    def column(self, number: int, split: int, kept: Kept) -> RawColumn:
        """Return a column whose numbers begin in a row of the text."""
        self._numbers.append(number)
        numbers = kept.numbers[max(self._first - split, 0) : self._end - split]  # blank rows stand above and below
        blanks = int(np.count_nonzero(np.isnan(numbers))) if kept.blanks else 0
        kept = Kept(numbers, blanks, kept.shown)
        return _NumberColumn(self, number, max(split - self._first, 0), kept, self._end - self._first)

    def list_cells(self, number: int, rows: Sequence[int]) -> list[Cell]:
        """Return the texts of a column in a few rows, which are asked of one column after the other."""
        wanted = tuple(rows)
        if wanted not in self._listed:
            self._listed[wanted] = list(zip_longest(*map(self._record, wanted), fillvalue=""))
        columns = self._listed[wanted]
        cells = columns[number] if number < len(columns) else ("",) * len(wanted)
        return [cell or None for cell in cells]

    def _record(self, row: int) -> list[str]:
        """Return a record; those beside it are listed, too."""
        place, index = divmod(row, _AT_ONCE)
        if place not in self._blocks:
            self._blocks[place] = self._records.rows(self._first + place * _AT_ONCE, _AT_ONCE)
        return self._blocks[place][index]

    def texts(self, number: int) -> TextColumn:
        """Return the texts of a column; those of all columns of numbers are read at once."""
        if number not in self._texts:
            runs: list[Run] = [(each, self._first, self._end, "t") for each in self._numbers]
            self._texts = dict(zip(self._numbers, self._records.read(runs), strict=True))
        return TextColumn(self._texts[number])


class _NumberColumn:
    """A column of numbers; see `tables.RawColumn`. `split`: the row of the table in which they begin."""

    def __init__(self, columns: NumberColumns, number: int, split: int, kept: Kept, height: int) -> None:
        self._columns, self._number, self._split, self._kept, self._height = columns, number, split, kept, height

    def cells(self, rows: Sequence[int]) -> list[Cell]:
        """Return the texts in a few rows."""
        return self._columns.list_cells(self._number, rows)

    def mark_filled(self) -> Mask:
        """Return a mask of the rows that hold something."""
        top = self.cells(range(self._split))
        filled = np.ones(self._height, np.bool_)
        filled[: len(top)] = [isinstance(cell, str) and bool(cell.strip()) for cell in top]
        if self._kept.blanks:
            filled[len(top) :] = ~np.isnan(self._numbers(len(top), self._height))
        return filled

    def has_blanks(self) -> bool:
        """Return whether a cell is blank."""
        return self._kept.blanks > 0 or not all(self.cells(range(self._split)))

    def begins(self, mark: str) -> Positions:
        """Return the rows in which text begins with a mark."""
        return self._columns.texts(self._number).begins(mark)

    def take(self, rows: range | Positions) -> TableColumn:
        """Return the cells of some rows: numbers, if all of them are below the first one."""
        if not isinstance(rows, range) or rows.start < self._split:
            return self._columns.texts(self._number).take(rows)
        numbers, shown = self._numbers(rows.start, rows.stop), self._kept.shown
        has_blanks = self._kept.blanks > 0 and bool(np.isnan(numbers).any())
        is_whole = not shown & _FRACTION
        if (shown and len(numbers) < len(self._kept.numbers)) or (
            has_blanks and is_whole and self._columns.is_nullable
        ):
            return self._columns.texts(self._number).take(rows)
        column = TableColumn(lambda: self._columns.texts(self._number).take(rows).as_series())
        column.typed = numbers.astype(np.int64) if is_whole and not has_blanks else numbers.copy()
        column.look = None if not shown & _POINT else "point" if shown & _OTHER_POINT else "points"
        return column

    def _numbers(self, start: int, stop: int) -> Array:
        return self._kept.numbers[start - self._split : stop - self._split]
