"""The columns of a large text that are numbers, moments or booleans: parsed where they stand, their texts read only if
somebody asks.

The first rows say which columns these are. A column in which any cell below them is of another kind, or a number that
loses digits as a double, is read as text. So each file is gone over once, and files with such columns twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...dtypes import Array, Mask, Positions
from ...elements import DAY, FALSE, NO_TIME, TRUE, Cell, moment_pattern
from ...tables import MarksLook, RawColumn, TableColumn, TableOptions, TextColumn
from .plain_records import Run
from .records import BLANK, FRACTION, MOMENTS, OTHER_POINT, POINT, Records

if TYPE_CHECKING:
    import polars as pl

_HEAD = 32  # rows that say which columns are numbers
_NAMES = 16  # of them may hold names, or stand above the table
_NUMERAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMERALS = re.compile(rf"(?:(?:{_NUMERAL.pattern})?\n)*(?:{_NUMERAL.pattern})?")  # one a line
_DAYS = re.compile(f"{DAY}|{NO_TIME}")
_MOMENTS = re.compile(rf"{moment_pattern('')}(?:\.[0-9]{{1,9}})?|{NO_TIME}")
_BOOLEANS = re.compile(f"{TRUE}|{FALSE}", re.IGNORECASE)
_AT_ONCE = 64  # records that are listed together
_DTYPES = "float64", "int64"  # that the caller may give


class Plan(NamedTuple):
    """Where the values of a column are expected."""

    first: int  # the row of the first one
    kind: str  # of the run: n for numbers, b for booleans, or one of `MOMENTS`


class Kept(NamedTuple):
    """The values of a column: NaN for blanks, `BLANK` among moments."""

    values: Array
    blanks: int  # how many
    shown: int  # what numbers show, as the bits above; the bits of the digits of seconds


def asks_for_texts(options: TableOptions) -> bool:
    """Return whether options ask for something of the texts of numbers and dates."""
    asks = options.na_values or options.missing == "error" or options.date_format is not None
    return bool(asks) or options.decimal == "," or options.thousands is not None or options.comment is not None


def plan_values(records: Records, options: TableOptions) -> dict[int, Plan | None]:
    """Return where each column has values, below a row below which all cells that are looked at are values of one kind.

    A column of text has None. The result is empty if options ask for something of their texts.
    """
    dtype = options.dtype
    if asks_for_texts(options):
        return {}
    if dtype is not None and (not isinstance(dtype, (str, type, np.dtype)) or not _is_number(dtype)):
        return {}
    head = records.rows(0, _HEAD)
    if len(head) < _HEAD:
        return {}
    plan: dict[int, Plan | None] = {}
    for column, cells in enumerate(zip_longest(*head, fillvalue="")):
        first = 1 if _NUMERALS.fullmatch("\n".join(cells[1:])) else len(cells)
        pattern = _NUMERAL
        if first > 1 and dtype is None:
            last = next(filter(None, reversed(cells)), "")
            pattern = next((each for each in (_DAYS, _MOMENTS, _BOOLEANS) if each.fullmatch(last)), _NUMERAL)
        while first and (not cells[first - 1] or pattern.fullmatch(cells[first - 1])):
            first -= 1
        is_planned = first <= _NAMES and any(cells[first:])
        plan[column] = Plan(first, _kind_of(pattern, cells[first:])) if is_planned else None
    return plan


def _kind_of(pattern: re.Pattern[str], cells: Sequence[str]) -> str:
    """Return the kind of a run of cells that are of a pattern."""
    if pattern is _MOMENTS:
        digits = max(len(cell.partition(".")[2]) for cell in cells)
        return str(3 * -(-digits // 3))
    return {_NUMERAL: "n", _DAYS: "y", _BOOLEANS: "b"}[pattern]


def _is_number(dtype: Any) -> bool:
    try:
        return np.dtype(dtype).name in _DTYPES
    except TypeError:  # a name of the format's own
        return False


class NumberColumns:
    """The columns of values of a text, and the texts of those that are asked for."""

    def __init__(self, records: Records, first: int, end: int, options: TableOptions) -> None:
        self._records, self._first, self._end = records, first, end
        self.is_nullable = options.nullable
        self._numbers: list[int] = []
        self._texts: dict[int, pl.Series] = {}
        self._blocks: dict[int, list[list[str]]] = {}
        self._listed: dict[tuple[int, ...], list[tuple[str, ...]]] = {}  # by rows, their cells of each column

    def column(self, number: int, plan: Plan, read: Kept) -> RawColumn:
        """Return a column of numbers. `plan`: the row in which its values begin."""
        self._numbers.append(number)
        values = _cut(read.values, max(self._first - plan.first, 0), self._end - plan.first)  # blank rows are beside
        blanks = int(np.count_nonzero(_are_blank(values))) if read.blanks else 0
        read = Kept(values, blanks, read.shown)
        split, height = max(plan.first - self._first, 0), self._end - self._first
        return _ValueColumn(self, number, split, plan.kind, read, height)

    def list_cells(self, number: int, rows: Sequence[int]) -> list[Cell]:
        """Return the texts of a column in a few rows, which are asked of one column after the other."""
        key = tuple(rows)
        if key not in self._listed:
            self._listed[key] = list(zip_longest(*map(self._record, key), fillvalue=""))
        columns = self._listed[key]
        cells = columns[number] if number < len(columns) else ("",) * len(key)
        return [cell or None for cell in cells]

    def _record(self, row: int) -> list[str]:
        """Return a record; those beside it are listed, too."""
        place, index = divmod(row, _AT_ONCE)
        if place not in self._blocks:
            self._blocks[place] = self._records.rows(self._first + place * _AT_ONCE, _AT_ONCE)
        return self._blocks[place][index]

    def texts(self, number: int) -> TextColumn:
        """Return the texts of a column; those of all columns of values are read at once."""
        if number not in self._texts:
            runs: list[Run] = [(each, self._first, self._end, "t") for each in self._numbers]
            self._texts = dict(zip(self._numbers, self._records.read(runs), strict=True))
        return TextColumn(self._texts[number])


def _cut(values: Array, start: int, stop: int) -> Array:
    """Return some of the values; the array itself if these are all of them."""
    return values if start == 0 and stop >= len(values) else values[start:stop]


def _are_blank(values: Array) -> Mask:
    blank: Mask = np.isnan(values) if values.dtype.kind == "f" else values == BLANK
    return blank


class _ValueColumn:
    """A column of values of one kind; see `tables.RawColumn`. `split`: the row of the table in which they begin."""

    def __init__(self, columns: NumberColumns, number: int, split: int, kind: str, kept: Kept, height: int) -> None:
        self._columns, self._number, self._split, self._kind, self._kept = columns, number, split, kind, kept
        self._height = height

    def cells(self, rows: Sequence[int]) -> list[Cell]:
        """Return the texts in a few rows."""
        return self._columns.list_cells(self._number, rows)

    def mark_filled(self) -> Mask:
        """Return a mask of the rows that hold something."""
        top = self.cells(range(self._split))
        filled = np.ones(self._height, np.bool_)
        filled[: len(top)] = [isinstance(cell, str) and bool(cell.strip()) for cell in top]
        if self._kept.blanks:
            filled[len(top) :] = ~_are_blank(self._values(len(top), self._height))
        return filled

    def has_blanks(self) -> bool:
        """Return whether a cell is blank."""
        return self._kept.blanks > 0 or not all(self.cells(range(self._split)))

    def begins(self, mark: str) -> Positions:
        """Return the rows in which text begins with a mark."""
        return self._columns.texts(self._number).begins(mark)

    def take(self, rows: range | Positions) -> TableColumn:
        """Return the cells of some rows: values, if all of them are below the first one."""
        column = None
        if isinstance(rows, range) and rows.start >= self._split:
            values = self._values(rows.start, rows.stop)
            column = TableColumn(lambda: self._columns.texts(self._number).take(rows).as_series())
            if self._kind == "n":
                column.typed, column.look = self._take_numbers(values)
            else:
                column.typed = self._own(values, np.bool_) if self._kind == "b" else self._take_moments(values)
        return self._columns.texts(self._number).take(rows) if column is None or column.typed is None else column

    def _take_numbers(self, numbers: Array) -> tuple[Array | None, MarksLook]:
        """Return int64 or float64, or None, and what their marks show."""
        shown = self._kept.shown
        has_blanks = self._kept.blanks > 0 and bool(np.isnan(numbers).any())
        is_whole = not shown & FRACTION
        if (shown and len(numbers) < len(self._kept.values)) or (has_blanks and is_whole and self._columns.is_nullable):
            return None, None
        look: MarksLook = None if not shown & POINT else "point" if shown & OTHER_POINT else "points"
        return self._own(numbers, np.int64 if is_whole and not has_blanks else np.float64), look

    def _own(self, values: Array, dtype: type) -> Array:
        """Return values that do not hang on others, which are copied only where they do."""
        return values.astype(dtype, copy=values is not self._kept.values)

    def _take_moments(self, counts: Array) -> Array | None:
        """Return datetime64, NaT for blanks; None where the texts say what they are."""
        unit, digits = MOMENTS[self._kind], self._kept.shown.bit_length() - 1
        if self._kind != "y" and (len(counts) < len(self._kept.values) or 3 * -(-digits // 3) != int(self._kind)):
            return None
        moments = counts.copy()
        moments[counts == BLANK] = np.iinfo(np.int64).min
        dates: Array = moments.view(f"M8[{unit}]")
        return None if np.isnat(dates).all() else dates

    def _values(self, start: int, stop: int) -> Array:
        return _cut(self._kept.values, start - self._split, stop - self._split)
