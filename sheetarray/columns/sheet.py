"""`Sheet`, the protocol through which adapters show their cells, and `ArrayInfo`, which says what an array is like."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..dtypes import DType
from ..elements import Cell, TextLook
from ..errors import Finding
from ..linear.header import Header, Order
from .grid import CellGrid, Orient, cell_address
from .words import Words

if TYPE_CHECKING:
    import polars as pl


class Texts(list[Cell]):
    """The text of a few cells of a container that has nothing but text; a Series would take longer to be made."""


Numbers = np.ndarray[tuple[int], np.dtype[Any]]  # of a column that holds plain numbers or booleans, and blanks below
ColumnCells = tuple[Sequence[Cell], "pl.Series | Numbers | Sequence[Cell]"]  # the first cells of a column, and the rest


@dataclass(slots=True, unsafe_hash=True)  # nobody changes one; a frozen one takes three times as long to make
class Request:
    """A column that is wanted."""

    column: int  # its index, from 0
    row: int  # of its first data cell, from 0
    dtype: DType  # what its cells are to be
    # the row before which it ends, since another array stands below; None for the sheet's end. Where a row is
    # requested, the column
    stop: int | None = None


@dataclass(slots=True, unsafe_hash=True)  # nobody changes one; a frozen one takes three times as long to make
class Zone:
    """A few cells one under another, or side by side.

    Attributes:
        row, column: of the first one, from 0.
        count: how many.
        orient: "columns" where they go downwards, "rows" where they go to the right.
    """

    row: int
    column: int
    count: int
    orient: Orient


@dataclass(slots=True)
class Block:
    """The next cells of a column, or all of them.

    Attributes:
        place: the index of the request for the column.
        cells: the first ones as they are, and the rest: a Series, `Numbers` without the blanks below them, or `Texts`,
            in a container of text; or a list of Python scalars, in one that has types of its own.
        count: the number of the cells, of a block that is not the whole column; blanks at the end may be left out.
        as_text: returns the same as text, if they came typed; None where the sheet has to be gone over again for it.
    """

    place: int
    cells: ColumnCells
    count: int = 0
    as_text: Callable[[], ColumnCells] | None = None


class HeaderCells(Protocol):
    """What the search for anchors needs of a sheet. All rows and columns count from 0."""

    title: str | None  # the sheet's name in addresses; None where the container has only one

    def words(self) -> Words:
        """Return every cell of the whole sheet that holds a word of a header: found in bulk, not cell by cell."""

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of each zone; blanks are None or "", and those at its end may be left out."""


class Sheet(HeaderCells, Protocol):
    """A sheet as a container shows it."""

    look: TextLook  # how values look in its text
    max_rows: int | None  # the number of rows that a sheet can have; None for any number
    # whether blanks at the end of a column are cells like any others, as in a text; False where they leave no trace, as
    # in a worksheet. Only of the former `read` can say that cells are missing
    keeps_blanks: bool
    notes: list[Finding]  # findings about what was accepted although it is not as `write` writes it

    def blocks(
        self, requests: Sequence[Request], counts: Sequence[int] | None = None, *, typed: bool
    ) -> Iterator[Block]:
        """Yield the cells of columns, block by block; those of one column in their order.

        `requests`: of different cells; a column may be in several, one below the other. `counts`: how many cells of
        each column are elements: then memory does not grow with the sheet. None: each column comes as one block, down
        to the sheet's end, or to where its request stops. `typed`: parse under `elements.engine_dtype` where the
        container can; otherwise text is String.

        Raises:
            NotInPiecesError: with `counts`, the sheet has to be read as a whole; it has more cells, for example.
        """

    def rows(self, requests: Sequence[Request]) -> Iterable[ColumnCells]:
        """Return the cells from each requested one on to the right, as those of blocks without `typed`; `stop` of
        such a request is a column.
        """


@dataclass(frozen=True, slots=True)
class DataCells:
    """The range of the data cells of an array, or of one part of it: one under another, or side by side.

    Attributes:
        title: of the sheet; None where the container has only one.
        row, column: of the first one, from 0.
        orient: "columns" where they go downwards, "rows" where they go to the right.
        first: the index of the element that the first one holds, in the buffer of the array.
    """

    title: str | None
    row: int
    column: int
    orient: Orient
    first: int = 0

    def address(self, index: int) -> str:
        """Return the address of the cell that holds an element, by its index in the buffer."""
        down, across = (index - self.first, 0) if self.orient == "columns" else (0, index - self.first)
        cell = cell_address(self.row + down, self.column + across)
        return cell if self.title is None else f"{self.title}!{cell}"


@dataclass(frozen=True, slots=True)
class ArrayInfo:
    """The properties of an array in a file: its shape, dtype, order, strides and location.

    Attributes:
        shape: the number of elements along each dimension.
        dtype: the name of the dtype, such as "float64".
        order: "row-major" or "column-major".
        strides: the strides, in elements.
        location: the address of the array's first cell (`version`); in a workbook with the sheet, `arrays!A2`.
        cells: the number of cells that the array takes, with its header.
        offset: the offset, in elements.
        capacity: the number of elements in the buffer.
        parts: the number of columns that the array takes.
        dims: the names of the dimensions; None if the file does not name them.
        data: the ranges of the data cells, one for each part; empty if they are unknown, or there are no data cells.
        find_cell: returns the address of an element's cell, by its index, where ranges do not tell it; None if nobody
            has asked for labels.

    Example:
        >>> info = ArrayInfo((2, 3), "float64", "row-major", (3, 1), "A2", cells=27, capacity=6)
        >>> info.shape, info.location, info.cells
        ((2, 3), 'A2', 27)
    """

    shape: tuple[int, ...]
    dtype: str
    order: Order
    strides: tuple[int, ...]
    location: str
    cells: int
    offset: int = 0
    capacity: int = 0
    parts: int = 1
    dims: tuple[str, ...] | None = None
    data: tuple[DataCells, ...] = field(default=(), repr=False, compare=False)
    find_cell: Callable[[Sequence[int]], str | None] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def from_header(
        cls, header: Header, location: str, cells_above: int, *, parts: int = 1, data: tuple[DataCells, ...] = ()
    ) -> ArrayInfo:
        """Return the `ArrayInfo` of an array of cells.

        Args:
            header: the header of the array.
            location: the address of its first cell.
            cells_above: the number of cells that the headers of its parts take.
            parts: the number of columns that the array takes.
            data: the ranges of its data cells.
        """
        cells, name = cells_above + header.capacity, header.dtype.name
        shape, order, strides, offset = header.shape, header.order, header.strides, header.offset
        return cls(shape, name, order, strides, location, cells, offset, header.capacity, parts, data=data)


ReportCells = Callable[[int], None]


class ReportingSheet(Sheet, Protocol):
    """A sheet that says how many cells it has just read."""

    report: ReportCells | None


@contextmanager
def reporting_cells(
    progress: Callable[[int, int], None] | None,
    sheets: Sequence[ReportingSheet],
    count: Callable[[], int],
) -> Iterator[None]:
    """Call `progress` with the cells read and the cells in all while sheets are read.

    A column that is looked at twice counts once; the last call says that all cells have been read.

    `progress`: what to call; None for nothing. `count`: returns the number of cells in all; it is called only if
    `progress` is not None.
    """
    if progress is None:
        yield
    else:
        yield from _report_to(progress, sheets, count())


def _report_to(progress: Callable[[int, int], None], sheets: Sequence[ReportingSheet], total: int) -> Iterator[None]:
    done = 0

    def report(cells: int) -> None:
        nonlocal done
        done = min(done + cells, total)
        progress(done, total)

    report(0)
    for sheet in sheets:
        sheet.report = report
    yield
    report(total)


class GridSheet:
    """Rows of cells that are in memory, with those attributes of a sheet that the search for anchors uses."""

    title: str | None = None

    def __init__(self, grid: CellGrid) -> None:
        self.grid = grid

    def words(self) -> Words:
        """Return every cell that holds a word of a header."""
        return Words.from_grid(self.grid)

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of each zone."""
        return [cells_of_zone(self.grid, zone) for zone in zones]


def cells_of_zone(grid: CellGrid, zone: Zone) -> list[Cell]:
    """Return the cells of a zone of a grid, blanks where the grid has no cell; it may end with the grid."""
    if zone.orient == "rows":
        return list(grid[zone.row][zone.column : zone.column + zone.count]) if zone.row < len(grid) else []
    rows = grid[zone.row : zone.row + zone.count]
    return [cells[zone.column] if zone.column < len(cells) else None for cells in rows]
