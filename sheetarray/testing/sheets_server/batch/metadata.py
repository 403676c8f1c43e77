"""Developer metadata: requests of a batch, and `spreadsheets.developerMetadata.*`."""

from __future__ import annotations

from .. import masks
from ..errors import ApiError, Json, invalid
from ..ranges import Span
from ..spreadsheet import Spreadsheet, new_id
from .sheets import require_mask


def create(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`createDeveloperMetadata`: add an entry to the spreadsheet, a sheet, a row or a column."""
    wanted = dict(request.get("developerMetadata") or {})
    entry_id = wanted.get("metadataId") or new_id()
    if entry_id < 0:
        raise invalid("developerMetadata.metadataId must be positive.")
    if entry_id in spreadsheet.metadata:
        raise invalid(f"DeveloperMetadata with id {entry_id} already exists.")
    entry = _entry(spreadsheet, entry_id, wanted)
    spreadsheet.metadata[entry_id] = entry
    return {"developerMetadata": entry}


def update(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`updateDeveloperMetadata`: change all entries that one of the filters matches."""
    mask = require_mask(request)
    new = request.get("developerMetadata") or {}
    if "metadataId" in mask:
        raise invalid("The field metadataId cannot be updated.")
    entries = []
    for entry in find_entries(spreadsheet, request.get("dataFilters") or []):
        kept = mask or {name: {} for name in ("metadataKey", "metadataValue", "location", "visibility")}
        merged = masks.merge(entry, new, kept)
        entries.append(_entry(spreadsheet, entry["metadataId"], merged))
    for entry in entries:
        spreadsheet.metadata[entry["metadataId"]] = entry
    return {"developerMetadata": entries} if entries else {}


def delete(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`deleteDeveloperMetadata`: delete all entries that the filter matches."""
    entries = find_entries(spreadsheet, [request.get("dataFilter") or {}])
    for entry in entries:
        del spreadsheet.metadata[entry["metadataId"]]
    return {"deletedDeveloperMetadata": entries} if entries else {}


def search(spreadsheet: Spreadsheet, body: Json) -> Json:
    """`developerMetadata.search`: return all entries that a filter matches, each with the filters that match it."""
    filters = body.get("dataFilters") or []
    if not filters:
        raise invalid("Must specify at least one data filter.")
    entries = []
    for entry in spreadsheet.metadata.values():
        matching = [data_filter for data_filter in filters if _matches_one(spreadsheet, entry, data_filter)]
        if matching:
            entries.append({"developerMetadata": entry, "dataFilters": matching})
    return {"matchedDeveloperMetadata": entries} if entries else {}


def get(spreadsheet: Spreadsheet, entry_id: str) -> Json:
    """`developerMetadata.get`: return one entry."""
    entry = spreadsheet.metadata.get(int(entry_id)) if entry_id.isdecimal() else None
    if entry is None:
        raise ApiError(404, f"No developer metadata with id: {entry_id}")
    return entry


def _entry(spreadsheet: Spreadsheet, entry_id: int, wanted: Json) -> Json:
    """Return an entry as it is kept, after refusing one that lacks something."""
    if not wanted.get("metadataKey"):
        raise invalid("developerMetadata.metadataKey must be specified.")
    if wanted.get("visibility") not in ("DOCUMENT", "PROJECT"):
        raise invalid("developerMetadata.visibility must be specified.")
    value = {"metadataValue": wanted["metadataValue"]} if wanted.get("metadataValue") else {}
    return {
        "metadataId": entry_id,
        "metadataKey": wanted["metadataKey"],
        **value,
        "location": _location(spreadsheet, wanted.get("location") or {}),
        "visibility": wanted["visibility"],
    }


def _location(spreadsheet: Spreadsheet, wanted: Json) -> Json:
    """Return the location of an entry with its `locationType`; of rows or columns, it may name a single one."""
    if wanted.get("dimensionRange") is not None:
        on = wanted["dimensionRange"]
        spreadsheet.sheet(on.get("sheetId"))
        start, stop = on.get("startIndex") or 0, on.get("endIndex")
        if on.get("dimension") not in ("ROWS", "COLUMNS") or stop != start + 1:
            raise invalid("developerMetadata.location.dimensionRange must be a single row or column.")
        kind = "ROW" if on["dimension"] == "ROWS" else "COLUMN"
        return {"locationType": kind, "dimensionRange": on | {"startIndex": start}}
    if wanted.get("sheetId") is not None:
        return {"locationType": "SHEET", "sheetId": spreadsheet.sheet(wanted["sheetId"]).id}
    if wanted.get("spreadsheet"):
        return {"locationType": "SPREADSHEET", "spreadsheet": True}
    raise invalid("developerMetadata.location must be specified.")


def find_entries(spreadsheet: Spreadsheet, filters: list[Json]) -> list[Json]:
    """Return all entries that one of the filters matches."""
    return [
        entry
        for entry in spreadsheet.metadata.values()
        if any(_matches_one(spreadsheet, entry, data_filter) for data_filter in filters)
    ]


def _matches_one(spreadsheet: Spreadsheet, entry: Json, data_filter: Json) -> bool:
    """Return whether a DataFilter matches an entry.

    A range matches the entries on its rows and its columns, and a range of a whole sheet those on the sheet.
    """
    lookup = data_filter.get("developerMetadataLookup")
    if lookup is not None:
        return _look_up(entry, lookup)
    if data_filter.get("a1Range") is not None:
        sheet, span = spreadsheet.resolve(data_filter["a1Range"])
    elif data_filter.get("gridRange") is not None:
        sheet, span = spreadsheet.grid_range(data_filter["gridRange"])
    else:
        raise invalid("A data filter must have one of a1Range, gridRange and developerMetadataLookup.")
    location = entry["location"]
    on = location.get("dimensionRange")
    if on is None:
        return location["locationType"] == "SHEET" and location["sheetId"] == sheet.id and span == Span()
    area = span.on(sheet.grid.rows, sheet.grid.columns)
    start, stop = (area.top, area.bottom) if on["dimension"] == "ROWS" else (area.left, area.right)
    return bool(on.get("sheetId", 0) == sheet.id and start <= on["startIndex"] < stop)


def _look_up(entry: Json, lookup: Json) -> bool:
    """Return whether a DeveloperMetadataLookup matches an entry.

    A location matches the entries on smaller parts of it too, unless it says EXACT_LOCATION.
    """
    for name in ("metadataId", "metadataKey", "metadataValue", "visibility"):
        if lookup.get(name) is not None and entry.get(name) != lookup[name]:
            return False
    kind = entry["location"]["locationType"]
    if lookup.get("locationType") and kind != lookup["locationType"]:
        return False
    wanted = lookup.get("metadataLocation")
    if wanted is None:
        return True
    exact = lookup.get("locationMatchingStrategy") == "EXACT_LOCATION"
    own_sheet = entry["location"].get("sheetId", (entry["location"].get("dimensionRange") or {}).get("sheetId", 0))
    if wanted.get("spreadsheet"):
        return kind == "SPREADSHEET" or not exact
    if wanted.get("sheetId") is not None:
        return kind != "SPREADSHEET" and own_sheet == wanted["sheetId"] and (kind == "SHEET" or not exact)
    on, own = wanted.get("dimensionRange") or {}, entry["location"].get("dimensionRange")
    if own is None or own_sheet != on.get("sheetId", 0) or own["dimension"] != on.get("dimension"):
        return False
    start, stop = on.get("startIndex") or 0, on.get("endIndex")
    inside = start <= own["startIndex"] and (stop is None or own["endIndex"] <= stop)
    return inside and (not exact or (own["startIndex"], own["endIndex"]) == (start, stop))
