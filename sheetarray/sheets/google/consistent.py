"""Reads a worksheet as it stands at one moment: tries again while others write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ...adapters import Progress
from ...errors import FormatError, RemoteError, locating
from ...files import PathLike
from .address import SheetAddress, parse_address
from .client import http_client
from .fetch import fetch_values
from .requests import SheetsApi
from .retries import TIMEOUT, ChangedError, RefusedError, Retries
from .sheet import MOST_AT_ONCE, GoogleSheet
from .state import fetch_state

Result = TypeVar("Result")
_ATTEMPTS = 6  # to read a worksheet while others write
_HEAD = 20_000  # cells


def pause_listener(progress: Progress | None) -> Callable[[float, str], None] | None:
    """Return the progress callback's `waiting` method, or None."""
    listener = getattr(progress, "waiting", None)
    return listener if callable(listener) else None


def read_consistently(
    source: Any,
    worksheet: str | None,
    client: Any,
    credentials: PathLike | None,
    timeout: float,
    attempt: Callable[[list[GoogleSheet]], Result],
    waiting: Callable[[float, str], None] | None,
    *,
    first: bool = False,
    at_once: int = MOST_AT_ONCE,
) -> Result:
    """Run `attempt` on the worksheets, again if someone wrote to them meanwhile, up to `_ATTEMPTS` times.

    Raises:
        FormatError: others write all the time.
    """
    address = parse_address(source, worksheet)
    http = address.http if address.http is not None and client is None else client
    patience = Retries(waiting, timeout=timeout)
    service = SheetsApi(http_client(http, credentials, writing=False), address.key, patience)
    sheets: list[GoogleSheet] = []
    with locating(source=address.label):
        for index in range(_ATTEMPTS):
            try:
                sheets[:] = select_sheets(service, address, first=first, at_once=at_once)
                return attempt(sheets)
            except ChangedError as changed:
                message = str(changed)
            patience.pause(0.25 * 2**index, "others write to the worksheet")
        if message:
            raise RemoteError(f"the service refuses: {message}", status=400)
        raise FormatError("it changed each time while it was read", hint="others are writing to it: read it again")


@contextmanager
def open_sheets(
    source: Any,
    *,
    worksheet: str | None = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
) -> Iterator[list[GoogleSheet]]:
    """Give the worksheets that a source means, to be read at leisure; errors within are located in it.

    Raises:
        NotFoundError: there is no such worksheet.
        FormatError: there is none with cells, or others have written meanwhile.
    """
    address = parse_address(source, worksheet)
    http = address.http if address.http is not None and client is None else client
    service = SheetsApi(http_client(http, credentials, writing=False), address.key, Retries(timeout=timeout))
    sheets: list[GoogleSheet] = []
    with locating(source=address.label):
        try:
            sheets[:] = select_sheets(service, address, first=False, at_once=MOST_AT_ONCE)
            yield sheets
        except ChangedError:
            raise FormatError("it has changed while it was read", hint="read it again") from None


def select_sheets(service: SheetsApi, address: SheetAddress, *, first: bool, at_once: int) -> list[GoogleSheet]:
    """Return the worksheets that an address means, with their first rows where there are several.

    Raises:
        NotFoundError: there is no such worksheet.
        FormatError: there is none with cells.
    """
    if address.title is not None:
        return [GoogleSheet(service, address.title)]
    state = fetch_state(service)
    named = state.select_worksheet(address.gid, None) if address.gid is not None else None
    wanted = [named] if named else state.arrays[: 1 if first else None]
    if not wanted:
        raise FormatError("no worksheet with cells")
    at_once = at_once if sum(sheet.cells for sheet in wanted) <= at_once else MOST_AT_ONCE
    sheets = [GoogleSheet(service, sheet.title, (sheet.rows, sheet.columns), at_once=at_once) for sheet in wanted]
    ranges = [(sheet.title, view.first_rows(_HEAD)) for sheet, view in zip(wanted, sheets, strict=True)]
    try:
        for view, (_, rect), (_, columns) in zip(sheets, ranges, fetch_values(service, ranges), strict=True):
            view.keep_head(rect.bottom or 0, columns)
    except RefusedError as refused:
        raise ChangedError(refused.message) from None
    return sheets
