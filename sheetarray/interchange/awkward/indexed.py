"""IndexedArray, ByteIndexedArray and SparseArray -> indexed and dense arrays.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/awkward0/array/indexed.py. awkward 2 has no sparse arrays:
they become dense, and their length is paid for like any other.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import FormatError
from .blobs import StoredBlob
from .builder import Builder, describe_value
from .items import read_elements
from .lists import to_bytes_array
from .packages import AwkwardLayout

_NUMBERS = "biufc"
_EXACT = {16: 2**11, 32: 2**24, 64: 2**53}  # integers up to it are floats of so many bits too


def indexed_array(build: Builder, index: Any, content: Any) -> AwkwardLayout:
    """`IndexedArray(index, content)`; an index of more dimensions gives lists of one size."""
    inner = build.to_layout(content, "content")
    numbers = build.to_integers(index, "index", inner.length)
    layout = build.simplifying_class("IndexedArray", build.to_index(numbers.reshape(-1)), inner)
    return build.check_measured(build.to_regular(layout, numbers.shape))


def byte_indexed_array(build: Builder, index: Any, content: Any, dtype: Any) -> AwkwardLayout:
    """`ByteIndexedArray(index, content, dtype)`, of version 0.5: the index is where elements begin, in bytes."""
    if not isinstance(dtype, np.dtype) or not dtype.itemsize:
        raise FormatError(f"dtype is {describe_value(dtype)}, not a dtype of some bytes")
    data = to_bytes_array(build, content)
    starts = build.to_integers(index, "index", max(len(data) - dtype.itemsize + 1, 0))
    build.budget.take(starts.size * dtype.itemsize * 9, "an index of bytes")
    places = starts.reshape(-1, 1) + np.arange(dtype.itemsize)
    array = read_elements(StoredBlob("content", data[places]), dtype, starts.size, build.budget)
    return build.to_layout(array.reshape(starts.shape + array.shape[1:]), "content")


def sparse_array(build: Builder, length: Any, index: Any, content: Any, default: Any = None) -> AwkwardLayout:
    """`SparseArray(length, index, content, default)`: what the index does not name is the default, or 0."""
    size = build.to_integer(length, "length")
    if size < 0:
        raise FormatError(f"a length of {size}")
    numbers = build.to_integers(index, "index", size, dimensions=1)
    if (numbers[1:] < numbers[:-1]).any():
        raise FormatError("an index that decreases")
    first = np.ones(len(numbers), bool)
    first[1:] = numbers[1:] != numbers[:-1]  # of elements that are there twice, the first counts
    if isinstance(content, (np.ndarray, StoredBlob)):
        array = build.to_array(content, "content")
        _check_length(len(numbers), len(array))
        return build.to_layout(_to_dense(build, size, numbers[first], array[: len(numbers)][first], default), "content")
    inner = build.to_layout(content, "content")
    _check_length(len(numbers), inner.length)
    if default is not None or not inner.is_list or inner.parameter("__array__") is not None:
        raise FormatError("a SparseArray of something else than numbers or lists, which is not read")
    build.budget.take(16 * size, "a sparse array")
    starts, stops = np.zeros(size, np.int64), np.zeros(size, np.int64)
    starts[numbers[first]] = np.asarray(inner.starts)[: len(numbers)][first]
    stops[numbers[first]] = np.asarray(inner.stops)[: len(numbers)][first]
    return build.check_measured(
        build.ak.contents.ListArray(build.to_index(starts), build.to_index(stops), inner.content)
    )


def _check_length(index: int, content: int) -> None:
    if index > content:
        raise FormatError(f"an index of {index} elements for a content of {content}")


def _to_dense(build: Builder, size: int, index: Array, content: Array, default: Any) -> Array:
    if content.dtype.kind not in _NUMBERS:
        raise FormatError(f"a SparseArray of the dtype {content.dtype}, which is not read; numbers are")
    filling = _fill_value(content, default)
    dtype = np.result_type(content.dtype, filling.dtype)
    if not (_holds_values(content, dtype) and _holds_values(filling, dtype)):
        raise FormatError(f"the default {default!r:.60} for a content of {content.dtype}, which no dtype holds both")
    build.budget.take(size * max(math.prod(content.shape[1:]), 1) * dtype.itemsize, "a sparse array")
    dense = np.empty((size, *content.shape[1:]), dtype)
    dense[...] = filling
    dense[index] = content
    return dense


def _fill_value(content: Array, default: Any) -> Array:
    """Return the default as an array, of the content's dtype where that holds it."""
    if default is None:
        return np.zeros((), content.dtype)
    if not isinstance(default, (bool, int, float, complex, np.ndarray, np.generic)):
        raise FormatError(f"the default is {describe_value(default)}, not a number")
    try:
        filling = np.asarray(default)
    except OverflowError as error:
        raise FormatError(f"the default is {describe_value(default)}, not a number of 64 bits") from error
    if filling.dtype.kind not in _NUMBERS or filling.shape not in ((), content.shape[1:]):
        raise FormatError(f"the default is {describe_value(default)}, not a number of 64 bits")
    return filling.astype(content.dtype) if _holds_values(filling, content.dtype) else filling


def _holds_values(array: Array, dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype has all the values of an array."""
    kind: str = array.dtype.kind
    if dtype == array.dtype or not array.size:
        return True
    if kind == "b" or (kind == "c" and dtype.kind != "c"):
        return kind == "b"
    if kind in "iu":
        limits: Any = np.iinfo(dtype) if dtype.kind in "iu" else None
        most = _EXACT.get(np.finfo(dtype).bits, 0) if limits is None and dtype.kind in "fc" else 0
        lowest, highest = (-most, most) if limits is None else (limits.min, limits.max)
        return bool(lowest <= int(array.min()) and int(array.max()) <= highest)
    if dtype.kind in "iu" and not bool((np.abs(array) <= _EXACT[64]).all()):
        return False
    with np.errstate(all="ignore"):
        return bool(np.array_equal(array.astype(dtype), array, equal_nan=True))
