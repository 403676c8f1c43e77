"""Requests for the basic filter of a sheet, which hides rows and may sort them."""

from __future__ import annotations

from ..errors import Json
from ..ranges import Span
from ..spreadsheet import Spreadsheet
from .cells import sort_rows
from .names import find_area


def set_basic_filter(spreadsheet: Spreadsheet, request: Json) -> None:
    """`setBasicFilter`: keep a filter, and sort the rows below its first one as it says.

    Which rows it hides, `hidden_rows` finds out each time that somebody asks for grid data.
    """
    wanted = request.get("filter") or {}
    sheet, area = find_area(spreadsheet, wanted.get("range"))
    if area.height and (specs := wanted.get("sortSpecs")):
        sort_rows(spreadsheet, sheet, area._replace(top=area.top + 1), specs)
    kept = {name: part for name, part in wanted.items() if part != []}  # an empty list says nothing
    specs = kept.get("filterSpecs") or []
    older = {str(spec.get("columnIndex") or 0): spec["filterCriteria"] for spec in specs if spec.get("filterCriteria")}
    both = (
        {"criteria": kept.get("criteria") or older} if older else {}
    )  # the service answers `filterSpecs` in the older form too
    sheet.basic_filter = kept | both | {"range": Span(*area).json(sheet.id)}


def clear_basic_filter(spreadsheet: Spreadsheet, request: Json) -> None:
    """`clearBasicFilter`: remove the filter of a sheet; rows that it has sorted stay in that order."""
    spreadsheet.sheet(request.get("sheetId")).basic_filter = None
