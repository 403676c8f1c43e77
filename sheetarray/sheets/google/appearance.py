"""How a worksheet of ours looks: names in bold, headers frozen and folded away, dates as dates.

Looks are part of the batch that puts the cells into place, so that nobody sees the one without the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from ...cells.serials import DATE_CODES, serial_unit
from ...columns import LayoutColumn
from .address import Rect
from .changes import Requests, change_properties, make_bold
from .plan import ColumnPlace, WritePlan
from .requests import Answer

_FORMAT = "userEnteredFormat.numberFormat"


def look_requests(plan: WritePlan, gid: int) -> Requests:
    """Return the requests that make a worksheet look as people like it."""
    names = [make_bold(gid, Rect(row, column, row + 1, column + width)) for row, column, width in _name_cells(plan)]
    headers = _header_requests(plan, gid) if plan.adopted else _unfold_requests(plan, gid)
    return [*names, *_format_requests(plan, gid), *headers]


def undo_looks(plan: WritePlan, gid: int) -> Requests:
    """Return the requests that take the looks of a worksheet away again, which it did not have before."""
    named = [place for place in plan.places if place.named]
    plain = [make_bold(gid, Rect(p.row, p.column, p.row + 1, p.column + 1), bold=False) for p in named]
    plain += [_show_as(gid, _elements(p), None) for p in plan.places if date_code(plan.layout.pieces[p.index])]
    if not plan.adopted:
        return plain
    groups: Requests = [{"deleteDimensionGroup": {"range": _header_rows(plan, gid)}}] if _folds_headers(plan) else []
    return [*plain, *groups, _freeze(gid, 0)]


def _name_cells(plan: WritePlan) -> Iterator[tuple[int, int, int]]:
    """Yield row, first column and number of the name cells that are written."""
    named = sorted((place.row, place.column) for place in plan.places if place.named)
    for (row, _), group in groupby(enumerate(named), key=lambda pair: (pair[1][0], pair[1][1] - pair[0])):
        cells = [cell for _, cell in group]
        yield row, cells[0][1], len(cells)


# Headers -------------------------------------------------------------------------------------------------------


def _header_requests(plan: WritePlan, gid: int) -> Requests:
    """Freeze what stands above the elements, fold the headers away, and make columns as wide as their cells."""
    width = {"range": {"sheetId": gid, "dimension": "COLUMNS", "startIndex": 0, "endIndex": len(plan.places)}}
    wide: Requests = [{"autoResizeDimensions": {"dimensions": width["range"]}}]
    if not _folds_headers(plan):
        return [*wide, _freeze(gid, min(1, plan.rows - 1))]  # all rows cannot be frozen
    rows = _header_rows(plan, gid)
    group = {"range": rows, "depth": 1, "collapsed": True}
    return [
        *wide,
        _freeze(gid, plan.layout.zone_height),
        {"addDimensionGroup": {"range": rows}},
        {"updateDimensionGroup": {"dimensionGroup": group, "fields": "collapsed"}},
    ]


def _unfold_requests(plan: WritePlan, gid: int) -> Iterator[Answer]:
    """Yield the requests that show rows again that are folded away, and are to hold elements now."""
    for start, end, depth in plan.sheet.folded if plan.sheet else ():
        if any(place.row < end and start <= place.data < end for place in plan.places):
            rows = {"sheetId": gid, "dimension": "ROWS", "startIndex": start, "endIndex": end}
            group = {"range": rows, "depth": depth, "collapsed": False}
            yield {"updateDimensionGroup": {"dimensionGroup": group, "fields": "collapsed"}}


def _folds_headers(plan: WritePlan) -> bool:
    """Return whether the headers are folded away: only they stand above the elements, and rows stay in sight."""
    return plan.layout.hides_headers and plan.rows > plan.layout.zone_height


def _header_rows(plan: WritePlan, gid: int) -> Answer:
    return {"sheetId": gid, "dimension": "ROWS", "startIndex": 1, "endIndex": plan.layout.zone_height}


def _freeze(gid: int, rows: int) -> Answer:
    return change_properties(gid, {"gridProperties": {"frozenRowCount": rows}}, "gridProperties.frozenRowCount")


# Dates ---------------------------------------------------------------------------------------------------------


def _format_requests(plan: WritePlan, gid: int) -> Iterator[Answer]:
    """Yield the number formats of elements: of dates, and of what stands where dates may have stood."""
    runs = groupby(enumerate(plan.places), key=lambda item: (item[1].column - item[0], *_format_of(plan, item[1])))
    for (_, code, data, elements, shown_before), run in runs:
        places = [place for _, place in run]
        if code is not None or shown_before:
            yield _show_as(gid, Rect(data, places[0].column, data + elements, places[-1].column + 1), code)


def show_dates(gid: int, columns: Iterable[tuple[Rect, LayoutColumn]]) -> Iterator[Answer]:
    """Yield the number formats of dates among columns that were written to some cells."""
    for rect, piece in columns:
        if (code := date_code(piece)) is not None:
            yield _show_as(gid, rect, code)


def _format_of(plan: WritePlan, place: ColumnPlace) -> tuple[str | None, int, int, bool]:
    """Return the number format of a column, its first element, how many there are, and whether others stood there."""
    replaced = place.index not in plan.fresh or bool(plan.cleared)
    return date_code(plan.layout.pieces[place.index]), place.data, place.elements, replaced


def _show_as(gid: int, rect: Rect, code: str | None) -> Answer:
    """Return the request that gives elements a number format, or none."""
    kind = "DATE" if code == DATE_CODES["D"] else "DATE_TIME"
    shown: Answer = {"userEnteredFormat": {"numberFormat": {"type": kind, "pattern": code}}} if code else {}
    return {"repeatCell": {"range": rect.to_grid_range(gid), "cell": shown, "fields": _FORMAT}}


def _elements(place: ColumnPlace) -> Rect:
    return Rect(place.data, place.column, place.data + place.elements, place.column + 1)


def date_code(piece: LayoutColumn) -> str | None:
    """Return the number format of a column of dates; None where it holds none that are numbers."""
    unit = serial_unit(piece.buffer.dtype) if piece.serials and len(piece.buffer) else None
    return None if unit is None else DATE_CODES[unit]
