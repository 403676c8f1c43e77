"""Putting what stands on the stage into place: one batch, which changes everything or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from .address import Rect
from .changes import Requests, Swap, bold, cleared, named_range, properties, resized
from .plan import Plan
from .stage import Stage
from .state import Worksheet


def renaming(plan: Plan, stage: Stage, title: str) -> tuple[Requests, Swap]:
    """The stage becomes the worksheet: refused where one of the title is there."""
    seen = stage.found(plan.state)
    assert seen is not None
    swap = Swap(stage.gid, plan.state.generation(stage.gid), seen.notes, own=True)
    shown = {"title": title, "hidden": False}
    requests = [properties(stage.gid, shown, "title,hidden"), *finish(plan, stage.gid)]
    return swap.around(requests, stage.rows, stage.columns), swap


def copying(plan: Plan, stage: Stage, sheet: Worksheet) -> tuple[Requests, Swap]:
    """The cells of the stage are copied into the worksheet, and the stage is removed."""
    swap = Swap(sheet.gid, plan.state.generation(sheet.gid), sheet.notes, own=plan.own)
    copies = [
        {"copyPaste": {"source": source.grid(stage.gid), "destination": goal.grid(sheet.gid),
                       "pasteType": "PASTE_VALUES", "pasteOrientation": "NORMAL"}}
        for source, goal in _copies(plan)
    ]  # fmt: skip
    requests = [
        *resized(sheet, plan.rows, plan.columns),
        *(cleared(sheet.gid, rect) for rect in plan.cleared),
        *copies,
        *finish(plan, sheet.gid),
        *stage.removal(plan.state),
    ]
    return swap.around(requests, plan.rows, plan.columns), swap


def finish(plan: Plan, gid: int) -> Requests:
    """Named ranges, and the look of a worksheet of ours."""
    requests = [named_range(found.name, gid, found.rect, found.known) for found in plan.ranges]
    if plan.own:
        for row, column, width in _names(plan):
            requests.append(bold(gid, Rect(row, column, row + 1, column + width)))
    if plan.adopted:
        frozen = {"gridProperties": {"frozenRowCount": 1}}
        requests.append(properties(gid, frozen, "gridProperties.frozenRowCount"))
    return requests


def _names(plan: Plan) -> Iterator[tuple[int, int, int]]:
    """Row, first column and number of the name cells that are written."""
    named = sorted((place.row, place.column) for place in plan.places if place.named)
    for (row, _), group in groupby(enumerate(named), key=lambda pair: (pair[1][0], pair[1][1] - pair[0])):
        cells = [cell for _, cell in group]
        yield row, cells[0][1], len(cells)


def _copies(plan: Plan) -> Iterator[tuple[Rect, Rect]]:
    """From where on the stage to where in the worksheet; neighbours in blank columns go together."""
    fresh = [place for place in plan.places if place.nth in plan.fresh]
    for _, group in groupby(enumerate(fresh), key=lambda pair: pair[1].nth - pair[0]):
        places = [place for _, place in group]
        height, first = max(place.height for place in places), places[0]
        source = Rect(0, first.nth, height, first.nth + len(places))
        yield source, Rect(first.row, first.column, first.row + height, first.column + len(places))
    for place in plan.places:
        if place.nth not in plan.fresh:
            top = 0 if place.named else 1
            yield Rect(top, place.nth, top + place.height, place.nth + 1), place.cells
