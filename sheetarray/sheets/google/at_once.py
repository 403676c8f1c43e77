"""Small writes: one atomic request, which proves what stood there before it and shows what stands there after it.

If the service keeps a cell as something else, the request is taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from ...errors import RemoteError
from .address import ALL_COLUMNS, ALL_ROWS, Rect, join_columns, range_on_sheet
from .changes import (
    Requests,
    Swap,
    add_group,
    apply_changes,
    claim_range,
    collapse,
    delete_group,
    freeze_rows,
    put_named_range,
    resize_sheet,
    update_cells,
)
from .grid_cells import cells_after
from .named_ranges import PlacedColumn
from .plan import WritePlan
from .requests import Answer, SheetsApi, pack
from .retries import ChangedError, RefusedError
from .stage import group_fresh, list_rewritten, remains_requests, sheet_requests
from .state.records import TableRecord
from .state.spreadsheet import State, Worksheet, fetch_state
from .tables.records import put_record
from .worksheet import CELLS_A_REQUEST, fetch_values

_ATTEMPTS = 3  # after which cells that the service fails at go over a stage, in small requests


@dataclass(frozen=True, slots=True)
class SheetChange:
    """The changes of one batch in one worksheet."""

    swap: Swap  # by which the batch takes effect once
    title: str  # of the worksheet
    columns: Sequence[PlacedColumn]  # that go into it
    requests: Requests  # the changes, without the swap
    size: tuple[int, int]  # rows and columns of the grid after them
    restore: Callable[[], Iterator[Answer]]  # yields the requests that put back the cells that they may change
    record: TableRecord = field(default_factory=TableRecord)  # of its tables before, with its text


def write_at_once(service: SheetsApi, state: State, plans: Sequence[WritePlan], swaps: Sequence[Swap]) -> str | None:
    """Write all cells of some plans by one batch, given the swap of each worksheet: `write_checked`."""
    changes = [_plan_change(plan, swap) for plan, swap in zip(plans, swaps, strict=True)]
    first = remains_requests(state, list_rewritten(plans))
    return write_checked(service, state, changes, first, attempts=_ATTEMPTS, hint="write it again")


def _plan_change(plan: WritePlan, swap: Swap) -> SheetChange:
    gid = swap.gid
    grid = {"rowCount": plan.rows, "columnCount": plan.columns}
    new: Answer = {"addSheet": {"properties": {"sheetId": gid, "title": plan.title, "gridProperties": grid}}}
    groups = [*group_fresh(plan), *([placed] for placed in plan.placed_columns if not placed.named)]
    requests = sheet_requests(plan, gid, new, [_put_block(gid, group) for group in groups])

    def restore() -> Iterator[Answer]:
        sheet, grid = plan.sheet, plan.grid
        assert sheet is not None
        assert grid is not None
        touched = [placed.cells for placed in plan.placed_columns] + [*plan.cleared]
        touched += [rect for standing in plan.lowered for rect in (standing.name_cell, standing.above) if rect]
        touched += [
            Rect(plan.rows, 0, ALL_ROWS, ALL_COLUMNS),
            Rect(0, plan.columns, ALL_ROWS, ALL_COLUMNS),
        ]  # what the grid may lose
        for rect in filter(None, (rect.clip(sheet.rows, sheet.columns) for rect in touched)):
            rows = list(zip(*grid.cells(rect), strict=True))
            yield update_cells(gid, rect.top, rect.left, rows, grid.formulas)

    record = plan.sheet.record if plan.sheet else TableRecord()
    return SheetChange(swap, plan.title, plan.placed_columns, requests, (plan.rows, plan.columns), restore, record)


def _put_block(gid: int, columns: Sequence[PlacedColumn]) -> Answer:
    """Return the request that puts neighbouring columns, which begin in one row, into their cells."""
    rows = [list(cells) for cells in zip_longest(*(placed.sent() for placed in columns), fillvalue="")]
    return update_cells(gid, columns[0].row, columns[0].column, rows)


def write_checked(
    service: SheetsApi,
    before: State,
    changes: Sequence[SheetChange],
    first: Sequence[Answer] = (),
    *,
    attempts: int | None = None,
    hint: str,
) -> str | None:
    """Make changes by one batch that begins with some requests; take it back if a cell is kept as something else.

    It returns a sentence about that cell; None if all are kept as they are.

    `before`: the spreadsheet before it. `hint`: what people do if the changes could not be taken back.

    Raises:
        RefusedError: the service refuses, perhaps since somebody else was faster; nothing has been changed.
        RemoteError: the service does not answer, or what it did not keep could not be taken back.
    """
    happened = changes[0].swap.took_effect  # one batch makes all of them
    requests = [request for change in changes for request in change.swap.wrap(change.requests, *change.size)]
    shown = [
        range_on_sheet(change.title, rect)
        for change in changes
        for rect in join_columns(column.cells for column in change.columns)
    ]
    answer = apply_changes(service, [*first, *requests], happened, shown=shown, attempts=attempts)
    difference = _find_difference(service, changes, answer)
    if difference is not None:
        try:
            _take_back(service, before, changes)
        except (RefusedError, ChangedError):
            raise RemoteError(f"{difference}, and what was there could not be put back", hint=hint) from None
    return difference


def _find_difference(service: SheetsApi, changes: Sequence[SheetChange], answer: Answer | None) -> str | None:
    """Return the first cell that the service has changed, as its answer shows, or a request that reads them."""
    for change in changes:
        grid = cells_after(answer, change.swap.gid) if answer else None
        if grid is None:
            difference = find_change(service, change.title, change.columns, change.swap)
        else:
            differences = (placed.find_change(0, None, grid.cells(placed.cells)[0]) for placed in change.columns)
            difference = next(filter(None, differences), None)
        if difference is not None:
            return difference
    return None


def _take_back(service: SheetsApi, before: State, changes: Sequence[SheetChange]) -> None:
    """Make the spreadsheet what it was before some changes, by one batch.

    Raises:
        ChangedError, RefusedError: somebody else has written since.
    """
    requests: Requests = []
    swaps: list[Swap] = []
    gone = []
    after = fetch_state(service)
    for change in changes:
        gid = change.swap.gid
        old, now, generation = before.by_id(gid), after.by_id(gid), after.generation(gid)
        if now is None or not change.swap.is_last(after):
            raise ChangedError
        restored = [*_restore_ranges(before, after, gid)]
        if old is None:
            gone.append(gid)
            requests += [*(claim_range(generation) if generation else ()), *restored, {"deleteSheet": {"sheetId": gid}}]
            if now.record.gid is not None:
                requests.append({"deleteSheet": {"sheetId": now.record.gid}})
        else:
            swaps.append(Swap(after, gid, own=old.notes.own))
            restored += _restore_sheet(old, now, change)
            requests += swaps[-1].wrap(restored, old.rows, old.columns, last=before.generation(gid) is None)

    def happened(state: State) -> bool:
        return not any(map(state.by_id, gone)) and all(swap.took_effect(state) for swap in swaps)

    apply_changes(service, requests, happened)


def _restore_ranges(before: State, after: State, gid: int) -> Iterator[Answer]:
    """Yield the requests that make the named ranges of a worksheet what they were, but for its generation."""
    old = {named.id: named for named in before.ranges}
    generation = after.generation(gid)
    for named in after.ranges:
        if named.gid != gid or named == generation:
            continue
        if named.id not in old:
            yield {"deleteNamedRange": {"namedRangeId": named.id}}
        elif (rect := old[named.id].rect) not in (None, named.rect):
            yield put_named_range(named.name, gid, rect, named)


def _restore_sheet(old: Worksheet, now: Worksheet, change: SheetChange) -> Iterator[Answer]:
    """Yield the requests that make a worksheet what it was: its size, cells, groups, frozen rows.

    The formats that the write has set are removed; widths of columns stay.
    """
    gid = old.gid
    largest = replace(now, rows=max(old.rows, now.rows), columns=max(old.columns, now.columns))
    yield from resize_sheet(now, largest.rows, largest.columns)
    yield from change.restore()
    for request in change.requests:
        if "repeatCell" in request and request["repeatCell"]["fields"] != "userEnteredValue":
            yield {"repeatCell": {**request["repeatCell"], "cell": {}}}
    was = {(group.dimension, group.start, group.end, group.depth): group for group in old.groups}
    for group in now.groups:
        earlier = was.pop((group.dimension, group.start, group.end, group.depth), None)
        if earlier is None:
            yield from delete_group(gid, group)
        elif earlier != group:
            yield collapse(gid, earlier, collapsed=earlier.collapsed)
    for earlier in was.values():
        yield from add_group(gid, earlier)
    if now.record != old.record:
        yield from put_record(now.record, gid, change.record.text)
        if now.record.gid is not None:
            yield {"deleteSheet": {"sheetId": now.record.gid}}
    if now.frozen != old.frozen:
        yield freeze_rows(gid, old.frozen)
    yield from resize_sheet(largest, old.rows, old.columns)


def find_change(service: SheetsApi, title: str, columns: Sequence[PlacedColumn], swap: Swap) -> str | None:
    """Fetch columns of a worksheet, and return the first cell that is not what a write has put there.

    Nothing is compared once somebody else has written: what stands there is theirs.
    """
    runs = (
        ((placed, start, stop), stop - start)
        for placed in columns
        for height in [placed.cells.bottom - placed.row]
        for start in range(0, height, CELLS_A_REQUEST)
        for stop in [min(start + CELLS_A_REQUEST, height)]
    )
    for batch in pack(runs, CELLS_A_REQUEST):
        rects = [Rect(p.row + start, p.column, p.row + stop, p.column + 1) for p, start, stop in batch]
        try:
            fetched = list(fetch_values(service, [(title, rect) for rect in rects]))
        except ChangedError:  # it has been renamed, removed or cut off: by somebody else
            return None
        for (placed, start, stop), cells_back in zip(batch, fetched, strict=True):
            difference = placed.find_change(start, stop, cells_back[0] if cells_back else [])
            if difference is not None:
                return difference if swap.is_last(fetch_state(service)) else None
    return None
