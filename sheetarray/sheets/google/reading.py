"""Reading arrays, headers, findings and ordinary tables from a spreadsheet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ...adapters import Progress
from ...columns import ArrayInfo, reporting_cells
from ...composite import check_sheets, count_cells, read_sheets, scan_sheets
from ...elements import Missing
from ...elements.spelling import DecimalMark
from ...errors import Finding, FormatError, LimitError, RemoteError, locating
from ...files import PathLike
from ...header import Order
from ...tables import DTypes, Rows, Shapes, TableOptions, Values, read_table
from .address import SheetAddress, parse_address
from .client import http_client
from .content import NOT_WHOLE, find_mark
from .fetch import fetch_values
from .leftovers import stage_findings
from .requests import SheetsApi
from .retries import TIMEOUT, ChangedError, RefusedError, Retries
from .sheet import MOST_AT_ONCE, GoogleSheet
from .slices import check_slices, is_cut, read_slices
from .state import fetch_state

Result = TypeVar("Result")

_ATTEMPTS = 6  # to read a worksheet while others write
_HEAD = 20_000  # cells
_READ_AT_ONCE = 500_000  # cells of grids, where all arrays are read

_UNDER_WAY = (
    "it is being written, or the write was interrupted: read it again later, or write it again, after "
    "sheetarray gsheets unlock URL where the writer is dead"
)


def read_gsheet(
    source: Any,
    names: Sequence[str] | None = None,
    *,
    slices: Mapping[str, slice] | None = None,
    worksheet: str | None = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    strict: bool = False,
    resize: bool = False,
    missing: Missing = "error",
    progress: Progress | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays of a Google spreadsheet, as they are at one moment.

    Args:
        source: a URL (`#gid=` chooses the worksheet), `gsheets://KEY/worksheet`, a key, or a gspread Spreadsheet or
            Worksheet.
        names: only these arrays are decoded, and only their columns are fetched; None for all.
        slices: of the first axis, by name, such as `{"t": slice(0, 100)}`: only these cells are fetched of an array in
            row-major order whose elements lie side by side; any other is read whole, and cut.
        worksheet: its title, where the source says none; None reads every worksheet that holds arrays.
        client: a gspread client; None makes one that may only read.
        credentials: the path of a key file; see `sheetarray.sheets.google.client` for where they come from otherwise.
        timeout: seconds after which the call gives up, whatever the service does; waiting for a quota does not count.
        strict: refuse lists without a version.
        missing: "nan" reads blanks in float and complex arrays as NaN.
        resize: where people have added or deleted rows, the axis that varies slowest takes its length from the cells
            that stand there.
        progress: called with the cells read and the cells in all; its attribute `waiting`, where it has one, with the
            seconds of each pause, and why.

    Returns:
        Arrays by name, in the order written.

    Raises:
        FormatError: with `.location` of the first cell that is wrong, or of an array that is being written.
        NotFoundError: no such worksheet, or no array of a name asked for.
        RemoteError: the service cannot be reached, or refuses.

    Example:
        >>> from sheetarray.sheets.google import write_gsheet
        >>> from sheetarray.testing.sheets_server import SheetsServer
        >>> with SheetsServer() as server:
        ...     key, client = server.create(), server.client()
        ...     url = write_gsheet(key, {"t": np.array([[1.5, 2.5]])}, client=client)
        ...     read_gsheet(key, client=client)
        {'t': array([[1.5, 2.5]])}
    """

    check_slices({} if slices is None else slices)
    if slices and resize:
        raise LimitError("slices are of the arrays as their headers say, and resize=True of what stands below")

    def attempt(sheets: list[GoogleSheet]) -> dict[str, np.ndarray[Any, Any]]:
        if slices:
            wanted = list(scan_sheets(sheets, strict=strict)) if names is None else names
            absent = [name for name in slices if name not in wanted]
            cut = {name: rows for name, rows in slices.items() if name in absent or is_cut(sheets, name)}
            whole = read_sheets(sheets, [name for name in wanted if name not in cut], strict=strict, missing=missing)
            parts = read_slices(sheets, slices, missing, whole)
            return {name: parts[name] if name in parts else whole[name] for name in [*wanted, *absent]}
        with reporting_cells(progress, sheets, lambda: count_cells(sheets, names, strict=strict)):
            return read_sheets(sheets, names, strict=strict, missing=missing, resize=resize)

    at_once = _READ_AT_ONCE if names is None and not slices else MOST_AT_ONCE
    return _read_consistently(
        source, worksheet, client, credentials, timeout, attempt, pause_listener(progress), at_once=at_once
    )


def scan_gsheet(
    source: Any,
    *,
    worksheet: str | None = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    strict: bool = False,
    resize: bool = False,
    progress: Progress | None = None,
) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays, in two requests where the worksheet is small, a few where it is not.

    Args:
        source: as for `read_gsheet`.
        worksheet: as for `read_gsheet`.
        client: as for `read_gsheet`.
        credentials: as for `read_gsheet`.
        timeout: as for `read_gsheet`.
        strict: refuse lists without a version.
        resize: shapes are those that `read_gsheet` gives with it, and all is read.
        progress: its attribute `waiting` is called as by `read_gsheet`; itself it is not.

    Raises:
        FormatError: no array, or a broken header.
        NotFoundError: no such worksheet.
        RemoteError: the service cannot be reached, or refuses.
    """
    return _read_consistently(
        source,
        worksheet,
        client,
        credentials,
        timeout,
        lambda sheets: scan_sheets(sheets, strict=strict, resize=resize),
        pause_listener(progress),
    )


def check_gsheet(
    source: Any,
    *,
    worksheet: str | None = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    missing: Missing = "error",
    progress: Progress | None = None,
) -> Iterator[Finding]:
    """Yield every finding in a spreadsheet; nothing where it is intact.

    Args:
        source: as for `read_gsheet`.
        worksheet: as for `read_gsheet`.
        client: as for `read_gsheet`.
        credentials: as for `read_gsheet`.
        timeout: as for `read_gsheet`.
        missing: as for `read_gsheet`.
        progress: as for `read_gsheet`.

    Raises:
        NotFoundError: no such worksheet.
        RemoteError: the service cannot be reached, or refuses; never for the content.
    """

    def attempt(sheets: list[GoogleSheet]) -> list[Finding]:
        with reporting_cells(progress, sheets, lambda: count_cells(sheets)):
            findings = [_explain_finding(finding, sheets) for finding in check_sheets(sheets, missing=missing)]
        return [*findings, *stage_findings(sheets[0].service)]

    try:
        yield from _read_consistently(
            source, worksheet, client, credentials, timeout, attempt, pause_listener(progress)
        )
    except FormatError as error:
        yield Finding.from_error(error)


def read_columns_gsheet(
    source: Any,
    columns: Sequence[str] | None = None,
    *,
    dtype: DTypes = None,
    shape: Shapes = None,
    order: Order = "row-major",
    missing: Missing = "nan",
    worksheet: str | None = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    header: bool | int | None = None,
    skip_rows: Rows = 0,
    skip_footer: int = 0,
    comment: str | None = None,
    na_values: Values = (),
    decimal: DecimalMark | None = None,
    thousands: str | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the columns of an ordinary table, of the first worksheet unless one is named; see
    `sheetarray.read_columns`.
    """
    options = TableOptions(
        dtype=dtype,
        shape=shape,
        order=order,
        missing=missing,
        header=header,
        skip_rows=skip_rows,
        skip_footer=skip_footer,
        comment=comment,
        na_values=na_values,
        decimal=decimal,
        thousands=thousands,
    )

    def attempt(sheets: list[GoogleSheet]) -> dict[str, np.ndarray[Any, Any]]:
        return read_table(sheets[0], columns, options)

    return _read_consistently(
        source, worksheet, client, credentials, timeout, attempt, pause_listener(None), first=True
    )


def pause_listener(progress: Progress | None) -> Callable[[float, str], None] | None:
    """Return the progress callback's `waiting` method, or None."""
    listener = getattr(progress, "waiting", None)
    return listener if callable(listener) else None


def _read_consistently(
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
    """Run `attempt` on the worksheets, again if someone wrote to them meanwhile, up to three times.

    Raises:
        FormatError: others write all the time.
    """
    address = parse_address(source, worksheet)
    http = address.http if address.http is not None and client is None else client
    patience = Retries(waiting, timeout=timeout)
    service = SheetsApi(http_client(http, credentials, writing=False), address.key, patience)
    sheets: list[GoogleSheet] = []
    with locating(source=address.label), explain_unfinished(sheets):
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
    with locating(source=address.label), explain_unfinished(sheets):
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


@contextmanager
def explain_unfinished(sheets: Sequence[GoogleSheet]) -> Iterator[None]:
    """Say of an array that is being written that it is, and by whom, as far as these sheets have been fetched."""
    try:
        yield
    except FormatError as error:
        if NOT_WHOLE in error.reason:
            error.reason, error.hint = _describe_writer(sheets), _UNDER_WAY
        raise


def _explain_finding(finding: Finding, sheets: Sequence[GoogleSheet]) -> Finding:
    if NOT_WHOLE not in finding.message:
        return finding
    return replace(finding, message=_describe_writer(sheets), hint=_UNDER_WAY)


def _describe_writer(sheets: Sequence[GoogleSheet]) -> str:
    """Return a sentence about an array that is not whole, and who writes it, as far as its mark has been fetched."""
    marks = (find_mark(cell) for sheet in sheets for cell in sheet.first_cells())
    holders = [mark[1].describe(sheets[0].service.now) for mark in marks if mark]
    return "; ".join(["the array is not whole", *sorted(set(holders))])
