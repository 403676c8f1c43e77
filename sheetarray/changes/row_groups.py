"""Which arrays share their rows, and which rows of theirs belong together: before and now."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import Array, Positions
from .elements import SortedRows, find_row_sources, find_sorted
from .merged_groups import row_axis
from .rows import RowMap, align_labels, align_tables, is_ascending, label_keys, to_rows


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


_MOST_ALIGNED = 2 * 10**6  # elements of the arrays of a table that are looked at for rows that belong together


def align_tables_of(
    pairs: Mapping[str, tuple[Any, Any]], unreadable: Container[str] = ()
) -> tuple[list[SortedRows], dict[str, RowMap]]:
    """Return the tables whose rows stand in another order in B, and by array the rows that belong together.

    Arrays that have as many rows, in A and in B alike, are a table: what one of them does not tell, the others do.
    `unreadable`: arrays that have cells which cannot be read; the others say which rows of theirs belong together.

    Example:
        >>> before, now = (np.array([3, 1, 2]), np.array([1, 3])), (np.array([7, 8, 7]), np.array([8, 7]))
        >>> tables, rows = align_tables_of({"t": before, "u": now})
        >>> tables[0].to_text(), rows["u"].deleted
        ('rows sorted by t (2 rows, 2 arrays)', [2])
    """
    tables: dict[tuple[int, int, int], list[str]] = {}
    for name, (a, b) in pairs.items():
        if not all(isinstance(array, np.ndarray) and array.ndim and array.size for array in (a, b)):
            continue
        axis = row_axis(a)
        if _fits_along(axis, a, b) and dtype_name(a) == dtype_name(b) and (a.shape != b.shape or row_axis(b) == axis):
            tables.setdefault((axis, a.shape[axis], b.shape[axis]), []).append(name)
    found, alignments = list[SortedRows](), dict[str, RowMap]()
    for (axis, count, count_now), names in tables.items():
        whole = [name for name in names if name not in unreadable]
        if len(whole) < 2 or sum(array.size for name in whole for array in pairs[name]) > _MOST_ALIGNED:
            continue
        before, now = ([to_rows(pairs[name][side], axis) for name in whole] for side in (0, 1))
        kinds = [dtypes.from_numpy(rows.dtype) for rows in before]
        sources = find_row_sources(list(zip(before, kinds, strict=True)), list(zip(now, kinds, strict=True)))
        if sources is None:
            continue
        matched = np.flatnonzero(sources >= 0)
        if count == count_now and bool((sources[matched] == matched).all()):
            continue  # elements were edited where they stand
        aligned = RowMap(sources, count, axis)
        alignments |= dict.fromkeys(names, aligned)
        if not is_ascending(sources):
            by = find_sorted({name: rows[matched] for name, rows in zip(whole, now, strict=True)})
            found.append(SortedRows(names, by, aligned.pairs[1]))
    return found, alignments


def align_labelled(
    pairs: Mapping[str, tuple[Any, Any]], axes: Mapping[str, int], levels: Sequence[str], *, is_key: bool = False
) -> tuple[list[SortedRows], dict[str, RowMap]] | None:
    """Return the same as `align_tables_of` for the arrays of one group, whose rows belong together by their labels.

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
    alignments = {name: RowMap(sources, count, axis) for name, axis in axes.items() if _fits_along(axis, *pairs[name])}
    sorted_rows = []
    if not is_ascending(sources):
        names, matched = list(alignments), np.flatnonzero(sources >= 0)
        columns = {name: to_rows(pairs[name][1], axes[name])[matched] for name in names}
        order = RowMap(sources, count).pairs[1]
        sorted_rows.append(SortedRows(names, find_sorted(columns), order))
    return sorted_rows, alignments


def _find_sources(before: Sequence[Any], now: Sequence[Any]) -> Positions | None:
    """Return for each row the row with the same key before, -1 where there is none; None if keys are not unique."""
    places = {key: row for row, key in enumerate(before)}
    if len(places) < len(before) or len({*now}) < len(now):
        return None
    return np.fromiter((places.get(key, -1) for key in now), np.int64, len(now))


def _fits_along(axis: int, a: Array, b: Array) -> bool:
    """Return whether two arrays have one shape, but for their lengths along an axis."""
    return a.ndim == b.ndim and a.shape[:axis] + a.shape[axis + 1 :] == b.shape[:axis] + b.shape[axis + 1 :]


def _to_one_unit(a: Array, b: Array) -> tuple[Array, Array]:
    """Return dates, or durations, of two units in one; other arrays as they are."""
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
    return "string", [np.array(some, object).reshape(array.shape) for some, array in zip(texts, (a, b), strict=True)]


def describe_rows(rows: list[int]) -> str:
    """Return rows as people say them: `row 30`, `rows 31 to 33`, or their number and the first if there are gaps."""
    if len(rows) == 1:
        return f"row {rows[0]}"
    if rows[-1] - rows[0] == len(rows) - 1:
        return f"rows {rows[0]} to {rows[-1]}"
    return f"{len(rows):,} rows from {rows[0]} to {rows[-1]}"


def dtype_name(array: Any) -> str:
    """Return the exchange format's name of an array's dtype; of an awkward array its type."""
    return dtypes.from_numpy(array.dtype).name if isinstance(array, np.ndarray) else str(array.type)
