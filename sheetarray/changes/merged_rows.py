"""Pairs the rows of a copy with the rows of the base in a merge: by labels, or else by content.

By content there are several explanations of a copy. Each has a price: 1 for an element that was edited, for a row that
was added, for one that was deleted, and for one that was moved; 2 for a moved one of which there are several alike. The
cheapest explanation counts; of equal ones that in which rows stand where they stood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .. import dtypes
from ..dtypes import Array, Mask, Positions
from .elements import find_changes
from .row_keys import element_keys, row_keys
from .rows import RowMap, align_labels, align_tables, label_keys, pair_runs

Rows = Mapping[str, Array]  # the rows of arrays by name: of each two dimensions, one row of elements a row
_FEW_ROWS = 3  # rows of other content side by side that were deleted and added; more of them were typed over
_DENSE = 4  # rows for each one that differs, up to which all of them are aligned


def map_merged_rows(
    before: Rows,
    now: Rows,
    labels: Sequence[str],
    *,
    is_key: bool = False,
    noted: dict[str, Positions] | None = None,
) -> RowMap:
    """Return, for each row of a copy, the row of the base that it was.

    `before`: the rows of the base. `now`: those of the copy, of the same dtypes. `labels`: the arrays that label them;
    none if the content decides. `is_key`: whether a row of another label is another row. `noted`: takes the elements of
    each array that differ where rows stand where they stood, by their numbers, if these are known.

    Example:
        >>> before = {"t": np.array([[1.5], [2.5], [3.5], [4.5]])}
        >>> map_merged_rows(before, {"t": np.array([[1.5], [3.5], [4.5], [9.5]])}, []).sources.tolist()
        [0, 2, 3, -1]
        >>> map_merged_rows(before, {"t": np.array([[1.5], [9.5], [3.5], [4.5]])}, []).sources.tolist()
        [0, 1, 2, 3]
    """
    count, count_now = (len(next(iter(rows.values()))) for rows in (before, now))
    if labels:
        if count == count_now and not any(find_changes(before[name], now[name]).any() for name in labels):
            return RowMap.of_same(count)
        by_labels = _map_by_key(before, now, labels) if is_key else align_labels(before, now, labels)
        if by_labels is not None:
            return by_labels
    width = sum(rows.shape[1] for rows in before.values())
    if not width or not count or not count_now:
        return RowMap.of_same(count) if count == count_now else RowMap(np.full(count_now, -1), count)
    common = min(count, count_now)
    in_place = np.where(np.arange(count_now) < count, np.arange(count_now), -1)
    edits = _count_edits(before, now, in_place, np.arange(common), noted)
    differing = np.flatnonzero(edits)
    if not len(differing):  # rows may have been added or deleted at the end
        return RowMap(in_place, count)
    first, last = int(differing[0]), 0
    if len(differing) * _DENSE >= common - first:
        last = _count_same_at_the_end(before, now, common - first)
        rows, rows_now = np.arange(first, count - last), np.arange(first, count_now - last)
    else:
        rows, rows_now = (np.concatenate([differing, np.arange(common, end)]) for end in (count, count_now))
    sources = in_place.copy()
    sources[count_now - last :] = np.arange(count - last, count)
    if count != count_now or len(differing) > 1:
        sources[rows_now] = _align(before, now, rows, rows_now, width)
    if (sources == in_place).all():
        _part_others(in_place, edits, count, width)
        return RowMap(in_place, count)
    prices = []
    for explained, edited in ((in_place, edits), (sources, _count_edits(before, now, sources, rows_now))):
        _part_others(explained, edited, count, width)
        prices.append(_price(before, now, RowMap(explained, count), edited))
    return RowMap(sources if prices[1] < prices[0] else in_place, count)


def _map_by_key(before: Rows, now: Rows, labels: Sequence[str]) -> RowMap:
    keys, keys_now = label_keys(before, labels), label_keys(now, labels)
    places = {key: row for row, key in enumerate(keys)}
    return RowMap(np.fromiter((places.get(key, -1) for key in keys_now), np.int64, len(keys_now)), len(keys))


def _count_edits(
    before: Rows, now: Rows, sources: Positions, rows_now: Positions, noted: dict[str, Positions] | None = None
) -> Positions:
    """Return for each row of a copy how many of its elements are others in its row of the base.

    `sources`: of all rows of the copy. `rows_now`: the rows that are looked at; the others are the same.
    """
    edits = np.zeros(len(sources), np.int64)
    looked_at = rows_now[sources[rows_now] >= 0]
    numbers = np.arange(len(looked_at))
    stand = bool((looked_at == numbers).all() and (sources[looked_at] == numbers).all())
    in_place = slice(len(looked_at)) if stand else None  # no rows are copied
    for name, rows in before.items():
        pair = rows[in_place or sources[looked_at]], now[name][in_place or looked_at]
        places = np.flatnonzero(find_changes(*pair))
        if len(places):
            edits[looked_at] += np.bincount(places // rows.shape[1], minlength=len(looked_at))
        if noted is not None:
            noted[name] = places
    return edits


def _count_same_at_the_end(before: Rows, now: Rows, most: int) -> int:
    """Return how many rows at the end of the base are also those at the end of a copy."""
    if not most:
        return 0
    edited = np.zeros(most, np.bool_)
    for name, rows in before.items():
        edited |= find_changes(rows[len(rows) - most :], now[name][len(now[name]) - most :]).any(axis=1)
    places = np.flatnonzero(edited)
    return most - 1 - int(places[-1]) if len(places) else most


def _align(before: Rows, now: Rows, rows: Positions, rows_now: Positions, width: int) -> Positions:
    """Return the row of the base for some rows of a copy, given the rows that come into question; -1 for added ones."""
    if not len(rows) or not len(rows_now):
        return np.full(len(rows_now), -1)
    kinds = {name: dtypes.from_numpy(array.dtype) for name, array in before.items()}
    tables = [
        [(arrays[name][chosen], kind) for name, kind in kinds.items()]
        for arrays, chosen in ((before, rows), (now, rows_now))
    ]
    aligned = align_tables(*tables)
    sources = aligned.sources
    if width == 1 and not aligned.is_sorted:
        pair_runs(sources, len(rows))
    return np.where(sources >= 0, rows[sources], -1)


def _part_others(sources: Positions, edits: Positions, count: int, width: int) -> None:
    """Part rows that have no element in common: one was deleted, the other added.

    Many of them side by side were typed over, as if every number was multiplied, unless they are the last rows.
    """
    edited_rows = np.flatnonzero((sources >= 0) & (edits == width))
    if width == 1 or not len(edited_rows) or 2 * len(edited_rows) > len(sources):
        return
    for run in np.split(edited_rows, np.flatnonzero(np.diff(edited_rows) > 1) + 1):
        is_end = run[-1] == len(sources) - 1 and sources[run[-1]] == count - 1
        if is_end or (width > 2 and len(run) <= _FEW_ROWS):
            sources[run], edits[run] = -1, 0


def _price(before: Rows, now: Rows, rows: RowMap, edits: Positions) -> int:
    """Return the price of an explanation, given how many elements of each row were edited."""
    price = int(edits.sum()) + len(rows.added) + len(rows.deleted)
    if not rows.is_sorted:
        return price
    moved = np.flatnonzero(rows.moved)
    repeated = _mark_repeated(now)[moved] | _mark_repeated(before)[rows.sources[moved]]
    return price + len(moved) + int(np.count_nonzero(repeated))


def _mark_repeated(arrays: Rows) -> Mask:
    """Return a mask of the rows that occur more than once."""
    width = sum(rows.shape[1] for rows in arrays.values())
    keys = [
        element_keys(rows.reshape(-1), dtypes.from_numpy(rows.dtype), width).reshape(rows.shape)
        for rows in arrays.values()
    ]
    _, inverse, counts = np.unique(row_keys(np.hstack(keys)), return_inverse=True, return_counts=True)
    return np.asarray(counts[inverse.reshape(-1)] > 1)
