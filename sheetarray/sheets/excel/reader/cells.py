"""Runs of cells as they come out of a workbook, and what a cell can be."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from ....dtypes import Mask, Positions

if TYPE_CHECKING:
    import polars as pl

Kinds = np.ndarray[tuple[int], np.dtype[np.uint8]]
FormulaArea = tuple[int, int, int, int]  # first row, first column, last row, last column

NUMBER = 1  # the value is a numeral
TEXT = 2
BOOLEAN = 3  # the value is 1 or 0
SERIAL = 4  # a number that the cell's format shows as a date: days, as the workbook counts them
MOMENT = 5  # a date in ISO 8601
DURATION = 6  # a number that the cell's format shows as hours or minutes
FAULT = 7  # an error; the value is its name
PENDING = 8  # a formula that has not been calculated
LARGE = 9  # a double of 2^53 or more, of which nobody has written down the digits
LONG = 10  # text of more characters than a double has digits, where only numbers are wanted
LONGEST_EXACT = 15  # characters of a numeral that a double tells from all others

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384


@dataclass(frozen=True)
class CellRun:
    """Some cells of a sheet, in any order, none of them blank.

    Attributes:
        rows: of each, from 0.
        columns: of each, from 0.
        kinds: of each.
        values: text; or Float64, null for all other text, where only numbers are wanted.
        width: how many cells each row has, where they come row by row, all with cells of the same columns; otherwise 0.
        formulas: which are formulas, whose values these are; None where none is.
        areas: the cells of array formulas, of which only the first is marked.
        is_uniform: whether all are known to be of one kind and value.
    """

    rows: Positions
    columns: Positions
    kinds: Kinds
    values: pl.Series
    width: int = 0
    formulas: Mask | None = None
    areas: tuple[FormulaArea, ...] = ()
    is_uniform: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def after(self) -> int:
        """Return the row after the last one."""
        return int(self.rows.max()) + 1

    def texts(self) -> list[pl.Series]:
        """Return the texts."""
        mask = self.kinds == TEXT
        return [self.values.filter(_series(mask))] if mask.any() else []

    def first(self, count: int) -> CellRun:
        """Return the first ones, at most so many."""
        if len(self) <= count:
            return self
        formulas = None if self.formulas is None else self.formulas[:count]
        values = self.values[:count]
        return CellRun(self.rows[:count], self.columns[:count], self.kinds[:count], values, 0, formulas, self.areas)

    def select(self, mask: np.ndarray[Any, np.dtype[np.bool_]]) -> CellRun:
        """Return those that are chosen."""
        if mask.all():
            return self
        formulas = None if self.formulas is None else self.formulas[mask]
        values = self.values.filter(_series(mask))
        return CellRun(self.rows[mask], self.columns[mask], self.kinds[mask], values, 0, formulas, self.areas)


@dataclass(frozen=True)
class AlikeRows:
    """Rows one under another, with cells of the same columns and kinds, column by column.

    Attributes:
        first: the first row, from 0.
        count: how many rows.
        columns: of the cells of a row, from 0, ascending.
        kinds: of the cells of a row.
        values: of each column, text or Float64.
    """

    first: int
    count: int
    columns: Positions
    kinds: Kinds
    values: list[pl.Series]

    def __len__(self) -> int:
        return self.count * len(self.columns)

    @property
    def after(self) -> int:
        """Return the row after the last one."""
        return self.first + self.count

    def texts(self) -> list[pl.Series]:
        """Return the values of those columns that hold text."""
        return [column for column, kind in zip(self.values, self.kinds.tolist(), strict=True) if kind == TEXT]

    def head(self, count: int) -> AlikeRows:
        """Return the first rows, at most so many."""
        values = [column[:count] for column in self.values]
        return AlikeRows(self.first, min(count, self.count), self.columns, self.kinds, values)

    def runs(self) -> list[CellRun]:
        """Return the same cells row by row: those with doubles for themselves, and those with text."""
        import polars as pl

        numeric = np.array([column.dtype.is_numeric() for column in self.values])
        runs = []
        for which in (numeric, ~numeric):
            if width := int(np.count_nonzero(which)):
                by_row = np.arange(width * self.count).reshape(width, self.count).T.ravel()
                values = [self.values[place] for place in np.flatnonzero(which).tolist()]
                rows = np.repeat(np.arange(self.first, self.after), width)
                columns, kinds = (np.tile(some[which], self.count) for some in (self.columns, self.kinds))
                runs.append(CellRun(rows, columns, kinds, pl.concat(values).gather(by_row), width))
        return runs


def _series(values: Any) -> pl.Series:
    import polars as pl

    return pl.Series(values)


def join_masks(runs: Sequence[Mask | None], sizes: Sequence[int]) -> Mask | None:
    """Return the marks of several runs as those of one; None stands for a run without any."""
    if all(marks is None for marks in runs):
        return None
    sized = zip(runs, sizes, strict=True)
    return np.concatenate([np.zeros(size, np.bool_) if marks is None else marks for marks, size in sized])


class WorkbookReader(Protocol):
    """A workbook, open.

    Attributes:
        titles: of its worksheets, in the order of their tabs.
        max_rows: of a sheet.
        from_1904: whether serial dates count from 1904-01-01, not from 1900.
    """

    titles: list[str]
    max_rows: int
    from_1904: bool

    def cells(self, title: str, *, numeric: bool) -> Generator[CellRun]:
        """Return the cells of a sheet, run by run, from its first rows on; each cell comes once in a workbook that is
        sound.

        Args:
            title: of the sheet, exactly.
            numeric: values may be Float64, since only columns of numbers are wanted.

        Raises:
            FormatError: the sheet is damaged, hostile, or missing.
        """

    def cells_of_table(self, title: str) -> Generator[CellRun | AlikeRows]:
        """Yield the cells of a sheet, numbers of which no digit counts as Float64, all other values as text."""

    def close(self) -> None:
        """Give back what it holds."""


@runtime_checkable
class DatesReader(Protocol):
    """A workbook whose cells hold dates, and no numbers that formats show as dates."""

    def find_day_zero(self) -> str:
        """Return the date, in ISO form, from which a cell's number counts days."""
