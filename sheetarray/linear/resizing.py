"""The length that cells have after people have added or deleted rows: one axis of an array changes."""

from __future__ import annotations

import math
from dataclasses import replace

from .header import Header, Order

# The length that cells have after people have added or deleted rows: one axis of an array changes.
NO_RESIZE_HINT = "move what stands below to another column"
RESIZE_HINT = "were rows added or deleted? resize=True reads the cells, sa.accept corrects the header"


def contiguous_strides(shape: tuple[int, ...], order: Order) -> tuple[int, ...]:
    """Return the strides, in elements, of an array whose elements lie side by side."""
    strides = []
    step = 1
    for size in reversed(shape) if order == "row-major" else shape:
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides)) if order == "row-major" else tuple(strides)


def find_slow_axis(header: Header) -> int | None:
    """Return the axis whose length may change: that which varies slowest in the buffer. None if no axis may.

    An array of no dimensions has none; nor has one in several columns, or whose elements do not lie side by side.
    """
    if not header.shape or header.part is not None or header.offset or header.capacity != header.length:
        return None
    if header.strides != contiguous_strides(header.shape, header.order):
        return None
    axis = 0 if header.order == "row-major" else len(header.shape) - 1
    return axis if math.prod(header.shape[:axis] + header.shape[axis + 1 :]) else None


def count_rows(header: Header) -> tuple[int, int] | None:
    """Return the number of rows of an array, and of the elements in each; None if it cannot be resized."""
    axis = find_slow_axis(header)
    if axis is None:
        return None
    return header.shape[axis], math.prod(header.shape[:axis] + header.shape[axis + 1 :])


def resize_header(header: Header, elements: int) -> Header | None:
    """Return the header of the same array with so many elements; None if no axis can take them.

    Raises:
        FormatError: an array of that size needs more memory than any machine has.

    Example:
        >>> from sheetarray import LinearArray
        >>> import numpy as np
        >>> header = LinearArray.from_numpy(np.zeros((4, 3))).header
        >>> resize_header(header, 15).shape, resize_header(header, 14)
        ((5, 3), None)
    """
    axis, rows = find_slow_axis(header), count_rows(header)
    if axis is None or rows is None or elements % rows[1]:
        return None
    shape = (*header.shape[:axis], elements // rows[1], *header.shape[axis + 1 :])
    return replace(header, shape=shape, strides=contiguous_strides(shape, header.order), capacity=elements)


def resize_hint(header: Header, elements: int) -> str:
    """Return advice for an array whose column holds so many elements, while its header says another number."""
    if (rows := count_rows(header)) is None:
        return NO_RESIZE_HINT if elements > header.capacity else ""
    if elements % rows[1]:
        return f"resize=True takes whole rows of {rows[1]} elements, and {elements} is not a multiple of {rows[1]}"
    return RESIZE_HINT
