"""The CellData of cells, row by row; only those parts of it are built that a mask wants."""

from __future__ import annotations

import re
from typing import Any

from . import rendered
from .effective_format import EffectiveFormats
from .errors import Json
from .formulas import Evaluator, FormulaError, evaluator_of
from .grid import Formula, GridCell, Spilled
from .masks import FieldMask, mask_below, select, wants
from .ranges import GridArea
from .spreadsheet import ServedSheet, Spreadsheet

_HYPERLINK = re.compile(r'=\s*HYPERLINK\(\s*"((?:[^"]|"")+)"\s*[,;)]', re.IGNORECASE)
_ERRORS = {
    "#DIV/0!": "DIVIDE_BY_ZERO",
    "#N/A": "N_A",
    "#NAME?": "NAME",
    "#NULL!": "NULL_VALUE",
    "#NUM!": "NUM",
    "#REF!": "REF",
    "#VALUE!": "VALUE",
}


def build_rows(spreadsheet: Spreadsheet, sheet: ServedSheet, area: GridArea, mask: FieldMask) -> list[Json]:
    """Return the RowData of an area, with the fields that a mask wants, without empty ones at the end."""
    renderer = rendered.Renderer(evaluator_of(spreadsheet))
    wanted = mask_below(mask, "values")
    bottom = renderer.evaluator.grid(sheet).bottom(area)
    if wanted is None:
        return [{} for _ in range(area.top, bottom)]
    formats = EffectiveFormats(renderer.evaluator, sheet) if wants(wanted, "effectiveFormat") else None
    columns = [
        _cells(renderer, formats, sheet, column, area.top, bottom, wanted) for column in range(area.left, area.right)
    ]
    lines: list[Json] = []
    for line in zip(*columns, strict=True):
        end = len(line)
        while end and line[end - 1] is None:
            end -= 1
        lines.append({"values": [{} if cell is None else cell for cell in line[:end]]} if end else {})
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _cells(
    renderer: rendered.Renderer,
    formats: EffectiveFormats | None,
    sheet: ServedSheet,
    column: int,
    top: int,
    bottom: int,
    mask: FieldMask,
) -> list[Json | None]:
    """Return the CellData of the rows `top` to `bottom` of a column; None for a cell without a value and marks."""
    cells = renderer.evaluator.grid(sheet).column(column, top, bottom)
    entered, effective, shown = (wants(mask, name) for name in ("userEnteredValue", "effectiveValue", "formattedValue"))
    linked = wants(mask, "hyperlink")
    column_data: list[Json | None] = []
    for row, cell in enumerate(cells, top):
        if cell is None:
            column_data.append(None)
            continue
        data: Json = {}
        if entered and type(cell) is not Spilled:
            data["userEnteredValue"] = extended_value(cell)
        if effective:
            data["effectiveValue"] = effective_value(renderer.evaluator, sheet, row, column, cell)
        if shown:
            data["formattedValue"] = renderer.render_cell(sheet, row, column, cell)
        if linked and (link := _find_link(cell, sheet.grid.mark(row, column))):
            data["hyperlink"] = link
        column_data.append(data)
    column_data += [None] * (bottom - top - len(cells))
    marks: list[Json | None] = [None] * len(column_data)
    if runs := sheet.grid.marks_of(column):
        for start, stop, mark in runs.runs_between(top, bottom):
            masked = select(mark, mask)
            for index in range(start - top, stop - top) if mark else ():
                column_data[index], marks[index] = (column_data[index] or {}) | masked, mark
    if formats is not None:
        wanted = mask_below(mask, "effectiveFormat") or {}
        _add_formats(
            renderer,
            formats,
            sheet,
            column,
            top,
            column_data,
            [*cells, *[None] * (len(marks) - len(cells))],
            marks,
            wanted,
        )
    return column_data


def _find_link(cell: GridCell, mark: Json | None) -> str | None:
    """Return the address that a whole cell is linked to: by a formula that is one HYPERLINK, or by its format."""
    link = ((mark or {}).get("userEnteredFormat") or {}).get("textFormat", {}).get("link") or {}
    if isinstance(cell, Formula) and (match := _HYPERLINK.match(cell.text)):
        return match[1].replace('""', '"')
    uri: str | None = link.get("uri")
    return uri


def _add_formats(
    renderer: rendered.Renderer,
    formats: EffectiveFormats,
    sheet: ServedSheet,
    column: int,
    top: int,
    column_data: list[Json | None],
    cells: list[GridCell],
    marks: list[Json | None],
    mask: FieldMask,
) -> None:
    """Add the `effectiveFormat` to the CellData of cells below each other, the first of which stands in row `top`."""
    selected: dict[int, Json] = {}  # what the mask wants of each format, by its id: `formats` keeps it alive
    for row, (data, cell, mark) in enumerate(zip(column_data, cells, marks, strict=False), top):
        if data is None or (cell is None and not (mark or {}).get("userEnteredFormat")):
            continue
        value = renderer.evaluator.result(sheet, row, column, cell) if isinstance(cell, Formula) else cell
        text = str(renderer.render_cell(sheet, row, column, cell)) if formats.conditional else ""
        number_format = renderer.number_format(sheet, row, column, cell) if isinstance(cell, Formula) else None
        whole = formats.of(row, column, mark, value, text, number_format)
        if id(whole) not in selected:
            selected[id(whole)] = select(whole, mask)
        data["effectiveFormat"] = selected[id(whole)]


def effective_value(evaluator: Evaluator, sheet: ServedSheet, row: int, column: int, cell: GridCell) -> Json:
    """Return the ExtendedValue of what a cell comes to: of a formula, its result."""
    result = evaluator.result(sheet, row, column, cell) if isinstance(cell, Formula) else cell
    if isinstance(result, FormulaError):
        reason = {"message": result.reason} if result.reason else {}
        return {"errorValue": {"type": _ERRORS.get(str(result), "ERROR"), **reason}}
    return extended_value(result)


def extended_value(cell: GridCell) -> dict[str, Any]:
    """Return the ExtendedValue of a cell as it was entered: of a formula, its text."""
    if isinstance(cell, bool):
        return {"boolValue": cell}
    if isinstance(cell, float):
        return {"numberValue": rendered.number_to_json(cell)}
    if isinstance(cell, Formula):
        return {"formulaValue": cell.text}
    return {"stringValue": cell or ""}
