"""Protected ranges, which users may not edit who are not among their editors; the owner may edit all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .errors import Json, invalid
from .grid import Formula
from .ranges import GridArea, Span
from .spreadsheet import ServedSheet, Spreadsheet

_REFUSAL = (
    "You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove protection "
    "if you need to edit."
)
_FOLLOWS = {"range", "unprotectedRanges"}  # parts of a protected range that change when its cells move


def can_edit(entry: Json, user: str | None) -> bool:
    """Return whether a user may edit a protected range; the user None is the owner."""
    editors = (entry.get("editors") or {}).get("users") or []
    return user is None or bool(entry.get("warningOnly")) or user in editors


@contextmanager
def protecting(spreadsheet: Spreadsheet, *, moves: bool = False) -> Iterator[None]:
    """Let a `with` block change a spreadsheet; undo it all if cells change that are protected from the user.

    Args:
        spreadsheet: which the block changes, for the user that it names.
        moves: whether the block may move cells: then formulas in protected ranges may be written otherwise, since they
            refer to cells elsewhere.

    Raises:
        ApiError: a protected range has changed.
    """
    user = spreadsheet.user
    if user is None or all(can_edit(entry, user) for _, entry in _entries(spreadsheet)):
        yield
        return
    before = spreadsheet.copy()
    yield
    after = {entry["protectedRangeId"]: (sheet, entry) for sheet, entry in _entries(spreadsheet)}
    for sheet, entry in _entries(before):
        if can_edit(entry, user):
            continue
        new = after.get(entry["protectedRangeId"])
        if new is None or _state(*new, moves=moves) != _state(sheet, entry, moves=moves):
            spreadsheet.become(before)
            raise invalid(_REFUSAL)


def _entries(spreadsheet: Spreadsheet) -> list[tuple[ServedSheet, Json]]:
    return [(sheet, entry) for sheet in spreadsheet.sheets for entry in sheet.protected.values()]


def _state(sheet: ServedSheet, entry: Json, *, moves: bool) -> Any:
    """Return the state of a protected range that must not change: its entry, its size, and the contents of its cells.

    The size is None if the range is a whole sheet, which may grow.
    """
    grid = sheet.grid
    span: Span = entry["range"]
    area = span.on(grid.rows, grid.columns)
    free = [Span.from_json(part).on(grid.rows, grid.columns) for part in entry.get("unprotectedRanges") or []]
    whole = span.bottom is None and span.right is None
    size = None if whole else (area.height, area.width)
    return {name: part for name, part in entry.items() if name not in _FOLLOWS}, size, _cells(sheet, area, free, moves)


def _cells(sheet: ServedSheet, area: GridArea, free: list[GridArea], moves: bool) -> list[Any]:
    """Return the values and marks in an area but for its unprotected ranges; if `moves`, any formula is the same."""
    cells: list[Any] = []
    for column in range(area.left, area.right):
        values = sheet.grid.column(column, area.top, area.bottom)
        runs = sheet.grid.marks_of(column)
        for row, value in enumerate(values, area.top):
            shown = Formula if moves and isinstance(value, Formula) else value
            if value is not None and not _is_free(free, row, column):
                cells.append((row - area.top, column - area.left, type(shown), shown))
        for start, stop, mark in runs.runs_between(area.top, area.bottom) if runs else ():
            cells += [
                (row - area.top, column - area.left, mark)
                for row in range(start, stop)
                if mark and not _is_free(free, row, column)
            ]
    return cells


def _is_free(free: list[GridArea], row: int, column: int) -> bool:
    """Return whether a cell of a protected range lies in one of its unprotected ranges."""
    return any(area.holds(row, column) for area in free)
