"""Large writes go to a hidden worksheet, the stage, which takes effect as a whole; and what dead writers have left.

A stage is a hidden worksheet of a write, on which arrays stand whole before anybody can read them. Its id is chosen
here and not by the service, so that the stage is recognised when the answer to the request that makes it is lost. Its
title says who writes, and since when, so that a later write can remove the stage of an interrupted one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import groupby

from ...columns import Layout
from ...errors import DTypeError, Finding, RemoteError
from .address import Rect, range_on_sheet
from .appearance import look_requests, show_dates
from .changes import (
    Requests,
    apply_changes,
    clear_cells,
    new_gid,
    put_named_range,
    remove_sheet_requests,
    resize_sheet,
    update_cells,
)
from .named_ranges import PlacedColumn
from .plan import WritePlan
from .requests import Answer, SheetsApi
from .retries import ChangedError, RefusedError
from .sent_cells import Chunk, fit_one_batch, make_chunks
from .standing import StandingArray
from .state.records import TableRecord
from .state.spreadsheet import State, Worksheet, fetch_state, generation_name
from .state.writers import Writer
from .tables.records import drop_records, put_record
from .worksheet import FetchedColumns, fetch_values, is_same_range

_MOST_ATTEMPTS = 5  # to make a stage that others remove, or to remove what others remove too


class Stage:
    """A stage for some layouts: a worksheet for each of them, all made by one request."""

    def __init__(self, service: SheetsApi, layouts: Sequence[Layout], writer: Writer, beside: int) -> None:
        self.layouts = layouts  # the cells that it is to hold
        self.beside = beside  # the characters of records, which are never on the stage
        self.gids: list[int] = []  # the ids of its worksheets; empty before they are made
        self.attempts = 0  # to make them
        self._service, self._writer, self._filled = service, writer, False

    @cached_property
    def chunks(self) -> list[list[Chunk]]:
        """The cells of each layout as requests; a DTypeError for an element that no cell holds."""
        return [make_chunks(layout) for layout in self.layouts]

    @cached_property
    def fits_one_batch(self) -> bool:
        """Whether one batch of changes can carry all cells, and no stage is needed."""
        return fit_one_batch([chunk for chunks in self.chunks for chunk in chunks], self.beside)

    @property
    def cells(self) -> int:
        """The number of cells of its grids."""
        return sum(layout.height * len(layout.pieces) for layout in self.layouts)

    def find(self, state: State) -> list[Worksheet]:
        """Return the worksheets of the stage that exist and hold no arrays."""
        return [sheet for gid in self.gids if (sheet := state.by_id(gid)) and sheet.writer]

    def is_whole(self, state: State) -> bool:
        """Return whether all of its worksheets exist."""
        return bool(self.gids) and len(self.find(state)) == len(self.gids)

    def is_ready(self, state: State) -> bool:
        """Return whether the stage exists and holds all cells."""
        return self._filled and self.is_whole(state)

    def make(self, state: State) -> None:
        """Make the stage, with new ids and titles; remove the remains of an earlier attempt and of interrupted writes.

        Raises:
            RefusedError: there is no room for the stage, or somebody else has removed those stages meanwhile.
            RemoteError: it was made and removed again and again.
        """
        self.attempts += 1
        self._filled = False
        if self.attempts > _MOST_ATTEMPTS:
            raise RemoteError("something keeps removing the hidden sheet of this write")
        requests = [*remains_requests(state), *self.removal_requests(state)]
        self.gids = [new_gid() for _ in self.layouts]
        for gid, layout, title in zip(self.gids, self.layouts, self._titles(), strict=True):
            rows, columns = layout.height, len(layout.pieces)
            grid = {"rowCount": rows, "columnCount": columns}
            properties = {"sheetId": gid, "title": title, "hidden": True, "gridProperties": grid}
            requests.append({"addSheet": {"properties": properties}})
            requests.append(put_named_range(generation_name(gid), gid, Rect(0, 0, rows, columns)))
        apply_changes(self._service, requests, self.is_whole)

    def _titles(self) -> list[str]:
        """Return the titles of its worksheets, which the number of the attempt to make them tells apart."""
        first = self.attempts * len(self.layouts)
        return [f"sheetarray write {self._writer} {first + index}" for index in range(len(self.layouts))]

    def fill(self, filled: Callable[[int], None]) -> None:
        """Put all cells on the stage, then read them back and compare.

        Raises:
            ChangedError: somebody else has removed the stage.
            DTypeError: the service does not keep an element as it is.
        """
        titled = list(zip(self._titles(), self.layouts, self.chunks, strict=True))
        try:
            for title, _, chunks in titled:
                for chunk in chunks:
                    cells = range_on_sheet(title, chunk.rect)
                    self._service.put_values(cells, chunk.body, partial(_check_put, cells=cells))
                    filled(chunk.cells)
            for title, layout, chunks in titled:
                for chunk in chunks:
                    (cells_back,) = fetch_values(self._service, [(title, chunk.rect)])
                    _compare(layout, chunk, cells_back)
                    filled(chunk.cells)
        except (RefusedError, ChangedError) as refused:
            if not self.is_whole(fetch_state(self._service)):
                raise ChangedError from None
            raise RefusedError(400, str(refused)) from None
        self._filled = True

    def remove(self, state: State) -> None:
        """Remove the stage; refused if somebody else has removed it, or if it has become a worksheet of arrays."""
        self._filled = False
        apply_changes(self._service, self.removal_requests(state), lambda after: not self.find(after))

    def removal_requests(self, state: State, *, kept: Collection[int] = ()) -> Requests:
        """Return the requests that remove those of its worksheets that exist, but for those that are kept."""
        gone = [sheet for sheet in self.find(state) if sheet.gid not in kept]
        return [request for sheet in gone for request in remove_sheet_requests(state, sheet)]


def _compare(layout: Layout, chunk: Chunk, cells_back: FetchedColumns) -> None:
    """Compare the columns of a chunk with those that come back; a DTypeError names the first cell that differs."""
    first = chunk.rect.left
    for column in range(first, chunk.rect.right):
        placed = PlacedColumn(column, layout.pieces[column], 0, column, layout.named)
        stop = min(chunk.rect.bottom, placed.cells.bottom)
        column_back = cells_back[column - first] if column - first < len(cells_back) else []
        difference = placed.find_change(chunk.rect.top, stop, column_back)
        if difference is not None:
            raise DTypeError(difference)


def _check_put(answer: Answer, cells: str) -> None:
    """Raise a ValueError if an answer does not say that the cells of a range were written."""
    if not is_same_range(answer["updatedRange"], cells):
        raise ValueError("another range")


def remains_requests(state: State, rewritten: Collection[int] = ()) -> Requests:
    """Return the requests that remove the stages of interrupted writes, and records that are of no worksheet.

    `rewritten`: the ids of the worksheets that get other records.
    """
    stages = [request for sheet in state.dead_stages() for request in remove_sheet_requests(state, sheet)]
    return [*stages, *drop_records(state, rewritten)]


def list_rewritten(plans: Iterable[WritePlan]) -> list[int]:
    """Return the ids of the worksheets that get another record of their tables."""
    return [plan.sheet.gid for plan in plans if plan.sheet and plan.record is not None]


def sheet_requests(plan: WritePlan, gid: int, new: Answer, cells: Requests) -> Requests:
    """Return the requests that write to a worksheet: `new` makes it if it is not there, `cells` fill it.

    They end with names, named ranges, and the look of a worksheet of ours; on one of somebody else, that of dates.
    """
    first = resize_sheet(plan.sheet, plan.rows, plan.columns) if plan.sheet else [new]
    requests = [*first, *(clear_cells(gid, rect) for rect in plan.cleared), *cells]
    requests += [change for standing in plan.lowered for change in _lower_name(gid, standing)]
    requests += [put_named_range(name, gid, rect, range_there) for name, rect, range_there in plan.ranges]
    if plan.record is not None:
        requests += put_record(plan.sheet.record if plan.sheet else TableRecord(), gid, plan.record)
    return [*requests, *(look_requests(plan, gid) if plan.own else show_dates(gid, plan.placed_columns))]


def copy_requests(plan: WritePlan, gid: int, staged: Layout, stage: int) -> Requests:
    """Return the requests that copy the cells of a stage, given its layout and its id, into a worksheet."""
    return [
        {
            "copyPaste": {
                "source": source.to_grid_range(stage),
                "destination": goal.to_grid_range(gid),
                "pasteType": "PASTE_VALUES",
                "pasteOrientation": "NORMAL",
            }
        }
        for source, goal in _copy_ranges(plan, staged)
    ]


def shift_requests(plan: WritePlan, staged: Layout, stage: int) -> Requests:
    """Return the requests that move the cells of a stage, which becomes the worksheet, to the cell of `at=`."""
    blanks = {"ROWS": plan.rows - staged.height, "COLUMNS": plan.columns - len(staged.pieces)}
    return [
        {"insertDimension": {"range": {"sheetId": stage, "dimension": dimension, "startIndex": 0, "endIndex": count}}}
        for dimension, count in blanks.items()
        if count > 0
    ]


def _lower_name(gid: int, standing: StandingArray) -> Requests:
    """Return the requests that put the name of an array right above its header."""
    assert standing.name_cell is not None
    goal = standing.above
    return [clear_cells(gid, standing.name_cell), update_cells(gid, goal.top, goal.left, [[standing.anchor.name]])]


def _copy_ranges(plan: WritePlan, staged: Layout) -> Iterator[tuple[Rect, Rect]]:
    """Yield ranges on the stage, each with its range in the worksheet; neighbours in blank columns go together."""
    for group in group_fresh(plan):
        alike = all(placed.piece.blanks == staged.pieces[placed.index].blanks for placed in group)
        first, height = group[0], max(placed.cells.bottom for placed in group) - group[0].row if alike else 1
        source = Rect(0, first.index, height, first.index + len(group))
        yield source, Rect(first.row, first.column, first.row + height, first.column + len(group))
        if not alike:
            yield from (_copy_below_name(staged, placed) for placed in group)
    yield from (_copy_below_name(staged, placed) for placed in plan.placed_columns if not placed.named)


def _copy_below_name(staged: Layout, placed: PlacedColumn) -> tuple[Rect, Rect]:
    """Return the cells of the header and elements of a column on the stage, and those that they go to."""
    skipped = staged.named + staged.pieces[placed.index].blanks
    top, bottom = placed.row + placed.named * (1 + placed.piece.blanks), placed.cells.bottom
    source = Rect(skipped, placed.index, skipped + bottom - top, placed.index + 1)
    return source, Rect(top, placed.column, bottom, placed.column + 1)


def group_fresh(plan: WritePlan) -> Iterator[list[PlacedColumn]]:
    """Yield the placed columns that go to blank columns of the worksheet, neighbours together."""
    fresh = [placed for placed in plan.placed_columns if placed.named]
    for _, group in groupby(enumerate(fresh), key=lambda pair: pair[1].index - pair[0]):
        yield [placed for _, placed in group]


def stage_findings(state: State) -> list[Finding]:
    """Return a finding for each stage that stands in a spreadsheet."""
    return [_to_finding(state, sheet) for sheet in (*state.dead_stages(), *state.living_stages())]


def describe_stages(state: State, own: Collection[int]) -> str:
    """Return the end of a sentence that says which stages of other writes take room; empty if none do."""
    findings = [_to_finding(state, sheet) for sheet in state.living_stages(own)]
    return "".join(f"; the room is taken by {finding.message} ({finding.hint})" for finding in findings[:1])


def _to_finding(state: State, sheet: Worksheet) -> Finding:
    """Return a finding that says which process a stage is of, and since when."""
    writer = sheet.writer
    assert writer is not None
    if writer.is_dead(state.now):
        hint = "the next write removes it"
    else:
        hint = "if that process is dead, delete this sheet in the browser, where the menu View lists hidden sheets"
    return Finding("warning", sheet.title, f"the hidden sheet of a write: {writer.describe(state.now)}", hint)
