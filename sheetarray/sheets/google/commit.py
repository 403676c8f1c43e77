"""Putting what stands on the stage into place: one batch, which changes everything or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from ...columns import Layout
from .address import Rect
from .appearance import look_requests
from .changes import Requests, Swap, change_properties, clear_cells, put_named_range, resize_sheet, update_cells
from .content import StandingArray
from .plan import PlacedColumn, WritePlan
from .stage import Stage
from .state import Worksheet


def rename_stage(plan: WritePlan, stage: Stage, title: str) -> tuple[Requests, Swap]:
    """Return the batch by which the stage becomes the worksheet; it is refused if a worksheet has the title already."""
    seen = stage.find(plan.state)
    assert seen is not None
    swap = Swap(stage.gid, plan.state.generation(stage.gid), seen.notes, own=True)
    shown = {"title": title, "hidden": False}
    requests = [change_properties(stage.gid, shown, "title,hidden"), *finishing_requests(plan, stage.gid)]
    return swap.wrap(requests, stage.rows, stage.columns), swap


def copy_stage(plan: WritePlan, stage: Stage, sheet: Worksheet) -> tuple[Requests, Swap]:
    """Return the batch by which the cells of the stage are copied into the worksheet, and the stage is removed."""
    swap = Swap(sheet.gid, plan.state.generation(sheet.gid), sheet.notes, own=plan.own)
    copies = [
        {
            "copyPaste": {
                "source": source.to_grid_range(stage.gid),
                "destination": goal.to_grid_range(sheet.gid),
                "pasteType": "PASTE_VALUES",
                "pasteOrientation": "NORMAL",
            }
        }
        for source, goal in _copy_ranges(plan, stage.layout)
    ]
    requests = [
        *resize_sheet(sheet, plan.rows, plan.columns),
        *(clear_cells(sheet.gid, rect) for rect in plan.cleared),
        *copies,
        *finishing_requests(plan, sheet.gid),
        *stage.removal_requests(plan.state),
    ]
    return swap.wrap(requests, plan.rows, plan.columns), swap


def finishing_requests(plan: WritePlan, gid: int) -> Requests:
    """Return the requests for names, named ranges, and the look of a worksheet of ours."""
    requests = [change for standing in plan.lowered for change in _lower_name(gid, standing)]
    requests += [put_named_range(range_.name, gid, range_.rect, range_.known) for range_ in plan.ranges]
    return [*requests, *look_requests(plan, gid)] if plan.own else requests


def _lower_name(gid: int, standing: StandingArray) -> Requests:
    """Return the requests that put the name of an array right above its header."""
    assert standing.name_cell is not None
    goal = standing.above
    return [clear_cells(gid, standing.name_cell), update_cells(gid, goal.top, goal.left or 0, [[standing.anchor.name]])]


def _copy_ranges(plan: WritePlan, staged: Layout) -> Iterator[tuple[Rect, Rect]]:
    """Yield ranges on the stage, each with its range in the worksheet; neighbours in blank columns go together."""
    for group in group_fresh(plan):
        alike = all(plan.layout.pieces[placed.index].blanks == staged.pieces[placed.index].blanks for placed in group)
        height, first = max(placed.height for placed in group) if alike else 1, group[0]
        source = Rect(0, first.index, height, first.index + len(group))
        yield source, Rect(first.row, first.column, first.row + height, first.column + len(group))
        if not alike:
            yield from (_copy_below_name(plan, staged, placed) for placed in group)
    for placed in plan.placed_columns:
        if placed.index not in plan.fresh:
            yield _copy_below_name(plan, staged, placed)


def _copy_below_name(plan: WritePlan, staged: Layout, placed: PlacedColumn) -> tuple[Rect, Rect]:
    """Return the cells of the header and elements of a column on the stage, and those that they go to."""
    skipped = staged.named + staged.pieces[placed.index].blanks
    top = placed.row + (staged.named + plan.layout.pieces[placed.index].blanks if placed.named else 0)
    bottom = placed.cells.bottom or 0
    source = Rect(skipped, placed.index, skipped + bottom - top, placed.index + 1)
    return source, Rect(top, placed.column, bottom, placed.column + 1)


def group_fresh(plan: WritePlan) -> Iterator[list[PlacedColumn]]:
    """Yield the placed columns that go to blank columns of the worksheet, neighbours together."""
    fresh = [placed for placed in plan.placed_columns if placed.index in plan.fresh]
    for _, group in groupby(enumerate(fresh), key=lambda pair: pair[1].index - pair[0]):
        yield [placed for _, placed in group]
