"""IndexedArray, ByteIndexedArray and SparseArray -> indexed and dense arrays.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/awkward0/array/indexed.py. awkward 2 has no sparse arrays:
they become dense, and their length is paid for like any other.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import FormatError
from .blobs import Blob
from .builder import Array, Builder, Content, said
from .items import elements
from .lists import bytes_of

_NUMBERS = "biufc"
_EXACT = {16: 2**11, 32: 2**24, 64: 2**53}  # integers up to it are floats of so many bits too


def indexed_array(build: Builder, index: Any, content: Any) -> Content:
    """`IndexedArray(index, content)`; an index of more dimensions gives lists of one size."""
    inner = build.layout(content, "content")
    numbers = build.integers(index, "index", inner.length)
    found = build.simplified("IndexedArray", build.index(numbers.reshape(-1)), inner)
    return build.measured(build.regular(found, numbers.shape))


def byte_indexed_array(build: Builder, index: Any, content: Any, dtype: Any) -> Content:
    """`ByteIndexedArray(index, content, dtype)`, of version 0.5: the index is where elements begin, in bytes."""
    if not isinstance(dtype, np.dtype) or not dtype.itemsize:
        raise FormatError(f"dtype is {said(dtype)}, not a dtype of some bytes")
    data = bytes_of(build, content)
    starts = build.integers(index, "index", max(len(data) - dtype.itemsize + 1, 0))
    build.budget.take(starts.size * dtype.itemsize * 9, "an index of bytes")
    places = starts.reshape(-1, 1) + np.arange(dtype.itemsize)
    array = elements(Blob("content", data[places]), dtype, starts.size, build.budget)
    return build.layout(array.reshape(starts.shape + array.shape[1:]), "content")


def sparse_array(build: Builder, length: Any, index: Any, content: Any, default: Any = None) -> Content:
    """`SparseArray(length, index, content, default)`: what the index does not name is the default, or 0."""
    size = build.integer(length, "length")
    if size < 0:
        raise FormatError(f"a length of {size}")
    numbers = build.integers(index, "index", size, dimensions=1)
    if (numbers[1:] < numbers[:-1]).any():
        raise FormatError("an index that decreases")
    first = np.ones(len(numbers), bool)
    first[1:] = numbers[1:] != numbers[:-1]  # of elements that are there twice, the first counts
    if isinstance(content, (np.ndarray, Blob)):
        array = build.array(content, "content")
        _check_length(len(numbers), len(array))
        return build.layout(_dense(build, size, numbers[first], array[: len(numbers)][first], default), "content")
    inner = build.layout(content, "content")
    _check_length(len(numbers), inner.length)
    if default is not None or not inner.is_list or inner.parameter("__array__") is not None:
        raise FormatError("a SparseArray of something else than numbers or lists, which is not read")
    build.budget.take(16 * size, "a sparse array")
    starts, stops = np.zeros(size, np.int64), np.zeros(size, np.int64)
    starts[numbers[first]] = np.asarray(inner.starts)[: len(numbers)][first]
    stops[numbers[first]] = np.asarray(inner.stops)[: len(numbers)][first]
    return build.measured(build.ak.contents.ListArray(build.index(starts), build.index(stops), inner.content))


def _check_length(index: int, content: int) -> None:
    if index > content:
        raise FormatError(f"an index of {index} elements for a content of {content}")


def _dense(build: Builder, size: int, index: Array, content: Array, default: Any) -> Array:
    if content.dtype.kind not in _NUMBERS:
        raise FormatError(f"a SparseArray of the dtype {content.dtype}, which is not read; numbers are")
    filling = _filling(content, default)
    dtype = np.result_type(content.dtype, filling.dtype)
    if not (_same(content, dtype) and _same(filling, dtype)):
        raise FormatError(f"the default {default!r:.60} for a content of {content.dtype}, which no dtype holds both")
    build.budget.take(size * max(math.prod(content.shape[1:]), 1) * dtype.itemsize, "a sparse array")
    found = np.empty((size, *content.shape[1:]), dtype)
    found[...] = filling
    found[index] = content
    return found


def _filling(content: Array, default: Any) -> Array:
    """The default as an array, of the content's dtype where that holds it."""
    if default is None:
        return np.zeros((), content.dtype)
    if not isinstance(default, (bool, int, float, complex, np.ndarray, np.generic)):
        raise FormatError(f"the default is {said(default)}, not a number")
    try:
        filling = np.asarray(default)
    except OverflowError as error:
        raise FormatError(f"the default is {said(default)}, not a number of 64 bits") from error
    if filling.dtype.kind not in _NUMBERS or filling.shape not in ((), content.shape[1:]):
        raise FormatError(f"the default is {said(default)}, not a number of 64 bits")
    return filling.astype(content.dtype) if _same(filling, content.dtype) else filling


def _same(array: Array, dtype: np.dtype[Any]) -> bool:
    """Whether a dtype has all the values of an array."""
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
