"""ByteJaggedArray, of version 0.5 of awkward0 -> lists of bytes, of which strings are made too."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dtypes import Array
from ....errors import FormatError
from ..blob_dtypes import read_blob_elements
from ..blobs import StoredBlob
from ..builder import Builder, describe_plain_value
from ..package import AwkwardLayout
from .lists import Shape, in_shape, lists_by_counts, lists_by_offsets, lists_by_starts


def to_bytes_array(build: Builder, content: Any) -> Array:
    """Return the content of strings, or of a ByteJaggedArray: an array of one dimension, as bytes."""
    array = build.to_array(content, "content")
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise FormatError(f"content of the dtype {array.dtype} and {array.ndim} dimensions; bytes are expected")
    array_bytes: Array = np.ascontiguousarray(array).view(np.uint8)
    return array_bytes


def bytes_layout(build: Builder, content: Any) -> AwkwardLayout:
    """Return bytes as a layout of one dimension."""
    return build.ak.contents.NumpyArray(to_bytes_array(build, content))


def gather_bytes(build: Builder, lists: AwkwardLayout) -> tuple[Array, Array]:
    """Return the bytes of lists side by side, and their offsets, which begin with 0."""
    if hasattr(lists, "offsets"):
        offsets = lists.offsets.data
        first, last = int(offsets[0]), int(offsets[-1])
        return lists.content.data[first:last], offsets - first if first else offsets
    counts = lists.stops.data - lists.starts.data
    total = int(counts.sum(dtype=np.uint64)) if len(counts) else 0
    build.budget.take(8 * len(counts) + 8, "offsets")
    build.budget.take(17 * total, "elements of lists, put side by side")
    packed = lists.to_ListOffsetArray64(True)
    return packed.content.data[:total], packed.offsets.data


def byte_jagged_array(build: Builder, starts: Any, stops: Any, content: Any, subdtype: Any) -> AwkwardLayout:
    """`ByteJaggedArray(starts, stops, content, subdtype)`, of version 0.5."""
    return _typed_lists(build, *lists_by_starts(build, starts, stops, bytes_layout(build, content)), subdtype)


def byte_jagged_array_from_counts(build: Builder, counts: Any, content: Any, subdtype: Any) -> AwkwardLayout:
    """`ByteJaggedArray.fromcounts(counts, content, subdtype)`, of version 0.5."""
    return _typed_lists(build, *lists_by_counts(build, counts, bytes_layout(build, content)), subdtype)


def byte_jagged_array_from_offsets(build: Builder, offsets: Any, content: Any, subdtype: Any) -> AwkwardLayout:
    """`ByteJaggedArray.fromoffsets(offsets, content, subdtype)`, of version 0.5."""
    return _typed_lists(build, *lists_by_offsets(build, offsets, bytes_layout(build, content)), subdtype)


def _typed_lists(build: Builder, lists: AwkwardLayout, shape: Shape, subdtype: Any) -> AwkwardLayout:
    if not isinstance(subdtype, np.dtype) or not subdtype.itemsize:
        raise FormatError(f"subdtype is {describe_plain_value(subdtype)}, not a dtype of some bytes")
    gathered, offsets = gather_bytes(build, lists)
    if (offsets % subdtype.itemsize).any():
        raise FormatError(f"lists of bytes whose lengths are not multiples of the {subdtype.itemsize} of {subdtype}")
    blob = StoredBlob("content", np.ascontiguousarray(gathered))
    array = read_blob_elements(blob, subdtype, len(gathered) // subdtype.itemsize, build.budget)
    build.budget.take(offsets.nbytes, "offsets")
    index = build.to_index(offsets // subdtype.itemsize)
    return in_shape(build, build.ak.contents.ListOffsetArray(index, build.to_layout(array, "content")), shape)
