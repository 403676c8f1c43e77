"""The arrays of a workbook beside their snapshots, and what became of them since they were written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ....changes.compare import Comparison, compare_with_written
from ....changes.evidence import Evidence, OwnEvidence
from ....changes.row_groups import GroupedRows, map_rows
from ....columns import ArrayColumn
from ....dtypes import Array, Buffer, Positions
from ....errors import FormatError
from ....linear.buffers import view_of
from ....linear.header import Header
from ..workbook import Workbook
from .snapshots import Snapshots


@dataclass(frozen=True)
class PresentArray:
    """An array that stands in the workbook, beside the evidence of what it was."""

    column: ArrayColumn
    buffer: Buffer
    unreadable: Positions  # the elements whose cells cannot be read, by their places in the buffer
    own: OwnEvidence | None  # None where the checksums say that nothing has changed
    is_odd: bool = False  # whether the header was edited, or is such that the array has no rows
    errors: Array | None = None  # those of the cells that cannot be read, where the caller has them

    @property
    def header(self) -> Header:
        """Its header, with the length that its cells have."""
        return self.column.header

    def to_pair(self, evidence: Evidence) -> tuple[Array, Array]:
        """Return the array as it was, and as it is; of an odd one, its buffer."""
        written = evidence.elements(self.buffer.nbytes)
        assert written is not None
        assert evidence.header is not None
        if self.is_odd:
            return written, self.buffer
        return view_of(evidence.header, written), view_of(self.header, self.buffer)

    def mark_unreadable(self) -> Any:
        """Return the errors of the elements whose cells cannot be read, or what stands for them; None if all can."""
        if self.errors is not None or not len(self.unreadable):
            return self.errors
        mask = np.full(len(self.buffer), None, object)
        mask[self.unreadable] = FormatError("a cell that cannot be read")
        return mask if self.is_odd else view_of(self.header, mask)


class WrittenArrays:
    """The arrays of a workbook beside their snapshots.

    They are compared all together when all have been taken, since rows are told by all arrays that share them.

    `restores`: whether elements that a program only rounded count as what they were.

    Attributes:
        own: the evidence of each array that was taken and is not surely as it was written; None where it has none.
        standing: the arrays that have a snapshot, or that a workbook with snapshots has as they were written.
    """

    def __init__(self, book: Workbook, snapshots: Snapshots, *, restores: bool = False) -> None:
        self._checksums, self._snapshots, self._restores = book.checksums, snapshots, restores
        self.own: dict[str, OwnEvidence | None] = {}
        self.standing: dict[str, PresentArray] = {}

    def take(
        self, name: str, buffer: Buffer, column: ArrayColumn, unreadable: Positions, errors: Array | None = None
    ) -> OwnEvidence | None:
        """Find the evidence of an array, and keep both to compare them; return it unless the array is as written.

        `unreadable`: the elements whose cells cannot be read, by their places in the buffer. `errors`: of these, as
        objects in the array's shape.
        """
        header, is_guarded = column.header, bool(self._snapshots.sheets)
        is_read = not len(unreadable) and (is_guarded or header == column.written)
        if is_read and self._checksums.is_as_written(name, column.group[0].title or "", header, buffer):
            if is_guarded:
                self.standing[name] = PresentArray(column, buffer, unreadable, None)
            return None
        own = self.own[name] = self._snapshots.find(name, column, buffer)
        if own is not None:
            is_odd = is_edited(own.evidence, header) or header.length != header.capacity or bool(header.offset)
            buffer = own.unchanged.restore(buffer) if self._restores else buffer
            self.standing[name] = PresentArray(column, buffer, unreadable, own, is_odd, errors)
        return own

    def compare(self) -> WrittenChanges:
        """Return what became of the arrays that have a snapshot, and of those that share rows with one of them."""
        changed = [name for name, array in self.standing.items() if array.own is not None]
        if not changed:
            return WrittenChanges()
        places = {name: _place_of(array) for name, array in self.standing.items()}
        rows = {places[name] for name in changed}
        together = {name: array for name, array in self.standing.items() if places[name] in rows}
        pairs: dict[str, tuple[Array, Array]] = {}
        titles = list(dict.fromkeys(title for title, _ in places.values()))
        for name in sorted(together, key=lambda name: _order_of(together[name], titles)):
            array = together[name]
            # the rows of an array that is as it was written are those of others that changed
            own = array.own or self._snapshots.find(name, array.column, array.buffer)
            if own is not None:
                pairs[name] = array.to_pair(own.evidence)
        unreadable = {name: together[name].mark_unreadable() for name in pairs if len(together[name].unreadable)}
        grouped = map_rows(pairs, unreadable=unreadable, places=places)
        return WrittenChanges(compare_with_written(pairs, grouped, unreadable), grouped, pairs)


@dataclass(frozen=True)
class WrittenChanges:
    """What became of arrays since they were written: each compared with its snapshot, which row is which, and both."""

    comparisons: Sequence[Comparison] = ()
    grouped: GroupedRows = field(default_factory=GroupedRows)
    pairs: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)


def is_edited(evidence: Evidence, header: Header) -> bool:
    """Return whether a header was edited that is of as many elements as were written."""
    written = evidence.header
    assert written is not None
    return written.capacity == header.capacity and replace(written, part=None) != replace(header, part=None)


def _place_of(array: PresentArray) -> tuple[str | None, str]:
    anchor = array.column.group[0]
    return anchor.title, anchor.orient


def _order_of(array: PresentArray, titles: Sequence[str | None]) -> tuple[int, int, int]:
    """Return a key that sorts arrays as people see them: sheet by sheet, from left to right."""
    anchor = array.column.group[0]
    return titles.index(anchor.title), anchor.column, anchor.row
