"""The resource of a spreadsheet, as `spreadsheets.get` answers it; cells are built only if its mask wants them."""

from __future__ import annotations

from . import cell_data
from .effective_format import DEFAULT_FORMAT
from .errors import Json
from .hidden_rows import find_hidden_rows
from .masks import FieldMask, mask_below, select, wants
from .protection import can_edit
from .ranges import Span
from .spreadsheet import ServedSheet, Spreadsheet

_PIXELS = {"ROWS": 21, "COLUMNS": 100}  # the height of a row and the width of a column that nobody has changed


def build_resource(
    spreadsheet: Spreadsheet, mask: FieldMask, *, ranges: list[str] | None = None, grid_data: bool = False
) -> Json:
    """Return the resource of a spreadsheet.

    Args:
        spreadsheet: to be described.
        mask: the fields that are wanted. If it names fields of sheets, it also decides whether cells are answered.
        ranges: in A1 notation; only their sheets and cells are answered. None for all.
        grid_data: whether cells are answered, if the mask does not decide it.
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
            if sheet.kind != "GRID":
                continue
            spans = wanted.get(sheet.id) or [Span()]
            answer["data"] = [_data(spreadsheet, sheet, span, below_data) for span in spans]
    return result


def build_sheet_properties(sheet: ServedSheet, index: int) -> Json:
    """Return the SheetProperties of a sheet that has an index in its spreadsheet."""
    size = {"rowCount": sheet.grid.rows, "columnCount": sheet.grid.columns}
    grid = {"gridProperties": size | sheet.grid_properties} if sheet.kind == "GRID" else {}
    named = {"sheetId": sheet.id, "title": sheet.title, "index": index, "sheetType": sheet.kind}
    return named | grid | sheet.properties


def _sheet(spreadsheet: Spreadsheet, sheet: ServedSheet, index: int) -> Json:
    """Return the resource of a sheet without its cells."""
    whole: Json = {"properties": build_sheet_properties(sheet, index)}
    if sheet.merges:
        whole["merges"] = [span.json(sheet.id) for span in sheet.merges]
    if sheet.protected:
        whole["protectedRanges"] = [
            build_protected_range(sheet, entry, spreadsheet.user) for entry in sheet.protected.values()
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
    ordered = sorted((group for group in sheet.groups if group["dimension"] == dimension), key=_order)
    return [
        {"range": {name: part for name, part in group.items() if name != "depth"}, "depth": group["depth"]}
        | ({"collapsed": True} if group in sheet.collapsed else {})
        for group in ordered
    ]


def _order(group: Json) -> tuple[int, int]:
    return group["startIndex"], group["depth"]


def build_protected_range(sheet: ServedSheet, entry: Json, user: str | None) -> Json:
    """Return the ProtectedRange of an entry for a user; it says whether this user may edit it."""
    return entry | {"range": entry["range"].json(sheet.id), "requestingUserCanEdit": can_edit(entry, user)}


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
            data[name] = _dimensions(spreadsheet, sheet, dimension, start, stop)
    masked: Json = select(data, mask)
    below = mask_below(mask, "rowData")
    if below is not None and (lines := cell_data.build_rows(spreadsheet, sheet, area, below)):
        masked["rowData"] = lines
    return masked


def _dimensions(spreadsheet: Spreadsheet, sheet: ServedSheet, dimension: str, start: int, stop: int) -> list[Json]:
    """Return the DimensionProperties of the rows or columns `start` to `stop`."""
    special = sheet.dimensions[dimension]
    properties_list = [{"pixelSize": _PIXELS[dimension]} | special.get(index, {}) for index in range(start, stop)]
    for index in find_hidden_rows(spreadsheet, sheet) if dimension == "ROWS" else ():
        if start <= index < stop:
            properties_list[index - start] = properties_list[index - start] | {"hiddenByFilter": True}
    for entry in spreadsheet.metadata.values():
        place = entry["location"].get("dimensionRange") or {}
        if place.get("sheetId", 0) == sheet.id and place.get("dimension") == dimension and "startIndex" in place:
            index = place["startIndex"] - start
            if 0 <= index < len(properties_list):
                properties_list[index] = properties_list[index] | {
                    "developerMetadata": [*properties_list[index].get("developerMetadata", []), entry]
                }
    return properties_list
