"""Requests for what lies over the cells: names, protection, merges, conditional formats, charts, developer metadata."""

from __future__ import annotations

import re

from .. import formats, masks
from ..errors import Json, invalid, unsupported_error
from ..ranges import GridArea, Span
from ..references import cells_span
from ..spreadsheet import RangeName, ServedSheet, Spreadsheet, new_id
from .sheets import require_mask

_NAME = re.compile(r"[^\W\d]\w*")
_CHART_SIZE = {"widthPixels": 600, "heightPixels": 371}
_CHART_FONT = "Roboto"  # of a chart that names none
METADATA_LIMIT = 30_000  # characters of the developer metadata of a sheet, and of those of the spreadsheet itself
_LOOKED_UP = {"metadataId", "metadataKey", "metadataValue", "visibility"}  # of developer metadata


def add_named_range(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`addNamedRange`: give a range a name that no other range has, whatever the case of its letters."""
    wanted = request.get("namedRange") or {}
    name = _name(spreadsheet, wanted.get("name") or "", None, "Cannot add")
    named_id = str(wanted.get("namedRangeId") or new_id())
    if named_id in spreadsheet.named:
        raise invalid(f"Cannot add named range with id: {named_id}, a named range with that id already exists.")
    sheet, span = find_span(spreadsheet, wanted.get("range"))
    spreadsheet.named[named_id] = RangeName(named_id, name, sheet.id, span)
    return {"namedRange": spreadsheet.named[named_id].json()}


def update_named_range(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateNamedRange`: change the name of a named range, its range, or both."""
    wanted = request.get("namedRange") or {}
    named = _find_named(spreadsheet, wanted.get("namedRangeId"))
    mask = require_mask(request) or {"name": {}, "range": {}}
    if "name" in mask:
        named.name = _name(spreadsheet, wanted.get("name") or "", named, "Cannot update")
    if "range" in mask:
        sheet, named.span = find_span(spreadsheet, wanted.get("range"))
        named.sheet = sheet.id


def delete_named_range(spreadsheet: Spreadsheet, request: Json) -> None:
    """`deleteNamedRange`."""
    del spreadsheet.named[_find_named(spreadsheet, request.get("namedRangeId")).id]


def add_protected_range(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`addProtectedRange`: keep a protected range; it holds nobody, as every client of the emulator is the owner."""
    wanted = dict(request.get("protectedRange") or {})
    sheet, span = find_span(spreadsheet, wanted.get("range"))
    protected_id = wanted.get("protectedRangeId") or new_id()
    if any(protected_id in other.protected for other in spreadsheet.sheets):
        raise invalid(f"A protected range with id {protected_id} already exists.")
    entry: Json = {"protectedRangeId": protected_id, "range": span}
    entry |= {name: wanted[name] for name in ("namedRangeId", "description", "warningOnly") if wanted.get(name)}
    entry |= {"unprotectedRanges": free} if (free := wanted.get("unprotectedRanges")) else {}
    editors = {kind: people for kind, people in (wanted.get("editors") or {}).items() if people}
    entry |= {"requestingUserCanEdit": True, "editors": editors}
    sheet.protected[protected_id] = entry
    return {"protectedRange": entry | {"range": entry["range"].json(sheet.id)}}


def delete_protected_range(spreadsheet: Spreadsheet, request: Json) -> None:
    """`deleteProtectedRange`."""
    sheet, entry = _find_protected(spreadsheet, request.get("protectedRangeId"))
    del sheet.protected[entry["protectedRangeId"]]


def merge_cells(spreadsheet: Spreadsheet, request: Json) -> None:
    """`mergeCells`: merge all cells of a range, or those of each row or column.

    Only the first cell of each merge keeps its value. Older merges within the range are undone.
    """
    sheet, area = find_area(spreadsheet, request.get("range"))
    kind = request.get("mergeType") or "MERGE_ALL"
    rows = range(area.top, area.bottom) if kind == "MERGE_ROWS" else [None]
    columns = range(area.left, area.right) if kind == "MERGE_COLUMNS" else [None]
    _unmerge(sheet, area, "merge")
    for row in rows:
        for column in columns:
            top, bottom = (area.top, area.bottom) if row is None else (row, row + 1)
            left, right = (area.left, area.right) if column is None else (column, column + 1)
            if (bottom - top) * (right - left) > 1:
                _merge(sheet, GridArea(top, bottom, left, right))


def unmerge_cells(spreadsheet: Spreadsheet, request: Json) -> None:
    """`unmergeCells`."""
    _unmerge(*find_area(spreadsheet, request.get("range")), "unmerge")


def find_area(spreadsheet: Spreadsheet, grid_range: Json | None) -> tuple[ServedSheet, GridArea]:
    """Return the sheet and the cells of a GridRange; it must start on the grid, and is cut where the grid ends."""
    sheet, span = spreadsheet.grid_range(grid_range)
    return sheet, sheet.area(span)


def find_span(spreadsheet: Spreadsheet, grid_range: Json | None) -> tuple[ServedSheet, Span]:
    """Return the sheet and the span of a GridRange, which must start on the grid and is not cut."""
    sheet, span = spreadsheet.grid_range(grid_range)
    sheet.area(span)
    return sheet, span


def _find_named(spreadsheet: Spreadsheet, named_id: str | None) -> RangeName:
    if named_id not in spreadsheet.named:
        raise invalid(f"No named range with id: {named_id or ''}")
    return spreadsheet.named[named_id]


def _name(spreadsheet: Spreadsheet, name: str, own: RangeName | None, cannot: str) -> str:
    """Return a name for a range, after refusing one that is not allowed or taken."""
    if (
        not _NAME.fullmatch(name)
        or len(name) > 250
        or cells_span(name) is not None
        or name.casefold() in ("true", "false", "r", "c")
    ):
        raise invalid(f"The name of the named range is invalid: {name}")
    other = spreadsheet.range_named(name)
    if other is not None and other is not own:
        raise invalid(f"{cannot} named range with name: {name}, a named range with that name already exists.")
    return name


def _find_protected(spreadsheet: Spreadsheet, protected_id: int | None) -> tuple[ServedSheet, Json]:
    for sheet in spreadsheet.sheets:
        if protected_id in sheet.protected:
            return sheet, sheet.protected[protected_id]
    raise invalid(f"No protected range with id: {protected_id or 0}")


def _merge(sheet: ServedSheet, area: GridArea) -> None:
    """Merge the cells of an area; the first one keeps its value, the others become blank."""
    first = sheet.grid.cell(area.top, area.left)
    sheet.grid.clear(area)
    if first is not None:
        sheet.grid.write(area.left, area.top, [first])
    sheet.merges.append(Span(*area))


def _unmerge(sheet: ServedSheet, area: GridArea, verb: str) -> None:
    """Undo the merges within an area; one that is only partly within it is refused, in a sentence with the verb."""
    kept = []
    for span in sheet.merges:
        other = span.on(sheet.grid.rows, sheet.grid.columns)
        meets = area.meets(other)
        inside = area.encloses(other)
        if meets and not inside:
            raise invalid(f"You must select all cells in a merged range to {verb} them.")
        if not meets:
            kept.append(span)
    sheet.merges = kept


def add_conditional_rule(spreadsheet: Spreadsheet, request: Json) -> None:
    """`addConditionalFormatRule`: insert a rule before the rule that has the index; it is kept, and colours nothing."""
    wanted = request.get("rule") or {}
    placed = [find_span(spreadsheet, grid_range) for grid_range in wanted.get("ranges") or []]
    if not placed:
        raise invalid("No ranges specified for the conditional format rule.")
    sheet = placed[0][0]
    if any(other is not sheet for other, _ in placed):
        raise invalid("All ranges of a conditional format rule must be on the same sheet.")
    if len({"booleanRule", "gradientRule"} & wanted.keys()) != 1:
        raise invalid("A conditional format rule must have one of booleanRule and gradientRule.")
    rules, index = sheet.overlays.setdefault("conditionalFormats", []), request.get("index") or 0
    if not 0 <= index <= len(rules):
        raise invalid(f"Index {index} is out of bounds; there are {len(rules)} conditional format rules.")
    kept: Json = formats.normalize_look(wanted)
    rules.insert(index, kept | {"ranges": [span.json(sheet.id) for _, span in placed]})


def add_chart(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`addChart`: put a chart over a sheet; it is kept and answered, but not drawn."""
    wanted = request.get("chart") or {}
    overlay = (wanted.get("position") or {}).get("overlayPosition")
    if not wanted.get("spec"):
        raise invalid("No chart specification was given.")
    if not overlay:
        raise unsupported_error("A chart on a sheet of its own")
    chart_id = wanted.get("chartId") or new_id()
    if any(chart_id == held["chartId"] for sheet in spreadsheet.sheets for held in sheet.overlays.get("charts", [])):
        raise invalid(f"The chartId {chart_id} is already in use.")
    sheet, row, column = find_coordinate(spreadsheet, overlay.get("anchorCell"))
    place = {"sheetId": sheet.id, "rowIndex": row, "columnIndex": column}
    overlay = _CHART_SIZE | overlay | {"anchorCell": {name: index for name, index in place.items() if index}}
    font = wanted["spec"].get("fontName") or _CHART_FONT
    title = {"fontFamily": font} | (wanted["spec"].get("titleTextFormat") or {})
    spec = wanted["spec"] | {"fontName": font, "titleTextFormat": title}
    entry = wanted | {"chartId": chart_id, "spec": spec, "position": {"overlayPosition": overlay}}
    sheet.overlays.setdefault("charts", []).append(entry)
    return {"chart": entry}


def find_coordinate(spreadsheet: Spreadsheet, grid_coordinate: Json | None) -> tuple[ServedSheet, int, int]:
    """Return the sheet, the row and the column of a GridCoordinate."""
    position = grid_coordinate or {}
    sheet = spreadsheet.grid_range({"sheetId": position.get("sheetId")})[0]
    row, column = position.get("rowIndex") or 0, position.get("columnIndex") or 0
    for word, place, size in (("row", row, sheet.grid.rows), ("column", column, sheet.grid.columns)):
        if not 0 <= place < size:
            raise invalid(f"GridCoordinate.{word}Index[{place}] is after last {word} in grid[{size - 1}]")
    return sheet, row, column


def create_metadata(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`createDeveloperMetadata`: add an entry to the spreadsheet or to a sheet."""
    wanted = request.get("developerMetadata") or {}
    entry_id = wanted.get("metadataId") or new_id()
    if entry_id in spreadsheet.metadata:
        raise invalid(f"DeveloperMetadata with id {entry_id} already exists.")
    spreadsheet.metadata[entry_id] = _build_entry(spreadsheet, entry_id, wanted)
    _check_room(spreadsheet, [spreadsheet.metadata[entry_id]])
    return {"developerMetadata": spreadsheet.metadata[entry_id]}


def update_metadata(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`updateDeveloperMetadata`: change all entries that one of the filters matches."""
    mask, new = require_mask(request), request.get("developerMetadata") or {}
    if "metadataId" in mask:
        raise invalid("The field metadataId cannot be updated.")
    lookups: list[Json] = [held.get("developerMetadataLookup") or {} for held in request.get("dataFilters") or []]
    if any(not lookup or lookup.keys() - _LOOKED_UP for lookup in lookups):
        raise unsupported_error("A filter by other than the id, key, value and visibility of developer metadata")
    entries = []
    for entry_id, entry in spreadsheet.metadata.items():
        if any(all(entry.get(name) == wanted for name, wanted in lookup.items()) for lookup in lookups):
            entries.append(_build_entry(spreadsheet, entry_id, masks.merge(entry, new, mask)))
    spreadsheet.metadata |= {entry["metadataId"]: entry for entry in entries}
    _check_room(spreadsheet, entries)
    return {"developerMetadata": entries} if entries else {}


def _check_room(spreadsheet: Spreadsheet, entries: list[Json]) -> None:
    """Refuse entries of a sheet, or of the spreadsheet itself, whose keys and values take too many characters."""
    for place in [entry["location"] for entry in entries]:
        held = [entry for entry in spreadsheet.metadata.values() if entry["location"] == place]
        size = sum(len(entry["metadataKey"]) + len(entry.get("metadataValue", "")) for entry in held)
        if size > METADATA_LIMIT:
            raise invalid(f"Developer metadata of one location have at most {METADATA_LIMIT} characters, not {size}.")


def _build_entry(spreadsheet: Spreadsheet, entry_id: int, wanted: Json) -> Json:
    """Return an entry as it is kept, after refusing one that lacks something."""
    place = wanted.get("location") or {}
    if not wanted.get("metadataKey") or wanted.get("visibility") not in ("DOCUMENT", "PROJECT"):
        raise invalid("developerMetadata.metadataKey and developerMetadata.visibility must be specified.")
    if place.get("sheetId") is not None:
        location = {"locationType": "SHEET", "sheetId": spreadsheet.sheet(place["sheetId"]).id}
    elif place.get("spreadsheet"):
        location = {"locationType": "SPREADSHEET", "spreadsheet": True}
    else:
        raise unsupported_error("Developer metadata elsewhere than on a sheet or a spreadsheet")
    value = {"metadataValue": wanted["metadataValue"]} if wanted.get("metadataValue") else {}
    entry = {"metadataId": entry_id, "metadataKey": wanted["metadataKey"], **value}
    return entry | {"location": location, "visibility": wanted["visibility"]}
