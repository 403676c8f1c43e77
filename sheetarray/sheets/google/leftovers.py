"""Finds and removes the stages that interrupted writes have left in a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...errors import Finding
from ...files import PathLike
from .address import parse_address
from .changes import apply_changes, remove_sheet_requests
from .client import http_client
from .requests import SheetsApi
from .retries import TIMEOUT, RefusedError, Retries
from .state import State, Worksheet, fetch_state

_MOST_ATTEMPTS = 5  # to remove what others remove too


@dataclass(frozen=True, slots=True)
class Leftover:
    """The stage of a write, which an interrupted one has left.

    Attributes:
        location: the title of the stage.
        message: a sentence that says which process it is of, and since when.
        dead: whether the writer is known to be dead, or taken for dead.
    """

    location: str
    message: str
    dead: bool

    def __str__(self) -> str:
        return f"{self.location}: {self.message}"


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


def _open(source: Any, client: Any, credentials: PathLike | None, timeout: float) -> SheetsApi:
    address = parse_address(source)
    http = address.http if address.http is not None and client is None else client
    return SheetsApi(http_client(http, credentials, writing=True), address.key, Retries(timeout=timeout))
