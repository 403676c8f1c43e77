"""Makes the cells of columns of one dtype and style together: one call of the engine serves thousands of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...cells import TypedCells, buffer_to_typed
from ...columns import LayoutColumn
from ...errors import DTypeError

EXACT = 10**15 - 1  # integers of more digits are text: spreadsheets keep fifteen


class ColumnSpan(NamedTuple):
    """Some elements of a column.

    Attributes:
        place: the index of the column.
        piece: the column.
        style: of its numbers and booleans; None for the usual one, and for dates that are texts.
        first: the index of the first of the elements.
        size: their number.
    """

    place: int
    piece: LayoutColumn
    style: int | None
    first: int
    size: int


def make_cells_together(
    spans: Iterable[ColumnSpan], *, as_text: bool
) -> Iterator[tuple[TypedCells, int | None, list[ColumnSpan]]]:
    """Yield the cells of columns of one dtype and style, one column after the other; their style; and the columns.

    `spans`: the elements of which cells are made; columns without any are left out.

    Raises:
        DTypeError: an element that no cell holds; names the array.
    """
    groups: dict[tuple[Any, ...], list[ColumnSpan]] = {}
    for span in spans:
        if span.size:
            groups.setdefault((span.piece.dtype.name, span.piece.buffer.dtype, span.style), []).append(span)
    for some in groups.values():
        buffers = [piece.buffer[first : first + size] for _, piece, _, first, size in some]
        elements = buffers[0] if len(buffers) == 1 else np.concatenate(buffers)
        style, piece = some[0].style, some[0].piece
        how: dict[str, Any] = {"exact": EXACT, "as_text": as_text, "serials": style is not None}
        try:
            yield buffer_to_typed(elements, piece.dtype, **how), style, some
        except DTypeError:
            for _, refused, _, first, size in some:
                refused.to_typed(first, size, **how)
            raise
