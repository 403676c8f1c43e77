"""Small writes: one atomic request, which proves what stood there before it and shows what stands there after it.

If the service keeps a cell as something else, the request is taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from ...elements import Cell
from ...errors import RemoteError
from .address import Rect, range_on_sheet
from .changes import (
    Requests,
    Swap,
    apply_changes,
    claim,
    clear_cells,
    collapse,
    delete_group,
    freeze_rows,
    put_named_range,
    resize_sheet,
    update_cells,
)
from .content import GridCells, cells_after
from .plan import CellDifference, PlacedColumn, WritePlan
from .requests import Answer, SheetsApi, pack
from .retries import RefusedError
from .spreadsheet_state import State, fetch_state, parse_rect
from .stage import finishing_requests, group_fresh, remains_requests
from .worksheet import CELLS_A_REQUEST, fetch_values

_HEAVY = 2_000_000  # bytes that the service recommends at most; more is tried less often
_ATTEMPTS = 3


class ChangedCellError(Exception):
    """The service keeps a cell as something else.

    Attributes:
        difference: the cell, the value that was sent and the one that is kept.
        undone: whether what was there stands again; False if somebody else has written since.
    """

    def __init__(self, difference: CellDifference, *, undone: bool) -> None:
        super().__init__(str(difference))
        self.difference, self.undone = difference, undone


def write_at_once(service: SheetsApi, plan: WritePlan, swap: Swap, title: str) -> None:
    """Write all cells of a plan by one batch.

    Raises:
        RefusedError, TooHeavyError, ChangedCellError, RemoteError: as `CheckedBatch.write`.
    """
    gid = swap.gid
    groups = [*group_fresh(plan), *([placed] for placed in plan.placed_columns if not placed.named)]
    blocks = [_join_block(group) for group in groups]
    if plan.sheet is None:
        grid = {"rowCount": plan.rows, "columnCount": plan.columns}
        first: Requests = [{"addSheet": {"properties": {"sheetId": gid, "title": title, "gridProperties": grid}}}]
    else:
        first = resize_sheet(plan.sheet, plan.rows, plan.columns)
    requests = [
        *remains_requests(plan.state),
        *first,
        *(clear_cells(gid, rect) for rect in plan.cleared),
        *(update_cells(gid, rect.top, rect.left or 0, rows) for rect, rows in blocks),
        *finishing_requests(plan, gid),
    ]
    heavy = sum(len(placed.piece.buffer) for placed in plan.placed_columns) * 60 > _HEAVY
    batch = CheckedBatch(service, plan.state, swap, title, plan.placed_columns, plan.grid or GridCells())
    batch.write(
        requests,
        (plan.rows, plan.columns),
        shown=[rect for rect, _ in blocks],
        attempts=_ATTEMPTS if heavy else None,
        hint="write it again",
    )


def _join_block(columns: Sequence[PlacedColumn]) -> tuple[Rect, list[list[Cell]]]:
    """Return the range of neighbouring columns that begin in one row, and its rows of cells."""
    sent = [placed.sent() for placed in columns]
    height, first = max(map(len, sent)), columns[0]
    padded = [[*cells, *[""] * (height - len(cells))] for cells in sent]
    rect = Rect(first.row, first.column, first.row + height, first.column + len(columns))
    return rect, [list(row) for row in zip(*padded, strict=True)]


class CheckedBatch:
    """A batch of changes that puts columns into a worksheet, and is taken back if a cell is kept as something else.

    `before`: the spreadsheet before it. `title`: of the worksheet. `grid`: the cells that stood where it writes.
    """

    def __init__(
        self,
        service: SheetsApi,
        before: State,
        swap: Swap,
        title: str,
        columns: Sequence[PlacedColumn],
        grid: GridCells,
    ) -> None:
        self._service, self._before, self._swap, self._title = service, before, swap, title
        self._columns, self._grid = columns, grid
        self._old = before.by_id(swap.gid)

    def write(
        self, requests: Requests, size: tuple[int, int], *, shown: Sequence[Rect], attempts: int | None, hint: str
    ) -> None:
        """Make the changes, after which the grid has a size, and compare the cells in the ranges that are shown.

        `hint`: what people do if the changes could not be taken back.

        Raises:
            RefusedError: the service refuses, perhaps since somebody else was faster; nothing has been changed.
            TooHeavyError: the service fails at so large a request.
            ChangedCellError: the service does not keep a cell as it is.
            RemoteError: the service does not answer, or what it did not keep could not be taken back.
        """
        service, swap = self._service, self._swap
        ranges = [range_on_sheet(self._title, rect) for rect in shown]
        answer = apply_changes(service, swap.wrap(requests, *size), swap.took_effect, shown=ranges, attempts=attempts)
        difference = self._find_change(answer)
        if difference is None:
            return
        undone, after = False, fetch_state(service)
        if swap.is_last(after):
            with suppress(RefusedError):
                again, undoing = self._undo_requests(after, requests)
                apply_changes(service, undoing, lambda state: again is None or again.took_effect(state))
                undone = True
            if not undone and swap.is_last(fetch_state(service)):
                raise RemoteError(f"{difference}, and what was there could not be put back", hint=hint)
        raise ChangedCellError(difference, undone=undone)

    def _find_change(self, answer: Answer | None) -> CellDifference | None:
        """Return the first cell that the service has changed, as its answer shows, or a request that reads them."""
        grid = cells_after(answer, self._swap.gid) if answer else None
        if grid is None:
            return find_change(self._service, self._title, self._columns, self._swap)
        changes = (placed.find_change(0, None, grid.cells(placed.cells)[0]) for placed in self._columns)
        return next(filter(None, changes), None)

    # Taking back ---------------------------------------------------------------------------------------------

    def _undo_requests(self, after: State, requests: Requests) -> tuple[Swap | None, Requests]:
        """Return the batch that takes the changes back, and by what it is recognised; None if the worksheet goes."""
        gid, old = self._swap.gid, self._old
        generation, now = after.generation(gid), after.by_id(gid)
        inverse = [undoing for request in reversed(requests) for undoing in self._inverse(request, after)]
        if old is None:
            taken = claim(generation) if generation else []
            return None, [*taken, *inverse, {"deleteSheet": {"sheetId": gid}}]
        assert now is not None
        largest = replace(now, rows=max(old.rows, now.rows), columns=max(old.columns, now.columns))
        inverse = [
            *resize_sheet(now, largest.rows, largest.columns),
            *inverse,
            *resize_sheet(largest, old.rows, old.columns),
        ]
        swap = Swap(gid, generation, now.notes, own=old.notes.own)
        first = self._before.generation(gid) is None
        return swap, swap.wrap(inverse, old.rows, old.columns, last=first)

    def _inverse(self, request: Answer, after: State) -> Iterator[Answer]:
        """Yield what undoes a request; sizes of the grid, and what nobody misses, are left as they are."""
        ((kind, body),) = request.items()
        gid, old = self._swap.gid, self._old
        if kind == "addNamedRange":
            name = body["namedRange"]["name"]
            ids = [named.id for named in after.ranges if named.name == name]
            yield from ({"deleteNamedRange": {"namedRangeId": known}} for known in ids)
        elif old is None:
            return
        elif kind == "updateNamedRange":
            known = next(named for named in self._before.ranges if named.id == body["namedRange"]["namedRangeId"])
            if known.rect:
                yield put_named_range(known.name, gid, known.rect, known)
        elif kind == "updateCells":
            row, column = body["start"]["rowIndex"], body["start"]["columnIndex"]
            width = max(len(line["values"]) for line in body["rows"])
            yield from self._old_cells(Rect(row, column, row + len(body["rows"]), column + width))
        elif kind == "repeatCell" and body["fields"] == "userEnteredValue":
            yield from self._old_cells(parse_rect(body["range"]))
        elif kind == "repeatCell":
            yield {"repeatCell": {**body, "cell": {}}}
        elif kind == "updateSheetProperties":
            grid = body["properties"]["gridProperties"]
            if "frozenRowCount" in grid:
                yield freeze_rows(gid, old.frozen)
            yield from self._old_cells(Rect(grid.get("rowCount", old.rows), 0, old.rows, old.columns))
            yield from self._old_cells(Rect(0, grid.get("columnCount", old.columns), old.rows, old.columns))
        elif kind == "addDimensionGroup":
            yield from delete_group(body["range"])
        elif kind == "deleteDimensionGroup":
            yield {"addDimensionGroup": body}
        elif kind == "updateDimensionGroup":
            lines, depth = body["dimensionGroup"]["range"], body["dimensionGroup"]["depth"]
            here = (lines["startIndex"], lines["endIndex"], depth)
            groups = old.groups if lines["dimension"] == "ROWS" else ()
            was = [rows.collapsed for rows in groups if (rows.start, rows.end, rows.depth) == here]
            yield from (collapse(lines, depth, collapsed=collapsed) for collapsed in was)

    def _old_cells(self, rect: Rect) -> Iterator[Answer]:
        """Yield the request that puts back what stood in a range."""
        assert self._old is not None
        inside = rect.clip(self._old.rows, self._old.columns)
        if inside is not None:
            rows = list(zip(*self._grid.cells(inside), strict=True))
            yield update_cells(self._swap.gid, inside.top, inside.left or 0, rows, self._grid.formulas)


def find_change(service: SheetsApi, title: str, columns: Sequence[PlacedColumn], swap: Swap) -> CellDifference | None:
    """Fetch columns of a worksheet, and return the first cell that is not what a write has put there.

    Nothing is compared once somebody else has written: what stands there is theirs.
    """
    runs = (
        ((placed, start, stop), stop - start)
        for placed in columns
        for height in [(placed.cells.bottom or 0) - placed.row]
        for start in range(0, height, CELLS_A_REQUEST)
        for stop in [min(start + CELLS_A_REQUEST, height)]
    )
    for batch in pack(runs, CELLS_A_REQUEST):
        rects = [Rect(p.row + start, p.column, p.row + stop, p.column + 1) for p, start, stop in batch]
        try:
            fetched = list(fetch_values(service, [(title, rect) for rect in rects]))
        except RefusedError:  # it has been renamed, removed or cut off: by somebody else
            return None
        for (placed, start, stop), kept in zip(batch, fetched, strict=True):
            difference = placed.find_change(start, stop, kept[0] if kept else [])
            if difference is not None:
                return difference if swap.is_last(fetch_state(service)) else None
    return None
