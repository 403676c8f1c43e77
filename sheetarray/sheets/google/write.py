"""`Write`, one write from its plan to its end: at once, or over a stage.

It is planned and carried out again where somebody else has changed the spreadsheet meanwhile.
"""

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
from .content import ConflictError
from .direct import ChangedCellError, DirectWrite
from .holder import Holder
from .placing import plan_for
from .plan import WritePlan, fresh_plan
from .read_back import find_change
from .requests import SheetsApi
from .retries import RefusedError, Retries
from .stage import Stage
from .state import MOST_CELLS, State, fetch_state

_MOST_CONFLICTS = 40  # times that others may change the spreadsheet before the write is given up
_MOST_LOST = 4  # times that others may remove the stage
_CLEANING = 20.0  # seconds that go at most into removing the stage of a write that has failed
_LONGEST_FOR_OTHERS = 120.0  # seconds that are waited at most for writers that may be dead

Planner = Callable[..., WritePlan]  # `placing.plan_for` or `table.plan_table`


def _never_happened(_: State) -> bool:
    """Return False: nothing was sent yet that could have taken effect."""
    return False


class Write:
    """A write of a layout: planned, carried out, and planned again where somebody else was faster.

    Args:
        service: the spreadsheet.
        address: of the worksheet.
        layout: the cells that are written.
        report: called with the number of cells written and the number of all cells.
        make: returns the plan for a worksheet that exists.

    Attributes:
        chunks: the cells as requests for a stage.
        columns: the cells of each column, if one batch can write them at once; None if they need a stage.
        limit: the number of cells that a spreadsheet may have; less than `MOST_CELLS` once the service has said so.
        blocked: names, in lower case, that the service refuses for named ranges.
        happened: returns whether a state shows that the last batch took effect.
        plan: the last plan; once the write is done, the one that it has followed.
        gid: the id of the worksheet, once `run` has returned.
    """

    def __init__(
        self, service: SheetsApi, address: SheetAddress, layout: Layout, report: Progress, make: Planner = plan_for
    ) -> None:
        self.service, self.address, self.layout, self.make = service, address, layout, make
        self.chunks: list[Chunk] = []
        self.columns: list[list[Cell]] | None = None
        self.limit = MOST_CELLS
        self.blocked: set[str] = set()
        self.happened: Callable[[State], bool] = _never_happened
        self.plan: WritePlan | None = None
        self._report = report
        self._done = 0  # cells put on the stage, and those compared: each cell counts twice
        self._for_others = 0.0  # seconds that were waited for writers that may be dead

    def run(self) -> int:
        """Write everything; return the id of the worksheet."""
        plan = self.make_plan(-1)
        self.chunks = make_chunks(self.layout)  # whatever no cell can hold is found before anything is written
        self.gid = plan.sheet.gid if plan.sheet else -1
        with Holder(plan.state.now) as holder:
            stage = Stage(self.service, self.layout, holder)
            self.columns = small_columns(self.layout, self.chunks)
            try:
                self._carry_out(plan, stage)
            except RemoteError:
                if not self._clean_up(stage):
                    raise
            except BaseException:
                self._clean_up(stage)
                raise
        return self.gid

    def _carry_out(self, plan: WritePlan, stage: Stage) -> None:
        """Write everything by a plan, and by new ones as long as others change the spreadsheet."""
        conflicts = waits = 0
        while True:
            try:
                if self.columns is not None and (plan.sheet is None or plan.grid is not None):
                    self._write_at_once(plan, self.columns)
                    return
                if (missing := plan.peak_cells(stage.cells) - self.limit) > 0:
                    self._wait_for_room(missing, plan.state, stage.gid, waits := waits + 1)
                    plan = self.make_plan(stage.gid)
                    continue
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
            except ChangedCellError:  # the batch was taken back; on a stage the service may keep the cells as they are
                self.columns, self.happened = None, _never_happened
            except RefusedError as refused:
                if self.columns is not None and (refused.status == 413 or "payload" in refused.message):
                    self.columns = None
                elif not self._learn_from(refused, plan):
                    self._wait(conflicts := conflicts + 1, 2.0, "others change the spreadsheet")
            plan = self.make_plan(stage.gid)

    def count_cells(self, cells: int) -> None:
        """Add cells that were sent or compared to the progress, and report it; each counts half of a cell."""
        self._done += cells
        self._report(min(self._done // 2, self.layout.cell_count), self.layout.cell_count)

    # Deciding ------------------------------------------------------------------------------------------------

    def make_plan(self, stage: int) -> WritePlan:
        """Return a plan for the spreadsheet as it is now; wait for others who change the worksheet.

        Args:
            stage: the id of the write's own stage; -1 before it is made.

        Raises:
            RemoteError: others change the worksheet again and again, or write to it for too long.
        """
        waits = 0
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
                if isinstance(error, LimitError) and state.living_stages(stage):
                    self._wait_for_stages(state, stage, waits := waits + 1)
                elif state.differs(fetch_state(self.service)):
                    # What was in the way may have been written while the worksheet was looked at
                    self._wait(waits := waits + 1, 1.0, "others change the worksheet")
                else:
                    raise
            except ConflictError:
                self._wait(waits := waits + 1, 1.0, "others change the worksheet")

    def _wait_for_room(self, missing: int, state: State, stage: int, waits: int) -> None:
        """Wait for other writes whose hidden sheets take room; refuse the write if there are none.

        Raises:
            LimitError: the spreadsheet has no room for a stage; nothing has been changed.
        """
        if state.living_stages(stage):
            self._wait_for_stages(state, stage, waits)
            return
        raise LimitError(
            f"{missing:,} cells are missing: so large a write goes to a hidden sheet first, and the spreadsheet may "
            f"have {self.limit:,} cells; delete what is not needed, or write to another one"
        )

    def _wait_for_stages(self, state: State, stage: int, waits: int) -> None:
        holder = state.living_stages(stage)[0].holder
        why = f"the hidden sheet of another write takes room: {holder.describe(state.now) if holder else ''}"
        self._wait(waits, 30.0, why, "if it is dead: sheetarray gsheets clean --all URL")

    def _wait(self, waits: int, most: float, why: str, hint: str = "") -> None:
        """Wait for others, longer each time.

        Args:
            waits: the number of pauses for the same reason, with this one.
            most: the most seconds of this pause.
            why: the reason, for people.
            hint: what people can do if the other writer is dead, given only if it may be dead. All pauses of that kind
                together are bounded.

        Raises:
            RemoteError: there were too many pauses, or they have taken too long.
        """
        patience = self.service.patience
        seconds = min(0.1 * 2.0**waits, most) * random.uniform(0.5, 1.0)  # noqa: S311  (no secret)
        self._for_others += seconds if hint else 0.0
        if waits > _MOST_CONFLICTS or not patience.can_pause(seconds) or self._for_others > _LONGEST_FOR_OTHERS:
            raise RemoteError(f"{why}; given up after {patience.waited:.0f} seconds", hint=hint or "try again later")
        patience.pause(seconds, why)

    def _learn_from(self, refused: RefusedError, plan: WritePlan) -> bool:
        """Keep the limit or the blocked names that a refusal tells, so that the next plan avoids them.

        Returns:
            Whether there was something to keep; False if somebody else has changed the spreadsheet, which explains the
            refusal.

        Raises:
            RemoteError: neither is the case, so that another attempt would be refused as well.
        """
        if refused.limit is not None and refused.limit < self.limit:
            self.limit = refused.limit
            return True
        if plan.state.differs(fetch_state(self.service)):
            return False
        # The service does not show named ranges whose cells were deleted, but keeps their names. Where there is one,
        # more are likely, so that each refusal blocks one name more than all refusals before it
        names = refused.names
        if names and names[0] not in self.blocked:
            self.blocked.update(names[: 1 + len(self.blocked)])
            return True
        raise RemoteError(f"the service refuses the write: {refused.message}", status=refused.status) from None

    # Carrying out --------------------------------------------------------------------------------------------

    def _commit(self, plan: WritePlan, stage: Stage) -> None:
        """Put the cells of the stage into the worksheet, by one batch; a stage for a new worksheet becomes it."""
        if plan.sheet is None:
            requests, swap = rename_stage(plan, stage, self.address.title or "")
            self.gid = stage.gid
        else:
            requests, swap = copy_stage(plan, stage, plan.sheet)
            self.gid = plan.sheet.gid
        self.happened = swap.took_effect
        apply_changes(self.service, requests, swap.took_effect, confirmed=True)
        if plan.sheet is not None:
            difference = find_change(self.service, plan.sheet.title, plan.layout, plan.placed_columns, swap)
            if difference is not None:
                raise DTypeError(f"{difference}, though it kept it on the stage: write it again")

    def _write_at_once(self, plan: WritePlan, columns: list[list[Cell]]) -> None:
        """Write all cells by one batch, without a stage."""
        writing = DirectWrite(self.service, self.layout, columns, plan, self.address.title or "")
        self.happened, self.gid = writing.has_happened, writing.gid
        writing.write()

    def _clean_up(self, stage: Stage) -> bool:
        """Remove the stage after a failure, if that goes quickly; return whether the write took effect after all."""
        if not stage.attempts and self.happened is _never_happened:
            return False
        deadline = time.monotonic() + _CLEANING
        self.service.patience = Retries(most_retries=3, most_waiting=8.0, timeout=_CLEANING)
        with suppress(RemoteError, RefusedError):
            for _ in range(3):
                state = fetch_state(self.service)
                if self.happened(state):
                    return True
                if not stage.find(state) or time.monotonic() > deadline:
                    return False
                with suppress(RefusedError):
                    stage.remove(state)
        return False
