"""Writes arrays and tables into the worksheets of openpyxl, XlsxWriter and pandas.ExcelWriter.

Everything that may be refused is looked at before the first cell is put. Both libraries print doubles with 16 digits:
openpyxl takes the shortest text of a number instead, which it prints as it is; to XlsxWriter such a number is text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ...columns import Layout, LayoutColumn, cell_address, column_letters, lay_out_sheets
from ...elements import TypedCells
from ...errors import DTypeError, LimitError, naming_sheet, warn_caller
from ...formats.contract import CELL_CHARACTERS, Progress, ignore_progress
from ...labels import find_notes
from ...linear.array import LinearArray
from ...linear.named import linear_arrays
from ...tables import lay_out_table, notes_of_columns
from ..arrays_of_sheets import is_for_programs, spread
from ..looks import cells_of, column_widths, element_range, filtered_columns, number_formats
from ..workbooks import (
    EXACT_INTEGER,
    MOST_COLUMNS,
    MOST_ROWS,
    ArrayArea,
    build_references,
    check_choices,
    check_formats,
    check_is_text,
    check_title,
    make_defined_names,
    parse_cell,
    sheet_titles,
    with_escapes,
)
from .elements import Numeral, scalars_of
from .guards import forget_checksums, plan_guards, put_guards
from .standing import Standing, stand_openpyxl, stand_xlsxwriter

_CELLS_AT_ONCE = 2**16
_BOLD = "bold"  # instead of a number format


def write_workbook(
    target: Any,
    arrays: Any,
    *,
    sheet: str | None = None,
    at: str | None = None,
    cells: Literal["exact", "numeric", "text"] = "exact",
    dates: Literal["real", "text"] = "real",
    guard: bool | Literal["auto"] = "auto",
    formats: str | Mapping[str, str] | None = None,
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
    _check_ways(cells, dates, guard)
    book = _open_book(target, rounds=cells != "exact")
    title = _title_for(book, target, sheet, "arrays")
    contents = _lay_out(book, title, arrays, at, serials=dates == "real" and cells != "text")
    _put_guarded(book, [contents], cells, dates, guard, formats, progress or ignore_progress)


def _check_ways(cells: object, dates: object, guard: object) -> None:
    check_choices(cells=(cells, "exact", "numeric", "text"), dates=(dates, "real", "text"))
    check_choices(guard=(guard, "auto", True, False))


class _Contents(NamedTuple):
    """The content of a worksheet, and of those on which its arrays continue."""

    title: str  # of the first worksheet
    corner: tuple[int, int]  # the first cell
    layouts: Sequence[Layout]  # one for each worksheet
    notes: Mapping[str, str]  # what people read beside names, by the names
    arrays: Mapping[str, LinearArray] = {}  # none of plain columns


def _lay_out(
    book: _OpenpyxlBook | _XlsxWriterBook, title: str, arrays: Any, at: str | None, *, serials: bool
) -> _Contents:
    """Return arrays from a cell on; without one, to the right of what stands on the worksheet."""
    linear = linear_arrays(spread(arrays, limit=CELL_CHARACTERS))
    corner, above = parse_cell("A1" if at is None else at), 0
    if at is None and (standing := book.standing(book.find(title))) is not None:
        standing.refuse_names(linear, title)
        column, above = standing.find_room()
        corner = (0, column)
    layouts = lay_out_sheets(
        linear,
        max_rows=MOST_ROWS - corner[0],
        max_columns=MOST_COLUMNS - corner[1],
        max_characters=CELL_CHARACTERS,
        aligned=True,
        header_rows=above,
        serials=serials,
    )
    return _Contents(title, corner, layouts, find_notes(linear), linear)


def _lay_out_plain(title: str, table: Any, at: str | None, *, serials: bool) -> _Contents:
    """Return a table from a cell on."""
    corner = parse_cell("A1" if at is None else at)
    rows, columns = MOST_ROWS - corner[0], MOST_COLUMNS - corner[1]
    layout = lay_out_table(table, serials=serials, max_rows=rows, max_columns=columns, max_characters=CELL_CHARACTERS)
    return _Contents(title, corner, [layout], notes_of_columns(table))


def write_table_workbook(
    target: Any,
    table: Any,
    *,
    sheet: str | None = None,
    at: str = "A1",
    dates: Literal["real", "text"] = "real",
    formats: str | Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Any:
    """Put the columns of a table into a workbook in memory, under a row of names; see `sheetarray.write_table`.

    Args:
        target: as for `write_workbook`, and so are `at`, `dates`, `formats` and `progress`.
        table: a mapping of names to 1-D arrays, a DataFrame, or an Arrow table.
        sheet: the title of the worksheet. It is made if it does not exist. None is `table`, or the target itself.

    Returns:
        A Workbook of openpyxl with the table alone, to be read instead of the target.

    Raises:
        DTypeError: an array is not 1-D, or cells cannot hold it.
        LimitError: as `write_workbook`, or columns of different lengths.
    """
    check_choices(dates=(dates, "real", "text"))
    book = _open_book(target, rounds=True)
    title = _title_for(book, target, sheet, "table")
    contents = [_lay_out_plain(title, table, at, serials=dates == "real")]
    _put(book, contents, "numeric", formats, progress or ignore_progress)
    return _put_alone([contents[0]._replace(title=sheet or "table")])


def _put_alone(contents: Sequence[_Contents]) -> Any:
    """Return a workbook of openpyxl that holds tables and nothing else."""
    import openpyxl  # type: ignore[import-untyped]

    alone = openpyxl.Workbook()
    alone.active.title = contents[0].title
    alone_contents = [content._replace(corner=(0, 0)) for content in contents]
    _put(_OpenpyxlBook(alone), alone_contents, "numeric", None, ignore_progress, adds_tables=False)
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
    formats: str | Mapping[str, str] | None = None,
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
        guard: as for `write_workbook`; plain columns have none.
        formats: of columns of these names, in whichever tables have them.
        progress: a function, called with the number of cells written and the total.

    Returns:
        The source from which each table can be read, by title.

    Raises:
        DTypeError: names the sheet, and the array that no cells hold; or the object cannot be written.
        LimitError: as `write_workbook`; nothing has changed then.
        ValueError: the target is a worksheet.
    """
    _check_ways(cells, dates, guard)
    book = _open_book(target, rounds=plain or cells != "exact")
    contents, serials = [], dates == "real" and cells != "text"
    for title, table in tables.items():
        with naming_sheet(title):
            own = _title_for(book, target, title, "")
            contents.append(
                _lay_out_plain(own, table, at, serials=serials)
                if plain
                else _lay_out(book, own, table, at, serials=serials)
            )
    shown, keeps = ("numeric", False) if plain else (cells, guard)
    _put_guarded(book, contents, shown, dates, keeps, formats, progress or ignore_progress)
    return dict.fromkeys(tables, _put_alone(contents) if plain else target)


def _put_guarded(
    book: _OpenpyxlBook | _XlsxWriterBook,
    contents: Sequence[_Contents],
    cells: str,
    dates: str,
    guard: bool | Literal["auto"],
    formats: str | Mapping[str, str] | None,
    report: Progress,
) -> None:
    """Put arrays into worksheets, and their snapshots into those of guards."""
    plans = plan_guards(book, [(some.title, some.arrays, len(some.layouts)) for some in contents], guard)
    _put(book, contents, cells, formats, report)
    put_guards(book, plans, cells=cells, dates=dates)
    forget_checksums(book, plans)


def _put(
    book: _OpenpyxlBook | _XlsxWriterBook,
    contents: Sequence[_Contents],
    cells: str,
    formats: str | Mapping[str, str] | None,
    report: Progress,
    *,
    adds_tables: bool = True,
) -> None:
    """Put layouts into the cells of worksheets, each from a corner on; nothing, if any of it is refused.

    `adds_tables`: make Excel Tables of tables.
    """
    titles = [title for content in contents for title in sheet_titles(content.title, len(content.layouts))]
    corners = [content.corner for content in contents for _ in content.layouts]
    if twice := [title for title in titles if [other.casefold() for other in titles].count(title.casefold()) > 1]:
        raise LimitError(f"two worksheets would have the title {twice[0]!r:.60}")
    layouts = [layout for sheet_content in contents for layout in sheet_content.layouts]
    chosen = check_formats(formats, {piece.name: piece.dtype for layout in layouts for piece in layout.pieces})
    typed_pieces = [[_typed(piece, cells) for piece in layout.pieces] for layout in layouts]
    places = [book.find(title) for title in titles]
    for title, place in zip(titles, places, strict=True):
        if place is None:
            check_title(title)
    titles = [title if place is None else book.title_of(place) for title, place in zip(titles, places, strict=True)]
    for layout, typed, place, title, corner in zip(layouts, typed_pieces, places, titles, corners, strict=True):
        book.check_free(place, title, layout, corner)
        book.check_texts(layout, typed)
    total, done, rounded = sum(layout.cell_count for layout in layouts), 0, 0
    report(0, total)
    names = make_defined_names(
        references := build_references(_ranges(layouts, titles, corners)) if layouts[0].pieces[0].header else {},
        book.names(),
    )
    tables = _plan_tables(book, layouts, titles) if adds_tables else {}
    notes = [sheet_content.notes for sheet_content in contents for _ in sheet_content.layouts]
    every = zip(layouts, typed_pieces, places, titles, corners, notes, strict=True)
    for layout, typed, place, title, corner, texts in every:
        fresh = corner == (0, 0) and (place is None or book.is_blank(place))
        worksheet = book.add(title) if place is None else place
        dates, decimals = any(piece.serials for piece in layout.pieces), not layout.pieces[0].header
        codes = number_formats(layout.pieces, dates=dates, formats=chosen, decimals=decimals)
        if fresh:
            as_text = cells == "text"
            shown = [None] * len(codes) if as_text else codes
            book.arrange(worksheet, layout, column_widths(layout.pieces, shown, as_text=as_text))
        for first, rows in _rows(layout, typed):
            for number, row in enumerate(rows, first):
                shown = codes if number >= layout.zone_height else _codes_above(layout, codes, number)
                beside = [texts.get(piece.name) for piece in layout.pieces] if texts and not number else ()
                rounded += book.put_row(worksheet, corner[0] + number, corner[1], row, shown, beside)
            report(done + layout.count_cells_above(max(first + len(rows), layout.zone_height)), total)
        if title in tables:
            book.add_table(worksheet, tables[title], corner, layout)
        done += layout.cell_count
    for area, name in names.items():
        book.define(name, references[area])
    if rounded:
        warn_caller(
            f"{rounded:,} {'number is' if rounded == 1 else 'numbers are'} rounded to 16 digits by XlsxWriter: "
            'cells="exact" of sheetarray.write keeps them, as text'
        )


def _plan_tables(
    book: _OpenpyxlBook | _XlsxWriterBook, layouts: Sequence[Layout], titles: Sequence[str]
) -> dict[str, str]:
    """Return the name of the Excel Table of each worksheet that gets one, by the title of the worksheet."""
    plain = [not layout.pieces[0].header and bool(filtered_columns(layout)) for layout in layouts]
    areas = [ArrayArea(title, title) for title, is_table in zip(titles, plain, strict=True) if is_table]
    return {area.title: name for area, name in make_defined_names(areas, book.names()).items()}


def _title_for(book: _OpenpyxlBook | _XlsxWriterBook, target: Any, title: str | None, default: str) -> str:
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


def _ranges(
    layouts: Sequence[Layout], titles: Sequence[str], corners: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the title of the sheet and the range of the elements in each column that has any."""
    for layout, title, corner in zip(layouts, titles, corners, strict=True):
        for place, piece in enumerate(layout.pieces):
            if cells := element_range(layout, place, corner):
                yield piece.name, title, cells


# The cells of columns ------------------------------------------------------------------------------------------


def _typed(piece: LayoutColumn, cells: str) -> TypedCells:
    """Return all elements of a column; numbers of a column of dates are serial dates."""
    return piece.to_typed(0, len(piece.buffer), exact=EXACT_INTEGER, as_text=cells == "text")


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
        return [_BOLD] * len(codes)
    return [code if row > piece.above else None for piece, code in zip(layout.pieces, codes, strict=True)]


# The libraries -------------------------------------------------------------------------------------------------


def _open_book(target: Any, *, rounds: bool) -> _OpenpyxlBook | _XlsxWriterBook:
    """Return the workbook of an object."""
    if (engine := getattr(target, "engine", None)) is not None:  # a pandas.ExcelWriter
        if getattr(getattr(getattr(target, "_handles", None), "handle", None), "closed", False):
            raise DTypeError("the ExcelWriter is closed: mode='a' and the path of its file add a sheet")
        target = target.book
    packages = {kind.__module__.partition(".")[0] for kind in type(target).__mro__}
    if "openpyxl" in packages:
        return _OpenpyxlBook(target)
    if "xlsxwriter" in packages:
        return _XlsxWriterBook(target, rounds)
    raise DTypeError(f"a pandas.ExcelWriter of the engine {engine!r}: take engine='openpyxl' or 'xlsxwriter'")


class _OpenpyxlBook:
    """A workbook of openpyxl."""

    def __init__(self, target: Any) -> None:
        import openpyxl
        from openpyxl.cell import WriteOnlyCell  # type: ignore[import-untyped]
        from openpyxl.comments import Comment  # type: ignore[import-untyped]
        from openpyxl.styles import Font  # type: ignore[import-untyped]
        from openpyxl.workbook.defined_name import DefinedName  # type: ignore[import-untyped]
        from openpyxl.worksheet import table as tables  # type: ignore[import-untyped]
        from openpyxl.worksheet._write_only import WriteOnlyWorksheet  # type: ignore[import-untyped]
        from openpyxl.worksheet.worksheet import Worksheet  # type: ignore[import-untyped]

        self._kinds, self._tables = (Worksheet, WriteOnlyWorksheet), tables
        self._cell_kind, self._name_kind, self._note_kind = WriteOnlyCell, DefinedName, Comment
        self._bold = Font(bold=True)
        self.book: Any = target if isinstance(target, openpyxl.Workbook) else getattr(target, "parent", None)
        if self.book is None or self.book.read_only or not isinstance(target, (openpyxl.Workbook, *self._kinds)):
            raise DTypeError(
                f"a {type(target).__name__} of openpyxl cannot be written to: "
                "openpyxl.load_workbook(path) without read_only=True gives a Workbook that can"
            )

    def sheet_of(self, target: Any) -> Any:
        """Return the worksheet that a target is; None for a workbook."""
        return target if isinstance(target, self._kinds) else None

    def title_of(self, sheet: Any) -> str:
        """Return the title of a worksheet."""
        return str(sheet.title)

    def find(self, title: str) -> Any:
        """Return the sheet of a title, compared without case; None if there is none."""
        return next(
            (
                sheet
                for sheet in map(self.book.__getitem__, self.book.sheetnames)
                if sheet.title.casefold() == title.casefold()
            ),
            None,
        )

    def add(self, title: str) -> Any:
        """Return a new worksheet."""
        return self.book.create_sheet(title)

    def names(self) -> list[str]:
        """Return all defined names, and the names of tables."""
        tables = [name for sheet in self.book.worksheets for name in getattr(sheet, "tables", ())]
        return [*self.book.defined_names, *tables]

    def define(self, name: str, reference: str) -> None:
        """Add a defined name."""
        self.book.defined_names[name] = self._name_kind(name, attr_text=reference)

    def add_table(self, sheet: Any, name: str, corner: tuple[int, int], layout: Layout) -> None:
        """Make an Excel Table of the cells of a layout."""
        cells, kinds = cells_of(layout, corner), self._tables
        table = kinds.Table(displayName=name, name=name, ref=cells, autoFilter=kinds.AutoFilter(ref=cells))
        names = [with_escapes(piece.name) for piece in layout.pieces]
        table.tableColumns = [kinds.TableColumn(id=place, name=column) for place, column in enumerate(names, 1)]
        table.tableStyleInfo = kinds.TableStyleInfo(name="TableStyleMedium2", showRowStripes=True)
        sheet.tables.add(table)

    def is_blank(self, sheet: Any) -> bool:
        """Return whether no cell of a worksheet holds anything."""
        return all(cell.value is None for cell in sheet._cells.values())

    def standing(self, sheet: Any) -> Standing | None:
        """Return what a sheet holds; None where nobody can tell, or where it is no worksheet."""
        return stand_openpyxl(sheet) if isinstance(sheet, self._kinds) and not self.book.write_only else None

    def check_free(self, sheet: Any, title: str, layout: Layout, corner: tuple[int, int]) -> None:
        """Refuse cells that hold something, or that are part of a merged cell."""
        if sheet is None:
            if self.book.write_only and corner != (0, 0):
                raise ValueError("openpyxl writes a write-only workbook from cell A1 on: leave out at=")
            return
        if not isinstance(sheet, self._kinds):
            raise LimitError(f"{title!r} is a {type(sheet).__name__}, no worksheet: choose another title with sheet=")
        if self.book.write_only:
            if sheet._rows is not None or sheet.closed or corner != (0, 0):
                raise LimitError(f"{title!r} is write-only and has rows: choose another title with sheet=")
            return
        stand_openpyxl(sheet).check_free(title, layout, corner)

    def check_texts(self, layout: Layout, typed: Sequence[TypedCells]) -> None:
        """Refuse text that openpyxl would cut, since escapes make it longer than a cell is."""
        for piece, cells in zip(layout.pieces, typed, strict=True):
            if cells.texts is None:
                continue
            for index in (cells.texts.str.len_chars() > CELL_CHARACTERS // 7).arg_true().to_list():
                if len(with_escapes(cells.texts[index])) > CELL_CHARACTERS:
                    raise LimitError(
                        f"{piece.name}: element {piece.start + index} has more than {CELL_CHARACTERS:,} characters "
                        "once those that XML lacks are escaped"
                    )

    def arrange(self, sheet: Any, layout: Layout, widths: Sequence[float]) -> None:
        """Set the widths of columns, freeze the rows above the elements, and collapse those of headers."""
        for place, (piece, width) in enumerate(zip(layout.pieces, widths, strict=True)):
            column = sheet.column_dimensions[column_letters(place)]
            column.width, column.hidden = width, is_for_programs(piece)
        if layout.hides_headers:
            for row in range(2, layout.zone_height + 1):
                sheet.row_dimensions[row].outlineLevel = 1
                sheet.row_dimensions[row].hidden = True
            sheet.row_dimensions[layout.zone_height + 1].collapsed = True
        if sheet.freeze_panes is None:
            sheet.freeze_panes = cell_address(layout.zone_height if layout.hides_headers else 1, 0)

    def put_row(
        self,
        sheet: Any,
        row: int,
        column: int,
        cells: Sequence[Any],
        codes: Sequence[str | None],
        notes: Sequence[str | None],
    ) -> int:
        """Put the cells of a row, with notes or without; return how many numbers are rounded."""
        row_cells: list[Any] = []
        streams = self.book.write_only
        for place, value in enumerate(cells):
            if value is None or value == "":
                row_cells.append(None)
                continue
            cell = self._cell_kind(sheet) if streams else sheet.cell(row + 1, column + place + 1)
            code = codes[place]
            if isinstance(value, str) and not isinstance(value, Numeral):
                cell.value, cell.data_type = _blank_safe(with_escapes(value)), "s"
            else:
                cell.value = value
                if isinstance(value, Numeral):
                    cell.value, cell.data_type = str(value), "n"
                if code is not None:
                    cell.number_format = code
            if code == _BOLD:
                cell.font = self._bold
            if notes and (text := notes[place]) is not None:
                cell.comment = self._note_kind(text, "")
            row_cells.append(cell)
        if streams:
            sheet.append(row_cells)
        return 0


def _blank_safe(text: str) -> str:
    """Return a text whose white space no program drops; openpyxl does not mark text that is only white space."""
    return text if text.strip() else f"_x{ord(text[0]):04X}_{text[1:]}"


class _XlsxWriterBook:
    """A workbook of XlsxWriter."""

    def __init__(self, target: Any, rounds: bool) -> None:
        from xlsxwriter import Workbook  # type: ignore[import-untyped]
        from xlsxwriter.chartsheet import Chartsheet  # type: ignore[import-untyped]
        from xlsxwriter.worksheet import Worksheet  # type: ignore[import-untyped]

        self._kind, self._other_kind = Worksheet, Chartsheet
        add_format = getattr(target, "workbook_add_format", None)  # a method of the workbook, which its sheets have
        self.book: Any = target if isinstance(target, Workbook) else getattr(add_format, "__self__", None)
        if self.book is None or isinstance(target, Chartsheet):
            raise DTypeError(f"a {type(target).__name__} of XlsxWriter cannot be written to: take its workbook")
        if self.book.fileclosed:
            raise DTypeError("the workbook of XlsxWriter is closed: mode='a' and the path of its file add a sheet")
        self._formats: dict[str | None, Any] = {None: None}
        self.rounds = rounds

    def sheet_of(self, target: Any) -> Any:
        """Return the worksheet that a target is; None for a workbook."""
        return target if isinstance(target, self._kind) else None

    def title_of(self, sheet: Any) -> str:
        """Return the title of a worksheet."""
        return str(sheet.name)

    def find(self, title: str) -> Any:
        """Return the sheet of a title, compared without case; None if there is none."""
        return next(
            (sheet for name, sheet in self.book.sheetnames.items() if name.casefold() == title.casefold()), None
        )

    def add(self, title: str) -> Any:
        """Return a new worksheet."""
        return self.book.add_worksheet(title)

    def names(self) -> list[str]:
        """Return all defined names, and the names of tables."""
        tables = [table for sheet in self.book.worksheets() for table in getattr(sheet, "tables", ())]
        named = [table.get("name") or f"Table{number}" for number, table in enumerate(tables, 1)]  # as at closing
        return [*(str(entry[0]) for entry in self.book.defined_names), *named]

    def define(self, name: str, reference: str) -> None:
        """Add a defined name."""
        self.book.define_name(name, f"={reference}")

    def add_table(self, sheet: Any, name: str, corner: tuple[int, int], layout: Layout) -> None:
        """Make an Excel Table of the cells of a layout, which XlsxWriter cannot in constant memory."""
        if not sheet.constant_memory:
            bold = self._format(_BOLD)
            columns = [{"header": piece.name, "header_format": bold} for piece in layout.pieces]
            options = {"name": name, "columns": columns, "style": "Table Style Medium 2"}
            sheet.add_table(cells_of(layout, corner), options)

    def is_blank(self, sheet: Any) -> bool:
        """Return whether a worksheet has no cells."""
        return sheet.dim_rowmax is None

    def standing(self, sheet: Any) -> Standing | None:
        """Return what a sheet holds; None where nobody can tell, or where it is no worksheet."""
        return stand_xlsxwriter(sheet) if isinstance(sheet, self._kind) and not sheet.constant_memory else None

    def check_free(self, sheet: Any, title: str, layout: Layout, corner: tuple[int, int]) -> None:
        """Refuse cells that hold something, or that are written to the disk already."""
        top, left = corner
        if sheet is None:
            return
        if isinstance(sheet, self._other_kind):
            raise LimitError(f"{title!r} is a {type(sheet).__name__}, no worksheet: choose another title with sheet=")
        if sheet.constant_memory and top < sheet.previous_row:
            raise LimitError(
                f"{title!r} is written with constant_memory down to row {sheet.previous_row + 1}: "
                f"at={cell_address(sheet.previous_row + 1, left)!r} is below"
            )
        stand_xlsxwriter(sheet).check_free(title, layout, corner)

    def check_texts(self, layout: Layout, typed: Sequence[TypedCells]) -> None:
        """Refuse text that XlsxWriter takes for the XML of formatted text."""
        for piece, cells in zip(layout.pieces, typed, strict=True):
            texts = cells.texts
            if texts is not None and (texts.str.starts_with("<r>") & texts.str.ends_with("</r>")).any():
                raise LimitError(f"{piece.name}: XlsxWriter takes a text from <r> to </r> for formatting, not for text")

    def arrange(self, sheet: Any, layout: Layout, widths: Sequence[float]) -> None:
        """Set the widths of columns, freeze the rows above the elements, and collapse those of headers."""
        for place, (piece, width) in enumerate(zip(layout.pieces, widths, strict=True)):
            sheet.set_column(place, place, width, None, {"hidden": is_for_programs(piece)})
        if layout.hides_headers:
            for row in range(1, layout.zone_height):
                sheet.set_row(row, None, None, {"level": 1, "hidden": True})
            sheet.set_row(layout.zone_height, None, None, {"collapsed": True})
        if not sheet.panes:
            sheet.freeze_panes(layout.zone_height if layout.hides_headers else 1, 0)

    def put_row(
        self,
        sheet: Any,
        row: int,
        column: int,
        cells: Sequence[Any],
        codes: Sequence[str | None],
        notes: Sequence[str | None],
    ) -> int:
        """Put the cells of a row, with notes or without; return how many numbers are rounded."""
        rounded = 0
        for place, text in enumerate(notes, column):
            if text is not None:
                sheet.write_comment(row, place, text)
        for place, value in enumerate(cells, column):
            if value is None or value == "":
                continue
            if isinstance(value, Numeral) and self.rounds and math.isfinite(float(f"{float(value):.16g}")):
                rounded += float(value) != 0
                value = float(value)
            style = self._format(codes[place - column])
            if isinstance(value, str):
                sheet.write_string(
                    row, place, str(value), self._format(_BOLD if codes[place - column] == _BOLD else None)
                )
            elif isinstance(value, bool):
                sheet.write_boolean(row, place, value, style)
            elif isinstance(value, (int, float)):
                sheet.write_number(row, place, value, style)
            else:
                sheet.write_datetime(row, place, value, style)
        return rounded

    def _format(self, code: str | None) -> Any:
        if code not in self._formats:
            self._formats[code] = self.book.add_format({"bold": True} if code == _BOLD else {"num_format": code})
        return self._formats[code]
