"""The plan of a write: which cells each array takes, and which are cleared.

An array replaces the one that has its name; others go to free columns on the right, or to a cell that the caller
chooses. All other cells of the worksheet stay, or the write is refused with the address of one that is in the way. A
table needs a worksheet that is blank, or that holds a table that may be replaced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from ...columns import Layout, can_align
from ...errors import FormatError, LimitError, locating
from ...labels import NAME
from ..content import SheetContent
from .address import ALL_COLUMNS, ALL_ROWS, Rect, join_columns, one_cell
from .grid_cells import GridCells
from .named_ranges import PlacedColumn, plan_ranges
from .requests import SheetsApi
from .standing import CellNotes, StandingArray, StandingSheet, fetch_standing, overwrite_error
from .state.records import pack_notes
from .state.spreadsheet import NamedRange, State, Worksheet
from .tables.recorded import list_standing_notes


@dataclass(frozen=True, slots=True)
class FreeCells:
    """The state of a spreadsheet before a write."""

    used_beside: int  # the cells of all worksheets but its own and dead stages
    limit: int  # the number of cells that there may be
    blocked: Collection[str]  # the names, in lower case, that the service refuses for named ranges

    def check(self, rows: int, columns: int) -> None:
        """Refuse a grid for which the spreadsheet has no room, with a LimitError."""
        check_cells(self.used_beside + rows * columns, self.limit, self.used_beside)


def check_cells(cells: int, limit: int, cells_beside: int) -> None:
    """Refuse more cells than a spreadsheet may have in all its worksheets, with a LimitError."""
    if cells > limit:
        beside = f", {cells_beside:,} of them in other worksheets" if cells_beside else ""
        raise LimitError(f"the spreadsheet would have {cells:,} cells{beside}, but it may have at most {limit:,}")


@dataclass(frozen=True, slots=True)
class WritePlan:
    """A write to one worksheet that would be right for a spreadsheet in one state."""

    layout: Layout  # what is written, with the blanks that stand between names and headers here
    title: str  # of the worksheet
    sheet: Worksheet | None  # None if it is to be made
    placed_columns: tuple[PlacedColumn, ...]  # the columns of the layout, in their order, with their cells
    rows: int  # of the grid after the write
    columns: int
    own: bool = True  # whether the worksheet was made, or found blank, by this write or an earlier one
    cleared: tuple[Rect, ...] = ()  # the cells of replaced arrays that no new ones take
    ranges: tuple[tuple[str, Rect, NamedRange | None], ...] = ()  # over elements: name, cells, the one that is there
    grid: GridCells | None = None  # all cells of the worksheet as they were seen; None if one request cannot fetch them
    notes: CellNotes = field(default_factory=CellNotes)  # of the names of arrays, where labels are written
    lowered: tuple[StandingArray, ...] = ()  # arrays that stay, whose names go right above their headers
    moved: bool = False  # whether rows of headers are others than before, of a worksheet of ours
    texts: Mapping[str, str] = field(default_factory=dict)  # of notes on names of arrays, by these names
    record: str | None = None  # the new record of its tables; None where that of the worksheet stays

    @property
    def is_new(self) -> bool:
        """Whether the worksheet was made, or found blank, by this write."""
        return self.own and not (self.sheet and self.sheet.notes.own)


def fresh_plan(state: State, title: str, content: SheetContent, free: FreeCells) -> WritePlan:
    """Return the plan for a worksheet that is to be made, or raise a LimitError if it would be too large."""
    (layout,), corner = content.layouts, content.corner
    placed = _place_side_by_side(layout, corner or (0, 0))
    rows, columns = placed[0].row + layout.height, placed[-1].column + 1
    free.check(rows, columns)
    ranges = tuple(plan_ranges(state, None, placed, {}, free.blocked))
    own = corner in (None, (0, 0))
    record = pack_notes([content.description]) if content.kind == "table" else None
    return WritePlan(layout, title, None, placed, rows, columns, own, ranges=ranges, texts=content.notes, record=record)


def _place_side_by_side(layout: Layout, corner: tuple[int, int]) -> tuple[PlacedColumn, ...]:
    """Return the columns of a layout from a row and a column on."""
    row, column = corner
    return tuple(PlacedColumn(index, piece, row, column + index, True) for index, piece in enumerate(layout.pieces))


#


def plan_for(service: SheetsApi, state: State, sheet: Worksheet, content: SheetContent, free: FreeCells) -> WritePlan:
    """Return the plan for a worksheet that is there: one request, of a large one a few, which only read."""
    with locating(sheet=sheet.title):
        planner = _Planner(content, fetch_standing(service, state, sheet))
        if content.corner is None or planner.stands_at(*content.corner):
            planner.place_columns()
        else:
            planner.place_at(content.corner)
        return planner.with_size(state, free)


class _Planner:
    def __init__(self, content: SheetContent, there: StandingSheet) -> None:
        (layout,) = content.layouts
        self.sheet, self.layout, self.texts, self.there = there.sheet, layout, content.notes, there
        self.by_name = {
            name: [(index, piece) for index, piece in group]
            for name, group in groupby(enumerate(layout.pieces), key=lambda pair: pair[1].name)
        }
        self.standing = [standing for group in there.arrays.values() for standing in group]
        self.replaced = {name: there.arrays[name] for name in self.by_name if name in there.arrays}
        self.kept = [standing for standing in self.standing if standing.anchor.name not in self.by_name]
        self.pairs: dict[int, StandingArray] = {}  # the columns of arrays that are replaced, by the layout's index
        self.fresh: list[int] = []  # the indices of the layout's columns that go to blank columns
        self.rows: dict[int, int] = {}  # of the first cells that are written, by the layout's index
        self.lowered: tuple[StandingArray, ...] = ()
        self.moved = False
        self.placed_columns: dict[int, PlacedColumn] = {}
        self.below: dict[Rect, str] = {}  # cells below an array that its new elements take, and its name
        self.cleared: list[Rect] = []  # cells of replaced arrays that no column of the layout takes
        self.blank = False  # whether the worksheet is blank

    def place_columns(self) -> None:
        """Find the cells for every column of the layout."""
        for name, pieces in self.by_name.items():
            group = self.replaced.get(name, [])
            self._check_replaceable(name, group)
            if len(group) == len(pieces) and all(standing.anchor.orient == "columns" for standing in group):
                self.pairs |= {index: standing for (index, _), standing in zip(pieces, group, strict=True)}
            else:
                self.cleared += [rect for standing in group for rect in standing.rects]
                self.fresh += [index for index, _ in pieces]
        self._align_data()
        for index, standing in self.pairs.items():
            self._replace(index, standing)
        arrays = [(rect, f"the array {array.anchor.name}") for array in self.kept for rect in array.rects]
        for placed in self.placed_columns.values():
            _refuse_overlaps(arrays, [placed])
            arrays.append((placed.cells, f"the array {placed.piece.name}"))
        self._place_fresh()
        merged = [(merge, "a merged cell") for merge in self.sheet.merges]
        _refuse_overlaps(merged, self.placed_columns.values())

    def stands_at(self, row: int, column: int) -> bool:
        """Return whether all arrays of the layout stand in the worksheet already, from a cell on.

        Raises:
            LimitError: one of them stands elsewhere.
        """
        if not self.replaced:
            return False
        names = [standing.name_cell for name in self.by_name for standing in self.replaced.get(name, [])]
        columns = range(column, column + len(self.layout.pieces))
        if names == [one_cell(row, other) for other in columns]:
            return True
        name = next(iter(self.replaced))
        raise LimitError(f"{name!r:.80} is on the worksheet already: leave out at= to replace it where it stands")

    def place_at(self, corner: tuple[int, int]) -> None:
        """Put the columns of the layout side by side from a cell on; all cells from there down must be blank."""
        self.placed_columns = dict(enumerate(_place_side_by_side(self.layout, corner)))
        _refuse_cells(self.there, self.placed_columns.values(), down=True)
        self.blank = self.there.blank and corner == (0, 0)

    def _check_replaceable(self, name: str, group: Sequence[StandingArray]) -> None:
        """Refuse to replace arrays of one name that are not parts of one array, or that may be damaged."""
        # Of an array that has lost the beginning of its header, nobody knows the name
        damaged = [s for s in self.standing if s.anchor.aliases is None or name in s.anchor.aliases]
        for standing in (*damaged, *group):
            if (error := standing.anchor.error) is not None:
                raise FormatError(
                    f"{name} cannot be replaced, its header is broken: {error.reason}",
                    location=error.location,
                    hint="clear it, or write to another worksheet",
                )
        if len(group) > 1 and not all(array.anchor.header and array.anchor.header.part for array in group):
            addresses = [array.anchor.address(0) for array in group]
            raise FormatError(
                f"two arrays have the name {name!r}, at {' and '.join(addresses)}",
                location=addresses[1],
                hint="rename one of them",
            )

    def _replace(self, index: int, standing: StandingArray) -> None:
        """Put a column of the layout over a column of an array, and note the cells cleared or taken below it."""
        anchor, piece, row = standing.anchor, self.layout.pieces[index], self.rows[index]
        placed = self.placed_columns[index] = PlacedColumn(index, piece, row, anchor.column, named=False)
        if row > anchor.row:
            self.cleared.append(Rect(anchor.row, anchor.column, row, anchor.column + 1))
        bottom_before, bottom = standing.cells.bottom, placed.cells.bottom
        if bottom_before > bottom:
            self.cleared.append(Rect(bottom, anchor.column, bottom_before, anchor.column + 1))
        elif bottom_before < bottom:
            self.below[Rect(bottom_before, anchor.column, bottom, anchor.column + 1)] = piece.name

    def _place_fresh(self) -> None:
        """Put fresh columns side by side beyond all that the first rows show, or beyond the grid if that is not free.

        A cell that belongs to no array, and is in the way of an array that grows, is refused with its address.
        """
        start = max([self.there.width, *(standing.cells.right for standing in self.kept)])
        free = Rect(0, start, self.sheet.rows, min(start + len(self.fresh), self.sheet.columns))
        if self.there.blank:
            free = Rect(0, 0, self.sheet.rows, self.sheet.columns)
        looked = [*self.below, *([free] if self.fresh and free.left < free.right else [])]
        filled = self.there.find_filled(looked)
        old = [standing.cells for group in self.replaced.values() for standing in group]
        for row, column in filled:
            for rect, name in self.below.items():
                if rect.holds(row, column) and not any(other.holds(row, column) for other in old):
                    raise overwrite_error("a cell that belongs to no array", row, column, name)
        self.blank = self.there.blank and not filled
        merged = not self.there.blank and any(merge.overlaps(free) for merge in self.sheet.merges)
        if merged or any(free.holds(row, column) for row, column in filled):
            start = self.sheet.columns
        for column, index in enumerate(sorted(self.fresh), start):
            piece, row = self.layout.pieces[index], self.rows[index]
            self.placed_columns[index] = PlacedColumn(index, piece, row, column, named=True)

    # The row in which the data of all arrays begin -----------------------------------------------------------

    def _align_data(self) -> None:
        """Find the rows of all columns, with blanks between names and headers that are shorter than others.

        Readers accept a name above blanks only if another array has its name and its data in the same two rows. So
        there are no blanks if a write leaves no such array, and the names of arrays that stay are lowered.
        """
        pieces = self.layout.pieces
        if not self.standing:
            self.rows = dict.fromkeys(range(len(pieces)), 0)
            return
        common = self._find_common_rows() if len(pieces) + len(self.kept) > 1 else None
        top = common[0] if common else min(map(_name_row, self.standing))
        blanks = [0] * len(pieces)
        begins: Counter[tuple[int, int]] = Counter()  # the rows of a name and of the first element
        for index, piece in enumerate(pieces):
            array = self.pairs.get(index)
            if array is not None and array.name_cell is None:
                self.rows[index] = array.anchor.row  # it has no name, and stays where it is
                continue
            name_row = top if array is None else _name_row(array)
            below = name_row + 1 + len(piece.header)
            if common is not None:
                blanks[index] = max(common[1] - below, 0)
            begins[name_row, below + blanks[index]] += 1
            self.rows[index] = name_row if array is None else name_row + 1 + blanks[index]
        beside = [array for array in self.kept if array.name_cell is not None and array.anchor.orient == "columns"]
        begins.update((_name_row(array), array.data[0]) for array in beside)
        self.layout = Layout(
            [replace(piece, blanks=count) for piece, count in zip(pieces, blanks, strict=True)], self.layout.named
        )
        self.lowered = tuple(
            array for array in beside if array.anchor.blanks and begins[_name_row(array), array.data[0]] < 2
        )
        self.moved = common is not None and {array.data[0] for array in self.standing} != {common[1]}

    def _find_common_rows(self) -> tuple[int, int] | None:
        """Return the row of all names, and the row in which all data begin; None if they have no such rows."""
        may_move = self.sheet.notes.own and not self.kept
        names = {array.name_cell.top if array.name_cell else -1 for array in self.standing}
        plain = all(array.anchor.orient == "columns" and array.anchor.header is not None for array in self.standing)
        words = [*(array.anchor.name for array in self.standing), *(piece.name for piece in self.layout.pieces)]
        if len(names) > 1 or -1 in names or not plain or not can_align(words):
            return None
        (name_row,) = names
        begins = {array.data[0] for array in self.standing}
        least = name_row + 1 + max(len(piece.header) for piece in self.layout.pieces)
        if len(begins) == 1 and (least <= min(begins) or not may_move):
            return name_row, min(begins)
        return (name_row, least) if may_move and not name_row else None

    # The size of the grid ------------------------------------------------------------------------------------

    def with_size(self, state: State, free: FreeCells) -> WritePlan:
        """Return the plan, with the size of the grid."""
        placed_columns = tuple(self.placed_columns[index] for index in sorted(self.placed_columns))
        least = (
            max(placed.cells.bottom for placed in placed_columns),
            max(placed.column + 1 for placed in placed_columns),
        )
        rows, columns = max(least[0], self.sheet.rows), max(least[1], self.sheet.columns)
        own = self.sheet.notes.own or self.blank
        if own and (columns > ALL_COLUMNS or free.used_beside + rows * columns > free.limit):
            rows, columns = self._shrink(least) or (rows, columns)
        if columns > ALL_COLUMNS:
            raise LimitError(f"{columns:,} columns would be needed, but a worksheet has at most {ALL_COLUMNS:,}")
        free.check(rows, columns)
        cleared = (rect.clip(rows, columns) for rect in self.cleared)
        notes = CellNotes()
        if own and NAME in self.by_name:  # there are labels
            tops = [rect.top for rect in self.cleared] + [placed.name_cell[0] for placed in placed_columns]
            names = Rect(min(tops), 0, min(max(tops) + 1, self.sheet.rows), self.sheet.columns)
            notes = self.there.fetch_notes(names)
        return WritePlan(
            self.layout,
            self.sheet.title,
            self.sheet,
            placed_columns,
            rows,
            columns,
            own,
            tuple(rect for rect in cleared if rect),
            tuple(plan_ranges(state, self.sheet, placed_columns, self.replaced, free.blocked)),
            self.there.grid,
            notes,
            self.lowered,
            self.moved,
            self.texts,
        )

    def _shrink(self, least: tuple[int, int]) -> tuple[int, int] | None:
        """Return the size of the smallest grid that cuts off nothing but blank cells; None if that holds others."""
        rects = [array.cells for array in self.kept]
        rows = max([least[0], *(rect.bottom for rect in rects)])
        columns = max([least[1], self.there.width, *(rect.right for rect in rects)])
        ends = {array.anchor.column: array.cells.bottom for group in self.replaced.values() for array in group}
        beyond = [Rect(max(rows, ends.get(column, 0)), column, ALL_ROWS, column + 1) for column in range(columns)]
        beyond.append(Rect(0, columns, ALL_ROWS, ALL_COLUMNS))
        return None if self.there.find_filled(join_columns(beyond)) else (rows, columns)


def _name_row(array: StandingArray) -> int:
    return array.name_cell.top if array.name_cell else max(array.anchor.row - 1, 0)


def _refuse_overlaps(taken: Iterable[tuple[Rect, str]], columns: Iterable[PlacedColumn]) -> None:
    """Raise an error with an address where a column would go over cells that something takes."""
    for rect, what in taken:
        for placed in columns:
            if rect.overlaps(placed.cells):
                raise overwrite_error(what, rect.top, rect.left, placed.piece.name)


def _refuse_cells(there: StandingSheet, columns: Collection[PlacedColumn], *, down: bool) -> None:
    """Raise an error with an address where a cell that columns take holds something.

    `down`: the cells below the columns must be blank too, which would be read as more elements. Otherwise no array may
    stand above them, which would take them for its elements.
    """
    standing = [(array, f"the array {array.anchor.name}") for group in there.arrays.values() for array in group]
    _refuse_overlaps([(rect, what) for array, what in standing for rect in array.rects], columns)
    _refuse_overlaps([(merge, "a merged cell") for merge in there.sheet.merges], columns)
    if not down:
        why = "above, which would take the cells for elements,"
        above = [(array.cells, f"{what} {why}") for array, what in standing if array.anchor.orient == "columns"]
        _refuse_overlaps([(cells._replace(bottom=ALL_ROWS), what) for cells, what in above], columns)
    for placed in columns:
        rect = placed.cells._replace(bottom=there.sheet.rows) if down else placed.cells
        for row, column in there.find_filled([rect]):
            raise overwrite_error("a cell that holds something", row, column, placed.piece.name)


def plan_table(
    service: SheetsApi, state: State, sheet: Worksheet, content: SheetContent, free: FreeCells, *, replacing: bool
) -> WritePlan:
    """Return the plan that replaces all cells of a worksheet with a table, or puts it beside them.

    If the caller chooses the first cell, all else stays.

    Raises:
        FormatError: the worksheet has a merged cell.
        LimitError: the worksheet holds something that must not be replaced, or the spreadsheet would be too large.
        ChangedError: the worksheet has changed since its state was fetched.
    """
    (layout,), corner = content.layouts, content.corner
    with locating(sheet=sheet.title):
        there = fetch_standing(service, state, sheet)
        if corner is not None:
            beside = _place_side_by_side(layout, corner)
            _refuse_cells(there, beside, down=False)
            rows, columns = max(corner[0] + layout.height, sheet.rows), max(beside[-1].column + 1, sheet.columns)
            free.check(rows, columns)
            notes = [] if there.blank else list_standing_notes(there, content.description)
            record = pack_notes([*notes, content.description])
            return WritePlan(
                layout, sheet.title, there.sheet, beside, rows, columns, own=False, grid=there.grid, record=record
            )
        whole = Rect(0, 0, sheet.rows, sheet.columns)
        blank = there.blank and not there.find_filled([whole])
        title = f"the worksheet {sheet.title!r}"
        if not blank and not replacing:
            raise LimitError(f"{title} is not blank: name another one, or if_sheet_exists='replace'")
        if there.arrays:
            raise LimitError(f"{title} holds arrays: name another one, or clear it")
        if not blank and not sheet.notes.own:
            raise LimitError(f"{title} was not written by sheetarray: name another one, or clear it")
        for merge in sheet.merges:
            raise overwrite_error("a merged cell", merge.top, merge.left, "the table")
    placed = _place_side_by_side(layout, (0, 0))
    rows, columns = max(layout.height, sheet.rows), max(len(placed), sheet.columns)
    free.check(rows, columns)
    cleared = () if blank else (whole,)
    return WritePlan(
        layout,
        sheet.title,
        there.sheet,
        placed,
        rows,
        columns,
        cleared=cleared,
        grid=there.grid,
        record=pack_notes([content.description]),
    )
