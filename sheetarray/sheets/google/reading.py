"""Reads arrays of one generation of a worksheet: all of them, slices of rows, or block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ...adapters import Progress
from ...columns import Anchor, ArrayColumn, ArrayInfo, ColumnCells, find_anchors, reporting_cells
from ...composite import check_sheets, count_cells, read_sheets, scan_sheets
from ...dtypes import Array, Buffer
from ...elements import Missing
from ...errors import Finding, FormatError, LimitError, NotFoundError, RemoteError, locating
from ...files import PathLike
from ...header import Header, contiguous_strides
from ...linear import error_for_problem, ravel_in_order
from ...tables import TableOptions, read_table
from .address import SheetAddress, parse_address
from .requests import SheetsApi, open_service
from .retries import TIMEOUT, ChangedError, RefusedError
from .spreadsheet_state import fetch_state
from .stage import stage_findings
from .views import find_typed_views
from .worksheet import CELLS_A_REQUEST, MOST_AT_ONCE, GoogleSheet, fetch_values

# Reads a worksheet as it stands at one moment: tries again while others write.

Result = TypeVar("Result")
_ATTEMPTS = 6  # to read a worksheet while others write
_HEAD = 20_000  # cells


def read_consistently(
    source: Any,
    worksheet: str | None,
    client: Any,
    credentials: PathLike | None,
    timeout: float,
    attempt: Callable[[list[GoogleSheet]], Result],
    progress: Progress | None,
    *,
    first: bool = False,
    at_once: int = MOST_AT_ONCE,
) -> Result:
    """Run `attempt` on the worksheets, again if someone wrote to them meanwhile, up to `_ATTEMPTS` times.

    Raises:
        FormatError: others write all the time.
    """
    address = parse_address(source, worksheet)
    service = open_service(address, client, credentials, timeout, progress, writing=False)
    sheets: list[GoogleSheet] = []
    with locating(source=address.label):
        for index in range(_ATTEMPTS):
            try:
                sheets[:] = select_sheets(service, address, first=first, at_once=at_once)
                return attempt(sheets)
            except ChangedError as changed:
                message = str(changed)
            service.patience.pause(0.25 * 2**index, "others write to the worksheet")
        if message:
            raise RemoteError(f"the service refuses: {message}", status=400)
        raise FormatError("it changed each time while it was read", hint="others are writing to it: read it again")


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


# Reads some rows of an array in a spreadsheet, and fetches no cells but theirs.


def find_array(sheets: Sequence[GoogleSheet], name: str) -> tuple[GoogleSheet, Anchor]:
    """Return the worksheet of an array, and its anchor.

    Raises:
        FormatError: the header of the array is broken.
        NotFoundError: there is no array of this name.
    """
    anchors = [(sheet, anchor) for sheet in sheets for anchor in find_anchors(sheet)]
    for sheet, anchor in anchors:
        if anchor.name == name:
            if anchor.error is not None:
                raise anchor.error
            return sheet, anchor
    names = ", ".join(dict.fromkeys(repr(anchor.name) for _, anchor in anchors))
    raise NotFoundError(f"no array {name!r}; there is {names or 'none'}")


def lies_in_rows(anchor: Anchor) -> bool:
    """Return whether the cells below a header are the array's rows, one after the other, a cell for each element."""
    header = anchor.header
    if header is None or header.part or header.offset or anchor.orient == "rows" or not header.capacity:
        return False
    plain = header.order == "row-major" and header.strides == contiguous_strides(header.shape, "row-major")
    return plain and header.capacity == header.length and header.dtype.kind != "complex"


def fetch_elements(sheet: GoogleSheet, anchor: Anchor, start: int, stop: int, missing: Missing) -> Buffer:
    """Return some elements of an array that lies in rows.

    Raises:
        FormatError: a cell that its dtype cannot mean, with its address.
    """
    header = anchor.header
    assert header is not None
    header_of_some = Header(header.dtype, (stop - start,), (1,), 0, "row-major", stop - start)
    anchor_of_some = replace(anchor, header=header_of_some, start=anchor.start + start)
    column, row = anchor_of_some.data_cell
    cells: ColumnCells = ([], sheet.fetch_cells(row, row + stop - start, column, header.dtype))
    decoded = ArrayColumn([anchor_of_some], [cells], sheet).decode_checked(missing)
    for problem in decoded.problems[:1]:
        moved = replace(problem, index=problem.index + start)
        raise error_for_problem(moved, header, anchor.name, anchor.data_address, cells_each=1)
    if decoded.count_error:
        raise decoded.count_error
    return decoded.buffer


def read_slices(
    sheets: Sequence[GoogleSheet], slices: Mapping[str, slice], missing: Missing, whole: Mapping[str, Array]
) -> dict[str, Array]:
    """Return slices of arrays along their first axis, by name; of arrays that lie in rows only their cells are fetched.

    Raises:
        ChangedError: somebody has written between two requests.
        LimitError: an array without dimensions, which has no first axis.
    """
    sliced: dict[str, Array] = {name: whole[name][rows] for name, rows in slices.items() if name in whole}
    generations: dict[int, Any] = {}  # of the sheets that take more requests, before the first of these
    for name, rows in slices.items():
        if name in whole:
            continue
        sheet, anchor = find_array(sheets, name)
        if not sheet.is_whole:
            generations.setdefault(id(sheet), (sheet, sheet.generation()))
        header = anchor.header
        assert header is not None
        if not header.shape:
            raise LimitError(f"slices: {name!r} has no dimensions, and so no rows: names= reads its element")
        indices = range(header.shape[0])[rows]
        elements_per_row = header.length // header.shape[0]
        first, last = (min(indices), max(indices) + 1) if indices else (0, 0)  # rows; the last one is not fetched
        pieces = [
            fetch_elements(sheet, anchor, start, min(start + CELLS_A_REQUEST, last * elements_per_row), missing)
            for start in range(first * elements_per_row, last * elements_per_row, CELLS_A_REQUEST)
        ]
        elements = np.concatenate(pieces) if pieces else np.empty(0, header.dtype.numpy)
        block = elements.reshape(last - first, *header.shape[1:])
        sliced[name] = block[:: indices.step] if indices.step > 0 else block[::-1][:: -indices.step]
    for sheet, generation in generations.values():
        if sheet.generation() != generation:
            raise ChangedError
    return {name: sliced[name] for name in slices}


def is_cut(sheets: Sequence[GoogleSheet], name: str) -> bool:
    """Return whether rows of an array can be fetched alone: it stands in one column, and lies in rows."""
    anchors = [anchor for sheet in sheets for anchor in find_anchors(sheet) if anchor.name == name]
    return len(anchors) == 1 and lies_in_rows(anchors[0])


def check_slices(slices: Mapping[str, slice]) -> None:
    """Refuse anything but slices of one axis by names.

    Raises:
        LimitError: it is something else, or the step of a slice is 0.
    """
    if not isinstance(slices, Mapping):
        raise LimitError(f"slices= maps names to slices of the first axis, {{'t': slice(0, 10)}}, not {slices!r:.80}")
    for name, rows in slices.items():
        bounds = (rows.start, rows.stop, rows.step) if isinstance(rows, slice) else ("",)
        if not all(bound is None or hasattr(bound, "__index__") for bound in bounds) or bounds[-1] == 0:
            raise LimitError(f"slices: {name!r} has {rows!r:.80}, and it takes a slice of the first axis, slice(0, 10)")


# Reading arrays, headers, findings and ordinary tables from a spreadsheet.

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
    return read_consistently(source, worksheet, client, credentials, timeout, attempt, progress, at_once=at_once)


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
        progress,
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
        yield from read_consistently(source, worksheet, client, credentials, timeout, attempt, progress)
    except FormatError as error:
        yield Finding.from_error(error)


def read_columns_gsheet(
    source: Any,
    columns: Sequence[str] | None = None,
    *,
    table: TableOptions | None = None,
    worksheet: str | None = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the columns of an ordinary table, one array each; see `sheetarray.read_columns`.

    Args:
        source: as for `read_gsheet`; without a worksheet, the first one is read.
        columns: names (or letters) of the columns wanted; None for all.
        table: what the caller says of the table; None for nothing.
        worksheet: as for `read_gsheet`.
        client: as for `read_gsheet`.
        credentials: as for `read_gsheet`.
        timeout: as for `read_gsheet`.

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

    worksheet, located = (table or TableOptions()).locate(worksheet, dict, dict)

    def attempt(sheets: list[GoogleSheet]) -> dict[str, np.ndarray[Any, Any]]:
        return read_table(sheets[0], columns, located)

    return read_consistently(source, worksheet, client, credentials, timeout, attempt, None, first=True)


# The elements of an array in a spreadsheet piece by piece: no more of them than one request holds are in memory.


def iter_elements_gsheet(
    source: Any,
    names: Sequence[str],
    *,
    worksheet: str | None = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with 100,000 elements of its buffer, in their order: two requests each time.

    Args:
        source: as for `read_gsheet`.
        names: of the arrays.
        worksheet: as for `read_gsheet`.
        client: as for `read_gsheet`.
        credentials: as for `read_gsheet`.
        timeout: as for `read_gsheet`.

    Raises:
        FormatError: as `read_gsheet`, when the first cell that is wrong is reached, or the worksheet has changed since.
        NotFoundError: no such array.
        RemoteError: as `read_gsheet`.

    Example:
        >>> import numpy as np
        >>> from sheetarray.sheets.google import write_gsheet
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     key, client = server.create(), server.client()
        ...     url = write_gsheet(key, {"t": np.array([1.5, 2.5])}, client=client)
        ...     [(name, elements.tolist()) for name, elements in iter_elements_gsheet(key, ["t"], client=client)]
        [('t', [1.5, 2.5])]
    """
    where: dict[str, Any] = {"worksheet": worksheet, "client": client, "credentials": credentials, "timeout": timeout}
    address = parse_address(source, worksheet)
    service = open_service(address, client, credentials, timeout, writing=False)
    whole = []
    with locating(source=address.label):
        try:
            sheets = select_sheets(service, address, first=False, at_once=MOST_AT_ONCE)
            for name in dict.fromkeys(names):
                view, anchor = find_array(sheets, name)
                if not lies_in_rows(anchor):
                    whole.append(name)
                    continue
                seen = view.generation()
                assert anchor.header is not None
                for start in range(0, anchor.header.capacity, CELLS_A_REQUEST):
                    stop = min(start + CELLS_A_REQUEST, anchor.header.capacity)
                    elements = fetch_elements(view, anchor, start, stop, "error")
                    if view.generation() != seen:
                        raise ChangedError
                    yield name, elements
        except ChangedError:
            raise FormatError("it has changed since its first rows were read", hint="read it again") from None
    for name, array in read_gsheet(source, whole, **where).items() if whole else ():
        yield name, ravel_in_order(array)
