"""A worksheet as an ordinary table: all of its cells in one pass, sorted into groups of columns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ....columns import Request, may_make_anchors
from ....dtypes import from_name
from ....elements import Cell
from ....tables import ROWS_OF_ANCHOR, TOP, TOP_ROWS, RawColumn, Table, list_cells
from ...workbooks import MOST_COLUMNS
from ..reader import cells as c
from ..reader.columns.gathering import gather_columns, height_of, join_gathered, refuse_blanks, sort_by_column
from ..reader.scalars import codes_of_words
from ..worksheet import ExcelSheet
from .columns import ColumnGroup

if TYPE_CHECKING:
    import polars as pl


_TEXT = from_name("string")
_CELLS_A_GROUP = 2**18  # cells, blanks among them, that the columns of a group have at most
_MOST_BLANKS = 2**27  # between cells: they take no memory before it is known which rows and columns are wanted


class ExcelTable:
    """A worksheet that is meant as a table; see `tables.TableSheet`.

    `is_foreign`: whether another program made it.
    """

    def __init__(self, sheet: ExcelSheet, *, is_foreign: bool = False) -> None:
        self._sheet, self._is_foreign = sheet, is_foreign
        self.title = sheet.title

    @cached_property
    def _runs(self) -> list[c.CellRun]:
        """All cells of the sheet; numbers that doubles hold for certain have no texts."""
        with self._sheet.runs("inexact") as runs:
            return list(runs)

    @cached_property
    def _numbers(self) -> list[int]:
        """The columns that hold something, counted from 0."""
        filled = np.zeros(MOST_COLUMNS, dtype=bool)
        for run in self._runs:
            filled[run.columns[: run.width] if run.width else run.columns] = True
        return np.flatnonzero(filled).tolist()

    def first_rows(self) -> list[list[Cell]]:
        """Return the first rows, in which arrays are looked for; none if no word of a header stands there."""
        height = min(max(TOP // max(len(self._numbers), 1), ROWS_OF_ANCHOR), TOP_ROWS)
        texts: list[pl.Series] = []
        left = height * len(self._numbers)  # cells that these rows may hold
        for run in self._runs:
            texts.append(run.first(left).texts_of(c.TEXT))
            left = max(left - len(run), 0)
        if not may_make_anchors(np.array(codes_of_words(texts), np.uint8)):
            return []
        table = self.table()
        above, end = table.row_of(0), min(table.count_rows(), height)
        grid = [list[Cell]() for _ in range(min(above, end))]
        left = TOP
        for listed in list_cells(table, self._numbers, range(end - len(grid))):
            if left <= 0 and len(grid) >= ROWS_OF_ANCHOR:
                break
            held = [(number, cell) for number, cell in zip(self._numbers, listed, strict=True) if cell is not None]
            cells: list[Cell] = [None] * (held[-1][0] + 1 if held else 0)
            for number, cell in held:
                cells[number] = cell
            grid.append(cells)
            left -= len(cells)
        return grid

    def table(self) -> Table:
        """Return all cells as a table."""
        return self._table

    @cached_property
    def _table(self) -> Table:
        runs = self._runs
        numbers = self._numbers
        first, held = min((int(run.rows.min()) for run in runs), default=0), sum(map(len, runs))
        group_columns = _group_few if held <= _CELLS_A_GROUP else _group_many
        columns: dict[int, RawColumn] = {}
        height = 0
        for group in group_columns(runs, numbers, first, from_1904=self._sheet.from_1904):
            columns |= zip(numbers[len(columns) :], group.columns(), strict=False)
            height = max(height, group.height)
        del self._runs  # whose memory is free now
        rows = np.arange(first, first + height) if first else None
        return Table(height, columns, sheet_rows=rows, held=held, is_foreign=self._is_foreign)


def _group_few(runs: list[c.CellRun], numbers: list[int], first: int, *, from_1904: bool) -> Iterator[ColumnGroup]:
    """Yield the few cells of a sheet, sorted at once; their rows count from the row `first`."""
    cells = sort_by_column(runs, numbers, first)
    heights = np.zeros(len(numbers), np.int64)
    np.maximum.at(heights, cells.columns, cells.rows + 1)
    refuse_blanks(int(heights.sum()), len(cells), _MOST_BLANKS)
    step = max(1, _CELLS_A_GROUP // int(heights.max(initial=1)))
    for start in range(0, len(numbers), step):
        end = min(start + step, len(numbers))
        yield ColumnGroup(cells.columns_between(start, end), end - start, from_1904=from_1904)


def _group_many(runs: list[c.CellRun], numbers: list[int], first: int, *, from_1904: bool) -> Iterator[ColumnGroup]:
    """Yield the cells of a large sheet, whose runs are released one by one; their rows count from the row `first`."""
    requests = [Request(number, first, _TEXT) for number in numbers]
    pieces = gather_columns(_consume(runs), requests, most_blanks=_MOST_BLANKS)
    step = max(1, _CELLS_A_GROUP // max(map(height_of, pieces)))
    for start in range(0, len(numbers), step):
        members = pieces[start : start + step]
        yield ColumnGroup(join_gathered(members), len(members), from_1904=from_1904)


def _consume(runs: list[c.CellRun]) -> Iterator[c.CellRun]:
    """Yield the runs one by one, and remove each from the list, so that its memory is free once it is used."""
    runs.reverse()
    while runs:
        yield runs.pop()
