"""Finds the snapshot of each array in a workbook, compares the array with it, and says what has become of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from ....changes.elements import explain_change
from ....changes.rounding import is_beyond, mark_kept
from ....changes.rows import RowMap, align_tables, content_key
from ....columns import ArrayColumn, RowChange, describe_row
from ....dtypes import Array, Buffer, Mask, Positions
from ....errors import Finding, FormatError, quote_names
from ....linear.header import Header
from ....linear.resizing import count_rows
from ...snapshot import SnapshotHeader, bytes_allowed, decode_snapshot, make_texts
from ..worksheet import ExcelSheet
from .guard_sheet import read_guard

_RESTORE = "sheetarray restore gives it back as it was written, sheetarray accept takes the change"
_MOST_NAMED = 20
_MOST_COMPARED = 2**26  # elements of renamed and edited arrays that are compared with one snapshot after the other
_HINT = "this guard is ignored; write the arrays again, or accept the file, to get a new guard"


@dataclass(frozen=True)
class Guarded:
    """An array of today beside its snapshot; the arrays have an item for each element of today."""

    written: Buffer  # the element as it was written; in rows that were added, the element that stands there
    kept: Mask  # a mask of the elements that stand as they were written, or are only rounded; False in added rows
    original: Buffer  # the elements as they were written, in their order
    # where each row of today was written; None if the rows stand where they were written
    alignment: RowMap | None = None
    deleted: Sequence[int] = ()  # the rows that were written and are gone, by their numbers at that time
    gone: Array | None = None  # their elements, row by row
    # what the alignment speaks of: single elements where rows of several were torn apart
    unit: Literal["row", "element"] = "row"

    @property
    def added(self) -> Mask:
        """A mask of the elements in rows that were added."""
        if self.alignment is None:
            return np.zeros(len(self.kept), np.bool_)
        return np.repeat(self.alignment.sources < 0, len(self.kept) // max(len(self.alignment.sources), 1))

    @property
    def row_change(self) -> RowChange | None:
        """The rows that were added, or deleted, wherever the others stand now; None if there are both."""
        if self.alignment is None or self.unit != "row":
            return None
        inserted, is_exact = self.alignment.added, bool((self.kept | self.added).all())
        gone = None if inserted else self.gone
        change = RowChange.of_rows(inserted, self.deleted, rest_is_exact=is_exact, gone=gone, tells_edits=True)
        if change is None or not change.firsts or not len(self.kept) or self.alignment.moved.any():
            return change
        whole = self.written if inserted else self.original  # added rows hold what stands there
        row = len(self.kept) // len(self.alignment.sources)
        return replace(change, firsts=_find_firsts(whole.reshape(-1, row), change.rows))


@dataclass(eq=False)
class Snapshot:
    """A snapshot in a sheet: its header, and the texts of its elements."""

    header: SnapshotHeader
    texts: Sequence[str]
    title: str
    is_sound: bool | None = None  # None until it has been decoded; False if it is damaged, or of another workbook


class Snapshots:
    """The snapshots of a workbook, found when the first array asks for its own.

    An array has the snapshot of its name. Where it has none, or hardly an element is the same, its content tells which
    snapshot is its own: people rename arrays, and exchange their names.

    `ask_names`: returns the names of all arrays of the workbook. `is_as_written`: returns whether the record has the
    checksum of an array, so that its snapshot is not needed. `is_own`: returns whether the record of the workbook
    has the checksums of a snapshot, given its header and its elements; None where it has none to compare with.

    Attributes:
        others: the names under which arrays were written that have another name now, by the names of today.
    """

    def __init__(
        self,
        sheets: Sequence[ExcelSheet],
        *,
        ask_names: Callable[[], Collection[str]],
        is_own: Callable[[SnapshotHeader, Buffer], bool | None],
        is_as_written: Callable[[str, ArrayColumn, Buffer], bool],
    ) -> None:
        self.ask_names, self._is_own, self._is_as_written = ask_names, is_own, is_as_written
        self._sheets = sheets
        self.others: dict[str, str] = {}
        self._damage: list[Finding] = []
        self._foreign: list[str] = []
        self._unpaired: list[str] = []
        self._partners: dict[str, Snapshot | None] = {}
        self._last_decoded: tuple[Snapshot, Buffer] | None = None
        self._last_compared: tuple[Snapshot, Buffer, Guarded | None] | None = None
        self._last_restored: tuple[Buffer, Guarded | None] | None = None
        self._work_left = _MOST_COMPARED

    @property
    def exist(self) -> bool:
        """Whether the workbook has a guard."""
        return bool(self._sheets)

    def check(self) -> list[Finding]:
        """Return the findings about all snapshots, also about those that no array has asked for."""
        for snapshot in self:
            self.decode(snapshot, 0)
        return self.findings

    @property
    def findings(self) -> list[Finding]:
        """The findings about snapshots that cannot be used, as far as they were read."""
        findings = list(self._damage)
        if self._foreign:
            what = f"the checksums in the workbook do not fit its elements of {quote_names(self._foreign)}"
            findings.append(self._warn(f"the guard belongs to another file: {what}", _HINT, self._foreign))
        if self._unpaired:
            left = [one.header.name for one in self._orphans]
            what = f"fits {quote_names(self._unpaired)}"
            what += f", and those of {quote_names(left)} fit no array" if left else ""
            reason = f"no snapshot of the guard {what}: cells are read as they are"
            hint = "a renamed array with many edits is not recognised: give it its old name"
            findings.append(self._warn(reason, hint, self._unpaired))
        return findings

    def _warn(self, reason: str, hint: str, names: Sequence[str]) -> Finding:
        return Finding("warning", self._sheets[0].title, reason, hint, array=names[0] if len(names) == 1 else None)

    def __iter__(self) -> Iterator[Snapshot]:
        """Yield every snapshot, those of one name together."""
        for snapshots in self._by_name.values():
            yield from snapshots

    @cached_property
    def _by_name(self) -> dict[str, list[Snapshot]]:
        known: dict[str, list[Snapshot]] = {}
        for sheet in self._sheets:
            for header, texts in read_guard(sheet, self._damage):
                known.setdefault(header.name, []).append(Snapshot(header, texts, sheet.title or ""))
        return known

    def decode(self, snapshot: Snapshot, nbytes: int) -> Buffer | None:
        """Return the elements of a snapshot; None if it is damaged or of another workbook, which is noted as a finding.

        `nbytes`: the bytes of the array that stands in the sheet, which limit those of the snapshot.
        """
        if snapshot.is_sound is False:
            return None
        if self._last_decoded is not None and self._last_decoded[0] is snapshot:
            return self._last_decoded[1]
        header, texts = snapshot.header, snapshot.texts
        try:
            buffer = decode_snapshot(header, texts, most_bytes=bytes_allowed(texts, nbytes))
        except (FormatError, MemoryError) as error:
            reason = error.reason if isinstance(error, FormatError) else "it takes more memory than there is"
            message = f"{header.name and f'{header.name}: '}the guard cannot be used: {reason}"
            self._damage.append(Finding("warning", snapshot.title, message, _HINT, array=header.name))
            snapshot.is_sound = False
            return None
        if snapshot.is_sound is None and self._is_own(header, buffer) is False:
            self._foreign.append(header.name)
            snapshot.is_sound = False
            return None
        snapshot.is_sound = True
        self._last_decoded = snapshot, buffer
        return buffer

    # The snapshot of an array --------------------------------------------------------------------------------

    def find(self, name: str, column: ArrayColumn, buffer: Buffer) -> Snapshot | None:
        """Return the snapshot of an array, by its name or else by its content; None if none is surely its own."""
        if name not in self._partners:
            named = self._find_named(name, column.group[0].title, buffer)
            kept = None if named is None else self._count_kept(named, column, buffer)
            found = named if kept is not None else None
            if kept is None or 2 * kept < len(buffer):
                found = self._find_content(named, column, buffer) or found
            self._partners[name] = found
            if found is not None and found.header.name != name:
                self.others[name] = found.header.name
            if found is None and (named is not None or self._may_be_orphan(column.header)):
                self._unpaired.append(name)
        return self._partners[name]

    def _find_named(self, name: str, title: str | None, buffer: Buffer) -> Snapshot | None:
        """Return the snapshot of a name, and of a sheet where there are several; None unless exactly one is sound."""
        known = [one for one in self._by_name.get(name, []) if self.decode(one, buffer.nbytes) is not None]
        if len(known) > 1:
            known = [one for one in known if one.header.sheet == title]
        return known[0] if len(known) == 1 else None

    def _find_content(self, named: Snapshot | None, column: ArrayColumn, buffer: Buffer) -> Snapshot | None:
        """Return the snapshot whose elements are those of an array; None unless exactly one may be."""
        least, found = 0.9 * len(buffer), self._by_content.get(_content_key(buffer, column.header), [])
        found = [one for one in found if one is not named and (self._count_kept(one, column, buffer) or 0) >= least]
        if not found and named is None:
            counts: list[tuple[int, Snapshot]] = []
            for one in self._orphans:
                if _may_fit(one.header.header, column.header) and self._work_left > 0:
                    self._work_left -= len(buffer) + 1000
                    counts.append((self._count_kept(one, column, buffer) or 0, one))
            most = max((kept for kept, _ in counts), default=0)
            found = [one for kept, one in counts if kept == most] if 2 * most >= len(buffer) else []
        if len(found) > 1:
            found = [one for one in found if one in self._orphans] or found
        first, *others = (self.decode(one, buffer.nbytes) for one in found) if found else [None]
        if first is None or not all(other is not None and is_same(first, other) for other in others):
            return None
        return found[0]

    @cached_property
    def _orphans(self) -> list[Snapshot]:
        """The intact snapshots whose arrays are not in the workbook."""
        left = [one for one in self if one.header.name not in self.ask_names()]
        return [one for one in left if self.decode(one, 0) is not None]

    @cached_property
    def _by_content(self) -> dict[tuple[str, int, int], list[Snapshot]]:
        """The sound snapshots by the keys of their content."""
        known: dict[tuple[str, int, int], list[Snapshot]] = {}
        for one in self:
            if (written := self.decode(one, 0)) is not None:
                known.setdefault(_content_key(written, one.header.header), []).append(one)
        return known

    def _may_be_orphan(self, header: Header) -> bool:
        """Return whether the snapshot of an array may belong to a renamed array."""
        return any(_may_fit(one.header.header, header) for one in self._orphans)

    def _count_kept(self, snapshot: Snapshot, column: ArrayColumn, buffer: Buffer) -> int | None:
        """Return the number of elements that a snapshot has too; None if it cannot be the array's."""
        guarded = self._compare_with(snapshot, column, buffer)
        return None if guarded is None else int(guarded.kept.sum())

    # Comparing -----------------------------------------------------------------------------------------------

    def compare(self, name: str, column: ArrayColumn, buffer: Buffer) -> Guarded | None:
        """Return an array beside its snapshot; None if it has no sound snapshot."""
        if self._last_restored is not None and self._last_restored[0] is buffer:
            return self._last_restored[1]  # cells show how they were rounded; what was restored shows it no more
        snapshot = self.find(name, column, buffer)
        return None if snapshot is None else self._compare_with(snapshot, column, buffer)

    def _compare_with(self, snapshot: Snapshot, column: ArrayColumn, buffer: Buffer) -> Guarded | None:
        """Return an array beside a snapshot; None if it cannot be its own."""
        last = self._last_compared
        if last is None or last[0] is not snapshot or last[1] is not buffer:
            last = self._last_compared = snapshot, buffer, self._compare_anew(snapshot, column.header, buffer)
        return last[2]

    def _compare_anew(self, snapshot: Snapshot, header: Header, buffer: Buffer) -> Guarded | None:
        """Look for rows wherever they stand now, and for single elements where hardly a row is left whole."""
        if snapshot.header.header.dtype.name != header.dtype.name:
            return None
        written = self.decode(snapshot, buffer.nbytes)
        if written is None:
            return None
        ways: list[Guarded] = []
        if len(written) == len(buffer):
            ways.append(Guarded(written, mark_kept(written, buffer, header.dtype), written))
            if ways[0].kept.all():
                return ways[0]
        rows, before = count_rows(header), count_rows(snapshot.header.header)
        row = rows[1] if rows is not None and before is not None and rows[1] == before[1] else 0
        if row:
            ways.append(_align(written, header, buffer, row))
        if ways and row != 1 and 2 * max(way.kept.sum() for way in ways) < len(buffer):
            ways.append(_align(written, header, buffer, 1))
        return max(ways, key=lambda way: int(way.kept.sum()), default=None)

    def restore(self, name: str, buffer: Buffer, column: ArrayColumn) -> Buffer:
        """Return the elements of an array, in which those that were only rounded have their exact bits again."""
        self._last_restored = None
        if self._is_as_written(name, column, buffer):
            self._last_restored = buffer, None
            return buffer
        guarded = self.compare(name, column, buffer)
        self._last_decoded = self._last_compared = None  # the elements are the caller's now
        restored = buffer if guarded is None else put_back(guarded, buffer)
        self._last_restored = restored, guarded
        return restored

    def repair(self, name: str, buffer: Buffer, column: ArrayColumn, unreadable: Mapping[int, object]) -> set[int]:
        """Put elements of the snapshot into a buffer where a cell was rounded beyond the dtype; return their indices.

        `unreadable` are the cells that could not be read, by the indices of their elements.
        """
        if column.header.dtype.kind not in ("float", "int"):
            return set()
        snapshot = self.find(name, column, buffer)
        written = None if snapshot is None else self.decode(snapshot, buffer.nbytes)
        self._last_compared = None  # the buffer changes
        if written is None or len(written) != len(buffer):
            return set()
        repaired = {index for index, cell in unreadable.items() if is_beyond(written[index].item(), cell)}
        buffer[list(repaired)] = written[list(repaired)]
        return repaired


def _find_firsts(rows: Array, changed: Sequence[int]) -> tuple[range, ...]:
    """Return the rows that may be the first added or deleted one, as rows beside the changed ones may be like them.

    `rows`: all of the longer array. `changed`: neighbouring rows.
    """
    first, count = changed[0], len(changed)
    is_alike = _find_equal(rows[:-count], rows[count:])
    breaks = np.flatnonzero(~is_alike)
    before, after = breaks[breaks < first], breaks[breaks >= first]
    return (range(int(before[-1]) + 1 if len(before) else 0, int(after[0]) + 1 if len(after) else len(is_alike) + 1),)


def _find_equal(rows: Array, others: Array) -> Mask:
    """Return a mask of the rows that have the elements of others, to the bit."""
    if rows.dtype.kind in "OUT":
        pairs = zip(rows.tolist(), others.tolist(), strict=True)
        return np.fromiter((list(map(repr, a)) == list(map(repr, b)) for a, b in pairs), np.bool_, len(rows))
    size = rows.shape[1] * rows.dtype.itemsize
    one, other = (np.ascontiguousarray(some).view(np.uint8).reshape(len(some), size) for some in (rows, others))
    equal: Mask = (one == other).all(axis=1)
    return equal


def _align(written: Buffer, header: Header, buffer: Buffer, row: int) -> Guarded:
    """Return an array beside its elements as written, row by row, wherever each row stands now."""
    before, now = ([(elements.reshape(-1, row), header.dtype)] for elements in (written, buffer))
    alignment = align_tables(before, now)
    _prefer_exact(alignment.sources, before[0][0], now[0][0])
    return place_rows(written, header, buffer, row, alignment)


def _prefer_exact(sources: Positions, before: Array, now: Array) -> None:
    """Give rows that differ from their sources to the bit another one, where a deleted row beside it is the same.

    Which of two rows was deleted that are alike but for rounding, or for the sign of zero, their order does not tell.
    """
    left = np.setdiff1d(np.arange(len(before)), sources)
    if not len(left):
        return
    known = np.flatnonzero(sources >= 0)
    differing = known[~_find_equal(before[sources[known]], now[known])]
    bounds = dict(pairwise(known.tolist())), {one: other for other, one in pairwise(known.tolist())}
    for place in differing.tolist():
        low = sources[bounds[1][place]] if place in bounds[1] else -1
        high = sources[bounds[0][place]] if place in bounds[0] else len(before)
        some = left[(left > low) & (left < high)]
        same = some[_find_equal(before[some], np.repeat(now[place : place + 1], len(some), axis=0))]
        if len(same):
            left = np.append(left[left != same[0]], sources[place])
            sources[place] = same[0]


def place_rows(written: Buffer, header: Header, buffer: Buffer, row: int, alignment: RowMap) -> Guarded:
    """Return an array beside its elements as written, given where each of its rows was written."""
    known = np.flatnonzero(alignment.sources >= 0)
    places = (known[:, None] * row + np.arange(row)).ravel()
    origins = (alignment.sources[known][:, None] * row + np.arange(row)).ravel()
    elements, kept = buffer.copy(), np.zeros(len(buffer), np.bool_)
    if buffer.dtype.kind in "UT":
        elements = buffer.astype(np.dtypes.StringDType())
    elements[places] = written[origins]
    kept[places] = mark_kept(written[origins], buffer[places], header.dtype)
    is_torn = row == 1 and len(header.shape) > 1 and header.length != max(header.shape)
    gone = written.reshape(-1, row)[alignment.deleted]
    return Guarded(elements, kept, written, alignment, alignment.deleted, gone, "element" if is_torn else "row")


def is_same(one: Buffer, other: Buffer) -> bool:
    """Return whether two buffers of one dtype have the same elements, to the bit."""
    if one.dtype.kind in "OUT":
        return [(type(a), a) for a in one.tolist()] == [(type(b), b) for b in other.tolist()]
    return one.tobytes() == other.tobytes()


def _content_key(buffer: Buffer, header: Header) -> tuple[str, int, int]:
    """Return a key that arrays have in common whose elements are the same, in any order and rounded or not."""
    return header.dtype.name, len(buffer), content_key(buffer, header.dtype)


def _may_fit(written: Header, header: Header) -> bool:
    """Return whether an array may be one that was written, given their headers: rows may have been added."""
    if written.dtype.name != header.dtype.name:
        return False
    before, rows = count_rows(written), count_rows(header)
    return written.capacity == header.capacity or (before is not None and rows is not None and before[1] == rows[1])


def put_back(guarded: Guarded, buffer: Buffer) -> Buffer:
    """Return the elements of a buffer, those that were kept with the bits of the snapshot."""
    written, kept = guarded.written, guarded.kept
    if kept.all() and written.dtype == buffer.dtype:
        return written
    if buffer.dtype.kind in "UT":
        pairs = zip(written.tolist(), buffer.tolist(), kept.tolist(), strict=True)
        texts = [str(before if keeps else now) for before, now, keeps in pairs]
        made = make_texts(texts)
        return made.astype(buffer.dtype) if buffer.dtype.kind == "T" else made
    changed: Buffer = np.where(kept, written, buffer)
    return changed


def find_edits(
    guarded: Guarded,
    buffer: Buffer,
    header: Header,
    name: str,
    address: Callable[[int], str],
    *,
    tells_rows: bool = True,
) -> Iterator[Finding]:
    """Yield findings about the edited elements, each with its index and address; the first says how many they are.

    One finding says it all where one change explains all elements.

    `address`: of the cell of an element, by its index in the buffer. `tells_rows`: whether rows that were added or
    deleted are told of too; another finding tells of them if not.
    """
    changes, added = describe_row_changes(guarded, tells_rows=tells_rows), guarded.added
    edited = np.flatnonzero(~guarded.kept & ~added).tolist()
    is_moved = guarded.alignment is not None and bool(guarded.alignment.moved.any())
    is_mostly_edited = 2 * len(edited) > np.count_nonzero(~added)
    change = explain_change(guarded.original, buffer, header) if is_moved or is_mostly_edited else None
    if change is None and is_mostly_edited and guarded.alignment is not None:
        change = explain_change(guarded.written[~added], buffer[~added], header)
    if change is not None:
        yield Finding("error", name, change, _RESTORE)
        return
    elements = [header.describe_element(name, index) for index in edited[:_MOST_NAMED]]
    count = len(edited)
    if count:
        some = ", ".join(elements[:3]) + (", ..." if count > 3 else "")
        changes.append(f"1 element edited ({some})" if count == 1 else f"{count} elements edited ({some})")
    if not changes:
        return
    rest = "" if not guarded.kept.any() else ", the rest exact"
    what = ", ".join(changes) + rest
    if not count:
        yield Finding("error", name, what, _RESTORE)
    for place, index in enumerate(edited[:_MOST_NAMED]):
        message = f"{what}: {elements[place]} was" if not place else f"{elements[place]} was edited: it was"
        before = str(guarded.written[index])
        yield Finding("error", address(index), f"{message} {before:.60}", _RESTORE, index=header.index_at(index))


def describe_row_changes(guarded: Guarded, *, tells_rows: bool = True) -> list[str]:
    """Return sentences on the rows of an array that were added, deleted or moved, each with the first rows.

    `tells_rows`: whether those that were added or deleted are among them.
    """
    alignment, unit = guarded.alignment, guarded.unit
    if alignment is None:
        return []
    changes = [
        (alignment.added if tells_rows else [], "added"),
        (list(guarded.deleted) if tells_rows else [], "deleted"),
        (np.flatnonzero(alignment.moved).tolist(), "moved"),
    ]
    described = []
    for rows, verb in changes:
        if rows:
            some = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
            told = f"{unit} {some} {verb}" if len(rows) == 1 else f"{len(rows)} {unit}s {verb} ({some})"
            if verb == "deleted" and guarded.gone is not None:
                told += f" ({'it' if len(rows) == 1 else 'the first'} was {describe_row(guarded.gone[0])})"
            described.append(told)
    return described
