"""Whether a sheet has a cell twice: no program writes that, and each reads another one of the two."""

from __future__ import annotations

import numpy as np

from ....columns import cell_address
from ....dtypes import Positions
from ....errors import FormatError
from .cells import MOST_COLUMNS

_MOST_KEPT = 2**20  # cells whose places are remembered; of later ones only those that columns are made of are compared


class OrderCheck:
    """The places of the cells of a sheet, while they go by; most sheets have them in their order."""

    def __init__(self) -> None:
        self._last = -1
        self._kept: list[tuple[Positions, Positions]] = []  # rows and columns
        self._sorted: Positions = np.zeros(0, np.int64)  # the places of those that were kept before
        self._count = 0

    def check(self, rows: Positions, columns: Positions, width: int = 0) -> None:
        """Look at some more cells.

        Args:
            rows: of each.
            columns: of each.
            width: how many cells each row has, where all have cells of the same columns; otherwise 0.

        Raises:
            FormatError: a cell has been there already.
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
        """Look at some rows, all with cells of the same columns, and return the row after the last one.

        Raises:
            FormatError: a cell has been there already.
        """
        rows = np.arange(first, first + count)
        self.check(np.repeat(rows, len(columns)), np.tile(columns, count), len(columns))
        return first + count

    def _compare(self, places: Positions) -> None:
        if int(places[0]) <= self._last:
            if self._kept:
                later = [rows * MOST_COLUMNS + columns for rows, columns in self._kept]
                self._sorted = np.sort(np.concatenate([self._sorted, *later]), kind="stable")  # which merges
                self._kept = []
            places = np.sort(np.concatenate([self._sorted, places]), kind="stable")
        twice = places[1:][np.diff(places) == 0]
        if len(twice):
            row, column = divmod(int(twice.min()), MOST_COLUMNS)
            raise FormatError("the cell comes twice in the sheet", location=cell_address(row, column))
        self._last = max(self._last, int(places[-1]))
