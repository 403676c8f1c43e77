"""Requests that move, fill and sort cells."""

from __future__ import annotations

from typing import Any

from .. import entered, masks, normalized_formats
from ..errors import Json, invalid, unsupported
from ..formulas import Evaluator
from ..grid import Formula, GridCell
from ..ranges import GridArea
from ..spreadsheet import ServedSheet, Spreadsheet
from .names import area_of
from .sheets import fields

_MARKS = {"userEnteredFormat", "note", "dataValidation", "textFormatRuns", "chipRuns"}
_READ_ONLY = {"effectiveValue", "formattedValue", "effectiveFormat", "hyperlink"}


def copy_paste(spreadsheet: Spreadsheet, request: Json) -> None:
    """`copyPaste`: values, formats or both; repeated where the destination is a multiple of the source."""
    source_sheet, source = area_of(spreadsheet, request.get("source"))
    sheet, wanted = area_of(spreadsheet, request.get("destination"))
    kind = request.get("pasteType") or "PASTE_NORMAL"
    if kind not in ("PASTE_NORMAL", "PASTE_VALUES", "PASTE_FORMAT", "PASTE_FORMULA", "PASTE_NO_BORDERS"):
        raise unsupported(f"The paste type {kind}")
    if request.get("pasteOrientation") == "TRANSPOSE":
        raise unsupported("The paste orientation TRANSPOSE")
    if not source.height or not source.width:
        raise invalid("There is nothing to copy: the source is empty.")
    block = _CopiedCells.from_span(spreadsheet, source_sheet, source, kind)
    down = wanted.height // source.height if wanted.height % source.height == 0 else 1
    across = wanted.width // source.width if wanted.width % source.width == 0 else 1
    for one in range(max(1, down)):
        for other in range(max(1, across)):
            block.paste(sheet, wanted.top + one * source.height, wanted.left + other * source.width)


def cut_paste(spreadsheet: Spreadsheet, request: Json) -> None:
    """`cutPaste`: the source is blank afterwards."""
    source_sheet, source = area_of(spreadsheet, request.get("source"))
    kind = request.get("pasteType") or "PASTE_NORMAL"
    if kind not in ("PASTE_NORMAL", "PASTE_VALUES", "PASTE_FORMAT"):
        raise unsupported(f"The paste type {kind}")
    sheet, row, column = coordinate(spreadsheet, request.get("destination"))
    block = _CopiedCells.from_span(spreadsheet, source_sheet, source, kind)
    if block.values is not None:
        source_sheet.grid.clear(source)
    if block.marks is not None:
        for index in range(source.left, source.right):
            source_sheet.grid.marks(index).put(source.top, source.bottom, None)
    block.paste(sheet, row, column)


def update_cells(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateCells`: cells of a range that the rows do not reach lose the fields named."""
    mask = _mask(request)
    rows = request.get("rows") or []
    if request.get("start") is not None:
        sheet, top, left = coordinate(spreadsheet, request["start"])
        width = max((len(row.get("values") or []) for row in rows), default=0)
        area = GridArea(top, top + len(rows), left, left + width)
        limit = GridArea(0, sheet.grid.rows, 0, sheet.grid.columns)
        filled = False
    else:
        sheet, area = area_of(spreadsheet, request.get("range"))
        limit, filled = area, True
    for index, row in enumerate(rows, area.top):
        cells = row.get("values") or []
        if index >= limit.bottom:
            raise invalid(f"Attempting to write row: {index}, beyond the last requested row of: {limit.bottom - 1}")
        if area.left + len(cells) > limit.right:
            raise invalid(
                f"Attempting to write column: {limit.right}, beyond the last requested column of: {limit.right - 1}"
            )
        for place, cell in enumerate(cells, area.left):
            _put_cells(sheet, index, index + 1, place, cell, mask)
        if filled:
            for place in range(area.left + len(cells), area.right):
                _put_cells(sheet, index, index + 1, place, {}, mask)
    if filled:
        for place in range(area.left, area.right):
            _put_cells(sheet, area.top + len(rows), area.bottom, place, {}, mask)


def append_cells(spreadsheet: Spreadsheet, request: Json) -> None:
    """`appendCells`: below the last row that holds anything; the grid grows as needed."""
    sheet, mask = spreadsheet.sheet(request.get("sheetId")), _mask(request)
    rows = request.get("rows") or []
    grid = sheet.grid
    top = grid.bottom(GridArea(0, grid.rows, 0, grid.columns))
    width = max((len(row.get("values") or []) for row in rows), default=0)
    size = max(grid.rows, top + len(rows)), max(grid.columns, width)
    if size != (grid.rows, grid.columns):
        spreadsheet.resize(sheet, *size)
    for index, row in enumerate(rows, top):
        for place, cell in enumerate(row.get("values") or []):
            _put_cells(sheet, index, index + 1, place, cell, mask)


def repeat_cell(spreadsheet: Spreadsheet, request: Json) -> None:
    """`repeatCell`: one cell's fields in every cell of a range."""
    mask = _mask(request)
    sheet, area = area_of(spreadsheet, request.get("range"))
    for column in range(area.left, area.right):
        _put_cells(sheet, area.top, area.bottom, column, request.get("cell") or {}, mask)


def set_data_validation(spreadsheet: Spreadsheet, request: Json) -> None:
    """`setDataValidation`: kept; values are not held against it."""
    sheet, area = area_of(spreadsheet, request.get("range"))
    for column in range(area.left, area.right):
        cell = {"dataValidation": request["rule"]} if request.get("rule") else {}
        _put_cells(sheet, area.top, area.bottom, column, cell, {"dataValidation": {}})


def sort_range(spreadsheet: Spreadsheet, request: Json) -> None:
    """`sortRange`: numbers, then text without case, then booleans, then blanks; stable."""
    sheet, area = area_of(spreadsheet, request.get("range"))
    grid, evaluator = sheet.grid, Evaluator(spreadsheet)
    order = list(range(area.height))
    for spec in reversed(request.get("sortSpecs") or []):
        column = spec.get("dimensionIndex") or 0
        if not area.left <= column < area.right:
            raise invalid(f"The sort column {column} is not in the range.")
        cells = _pad(grid.column(column, area.top, area.bottom), area.height)
        keys = [_sort_key(evaluator.value(sheet, row, column, cell)) for row, cell in enumerate(cells, area.top)]
        filled = [index for index in order if keys[index][0] < _BLANK]
        blank = [index for index in order if keys[index][0] == _BLANK]
        filled.sort(key=keys.__getitem__, reverse=spec.get("sortOrder") == "DESCENDING")
        order = filled + blank
    for column in range(area.left, area.right):
        cells = _pad(grid.column(column, area.top, area.bottom), area.height)
        grid.write(column, area.top, [cells[index] for index in order])
        if runs := grid.marked(column):
            marks = [runs.at(area.top + index) for index in order]
            for row, mark in enumerate(marks, area.top):
                runs.put(row, row + 1, mark)


def coordinate(spreadsheet: Spreadsheet, grid_coordinate: Json | None) -> tuple[ServedSheet, int, int]:
    """Return the sheet, the row and the column of a GridCoordinate."""
    position = grid_coordinate or {}
    sheet = spreadsheet.grid_range({"sheetId": position.get("sheetId")})[0]
    row, column = position.get("rowIndex") or 0, position.get("columnIndex") or 0
    for word, place, size in (("row", row, sheet.grid.rows), ("column", column, sheet.grid.columns)):
        if not 0 <= place < size:
            raise invalid(f"GridCoordinate.{word}Index[{place}] is after last {word} in grid[{size - 1}]")
    return sheet, row, column


class _CopiedCells:
    """A block of cells as it was when it was copied."""

    def __init__(self, area: GridArea, values: list[list[GridCell]] | None, marks: list[list[Any]] | None) -> None:
        self.area = area
        self.values = values
        self.marks = marks

    @classmethod
    def from_span(cls, spreadsheet: Spreadsheet, sheet: ServedSheet, area: GridArea, kind: str) -> _CopiedCells:
        values: list[list[GridCell]] | None = None
        marks = None
        if kind != "PASTE_FORMAT":
            values = [_pad(column, area.height) for column in sheet.grid.block(area)]
            if kind == "PASTE_VALUES":
                evaluator = Evaluator(spreadsheet)
                values = [
                    [evaluator.value(sheet, row, index, cell) for row, cell in enumerate(column, area.top)]
                    for index, column in enumerate(values, area.left)
                ]
        if kind in ("PASTE_NORMAL", "PASTE_NO_BORDERS", "PASTE_FORMAT"):
            columns = [sheet.grid.marked(column) for column in range(area.left, area.right)]
            marks = [list(runs.pieces(area.top, area.bottom)) if runs else [] for runs in columns]
        return cls(area, values, marks)

    def paste(self, sheet: ServedSheet, top: int, left: int) -> None:
        """Put it down; the whole of it must lie on the grid."""
        area, grid = self.area, sheet.grid
        if top + area.height > grid.rows or left + area.width > grid.columns:
            raise invalid(f"The pasted cells exceed grid limits. Max rows: {grid.rows}, max columns: {grid.columns}")
        for index in range(area.width):
            if self.values is not None:
                grid.write(left + index, top, self.values[index])
            if self.marks is not None:
                runs = grid.marks(left + index)
                runs.put(top, top + area.height, None)
                for start, stop, mark in self.marks[index]:
                    runs.put(start - area.top + top, stop - area.top + top, mark)


def _pad(cells: list[GridCell], height: int) -> list[GridCell]:
    return cells + [None] * (height - len(cells))


def _mask(request: Json) -> masks.FieldMask:
    mask = fields(request)
    for name in mask:
        if name in _READ_ONLY:
            raise invalid(f"The field {name} is read-only.")
        if name not in _MARKS | {"userEnteredValue"}:
            raise unsupported(f"The cell field {name}")
    return mask


def _put_cells(sheet: ServedSheet, top: int, bottom: int, column: int, cell: Json, mask: masks.FieldMask) -> None:
    """Give the cells of a part of a column the fields of one CellData that the mask names."""
    if top >= bottom:
        return
    if not mask or "userEnteredValue" in mask:
        sheet.grid.write(column, top, [_value(cell.get("userEnteredValue") or {})] * (bottom - top))
    names = {
        name: normalized_formats.widen_mask(branch)
        for name, branch in (mask or {name: {} for name in _MARKS}).items()
        if name in _MARKS
    }
    if names:
        new = {name: normalized_formats.normalize_look(part) for name, part in cell.items() if name in _MARKS and part}
        sheet.grid.marks(column).change(top, bottom, lambda old: masks.merge(old or {}, new, names) or None)


def _value(extended: Json) -> GridCell:
    if not extended:
        return None
    if len(extended) > 1:
        raise invalid("A userEnteredValue must have one value.")
    (kind, content), *_ = extended.items()
    if kind == "numberValue":
        return entered.number(content)
    if kind == "boolValue":
        return bool(content)
    if kind == "stringValue":
        return entered.text(content)
    if kind == "formulaValue":
        entered.text(content)
        return Formula(content if content.startswith("=") else f"={content}")
    raise invalid(f"The value {kind} cannot be written.")


_BLANK = 3


def _sort_key(content: bool | float | str | None) -> tuple[int, Any]:
    if content is None:
        return _BLANK, 0
    if isinstance(content, bool):
        return 2, content
    return (1, content.casefold()) if isinstance(content, str) else (0, content)
