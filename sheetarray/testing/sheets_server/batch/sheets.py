"""Requests that make, change and remove sheets."""

from __future__ import annotations

from .. import masks, normalized_formats
from ..errors import Json, invalid
from ..grid import SheetGrid
from ..moves import retitle_in_formulas, with_sheet
from ..ranges import COLUMNS_LIMIT
from ..resource import build_sheet_properties
from ..spreadsheet import ServedSheet, Spreadsheet, new_id
from .dimensions import forget_sheet

_ROWS, _COLUMNS = 1000, 26


def add_sheet(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`addSheet`: add a sheet, by default at the end, with 1000 rows and 26 columns."""
    wanted = request.get("properties") or {}
    sheet = make_sheet(spreadsheet, wanted)
    index = wanted.get("index")
    place = len(spreadsheet.sheets) if index is None else _check_index(spreadsheet, index)
    spreadsheet.sheets.insert(place, sheet)
    return {"properties": build_sheet_properties(sheet, place)}


def make_sheet(spreadsheet: Spreadsheet, wanted: Json) -> ServedSheet:
    """Return a new sheet with some SheetProperties, which nobody has added to the spreadsheet yet.

    It is refused if its title or id is taken, or the spreadsheet would have too many cells with it.
    """
    if wanted.get("sheetType", "GRID") != "GRID":
        raise invalid("Only sheets of the type GRID can be added.")
    sheet_id = wanted.get("sheetId")
    if sheet_id is None:
        sheet_id = new_id()
    elif sheet_id < 0 or any(sheet.id == sheet_id for sheet in spreadsheet.sheets):
        raise invalid(f"The sheet ID {sheet_id} is negative or already in use.")
    size = dict(wanted.get("gridProperties") or {})
    rows, columns = size.pop("rowCount", None) or _ROWS, size.pop("columnCount", None) or _COLUMNS
    if rows < 1 or columns < 1:
        raise invalid("A grid must have at least one row and one column.")
    spreadsheet.room_for(rows * columns, columns)
    title = wanted.get("title")
    if title is None:
        title = next(
            name
            for index in range(1, 10**6)
            if spreadsheet.sheet_titled(name := f"Sheet{index + len(spreadsheet.sheets)}") is None
        )
    _check_title(spreadsheet, title, None)
    others = {
        name: wanted[name]
        for name in wanted
        if name not in ("sheetId", "title", "index", "sheetType", "gridProperties")
    }
    sheet = ServedSheet(sheet_id, title, SheetGrid(rows, columns))
    _set_properties(sheet, others, size)
    return sheet


def delete_sheet(spreadsheet: Spreadsheet, request: Json) -> None:
    """`deleteSheet`: delete a sheet, but never the last visible one."""
    sheet = spreadsheet.sheet(request.get("sheetId"))
    if len(spreadsheet.sheets) == 1:
        raise invalid("You can't remove all the sheets in a document.")
    if all(other.hidden for other in spreadsheet.sheets if other is not sheet):
        raise invalid("You can't remove all the visible sheets in a document.")
    spreadsheet.sheets.remove(sheet)
    forget_sheet(spreadsheet, sheet)


def duplicate_sheet(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`duplicateSheet`: copy a sheet with all that lies on it, but for named ranges and developer metadata."""
    source = spreadsheet.sheet(request.get("sourceSheetId"))
    title = request.get("newSheetName")
    if title is None:
        copies = (f"Copy of {source.title}" + (f" {index}" if index > 1 else "") for index in range(1, 10**6))
        title = next(name for name in copies if spreadsheet.sheet_titled(name) is None)
    _check_title(spreadsheet, title, None)
    sheet_id = request.get("newSheetId")
    if sheet_id is not None and any(sheet.id == sheet_id for sheet in spreadsheet.sheets):
        raise invalid(f"The sheet ID {sheet_id} is negative or already in use.")
    spreadsheet.room_for(source.grid.rows * source.grid.columns)
    sheet = source.copy()
    sheet.id, sheet.title = new_id() if sheet_id is None else sheet_id, title
    sheet.protected = {}
    for protected in source.protected.values():
        fresh = new_id()
        sheet.protected[fresh] = protected | {"protectedRangeId": fresh}
    sheet.overlays = _copied_overlays(sheet, source.id)
    place = _check_index(spreadsheet, request.get("insertSheetIndex") or 0)
    spreadsheet.sheets.insert(place, sheet)
    return {"properties": build_sheet_properties(sheet, place)}


def _copied_overlays(sheet: ServedSheet, source_id: int) -> dict[str, list[Json]]:
    """Return the overlays of a copied sheet with new ids, and with ranges on the copy, not on the source."""
    ids = ("chartId", "bandedRangeId", "filterViewId", "slicerId")
    return {
        name: [
            with_sheet(entry, source_id, sheet.id) | {key: new_id() for key in ids if key in entry} | _rename(entry)
            for entry in entries
        ]
        for name, entries in sheet.overlays.items()
    }


def _rename(entry: Json) -> Json:
    """Return a new id and name for the copy of a table; nothing for an entry of another kind."""
    return {"tableId": str(new_id()), "name": f"{entry['name']}_{new_id()}"} if "tableId" in entry else {}


def update_properties(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateSheetProperties`: change the properties of a sheet that the mask names."""
    new = request.get("properties") or {}
    sheet = spreadsheet.sheet(new.get("sheetId"))
    mask = require_mask(request)
    wanted: masks.FieldMask = mask or {name: {} for name in new if name != "sheetId"}
    if new.get("sheetType") == "GRID":  # as every sheet is
        wanted = {name: part for name, part in wanted.items() if name != "sheetType"}
    for name in wanted:
        if name in ("sheetId", "sheetType", "dataSourceSheetProperties"):
            raise invalid(f"The field {name} cannot be updated.")
    if "title" in wanted:
        _check_title(spreadsheet, new.get("title") or "", sheet)
        retitle_in_formulas(spreadsheet, sheet.title, new["title"])
        sheet.title = new["title"]
    if "gridProperties" in wanted:
        _change_grid(spreadsheet, sheet, new.get("gridProperties") or {}, wanted["gridProperties"])
    others = {name: wanted[name] for name in wanted if name not in ("title", "gridProperties", "index")}
    if others:
        _set_properties(sheet, masks.merge(sheet.properties, new, others), sheet.grid_properties)
        if all(other.hidden for other in spreadsheet.sheets):
            raise invalid("You can't hide all the sheets in a document.")
    if "index" in wanted:
        _move(spreadsheet, sheet, _check_index(spreadsheet, new.get("index") or 0))


def update_spreadsheet_properties(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateSpreadsheetProperties`."""
    new = request.get("properties") or {}
    merged = masks.merge(spreadsheet.properties | {"title": spreadsheet.title}, new, require_mask(request))
    spreadsheet.title = merged.pop("title", "") or spreadsheet.title
    spreadsheet.properties = merged


def require_mask(request: Json) -> masks.FieldMask:
    """Return the mask of a request, after refusing a request without one."""
    text = request.get("fields")
    if not text:
        raise invalid("At least one field must be listed in 'fields'. (Use '*' to indicate all fields.)")
    return masks.parse(text)


def _check_title(spreadsheet: Spreadsheet, title: str, own: ServedSheet | None) -> None:
    """Refuse a title that no sheet may have, or that another sheet than `own` has."""
    if not title:
        raise invalid("The sheet name cannot be empty.")
    if len(title) > 100:
        raise invalid("The sheet name cannot be greater than 100 characters.")
    other = next(
        (sheet for sheet in spreadsheet.sheets if sheet.title.casefold() == title.casefold() and sheet is not own), None
    )
    if other is not None:
        raise invalid(f'A sheet with the name "{title}" already exists. Please enter another name.')


def _change_grid(spreadsheet: Spreadsheet, sheet: ServedSheet, new: Json, mask: masks.FieldMask) -> None:
    """Change the GridProperties of a sheet that a mask names, the size of its grid among them."""
    grid = sheet.grid
    old = {"rowCount": grid.rows, "columnCount": grid.columns} | sheet.grid_properties
    merged: Json = masks.merge(old, new, mask)
    rows, columns = merged.pop("rowCount", 0), merged.pop("columnCount", 0)
    if (rows, columns) != (grid.rows, grid.columns):
        spreadsheet.resize(sheet, rows, columns)
    _set_properties(sheet, sheet.properties, merged)


def _set_properties(sheet: ServedSheet, others: Json, grid_properties: Json) -> None:
    """Give a sheet its properties as the service keeps them: those that are false or zero are left out."""
    if grid_properties.get("frozenRowCount", 0) >= sheet.grid.rows:
        raise invalid("You can't freeze all visible rows on the sheet.")
    if grid_properties.get("frozenColumnCount", 0) >= sheet.grid.columns:
        raise invalid("You can't freeze all visible columns on the sheet.")
    if sheet.grid.columns > COLUMNS_LIMIT:
        raise invalid(f"A sheet has at most {COLUMNS_LIMIT} columns.")
    sheet.grid_properties = {name: value for name, value in grid_properties.items() if value}
    sheet.properties = {
        name: normalized_formats.normalize_look(value)
        for name, value in others.items()
        if _differs_from_default(value) and name != "sheetId"
    }


def _differs_from_default(value: object) -> bool:
    """Return whether a property differs from its default."""
    return any(map(_differs_from_default, value.values())) if isinstance(value, dict) else bool(value)


def _check_index(spreadsheet: Spreadsheet, index: int) -> int:
    """Return an index at which a sheet may be inserted, after refusing any other."""
    if not 0 <= index <= len(spreadsheet.sheets):
        raise invalid(f"Cannot place a sheet at index {index}; there are {len(spreadsheet.sheets)} sheets.")
    return index


def _move(spreadsheet: Spreadsheet, sheet: ServedSheet, index: int) -> None:
    """Move a sheet before the one that has an index before the move.

    Its own index, and the one after it, change nothing.
    """
    old = spreadsheet.sheets.index(sheet)
    if index in (old, old + 1):
        return
    spreadsheet.sheets.insert(index, sheet)
    spreadsheet.sheets.pop(old + (index < old))
