"""The arrays of a workbook beside its snapshots, read once: what `accept` makes true, and `restore` keeps of edits.

Several writes may have put arrays of one name into a workbook; those of each write are then read by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import numpy as np

from ....changes.compare import Comparison
from ....changes.evidence import OwnEvidence
from ....changes.rounding import mark_kept
from ....changes.rows import RowMap
from ....columns import ResizedArray
from ....dtypes import Array, Buffer, Positions
from ....elements import Missing
from ....errors import NO_ARRAY, FormatError
from ....linear.array import LinearArray
from ....linear.buffers import view_of
from ...accepted import read_accepted
from ..guard.snapshots import Snapshots
from ..guard.written import WrittenArrays, WrittenChanges
from ..workbook import Workbook
from ..worksheet import ExcelSheet


class ExactArrays:
    """The arrays of a workbook with the lengths that their cells have, and their snapshots.

    `sheets`: in which they stand. `snapshots`: those of the workbook. `titles`: as for `writes`.

    Attributes:
        sheets: in which they stand.
        writes: the titles under which the record has the writes of these arrays; None for all writes.
        accepted: the arrays, and what became of them; `compare` says more where they have snapshots.
        arrays: their columns.
        snapshots: those of the workbook.
        written: each array beside its evidence.

    Raises:
        FormatError: as `read_accepted`.
    """

    def __init__(
        self,
        book: Workbook,
        sheets: Sequence[ExcelSheet],
        missing: Missing,
        snapshots: Snapshots,
        titles: Set[str] | None = None,
    ) -> None:
        self.sheets, self.writes = list(sheets), titles
        self.accepted, self.arrays = read_accepted(self.sheets, missing=missing)
        self._changes = WrittenChanges()
        self.snapshots = snapshots
        self.written = WrittenArrays(book, snapshots, restores=True)
        for name, array in self.arrays.items():
            errors = self.accepted.unreadable.get(name)
            places = np.empty(0, np.int64) if errors is None else _find_unreadable(array, errors)
            self.written.take(name, array.buffer, array.column, places, errors)

    def compare(self) -> None:
        """Put what became of the arrays that have a snapshot in the place of what their headers alone tell."""
        self._changes, accepted = (changes := self.written.compare()), self.accepted
        accepted.comparisons |= {comparison.name: comparison for comparison in changes.comparisons}
        accepted.sorted_rows += changes.grouped.sorted_rows
        old_names = self.snapshots.search.old_names.items()
        accepted.renamed |= {before: now for now, before in old_names if before not in accepted.arrays}

    def find_exact(self, revised: Mapping[str, LinearArray]) -> dict[str, ResizedArray]:
        """Return the arrays whose elements are all known, after `compare`.

        Elements that were only rounded have their exact bits. One whose cell cannot be read is what it was last.

        `revised`: arrays whose elements are known to the bit.
        """
        exact: dict[str, ResizedArray] = {}
        for name, array in self.arrays.items():
            errors, own, buffer = self.accepted.unreadable.get(name), self.written.own.get(name), array.buffer
            if name in revised and len(revised[name].buffer) == len(buffer):
                buffer = revised[name].buffer
            elif own is not None:
                buffer = own.unchanged.restore(buffer)
                if name in self._changes.pairs and (rows := self.accepted.comparisons[name].row_maps):
                    buffer = _restore_rows(buffer, array, self._changes.pairs[name][0], rows)
                if errors is not None:
                    places = _find_unreadable(array, errors)
                    buffer = _put_last_values(buffer, array, own, places, self.accepted.comparisons[name])
            elif errors is not None:
                continue
            exact[name] = replace(array, buffer=buffer)
        return exact


def read_writes(book: Workbook, missing: Missing, title: str | None = None) -> list[ExactArrays]:
    """Return the arrays of a workbook; those of each write by themselves, where several have arrays of one name.

    `title`: of a sheet; only the arrays of the write that filled it are read.

    Raises:
        FormatError: there is no array, or as `read_accepted`.
    """
    snapshots = Snapshots(book)
    if title is not None:
        titles, sheets = book.checksums.choose_write(book.plain_sheets(), title)
        return [ExactArrays(book, sheets, missing, snapshots, titles)]
    groups = book.checksums.split_by_write(book.plain_sheets())
    if not [sheets for _, sheets in groups[1:] if sheets]:
        return [ExactArrays(book, groups[0][1], missing, snapshots)]
    writes: list[ExactArrays] = []
    for titles, sheets in groups:
        try:
            writes += [ExactArrays(book, sheets, missing, snapshots, titles)] if sheets else []
        except FormatError as error:
            if error.reason != NO_ARRAY:
                raise
    if not writes:
        raise FormatError(NO_ARRAY)
    return writes


def _find_unreadable(array: ResizedArray, errors: Array) -> Positions:
    """Return the places in a buffer of the elements whose cells cannot be read."""
    places: Positions = _list_places(array)[errors.astype(np.bool_)]
    return places


def _list_places(array: ResizedArray) -> Array:
    """Return the place in the buffer of each element, in the shape of the array."""
    return view_of(array.column.header, np.arange(len(array.buffer)))


def _restore_rows(buffer: Buffer, array: ResizedArray, written: Array, rows: Sequence[RowMap]) -> Buffer:
    """Return a copy of a buffer with the exact bits of elements that were only rounded, wherever their rows stand now.

    `rows`: as all arrays that share them tell, which know more than this array alone.
    """
    places = _list_places(array)
    for row_map in rows:
        before, now = row_map.pairs
        written, places = np.take(written, before, row_map.axis), np.take(places, now, row_map.axis)
    written, places, buffer = written.ravel(), places.ravel(), _take_texts_of_any_width(buffer)
    is_kept = mark_kept(written, buffer[places], array.column.header.dtype)
    buffer[places[is_kept]] = written[is_kept]
    return buffer


def _take_texts_of_any_width(buffer: Buffer) -> Buffer:
    """Return a copy of a buffer; of texts, one that holds longer ones too."""
    return buffer.astype(np.dtypes.StringDType()) if buffer.dtype.kind == "U" else buffer.copy()


def _put_last_values(
    buffer: Buffer, array: ResizedArray, own: OwnEvidence, unreadable: Positions, comparison: Comparison
) -> Buffer:
    """Return a copy of a buffer in which elements whose cells cannot be read are what they were.

    All arrays that share rows tell which row they were in; where the array has no rows, it does alone.
    """
    buffer = _take_texts_of_any_width(buffer)
    buffer[unreadable] = own.unchanged.written[unreadable]
    if comparison.shapes[1] == array.column.header.shape:
        places = _list_places(array)
        for element in comparison.unreadable:
            buffer[places[element.index]] = element.a
    return buffer
