"""Requests for objects that float over a sheet, charts and slicers: kept and answered, but not drawn."""

from __future__ import annotations

from .. import masks
from ..errors import Json, invalid
from ..grid import SheetGrid
from ..spreadsheet import ServedSheet, Spreadsheet, new_id
from .pasting import find_coordinate
from .sheets import require_mask

# The kinds of objects, as the resource of a sheet names them, and the fields that hold their ids
_KINDS = {"charts": "chartId", "slicers": "slicerId"}
_SIZE = {"widthPixels": 600, "heightPixels": 371}

_FONT = "Roboto"  # of a chart that names none


def add_chart(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`addChart`: put a chart over a sheet, or on a new sheet of its own."""
    return {"chart": _add(spreadsheet, "charts", request.get("chart") or {})}


def add_slicer(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`addSlicer`: put a slicer over a sheet."""
    return {"slicer": _add(spreadsheet, "slicers", request.get("slicer") or {})}


def update_chart_spec(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateChartSpec`: replace the whole specification of a chart."""
    entry = _find(spreadsheet, request.get("chartId"), ("charts",))[2]
    if not request.get("spec"):
        raise invalid("No chart specification was given.")
    entry["spec"] = _chart_spec(request["spec"])


def update_slicer_spec(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateSlicerSpec`: change the fields of a slicer's specification that the mask names."""
    entry = _find(spreadsheet, request.get("slicerId"), ("slicers",))[2]
    entry["spec"] = masks.merge(entry["spec"], request.get("spec") or {}, require_mask(request))


def update_position(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`updateEmbeddedObjectPosition`: move an object to a sheet of its own, or to another cell.

    The mask names fields of `overlayPosition`, with or without that word before them.
    """
    sheet, kind, entry = _find(spreadsheet, request.get("objectId"))
    wanted = request.get("newPosition") or {}
    if wanted.get("newSheet") or wanted.get("sheetId") is not None:
        target, entry["position"] = _position(spreadsheet, wanted)
        _take_off(spreadsheet, sheet, kind, entry)
        target.overlays.setdefault(kind, []).append(entry)
        return {"position": entry["position"]}
    if not wanted.get("overlayPosition"):
        raise invalid("No new position was given.")
    mask = require_mask(request)
    below = mask.get("overlayPosition", mask)
    merged = masks.merge(entry["position"].get("overlayPosition", {}), wanted["overlayPosition"], below)
    target, entry["position"] = _position(spreadsheet, {"overlayPosition": merged})
    _take_off(spreadsheet, sheet, kind, entry)
    target.overlays.setdefault(kind, []).append(entry)
    return {"position": entry["position"]}


def update_border(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateEmbeddedObjectBorder`."""
    entry = _find(spreadsheet, request.get("objectId"))[2]
    entry["border"] = masks.merge(entry.get("border", {}), request.get("border") or {}, require_mask(request))


def delete_object(spreadsheet: Spreadsheet, request: Json) -> None:
    """`deleteEmbeddedObject`."""
    sheet, kind, entry = _find(spreadsheet, request.get("objectId"))
    _take_off(spreadsheet, sheet, kind, entry)


def _take_off(spreadsheet: Spreadsheet, sheet: ServedSheet, kind: str, entry: Json) -> None:
    """Take an object off its sheet; a sheet that was made for this object alone is deleted."""
    sheet.overlays[kind].remove(entry)
    if sheet.kind == "OBJECT":
        spreadsheet.sheets.remove(sheet)


def _chart_spec(wanted: Json) -> Json:
    """Return the specification of a chart, with the default fonts where it names none."""
    font = wanted.get("fontName") or _FONT
    title = {"fontFamily": font} | (wanted.get("titleTextFormat") or {})
    return wanted | {"fontName": font, "titleTextFormat": title}


def _add(spreadsheet: Spreadsheet, kind: str, wanted: Json) -> Json:
    """Add an object of a kind ("charts" or "slicers"), and return it as it is kept."""
    key = _KINDS[kind]
    if not wanted.get("spec"):
        raise invalid(f"No {kind[:-1]} specification was given.")
    object_id = wanted.get(key) or new_id()
    if any(object_id == entry[_KINDS[name]] for _, name, entry in _objects(spreadsheet)):
        raise invalid(f"The {key} {object_id} is already in use.")
    sheet, position = _position(spreadsheet, wanted.get("position") or {})
    spec = _chart_spec(wanted["spec"]) if kind == "charts" else wanted["spec"]
    entry = {key: object_id, "spec": spec, "position": position}
    entry |= {"border": wanted["border"]} if wanted.get("border") else {}
    sheet.overlays.setdefault(kind, []).append(entry)
    return entry


def _position(spreadsheet: Spreadsheet, wanted: Json) -> tuple[ServedSheet, Json]:
    """Return the sheet of an object and its EmbeddedObjectPosition; a sheet for it alone is made here."""
    if wanted.get("newSheet") or wanted.get("sheetId") is not None:
        own = _own_sheet(spreadsheet, wanted.get("sheetId"))
        return own, {"sheetId": own.id}
    overlay = _SIZE | (wanted.get("overlayPosition") or {})
    anchor = overlay.get("anchorCell") or {}
    sheet, row, column = find_coordinate(spreadsheet, anchor)
    place = {"sheetId": sheet.id, "rowIndex": row, "columnIndex": column}
    overlay["anchorCell"] = {name: index for name, index in place.items() if index}
    return sheet, {"overlayPosition": overlay}


def _own_sheet(spreadsheet: Spreadsheet, sheet_id: int | None) -> ServedSheet:
    """Add a sheet for one object alone, without cells, and return it."""
    if sheet_id is not None and (sheet_id < 0 or any(sheet.id == sheet_id for sheet in spreadsheet.sheets)):
        raise invalid(f"The sheet ID {sheet_id} is negative or already in use.")
    titles = (f"Chart{index}" for index in range(1, 10**6))
    title = next(title for title in titles if spreadsheet.sheet_titled(title) is None)
    sheet = ServedSheet(new_id() if sheet_id is None else sheet_id, title, SheetGrid(0, 0), kind="OBJECT")
    spreadsheet.sheets.append(sheet)
    return sheet


def _objects(spreadsheet: Spreadsheet) -> list[tuple[ServedSheet, str, Json]]:
    """Return all objects of a spreadsheet, each with its sheet and its kind."""
    return [
        (sheet, kind, entry)
        for sheet in spreadsheet.sheets
        for kind in _KINDS
        for entry in sheet.overlays.get(kind, [])
    ]


def _find(
    spreadsheet: Spreadsheet, object_id: int | None, kinds: tuple[str, ...] = tuple(_KINDS)
) -> tuple[ServedSheet, str, Json]:
    """Return the object of an id, with its sheet and its kind."""
    for sheet, kind, entry in _objects(spreadsheet):
        if kind in kinds and entry[_KINDS[kind]] == object_id:
            return sheet, kind, entry
    raise invalid(f"No object with id: {object_id or 0}")
