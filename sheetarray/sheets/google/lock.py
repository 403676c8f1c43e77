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

from ...columns import Layout, Piece
from ...elements import Cell
from ...errors import DTypeError, RemoteError
from .address import Rect
from .body import MOST_BYTES, cells_of, difference
from .changes import Requests, Swap, apply, cleared, proof, resized
from .commit import finish
from .content import mark
from .fetch import values
from .holder import Holder
from .patience import FailedError, RefusedError
from .plan import Place, Plan
from .requests import Answer, Service
from .stage import remains
from .state import NamedRange, State, Worksheet, look

_CELLS = 8192  # encoded at a time
_READ = 100_000  # cells read back in a request


class InPlace:
    """A write into a worksheet as it stands.

    Args:
        service: the spreadsheet.
        layout: what is written.
        plan: where.
        sheet: the worksheet.
        holder: who writes.
    """

    def __init__(self, service: Service, layout: Layout, plan: Plan, sheet: Worksheet, holder: Holder) -> None:
        self._service, self._layout, self._plan, self._sheet, self._holder = service, layout, plan, sheet, holder
        self._grid = (plan.rows, plan.columns)
        self._generation: NamedRange | None = None
        self._last: Swap | None = None

    def write(self, filled: Callable[[int], None]) -> None:
        """Write everything.

        Args:
            filled: told the cells that are put, and those that are compared.

        Raises:
            RefusedError: the service refuses, perhaps since somebody else was faster; nothing has been changed.
            RemoteError: given up on the way; readers are told that the arrays are not whole.
            DTypeError: the service does not keep an element as it is.
        """
        self._begin()
        try:
            for place in self._plan.places:
                for row, rows in self._rows(place):
                    self._put([_update(self._sheet.gid, row, place.column, rows)])
                    filled(len(rows))
            for place in self._plan.places:
                self._compare(place)
                filled(place.height)
            self._end()
        except BaseException:
            self._let_go()
            raise

    def happened(self, state: State) -> bool:
        """Whether the last step took effect."""
        return self._last is not None and self._last.happened(state)

    # The steps -----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Take the worksheet: from here on its new arrays have headers that nobody can read."""
        plan, gid = self._plan, self._sheet.gid
        swap = Swap(gid, plan.state.generation(gid), self._sheet.notes, own=plan.own)
        requests = [
            *remains(plan.state),
            *resized(self._sheet, *self._grid),
            *(cleared(gid, rect) for rect in plan.cleared),
            *self._heads(self._holder),
            *finish(plan, gid),
        ]
        apply(self._service, swap.around(requests, *self._grid), swap.happened)
        state = look(self._service)
        sheet = state.by_id(gid)
        if sheet is None or not swap.happened(state) or sheet.notes.stamps[-1] != swap.stamp:
            raise self._taken_over()
        self._sheet, self._generation = sheet, state.generation(gid)

    def _end(self) -> None:
        """Make the headers valid."""
        swap = self._last = Swap(self._sheet.gid, self._generation, self._sheet.notes, own=self._plan.own)
        try:
            apply(self._service, swap.around(self._heads(None), *self._grid), swap.happened)
        except RefusedError as refused:
            raise self._judged(refused) from None

    def _put(self, requests: Requests) -> None:
        """Changes that may be made again and again, as long as the worksheet is ours."""
        assert self._generation is not None
        guarded = [proof(self._generation), *requests]
        try:
            self._service.patience.repeat(lambda: self._service.change(guarded))
        except RefusedError as refused:
            raise self._judged(refused) from None

    def _judged(self, refused: RefusedError) -> RemoteError:
        if look(self._service).generation(self._sheet.gid) != self._generation:
            return self._taken_over()
        return RemoteError(f"the service refuses the write: {refused.message}", status=refused.status)

    def _taken_over(self) -> RemoteError:
        return RemoteError(
            f"another write has taken over the worksheet {self._sheet.title!r}", hint="see what it holds, and try again"
        )

    def _let_go(self) -> None:
        """Tell others, if it can be told, that nobody writes any more: the next one need not wait."""
        assert self._generation is not None
        nobody = replace(self._holder, began=0.0)
        with suppress(FailedError, RefusedError, RemoteError):
            self._service.change([proof(self._generation), *self._heads(nobody)])

    # The cells -----------------------------------------------------------------------------------------------

    def _heads(self, holder: Holder | None) -> Requests:
        """The requests that write all headers; invalid ones where there is a holder."""
        return [
            _update(self._sheet.gid, place.row, place.column, list(map(_row, self._head(place, holder))))
            for place in self._plan.places
        ]

    def _head(self, place: Place, holder: Holder | None) -> list[Cell]:
        """The name, where it is written, and the header; invalid where there is a holder."""
        piece = self._layout.pieces[place.nth]
        header = list(piece.header)
        if holder is not None:
            at = header.index("length") + 1
            header[at] = mark(header[at], holder)
        return [*([piece.name] if place.named else ()), *header]

    def _rows(self, place: Place) -> Iterator[tuple[int, list[Answer]]]:
        """The elements of a column, in runs for a request each: the first row, and the cells."""
        piece = self._layout.pieces[place.nth]
        row, run, size = place.row + place.height - len(piece.buffer), list[Answer](), 0
        for cells in _blocks(piece):
            for cell in cells:
                found = _row(cell)
                length = 40 + len(json.dumps(cell, ensure_ascii=False).encode())
                if run and size + length > MOST_BYTES * 3 // 4:
                    yield row, run
                    row, run, size = row + len(run), [], 0
                run.append(found)
                size += length
        if run:
            yield row, run

    def _compare(self, place: Place) -> None:
        piece = self._layout.pieces[place.nth]
        data = place.row + place.height - len(piece.buffer)
        for start in range(0, len(piece.buffer), _READ):
            sent = cells_of(piece, start, min(_READ, len(piece.buffer) - start))
            rect = Rect(data + start, place.column, data + start + len(sent), place.column + 1)
            try:
                ((_, columns),) = values(self._service, [(self._sheet.title, rect)])
            except RefusedError as refused:
                raise self._judged(refused) from None
            wrong = difference(sent, columns[0] if columns else [])
            if wrong is not None:
                raise DTypeError(f"{piece.name}, buffer element {piece.start + start + wrong}: the service does not "
                                 f"keep {sent[wrong]!r:.60}, or somebody else has changed it")  # fmt: skip


def _blocks(piece: Piece) -> Iterator[list[Cell]]:
    for start in range(0, len(piece.buffer), _CELLS):
        yield cells_of(piece, start, min(_CELLS, len(piece.buffer) - start))


def _update(gid: int, row: int, column: int, rows: list[Answer]) -> Answer:
    start = {"sheetId": gid, "rowIndex": row, "columnIndex": column}
    return {"updateCells": {"start": start, "rows": rows, "fields": "userEnteredValue"}}


def _row(cell: Cell) -> Answer:
    """A row of one cell."""
    if cell is None or cell == "":
        return {"values": [{}]}
    kind = "boolValue" if isinstance(cell, bool) else "stringValue" if isinstance(cell, str) else "numberValue"
    return {"values": [{"userEnteredValue": {kind: cell}}]}
