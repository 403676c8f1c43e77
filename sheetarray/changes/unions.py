"""The rows of a group in the base and in all copies, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import Array, Mask, Positions
from .conflicts import ArrayConflicts, AskedChoices, ConflictsOfArray, FileChanges, MergedFiles
from .elements import cast_exactly, find_changes
from .merged_groups import MergedGroup, row_axis
from .rows import RowMap, Table, align_labels, align_tables, label_keys, pair_runs, to_rows


class RowUnion:
    """The rows of a group in the base and in all copies.

    Attributes:
        count: the number of rows.
        in_base: for each row, its number in the base; -1 where the base lacks it.
        in_copy: the same for each copy.
    """

    def __init__(self, files: MergedFiles, group: MergedGroup, labels: Sequence[str]) -> None:
        self._files, self._group = files, group
        self._rows = {name: to_rows(files.base[name], group.axes[name]) for name in group.names}
        self._copies = [
            {
                name: to_rows(_known(cast_exactly(arrays[name], files.base[name].dtype)), group.axes[name])
                for name in group.names
            }
            if has
            else None
            for has, arrays in zip(group.copies, files.arrays, strict=True)
        ]
        self._labels = [name for name in labels if name in self._rows] if {*labels} <= {*self._rows} else []
        count = len(next(iter(self._rows.values())))
        identity = np.arange(count)
        self._origins = [RowMap(identity, count) if copy is None else self._align(copy) for copy in self._copies]
        self._place_added(count)

    def _align(self, copy: Mapping[str, Array]) -> RowMap:
        """Return the row of the base that each row of a copy was."""
        before, now = (self._table(rows) for rows in (self._rows, copy))
        count, count_now = len(before[0][0]), len(now[0][0])
        if self._labels:
            by_labels = align_labels(self._rows, copy, self._labels)
            if by_labels is not None:
                return by_labels
        identity = RowMap(np.arange(count_now), count)
        width = sum(rows.shape[1] for rows, _ in before)
        if not width or not count or not count_now:
            return RowMap(np.full(count_now, -1), count) if count != count_now else identity
        differing = self._count_changes(copy, identity.sources) if count == count_now else None
        if differing is not None and (differing[0] < 2 or (len(before) == 1 and width == 1)):
            return identity
        origins = align_tables(before, now)
        if len(before) == 1:  # the order of its rows is what a single array says
            origins = RowMap(np.where(origins.moved, -1, origins.sources), count)
        if differing is not None:
            unchanged = (
                int(np.count_nonzero(origins.sources >= 0)) * width - self._count_changes(copy, origins.sources)[1]
            )
            if unchanged <= count * width - differing[1]:  # as many elements are the same where nothing was moved
                return identity
        elif not (origins.sources >= 0).any():
            return RowMap(np.where(identity.sources < count, identity.sources, -1), count)
        if width == 1 and not origins.moved.any():
            pair_runs(origins.sources, count)
        return origins

    def _table(self, rows: Mapping[str, Array]) -> Table:
        return [(array, dtypes.from_numpy(self._rows[name].dtype)) for name, array in rows.items()]

    def _count_changes(self, copy: Mapping[str, Array], sources: Positions) -> tuple[int, int]:
        """Return the number of rows, and of elements, that are others than in the base."""
        rows_of_base = np.flatnonzero(sources >= 0)
        differing = np.zeros(len(rows_of_base), np.int64)
        for name, rows in self._rows.items():
            differing += find_changes(rows[sources[rows_of_base]], copy[name][rows_of_base]).sum(axis=1)
        return int(np.count_nonzero(differing)), int(differing.sum())

    def _place_added(self, count: int) -> None:
        """Find the places of all rows: those of the base, and behind them those that were added."""
        added: list[tuple[int, int, int]] = []  # the row of the base that it follows, the copy, the row of the copy
        place_of_key: dict[Any, int] = {}
        owners: list[dict[int, int]] = []  # of each added row the rows of the copies that have it
        for number, (origins, copy) in enumerate(zip(self._origins, self._copies, strict=True)):
            if copy is None or not len(origins.added):
                continue
            keys = label_keys(copy, self._labels) if self._labels else None
            if keys is not None and len(set(keys)) < len(keys):
                keys = None
            last = np.maximum.accumulate(np.where(origins.moved.any(), count - 1, origins.sources))
            for row in origins.added:
                key = None if keys is None else keys[row]
                if key is not None and key in place_of_key and number not in owners[place_of_key[key]]:
                    owners[place_of_key[key]][number] = row
                    continue
                if key is not None:
                    place_of_key.setdefault(key, len(owners))
                added.append((int(last[row]) if len(last) else -1, number, len(owners)))
                owners.append({number: row})
        added.sort(key=lambda entry: entry[0])  # stable: copy after copy, row after row
        ordered = [entry[2] for entry in added]
        after = np.array([entry[0] for entry in added], np.int64)
        places = np.arange(count) + np.searchsorted(after, np.arange(count), side="left")
        self.count = count + len(added)
        self.in_base = np.full(self.count, -1, np.int64)
        self.in_base[places] = np.arange(count)
        free = np.flatnonzero(self.in_base < 0)
        self.in_copy: list[Positions] = []
        for number, origins in enumerate(self._origins):
            rows = np.full(self.count, -1, np.int64)
            present = np.flatnonzero(origins.sources >= 0)
            rows[places[origins.sources[present]]] = present
            for place, owner in zip(free.tolist(), ordered, strict=True):
                rows[place] = owners[owner].get(number, -1)
            self.in_copy.append(rows)

    def merge(
        self,
        asked: AskedChoices,
        merged: dict[str, Any],
        found: dict[str, ConflictsOfArray],
        changes: Sequence[FileChanges],
    ) -> None:
        """Put the merged arrays of the group, and their conflicts, under their names."""
        deleted = [(self.in_base >= 0) & (rows < 0) for rows in self.in_copy]
        gone = np.any(deleted, axis=0) if deleted else np.zeros(self.count, np.bool_)
        stays = np.zeros(self.count, np.bool_)
        values_of = {}
        for name in self._group.names:
            values, conflicts = self._merge_elements(name, deleted, gone, asked)
            values_of[name] = values
            if len(conflicts.rows):
                found[name] = conflicts
                stays[conflicts.rows[~conflicts.is_deletion]] = True
            for number, change in enumerate(changes):
                if self._copies[number] is not None:
                    _note(change.elements, name, int(np.count_nonzero(conflicts.changed[number])))
                    _note(change.added, name, len(self._origins[number].added))
                    _note(change.deleted, name, int(np.count_nonzero(deleted[number])))
                    change.moved += [name] if self._origins[number].moved.any() else []
            conflicts.changed = []
        remaining = ~gone | stays
        for name in values_of.keys() & found.keys():
            found[name].merged_rows = np.where(remaining, np.cumsum(remaining) - 1, -1)
        for name, values in values_of.items():
            merged[name] = _from_rows(values[remaining], self._files.base[name], self._group.axes[name])

    def _merge_elements(
        self, name: str, deleted: Sequence[Mask], gone: Mask, asked: AskedChoices
    ) -> tuple[Array, ArrayConflicts]:
        """Return the elements of the union of an array, and its conflicts."""
        base, copies = self._rows[name], [None if copy is None else copy[name] for copy in self._copies]
        texts = [copy.dtype for copy in copies if copy is not None] if base.dtype.kind in "UT" else []
        dtype = reduce(np.promote_types, texts, base.dtype)  # the base's; of texts the widest
        base, copies = base.astype(dtype), [None if copy is None else copy.astype(dtype) for copy in copies]
        values = np.empty((self.count, base.shape[1]), dtype)
        standing = self.in_base >= 0
        values[standing] = base
        owned = np.zeros(values.shape, np.bool_)
        clashes = np.zeros(values.shape, np.bool_)
        changed: list[Mask] = []
        for rows, copy in zip(self.in_copy, copies, strict=True):
            mine = np.zeros(values.shape, np.bool_)
            changed.append(mine)
            if copy is None:
                continue
            both = standing & (rows >= 0)
            mine[both] = find_changes(base[self.in_base[both]], copy[rows[both]])
            mine[~standing & (rows >= 0)] = True
            theirs = copy[np.maximum(rows, 0)] if len(copy) else values
            again = mine & owned
            if again.any():
                clashes[again] |= find_changes(values[again], theirs[again])
            fresh = mine & ~owned
            values[fresh] = theirs[fresh]
            owned |= mine
        clashes |= owned & standing[:, None] & gone[:, None]
        if clashes.any():
            reset = clashes & standing[:, None]
            values[reset] = base[np.maximum(self.in_base, 0)][reset] if len(base) else values[reset]
        rows_of, elements = np.nonzero(clashes)
        conflicts = ArrayConflicts(self, name, rows_of, elements, base, copies, changed, deleted)
        conflicts.choose(asked, values)
        conflicts.changed = [mine & standing[:, None] for mine in changed]
        return values, conflicts

    def index_of(self, name: str, row: int, element: int) -> tuple[int, ...]:
        """Return the index of an element in its array, by the number of its row and its place in the row."""
        array, axis = self._files.base[name], self._group.axes[name]
        if not array.ndim:
            return ()
        rest = array.shape[:axis] + array.shape[axis + 1 :]
        indices = [int(part) for part in np.unravel_index(element, rest)] if rest else []
        return (*indices[:axis], row, *indices[axis:])

    @property
    def file_names(self) -> list[str]:
        """The names of the copies."""
        return self._files.names

    @property
    def base_name(self) -> str:
        """The name of the base."""
        return self._files.base_name


def _note(counts: dict[str, int], name: str, count: int) -> None:
    if count:
        counts[name] = count


def _known(array: Array | None) -> Array:
    assert array is not None  # arrays of a group can be cast
    return array


def _from_rows(rows: Array, like: Array, axis: int) -> Array:
    """Return rows as an array, in the order in memory that the base has."""
    if not like.ndim:
        return rows.reshape(())
    array = np.moveaxis(rows.reshape(len(rows), *like.shape[:axis], *like.shape[axis + 1 :]), 0, axis)
    return np.asfortranarray(array) if row_axis(like) else np.ascontiguousarray(array)
