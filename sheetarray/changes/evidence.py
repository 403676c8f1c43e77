"""Evidence of arrays as they were, such as a snapshot or checksums; pairs it with the arrays of today.

The evidence of an array is its elements, which somebody gives or a snapshot keeps. People rename arrays, exchange names
and sort rows: so the elements count for more than the name. What checksums alone tell, a workbook's own code knows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..dtypes import Array, Buffer, Mask, Positions
from ..elements import text_array
from ..linear.array import LinearArray
from ..linear.buffers import view_of
from ..linear.header import Header
from ..linear.resizing import count_rows
from .rounding import mark_kept
from .rows import RowMap, align_tables, content_key

_MOST_COMPARED = 2**26  # elements of renamed and edited arrays that are compared with the evidence of lost arrays


@dataclass(eq=False)
class Evidence:
    """Evidence of one array as it was.

    Attributes:
        name: its name.
        header: its header; None if it is unknown.
        title: the sheet in which it stood.
        load: returns its elements, given the bytes of the array that is there now, which limit the memory that may be
            taken; None where they cannot be used. It is None where they are not known.

    Example:
        >>> evidence = Evidence.of_array("t", np.array([[1.5, 2.5]]))
        >>> evidence.header.shape, evidence.elements().tolist()
        ((1, 2), [1.5, 2.5])
    """

    name: str
    header: Header | None = None
    title: str | None = None
    load: Callable[[int], Buffer | None] | None = None
    _loaded: Buffer | None = None
    _is_broken: bool = False

    @classmethod
    def of_array(cls, name: str, array: Array) -> Evidence:
        """Return the evidence of an array that is in memory."""
        linear = LinearArray.from_numpy(array)
        return cls(name, linear.header, load=lambda _: linear.buffer)

    def elements(self, nbytes: int = 0) -> Buffer | None:
        """Return the elements as they were; None if they are unknown or cannot be used."""
        if self._loaded is None and self.load is not None and not self._is_broken:
            self._loaded = self.load(nbytes)
            self._is_broken = self._loaded is None
        return self._loaded

    def release(self) -> None:
        """Release the memory of the elements, which can be loaded again."""
        self._loaded = None

    def to_array(self, nbytes: int = 0) -> Array | None:
        """Return the array as it was; None where its elements are not known."""
        buffer = self.elements(nbytes)
        return None if buffer is None or self.header is None else view_of(self.header, buffer)


@dataclass(frozen=True)
class KeptElements:
    """The elements of an array of today, beside those that they were.

    Attributes:
        written: for each element of today what it was; in rows that were added, what stands there.
        mask: a mask of the elements that are as they were, or only rounded; False in added rows.
        rows: which row is which; None if all stand where they stood.
    """

    written: Buffer
    mask: Mask
    rows: RowMap | None = None

    def restore(self, buffer: Buffer) -> Buffer:
        """Return the elements of a buffer, those that were only rounded with their exact bits."""
        written, mask = self.written, self.mask
        if mask.all() and written.dtype == buffer.dtype:
            return written
        if buffer.dtype.kind in "UT":
            texts = text_array(np.where(mask, written.astype(object), buffer.astype(object)).tolist())
            return texts.astype(buffer.dtype) if buffer.dtype.kind == "T" else texts
        changed: Buffer = np.where(mask, written, buffer)
        return changed


def compare_elements(evidence: Evidence, header: Header, buffer: Buffer) -> KeptElements | None:
    """Return an array beside what it was; None if the evidence has no elements of its dtype and its rows.

    Rows are found wherever they stand now, and single elements where hardly a row is left whole.
    """
    written = evidence.elements(buffer.nbytes)
    if written is None or evidence.header is None or evidence.header.dtype.name != header.dtype.name:
        return None
    ways: list[KeptElements] = []
    if len(written) == len(buffer):
        ways.append(KeptElements(written, mark_kept(written, buffer, header.dtype)))
        if ways[0].mask.all():
            return ways[0]
    rows, before = count_rows(header), count_rows(evidence.header)
    width = rows[1] if rows is not None and before is not None and rows[1] == before[1] else 0
    if width:
        ways.append(_compare_rows(written, header, buffer, width))
    if ways and width != 1 and 2 * max(way.mask.sum() for way in ways) < len(buffer):
        ways.append(_compare_rows(written, header, buffer, 1))
    return max(ways, key=lambda way: int(way.mask.sum()), default=None)


def _compare_rows(written: Buffer, header: Header, buffer: Buffer, width: int) -> KeptElements:
    """Return an array beside what it was, row by row; a row has `width` elements."""
    before, now = written.reshape(-1, width), buffer.reshape(-1, width)
    rows = align_tables([(before, header.dtype)], [(now, header.dtype)])
    _prefer_exact(rows.sources, before, now)
    rows = RowMap(rows.sources, rows.count)
    kept_rows = np.flatnonzero(rows.sources >= 0)
    places = (kept_rows[:, None] * width + np.arange(width)).ravel()
    origins = (rows.sources[kept_rows][:, None] * width + np.arange(width)).ravel()
    is_text = buffer.dtype.kind in "UT"
    elements = buffer.astype(np.dtypes.StringDType()) if is_text else buffer.copy()
    mask = np.zeros(len(buffer), np.bool_)
    elements[places] = written[origins]
    mask[places] = mark_kept(written[origins], buffer[places], header.dtype)
    return KeptElements(elements, mask, rows)


def _prefer_exact(sources: Positions, before: Array, now: Array) -> None:
    """Give rows that differ from their sources to the bit another one, where a deleted row beside it is the same.

    Which of two rows was deleted that are alike but for rounding, or for the sign of zero, their order does not tell.
    """
    left = np.setdiff1d(np.arange(len(before)), sources)
    if not len(left):
        return
    kept_rows = np.flatnonzero(sources >= 0)
    differing = kept_rows[~_find_equal(before[sources[kept_rows]], now[kept_rows])]
    neighbours = [*pairwise(kept_rows.tolist())]
    above, below = {row: other for other, row in neighbours}, dict(neighbours)
    for place in differing.tolist():
        low = sources[above[place]] if place in above else -1
        high = sources[below[place]] if place in below else len(before)
        between = left[(left > low) & (left < high)]
        same = between[_find_equal(before[between], np.repeat(now[place : place + 1], len(between), axis=0))]
        if len(same):
            left = np.append(left[left != same[0]], sources[place])
            sources[place] = same[0]


def _find_equal(rows: Array, others: Array) -> Mask:
    """Return a mask of the rows that have the elements of others, to the bit."""
    if rows.dtype.kind in "OUT":
        pairs = zip(rows.tolist(), others.tolist(), strict=True)
        return np.fromiter((list(map(repr, a)) == list(map(repr, b)) for a, b in pairs), np.bool_, len(rows))
    size = rows.shape[1] * rows.dtype.itemsize
    first, second = (np.ascontiguousarray(array).view(np.uint8).reshape(len(array), size) for array in (rows, others))
    equal: Mask = (first == second).all(axis=1)
    return equal


@dataclass(frozen=True)
class OwnEvidence:
    """The evidence that belongs to an array of today, and the array beside it."""

    evidence: Evidence
    unchanged: KeptElements


class EvidenceSearch:
    """The evidence of all arrays of a container, in which each array of today finds its own.

    `evidence`: of all arrays as they were. `ask_names`: returns the names of all arrays of today.

    Attributes:
        evidence: as it was given.
        old_names: the names that arrays had which have another name now, by the names of today.
        unpaired: the names of arrays for which there is evidence that might be theirs, but surely is not.
    """

    def __init__(self, evidence: Sequence[Evidence], ask_names: Callable[[], Collection[str]]) -> None:
        self.evidence, self._ask_names = evidence, ask_names
        self.old_names: dict[str, str] = {}
        self.unpaired: dict[str, None] = {}
        self._work_left = _MOST_COMPARED

    def find(self, name: str, title: str | None, header: Header, buffer: Buffer) -> OwnEvidence | None:
        """Return the evidence that surely belongs to an array, or None.

        It is the first of these that exactly one has:

        1. the name of the array, and at least half of its elements;
        2. its elements, in any order: arrays have exchanged their names, or one was renamed;
        3. more of its elements than any other, and at least half; no array has its name now;
        4. the name of the array: most of its elements were edited.

        `title`: of the sheet in which the array stands, which tells evidence of one name apart.
        """
        named = self._find_named(name, title, buffer)
        of_name = None if named is None else _compare(named, header, buffer)
        if of_name is not None and 2 * of_name.unchanged.mask.sum() >= len(buffer):
            return of_name
        own = self._find_same(name, header, buffer)
        if own is None and named is None:
            own = self._find_nearest(header, buffer)
        own = own or of_name
        if own is None and (named is not None or any(_may_fit(lost.header, header) for lost in self.lost)):
            self.unpaired[name] = None
        if own is not None and own.evidence.name != name:
            self.old_names[name] = own.evidence.name
        return own

    def _find_named(self, name: str, title: str | None, buffer: Buffer) -> Evidence | None:
        """Return the evidence of a name, and of a sheet where there are several; None unless exactly one is of use."""
        named = self._by_name.get(name, ())
        usable = [evidence for evidence in named if evidence.elements(buffer.nbytes) is not None]
        if len(usable) > 1:
            usable = [evidence for evidence in usable if evidence.title == title]
        return usable[0] if len(usable) == 1 else None

    def _find_same(self, name: str, header: Header, buffer: Buffer) -> OwnEvidence | None:
        """Return the evidence of an array of another name that shares nine tenths of its elements, in any order."""
        key = header.dtype.name, len(buffer), content_key(buffer, header.dtype)
        alike = [
            _compare(evidence, header, buffer) for evidence in self._by_content.get(key, ()) if evidence.name != name
        ]
        same = [own for own in alike if own is not None and own.unchanged.mask.sum() >= 0.9 * len(buffer)]
        if len(same) > 1:
            same = [own for own in same if own.evidence in self.lost] or same
        return _choose_only(same)

    def _find_nearest(self, header: Header, buffer: Buffer) -> OwnEvidence | None:
        """Return the evidence of a lost array that has the most of the elements, and at least half."""
        nearest: list[OwnEvidence] = []
        for lost in self.lost:
            if _may_fit(lost.header, header) and self._work_left > 0:
                self._work_left -= len(buffer) + 1000
                own = _compare(lost, header, buffer)
                nearest += [own] if own is not None else []
        most = max((int(own.unchanged.mask.sum()) for own in nearest), default=0)
        if 2 * most < len(buffer):
            return None
        return _choose_only([own for own in nearest if own.unchanged.mask.sum() == most])

    @cached_property
    def lost(self) -> list[Evidence]:
        """The evidence that can be used of arrays whose names no array of today has."""
        names = self._ask_names()
        return [
            evidence for evidence in self.evidence if evidence.name not in names and evidence.elements() is not None
        ]

    @cached_property
    def _by_name(self) -> dict[str, list[Evidence]]:
        """The evidence by the names that arrays had."""
        by_name: dict[str, list[Evidence]] = {}
        for evidence in self.evidence:
            by_name.setdefault(evidence.name, []).append(evidence)
        return by_name

    @cached_property
    def _by_content(self) -> dict[tuple[str, int, int], list[Evidence]]:
        """The evidence by what its elements are in any order, rounded or not."""
        by_content: dict[tuple[str, int, int], list[Evidence]] = {}
        for evidence in self.evidence:
            written = evidence.elements()
            if written is not None and evidence.header is not None:
                dtype = evidence.header.dtype
                by_content.setdefault((dtype.name, len(written), content_key(written, dtype)), []).append(evidence)
        return by_content


def _compare(evidence: Evidence, header: Header, buffer: Buffer) -> OwnEvidence | None:
    elements_kept = compare_elements(evidence, header, buffer)
    return None if elements_kept is None else OwnEvidence(evidence, elements_kept)


def _choose_only(candidates: Sequence[OwnEvidence]) -> OwnEvidence | None:
    """Return the first of candidates if all of them have the same elements, else None."""
    elements = [own.evidence.elements() for own in candidates]
    first = elements[0] if elements else None
    if first is None or not all(other is not None and _is_same(first, other) for other in elements):
        return None
    return candidates[0]


def _is_same(first: Buffer, other: Buffer) -> bool:
    """Return whether two buffers of one dtype have the same elements, to the bit."""
    if first.dtype.kind in "OUT":
        return [(type(a), a) for a in first.tolist()] == [(type(b), b) for b in other.tolist()]
    return first.tobytes() == other.tobytes()


def _may_fit(written: Header | None, header: Header) -> bool:
    """Return whether an array may be one that was written, given their headers: rows may have been added."""
    if written is None or written.dtype.name != header.dtype.name:
        return False
    before, rows = count_rows(written), count_rows(header)
    return written.capacity == header.capacity or (before is not None and rows is not None and before[1] == rows[1])
