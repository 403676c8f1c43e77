"""Requests for tables: a range with a name, whose first row names its columns."""

from __future__ import annotations

from .. import masks, normalized_formats
from ..errors import Json, invalid
from ..ranges import GridArea, Span
from ..spreadsheet import ServedSheet, Spreadsheet, new_id
from .sheets import require_mask

TABLES = "tables"


def add_table(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`addTable`: make a table of a range that meets no other table; columns without a name are given one."""
    wanted = dict(request.get("table") or {})
    table_id = wanted.get("tableId") or str(new_id())
    taken = [entry for sheet in spreadsheet.sheets for entry in sheet.overlays.get(TABLES, [])]
    if any(entry["tableId"] == table_id for entry in taken):
        raise invalid(f"The tableId {table_id} is already in use.")
    wanted.setdefault(
        "name", next(f"Table{index}" for index in range(1, 10**6) if not _is_named(taken, f"Table{index}"))
    )
    sheet, entry = _place_table(spreadsheet, {"tableId": table_id, **wanted}, None)
    sheet.overlays.setdefault(TABLES, []).append(entry)
    return {"table": entry}


def update_table(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateTable`: change the fields of a table that the mask names."""
    wanted = request.get("table") or {}
    sheet, old = find_table(spreadsheet, wanted.get("tableId"))
    merged = masks.merge(old, wanted, require_mask(request)) | {"tableId": old["tableId"]}
    new_sheet, entry = _place_table(spreadsheet, merged, old)
    sheet.overlays[TABLES].remove(old)
    new_sheet.overlays.setdefault(TABLES, []).append(entry)


def delete_table(spreadsheet: Spreadsheet, request: Json) -> None:
    """`deleteTable`: delete a table, and the values of its cells."""
    sheet, entry = find_table(spreadsheet, request.get("tableId"))
    sheet.grid.clear(find_table_area(sheet, entry))
    sheet.overlays[TABLES].remove(entry)


def find_table(spreadsheet: Spreadsheet, table_id: str | None) -> tuple[ServedSheet, Json]:
    """Return the sheet of the table that has an id, and the table."""
    for sheet in spreadsheet.sheets:
        for entry in sheet.overlays.get(TABLES, []):
            if entry["tableId"] == table_id:
                return sheet, entry
    raise invalid(f"No table with id: {table_id or ''}")


def find_table_area(sheet: ServedSheet, entry: Json) -> GridArea:
    """Return the cells of a table."""
    return Span.from_json(entry["range"]).on(sheet.grid.rows, sheet.grid.columns)


def _is_named(entries: list[Json], name: str) -> bool:
    return any(entry["name"].casefold() == name.casefold() for entry in entries)


def _place_table(spreadsheet: Spreadsheet, wanted: Json, own: Json | None) -> tuple[ServedSheet, Json]:
    """Write the header row of a table, and return its sheet and the table as it is kept.

    Args:
        spreadsheet: to which the table belongs.
        wanted: the table as a request gives it.
        own: the table before the change, which it may overlap; None for a new one.
    """
    others = [entry for sheet in spreadsheet.sheets for entry in sheet.overlays.get(TABLES, []) if entry is not own]
    if _is_named(others, wanted["name"]):
        raise invalid(f'A table with the name "{wanted["name"]}" already exists.')
    sheet, span = spreadsheet.grid_range(wanted.get("range"))
    area = sheet.area(span)
    if area.height < 2:
        raise invalid("A table must have a header row and at least one more.")
    if any(other in sheet.overlays.get(TABLES, []) and area.meets(find_table_area(sheet, other)) for other in others):
        raise invalid("You cannot add a table to a range that already has one.")
    entry: Json = normalized_formats.normalize_look(wanted)
    given = {column.get("columnIndex") or 0: column for column in entry.get("columnProperties") or []}
    if any(not 0 <= index < area.width for index in given):
        raise invalid("A columnIndex of the table lies outside of it.")
    columns = []
    for index in range(area.width):
        held = sheet.grid.cell(area.top, area.left + index)
        column = dict(given.get(index, {}))
        column.setdefault("columnName", held if isinstance(held, str) else f"Column {index + 1}")
        sheet.grid.write(area.left + index, area.top, [column["columnName"]])
        columns.append(column | ({"columnIndex": index} if index else {}))
    return sheet, entry | {"range": Span(*area).json(sheet.id), "columnProperties": columns}
