"""Groups the arrays that share rows, and pairs their rows before and now."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import Array, Mask, Positions
from ..errors import FormatError, quote_names
from .elements import find_changes, have_same_bytes
from .explain import explain_arrays
from .merged_groups import row_axis
from .merged_rows import map_merged_rows
from .rows import (
    RowMap,
    align_labels,
    align_tables,
    content_key,
    is_ascending,
    label_keys,
    pair_typed_over,
    to_rows,
)
from .sorted_rows import SortedRows, find_sorted


def align_rows(a: Array, b: Array) -> RowMap | None:
    """Return the pairs of rows that belong together; None if several axes changed, or no row of A is in B.

    Rows are those along the one axis whose length changed. One that stands elsewhere was deleted and inserted again.

    Example:
        >>> aligned = align_rows(np.array([1, 2, 3]), np.array([1, 7, 2, 3]))
        >>> aligned.added, aligned.deleted
        ([1], [])
    """
    axes = [axis for axis, sizes in enumerate(zip(a.shape, b.shape, strict=False)) if sizes[0] != sizes[1]]
    if a.ndim != b.ndim or len(axes) != 1 or a.dtype.kind + b.dtype.kind in ("UO", "OU"):
        return None
    if not a.size or not b.size:
        return None
    axis = axes[0]
    name, (before, now) = _to_one_dtype(to_rows(a, axis), to_rows(b, axis))
    dtype = dtypes.from_name(name)
    rows = align_tables([(before, dtype)], [(now, dtype)])
    sources = np.where(rows.moved, -1, rows.sources)
    return RowMap(sources, a.shape[axis], axis) if (sources >= 0).any() else None


_MOST_PLACED = 1000  # rows with elements that cannot be read, each of which is looked for among the rows before
_MOST_ALIGNED = 2**24  # elements of the arrays of a group that are looked at for rows that belong together


@dataclass(frozen=True, slots=True)
class LabelGroup:
    """Arrays whose rows along one dimension are told apart by labels.

    Attributes:
        levels: the arrays that label the rows.
        axes: of each array the axis along which they lie.
    """

    levels: Sequence[str]
    axes: Mapping[str, int]


@dataclass(slots=True)
class GroupedRows:
    """The matched rows of many arrays: which row of today is which row of before.

    Attributes:
        maps: by array the maps of its rows, each along another axis; none if they stand where they stood.
        sorted_rows: the groups of arrays whose rows stand in another order.
    """

    maps: dict[str, list[RowMap]] = field(default_factory=dict)
    sorted_rows: list[SortedRows] = field(default_factory=list)


def group_by_key(
    pairs: Mapping[str, tuple[Any, Any]], common: Sequence[str], key: Sequence[str], members: Collection[str]
) -> LabelGroup:
    """Return the group of arrays whose rows are found by a key column. `members`: the arrays that may belong to it."""
    if not all(is_level(pairs, name) for name in key) or len({tuple(map(len, pairs[name])) for name in key}) > 1:
        raise FormatError(f"the key needs arrays of one dimension and of one length, unlike {quote_names(key)}")
    counts = tuple(map(len, pairs[key[0]]))
    axes: dict[str, int] = {}
    for name in common:
        a, b = pairs[name]
        if name not in members or not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
            continue
        if not a.ndim or a.ndim != b.ndim:
            continue
        candidates = [row_axis(a), *range(a.ndim)]
        matching = [axis for axis in candidates if (a.shape[axis], b.shape[axis]) == counts]
        axes |= {name: matching[0]} if matching else {}
    return LabelGroup(list(key), axes)


def is_level(pairs: Mapping[str, tuple[Any, Any]], name: str) -> bool:
    """Return whether an array is there, before and now, and has one dimension, so that it may label rows."""
    return name in pairs and all(isinstance(variable, np.ndarray) and variable.ndim == 1 for variable in pairs[name])


def map_rows(
    pairs: Mapping[str, tuple[Any, Any]],
    groups: Sequence[LabelGroup] = (),
    *,
    is_key: bool = False,
    unreadable: Mapping[str, Array | None] | None = None,
    places: Mapping[str, Hashable] | None = None,
    tables: Collection[Hashable] = (),
) -> GroupedRows:
    """Match the rows of arrays before and after: by labels where arrays have them, else by the content of all arrays
    that share rows.

    `pairs`: arrays as they were and as they are, by name. `groups`: arrays with labels. `is_key`: whether rows belong
    together only where the labels are equal. `unreadable`: of arrays that have cells which cannot be read, the
    errors of those that are there now, None for all other elements. `places`: where each array stands; arrays of
    different places do not share rows. `tables`: the places at which arrays are columns of a table, whose rows stay
    together; None stands for arrays without a place.
    """
    grouped, unreadable = GroupedRows(), unreadable or {}
    rest = dict(pairs)
    for group in groups:
        if not group.axes or any(level in unreadable for level in group.levels):
            continue
        aligned = align_labelled(pairs, group.axes, group.levels, is_key=is_key)
        if aligned is None:
            continue
        grouped.sorted_rows += aligned[0]
        for name in group.axes:
            if name in aligned[1]:
                grouped.maps.setdefault(name, []).append(aligned[1][name])
            if name in aligned[1] or pairs[name][0].shape == pairs[name][1].shape:
                rest.pop(name, None)
    sorted_rows, maps = align_tables_of(rest, places, unreadable, tables)
    grouped.sorted_rows += sorted_rows
    grouped.maps |= {name: [rows] for name, rows in maps.items()}
    return grouped


def align_tables_of(
    pairs: Mapping[str, tuple[Any, Any]],
    places: Mapping[str, Hashable] | None = None,
    unreadable: Mapping[str, Array | None] | None = None,
    tables: Collection[Hashable] = (),
) -> tuple[list[SortedRows], dict[str, RowMap]]:
    """Match the rows of whole tables; return the groups whose rows have another order now, and the row map of each
    array.

    Arrays that have as many rows, before and now alike, are a group: what one of them does not tell, the others do. An
    array that was sorted alone has a map of its own, unless it is a column of one of the `tables`.

    Example:
        >>> before, now = (np.array([3, 1, 2]), np.array([1, 3])), (np.array([7, 8, 7]), np.array([8, 7]))
        >>> sorted_rows, rows = align_tables_of({"t": before, "u": now})
        >>> sorted_rows[0].to_text(), rows["u"].deleted
        ('rows sorted by t (2 rows, 2 arrays)', [2])
    """
    groups: dict[tuple[Hashable, int, int], list[str]] = {}
    for name, (a, b) in pairs.items():
        place = (places or {}).get(name)
        is_table = place in tables
        if not all(isinstance(array, np.ndarray) and array.ndim for array in (a, b)):
            continue
        axis = row_axis(a)
        if any(not array.size and array.shape[axis : axis + 1] != (0,) for array in (a, b)):
            continue
        if not is_table and dtype_name(a) != dtype_name(b):
            continue
        if _fits_along(axis, a, b) and (a.shape != b.shape or row_axis(b) == axis):
            groups.setdefault((place, a.shape[axis], b.shape[axis]), []).append(name)
    sorted_rows, maps = list[SortedRows](), dict[str, RowMap]()
    for (place, _, count_now), names in groups.items():
        if not unreadable and all(have_same_bytes(*pairs[name]) for name in names):
            continue  # no row has moved
        is_table = place in tables
        rows = _align_group(pairs, names, unreadable or {}, is_table=is_table)
        members_of: dict[str, tuple[list[str], RowMap | None]] = {"": (rest := [*names], rows)}
        for name in names if len(names) > 1 and not is_table and count_now else ():
            if not _is_changed(*pairs[name], 2, rows):
                continue
            own = _align_group(pairs, [name], unreadable or {})  # it was sorted alone, or its rows are others
            if own is not None or (rows is not None and not _is_changed(*pairs[name], 2)):
                rest.remove(name)
                members_of[name] = [name], own
        for members, row_map in members_of.values():
            if row_map is None or not members:
                continue
            axes = {name: row_axis(pairs[name][0]) for name in members}
            maps |= {name: replace(row_map, axis=axis) for name, axis in axes.items()}
            if row_map.is_sorted:
                matched = np.flatnonzero(row_map.sources >= 0)
                columns = {name: to_rows(pairs[name][1], axes[name])[matched] for name in members}
                sorted_rows.append(SortedRows(members, find_sorted(columns), row_map.pairs[1]))
    return sorted_rows, maps


def _align_group(
    pairs: Mapping[str, tuple[Array, Array]],
    names: Sequence[str],
    unreadable: Mapping[str, Array | None],
    *,
    is_table: bool = False,
) -> RowMap | None:
    """Match the rows of arrays that share rows; None if no row has moved, or the rows cannot be matched.

    Of a table whose length changed it is never None, since its columns may not be aligned one by one.
    """
    axes = {name: row_axis(pairs[name][0]) for name in names}
    count, count_now = (array.shape[axes[names[0]]] for array in pairs[names[0]])
    if not count or not count_now:
        return None if count == count_now else RowMap(np.full(count_now, -1), count)
    if count == count_now and _are_all_explained(pairs, names, unreadable):
        return None
    before, now = dict[str, Array](), dict[str, Array]()
    for name in names:
        a, b = (to_rows(array, axes[name]) for array in pairs[name])
        before[name], now[name] = (a, b) if dtype_name(a) == dtype_name(b) else _to_one_dtype(a, b)[1]
    if sum(array.size for name in names for array in pairs[name]) > _MOST_ALIGNED:
        return _align_ends(before, now) if is_table and count != count_now else None
    rows = map_merged_rows(before, now, [])
    masks: dict[str, Mask] = {}
    for name in names:
        errors = unreadable.get(name)
        if errors is not None and errors.shape == pairs[name][1].shape:
            masks[name] = to_rows(errors.astype(np.bool_), axes[name])
    if masks:
        placed = _place_unreadable(rows, before, now, masks)
        rows = map_merged_rows(before, _fill_unreadable(placed, before, now, masks), [])
    rows = rows if rows.is_sorted else pair_typed_over(rows)  # beside sorted rows, neighbours say nothing
    kept_rows = np.flatnonzero(rows.sources >= 0)
    if not len(kept_rows):
        return rows if is_table and count != count_now else None
    return None if rows.is_same else rows


def _are_all_explained(
    pairs: Mapping[str, tuple[Array, Array]], names: Sequence[str], unreadable: Mapping[str, Array | None]
) -> bool:
    """Return whether every array differs by one change of all its elements, such as a factor. Then its rows cannot be
    matched.

    Several arrays of the same elements in another order are no such change: their rows were sorted.
    """
    if any(name in unreadable for name in names):
        return False
    if len(names) == 1:
        return _is_changed(*pairs[names[0]], 8) and explain_arrays(*pairs[names[0]]) is not None
    return all(
        _is_changed(*pairs[name], 2)
        and not _have_same_content(*pairs[name])
        and explain_arrays(*pairs[name]) is not None
        for name in names
    )


def _have_same_content(a: Array, b: Array) -> bool:
    """Return whether two arrays have the same elements in any order."""
    if dtype_name(a) != dtype_name(b):
        return False
    dtype = dtypes.from_numpy(a.dtype)
    return content_key(a.ravel(), dtype) == content_key(b.ravel(), dtype)


def _align_ends(before: Mapping[str, Array], now: Mapping[str, Array]) -> RowMap:
    """Match the first and the last rows of two tables of different length, which are too large to compare row by row.

    The first rows and the last ones are those that they were; between them rows belong together in their order.
    """
    count, count_now = (len(next(iter(arrays.values()))) for arrays in (before, now))
    most = min(count, count_now)
    same_first = same_last = most
    for name, rows in before.items():
        places = np.flatnonzero(find_changes(rows[:same_first], now[name][:same_first]).any(axis=1))
        same_first = int(places[0]) if len(places) else same_first
        if same_last:
            changed = find_changes(rows[-same_last:], now[name][-same_last:]).any(axis=1)
            same_last = same_last - 1 - int(np.flatnonzero(changed)[-1]) if changed.any() else same_last
    same_last = min(same_last, most - same_first)
    sources = np.where(np.arange(count_now) < count, np.arange(count_now), -1)
    sources[count_now - same_last :] = np.arange(count - same_last, count)
    if count_now > count:  # the rows that are in excess stand right before the last ones
        sources[count - same_last : count_now - same_last] = -1
    return RowMap(sources, count)


def _place_unreadable(
    rows: RowMap, before: Mapping[str, Array], now: Mapping[str, Array], masks: Mapping[str, Mask]
) -> RowMap:
    """Match the rows that hold unreadable elements, by their readable elements, and return the completed map.

    Of single elements the rows beside them decide.
    """
    sources = rows.sources.copy()
    spoilt = np.flatnonzero(np.any([mask.any(axis=1) for mask in masks.values()], axis=0) & (sources < 0))
    for row in spoilt[:_MOST_PLACED].tolist():
        left = np.setdiff1d(np.arange(rows.count), sources)
        fits, is_told = np.ones(len(left), np.bool_), False
        for name, array in before.items():
            readable = ~masks[name][row] if name in masks else np.ones(array.shape[1], np.bool_)
            if readable.any() and len(left):
                told = np.repeat(now[name][row : row + 1, readable], len(left), axis=0)
                fits &= ~find_changes(array[left][:, readable], told).any(axis=1)
                is_told = True
        if not is_told:
            above = sources[:row][sources[:row] >= 0][-1:]
            below = sources[row + 1 :][sources[row + 1 :] >= 0][:1]
            fits = (left > (above[0] if len(above) else -1)) & (left < (below[0] if len(below) else rows.count))
        if np.count_nonzero(fits) == 1 or (fits.any() and not is_told):
            sources[row] = left[fits][0]
    return RowMap(sources, rows.count, rows.axis)


def _fill_unreadable(
    rows: RowMap, before: Mapping[str, Array], now: Mapping[str, Array], masks: Mapping[str, Mask]
) -> dict[str, Array]:
    """Return rows in which each unreadable element is replaced by the element that was there before."""
    filled = dict(now)
    for name, mask in masks.items():
        is_known = mask & (rows.sources >= 0)[:, None]
        was = before[name][np.maximum(rows.sources, 0)]
        filled[name] = np.where(is_known, was, now[name]).astype(np.result_type(was, now[name]))
    return filled


def _is_changed(a: Array, b: Array, share: int, rows: RowMap | None = None) -> bool:
    """Return whether more than one in `share` elements of an array differs, after its rows were matched."""
    if rows is None and have_same_bytes(a, b):  # as most arrays are
        return False
    before, now = (to_rows(array, row_axis(a)) for array in (a, b))
    if rows is not None:
        before, now = (array[numbers] for array, numbers in zip((before, now), rows.pairs, strict=True))
    return before.shape == now.shape and share * int(np.count_nonzero(find_changes(before, now))) > before.size


def align_labelled(
    pairs: Mapping[str, tuple[Any, Any]], axes: Mapping[str, int], levels: Sequence[str], *, is_key: bool = False
) -> tuple[list[SortedRows], dict[str, RowMap]] | None:
    """Match the rows of one group of arrays by their labels, and return what `align_tables_of` returns.

    `pairs`: the arrays in A and B, by name. `axes`: the axis of each array of the group along which its rows lie.
    `levels`: the arrays that label the rows. `is_key`: whether rows belong together only where the labels are equal;
    otherwise a row may also have got another label.

    It is None where labels are not told apart, so that the content has to decide.

    Example:
        >>> pairs = {"id": (np.array([1, 2]), np.array([2, 1])), "t": (np.array([5, 6]), np.array([6, 7]))}
        >>> _, rows = align_labelled(pairs, {"id": 0, "t": 0}, ["id"])
        >>> rows["t"].pairs[1].tolist()
        [1, 0]
    """
    before, now = ({level: to_rows(pairs[level][side], 0) for level in levels} for side in (0, 1))
    for level in levels:
        before[level], now[level] = _to_one_unit(before[level], now[level])
    count = len(before[levels[0]])
    if is_key:
        sources = _find_sources(label_keys(before, levels), label_keys(now, levels))
    else:
        for name, axis in axes.items():
            a, b = pairs[name]
            small = a.size + b.size <= _MOST_ALIGNED // len(axes)
            if name not in levels and small and dtype_name(a) == dtype_name(b) and _fits_along(axis, a, b):
                before[name], now[name] = to_rows(a, axis), to_rows(b, axis)
        origins = align_labels(before, now, levels)
        sources = None if origins is None else origins.sources
    if sources is None:
        return None
    if len(sources) == count and bool((sources == np.arange(count)).all()):
        return [], {}
    alignments = {
        name: RowMap(sources, count, axis)
        for name, axis in axes.items()
        if [array.shape[axis] for array in pairs[name]] == [count, len(sources)]
    }
    sorted_rows = []
    if not is_ascending(sources):
        names, matched = list(alignments), np.flatnonzero(sources >= 0)
        columns = {name: to_rows(pairs[name][1], axes[name])[matched] for name in names}
        order = RowMap(sources, count).pairs[1]
        sorted_rows.append(SortedRows(names, find_sorted(columns), order))
    return sorted_rows, alignments


def _find_sources(before: Sequence[Any], now: Sequence[Any]) -> Positions | None:
    """Return, for each row, the row before that has the same key, or -1; None if keys occur twice."""
    places = {key: row for row, key in enumerate(before)}
    if len(places) < len(before) or len({*now}) < len(now):
        return None
    return np.fromiter((places.get(key, -1) for key in now), np.int64, len(now))


def _fits_along(axis: int, a: Array, b: Array) -> bool:
    """Return whether the shapes of two arrays differ at most along one axis."""
    return a.ndim == b.ndim and a.shape[:axis] + a.shape[axis + 1 :] == b.shape[:axis] + b.shape[axis + 1 :]


def _to_one_unit(a: Array, b: Array) -> tuple[Array, Array]:
    """Return two arrays of dates or durations in one unit; other arrays as they are."""
    if a.dtype.kind == b.dtype.kind and a.dtype.kind in "mM" and a.dtype != b.dtype:
        unit = np.promote_types(a.dtype, b.dtype)
        return a.astype(unit), b.astype(unit)
    return a, b


def _to_one_dtype(a: Array, b: Array) -> tuple[str, list[Any]]:
    """Return the name of a dtype that holds the elements of two arrays, and both arrays in it."""
    kinds = a.dtype.kind + b.dtype.kind
    if set(kinds) <= set("biu"):
        return "int64", [array.astype(np.int64) for array in (a, b)]
    if set(kinds) <= set("biufc"):
        if kinds == "ff":
            coarser = min(a.dtype, b.dtype, key=lambda dtype: dtype.itemsize)
            with np.errstate(over="ignore"):
                a, b = a.astype(coarser), b.astype(coarser)
        wide = np.complex128 if "c" in kinds else np.float64
        return np.dtype(wide).name, [array.astype(wide) for array in (a, b)]
    if kinds in ("MM", "mm"):
        unit = np.promote_types(a.dtype, b.dtype)
        return "int64", [array.astype(unit).view(np.int64) for array in (a, b)]
    texts = [[repr(cell) for cell in array.ravel().tolist()] for array in (a, b)]
    return "string", [
        np.array(texts_of_array, object).reshape(array.shape)
        for texts_of_array, array in zip(texts, (a, b), strict=True)
    ]


def describe_rows(rows: list[int]) -> str:
    """Return row numbers in words: `row 30`, `rows 31 to 33`, or their count and the first one if there are gaps."""
    if len(rows) == 1:
        return f"row {rows[0]}"
    if rows[-1] - rows[0] == len(rows) - 1:
        return f"rows {rows[0]} to {rows[-1]}"
    return f"{len(rows):,} rows from {rows[0]} to {rows[-1]}"


def dtype_name(array: Any) -> str:
    """Return the exchange format's name of an array's dtype; of an awkward array its type."""
    return dtypes.from_numpy(array.dtype).name if isinstance(array, np.ndarray) else str(array.type)
