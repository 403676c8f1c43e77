"""The cells in which anchors are searched: those of a `Sheet`, or rows in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..elements import Cell
from .grid import CellGrid
from .sheet import Zone
from .words import Words


class HeaderCells(Protocol):
    """What the search for anchors needs of a sheet; every `Sheet` has it."""

    title: str | None

    def words(self) -> Words:
        """Return every cell that holds a word of a header."""

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of each zone."""


class GridSheet:
    """Rows of cells that are in memory, with those attributes of a sheet that the search for anchors uses."""

    title: str | None = None

    def __init__(self, grid: CellGrid) -> None:
        self.grid = grid

    def words(self) -> Words:
        """Return every cell that holds a word of a header."""
        return Words.from_grid(self.grid)

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of each zone."""
        return [cells_of_zone(self.grid, zone) for zone in zones]


def cells_of_zone(grid: CellGrid, zone: Zone) -> list[Cell]:
    """Return the cells of a zone of a grid, blanks where the grid has no cell; it may end with the grid."""
    if zone.orient == "rows":
        return list(grid[zone.row][zone.column : zone.column + zone.count]) if zone.row < len(grid) else []
    rows = grid[zone.row : zone.row + zone.count]
    return [cells[zone.column] if zone.column < len(cells) else None for cells in rows]
