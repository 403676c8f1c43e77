"""The cells of a sheet that belong to no array: remarks that people type beside arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from ..changes.conflicts import Remark
from ..dtypes import Mask, Positions
from ..elements import Cell, is_blank
from .grid import cell_address
from .words import Anchor

OtherCells = tuple[dict[str, str], set[str]]  # texts by the addresses of cells, and titles of sheets without arrays
_noted: ContextVar[list[OtherCells] | None] = ContextVar("_noted", default=None)


@contextmanager
def noting_other_cells(noted: list[OtherCells]) -> Iterator[None]:
    """Append to a list, for as long as the context lasts, the cells of each file read that belong to no array."""
    token = _noted.set(noted)
    try:
        yield
    finally:
        _noted.reset(token)


def note_other_cells(list_cells: Callable[[], OtherCells]) -> None:
    """Note the cells that belong to no array, if a context around the call asks for them."""
    if (noted := _noted.get()) is not None:
        noted.append(list_cells())


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


def find_remarks(before: Mapping[str, str], now: Mapping[str, str], *, is_one_format: bool) -> list[Remark]:
    """Return a remark on each cell that belongs to no array and holds another text than before.

    `before`, `now`: the texts of such cells, by their addresses. `is_one_format`: whether both files have one format;
    otherwise addresses say nothing, and only new texts are told.
    """
    texts_before = {*before.values()}
    if not is_one_format:
        return [Remark(cell, text) for cell, text in now.items() if text not in texts_before]
    changed = {cell: text for cell, text in now.items() if before.get(cell) != text}
    changed |= {cell: "" for cell in before if cell not in now}
    are_moved = len(changed) > len(before)
    return [Remark(cell, text) for cell, text in changed.items() if not are_moved or text not in texts_before]
