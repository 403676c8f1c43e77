"""Reading arrays, headers, findings and ordinary tables from a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...adapters import Progress
from ...columns import ArrayInfo, reporting_cells
from ...composite import check_sheets, count_cells, read_sheets, scan_sheets
from ...elements import Missing
from ...elements.spelling import DecimalMark
from ...errors import Finding, FormatError, LimitError
from ...files import PathLike
from ...header import Order
from ...tables import DTypes, Rows, Shapes, TableOptions, Values, read_table
from .consistent import pause_listener, read_consistently
from .leftovers import stage_findings
from .retries import TIMEOUT
from .sheet import MOST_AT_ONCE, GoogleSheet
from .slices import check_slices, is_cut, read_slices
from .state import fetch_state
from .view_findings import find_typed_views

_READ_AT_ONCE = 500_000  # cells of grids, where all arrays are read


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
        FormatError: with `.location` of the first cell that is wrong.
        NotFoundError: no such worksheet, or no array of a name asked for.
        RemoteError: the service cannot be reached, or refuses.

    Example:
        >>> from sheetarray.sheets.google import write_gsheet
        >>> from sheets_emulator import SheetsServer
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
            wanted = list(dict.fromkeys([*wanted, *slices]))
            uncut = [name for name in wanted if name not in slices or not is_cut(sheets, name)]
            whole = read_sheets(sheets, uncut, strict=strict, missing=missing)
            parts = read_slices(sheets, slices, missing, whole)
            return {name: parts[name] if name in parts else whole[name] for name in wanted}
        with reporting_cells(progress, sheets, lambda: count_cells(sheets, names, strict=strict)):
            return read_sheets(sheets, names, strict=strict, missing=missing, resize=resize)

    at_once = _READ_AT_ONCE if names is None and not slices else MOST_AT_ONCE
    return read_consistently(
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

    Example:
        >>> from sheetarray.sheets.google import write_gsheet
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     key, client = server.create(), server.client()
        ...     url = write_gsheet(key, {"t": np.zeros((2, 3))}, client=client)
        ...     scan_gsheet(key, client=client)["t"].shape
        (2, 3)
    """
    return read_consistently(
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

    Example:
        >>> from sheetarray.sheets.google import write_gsheet
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     key, client = server.create(), server.client()
        ...     url = write_gsheet(key, {"t": np.zeros((2, 3))}, client=client)
        ...     list(check_gsheet(key, client=client))
        []
    """

    def attempt(sheets: list[GoogleSheet]) -> list[Finding]:
        with reporting_cells(progress, sheets, lambda: count_cells(sheets)):
            findings = list(check_sheets(sheets, missing=missing))
        state = fetch_state(sheets[0].service)
        return [*findings, *find_typed_views(sheets, state), *stage_findings(state)]

    try:
        yield from read_consistently(source, worksheet, client, credentials, timeout, attempt, pause_listener(progress))
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
    """Return the columns of an ordinary table, one array each; see `sheetarray.read_columns`.

    Args:
        source: as for `read_gsheet`; without a worksheet, the first one is read.
        columns: names (or letters) of the columns wanted; None for all.
        dtype: of every column, or by name; None infers it without loss.
        shape: of every column's array, or by name; one -1 is worked out.
        order: "row-major" or "column-major": how the cells of a column fill its shape.
        missing: "nan" reads blanks and error cells as NaN, NaT, None or ""; "error" refuses them.
        worksheet: as for `read_gsheet`.
        client: as for `read_gsheet`.
        credentials: as for `read_gsheet`.
        timeout: as for `read_gsheet`.
        header: the number of rows that hold the names; True is 1, False is 0, and with None the first row tells.
        skip_rows: the number of rows above the table, or the rows that are passed over, counted from 0.
        skip_footer: the number of rows below the table that are passed over.
        comment: rows that begin with this text are passed over.
        na_values: texts or numbers that mean a missing value, besides blanks.
        decimal: the decimal mark of numbers in text; None finds it for each column.
        thousands: the mark between thousands in text; None for no such mark.

    Raises:
        FormatError: no table, a cell that its dtype cannot mean, or a column that does not fill its shape.
        NotFoundError: no such worksheet, or no such column.
        RemoteError: the service cannot be reached, or refuses.

    Example:
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     key, client = server.create(), server.client()
        ...     _ = client.open_by_key(key).sheet1.update([["id", "t"], [7, 1.5], [8, 2.5]])
        ...     read_columns_gsheet(key, client=client)
        {'id': array([7, 8]), 't': array([1.5, 2.5])}
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

    return read_consistently(source, worksheet, client, credentials, timeout, attempt, pause_listener(None), first=True)
