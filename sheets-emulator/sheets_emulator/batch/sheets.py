"""Requests that make, change and remove sheets; insert, delete and resize rows and columns; and group them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from .. import formats, masks, rendered
from ..errors import Json, invalid
from ..formulas import Evaluator
from ..grid import SheetGrid
from ..moves import move_cells, move_span, retitle_in_formulas, shift
from ..ranges import COLUMNS_LIMIT
from ..resource import build_groups, build_sheet_properties
from ..spreadsheet import ServedSheet, Spreadsheet, new_id

_ROWS, _COLUMNS = 1000, 26
_CHARACTER, _MARGIN = 7, 6  # pixels: of a character in the default font, and of both margins of a cell together
WORDS = {"ROWS": "row", "COLUMNS": "column"}
_OF_DUPLICATES = {"sheetId": "newSheetId", "title": "newSheetName"}  # properties of a copy, as its request names them
_DEEPEST = 8  # groups, one within the other


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
    _forget_sheet(spreadsheet, sheet)


def duplicate_sheet(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`duplicateSheet`: add a copy of a sheet, with its developer metadata, without its named ranges."""
    source = spreadsheet.sheet(request.get("sourceSheetId"))
    wanted = {name: request[new] for name, new in _OF_DUPLICATES.items() if request.get(new) is not None}
    free = (f"Copy of {source.title}{'' if number == 1 else f' {number}'}" for number in range(1, 10**6))
    wanted.setdefault("title", next(title for title in free if spreadsheet.sheet_titled(title) is None))
    size = {"rowCount": source.grid.rows, "columnCount": source.grid.columns}
    made = make_sheet(spreadsheet, {**wanted, "gridProperties": size})
    place = _check_index(spreadsheet, request.get("insertSheetIndex") or 0)
    spreadsheet.sheets.insert(place, replace(source.copy(), id=made.id, title=made.title))
    for entry in [entry for entry in spreadsheet.metadata.values() if entry["location"].get("sheetId") == source.id]:
        entry_id = new_id()
        location = {**entry["location"], "sheetId": made.id}
        spreadsheet.metadata[entry_id] = {**entry, "metadataId": entry_id, "location": location}
    return {"properties": build_sheet_properties(spreadsheet.sheets[place], place)}


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
        name: formats.normalize_look(value)
        for name, value in others.items()
        if _differs_from_default(value) and name != "sheetId"
    }


def _differs_from_default(value: object) -> bool:
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


# Rows and columns --------------------------------------------------------------------------------------------------


def insert_dimension(spreadsheet: Spreadsheet, request: Json) -> None:
    """`insertDimension`: insert blank rows or columns."""
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, request.get("range"))
    grid, word = sheet.grid, WORDS[dimension]
    size = grid.size(dimension)
    if start > size or (start == size and not request.get("inheritFromBefore")):
        raise invalid(
            f"range.startIndex[{start}] must be less than the grid size ({size}) if inheritFromBefore is false."
        )
    if request.get("inheritFromBefore") and start == 0:
        raise invalid(f"Cannot inherit from the {word} before the first one.")
    insert(spreadsheet, sheet, dimension, start, stop - start)


def delete_dimension(spreadsheet: Spreadsheet, request: Json) -> None:
    """`deleteDimension`: delete rows or columns, but never all of them."""
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, request.get("range"))
    grid, word = sheet.grid, WORDS[dimension]
    size = grid.size(dimension)
    if start >= size or stop > size:
        gone = max(start, size)
        raise invalid(
            f"Cannot delete a {word} that doesn't exist. Tried to delete {word} index {gone} but there are only "
            f"{size} {word}s."
        )
    if stop - start == size:
        raise invalid(f"You can't delete all the {word}s on the sheet.")
    grid.delete(dimension, start, stop)
    _shift(spreadsheet, sheet, dimension, start, stop, 0)
    frozen = "frozenRowCount" if dimension == "ROWS" else "frozenColumnCount"
    held = sheet.grid_properties.get(frozen, 0)
    if held := held - max(0, min(stop, held) - start):
        sheet.grid_properties[frozen] = held
    else:
        sheet.grid_properties.pop(frozen, None)


def insert(spreadsheet: Spreadsheet, sheet: ServedSheet, dimension: str, at: int, count: int) -> None:
    """Insert blank rows or columns; whatever spans them grows, whatever lies beyond moves."""
    grid = sheet.grid
    across = dimension == "COLUMNS"
    spreadsheet.room_for(count * (grid.rows if across else grid.columns), grid.columns + across * count)
    grid.insert(dimension, at, count)
    _shift(spreadsheet, sheet, dimension, at, at, count)


def auto_resize(spreadsheet: Spreadsheet, request: Json) -> None:
    """`autoResizeDimensions`: make columns so wide that the longest line in them fits, by its number of characters."""
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, request.get("dimensions"))
    special = sheet.dimensions[dimension]
    renderer = rendered.Renderer(Evaluator(spreadsheet))
    for column in range(start, min(stop, sheet.grid.columns)) if dimension == "COLUMNS" else ():
        cells = renderer.render_column(sheet, column, 0, sheet.grid.column(column, 0, sheet.grid.rows))
        longest = max((len(line) for cell in cells for line in str(cell).split("\n")), default=0)
        if longest:
            special[column] = special.get(column, {}) | {"pixelSize": _MARGIN + _CHARACTER * longest}


def update_dimension_properties(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateDimensionProperties`: change properties of rows or columns, such as their size, that the mask names."""
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, request.get("range"))
    size = sheet.grid.size(dimension)
    special = sheet.dimensions[dimension]
    mask = masks.parse(request.get("fields") or "")
    for index in range(start, min(stop, size)):
        kept = masks.merge(special.get(index, {}), request.get("properties") or {}, mask)
        special[index] = {name: value for name, value in kept.items() if value}
        if not special[index]:
            del special[index]


def _forget_sheet(spreadsheet: Spreadsheet, sheet: ServedSheet) -> None:
    """Remove what refers to a sheet that was deleted: references, the ranges of names, and developer metadata."""
    retitle_in_formulas(spreadsheet, sheet.title, None)
    for named in spreadsheet.named.values():
        if named.sheet == sheet.id:
            named.span = None
    for entry_id, entry in list(spreadsheet.metadata.items()):
        if entry["location"].get("sheetId") == sheet.id:
            del spreadsheet.metadata[entry_id]


def _shift(spreadsheet: Spreadsheet, sheet: ServedSheet, dimension: str, first: int, last: int, count: int) -> None:
    """Change what refers to rows or columns after `first` to `last` were deleted and `count` inserted at `first`."""
    move_cells(spreadsheet, sheet, shift(dimension, first, last, count))
    special = sheet.dimensions[dimension]
    places = {index: move_span(index, index + 1, first, last, count) for index in special}
    sheet.dimensions[dimension] = {
        ends[0]: special[index] for index, ends in places.items() if ends is not None and ends[0] is not None
    }
    sheet.groups = _shift_groups(sheet.groups, dimension, first, last, count)
    sheet.collapsed = _shift_groups(sheet.collapsed, dimension, first, last, count)


def _shift_groups(groups_held: list[Json], dimension: str, first: int, last: int, count: int) -> list[Json]:
    """Return groups where they are after rows or columns came or went, without those of which nothing is left."""
    kept = []
    for group in groups_held:
        if group["dimension"] != dimension:
            kept.append(group)
        elif ends := move_span(group["startIndex"], group["endIndex"], first, last, count):
            kept.append(group | {"startIndex": ends[0], "endIndex": ends[1]})
    return kept


def find_dimension_range(spreadsheet: Spreadsheet, wanted: Json | None) -> tuple[ServedSheet, str, int, int]:
    """Return the sheet, the dimension, the first index and the index after the last one of a DimensionRange."""
    span = wanted or {}
    sheet = spreadsheet.sheet(span.get("sheetId"))
    dimension = str(span.get("dimension"))
    if dimension not in WORDS:
        raise invalid("The dimension must be ROWS or COLUMNS.")
    size = sheet.grid.size(dimension)
    start = span.get("startIndex") or 0
    stop = span.get("endIndex")
    stop = size if stop is None else stop
    if start < 0 or stop <= start:
        raise invalid(f"The range of {WORDS[dimension]}s from index {start} to {stop} is empty.")
    return sheet, dimension, start, stop


# Groups ------------------------------------------------------------------------------------------------------------
# A row or column may lie in several groups, one within the other; their number is its depth. A request changes the
# depth of some rows or columns, and the groups are formed anew from the depths.


def add_group(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`addDimensionGroup`: put rows or columns one group deeper; groups of one depth that touch become one."""
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, request.get("range"))
    _change_depth(sheet, dimension, start, stop, 1)
    sheet.grid_properties[f"{WORDS[dimension]}GroupControlAfter"] = True
    return {"dimensionGroups": build_groups(sheet, dimension)}


def delete_group(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`deleteDimensionGroup`: take all rows or columns of a range out of their innermost group."""
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, request.get("range"))
    _change_depth(sheet, dimension, start, stop, -1)
    left = build_groups(sheet, dimension)
    return {"dimensionGroups": left} if left else {}


def update_group(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateDimensionGroup`: hide the rows or columns of a group, or show them again."""
    changed = request.get("dimensionGroup") or {}
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, changed.get("range"))
    group = {"dimension": dimension, "startIndex": start, "endIndex": stop, "depth": changed.get("depth") or 1}
    if group not in sheet.groups:
        raise invalid("There is no such group of rows or columns.")
    if "collapsed" not in masks.parse(request.get("fields") or ""):
        raise invalid("Only the field collapsed of a group can be changed.")
    sheet.collapsed = [other for other in sheet.collapsed if other != group]
    if folded := bool(changed.get("collapsed")):
        sheet.collapsed.append(group)
    special = sheet.dimensions[dimension]
    for index in range(start, stop):
        kept = {name: value for name, value in special.get(index, {}).items() if name != "hiddenByUser"}
        special[index] = kept | ({"hiddenByUser": True} if folded else {})
        if not special[index]:
            del special[index]


def _change_depth(sheet: ServedSheet, dimension: str, start: int, stop: int, by: int) -> None:
    """Add 1 or -1 (`by`) to the depth of rows or columns, and form the groups of the dimension anew."""
    held = [group for group in sheet.groups if group["dimension"] == dimension]
    ends = sorted({start, stop, *(group[end] for group in held for end in ("startIndex", "endIndex"))})
    depths = []
    for first, last in pairwise(ends):
        depth = sum(group["startIndex"] <= first and last <= group["endIndex"] for group in held)
        inside = start <= first and last <= stop
        if inside and not 0 <= depth + by <= _DEEPEST:
            no_group = "There is no such group of rows or columns."
            raise invalid(no_group if by < 0 else f"Groups are at most {_DEEPEST} levels deep.")
        depths.append((first, last, depth + by * inside))
    formed = []
    for depth in range(1, max(depth for _, _, depth in depths) + 1):
        runs: list[list[int]] = []
        for first, last, reached in depths:
            if reached >= depth and runs and runs[-1][1] == first:
                runs[-1][1] = last
            elif reached >= depth:
                runs.append([first, last])
        formed += [
            {"dimension": dimension, "startIndex": first, "endIndex": last, "depth": depth} for first, last in runs
        ]
    sheet.groups = [group for group in sheet.groups if group["dimension"] != dimension] + formed
    sheet.collapsed = [group for group in sheet.collapsed if group in sheet.groups]
