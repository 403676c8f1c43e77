"""Which cells of headers have to change for the headers to be true again, after people have added or deleted rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..dtypes import Buffer
from ..errors import locating
from ..resizing import changed_header_cells
from .column import ArrayColumn
from .grid import cell_address
from .sheet import ArrayInfo, Sheet, Zone


@dataclass(frozen=True, slots=True)
class ResizedArray:
    """An array with the length that its cells have.

    Attributes:
        column: its cells, and both headers: the one that stands in the sheet, and the one that is true.
        buffer: its elements.
    """

    column: ArrayColumn
    buffer: Buffer

    @property
    def is_changed(self) -> bool:
        """Whether its header has to change."""
        return self.column.header != self.column.written


@dataclass(frozen=True, slots=True)
class HeaderEdit:
    """A cell of a header that has to change.

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

    `arrays`: as `read_resized` gives them.

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
                down, across = (index, 0) if anchor.orient == "columns" else (0, index)
                edits.append(HeaderEdit(sheet.title, anchor.row + down, anchor.column + across, value))
    return sorted(edits, key=lambda edit: (edit.row, edit.column))


def check_adopt_target(source: object, target: object) -> None:
    """Refuse to change an open file in place, which cannot be replaced as a whole."""
    if target is None and not isinstance(source, (str, os.PathLike)):
        raise TypeError("an open file is not adopted in place: give a path, or a target")


def info_of_resized(array: ResizedArray) -> ArrayInfo:
    """Return the info of an array as its header says it once it has been made true."""
    group = array.column.group
    above = sum(part.start for part in group)
    return ArrayInfo.from_header(array.column.header, group[0].address(0), above, parts=len(group))
