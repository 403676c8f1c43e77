"""Groups columns of one dtype and style, whose cells are made together: by one call of the engine, not one for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...cells import TypedCells, buffer_to_typed
from ...columns import LayoutColumn
from ...dtypes import Buffer

EXACT = 10**15 - 1  # integers of more digits are text: spreadsheets keep fifteen
_ALONE = ("string", "generic", "complex")  # kinds whose cells are made by column: of any length, and may be refused


def group_alike(
    pieces: Iterable[tuple[int, LayoutColumn, int | None, int]],
) -> tuple[list[list[int]], list[int]]:
    """Return the groups of columns that can be made together, and the columns that are made one by one.

    Args:
        pieces: for each column its place, its part of an array, its style, and the number of elements to be made.
    """
    groups: dict[tuple[Any, int | None, int], list[int]] = {}
    alone = []
    for place, piece, style, count in pieces:
        if piece.dtype.kind in _ALONE:
            alone.append(place)
        else:
            groups.setdefault((piece.buffer.dtype, style, count), []).append(place)
    return list(groups.values()), alone


def typed_together(buffers: Sequence[Buffer], like: LayoutColumn, style: int | None, *, as_text: bool) -> TypedCells:
    """Return the cells of columns that are alike, row by row.

    Args:
        buffers: of each column the same number of elements.
        like: one of the columns.
        style: that all of them have.
        as_text: make every element text.
    """
    elements: Buffer = np.stack(buffers, axis=1).reshape(-1)
    return buffer_to_typed(elements, like.dtype, exact=EXACT, as_text=as_text, serials=style is not None)
