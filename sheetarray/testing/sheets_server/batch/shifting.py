"""`insertRange` and `deleteRange`: cells are inserted or deleted in some columns or rows, those beside them stay."""

from __future__ import annotations

from ..errors import Json, invalid, unsupported_error
from ..grid import GridCell
from ..moves import move_cells, shift_part
from ..ranges import GridArea, Span
from ..spreadsheet import ServedSheet, Spreadsheet
from .names import find_area


def insert_range(spreadsheet: Spreadsheet, request: Json) -> None:
    """`insertRange`: insert blank cells; the cells there move down or right, and the grid grows to hold them."""
    sheet, area = find_area(spreadsheet, request.get("range"))
    down = _is_down(sheet, request)
    grid = sheet.grid
    used = grid.bottom(GridArea(0, grid.rows, area.left, area.right)) if down else _width(sheet, area)
    beyond = max(used, area.top if down else area.left)
    size = (
        (max(grid.rows, beyond + area.height), grid.columns)
        if down
        else (grid.rows, max(grid.columns, beyond + area.width))
    )
    if size != (grid.rows, grid.columns):
        spreadsheet.resize(sheet, *size)
    if down:
        for column in range(area.left, area.right):
            cells = grid.column(column, area.top, grid.rows)
            grid.write(column, area.top, [*[None] * area.height, *cells])
            grid.marks(column).insert(area.top, area.height)
        _follow(spreadsheet, sheet, area, "ROWS", area.top, area.height)
        return
    for column in reversed(range(area.left, grid.columns)):
        source = column - area.width
        _replace(sheet, area, column, source if source >= area.left else None)
    _follow(spreadsheet, sheet, area, "COLUMNS", area.left, area.width)


def delete_range(spreadsheet: Spreadsheet, request: Json) -> None:
    """`deleteRange`: delete cells; those below them move up, or those to the right move left."""
    sheet, area = find_area(spreadsheet, request.get("range"))
    grid = sheet.grid
    if _is_down(sheet, request):
        for column in range(area.left, area.right):
            cells = grid.column(column, area.bottom, grid.rows)
            grid.clear(GridArea(area.top, grid.rows, column, column + 1))
            grid.write(column, area.top, cells)
            grid.marks(column).delete(area.top, area.bottom)
        _follow(spreadsheet, sheet, area, "ROWS", area.top, 0)
        return
    for column in range(area.left, grid.columns):
        source = column + area.width
        _replace(sheet, area, column, source if source < grid.columns else None)
    _follow(spreadsheet, sheet, area, "COLUMNS", area.left, 0)


def _follow(
    spreadsheet: Spreadsheet, sheet: ServedSheet, area: GridArea, dimension: str, first: int, count: int
) -> None:
    """Change whatever refers to cells that have moved.

    Args:
        spreadsheet: all of which is searched for references.
        sheet: on which cells moved.
        area: the cells that were inserted or deleted.
        dimension: ROWS if cells moved up or down, COLUMNS if they moved left or right.
        first: the first row or column of the area.
        count: the rows or columns inserted; 0 if cells were deleted.
    """
    last = first if count else area.bottom if dimension == "ROWS" else area.right
    move_cells(spreadsheet, sheet, shift_part(sheet, dimension, Span(*area), first, last, count))


def _is_down(sheet: ServedSheet, request: Json) -> bool:
    """Return whether a request moves cells up or down, not left or right."""
    if request.get("shiftDimension") not in ("ROWS", "COLUMNS"):
        raise invalid("No dimension specified to shift.")
    if sheet.merges:
        raise unsupported_error("Moving a part of a sheet with merged cells")
    return bool(request["shiftDimension"] == "ROWS")


def _width(sheet: ServedSheet, area: GridArea) -> int:
    """Return the number of columns up to the last one with a value in the rows of an area."""
    filled = [column for column in range(sheet.grid.columns) if sheet.grid.column(column, area.top, area.bottom)]
    return max(filled, default=-1) + 1


def _replace(sheet: ServedSheet, area: GridArea, column: int, source: int | None) -> None:
    """Give the cells of one column, in the rows of an area, the values and marks of another column; None: of none."""
    grid = sheet.grid
    cells: list[GridCell] = [] if source is None else grid.column(source, area.top, area.bottom)
    marked = grid.marks_of(source) if source is not None else None
    marks = list(marked.runs_between(area.top, area.bottom)) if marked else []
    grid.clear(GridArea(area.top, area.bottom, column, column + 1))
    grid.write(column, area.top, cells)
    runs = grid.marks(column)
    runs.put(area.top, area.bottom, None)
    for start, stop, mark in marks:
        runs.put(start, stop, mark)
