"""Makes the cells of columns of one dtype and style together: one call of the engine serves thousands of columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..columns import LayoutColumn
from ..elements import TypedCells, buffer_to_typed
from ..errors import DTypeError
from .workbooks import EXACT_INTEGER


class ColumnSpan(NamedTuple):
    """Some elements of a column."""

    place: int  # the index of the column
    piece: LayoutColumn  # the column
    style: int | None  # of its numbers and booleans; None for the usual one, and for dates that are texts
    first: int  # the index of the first of the elements
    size: int  # their number


def make_cells_together(
    spans: Iterable[ColumnSpan], *, as_text: bool
) -> list[tuple[TypedCells, int | None, list[ColumnSpan]]]:
    """Return the cells of columns of one dtype and style, one column after the other; their style; and the columns.

    Columns without any are left out. An element that no cell holds is a DTypeError that names the array.
    """
    groups: dict[tuple[Any, ...], list[ColumnSpan]] = {}
    for span in spans:
        if span.size:
            key = span.piece.dtype.name, span.piece.buffer.dtype, span.style, span.piece.nulls is not None
            groups.setdefault(key, []).append(span)
    cells_of_groups = []
    for group_spans in groups.values():
        buffers = [piece.buffer[first : first + size] for _, piece, _, first, size in group_spans]
        elements = buffers[0] if len(buffers) == 1 else np.concatenate(buffers)
        style, piece = group_spans[0].style, group_spans[0].piece
        how: dict[str, Any] = {"exact": EXACT_INTEGER, "as_text": as_text, "serials": style is not None}
        try:
            cells = buffer_to_typed(elements, piece.dtype, **how)
        except DTypeError:
            for _, refused, _, first, size in group_spans:
                refused.to_typed(first, size, **how)
            raise
        masks = [nulls[at : at + size] for _, piece, _, at, size in group_spans if (nulls := piece.nulls) is not None]
        if masks:
            cells = cells.with_null(np.concatenate(masks), piece.null)
        cells_of_groups.append((cells, style, group_spans))
    return cells_of_groups
