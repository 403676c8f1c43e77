"""Reads arrays and tables from the worksheets of openpyxl, by the values that their cells have in memory."""

from __future__ import annotations

import datetime
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...columns import ArrayInfo, Block, ColumnCells, Request, Words, Zone, reporting_cells
from ...columns.grid import column_letters
from ...columns.pieced_arrays import NotInPiecesError
from ...dtypes import DType, Mask, Positions
from ...elements import Cell, MissingOption, NaValues, TextLook, Unreadable, missing_of
from ...elements.serials import FIRST_SERIAL, serials_to_dates
from ...errors import DTypeError, Finding, FormatError, locating
from ...formats.contract import Progress
from ...tables import (
    ROWS_OF_ANCHOR,
    TOP,
    TOP_ROWS,
    WHITE,
    NamedTable,
    ScalarColumn,
    Table,
    TableOptions,
    read_tables,
    sums_up,
)
from ..arrays_of_sheets import check_sheets, count_named, open_sheets, read_composites, scan_sheets
from ..recorded_tables import read_as_ordinary, read_with_tables, scan_with_tables
from ..sheet_choice import SheetChoice, find_title, is_first
from ..table_areas import RecordedPlace, find_recorded, take_named
from ..table_findings import check_with_tables
from ..workbooks import MOST_ROWS
from ..xml_texts import without_escapes
from .records import notes_of_tables

_MOST_BLANKS = 2**27  # between the cells of the columns that are read together
_MOST_SLOTS = 2**28  # cells and blanks that rows of a read-only worksheet have: openpyxl fills each row up
_FORMULA = Unreadable("a formula without a value", "openpyxl.load_workbook(path, data_only=True) loads values")


class _ErrorText(str):
    """The text of a cell that holds an error, such as #N/A."""


def read_workbook(
    source: Any,
    names: Sequence[str] | None = None,
    *,
    sheet: SheetChoice = None,
    missing: MissingOption = "error",
    na_values: NaValues = (),
    strict: bool = False,
    resize: bool = False,
    progress: Progress | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays in a Workbook or a Worksheet of openpyxl, or in the book of a pandas.ExcelWriter.

    Args:
        source: the object; saved or not.
        names: the arrays to read; None reads all.
        sheet: the title of the only sheet to read, or its index from 0; None reads all sheets.
        missing: "nan" reads blanks, and words such as `n/a`, in float and complex arrays as NaN; a warning counts
            the words.
        na_values: texts or numbers that mean a missing value, besides those; a warning counts them.
        strict: refuse flat lists without a version, an older form.
        resize: read arrays at their new length where people added or deleted rows.
        progress: a function, called with the number of cells read and the total.

    Raises:
        DTypeError: the object cannot be read. This holds for all objects of XlsxWriter.
        FormatError: the content is wrong; `.location`, such as arrays!C17, is the first wrong cell.
        NotFoundError: an array in `names`, or the sheet, does not exist.

    Example:
        >>> import openpyxl, sheetarray
        >>> book = openpyxl.Workbook()
        >>> sheetarray.write(book, {"t": np.array([[0.1, np.nan]])})
        >>> sheetarray.read(book)
        {'t': array([[0.1, nan]])}
    """
    as_missing = missing_of(missing, na_values)
    sheets = select_object_sheets(source, sheet)

    def read_arrays(selected: Sequence[str] | None) -> dict[str, np.ndarray[Any, Any]]:
        arrays = open_sheets(sheets, strict=strict, missing=as_missing, resize=resize)
        with reporting_cells(progress, sheets, lambda: count_named(arrays.read, arrays.scan, selected)):
            return read_composites(arrays.read, arrays.scan, selected)

    return read_with_tables(take_named(_find_tables(source, sheets), as_missing), read_arrays, names, resize=resize)


def scan_workbook(
    source: Any, *, sheet: SheetChoice = None, strict: bool = False, resize: bool = False
) -> dict[str, ArrayInfo]:
    """Return an `ArrayInfo` for each array.

    Args:
        source: as for `read_workbook`.
        sheet: the title of the only sheet to read, or its index from 0; None reads all sheets.
        strict: refuse flat lists without a version, an older form.
        resize: return the shapes that `read_workbook` gives with `resize=True`; all cells are read for this.

    Raises:
        DTypeError: the object cannot be read.
        FormatError: the object holds no array, or a header is broken.
        NotFoundError: the sheet does not exist.
    """
    sheets = select_object_sheets(source, sheet)
    return scan_with_tables(_find_tables(source, sheets), lambda: scan_sheets(sheets, strict=strict, resize=resize))


def check_workbook(
    source: Any, *, sheet: SheetChoice = None, missing: MissingOption = "error", na_values: NaValues = ()
) -> Iterator[Finding]:
    """Yield a finding for each array that cannot be read. Edited elements are not found.

    Only a file that sheetarray wrote has the record that shows edits.

    Args:
        source: as for `read_workbook`.
        sheet: the title of the only sheet to read, or its index from 0; None reads all sheets.
        missing: as for `read_workbook`.

    Raises:
        DTypeError: the object cannot be read. Wrong content never raises an error.
        NotFoundError: the sheet does not exist.
    """
    as_missing = missing_of(missing, na_values)
    sheets = select_object_sheets(source, sheet)
    yield from check_with_tables(
        take_named(_find_tables(source, sheets), as_missing), check_sheets(sheets, missing=as_missing)
    )


def read_columns_workbook(
    source: Any, columns: Sequence[str] | None = None, *, table: TableOptions | None = None, sheet: SheetChoice = 0
) -> dict[str, Any]:
    """Return the columns of an ordinary worksheet as arrays; see `sheetarray.read_columns`.

    Args:
        source: as for `read_workbook`.
        columns: the names (or letters) of the columns to read; None reads all.
        table: the options that the caller passed to `read_columns`, or None.
        sheet: the title of the sheet, or its index from 0; None returns the columns of each sheet by its title.

    Raises:
        FormatError: there is no table, a cell does not fit the dtype, or a column does not fill its shape.
        NotFoundError: the sheet, or a column, does not exist.
    """
    if sheet is None:
        titles = _list_titles(source)
        return read_tables({title: partial(_read_sheet, source, title, columns, table) for title in titles}, table)
    return _read_sheet(source, sheet, columns, table)


def _find_tables(source: Any, sheets: Sequence[ObjectSheet]) -> list[RecordedPlace]:
    """Return the recorded tables that stand in some worksheets."""
    worksheets, by_title = _worksheets_of(source), {sheet.title or "": sheet for sheet in sheets}
    notes = notes_of_tables(worksheets[0].parent)
    titles = [worksheet.title for worksheet in worksheets]
    places = find_recorded(notes, by_title, titles, lambda: _named_tables(worksheets), lambda title, _: by_title[title])
    of_title = {worksheet.title: worksheet for worksheet in worksheets}
    return [replace(place, find_totals=partial(_find_totals, of_title[place.title])) for place in places]


def _find_totals(worksheet: Any) -> int | None:
    """Return the last row of a worksheet, counted from 0, if its formulas sum up the rows above, else None."""
    numbered = enumerate(worksheet.iter_rows(values_only=True), 1)
    rows = deque((row for row in numbered if any(cell is not None for cell in row[1])), maxlen=2)
    if len(rows) < 2:
        return None
    (above, _), (row, cells) = rows
    is_total = any(
        isinstance(cell, str) and cell.startswith("=") and sums_up(cell, column_letters(column), above)
        for column, cell in enumerate(cells)
    )
    return row - 1 if is_total else None


def _read_sheet(
    source: Any, sheet: str | int, columns: Sequence[str] | None, table: TableOptions | None
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the columns of one worksheet."""
    sheets = _worksheets_of(source)
    asked = None if is_first(sheet) else select_object_sheets(source, sheet)[0].title
    title, table = (table or TableOptions()).locate(
        asked, lambda: _defined_names(sheets[0].parent, sheets), lambda: _named_tables(sheets)
    )
    meant = select_object_sheets(source, title)[0]
    with locating(sheet=meant.title):
        return read_as_ordinary(meant, columns, table, lambda: _find_tables(source, [meant]))


def _defined_names(book: Any, sheets: Sequence[Any]) -> dict[tuple[str | None, str], str]:
    """Return the references of the names of a workbook, and of single sheets."""
    places = [(None, book), *((sheet.title, sheet) for sheet in sheets)]
    return {
        (title, entry.name): entry.attr_text or ""
        for title, place in places
        for entry in getattr(place, "defined_names", {}).values()
    }


def _named_tables(sheets: Sequence[Any]) -> dict[str, NamedTable]:
    tables = [(sheet.title, table) for sheet in sheets for table in getattr(sheet, "tables", {}).values()]
    return {
        table.displayName: NamedTable(
            title, table.ref, 1 if table.headerRowCount is None else table.headerRowCount, table.totalsRowCount or 0
        )
        for title, table in tables
    }


def select_object_sheets(source: Any, sheet: SheetChoice) -> list[ObjectSheet]:
    """Return the worksheet of a title, compared without case as Excel does, or of an index; for None all of them.

    Raises:
        DTypeError: the object cannot be read.
        NotFoundError: the sheet does not exist.
    """
    sheets = [ObjectSheet(worksheet) for worksheet in _worksheets_of(source)]
    if sheet is None:
        return sheets
    titles = [sheet_there.title or "" for sheet_there in sheets]
    listed = titles if isinstance(sheet, str) else _list_titles(source)
    return [sheets[titles.index(find_title(sheet, listed))]]


def _list_titles(source: Any) -> list[str]:
    """Return the titles of the worksheets that have an index: all but very hidden ones, such as guards."""
    sheets = _worksheets_of(source)
    return [sheet.title for sheet in sheets if sheet.sheet_state != "veryHidden"] or [sheet.title for sheet in sheets]


def _worksheets_of(source: Any) -> list[Any]:
    import openpyxl  # type: ignore[import-untyped]
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet  # type: ignore[import-untyped]
    from openpyxl.worksheet.worksheet import Worksheet  # type: ignore[import-untyped]

    book = getattr(source, "book", source)  # of a pandas.ExcelWriter
    is_book = isinstance(book, openpyxl.Workbook) and not book.write_only
    archive = getattr(book if is_book else getattr(book, "parent", None), "_archive", None)  # of a read-only workbook
    if archive is not None and archive.fp is None:
        raise DTypeError("the read-only workbook is closed: openpyxl.load_workbook(path, read_only=True) opens it")
    sheets = book.worksheets if is_book else [book]
    for sheet in sheets:
        if not isinstance(sheet, (Worksheet, ReadOnlyWorksheet)):
            kind = f"{type(sheet).__name__} of {type(sheet).__module__.partition('.')[0]}"
            raise DTypeError(f"a {kind} can only be written: save or close its workbook, then read the file")
    if not sheets:
        raise FormatError("the workbook has no worksheets")
    return sheets


class ObjectSheet:
    """A worksheet of openpyxl; `columns.Sheet` and `tables.TableSheet` say what each method is for."""

    max_rows: int | None = MOST_ROWS
    keeps_blanks = False
    look = TextLook(".", "typed")

    def __init__(self, worksheet: Any) -> None:
        self._worksheet = worksheet
        self.title: str | None = worksheet.title
        self.notes: list[Finding] = []
        self.report: Callable[[int], None] | None = None
        self._from_1904 = worksheet.parent.epoch.year == 1904

    @cached_property
    def _lines(self) -> tuple[dict[int, dict[int, Any]], dict[int, dict[int, Any]]]:
        """The values of all cells that hold something: by column and row, and by row and column, each ascending."""
        columns: dict[int, dict[int, Any]] = {}
        rows: dict[int, dict[int, Any]] = {}
        for row, column, value in sorted(_values_of(self._worksheet), key=lambda place: place[:2]):
            columns.setdefault(column, {})[row] = value
            rows.setdefault(row, {})[column] = value
        return columns, rows

    def first_rows(self) -> list[list[Cell]]:
        """Return the first rows, in which arrays are looked for."""
        grid: list[list[Cell]] = []
        budget = TOP
        for row, cells in self._lines[1].items():
            if row >= TOP_ROWS or (budget <= 0 and len(grid) >= ROWS_OF_ANCHOR):
                break
            grid += ([] for _ in range(row - len(grid)))
            grid.append(_spread(cells, 0, max(cells) + 1, partial(_as_cell, None, self._from_1904)))
            budget -= len(grid[-1])
        return grid

    def words(self) -> Words:
        """Return the words of headers."""
        return Words.from_cells(
            (row, column, value)
            for row, cells in self._lines[1].items()
            for column, value in cells.items()
            if type(value) is str
        )

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return a few cells here and there."""
        return [self._cells(zone.orient == "columns", zone.row, zone.column, zone.count, None) for zone in zones]

    def blocks(
        self,
        requests: Sequence[Request],
        counts: Sequence[int] | None = None,
        *,
        typed: bool,  # noqa: ARG002  (a Sheet's)
    ) -> Iterator[Block]:
        """Yield whole columns as Python scalars; the cells are in memory as they are."""
        if counts is not None:
            raise NotInPiecesError
        by_column = self._lines[0]
        ends = [max(by_column.get(request.column, {0: None})) + 1 for request in requests]
        ends = [
            end if request.stop is None else min(end, request.stop) for request, end in zip(requests, ends, strict=True)
        ]
        sizes = [max(end - request.row, 0) for request, end in zip(requests, ends, strict=True)]
        if sum(sizes) > _MOST_BLANKS + sum(len(by_column.get(request.column, ())) for request in requests):
            raise FormatError(
                f"{sum(sizes):,} cells to read, nearly all of them blank", location=self.title, hint="names= reads some"
            )
        for place, (request, size) in enumerate(zip(requests, sizes, strict=True)):
            yield Block(place, ([], self._cells(True, request.row, request.column, size, request.dtype)))
            if self.report is not None:
                self.report(size)

    def rows(self, requests: Sequence[Request]) -> Iterator[ColumnCells]:
        """Yield rows, from a column on."""
        for request in requests:
            end = max(self._lines[1].get(request.row, {0: None})) + 1
            end = end if request.stop is None else min(end, request.stop)
            yield [], self._cells(False, request.row, request.column, max(end - request.column, 0), request.dtype)
            if self.report is not None:
                self.report(max(end - request.column, 0))

    def table(self) -> Table:
        """Return all cells as a table."""
        columns, rows = self._lines
        height = max(rows, default=-1) + 1
        held = sum(map(len, columns.values()))
        return Table(height, {number: _ObjectColumn(columns[number]) for number in sorted(columns)}, held=held)

    def _cells(self, down: bool, row: int, column: int, count: int, dtype: DType | None) -> list[Cell]:
        line, first = (self._lines[0].get(column, {}), row) if down else (self._lines[1].get(row, {}), column)
        return _spread(line, first, count, partial(_as_cell, None if dtype is None else dtype.kind, self._from_1904))


class _ObjectColumn(ScalarColumn):
    """A column whose cells may stand very far apart."""

    def __init__(self, line: dict[int, Any]) -> None:
        super().__init__(())
        self._line = line
        self._rows = list(line)

    def cells(self, rows: Sequence[int]) -> list[Cell]:
        """Return the cells in a few rows."""
        values = (self._line.get(row) for row in rows)
        return [str(value) if isinstance(value, _ErrorText) else _as_cell(None, False, value) for value in values]

    def mark_filled(self) -> Mask:
        """Return a mask of the rows that hold something."""
        held = np.zeros(self._rows[-1] + 1, dtype=bool)
        held[[row for row, value in self._line.items() if not isinstance(value, str) or value.strip(WHITE)]] = True
        return held

    def begins(self, mark: str) -> Positions:
        """Return the rows in which text begins with a mark."""
        rows = [
            row for row, value in self._line.items() if isinstance(value, str) and value.lstrip(WHITE).startswith(mark)
        ]
        return np.array(rows, dtype=np.int64)


def _spread(line: dict[int, Any], first: int, count: int, convert: Callable[[Any], Cell]) -> list[Cell]:
    """Return some cells of a line, blanks between them."""
    if count > 4 * len(line):  # few cells, far apart
        cells: list[Cell] = [None] * count
        places = list(line)
        for place in places[bisect_left(places, first) : bisect_left(places, first + count)]:
            cells[place - first] = convert(line[place])
        return cells
    return [convert(line.get(place)) for place in range(first, first + count)]


def _as_cell(kind: str | None, from_1904: bool, value: Any) -> Cell:
    """Return what a cell means under a kind of dtypes; None stands for an ordinary table, or a header."""
    if value is None or type(value) in (str, bool):
        return value
    if type(value) in (int, float):
        return _date_text(value, from_1904) if kind == "datetime" else value
    if isinstance(value, _ErrorText):
        return Unreadable(f"an error, {value:.40}", is_error=True)
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        if kind not in ("float", "complex", "int", "timedelta") and not isinstance(value, datetime.timedelta):
            return _iso_text(value)
        from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900, to_excel  # type: ignore[import-untyped]

        return float(to_excel(value, CALENDAR_MAC_1904 if from_1904 else CALENDAR_WINDOWS_1900))
    return value


def _date_text(serial: float, from_1904: bool) -> Cell:
    """Return a serial date as text; a number of the time before programs count alike, as it is."""
    counts = serial >= (0 if from_1904 else FIRST_SERIAL)
    return (serials_to_dates(np.array([serial]), from_1904=from_1904)[0] if counts else None) or serial


def _iso_text(value: datetime.date | datetime.time) -> str:
    text = value.isoformat()
    if isinstance(value, datetime.datetime):
        text = text.removesuffix("T00:00:00")
    return text


def _values_of(worksheet: Any) -> Iterator[tuple[int, int, Any]]:
    """Yield row and column, counted from 0, and the value of each cell that holds something."""
    slots = 0
    for row in _rows_of(worksheet):
        slots += len(row)
        if slots > _MOST_SLOTS:
            raise FormatError(
                f"rows with {slots:,} cells, nearly all of them blank",
                location=worksheet.title,
                hint="openpyxl.load_workbook(path) without read_only=True keeps only those that hold something",
            )
        for cell in row:
            if cell.value is not None and (value := _value_of(cell)) is not None:
                yield cell.row - 1, cell.column - 1, value


def _rows_of(worksheet: Any) -> Iterator[Sequence[Any]]:
    """Yield the cells of a worksheet.

    The rows of one that is not read-only would make a cell of each blank, in the caller's own object.
    """
    held = getattr(worksheet, "_cells", None)
    if held is None:
        yield from worksheet.iter_rows()
        return
    yield from ((cell,) for cell in list(held.values()))


def _value_of(cell: Any) -> Any:
    """Return the value of a cell: a scalar, a date, or `Unreadable`."""
    value, kind = cell.value, cell.data_type
    if type(value) is str and kind not in "fen":
        return without_escapes(value) or None
    if type(value) in (bool, int, float):
        return value
    if kind == "f":
        return _FORMULA
    if kind == "e":
        return _ErrorText(value)
    if kind == "n" and isinstance(value, str):  # exact digits, which openpyxl would print with 16
        return float(value) if set(value) & set(".eE") else int(value)
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    return without_escapes(str(value)) or None  # rich text, Decimal
