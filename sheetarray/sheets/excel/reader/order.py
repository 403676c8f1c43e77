"""Refuses a sheet in which a cell stands twice: no program writes that, and programs differ in which one they read."""

from __future__ import annotations

import numpy as np

from ....columns import cell_address
from ....dtypes import Positions
from ...workbooks import MOST_COLUMNS
from .cells import repeated_cell_error

_MOST_KEPT = 2**20  # cells whose places are kept; a later one that comes twice is found where columns are joined


class OrderCheck:
    """Compares the places of the cells of a sheet as they are read; most sheets have their cells in order."""

    def __init__(self) -> None:
        self._last = -1
        self._kept: list[tuple[Positions, Positions]] = []  # rows and columns
        self._sorted: Positions = np.zeros(0, np.int64)  # places of cells that were kept earlier
        self._count = 0

    def check(self, rows: Positions, columns: Positions, width: int = 0) -> None:
        """Compare some more cells with those before, and keep their places.

        `width`: the number of cells in each row, if all rows have cells in the same columns; otherwise 0.

        Raises:
            FormatError: a cell stands twice in the sheet.
        """
        step = width or 1
        places = rows[::step] * MOST_COLUMNS + columns[::step]
        end = int(rows[-1]) * MOST_COLUMNS + int(columns[-1])
        across = columns[:width]
        if int(places[0]) > self._last and bool((np.diff(places) > 0).all()) and bool((np.diff(across) > 0).all()):
            self._last = end
        else:
            self._compare(np.sort(rows * MOST_COLUMNS + columns))
        if self._count < _MOST_KEPT:
            self._count += len(rows)
            self._kept.append((rows, columns))

    def check_rows(self, first: int, count: int, columns: Positions) -> int:
        """Compare some rows, all with cells in the same columns, and return the row below the last one.

        Raises:
            FormatError: a cell stands twice in the sheet.
        """
        rows = np.arange(first, first + count)
        self.check(np.repeat(rows, len(columns)), np.tile(columns, count), len(columns))
        return first + count

    def _compare(self, places: Positions) -> None:
        if int(places[0]) <= self._last:
            if self._kept:
                later = [rows * MOST_COLUMNS + columns for rows, columns in self._kept]
                self._sorted = np.sort(np.concatenate([self._sorted, *later]), kind="stable")  # a merge
                self._kept = []
            places = np.sort(np.concatenate([self._sorted, places]), kind="stable")
        twice = places[1:][np.diff(places) == 0]
        if len(twice):
            row, column = divmod(int(twice.min()), MOST_COLUMNS)
            raise repeated_cell_error(cell_address(row, column))
        self._last = max(self._last, int(places[-1]))
