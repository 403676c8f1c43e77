"""Which elements of large arrays a page holds: the slices that somebody names, else every n-th along the long axes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..columns import ArrayInfo
from ..dtypes import Array
from ..errors import Finding, LimitError, NotFoundError, escape_controls, quote_names, warn_caller
from ..labels import DatasetLabels
from .slices import Indices, SliceError, find_indices, format_slice, parse_slice, split_labels
from .tidy import TidyTable, tidy_within

MOST_ELEMENTS = 4_000_000
_MOST_NAMED = 5  # arrays, in one warning

Selection = tuple[range, ...]  # along each axis the indices that are taken


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The elements of an array that a page holds; of an awkward array, its entries."""

    shape: tuple[int, ...]  # of the whole array
    asked: Selection  # what is to be shown
    taken: Selection  # what the page holds of it

    @classmethod
    def of_whole(cls, shape: Sequence[int]) -> Excerpt:
        """Return an excerpt that is the whole array."""
        whole = tuple(map(range, shape))
        return cls(tuple(shape), whole, whole)

    @property
    def is_whole(self) -> bool:
        """Whether the page holds the whole array."""
        return self.taken == tuple(map(range, self.shape))

    @property
    def is_thinned(self) -> bool:
        """Whether the page holds fewer elements than were asked for."""
        return self.taken != self.asked

    @property
    def count(self) -> int:
        """The number of elements that the page holds."""
        return math.prod(map(len, self.taken))

    def thin(self, most: int) -> Excerpt:
        """Return an excerpt of at most so many elements: every n-th along the long axes, the short ones whole.

        Example:
            >>> Excerpt.of_whole((1000, 3)).thin(1200).taken
            (range(0, 1000, 3), range(0, 3))
        """
        if math.prod(map(len, self.asked)) <= most:
            return self
        longest, too_long = 1, max(map(len, self.asked))
        while too_long - longest > 1:  # the longest length of an axis with which all fit
            length = (longest + too_long) // 2
            fits = math.prod(map(len, _cut_axes(self.asked, length))) <= most
            longest, too_long = (length, too_long) if fits else (longest, length)
        return replace(self, taken=_cut_axes(self.asked, longest))

    def take(self, array: Array) -> Array:
        """Return the elements of the array that the page holds."""
        return array if self.is_whole else np.array(array[tuple(map(to_slice, self.taken))])

    def find(self, index: Sequence[int]) -> list[int] | None:
        """Return where an element of the array stands in the excerpt; None if the page does not hold it."""
        if len(index) != len(self.taken) or not all(i in axis for i, axis in zip(index, self.taken, strict=True)):
            return None
        return [axis.index(i) for i, axis in zip(index, self.taken, strict=True)]

    def describe(self, dims: Sequence[str] | None, noun: str = "elements") -> str:
        """Return what the page holds, such as `500 of 1,000 elements: every 2nd along time`."""
        asked = format_slice([_to_index(axis, size) for axis, size in zip(self.asked, self.shape, strict=True)])
        said = [f"the slice {asked}"] if asked else []
        for number, (axis, chosen) in enumerate(zip(self.taken, self.asked, strict=True)):
            if axis != chosen:
                said.append(
                    f"every {ordinal(axis.step // chosen.step)} along {dims[number] if dims else f'axis {number}'}"
                )
        return f"{self.count:,} of {math.prod(self.shape):,} {noun}: {', '.join(said)}"


def _cut_axes(selection: Selection, longest: int) -> Selection:
    return tuple(axis[:: -(-len(axis) // longest) or 1] for axis in selection)


def to_slice(axis: range) -> slice:
    """Return a range of indices as a slice.

    Example:
        >>> to_slice(range(4, -1, -2))
        slice(4, None, -2)
    """
    return slice(axis.start, None if axis.stop < 0 else axis.stop, axis.step)


def _to_index(axis: range, size: int) -> int | slice:
    if axis == range(size):
        return slice(None)
    if len(axis) == 1:
        return axis[0]
    return slice(axis.start, None if axis.stop < 0 else axis.stop, None if axis.step == 1 else axis.step)


def ordinal(number: int) -> str:
    """Return a number as it counts.

    Example:
        >>> [ordinal(number) for number in (1, 2, 3, 11, 22, 103, 112)]
        ['1st', '2nd', '3rd', '11th', '22nd', '103rd', '112th']
    """
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


@dataclass(slots=True)
class PageFile:
    """The arrays of a file, or those that a program has, with all that a page says of them."""

    title: str  # what the file is called
    arrays: Mapping[str, Any]  # awkward ones too
    labels: DatasetLabels | None = None
    infos: Mapping[str, ArrayInfo] = field(default_factory=dict)  # from which a page knows their cells
    findings: Sequence[Finding] = ()  # of `check`
    unread: Mapping[str, str] = field(default_factory=dict)  # the error of each array that cannot be read
    excerpts: dict[str, Excerpt] = field(default_factory=dict)  # what the page holds of each array
    tables: dict[str, list[TidyTable]] = field(default_factory=dict)  # of the awkward arrays

    def list_levels(self, name: str) -> list[list[str]]:
        """Return the names of the arrays that label each dimension of an array; [] if nothing is said of it."""
        variable = self.labels.find(name) if self.labels is not None else None
        shape = self.excerpts[name].shape
        if self.labels is None or variable is None or len(variable.dims) != len(shape):
            return []
        return [
            [
                level
                for level in self.labels.frame.index.get(dim, (dim,))
                if level != name and level in self.excerpts and self.excerpts[level].shape == (size,)
            ]
            for dim, size in zip(variable.dims, shape, strict=True)
        ]

    def list_copies(self) -> set[tuple[str, range]]:
        """Return the labels that the page holds beside the arrays, for dimensions with other indices."""
        return {
            (level, axis)
            for name, excerpt in self.excerpts.items()
            for axis, levels in zip(excerpt.taken, self.list_levels(name), strict=False)
            for level in levels
            if self.excerpts[level].taken != (axis,)
        }

    def dims_of(self, name: str) -> tuple[str, ...] | None:
        """Return the names of an array's dimensions; None if they have none."""
        variable = self.labels.find(name) if self.labels is not None else None
        return variable.dims if variable and len(variable.dims) == len(self.excerpts[name].shape) else None


def choose_excerpts(files: Sequence[PageFile], slices: Sequence[str]) -> None:
    """Choose what a page holds of all arrays, so that they fit into it.

    Raises:
        LimitError: more arrays than a page holds elements, or one entry of an awkward array has more.
        NotFoundError: a slice names an array that does not exist.
        SliceError: a slice cannot be understood, or is not in the array.

    Warns:
        SheetArrayWarning: names the arrays of which the page does not hold all that is to be shown.
    """
    for file in files:
        shapes = {
            name: np.shape(array) if isinstance(array, np.ndarray) else (len(array),)
            for name, array in file.arrays.items()
        }
        file.excerpts = {name: Excerpt.of_whole(shape) for name, shape in shapes.items()}
    for text in slices:
        _apply_slice(text, files)
    for file in files:
        for name, array in file.arrays.items():
            if not isinstance(array, np.ndarray):
                _make_tables(file, name, MOST_ELEMENTS)
    room = MOST_ELEMENTS
    while not _fit(files, room):
        room = room * 9 // 10  # labels need room too
    _warn_of_thinned(files)


def _make_tables(file: PageFile, name: str, most: int) -> None:
    excerpt = file.excerpts[name]
    file.tables[name], entries = tidy_within(file.arrays[name], excerpt.taken[0], most)
    file.excerpts[name] = replace(excerpt, taken=(entries,))


def _count_cells(file: PageFile, name: str) -> int:
    if name in file.tables:
        return sum(table.count_cells() for table in file.tables[name])
    return math.prod(map(len, file.excerpts[name].asked))


def _fit(files: Sequence[PageFile], room: int) -> bool:
    """Make all excerpts small enough for a page with room for so many elements; return whether labels fit in too."""
    counts = [_count_cells(file, name) for file in files for name in file.excerpts]
    level = find_level(counts, room)
    if level < 1 and any(counts):
        raise LimitError(f"{len(counts):,} arrays, and a page holds {MOST_ELEMENTS:,} elements: name fewer (names=)")
    for file in files:
        for name, excerpt in file.excerpts.items():
            if name not in file.tables:
                file.excerpts[name] = excerpt.thin(level)
            elif _count_cells(file, name) > level:
                _make_tables(file, name, level)
    held = sum(
        _count_cells(file, name) if name in file.tables else excerpt.count
        for file in files
        for name, excerpt in file.excerpts.items()
    )
    return held + sum(len(axis) for file in files for _, axis in file.list_copies()) <= MOST_ELEMENTS


def find_level(counts: Sequence[int], room: int) -> int:
    """Return the largest number to which long arrays can be cut, so that all together fit into a room.

    Example:
        >>> find_level([2, 100, 50], 62)
        30
    """
    for number, count in enumerate(ordered := sorted(counts)):
        share = room // (len(ordered) - number)
        if count > share:
            return share
        room -= count
    return max(counts, default=1)


def _warn_of_thinned(files: Sequence[PageFile]) -> None:
    thinned = [
        (f"{name!r:.80} of {file.title:.80}" if len(files) > 1 else f"{name!r:.80}", excerpt, file.dims_of(name), name)
        for file in files
        for name, excerpt in file.excerpts.items()
        if excerpt.is_thinned
    ]
    if not thinned:
        return
    said = [f"{title} ({excerpt.describe(dims)})" for title, excerpt, dims, _ in thinned[:_MOST_NAMED]]
    more = len(thinned) - len(said)
    rest = f" and {more:,} more arrays" if more > 1 else " and 1 more array" if more else ""
    _, excerpt, _, name = thinned[0]
    warn_caller(
        f"a page holds {MOST_ELEMENTS:,} elements, so it shows only some of {'; '.join(said)}{rest}: "
        f"slice={_suggest_slice(name, excerpt)!r} shows a part whole"
    )


def _suggest_slice(name: str, excerpt: Excerpt) -> str:
    """Return a slice of an array that fits into the page: its beginning."""
    parts: list[str] = []
    shape = excerpt.shape
    for axis in range(len(shape)):
        whole = excerpt.count // math.prod(shape[axis + 1 :])
        if whole:
            return f"{name}[{', '.join([*parts, f'0:{min(whole, shape[axis])}'])}]"
        parts.append("0")
    return f"{name}[{', '.join(parts)}]"


def _apply_slice(text: str, files: Sequence[PageFile]) -> None:
    """Choose the part of the arrays that a slice names: `t[0:10]`, or `time=2026-07` of all with this dimension."""
    names = [name for file in files for name in file.excerpts]
    named = max((name for name in names if text.endswith("]") and text.startswith(f"{name}[")), key=len, default=None)
    if named is None and "=" in text:
        dims = {dim: None for file in files for name in file.excerpts for dim in file.dims_of(name) or ()}
        labels = split_labels(text, [*dims]) or {}
        for file in files:
            for name in file.excerpts:
                _cut_by_labels(file, name, {dim: labels[dim] for dim in file.dims_of(name) or () if dim in labels})
        return
    inner = text if named is None else text[len(named) :]
    named = _find_only(text, files) if named is None else named
    for file in files:
        if named not in file.excerpts:
            continue
        if "=" in inner:
            _cut_by_labels(file, named, split_labels(inner, file.dims_of(named)) or {})
        else:
            _cut(file, named, parse_slice(inner, file.excerpts[named].shape))


def _find_only(text: str, files: Sequence[PageFile]) -> str:
    """Return the only array that a slice without a name can be of; coordinates do not count."""
    names = [name for file in files for name in file.excerpts]
    if match := re.fullmatch(r"([^\[\]]+)\[.*\]", text.strip()):
        raise NotFoundError(f"no array {match[1]!r:.80} to take {text!r:.80} of; there is {quote_names(names, 20)}")
    listed = dict.fromkeys(name for file in files for name in file.excerpts if file.dims_of(name) != (name,))
    if len(listed) != 1:
        such = escape_controls(f"{[*listed, 't'][0]:.80}[0:10]")
        raise SliceError(f"{text!r:.80} may be of {len(listed)} arrays: say of which, such as {such}")
    return next(iter(listed))


def _cut_by_labels(file: PageFile, name: str, labels: Mapping[str, str]) -> None:
    if labels:
        _cut(file, name, find_indices(labels, file.dims_of(name) or (), file.arrays))


def _cut(file: PageFile, name: str, indices: Indices) -> None:
    """Take a slice of an array."""
    excerpt = file.excerpts[name]
    asked = tuple(
        range(size)[index] if isinstance(index, slice) else range(index % size, index % size + 1)
        for index, size in zip(indices, excerpt.shape, strict=True)
    )
    if not excerpt.is_whole and excerpt.asked != asked:
        raise SliceError(f"two slices of {name!r:.80}: a page shows one part of an array")
    file.excerpts[name] = Excerpt(excerpt.shape, asked, asked)
