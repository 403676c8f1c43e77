"""An n-d array as a view on a 1-D buffer, by its shape, strides and offset, and the way back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from .. import dtypes
from ..errors import FormatError
from .header import Header, memory_error
from .resizing import contiguous_strides


def is_column_major(array: np.ndarray[Any, Any]) -> bool:
    """Return whether an array's own order is column-major: it lies so in memory, and not in row-major order as well."""
    return array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous


def ravel_in_order(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the elements of an array in its own order, the order of the buffer that it was read from."""
    return array.ravel(order="F" if is_column_major(array) else "C")


def iter_rest(
    arrays: MutableMapping[str, np.ndarray[Any, Any]], done: Mapping[str, int]
) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Yield names of arrays that were read whole, each with the elements that are still to be given, in its order.

    `arrays`: all that are named in `done`; each is taken out, so that none stays in memory for the others. `done`: how
    many elements of each have been given, piece by piece.
    """
    for name, count in done.items():
        yield name, ravel_in_order(arrays.pop(name))[count:]


def view_of(header: Header, buffer: np.ndarray[tuple[int], np.dtype[Any]]) -> np.ndarray[Any, Any]:
    """Return the array that a header describes: a view on its buffer, or a copy for `StringDType` with unusual strides.

    Raises:
        FormatError: a shape that no memory could hold, or text whose elements overlap in the buffer.
    """
    shape = header.shape
    length = header.length
    try:
        if len(shape) == 1 and header.strides == (1,) and len(buffer) >= header.offset + length:
            return buffer[header.offset : header.offset + length]  # most arrays, of which there may be very many
        if header.strides == contiguous_strides(shape, header.order):
            side_by_side = buffer[header.offset : header.offset + length]
            return side_by_side.reshape(shape, order="F" if header.order == "column-major" else "C")
        return _strided_view(header, buffer)
    except ValueError as error:
        if isinstance(error, FormatError):
            raise
        raise memory_error(f"an array of the shape {shape}") from error


def _strided_view(header: Header, buffer: np.ndarray[tuple[int], np.dtype[Any]]) -> np.ndarray[Any, Any]:
    """Return the array of a header with unusual strides."""
    if buffer.dtype.kind == "T":
        return _text_view(header, buffer)
    size, length = buffer.dtype.itemsize, header.length
    start = buffer[header.offset :] if length else buffer
    walked = [count > 1 and length > 0 for count in header.shape]  # no other stride is ever taken
    strides = [stride * size if walk else 0 for stride, walk in zip(header.strides, walked, strict=True)]
    view: np.ndarray[Any, Any] = as_strided(start, header.shape, strides, writeable=buffer.flags.writeable)
    return view


def base_buffer(array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], int, tuple[int, ...]] | None:
    """Return the buffer under a view as a 1-D array of the view's dtype, with offset and strides in elements.

    None if the base lies in memory in steps that are no multiple of the size of an element.
    """
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    if root.dtype.kind == "V" or (array.dtype.hasobject and root.dtype != array.dtype):
        return None
    size, unit = array.dtype.itemsize, root.dtype.itemsize
    low, high = byte_bounds(root)
    first: int = array.__array_interface__["data"][0]
    if any(step % size for step in (high - low, first - low, *array.strides)) or (high - low) % unit:
        return None
    ends = (slice(-1, None) if stride < 0 else slice(0, 1) for stride in root.strides)
    lowest = root[(..., *ends)].reshape(1)
    buffer = as_strided(lowest, ((high - low) // unit,), (unit,), writeable=root.flags.writeable).view(array.dtype)
    return buffer, (first - low) // size, tuple(stride // size for stride in array.strides)


def _text_view(header: Header, buffer: np.ndarray[tuple[int], np.dtype[Any]]) -> np.ndarray[Any, Any]:
    """Return a copy of an array of `StringDType` whose elements do not lie side by side: NumPy makes no view of it."""
    shape = tuple(
        min(size, 1) if stride == 0 else size for size, stride in zip(header.shape, header.strides, strict=True)
    )
    if math.prod(shape) > header.capacity:
        raise FormatError(
            "the strides let elements overlap, which text of several widths cannot do",
            hint="write the array without base=True",
        )
    places = view_of(replace(header, dtype=dtypes.from_name("int64"), shape=shape), np.arange(header.capacity))
    return np.broadcast_to(buffer[places], header.shape)
