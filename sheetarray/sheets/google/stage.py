"""Large writes go to a hidden worksheet, the stage, which takes effect as a whole; and what dead writers have left."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from typing import Any

from ...columns import Layout
from ...errors import DTypeError, Finding
from ...files import PathLike
from .address import Rect, range_on_sheet
from .appearance import look_requests
from .changes import (
    Requests,
    Swap,
    apply_changes,
    change_properties,
    clear_cells,
    put_named_range,
    remove_sheet_requests,
    resize_sheet,
    update_cells,
)
from .content import ConflictError, StandingArray
from .plan import PlacedColumn, WritePlan
from .requests import Answer, SheetsApi, open_service
from .retries import TIMEOUT, RefusedError
from .sent_cells import Chunk
from .spreadsheet_state import State, Worksheet, Writer, fetch_state, generation_name, stage_title
from .worksheet import FetchedColumns, fetch_values, is_same_range

# The stage: a hidden worksheet of the write's own, on which arrays stand whole before anybody can read them.
#
# Its id is chosen here and not by the service, so that the stage is recognised when the answer to the request that
# makes it is lost. Its title says who writes, and since when, so that a later write can remove the stage of an
# interrupted one.


class Stage:
    """A stage for the columns of a layout.

    Attributes:
        gid: the id of its worksheet; -1, which no worksheet has, before it is made.
        title: of its worksheet.
        layout: the cells that it is to hold.
        rows, columns: the size of its grid.
        attempts: the number of attempts to make it.
        lost: how many times it was gone, since somebody else had removed it.
    """

    def __init__(self, service: SheetsApi, layout: Layout, writer: Writer) -> None:
        self.gid, self.title = -1, ""
        self.rows, self.columns = layout.height, len(layout.pieces)
        self.attempts = self.lost = 0
        self._filled = False
        self._service, self.layout, self._writer = service, layout, writer

    @property
    def cells(self) -> int:
        """The number of cells of its grid."""
        return self.rows * self.columns

    def find(self, state: State) -> Worksheet | None:
        """Return the stage's worksheet, or None if it does not exist."""
        sheet = state.by_id(self.gid)
        return sheet if sheet and sheet.writer else None

    def is_ready(self, state: State) -> bool:
        """Return whether the stage exists and holds all cells; one that was filled and is gone counts as lost."""
        if self._filled and self.find(state) is None:
            self._filled = False
            self.lost += 1
        return self._filled

    def make(self, state: State) -> None:
        """Make the stage, with a new id and a new title, and remove the stages of interrupted writes.

        Raises:
            RefusedError: there is no room for the stage, or somebody else has removed those stages meanwhile.
        """
        self.attempts += 1
        self.gid = new_gid()
        self.title = stage_title(self._writer, self.attempts)
        grid = {"rowCount": self.rows, "columnCount": self.columns}
        made = {"sheetId": self.gid, "title": self.title, "hidden": True, "gridProperties": grid}
        requests = [
            *remains_requests(state),
            {"addSheet": {"properties": made}},
            put_named_range(generation_name(self.gid), self.gid, Rect(0, 0, self.rows, self.columns)),
        ]
        apply_changes(self._service, requests, lambda after: self.find(after) is not None)

    def fill(self, chunks: list[Chunk], filled: Callable[[int], None]) -> None:
        """Put all cells on the stage, then read them back and compare.

        Raises:
            ConflictError: somebody else has removed the stage.
            DTypeError: the service does not keep an element as it is.
        """
        try:
            for chunk in chunks:
                cells = range_on_sheet(self.title, chunk.rect)
                self._service.put_values(cells, chunk.body, partial(_is_put, cells))
                filled(chunk.cells)
            for chunk in chunks:
                (cells_back,) = fetch_values(self._service, [(self.title, chunk.rect)])
                self._compare(chunk, cells_back)
                filled(chunk.cells)
        except RefusedError:
            if self.find(fetch_state(self._service)) is None:
                self.lost += 1
                raise ConflictError from None
            raise
        self._filled = True

    def _compare(self, chunk: Chunk, cells_back: FetchedColumns) -> None:
        """Compare the columns of a chunk as they were sent with those that the service gives back.

        Raises:
            DTypeError: a cell is another one, which the message names.
        """
        first = chunk.rect.left or 0
        for number in range((chunk.rect.right or 0) - first):
            placed = PlacedColumn(
                first + number, self.layout.pieces[first + number], 0, first + number, self.layout.named
            )
            stop = min(chunk.rect.bottom or 0, placed.cells.bottom or 0)
            kept = cells_back[number] if number < len(cells_back) else []
            difference = placed.find_change(chunk.rect.top, stop, kept)
            if difference is not None:
                raise DTypeError(str(difference))

    def remove(self, state: State) -> None:
        """Remove the stage.

        Raises:
            RefusedError: somebody else has removed it, or it has become a worksheet of arrays.
        """
        self._filled = False
        apply_changes(self._service, self.removal_requests(state), lambda after: self.find(after) is None)

    def removal_requests(self, state: State) -> Requests:
        """Return the requests that remove the stage, for a batch with others; none if it does not exist."""
        sheet = self.find(state)
        return remove_sheet_requests(state, sheet) if sheet else []


def _is_put(cells: str, answer: Answer) -> bool:
    """Return whether an answer says that the cells of a range in A1 notation were written."""
    return "updatedRange" in answer and is_same_range(answer["updatedRange"], cells)


def new_gid() -> int:
    """Return a random id for a worksheet; one of 2^31, so that most probably no worksheet has it yet."""
    return 1 + secrets.randbelow(2**31 - 2)


def remains_requests(state: State) -> Requests:
    """Return the requests that remove the stages of interrupted writes."""
    return [request for sheet in state.dead_stages() for request in remove_sheet_requests(state, sheet)]


# Putting what stands on the stage into place: one batch, which changes everything or nothing.


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
        alike = all(placed.piece.blanks == staged.pieces[placed.index].blanks for placed in group)
        first, height = group[0], max((placed.cells.bottom or 0) for placed in group) - group[0].row if alike else 1
        source = Rect(0, first.index, height, first.index + len(group))
        yield source, Rect(first.row, first.column, first.row + height, first.column + len(group))
        if not alike:
            yield from (_copy_below_name(staged, placed) for placed in group)
    yield from (_copy_below_name(staged, placed) for placed in plan.placed_columns if not placed.named)


def _copy_below_name(staged: Layout, placed: PlacedColumn) -> tuple[Rect, Rect]:
    """Return the cells of the header and elements of a column on the stage, and those that they go to."""
    skipped = staged.named + staged.pieces[placed.index].blanks
    top, bottom = placed.row + placed.named * (1 + placed.piece.blanks), placed.cells.bottom or 0
    source = Rect(skipped, placed.index, skipped + bottom - top, placed.index + 1)
    return source, Rect(top, placed.column, bottom, placed.column + 1)


def group_fresh(plan: WritePlan) -> Iterator[list[PlacedColumn]]:
    """Yield the placed columns that go to blank columns of the worksheet, neighbours together."""
    fresh = [placed for placed in plan.placed_columns if placed.named]
    for _, group in groupby(enumerate(fresh), key=lambda pair: pair[1].index - pair[0]):
        yield [placed for _, placed in group]


# Finds and removes the stages that interrupted writes have left in a spreadsheet.

_MOST_ATTEMPTS = 5  # to remove what others remove too


def clean_gsheet(
    source: Any,
    *,
    everything: bool = False,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
) -> list[Finding]:
    """Remove the hidden sheets that interrupted writes have left, and return a finding for each, as `check` does.

    Args:
        source, client, credentials, timeout: as for `write_gsheet`; the whole spreadsheet is looked at.
        everything: remove those of writers that may be alive too; these begin again.

    Raises:
        RemoteError: the service cannot be reached, or refuses.

    Example:
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     clean_gsheet(server.create(), client=server.client())
        []
    """
    service = open_service(source, None, client, credentials, timeout, writing=True)
    for attempt in range(_MOST_ATTEMPTS):
        state = fetch_state(service)
        sheets = [*state.dead_stages(), *(state.living_stages() if everything else ())]
        if not sheets:
            return []
        requests = [request for sheet in sheets for request in remove_sheet_requests(state, sheet)]
        gids = {sheet.gid for sheet in sheets}
        try:
            apply_changes(service, requests, lambda after, gids=gids: not any(map(after.by_id, gids)))  # type: ignore[misc]
        except RefusedError:
            if attempt == _MOST_ATTEMPTS - 1:
                raise
            continue
        return [_to_finding(state, sheet) for sheet in sheets]
    return []


def stage_findings(state: State) -> list[Finding]:
    """Return a finding for each stage that stands in a spreadsheet."""
    return [_to_finding(state, sheet) for sheet in (*state.dead_stages(), *state.living_stages())]


def _to_finding(state: State, sheet: Worksheet) -> Finding:
    """Return a finding that says which process a stage is of, and since when."""
    writer = sheet.writer
    assert writer is not None
    if writer.is_dead(state.now):
        hint = "the next write removes it, and so does: sheetarray gsheets clean URL"
    else:
        hint = "if it is dead, remove it: sheetarray gsheets clean --all URL"
    return Finding("warning", sheet.title, f"the hidden sheet of a write: {writer.describe(state.now)}", hint)
