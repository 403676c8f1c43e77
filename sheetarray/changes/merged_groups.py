"""Groups the arrays that share rows in a merge, and finds the axis along which rows are added."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dtypes import Array
from .conflicts import (
    MergedFiles,
)
from .elements import are_alike, cast_exactly


@dataclass(frozen=True, slots=True)
class MergedGroup:
    """Arrays whose rows belong together, and have as many rows in each file."""

    key: Hashable  # of the group
    names: list[str]  # of the arrays
    axes: dict[str, int]  # along which the rows of each lie
    copies: list[bool]  # for each file whether it has these arrays


def group_merged_arrays(
    files: MergedFiles, groups: Mapping[tuple[str, int], Hashable], labels: Mapping[Hashable, Sequence[str]]
) -> list[MergedGroup]:
    """Return the groups of arrays that can be merged element by element."""
    row_groups: dict[Hashable, MergedGroup] = {}
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
        group = row_groups.setdefault((key, rows, lengths), MergedGroup(key, [], {}, copies))
        group.names.append(name)
        group.axes[name] = axis
    return list(row_groups.values())


def _find_axis(
    files: MergedFiles,
    name: str,
    groups: Mapping[tuple[str, int], Hashable],
    labels: Mapping[Hashable, Sequence[str]],
) -> int:
    """Return the axis along which an array has another length in some file, or else other labels.

    It is the axis of its rows where there is no such axis, or more than one.
    """
    base = files.base[name]
    returned = [arrays[name] for arrays in files.arrays if isinstance(arrays.get(name), np.ndarray)]
    changed = {
        axis
        for other in returned
        for axis, sizes in enumerate(zip(base.shape, other.shape, strict=False))
        if sizes[0] != sizes[1]
    }
    if not changed:
        label_names = {axis: labels.get(groups.get((name, axis)), ()) for axis in range(base.ndim)}
        changed = {axis for axis, names in label_names.items() if not _are_alike_in_all(files, names)}
    return changed.pop() if len(changed) == 1 else row_axis(base)


def _are_alike_in_all(files: MergedFiles, names: Sequence[str]) -> bool:
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
