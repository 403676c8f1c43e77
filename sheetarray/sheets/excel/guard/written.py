"""What became of the arrays of a workbook since they were written: by their snapshots, or by checksums alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ....changes.compare import Comparison, compare_with_written
from ....changes.evidence import Evidence, OwnEvidence
from ....changes.findings import TAKE_OR_UNDO, describe_changes
from ....changes.row_groups import GroupedRows, map_rows
from ....columns import ArrayColumn, RowChange
from ....dtypes import Array, Buffer, Positions
from ....errors import Finding, FormatError
from ....labels import NAME as LABELS
from ....labels import DatasetLabels, parse_label_column
from ....labels.places import find_labels
from ....linear.buffers import view_of
from ....linear.header import Header
from ..checksums.stored import StoredChecksums
from .snapshots import Snapshots


@dataclass(frozen=True)
class _StandingArray:
    """An array that stands in the workbook, beside the evidence of what it was."""

    column: ArrayColumn
    buffer: Buffer
    unreadable: Positions  # the elements whose cells cannot be read, by their places in the buffer
    own: OwnEvidence | None  # None where the checksums say that nothing has changed
    is_odd: bool = False  # whether the header was edited, or is such that the array has no rows
    errors: Array | None = None  # those of the cells that cannot be read, where the caller has them

    @property
    def header(self) -> Header:
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
    """The arrays of a workbook beside what they were when they were written.

    Arrays with a snapshot are compared all together when all have been taken, since rows are told by all arrays that
    share them. An array without one is judged by its checksums at once.

    `restores`: whether elements that a program only rounded count as what they were.

    Attributes:
        own: the evidence of each array that was taken and is not surely as it was written; None where it has none.
    """

    def __init__(self, memory: StoredChecksums, snapshots: Snapshots | None, *, restores: bool = False) -> None:
        self._memory, self._restores = memory, restores
        self._snapshots = snapshots if snapshots is not None and snapshots.sheets else None
        self._standing: dict[str, _StandingArray] = {}
        self._array_labels: Array | None = None
        self.own: dict[str, OwnEvidence | None] = {}

    def judge(
        self, name: str, buffer: Buffer, column: ArrayColumn, unreadable: Positions
    ) -> Iterator[Finding | RowChange]:
        """Yield findings about an array that has checksums alone, and that its rows are told later if it has more.

        `unreadable`: the elements whose cells cannot be read, by their places in the buffer.
        """
        title, header = column.group[0].title or "", column.header
        if name == LABELS:
            self._array_labels = view_of(header, buffer) if len(buffer) == header.capacity else None
        own = None if self._snapshots is None else self.take(name, buffer, column, unreadable)
        if name in self._standing:
            self._memory.pass_over(name)
            yield from self._tell_of(name, own.evidence, self._standing[name]) if own is not None else ()
        elif len(unreadable):
            self._memory.pass_over(name)  # checksums cannot tell what the other elements were
        elif column.header != column.written:
            yield from self._memory.compare_rows(name, title, column.written, buffer, column.element_address)
        else:
            yield from self._memory.findings_of(name, title, header, buffer, column.element_address)

    def take(
        self, name: str, buffer: Buffer, column: ArrayColumn, unreadable: Positions, errors: Array | None = None
    ) -> OwnEvidence | None:
        """Find the evidence of an array, and keep both to compare them; return it unless the array is as written.

        `errors`: of the elements whose cells cannot be read, as objects in the array's shape.
        """
        header, title = column.header, column.group[0].title or ""
        is_read = not len(unreadable) and (self._snapshots is not None or header == column.written)
        if is_read and self._memory.is_as_written(name, title, header, buffer):
            if self._snapshots is not None:
                self._standing[name] = _StandingArray(column, buffer, unreadable, None)
            return None
        own = None if self._snapshots is None else self._snapshots.find(name, column, buffer)
        self.own[name] = own
        if own is not None:
            is_odd = _is_edited(own.evidence, header) or header.length != header.capacity or bool(header.offset)
            buffer = own.unchanged.restore(buffer) if self._restores else buffer
            self._standing[name] = _StandingArray(column, buffer, unreadable, own, is_odd, errors)
        return own

    def _tell_of(self, name: str, evidence: Evidence, array: _StandingArray) -> Iterator[Finding | RowChange]:
        """Yield findings about the name and the header of an array that has a snapshot."""
        self._memory.pass_over(evidence.name)
        if evidence.name != name:
            assert self._snapshots is not None
            is_there = evidence.name in self._snapshots.names_present
            yield self._memory.note_other_name(name, evidence.name, is_there=is_there)
        yield RowChange(is_told=True)
        if _is_edited(evidence, array.header):
            reason = "its shape, strides, offset or order was edited in the header since it was written"
            yield Finding("error", name, reason, TAKE_OR_UNDO, array=name)
        array.column.pieces = ()  # nobody asks for the cells any more

    def compare(self) -> WrittenChanges:
        """Return what became of the arrays that have a snapshot, and of those that share rows with one of them."""
        changed = {name for name, array in self._standing.items() if array.own is not None}
        places = {name: _place_of(array) for name, array in self._standing.items()} if changed else {}
        rows = {places[name] for name in changed}
        together = {name: array for name, array in self._standing.items() if changed and places[name] in rows}
        pairs: dict[str, tuple[Array, Array]] = {}
        titles = list(dict.fromkeys(title for title, _ in places.values()))
        for name in sorted(together, key=lambda name: _order_of(together[name], titles)):
            array = together[name]
            own = array.own or self._find_again(name, array)
            if own is not None:
                pairs[name] = array.to_pair(own.evidence)
        if not pairs:
            return WrittenChanges()
        unreadable = {name: together[name].mark_unreadable() for name in pairs if len(together[name].unreadable)}
        grouped = map_rows(pairs, unreadable=unreadable, places=places)
        return WrittenChanges(compare_with_written(pairs, grouped, unreadable), grouped, pairs)

    def describe(self) -> Iterator[Finding]:
        """Yield findings about all arrays with snapshots: their rows, then their elements."""
        changes = self.compare()
        if changes.comparisons:
            labels = None if self._array_labels is None else parse_label_column(self._array_labels, _ignore, _ignore)
            places = _SheetPlaces(self._standing, labels)
            yield from describe_changes(changes.comparisons, changes.grouped, changes.pairs, places)

    def _find_again(self, name: str, array: _StandingArray) -> OwnEvidence | None:
        """Return the snapshot of an array that is as it was written: its rows are those of others that changed."""
        return None if self._snapshots is None else self._snapshots.find(name, array.column, array.buffer)


@dataclass(frozen=True)
class WrittenChanges:
    """What became of arrays since they were written: each compared with its snapshot, which row is which, and both."""

    comparisons: Sequence[Comparison] = ()
    grouped: GroupedRows = field(default_factory=GroupedRows)
    pairs: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)


def _is_edited(evidence: Evidence, header: Header) -> bool:
    """Return whether a header was edited that is of as many elements as were written."""
    written = evidence.header
    assert written is not None
    return written.capacity == header.capacity and replace(written, part=None) != replace(header, part=None)


def _ignore(_: object) -> None:
    """Ignore damage of the labels, which other findings tell of."""


def _place_of(array: _StandingArray) -> tuple[str | None, str]:
    anchor = array.column.group[0]
    return anchor.title, anchor.orient


def _order_of(array: _StandingArray, titles: Sequence[str | None]) -> tuple[int, int, int]:
    """Return a key that sorts arrays as people see them: sheet by sheet, from left to right."""
    anchor = array.column.group[0]
    return titles.index(anchor.title), anchor.column, anchor.row


class _SheetPlaces:
    """Where elements and rows of arrays stand in the sheets of a workbook, and how people call them."""

    def __init__(self, arrays: Mapping[str, _StandingArray], labels: DatasetLabels | None) -> None:
        self._arrays, self._labels = arrays, labels

    @cached_property
    def _levels(self) -> dict[str, Array]:
        return {name: view_of(array.header, array.buffer) for name, array in self._arrays.items() if name != LABELS}

    def find_cell(self, name: str, index: Sequence[int]) -> str | None:
        """Return the address of the cell of an element."""
        array = self._arrays[name]
        if array.is_odd:
            return array.column.element_address(index[0])
        steps = zip(index, array.header.strides, strict=False)
        return array.column.element_address(array.header.offset + sum(step * stride for step, stride in steps))

    def name_element(self, name: str, index: Sequence[int]) -> str:
        """Return an element as messages call it, such as `t[2, 0]`."""
        header = self._arrays[name].header
        position = index[0] if self._arrays[name].is_odd else None
        if position is None:
            return f"{name}[{', '.join(map(str, index))}]" if index else name
        return header.describe_element(name, position)

    def find_index(self, name: str, index: Sequence[int]) -> tuple[int, ...] | None:
        """Return the index of an element in its array; None where the array skips it."""
        array = self._arrays[name]
        return array.header.index_at(index[0]) if array.is_odd else tuple(index)

    def find_labels(self, name: str, index: Sequence[int]) -> Sequence[str]:
        """Return the labels of an element."""
        if self._labels is None or self._arrays[name].is_odd:
            return ()
        return [f"{text:.40}" for text in find_labels(self._labels, self._levels, name, index).values()]

    def find_row(self, names: Sequence[str], row: int) -> int | None:
        """Return the row of the sheet in which a row of arrays stands; None unless it is one row for all of them."""
        rows = set()
        for name in names:
            column = self._arrays[name].column
            is_single = len(column.header.shape) == 1 and len(column.group) == 1 and column.cells_per_element == 1
            anchor = column.group[0]
            rows.add(anchor.data_cell[1] + row + 1 if is_single and anchor.orient == "columns" else None)
        return rows.pop() if len(rows) == 1 else None

    def has_other_header(self, name: str) -> bool:
        """Return whether the header of an array does not have the length that its cells have."""
        column = self._arrays[name].column
        return column.header != column.written
