"""The requests for the look of a worksheet of ours: names in bold, headers frozen and collapsed, dates shown as dates.

They are part of the batch that puts the cells into the worksheet, so that nobody sees the cells without their look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from ...columns import LayoutColumn
from ...elements.serials import DATE_CODES, shown_unit
from ...labels import NAME
from ..arrays_of_sheets import is_for_programs
from .address import join_columns, one_cell
from .changes import (
    Requests,
    add_group,
    change_lines,
    collapse,
    delete_group,
    freeze_rows,
    lines_of,
    make_bold,
    repeat_cell,
    show_as,
)
from .named_ranges import PlacedColumn
from .plan import WritePlan
from .requests import Answer
from .state.spreadsheet import LineGroup

_SAMPLE = 50  # elements of a column of text that are looked at for long texts
_LONGEST = 60  # characters of a text as wide as which a column is made
_WIDEST = 430  # pixels of a column with a longer text


def look_requests(plan: WritePlan, gid: int) -> Requests:
    """Return the requests that give a worksheet its look after a write."""
    names = sorted(one_cell(p.row, p.column) for p in plan.placed_columns if p.named)
    if plan.is_new:
        headers = [*_column_requests(plan, gid), *_header_requests(plan, gid)]
    elif plan.moved:
        ours = [rows for rows in _row_groups(plan) if (rows.start, rows.depth) == (1, 1)]  # an earlier write made it
        headers = [*(request for rows in ours for request in delete_group(gid, rows)), *_header_requests(plan, gid)]
    else:
        headers = list(_expand_requests(plan, gid))
    named = [*(make_bold(gid, rect) for rect in join_columns(names)), *_note_requests(plan, gid)]
    return [*named, *_format_requests(plan, gid), *headers]


def _note_requests(plan: WritePlan, gid: int) -> Iterator[Answer]:
    """Yield the requests that put notes on names: what labels say of an array, for people to read.

    A note that somebody else has written stays.
    """
    pieces, notes = plan.layout.pieces, plan.notes
    if not any(piece.name == NAME for piece in pieces):  # there are no labels
        return
    texts = plan.texts
    places = {placed.name_cell: pieces[placed.index].name for placed in plan.placed_columns}
    for place, text in notes.standing.items():
        ours = text in notes.own and (place in places or any(rect.holds(*place) for rect in plan.cleared))
        if ours and places.get(place) not in texts:
            yield _set_note(gid, *place, None)
    for place, name in places.items():
        if name in texts and (place not in notes.standing or notes.standing[place] in notes.own - {texts[name]}):
            yield _set_note(gid, *place, texts[name])


def _set_note(gid: int, row: int, column: int, text: str | None) -> Answer:
    """Return the request that puts a note on a cell, or takes it away."""
    return repeat_cell(gid, one_cell(row, column), {} if text is None else {"note": text}, "note")


def _header_requests(plan: WritePlan, gid: int) -> Requests:
    """Return the requests that freeze the rows above the elements, and collapse the headers among them.

    They are not collapsed where elements stand beside them, or where no rows would stay in sight.
    """
    height = plan.layout.zone_height
    if not plan.layout.hides_headers or plan.rows <= height:
        return [freeze_rows(gid, min(1, plan.rows - 1))]  # the service refuses to freeze all rows
    return [freeze_rows(gid, height), *add_group(gid, LineGroup("ROWS", 1, height, 1, True))]


def _expand_requests(plan: WritePlan, gid: int) -> Iterator[Answer]:
    """Yield the requests that show the rows of collapsed groups in which elements will stand after the write."""
    for rows in _row_groups(plan):
        reaching = (placed for placed in plan.placed_columns if placed.row < rows.end)
        if rows.collapsed and any(rows.start <= placed.elements.top < rows.end for placed in reaching):
            yield collapse(gid, rows, collapsed=False)


def _row_groups(plan: WritePlan) -> list[LineGroup]:
    """Return the groups of rows that stand in the worksheet before the write."""
    return [group for group in plan.sheet.groups if group.dimension == "ROWS"] if plan.sheet else []


def _column_requests(plan: WritePlan, gid: int) -> Iterator[Answer]:
    """Yield the requests that make columns as wide as their cells need, and collapse those that only programs read."""
    for long, run in groupby(plan.placed_columns, key=lambda placed: _holds_long_text(placed.piece)):
        numbers = [placed.column for placed in run]
        lines = lines_of(gid, "COLUMNS", numbers[0], numbers[-1] + 1)
        if long:
            yield change_lines(lines, {"pixelSize": _WIDEST})
        else:
            yield {"autoResizeDimensions": {"dimensions": lines}}
    for start, end in _runs_for_programs(plan):
        yield from add_group(gid, LineGroup("COLUMNS", start, end, 1, True))


def _holds_long_text(piece: LayoutColumn) -> bool:
    """Return whether one of the first elements of a column is text of more than `_LONGEST` characters."""
    first = piece.buffer[:_SAMPLE].tolist() if piece.dtype.kind in ("string", "generic") else []
    return any(isinstance(value, str) and len(value) > _LONGEST for value in first)


def _runs_for_programs(plan: WritePlan) -> list[tuple[int, int]]:
    """Return the columns that only programs read, neighbours together: the first, and the one after the last."""
    kinds = groupby(plan.placed_columns, key=lambda placed: is_for_programs(placed.piece))
    runs = [[placed.column for placed in run] for hidden, run in kinds if hidden]
    runs = [columns for columns in runs if len(columns) < len(plan.placed_columns)]  # not all columns are collapsed
    return [(columns[0], columns[-1] + 1) for columns in runs]


def _format_requests(plan: WritePlan, gid: int) -> Iterator[Answer]:
    """Yield the requests that set the number format of dates, and remove it from cells that may have been dates."""

    def format_of(placed: PlacedColumn) -> tuple[str | None, bool]:
        return date_code(placed.piece), not placed.named or bool(plan.cleared)

    for (code, dates_before), group in groupby(plan.placed_columns, key=format_of):
        if code is not None or dates_before:
            shown = None if code is None else date_format(code)
            yield from (show_as(gid, rect, shown) for rect in join_columns(placed.elements for placed in group))


def show_dates(gid: int, columns: Iterable[PlacedColumn]) -> Iterator[Answer]:
    """Yield the requests that set the number format of the columns that hold dates."""
    for placed in columns:
        if (code := date_code(placed.piece)) is not None:
            yield show_as(gid, placed.elements, date_format(code))


def date_format(code: str) -> Answer:
    """Return the number format that shows dates by a format code."""
    return {"type": "DATE" if code == DATE_CODES["D"] else "DATE_TIME", "pattern": code}


def date_code(piece: LayoutColumn) -> str | None:
    """Return the number format of a column of serial dates; None for any other column."""
    unit = shown_unit(piece.buffer) if piece.serials and len(piece.buffer) else None
    return None if unit is None else DATE_CODES[unit]
