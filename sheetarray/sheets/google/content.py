"""The content of a worksheet before a write: its arrays and the cells that they take, and the columns that are used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...columns import Anchor, cell_address, find_anchors
from ...errors import FormatError, NotFoundError
from .address import Rect
from .fetch import fetch_values
from .grid import MOST_CELLS_AT_ONCE, GridCells, fetch_grid
from .requests import SheetsApi
from .retries import ChangedError, RefusedError
from .sheet import GoogleSheet
from .state import Worksheet


class ConflictError(Exception):
    """The spreadsheet has changed since it was looked at."""


@dataclass(frozen=True, slots=True)
class StandingArray:
    """An array, or a part of one, in a worksheet.

    Attributes:
        anchor: where it begins, and its header.
        cells: the cells that it takes, without its name.
        name_cell: the cell of its name; None if it has no name.
    """

    anchor: Anchor
    cells: Rect
    name_cell: Rect | None

    @property
    def rects(self) -> list[Rect]:
        """All cells that it takes."""
        return [self.cells, *([self.name_cell] if self.name_cell else [])]

    @property
    def above(self) -> Rect:
        """The cell right above its header."""
        row, column = self.anchor.row, self.anchor.column
        return Rect(row - 1, column, row, column + 1)

    @property
    def data(self) -> tuple[int, int]:
        """Row and column of the first element."""
        return self.anchor.row + self.anchor.start, self.anchor.column


@dataclass(frozen=True, slots=True)
class SheetContent:
    """The content of a worksheet.

    Attributes:
        arrays: by name, parts in their order.
        width: the number of columns up to the last that holds something, as far as the first rows show.
        blank: whether the first rows hold nothing.
        grid: all cells, if the worksheet is small enough; else None.
    """

    arrays: dict[str, list[StandingArray]] = field(default_factory=dict)
    width: int = 0
    blank: bool = True
    grid: GridCells | None = None


def fetch_content(service: SheetsApi, sheet: Worksheet) -> SheetContent:
    """Look at all of a worksheet that may hold arrays: one request, of a large one two or three.

    Raises:
        ConflictError: the worksheet is gone.
    """
    try:
        return _read_content(service, sheet)
    except (ChangedError, NotFoundError):
        raise ConflictError from None


def _read_content(service: SheetsApi, sheet: Worksheet) -> SheetContent:
    view = GoogleSheet(service, sheet.title, (sheet.rows, sheet.columns))
    view.title = None  # whoever asks tells the sheet
    grid: GridCells | None = None
    if sheet.cells <= MOST_CELLS_AT_ONCE:
        try:
            grid = fetch_grid(service, sheet)
        except RefusedError:
            raise ConflictError from None
        view.keep_head(sheet.rows, grid.columns)
    anchors = find_anchors(view)
    arrays: dict[str, list[StandingArray]] = {}
    for anchor in anchors:
        arrays.setdefault(anchor.name, []).append(_to_standing(anchor, sheet))
    for group in arrays.values():
        group.sort(key=_part)
    rows, _ = view.head(0)  # what has been fetched for the search
    filled = [column for row in rows for column, cell in enumerate(row) if cell not in (None, "")]
    return SheetContent(arrays, max(filled, default=-1) + 1, not filled and not anchors, grid)


def _to_standing(anchor: Anchor, sheet: Worksheet) -> StandingArray:
    row, column, header = anchor.row, anchor.column, anchor.header
    end = anchor.start + header.capacity if header and not header.part else max(sheet.rows, sheet.columns)
    if anchor.orient == "columns":
        cells = Rect(row, column, min(row + end, max(sheet.rows, row + 1)), column + 1)
    else:
        cells = Rect(row, column, row + 1, min(column + end, max(sheet.columns, column + 1)))
    name = anchor.name_cell
    return StandingArray(anchor, cells, Rect(*name, name[0] + 1, name[1] + 1) if name else None)


def _part(standing: StandingArray) -> int:
    header = standing.anchor.header
    return header.part[0] if header and header.part else 0


def find_filled(
    service: SheetsApi, sheet: Worksheet, rects: Iterable[Rect], grid: GridCells | None
) -> list[tuple[int, int]]:
    """Return the cells, as rows and columns, that hold something, be it a formula that shows nothing; none of them in
    order.

    Args:
        service: the spreadsheet.
        sheet: where.
        rects: what to look at; what lies beyond the grid is blank.
        grid: all cells, where they have been fetched.

    Raises:
        ConflictError: the worksheet is gone, or has become smaller.
    """
    inside = [rect for rect in rects if rect.top < sheet.rows and (rect.left or 0) < sheet.columns]
    if grid is not None:
        return [position for rect in inside for position in grid.iter_filled(_within(sheet, rect))]
    positions = []
    try:
        pairs = zip(inside, fetch_values(service, [(sheet.title, rect) for rect in inside], formulas=True), strict=True)
        for rect, (_, columns) in pairs:
            for column, cells in enumerate(columns, rect.left or 0):
                positions += [(row, column) for row, cell in enumerate(cells, rect.top) if cell not in (None, "")]
    except RefusedError:
        raise ConflictError from None
    return positions


def _within(sheet: Worksheet, rect: Rect) -> Rect:
    bottom = sheet.rows if rect.bottom is None else min(rect.bottom, sheet.rows)
    right = sheet.columns if rect.right is None else min(rect.right, sheet.columns)
    return Rect(rect.top, rect.left or 0, bottom, right)


def overwrite_error(what: str, row: int, column: int, why: str) -> FormatError:
    """Return the error that refuses to write over something."""
    return FormatError(
        f"{what} is in the way of {why}",
        location=cell_address(row, column),
        hint="move it, or write to another worksheet",
    )
