"""Requests that write, repeat and sort cells."""

from __future__ import annotations

import secrets
from itertools import groupby, zip_longest
from typing import Any

from .. import entered, masks, normalized_formats
from ..errors import Json, invalid, unsupported_error
from ..formulas import Evaluator
from ..formulas.references import translate
from ..grid import SKIP, Formula, GridCell, Skip
from ..ranges import GridArea
from ..spreadsheet import ServedSheet, Spreadsheet
from . import tables
from .names import find_area
from .pasting import find_coordinate, move_formula, pad
from .sheets import require_mask

# Fields of CellData that cells keep besides their values
_MARKS = {"userEnteredFormat", "note", "dataValidation", "textFormatRuns", "chipRuns", "pivotTable"}
_NOTHING: Json = {}
_UNSET = {"hyperlink"}  # read-only fields that clients name in masks without setting them
_COLORS = ("foregroundColor", "foregroundColorStyle", "backgroundColor", "backgroundColorStyle")
_READ_ONLY = {"effectiveValue", "formattedValue", "effectiveFormat", "hyperlink"}


def update_cells(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateCells`: write the fields that the mask names into cells that begin at `start` or lie in `range`.

    Cells of a `range` for which the request has no data lose these fields.
    """
    mask = _mask(request)
    rows = request.get("rows") or []
    if request.get("start") is not None:
        sheet, top, left = find_coordinate(spreadsheet, request["start"])
        width = max((len(row.get("values") or []) for row in rows), default=0)
        area = GridArea(top, top + len(rows), left, left + width)
        limit = GridArea(0, sheet.grid.rows, 0, sheet.grid.columns)
        filled = False
    else:
        sheet, area = find_area(spreadsheet, request.get("range"))
        limit, filled = area, True
    lines = [row.get("values") or [] for row in rows]
    for index, cells in enumerate(lines, area.top):
        if index >= limit.bottom:
            raise invalid(f"Attempting to write row: {index}, beyond the last requested row of: {limit.bottom - 1}")
        if area.left + len(cells) > limit.right:
            raise invalid(
                f"Attempting to write column: {limit.right}, beyond the last requested column of: {limit.right - 1}"
            )
    if filled and lines:
        lines[0] = [*lines[0], *[_NOTHING] * (area.width - len(lines[0]))]
    _put_lines(sheet, area.top, area.left, lines, mask, _NOTHING if filled else SKIP)
    if filled:
        for column in range(area.left, area.right):
            _put_cells(sheet, area.top + len(rows), area.bottom, column, {}, mask)


def append_cells(spreadsheet: Spreadsheet, request: Json) -> None:
    """`appendCells`: write rows below the last row of the sheet, or of a table, that has a value or a mark.

    The grid grows as needed.
    """
    mask, rows = _mask(request), request.get("rows") or []
    if request.get("tableId"):
        _append_to_table(spreadsheet, request["tableId"], rows, mask)
        return
    sheet = spreadsheet.sheet(request.get("sheetId"))
    grid = sheet.grid
    top = Evaluator(spreadsheet).grid(sheet).bottom(GridArea(0, grid.rows, 0, grid.columns))
    width = max((len(row.get("values") or []) for row in rows), default=0)
    size = max(grid.rows, top + len(rows)), max(grid.columns, width)
    if size != (grid.rows, grid.columns):
        spreadsheet.resize(sheet, *size)
    _put_lines(sheet, top, 0, [row.get("values") or [] for row in rows], mask, SKIP)


def _append_to_table(spreadsheet: Spreadsheet, table_id: str, rows: list[Json], mask: masks.FieldMask) -> None:
    """Write rows below the last row of a table that has a value or a mark; the table and the grid grow as needed."""
    sheet, table = tables.find_table(spreadsheet, table_id)
    area = tables.find_table_area(sheet, table)
    top = sheet.grid.bottom(area)
    bottom = max(area.bottom, top + len(rows))
    if any(len(row.get("values") or []) > area.width for row in rows):
        raise invalid(f"The rows are wider than the table, which has {area.width} columns.")
    if bottom > sheet.grid.rows:
        spreadsheet.resize(sheet, bottom, sheet.grid.columns)
    table["range"] = table["range"] | {"endRowIndex": bottom}
    _put_lines(sheet, top, area.left, [row.get("values") or [] for row in rows], mask, SKIP)


def repeat_cell(spreadsheet: Spreadsheet, request: Json) -> None:
    """`repeatCell`: write the fields of one cell into every cell of a range; formulas refer to other cells in each."""
    mask = _mask(request)
    sheet, area = find_area(spreadsheet, request.get("range"))
    cell = request.get("cell") or {}
    for column in range(area.left, area.right):
        _put_cells(sheet, area.top, area.bottom, column, cell, mask)
    formula = _value(cell.get("userEnteredValue")) if not mask or "userEnteredValue" in mask else None
    if isinstance(formula, Formula):
        for column in range(area.width):
            moved = [Formula(translate(formula.text, row, column)) for row in range(area.height)]
            sheet.grid.write(area.left + column, area.top, moved)


def set_data_validation(spreadsheet: Spreadsheet, request: Json) -> None:
    """`setDataValidation`: keep a rule of validation for the cells of a range; no value is ever refused by it."""
    sheet, area = find_area(spreadsheet, request.get("range"))
    for column in range(area.left, area.right):
        cell = {"dataValidation": request["rule"]} if request.get("rule") else {}
        _put_cells(sheet, area.top, area.bottom, column, cell, {"dataValidation": {}})


def sort_range(spreadsheet: Spreadsheet, request: Json) -> None:
    """`sortRange`: sort rows by numbers, then text whatever its case, then booleans; blanks come last.

    Rows that are equal stay in their order.
    """
    sheet, area = find_area(spreadsheet, request.get("range"))
    sort_rows(spreadsheet, sheet, area, request.get("sortSpecs") or [])


def sort_rows(spreadsheet: Spreadsheet, sheet: ServedSheet, area: GridArea, specs: list[Json]) -> None:
    """Sort the rows of an area by some of its columns, of which the first counts most."""
    evaluator = Evaluator(spreadsheet)
    order = list(range(area.height))
    for spec in reversed(specs):
        if any(spec.get(name) for name in _COLORS):
            raise unsupported_error("Sorting by colors")
        column = spec.get("dimensionIndex") or 0
        if not area.left <= column < area.right:
            raise invalid(f"The sort column {column} is not in the range.")
        cells = pad(evaluator.grid(sheet).column(column, area.top, area.bottom), area.height)
        keys = [_sort_key(evaluator.value(sheet, row, column, cell)) for row, cell in enumerate(cells, area.top)]
        filled = [index for index in order if keys[index][0] < _BLANK]
        blank = [index for index in order if keys[index][0] == _BLANK]
        filled.sort(key=keys.__getitem__, reverse=spec.get("sortOrder") == "DESCENDING")
        order = filled + blank
    _reorder(sheet, area, order)


def randomize_range(spreadsheet: Spreadsheet, request: Json) -> None:
    """`randomizeRange`: put the rows of a range into a random order."""
    sheet, area = find_area(spreadsheet, request.get("range"))
    order = list(range(area.height))
    secrets.SystemRandom().shuffle(order)
    _reorder(sheet, area, order)


def _reorder(sheet: ServedSheet, area: GridArea, order: list[int]) -> None:
    """Put the rows of an area into an order, which lists their indices within the area."""
    grid = sheet.grid
    for column in range(area.left, area.right):
        cells = pad(grid.column(column, area.top, area.bottom), area.height)
        cells = [move_formula(cells[index], row - index) for row, index in enumerate(order)]
        grid.write(column, area.top, cells)
        if runs := grid.marks_of(column):
            marks = [runs.at(area.top + index) for index in order]
            for row, mark in enumerate(marks, area.top):
                runs.put(row, row + 1, mark)


def _mask(request: Json) -> masks.FieldMask:
    """Return the mask of a request that writes cells, after refusing fields that cannot be written.

    Some clients name the read-only field `hyperlink` without setting it: it is left out of the mask.
    """
    mask = require_mask(request)
    given = [
        request.get("cell") or {},
        *(cell for row in request.get("rows") or [] for cell in row.get("values") or []),
    ]
    named = {name for name in _UNSET & mask.keys() if not any(name in (cell or {}) for cell in given)}
    if named and mask.keys() > named:
        mask = {name: part for name, part in mask.items() if name not in named}
    for name in mask:
        if name in _READ_ONLY:
            raise invalid(f"The field {name} is read-only.")
        if name not in _MARKS | {"userEnteredValue"}:
            raise unsupported_error(f"The cell field {name}")
    return mask


def _put_lines(
    sheet: ServedSheet, top: int, left: int, lines: list[list[Json]], mask: masks.FieldMask, absent: Json | Skip
) -> None:
    """Give rows of cells the fields that the mask names.

    Args:
        sheet: in which the cells stand.
        top: the row of the first line.
        left: the column of the first cell of each line.
        lines: CellData row by row.
        mask: the fields; {} for all.
        absent: stands for the missing cells of a line that is shorter than others: {} clears them, SKIP leaves them.
    """
    names = _mark_names(mask)
    for column, cells in enumerate(zip_longest(*lines, fillvalue=absent), left):
        if not mask or "userEnteredValue" in mask:
            entries = [SKIP if cell is SKIP else _value(cell.get("userEnteredValue")) for cell in cells]
            sheet.grid.write(column, top, entries)
        if not names:
            continue
        row = top
        for mark, alike in groupby(SKIP if cell is SKIP else _mark(cell) for cell in cells):
            stop = row + sum(1 for _ in alike)
            if mark is not SKIP:
                _put_marks(sheet, column, row, stop, mark, names)
            row = stop


def _put_cells(sheet: ServedSheet, top: int, bottom: int, column: int, cell: Json, mask: masks.FieldMask) -> None:
    """Give the cells of one column from row `top` up to `bottom` those fields of a CellData that the mask names."""
    if top >= bottom:
        return
    if not mask or "userEnteredValue" in mask:
        sheet.grid.write(column, top, [_value(cell.get("userEnteredValue"))] * (bottom - top))
    if names := _mark_names(mask):
        _put_marks(sheet, column, top, bottom, _mark(cell), names)


def _put_marks(sheet: ServedSheet, column: int, top: int, bottom: int, mark: Json, names: masks.FieldMask) -> None:
    """Change the marks of the cells of one column, as far as the mask `names` says."""
    new = {name: normalized_formats.normalize_look(part) for name, part in mark.items()}
    sheet.grid.marks(column).change(top, bottom, lambda old: masks.merge(old or {}, new, names) or None)


def _mark(cell: Json) -> Json:
    """Return the marks in a CellData: all of its parts that are kept, but for the value."""
    return {name: part for name, part in cell.items() if part and name in _MARKS}


def _mark_names(mask: masks.FieldMask) -> masks.FieldMask:
    """Return the part of a mask that names marks; of a mask that names nothing, all marks."""
    return {
        name: normalized_formats.widen_mask(branch)
        for name, branch in (mask or {name: {} for name in _MARKS}).items()
        if name in _MARKS
    }


def _value(extended: Json | None) -> GridCell:
    """Return the cell that an ExtendedValue means; a blank for none."""
    if not extended:
        return None
    if len(extended) > 1:
        raise invalid("A userEnteredValue must have one value.")
    (kind, content), *_ = extended.items()
    if kind == "numberValue":
        return entered.cell_from_number(content)
    if kind == "boolValue":
        return bool(content)
    if kind == "stringValue":
        return entered.cell_from_text(content)
    if kind == "formulaValue":
        entered.cell_from_text(content)
        return Formula(content if content.startswith("=") else f"={content}")
    raise invalid(f"The value {kind} cannot be written.")


_BLANK = 3  # the kind of a blank in a sort key


def _sort_key(content: bool | float | str | None) -> tuple[int, Any]:
    """Return the key by which rows are sorted; its first number is that of the kind of value."""
    if content is None:
        return _BLANK, 0
    if isinstance(content, bool):
        return 2, content
    return (1, content.casefold()) if isinstance(content, str) else (0, content)
