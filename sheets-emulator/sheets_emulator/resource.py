"""The resource of a spreadsheet, as `spreadsheets.get` answers it; cells are built only if its mask wants them."""

from __future__ import annotations

from . import rendered
from .errors import Json
from .formats import DEFAULT_FORMAT, build_effective_format
from .formulas import FormulaError, evaluator_of
from .grid import Formula, GridCell
from .masks import FieldMask, mask_below, select, wants
from .ranges import GridArea, Span
from .spreadsheet import ServedSheet, Spreadsheet

_ERRORS = {
    "#DIV/0!": "DIVIDE_BY_ZERO",
    "#N/A": "N_A",
    "#NULL!": "NULL_VALUE",
    "#ERROR!": "ERROR",
}  # others: `#REF!` is REF
_PIXELS = {"ROWS": 21, "COLUMNS": 100}  # the height of a row and the width of a column that nobody has changed


def build_resource(
    spreadsheet: Spreadsheet, mask: FieldMask, *, ranges: list[str] | None = None, grid_data: bool = False
) -> Json:
    """Return the resource of a spreadsheet."""
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
            "defaultFormat": DEFAULT_FORMAT,
        }
        | spreadsheet.properties,
    }
    below_sheets = mask_below(mask, "sheets")
    served = [(index, sheet) for index, sheet in enumerate(spreadsheet.sheets) if not ranges or sheet.id in wanted]
    if below_sheets is not None:
        whole["sheets"] = [_sheet(spreadsheet, sheet, index) for index, sheet in served]
    listed = [named.json() for named in spreadsheet.named.values() if named.span is not None]
    if listed:
        whole["namedRanges"] = listed
    own = [entry for entry in spreadsheet.metadata.values() if entry["location"]["locationType"] == "SPREADSHEET"]
    if own:
        whole["developerMetadata"] = own
    whole["spreadsheetUrl"] = f"https://docs.google.com/spreadsheets/d/{spreadsheet.key}/edit"
    result: Json = select(whole, mask)
    if below_sheets is not None and (wants(below_sheets, "data") if mask and below_sheets else grid_data):
        below_data = mask_below(below_sheets, "data") or {}
        for answer, (_, sheet) in zip(result["sheets"], served, strict=True):
            spans = wanted.get(sheet.id) or [Span()]
            answer["data"] = [_data(spreadsheet, sheet, span, below_data) for span in spans]
    return result


def build_sheet_properties(sheet: ServedSheet, index: int) -> Json:
    """Return the SheetProperties of a sheet that has an index in its spreadsheet."""
    size = {"rowCount": sheet.grid.rows, "columnCount": sheet.grid.columns}
    named = {"sheetId": sheet.id, "title": sheet.title, "index": index, "sheetType": "GRID"}
    return named | {"gridProperties": size | sheet.grid_properties} | sheet.properties


def _sheet(spreadsheet: Spreadsheet, sheet: ServedSheet, index: int) -> Json:
    whole: Json = {"properties": build_sheet_properties(sheet, index)}
    if sheet.merges:
        whole["merges"] = [span.json(sheet.id) for span in sheet.merges]
    if sheet.protected:
        whole["protectedRanges"] = [
            entry | {"range": entry["range"].json(sheet.id)} for entry in sheet.protected.values()
        ]
    for dimension, name in (("ROWS", "rowGroups"), ("COLUMNS", "columnGroups")):
        if group_list := build_groups(sheet, dimension):
            whole[name] = group_list
    if sheet.basic_filter is not None:
        whole["basicFilter"] = sheet.basic_filter
    whole |= {name: entries for name, entries in sheet.overlays.items() if entries}
    own = [
        entry
        for entry in spreadsheet.metadata.values()
        if entry["location"]["locationType"] == "SHEET" and entry["location"]["sheetId"] == sheet.id
    ]
    if own:
        whole["developerMetadata"] = own
    return whole


def build_groups(sheet: ServedSheet, dimension: str) -> list[Json]:
    """Return the DimensionGroups of one dimension of a sheet, in the order of the service."""
    groups = [group for group in sheet.groups if group["dimension"] == dimension]
    return [
        {"range": {name: part for name, part in group.items() if name != "depth"}, "depth": group["depth"]}
        | ({"collapsed": True} if group in sheet.collapsed else {})
        for group in sorted(groups, key=lambda group: (group["startIndex"], group["depth"]))
    ]


def _data(spreadsheet: Spreadsheet, sheet: ServedSheet, span: Span, mask: FieldMask) -> Json:
    """Return the GridData of a span, with the fields that a mask wants."""
    area = sheet.area(span)
    data: Json = {"startRow": area.top, "startColumn": area.left}
    data = {name: start for name, start in data.items() if start}
    for name, dimension, start, stop in (
        ("rowMetadata", "ROWS", area.top, area.bottom),
        ("columnMetadata", "COLUMNS", area.left, area.right),
    ):
        if wants(mask, name):
            data[name] = _dimensions(sheet, dimension, start, stop)
    masked: Json = select(data, mask)
    below = mask_below(mask, "rowData")
    if below is not None and (lines := _build_rows(spreadsheet, sheet, area, below)):
        masked["rowData"] = lines
    return masked


def _dimensions(sheet: ServedSheet, dimension: str, start: int, stop: int) -> list[Json]:
    """Return the DimensionProperties of the rows or columns `start` to `stop`."""
    special = sheet.dimensions[dimension]
    return [{"pixelSize": _PIXELS[dimension]} | special.get(index, {}) for index in range(start, stop)]


def _build_rows(spreadsheet: Spreadsheet, sheet: ServedSheet, area: GridArea, mask: FieldMask) -> list[Json]:
    """Return the RowData of an area, with the fields that a mask wants, without empty ones at the end."""
    wanted, bottom = mask_below(mask, "values"), sheet.grid.bottom(area)
    if wanted is None:
        return [{} for _ in range(area.top, bottom)]
    renderer = rendered.Renderer(evaluator_of(spreadsheet))
    columns = [
        _build_cells(renderer, sheet, column, area.top, bottom, wanted) for column in range(area.left, area.right)
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


def _build_cells(
    renderer: rendered.Renderer, sheet: ServedSheet, column: int, top: int, bottom: int, mask: FieldMask
) -> list[Json | None]:
    """Return the CellData of the rows `top` to `bottom` of a column; None for a cell without a value and marks."""
    cells = sheet.grid.column(column, top, bottom)
    cells += [None] * (bottom - top - len(cells))
    named = ("userEnteredValue", "effectiveValue", "formattedValue", "effectiveFormat", "hyperlink")
    entered, effective, shown, formatted, linked = (wants(mask, name) for name in named)
    below_format = mask_below(mask, "effectiveFormat") or {}
    column_data: list[Json | None] = []
    for row, cell in enumerate(cells, top):
        mark = sheet.grid.mark(row, column)
        if cell is None and not mark:
            column_data.append(None)
            continue
        data: Json = {}
        value = renderer.evaluator.result(sheet, row, column, cell) if isinstance(cell, Formula) else cell
        if entered and cell is not None:
            data["userEnteredValue"] = _extended_value(cell)
        if effective and cell is not None:
            data["effectiveValue"] = _extended_value(value)
        if shown and cell is not None:
            data["formattedValue"] = renderer.render_cell(sheet, row, column, cell)
        link = ((mark or {}).get("userEnteredFormat") or {}).get("textFormat", {}).get("link") or {}
        if linked and link.get("uri"):
            data["hyperlink"] = link["uri"]
        data |= select(mark, mask) if mark else {}
        if formatted and (cell is not None or (mark or {}).get("userEnteredFormat")):
            data["effectiveFormat"] = select(build_effective_format(mark, value), below_format)
        column_data.append(data)
    return column_data


def _extended_value(value: GridCell | FormulaError) -> Json:
    """Return the ExtendedValue of a cell, or of the result of a formula."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, float):
        return {"numberValue": rendered.number_to_json(value)}
    if isinstance(value, Formula):
        return {"formulaValue": value.text}
    if isinstance(value, FormulaError):
        reason = {"message": value.reason} if value.reason else {}
        return {"errorValue": {"type": _ERRORS.get(str(value), str(value).strip("#!?")), **reason}}
    return {"stringValue": value or ""}
