"""The cells of some rows of a sheet, sorted by their positions, so that any of them can be looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....columns import Request
from ....dtypes import Positions

if TYPE_CHECKING:
    import polars as pl
from .cells import CellRun, Kinds

ROW = 2**31  # the position of a cell is its row times this, plus its column


class SomeRuns:
    """The cells of some rows: added run by run, sorted by row and column once, then looked up."""

    def __init__(self) -> None:
        self._cell_runs: list[CellRun] = []

    def __len__(self) -> int:
        """Return the number of cells; only after `sort`."""
        return len(self._positions)

    def add(self, run: CellRun) -> None:
        """Add the cells of a run; only before `sort`."""
        if len(run):
            self._cell_runs.append(run)

    def sort(self) -> SomeRuns:
        """Sort the cells by row and column, and return this object."""
        import polars as pl

        positions, kinds = [np.zeros(0, np.int64)], [np.zeros(0, np.uint8)]
        values: list[pl.Series] = []
        for run in self._cell_runs:
            positions.append(run.rows * ROW + run.columns)
            kinds.append(run.kinds)
            values.append(run.values)
        self._positions: Positions = np.concatenate(positions)
        self._kinds: Kinds = np.concatenate(kinds)
        self._values = pl.concat(values or [pl.Series([], dtype=pl.String)])
        self._cell_runs = []
        if not (self._positions[1:] > self._positions[:-1]).all():  # programs write cells in their order
            order = np.argsort(self._positions, kind="stable")
            self._positions, self._kinds, self._values = self._positions[order], self._kinds[order], self._values[order]
        return self

    def cells(self) -> CellRun:
        """Return all cells as one run."""
        rows, columns = np.divmod(self._positions, ROW)
        return CellRun(rows, columns, self._kinds, self._values)

    def at(self, positions: Positions) -> tuple[Positions, CellRun]:
        """Return the indices of those positions at which a cell stands, and those cells."""
        index = np.searchsorted(self._positions, positions)
        nearest = np.minimum(index, max(len(self._positions) - 1, 0))
        match = np.flatnonzero(self._positions[nearest] == positions) if len(self._positions) else index[:0]
        selected = nearest[match]
        rows, columns = np.divmod(self._positions[selected], ROW)
        return match, CellRun(rows, columns, self._kinds[selected], self._values[selected])

    def between(self, request: Request) -> CellRun:
        """Return the requested cells of a row: how far from the first requested one each stands, and what it is."""
        first = request.row * ROW + request.column
        end = request.row * ROW + (ROW if request.stop is None else request.stop)
        low, high = np.searchsorted(self._positions, [first, end]).tolist()
        places = self._positions[low:high] - first
        return CellRun.of_line(places, self._kinds[low:high], self._values[low:high])
