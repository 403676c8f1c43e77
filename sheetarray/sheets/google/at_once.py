"""Small writes: one atomic request, which proves what stood there before it and shows what stands there after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ...columns import Layout
from ...elements import Cell
from ...errors import RemoteError
from .address import Rect, range_on_sheet
from .appearance import undo_looks
from .changes import Requests, Swap, apply_changes, claim, clear_cells, put_named_range, resize_sheet, update_cells
from .content import GridCells, cells_after
from .plan import PlacedColumn, WritePlan
from .requests import SheetsApi
from .retries import RefusedError
from .sent_cells import CellDifference, find_change, to_difference
from .spreadsheet_state import State, WriteNotes, fetch_state
from .stage import finishing_requests, group_fresh, new_gid, remains_requests

_HEAVY = 2_000_000  # bytes that the service recommends at most; more is tried less often
_ATTEMPTS = 3


class ChangedCellError(Exception):
    """The service keeps a cell as something else; what was there stands again.

    Attributes:
        difference: the cell, the value that was sent and the one that is kept.
    """

    def __init__(self, difference: CellDifference) -> None:
        super().__init__(str(difference))
        self.difference = difference


class DirectWrite:
    """A write of one batch.

    `columns`: the cells of each column of it, as they stand on a sheet of their own. `plan`: where. `title`: of the
    worksheet, where it is to be made.

    Attributes:
        gid: of the worksheet.
    """

    def __init__(
        self, service: SheetsApi, layout: Layout, columns: list[list[Cell]], plan: WritePlan, title: str
    ) -> None:
        self._service, self._layout, self._plan = service, plan.layout, plan
        self._elements = [
            cells[layout.named + piece.above :] for piece, cells in zip(layout.pieces, columns, strict=True)
        ]
        sheet = plan.sheet
        self.gid, self._title = (sheet.gid, sheet.title) if sheet else (new_gid(), title)
        notes = sheet.notes if sheet else WriteNotes()
        self._swap = Swap(self.gid, plan.state.generation(self.gid), notes, own=plan.own)

    def has_happened(self, state: State) -> bool:
        """Return whether the batch took effect."""
        return self._swap.took_effect(state)

    def write(self) -> None:
        """Write everything.

        Raises:
            RefusedError: the service refuses, perhaps since somebody else was faster; nothing has been changed.
            TooHeavyError: the service fails at so large a request.
            ChangedCellError: the service does not keep a cell as it is.
            RemoteError: the service does not answer, or what it did not keep could not be put back.
        """
        blocks = list(self._blocks())
        requests = self._swap.wrap(self._requests(blocks), self._plan.rows, self._plan.columns)
        answer = apply_changes(
            self._service,
            requests,
            self._swap.took_effect,
            shown=[range_on_sheet(self._title, rect) for rect, _ in blocks],
            attempts=_ATTEMPTS if sum(map(len, self._elements)) * 60 > _HEAVY else None,
        )
        difference = self._compare(cells_after(answer, self.gid) if answer else None)
        if difference is not None:
            self._undo(difference)
            raise ChangedCellError(difference)

    # The batch -----------------------------------------------------------------------------------------------

    def _requests(self, blocks: list[tuple[Rect, list[list[Cell]]]]) -> Requests:
        plan, gid = self._plan, self.gid
        if plan.sheet is None:
            grid = {"rowCount": plan.rows, "columnCount": plan.columns}
            made = {"sheetId": gid, "title": self._title, "gridProperties": grid}
            first: Requests = [{"addSheet": {"properties": made}}]
        else:
            first = resize_sheet(plan.sheet, plan.rows, plan.columns)
        return [
            *remains_requests(plan.state),
            *first,
            *(clear_cells(gid, rect) for rect in plan.cleared),
            *(update_cells(gid, rect.top, rect.left or 0, rows) for rect, rows in blocks),
            *finishing_requests(plan, gid),
        ]

    def _blocks(self) -> Iterator[tuple[Rect, list[list[Cell]]]]:
        """Yield the cells that are written, in blocks: fresh neighbours together, and each replaced array."""
        for group in group_fresh(self._plan):
            columns = [self._cells_of(placed) for placed in group]
            height, first = max(map(len, columns)), group[0]
            padded = [[*cells, *[""] * (height - len(cells))] for cells in columns]
            rect = Rect(first.row, first.column, first.row + height, first.column + len(group))
            yield rect, [list(row) for row in zip(*padded, strict=True)]
        for placed in self._plan.placed_columns:
            if placed.index not in self._plan.fresh:
                yield placed.cells, [[cell] for cell in self._cells_of(placed)]

    def _cells_of(self, placed: PlacedColumn) -> list[Cell]:
        piece = self._layout.pieces[placed.index]
        return [*piece.cells_above(named=placed.named), *self._elements[placed.index]]

    # Comparing and undoing -----------------------------------------------------------------------------------

    def _compare(self, grid: GridCells | None) -> CellDifference | None:
        """Return the first cell that the service has changed, as its answer shows, or a request that reads them."""
        if grid is not None:
            for placed in self._plan.placed_columns:
                (cells,) = grid.cells(placed.cells)
                if difference := to_difference(self._layout, placed, 0, self._cells_of(placed), cells):
                    return difference
            return None
        return find_change(self._service, self._title, self._layout, self._plan.placed_columns, self._swap)

    def _undo(self, difference: CellDifference) -> None:
        """Put back what was there, unless somebody has written since."""
        state = fetch_state(self._service)
        if not self._swap.is_last(state):
            return
        with suppress(RefusedError):
            swap, requests = self._undo_requests(state)
            apply_changes(self._service, requests, lambda after: swap is None or swap.took_effect(after))
            return
        if self._swap.is_last(fetch_state(self._service)):
            raise RemoteError(f"{difference}, and what was there could not be put back", hint="write it again")

    def _undo_requests(self, state: State) -> tuple[Swap | None, Requests]:
        plan, gid = self._plan, self.gid
        added = {range_.name for range_ in plan.ranges if range_.known is None}
        removed: Requests = [
            {"deleteNamedRange": {"namedRangeId": named.id}}
            for named in state.ranges
            if named.gid == gid and named.name in added
        ]
        generation = state.generation(gid)
        if plan.sheet is None:
            taken = claim(generation) if generation else []
            return None, [*taken, *removed, {"deleteSheet": {"sheetId": gid}}]
        sheet = state.by_id(gid)
        assert sheet is not None
        swap = Swap(gid, generation, sheet.notes, own=plan.sheet.notes.own)
        requests = [
            *removed,
            *self._look_requests(),
            *self._old_cells(),
            *resize_sheet(sheet, plan.sheet.rows, plan.sheet.columns),
            *(
                put_named_range(range_.known.name, gid, range_.known.rect, range_.known)
                for range_ in plan.ranges
                if range_.known and range_.known.rect
            ),
        ]
        first = plan.state.generation(gid) is None
        return swap, swap.wrap(requests, plan.sheet.rows, plan.sheet.columns, last=first)

    def _look_requests(self) -> Requests:
        return undo_looks(self._plan, self.gid) if self._plan.own else []

    def _old_cells(self) -> Requests:
        plan = self._plan
        assert plan.grid is not None
        assert plan.sheet is not None
        rows, columns = min(plan.sheet.rows, plan.rows), min(plan.sheet.columns, plan.columns)
        requests: Requests = []
        names = [rect for standing in plan.lowered for rect in (standing.name_cell, standing.above) if rect]
        for rect in [*(placed.cells for placed in plan.placed_columns), *plan.cleared, *names]:
            inside = Rect(rect.top, rect.left, min(rect.bottom or 0, rows), min(rect.right or 0, columns))
            if inside.top >= (inside.bottom or 0) or (inside.left or 0) >= (inside.right or 0):
                continue
            block = list(zip(*plan.grid.cells(inside), strict=True))
            requests.append(update_cells(self.gid, inside.top, inside.left or 0, block, plan.grid.formulas))
        return requests
