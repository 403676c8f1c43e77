"""The requests for the look of a worksheet of ours: names in bold, headers frozen and collapsed, dates shown as dates.

They are part of the batch that puts the cells into the worksheet, so that nobody sees the cells without their look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from ...cells.serials import DATE_CODES, shown_unit
from ...columns import LayoutColumn
from ...composite import is_for_programs
from .address import Rect
from .changes import Requests, change_properties, make_bold
from .plan import PlacedColumn, WritePlan
from .requests import Answer
from .spreadsheet_state import RowGroup, Worksheet

_FORMAT = "userEnteredFormat.numberFormat"
_SAMPLE = 50  # elements of a column of text that are looked at for long texts
_LONGEST = 60  # characters of a text as wide as which a column is made
_WIDEST = 430  # pixels of a column with a longer text


def look_requests(plan: WritePlan, gid: int) -> Requests:
    """Return the requests that give a worksheet its look after a write."""
    names = [make_bold(gid, Rect(row, column, row + 1, column + width)) for row, column, width in _name_cells(plan)]
    if plan.adopted:
        headers = [*_column_requests(plan, gid), *_header_requests(plan, gid)]
    elif plan.moved:
        headers = [*_ungroup_headers(plan.sheet, gid), *_header_requests(plan, gid)]
    else:
        headers = list(_expand_requests(plan, gid))
    return [*names, *_format_requests(plan, gid), *headers]


def undo_looks(plan: WritePlan, gid: int) -> Requests:
    """Return the requests that take back those of `look_requests`, for a write that is taken back."""
    placed_columns, pieces = plan.placed_columns, plan.layout.pieces
    named = [placed for placed in placed_columns if placed.named]
    plain = [make_bold(gid, Rect(p.row, p.column, p.row + 1, p.column + 1), bold=False) for p in named]
    plain += [_show_as(gid, _elements(placed), None) for placed in placed_columns if date_code(pieces[placed.index])]
    if not plan.adopted and not plan.moved:
        return plain
    groups = _delete_group(gid, "ROWS", 1, plan.layout.zone_height) if _collapses_headers(plan) else []
    if plan.moved and plan.sheet is not None:
        rows = _header_group(plan.sheet)
        again = _group(gid, "ROWS", rows.start, rows.end, collapsed=rows.collapsed) if rows else []
        return [*plain, *groups, *again, _freeze(gid, plan.sheet.frozen)]
    for start, end in _runs_for_programs(plan):
        groups += _delete_group(gid, "COLUMNS", start, end)
    return [*plain, *groups, _freeze(gid, 0)]


def _name_cells(plan: WritePlan) -> Iterator[tuple[int, int, int]]:
    """Yield the names that are written, neighbours together: their row, their first column and their number."""
    named = sorted((placed.row, placed.column) for placed in plan.placed_columns if placed.named)
    for (row, _), group in groupby(enumerate(named), key=lambda pair: (pair[1][0], pair[1][1] - pair[0])):
        cells = [cell for _, cell in group]
        yield row, cells[0][1], len(cells)


# Headers -------------------------------------------------------------------------------------------------------


def _header_requests(plan: WritePlan, gid: int) -> Requests:
    """Return the requests that freeze the rows above the elements, and collapse the headers among them."""
    if not _collapses_headers(plan):
        return [_freeze(gid, min(1, plan.rows - 1))]  # the service refuses to freeze all rows
    height = plan.layout.zone_height
    return [_freeze(gid, height), *_group(gid, "ROWS", 1, height)]


def _expand_requests(plan: WritePlan, gid: int) -> Iterator[Answer]:
    """Yield the requests that show the rows of collapsed groups in which elements will stand after the write."""
    for rows in plan.sheet.groups if plan.sheet else ():
        reaching = (placed for placed in plan.placed_columns if placed.row < rows.end)
        if rows.collapsed and any(rows.start <= placed.data < rows.end for placed in reaching):
            yield _collapse(gid, "ROWS", rows.start, rows.end, rows.depth, collapsed=False)


def _collapses_headers(plan: WritePlan) -> bool:
    """Return whether the headers are collapsed: no elements stand beside them, and some rows stay in sight."""
    return plan.layout.hides_headers and plan.rows > plan.layout.zone_height


def _header_group(sheet: Worksheet | None) -> RowGroup | None:
    """Return the group of header rows that an earlier write has made; None if no write has made one."""
    return next((rows for rows in sheet.groups if (rows.start, rows.depth) == (1, 1)), None) if sheet else None


def _ungroup_headers(sheet: Worksheet | None, gid: int) -> Requests:
    """Return the requests that show the group of header rows and remove it, since headers take other rows now."""
    rows = _header_group(sheet)
    if rows is None:
        return []
    expanded = _collapse(gid, "ROWS", rows.start, rows.end, rows.depth, collapsed=False)
    removed: Answer = {"deleteDimensionGroup": {"range": _lines(gid, "ROWS", rows.start, rows.end)}}
    return [expanded, removed] if rows.collapsed else [removed]


def _freeze(gid: int, rows: int) -> Answer:
    """Return the request that makes some rows at the top stay in sight."""
    return change_properties(gid, {"gridProperties": {"frozenRowCount": rows}}, "gridProperties.frozenRowCount")


# Groups of rows and columns ------------------------------------------------------------------------------------


def _group(gid: int, dimension: str, start: int, end: int, *, collapsed: bool = True) -> Requests:
    """Return the requests that make rows or columns a group, and collapse it."""
    made: Requests = [{"addDimensionGroup": {"range": _lines(gid, dimension, start, end)}}]
    return [*made, _collapse(gid, dimension, start, end, 1)] if collapsed else made


def _delete_group(gid: int, dimension: str, start: int, end: int) -> Requests:
    """Return the requests that show a collapsed group of rows or columns, and remove it."""
    shown = _collapse(gid, dimension, start, end, 1, collapsed=False)
    return [shown, {"deleteDimensionGroup": {"range": _lines(gid, dimension, start, end)}}]


def _collapse(gid: int, dimension: str, start: int, end: int, depth: int, *, collapsed: bool = True) -> Answer:
    """Return the request that collapses a group of rows or columns, or shows it."""
    group = {"range": _lines(gid, dimension, start, end), "depth": depth, "collapsed": collapsed}
    return {"updateDimensionGroup": {"dimensionGroup": group, "fields": "collapsed"}}


def _lines(gid: int, dimension: str, start: int, end: int) -> Answer:
    """Return the DimensionRange of some rows ("ROWS") or columns ("COLUMNS"): the first, and the one after the last."""
    return {"sheetId": gid, "dimension": dimension, "startIndex": start, "endIndex": end}


# Columns -------------------------------------------------------------------------------------------------------


def _column_requests(plan: WritePlan, gid: int) -> Iterator[Answer]:
    """Yield the requests that make columns as wide as their cells need, and collapse those that only programs read."""
    columns = [(placed.column, plan.layout.pieces[placed.index]) for placed in plan.placed_columns]
    for long, run in groupby(columns, key=lambda column: _holds_long_text(column[1])):
        numbers = [column for column, _ in run]
        lines = _lines(gid, "COLUMNS", numbers[0], numbers[-1] + 1)
        if long:
            width = {"range": lines, "properties": {"pixelSize": _WIDEST}, "fields": "pixelSize"}
            yield {"updateDimensionProperties": width}
        else:
            yield {"autoResizeDimensions": {"dimensions": lines}}
    for start, end in _runs_for_programs(plan):
        yield from _group(gid, "COLUMNS", start, end)


def _holds_long_text(piece: LayoutColumn) -> bool:
    """Return whether one of the first elements of a column is text of more than `_LONGEST` characters."""
    first = piece.buffer[:_SAMPLE].tolist() if piece.dtype.kind in ("string", "generic") else []
    return any(isinstance(value, str) and len(value) > _LONGEST for value in first)


def _runs_for_programs(plan: WritePlan) -> list[tuple[int, int]]:
    """Return the columns that only programs read, neighbours together: the first, and the one after the last."""
    kinds = groupby(plan.placed_columns, key=lambda placed: is_for_programs(plan.layout.pieces[placed.index]))
    runs = [[placed.column for placed in run] for hidden, run in kinds if hidden]
    runs = [columns for columns in runs if len(columns) < len(plan.placed_columns)]  # not all columns are collapsed
    return [(columns[0], columns[-1] + 1) for columns in runs]


# Dates ---------------------------------------------------------------------------------------------------------


def _format_requests(plan: WritePlan, gid: int) -> Iterator[Answer]:
    """Yield the requests that set the number format of dates, and remove it from cells that may have been dates."""
    numbered = enumerate(plan.placed_columns)
    runs = groupby(numbered, key=lambda item: (item[1].column - item[0], *_format_of(plan, item[1])))
    for (_, code, data, elements, shown_before), run in runs:
        columns = [placed.column for _, placed in run]
        if code is not None or shown_before:
            yield _show_as(gid, Rect(data, columns[0], data + elements, columns[-1] + 1), code)


def show_dates(gid: int, columns: Iterable[tuple[Rect, LayoutColumn]]) -> Iterator[Answer]:
    """Yield the requests that set the number format of dates, given columns and the cells of their elements."""
    for rect, piece in columns:
        if (code := date_code(piece)) is not None:
            yield _show_as(gid, rect, code)


def _format_of(plan: WritePlan, placed: PlacedColumn) -> tuple[str | None, int, int, bool]:
    """Return a column's number format, its first element's row, its number of elements, and if others stood there."""
    replaced = placed.index not in plan.fresh or bool(plan.cleared)
    return date_code(plan.layout.pieces[placed.index]), placed.data, placed.elements, replaced


def _show_as(gid: int, rect: Rect, code: str | None) -> Answer:
    """Return the request that sets the number format of cells, or removes it if the code is None."""
    kind = "DATE" if code == DATE_CODES["D"] else "DATE_TIME"
    shown: Answer = {"userEnteredFormat": {"numberFormat": {"type": kind, "pattern": code}}} if code else {}
    return {"repeatCell": {"range": rect.to_grid_range(gid), "cell": shown, "fields": _FORMAT}}


def _elements(placed: PlacedColumn) -> Rect:
    """Return the cells of the elements of a column."""
    return Rect(placed.data, placed.column, placed.data + placed.elements, placed.column + 1)


def date_code(piece: LayoutColumn) -> str | None:
    """Return the number format of a column of serial dates; None for any other column."""
    unit = shown_unit(piece.buffer) if piece.serials and len(piece.buffer) else None
    return None if unit is None else DATE_CODES[unit]
