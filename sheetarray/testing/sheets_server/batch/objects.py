"""Requests for what floats over a sheet: charts and slicers, kept and answered, not drawn."""

from __future__ import annotations

from .. import masks
from ..errors import Json, invalid
from ..grid import SheetGrid
from ..spreadsheet import ServedSheet, Spreadsheet, new_id
from .pasting import find_coordinate
from .sheets import require_mask

_KINDS = {"charts": "chartId", "slicers": "slicerId"}
_SIZE = {"widthPixels": 600, "heightPixels": 371}

_FONT = "Roboto"  # of a chart


def add_chart(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`addChart`."""
    return {"chart": _add(spreadsheet, "charts", request.get("chart") or {})}


def add_slicer(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`addSlicer`."""
    return {"slicer": _add(spreadsheet, "slicers", request.get("slicer") or {})}


def update_chart_spec(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateChartSpec`: the whole of its specification."""
    entry = _find(spreadsheet, request.get("chartId"), ("charts",))[2]
    if not request.get("spec"):
        raise invalid("No chart specification was given.")
    entry["spec"] = _chart_spec(request["spec"])


def update_slicer_spec(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateSlicerSpec`: the fields that its mask names."""
    entry = _find(spreadsheet, request.get("slicerId"), ("slicers",))[2]
    entry["spec"] = masks.merge(entry["spec"], request.get("spec") or {}, require_mask(request))


def update_position(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`updateEmbeddedObjectPosition`: of the fields below `overlayPosition`, those that its mask names."""
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
    """Take an object off its sheet; one that was there for it only goes too."""
    sheet.overlays[kind].remove(entry)
    if sheet.kind == "OBJECT":
        spreadsheet.sheets.remove(sheet)


def _chart_spec(wanted: Json) -> Json:
    """Return the specification of a chart with the fonts that it has where it names none."""
    font = wanted.get("fontName") or _FONT
    title = {"fontFamily": font} | (wanted.get("titleTextFormat") or {})
    return wanted | {"fontName": font, "titleTextFormat": title}


def _add(spreadsheet: Spreadsheet, kind: str, wanted: Json) -> Json:
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
    """Return the sheet and the position of an object over its cells."""
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
    """Return a new sheet that is there for one object only."""
    if sheet_id is not None and (sheet_id < 0 or any(sheet.id == sheet_id for sheet in spreadsheet.sheets)):
        raise invalid(f"The sheet ID {sheet_id} is negative or already in use.")
    titles = (f"Chart{index}" for index in range(1, 10**6))
    title = next(title for title in titles if spreadsheet.sheet_titled(title) is None)
    sheet = ServedSheet(new_id() if sheet_id is None else sheet_id, title, SheetGrid(0, 0), kind="OBJECT")
    spreadsheet.sheets.append(sheet)
    return sheet


def _objects(spreadsheet: Spreadsheet) -> list[tuple[ServedSheet, str, Json]]:
    return [
        (sheet, kind, entry)
        for sheet in spreadsheet.sheets
        for kind in _KINDS
        for entry in sheet.overlays.get(kind, [])
    ]


def _find(
    spreadsheet: Spreadsheet, object_id: int | None, kinds: tuple[str, ...] = tuple(_KINDS)
) -> tuple[ServedSheet, str, Json]:
    for sheet, kind, entry in _objects(spreadsheet):
        if kind in kinds and entry[_KINDS[kind]] == object_id:
            return sheet, kind, entry
    raise invalid(f"No object with id: {object_id or 0}")
