"""The plan of a write: which cells every array takes, which are cleared, and which named ranges point to them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ...columns import Layout, LayoutColumn
from ...elements import Cell
from ...errors import LimitError
from .address import Rect
from .content import CellNotes, GridCells, StandingArray
from .sent_cells import find_difference, to_cells
from .spreadsheet_state import NamedRange, State, Worksheet

# Names for the named ranges of arrays.
#
# Formulas understand names of letters, digits and underscores that do not look like the address of a cell.

_LONGEST = 200  # characters of a name, before a number is put behind it
_CELL_LIKE = re.compile(r"[A-Z]{1,3}\d+|R\d*|C\d*|R\d*C\d*|(?:TRUE|FALSE).*|\d.*", re.IGNORECASE | re.ASCII | re.DOTALL)


def range_name(name: str, taken: Collection[str]) -> str:
    """Return the name for the range of an array's elements: the array's name, changed as far as needed.

    Example:
        >>> range_name("sea level", ()), range_name("T1", ()), range_name("größe", {"grosse"})
        ('sea_level', '_T1', 'grosse_2')
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode()
    letters = re.sub(r"\W+", "_", plain, flags=re.ASCII)[:_LONGEST].strip("_") or "array"
    name_free = base = f"_{letters}" if _CELL_LIKE.fullmatch(letters) else letters
    index = 1
    while name_free.lower() in taken:
        index += 1
        name_free = f"{base}_{index}"
    return name_free


# A write that would be right for a spreadsheet in one state: which column goes where, and the size of the grid.


@dataclass(frozen=True, slots=True)
class PlacedColumn:
    """A column of a layout, with the cells of the worksheet to which it goes.

    Attributes:
        index: of the column in the layout.
        piece: the column.
        row, column: of the first cell, in the worksheet.
        named: whether the first cell is the name, in a blank column; else it goes below the name that stands there.
    """

    index: int
    piece: LayoutColumn
    row: int
    column: int
    named: bool

    @property
    def head(self) -> list[Cell]:
        """The cells above the elements that are written."""
        return self.piece.cells_above(named=self.named)

    @property
    def name_cell(self) -> tuple[int, int]:
        """The row and the column of the name."""
        return (self.row if self.named else max(self.row - self.piece.blanks - 1, 0)), self.column

    @property
    def cells(self) -> Rect:
        """The cells that it takes."""
        height = self.named * (1 + self.piece.blanks) + len(self.piece.header) + len(self.piece.buffer)
        return Rect(self.row, self.column, self.row + height, self.column + 1)

    @property
    def elements(self) -> Rect:
        """The cells of the elements; if there are none, the word `data`."""
        bottom = self.cells.bottom or 0
        return Rect(bottom - max(len(self.piece.buffer), 1), self.column, bottom, self.column + 1)

    def sent(self, start: int = 0, stop: int | None = None) -> list[Cell]:
        """Return its cells as they are sent, or some of them."""
        head = self.head
        stop = len(head) + len(self.piece.buffer) if stop is None else stop
        first = max(start - len(head), 0)
        return [*head[start:stop], *to_cells(self.piece, first, max(stop - len(head) - first, 0))]

    def find_change(self, start: int, stop: int | None, kept: Sequence[Cell]) -> CellDifference | None:
        """Return the first of some cells that is kept as another one than was sent; None if all are equal."""
        sent = self.sent(start, stop)
        wrong = find_difference(sent, kept)
        if wrong is None:
            return None
        index = start + wrong - len(self.head)
        where = f"{self.piece.name}, buffer element {self.piece.start + index}" if index >= 0 else self.piece.name
        pair = (cells[wrong] if wrong < len(cells) else "" for cells in (sent, kept))
        return CellDifference(where, *pair)


@dataclass(frozen=True, slots=True)
class CellDifference:
    """A cell that is another one than was written.

    Attributes:
        element: the name of the array, and the number of the element in its buffer.
        sent: the cell that was written.
        kept: the cell that stands there.
    """

    element: str
    sent: Cell
    kept: Cell

    def __str__(self) -> str:
        return f"{self.element}: the service keeps {self.sent!r:.60} as {self.kept!r:.60}"


@dataclass(frozen=True, slots=True)
class RangeOf:
    """The named range over the elements of an array.

    Attributes:
        name: of the range.
        rect: the elements.
        known: the named range that exists already; None if it is to be made.
    """

    name: str
    rect: Rect
    known: NamedRange | None = None


@dataclass(frozen=True, slots=True)
class FreeCells:
    """What a write finds in a spreadsheet: the cells of all worksheets but its own and dead stages, the number of cells
    that there may be, and the names, in lower case, that the service refuses for named ranges.
    """

    others: int
    limit: int
    blocked: Collection[str]

    def check(self, rows: int, columns: int) -> None:
        """Refuse a grid for which the spreadsheet has no room, with a LimitError."""
        check_cells(self.others + rows * columns, self.limit, self.others)


@dataclass(frozen=True, slots=True)
class WritePlan:
    """A write to one worksheet that would be right for a spreadsheet in one state.

    Attributes:
        layout: what is written, with the blanks that stand between names and headers here.
        sheet: the worksheet; None if it is to be made.
        placed_columns: the columns of the layout, in their order, with the cells to which they go.
        rows, columns: the size of the grid after the write.
        cleared: the cells of replaced arrays that no new ones take.
        own: whether the worksheet was made, or found blank, by this write or an earlier one.
        adopted: whether it was made, or found blank, by this write.
        ranges: named ranges over elements.
        grid: all cells of the worksheet as they were seen; None if it is too large for one request.
        notes: of the names of arrays, where labels are written.
        lowered: arrays that stay, whose names go right above their headers.
        moved: whether rows of headers are others than before, of a worksheet of ours.
    """

    layout: Layout
    sheet: Worksheet | None
    placed_columns: tuple[PlacedColumn, ...]
    rows: int
    columns: int
    cleared: tuple[Rect, ...] = ()
    own: bool = True
    adopted: bool = True
    ranges: tuple[RangeOf, ...] = ()
    grid: GridCells | None = None
    notes: CellNotes = field(default_factory=CellNotes)
    lowered: tuple[StandingArray, ...] = ()
    moved: bool = False


def fresh_plan(state: State, layout: Layout, room: FreeCells) -> WritePlan:
    """Return the plan for a worksheet that is to be made, or raise a LimitError if it would be too large."""
    placed = place_side_by_side(layout)
    room.check(layout.height, len(placed))
    ranges = tuple(plan_ranges(state, None, placed, {}, room.blocked))
    return WritePlan(layout, None, placed, layout.height, len(placed), ranges=ranges)


def place_side_by_side(layout: Layout) -> tuple[PlacedColumn, ...]:
    """Return the columns of a layout from the first row and column on."""
    return tuple(PlacedColumn(index, piece, 0, index, True) for index, piece in enumerate(layout.pieces))


def check_cells(cells: int, limit: int, others: int) -> None:
    """Refuse more cells than a spreadsheet may have.

    Raises:
        LimitError: there would be more.
    """
    if cells > limit:
        beside = f", {others:,} of them in other worksheets" if others else ""
        raise LimitError(f"the spreadsheet would have {cells:,} cells{beside}, and it may have {limit:,}")


def plan_ranges(
    state: State,
    sheet: Worksheet | None,
    placed_columns: Sequence[PlacedColumn],
    replaced: dict[str, list[StandingArray]],
    blocked: Collection[str],
) -> Iterator[RangeOf]:
    """Yield the named range of each array; one over its elements that is there keeps its name, whatever that is.

    So does the one that an array of the name has left, whose cells somebody has cleared.
    """
    taken = {named.name.lower() for named in state.ranges} | set(blocked)
    ranges_by_start: dict[tuple[int, int | None], list[NamedRange]] = {}
    for named in state.ranges:
        if sheet and named.gid == sheet.gid and named.rect:
            ranges_by_start.setdefault((named.rect.top, named.rect.left), []).append(named)
    for name, group in groupby(placed_columns, key=lambda placed: placed.piece.name):
        parts = list(group)
        if not parts[0].piece.header:
            continue  # a column of a table
        rect = parts[0].elements
        if parts[-1].column - parts[0].column == len(parts) - 1:
            rect = rect._replace(right=parts[-1].column + 1)
        starts = [standing.data for standing in replaced.get(name, [])] or [(rect.top, parts[0].column)]
        known = [
            named
            for row, column in starts
            for top in (row, row - 1)
            for named in ranges_by_start.get((top, column), [])
        ]
        if name not in replaced:
            ours = re.compile(re.escape(range_name(name, ())) + r"(_\d+)?", re.IGNORECASE)
            known = [named for named in known if ours.fullmatch(named.name)]
        yield from (RangeOf(named.name, rect, named) for named in known)
        if not known:
            free_name = range_name(name, taken)
            taken.add(free_name.lower())
            yield RangeOf(free_name, rect)
