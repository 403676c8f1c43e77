"""Reads back the cells that a write has put into a worksheet, and compares them one by one with those that it sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...columns import Layout
from ...elements import Cell
from .address import Rect
from .body import find_difference, to_cells
from .changes import Swap
from .fetch import fetch_values
from .plan import PlacedColumn
from .requests import SheetsApi
from .retries import RefusedError
from .state import fetch_state

_CELLS_A_REQUEST = 100_000  # about 2 MB of doubles


@dataclass(frozen=True, slots=True)
class CellDifference:
    """A cell that is another one than was written.

    Attributes:
        element: the name of the array, and the number of the element in its buffer.
        sent: the cell that was written.
        kept: the cell that stands there.
    """

    element: str
    sent: Cell
    kept: Cell

    def __str__(self) -> str:
        return f"{self.element}: the service keeps {self.sent!r:.60} as {self.kept!r:.60}"


def to_difference(
    layout: Layout, placed: PlacedColumn, start: int, sent: Sequence[Cell], kept: Sequence[Cell]
) -> CellDifference | None:
    """Return the first difference between cells of a column, from its cell `start` on; None if they are equal."""
    wrong = find_difference(sent, kept)
    if wrong is None:
        return None
    piece = layout.pieces[placed.index]
    index = start + wrong - len(piece.cells_above(named=placed.named))
    where = f"{piece.name}, buffer element {piece.start + index}" if index >= 0 else piece.name
    return CellDifference(where, _cell_or_blank(sent, wrong), _cell_or_blank(kept, wrong))


def find_change(
    service: SheetsApi, title: str, layout: Layout, placed_columns: Sequence[PlacedColumn], swap: Swap
) -> CellDifference | None:
    """Return the first cell of a worksheet that is not what a write has put there.

    Nothing is compared once somebody else has written: what stands there is theirs.

    Args:
        service: the spreadsheet.
        title: of the worksheet.
        layout: what was written.
        placed_columns: the columns of the layout, and the cells to which they were written.
        swap: of the write.
    """
    for batch in _batches(placed_columns):
        rects = [
            Rect(placed.row + start, placed.column, placed.row + stop, placed.column + 1)
            for placed, start, stop in batch
        ]
        try:
            fetched = [columns for _, columns in fetch_values(service, [(title, rect) for rect in rects])]
        except RefusedError:  # it has been renamed, removed or cut off: by somebody else
            return None
        for (placed, start, stop), columns in zip(batch, fetched, strict=True):
            sent = _sent_cells(layout, placed, start, stop)
            difference = to_difference(layout, placed, start, sent, columns[0] if columns else [])
            if difference is not None:
                return difference if swap.is_last(fetch_state(service)) else None
    return None


def _batches(placed_columns: Sequence[PlacedColumn]) -> Iterator[list[tuple[PlacedColumn, int, int]]]:
    """Yield runs of cells of columns, in batches for a request each."""
    batch: list[tuple[PlacedColumn, int, int]] = []
    count = 0
    for placed in placed_columns:
        height = (placed.cells.bottom or 0) - placed.row
        for start in range(0, height, _CELLS_A_REQUEST):
            stop = min(start + _CELLS_A_REQUEST, height)
            if batch and count + stop - start > _CELLS_A_REQUEST:
                yield batch
                batch, count = [], 0
            batch.append((placed, start, stop))
            count += stop - start
    if batch:
        yield batch


def _sent_cells(layout: Layout, placed: PlacedColumn, start: int, stop: int) -> list[Cell]:
    """Return some cells of a column, its name and its header among them."""
    piece = layout.pieces[placed.index]
    head = piece.cells_above(named=placed.named)
    first = max(start - len(head), 0)
    return [*head[start:stop], *to_cells(piece, first, max(stop - len(head) - first, 0))]


def _cell_or_blank(cells: Sequence[Cell], index: int) -> Cell:
    return cells[index] if index < len(cells) else ""
