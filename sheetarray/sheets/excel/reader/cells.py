"""Runs of cells as they come out of a workbook, and what a cell can be."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ....dtypes import Mask, Positions
from ....errors import FormatError

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
LARGE = 9  # a number stored as a double of 2^53 or more: which of several integers was meant is unknown
LONG = 10  # text of more than `LONGEST_EXACT` characters, of which only the Float64 is at hand
LONGEST_EXACT = 15  # characters: different numerals of no more characters are different doubles
ROUNDED = 2.0**53  # from here on a double may stand for several integers, this one among them

_CELLS_LOOKED_AT = 20_000  # among which the second row begins: no row has more cells
LONGEST_TEXT = 2**20  # characters of a cell that are read; Excel and LibreOffice keep 32,767


def encrypted_error() -> FormatError:
    """Return the error for a workbook that cannot be read without its password."""
    return FormatError("the workbook is encrypted with a password", hint="save it without one first")


def repeated_cell_error(location: str) -> FormatError:
    """Return the error for a cell whose address stands in a sheet twice."""
    return FormatError("the cell comes twice in the sheet", location=location)


def row_width(rows: Positions, columns: Positions) -> int:
    """Return the number of cells in each row, if all rows have cells in the same columns; otherwise 0."""
    changes = np.flatnonzero(np.diff(rows[:_CELLS_LOOKED_AT]))
    width = int(changes[0]) + 1 if len(changes) else len(rows)
    if len(rows) % width:
        return 0
    firsts, across = rows[::width], columns[:width]
    if not (np.diff(firsts) > 0).all() or not (np.diff(across) > 0).all():
        return 0
    alike = (rows.reshape(-1, width) == firsts[:, None]).all() and (columns.reshape(-1, width) == across).all()
    return width if alike else 0


@dataclass(frozen=True)
class CellRun:
    """Some cells of a sheet, in any order, none of them blank; the arrays run in parallel.

    Attributes:
        rows: of each cell, from 0.
        columns: of each cell, from 0.
        kinds: of each cell, one of the constants of this module.
        values: of each cell: text; or, where only numbers are wanted, Float64 with a null for text that is no numeral.
        width: the number of cells in each row, if they come row by row and all rows have cells in the same columns;
            otherwise 0.
        formulas: a mask of the cells that are formulas, whose results the values are; None if no cell is a formula.
        areas: the ranges of array formulas, of which `formulas` marks only the first cell.
    """

    rows: Positions
    columns: Positions
    kinds: Kinds
    values: pl.Series
    width: int = 0
    formulas: Mask | None = None
    areas: tuple[FormulaArea, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def after(self) -> int:
        """The number of the row below the lowest cell."""
        return int(self.rows.max()) + 1

    def texts(self) -> list[pl.Series]:
        """Return the values of the cells that hold text in a list of one Series, or an empty list."""
        mask = self.kinds == TEXT
        return [self.values.filter(_series(mask))] if mask.any() else []

    def first(self, count: int) -> CellRun:
        """Return the first cells, at most `count`."""
        if len(self) <= count:
            return self
        formulas = None if self.formulas is None else self.formulas[:count]
        values = self.values[:count]
        return CellRun(self.rows[:count], self.columns[:count], self.kinds[:count], values, 0, formulas, self.areas)

    def select(self, mask: np.ndarray[Any, np.dtype[np.bool_]]) -> CellRun:
        """Return the cells under a mask."""
        if mask.all():
            return self
        formulas = None if self.formulas is None else self.formulas[mask]
        values = self.values.filter(_series(mask))
        return CellRun(self.rows[mask], self.columns[mask], self.kinds[mask], values, 0, formulas, self.areas)


def _series(values: Any) -> pl.Series:
    import polars as pl

    return pl.Series(values)


class WorkbookReader(Protocol):
    """An open workbook of any kind, whose sheets can be read cell by cell.

    Attributes:
        titles: of its worksheets, in the order of their tabs.
        max_rows: the number of rows that a sheet of this kind of workbook can have.
        from_1904: whether serial dates count from 1904-01-01, not from 1900.
    """

    titles: list[str]
    max_rows: int
    from_1904: bool

    def cells(self, title: str, *, numeric: bool, first: int = 0) -> Generator[CellRun]:
        """Yield the cells of a sheet, run by run, from its first rows on.

        `numeric`: True if only columns of numbers are wanted, so that values may be Float64. `first`: the first row
        that is wanted; cells above it may come, too.

        Raises:
            FormatError: the sheet is damaged, hostile, or missing.
        """

    def cells_of_table(self, title: str) -> Generator[CellRun]:
        """Yield the cells of a sheet for an ordinary table.

        Numbers that a double holds for certain (`serials.are_plain_doubles`) may come as Float64. All other values come
        as text, so that each numeral keeps the digits that were written.
        """

    def close(self) -> None:
        """Release what the workbook holds."""
