"""Merges the changes of several people in copies of the same arrays: three-way, element by element.

Arrays whose rows belong together, such as the columns of a table, are a *group*. For each copy the rows of a group are
aligned with those of the base: by their labels where they have some, else by their content. The *union* of a group is
the rows of the base and, behind the row that they follow in their copy, all rows that were added, copy after copy. Each
element of the union has one value in the base and perhaps others in copies; where they are different, that is a
conflict, and the base's value stands until somebody chooses.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..dtypes import Mask
from .conflicts import (
    BASE,
    NOBODY,
    Arrays,
    AskedChoices,
    Choices,
    Conflict,
    Conflicts,
    ConflictsOfArray,
    FileChanges,
    MergedFiles,
    Place,
    WholeConflict,
)
from .elements import are_alike
from .merged_groups import MergedGroup, group_merged_arrays
from .rows import RowMap
from .unions import RowUnion


@dataclass(frozen=True, slots=True)
class MergedArrays:
    """Merged arrays, and the conflicts."""

    arrays: dict[str, Any]  # the merged arrays by name: those of the base in their order, then new ones
    conflicts: Conflicts  # what was changed differently, in the order of arrays and elements
    changes: list[FileChanges]  # what each person has changed
    # which row of the base each row is; by name, of the arrays that were merged element by element
    row_maps: dict[str, RowMap]


class AlignedFiles:
    """The arrays of a file and of its copies with their rows paired, which `merge` merges.

    Attributes:
        copy_maps: for each copy, which row of the base each of its rows was, by array.

    Example:
        >>> import numpy as np
        >>> base = {"t": np.array([1, 2, 3])}
        >>> copies = [("a", {"t": np.array([9, 2, 3])}), ("b", {"t": np.array([1, 2, 7, 4])})]
        >>> AlignedFiles(("base", base), copies).merge().arrays
        {'t': array([9, 2, 7, 4])}
    """

    def __init__(
        self,
        base: tuple[str, Arrays],
        returned: Sequence[tuple[str, Arrays]],
        *,
        groups: Mapping[tuple[str, int], Hashable] | None = None,
        labels: Mapping[Hashable, Sequence[str]] | None = None,
        is_key: bool = False,
        unreadable: Sequence[Mapping[str, Mask]] | None = None,
    ) -> None:
        """Pair the rows of each copy with those of the base.

        `base`: the name of the file that was sent, and its arrays. `returned`: the names of the files that came back,
        and theirs. `groups`: for each array of the base, and each of its axes, the group of arrays to which its rows
        along that axis belong; those that are not named belong together with the arrays of as many rows. `labels`: the
        arrays that label the rows of a group. `is_key`: whether a row of another label is another row. `unreadable`:
        for some arrays of each copy masks of the elements whose cells cannot be read: the base's values stand.
        """
        self._files = MergedFiles(
            base[0],
            base[1],
            [name for name, _ in returned],
            [arrays for _, arrays in returned],
            [*(unreadable or [{} for _ in returned])],
        )
        self._unions: list[tuple[MergedGroup, RowUnion]] = []
        self.copy_maps: list[dict[str, RowMap]] = [{} for _ in returned]
        for group in group_merged_arrays(self._files, groups or {}, labels or {}):
            union = RowUnion(self._files, group, (labels or {}).get(group.key, ()), is_key=is_key)
            self._unions.append((group, union))
            for of_copy, rows in zip(self.copy_maps, union.maps, strict=True):
                of_copy |= dict.fromkeys(group.names, rows)

    def replace(self, number: int, name: str, elements: Mapping[int, Any]) -> None:
        """Replace elements of an array of one dimension in a copy, by its number, with others of the same meaning."""
        for group, union in self._unions:
            if name in group.axes:
                union.replace(number, name, elements)

    def merge(self, *, prefer: Sequence[str] = (), choices: Choices | None = None) -> MergedArrays:
        """Return the arrays with the changes from all copies.

        `prefer`: files whose values stand in conflicts; the first that has one counts. `choices`: the files whose
        values stand in single conflicts, or the base; they count before `prefer`.
        """
        files = self._files
        asked = AskedChoices([files.base_name, *files.names], prefer, choices or {})
        changes = [FileChanges(name) for name in files.names]
        merged: dict[str, Any] = {}
        conflicts: dict[str, ConflictsOfArray] = {}
        row_maps: dict[str, RowMap] = {}
        for group, union in self._unions:
            sources = union.merge(asked, merged, conflicts, changes)
            row_maps |= {name: RowMap(sources, union.base_rows, group.axes[name]) for name in group.names}
        for name in dict.fromkeys([*files.base, *(name for arrays in files.arrays for name in arrays)]):
            if name not in merged:
                _merge_whole(files, name, asked, merged, conflicts, changes)
        for change, arrays in zip(changes, files.arrays, strict=True):
            change.absent = [name for name in files.base if name not in arrays]
        order = [*files.base, *(name for name in merged if name not in files.base)]
        return MergedArrays(
            {name: merged[name] for name in order},
            Conflicts([conflicts[name] for name in order if name in conflicts]),
            changes,
            row_maps,
        )


def _merge_whole(
    files: MergedFiles,
    name: str,
    asked: AskedChoices,
    merged: dict[str, Any],
    found: dict[str, ConflictsOfArray],
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
    file = None if chosen == NOBODY else files.base_name if chosen == BASE else files.names[chosen]
    place = next(iter(places.values()))
    found[name] = WholeConflict(
        Conflict(place, places, base, {files.names[number]: value for number, value in values.items()}, file)
    )
