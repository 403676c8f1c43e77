"""The plan of a write: which cells every array takes, which are cleared, and which named ranges point to them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...columns import Layout, LayoutColumn
from ...errors import LimitError
from .address import Rect
from .content import GridCells, StandingArray
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
        row, column: of the first cell, in the worksheet.
        named: whether the first cell is the name; else the name that stands there stays.
        height: the number of cells.
        data: the row of the first element (of the word `data`, if the array is empty).
        elements: the number of elements, but at least 1.
    """

    index: int
    row: int
    column: int
    named: bool
    height: int
    data: int
    elements: int

    @classmethod
    def for_column(cls, index: int, piece: LayoutColumn, row: int, column: int, *, named: bool) -> PlacedColumn:
        """Return a column of the layout at some cells, given the row and the column of its name or of its anchor."""
        above, elements = len(piece.cells_above(named=named)), len(piece.buffer)
        return cls(index, row, column, named, above + elements, row + above - (not elements), max(elements, 1))

    @property
    def cells(self) -> Rect:
        """The cells that it takes."""
        return Rect(self.row, self.column, self.row + self.height, self.column + 1)


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
class WritePlan:
    """A write that would be right for a spreadsheet in one state.

    Attributes:
        state: the state of the spreadsheet that was seen.
        sheet: the worksheet; None if it is to be made.
        placed_columns: the columns of the layout, in their order, with the cells to which they go.
        fresh: the indices of those that go to blank columns of the worksheet.
        cleared: the cells of replaced arrays that no new ones take.
        rows, columns: the size of the grid after the write.
        own: whether the worksheet was made, or found blank, by this write or an earlier one.
        adopted: whether it was made, or found blank, by this write.
        ranges: named ranges over elements.
        layout: what is written, with the blanks that stand between names and headers here.
        stage: the id of the write's own stage.
        grid: all cells of the worksheet as they were seen; None if it is too large for one request.
        lowered: arrays that stay, whose names go right above their headers.
        moved: whether rows of headers are others than before, of a worksheet of ours.
    """

    state: State
    stage: int
    layout: Layout
    sheet: Worksheet | None
    placed_columns: tuple[PlacedColumn, ...]
    fresh: frozenset[int]
    cleared: tuple[Rect, ...]
    rows: int
    columns: int
    own: bool
    adopted: bool
    ranges: tuple[RangeOf, ...]
    grid: GridCells | None = None
    lowered: tuple[StandingArray, ...] = ()
    moved: bool = False

    @property
    def other_cells(self) -> int:
        """The cells of all other worksheets, but stages: the own one, and what interrupted writes have left."""
        gone = {sheet.gid for sheet in (*self.state.dead_stages(), *([self.sheet] if self.sheet else []))}
        return sum(sheet.cells for sheet in self.state.worksheets if sheet.gid not in gone | {self.stage})

    def peak_cells(self, stage: int) -> int:
        """Return the cells that the spreadsheet has at its largest, with a stage of so many cells."""
        ours = max(self.sheet.cells, self.rows * self.columns) if self.sheet else 0
        return self.other_cells + stage + ours


def fresh_plan(state: State, stage: int, layout: Layout, limit: int, blocked: Collection[str]) -> WritePlan:
    """Return the plan for a worksheet that is to be made.

    Raises:
        LimitError: it would be too large.
    """
    placed_columns = tuple(
        PlacedColumn.for_column(index, piece, 0, index, named=True) for index, piece in enumerate(layout.pieces)
    )
    ranges = tuple(plan_ranges(state, None, layout, placed_columns, {}, blocked))
    columns = len(placed_columns)
    fresh = frozenset(range(columns))
    plan = WritePlan(state, stage, layout, None, placed_columns, fresh, (), layout.height, columns, True, True, ranges)
    check_cells(plan.other_cells + plan.rows * plan.columns, limit, plan.other_cells)
    return plan


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
    layout: Layout,
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
    for name, group in groupby(placed_columns, key=lambda placed: layout.pieces[placed.index].name):
        parts = list(group)
        if not layout.pieces[parts[0].index].header:
            continue  # a column of a table
        first, last = parts[0], parts[-1]
        right = last.column + 1 if last.column - first.column == len(parts) - 1 else first.column + 1
        rect = Rect(first.data, first.column, first.data + first.elements, right)
        starts = [s.data for s in replaced.get(name, [])] or [(first.data, first.column)]
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
