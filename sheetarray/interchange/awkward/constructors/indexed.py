"""IndexedArray, ByteIndexedArray and SparseArray -> arrays whose elements are taken by index."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....dtypes import Array
from ....errors import FormatError
from ..blob_dtypes import read_blob_elements
from ..blobs import StoredBlob
from ..builder import Builder, describe_plain_value
from ..package import AwkwardLayout
from .byte_lists import to_bytes_array

_NUMBERS = "biufc"
EXACT = 2**53  # integers up to it are floats too


def indexed_array(build: Builder, index: Any, content: Any) -> AwkwardLayout:
    """`IndexedArray(index, content)`; an index of more dimensions gives lists of one size."""
    inner = build.to_layout(content, "content")
    numbers = build.to_integers(index, "index", inner.length)
    layout = build.simplifying_class("IndexedArray", build.to_index(numbers.reshape(-1)), inner)
    return build.check_measured(build.to_regular(layout, numbers.shape))


def byte_indexed_array(build: Builder, index: Any, content: Any, dtype: Any) -> AwkwardLayout:
    """`ByteIndexedArray(index, content, dtype)`, of version 0.5: the index is where elements begin, in bytes."""
    if not isinstance(dtype, np.dtype) or not dtype.itemsize:
        raise FormatError(f"dtype is {describe_plain_value(dtype)}, not a dtype of some bytes")
    data = to_bytes_array(build, content)
    starts = build.to_integers(index, "index", max(len(data) - dtype.itemsize + 1, 0))
    build.budget.take(starts.size * dtype.itemsize * 9, "an index of bytes")
    places = starts.reshape(-1, 1) + np.arange(dtype.itemsize)
    array = read_blob_elements(StoredBlob("content", data[places]), dtype, starts.size, build.budget)
    return build.to_layout(array.reshape(starts.shape + array.shape[1:]), "content")


def sparse_array(build: Builder, length: Any, index: Any, content: Any, default: Any = None) -> AwkwardLayout:
    """`SparseArray(length, index, content, default)`: what the index does not name is the default, or 0.

    awkward 2 has no sparse arrays: they become dense, and their length is paid for like any other.
    """
    size = build.to_integer(length, "length")
    if size < 0:
        raise FormatError(f"the length is {size}, below 0")
    numbers = build.to_integers(index, "index", size, dimensions=1)
    if (numbers[1:] < numbers[:-1]).any():
        raise FormatError("the index must not decrease")
    first = np.ones(len(numbers), bool)
    first[1:] = numbers[1:] != numbers[:-1]  # of elements that are there twice, the first counts
    inner = build.to_array(content, "content")
    if len(numbers) > len(inner):
        raise FormatError(f"the index has {len(numbers)} elements, but the content has only {len(inner)}")
    return build.to_layout(_to_dense(build, size, numbers[first], inner[: len(numbers)][first], default), "content")


def _to_dense(build: Builder, size: int, index: Array, content: Array, default: Any) -> Array:
    if content.dtype.kind not in _NUMBERS:
        raise FormatError(f"a SparseArray of the dtype {content.dtype}: it must hold numbers")
    filling = np.asarray(False if default is None else default)
    if filling.dtype.kind not in _NUMBERS or filling.shape not in ((), content.shape[1:]):
        raise FormatError(f"the default is {describe_plain_value(default)}, not a number of 64 bits")
    dtypes = (content.dtype, np.result_type(content.dtype, filling.dtype))
    fitting = [dtype for dtype in dtypes if _holds_values(content, dtype) and _holds_values(filling, dtype)]
    if not fitting:
        raise FormatError(f"the default {default!r:.60} for a content of {content.dtype}, which no dtype holds both")
    build.budget.take(size * max(math.prod(content.shape[1:]), 1) * fitting[0].itemsize, "a sparse array")
    dense = np.empty((size, *content.shape[1:]), fitting[0])
    dense[...] = filling
    dense[index] = content
    return dense


def _holds_values(array: Array, dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype has all the values of an array of numbers."""
    kind: str = array.dtype.kind
    if dtype == array.dtype or not array.size or kind == "b":
        return True
    if kind in "iu":
        most = 2 ** (np.finfo(dtype).nmant + 1) if dtype.kind in "fc" else 0
        limits = np.iinfo(dtype) if dtype.kind in "iu" else None
        lowest, highest = (-most, most) if limits is None else (limits.min, limits.max)
        return bool(lowest <= int(array.min()) and int(array.max()) <= highest)
    if kind == "c" and dtype.kind != "c":
        return False
    if dtype.kind in "iu" and not bool((np.abs(array) <= EXACT).all()):
        return False
    with np.errstate(all="ignore"):
        return bool(np.array_equal(array.astype(dtype), array, equal_nan=True))
