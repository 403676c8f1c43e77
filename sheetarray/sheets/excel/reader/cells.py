"""Cells as they come out of a workbook: runs of them, what a cell can be, and what a reader of a workbook gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ....columns import Request
from ....columns.words import Words
from ....dtypes import Mask, Positions
from ....errors import FormatError
from ....loops import Doubles
from ...workbooks import MOST_ROWS
from ..package.package import Package

if TYPE_CHECKING:
    import polars as pl


Kinds = np.ndarray[tuple[int], np.dtype[np.uint8]]
ROW = 2**31  # the position of a cell is its row times this, plus its column
ALL_ROWS = ((0, ROW),)  # as spans

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

_ZEROS = np.zeros(MOST_ROWS, np.int64)  # whose memory all lines share
_ZEROS.flags.writeable = False
_CELLS_LOOKED_AT = 20_000  # among which the second row begins: no row has more cells
LONGEST_TEXT = 2**20  # characters of a cell that are read; Excel and LibreOffice keep 32,767


def encrypted_error() -> FormatError:
    """Return the error for a workbook that cannot be read without its password."""
    return FormatError("the workbook is encrypted with a password", hint="save it without one first")


def missing_text_error(number: object, count: int, location: str) -> FormatError:
    """Return the error for a cell that refers to a shared text that the workbook lacks: it has `count` of them."""
    return FormatError(f"a cell refers to string {number} of a table of {count}", location=location)


def are_exact_doubles(numbers: Doubles) -> Mask:
    """Return a mask of the doubles that are so small that none stands for several integers."""
    with np.errstate(invalid="ignore"):  # NaN that signals
        return np.abs(numbers) < ROUNDED


def mark_plain_doubles(numbers: Doubles) -> Mask:
    """Return a mask of the doubles that tell all that was written: not -0, nor so large that it may be rounded."""
    mask = are_exact_doubles(numbers)
    zeros = np.flatnonzero(numbers == 0)
    mask[zeros[np.signbit(numbers[zeros])]] = False
    return mask


def row_width(rows: Positions, columns: Positions) -> int:
    """Return the number of cells in each row, if all rows have cells in the same columns; otherwise 0."""
    first_rows = rows[:_CELLS_LOOKED_AT]
    changes = np.flatnonzero(first_rows[1:] != first_rows[:-1])
    width = int(changes[0]) + 1 if len(changes) else len(rows)
    if len(rows) % width:
        return 0
    firsts, across = rows[::width], columns[:width]
    if not (firsts[1:] > firsts[:-1]).all() or not (across[1:] > across[:-1]).all():
        return 0
    alike = width == 1 or (rows.reshape(-1, width) == firsts[:, None]).all()
    alike = alike and (columns.reshape(-1, width) == across).all()
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
        formulas: a mask of the cells that are formulas, whose results the values are; None if no cell is a formula. Of
            an array formula, only the first cell is marked.
    """

    rows: Positions
    columns: Positions
    kinds: Kinds
    values: pl.Series
    width: int = 0
    formulas: Mask | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def after(self) -> int:
        """The number of the row below the lowest cell; 0 without cells."""
        return int(self.rows[-1] if self.width else self.rows.max()) + 1 if len(self) else 0

    @cached_property
    def positions(self) -> Positions:
        """The position of each cell; ascending after `by_position`."""
        return self.rows * ROW + self.columns

    @classmethod
    def of_line(cls, places: Positions, kinds: Kinds, values: pl.Series, *, width: int = 0) -> CellRun:
        """Return cells of one column, or of one row, in their order: `rows` says how far from its first each stands."""
        columns = _ZEROS[: len(places)] if len(places) <= len(_ZEROS) else np.zeros(len(places), np.int64)
        return cls(places, columns, kinds, values, width)

    @classmethod
    def none(cls) -> CellRun:
        """Return a run without cells."""
        import polars as pl

        return cls.of_line(np.zeros(0, np.int64), np.zeros(0, np.uint8), pl.Series([], dtype=pl.String))

    @property
    def height(self) -> int:
        """The number of cells from the first one of a line to the last one that is not blank."""
        return int(self.rows[-1]) + 1 if len(self) else 0

    def put_nulls(self, series: pl.Series) -> pl.Series:
        """Return a series with one value for each cell of a line, at their places, with nulls for blanks between."""
        import polars as pl

        if self.height == len(self):
            return series
        blanks = pl.Series([None], dtype=series.dtype).new_from_index(0, self.height)
        return blanks.scatter(self.rows, series)

    def texts(self) -> list[pl.Series]:
        """Return the values of the cells that hold text in a list of one Series, or an empty list."""
        mask = self.kinds == TEXT
        return [self.values.filter(as_series(mask))] if mask.any() else []

    def first(self, count: int) -> CellRun:
        """Return the first cells, at most `count`."""
        if len(self) <= count:
            return self
        formulas = None if self.formulas is None else self.formulas[:count]
        values = self.values[:count]
        return CellRun(self.rows[:count], self.columns[:count], self.kinds[:count], values, 0, formulas)

    def gather(self, places: Positions) -> CellRun:
        """Return the cells at some places; those that stand together are not copied."""
        chosen: Positions | slice = places
        span = int(places[-1] - places[0]) + 1 if len(places) else -1
        if span == len(places) and (places[1:] > places[:-1]).all():
            chosen = slice(int(places[0]), int(places[-1]) + 1)
        return CellRun(self.rows[chosen], self.columns[chosen], self.kinds[chosen], self.values[chosen])

    def by_position(self) -> CellRun:
        """Return the cells sorted by row and column, so that any of them can be looked up."""
        if (self.positions[1:] > self.positions[:-1]).all():  # programs write cells in their order
            return self
        return self.gather(np.argsort(self.positions, kind="stable"))

    def at(self, positions: Positions) -> tuple[Positions, CellRun]:
        """Return the indices of those positions at which a cell stands, and those cells; only after `by_position`."""
        index = np.searchsorted(self.positions, positions)
        nearest = np.minimum(index, max(len(self) - 1, 0))
        match = np.flatnonzero(self.positions[nearest] == positions) if len(self) else index[:0]
        return match, self.gather(nearest[match])

    def in_row(self, request: Request) -> CellRun:
        """Return the requested cells of a row: how far from the first requested one each stands, and what it is.

        Only after `by_position`.
        """
        first = request.row * ROW + request.column
        end = request.row * ROW + (ROW if request.stop is None else request.stop)
        low, high = np.searchsorted(self.positions, [first, end]).tolist()
        return CellRun.of_line(self.positions[low:high] - first, self.kinds[low:high], self.values[low:high])

    def columns_between(self, first: int, end: int) -> CellRun:
        """Return the cells of some columns side by side, which count from the first of these; all stand by column."""
        low, high = np.searchsorted(self.columns, [first, end]).tolist()
        columns = self.columns[low:high] - first
        return CellRun(self.rows[low:high], columns, self.kinds[low:high], self.values[low:high])

    def select(self, mask: np.ndarray[Any, np.dtype[np.bool_]]) -> CellRun:
        """Return the cells under a mask, without a copy where they stand together."""
        if mask.all():
            return self
        places = np.flatnonzero(mask)
        is_together = len(places) > 0 and int(places[-1] - places[0]) == len(places) - 1
        chosen = slice(int(places[0]), int(places[-1]) + 1) if is_together else places
        formulas = None if self.formulas is None else self.formulas[chosen]
        values = self.values[chosen] if is_together else self.values.filter(as_series(mask))
        return CellRun(self.rows[chosen], self.columns[chosen], self.kinds[chosen], values, 0, formulas)


def join_cells(runs: Sequence[CellRun]) -> CellRun:
    """Return the cells of some runs as one, without their formulas."""
    import polars as pl

    if len(runs) == 1:
        return replace(runs[0], width=0, formulas=None)
    if not runs:
        return CellRun.none()
    rows, columns, kinds = (
        np.concatenate([getattr(run, name) for run in runs]) for name in ("rows", "columns", "kinds")
    )
    return CellRun(rows, columns, kinds, pl.concat([run.values for run in runs]))


def as_series(values: Any) -> pl.Series:
    """Return values as a Series of the engine."""
    import polars as pl

    return pl.Series(values)


class WorkbookReader(ABC):
    """An open workbook of any kind, whose sheets can be read cell by cell.

    Attributes:
        titles: of its worksheets, in the order of their tabs.
        max_rows: the number of rows that a sheet of this kind of workbook can have.
        from_1904: whether serial dates count from 1904-01-01, not from 1900.
        package: the zip package that the workbook is; None for an .xls.
        words: those of headers, by the title of the sheet and the number of first rows that were searched.
    """

    titles: list[str]
    words: dict[tuple[str, int | None], Words]
    package: Package | None = None
    max_rows = MOST_ROWS
    from_1904 = False

    def is_small(self, title: str) -> bool:  # noqa: ARG002  (nobody knows)
        """Return whether a sheet has so few cells that all of them are looked at as quickly as some."""
        return False

    @abstractmethod
    def cells(self, title: str, *, numeric: bool, first: int = 0) -> Generator[CellRun]:
        """Yield the cells of a sheet, run by run, from its first rows on.

        `numeric`: True if only columns of numbers are wanted, so that values may be Float64. `first`: the first row
        that is wanted; cells above it may come, too.
        """

    def cells_of_table(self, title: str) -> Generator[CellRun]:
        """Yield the cells of a sheet for an ordinary table.

        Numbers that a double holds for certain (`mark_plain_doubles`) may come as Float64. All other values come as
        text, so that each numeral keeps the digits that were written.
        """
        return self.cells(title, numeric=False)

    def cells_of_rows(self, title: str, spans: Sequence[tuple[int, int]]) -> Generator[CellRun]:  # noqa: ARG002  (of all)
        """Yield the cells of some rows as text, and perhaps those of others.

        `spans`: the first row of each span and the row below its last; ascending, without overlap.
        """
        return self.cells(title, numeric=False)

    def cells_with(self, title: str, texts: Sequence[str]) -> Generator[CellRun]:  # noqa: ARG002  (all come)
        """Yield the cells that may hold one of some texts, in any case and between spaces, and perhaps others."""
        return self.cells(title, numeric=False)
