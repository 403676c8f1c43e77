"""The table below which `values.append` writes."""

from __future__ import annotations

from .grid import SheetGrid
from .ranges import GridArea


def find_last_table(grid: SheetGrid, searched: GridArea) -> GridArea | None:
    """Return the last table of a range: the cells around its last one that is not blank; None if all are blank.

    It grows in each direction, even beyond the range, until the rows and columns around it are blank.
    """
    ends = [(len(cells), index) for index, cells in enumerate(grid.block(searched)) if cells]
    if not ends:
        return None
    length, index = max(ends)
    top = searched.top + length - 1
    left = searched.left + index
    bottom, right = top + 1, left + 1
    while True:
        before = (top, bottom, left, right)
        wide = range(max(0, left - 1), min(grid.columns, right + 1))
        while top and any(grid.cell(top - 1, column) is not None for column in wide):
            top -= 1
        while bottom < grid.rows and any(grid.cell(bottom, column) is not None for column in wide):
            bottom += 1
        first, last = max(0, top - 1), min(grid.rows, bottom + 1)
        if left and _find_filled(grid, left - 1, first, last):
            left -= 1
        if right < grid.columns and _find_filled(grid, right, first, last):
            right += 1
        if before == (top, bottom, left, right):
            return GridArea(top, bottom, left, right)


def _find_filled(grid: SheetGrid, column: int, top: int, bottom: int) -> bool:
    return bool(grid.column(column, top, bottom))
