"""Finds the snapshot of each array in a workbook, and compares the array with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ....aligning import RowOrigins, align_rows
from ....columns import ArrayColumn, CompareFingerprint, RowChange
from ....dtypes import Buffer, Mask, Positions
from ....errors import Finding, FormatError
from ....header import Header
from ....resizing import count_rows
from .comparing import count_chains, is_beyond, mark_kept
from .guard_sheet import GuardSheet, read_guard
from .rounding import LEAST_CHAINS
from .snapshot import SnapshotHeader, bytes_allowed, decode_snapshot, make_texts

_RESTORE = "sheetarray restore gives it back as it was written, sheetarray adopt accepts the change"
_MOST_NAMED = 20
Survey = Callable[[CompareFingerprint], object]
_HINT = "it is passed over; write the array again to have another"


@dataclass(frozen=True)
class Guarded:
    """An array of today beside its snapshot; the arrays have an item for each element of today.

    Attributes:
        written: the element as it was written; in rows that were added, the element that stands there.
        kept: a mask of the elements that stand as they were written, or are only rounded; False in added rows.
        alignment: where each row of today was written; None if the rows stand where they were written.
        deleted: the rows that were written and are gone, by their numbers at that time.
    """

    written: Buffer
    kept: Mask
    alignment: RowOrigins | None = None
    deleted: Sequence[int] = ()

    @property
    def added(self) -> Mask:
        """A mask of the elements in rows that were added."""
        if self.alignment is None:
            return np.zeros(len(self.kept), np.bool_)
        return np.repeat(self.alignment.sources < 0, len(self.kept) // max(len(self.alignment.sources), 1))

    @property
    def only_change(self) -> RowChange | None:
        """The neighbouring rows that were added or deleted; None if anything else was changed."""
        if self.alignment is None or self.alignment.moved.any() or not (self.kept | self.added).all():
            return None
        inserted, deleted = self.alignment.inserted.tolist(), list(self.deleted)
        rows = inserted or deleted
        if (inserted and deleted) or not rows or rows[-1] - rows[0] >= len(rows):
            return None
        return RowChange("inserted" if inserted else "deleted", (range(rows[0], rows[0] + 1),), rest_is_exact=True)


class _Aligned(NamedTuple):
    """The rows of an array that were written and are still there, in whatever order.

    Attributes:
        alignment: where each row of today was written.
        places: the indices of today of the elements in these rows.
        written: the same elements as they were written.
        deleted: the rows that were written and are gone.
    """

    alignment: RowOrigins
    places: Positions
    written: Buffer
    deleted: list[int]


class Snapshots:
    """The snapshots of a workbook, found when the first array asks for its own.

    Args:
        sheets: the sheets that hold snapshots.
        aligns: whether rows that people have added, deleted or moved are looked for; otherwise an element is compared
            with the one that was written at its index.
        survey: calls a function with the name, the elements and the cells of every array of the workbook.

    Attributes:
        findings: about damaged snapshots.
    """

    def __init__(self, sheets: Sequence[GuardSheet], *, aligns: bool = False, survey: Survey | None = None) -> None:
        self.findings: list[Finding] = []
        self._aligns, self._survey = aligns, survey
        self._sheets = sheets
        self._known: dict[str, list[tuple[SnapshotHeader, Sequence[str]]]] | None = None
        self._decoded: dict[int, Buffer | None] = {}
        self._chains: bool | None = None

    @property
    def exist(self) -> bool:
        """Whether the workbook has a guard."""
        return bool(self._sheets)

    def check(self) -> list[Finding]:
        """Return the findings about damaged snapshots, also about those that no array has asked for."""
        for entry in self:
            self.decode(entry, 0)
        return self.findings

    def __iter__(self) -> Iterator[tuple[SnapshotHeader, Sequence[str]]]:
        """Yield the header and the texts of every snapshot, those of one name together."""
        for entries in self._by_name().values():
            yield from entries

    def _by_name(self) -> dict[str, list[tuple[SnapshotHeader, Sequence[str]]]]:
        if self._known is None:
            self._known = {}
            for sheet in self._sheets:
                for snapshot, texts in read_guard(sheet, self.findings):
                    self._known.setdefault(snapshot.name, []).append((snapshot, texts))
        return self._known

    def find(self, name: str, title: str | None) -> tuple[SnapshotHeader, Sequence[str]] | None:
        """Return the header and the texts of an array's snapshot; None unless exactly one snapshot may be its own.

        Args:
            name: of the array.
            title: of the sheet of the array, which decides between snapshots of one name.
        """
        entries = self._by_name().get(name, [])
        if len(entries) > 1:
            entries = [entry for entry in entries if entry[0].sheet == title]
        return entries[0] if len(entries) == 1 else None

    def decode(self, entry: tuple[SnapshotHeader, Sequence[str]], nbytes: int) -> Buffer | None:
        """Return the elements of a snapshot; None if it is damaged, which is noted as a finding.

        Args:
            entry: the header and the texts of the snapshot.
            nbytes: the bytes of the array that stands in the sheet, which limit those of the snapshot.
        """
        snapshot, texts = entry
        if id(entry) not in self._decoded:
            try:
                buffer = decode_snapshot(snapshot, texts, most_bytes=bytes_allowed(texts, nbytes))
            except (FormatError, MemoryError) as error:
                reason = error.reason if isinstance(error, FormatError) else "it takes more memory than there is"
                name = f"{snapshot.name}: " if snapshot.name else ""
                message = f"{name}the guard cannot be used: {reason}"
                self.findings.append(Finding("warning", snapshot.name, message, _HINT, array=snapshot.name))
                self._decoded[id(entry)] = None
            else:
                return buffer
        return self._decoded.get(id(entry))

    def compare(self, name: str, column: ArrayColumn, buffer: Buffer) -> Guarded | None:
        """Return an array beside its snapshot; None if it has no sound snapshot.

        Args:
            name: of the array.
            column: the cells of the array.
            buffer: the elements that were read from them.
        """
        written, dtype = self._decode_beside(name, column, buffer), column.header.dtype
        guarded = None if written is None else Guarded(written, mark_kept(written, buffer, dtype, self._show_chains))
        if not self._aligns or (guarded is not None and guarded.kept.all()):
            return guarded
        aligned = self._compare_aligned(name, column, buffer)
        if aligned is None or (guarded is not None and aligned.kept.sum() <= guarded.kept.sum()):
            return guarded
        return aligned

    def _compare_aligned(self, name: str, column: ArrayColumn, buffer: Buffer) -> Guarded | None:
        """Return an array beside its snapshot, row by row, wherever each row stands now; None without a snapshot."""
        aligned = self._align(name, column, buffer)
        if aligned is None:
            return None
        elements, kept = buffer.copy(), np.zeros(len(buffer), np.bool_)
        if buffer.dtype.kind in "UT":
            elements = buffer.astype(np.dtypes.StringDType())
        places, before = aligned.places, aligned.written
        elements[places] = before
        kept[places] = mark_kept(before, buffer[places], column.header.dtype, self._show_chains)
        return Guarded(elements, kept, aligned.alignment, aligned.deleted)

    def _align(self, name: str, column: ArrayColumn, buffer: Buffer) -> _Aligned | None:
        """Return the rows that are still there, aligned with the snapshot; None without a snapshot of such rows."""
        entry, rows = self.find(name, column.group[0].title), count_rows(column.header)
        if entry is None or rows is None or entry[0].header.dtype.name != column.header.dtype.name:
            return None
        row, before = rows[1], count_rows(entry[0].header)
        if before is None or before[1] != row or not row or (written := self.decode(entry, buffer.nbytes)) is None:
            return None
        alignment = align_rows(written, buffer, column.header.dtype, row)
        known = np.flatnonzero(alignment.sources >= 0)
        places = (known[:, None] * row + np.arange(row)).ravel()
        origins = (alignment.sources[known][:, None] * row + np.arange(row)).ravel()
        return _Aligned(alignment, places, written[origins], alignment.find_deleted(before[0]).tolist())

    def _show_chains(self) -> bool:
        """Return whether the arrays of the workbook together show that two programs rounded in turn."""
        if self._chains is None:
            counts: list[int | None] = []

            def count(name: str, buffer: Buffer | None, column: ArrayColumn) -> Iterator[Finding | RowChange]:
                if buffer is not None and (written := self._decode_beside(name, column, buffer)) is not None:
                    counts.append(count_chains(written, buffer))
                elif buffer is not None and (aligned := self._align(name, column, buffer)) is not None:
                    counts.append(count_chains(aligned.written, buffer[aligned.places]))
                yield from ()

            if self._survey is not None:
                self._survey(count)
            self._chains = None not in counts and sum(filter(None, counts)) >= LEAST_CHAINS
        return self._chains

    def _decode_beside(self, name: str, column: ArrayColumn, buffer: Buffer) -> Buffer | None:
        """Return the elements of the snapshot of an array; None unless it has one of the same dtype and length."""
        entry, header = self.find(name, column.group[0].title), column.header
        if entry is None or entry[0].header.dtype.name != header.dtype.name or entry[0].header.capacity != len(buffer):
            return None
        return self.decode(entry, buffer.nbytes)

    def restore(self, name: str, buffer: Buffer, column: ArrayColumn) -> Buffer:
        """Return the elements of an array, in which those that were only rounded have their exact bits again."""
        guarded = self.compare(name, column, buffer)
        return buffer if guarded is None else put_back(guarded, buffer)

    def repair(self, name: str, buffer: Buffer, column: ArrayColumn, unreadable: Mapping[int, object]) -> set[int]:
        """Put elements of the snapshot into a buffer where a cell was rounded beyond the dtype; return their indices.

        `unreadable` are the cells that could not be read, by the indices of their elements.
        """
        written = self._decode_beside(name, column, buffer)
        if written is None or column.header.dtype.kind not in ("float", "int"):
            return set()
        repaired = {index for index, cell in unreadable.items() if is_beyond(written[index].item(), cell)}
        buffer[list(repaired)] = written[list(repaired)]
        return repaired


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


def find_edits(guarded: Guarded, header: Header, name: str, address: Callable[[int], str]) -> Iterator[Finding]:
    """Yield findings about the edited elements, each with its index and address; the first says how many they are.

    Args:
        guarded: the array beside its snapshot.
        header: of the array.
        name: of the array.
        address: of the cell of an element, by its index in the buffer.
    """
    changes, added = describe_row_changes(guarded.alignment, guarded.deleted), guarded.added
    edited = np.flatnonzero(~guarded.kept & ~added).tolist()
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


def describe_row_changes(alignment: RowOrigins | None, deleted: Sequence[int]) -> list[str]:
    """Return sentences on the rows of an array that were added, deleted or moved, each with the first rows."""
    if alignment is None:
        return []
    changes = [
        (alignment.inserted.tolist(), "added"),
        (list(deleted), "deleted"),
        (np.flatnonzero(alignment.moved).tolist(), "moved"),
    ]
    described = []
    for rows, verb in changes:
        if rows:
            some = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
            described.append(f"row {some} {verb}" if len(rows) == 1 else f"{len(rows)} rows {verb} ({some})")
    return described
