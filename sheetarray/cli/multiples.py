"""Small multiples: several slices of an array beside each other in the terminal, in the same colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..dtypes import Array
from .pictures import draw_heat_map
from .slices import Indices, format_slice
from .values import Statistics

if TYPE_CHECKING:
    from rich.text import Text

MOST = 8  # pictures
_WIDTH = 24  # characters of a picture, at most
_LINES = 8  # lines of a picture, at most
_GAP = 3  # characters between pictures


def choose_slices(asked: Indices, seen: Indices, shape: Sequence[int]) -> list[Indices]:
    """Return the slices to be drawn beside each other: at up to eight indices along one axis, the first and the last
    among them.

    It is the longest of the axes that the user left open, but of which the picture above shows one index alone. There
    are no slices if no such axis is left.

    Args:
        asked: the indices that the user asked for.
        seen: the indices that are shown: all of two axes, one of each other.
        shape: of the array.

    Example:
        >>> whole = slice(None)
        >>> choose_slices((whole,) * 3, (1, whole, whole), (3, 4, 5))[-1]
        (2, slice(None, None, None), slice(None, None, None))
    """
    open_axes = {
        axis: range(shape[axis])[part]
        for axis, (part, index) in enumerate(zip(asked, seen, strict=True))
        if isinstance(part, slice) and not isinstance(index, slice)
    }
    if not open_axes:
        return []
    axis = max(open_axes, key=lambda axis: (len(open_axes[axis]), -axis))
    along = open_axes[axis]
    count = min(len(along), MOST)
    if count < 2:
        return []
    indices = [along[number * (len(along) - 1) // (count - 1)] for number in range(count)]
    return [(*seen[:axis], index, *seen[axis + 1 :]) for index in indices]


def draw_multiples(
    array: Array, slices: Sequence[Indices], numbers: Statistics, width: int, *, colours: bool, blocks: bool
) -> list[Text]:
    """Return the lines of pictures of some slices, each below what it is; all have the colours of the same statistics.

    Args:
        array: of numbers.
        slices: of two axes.
        numbers: of all the slices together.
        width: characters of a line.
        colours: whether the terminal has them.
        blocks: whether it has characters for blocks and dots.
    """
    from rich.text import Text

    beside = max(1, (width + _GAP) // (_WIDTH + _GAP))
    wide = min(_WIDTH, width)
    lines: list[Text] = []
    for first in range(0, len(slices), beside):
        row = []
        for indices in slices[first : first + beside]:
            picture = draw_heat_map(array[indices], numbers, wide, colours=colours, blocks=blocks, most_lines=_LINES)
            row.append([Text(_cut(format_slice(indices), wide), "dim"), *picture])
        for number in range(max(map(len, row))):
            line = Text()
            for after, cells in enumerate(row, 1):
                line.append_text(cells[number] if number < len(cells) else Text())
                if after < len(row):
                    line.append(" " * ((wide + _GAP) * after - line.cell_len))
            lines.append(line)
        lines.append(Text())
    return lines


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}~"


def stack_slices(array: Array, slices: Sequence[Indices]) -> Array:
    """Return the elements of some slices together, for statistics of them all."""
    return np.stack([array[indices] for indices in slices])
