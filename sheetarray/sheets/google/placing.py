"""Finds the cells for the columns of a write in a worksheet that exists, before anything is written.

An array replaces the one that has its name; others go to free columns on the right. All other cells of the worksheet
stay, or the write is refused with the address of one that is in the way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from ...columns import Layout
from ...errors import FormatError, LimitError, locating
from .address import Rect
from .content import SheetContent, StandingArray, fetch_content, find_filled, overwrite_error
from .data_rows import align_data
from .plan import PlacedColumn, WritePlan, check_cells, plan_ranges
from .requests import SheetsApi
from .state import MOST_COLUMNS, State, Worksheet


def plan_for(
    service: SheetsApi,
    state: State,
    stage: int,
    sheet: Worksheet,
    layout: Layout,
    limit: int,
    blocked: Collection[str],
) -> WritePlan:
    """Return the plan for a worksheet that is there: one request, of a large one a few, which only read.

    Args:
        service: the spreadsheet.
        state: of it.
        stage: the id of the write's own stage.
        sheet: the worksheet.
        layout: what is to be written.
        limit: the cells that a spreadsheet may have.
        blocked: names that ranges cannot have.

    Raises:
        FormatError: something is in the way, at `.location`.
        LimitError: the worksheet would be too large.
        ConflictError: it has changed meanwhile.
    """
    with locating(sheet=sheet.title):
        content = fetch_content(service, sheet)
        planner = _Planner(service, state, stage, sheet, layout, content)
        planner.place_columns()
        return planner.with_size(limit, blocked)


class _Planner:
    def __init__(
        self, service: SheetsApi, state: State, stage: int, sheet: Worksheet, layout: Layout, content: SheetContent
    ) -> None:
        self.service, self.state, self.stage, self.sheet = service, state, stage, sheet
        self.layout, self.content = layout, content
        self.by_name = {
            name: [(index, piece) for index, piece in group]
            for name, group in groupby(enumerate(layout.pieces), key=lambda pair: pair[1].name)
        }
        self.replaced = {name: content.arrays[name] for name in self.by_name if name in content.arrays}
        self.kept = [s for name, group in content.arrays.items() if name not in self.by_name for s in group]
        self.placed_columns: dict[int, PlacedColumn] = {}
        self.pairs: dict[int, StandingArray] = {}  # the columns of arrays that are replaced, by the layout's index
        self.below: dict[Rect, str] = {}  # cells below an array that its new elements take, and its name
        self.cleared: list[Rect] = []  # cells of replaced arrays that no column of the layout takes
        self.fresh: list[int] = []  # the indices of the layout's columns that go to blank columns
        self.blank = False  # whether the worksheet is blank

    # Which cells ---------------------------------------------------------------------------------------------

    def place_columns(self) -> None:
        """Find the cells for every column of the layout."""
        for name, pieces in self.by_name.items():
            group = self.replaced.get(name, [])
            for standing in self._find_damaged(name):
                _check_replaceable(name, standing, [])
            for standing in group:
                _check_replaceable(name, standing, group)
            if len(group) == len(pieces) and all(standing.anchor.orient == "columns" for standing in group):
                self.pairs |= {index: standing for (index, _), standing in zip(pieces, group, strict=True)}
            else:
                self.cleared += [rect for standing in group for rect in standing.rects]
                self.fresh += [index for index, _ in pieces]
        everything = [standing for group in self.content.arrays.values() for standing in group]
        own = self.sheet.notes.own
        self.rows = align_data(self.layout, everything, self.pairs, self.kept, own=own)
        self.layout = self.rows.layout
        for index, standing in self.pairs.items():
            self._replace(index, standing)
        self._refuse_arrays_in_the_way()
        filled_cells = self._look_at_the_rest()
        self._refuse_cells_in_the_way(filled_cells)
        self._place_fresh(filled_cells)
        self._refuse_merged_cells()

    def _find_damaged(self, name: str) -> list[StandingArray]:
        """Return the arrays that may be the one of a name, as far as can be told: the beginnings of their headers are
        gone.
        """
        return [
            standing
            for group in self.content.arrays.values()
            for standing in group
            if standing.anchor.aliases is None or name in standing.anchor.aliases
        ]

    def _replace(self, index: int, standing: StandingArray) -> None:
        """Put a column of the layout over a column of an array, and note what is cleared or taken below it."""
        anchor, piece, row = standing.anchor, self.layout.pieces[index], self.rows.rows[index]
        placed = self.placed_columns[index] = PlacedColumn.for_column(index, piece, row, anchor.column, named=False)
        if row > anchor.row:
            self.cleared.append(Rect(anchor.row, anchor.column, row, anchor.column + 1))
        bottom_before, bottom = standing.cells.bottom or 0, placed.row + placed.height
        if bottom_before > bottom:
            self.cleared.append(Rect(bottom, anchor.column, bottom_before, anchor.column + 1))
        elif bottom_before < bottom:
            self.below[Rect(bottom_before, anchor.column, bottom, anchor.column + 1)] = piece.name

    def _refuse_arrays_in_the_way(self) -> None:
        """Raise an error with an address where a column would go over an array that stays, or over another column."""
        taken: dict[int, list[tuple[Rect, str]]] = {}
        for standing in self.kept:
            for rect in standing.rects:
                for column in range(rect.left or 0, rect.right or 0):
                    taken.setdefault(column, []).append((rect, standing.anchor.name))
        for placed in self.placed_columns.values():
            name = self.layout.pieces[placed.index].name
            spans = taken.setdefault(placed.column, [])
            for rect, other in spans:
                if _overlap(rect, placed.cells):
                    raise overwrite_error(f"the array {other}", rect.top, rect.left or 0, name)
            spans.append((placed.cells, name))

    @property
    def first_free(self) -> int:
        """The first column beyond all that the first rows show."""
        return max([self.content.width, *((standing.cells.right or 0) for standing in self.kept)])

    @property
    def free_column(self) -> Rect:
        """The cells for fresh columns, which must be blank; all cells of a worksheet that seems to be blank."""
        if self.content.blank:
            return Rect(0, 0, self.sheet.rows, self.sheet.columns)
        return Rect(0, self.first_free, self.sheet.rows, min(self.first_free + len(self.fresh), self.sheet.columns))

    def _look_at_the_rest(self) -> list[tuple[int, int]]:
        """Return the cells that hold something where new ones are to go."""
        free = self.free_column
        looked = [*self.below, *([free] if self.fresh and (free.left or 0) < (free.right or 0) else [])]
        return sorted(find_filled(self.service, self.sheet, looked, self.content.grid)) if looked else []

    def _refuse_cells_in_the_way(self, filled_cells: list[tuple[int, int]]) -> None:
        """Raise an error with an address where a column would go over a cell that belongs to no replaced array."""
        old = [standing.cells for group in self.replaced.values() for standing in group]
        for row, column in filled_cells:
            for rect, name in self.below.items():
                if _is_within(row, column, rect) and not any(_is_within(row, column, other) for other in old):
                    raise overwrite_error("a cell that belongs to no array", row, column, name)

    def _place_fresh(self, filled_cells: list[tuple[int, int]]) -> None:
        """Put fresh columns side by side, beyond the grid where what seemed to be free is not."""
        free, start = self.free_column, self.first_free
        self.blank = self.content.blank and not filled_cells
        merged = not self.content.blank and any(_overlap(merge, free) for merge in self.sheet.merges)
        if merged or any(_is_within(row, column, free) for row, column in filled_cells):
            start = self.sheet.columns
        for column, index in enumerate(sorted(self.fresh), start):
            row = self.rows.rows[index]
            piece = self.layout.pieces[index]
            self.placed_columns[index] = PlacedColumn.for_column(index, piece, row, column, named=True)

    def _refuse_merged_cells(self) -> None:
        """Raise an error with an address where a column would go over a merged cell."""
        for merge in self.sheet.merges:
            for placed in self.placed_columns.values():
                if _overlap(merge, placed.cells):
                    raise overwrite_error(
                        "a merged cell", merge.top, merge.left or 0, self.layout.pieces[placed.index].name
                    )

    # The size of the grid ------------------------------------------------------------------------------------

    def with_size(self, limit: int, blocked: Collection[str]) -> WritePlan:
        """Return the plan, with the size of the grid."""
        placed_columns = tuple(self.placed_columns[index] for index in sorted(self.placed_columns))
        least = (
            max(placed.cells.bottom or 0 for placed in placed_columns),
            max(placed.column + 1 for placed in placed_columns),
        )
        rows, columns = max(least[0], self.sheet.rows), max(least[1], self.sheet.columns)
        own = self.sheet.notes.own or self.blank
        ranges = plan_ranges(self.state, self.sheet, self.layout, placed_columns, self.replaced, blocked)
        plan = WritePlan(
            self.state,
            self.stage,
            self.layout,
            self.sheet,
            placed_columns,
            frozenset(self.fresh),
            tuple(self.cleared),
            rows,
            columns,
            own,
            self.blank and not self.sheet.notes.own,
            tuple(ranges),
            self.content.grid,
            self.rows.lowered,
            self.rows.moved,
        )
        if columns > MOST_COLUMNS or plan.other_cells + rows * columns > limit:
            plan = self._shrink(plan, least) if own else plan
        if plan.columns > MOST_COLUMNS:
            raise LimitError(f"{plan.columns:,} columns would be needed, and a worksheet has {MOST_COLUMNS:,}")
        check_cells(plan.other_cells + plan.rows * plan.columns, limit, plan.other_cells)
        cleared = [_clip(rect, plan.rows, plan.columns) for rect in plan.cleared]
        return replace(plan, cleared=tuple(rect for rect in cleared if rect))

    def _shrink(self, plan: WritePlan, least: tuple[int, int]) -> WritePlan:
        """Return the plan for the smallest grid that cuts off nothing but blank cells."""
        standing = [s.cells for s in self.kept]
        rows = max([least[0], *((rect.bottom or 0) for rect in standing)])
        columns = max([least[1], self.content.width, *((rect.right or 0) for rect in standing)])
        beyond = self._cells_beyond(rows, columns)
        if not self.blank and find_filled(self.service, self.sheet, beyond, self.content.grid):
            return plan
        return replace(plan, rows=rows, columns=columns)

    def _cells_beyond(self, rows: int, columns: int) -> Iterator[Rect]:
        """Yield what a smaller grid would cut off, besides arrays that are replaced."""
        ends = {s.anchor.column: s.cells.bottom or 0 for group in self.replaced.values() for s in group}
        right = min(columns, self.sheet.columns)
        for top, group in groupby(range(right), key=lambda column: max(rows, ends.get(column, 0))):
            some = list(group)
            yield Rect(top, some[0], self.sheet.rows, some[-1] + 1)
        yield Rect(0, right, self.sheet.rows, max(self.sheet.columns, right + 1))


def _check_replaceable(name: str, standing: StandingArray, group: Sequence[StandingArray]) -> None:
    anchor = standing.anchor
    if anchor.error is not None:
        error = anchor.error
        raise FormatError(
            f"{name} cannot be replaced, its header is broken: {error.reason}",
            location=error.location,
            hint="clear it, or write to another worksheet",
        )
    if len(group) > 1 and not (anchor.header and anchor.header.part):
        addresses = " and ".join(other.anchor.address(0) for other in group)
        raise FormatError(
            f"two arrays have the name {name!r}, at {addresses}",
            location=group[1].anchor.address(0),
            hint="rename one of them",
        )


def _overlap(one: Rect, other: Rect) -> bool:
    rows = one.top < (other.bottom or 0) and other.top < (one.bottom or 0)
    return rows and (one.left or 0) < (other.right or 0) and (other.left or 0) < (one.right or 0)


def _is_within(row: int, column: int, rect: Rect) -> bool:
    return rect.top <= row < (rect.bottom or 0) and (rect.left or 0) <= column < (rect.right or 0)


def _clip(rect: Rect, rows: int, columns: int) -> Rect | None:
    clipped = Rect(rect.top, rect.left, min(rect.bottom or 0, rows), min(rect.right or 0, columns))
    return clipped if clipped.top < (clipped.bottom or 0) and (clipped.left or 0) < (clipped.right or 0) else None
