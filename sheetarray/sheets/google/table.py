"""Plans the write of a table to a worksheet that exists: it must be blank, or hold a table that may be replaced."""

from __future__ import annotations

from collections.abc import Collection

from ...columns import Layout
from ...errors import LimitError, locating
from .address import Rect
from .content import fetch_content, find_filled, overwrite_error
from .plan import PlacedColumn, WritePlan, check_cells
from .requests import SheetsApi
from .state import State, Worksheet


def plan_table(
    service: SheetsApi,
    state: State,
    stage: int,
    sheet: Worksheet,
    layout: Layout,
    limit: int,
    blocked: Collection[str],  # noqa: ARG001  (a table has no named ranges)
    *,
    replacing: bool,
) -> WritePlan:
    """Return the plan that replaces all cells of a worksheet with a table.

    Args:
        service: the spreadsheet.
        state: the state of the spreadsheet.
        stage: the id of the write's own stage.
        sheet: the worksheet.
        layout: the table.
        limit: the number of cells that a spreadsheet may have.
        blocked: names that ranges cannot have; not used, since the columns of a table get no named ranges.
        replacing: whether a table that this package has written to the worksheet may be replaced.

    Raises:
        FormatError: the worksheet has a merged cell.
        LimitError: the worksheet holds something that must not be replaced, or the spreadsheet would be too large.
        ConflictError: the worksheet has changed since its state was fetched.
    """
    with locating(sheet=sheet.title):
        content = fetch_content(service, sheet)
        whole = Rect(0, 0, sheet.rows, sheet.columns)
        blank = content.blank and not any(find_filled(service, sheet, [whole], content.grid))
        if not blank:
            _check_replaceable(sheet, bool(content.arrays), replacing=replacing)
        for merge in sheet.merges:
            raise overwrite_error("a merged cell", merge.top, merge.left or 0, "the table")
    placed_columns = tuple(
        PlacedColumn.for_column(index, piece, 0, index, named=True) for index, piece in enumerate(layout.pieces)
    )
    rows, columns = max(layout.height, sheet.rows), max(len(placed_columns), sheet.columns)
    cleared = () if blank else (whole,)
    adopted = blank and not sheet.notes.own
    fresh = frozenset(range(len(placed_columns)))
    plan = WritePlan(
        state, stage, layout, sheet, placed_columns, fresh, cleared, rows, columns, True, adopted, (), content.grid
    )
    check_cells(plan.other_cells + rows * columns, limit, plan.other_cells)
    return plan


def _check_replaceable(sheet: Worksheet, arrays: bool, *, replacing: bool) -> None:
    """Refuse to replace the cells of a worksheet unless they are a table of ours, and replacing is asked for.

    Args:
        sheet: the worksheet, which is not blank.
        arrays: whether arrays stand in it.
        replacing: whether its cells may be replaced.

    Raises:
        LimitError: the cells must stay.
    """
    title = f"the worksheet {sheet.title!r}"
    if not replacing:
        raise LimitError(f"{title} is not blank: name another one, or if_sheet_exists='replace'")
    if arrays:
        raise LimitError(f"{title} holds arrays: name another one, or clear it")
    if not sheet.notes.own:
        raise LimitError(f"{title} was not written by sheetarray: name another one, or clear it")
