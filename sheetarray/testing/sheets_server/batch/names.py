"""Requests for what lies over the cells: named and protected ranges, merges."""

from __future__ import annotations

import re

from .. import masks
from ..errors import Json, invalid
from ..ranges import GridArea, Span, cells_span
from ..resource import build_protected_range
from ..spreadsheet import RangeName, ServedSheet, Spreadsheet, new_id
from .sheets import require_mask

_NAME = re.compile(r"[^\W\d]\w*")


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
    """`addProtectedRange`: keep users who are not among its editors from a range; the owner may edit everything."""
    wanted = dict(request.get("protectedRange") or {})
    sheet, span = find_span(spreadsheet, wanted.get("range"))
    protected_id = wanted.get("protectedRangeId") or new_id()
    if any(protected_id in other.protected for other in spreadsheet.sheets):
        raise invalid(f"A protected range with id {protected_id} already exists.")
    entry = {"protectedRangeId": protected_id, "range": span}
    entry |= {name: wanted[name] for name in ("namedRangeId", "description", "warningOnly") if wanted.get(name)}
    entry |= {"unprotectedRanges": free} if (free := wanted.get("unprotectedRanges")) else {}
    editors = {kind: people for kind, people in (wanted.get("editors") or {}).items() if people}
    if spreadsheet.user is not None:
        editors["users"] = sorted({*editors.get("users", []), spreadsheet.user})
    entry |= {"requestingUserCanEdit": True, "editors": editors}
    sheet.protected[protected_id] = entry
    return {"protectedRange": build_protected_range(sheet, entry, spreadsheet.user)}


def update_protected_range(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateProtectedRange`."""
    wanted = request.get("protectedRange") or {}
    sheet, old = _find_protected(spreadsheet, wanted.get("protectedRangeId"))
    entry = masks.merge(build_protected_range(sheet, old, None), wanted, require_mask(request))
    new_sheet, span = find_span(spreadsheet, entry.get("range"))
    del sheet.protected[old["protectedRangeId"]]
    new_sheet.protected[old["protectedRangeId"]] = entry | {
        "protectedRangeId": old["protectedRangeId"],
        "range": span,
        "requestingUserCanEdit": True,
    }


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
    """Return a name for a range, after refusing one that is not allowed or taken.

    Args:
        spreadsheet: in which no other range may have the name.
        name: letters, digits and underscores, and not what could be an address.
        own: the named range that is to have it; None for a new one.
        cannot: the beginning of the error, such as "Cannot add".
    """
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
