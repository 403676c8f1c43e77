"""Requests for conditional formats, banded ranges and filter views."""

from __future__ import annotations

import copy

from .. import masks, normalized_formats
from ..errors import Json, invalid
from ..ranges import Span
from ..spreadsheet import ServedSheet, Spreadsheet, new_id
from .names import find_span
from .sheets import require_mask

CONDITIONAL, BANDED, VIEWS = "conditionalFormats", "bandedRanges", "filterViews"


def add_conditional_rule(spreadsheet: Spreadsheet, request: Json) -> None:
    """`addConditionalFormatRule`: insert a rule before the rule that has the index."""
    rule = _rule(spreadsheet, request.get("rule") or {})
    rules = _rules(spreadsheet, rule["ranges"][0].get("sheetId"))
    index = request.get("index") or 0
    if not 0 <= index <= len(rules):
        raise invalid(f"Index {index} is out of bounds; there are {len(rules)} conditional format rules.")
    rules.insert(index, rule)


def update_conditional_rule(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`updateConditionalFormatRule`: replace the rule of an index, or give it another index."""
    index = request.get("index") or 0
    if request.get("newIndex") is not None:
        rules = _rules(spreadsheet, request.get("sheetId"))
        old = _at(rules, index)
        new_index = request["newIndex"]
        if not 0 <= new_index < len(rules):
            raise invalid(f"Index {new_index} is out of bounds; there are {len(rules)} conditional format rules.")
        rules.insert(new_index, rules.pop(index))
        return {"newRule": old, "oldIndex": index, "newIndex": new_index}
    rule = _rule(spreadsheet, request.get("rule") or {})
    rules = _rules(spreadsheet, rule["ranges"][0].get("sheetId"))
    old = _at(rules, index)
    rules[index] = rule
    return {"oldRule": old, "newRule": rule, "newIndex": index}


def delete_conditional_rule(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`deleteConditionalFormatRule`."""
    rules, index = _rules(spreadsheet, request.get("sheetId")), request.get("index") or 0
    rule = _at(rules, index)
    del rules[index]
    return {"rule": rule}


def add_banding(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`addBanding`: give a range alternating colours; it may not meet another banded range."""
    wanted = request.get("bandedRange") or {}
    entry = _banding(spreadsheet, _with_id(spreadsheet, BANDED, "bandedRangeId", wanted))
    _entries(spreadsheet, BANDED, entry["range"].get("sheetId")).append(entry)
    return {"bandedRange": entry}


def update_banding(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateBanding`: change the fields of a banded range that the mask names."""
    wanted = request.get("bandedRange") or {}
    sheet, old = find_entry(spreadsheet, BANDED, "bandedRangeId", wanted.get("bandedRangeId"), "banded range")
    mask = normalized_formats.widen_mask(require_mask(request))
    merged = masks.merge(old, normalized_formats.normalize_look(wanted), mask)
    sheet.overlays[BANDED].remove(old)
    entry = _banding(spreadsheet, merged | {"bandedRangeId": old["bandedRangeId"]})
    _entries(spreadsheet, BANDED, entry["range"].get("sheetId")).append(entry)


def delete_banding(spreadsheet: Spreadsheet, request: Json) -> None:
    """`deleteBanding`."""
    sheet, entry = find_entry(spreadsheet, BANDED, "bandedRangeId", request.get("bandedRangeId"), "banded range")
    sheet.overlays[BANDED].remove(entry)


def add_filter_view(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`addFilterView`: keep a filter view; it hides no rows."""
    wanted = _with_id(spreadsheet, VIEWS, "filterViewId", request.get("filter") or {})
    sheet, wanted["range"] = _on_grid(spreadsheet, wanted.get("range"))
    views = _entries(spreadsheet, VIEWS, sheet.id)
    wanted.setdefault("title", f"Filter {len(views) + 1}")
    views.append(wanted)
    return {"filter": wanted}


def update_filter_view(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateFilterView`: change the fields of a filter view that the mask names."""
    wanted = request.get("filter") or {}
    sheet, old = find_entry(spreadsheet, VIEWS, "filterViewId", wanted.get("filterViewId"), "filter view")
    merged = masks.merge(old, wanted, require_mask(request)) | {"filterViewId": old["filterViewId"]}
    new_sheet, merged["range"] = _on_grid(spreadsheet, merged.get("range"))
    sheet.overlays[VIEWS].remove(old)
    _entries(spreadsheet, VIEWS, new_sheet.id).append(merged)


def duplicate_filter_view(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`duplicateFilterView`."""
    sheet, entry = find_entry(spreadsheet, VIEWS, "filterViewId", request.get("filterId"), "filter view")
    view = copy.deepcopy(entry) | {"filterViewId": new_id(), "title": f"Copy of {entry['title']}"}
    sheet.overlays[VIEWS].append(view)
    return {"filter": view}


def delete_filter_view(spreadsheet: Spreadsheet, request: Json) -> None:
    """`deleteFilterView`."""
    sheet, entry = find_entry(spreadsheet, VIEWS, "filterViewId", request.get("filterId"), "filter view")
    sheet.overlays[VIEWS].remove(entry)


def find_entry(
    spreadsheet: Spreadsheet, name: str, key: str, wanted: int | None, word: str
) -> tuple[ServedSheet, Json]:
    """Return the entry that has an id, and its sheet.

    Args:
        spreadsheet: whose sheets are searched.
        name: of the list of entries in the resource of a sheet, such as "bandedRanges".
        key: the field of an entry that holds its id, such as "bandedRangeId".
        wanted: the id.
        word: what messages call such an entry.
    """
    for sheet in spreadsheet.sheets:
        for entry in sheet.overlays.get(name, []):
            if entry[key] == wanted:
                return sheet, entry
    raise invalid(f"No {word} with id: {wanted or 0}")


def _with_id(spreadsheet: Spreadsheet, name: str, key: str, wanted: Json) -> Json:
    """Return an entry with its id, or with a new one; an id that another entry has is refused."""
    entry_id = wanted.get(key) or new_id()
    taken = (entry[key] for sheet in spreadsheet.sheets for entry in sheet.overlays.get(name, []))
    if entry_id in taken:
        raise invalid(f"The {key} {entry_id} is already in use.")
    return {key: entry_id} | {field: part for field, part in wanted.items() if field != key}


def _entries(spreadsheet: Spreadsheet, name: str, sheet_id: int | None) -> list[Json]:
    return spreadsheet.sheet(sheet_id).overlays.setdefault(name, [])


def _rules(spreadsheet: Spreadsheet, sheet_id: int | None) -> list[Json]:
    return _entries(spreadsheet, CONDITIONAL, sheet_id)


def _at(rules: list[Json], index: int) -> Json:
    if not 0 <= index < len(rules):
        raise invalid(f"No conditional format on sheet at index: {index}")
    return rules[index]


def _rule(spreadsheet: Spreadsheet, wanted: Json) -> Json:
    """Return a conditional format as it is kept, after refusing one that is not on ranges of one sheet, or not of one
    kind.
    """
    ranges = wanted.get("ranges") or []
    if not ranges:
        raise invalid("No ranges specified for the conditional format rule.")
    placed = [_on_grid(spreadsheet, grid_range) for grid_range in ranges]
    if len({sheet.id for sheet, _ in placed}) > 1:
        raise invalid("All ranges of a conditional format rule must be on the same sheet.")
    kinds = [kind for kind in ("booleanRule", "gradientRule") if wanted.get(kind) is not None]
    if len(kinds) != 1:
        raise invalid("A conditional format rule must have one of booleanRule and gradientRule.")
    if kinds[0] == "booleanRule" and not (wanted["booleanRule"].get("condition") or {}).get("type"):
        raise invalid("A booleanRule must have a condition.")
    kept: Json = normalized_formats.normalize_look(wanted)
    return kept | {"ranges": [grid_range for _, grid_range in placed]}


def _banding(spreadsheet: Spreadsheet, wanted: Json) -> Json:
    """Return a banded range as it is kept, after refusing one that meets another."""
    entry: Json = normalized_formats.normalize_look(wanted)
    if not entry.get("rowProperties") and not entry.get("columnProperties"):
        raise invalid("At least one of rowProperties or columnProperties must be specified.")
    sheet, grid_range = _on_grid(spreadsheet, wanted.get("range"))
    area = Span.from_json(grid_range).on(sheet.grid.rows, sheet.grid.columns)
    for other in sheet.overlays.get(BANDED, []):
        held = Span.from_json(other["range"]).on(sheet.grid.rows, sheet.grid.columns)
        if area.meets(held):
            raise invalid("You cannot add alternating background colors to a range that already has them.")
    return entry | {"range": grid_range}


def _on_grid(spreadsheet: Spreadsheet, grid_range: Json | None) -> tuple[ServedSheet, Json]:
    """Return the sheet of a GridRange, and the GridRange as it is kept; it must start on the grid."""
    sheet, span = find_span(spreadsheet, grid_range)
    return sheet, span.json(sheet.id)
