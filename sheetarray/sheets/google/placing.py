"""Where the arrays of a write go in a worksheet: over those that they replace, or where there is room; and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ...columns import Layout, can_align
from ...errors import FormatError, LimitError, locating
from ...labels import NAME
from .address import Rect
from .content import CellNotes, SheetContent, StandingArray, fetch_content, fetch_notes, find_filled, overwrite_error
from .plan import FreeCells, PlacedColumn, WritePlan, place_side_by_side, plan_ranges
from .requests import SheetsApi
from .spreadsheet_state import MOST_COLUMNS, State, Worksheet

# Finds the row in which the data of all arrays begin: blanks stand between names and headers that are shorter.
#
# Readers accept a name above blanks only if another array has its name and its data in the same two rows. So there
# are no blanks if a write leaves no such array.


@dataclass(frozen=True, slots=True)
class DataRows:
    """The rows in which columns of a layout begin.

    Attributes:
        layout: with the blanks that stand between names and headers.
        rows: of the first cells that are written, by the index of the column: of the name, or of the header where the
            name stands already.
        lowered: arrays that stay where they are, whose names are put right above their headers.
        moved: whether the data of all arrays now begin in one row, where they did not, or in another.
    """

    layout: Layout
    rows: dict[int, int]
    lowered: tuple[StandingArray, ...] = ()
    moved: bool = False


@dataclass(slots=True)
class _Column:
    """A column as it will be: the row of its name, the blanks below that, and how tall its header is."""

    name_row: int
    blanks: int
    header: int
    kept: StandingArray | None = None

    @property
    def rows(self) -> tuple[int, int]:
        return self.name_row, self.name_row + 1 + self.blanks + self.header


def align_data(
    layout: Layout,
    standing: Sequence[StandingArray],
    replaced: Mapping[int, StandingArray],
    kept: Collection[StandingArray],
    *,
    own: bool,
) -> DataRows:
    """Return the rows in which the columns of a layout begin in a worksheet that is there."""
    if not standing:
        return DataRows(layout, dict.fromkeys(range(len(layout.pieces)), 0))
    common = _find_common_rows(layout, standing, may_move=own and not kept)
    top = min(_name_row(array) for array in standing)
    columns = {}
    for index, piece in enumerate(layout.pieces):
        array = replaced.get(index)
        if array is not None and array.name_cell is None:
            continue  # it has no name, and stays where it is
        name_row = top if array is None else _name_row(array)
        data = array.data[0] if array is not None and array.anchor.blanks else 0
        if common is not None:
            name_row, data = common[0] if array is None else name_row, common[1]
        height = len(piece.header)
        columns[index] = _Column(name_row, max(data - name_row - 1 - height, 0), height)
    others = [
        _Column(_name_row(array), array.anchor.blanks, array.anchor.start, array)
        for array in kept
        if array.name_cell is not None and array.anchor.orient == "columns"
    ]
    _keep_names([*columns.values(), *others])
    pieces = [
        replace(piece, blanks=columns[index].blanks if index in columns else 0)
        for index, piece in enumerate(layout.pieces)
    ]
    rows = {index: _first_row(index, replaced, columns) for index in range(len(pieces))}
    lowered = tuple(column.kept for column in others if column.kept and column.blanks != column.kept.anchor.blanks)
    moved = common is not None and {array.data[0] for array in standing} != {common[1]}
    return DataRows(Layout(pieces, layout.named), rows, lowered, moved)


def _first_row(index: int, replaced: Mapping[int, StandingArray], columns: Mapping[int, _Column]) -> int:
    """Return the row of the first cell that is written of a column."""
    if index not in columns:
        return replaced[index].anchor.row
    column = columns[index]
    return column.name_row + 1 + column.blanks if index in replaced else column.name_row


def _name_row(array: StandingArray) -> int:
    return array.name_cell.top if array.name_cell else max(array.anchor.row - 1, 0)


def _find_common_rows(layout: Layout, standing: Sequence[StandingArray], *, may_move: bool) -> tuple[int, int] | None:
    """Return the row of all names, and the row in which all data begin; None if they have no such rows."""
    names = {array.name_cell.top if array.name_cell else -1 for array in standing}
    plain = all(array.anchor.orient == "columns" and array.anchor.header is not None for array in standing)
    words = [*(array.anchor.name for array in standing), *(piece.name for piece in layout.pieces)]
    if len(names) > 1 or -1 in names or not plain or not can_align(words):
        return None
    (name_row,) = names
    begins = {array.data[0] for array in standing}
    least = name_row + 1 + max(len(piece.header) for piece in layout.pieces)
    if len(begins) == 1 and (least <= min(begins) or not may_move):
        return name_row, min(begins)
    return (name_row, least) if may_move and not name_row else None


def _keep_names(columns: Sequence[_Column]) -> None:
    """Take blanks away where no other array has its name and its data in the same rows."""
    while True:
        counts = Counter(column.rows for column in columns)
        alone = [column for column in columns if column.blanks and counts[column.rows] < 2]
        if not alone:
            return
        for column in alone:
            if column.kept is not None:
                column.name_row += column.blanks
            column.blanks = 0


# Finds the cells for the columns of a write in a worksheet that exists, before anything is written.
#
# An array replaces the one that has its name; others go to free columns on the right. All other cells of the
# worksheet stay, or the write is refused with the address of one that is in the way.


def plan_for(service: SheetsApi, state: State, sheet: Worksheet, layout: Layout, room: FreeCells) -> WritePlan:
    """Return the plan for a worksheet that is there: one request, of a large one a few, which only read.

    Raises:
        FormatError: something is in the way, at `.location`.
        LimitError: the worksheet would be too large.
        ConflictError: it has changed meanwhile.
    """
    with locating(sheet=sheet.title):
        content = fetch_content(service, state, sheet)
        planner = _Planner(service, state, sheet, layout, content)
        planner.place_columns()
        return planner.with_size(room)


class _Planner:
    def __init__(
        self, service: SheetsApi, state: State, sheet: Worksheet, layout: Layout, content: SheetContent
    ) -> None:
        self.service, self.state, self.sheet, self.layout, self.content = service, state, sheet, layout, content
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
        placed = self.placed_columns[index] = PlacedColumn(index, piece, row, anchor.column, named=False)
        if row > anchor.row:
            self.cleared.append(Rect(anchor.row, anchor.column, row, anchor.column + 1))
        bottom_before, bottom = standing.cells.bottom or 0, placed.cells.bottom or 0
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
            name = placed.piece.name
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
                if rect.holds(row, column) and not any(other.holds(row, column) for other in old):
                    raise overwrite_error("a cell that belongs to no array", row, column, name)

    def _place_fresh(self, filled_cells: list[tuple[int, int]]) -> None:
        """Put fresh columns side by side, beyond the grid where what seemed to be free is not."""
        free, start = self.free_column, self.first_free
        self.blank = self.content.blank and not filled_cells
        merged = not self.content.blank and any(_overlap(merge, free) for merge in self.sheet.merges)
        if merged or any(free.holds(row, column) for row, column in filled_cells):
            start = self.sheet.columns
        for column, index in enumerate(sorted(self.fresh), start):
            piece, row = self.layout.pieces[index], self.rows.rows[index]
            self.placed_columns[index] = PlacedColumn(index, piece, row, column, named=True)

    def _refuse_merged_cells(self) -> None:
        """Raise an error with an address where a column would go over a merged cell."""
        for merge in self.sheet.merges:
            for placed in self.placed_columns.values():
                if _overlap(merge, placed.cells):
                    raise overwrite_error("a merged cell", merge.top, merge.left or 0, placed.piece.name)

    # The size of the grid ------------------------------------------------------------------------------------

    def with_size(self, room: FreeCells) -> WritePlan:
        """Return the plan, with the size of the grid."""
        placed_columns = tuple(self.placed_columns[index] for index in sorted(self.placed_columns))
        least = (
            max(placed.cells.bottom or 0 for placed in placed_columns),
            max(placed.column + 1 for placed in placed_columns),
        )
        own = self.sheet.notes.own or self.blank
        notes = CellNotes()
        if own and NAME in self.by_name:  # there are labels
            tops = [rect.top for rect in self.cleared] + [placed.name_cell[0] for placed in placed_columns]
            names = Rect(min(tops), 0, min(max(tops) + 1, self.sheet.rows), self.sheet.columns)
            notes = fetch_notes(self.service, self.sheet, self.content, names)
        plan = WritePlan(
            self.layout,
            self.sheet,
            placed_columns,
            max(least[0], self.sheet.rows),
            max(least[1], self.sheet.columns),
            own=own,
            adopted=self.blank and not self.sheet.notes.own,
            ranges=tuple(plan_ranges(self.state, self.sheet, placed_columns, self.replaced, room.blocked)),
            grid=self.content.grid,
            notes=notes,
            lowered=self.rows.lowered,
            moved=self.rows.moved,
        )
        if own and (plan.columns > MOST_COLUMNS or room.others + plan.rows * plan.columns > room.limit):
            plan = self._shrink(plan, least)
        if plan.columns > MOST_COLUMNS:
            raise LimitError(f"{plan.columns:,} columns would be needed, and a worksheet has {MOST_COLUMNS:,}")
        room.check(plan.rows, plan.columns)
        cleared = (rect.clip(plan.rows, plan.columns) for rect in self.cleared)
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


# Plans the write of a table to a worksheet that exists: it must be blank, or hold a table that may be replaced.


def plan_table(
    service: SheetsApi, state: State, sheet: Worksheet, layout: Layout, room: FreeCells, *, replacing: bool
) -> WritePlan:
    """Return the plan that replaces all cells of a worksheet with a table.

    Raises:
        FormatError: the worksheet has a merged cell.
        LimitError: the worksheet holds something that must not be replaced, or the spreadsheet would be too large.
        ConflictError: the worksheet has changed since its state was fetched.
    """
    with locating(sheet=sheet.title):
        content = fetch_content(service, state, sheet)
        whole = Rect(0, 0, sheet.rows, sheet.columns)
        blank = content.blank and not any(find_filled(service, sheet, [whole], content.grid))
        if not blank:
            _check_table_replaceable(sheet, bool(content.arrays), replacing=replacing)
        for merge in sheet.merges:
            raise overwrite_error("a merged cell", merge.top, merge.left or 0, "the table")
    placed = place_side_by_side(layout)
    rows, columns = max(layout.height, sheet.rows), max(len(placed), sheet.columns)
    room.check(rows, columns)
    cleared = () if blank else (whole,)
    adopted = blank and not sheet.notes.own
    return WritePlan(layout, sheet, placed, rows, columns, cleared, adopted=adopted, grid=content.grid)


def _check_table_replaceable(sheet: Worksheet, arrays: bool, *, replacing: bool) -> None:
    """Refuse to replace the cells of a worksheet unless they are a table of ours, and replacing is asked for.

    Raises:
        LimitError: the cells must stay.
    """
    title = f"the worksheet {sheet.title!r}"
    if not replacing:
        raise LimitError(f"{title} is not blank: name another one, or if_sheet_exists='replace'")
    if arrays:
        raise LimitError(f"{title} holds arrays: name another one, or clear it")
    if not sheet.notes.own:
        raise LimitError(f"{title} was not written by sheetarray: name another one, or clear it")
