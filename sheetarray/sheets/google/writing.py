"""Writes arrays and tables into a spreadsheet, all of them or nothing at all; `write` is the way of one write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from ...adapters import Progress, ignore_progress
from ...arrays import linear_arrays
from ...columns import Layout, lay_out_sheets
from ...composite import spread
from ...errors import LimitError, locating
from ...files import PathLike
from ...tables import lay_out_table
from ...views.description import View, select_views
from .address import parse_address, title_of_new, worksheet_url
from .body import make_chunks
from .client import http_client
from .consistent import pause_listener
from .creating import create_gsheet
from .placing import plan_for
from .plan import check_cells
from .requests import SheetsApi
from .retries import TIMEOUT, Retries
from .state import MOST_CELLS, MOST_CHARACTERS, MOST_COLUMNS
from .table import plan_table
from .views import ViewSource, check_wanted, find_views, write_views
from .write import Planner, Write

_ANY_KEY = "0" * 44  # instead of the key of a spreadsheet that is yet to be made


def write_gsheet(
    target: Any,
    arrays: Any,
    *,
    worksheet: str = "arrays",
    dates: Literal["real", "text"] = "real",
    views: bool | str | Sequence[str] | Mapping[str, View] = False,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> str:
    """Write arrays into a worksheet of a Google spreadsheet, one column each: all of them, or nothing at all.

    They are put on a hidden sheet, read back and compared, and then put into place in one step. Arrays of the same
    names are replaced; other arrays, and cells that belong to none, stay. Each array gets a named range over its
    elements, so that `=SUM(temperature)` works. Integers beyond 2^53, -0.0, NaN and infinities are text.

    Args:
        target: a URL (`#gid=` chooses the worksheet), `gsheets://KEY/worksheet`, a key, or a gspread Spreadsheet or
            Worksheet; `gsheets://new?title=TITLE` makes a spreadsheet.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        worksheet: its title, if the target names none; one that does not exist is made.
        dates: "real" writes datetime64 of days, hours, minutes, seconds and milliseconds from 1900-03-01 to the end of
            9999 as the dates of spreadsheets; what else there is, and with "text" all of them, is ISO text.
        views: True, names of arrays, or a `View` for each name: worksheets `<name> view` that show one slice of an
            array of two dimensions or more as a table, by formulas: a chooser for each other dimension, colours, a
            chart. They follow once the arrays stand; where they cannot, a warning says so. Views of the same arrays
            that are there already are renewed.
        client: a gspread client; None makes one.
        credentials: the path of a key file; see `sheetarray.sheets.google.client` for where they come from otherwise.
        timeout: seconds after which the call gives up, whatever the service does; waiting for a quota does not count.
        progress: called with the cells written and the cells in all; its attribute `waiting`, where it has one, with
            the seconds of each pause, and why.

    Returns:
        The URL of the worksheet.

    Raises:
        DTypeError: an array that no dtype of the format holds.
        LimitError: more than 10,000,000 cells in the spreadsheet, 18,278 columns or 50,000 characters in a cell;
            or a view that cannot be; before anything is written.
        FormatError: something stands where an array has to go, at `.location`; nothing is changed.
        NotFoundError: there is no worksheet of the id that the target names, or a view of an array that is not written.
        RemoteError: the service cannot be reached, refuses, or its quota is used up; the old arrays stand.

    Example:
        >>> import numpy as np
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     key, client = server.create(), server.client()
        ...     url = write_gsheet(key, {"t": np.array([[1.5, 2.5]])}, client=client)
        ...     client.open_by_key(key).worksheet("arrays").col_values(1)[:4]
        ['t', 'version', '1.0.0', 'ndarray']
    """
    if dates not in ("real", "text"):
        raise LimitError(f'dates is "real" or "text", not {dates!r:.80}')
    linear = linear_arrays(spread(arrays, limit=MOST_CHARACTERS))
    wanted = select_views(views, linear)
    check_wanted(wanted, linear)
    layout, *more = lay_out_sheets(
        linear,
        max_columns=MOST_COLUMNS,
        max_characters=MOST_CHARACTERS,
        aligned=True,
        serials=dates == "real",
    )
    if more:
        raise LimitError(f"more than {MOST_COLUMNS:,} columns are needed, and a worksheet has no more")

    def write_views_after(write: Write) -> None:
        assert write.plan is not None
        if wanted or find_views(write.plan.state, write.gid, linear):
            source = ViewSource.of_write(write.gid, linear, layout, write.plan.placed_columns, dates=dates == "real")
            write_views(write.service, source, wanted)

    return _write(target, layout, worksheet, client, credentials, timeout, progress, then=write_views_after)


def write_table_gsheet(
    target: Any,
    table: Any,
    *,
    worksheet: str = "table",
    if_sheet_exists: Literal["error", "replace"] = "error",
    dates: Literal["real", "text"] = "real",
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> str:
    """Write the columns of a table to a worksheet, one row of names above them; see `sheetarray.write_table`.

    Args:
        target: as for `write_gsheet`.
        table: a mapping of names to 1-D arrays, a DataFrame, or an Arrow table.
        worksheet: its title, if the target names none; it is made if it does not exist, and used if it is blank.
        if_sheet_exists: "replace" puts the table in the place of a table that this package has written to the
            worksheet; with "error" the worksheet must be blank.
        dates: as for `write_gsheet`.
        client: as for `write_gsheet`.
        credentials: as for `write_gsheet`.
        timeout: as for `write_gsheet`.
        progress: as for `write_gsheet`.

    Returns:
        The URL of the worksheet.

    Raises:
        DTypeError: an array that is not 1-D, or of elements that no cell holds.
        LimitError: columns of different lengths, more than a spreadsheet holds, or a worksheet that is not to be
            replaced; nothing is changed.
        RemoteError: as for `write_gsheet`.

    Example:
        >>> import numpy as np
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     key, client = server.create(), server.client()
        ...     url = write_table_gsheet(key, {"day": np.array(["2024-02-29"], "M8[D]"), "t": [1.5]}, client=client)
        ...     client.open_by_key(key).worksheet("table").get_all_values()
        [['day', 't'], ['2024-02-29', '1.5']]
    """
    if dates not in ("real", "text") or if_sheet_exists not in ("error", "replace"):
        raise LimitError('if_sheet_exists is "error" or "replace", and dates "real" or "text"')
    layout = lay_out_table(table, max_columns=MOST_COLUMNS, max_characters=MOST_CHARACTERS, serials=dates == "real")
    make = partial(plan_table, replacing=if_sheet_exists == "replace")
    return _write(target, layout, worksheet, client, credentials, timeout, progress, make)


def _write(
    target: Any,
    layout: Layout,
    worksheet: str,
    client: Any,
    credentials: PathLike | None,
    timeout: float,
    progress: Progress | None,
    make: Planner = plan_for,
    then: Callable[[Write], None] | None = None,
) -> str:
    """Write a layout, and return the URL of the worksheet.

    Args:
        target: as for `write_gsheet`.
        layout: the cells.
        worksheet: as for `write_gsheet`.
        client: as for `write_gsheet`.
        credentials: as for `write_gsheet`.
        timeout: as for `write_gsheet`.
        progress: as for `write_gsheet`.
        make: returns the plan for a worksheet that exists.
        then: called with the write once it is done.
    """
    title = title_of_new(target)
    address = parse_address(_ANY_KEY if title else target, worksheet)
    check_cells(layout.height * len(layout.pieces), MOST_CELLS, 0)
    if title:
        make_chunks(layout)  # whatever no cell can hold is found before anything is made
        address = parse_address(
            create_gsheet(title, client=client, credentials=credentials, timeout=timeout), worksheet
        )
    http = address.http if address.http is not None and client is None else client
    patience = Retries(pause_listener(progress), timeout=timeout)
    service = SheetsApi(http_client(http, credentials, writing=True), address.key, patience)
    report = progress or ignore_progress
    report(0, layout.cell_count)
    with locating(source=address.label):
        write = Write(service, address, layout, report, make)
        gid = write.run()
        if then is not None:
            then(write)
    report(layout.cell_count, layout.cell_count)
    return worksheet_url(address.key, gid)
