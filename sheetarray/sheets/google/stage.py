"""The stage: a hidden worksheet of the write's own, on which arrays stand whole before anybody can read them.

Its id is chosen here, so that it is recognised when an answer is lost; its title says who writes, and since when, so
that the next write removes what an interrupted one has left.
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
        layout: what is to stand on it.
        holder: who writes.

    Attributes:
        gid: its id; no worksheet's before it is made.
        title: of it.
        layout: what stands on it.
        rows, columns: of its grid.
        attempts: how often it was to be made.
        lost: how often somebody else has removed it.
    """

    def __init__(self, service: SheetsApi, layout: Layout, holder: Holder) -> None:
        self.gid, self.title = -1, ""
        self.rows, self.columns = layout.height, len(layout.pieces)
        self.attempts = self.lost = 0
        self._filled = False
        self._service, self.layout, self._holder = service, layout, holder

    @property
    def cells(self) -> int:
        """The cells of its grid."""
        return self.rows * self.columns

    def find(self, state: State) -> Worksheet | None:
        """Return the stage's worksheet, or None if it does not exist."""
        sheet = state.by_id(self.gid)
        return sheet if sheet and sheet.holder else None

    def is_ready(self, state: State) -> bool:
        """Return whether the stage exists and holds all cells."""
        if self._filled and self.find(state) is None:
            self._filled = False
            self.lost += 1
        return self._filled

    def make(self, state: State) -> None:
        """Make the stage, with an id and a title that none has had, and remove what interrupted writes have left.

        Raises:
            RefusedError: there is no room for it, or somebody else has removed that meanwhile.
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
        """Put the cells, then read them back and compare.

        Args:
            chunks: all cells of the layout.
            filled: told the cells that are put, and those that are compared.

        Raises:
            ConflictError: the stage is gone.
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
        for number, cells in enumerate(sent):
            got = cells_back[number] if number < len(cells_back) else []
            wrong = find_difference(cells, got)
            if wrong is not None:
                piece = self.layout.pieces[(chunk.rect.left or 0) + number]
                index = chunk.rect.top + wrong - len(piece.cells_above(named=self.layout.named))
                place = f"{piece.name}, buffer element {piece.start + index}" if index >= 0 else piece.name
                raise DTypeError(
                    f"{place}: the service keeps {_cell_or_blank(cells, wrong)!r:.60} "
                    f"as {_cell_or_blank(got, wrong)!r:.60}"
                )

    def remove(self, state: State) -> None:
        """Remove it.

        Raises:
            RefusedError: it is not there any more, or has become a worksheet.
        """
        self._filled = False
        apply_changes(self._service, self.removal_requests(state), lambda after: self.find(after) is None)

    def removal_requests(self, state: State) -> Requests:
        """Return the requests that remove it, in a batch with others."""
        sheet = self.find(state)
        return remove_sheet_requests(state, sheet) if sheet else []


def _is_put(cells: str, answer: Answer) -> bool:
    """Return whether an answer says that these cells were written."""
    return "updatedRange" in answer and is_same_range(answer["updatedRange"], cells)


def new_gid() -> int:
    """Return an id for a worksheet, which none has yet, most probably."""
    return 1 + secrets.randbelow(2**31 - 2)


def remains_requests(state: State) -> Requests:
    """Return the requests that remove what interrupted writes have left."""
    return [request for sheet in state.dead_stages() for request in remove_sheet_requests(state, sheet)]


def _cell_or_blank(cells: list[Cell], index: int) -> Cell:
    return cells[index] if index < len(cells) else ""
