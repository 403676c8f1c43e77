"""Writes arrays and tables into the worksheets of openpyxl, XlsxWriter and pandas.ExcelWriter.

Everything that may be refused is looked at before the first cell is put. Both libraries print doubles with 16 digits:
openpyxl takes the shortest text of a number instead, which it prints as it is; to XlsxWriter such a number is text.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from ...columns import Layout, LayoutColumn, SheetRoom
from ...elements import TypedCells
from ...errors import LimitError, SheetArrayWarning, warn_caller
from ...formats.contract import CELL_CHARACTERS, Progress, ignore_progress
from ..content import (
    Formats,
    SheetContent,
    WriteOptions,
    choose_formats_of,
    lay_out_arrays,
    lay_out_columns,
    lay_out_each,
    take_arrays,
)
from ..defined_names import ArrayArea, build_references, make_defined_names
from ..looks import column_widths, number_formats
from ..printing import filtered_columns
from ..sheet_choice import parse_cell
from ..workbooks import EXACT_INTEGER, MOST_COLUMNS, MOST_ROWS, check_choices, check_is_text, check_title
from .books import Book, open_book
from .elements import BOLD, scalars_of
from .guards import plan_guards, put_guards
from .records import refuse_second_tables, renew_book_record

ROOM = SheetRoom(MOST_ROWS, MOST_COLUMNS, CELL_CHARACTERS)
_CELLS_AT_ONCE = 2**16


def write_workbook(
    target: Any,
    arrays: Any,
    *,
    sheet: str | None = None,
    at: str | None = None,
    cells: Literal["exact", "numeric", "text"] = "exact",
    dates: Literal["real", "text"] = "real",
    guard: bool | Literal["auto"] = "auto",
    formats: Formats = None,
    progress: Progress | None = None,
) -> None:
    """Put arrays into a workbook in memory, one column each. You save the workbook yourself.

    Args:
        target: a Workbook or Worksheet of openpyxl or XlsxWriter, or a pandas.ExcelWriter of either engine.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        sheet: the title of the worksheet. It is made if it does not exist. None is `arrays`, or the target itself.
        at: the first cell. None is A1 of a blank worksheet, or the first row to the right of what stands there. Cells
            that hold something are never overwritten.
        cells: "exact" keeps every bit: with XlsxWriter, which prints numbers with 16 digits, numbers of 17 are text.
            "numeric" makes them numbers all the same, and a warning counts those that XlsxWriter rounds. "text" writes
            every element as text.
        dates: "real" writes dates as dates where that is exact, "text" as ISO text.
        guard: True keeps an exact copy of every array in a very hidden worksheet, for `check` and `restore` of the
            saved file. "auto" does so in a workbook that has such a worksheet.
        formats: the number formats of arrays of floats or integers, as for `write_excel`.
        progress: a function, called with the number of cells written and the total.

    Raises:
        DTypeError: the format has no dtype for an array, or the object cannot be written to.
        LimitError: cells that hold something are in the way, or the worksheet has an array of this name; or a name, a
            title or a text that Excel cannot hold. Nothing has changed then.
    """
    check_choices(cells=(cells, "exact", "numeric", "text"))
    options = WriteOptions(cells, dates, guard, report=progress or ignore_progress)
    book = open_book(target, rounds=cells != "exact")
    title = _title_for(book, target, sheet, "arrays")
    content = _lay_out(book, title, arrays, at, serials=options.serials)
    write(book, choose_formats_of([content], formats), options)


def _lay_out(book: Book, title: str, arrays: Any, at: str | None, *, serials: bool) -> SheetContent:
    """Return arrays from a cell on; without one, to the right of what stands on the worksheet."""
    linear = take_arrays(arrays, CELL_CHARACTERS)
    corner, above = parse_cell("A1" if at is None else at), 0
    if at is None and (standing := book.standing(book.find(title))) is not None:
        standing.refuse_names(linear, title)
        column, above = standing.find_room()
        corner = (0, column)
    return lay_out_arrays(linear, ROOM, title=title, corner=corner, serials=serials, header_rows=above)


def write_table_workbook(
    target: Any,
    table: Any,
    *,
    sheet: str | None = None,
    at: str = "A1",
    dates: Literal["real", "text"] = "real",
    guard: bool | Literal["auto"] = "auto",
    formats: Formats = None,
    na_rep: str = "",
    progress: Progress | None = None,
) -> Any:
    """Put the columns of a table into a workbook in memory, under a row of names; see `sheetarray.write_table`.

    Args:
        target: as for `write_workbook`, and so are `at`, `dates`, `guard`, `formats` and `progress`.
        table: a mapping of names to 1-D arrays, a DataFrame, or an Arrow table.
        sheet: the title of the worksheet. It is made if it does not exist. None is `table`, or the target itself.
        na_rep: the text of NaN and NaT; "" leaves their cells blank.

    Returns:
        A Workbook of openpyxl with the table alone, to be read instead of the target.

    Raises:
        DTypeError: an array is not 1-D, or cells cannot hold it.
        LimitError: as `write_workbook`; or columns of different lengths; or the worksheet has a table that was written.
    """
    options = WriteOptions(dates=dates, guard=guard, report=progress or ignore_progress)
    book = open_book(target, rounds=True)
    title = _title_for(book, target, sheet, "table")
    corner = parse_cell(at)
    content = lay_out_columns(table, ROOM, title=title, corner=corner, serials=options.serials, na_rep=na_rep)
    write(book, choose_formats_of([content], formats), options)
    return _put_alone([replace(content, title=sheet or "table")])


def _put_alone(contents: Sequence[SheetContent]) -> Any:
    """Return a workbook of openpyxl that holds tables and nothing else."""
    import openpyxl  # type: ignore[import-untyped]

    alone = openpyxl.Workbook()
    alone.active.title = contents[0].title
    alone_contents = [replace(content, corner=(0, 0)) for content in contents]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # the caller has them of the workbook itself
        write(open_book(alone, rounds=True), alone_contents, WriteOptions(guard=False))
    return alone


def write_sheets_workbook(
    target: Any,
    tables: Mapping[str, Any],
    *,
    plain: bool,
    at: str | None = None,
    cells: Literal["exact", "numeric", "text"] = "exact",
    dates: Literal["real", "text"] = "real",
    guard: bool | Literal["auto"] = "auto",
    formats: Formats = None,
    na_rep: str = "",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Put each table of a mapping into a worksheet of a workbook in memory: all tables, or none.

    Args:
        target: a Workbook of openpyxl or XlsxWriter, or a pandas.ExcelWriter; as the other options, as for
            `write_workbook`.
        tables: frames, or mappings of names to arrays, by the titles of their worksheets.
        plain: write plain columns, as `write_table_workbook` does.
        at: the first cell in each worksheet; None as for `write_workbook`.
        cells: as for `write_workbook`.
        dates: as for `write_workbook`.
        guard: as for `write_workbook`.
        formats: of columns of these names, in whichever tables have them.
        na_rep: the text of NaN and NaT in plain columns; "" leaves their cells blank.
        progress: a function, called with the number of cells written and the total.

    Returns:
        The source from which each table can be read, by title.

    Raises:
        DTypeError: names the sheet, and the array that no cells hold; or the object cannot be written.
        LimitError: as `write_workbook`; nothing has changed then.
        ValueError: the target is a worksheet.
    """
    check_choices(cells=(cells, "exact", "numeric", "text"))
    options = WriteOptions(cells, dates, guard, report=progress or ignore_progress)
    book, serials = open_book(target, rounds=plain or cells != "exact"), options.serials

    def lay_out(title: str, table: Any) -> SheetContent:
        title = _title_for(book, target, title, "")
        if plain:
            corner = parse_cell("A1" if at is None else at)
            return lay_out_columns(table, ROOM, title=title, corner=corner, serials=serials, na_rep=na_rep)
        return _lay_out(book, title, table, at, serials=serials)

    contents = lay_out_each(tables, lay_out)
    options = replace(options, cells="numeric") if plain else options
    write(book, choose_formats_of(contents, formats), options)
    return dict.fromkeys(tables, _put_alone(contents) if plain else target)


def write(book: Book, contents: Sequence[SheetContent], options: WriteOptions) -> None:
    """Put arrays and tables into worksheets, and the snapshots of arrays into those of guards; or nothing at all."""
    plans = plan_guards(book, contents, options.guard)
    refuse_second_tables(book, contents, plans)
    tables = _put(book, contents, options)
    put_guards(book, plans, cells=options.cells, dates=options.dates)
    renew_book_record(book, contents, plans, tables)


class _PlacedLayout(NamedTuple):
    """A layout and the worksheet to which it goes."""

    content: SheetContent  # of which the layout is a part
    layout: Layout
    typed: Sequence[TypedCells]  # the elements of each column
    title: str  # of the worksheet
    standing: Any  # the worksheet; None if it is to be made

    @property
    def corner(self) -> tuple[int, int]:
        """The row and the column of the first cell."""
        return self.content.corner or (0, 0)


def _place_layouts(book: Book, contents: Sequence[SheetContent], options: WriteOptions) -> list[_PlacedLayout]:
    """Return the layouts of some contents with their worksheets; refuse what no worksheet takes."""
    titles = [title for content in contents for title in content.titles]
    folded = [title.casefold() for title in titles]
    if twice := [title for title in titles if folded.count(title.casefold()) > 1]:
        raise LimitError(f"two worksheets would have the title {twice[0]!r:.60}")
    placed = []
    for content in contents:
        for title, layout in zip(content.titles, content.layouts, strict=True):
            typed = [_typed(piece, as_text=options.as_text) for piece in layout.pieces]
            standing = book.find(title)
            if standing is None:
                check_title(title)
            own_title = title if standing is None else book.title_of(standing)
            placed.append(_PlacedLayout(content, layout, typed, own_title, standing))
    for each in placed:
        book.check_free(each.standing, each.title, each.layout, each.corner)
        book.check_texts(each.layout, each.typed)
    return placed


def _put(book: Book, contents: Sequence[SheetContent], options: WriteOptions) -> dict[str, str]:
    """Put contents into the cells of worksheets. If one of them is refused, nothing is put.

    It returns the names of the Excel Tables that were made, by the titles of worksheets.
    """
    placed = _place_layouts(book, contents, options)
    total, done, rounded = sum(content.cell_count for content in contents), 0, 0
    options.report(0, total)
    runs = [
        run for each in placed if each.content.kind == "arrays" for run in each.layout.runs(each.title, each.corner)
    ]
    references = build_references((run.name, run.title, run.cells) for run in runs)
    names = make_defined_names(references, book.names())
    tables = _plan_tables(book, placed)
    for each in placed:
        layout, (row, column) = each.layout, each.corner
        fresh = each.corner == (0, 0) and (each.standing is None or book.is_blank(each.standing))
        worksheet = book.add(each.title) if each.standing is None else each.standing
        is_table = each.content.kind == "table"
        codes = number_formats(layout.pieces, formats=each.content.formats, decimals=is_table)
        if fresh:
            shown = [None] * len(codes) if options.as_text else codes
            book.arrange(worksheet, layout, column_widths(layout.pieces, shown, as_text=options.as_text))
        notes = [each.content.notes.get(piece.name) for piece in layout.pieces] if each.content.notes else ()
        for first, rows in _rows(layout, each.typed):
            for number, cells in enumerate(rows, first):
                shown = codes if number >= layout.zone_height else _codes_above(layout, codes, number)
                rounded += book.put_row(worksheet, row + number, column, cells, shown, () if number else notes)
            options.report(done + layout.count_cells_above(max(first + len(rows), layout.zone_height)), total)
        if each.title in tables:
            book.add_table(worksheet, tables[each.title], each.corner, layout)
        done += layout.cell_count
    for area, name in names.items():
        book.define(name, references[area])
    if rounded:
        warn_caller(
            f"{rounded:,} {'number is' if rounded == 1 else 'numbers are'} rounded to 16 digits by XlsxWriter: "
            'cells="exact" of sheetarray.write keeps them, as text, and guard=True a copy that read takes'
        )
    return tables


def _plan_tables(book: Book, placed: Sequence[_PlacedLayout]) -> dict[str, str]:
    """Return the name of the Excel Table of each worksheet that gets one, by the title of the worksheet."""
    tables = [each for each in placed if each.content.kind == "table" and filtered_columns(each.layout)]
    areas = [ArrayArea(each.title, each.title) for each in tables]
    return {area.title: name for area, name in make_defined_names(areas, book.names()).items()}


def _title_for(book: Book, target: Any, title: str | None, default: str) -> str:
    """Return the title of the worksheet that a target and a title mean."""
    if title is not None:
        check_is_text(title)
    own = book.sheet_of(target)
    if own is None:
        return default if title is None else title
    own_title = book.title_of(own)
    if title is not None and title.casefold() != own_title.casefold():
        raise ValueError(f"the target is the worksheet {own_title!r}, and {title!r:.80} is another: pass the workbook")
    return own_title


def _typed(piece: LayoutColumn, *, as_text: bool) -> TypedCells:
    """Return all elements of a column; numbers of a column of dates are serial dates."""
    return piece.to_typed(0, len(piece.buffer), exact=EXACT_INTEGER, as_text=as_text)


def _rows(layout: Layout, typed: Sequence[TypedCells]) -> Iterator[tuple[int, list[Sequence[Any]]]]:
    """Yield the rows of a layout, some at a time, each with the number of its first row."""
    count = max(1, _CELLS_AT_ONCE // max(len(layout.pieces), 1))
    above = [piece.cells_above(named=layout.named) for piece in layout.pieces]
    for first in range(0, layout.height, count):
        size = min(count, layout.height - first)
        columns = []
        for piece, cells, head in zip(layout.pieces, typed, above, strict=True):
            start = max(first - len(head), 0)
            column = [*head[first : first + size]]
            column += scalars_of(piece, cells, start, size - len(column))
            columns.append([*column, *[None] * (size - len(column))])
        yield first, list(zip(*columns, strict=True))


def _codes_above(layout: Layout, codes: Sequence[str | None], row: int) -> list[str | None]:
    """Return the number formats in a row of the header zone: names are bold, and headers have none."""
    if row == 0:
        return [BOLD] * len(codes)
    return [code if row > piece.above else None for piece, code in zip(layout.pieces, codes, strict=True)]
