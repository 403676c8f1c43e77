"""The stage: a hidden worksheet of the write's own, on which arrays stand whole before anybody can read them.

Its id is chosen here and not by the service, so that the stage is recognised when the answer to the request that makes
it is lost. Its title says who writes, and since when, so that a later write can remove the stage of an interrupted one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial

from ...columns import Layout
from ...elements import Cell
from ...errors import DTypeError
from .address import Rect, range_on_sheet
from .body import Chunk, find_difference
from .changes import Requests, apply_changes, put_named_range, remove_sheet_requests
from .content import ConflictError
from .fetch import fetch_values, is_same_range
from .holder import Holder
from .requests import Answer, SheetsApi
from .retries import RefusedError
from .state import State, Worksheet, fetch_state, generation_name, stage_title


class Stage:
    """A stage for the columns of a layout.

    Args:
        service: the spreadsheet.
        layout: the cells that it is to hold.
        holder: the process that writes.

    Attributes:
        gid: the id of its worksheet; -1, which no worksheet has, before it is made.
        title: of its worksheet.
        layout: the cells that it is to hold.
        rows, columns: the size of its grid.
        attempts: the number of attempts to make it.
        lost: how many times it was gone, since somebody else had removed it.
    """

    def __init__(self, service: SheetsApi, layout: Layout, holder: Holder) -> None:
        self.gid, self.title = -1, ""
        self.rows, self.columns = layout.height, len(layout.pieces)
        self.attempts = self.lost = 0
        self._filled = False
        self._service, self.layout, self._holder = service, layout, holder

    @property
    def cells(self) -> int:
        """The number of cells of its grid."""
        return self.rows * self.columns

    def find(self, state: State) -> Worksheet | None:
        """Return the stage's worksheet, or None if it does not exist."""
        sheet = state.by_id(self.gid)
        return sheet if sheet and sheet.holder else None

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
        self.title = stage_title(self._holder, self.attempts)
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

        Args:
            chunks: all cells of the layout.
            filled: called with the number of cells that were put, and once more when they were compared.

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
                ((_, cells_back),) = fetch_values(self._service, [(self.title, chunk.rect)])
                sent = chunk.values()
                self._compare(chunk, sent, cells_back)
                filled(chunk.cells)
        except RefusedError:
            if self.find(fetch_state(self._service)) is None:
                self.lost += 1
                raise ConflictError from None
            raise
        self._filled = True

    def _compare(self, chunk: Chunk, sent: list[list[Cell]], cells_back: list[list[Cell]]) -> None:
        """Compare the columns of a chunk as they were sent with those that the service gives back.

        Raises:
            DTypeError: a cell is another one, which the message names.
        """
        for number, cells in enumerate(sent):
            kept = cells_back[number] if number < len(cells_back) else []
            wrong = find_difference(cells, kept)
            if wrong is not None:
                piece = self.layout.pieces[(chunk.rect.left or 0) + number]
                index = chunk.rect.top + wrong - len(piece.cells_above(named=self.layout.named))
                location = f"{piece.name}, buffer element {piece.start + index}" if index >= 0 else piece.name
                raise DTypeError(
                    f"{location}: the service keeps {_cell_or_blank(cells, wrong)!r:.60} "
                    f"as {_cell_or_blank(kept, wrong)!r:.60}"
                )

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


def _cell_or_blank(cells: list[Cell], index: int) -> Cell:
    """Return a cell of a column, or a blank beyond its end."""
    return cells[index] if index < len(cells) else ""
