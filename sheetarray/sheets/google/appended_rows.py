"""The rows that are appended to an array: its new elements, their cells, and its header afterwards."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from ...columns import LayoutColumn
from ...elements import Cell
from ...errors import DTypeError, FormatError, LimitError, NotFoundError
from ...header import Header
from ...linear import LinearArray
from ...resizing import find_slow_axis, resize_header
from .address import Rect
from .body import CELL_OVERHEAD, MOST_DIRECT_BYTES, to_cells
from .content import SheetContent, StandingArray


@dataclass(frozen=True, slots=True)
class AppendedRows:
    """The rows that are appended to one array.

    Attributes:
        piece: the new elements.
        cells: the cells that they become.
        standing: the array as it stands.
        header: its header afterwards.
    """

    piece: LayoutColumn
    cells: list[Cell]
    standing: StandingArray
    header: Header

    @property
    def rect(self) -> Rect:
        """The cells that are written."""
        row, column = self.standing.data
        top = row + self.header.capacity - len(self.cells)
        return Rect(top, column, top + len(self.cells), column + 1)

    @property
    def last(self) -> tuple[int, int]:
        """The cell above them, of the last element."""
        return self.rect.top - 1, self.standing.data[1]

    @property
    def needs_last(self) -> bool:
        """Whether the last element of the array has to be read, since its cell cannot be blank if it is still there."""
        return self.header.capacity > len(self.cells) and self.header.dtype.name not in ("string", "generic")


def grow_array(name: str, array: LinearArray, content: SheetContent) -> AppendedRows:
    """Return the rows of one array, and its header with them.

    Raises:
        NotFoundError, FormatError, DTypeError, LimitError: they cannot be appended.
    """
    group = content.arrays.get(name, [])
    if not group:
        raise NotFoundError(f"no array {name!r}; there is {', '.join(map(repr, content.arrays)) or 'none'}")
    anchor, address = group[0].anchor, group[0].anchor.address(0)
    header = anchor.header
    if header is None or len(group) > 1 or anchor.orient == "rows":
        why = "it is broken" if header is None else "it is one of several" if len(group) > 1 else "it runs to the right"
        raise FormatError(f"{name}: nothing can be appended to this array: {why}", location=address)
    axis = find_slow_axis(header)
    if axis is None:
        raise LimitError(f"{name}: an array of shape {header.shape} has no axis that rows can be appended along")
    if array.dtype_entry.name != header.dtype.name:
        raise DTypeError(f"{name}: rows of {array.dtype}, and the array is of {header.dtype.name}")
    rest, new = header.shape[:axis] + header.shape[axis + 1 :], array.shape[:axis] + array.shape[axis + 1 :]
    if len(array.shape) != len(header.shape) or rest != new:
        wanted = str((*header.shape[:axis], "n", *header.shape[axis + 1 :])).replace("'n'", "n")
        raise LimitError(f"{name}: rows of shape {array.shape}; the array takes rows of shape {wanted}")
    buffer = array.to_numpy().ravel(order="C" if header.order == "row-major" else "F")
    longer = resize_header(header, header.capacity + len(buffer))
    assert longer is not None
    piece = LayoutColumn(name, [], array.dtype_entry, np.ascontiguousarray(buffer), header.capacity, serials=True)
    return AppendedRows(piece, to_cells(piece, 0, len(buffer)), group[0], longer)


def check_grown(grown: list[AppendedRows]) -> None:
    """Refuse rows whose cells are too many for one request.

    Raises:
        LimitError: they are.
    """
    size = 0
    for rows in grown:
        try:
            size += len(json.dumps(rows.cells, ensure_ascii=False).encode()) + CELL_OVERHEAD * len(rows.cells)
        except UnicodeEncodeError as error:
            raise DTypeError(f"{rows.piece.name}: text that is no valid Unicode: {error.reason}") from error
    if size > MOST_DIRECT_BYTES:
        cells = sum(len(rows.cells) for rows in grown)
        most = cells * MOST_DIRECT_BYTES // size
        raise LimitError(f"{cells:,} cells are too many for one request: append about {most:,} at once")
