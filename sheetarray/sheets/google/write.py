"""One write from its plan to its end: at once, over a stage or in place; again, where others have changed something."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress

from ...adapters import Progress
from ...columns import Layout
from ...elements import Cell
from ...errors import DTypeError, FormatError, LimitError, RemoteError
from .address import SheetAddress
from .body import Chunk, make_chunks, small_columns
from .changes import TooHeavyError, apply_changes
from .commit import copy_stage, rename_stage
from .content import BusyError, ConflictError
from .direct import ChangedCellError, DirectWrite
from .holder import Holder
from .in_place import InPlaceWrite
from .placing import plan_for
from .plan import WritePlan, fresh_plan
from .read_back import find_change
from .requests import SheetsApi
from .retries import RefusedError, Retries
from .stage import Stage
from .state import MOST_CELLS, State, fetch_state

_MOST_CONFLICTS = 40  # with other writers
_MOST_LOST = 4
_CLEANING = 20.0  # seconds
_LONGEST_FOR_OTHERS = 120.0  # seconds that are waited for writers that may be dead

Planner = Callable[..., WritePlan]


def _never_stop(_: State) -> bool:
    return False


def _describe(holder: Holder | None, state: State) -> str:
    return holder.describe(state.now) if holder else ""


class Write:
    """A write of a layout: planned, carried out, and planned again where somebody else was faster.

    Args:
        service: the spreadsheet.
        address: which worksheet is meant.
        layout: what is written.
        report: told the cells written and the cells in all.
        make: how a plan for a worksheet that is there is made.
    """

    def __init__(
        self, service: SheetsApi, address: SheetAddress, layout: Layout, report: Progress, make: Planner = plan_for
    ) -> None:
        self.service, self.address, self.layout, self.make = service, address, layout, make
        self.chunks: list[Chunk] = []
        self.columns: list[list[Cell]] | None = None  # what is written at once; None for what needs a stage
        self.limit = MOST_CELLS
        self.blocked: set[str] = set()
        self.happened: Callable[[State], bool] = _never_stop
        self.plan: WritePlan | None = None  # the last one, which the write has followed once it is done
        self._done, self._report, self._for_others = 0, report, 0.0

    def run(self) -> int:
        """Write everything; return the id of the worksheet."""
        plan = self.make_plan(-1)
        self.chunks = make_chunks(self.layout)  # whatever no cell can hold is found before anything is written
        self.gid = plan.sheet.gid if plan.sheet else -1
        with Holder(plan.state.now) as holder:
            stage = Stage(self.service, self.layout, holder)
            self.columns = small_columns(self.layout, self.chunks)
            try:
                self._carry_out(plan, stage, holder)
            except RemoteError:
                if not self._clean_up(stage):
                    raise
            except BaseException:
                self._clean_up(stage)
                raise
        return self.gid

    def _carry_out(self, plan: WritePlan, stage: Stage, holder: Holder) -> None:
        conflicts = 0
        while True:
            try:
                if self.columns is not None and (plan.sheet is None or plan.grid is not None):
                    self._write_at_once(plan, self.columns)
                    return
                if not self._has_room(plan, stage):
                    if not all(piece.header for piece in self.layout.pieces):
                        cells = plan.peak_cells(stage.cells)
                        raise LimitError(f"{cells:,} cells are needed while it is written, of at most {self.limit:,}")
                    self._write_in_place(plan, stage, holder)
                    return
                if stage.is_ready(plan.state):
                    self._commit(plan, stage)
                    return
                if stage.lost >= _MOST_LOST:
                    raise RemoteError("the hidden sheet of this write is removed again and again")
                self._done = 0
                stage.make(plan.state)
                stage.fill(self.chunks, self.count_cells)
            except ConflictError:
                self._wait(conflicts := conflicts + 1, 2.0, "others change the spreadsheet")
            except TooHeavyError:
                self.columns = None
            except ChangedCellError:  # nothing of it is left; on a stage it may be kept
                self.columns, self.happened = None, _never_stop
            except RefusedError as refused:
                if self.columns is not None and (refused.status == 413 or "payload" in refused.message):
                    self.columns = None
                elif not self._learn_from(refused, plan):
                    self._wait(conflicts := conflicts + 1, 2.0, "others change the spreadsheet")
            plan = self.make_plan(stage.gid)

    def count_cells(self, cells: int) -> None:
        """Report progress: sending a cell counts half, comparing it the other half."""
        self._done += cells
        self._report(min(self._done // 2, self.layout.cell_count), self.layout.cell_count)

    # Deciding ------------------------------------------------------------------------------------------------

    def make_plan(self, stage: int) -> WritePlan:
        """Return a plan for the spreadsheet as it is now, once nobody else writes in place.

        Raises:
            RemoteError: somebody else does for too long.
        """
        row = 0
        while True:
            state = fetch_state(self.service)
            sheet = state.select_worksheet(self.address.gid, self.address.title)
            if sheet is not None and sheet.view is not None:
                raise LimitError(
                    f"the worksheet {sheet.title!r:.80} is a view of {sheet.view.array!r:.80}, in which no array is "
                    "looked for: write to another one"
                )
            try:
                if sheet is None:
                    self.plan = fresh_plan(state, stage, self.layout, self.limit, self.blocked)
                else:
                    self.plan = self.make(self.service, state, stage, sheet, self.layout, self.limit, self.blocked)
                return self.plan
            except (FormatError, LimitError) as error:
                living = [sheet for sheet in state.living_stages() if sheet.gid != stage]
                if isinstance(error, LimitError) and living:
                    why = f"the hidden sheet of another write takes room: {_describe(living[0].holder, state)}"
                    self._wait(row := row + 1, 30.0, why, "if it is dead: sheetarray gsheets clean --all URL")
                elif state.differs(
                    fetch_state(self.service)
                ):  # what was in the way may have come while it was looked at
                    self._wait(row := row + 1, 1.0, "others change the worksheet")
                else:
                    raise
            except ConflictError:
                self._wait(row := row + 1, 1.0, "others change the worksheet")
            except BusyError as busy:
                why = f"another write is under way, since {busy.holder}: {busy.holder.describe(state.now)}"
                self._wait(row := row + 1, 30.0, why, "if it is dead, take over: sheetarray gsheets unlock URL")

    def _wait(self, row: int, most: float, why: str, hint: str = "") -> None:
        """Wait for others: longer each time, up to so many seconds; for one that may be dead not for long."""
        patience = self.service.patience
        seconds = min(0.1 * 2.0**row, most) * random.uniform(0.5, 1.0)  # noqa: S311  (no secret)
        self._for_others += seconds if hint else 0.0
        if row > _MOST_CONFLICTS or not patience.can_pause(seconds) or self._for_others > _LONGEST_FOR_OTHERS:
            raise RemoteError(f"{why}; given up after {patience.waited:.0f} seconds", hint=hint or "try again later")
        patience.pause(seconds, why)

    def _has_room(self, plan: WritePlan, stage: Stage) -> bool:
        return plan.peak_cells(stage.cells) <= self.limit

    def _learn_from(self, refused: RefusedError, plan: WritePlan) -> bool:
        """Return whether a refusal tells us a limit or a blocked name that the next plan can avoid.

        Raises:
            RemoteError: it has not.
        """
        if refused.limit is not None and refused.limit < self.limit:
            self.limit = refused.limit
            return True
        if plan.state.differs(fetch_state(self.service)):
            return False
        names = refused.names  # the service hides ranges whose cells are gone, but keeps their names: likely several
        if names and names[0] not in self.blocked:
            self.blocked.update(names[: 1 + len(self.blocked)])
            return True
        raise RemoteError(f"the service refuses the write: {refused.message}", status=refused.status) from None

    # Carrying out --------------------------------------------------------------------------------------------

    def _commit(self, plan: WritePlan, stage: Stage) -> None:
        if plan.sheet is None:
            requests, swap = rename_stage(plan, stage, self.address.title or "")
            self.gid = stage.gid
        else:
            requests, swap = copy_stage(plan, stage, plan.sheet)
            self.gid = plan.sheet.gid
        self.happened = swap.took_effect
        apply_changes(self.service, requests, swap.took_effect, confirmed=True)
        if plan.sheet is not None:
            difference = find_change(self.service, plan.sheet.title, plan.layout, plan.places, swap)
            if difference is not None:
                raise DTypeError(f"{difference}, though it kept it on the stage: write it again")

    def _write_at_once(self, plan: WritePlan, columns: list[list[Cell]]) -> None:
        writing = DirectWrite(self.service, self.layout, columns, plan, self.address.title or "")
        self.happened, self.gid = writing.has_happened, writing.gid
        writing.write()

    def _write_in_place(self, plan: WritePlan, stage: Stage, holder: Holder) -> None:
        if stage.find(plan.state):
            stage.remove(plan.state)
            raise ConflictError
        assert plan.sheet is not None
        self._done, self.gid = 0, plan.sheet.gid
        writing = InPlaceWrite(self.service, plan, plan.sheet, holder)
        self.happened = writing.has_happened
        writing.write(self.count_cells)

    def _clean_up(self, stage: Stage) -> bool:
        """Remove the stage after a failure, if that goes quickly; whether the write has happened after all."""
        if not stage.attempts and self.happened is _never_stop:
            return False
        until = time.monotonic() + _CLEANING
        self.service.patience = Retries(most_retries=3, most_waiting=8.0, timeout=_CLEANING)
        with suppress(RemoteError, RefusedError):
            for _ in range(3):
                state = fetch_state(self.service)
                if self.happened(state):
                    return True
                if not stage.find(state) or time.monotonic() > until:
                    return False
                with suppress(RefusedError):
                    stage.remove(state)
        return False
