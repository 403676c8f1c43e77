"""Puts together what several people have changed in copies of the same arrays: three-way, element by element.

Arrays whose rows belong together, such as the columns of a table, are a *group*. For each copy the rows of a group are
aligned with those of the base: by their labels where they have some, else by their content. The *union* of a group is
the rows of the base and, behind the row that they follow in their copy, all rows that were added, copy after copy. Each
element of the union has one value in the base and perhaps others in copies; where they are different, that is a
conflict, and the base's value stands until somebody chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final, overload

import numpy as np

from .. import dtypes
from ..dtypes import Array, Mask, Positions
from .elements import are_alike, cast_exactly, find_changes
from .rows import RowOrigins, Table, align_labels, align_tables, label_keys, pair_runs, to_rows

_NOBODY, _BASE = -1, -2  # instead of the number of a copy: nobody has chosen, and the base's value is chosen


class Deleted:
    """The value of an element whose row somebody has deleted."""

    def __repr__(self) -> str:
        return "deleted"


DELETED: Final = Deleted()


@dataclass(frozen=True, slots=True)
class Place:
    """An element of one of the files.

    Attributes:
        file: the name of the file.
        array: the name of the array.
        index: of the element; None for the array as a whole.
    """

    file: str
    array: str
    index: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """An element, or an array, that several people have changed differently.

    Attributes:
        place: in the base; of a row that the base lacks, in the first file that has it.
        places: where it is in each file.
        base: its value in the base; None where the base lacks it.
        values: its value in each file that has changed it, by the file's name; `DELETED` where the row was deleted.
        chosen: the file whose value stands; None as long as nobody has chosen.
        merged: its index in the merged array; None where its row is deleted, or for the array as a whole.
        labels: of the element, by dimension.
        cells: the address of its cell in each file.

    """

    place: Place
    places: dict[str, Place]
    base: Any
    values: dict[str, Any]
    chosen: str | None = None
    merged: tuple[int, ...] | None = None
    labels: dict[str, str] = field(default_factory=dict)
    cells: dict[str, str] = field(default_factory=dict)

    @property
    def array(self) -> str:
        """The name of the array."""
        return self.place.array

    @property
    def index(self) -> tuple[int, ...] | None:
        """The index of the element; None for the array as a whole."""
        return self.place.index


@dataclass(slots=True)
class FileChanges:
    """The changes of one person.

    Attributes:
        file: the name of the file.
        elements: how many elements were changed, by array; rows that were added or deleted do not count.
        added: the number of rows that were added, by array.
        deleted: the number of rows that were deleted, by array.
        moved: arrays whose rows stand in another order.
        new: arrays that the base lacks.
        absent: arrays of the base that the file lacks; they stay.
        other: arrays of another shape or dtype, which are compared as a whole.
    """

    file: str
    elements: dict[str, int] = field(default_factory=dict)
    added: dict[str, int] = field(default_factory=dict)
    deleted: dict[str, int] = field(default_factory=dict)
    moved: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MergedArrays:
    """Arrays put together, and what could not be."""

    arrays: dict[str, Any]  # the merged arrays by name: those of the base in their order, then new ones
    conflicts: Conflicts  # what was changed differently, in the order of arrays and elements
    changes: list[FileChanges]  # what each person has changed


Arrays = Mapping[str, Any]  # ndarrays, or awkward arrays, by name
Choices = Mapping[Place, str]  # the file whose value stands, by where the element is in any file


def merge_arrays(
    base: tuple[str, Arrays],
    returned: Sequence[tuple[str, Arrays]],
    *,
    groups: Mapping[tuple[str, int], Hashable] | None = None,
    labels: Mapping[Hashable, Sequence[str]] | None = None,
    prefer: Sequence[str] = (),
    choices: Choices | None = None,
) -> MergedArrays:
    """Return the arrays with all that people have changed in their copies.

    `base`: the name of the file that was sent, and its arrays. `returned`: the names of the files that came back, and
    theirs. `groups`: for each array of the base, and each of its axes, the group of arrays to which its rows along that
    axis belong; those that are not named belong together with the arrays of as many rows. `labels`: the arrays that
    label the rows of a group. `prefer`: files whose values stand in conflicts; the first that has one counts.
    `choices`: the files whose values stand in single conflicts, or the base; they count before `prefer`.

    Example:
        >>> base = {"t": np.array([1, 2, 3])}
        >>> copies = [("a", {"t": np.array([9, 2, 3])}), ("b", {"t": np.array([1, 2, 7, 4])})]
        >>> merge_arrays(("base", base), copies).arrays
        {'t': array([9, 2, 7, 4])}
    """
    files = _Files(base[0], base[1], [name for name, _ in returned], [arrays for _, arrays in returned])
    asked = _Asked([base[0], *files.names], prefer, choices or {})
    changes = [FileChanges(name) for name in files.names]
    merged: dict[str, Any] = {}
    found: dict[str, _Conflicts] = {}
    for group in _group(files, groups or {}, labels or {}):
        union = _Union(files, group, (labels or {}).get(group.key, ()))
        union.merge(asked, merged, found, changes)
    for name in base[1]:
        if name not in merged:
            _merge_whole(files, name, asked, merged, found, changes)
    for name in dict.fromkeys(name for arrays in files.arrays for name in arrays if name not in base[1]):
        _merge_whole(files, name, asked, merged, found, changes)
    for one, arrays in zip(changes, files.arrays, strict=True):
        one.absent = [name for name in base[1] if name not in arrays]
    order = [*base[1], *(name for name in merged if name not in base[1])]
    return MergedArrays(
        {name: merged[name] for name in order}, Conflicts([found[name] for name in order if name in found]), changes
    )


@dataclass(frozen=True, slots=True)
class _Files:
    base_name: str
    base: Arrays
    names: list[str]
    arrays: list[Arrays]


class _Asked:
    """A choice: the file whose value a conflict gets."""

    def __init__(self, names: Sequence[str], prefer: Sequence[str], choices: Choices) -> None:
        numbers = {name: number for number, name in enumerate(names, -1)}
        self.preferred = [numbers[name] if numbers[name] >= 0 else _BASE for name in prefer]
        self._choices = {place: numbers[name] if numbers[name] >= 0 else _BASE for place, name in choices.items()}
        self.arrays = {place.array for place in choices}

    def choose(self, places: Callable[[], Sequence[Place]], says: Sequence[bool]) -> int:
        """Return the number of the file whose value stands in one conflict.

        `places`: returns where it is in each file. `says`: whether each of the files that came back has a value of its
        own.
        """
        for place in places() if self._choices else ():
            if place in self._choices and ((number := self._choices[place]) == _BASE or says[number]):
                return number
        return next((number for number in self.preferred if number == _BASE or says[number]), _NOBODY)


# Groups --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Group:
    """Arrays whose rows belong together, and have as many rows in each file."""

    key: Hashable  # of the group
    names: list[str]  # of the arrays
    axes: dict[str, int]  # along which the rows of each lie
    copies: list[bool]  # for each file whether it has these arrays


def _group(
    files: _Files, groups: Mapping[tuple[str, int], Hashable], labels: Mapping[Hashable, Sequence[str]]
) -> list[_Group]:
    """Return the groups of arrays that can be merged element by element."""
    found: dict[Hashable, _Group] = {}
    for name, array in files.base.items():
        if not isinstance(array, np.ndarray):
            continue
        axis, rows_along = _find_axis(files, name, groups, labels), row_axis(array)
        if not all(name not in arrays or _is_like(array, arrays[name], axis) for arrays in files.arrays):
            continue
        if axis != rows_along and not _are_alike_in_all(files, labels.get(groups.get((name, rows_along)), ())):
            continue  # its rows are others, too
        if not array.ndim:
            key: Hashable = ("single", name)
            lengths: tuple[int | None, ...] = ()
        else:
            alone: Hashable = ("rows", array.shape[axis]) if axis == rows_along else ("across", name, axis)
            key = groups.get((name, axis), alone)
            lengths = tuple(arrays[name].shape[axis] if name in arrays else None for arrays in files.arrays)
        copies = [name in arrays for arrays in files.arrays]
        rows = array.shape[axis] if array.ndim else 1
        group = found.setdefault((key, rows, lengths), _Group(key, [], {}, copies))
        group.names.append(name)
        group.axes[name] = axis
    return list(found.values())


def _find_axis(
    files: _Files,
    name: str,
    groups: Mapping[tuple[str, int], Hashable],
    labels: Mapping[Hashable, Sequence[str]],
) -> int:
    """Return the axis along which an array has another length in some file, or else other labels.

    It is the axis of its rows where there is no such axis, or more than one.
    """
    base = files.base[name]
    others = [arrays[name] for arrays in files.arrays if isinstance(arrays.get(name), np.ndarray)]
    changed = {
        axis
        for other in others
        for axis, sizes in enumerate(zip(base.shape, other.shape, strict=False))
        if sizes[0] != sizes[1]
    }
    if not changed:
        known = {axis: labels.get(groups.get((name, axis)), ()) for axis in range(base.ndim)}
        changed = {axis for axis, names in known.items() if not _are_alike_in_all(files, names)}
    return changed.pop() if len(changed) == 1 else row_axis(base)


def _are_alike_in_all(files: _Files, names: Sequence[str]) -> bool:
    """Return whether some arrays are the same in all files that have them."""
    return all(are_alike(files.base[name], arrays[name]) for arrays in files.arrays for name in names if name in arrays)


def row_axis(array: Array) -> int:
    """Return the axis along which people add rows: the one that varies slowest in the column of the array."""
    several = sum(size > 1 for size in array.shape) > 1 and array.size > 0
    return array.ndim - 1 if several and array.flags.f_contiguous else 0


def _is_like(base: Array, other: Any, axis: int) -> bool:
    """Return whether the elements of an array can be compared one by one with those of the base."""
    if not isinstance(other, np.ndarray) or other.ndim != base.ndim:
        return False
    if base.shape[:axis] + base.shape[axis + 1 :] != other.shape[:axis] + other.shape[axis + 1 :]:
        return False
    return cast_exactly(other, base.dtype) is not None


# Unions --------------------------------------------------------------------------------------------------------------


class _Union:
    """The rows of a group in the base and in all copies.

    Attributes:
        count: the number of rows.
        in_base: for each row, its number in the base; -1 where the base lacks it.
        in_copy: the same for each copy.
    """

    def __init__(self, files: _Files, group: _Group, labels: Sequence[str]) -> None:
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
        self._origins = [
            RowOrigins(identity, np.zeros(count, np.bool_)) if copy is None else self._align(copy)
            for copy in self._copies
        ]
        self._place_added(count)

    def _align(self, copy: Mapping[str, Array]) -> RowOrigins:
        """Return the row of the base that each row of a copy was."""
        before, now = (self._table(rows) for rows in (self._rows, copy))
        count, others = len(before[0][0]), len(now[0][0])
        if self._labels:
            found = align_labels(self._rows, copy, self._labels)
            if found is not None:
                return found
        identity = RowOrigins(np.arange(others), np.zeros(others, np.bool_))
        width = sum(rows.shape[1] for rows, _ in before)
        if not width or not count or not others:
            return RowOrigins(np.full(others, -1), np.zeros(others, np.bool_)) if count != others else identity
        differing = self._count_changes(copy, identity.sources) if count == others else None
        if differing is not None and (differing[0] < 2 or (len(before) == 1 and width == 1)):
            return identity
        origins = align_tables(before, now)
        if len(before) == 1:  # the order of its rows is what a single array says
            origins = RowOrigins(np.where(origins.moved, -1, origins.sources), np.zeros(others, np.bool_))
        if differing is not None:
            kept = int(np.count_nonzero(origins.sources >= 0)) * width - self._count_changes(copy, origins.sources)[1]
            if kept <= count * width - differing[1]:  # as many elements are the same where nothing was moved
                return identity
        elif not (origins.sources >= 0).any():
            return RowOrigins(np.where(identity.sources < count, identity.sources, -1), identity.moved)
        if width == 1 and not origins.moved.any():
            pair_runs(origins.sources, count)
        return origins

    def _table(self, rows: Mapping[str, Array]) -> Table:
        return [(array, dtypes.from_numpy(self._rows[name].dtype)) for name, array in rows.items()]

    def _count_changes(self, copy: Mapping[str, Array], sources: Positions) -> tuple[int, int]:
        """Return the number of rows, and of elements, that are others than in the base."""
        known = np.flatnonzero(sources >= 0)
        differing = np.zeros(len(known), np.int64)
        for name, rows in self._rows.items():
            differing += find_changes(rows[sources[known]], copy[name][known]).sum(axis=1)
        return int(np.count_nonzero(differing)), int(differing.sum())

    def _place_added(self, count: int) -> None:
        """Find the places of all rows: those of the base, and behind them those that were added."""
        added: list[tuple[int, int, int]] = []  # the row of the base that it follows, the copy, the row of the copy
        known: dict[Any, int] = {}
        owners: list[dict[int, int]] = []  # of each added row the rows of the copies that have it
        for number, (origins, copy) in enumerate(zip(self._origins, self._copies, strict=True)):
            if copy is None or not len(origins.inserted):
                continue
            keys = label_keys(copy, self._labels) if self._labels else None
            if keys is not None and len(set(keys)) < len(keys):
                keys = None
            last = np.maximum.accumulate(np.where(origins.moved.any(), count - 1, origins.sources))
            for row in origins.inserted.tolist():
                key = None if keys is None else keys[row]
                if key is not None and key in known and number not in owners[known[key]]:
                    owners[known[key]][number] = row
                    continue
                if key is not None:
                    known.setdefault(key, len(owners))
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
        self, asked: _Asked, merged: dict[str, Any], found: dict[str, _Conflicts], changes: Sequence[FileChanges]
    ) -> None:
        """Put the merged arrays of the group, and their conflicts, under their names."""
        deleted = [(self.in_base >= 0) & (rows < 0) for rows in self.in_copy]
        gone = np.any(deleted, axis=0) if deleted else np.zeros(self.count, np.bool_)
        stays = np.zeros(self.count, np.bool_)
        made = {}
        for name in self._group.names:
            values, conflicts = self._merge_elements(name, deleted, gone, asked)
            made[name] = values
            if len(conflicts.rows):
                found[name] = conflicts
                stays[conflicts.rows[~conflicts.is_deletion]] = True
            for number, one in enumerate(changes):
                if self._copies[number] is not None:
                    _note(one.elements, name, int(np.count_nonzero(conflicts.changed[number])))
                    _note(one.added, name, len(self._origins[number].inserted))
                    _note(one.deleted, name, int(np.count_nonzero(deleted[number])))
                    one.moved += [name] if self._origins[number].moved.any() else []
            conflicts.changed = []
        kept = ~gone | stays
        for name in made.keys() & found.keys():
            found[name].merged_rows = np.where(kept, np.cumsum(kept) - 1, -1)
        for name, values in made.items():
            merged[name] = _from_rows(values[kept], self._files.base[name], self._group.axes[name])

    def _merge_elements(
        self, name: str, deleted: Sequence[Mask], gone: Mask, asked: _Asked
    ) -> tuple[Array, _ArrayConflicts]:
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
        conflicts = _ArrayConflicts(self, name, rows_of, elements, base, copies, changed, deleted)
        conflicts.choose(asked, values)
        conflicts.changed = [mine & standing[:, None] for mine in changed]
        return values, conflicts

    def index_of(self, name: str, row: int, element: int) -> tuple[int, ...]:
        """Return the index of an element in its array, by the number of its row and its place in the row."""
        array, axis = self._files.base[name], self._group.axes[name]
        if not array.ndim:
            return ()
        rest = array.shape[:axis] + array.shape[axis + 1 :]
        others = [int(part) for part in np.unravel_index(element, rest)] if rest else []
        return (*others[:axis], row, *others[axis:])

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


# Conflicts -----------------------------------------------------------------------------------------------------------


class _ArrayConflicts:
    """The conflicts of the elements of one array.

    Attributes:
        rows: of the union.
        chosen: the number of the copy whose value stands, `_BASE` or `_NOBODY`.
        changed: masks of the elements that each copy has changed, as long as they are counted.
        merged_rows: for each row of the union its number in the merged array; -1 where it is deleted.
    """

    def __init__(
        self,
        union: _Union,
        name: str,
        rows: Positions,
        elements: Positions,
        base: Array,
        copies: Sequence[Array | None],
        changed: Sequence[Mask],
        deleted: Sequence[Mask],
    ) -> None:
        self.rows, self._elements = rows, elements
        self._union, self._name, self._base, self._copies = union, name, base, copies
        self._says = [mine[rows, elements] for mine in changed]
        self._deletes = [mask[rows] for mask in deleted]
        self.chosen = np.full(len(rows), _NOBODY, np.int64)
        self.changed: list[Mask] = []
        self.merged_rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def is_deletion(self) -> Mask:
        """A mask of the conflicts in which the deletion of the row is chosen."""
        mask = np.zeros(len(self.rows), np.bool_)
        for number, deletes in enumerate(self._deletes):
            mask |= deletes & (self.chosen == number)
        return mask

    def choose(self, asked: _Asked, values: Array) -> None:
        """Choose whose values stand, and put them among the values of the union."""
        if self._name in asked.arrays:
            for number in range(len(self.rows)):
                says = [bool(a[number] or b[number]) for a, b in zip(self._says, self._deletes, strict=True)]
                self.chosen[number] = asked.choose(lambda number=number: [*self._places(number).values()], says)  # type: ignore[misc]
        else:
            for number in reversed(asked.preferred):
                has = self._says[number] | self._deletes[number] if number >= 0 else True
                self.chosen = np.where(has, number, self.chosen)
        for number, copy in enumerate(self._copies):
            places = np.flatnonzero(self._says[number] & (self.chosen == number))
            if copy is not None and len(places):
                rows, elements = self.rows[places], self._elements[places]
                values[rows, elements] = copy[self._union.in_copy[number][rows], elements]

    def _places(self, number: int) -> dict[str, Place]:
        """Return where an element is in each file that has it, the base first."""
        row, element = int(self.rows[number]), int(self._elements[number])
        union = self._union
        rows = [int(union.in_base[row]), *(int(each[row]) for each in union.in_copy)]
        has = [True, *(copy is not None for copy in self._copies)]
        return {
            file: Place(file, self._name, union.index_of(self._name, at, element))
            for file, at, present in zip([union.base_name, *union.file_names], rows, has, strict=True)
            if at >= 0 and present
        }

    def build(self, number: int) -> Conflict:
        """Return one of the conflicts."""
        row, element = int(self.rows[number]), int(self._elements[number])
        union, places = self._union, self._places(number)
        values: dict[str, Any] = {}
        for which, (file, copy) in enumerate(zip(union.file_names, self._copies, strict=True)):
            if self._deletes[which][number]:
                values[file] = DELETED
            elif copy is not None and self._says[which][number]:
                values[file] = _plain(copy[union.in_copy[which][row], element])
        at = int(union.in_base[row])
        chosen = int(self.chosen[number])
        name = None if chosen == _NOBODY else union.base_name if chosen == _BASE else union.file_names[chosen]
        base = _plain(self._base[at, element]) if at >= 0 else None
        final = int(self.merged_rows[row])
        merged = union.index_of(self._name, final, element) if final >= 0 else None
        return Conflict(next(iter(places.values())), places, base, values, name, merged)


def _plain(value: Any) -> Any:
    """Return an element as Python has it; dates and durations stay NumPy's."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value


class _WholeConflict:
    """The one conflict of an array that is compared as a whole."""

    def __init__(self, conflict: Conflict) -> None:
        self._conflict = conflict
        self.merged_rows = np.zeros(0, np.int64)
        self.chosen = np.array([_NOBODY if conflict.chosen is None else _BASE])

    def __len__(self) -> int:
        return 1

    def build(self, _number: int) -> Conflict:
        """Return the conflict."""
        return self._conflict


_Conflicts = _ArrayConflicts | _WholeConflict


class Conflicts(Sequence[Conflict]):
    """All conflicts of a merge; each is made when it is asked for, since there may be millions.

    `complete` is called with each, and returns it with all that is known of it.
    """

    def __init__(self, arrays: Sequence[_Conflicts]) -> None:
        self._arrays = arrays
        self.complete: Callable[[Conflict], Conflict] = lambda conflict: conflict
        self._ends = np.cumsum([0, *map(len, arrays)])

    def __len__(self) -> int:
        return int(self._ends[-1])

    @overload
    def __getitem__(self, index: int) -> Conflict: ...

    @overload
    def __getitem__(self, index: slice) -> list[Conflict]: ...

    def __getitem__(self, index: int | slice) -> Conflict | list[Conflict]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        which = int(np.searchsorted(self._ends, number, side="right")) - 1
        return self.complete(self._arrays[which].build(number - int(self._ends[which])))

    def __iter__(self) -> Iterator[Conflict]:
        return (self.complete(array.build(number)) for array in self._arrays for number in range(len(array)))

    def __repr__(self) -> str:
        return f"<{len(self):,} {'conflict' if len(self) == 1 else 'conflicts'}, {self.unresolved:,} not chosen>"

    @property
    def unresolved(self) -> int:
        """The number of conflicts in which nobody has chosen."""
        return sum(int(np.count_nonzero(array.chosen == _NOBODY)) for array in self._arrays)


# Arrays as a whole ---------------------------------------------------------------------------------------------------


def _merge_whole(
    files: _Files,
    name: str,
    asked: _Asked,
    merged: dict[str, Any],
    found: dict[str, _Conflicts],
    changes: Sequence[FileChanges],
) -> None:
    """Merge an array that can only be compared as a whole: a new one, or one of another shape or dtype."""
    base = files.base.get(name)
    has_base = name in files.base
    values = {
        number: arrays[name]
        for number, arrays in enumerate(files.arrays)
        if name in arrays and not (has_base and are_alike(base, arrays[name]))
    }
    for number in values:
        (changes[number].other if has_base else changes[number].new).append(name)
    first = next(iter(values.values()), None)
    if all(are_alike(first, value) for value in values.values()):
        merged[name] = first if values else base
        return
    names = {files.base_name: files.base, **dict(zip(files.names, files.arrays, strict=True))}
    places = {file: Place(file, name, None) for file, arrays in names.items() if name in arrays}
    says = [number in values for number in range(len(files.names))]
    chosen = asked.choose(lambda: [*places.values()], says)
    merged[name] = values[chosen] if chosen >= 0 else base if has_base else first
    file = None if chosen == _NOBODY else files.base_name if chosen == _BASE else files.names[chosen]
    place = next(iter(places.values()))
    found[name] = _WholeConflict(
        Conflict(place, places, base, {files.names[number]: value for number, value in values.items()}, file)
    )
