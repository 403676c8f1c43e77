"""One write to some worksheets from its plans to its end: at once, or over a stage.

It is planned and carried out again where somebody else has changed the spreadsheet meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

from ...columns import Layout
from ...errors import DTypeError, FormatError, LimitError, RemoteError
from ..content import SheetContent, WriteOptions
from .at_once import find_change, write_at_once
from .changes import TOO_LARGE, Swap, apply_changes, change_properties, new_gid
from .plan import FreeCells, WritePlan, fresh_plan, plan_for, plan_table
from .requests import SheetsApi
from .retries import ChangedError, RefusedError, Retries
from .stage import Stage, copy_requests, describe_stages, list_rewritten, sheet_requests, shift_requests
from .state.records import pack_notes
from .state.spreadsheet import MOST_CELLS, State, fetch_state
from .state.writers import Writer
from .tables.records import count_record_cells, drop_records

_MOST_CONFLICTS = 40  # times that others may change the spreadsheet before the write is given up
_CLEANING = 20.0  # seconds that go at most into removing the stage of a write that has failed


class SpreadsheetWrite:
    """A write to some worksheets in one batch. If somebody else changes the spreadsheet first, it is planned again.

    `contents`: of the worksheets, each with one layout.
    """

    def __init__(self, service: SheetsApi, contents: Sequence[SheetContent], options: WriteOptions) -> None:
        self.service, self.contents = service, contents
        self.state = State((), (), 0.0)  # of the spreadsheet for which the plans were made
        self.plans: list[WritePlan] = []  # of the contents; once the write is done, those that it has followed
        self.swaps: list[Swap] = []  # of the worksheets, for the last batch; empty before the first one
        self._small = True  # whether one batch may be able to write all cells at once; if not, they need a stage
        self._limit = MOST_CELLS  # of cells in the spreadsheet; less once the service has said so
        self._blocked: set[str] = set()  # names, in lower case, that the service refuses for named ranges
        self._conflicts = 0  # times that others have changed the spreadsheet
        self._others = 0  # cells of worksheets that are not written to
        self._options, self._total = options, sum(content.cell_count for content in contents)
        self._records = [pack_notes([content.description]) for content in contents]
        self._done = 0  # cells put on the stage, and those compared: each cell counts twice

    @property
    def _layouts(self) -> list[Layout]:
        """The cells of each worksheet."""
        return [content.layouts[0] for content in self.contents]

    def run(self) -> None:
        """Write everything. Begin again if somebody else changes the spreadsheet meanwhile."""
        self.state = fetch_state(self.service)
        with Writer(self.state.now) as writer:
            stage = Stage(self.service, self._layouts, writer, sum(map(len, self._records)))
            try:
                while not self._advance(stage):
                    self.state = fetch_state(self.service)
            except RemoteError:
                if not self._clean_up(stage):
                    raise
            except BaseException:
                self._clean_up(stage)
                raise

    def _advance(self, stage: Stage) -> bool:
        """Take the next step for the spreadsheet as it was seen: write everything at once, put the cells of the stage
        into place, or fill the stage.

        It returns whether everything is written; if not, the spreadsheet has to be looked at again.
        """
        try:
            self._plan_sheets(stage.gids)
            if self._may_write_at_once(stage):
                return self._write_at_once()
            if stage.is_ready(self.state):
                self._commit(stage)
                return True
            self._check_peak(stage)
            self._done = 0
            stage.make(self.state)
            stage.fill(self._count_cells)
        except (FormatError, LimitError) as error:
            self._wait_if_others_changed(error, stage)
        except ChangedError:
            self._wait()
        except RefusedError as refused:
            if self._small and (refused.status == TOO_LARGE or "payload" in refused.message):
                self._small = False
            elif not self._learn_from(refused):
                self._wait()
        return False

    def _may_write_at_once(self, stage: Stage) -> bool:
        """Return whether all cells may fit into one batch."""
        self._small = self._small and stage.fits_one_batch
        return self._small and all(plan.sheet is None or plan.grid is not None for plan in self.plans)

    def _write_at_once(self) -> bool:
        """Write all cells in one batch, and return whether the service stored them exactly; if not, undo the write."""
        self._make_swaps([new_gid() for _ in self.plans])
        if write_at_once(self.service, self.state, self.plans, self.swaps) is None:
            return True
        self._small, self.swaps = False, []  # on a stage the service may keep the cells as they are
        return False

    def _wait_if_others_changed(self, error: FormatError | LimitError, stage: Stage) -> None:
        """Raise the error of a plan, unless what is in its way may have been written while it was made: then wait."""
        if self.state.differs(fetch_state(self.service)):
            self._wait()
        elif isinstance(error, LimitError) and (stages := describe_stages(self.state, stage.gids)):
            raise LimitError(f"{error}{stages}") from None
        else:
            raise error

    def _count_cells(self, cells: int) -> None:
        """Report progress after some cells were sent or read back. Each cell counts half, as a write does both."""
        self._done += cells
        self._options.report(min(self._done // 2, self._total), self._total)

    def _check_peak(self, stage: Stage) -> None:
        """Refuse the write if the spreadsheet has no room for the stage beside the worksheets; nothing is changed."""
        ours = sum(max(plan.sheet.cells, plan.rows * plan.columns) for plan in self.plans if plan.sheet)
        missing = self._others + stage.cells + ours - self._limit
        if missing > 0:
            raise LimitError(
                f"{missing:,} cells are missing: a write of this size goes to a hidden sheet first, and the "
                f"spreadsheet has no room for it (at most {self._limit:,} cells); delete cells, or write to another "
                "spreadsheet"
            )

    def _plan_sheets(self, stage: Sequence[int]) -> None:
        """Make a plan for each worksheet; a ChangedError if somebody changed a worksheet.

        `stage`: the ids of its sheets.
        """
        state, address = self.state, self.service.address
        titles = [content.title or address.title or "" for content in self.contents]
        sheets = [state.select_worksheet(address.gid, title) for title in titles]
        remains = [*state.dead_stages(), *state.unused_records()]
        gone = {sheet.gid for sheet in (*remains, *filter(None, sheets))} | set(stage)
        self._others = cells_beside = sum(sheet.cells for sheet in state.worksheets if sheet.gid not in gone)
        blocked = set(self._blocked)
        self.plans = []
        replacing = self._options.replaces
        for content, title, sheet, record in zip(self.contents, titles, sheets, self._records, strict=True):
            cells_beside += count_record_cells(record)
            free = FreeCells(cells_beside, self._limit, blocked)
            if sheet is None:
                plan = fresh_plan(state, title, content, free)
            elif sheet.view is None and content.kind == "table":
                plan = plan_table(self.service, state, sheet, content, free, replacing=replacing)
            elif sheet.view is None:
                plan = plan_for(self.service, state, sheet, content, free)
            else:
                raise LimitError(
                    f"the worksheet {sheet.title!r:.80} is a view of {sheet.view.array!r:.80}, and arrays on a view "
                    "are not read: write to another worksheet"
                )
            self.plans.append(plan)
            cells_beside += plan.rows * plan.columns
            blocked |= {name.lower() for name, _, _ in plan.ranges}

    def _wait(self) -> None:
        """Wait for others, longer each time. Raise a RemoteError after too many or too long pauses."""
        self._conflicts += 1
        if self._conflicts > _MOST_CONFLICTS:
            raise RemoteError("others change the spreadsheet again and again", hint="try again later")
        self.service.patience.wait_for_others(self._conflicts)

    def _learn_from(self, refused: RefusedError) -> bool:
        """Take the limit or the forbidden names out of a refusal, so that the next plan avoids them.

        It returns whether there was something to keep; False if somebody else has changed the spreadsheet, which
        explains the refusal.

        Raises:
            RemoteError: neither is the case, so that another attempt would be refused as well.
        """
        if refused.limit is not None and refused.limit < self._limit:
            self._limit = refused.limit
            return True
        if self.state.differs(fetch_state(self.service)):
            return False
        # The service does not show named ranges whose cells were deleted, but keeps their names. Where there is one,
        # more are likely, so that each refusal blocks one name more than all refusals before it
        names = refused.names
        if names and names[0] not in self._blocked:
            self._blocked.update(names[: 1 + len(self._blocked)])
            return True
        raise RemoteError(f"the service refuses the write: {refused.message}", status=refused.status) from None

    def _make_swaps(self, fresh: Sequence[int]) -> None:
        """Make the swap of each worksheet, given the ids that new ones get."""
        self.swaps = []
        for plan, new in zip(self.plans, fresh, strict=True):
            gid = plan.sheet.gid if plan.sheet else new
            self.swaps.append(Swap(self.state, gid, own=plan.own))

    def _commit(self, stage: Stage) -> None:
        """Put the cells of the stage into the worksheets, by one batch; a stage for a new worksheet becomes it."""
        requests = drop_records(self.state, list_rewritten(self.plans))
        self._make_swaps(stage.gids)
        for layout, plan, swap, gid in zip(self._layouts, self.plans, self.swaps, stage.gids, strict=True):
            shown = change_properties(gid, {"title": plan.title, "hidden": False}, "title,hidden")
            cells = copy_requests(plan, swap.gid, layout, gid) if plan.sheet else shift_requests(plan, layout, gid)
            requests += swap.wrap(sheet_requests(plan, swap.gid, shown, cells), plan.rows, plan.columns)
        requests += stage.removal_requests(self.state, kept=[swap.gid for swap in self.swaps])
        apply_changes(self.service, requests, self.swaps[0].took_effect)
        for plan, swap in zip(self.plans, self.swaps, strict=True):
            difference = find_change(self.service, plan.title, plan.placed_columns, swap) if plan.sheet else None
            if difference is not None:
                raise DTypeError(f"{difference}, though it kept it on the stage: write it again")

    def _clean_up(self, stage: Stage) -> bool:
        """Remove the stage after a failure, if that is quick. Return whether the write took effect after all."""
        if not stage.attempts and not self.swaps:
            return False
        deadline = time.monotonic() + _CLEANING
        self.service.patience = Retries(most_waiting=8.0, timeout=_CLEANING)
        with suppress(RemoteError, RefusedError):
            for _ in range(3):
                state = fetch_state(self.service)
                if self.swaps and self.swaps[0].took_effect(state):  # one batch makes all changes, or none
                    return True
                if not stage.find(state) or time.monotonic() > deadline:
                    return False
                stage.remove(state)
        return False
