"""`spreadsheets.create`: a spreadsheet is made from its resource by turning that into requests of a batchUpdate."""

from __future__ import annotations

from collections.abc import Iterator

from . import batch
from .batch.sheets import make_sheet
from .errors import Json, unsupported_error, within
from .spreadsheet import Spreadsheet, new_key

# Fields of the resource of a spreadsheet that are taken, and fields that clients send but only the service sets
_NAMED = {"properties", "sheets", "namedRanges", "developerMetadata"}
_ANSWERED = {"spreadsheetId", "spreadsheetUrl"}
_ENTRIES = {  # lists in the resource of a sheet: the request that adds one of the list, and the field that it stands in
    "bandedRanges": ("addBanding", "bandedRange"),
    "charts": ("addChart", "chart"),
    "conditionalFormats": ("addConditionalFormatRule", "rule"),
    "filterViews": ("addFilterView", "filter"),
    "merges": ("mergeCells", "range"),
    "protectedRanges": ("addProtectedRange", "protectedRange"),
    "slicers": ("addSlicer", "slicer"),
    "tables": ("addTable", "table"),
}
_MORE = {"properties", "data", "basicFilter", "rowGroups", "columnGroups", "developerMetadata"}


def create_spreadsheet(body: Json, limit: int) -> Spreadsheet:
    """Return a new spreadsheet as the body of a request describes it; it has one sheet if the body names none."""
    for name in body:
        if name not in _NAMED | _ANSWERED:
            raise unsupported_error(f"{name} in a new spreadsheet")
    properties = dict(body.get("properties") or {})
    spreadsheet = Spreadsheet(new_key(), properties.pop("title", "Untitled spreadsheet"), limit=limit)
    spreadsheet.properties = properties
    wanted = body.get("sheets") or [{}]
    for index, sheet in enumerate(wanted):
        if unknown := set(sheet) - _MORE - _ENTRIES.keys():
            raise unsupported_error(f"{', '.join(sorted(unknown))} in a new sheet")
        first = {"sheetId": 0, "title": "Sheet1"} if not body.get("sheets") else {}
        spreadsheet.sheets.insert(index, make_sheet(spreadsheet, first | (sheet.get("properties") or {})))
    requests = [
        request for held, sheet in zip(spreadsheet.sheets, wanted, strict=True) for request in _requests(held.id, sheet)
    ]
    requests += [{"addNamedRange": {"namedRange": named}} for named in body.get("namedRanges") or []]
    requests += _metadata(body)
    if requests:
        with within("Invalid spreadsheet"):
            batch.update(spreadsheet, {"requests": requests}, {})
    return spreadsheet


def _requests(sheet_id: int, sheet: Json) -> Iterator[Json]:
    """Yield the requests that fill a new sheet."""
    for data in sheet.get("data") or []:
        start = {
            "sheetId": sheet_id,
            "rowIndex": data.get("startRow") or 0,
            "columnIndex": data.get("startColumn") or 0,
        }
        if data.get("rowData"):
            yield {"updateCells": {"start": start, "rows": data["rowData"], "fields": "*"}}
        for name, dimension, first in (
            ("rowMetadata", "ROWS", start["rowIndex"]),
            ("columnMetadata", "COLUMNS", start["columnIndex"]),
        ):
            for index, properties in enumerate(data.get(name) or [], first):
                place = {"sheetId": sheet_id, "dimension": dimension, "startIndex": index, "endIndex": index + 1}
                yield {"updateDimensionProperties": {"range": place, "properties": properties, "fields": "*"}}
    for name, (request, field) in _ENTRIES.items():
        for index, entry in enumerate(sheet.get(name) or []):
            yield {request: {field: entry} | ({"index": index} if name == "conditionalFormats" else {})}
    if sheet.get("basicFilter"):
        yield {"setBasicFilter": {"filter": sheet["basicFilter"]}}
    for group in [*(sheet.get("rowGroups") or []), *(sheet.get("columnGroups") or [])]:
        yield {"addDimensionGroup": {"range": group.get("range")}}
    yield from _metadata(sheet)


def _metadata(part: Json) -> list[Json]:
    """Return the requests that add the developer metadata of a spreadsheet or a sheet."""
    entries = part.get("developerMetadata") or []
    return [{"createDeveloperMetadata": {"developerMetadata": entry}} for entry in entries]
