"""How a worksheet of ours looks: names in bold, headers frozen and folded away, dates as dates.

Looks are part of the batch that puts the cells into place, so that nobody sees the one without the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from ...cells.serials import DATE_CODES, serial_unit
from ...columns import LayoutColumn
from ...composite import is_for_programs
from .address import Rect
from .changes import Requests, change_properties, make_bold
from .plan import ColumnPlace, WritePlan
from .requests import Answer
from .state import RowGroup, Worksheet

_FORMAT = "userEnteredFormat.numberFormat"
_SAMPLE = 50  # texts by which a column of text is judged
_LONGEST, _WIDEST = 60, 430  # characters of a text that a column is made as wide as, and dots of one with longer ones


def look_requests(plan: WritePlan, gid: int) -> Requests:
    """Return the requests that make a worksheet look as people like it."""
    names = [make_bold(gid, Rect(row, column, row + 1, column + width)) for row, column, width in _name_cells(plan)]
    if plan.adopted:
        headers = [*_column_requests(plan, gid), *_header_requests(plan, gid)]
    elif plan.moved:
        headers = [*_ungroup_headers(plan.sheet, gid), *_header_requests(plan, gid)]
    else:
        headers = list(_unfold_requests(plan, gid))
    return [*names, *_format_requests(plan, gid), *headers]


def undo_looks(plan: WritePlan, gid: int) -> Requests:
    """Return the requests that take the looks of a worksheet away again, which it did not have before."""
    named = [place for place in plan.places if place.named]
    plain = [make_bold(gid, Rect(p.row, p.column, p.row + 1, p.column + 1), bold=False) for p in named]
    plain += [_show_as(gid, _elements(p), None) for p in plan.places if date_code(plan.layout.pieces[p.index])]
    if not plan.adopted and not plan.moved:
        return plain
    groups = _delete_group(gid, "ROWS", 1, plan.layout.zone_height) if _folds_headers(plan) else []
    if plan.moved and plan.sheet is not None:
        header = _header_group(plan.sheet)
        again = _group(gid, "ROWS", header.start, header.end, folded=header.folded) if header else []
        return [*plain, *groups, *again, _freeze(gid, plan.sheet.frozen)]
    for start, end in _runs_for_programs(plan):
        groups += _delete_group(gid, "COLUMNS", start, end)
    return [*plain, *groups, _freeze(gid, 0)]


def _name_cells(plan: WritePlan) -> Iterator[tuple[int, int, int]]:
    """Yield row, first column and number of the name cells that are written."""
    named = sorted((place.row, place.column) for place in plan.places if place.named)
    for (row, _), group in groupby(enumerate(named), key=lambda pair: (pair[1][0], pair[1][1] - pair[0])):
        cells = [cell for _, cell in group]
        yield row, cells[0][1], len(cells)


# Headers -------------------------------------------------------------------------------------------------------


def _header_requests(plan: WritePlan, gid: int) -> Requests:
    """Freeze what stands above the elements, and fold the headers away."""
    if not _folds_headers(plan):
        return [_freeze(gid, min(1, plan.rows - 1))]  # all rows cannot be frozen
    height = plan.layout.zone_height
    return [_freeze(gid, height), *_group(gid, "ROWS", 1, height)]


def _unfold_requests(plan: WritePlan, gid: int) -> Iterator[Answer]:
    """Yield the requests that show rows again that are folded away, and are to hold elements now."""
    for rows in plan.sheet.groups if plan.sheet else ():
        if rows.folded and any(place.row < rows.end and rows.start <= place.data < rows.end for place in plan.places):
            yield _fold(gid, "ROWS", rows.start, rows.end, rows.depth, folded=False)


def _folds_headers(plan: WritePlan) -> bool:
    """Return whether the headers are folded away: only they stand above the elements, and rows stay in sight."""
    return plan.layout.hides_headers and plan.rows > plan.layout.zone_height


def _header_group(sheet: Worksheet | None) -> RowGroup | None:
    """Return the group of rows that an earlier write has made of headers; None if it has made no group."""
    return next((rows for rows in sheet.groups if (rows.start, rows.depth) == (1, 1)), None) if sheet else None


def _ungroup_headers(sheet: Worksheet | None, gid: int) -> Requests:
    """Return the requests that take the group of headers away, which have other rows now, and show its rows."""
    header = _header_group(sheet)
    if header is None:
        return []
    unfolded = [_fold(gid, "ROWS", header.start, header.end, header.depth, folded=False)] if header.folded else []
    return [*unfolded, {"deleteDimensionGroup": {"range": _lines(gid, "ROWS", header.start, header.end)}}]


def _freeze(gid: int, rows: int) -> Answer:
    return change_properties(gid, {"gridProperties": {"frozenRowCount": rows}}, "gridProperties.frozenRowCount")


# Groups of rows and columns ------------------------------------------------------------------------------------


def _group(gid: int, dimension: str, start: int, end: int, *, folded: bool = True) -> Requests:
    """Return the requests that make rows or columns a group, and fold it away."""
    made: Requests = [{"addDimensionGroup": {"range": _lines(gid, dimension, start, end)}}]
    return [*made, _fold(gid, dimension, start, end, 1)] if folded else made


def _delete_group(gid: int, dimension: str, start: int, end: int) -> Requests:
    """Return the requests that take a group away that is folded, and show its rows or columns."""
    shown = _fold(gid, dimension, start, end, 1, folded=False)
    return [shown, {"deleteDimensionGroup": {"range": _lines(gid, dimension, start, end)}}]


def _fold(gid: int, dimension: str, start: int, end: int, depth: int, *, folded: bool = True) -> Answer:
    group = {"range": _lines(gid, dimension, start, end), "depth": depth, "collapsed": folded}
    return {"updateDimensionGroup": {"dimensionGroup": group, "fields": "collapsed"}}


def _lines(gid: int, dimension: str, start: int, end: int) -> Answer:
    return {"sheetId": gid, "dimension": dimension, "startIndex": start, "endIndex": end}


# Columns -------------------------------------------------------------------------------------------------------


def _column_requests(plan: WritePlan, gid: int) -> Iterator[Answer]:
    """Yield the requests that make columns as wide as their cells, but for long text; those for programs are folded."""
    columns = [(place.column, plan.layout.pieces[place.index]) for place in plan.places]
    for long, run in groupby(columns, key=lambda column: _holds_long_text(column[1])):
        places = [column for column, _ in run]
        lines = _lines(gid, "COLUMNS", places[0], places[-1] + 1)
        if long:
            width = {"range": lines, "properties": {"pixelSize": _WIDEST}, "fields": "pixelSize"}
            yield {"updateDimensionProperties": width}
        else:
            yield {"autoResizeDimensions": {"dimensions": lines}}
    for start, end in _runs_for_programs(plan):
        yield from _group(gid, "COLUMNS", start, end)


def _holds_long_text(piece: LayoutColumn) -> bool:
    """Return whether some of the first texts of a column would make it wider than people like it."""
    first = piece.buffer[:_SAMPLE].tolist() if piece.dtype.kind in ("string", "generic") else []
    return any(isinstance(value, str) and len(value) > _LONGEST for value in first)


def _runs_for_programs(plan: WritePlan) -> list[tuple[int, int]]:
    """Return the columns that no person reads, neighbours together: the first, and the one after the last."""
    kinds = groupby(plan.places, key=lambda place: is_for_programs(plan.layout.pieces[place.index]))
    runs = [[place.column for place in run] for hidden, run in kinds if hidden]
    runs = [columns for columns in runs if len(columns) < len(plan.places)]  # one column at least is in sight
    return [(columns[0], columns[-1] + 1) for columns in runs]


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
