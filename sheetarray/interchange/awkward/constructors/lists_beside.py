"""JaggedArray -> lists by what stands beside each element: a parent, a shared value, or its place in the list."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ....dtypes import Array
from ....errors import FormatError
from ..builder import Builder, describe_plain_value
from ..package import AwkwardLayout
from ..packed_sizes import packed_size
from .lists import jagged_array, jagged_array_from_offsets


def integers_beside(build: Builder, value: Any, what: str, length: int) -> Array:
    """Return one integer for each element of a content; it may be below 0."""
    array = build.to_array(value, what)
    if array.dtype.kind not in "iu" or array.shape != (length,):
        raise FormatError(f"{what} has the dtype {array.dtype} and the shape {array.shape}, not {length} integers")
    if array.size and int(array.max()) >= 2**63:
        raise FormatError(f"{what} has a value of more than 63 bits")
    build.budget.take(16 * array.size + 16, what)
    return np.ascontiguousarray(array, dtype=np.int64)


def begin_runs(array: Array) -> Array:
    """Return where each run of equal values begins, and the length of the array."""
    return np.concatenate([[0], np.flatnonzero(array[1:] != array[:-1]) + 1, [len(array)]])


def starts_by_parents(build: Builder, parents: Any, length: int) -> tuple[Array, Array]:
    """Return starts and stops of lists; the last run of a parent counts, and one below 0 is no parent."""
    numbers = integers_beside(build, parents, "parents", length)
    count = int(numbers.max(initial=-1)) + 1
    build.budget.take(24 * count, "as many lists as parents name")
    starts, stops = np.zeros(count, np.int64), np.zeros(count, np.int64)
    if length:
        runs = begin_runs(numbers)
        owners = numbers[runs[:-1]]
        real = owners >= 0
        starts[owners[real]], stops[owners[real]] = runs[:-1][real], runs[1:][real]
    return starts, stops


def jagged_array_from_parents(build: Builder, parents: Any, content: Any, length: Any = None) -> AwkwardLayout:  # noqa: ARG001  (awkward0 ignores it, too)
    """`JaggedArray.fromparents(parents, content)`: for each element the number of its list."""
    inner = build.to_layout(content, "content")
    return jagged_array(build, *starts_by_parents(build, parents, inner.length), inner)


def jagged_array_from_uniques(build: Builder, uniques: Any, content: Any) -> AwkwardLayout:
    """`JaggedArray.fromuniques(uniques, content)`: one list for each run of equal values."""
    inner = build.to_layout(content, "content")
    return jagged_array_from_offsets(build, begin_runs(integers_beside(build, uniques, "uniques", inner.length)), inner)


def jagged_array_from_local_index(build: Builder, index: Any, content: Any, validate: Any = True) -> AwkwardLayout:
    """`JaggedArray.fromlocalindex(index, content, validate)`: for each element its place in its list."""
    inner = build.to_layout(content, "content")
    counts = None
    if isinstance(index, build.ak.contents.Content):
        lists = lists_alone(build, index, "index")
        counts = np.asarray(lists.stops.data) - np.asarray(lists.starts.data)
        build.budget.take(packed_size(lists), "an index, side by side")
        index = build.ak.flatten(lists, axis=1, highlevel=False).to_backend_array()
    places = integers_beside(build, index, "index", inner.length)
    begin = np.flatnonzero(places == 0)
    offsets = np.append(begin, len(places))
    if build.to_flag(validate, "validate"):
        if (np.diff(places)[places[1:] != 0] != 1).any():
            raise FormatError("a local index that is not 0 must be one more than the one before")
        if counts is not None and not np.array_equal(np.diff(offsets), counts):
            raise FormatError("the lists of the local index are not those that it describes")
    return jagged_array_from_offsets(build, offsets, inner)


def jagged_array_from_jagged(build: Builder, jagged: Any) -> AwkwardLayout:
    """`JaggedArray.fromjagged(jagged)`: the same lists."""
    layout = build.to_layout(jagged, "jagged")
    if not layout.is_list:
        raise FormatError(f"jagged is {describe_plain_value(jagged)}, not lists")
    return layout


def jagged_array_from_folding(build: Builder, content: Any, size: Any) -> AwkwardLayout:
    """`JaggedArray.fromfolding(content, size)`: lists of one size; the last may be shorter."""
    inner = build.to_layout(content, "content")
    number = build.to_integer(size, "size")
    if number < 1:
        raise FormatError(f"the size is {number}, below 1")
    build.budget.take(16 * (inner.length // number) + 16, "offsets")
    offsets = np.append(np.arange(0, inner.length, min(number, 2**62)), inner.length)
    return jagged_array_from_offsets(build, offsets, inner)


def jagged_array_from_regular(build: Builder, regular: Any) -> AwkwardLayout:
    """`JaggedArray.fromregular(regular)`: lists within each other of an array of several dimensions."""
    array = build.to_array(regular, "regular")
    if array.ndim < 2 or not array.size:
        raise FormatError(f"regular has the shape {array.shape}, not elements in two dimensions or more")
    folded: Any = array.reshape(-1)
    for size in array.shape[:0:-1]:
        folded = jagged_array_from_folding(build, folded, size)
    return build.to_layout(folded, "regular")


def jagged_array_from_iter(build: Builder, iterable: Any) -> AwkwardLayout:
    """`JaggedArray.fromiter(iterable)`: lists, records, text and numbers of JSON."""
    values = build.to_sequence(iterable, "iterable")
    try:
        text = json.dumps(values, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise FormatError("iterable has values that JSON does not have") from error
    build.budget.take(32 * len(text), "values, as arrays")
    try:
        return build.check_measured(build.ak.from_json(text, highlevel=False))
    except ValueError as error:  # deeper than awkward reads
        raise FormatError(f"iterable is no array: {error!s:.200}") from error


def lists_alone(build: Builder, value: Any, what: str) -> AwkwardLayout:
    """Return lists of elements of one dimension, with starts and stops."""
    contents = build.ak.contents
    is_lists = isinstance(value, (contents.ListOffsetArray, contents.ListArray))
    if not is_lists or value.parameter("__array__") or not isinstance(value.content, contents.NumpyArray):
        raise FormatError(f"{what} is {describe_plain_value(value)}, not lists of numbers")
    return value
