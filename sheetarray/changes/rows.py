"""Finds for each row of an array the row that it was when the array was written.

So a guard finds rows again in a sheet in which people have added, deleted and moved some, and `diff` in another file.

The method is patience diff: rows that occur once before and once now, in the same order, are the same row; between two
such rows the same is done again with rows that occur once between them. Rows are compared by keys, made of their
elements after these were rounded far more than any program rounds. A row whose element lies near the middle between two
roundings, which is rare, may get another key; then the rows before and after it decide. Different rows may have the
same key, so whoever takes an element from a row compares it first.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..dtypes import Array, Buffer, DType, Mask, Positions, from_numpy
from ..errors import FormatError, NotFoundError, quote_names
from .row_keys import WORDS, Elements, Keys, element_keys, mix_bits, row_keys

Table = Sequence[tuple[Array, DType]]  # the rows of arrays side by side: of each two dimensions, and its dtype
_ANY_ROW = 2**30  # elements of a row, for which keys of elements keep as few bits as they may
_CONTEXTS = (1, 3, 9)  # rows whose keys are taken together; longer runs are tried if shorter ones occur more than once
_FEWEST_EDITED = 4  # rows that were edited, from which on the columns that were not may tell which is which
_MOST_NAMES = 20  # of arrays in a message
_MOST_GAPS = 10_000  # gaps between rows that are known, which are looked at again
_MOST_PAIRS = 10**6  # rows before times rows now: in smaller gaps every row is compared with every other


@dataclass(frozen=True)
class RowMap:
    """Which row is which: for each row that is there now, the row that it was.

    Attributes:
        sources: for each row now its number before; -1 for a row that was added.
        count: the number of rows before.
        axis: the axis of an array along which its rows lie.

    Example:
        >>> rows = RowMap(np.array([2, 0, -1]), 4)
        >>> rows.added, rows.deleted, np.flatnonzero(rows.moved).tolist()
        ([2], [1, 3], [0])
    """

    sources: Positions
    count: int
    axis: int = 0

    @classmethod
    def of_same(cls, count: int, axis: int = 0) -> RowMap:
        """Return the map of rows that stand where they stood."""
        return cls(np.arange(count), count, axis)

    @cached_property
    def added(self) -> list[int]:
        """The rows that were added, by their numbers now."""
        rows: list[int] = np.flatnonzero(self.sources < 0).tolist()
        return rows

    @cached_property
    def deleted(self) -> list[int]:
        """The rows that were deleted, by their numbers before."""
        rows: list[int] = _find_left(self.sources, self.count).tolist()
        return rows

    @cached_property
    def moved(self) -> Mask:
        """A mask of the rows that are there now: as few as explain their order."""
        places = np.flatnonzero(self.sources >= 0)
        moved = np.zeros(len(self.sources), np.bool_)
        moved[places] = True
        moved[places[_longest_rising(self.sources[places])]] = False
        return moved

    @property
    def is_sorted(self) -> bool:
        """Whether the rows that stayed are in another order than before."""
        return not is_ascending(self.sources)

    @cached_property
    def is_same(self) -> bool:
        """Whether each row stands where it stood, and none was added or deleted."""
        return len(self.sources) == self.count and bool((self.sources == np.arange(self.count)).all())

    @cached_property
    def pairs(self) -> tuple[Positions, Positions]:
        """The rows before that are still there, ascending, and their numbers now."""
        now = np.flatnonzero(self.sources >= 0)
        now = now[np.argsort(self.sources[now], kind="stable")]
        return self.sources[now], now

    def find_indices(self, place: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the indices now and before of an element, given its index among the rows of `pairs`."""
        row = place[self.axis]
        before, now = ((*place[: self.axis], int(rows[row]), *place[self.axis + 1 :]) for rows in self.pairs)
        return now, before


def _find_left(sources: Positions, count: int) -> Positions:
    """Return the rows before, of `count`, that no row now comes from."""
    left = np.ones(count, np.bool_)
    left[sources[sources >= 0]] = False
    return np.flatnonzero(left)


def to_rows(array: Array, axis: int) -> Array:
    """Return the elements of an array as a table with one row for each position along an axis."""
    if not array.ndim:
        return array.reshape(1, 1)
    moved = np.moveaxis(array, axis, 0) if axis else array
    return moved.reshape(len(moved), math.prod(moved.shape[1:]))


def align_tables(written: Table, cells: Table) -> RowMap:
    """Return which row is which of arrays that stand side by side, such as the columns of a table.

    `written`: the rows of each array as written (two dimensions, one row of elements a row), and its dtype. `cells`:
    the rows of each that stand there now.

    Example:
        >>> from sheetarray.dtypes import from_name
        >>> integers = from_name("int64")
        >>> before = [(np.array([[1], [1], [2]]), integers), (np.array([[5], [6], [7]]), integers)]
        >>> now = [(np.array([[1], [2], [1]]), integers), (np.array([[6], [7], [8]]), integers)]
        >>> align_tables(before, now).sources.tolist()
        [1, 2, -1]
    """
    elements = _row_elements(written), _row_elements(cells)
    before, now = map(row_keys, elements)
    sources = np.full(len(now), -1, np.int64)
    _align(before, now, sources)
    is_moved = False
    for way in (_match_single, _match_repeated, _match_coarse, _match_by_columns):
        rest, added = _find_left(sources, len(before)), np.flatnonzero(sources < 0)
        if len(rest) and len(added):
            tables = [(rows[rest], dtype) for rows, dtype in written], [(rows[added], dtype) for rows, dtype in cells]
            ones, partners = way(before[rest], now[added], *tables)
            sources[added[partners]] = rest[ones]
            is_moved |= len(partners) > 0
    if is_moved:  # rows that were moved and edited, before a row in whose place they stand is taken for one of them
        _pair_edited(sources, *elements)
    _pair_leftovers(sources, *elements)
    return RowMap(sources, len(before))


def _row_elements(table: Table, bits_of: int | None = None) -> Elements:
    """Return a key for each element of a table, row by row; with very few exceptions it survives rounding.

    `bits_of` is the number of elements of a row for which bits are kept; None for as many as there are.
    """
    width = bits_of or sum(rows.shape[1] for rows, _ in table)
    keys = [element_keys(rows.reshape(-1), dtype, width).reshape(rows.shape) for rows, dtype in table]
    return keys[0] if len(keys) == 1 else np.hstack(keys)


def _align(before: Keys, now: Keys, sources: Positions) -> None:
    """Put the number of the row as written into `sources` for each row, as far as their order is the same."""
    gaps = [(0, len(before), 0, len(now))]
    looked_at = 0
    while gaps and looked_at < _MOST_GAPS:
        first, end, start, stop = gaps.pop()
        looked_at += 1
        while first < end and start < stop and before[first] == now[start]:
            sources[start] = first
            first, start = first + 1, start + 1
        while first < end and start < stop and before[end - 1] == now[stop - 1]:
            end, stop = end - 1, stop - 1
            sources[stop] = end
        if first == end or start == stop:
            continue
        pairs = _find_anchors(before[first:end], now[start:stop])
        if not len(pairs):
            if (end - first) * (stop - start) <= _MOST_PAIRS:
                pairs = _longest_common((before[first:end, None] == now[None, start:stop]).astype(np.int64))
            sources[start + pairs[:, 1]] = first + pairs[:, 0]
            continue
        sources[start + pairs[:, 1]] = first + pairs[:, 0]
        ends = np.concatenate([[[-1, -1]], pairs, [[end - first, stop - start]]])
        for number in np.flatnonzero((np.diff(ends, axis=0) > 1).all(axis=1)).tolist():
            (a, b), (c, d) = ends[number].tolist(), ends[number + 1].tolist()
            gaps.append((first + a + 1, first + c, start + b + 1, start + d))


def _find_anchors(before: Keys, now: Keys) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return pairs of rows that are surely the same, in their order; no pair if no row occurs only once."""
    for context in _CONTEXTS:
        if min(len(before), len(now)) < context:
            break
        ones, twos = _match_single(_with_context(before, context), _with_context(now, context))
        if len(ones):
            rising = _longest_rising(twos)
            return np.column_stack([ones[rising], twos[rising]]) + context // 2
    return np.zeros((0, 2), np.int64)


def _with_context(keys: Keys, count: int) -> Keys:
    """Return a key for each run of `count` rows."""
    mixed = np.zeros(len(keys) - count + 1, np.uint64)
    for number in range(count):
        mixed = mixed * WORDS[0] + keys[number : len(keys) - count + 1 + number]
    return mixed


def _match_single(before: Keys, now: Keys, *_rows: object) -> tuple[Positions, Positions]:
    """Return the rows that occur once before and once now: their numbers before, ascending, and their numbers now."""
    (first, once_before), (second, once_now) = _find_single(before), _find_single(now)
    _, numbers, twin_numbers = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    ones, twos = once_before[numbers], once_now[twin_numbers]
    order = np.argsort(ones)
    return ones[order], twos[order]


def _find_single(keys: Keys) -> tuple[Keys, Positions]:
    values, numbers, counts = np.unique(keys, return_index=True, return_counts=True)
    return values[counts == 1], numbers[counts == 1]


def _match_coarse(_: Keys, __: Keys, written: Table, cells: Table) -> tuple[Positions, Positions]:
    """Return pairs of rows of numbers that are the same to a few digits, since a program left no more of small ones."""
    if not any(dtype.kind in ("float", "complex") for _, dtype in written):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return _match_single(*(row_keys(_row_elements(table, _ANY_ROW)) for table in (written, cells)))


def _match_by_columns(before: Keys, now: Keys, written: Table, cells: Table) -> tuple[Positions, Positions]:
    """Return pairs of rows that agree in the columns that nobody edited, where every row was edited in another column.

    Nobody edited a column if most of its elements are still there. These columns have to tell most rows apart.
    """
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int64)
    most = min(len(before), len(now))
    first, second = _row_elements(written), _row_elements(cells)
    if first.shape[1] < 2 or most < _FEWEST_EDITED:
        return nothing
    columns = [
        column for column, pair in enumerate(zip(first.T, second.T, strict=True)) if 2 * _count_common(*pair) > most
    ]
    if not columns or len(columns) == first.shape[1]:
        return nothing
    ones, twos = _match_single(row_keys(first[:, columns]), row_keys(second[:, columns]))
    return (ones, twos) if 2 * len(ones) > most else nothing


def _count_common(before: Keys, now: Keys) -> int:
    """Return how many elements of one column are in the other, each as often as it is there."""
    (first, counts), (second, counts_now) = (np.unique(keys, return_counts=True) for keys in (before, now))
    _, ones, twos = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    return int(np.minimum(counts[ones], counts_now[twos]).sum())


def _match_repeated(before: Keys, now: Keys, written: Table, _cells: Table) -> tuple[Positions, Positions]:
    """Return pairs of rows that occur more than once, before and now: the first with the first, and so on.

    Rows of one key are taken only where all of those before are the same to the bit, so that any of them may be taken.
    """
    (order_before, counted), (order_now, counted_now) = _count_repeats(before), _count_repeats(now)
    leaders = order_before[np.arange(len(order_before)) - counted.astype(np.int64)]
    mixed = np.zeros(len(order_before), np.bool_)
    for rows, _ in written:
        if rows.dtype.kind in "OUT":
            pairs = zip(rows[order_before].tolist(), rows[leaders].tolist(), strict=True)
            mixed |= np.fromiter(
                (list(map(repr, a)) != list(map(repr, b)) for a, b in pairs), np.bool_, len(order_before)
            )
        else:
            content = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)
            mixed |= (content[order_before] != content[leaders]).any(axis=1)
    is_pure = ~np.isin(before[order_before], before[order_before][mixed])
    order_before, counted = order_before[is_pure], counted[is_pure]
    first, second = before[order_before] * WORDS[0] + counted, now[order_now] * WORDS[0] + counted_now
    _, ones, twos = np.intersect1d(first, second, return_indices=True)
    return order_before[ones], order_now[twos]


def _count_repeats(keys: Keys) -> tuple[Positions, Keys]:
    """Return the rows in the order of their keys, and for each the number of rows of its key before it."""
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], keys[order][1:] != keys[order][:-1]]))
    counts = np.diff([*starts, len(order)])
    return order, (np.arange(len(order)) - np.repeat(starts, counts)).astype(np.uint64)


def _longest_rising(numbers: Positions) -> Positions:
    """Return the indices of the longest rising sequence among some numbers."""
    if (np.diff(numbers) > 0).all():
        return np.arange(len(numbers))
    ends: list[int] = []
    last: list[int] = []
    before = np.full(len(numbers), -1, np.int64)
    for index, number in enumerate(numbers.tolist()):
        length = bisect_left(ends, number)
        if length == len(ends):
            ends.append(number)
            last.append(index)
        else:
            ends[length], last[length] = number, index
        before[index] = last[length - 1] if length else -1
    rising, index = [], last[-1]
    while index >= 0:
        rising.append(index)
        index = int(before[index])
    return np.array(rising[::-1], np.int64)


def _longest_common(weights: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the pairs of rows, in the same order in both, whose weights have the largest sum.

    `weights`: of each row before (axis 0) with each row now (axis 1).
    """
    count, count_now = weights.shape
    sums = np.zeros((count + 1, count_now + 1), np.int64)
    for place in range(count - 1, -1, -1):
        line = np.maximum(sums[place + 1, :-1], sums[place + 1, 1:] + weights[place])
        sums[place, :-1] = np.maximum.accumulate(line[::-1])[::-1]
    pairs, row, row_now = [], 0, 0
    while row < count and row_now < count_now:
        weight = weights[row, row_now]
        if weight and sums[row, row_now] == weight + sums[row + 1, row_now + 1]:
            pairs.append((row, row_now))
            row, row_now = row + 1, row_now + 1
        elif sums[row, row_now] == sums[row + 1, row_now]:
            row += 1
        else:
            row_now += 1
    return np.array(pairs, np.int64).reshape(-1, 2)


def _pair_leftovers(sources: Positions, before: Elements, now: Elements) -> None:
    """Pair the rows between two known rows that are left over, since they were edited.

    Rows are paired in which half of the elements are the same. If there are as many before as now, and their order
    makes no fewer elements the same, all of them are paired in their order.
    """
    row = before.shape[1]
    for start, stop, first, end in list(_gaps_of(sources, len(before))):
        as_many = stop - start == end - first
        if row > 1 and stop - start + end - first > 2 and (stop - start) * (end - first) * row <= _MOST_PAIRS:
            alike = (before[first:end, None] == now[None, start:stop]).sum(axis=2)
            pairs = _longest_common(np.where(2 * alike >= row, alike, 0))
            if not as_many or int(np.trace(alike)) < int(alike[pairs[:, 0], pairs[:, 1]].sum()):
                sources[start + pairs[:, 1]] = first + pairs[:, 0]
                continue
        if as_many:
            sources[start:stop] = np.arange(first, end)


def _pair_edited(sources: Positions, before: Elements, now: Elements) -> None:
    """Pair rows that were moved and edited, wherever they stand now.

    Each has more than half of its elements in common with the other, and no other row has more.
    """
    rest, added = _find_left(sources, len(before)), np.flatnonzero(sources < 0)
    row = before.shape[1]
    if not len(rest) or not len(added) or row < 2 or len(rest) * len(added) * row > _MOST_PAIRS:
        return
    alike = (before[rest][:, None] == now[added][None]).sum(axis=2)
    best = alike.argmax(axis=0)
    mutual = alike.argmax(axis=1)[best] == np.arange(len(added))
    sure = mutual & (2 * alike[best, np.arange(len(added))] > row)
    sources[added[sure]] = rest[best[sure]]


def _gaps_of(sources: Positions, count: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranges of added rows between two matched rows, each with the range of written rows between the same
    two.
    """
    marks = np.concatenate([[0], (sources < 0).astype(np.int8), [0]])
    used = np.zeros(count + 1, np.bool_)
    used[sources[sources >= 0]] = True
    for start, stop in zip(np.flatnonzero(np.diff(marks) == 1), np.flatnonzero(np.diff(marks) == -1), strict=True):
        first = int(sources[start - 1]) + 1 if start else 0
        end = int(sources[stop]) if stop < len(sources) else count
        if first <= end and not used[first:end].any():
            yield int(start), int(stop), first, end


def align_labels(base: Mapping[str, Array], copy: Mapping[str, Array], labels: Sequence[str]) -> RowMap | None:
    """Return the rows of the base that have the labels of a copy's rows; None where labels occur more than once."""
    before, now = label_keys(base, labels), label_keys(copy, labels)
    places = {key: row for row, key in enumerate(before)}
    if len(places) < len(before) or len(set(now)) < len(now):
        return None
    sources = np.fromiter((places.get(key, -1) for key in now), np.int64, len(now))
    rest = [name for name in base if name not in labels]
    if (sources < 0).any() and len(before):
        ascending = is_ascending(sources)
        if rest and ascending:
            elements = [
                _row_elements([(rows[name], from_numpy(base[name].dtype)) for name in rest]) for rows in (base, copy)
            ]
            for start, stop, first, end in list(_gaps_of(sources, len(before))):
                if stop - start == end - first:
                    alike = (elements[0][first:end] == elements[1][start:stop]).mean(axis=1) > 0.5
                    sources[start:stop] = np.where(alike, np.arange(first, end), -1)
        elif ascending:
            _pair_leftovers(sources, *(np.zeros((len(keys), 1), np.uint64) for keys in (before, now)))
    return RowMap(sources, len(before))


def is_ascending(sources: Positions) -> bool:
    """Return whether the rows that are known stand in the order in which they were written."""
    return bool((np.diff(sources[sources >= 0]) > 0).all())


def label_keys(rows: Mapping[str, Array], labels: Sequence[str]) -> list[Any]:
    """Return the labels of each row; floats with as many digits as every program keeps."""
    columns = []
    for name in labels:
        array = rows[name]
        cells = to_rows(array, 0)
        if array.dtype.kind == "f":
            columns.append([tuple(f"{value:.12g}" for value in row) for row in cells.tolist()])
        elif array.dtype.kind in "mM":
            columns.append([tuple(map(str, row)) for row in cells.view(np.int64).tolist()])
        else:
            columns.append([tuple(map(str, row)) for row in cells.tolist()])
    return list(zip(*columns, strict=True))


def find_blank_label(column: Array) -> int | None:
    """Return the first row whose label is blank, NaN or NaT: such a label identifies no row; None if there is none.

    Example:
        >>> find_blank_label(np.array([1.0, np.nan])), find_blank_label(np.array(["a", "b"]))
        (1, None)
    """
    if column.dtype.kind in "fc":
        blank = np.isnan(column)
    elif column.dtype.kind in "mM":
        blank = np.isnat(column)
    elif column.dtype.kind in "UTO":
        blank = np.array([cell is None or cell != cell or cell == "" for cell in column.tolist()], np.bool_)
    else:
        return None
    rows = np.flatnonzero(blank)
    return int(rows[0]) if len(rows) else None


def missing_key_error(source: str, name: str, names: Iterable[str]) -> NotFoundError:
    """Return the error for a key that a source lacks; it holds arrays of the given names."""
    reason = f"{source}: no array {name!r:.80}, which is to tell the rows that belong together"
    return NotFoundError(f"{reason}; there is {quote_names([*names], _MOST_NAMES)}")


def check_key(columns: Mapping[str, Array], source: str, find_address: Callable[[str, int], str | None]) -> None:
    """Refuse a key that does not identify every row: one with a blank, or with the same values in two rows.

    `columns`: the arrays of the key, by name. `source`: of the arrays, for errors. `find_address`: returns the address
    of an element, given the name of its array and its row.

    Raises:
        FormatError: names the cell.
    """
    for name, column in columns.items():
        if (blank := find_blank_label(column)) is not None:
            raise FormatError(
                f"a blank cell in {name!r:.60} identifies no row",
                location=find_address(name, blank),
                array=name,
                source=source,
                hint="fill it, or name another key",
            )
    rows: dict[Any, int] = {}
    for row, label in enumerate(label_keys(columns, list(columns))):
        if label in rows:
            raise FormatError(
                f"rows {rows[label]} and {row} have the same {quote_names(list(columns))}, so it is no key",
                location=find_address(next(iter(columns)), row),
                source=source,
                hint="name more arrays that tell rows apart",
            )
        rows[label] = row


def pair_typed_over(rows: RowMap) -> RowMap:
    """Return a map in which as many rows that were deleted and added between two known ones were typed over.

    Example:
        >>> pair_typed_over(RowMap(np.array([0, -1, 2, -1]), 3)).sources.tolist()
        [0, 1, 2, -1]
    """
    sources = rows.sources.copy()
    for start, stop, first, end in list(_gaps_of(sources, rows.count)):
        if stop - start == end - first:
            sources[start:stop] = np.arange(first, end)
    return RowMap(sources, rows.count, rows.axis)


def pair_runs(sources: Positions, count: int) -> None:
    """Pair elements between two known ones, although their number has changed: the first with the first."""
    for start, stop, first, end in list(_gaps_of(sources, count)):
        number = min(stop - start, end - first)
        sources[start : start + number] = np.arange(first, first + number)


def content_key(buffer: Buffer, dtype: DType) -> int:
    """Return a number that stays the same when the elements of an array are put in another order, or rounded.

    With few exceptions arrays of other elements have other numbers.
    """
    return int(mix_bits(element_keys(buffer, dtype, _ANY_ROW)).sum(dtype=np.uint64))
