"""The cells to change where headers are no longer true, or arrays get other elements."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..dtypes import Buffer, DType, Positions, from_name
from ..elements import Cell
from ..elements.equality import find_other_zeros, find_unequal
from ..errors import LimitError, locating
from ..linear.array import LinearArray
from ..linear.buffers import view_of
from ..linear.parsing import changed_header_cells
from .column import ArrayColumn
from .grid import cell_address
from .sheet import Sheet, Zone


@dataclass(frozen=True, slots=True)
class ResizedArray:
    """An array with the length that its cells have."""

    column: ArrayColumn  # its cells, and both headers: the one that stands in the sheet, and the one that is true
    buffer: Buffer  # its elements

    @property
    def is_changed(self) -> bool:
        """Whether its header has to change."""
        return self.column.header != self.column.written

    @property
    def linear(self) -> LinearArray:
        """The array, with the shape that its cells have now."""
        return LinearArray.from_header(self.column.header, self.buffer)


@dataclass(frozen=True, slots=True)
class HeaderEdit:
    """A cell of a header, and the text that it gets.

    Attributes:
        title: of the sheet; None where the container has only one.
        row, column: of the cell, counted from 0.
        value: the integer that is to stand there.
    """

    title: str | None
    row: int
    column: int
    value: int

    @property
    def address(self) -> str:
        """The address of the cell, without its sheet."""
        return cell_address(self.row, self.column)


def find_header_edits(sheets: Sequence[Sheet], arrays: Mapping[str, ResizedArray]) -> list[HeaderEdit]:
    """Return the cells that have to change, sheet by sheet, in the order of their rows.

    `arrays`: as `SheetArrays.read_resized` gives them.

    Raises:
        FormatError: a header is not what it was a moment ago.
    """
    edits: list[HeaderEdit] = []
    for sheet in sheets:
        changed = [array.column for array in arrays.values() if array.is_changed]
        columns = [column for column in changed if column.group[0].title == sheet.title]
        anchors = [column.group[0] for column in columns]
        zones = [Zone(anchor.row, anchor.column, anchor.start, anchor.orient) for anchor in anchors]
        for column, anchor, cells in zip(columns, anchors, sheet.zones(zones) if zones else (), strict=True):
            with locating(location=anchor.address(0)):
                changes = changed_header_cells(cells, column.header)
            for index, value in changes.items():
                edits.append(HeaderEdit(sheet.title, *anchor.cell(index), value))
    return sorted(edits, key=lambda edit: (edit.row, edit.column))


def check_accept_target(source: object, target: object) -> None:
    """Refuse to change an open file in place, which cannot be replaced as a whole."""
    if target is None and not isinstance(source, (str, os.PathLike)):
        raise TypeError("an open file cannot be changed in place: pass a path, or a target")


def find_name_cells(array: ResizedArray) -> list[tuple[str | None, int, int]]:
    """Return the sheet, the row and the column of each cell that holds the name of an array.

    Raises:
        LimitError: nothing stands above a part of it, and so it is called like its column.
    """
    cells = []
    for anchor in array.column.group:
        if anchor.name_cell is None:
            raise LimitError(f"{anchor.address(0)}: an array without a name in a cell cannot be renamed")
        cells.append((anchor.title, *anchor.name_cell))
    return cells


@dataclass(frozen=True, slots=True)
class ElementEdits:
    """The cells to change so that an array holds other elements."""

    name: str  # of the array
    column: ArrayColumn  # where it stands, with the header that will be true
    buffer: Buffer  # what its data cells are to hold
    dtype: DType  # of the buffer; of a complex array with two cells for each element that of its parts
    changed: Positions  # the data cells whose content changes, ascending; added ones last
    before: int  # the number of data cells that there are
    # the cells of the new flat list before its data, where the whole list has to be written anew; else empty
    head: list[Cell] = field(default_factory=list)

    def place(self, index: int) -> tuple[str | None, int, int]:
        """Return the sheet, the row and the column of a data cell, counted from 0."""
        starts, group = self.column.starts, self.column.group
        part = max(bisect_right(starts, index) - 1, 0) if len(group) > 1 else 0
        anchor = group[part]
        before = (len(self.head) if self.head else anchor.start) - (starts[part] if part else 0)
        return anchor.title, *anchor.cell(before + index)

    def place_head(self, index: int) -> tuple[str | None, int, int]:
        """Return the sheet, the row and the column of a cell before the data."""
        anchor = self.column.group[0]
        return anchor.title, *anchor.cell(index)

    @property
    def removed(self) -> range:
        """The data cells that are to be blank."""
        left = len(self.head) - self.column.group[0].start if self.head else 0
        return range(len(self.buffer), self.before - left)


def find_element_edits(name: str, array: ResizedArray, new: LinearArray, *, whole: bool = False) -> ElementEdits | None:
    """Return the cells to change so that an array holds the elements of another one; None if all cells are right.

    The header of the array's column becomes the new one, so that `find_header_edits` finds its cells.

    `whole`: change all cells, also those that hold what they should.

    Raises:
        LimitError: an array in several columns is to have another shape or dtype.
    """
    column = array.column
    header, cells = column.header, column.cells_per_element
    old = array.buffer
    if header.dtype.name == new.dtype and header.shape == new.shape:
        buffer = old.astype(np.result_type(old, new.buffer)) if old.dtype.kind in "UT" else old.copy()
        view = view_of(header, buffer)
        if np.shares_memory(view, buffer) or not old.size:
            view[...] = new.to_numpy()
            return _edits_of(name, column, old, buffer, new, cells, whole)
    elif header.dtype.name == new.dtype and header.order == new.order and len(header.shape) == len(new.shape):
        column.take_length(new.capacity)
        if column.header.shape == new.shape and not new.offset:
            return _edits_of(name, column, old, new.buffer, new, cells, whole)
        column.header = header
    if len(column.group) > 1:
        raise LimitError(
            f"{name}: it takes several columns, so its shape cannot be changed in place; write to another file"
        )
    before = max(header.capacity, len(old)) * cells
    every = np.arange(new.capacity)
    return ElementEdits(
        name, column, new.buffer, new.dtype_entry, every, before, new.to_cells()[: -new.capacity or None]
    )


def _edits_of(
    name: str, column: ArrayColumn, old: Buffer, buffer: Buffer, new: LinearArray, cells: int, whole: bool
) -> ElementEdits | None:
    dtype = new.dtype_entry
    if cells == 2:
        dtype = from_name("float32" if dtype.name == "complex64" else "float64")
        old, buffer = (np.ascontiguousarray(each).view(dtype.numpy) for each in (old, buffer))
    both = min(len(old), len(buffer))
    differs = find_unequal(old[:both], buffer[:both], 0, 0) | find_other_zeros(old[:both], buffer[:both])
    differs |= whole
    changed = np.concatenate([np.flatnonzero(differs), np.arange(both, len(buffer))])
    if not len(changed) and len(old) == len(buffer):
        return None
    return ElementEdits(name, column, buffer, dtype, changed, len(old))
