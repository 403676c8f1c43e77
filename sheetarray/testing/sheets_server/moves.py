"""What changes when cells move: references in formulas, named ranges, merges, protected ranges, and others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .errors import Json
from .formulas.references import follow, retitle, translate
from .ranges import GridArea, Span
from .spreadsheet import ServedSheet, Spreadsheet

# Returns where the cells of a span are after a move: the very same object if they have not moved, None if all are gone
SpanChange = Callable[[Span], Span | None]

_ENDS = {"startRowIndex", "endRowIndex", "startColumnIndex", "endColumnIndex"}
_GONE = object()  # instead of a range whose cells have all been deleted


def move_span(
    start: int | None, stop: int | None, first: int, last: int, count: int
) -> tuple[int | None, int | None] | None:
    """Return the ends of a span after rows or columns `first` to `last` were deleted and `count` inserted at `first`.

    None if all of it was deleted. Either `count` is 0, or `first` and `last` are the same.
    """
    begin, gone = start or 0, last - first
    if count:
        return (
            (begin + count if begin >= first else begin) if start is not None else None,
            (stop + count if stop > first else stop) if stop is not None else None,
        )
    new_begin = begin - max(0, min(begin, last) - first)
    if stop is None:
        return (new_begin if start is not None else None), None
    new_stop = stop - max(0, min(stop, last) - first)
    if gone and new_stop <= new_begin < stop:
        return None
    return (new_begin if start is not None else None), new_stop


def shift(dimension: str, first: int, last: int, count: int) -> SpanChange:
    """Return the change of spans when rows or columns are deleted or inserted; see `move_span`."""

    def change_span(span: Span) -> Span | None:
        rows = dimension == "ROWS"
        ends = move_span(*((span.top, span.bottom) if rows else (span.left, span.right)), first, last, count)
        if ends is None:
            return None
        return Span(*ends, span.left, span.right) if rows else Span(span.top, span.bottom, *ends)

    return change_span


def shift_part(sheet: ServedSheet, dimension: str, strip: Span, first: int, last: int, count: int) -> SpanChange:
    """Return the change of spans when only cells in the columns, or rows, of a strip move: spans within the strip."""
    whole = shift(dimension, first, last, count)
    rows, columns = sheet.grid.rows, sheet.grid.columns
    inner = strip.on(rows, columns)

    def change_span(span: Span) -> Span | None:
        area = span.on(rows, columns)
        if dimension == "ROWS":
            inside = inner.left <= area.left and area.right <= inner.right
        else:
            inside = inner.top <= area.top and area.bottom <= inner.bottom
        return whole(span) if inside else span

    return change_span


def reorder(dimension: str, start: int, stop: int, before: int) -> SpanChange:
    """Return the change of spans when the rows or columns `start` to `stop` are put before another one.

    A span within them moves with them. From any other span they are deleted, and then inserted where they arrive.
    """
    count = stop - start
    arrival = before if before <= start else before - count
    close, grow = shift(dimension, start, stop, 0), shift(dimension, arrival, arrival, count)

    def change_span(span: Span) -> Span | None:
        first, last = (span.top, span.bottom) if dimension == "ROWS" else (span.left, span.right)
        if first is not None and last is not None and start <= first and last <= stop:
            ends = first + arrival - start, last + arrival - start
            return Span(*ends, span.left, span.right) if dimension == "ROWS" else Span(span.top, span.bottom, *ends)
        closed = close(span)
        return None if closed is None else grow(closed)

    return change_span


def relocate(source: GridArea, down: int, right: int) -> SpanChange:
    """Return the change of spans when an area is cut and pasted so far down and right: spans within it move with it."""

    def change_span(span: Span) -> Span | None:
        if None in (span.top, span.bottom, span.left, span.right):
            return span
        area = GridArea(span.top or 0, span.bottom or 0, span.left or 0, span.right or 0)
        if not source.encloses(area):
            return span
        return Span(area.top + down, area.bottom + down, area.left + right, area.right + right)

    return change_span


def move_cells(spreadsheet: Spreadsheet, sheet: ServedSheet, change: SpanChange) -> None:
    """Change everything that refers to cells of a sheet, after they have moved as `change` says."""
    follow_in_formulas(spreadsheet, sheet, change)
    for named in spreadsheet.named.values():
        if named.sheet == sheet.id and named.span is not None:
            named.span = change(named.span)
    sheet.merges = [span for span in map(change, sheet.merges) if span is not None]
    for protected_id, protected in list(sheet.protected.items()):
        span = change(protected["range"])
        if span is None:
            del sheet.protected[protected_id]
        else:
            sheet.protected[protected_id] = _move_entry(protected, sheet.id, change) | {"range": span}
    for other in spreadsheet.sheets:
        for name, entries in other.overlays.items():
            moved = [(entry, _move_entry(entry, sheet.id, change)) for entry in entries]
            other.overlays[name] = [new for old, new in moved if not _lost_its_range(old, new)]
    if sheet.basic_filter is not None:
        sheet.basic_filter = _move_entry(sheet.basic_filter, sheet.id, change)
        if "range" not in sheet.basic_filter:
            sheet.basic_filter = None


def follow_in_formulas(
    spreadsheet: Spreadsheet, sheet: ServedSheet, change: SpanChange, target: ServedSheet | None = None
) -> None:
    """Change the references of all formulas to cells that have moved, to another sheet (`target`) if one is given."""
    title = target.title if target is not None and target is not sheet else None
    _rewrite_formulas(spreadsheet, lambda home, text: follow(text, home.title, sheet.title, change, title))


def retitle_in_formulas(spreadsheet: Spreadsheet, old: str, new: str | None) -> None:
    """Put the new title of a sheet into all formulas that refer to it; None, for a deleted sheet, makes them #REF!."""
    _rewrite_formulas(spreadsheet, lambda _, text: retitle(text, old, new))


def translate_conditions(entry: Any, down: int, right: int) -> Any:
    """Return a rule after a copy so far down and right: its formulas refer to cells so far away too."""
    return _map_conditions(entry, lambda text: translate(text, down, right))


def with_sheet(entry: Any, old: int, new: int) -> Any:
    """Return an entry whose ranges on the sheet of the id `old` are on the sheet `new` instead."""
    if isinstance(entry, list):
        return [with_sheet(item, old, new) for item in entry]
    if not isinstance(entry, dict):
        return entry
    if _ENDS & entry.keys() or {"rowIndex", "columnIndex"} & entry.keys() or "sheetId" in entry:
        return entry | {"sheetId": new} if entry.get("sheetId", 0) == old else entry
    return {name: with_sheet(part, old, new) for name, part in entry.items()}


def _rewrite_formulas(spreadsheet: Spreadsheet, rewritten: Callable[[ServedSheet, str], str]) -> None:
    """Change all formulas of a spreadsheet: those in cells, in validation, and in conditional formats.

    `rewritten` is called with the sheet of a formula and its text, and returns the new text.
    """
    for home in spreadsheet.sheets:
        change = partial(rewritten, home)
        home.grid.rewrite_formulas(change)
        home.grid.rewrite_validation(partial(_map_conditions, change=change))
        for name, entries in home.overlays.items():
            home.overlays[name] = [_map_conditions(entry, change) for entry in entries]


def _map_conditions(entry: Any, change: Callable[[str], str]) -> Any:
    """Return an entry whose formulas, in the values of conditions, are changed."""
    if isinstance(entry, list):
        return [_map_conditions(item, change) for item in entry]
    if not isinstance(entry, dict):
        return entry
    return {
        name: change(part)
        if name == "userEnteredValue" and isinstance(part, str) and part.startswith("=")
        else _map_conditions(part, change)
        for name, part in entry.items()
    }


def _move_entry(entry: Any, sheet_id: int, change: SpanChange) -> Any:
    """Return an entry in which the GridRanges and GridCoordinates on a sheet are changed.

    A GridRange of which nothing is left is taken out of the entry; `_GONE` if the entry itself is one.
    """
    if isinstance(entry, list):
        return [part for part in (_move_entry(item, sheet_id, change) for item in entry) if part is not _GONE]
    if not isinstance(entry, dict):
        return entry
    if _ENDS & entry.keys():
        if entry.get("sheetId", 0) != sheet_id:
            return entry
        span = change(Span.from_json(entry))
        return _GONE if span is None else _with_span(entry, span)
    if {"rowIndex", "columnIndex"} & entry.keys() and entry.get("sheetId", 0) == sheet_id:
        row, column = entry.get("rowIndex", 0), entry.get("columnIndex", 0)
        span = change(Span(row, row + 1, column, column + 1))
        ends = {} if span is None else {"rowIndex": span.top or 0, "columnIndex": span.left or 0}
        return entry | ends
    parts = ((name, _move_entry(part, sheet_id, change)) for name, part in entry.items())
    return {name: part for name, part in parts if part is not _GONE}


def _with_span(grid_range: Json, span: Span) -> Json:
    """Return a GridRange with the ends of a span, its other fields as they were."""
    return {name: part for name, part in grid_range.items() if name not in _ENDS} | {
        name: end for name, end in span.json(0).items() if name in _ENDS
    }


def _lost_its_range(old: Json, new: Json) -> bool:
    """Return whether all cells that an entry is about have been deleted."""
    return ("range" in old and "range" not in new) or bool(old.get("ranges") and not new.get("ranges"))
