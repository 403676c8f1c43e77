"""Writes arrays and tables into worksheets of a spreadsheet, all of them or nothing at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from ...columns import SheetRoom
from ...errors import LimitError, locating
from ...files import PathLike
from ...formats.contract import Progress, ignore_progress
from ..content import (
    SheetContent,
    WriteOptions,
    lay_out_arrays,
    lay_out_columns,
    lay_out_each,
    take_arrays,
)
from ..sheet_choice import parse_cell
from ..views.description import View, select_views
from .address import ALL_COLUMNS, SheetAddress, parse_address, parse_new, worksheet_url
from .client import http_client
from .plan import check_cells
from .requests import SheetsApi, open_service
from .retries import TIMEOUT, Retries
from .sent_cells import make_chunks
from .spreadsheet_write import SpreadsheetWrite
from .state.new_spreadsheets import create_spreadsheet, naming_new, share_with
from .state.spreadsheet import MOST_CELLS, MOST_CHARACTERS
from .views.source import ViewSource
from .views.writing import check_wanted, find_views, write_views

ROOM = SheetRoom(None, ALL_COLUMNS, MOST_CHARACTERS)
_ANY_KEY = "0" * 44  # instead of the key of a spreadsheet that is yet to be made


def write_gsheet(
    target: Any,
    arrays: Any,
    *,
    sheet: str = "arrays",
    at: str | None = None,
    dates: Literal["real", "text"] = "real",
    views: bool | str | Sequence[str] | Mapping[str, View] = False,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> str:
    """Write arrays into a worksheet of a Google spreadsheet, one column each. All arrays are written, or none.

    An array of the same name is replaced. Other arrays, and cells of your own, stay. Each array gets a named range, so
    `=SUM(temperature)` works. Integers beyond 2^53, -0.0, NaN and infinities are written as text.

    Args:
        target: a URL (`#gid=` chooses the worksheet), `gsheets://KEY/worksheet`, a key, or a gspread Spreadsheet or
            Worksheet. `gsheets://new?title=TITLE` makes a spreadsheet; `&share=me@example.org` lets somebody edit it,
            and may stand several times. By default, only the account of the credentials can open it. If that is a
            service account, no person can.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        sheet: the title of the worksheet, if the target names none. A new worksheet is made if none has this title.
        at: the first cell, such as "D5". Cells that are not empty are never overwritten. None takes free columns.
        dates: "real" writes datetime64 as dates that people can edit, from 1900-03-01 to the end of 9999, down to
            milliseconds. All other dates are ISO text. "text" writes all dates as ISO text.
        views: True, names of arrays, or a `View` for each name. A view is a worksheet `<name> view`, which shows one
            slice of an array of two dimensions or more: a table of formulas, with choosers, colours and a chart.
            Existing views of the same arrays are written again. If a view cannot be written, you get a warning, and
            the arrays stay.
        client: a gspread client; None makes a client.
        credentials: the path of a key file. None searches in the places that `help(sheetarray.sheets.google.client)`
            lists.
        timeout: the seconds after which the call gives up. The time of waiting for a quota does not count.
        progress: a function, called with the number of cells written and the total. If the function has an attribute
            `waiting`, this attribute is called before each pause, with the seconds and the reason.

    Returns:
        The URL of the worksheet.

    Raises:
        DTypeError: the format has no dtype for an array.
        LimitError: the spreadsheet would have more than 10,000,000 cells or 18,278 columns, or a cell more than 50,000
            characters. Nothing was written.
        ValueError: a view is impossible.
        FormatError: a cell where an array has to go is not empty; `.location` is its address. Nothing was changed.
        NotFoundError: no worksheet has the id in the target's URL, or `views` names an array that you do not write.
        RemoteError: the service cannot be reached, refuses, or its quota is used up. The old arrays stay. If a new
            spreadsheet was made, or may have been, the message says so.

    Example:
        >>> import numpy as np
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     key, client = server.create(), server.client()
        ...     url = write_gsheet(key, {"t": np.array([[1.5, 2.5]])}, client=client)
        ...     client.open_by_key(key).worksheet("arrays").col_values(1)[:4]
        ['t', 'version', '1.0.0', 'ndarray']
    """
    options = WriteOptions(dates=dates, report=progress or ignore_progress)
    content = _lay_out_arrays("", arrays, at, views, options)
    service = ServiceOptions(sheet, client, credentials, timeout, progress)
    (url,) = write(target, [content], options, service)
    return url


def _lay_out_arrays(
    title: str,
    arrays: Any,
    at: str | None,
    views: bool | str | Sequence[str] | Mapping[str, View],
    options: WriteOptions,
) -> SheetContent:
    """Return what a write of arrays puts into one worksheet."""
    corner = None if at is None else parse_cell(at)
    linear = take_arrays(arrays, MOST_CHARACTERS)
    selected = select_views(views, linear)
    check_wanted(selected, linear)
    content = lay_out_arrays(linear, ROOM, title=title, corner=corner, serials=options.serials)
    if len(content.layouts) > 1:
        room = ROOM.beyond(corner or (0, 0)).columns
        raise LimitError(f"the arrays need more than {room:,} columns, but a worksheet has no more")
    return replace(content, views=selected)


def write_sheets_gsheet(
    target: Any,
    tables: Mapping[str, Any],
    *,
    plain: bool,
    at: str | None = None,
    dates: Literal["real", "text"] = "real",
    views: bool | str | Sequence[str] | Mapping[str, View] = False,
    if_sheet_exists: Literal["error", "replace"] = "error",
    na_rep: str = "",
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> dict[str, str]:
    """Write each table to a worksheet of its own: all of them, or nothing at all; return their URLs, by title.

    `tables`: frames, or mappings of names to arrays, by the titles of their worksheets. `plain`: write plain columns,
    as `write_table_gsheet` does, in which `na_rep` is the text of NaN and NaT.
    """
    address = parse_address(_ANY_KEY if parse_new(target) is not None else target)
    if address.gid is not None or address.title is not None:
        raise ValueError(f"{address.label} is one worksheet, and each table gets its own: give the spreadsheet")
    report = progress or ignore_progress
    options = WriteOptions(dates=dates, if_sheet_exists=if_sheet_exists if plain else "error", report=report)

    def lay_out(title: str, table: Any) -> SheetContent:
        parse_address(_ANY_KEY, title)
        if plain:
            content = _lay_out_table(title, table, at, options, na_rep)
        else:
            content = _lay_out_arrays(title, table, at, views, options)
        make_chunks(content.layouts[0])
        return content

    service = ServiceOptions(None, client, credentials, timeout, progress)
    urls = write(target, lay_out_each(tables, lay_out), options, service)
    return dict(zip(tables, urls, strict=True))


def write_table_gsheet(
    target: Any,
    table: Any,
    *,
    sheet: str = "table",
    at: str | None = None,
    if_sheet_exists: Literal["error", "replace"] = "error",
    dates: Literal["real", "text"] = "real",
    na_rep: str = "",
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> str:
    """Write the columns of a table to a worksheet, one row of names above them; see `sheetarray.write_table`.

    With `at` the table may stand beside other cells; otherwise it takes the whole worksheet, which must be blank. With
    `if_sheet_exists="replace"` it takes the place of a table that this package has written to the worksheet.
    """
    report = progress or ignore_progress
    options = WriteOptions(dates=dates, if_sheet_exists=if_sheet_exists, report=report)
    content = _lay_out_table("", table, at, options, na_rep)
    (url,) = write(target, [content], options, ServiceOptions(sheet, client, credentials, timeout, progress))
    return url


def _lay_out_table(title: str, table: Any, at: str | None, options: WriteOptions, na_rep: str) -> SheetContent:
    """Return what a write of a table puts into one worksheet."""
    corner = None if at is None else parse_cell(at)
    if options.replaces and corner is not None:
        raise ValueError("at= puts a table beside other cells, and if_sheet_exists='replace' clears them: give one")
    return lay_out_columns(table, ROOM, title=title, corner=corner, serials=options.serials, na_rep=na_rep)


class ServiceOptions(NamedTuple):
    """How a write gets to its spreadsheet, as a caller asks for it."""

    sheet: str | None  # the title of the worksheet, if the target names none
    client: Any  # of gspread; None makes one
    credentials: PathLike | None  # the path of a key file
    timeout: float  # the seconds after which the call gives up
    progress: Progress | None  # is told of pauses, too

    def open(self, target: Any) -> SheetsApi:
        """Return the service, ready to write to the spreadsheet that a target means."""
        return open_service(
            target, self.sheet, self.client, self.credentials, self.timeout, self.progress, writing=True
        )


def write(target: Any, contents: Sequence[SheetContent], options: WriteOptions, service: ServiceOptions) -> list[str]:
    """Write to the spreadsheet that a target means, or to a new one; return the URLs of the worksheets."""
    new, timeout = parse_new(target), service.timeout
    parse_address(_ANY_KEY if new else target, service.sheet)  # an impossible one is refused before anything is made
    layouts = [content.layouts[0] for content in contents]
    check_cells(sum(layout.height * len(layout.pieces) for layout in layouts), MOST_CELLS, 0)
    if new is None:
        return _write_sheets(service.open(target), contents, options)
    for layout in layouts:
        make_chunks(layout)  # whatever no cell can hold is refused, too
    http = http_client(service.client, service.credentials, writing=True, sharing=bool(new.share))
    api = SheetsApi(http, SheetAddress("", None, None, new.title), Retries(timeout=timeout))
    key = create_spreadsheet(api, new.title)
    url = f"https://docs.google.com/spreadsheets/d/{key}"
    with naming_new(url):
        opened = service._replace(client=http, credentials=None).open(key)
        urls = _write_sheets(opened, contents, options)
    share_with(opened, url, new.share)
    return urls


def _write_sheets(service: SheetsApi, contents: Sequence[SheetContent], options: WriteOptions) -> list[str]:
    """Write to a spreadsheet that exists, then the views of arrays, and return the URLs of the worksheets."""
    cells = sum(content.cell_count for content in contents)
    options.report(0, cells)
    with locating(source=service.address.label):
        whole = SpreadsheetWrite(service, contents, options)
        whole.run()
        for content, plan, swap in zip(contents, whole.plans, whole.swaps, strict=True):
            arrays = content.arrays
            if content.views or find_views(whole.state, swap.gid, arrays):
                source = ViewSource.of_write(swap.gid, plan.title, arrays, plan.placed_columns, dates=options.serials)
                write_views(service, source, content.views)
    options.report(cells, cells)
    return [worksheet_url(service.key, swap.gid) for swap in whole.swaps]
