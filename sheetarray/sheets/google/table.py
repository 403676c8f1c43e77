"""The place of a table: a worksheet of its own, which is made, blank, or ours to replace."""

from __future__ import annotations

from collections.abc import Collection

from ...columns import Layout
from ...errors import LimitError, locating
from .address import Rect
from .content import fetch_content, find_filled, overwrite_error
from .plan import ColumnPlace, WritePlan, check_cells
from .requests import SheetsApi
from .state import State, Worksheet


def plan_table(
    service: SheetsApi,
    state: State,
    stage: int,
    sheet: Worksheet,
    layout: Layout,
    limit: int,
    blocked: Collection[str],  # noqa: ARG001  (a table gives no names to ranges)
    *,
    replacing: bool,
) -> WritePlan:
    """Return the plan that writes a table to a worksheet that is there, in the place of everything in it.

    Args:
        service: the spreadsheet.
        state: of it.
        stage: the id of the write's own stage.
        sheet: the worksheet.
        layout: the table.
        limit: the cells that a spreadsheet may have.
        blocked: names that ranges cannot have.
        replacing: whether what a write has left in the worksheet may go.

    Raises:
        FormatError: a merged cell is in the way.
        LimitError: the worksheet holds something that must not go, or would be too large.
        BusyError: somebody else writes to it, in place.
        ConflictError: it has changed meanwhile.
    """
    with locating(sheet=sheet.title):
        content = fetch_content(service, state, sheet)
        whole = Rect(0, 0, sheet.rows, sheet.columns)
        blank = content.blank and not any(find_filled(service, sheet, [whole], content.grid))
        if not blank:
            _check_replaceable(sheet, bool(content.arrays), replacing=replacing)
        for merge in sheet.merges:
            raise overwrite_error("a merged cell", merge.top, merge.left or 0, "the table")
    places = tuple(
        ColumnPlace.for_column(index, piece, 0, index, named=True) for index, piece in enumerate(layout.pieces)
    )
    rows, columns = max(layout.height, sheet.rows), max(len(places), sheet.columns)
    cleared = () if blank else (whole,)
    adopted = blank and not sheet.notes.own
    fresh = frozenset(range(len(places)))
    plan = WritePlan(
        state, stage, layout, sheet, places, fresh, cleared, rows, columns, True, adopted, (), content.grid
    )
    check_cells(plan.other_cells + rows * columns, limit, plan.other_cells)
    return plan


def _check_replaceable(sheet: Worksheet, arrays: bool, *, replacing: bool) -> None:
    """Refuse to replace what nobody wants to lose.

    Raises:
        LimitError: it is not a table of ours, or not to be replaced.
    """
    title = f"the worksheet {sheet.title!r}"
    if not replacing:
        raise LimitError(f"{title} is not blank: name another one, or if_sheet_exists='replace'")
    if arrays:
        raise LimitError(f"{title} holds arrays: name another one, or clear it")
    if not sheet.notes.own:
        raise LimitError(f"{title} was not written by sheetarray: name another one, or clear it")
