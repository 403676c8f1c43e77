"""Awkward arrays as long tables for people: a row for each innermost element, and which entry it belongs to.

One way only: nothing is said of empty lists and of the types that lists and records had.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import DTypeError, LimitError
from .layouts import check_dtype, to_layout
from .packages import AwkwardLayout, awkward_module


@dataclass(frozen=True, slots=True)
class _Leaf:
    """Values, and the lists around them.

    Attributes:
        name: of the column.
        counts: how many elements each list has, from the outermost lists to the innermost.
        values: those of all lists, one after the other.
    """

    name: str
    counts: tuple[Array, ...]
    values: Array


def to_tidy(array: Any) -> dict[str, Array]:
    """Return a long table: the columns `entry`, `subentry`, `subsubentry` .., then one for each field.

    A list that is empty or missing has no row. A field outside of the lists is repeated. What is missing is NaN or NaT
    among floats and times, else None.

    Args:
        array: an `ak.Array`, or what else `serialize` takes.

    Returns:
        1-D arrays of one length, of dtypes that the exchange format holds.

    Raises:
        DTypeError: unions, bytes, or fields whose lists are of different lengths.
        LimitError: two columns would have one name.

    Example:
        >>> import awkward as ak
        >>> table = to_tidy(ak.Array([{"id": 7, "x": [1.5, 2.5]}, {"id": 8, "x": []}, {"id": 9, "x": [3.5]}]))
        >>> {name: column.tolist() for name, column in table.items()}
        {'entry': [0, 0, 2], 'subentry': [0, 1, 0], 'id': [7, 7, 9], 'x': [1.5, 2.5, 3.5]}
    """
    layout = to_layout(array, pack=True)
    leaves = list(_leaves(layout, (), ()))
    if not leaves:
        raise DTypeError("records without any field: there is nothing to put into a table")
    deepest = max(leaves, key=lambda leaf: len(leaf.counts))
    for leaf in leaves:
        for one, other in zip(leaf.counts, deepest.counts, strict=False):
            if not np.array_equal(one, other):
                raise DTypeError(
                    f"{leaf.name} and {deepest.name} have lists of different lengths, which share no rows: "
                    "write them one by one"
                )
    table = _entries(len(layout), deepest.counts)
    for leaf in leaves:
        if leaf.name in table:
            raise LimitError(f"two columns would have the name {leaf.name!r}: rename the field")
        values = leaf.values
        for counts in deepest.counts[len(leaf.counts) :]:
            values = np.repeat(values, counts)
        table[leaf.name] = values
    return table


def _entries(length: int, levels: tuple[Array, ...]) -> dict[str, Array]:
    columns = [np.arange(length)]
    for counts in levels:
        total = int(counts.sum())
        within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        columns = [*(np.repeat(column, counts) for column in columns), within]
    return {f"{'sub' * index}entry": column for index, column in enumerate(columns)}


def _leaves(layout: AwkwardLayout, path: tuple[str, ...], counts: tuple[Array, ...]) -> Iterator[_Leaf]:
    name = ".".join(path) or "values"
    if layout.is_union:
        raise DTypeError(f"{name}: a union of types has no column")
    if layout.is_option or layout.is_indexed:
        layout = _push_down(layout)
    if layout.is_record:
        for field, content in zip(layout.fields, layout.contents, strict=True):
            yield from _leaves(content[: len(layout)], (*path, field), counts)
    elif layout.is_list and layout.parameter("__array__") not in ("string", "bytestring"):
        lists = layout.to_ListOffsetArray64(True)
        offsets = lists.offsets.data
        yield from _leaves(lists.content[: offsets[-1]], path, (*counts, np.diff(offsets)))
    elif layout.is_numpy and layout.purelist_depth > 1:
        yield from _leaves(layout.to_RegularArray(), path, counts)
    else:
        yield _Leaf(name, counts, _values(layout, name))


def _push_down(layout: AwkwardLayout) -> AwkwardLayout:
    """Return the content of an option or an index, with missing lists made empty and missing fields missing."""
    contents = awkward_module().contents
    if not layout.is_option:
        return layout.project()
    option = layout.to_IndexedOptionArray64()
    index, content = option.index.data, option.content
    places = awkward_module().index.Index64(index)
    if content.is_record:
        fields = [contents.IndexedOptionArray.simplified(places, field[: len(content)]) for field in content.contents]
        return contents.RecordArray(fields, content.fields, length=len(index))
    if content.is_list and content.parameter("__array__") not in ("string", "bytestring"):
        lists = content.to_ListOffsetArray64(True)
        ends = [np.where(index < 0, 0, part[np.maximum(index, 0)]) for part in _last_of_lists(lists.offsets.data)]
        return contents.ListArray(*map(awkward_module().index.Index64, ends), lists.content)
    return contents.IndexedOptionArray(places, content)


def _last_of_lists(offsets: Array) -> tuple[Array, Array]:
    one = offsets if len(offsets) > 1 else np.zeros(2, np.int64)  # nothing to take from, where all are missing
    return one[:-1], one[1:]


def _values(layout: AwkwardLayout, name: str) -> Array:
    ak = awkward_module()
    missing = None
    if layout.is_option:
        missing = layout.index.data < 0
        layout = layout.project()
    if layout.parameter("__array__") == "bytestring":
        raise DTypeError(f"{name}: bytes have no column: decode them, or view them as numbers")
    if layout.is_unknown:
        values = np.zeros(len(layout))
    elif layout.is_list:
        values = np.array(ak.to_list(layout), dtype=np.str_) if len(layout) else np.zeros(0, "<U1")
    else:
        values = layout.data
        check_dtype(values.dtype)
    if missing is None:
        return values
    if values.dtype.kind in "fcmM":
        filled = np.full(len(missing), "NaT" if values.dtype.kind in "mM" else np.nan, values.dtype)
    else:
        filled = np.full(len(missing), None, dtype=object)
        values = values.astype(object)
    filled[~missing] = values
    return filled
