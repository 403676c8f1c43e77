"""Requests that write, repeat, sort, filter, copy and move cells."""

from __future__ import annotations

from itertools import groupby, zip_longest
from typing import Any

from .. import entered, formats, masks
from ..errors import Json, invalid, unsupported_error
from ..formulas import Evaluator, sort_key
from ..grid import SKIP, Formula, GridCell, Skip
from ..moves import follow_in_formulas, relocate
from ..ranges import GridArea, Span
from ..references import translate
from ..spreadsheet import ServedSheet, Spreadsheet
from .ranges import find_area, find_coordinate
from .sheets import require_mask

# Fields of CellData that cells keep besides their values: their marks
_MARKS = {"userEnteredFormat", "note", "dataValidation", "textFormatRuns"}
_NOTHING: Json = {}
# The marks that a kind of paste brings, None for all; and the kinds that bring values
_PASTED_MARKS = {"PASTE_NORMAL": None, "PASTE_FORMAT": {"userEnteredFormat", "textFormatRuns"}}
_PASTED_VALUES = {"PASTE_NORMAL", "PASTE_VALUES", "PASTE_FORMULA"}


def update_cells(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateCells`: write the fields that the mask names into cells that begin at `start` or lie in `range`.

    Cells of a `range` for which the request has no data lose these fields.
    """
    mask = _cell_mask(request)
    lines = [row.get("values") or [] for row in request.get("rows") or []]
    filled = request.get("start") is None
    if filled:
        sheet, area = find_area(spreadsheet, request.get("range"))
        limit = area
    else:
        sheet, top, left = find_coordinate(spreadsheet, request["start"])
        area = GridArea(top, top + len(lines), left, left + max(map(len, lines), default=0))
        limit = GridArea(0, sheet.grid.rows, 0, sheet.grid.columns)
    for index, cells in enumerate(lines, area.top):
        if index >= limit.bottom:
            raise invalid(f"Attempting to write row: {index}, beyond the last requested row of: {limit.bottom - 1}")
        if area.left + len(cells) > limit.right:
            last = f"beyond the last requested column of: {limit.right - 1}"
            raise invalid(f"Attempting to write column: {limit.right}, {last}")
    if filled and lines:
        lines[0] = [*lines[0], *[_NOTHING] * (area.width - len(lines[0]))]
    _put_lines(sheet, area.top, area.left, lines, mask, _NOTHING if filled else SKIP)
    for column in range(area.left, area.right) if filled else ():
        _put_cells(sheet, area.top + len(lines), area.bottom, column, {}, mask)


def repeat_cell(spreadsheet: Spreadsheet, request: Json) -> None:
    """`repeatCell`: write the fields of one cell into every cell of a range; formulas refer to other cells in each."""
    mask = _cell_mask(request)
    sheet, area = find_area(spreadsheet, request.get("range"))
    cell = request.get("cell") or {}
    formula = _value(cell.get("userEnteredValue")) if not mask or "userEnteredValue" in mask else None
    for column in range(area.left, area.right):
        _put_cells(sheet, area.top, area.bottom, column, cell, mask)
        if isinstance(formula, Formula):
            moved = [Formula(translate(formula.text, row, column - area.left)) for row in range(area.height)]
            sheet.grid.write(column, area.top, moved)


def set_data_validation(spreadsheet: Spreadsheet, request: Json) -> None:
    """`setDataValidation`: keep a rule of validation for the cells of a range; no value is ever refused by it."""
    sheet, area = find_area(spreadsheet, request.get("range"))
    cell = {"dataValidation": request["rule"]} if request.get("rule") else {}
    for column in range(area.left, area.right):
        _put_cells(sheet, area.top, area.bottom, column, cell, {"dataValidation": {}})


def _cell_mask(request: Json) -> masks.FieldMask:
    """Return the mask of a request that writes cells, after refusing fields that cannot be written."""
    mask = require_mask(request)
    for name in mask:
        if name not in _MARKS | {"userEnteredValue"}:
            raise unsupported_error(f"The cell field {name}")
    return mask


def _put_lines(
    sheet: ServedSheet, top: int, left: int, lines: list[list[Json]], mask: masks.FieldMask, absent: Json | Skip
) -> None:
    names = _mark_names(mask)
    for column, cells in enumerate(zip_longest(*lines, fillvalue=absent), left):
        if not mask or "userEnteredValue" in mask:
            entries = [SKIP if cell is SKIP else _value(cell.get("userEnteredValue")) for cell in cells]
            sheet.grid.write(column, top, entries)
        row = top
        for mark, alike in groupby(SKIP if cell is SKIP else _mark(cell) for cell in cells) if names else ():
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
    new = {name: formats.normalize_look(part) for name, part in mark.items()}
    sheet.grid.change_marks(column, top, bottom, lambda old: masks.merge(old or {}, new, names) or None)


def _mark(cell: Json) -> Json:
    """Return the marks in a CellData: all of its parts that are kept, but for the value."""
    return {name: part for name, part in cell.items() if part and name in _MARKS}


def _mark_names(mask: masks.FieldMask) -> masks.FieldMask:
    """Return the part of a mask that names marks; of a mask that names nothing, all marks."""
    named = mask or {name: {} for name in _MARKS}
    return {name: formats.widen_mask(branch) for name, branch in named.items() if name in _MARKS}


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
    if kind != "formulaValue":
        raise invalid(f"The value {kind} cannot be written.")
    entered.cell_from_text(content)
    return Formula(content if content.startswith("=") else f"={content}")


# Sorting and filters ----------------------------------------------------------------------------------------------


def sort_range(spreadsheet: Spreadsheet, request: Json) -> None:
    """`sortRange`: sort rows by numbers, then text whatever its case, then booleans; blanks come last.

    Rows that are equal stay in their order.
    """
    sheet, area = find_area(spreadsheet, request.get("range"))
    evaluator, grid = Evaluator(spreadsheet), sheet.grid
    order = list(range(area.height))
    for spec in reversed(request.get("sortSpecs") or []):
        if spec.keys() - {"dimensionIndex", "sortOrder"}:
            raise unsupported_error("Sorting by colors")
        column = spec.get("dimensionIndex") or 0
        if not area.left <= column < area.right:
            raise invalid(f"The sort column {column} is not in the range.")
        cells = _pad(grid.column(column, area.top, area.bottom), area.height)
        values = [evaluator.value(sheet, row, column, cell) for row, cell in enumerate(cells, area.top)]
        filled = [index for index in order if values[index] is not None]
        blank = [index for index in order if values[index] is None]
        filled.sort(
            key=[sort_key(value) for value in values].__getitem__, reverse=spec.get("sortOrder") == "DESCENDING"
        )
        order = filled + blank
    for column in range(area.left, area.right):
        cells = _pad(grid.column(column, area.top, area.bottom), area.height)
        marks = [grid.mark(area.top + index, column) for index in order]
        grid.write(column, area.top, [_move_formula(cells[index], row - index, 0) for row, index in enumerate(order)])
        for row, mark in enumerate(marks, area.top) if any(marks) else ():
            grid.put_mark(row, column, mark)


def _move_formula(cell: GridCell, down: int, right: int) -> GridCell:
    """Return a cell as it is after a copy so far down and right: the references of a formula go along."""
    return Formula(translate(cell.text, down, right)) if isinstance(cell, Formula) else cell


def _pad(cells: list[GridCell], height: int) -> list[GridCell]:
    return cells + [None] * (height - len(cells))


def set_basic_filter(spreadsheet: Spreadsheet, request: Json) -> None:
    """`setBasicFilter`: keep a filter, which hides no rows."""
    wanted = request.get("filter") or {}
    if wanted.get("sortSpecs"):
        raise unsupported_error("A filter that sorts")
    sheet, area = find_area(spreadsheet, wanted.get("range"))
    kept = {name: part for name, part in wanted.items() if part != []}  # an empty list says nothing
    specs = kept.get("filterSpecs") or []
    older = {str(spec.get("columnIndex") or 0): spec["filterCriteria"] for spec in specs if spec.get("filterCriteria")}
    if older:  # the service answers `filterSpecs` in the older form too
        kept.setdefault("criteria", older)
    sheet.basic_filter = kept | {"range": Span(*area).json(sheet.id)}


def clear_basic_filter(spreadsheet: Spreadsheet, request: Json) -> None:
    """`clearBasicFilter`: remove the filter of a sheet."""
    spreadsheet.sheet(request.get("sheetId")).basic_filter = None


# Copies -----------------------------------------------------------------------------------------------------------

_Columns = list[list[Any]]  # a block of cells, or of their marks, column by column


def copy_paste(spreadsheet: Spreadsheet, request: Json) -> None:
    """`copyPaste`: copy values, formats or both.

    Where the height or width of the destination is a multiple of the source's, the source is repeated to fill it.
    """
    source_sheet, source = find_area(spreadsheet, request.get("source"))
    sheet, wanted = find_area(spreadsheet, request.get("destination"))
    if request.get("pasteOrientation") == "TRANSPOSE":
        raise unsupported_error("Transposing cells")
    values, marks, names = _copy(spreadsheet, source_sheet, source, request)
    height, width = source.height, source.width
    repeats_down = wanted.height // height if wanted.height % height == 0 else 1
    repeats_across = wanted.width // width if wanted.width % width == 0 else 1
    for top in range(wanted.top, wanted.top + max(1, repeats_down) * height, height):
        for left in range(wanted.left, wanted.left + max(1, repeats_across) * width, width):
            area, distance = GridArea(top, top + height, left, left + width), (top - source.top, left - source.left)
            _paste(sheet, area, values, marks, names, distance)


def cut_paste(spreadsheet: Spreadsheet, request: Json) -> None:
    """`cutPaste`: move cells within a sheet; the source is blank afterwards, and references to it follow."""
    sheet, source = find_area(spreadsheet, request.get("source"))
    target, row, column = find_coordinate(spreadsheet, request.get("destination"))
    if target is not sheet:
        raise unsupported_error("Moving cells to another sheet")
    values, marks, names = _copy(spreadsheet, sheet, source, request)
    if values is not None:
        sheet.grid.clear(source)
    for index in range(source.left, source.right) if marks is not None else ():
        sheet.grid.change_marks(index, source.top, source.bottom, lambda mark: _without(mark, names))
    area = GridArea(row, row + source.height, column, column + source.width)
    _paste(sheet, area, values, marks, names, (0, 0))
    if values is not None and marks is not None:
        change = relocate(source, row - source.top, column - source.left)
        follow_in_formulas(spreadsheet, sheet, change)
        for named in spreadsheet.named.values():
            if named.sheet == sheet.id and named.span is not None:
                named.span = change(named.span)


def _copy(
    spreadsheet: Spreadsheet, sheet: ServedSheet, area: GridArea, request: Json
) -> tuple[_Columns | None, _Columns | None, set[str] | None]:
    """Return the values and the marks that a kind of paste takes along, None for none, and the names of these marks."""
    kind = str(request.get("pasteType") or "PASTE_NORMAL")
    if kind not in _PASTED_VALUES | _PASTED_MARKS.keys():
        raise unsupported_error(f"The paste type {kind}")
    if not area.height or not area.width:
        raise invalid("There is nothing to copy: the source is empty.")
    values: _Columns | None = None
    if kind in _PASTED_VALUES:
        values = [_pad(column, area.height) for column in sheet.grid.block(area)]
    if kind == "PASTE_VALUES" and values is not None and sheet.grid.may_have_formulas:
        evaluator = Evaluator(spreadsheet)
        values = [
            [evaluator.value(sheet, row, index, cell) for row, cell in enumerate(column, area.top)]
            for index, column in enumerate(values, area.left)
        ]
    if kind not in _PASTED_MARKS:
        return values, None, None
    columns = range(area.left, area.right)
    marks = [[sheet.grid.mark(row, column) for row in range(area.top, area.bottom)] for column in columns]
    return values, marks, _PASTED_MARKS[kind]


def _paste(
    sheet: ServedSheet,
    area: GridArea,
    values: _Columns | None,
    marks: _Columns | None,
    names: set[str] | None,
    distance: tuple[int, int],
) -> None:
    """Write a block into an area of its size, all of which must lie on the grid."""
    grid = sheet.grid
    if area.bottom > grid.rows or area.right > grid.columns:
        raise invalid(f"The pasted cells exceed grid limits. Max rows: {grid.rows}, max columns: {grid.columns}")
    for index, column in enumerate(range(area.left, area.right)):
        if values is not None:
            cells = values[index]
            if any(isinstance(cell, Formula) for cell in cells):
                cells = [_move_formula(cell, *distance) for cell in cells]
            grid.write(column, area.top, cells)
        for row, mark in enumerate(marks[index], area.top) if marks is not None else ():
            taken = {name: part for name, part in (mark or {}).items() if names is None or name in names}
            grid.put_mark(row, column, (_without(grid.mark(row, column), names) or {}) | taken or None)


def _without(mark: Json | None, names: set[str] | None) -> Json | None:
    """Return the marks of a cell without those of some names; nothing if `names` is None."""
    return {name: part for name, part in (mark or {}).items() if names is not None and name not in names} or None
