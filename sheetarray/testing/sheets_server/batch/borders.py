"""`updateBorders`: lines around the cells of a range, and between them."""

from __future__ import annotations

from .. import normalized_formats
from ..errors import Json
from ..ranges import GridArea
from ..spreadsheet import ServedSheet, Spreadsheet
from .names import find_area

# Pixels of the styles whose lines are wider than 1
_WIDTHS = {"SOLID_MEDIUM": 2, "SOLID_THICK": 3, "DOUBLE": 3}


def update_borders(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateBorders`: draw the borders that the request names; the style NONE takes a border away."""
    sheet, area = find_area(spreadsheet, request.get("range"))
    top, bottom, left, right = area
    sides = {
        "top": (GridArea(top, top + 1, left, right), "top"),
        "bottom": (GridArea(bottom - 1, bottom, left, right), "bottom"),
        "left": (GridArea(top, bottom, left, left + 1), "left"),
        "right": (GridArea(top, bottom, right - 1, right), "right"),
    }
    for name, (edge, side) in sides.items():
        if request.get(name) is not None:
            _draw(sheet, edge, side, request[name])
    if request.get("innerHorizontal") is not None:
        _draw(sheet, GridArea(top, bottom - 1, left, right), "bottom", request["innerHorizontal"])
    if request.get("innerVertical") is not None:
        _draw(sheet, GridArea(top, bottom, left, right - 1), "right", request["innerVertical"])


def _draw(sheet: ServedSheet, area: GridArea, side: str, border: Json) -> None:
    """Give all cells of an area a border at one side: "top", "bottom", "left" or "right"."""
    style = border.get("style") or "STYLE_UNSPECIFIED"
    drawn = None
    if style not in ("NONE", "STYLE_UNSPECIFIED"):
        drawn = normalized_formats.normalize_look({"width": _WIDTHS.get(style, 1), "color": {}} | border)

    def draw(mark: Json | None) -> Json | None:
        look = dict((mark or {}).get("userEnteredFormat") or {})
        borders = {name: line for name, line in look.pop("borders", {}).items() if name != side}
        borders |= {} if drawn is None else {side: drawn}
        look |= {"borders": borders} if borders else {}
        others = {name: part for name, part in (mark or {}).items() if name != "userEnteredFormat"}
        return others | ({"userEnteredFormat": look} if look else {}) or None

    for column in range(area.left, area.right):
        sheet.grid.marks(column).change(area.top, area.bottom, draw)
