"""Reads arrays of one generation of a worksheet: whole, slices of rows, or block by block; and tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypedDict, TypeVar, Unpack, overload

import numpy as np

from ...columns import Anchor, ArrayColumn, ArrayInfo, ColumnCells, find_anchors, reporting_cells
from ...columns.blocks.reading import iter_elements
from ...dtypes import Array, Buffer
from ...elements import Missing, MissingOption, NamedMissing, NaValues, missing_of
from ...errors import Finding, FormatError, RemoteError, locating
from ...files import PathLike
from ...formats.contract import Progress
from ...linear.buffers import iter_rest
from ...linear.data_cells import TakenWords, error_for_problem
from ...linear.header import Header
from ...linear.named import list_names, pick_array
from ...linear.parsing import warn_of_finding
from ...linear.resizing import find_slow_axis
from ...tables import TableOptions, read_table, read_tables
from ..arrays_of_sheets import check_sheets, count_named, open_sheets, read_composites, scan_sheets
from ..recorded_tables import read_with_tables, scan_with_tables
from ..sheet_choice import SheetChoice, TitleOrIndex, find_title, is_first
from ..table_areas import take_named
from ..table_findings import check_with_tables
from .address import ALL_ROWS, Rect, SheetAddress, range_on_sheet
from .grid_cells import MOST_CELLS_AT_ONCE, fetch_proven
from .requests import SheetsApi, open_service
from .retries import TIMEOUT, ChangedError
from .stage import stage_findings
from .state.spreadsheet import State, fetch_state, generation_name
from .tables.recorded import find_places_of_tables, list_readers, read_ordinary
from .views.typed_over import find_typed_views
from .worksheet import MOST_AT_ONCE, GoogleSheet, fetch_values

Result = TypeVar("Result")
_ATTEMPTS = 6
_HEAD = 20_000  # cells of the first rows that are fetched of each of several worksheets
_READ_AT_ONCE = 500_000  # cells of grids, where all arrays are read


def _read_consistently(service: SheetsApi, attempt: Callable[[], Result]) -> Result:
    """Return the result of `attempt`, which is called again if someone wrote to the worksheets meanwhile."""
    message = ""
    with locating(source=service.address.label):
        for _ in service.patience.attempts(_ATTEMPTS):
            try:
                return attempt()
            except ChangedError as changed:
                message = str(changed)
        if message:
            raise RemoteError(f"the service refuses: {message}", status=400)
        raise FormatError("it changed whenever it was read", hint="others are writing to it: read it again")


def select_worksheets(service: SheetsApi, *, first: bool = False, at_once: int = MOST_AT_ONCE) -> list[GoogleSheet]:
    """Return the worksheets that an address names, with their first rows.

    Raises:
        NotFoundError: there is no such worksheet.
        FormatError: there is none with cells.
    """
    address, state = service.address, fetch_state(service)
    selected = state.arrays[: 1 if first else None]
    if address.gid is not None or address.title is not None:
        named = state.select_worksheet(address.gid, address.title)
        if named is None and isinstance(address.title, TitleOrIndex):
            named = state.by_title(find_title(address.title, [sheet.title for sheet in state.arrays]))
        if named is None:
            raise state.not_found_error(repr(address.title))
        selected = [named]
    if address.index is not None:
        title = find_title(address.index, [sheet.title for sheet in state.arrays])
        selected = [sheet for sheet in state.arrays if sheet.title == title]
    if not selected:
        raise FormatError("no worksheet with cells")
    at_once = at_once if sum(sheet.cells for sheet in selected) <= at_once else MOST_AT_ONCE
    sheets = [GoogleSheet(service, sheet, state, at_once=at_once) for sheet in selected]
    heads = [(sheet, view.choose_head(_HEAD)) for sheet, view in zip(selected, sheets, strict=True)]
    records = [(view, state.record_sheet(sheet)) for sheet, view in zip(selected, sheets, strict=True)]
    hidden = [(view, record) for view, record in records if record is not None]
    ranges = [*heads, *((record, Rect(0, 0, ALL_ROWS, 1)) for _, record in hidden)]
    is_small = sum(sheet.cells for sheet, _ in ranges) <= MOST_CELLS_AT_ONCE
    if is_proven := is_small and any(sheet.record.text for sheet in selected):
        fetched = fetch_proven(service, state, ranges)
    else:
        fetched = list(fetch_values(service, [(sheet.title, rect) for sheet, rect in ranges]))
    for view, (_, rect), columns in zip(sheets, heads, fetched, strict=False):
        view.keep_head(rect.bottom, columns)
        view.is_proven = is_proven or view.record.gid is not None
    for (view, _), columns in zip(hidden, fetched[len(heads) :], strict=True):
        view.keep_record(columns)
    return sheets


def _find_rows(sheets: Sequence[GoogleSheet], names: Collection[str]) -> dict[str, tuple[GoogleSheet, Anchor]]:
    """Return the worksheets and the anchors of those arrays whose cells are their rows, one after the other."""
    anchors_of: dict[str, list[tuple[GoogleSheet, Anchor]]] = {}
    for sheet in sheets:
        for anchor in find_anchors(sheet):
            if anchor.name in names:
                anchors_of.setdefault(anchor.name, []).append((sheet, anchor))
    return {name: group[0] for name, group in anchors_of.items() if len(group) == 1 and _lies_in_rows(group[0][1])}


def _lies_in_rows(anchor: Anchor) -> bool:
    header = anchor.header
    if header is None or header.order != "row-major" or anchor.orient == "rows":
        return False
    return find_slow_axis(header) == 0 and header.length > 0 and header.dtype.kind != "complex"


def _fetch_elements(sheet: GoogleSheet, anchor: Anchor, start: int, stop: int, missing: Missing) -> Buffer:
    """Return some elements of an array that lies in rows, and fetch no other cells."""
    header = anchor.header
    assert header is not None
    count = stop - start
    part_header = Header(header.dtype, (count,), (1,), 0, "row-major", count)
    part = replace(anchor, header=part_header, start=anchor.start + start)
    column, row = part.data_cell
    cells: ColumnCells = ([], sheet.fetch_elements(column, row, row + count, header.dtype))
    decoded = ArrayColumn([part], [cells], sheet).decode_checked(missing)
    words = TakenWords()
    buffer = decoded.buffer
    if isinstance(missing, NamedMissing):
        buffer = words.take_elements(anchor.name, buffer, missing, part.data_address)
    how: dict[str, Any] = {"missing": missing, "address": part.data_address}
    problems = words.take(anchor.name, buffer, decoded.problems, cell=decoded.cell, **how)
    if words.counts:
        warn_of_finding(words.to_finding())
    for problem in problems[:1]:
        moved = replace(problem, index=problem.index + start)
        raise error_for_problem(moved, header, anchor.name, anchor.data_address, cells_each=1)
    if decoded.count_error:
        raise decoded.count_error
    return buffer


def _read_rows(sheet: GoogleSheet, anchor: Anchor, rows: slice, missing: Missing) -> Array:
    """Return some rows of an array that lies in rows, and fetch no other cells."""
    header = anchor.header
    assert header is not None
    indices = range(header.shape[0])[rows]
    each = header.length // header.shape[0]
    first, last = (min(indices), max(indices) + 1) if indices else (0, 0)  # rows; the last one is not fetched
    block: Array = _fetch_elements(sheet, anchor, first * each, last * each, missing)
    block = block.reshape(last - first, *header.shape[1:])
    return block[:: indices.step] if indices.step > 0 else block[::-1][:: -indices.step]


def _read_slices(
    sheets: Sequence[GoogleSheet],
    names: Sequence[str] | None,
    slices: Mapping[str, slice],
    *,
    strict: bool,
    missing: Missing,
) -> dict[str, Array]:
    """Return arrays, some of them cut along their first axis; of those in rows only these cells are fetched."""
    selected = list(dict.fromkeys([*(scan_sheets(sheets, strict=strict) if names is None else names), *slices]))
    whole = open_sheets(sheets, strict=strict, missing=missing)
    in_rows = _find_rows(sheets, slices)
    arrays = read_composites(whole.read, whole.scan, [name for name in selected if name not in in_rows])
    for name, rows in slices.items():
        if name in in_rows:
            arrays[name] = _read_rows(*in_rows[name], rows, missing)
        elif arrays[name].ndim:
            arrays[name] = arrays[name][rows]
        else:
            raise ValueError(f"slices: {name!r} has no dimensions, and so no rows: names= reads its element")
    for sheet in {id(sheet): sheet for sheet, _ in in_rows.values() if not sheet.is_whole}.values():
        sheet.check_unchanged()
    return {name: arrays[name] for name in selected}


def _check_slices(slices: Mapping[str, slice]) -> None:
    """Refuse anything but slices of one axis by names, with a LimitError."""
    if not isinstance(slices, Mapping):
        raise ValueError(f"slices= maps names to slices of the first axis, {{'t': slice(0, 10)}}, not {slices!r:.80}")
    for name, rows in slices.items():
        bounds = (rows.start, rows.stop, rows.step) if isinstance(rows, slice) else ("",)
        if not all(bound is None or hasattr(bound, "__index__") for bound in bounds) or bounds[-1] == 0:
            raise ValueError(f"slices: {name!r} has {rows!r:.80}, and it takes a slice of the first axis, slice(0, 10)")


class _GoogleOptions(TypedDict, total=False):
    """The options of `read_gsheet`."""

    slices: Mapping[str, slice] | None
    sheet: SheetChoice
    client: Any
    credentials: PathLike | None
    timeout: float
    strict: bool
    resize: bool
    missing: MissingOption
    na_values: NaValues
    progress: Progress | None


@overload
def read_gsheet(source: Any, names: str, **options: Unpack[_GoogleOptions]) -> Array: ...


@overload
def read_gsheet(
    source: Any, names: Sequence[str] | None = ..., **options: Unpack[_GoogleOptions]
) -> dict[str, Array]: ...


def read_gsheet(
    source: Any,
    names: str | Sequence[str] | None = None,
    *,
    slices: Mapping[str, slice] | None = None,
    sheet: SheetChoice = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    strict: bool = False,
    resize: bool = False,
    missing: MissingOption = "error",
    na_values: NaValues = (),
    progress: Progress | None = None,
) -> Array | dict[str, Array]:
    """Read arrays of a Google spreadsheet, all as they were at the same moment.

    Args:
        source: a URL (`#gid=` chooses the worksheet), `gsheets://KEY/worksheet`, a key, or a gspread Spreadsheet or
            Worksheet.
        names: the arrays to read; only their columns are fetched. One name as text gives that array alone. None reads
            all.
        slices: slices of the first axis, by name, such as `{"t": slice(0, 100)}`. Only these cells are fetched, if the
            array is in row-major order and has no gaps. Other arrays are read whole and then cut.
        sheet: the title of the worksheet, or its index from 0, if the source names none. None
            reads every worksheet that holds arrays.
        client: a gspread client; None makes a client that may only read.
        credentials: the path of a key file. None searches in the places that `help(sheetarray.sheets.google.client)`
            lists.
        timeout: the seconds after which the call gives up. The time of waiting for a quota does not count.
        strict: refuse flat lists without a version, an older form.
        missing: "nan" reads blanks, and words such as `n/a`, in float and complex arrays as NaN; a warning counts
            the words.
        na_values: texts or numbers that mean a missing value, besides those; a warning counts them.
        resize: read arrays at their new length where people added or deleted rows.
        progress: a function, called with the number of cells read and the total. If the function has an attribute
            `waiting`, this attribute is called before each pause, with the seconds and the reason.

    Returns:
        The arrays by name, in the order in which they were written; or one array.

    Raises:
        FormatError: the content is wrong; `.location` is the first wrong cell.
        NotFoundError: the worksheet, or an array in `names`, does not exist.
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
    as_missing = missing_of(missing, na_values)
    _check_slices({} if slices is None else slices)
    if slices and resize:
        raise ValueError("slices= needs the lengths in the headers, so it cannot be used with resize=True")

    def attempt() -> dict[str, np.ndarray[Any, Any]]:
        at_once = _READ_AT_ONCE if names is None and not slices else MOST_AT_ONCE
        sheets = select_worksheets(service, at_once=at_once)
        places = take_named(find_places_of_tables(sheets), as_missing)
        if slices and not places:
            return _read_slices(sheets, names, slices, strict=strict, missing=as_missing)

        def read_arrays(selected: Sequence[str] | None) -> dict[str, Array]:
            arrays = open_sheets(sheets, strict=strict, missing=as_missing, resize=resize)
            with reporting_cells(progress, sheets, lambda: count_named(arrays.read, arrays.scan, selected)):
                return read_composites(arrays.read, arrays.scan, selected)

        asked = names if names is None or not slices else list(dict.fromkeys([*names, *slices]))
        arrays, cuts = read_with_tables(places, read_arrays, list_names(asked), resize=resize), slices or {}
        return {name: array[cuts[name]] if name in cuts else array for name, array in arrays.items()}

    service = open_service(source, sheet, client, credentials, timeout, progress)
    return pick_array(_read_consistently(service, attempt), names)


def scan_gsheet(
    source: Any,
    *,
    sheet: SheetChoice = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    strict: bool = False,
    resize: bool = False,
    progress: Progress | None = None,
) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays, in two requests where the worksheet is small, a few where it is not.

    With `resize` shapes are those that `read_gsheet` gives with it, and all is read. Of `progress` only the attribute
    `waiting` is called.
    """
    service = open_service(source, sheet, client, credentials, timeout, progress)

    def attempt() -> dict[str, ArrayInfo]:
        sheets = select_worksheets(service)
        return scan_with_tables(
            find_places_of_tables(sheets), lambda: scan_sheets(sheets, strict=strict, resize=resize)
        )

    return _read_consistently(service, attempt)


def check_gsheet(
    source: Any,
    *,
    sheet: SheetChoice = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    missing: MissingOption = "error",
    na_values: NaValues = (),
    progress: Progress | None = None,
) -> Iterator[Finding]:
    """Yield every finding in a spreadsheet; nothing where it is intact.

    Raises:
        NotFoundError: no such worksheet.
        RemoteError: the service cannot be reached, or refuses; nothing is raised for the content.
    """
    as_missing = missing_of(missing, na_values)

    def attempt() -> list[Finding]:
        sheets = select_worksheets(service)
        with reporting_cells(progress, sheets, lambda: _count_cells(sheets)):
            places = take_named(find_places_of_tables(sheets), as_missing)
            findings = list(check_with_tables(places, check_sheets(sheets, missing=as_missing)))
        state = fetch_state(service)
        return [*findings, *find_typed_views(sheets, state), *stage_findings(state)]

    service = open_service(source, sheet, client, credentials, timeout, progress)
    try:
        yield from _read_consistently(service, attempt)
    except FormatError as error:
        yield Finding.from_error(error)


def _count_cells(sheets: Sequence[GoogleSheet]) -> int:
    with suppress(FormatError):
        arrays = open_sheets(sheets)
        return count_named(arrays.read, arrays.scan, None)
    return 0


def read_columns_gsheet(
    source: Any,
    columns: Sequence[str] | None = None,
    *,
    table: TableOptions | None = None,
    sheet: SheetChoice = 0,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
) -> dict[str, Any]:
    """Return the columns of an ordinary table, one array each; see `sheetarray.read_columns`.

    Without a worksheet, the first is read. `sheet=None` returns the columns of each worksheet by its title, if the
    source names none.
    """
    options = table or TableOptions()
    service = open_service(source, None if is_first(sheet) else sheet, client, credentials, timeout)
    address = service.address
    is_each = sheet is None and address.gid is None and address.title is None
    if is_each or (options.is_split and columns is None):
        if options.range is not None or options.table is not None:
            raise ValueError("range= and table= are of one worksheet: name it with sheet=")
        return _read_consistently(service, lambda: _read_tables(service, columns, options, first=not is_each))
    if options.range is None and options.table is None:
        first = partial(select_worksheets, service, first=True)
        return _read_consistently(service, lambda: read_ordinary(first()[0], columns, options))
    return _read_consistently(service, lambda: _read_range(service, address, columns, options))


def _read_tables(
    service: SheetsApi, columns: Sequence[str] | None, options: TableOptions, *, first: bool
) -> dict[str, dict[str, Array]]:
    """Return the columns of the table of each worksheet, or of the first one, by its title; see `list_readers`."""
    readers: dict[str, Callable[[], dict[str, Array]]] = {}
    for view in select_worksheets(service, first=first):
        readers |= list_readers(view, columns, options)
    return read_tables(readers, options)


def _read_range(
    service: SheetsApi, address: SheetAddress, columns: Sequence[str] | None, options: TableOptions
) -> dict[str, Array]:
    """Return the columns of a range; a ChangedError if its name means other cells once they are read.

    `address`: as the caller gave it.
    """
    title, located = place = _locate_range(service, address, options)
    if address.gid is None and title is not None:
        service.address = replace(address, title=title, index=None)
    arrays = read_table(select_worksheets(service, first=True)[0], columns, located)
    if _locate_range(service, address, options) != place:
        raise ChangedError
    return arrays


def _locate_range(service: SheetsApi, address: SheetAddress, options: TableOptions) -> tuple[str | None, TableOptions]:
    """Return the title of the worksheet of a range, and the options with its cells."""
    state = fetch_state(service)
    if address.gid is not None:
        worksheet = state.select_worksheet(address.gid, None)
        title = worksheet.title if worksheet else address.title
    elif address.index is not None:
        title = find_title(address.index, [sheet.title for sheet in state.arrays])
    else:
        title = address.title
    return options.locate(title, lambda: _range_references(state), dict)


def describe_table_gsheet(
    source: Any,
    *,
    sheet: SheetChoice = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
) -> dict[str, Any]:
    """Return the description of the table of a worksheet, as its record has it; an empty one without a record.

    `sheet`: the title of the worksheet, or its index from 0, if the source names none; None for the first one that has
    a record. The other arguments are those of `read_gsheet`.
    """
    service = open_service(source, sheet, client, credentials, timeout)
    views = _read_consistently(service, partial(select_worksheets, service))
    notes = [note for view in views for note in view.record.read()]
    return notes[0] if len(notes) == 1 or (notes and sheet is None) else {}


def _range_references(state: State) -> dict[tuple[str | None, str], str]:
    """Return the references of named ranges, but for those that mark generations of worksheets."""
    sheets = {sheet.gid: sheet for sheet in state.worksheets}
    references: dict[tuple[str | None, str], str] = {}
    for named in state.ranges:
        sheet = sheets.get(named.gid)
        if sheet is None or named.name != generation_name(named.gid):
            cells = named.rect.clip(sheet.rows, sheet.columns) if sheet and named.rect else None
            references[None, named.name] = range_on_sheet(sheet.title, cells) if sheet and cells else "#REF!"
    return references


def iter_elements_gsheet(
    source: Any,
    names: Sequence[str],
    *,
    sheet: SheetChoice = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with 100,000 elements of its buffer, in their order: two requests each time.

    Raises:
        FormatError: as `read_gsheet`; or the worksheet has changed since its first rows were read.
    """
    service = open_service(source, sheet, client, credentials, timeout)
    with locating(source=service.address.label):
        try:
            sheets = select_worksheets(service)

            def read_whole(names: Sequence[str] | None) -> dict[str, Array]:
                arrays = open_sheets(sheets)
                return read_composites(arrays.read, arrays.scan, names)

            if places := find_places_of_tables(sheets):
                yield from iter_rest(read_with_tables(places, read_whole, names, resize=False), dict.fromkeys(names, 0))
                return
            yield from iter_elements(sheets, names, "error", read_whole)
        except ChangedError:
            raise FormatError("it has changed since its first rows were read", hint="read it again") from None
