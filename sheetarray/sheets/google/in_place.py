"""Writing in place, where the limit of cells leaves no room for a stage.

The header is invalid first and valid last; the mark in it says who writes, and since when, and is the lock. Every batch
proves that the worksheet's generation is still the one that this write began: whoever takes over from a writer that
seems dead takes the generation away, and nothing that the other one still sends has an effect.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

from ...columns import LayoutColumn
from ...elements import Cell
from ...errors import DTypeError, RemoteError
from .address import Rect
from .body import MOST_BYTES, find_difference, to_cells
from .changes import Requests, Swap, apply_changes, clear_cells, prove_range, resize_sheet, update_cells
from .commit import finishing_requests
from .content import write_mark
from .fetch import fetch_values
from .holder import Holder
from .plan import PlacedColumn, WritePlan
from .read_back import CellDifference
from .requests import SheetsApi
from .retries import FailedError, RefusedError
from .stage import remains_requests
from .state import NamedRange, State, Worksheet, fetch_state

_CELLS = 8192  # encoded at a time
_READ = 100_000  # cells read back in a request


class InPlaceWrite:
    """A write into a worksheet as it stands.

    Args:
        service: the spreadsheet.
        plan: where.
        sheet: the worksheet.
        holder: who writes.
    """

    def __init__(self, service: SheetsApi, plan: WritePlan, sheet: Worksheet, holder: Holder) -> None:
        self._service, self._layout, self._plan, self._sheet, self._holder = service, plan.layout, plan, sheet, holder
        self._grid = (plan.rows, plan.columns)
        self._generation: NamedRange | None = None
        self._last: Swap | None = None

    def write(self, filled: Callable[[int], None]) -> None:
        """Write everything.

        Args:
            filled: is called with the number of cells that have been put, and again as they are compared.

        Raises:
            RefusedError: the service refuses, perhaps since somebody else was faster; nothing has been changed.
            RemoteError: given up on the way; readers are told that the arrays are not whole.
            DTypeError: the service does not keep an element as it is.
        """
        self._begin()
        try:
            for placed in self._plan.placed_columns:
                self._put_elements(placed, filled)
            for placed in self._plan.placed_columns:
                if self._find_difference(placed) is not None:  # perhaps an answer was not the service's: once more
                    self._put_elements(placed, lambda _: None)
                    if (difference := self._find_difference(placed)) is not None:
                        raise DTypeError(f"{difference}, or somebody else has changed it")
                filled(placed.height)
            self._end()
        except BaseException:
            self._release()
            raise

    def has_happened(self, state: State) -> bool:
        """Return whether the last step took effect."""
        return self._last is not None and self._last.took_effect(state)

    # The steps -----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Take the worksheet: from here on its new arrays have headers that nobody can read."""
        plan, gid = self._plan, self._sheet.gid
        swap = Swap(gid, plan.state.generation(gid), self._sheet.notes, own=plan.own)
        requests = [
            *remains_requests(plan.state),
            *resize_sheet(self._sheet, *self._grid),
            *(clear_cells(gid, rect) for rect in plan.cleared),
            *self._header_requests(self._holder),
            *finishing_requests(plan, gid),
        ]
        apply_changes(self._service, swap.wrap(requests, *self._grid), swap.took_effect, confirmed=True)
        state = fetch_state(self._service)
        sheet = state.by_id(gid)
        if sheet is None or not swap.took_effect(state) or sheet.notes.stamps[-1] != swap.stamp:
            raise self._takeover_error()
        self._sheet, self._generation = sheet, state.generation(gid)

    def _end(self) -> None:
        """Make the headers valid."""
        swap = self._last = Swap(self._sheet.gid, self._generation, self._sheet.notes, own=self._plan.own)
        try:
            requests = swap.wrap(self._header_requests(None), *self._grid)
            apply_changes(self._service, requests, swap.took_effect, confirmed=True)
        except RefusedError as refused:
            raise self._explain_refusal(refused) from None

    def _send(self, requests: Requests) -> None:
        """Send changes that may be made again and again, as long as the worksheet is ours."""
        assert self._generation is not None
        guarded = [prove_range(self._generation), *requests]
        try:
            self._service.patience.repeat(lambda: self._service.batch_update(guarded))
        except RefusedError as refused:
            raise self._explain_refusal(refused) from None

    def _explain_refusal(self, refused: RefusedError) -> RemoteError:
        if fetch_state(self._service).generation(self._sheet.gid) != self._generation:
            return self._takeover_error()
        return RemoteError(f"the service refuses the write: {refused.message}", status=refused.status)

    def _takeover_error(self) -> RemoteError:
        return RemoteError(
            f"another write has taken over the worksheet {self._sheet.title!r}", hint="see what it holds, and try again"
        )

    def _release(self) -> None:
        """Change the mark, if the service takes it, to say that nobody writes any more, so that nobody waits."""
        assert self._generation is not None
        nobody = replace(self._holder, began=0.0)
        with suppress(FailedError, RefusedError, RemoteError):
            self._service.batch_update([prove_range(self._generation), *self._header_requests(nobody)])

    # The cells -----------------------------------------------------------------------------------------------

    def _header_requests(self, holder: Holder | None) -> Requests:
        """Return the requests that write all headers; invalid ones where there is a holder."""
        return [
            update_cells(
                self._sheet.gid, placed.row, placed.column, [[cell] for cell in self._header_request(placed, holder)]
            )
            for placed in self._plan.placed_columns
        ]

    def _header_request(self, placed: PlacedColumn, holder: Holder | None) -> list[Cell]:
        """Return the name, where it is written, and the header; invalid where there is a holder."""
        piece = self._layout.pieces[placed.index]
        if holder is None:
            return piece.cells_above(named=placed.named)
        header = list(piece.header)
        at = header.index("length") + 1
        header[at] = write_mark(header[at], holder)
        return replace(piece, header=header).cells_above(named=placed.named)

    def _element_runs(self, placed: PlacedColumn) -> Iterator[tuple[int, list[list[Cell]]]]:
        """Yield the elements of a column, in runs for a request each: the first row, and the cells."""
        piece = self._layout.pieces[placed.index]
        row, run, size = placed.row + placed.height - len(piece.buffer), list[list[Cell]](), 0
        for cells in _blocks(piece):
            for cell in cells:
                length = 40 + len(json.dumps(cell, ensure_ascii=False).encode())
                if run and size + length > MOST_BYTES * 3 // 4:
                    yield row, run
                    row, run, size = row + len(run), [], 0
                run.append([cell])
                size += length
        if run:
            yield row, run

    def _put_elements(self, placed: PlacedColumn, filled: Callable[[int], None]) -> None:
        for row, rows in self._element_runs(placed):
            self._send([update_cells(self._sheet.gid, row, placed.column, rows)])
            filled(len(rows))

    def _find_difference(self, placed: PlacedColumn) -> CellDifference | None:
        """Return the first element that the service does not keep as it was sent."""
        piece = self._layout.pieces[placed.index]
        data = placed.row + placed.height - len(piece.buffer)
        for start in range(0, len(piece.buffer), _READ):
            sent = to_cells(piece, start, min(_READ, len(piece.buffer) - start))
            rect = Rect(data + start, placed.column, data + start + len(sent), placed.column + 1)
            try:
                ((_, columns),) = fetch_values(self._service, [(self._sheet.title, rect)])
            except RefusedError as refused:
                raise self._explain_refusal(refused) from None
            wrong = find_difference(sent, columns[0] if columns else [])
            if wrong is not None:
                kept = columns[0] if columns else []
                where = f"{piece.name}, buffer element {piece.start + start + wrong}"
                return CellDifference(where, sent[wrong], kept[wrong] if wrong < len(kept) else "")
        return None


def _blocks(piece: LayoutColumn) -> Iterator[list[Cell]]:
    for start in range(0, len(piece.buffer), _CELLS):
        yield to_cells(piece, start, min(_CELLS, len(piece.buffer) - start))
