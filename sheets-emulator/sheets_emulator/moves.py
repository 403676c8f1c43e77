"""What changes when cells move: references in formulas, named ranges, merges, protected ranges, and others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from .ranges import GridArea, Span
from .references import CellReference, rewrite
from .spreadsheet import ServedSheet, Spreadsheet

# Returns where the cells of a span are after a move: the very same object if they have not moved, None if all are gone
SpanChange = Callable[[Span], Span | None]


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
            protected["range"] = span
    rules = sheet.overlays.get("conditionalFormats", [])
    for rule in rules:
        moved = [change(Span.from_json(held)) for held in rule["ranges"]]
        rule["ranges"] = [span.json(sheet.id) for span in moved if span is not None]
    rules[:] = [rule for rule in rules if rule["ranges"]]
    if sheet.basic_filter is not None:
        span = change(Span.from_json(sheet.basic_filter["range"]))
        sheet.basic_filter = None if span is None else sheet.basic_filter | {"range": span.json(sheet.id)}


def follow_in_formulas(spreadsheet: Spreadsheet, sheet: ServedSheet, change: SpanChange) -> None:
    """Change the references of all formulas to cells of a sheet that have moved."""

    def change_reference(home: ServedSheet, reference: CellReference) -> CellReference | None:
        title = home.title if reference.title is None else reference.title
        span = change(reference.span) if title.casefold() == sheet.title.casefold() else reference.span
        return None if span is None else reference.at(span)

    _rewrite_formulas(spreadsheet, change_reference)


def retitle_in_formulas(spreadsheet: Spreadsheet, old: str, new: str | None) -> None:
    """Put the new title of a sheet into all formulas that refer to it; None, for a deleted sheet, makes them #REF!."""

    def change_reference(_: ServedSheet, reference: CellReference) -> CellReference | None:
        if reference.title is None or reference.title.casefold() != old.casefold():
            return reference
        return None if new is None else replace(reference, title=new)

    _rewrite_formulas(spreadsheet, change_reference)


def _rewrite_formulas(
    spreadsheet: Spreadsheet, change: Callable[[ServedSheet, CellReference], CellReference | None]
) -> None:
    """Change the references of the formulas in cells, by their sheet."""
    for home in spreadsheet.sheets:
        home.grid.rewrite_formulas(partial(rewrite, change=partial(change, home)))
