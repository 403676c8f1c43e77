"""Refuses a sheet in which a cell stands twice: no program writes that, and programs differ in which one they read."""

from __future__ import annotations

import numpy as np

from ....columns import cell_address
from ....dtypes import Positions
from ....errors import FormatError
from ...workbooks import MOST_COLUMNS
from .cells import CellRun

_MOST_KEPT = 2**20  # cells whose places are kept: a sheet of more cells has them in order


class OrderCheck:
    """Compares the places of the cells of a sheet as they are read; most sheets have their cells in order."""

    def __init__(self) -> None:
        self._last = -1
        self._kept: list[tuple[Positions, Positions]] = []  # rows and columns
        self._sorted: Positions = np.zeros(0, np.int64)  # places of cells that were kept earlier
        self._count = 0

    def check(self, cells: CellRun) -> None:
        """Compare the next cells of the sheet with all cells before them.

        Raises:
            FormatError: a cell stands twice in the sheet, or cells are in another order in a sheet of very many.
        """
        rows, columns = cells.rows, cells.columns
        last = int(rows[-1]) * MOST_COLUMNS + int(columns[-1])
        if int(rows[0]) * MOST_COLUMNS + int(columns[0]) <= self._last or not (
            cells.width or (np.diff(rows * MOST_COLUMNS + columns) > 0).all()
        ):
            if self._count + len(cells) > _MOST_KEPT:
                reason = f"the cells of this sheet are not in order, and it has more than {_MOST_KEPT:,}"
                place = cell_address(int(rows[0]), int(columns[0]))
                raise FormatError(reason, location=place, hint="save the workbook again in a spreadsheet program")
            places = [rows * MOST_COLUMNS + columns for rows, columns in [*self._kept, (rows, columns)]]
            self._sorted, self._kept = np.sort(np.concatenate([self._sorted, *places]), kind="stable"), []  # a merge
            twice = self._sorted[1:][np.diff(self._sorted) == 0]
            if len(twice):
                place = cell_address(*divmod(int(twice[0]), MOST_COLUMNS))
                raise FormatError("the cell occurs twice in the sheet", location=place)
            last = int(self._sorted[-1])
        elif self._count < _MOST_KEPT:
            self._kept.append((rows, columns))
        self._count += len(cells)
        self._last = max(self._last, last)
