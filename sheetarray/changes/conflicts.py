"""The conflicts of a merge: elements and arrays that several people changed differently, and the choices made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from ..dtypes import Array, Mask, Positions

if TYPE_CHECKING:
    from .unions import RowUnion

NOBODY, BASE = -1, -2  # instead of the number of a copy: nobody has chosen, and the base's value is chosen


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


@dataclass(frozen=True, slots=True)
class UnreadableElement:
    """An element whose cell cannot be read in one of the files, such as `n/a`; the base's value stands.

    Attributes:
        file: the name of the file.
        array: the name of the array.
        index: the index of the element there.
        cell: the address of its cell; None if it has none.
        text: what is wrong with the cell; it names what the cell holds.
    """

    file: str
    array: str
    index: tuple[int, ...]
    cell: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Remark:
    """What a person typed beside the arrays: it is not merged.

    Attributes:
        cell: the address of the cell.
        text: what stands in it; "" where the base has something that is gone.
    """

    cell: str
    text: str


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
        renamed: the name now of arrays that have another one, by the name in the base.
        unreadable: the elements whose cells cannot be read.
        remarks: other cells than in the base that belong to no array, in the first rows of sheets; they are not merged.
    """

    file: str
    elements: dict[str, int] = field(default_factory=dict)
    added: dict[str, int] = field(default_factory=dict)
    deleted: dict[str, int] = field(default_factory=dict)
    moved: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    unreadable: list[UnreadableElement] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)

    def add(self, changes: FileChanges, names: Mapping[str, str]) -> None:
        """Add changes of other arrays of the file; `names`: how arrays are called, by the names that they have here."""
        for own, more in zip(self._counts(), changes._counts(), strict=True):
            own.update({names.get(name, name): count for name, count in more.items()})
        for listed, further in zip(self._lists(), changes._lists(), strict=True):
            listed += [names.get(name, name) for name in further]
        self.renamed |= {names.get(name, name): now for name, now in changes.renamed.items()}
        self.unreadable += [replace(entry, array=names.get(entry.array, entry.array)) for entry in changes.unreadable]
        self.remarks += changes.remarks

    def _counts(self) -> Sequence[dict[str, int]]:
        return self.elements, self.added, self.deleted

    def _lists(self) -> Sequence[list[str]]:
        return self.moved, self.new, self.absent, self.other


Arrays = Mapping[str, Any]  # ndarrays, or awkward arrays, by name
Choices = Mapping[Place, str]  # the file whose value stands, by where the element is in any file


@dataclass(frozen=True, slots=True)
class MergedFiles:
    """The file that was sent and those that came back, with their arrays."""

    base_name: str
    base: Arrays
    names: list[str]
    arrays: list[Arrays]
    unreadable: list[Mapping[str, Mask]]  # for some arrays of each copy masks of elements whose cells cannot be read


class AskedChoices:
    """The choices of the caller: which file's value each conflict gets."""

    def __init__(self, names: Sequence[str], prefer: Sequence[str], choices: Choices) -> None:
        numbers = {name: number for number, name in enumerate(names, -1)}
        self.preferred = [numbers[name] if numbers[name] >= 0 else BASE for name in prefer]
        self._choices = {place: numbers[name] if numbers[name] >= 0 else BASE for place, name in choices.items()}
        self.arrays = {place.array for place in choices}

    def choose(self, places: Callable[[], Sequence[Place]], says: Sequence[bool]) -> int:
        """Return the number of the file whose value stands in one conflict.

        `places`: returns where it is in each file. `says`: whether each of the files that came back has a value of its
        own.
        """
        for place in places() if self._choices else ():
            if place in self._choices and ((number := self._choices[place]) == BASE or says[number]):
                return number
        return next((number for number in self.preferred if number == BASE or says[number]), NOBODY)


class ArrayConflicts:
    """The conflicts of the elements of one array.

    Attributes:
        rows: of the union.
        chosen: the number of the copy whose value stands, `BASE` or `NOBODY`.
        merged_rows: for each row of the union its number in the merged array; -1 where it is deleted.
    """

    def __init__(
        self,
        union: RowUnion,
        name: str,
        places: tuple[Positions, Positions],
        base: Array,
        copies: Sequence[Array | None],
        changed: Sequence[Positions],
        deleted: Sequence[Mask | None],
    ) -> None:
        """Note the conflicts of an array.

        `places`: the row of each in the union, and its place in the row. `changed`: the elements that each copy has
        changed, by their numbers in the union. `deleted`: masks of the rows of the base that each copy has deleted.
        """
        self.rows, self._elements = places
        self._union, self._name, self._base, self._copies = union, name, base, copies
        numbers = self.rows * base.shape[1] + self._elements
        self._says = [np.isin(numbers, places_changed) for places_changed in changed]
        self._deletes = [self._mark_deleted(mask) for mask in deleted]
        self.chosen = np.full(len(self.rows), NOBODY, np.int64)
        self.merged_rows = self.rows

    def _mark_deleted(self, mask: Mask | None) -> Mask:
        marks = np.zeros(len(self.rows), np.bool_)
        if mask is not None:
            in_base = self.rows < len(mask)
            marks[in_base] = mask[self.rows[in_base]]
        return marks

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def is_deletion(self) -> Mask:
        """A mask of the conflicts in which the deletion of the row is chosen."""
        mask = np.zeros(len(self.rows), np.bool_)
        for number, deletes in enumerate(self._deletes):
            mask |= deletes & (self.chosen == number)
        return mask

    def choose(self, asked: AskedChoices, values: Array) -> None:
        """Choose for each row whose values stand, and put these into the merged array."""
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
        name = None if chosen == NOBODY else union.base_name if chosen == BASE else union.file_names[chosen]
        base = _plain(self._base[at, element]) if at >= 0 else None
        final = int(self.merged_rows[row])
        merged = union.index_of(self._name, final, element) if final >= 0 else None
        return Conflict(next(iter(places.values())), places, base, values, name, merged)


def _plain(value: Any) -> Any:
    """Return an element as Python has it; dates and durations stay NumPy's."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value


class WholeConflict:
    """The one conflict of an array that is compared as a whole."""

    def __init__(self, conflict: Conflict) -> None:
        self._conflict = conflict
        self.merged_rows = np.zeros(0, np.int64)
        self.chosen = np.array([NOBODY if conflict.chosen is None else BASE])

    def __len__(self) -> int:
        return 1

    def build(self, _number: int) -> Conflict:
        """Return the conflict."""
        return self._conflict


ConflictsOfArray = ArrayConflicts | WholeConflict


class Conflicts(Sequence[Conflict]):
    """All conflicts of a merge; each is made when it is asked for, since there may be millions.

    `complete` is called with each, and returns it with all that is known of it.
    """

    def __init__(self, arrays: Sequence[ConflictsOfArray]) -> None:
        self.arrays = arrays
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
        return self.complete(self.arrays[which].build(number - int(self._ends[which])))

    def __iter__(self) -> Iterator[Conflict]:
        return (self.complete(array.build(number)) for array in self.arrays for number in range(len(array)))

    def __repr__(self) -> str:
        return f"<{len(self):,} {'conflict' if len(self) == 1 else 'conflicts'}, {self.unresolved:,} not chosen>"

    @property
    def unresolved(self) -> int:
        """The number of conflicts in which nobody has chosen."""
        return sum(int(np.count_nonzero(array.chosen == NOBODY)) for array in self.arrays)
