"""Which cells of a sheet are formulas. Of an array formula, only the first cell counts as one.

Source: ECMA-376 part 1, 18.3.1.40 (f), 18.18.6 (ST_CellFormulaType).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....dtypes import Positions
from .cells import PENDING, ROW, CellRun


class FormulaSummary(NamedTuple):
    """The number of formulas among some cells, and where they are.

    Attributes:
        number: of the formulas.
        first: the index, among these cells, of the first formula.
        last: the index of the last formula.
    """

    number: int
    first: int
    last: int


class FormulaCells:
    """Collects the formulas of a sheet while its cells are read; a cell may be read several times."""

    def __init__(self) -> None:
        self._rows: list[Positions] = []
        self._columns: list[Positions] = []
        self._sorted: dict[bool, Positions] = {}  # positions, in which rows are the lines if True, else columns

    def add(self, run: CellRun) -> None:
        """Note which of some cells are formulas with values; one without a value is an error wherever it is read."""
        if run.formulas is None or not len(run):
            return
        marks = run.formulas & (run.kinds != PENDING)
        self._rows.append(run.rows[marks])
        self._columns.append(run.columns[marks])
        self._sorted = {}

    def __bool__(self) -> bool:
        return bool(self._rows)

    def find_among(self, row: int, column: int, count: int, *, lying: bool) -> FormulaSummary | None:
        """Return the formulas among some cells in one line; None if no cell is a formula.

        `row`: of the first cell, from 0. `column`: of the first cell, from 0. `count`: the number of cells. `lying`:
        whether they run to the right; otherwise they run downwards.
        """
        if not self:
            return None
        if lying not in self._sorted:
            rows, columns = np.concatenate(self._rows), np.concatenate(self._columns)
            self._sorted[lying] = np.unique(rows * ROW + columns if lying else columns * ROW + rows)
        start = row * ROW + column if lying else column * ROW + row
        low, high = np.searchsorted(self._sorted[lying], [start, start + count]).tolist()
        places = (self._sorted[lying][low:high] - start).tolist()
        return FormulaSummary(len(places), places[0], places[-1]) if places else None
