"""The cells of a sheet that belong to no array: remarks that people type beside arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..dtypes import Mask, Positions
from ..elements import Cell, is_blank
from .grid import cell_address
from .words import Anchor


def mark_beside(anchors: Sequence[Anchor], rows: Positions, columns: Positions) -> Mask:
    """Return a mask of the cells that belong to no array; all cells below an array, from its name on, are its own.

    `anchors`: of all arrays of the sheet. `rows`, `columns`: of the cells.
    """
    beside = np.ones(len(rows), np.bool_)
    for is_column, lines, places in ((True, columns, rows), (False, rows, columns)):
        first_of_line: dict[int, int] = {}
        for anchor in anchors:
            if (anchor.orient == "columns") == is_column:
                first = max(anchor.first - anchor.blanks - 1, 0)
                first_of_line[anchor.line] = min(first, first_of_line.get(anchor.line, first))
        if first_of_line and len(lines):
            firsts = np.full(max(int(lines.max()), *first_of_line) + 1, np.iinfo(np.int64).max)
            firsts[[*first_of_line]] = [*first_of_line.values()]
            beside &= places < firsts[lines]
    return beside


def list_cell_texts(cells: Iterable[tuple[int, int, Cell]], title: str | None) -> dict[str, str]:
    """Return the texts of cells that are not blank, by their addresses.

    `cells`: their rows, their columns, and what they hold.
    """
    before = "" if title is None else f"{title}!"
    return {f"{before}{cell_address(row, column)}": str(cell) for row, column, cell in cells if not is_blank(cell)}
