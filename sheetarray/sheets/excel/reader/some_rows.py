"""The cells of some rows of a sheet, sorted by their positions, so that any of them can be looked up."""

from __future__ import annotations

import numpy as np

from ....columns import Request
from ....dtypes import Positions
from .cells import CellRun, join_cells

ROW = 2**31  # the position of a cell is its row times this, plus its column


class SomeRuns:
    """The cells of some rows: added run by run, sorted by row and column once, then looked up.

    Attributes:
        cells: all of them as one run; only after `sort`.
    """

    cells: CellRun

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
        self.cells = join_cells(self._cell_runs)
        self._cell_runs = []
        self._positions: Positions = self.cells.rows * ROW + self.cells.columns
        if not (self._positions[1:] > self._positions[:-1]).all():  # programs write cells in their order
            order = np.argsort(self._positions, kind="stable")
            self._positions, self.cells = self._positions[order], self.cells.gather(order)
        return self

    def at(self, positions: Positions) -> tuple[Positions, CellRun]:
        """Return the indices of those positions at which a cell stands, and those cells."""
        index = np.searchsorted(self._positions, positions)
        nearest = np.minimum(index, max(len(self._positions) - 1, 0))
        match = np.flatnonzero(self._positions[nearest] == positions) if len(self._positions) else index[:0]
        return match, self.cells.gather(nearest[match])

    def between(self, request: Request) -> CellRun:
        """Return the requested cells of a row: how far from the first requested one each stands, and what it is."""
        first = request.row * ROW + request.column
        end = request.row * ROW + (ROW if request.stop is None else request.stop)
        low, high = np.searchsorted(self._positions, [first, end]).tolist()
        places = self._positions[low:high] - first
        return CellRun.of_line(places, self.cells.kinds[low:high], self.cells.values[low:high])
