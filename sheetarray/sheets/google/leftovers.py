"""Finds and removes leftovers of writes in a spreadsheet: stages, and marks of arrays that were written in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...columns import cell_address, find_anchors
from ...elements import Cell
from ...errors import Finding
from ...files import PathLike
from .address import parse_address
from .changes import Swap, apply_changes, remove_sheet_requests, update_cells
from .client import http_client
from .content import find_mark, write_mark
from .holder import Holder
from .requests import SheetsApi
from .retries import TIMEOUT, RefusedError, Retries
from .sheet import GoogleSheet
from .state import State, Worksheet, fetch_state

_MOST_ATTEMPTS = 5  # to remove what others remove too


@dataclass(frozen=True, slots=True)
class Leftover:
    """A stage, or the mark of an array that is written in place.

    Attributes:
        location: the title of the stage, or the cell of the mark.
        message: a sentence that says which process it is of, and since when.
        dead: whether the writer is known to be dead, or taken for dead.
    """

    location: str
    message: str
    dead: bool

    def __str__(self) -> str:
        return f"{self.location}: {self.message}"


@dataclass(frozen=True, slots=True)
class _Mark:
    """The cell of a mark."""

    row: int
    column: int
    length: int
    holder: Holder


def clean_gsheet(
    source: Any,
    *,
    everything: bool = False,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
) -> list[Leftover]:
    """Remove the hidden sheets that interrupted writes have left, and return a `Leftover` for each.

    Args:
        source: as for `read_gsheet`; the whole spreadsheet is looked at.
        everything: remove those of writers that may be alive too; these begin again.
        client: as for `write_gsheet`.
        credentials: as for `write_gsheet`.
        timeout: as for `write_gsheet`.

    Raises:
        RemoteError: the service cannot be reached, or refuses.

    Example:
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     clean_gsheet(server.create(), client=server.client())
        []
    """
    service = _open(source, client, credentials, timeout)
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
        return [_to_leftover(state, sheet) for sheet in sheets]
    return []


def unlock_gsheet(
    source: Any, *, client: Any = None, credentials: PathLike | None = None, timeout: float = TIMEOUT
) -> list[Leftover]:
    """Take worksheets over from whoever writes to them in place; return a `Leftover` for each write that was ended.

    Nothing that they still send has an effect. Their arrays stay as they are, not whole, until they are written again.

    Args:
        source: as for `read_gsheet`; the whole spreadsheet is looked at, or the worksheet that it means.
        client: as for `write_gsheet`.
        credentials: as for `write_gsheet`.
        timeout: as for `write_gsheet`.

    Raises:
        RemoteError: the service cannot be reached, or refuses.

    Example:
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     unlock_gsheet(server.create(), client=server.client())
        []
    """
    service = _open(source, client, credentials, timeout)
    address, state = parse_address(source), fetch_state(service)
    named = address.gid is not None or address.title is not None
    wanted = state.select_worksheet(address.gid, address.title) if named else None
    ended: list[Leftover] = []
    for sheet in [wanted] if wanted else state.arrays:
        marks = list(_find_marks(service, sheet))
        if not marks:
            continue
        swap = Swap(sheet.gid, state.generation(sheet.gid), sheet.notes, own=sheet.notes.own)
        requests = [
            update_cells(sheet.gid, mark.row, mark.column, [[write_mark(mark.length, replace(mark.holder, began=0.0))]])
            for mark in marks
        ]
        apply_changes(service, swap.wrap(requests, sheet.rows, sheet.columns), swap.took_effect, confirmed=True)
        ended += [
            Leftover(
                f"{sheet.title}!{cell_address(mark.row, mark.column)}",
                mark.holder.describe(state.now),
                mark.holder.is_dead(state.now),
            )
            for mark in marks
        ]
        state = fetch_state(service)
    return ended


def stage_findings(state: State) -> Iterator[Finding]:
    """Yield a finding for each stage that stands in a spreadsheet."""
    for sheet in (*state.dead_stages(), *state.living_stages()):
        leftover = _to_leftover(state, sheet)
        hint = (
            "the next write removes it, and so does: sheetarray gsheets clean URL"
            if leftover.dead
            else "if it is dead, remove it: sheetarray gsheets clean --all URL"
        )
        yield Finding("warning", sheet.title, f"the hidden sheet of a write: {leftover.message}", hint)


def _to_leftover(state: State, sheet: Worksheet) -> Leftover:
    holder = sheet.holder
    assert holder is not None
    return Leftover(sheet.title, holder.describe(state.now), holder.is_dead(state.now))


def _find_marks(service: SheetsApi, sheet: Worksheet) -> Iterator[_Mark]:
    def meaning(cell: Cell) -> Cell:
        marked = find_mark(cell)
        return marked[0] if marked else cell

    view = GoogleSheet(service, sheet.title, (sheet.rows, sheet.columns), meaning=meaning)
    for anchor in find_anchors(view):
        down = anchor.orient == "columns"
        for step in range(anchor.start):
            row, column = (anchor.row + step, anchor.column) if down else (anchor.row, anchor.column + step)
            if marked := find_mark(view.cell(row, column)):
                yield _Mark(row, column, *marked)


def _open(source: Any, client: Any, credentials: PathLike | None, timeout: float) -> SheetsApi:
    address = parse_address(source)
    http = address.http if address.http is not None and client is None else client
    return SheetsApi(http_client(http, credentials, writing=True), address.key, Retries(timeout=timeout))
