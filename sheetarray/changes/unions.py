"""The union of the rows of a group, from the base and all copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..dtypes import Array, Mask, Positions, find_missing_value
from .conflicts import ArrayConflicts, AskedChoices, ConflictsOfArray, FileChanges, MergedFiles
from .elements import cast_exactly, find_changes
from .formulas import loosen_formulas
from .merged_groups import MergedGroup, row_axis
from .merged_rows import map_merged_rows
from .rows import RowMap, label_keys, to_rows


class RowUnion:
    """The rows of a group in the base and in all copies: first those of the base, then those that were added.

    Attributes:
        count: the number of rows.
        in_base: for each row, its number in the base; -1 where the base lacks it.
        in_copy: the same for each copy.
        maps: for each copy which row of the base each of its rows was.
    """

    def __init__(self, files: MergedFiles, group: MergedGroup, labels: Sequence[str], *, is_key: bool = False) -> None:
        self._files, self._group = files, group
        self._rows = {name: to_rows(files.base[name], group.axes[name]) for name in group.names}
        self._labels = [name for name in labels if name in self._rows] if {*labels} <= {*self._rows} else []
        self._count = len(next(iter(self._rows.values())))
        self._loose: dict[str, Array] = {}  # rows of the base without what formulas say of other rows
        self._copies: list[dict[str, Array] | None] = []
        self.maps: list[RowMap] = []
        self._noted: list[dict[str, Positions]] = [{} for _ in group.copies]  # as `map_merged_rows` notes them
        self._left_out: list[Mask | None] = []  # of each copy, added rows with an element that has no value
        for number, has in enumerate(group.copies):
            copy, unreadable = self._take_rows(number) if has else (None, {})
            rows = RowMap.of_same(self._count)
            if copy is not None:
                labels_read = self._labels if not unreadable.keys() & {*self._labels} else []
                base, loose = self._loosen(copy)
                rows = map_merged_rows(base, loose, labels_read, is_key=is_key, noted=self._noted[number])
                for name in base:
                    if loose[name] is not copy[name]:
                        self._noted[number].pop(name, None)  # formulas are compared anew
            self._copies.append(copy)
            self.maps.append(rows)
            self._left_out.append(self._fill_unreadable(copy, unreadable, rows) if copy is not None else None)
        self._place_added()

    def _loosen(self, copy: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return the rows of the base and of a copy. In columns that differ, formulas lack their references to rows."""
        base, loose = dict(self._rows), dict(copy)
        for name, rows in copy.items():
            before = base[name]
            is_column = rows.dtype.kind == "O" and rows.shape[1] == 1
            if not is_column or (len(rows) == len(before) and not find_changes(before, rows).any()):
                continue
            if name not in self._loose:
                self._loose[name] = loosen_formulas(before.reshape(-1)).reshape(-1, 1)
            base[name], loose[name] = self._loose[name], loosen_formulas(rows.reshape(-1)).reshape(-1, 1)
        return base, loose

    def replace(self, number: int, name: str, elements: Mapping[int, Any]) -> None:
        """Replace elements of an array of one dimension in a copy, by its number and their rows there."""
        copy = self._copies[number]
        assert copy is not None
        copy[name] = copy[name].copy()
        copy[name][[*elements], 0] = [*elements.values()]

    def _take_rows(self, number: int) -> tuple[dict[str, Array], dict[str, Mask]]:
        """Return the rows of a copy, and masks of elements whose cells cannot be read: they get the base's values."""
        copy: dict[str, Array] = {}
        unreadable: dict[str, Mask] = {}
        for name in self._group.names:
            array = cast_exactly(self._files.arrays[number][name], self._files.base[name].dtype)
            assert array is not None  # arrays of a group can be cast
            copy[name] = to_rows(array, self._group.axes[name])
            if (mask := self._files.unreadable[number].get(name)) is not None:
                unreadable[name] = to_rows(mask, self._group.axes[name])
                common = min(self._count, len(copy[name]))
                places = unreadable[name][:common]
                copy[name] = _widen(copy[name], self._rows[name]).copy()
                copy[name][:common][places] = self._rows[name][:common][places]
        return copy, unreadable

    def _fill_unreadable(self, copy: dict[str, Array], unreadable: Mapping[str, Mask], rows: RowMap) -> Mask | None:
        """Give the elements whose cells cannot be read the base's values, and return a mask of rows that have none."""
        left_out = np.zeros(len(rows.sources), np.bool_)
        added = rows.sources < 0
        for name, mask in unreadable.items():
            if not added.all():
                places = mask & ~added[:, None]
                copy[name][places] = self._rows[name][np.maximum(rows.sources, 0)][places]
            if (missing := find_missing_value(copy[name].dtype)) is None:
                left_out |= added & mask.any(axis=1)
            else:
                copy[name][mask & added[:, None]] = missing
        return left_out if left_out.any() else None

    def _place_added(self) -> None:
        """Find the rows that were added, in the order of the files, and the row of the base that each of them follows.

        Rows at the end of a copy follow the last row, and so do those of a copy whose rows are in another order.
        """
        follows: list[int] = []
        place_of_key: dict[Any, int] = {}
        owners: list[dict[int, int]] = []  # of each added row the rows of the copies that have it
        for number, (rows, copy) in enumerate(zip(self.maps, self._copies, strict=True)):
            if copy is None or rows.is_same or not rows.added:
                continue
            keys = label_keys(copy, self._labels) if self._labels else None
            if keys is not None and len(set(keys)) < len(keys):
                keys = None
            last = np.maximum.accumulate(rows.sources)
            end = np.flatnonzero(rows.sources >= 0)[-1:].max(initial=-1)
            left_out = self._left_out[number]
            for row in rows.added:
                if left_out is not None and left_out[row]:
                    continue
                key = None if keys is None else keys[row]
                if key is not None and key in place_of_key and number not in owners[place_of_key[key]]:
                    owners[place_of_key[key]][number] = row
                    continue
                if key is not None:
                    place_of_key.setdefault(key, len(owners))
                follows.append(self._count - 1 if row > end or rows.is_sorted else int(last[row]))
                owners.append({number: row})
        self._follows = np.array(follows, np.int64)
        self.count = self._count + len(owners)
        self.in_base = np.arange(self.count)
        self.in_base[self._count :] = -1
        self.in_copy: list[Positions] = []
        for number, rows in enumerate(self.maps):
            if rows.is_same and not owners:
                self.in_copy.append(self.in_base)
                continue
            places = np.full(self.count, -1, np.int64)
            present = np.flatnonzero(rows.sources >= 0)
            places[rows.sources[present]] = present
            places[self._count :] = [owner.get(number, -1) for owner in owners]
            self.in_copy.append(places)

    def merge(
        self,
        asked: AskedChoices,
        merged: dict[str, Any],
        found: dict[str, ConflictsOfArray],
        changes: Sequence[FileChanges],
    ) -> Positions:
        """Put the merged arrays of the group, and their conflicts, under their names.

        It returns for each merged row its row in the base; -1 where the base lacks it.
        """
        deleted = [
            None if rows.is_same else places[: self._count] < 0
            for rows, places in zip(self.maps, self.in_copy, strict=True)
        ]
        gone = np.zeros(self.count, np.bool_)
        for mask in deleted:
            if mask is not None:
                gone[: self._count] |= mask
        stays = np.zeros(self.count, np.bool_)
        values_of = {}
        for name in self._group.names:
            values, conflicts, edited = self._merge_elements(name, deleted, gone, asked)
            values_of[name] = values
            if len(conflicts.rows):
                found[name] = conflicts
                stays[conflicts.rows[~conflicts.is_deletion]] = True
            for number, change in enumerate(changes):
                if self._copies[number] is not None:
                    rows, left_out, mask = self.maps[number], self._left_out[number], deleted[number]
                    lost = 0 if left_out is None else int(np.count_nonzero(left_out))
                    _note(change.elements, name, edited[number])
                    _note(change.added, name, 0 if rows.is_same else len(rows.added) - lost)
                    _note(change.deleted, name, 0 if mask is None else int(np.count_nonzero(mask)))
                    change.moved += [name] if not rows.is_same and rows.is_sorted else []
        order = self._order_rows(~gone | stays)
        places = np.full(self.count, -1, np.int64)
        places[order] = np.arange(len(order))
        for name in values_of.keys() & found.keys():
            found[name].merged_rows = places
        is_whole = len(order) == self.count and not len(self._follows)
        for name, values in values_of.items():
            chosen = values if is_whole else values[order]
            merged[name] = _from_rows(chosen, self._files.base[name], self._group.axes[name])
        return self.in_base[order]

    def _order_rows(self, remaining: Mask) -> Positions:
        """Return the rows that remain in their order: each added one behind the last row that remains before it."""
        rows = np.flatnonzero(remaining[: self._count])
        at = np.searchsorted(rows, self._follows, side="right")  # stable: file after file, row after row
        return np.insert(rows, at, np.arange(self._count, self.count))

    def _merge_elements(
        self, name: str, deleted: Sequence[Mask | None], gone: Mask, asked: AskedChoices
    ) -> tuple[Array, ArrayConflicts, list[int]]:
        """Return the elements of the union of an array, its conflicts, and how many elements each copy has changed."""
        base, copies = self._rows[name], [None if copy is None else copy[name] for copy in self._copies]
        texts = [copy.dtype for copy in copies if copy is not None] if base.dtype.kind in "UT" else []
        dtype = reduce(np.promote_types, texts, base.dtype)  # the base's; of texts the widest
        base = base.astype(dtype, copy=False)
        copies = [None if copy is None else copy.astype(dtype, copy=False) for copy in copies]
        width = base.shape[1]
        values = np.empty((self.count, width), dtype)
        values[: self._count] = base
        flat = values.reshape(-1)
        owned, clashes = (np.zeros(flat.shape, np.bool_) for _ in range(2))
        changed = [self._find_changed(number, name, base, copy) for number, copy in enumerate(copies)]
        for number, (copy, places) in enumerate(zip(copies, changed, strict=True)):
            if copy is None or not len(places):
                continue
            theirs = copy[self.in_copy[number][places // width], places % width]
            again = owned[places]
            if again.any():
                clashes[places[again]] |= find_changes(flat[places[again]], theirs[again])
            flat[places[~again]] = theirs[~again]
            owned[places] = True
        if gone.any():
            clashes |= owned & np.repeat(gone, width)
        unclear = np.flatnonzero(clashes)
        if len(unclear):
            reset = unclear[unclear < self._count * width]
            flat[reset] = base.reshape(-1)[reset]
        conflicts = ArrayConflicts(self, name, divmod(unclear, width), base, copies, changed, deleted)
        conflicts.choose(asked, values)
        end = self._count * width
        return values, conflicts, [int(np.count_nonzero(places < end)) for places in changed]

    def _find_changed(self, number: int, name: str, base: Array, copy: Array | None) -> Positions:
        """Return the elements of a copy that differ from the base, and those of added rows, by their numbers."""
        if copy is None:
            return np.zeros(0, np.int64)
        if self.maps[number].is_same:
            noted = self._noted[number].get(name)
            return np.flatnonzero(find_changes(base, copy)) if noted is None else noted
        places, width = self.in_copy[number], base.shape[1]
        present = np.flatnonzero(places[: self._count] >= 0)
        rows, elements = np.nonzero(find_changes(base[present], copy[places[present]]))
        added = np.flatnonzero(places[self._count :] >= 0) + self._count
        new = (added[:, None] * width + np.arange(width)).reshape(-1)
        return np.concatenate([present[rows] * width + elements, new])

    def index_of(self, name: str, row: int, element: int) -> tuple[int, ...]:
        """Return the index of an element in its array, by the number of its row and its place in the row."""
        array, axis = self._files.base[name], self._group.axes[name]
        if not array.ndim:
            return ()
        rest = array.shape[:axis] + array.shape[axis + 1 :]
        indices = [int(part) for part in np.unravel_index(element, rest)] if rest else []
        return (*indices[:axis], row, *indices[axis:])

    @property
    def base_rows(self) -> int:
        """The number of rows of the base."""
        return self._count

    @property
    def file_names(self) -> list[str]:
        """The names of the copies."""
        return self._files.names

    @property
    def base_name(self) -> str:
        """The name of the base."""
        return self._files.base_name


def _widen(rows: Array, like: Array) -> Array:
    """Return texts in a dtype that also has room for the texts of the base; other rows unchanged."""
    return rows.astype(np.promote_types(rows.dtype, like.dtype)) if rows.dtype.kind in "UT" else rows


def _note(counts: dict[str, int], name: str, count: int) -> None:
    if count:
        counts[name] = count


def _from_rows(rows: Array, like: Array, axis: int) -> Array:
    """Return rows as an array, in the order in memory that the base has."""
    if not like.ndim:
        return rows.reshape(())
    array = np.moveaxis(rows.reshape(len(rows), *like.shape[:axis], *like.shape[axis + 1 :]), 0, axis)
    return np.asfortranarray(array) if row_axis(like) else np.ascontiguousarray(array)
