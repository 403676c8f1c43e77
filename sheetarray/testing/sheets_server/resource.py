"""The resource of a spreadsheet, as `spreadsheets.get` answers it: no more of it is built than its mask wants."""

from __future__ import annotations

from typing import Any

from . import rendered
from .errors import Json
from .formulas import Evaluator
from .grid import Formula, GridCell
from .masks import FieldMask, mask_below, select, wants
from .ranges import GridArea, Span
from .spreadsheet import ServedSheet, Spreadsheet

_WHITE = {"red": 1, "green": 1, "blue": 1}
_DEFAULT_FORMAT: Json = {
    "backgroundColor": _WHITE,
    "padding": {"top": 2, "right": 3, "bottom": 2, "left": 3},
    "verticalAlignment": "BOTTOM",
    "wrapStrategy": "OVERFLOW_CELL",
    "textFormat": {
        "foregroundColor": {},
        "fontFamily": "arial,sans,sans-serif",
        "fontSize": 10,
        "bold": False,
        "italic": False,
        "strikethrough": False,
        "underline": False,
        "foregroundColorStyle": {"rgbColor": {}},
    },
    "backgroundColorStyle": {"rgbColor": _WHITE},
}
_PIXELS = {"ROWS": 21, "COLUMNS": 100}


def resource(
    spreadsheet: Spreadsheet, mask: FieldMask, *, ranges: list[str] | None = None, grid_data: bool = False
) -> Json:
    """Return the resource; where ranges are given, only the sheets that they are on.

    Without a mask, the cells belong to it only where `grid_data` says so; with one, where the mask names them.
    """
    wanted: dict[int, list[Span]] = {}
    for text in ranges or []:
        sheet, span = spreadsheet.resolve(text)
        sheet.area(span)
        wanted.setdefault(sheet.id, []).append(span)
    whole: Json = {
        "spreadsheetId": spreadsheet.key,
        "properties": {
            "title": spreadsheet.title,
            "locale": "en_US",
            "autoRecalc": "ON_CHANGE",
            "timeZone": "Etc/GMT",
            "defaultFormat": _DEFAULT_FORMAT,
        }
        | spreadsheet.properties,
    }
    below_sheets = mask_below(mask, "sheets")
    if below_sheets is not None:
        with_data = wants(below_sheets, "data") if mask and below_sheets else grid_data
        whole["sheets"] = [
            _sheet(spreadsheet, sheet, index, below_sheets, wanted.get(sheet.id), with_data=with_data)
            for index, sheet in enumerate(spreadsheet.sheets)
            if not ranges or sheet.id in wanted
        ]
    listed = [named.json() for named in spreadsheet.named.values() if named.span is not None]
    if listed:
        whole["namedRanges"] = listed
    own = [entry for entry in spreadsheet.metadata.values() if entry["location"]["locationType"] == "SPREADSHEET"]
    if own:
        whole["developerMetadata"] = own
    whole["spreadsheetUrl"] = f"https://docs.google.com/spreadsheets/d/{spreadsheet.key}/edit"
    result: Json = select(whole, mask)
    return result


def properties(sheet: ServedSheet, index: int) -> Json:
    """Return the SheetProperties."""
    size = {"rowCount": sheet.grid.rows, "columnCount": sheet.grid.columns}
    return {
        "sheetId": sheet.id,
        "title": sheet.title,
        "index": index,
        "sheetType": "GRID",
        "gridProperties": size | sheet.grid_properties,
    } | sheet.properties


def _sheet(
    spreadsheet: Spreadsheet,
    sheet: ServedSheet,
    index: int,
    mask: FieldMask,
    spans: list[Span] | None,
    *,
    with_data: bool,
) -> Json:
    whole: Json = {"properties": properties(sheet, index)}
    if with_data:
        below_data = mask_below(mask, "data") or {}
        whole["data"] = [_data(spreadsheet, sheet, span, below_data) for span in spans or [Span()]]
    if sheet.merges:
        whole["merges"] = [span.json(sheet.id) for span in sheet.merges]
    if sheet.protected:
        whole["protectedRanges"] = [protected_json(sheet, entry) for entry in sheet.protected.values()]
    for dimension, name in (("ROWS", "rowGroups"), ("COLUMNS", "columnGroups")):
        if group_list := groups(sheet, dimension):
            whole[name] = group_list
    if sheet.basic_filter is not None:
        whole["basicFilter"] = sheet.basic_filter
    own = [
        entry
        for entry in spreadsheet.metadata.values()
        if entry["location"]["locationType"] == "SHEET" and entry["location"]["sheetId"] == sheet.id
    ]
    if own:
        whole["developerMetadata"] = own
    return whole


def groups(sheet: ServedSheet, dimension: str) -> list[Json]:
    """Return the DimensionGroups of one dimension."""
    group_list = sorted((group for group in sheet.groups if group["dimension"] == dimension), key=_start)
    folded: list[Json] = [{"collapsed": True} if group in sheet.collapsed else {} for group in group_list]
    return [{"range": group, "depth": 1, **look} for group, look in zip(group_list, folded, strict=True)]


def _start(group: Json) -> int:
    return int(group["startIndex"])


def protected_json(sheet: ServedSheet, entry: Json) -> Json:
    """Return the ProtectedRange."""
    return entry | {"range": entry["range"].json(sheet.id)}


def _data(spreadsheet: Spreadsheet, sheet: ServedSheet, span: Span, mask: FieldMask) -> Json:
    area = sheet.area(span)
    data: Json = {"startRow": area.top, "startColumn": area.left}
    data = {name: start for name, start in data.items() if start}
    if wants(mask, "rowData") and (rows := _rows(spreadsheet, sheet, area, mask_below(mask, "rowData") or {})):
        data["rowData"] = rows
    for name, dimension, start, stop in (
        ("rowMetadata", "ROWS", area.top, area.bottom),
        ("columnMetadata", "COLUMNS", area.left, area.right),
    ):
        if wants(mask, name):
            data[name] = _dimensions(spreadsheet, sheet, dimension, start, stop)
    return data


def _dimensions(spreadsheet: Spreadsheet, sheet: ServedSheet, dimension: str, start: int, stop: int) -> list[Json]:
    special = sheet.dimensions[dimension]
    properties_list = [{"pixelSize": _PIXELS[dimension]} | special.get(index, {}) for index in range(start, stop)]
    for entry in spreadsheet.metadata.values():
        place = entry["location"].get("dimensionRange") or {}
        if place.get("sheetId", 0) == sheet.id and place.get("dimension") == dimension and "startIndex" in place:
            index = place["startIndex"] - start
            if 0 <= index < len(properties_list):
                properties_list[index] = properties_list[index] | {
                    "developerMetadata": [*properties_list[index].get("developerMetadata", []), entry]
                }
    return properties_list


def _rows(spreadsheet: Spreadsheet, sheet: ServedSheet, area: GridArea, mask: FieldMask) -> list[Json]:
    look = rendered.Look(Evaluator(spreadsheet))
    wanted = mask_below(mask, "values")
    bottom = sheet.grid.bottom(area)
    columns = [
        _cells(look, sheet, column, area.top, bottom, {} if wanted is None else wanted)
        for column in range(area.left, area.right)
    ]
    rows: list[Json] = []
    for line in zip(*columns, strict=True):
        cells = list(line)
        while cells and not cells[-1]:
            cells.pop()
        rows.append({"values": cells} if cells else {})
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _cells(look: rendered.Look, sheet: ServedSheet, column: int, top: int, bottom: int, mask: FieldMask) -> list[Json]:
    """Return the CellData of a part of a column; the effective format is not worked out."""
    cells = sheet.grid.column(column, top, bottom)
    entered, effective, shown = (wants(mask, name) for name in ("userEnteredValue", "effectiveValue", "formattedValue"))
    column_data: list[Json] = []
    for row, cell in enumerate(cells, top):
        data: Json = {}
        if cell is not None:
            data[""] = True  # there is a cell, whatever of it is wanted; no answer shows this
            if entered:
                data["userEnteredValue"] = extended_value(cell)
            if effective:
                data["effectiveValue"] = extended_value(look.evaluator.value(sheet, row, column, cell))
            if shown:
                data["formattedValue"] = look.cell(sheet, row, column, cell)
            if not mask:
                del data[""]
        column_data.append(data)
    column_data += [{} for _ in range(bottom - top - len(cells))]
    if runs := sheet.grid.marked(column):
        for start, stop, mark in runs.pieces(top, bottom):
            for index in range(start - top, stop - top) if mark else ():
                column_data[index] |= mark or {}
    return column_data


def extended_value(cell: GridCell) -> dict[str, Any]:
    """Return the ExtendedValue of a cell."""
    if isinstance(cell, bool):
        return {"boolValue": cell}
    if isinstance(cell, float):
        return {"numberValue": rendered.number(cell)}
    if isinstance(cell, Formula):
        return {"formulaValue": cell.text}
    return {"stringValue": cell or ""}
