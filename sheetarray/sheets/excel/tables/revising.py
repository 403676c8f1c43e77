"""Puts other cells, and other rows, into an ordinary table of a workbook; everything else in it stays as it is.

Rows that follow a deleted one move up, and the cells that become free are blank. Rows are added below the last one. A
formula stays where it stands, with the value that its cell is to show.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np

from ....changes.formulas import Formula
from ....columns import column_letters, keeping_unreadable
from ....columns.grid import column_number
from ....dtypes import Array, Positions
from ....elements import buffer_to_typed
from ....elements.equality import index_changes
from ....errors import FormatError, LimitError, locating, quote_names, warn_caller
from ....files import Readable, Source, Writable, replacing
from ....linear.array import LinearArray
from ....tables import (
    AppendOptions,
    NamedTable,
    SearchOptions,
    TableColumns,
    TableOptions,
    given_dtypes,
    is_same_column,
    list_new_texts,
)
from ...formula_texts import refers_to, text_in_cell
from ...sheet_choice import SheetChoice
from ...workbooks import EXACT_INTEGER
from ..package.package import Package
from ..package.packing import rewrite_package
from ..package.relations import Relations
from ..row_xml import cells_xml, format_text
from ..splicing import SAVE_ANEW, MovedRow, NewCell, NewCells, Splice
from ..workbook_part import WorkbookPart
from .adapter import read_columns_excel
from .columns import PENDING
from .formulas import list_formulas_excel
from .totals import find_typed_totals

_CORNERS = re.compile("([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})")
_FORMULA_TEXT = re.compile(rb"<(?:\w+:)?f(?:\s[^<>]*)?>([^<]*)</")
_TABLE_HEAD = 2**12  # bytes of the part of an Excel Table in which its attributes stand
_RANGE = re.compile(rb"""(\sref\s*=\s*["'])([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})(?=["'])""")


def revise_table_excel(
    source: Readable,
    target: Writable,
    columns: Mapping[str, Array],
    sources: Sequence[int],
    *,
    renamed: Mapping[str, str] | None = None,
    table: TableOptions | None = None,
    sheet: SheetChoice = 0,
    fills: bool = False,
    formulas: Mapping[str, Array] | None = None,
) -> None:
    """Write a copy of a workbook in which a table holds other cells and rows. Everything else in it stays as it is.

    Args:
        source: a path or an open file: .xlsx or .xlsm.
        target: a path, which may be the source, or an open file. A file is replaced whole or not at all.
        columns: the new columns, by the names that `read_columns` gives; columns that are not named stay, and those
            that the sheet lacks go to the right.
        sources: for each new row its row in the source, ascending, or -1 for one that the source lacks. Rows of the
            source that are not named are deleted.
        renamed: the new names of columns.
        table: the options of `read_columns`.
        sheet: the title of the sheet, or its index from 0.
        formulas: for some columns the formulas of their cells, None where a cell holds a value. A formula without a
            result, and one that moves, is computed when the workbook is opened.
        fills: whether formulas of the columns that are not named are filled down into added rows.

    Raises:
        FormatError: the cells cannot be changed in place.
        LimitError: the workbook is signed or shared; or cells below the table are in the way of added rows.
    """
    options = table if isinstance(table, AppendOptions) else SearchOptions.of(table or TableOptions())
    with Source(source) as opened, locating(source=opened.name):

        def open_again() -> Any:
            return opened.path or io.BytesIO(bytes(opened.whole()))

        present = read_present(
            open_again(), list(columns) if fills else None, options, sheet, keeps=formulas is not None
        )
        if texts := list_new_texts(present, columns):
            as_text = replace(options, dtype=dict.fromkeys(texts, "string"))
            present |= read_columns_excel(open_again(), texts, table=as_text, sheet=sheet)
        names = {name: (renamed or {}).get(name, name) for name in columns}
        put = _Formulas(formulas or {}, (list_formulas_excel(open_again(), sheet=sheet) or {}) if formulas else {})
        content = _revise(
            WorkbookPart.to_change(opened),
            present,
            columns,
            np.asarray(sources, np.int64),
            names,
            put,
            options,
            fills=fills,
        )
    plain = {names[name]: column for name, column in columns.items() if name not in put.columns}
    asked = replace(options, dtype=options.recorded | given_dtypes(plain))
    with keeping_unreadable() if formulas else nullcontext():
        revised = read_columns_excel(io.BytesIO(content), [*plain], table=asked, sheet=sheet)
    for name, column in plain.items():
        if not is_same_column(revised[name], column):
            reason = f"the column {name!r:.80} of this workbook cannot be changed in place"
            raise FormatError(reason, location=present.title, hint=SAVE_ANEW)
    with replacing(target, binary=True) as sink:
        sink.write(content)


def read_present(
    source: Readable, named: list[str] | None, options: TableOptions, sheet: SheetChoice, *, keeps: bool = False
) -> TableColumns:
    """Read the columns of a table as they are now. `keeps`: read them even if some cells cannot be read.

    `named`: those that are wanted at least, where no program has computed the formulas of others yet; None for all.
    """
    try:
        with keeping_unreadable() if keeps else nullcontext():
            present = read_columns_excel(source, table=options, sheet=sheet)
    except FormatError as error:
        if error.reason != PENDING or named is None or options.table is None:
            raise
        present = read_columns_excel(source, named, table=options, sheet=sheet)
    assert isinstance(present, TableColumns)
    return present


def _revise(
    book: WorkbookPart,
    present: TableColumns,
    columns: Mapping[str, Array],
    sources: Array,
    names: Mapping[str, str],
    put: _Formulas,
    options: TableOptions,
    *,
    fills: bool,
) -> bytes:
    """Return the workbook with new cells in its table."""
    title, package = present.title or "", book.package
    part = next(sheet.part for sheet in book.sheets if sheet.title == title)
    grown = len(sources) - len(present.list_rows())
    splice = Splice(title, _find_cells(present, columns, sources, names, put, options))
    if fills:
        splice.cells |= _find_filled(book, present, columns, grown)
    if grown > 0 and (total := _find_totals(book, present, package.read(part))) is not None:
        splice.moved = replace(total, by=grown)
        _refuse_references(book, title, total.row + 1)
    replaced = {part: splice.change(package.read(part))} if splice.cells else {}
    _tell_formulas(splice, present)
    if splice.followed:
        raise FormatError("cells of the table are formulas of other sheets", location=title, hint=SAVE_ANEW)
    if grown and present.list_rows():
        replaced |= _resize_ranges(package, part, present, grown)
    if splice.cells and (splice.lost_formula or book.relations.present_target("calcChain") or _has_formulas(book)):
        book.compute_on_opening()
    dropped = book.drop_chain() if splice.lost_formula else set()
    replaced |= book.changed_parts()
    file = io.BytesIO()
    rewrite_package(file, package, replaced, dropped)
    return file.getvalue()


def _has_formulas(book: WorkbookPart) -> bool:
    """Return whether a sheet holds formulas, which may refer to other cells."""
    parts = [sheet.part for sheet in book.sheets if sheet.part and sheet.part in book.package]
    return any(_FORMULA_TEXT.search(book.package.read(part)) for part in parts)


class _Formulas:
    """The formulas that columns are to have, and those that stand in the sheet.

    Attributes:
        columns: by name, the formula of each cell; None where it is to hold a value.
    """

    def __init__(self, columns: Mapping[str, Array], held: Mapping[tuple[int, int], Formula]) -> None:
        self.columns, self._held = columns, held

    def changes(self, name: str, index: int, place: tuple[int, int]) -> bool:
        """Return whether a cell is to get another formula than it has, or to lose its formula."""
        formula = self.columns[name][index]
        held = self._held.get(place)
        return held is not None if formula is None else not formula.says_the_same(held)

    def find(self, name: str, index: int, place: tuple[int, int]) -> tuple[Formula | None, str | None]:
        """Return the formula that a cell is to have, with its text if the cell has another formula now."""
        column = self.columns.get(name)
        formula: Formula | None = None if column is None else column[index]
        held = self._held.get(place)
        if formula is None or formula.says_the_same(held):
            return formula, None
        return formula, text_in_cell(formula, *place).removeprefix("=")

    def free_followers(self, cells: NewCells) -> None:
        """Give formulas a text of their own if they share the formula of a cell that will change."""
        leaders = [place for place in cells if (held := self._held.get(place)) is not None and held.has_followers]
        sharing: dict[str, list[Formula]] = {}
        for formula in self._held.values() if leaders else ():
            sharing.setdefault(formula.relative, []).append(formula)
        for place in leaders:
            held, new = self._held[place], cells[place]
            if new.keeps_formula and new.formula is None:
                continue
            for follower in sharing.pop(held.relative, ()):
                if follower.cell not in cells:
                    cells[follower.cell] = NewCell(None, formula=follower.text[1:], keeps_result=True)
                elif cells[follower.cell].keeps_formula:
                    cells[follower.cell] = replace(cells[follower.cell], formula=follower.text[1:])
            cells[place] = replace(cells[place], frees=True)


def _find_cells(
    present: TableColumns,
    columns: Mapping[str, Array],
    sources: Array,
    names: Mapping[str, str],
    put: _Formulas,
    options: TableOptions,
) -> NewCells:
    """Return the cells to change. `names`: the new names of columns."""
    rows = present.list_rows()
    count, last = len(rows), rows[-1] if rows else present.name_row
    places = [*rows, *range(last + 1, last + 1 + len(sources) - count)][: max(count, len(sources))]
    numbers = present.place_columns([*columns])
    cells: NewCells = {
        (present.name_row, numbers[name]): NewCell(format_text(now))
        for name, now in names.items()
        if name != now or name not in present
    }
    filled = np.zeros(max(count, len(sources)), np.bool_)
    spelled: dict[int, tuple[int, NewCell]] = {}
    for name, column in columns.items():
        number, both = numbers[name], min(count, len(column))
        changed = np.arange(len(column))
        if name in present:
            changed = np.concatenate([_find_other(present[name][:both], column[:both]), np.arange(both, len(column))])
        if name in put.columns:
            anew = [index for index in range(len(column)) if put.changes(name, index, (places[index], number))]
            changed = np.union1d(changed, np.asarray(anew, np.int64))
        array = LinearArray.from_numpy(column[changed])
        plain = cells_xml(buffer_to_typed(array.buffer, array.dtype_entry, exact=EXACT_INTEGER))
        serial: Sequence[str | None] = [None] * len(plain)
        if column.dtype.kind == "M":
            serial = cells_xml(buffer_to_typed(array.buffer, array.dtype_entry, exact=EXACT_INTEGER, serials=True))
        values = column[changed].tolist()
        for index, value, cell, date in zip(changed.tolist(), values, plain, serial, strict=True):
            is_blank = _is_blank(value) and not (value == "" and name in options.marked)
            model = last if index >= count and rows else None
            if index >= count:
                filled[index] |= not is_blank
                if cell is not None:
                    spelled.setdefault(index, (number, NewCell(cell, date, model, keeps_formula=True)))
            formula, text = put.find(name, index, (places[index], number))
            cells[places[index], number] = NewCell(
                None if is_blank else cell,
                None if is_blank else date,
                model,
                keeps_formula=name not in put.columns or formula is not None,
                formula=text,
                drops_result=formula is not None and formula.result is None,
            )
        for index in range(len(column), count):
            cells[places[index], number] = NewCell(None)
    put.free_followers(cells)
    for index, (number, nan_cell) in spelled.items():
        if not filled[index]:  # a row of blanks alone is no row: it keeps one NaN or NaT as text
            cells[places[index], number] = nan_cell
    return cells


def _find_other(before: Array, now: Array) -> Positions:
    """Return the indices of the values that differ; all indices if the values are of another kind."""
    if now.dtype.kind == "O" and before.dtype.kind != "O":
        before = before.astype(object)
    return index_changes(before, now)


def _find_filled(book: WorkbookPart, present: TableColumns, columns: Mapping[str, Array], grown: int) -> NewCells:
    """Return the cells of added rows in the columns whose formulas are filled down."""
    rows = present.list_rows()
    last = rows[-1] if rows else present.name_row
    named = _find_named(book, present)
    numbers = {*map(present.column_of, present), *([] if named is None else named[1])}
    numbers -= {present.column_of(name) for name in columns}
    cell = NewCell(None, model=last, fills=True)
    return {(last + 1 + index, number): cell for index in range(grown) for number in sorted(numbers)}


def _find_named(book: WorkbookPart, present: TableColumns) -> tuple[NamedTable, range, int] | None:
    """Return the Excel Table that covers a table, with its columns and its last row; None without one.

    The row of totals is not counted.
    """
    rows = present.list_rows()
    for table in book.tables().values():
        corners = _CORNERS.fullmatch(table.reference)
        if table.title == present.title and corners is not None and rows:
            last, left, right = int(corners[4]) - 1 - table.total_rows, *map(column_number, (corners[1], corners[3]))
            if last == rows[-1] and all(left <= present.column_of(name) <= right for name in present):
                return table, range(left, right + 1), last
    return None


def _find_totals(book: WorkbookPart, present: TableColumns, content: bytes) -> MovedRow | None:
    """Return the row of totals of a table, of the Excel Table or typed by hand; None without one."""
    named, rows = _find_named(book, present), present.list_rows()
    if named is not None and named[0].total_rows == 1:
        return MovedRow(named[2] + 1, named[1], 0, named[2] + 1)
    typed = find_typed_totals(content, rows[-1]) if rows else None
    if typed is None:
        return None
    numbers = [*map(present.column_of, present), *(named[1] if named is not None else ())]
    return MovedRow(typed.row, range(min(numbers), max(numbers) + 1), 0, typed.last + 1)


def _refuse_references(book: WorkbookPart, title: str, row: int) -> None:
    """Refuse to move a row of totals that formulas refer to: they would show other cells. The row is counted from 1."""
    for sheet in book.sheets:
        if not sheet.part or sheet.part not in book.package:
            continue
        for match in _FORMULA_TEXT.finditer(book.package.read(sheet.part)):
            formula = unescape(match[1].decode("utf-8", "replace"))
            if (sheet.title == title or title in formula) and refers_to(formula, row):
                reason = f"a formula of {sheet.title!r:.80} names a cell of the row of totals: {formula:.80}"
                raise LimitError(f"{title}!{row}: {reason}; refer to it as Table[[#Totals],[column]]")


def _tell_formulas(splice: Splice, present: TableColumns) -> None:
    """Refuse added rows that lack a column which cannot be filled down; warn of values below formulas."""
    names = {present.column_of(name): name for name in present}
    if missing := [names.get(number, column_letters(number)) for number in sorted(splice.unfilled)]:
        raise LimitError(f"rows need all columns of the table, and they lack {quote_names(missing)}")
    if typed := [name for number, name in names.items() if number in splice.typed]:
        warn_caller(
            f"values were added below the formulas of {quote_names(typed)}: rows without them take the formulas"
        )


def _is_blank(value: Any) -> bool:
    """Return whether a value of a table is a blank cell: NaN, NaT, None or no text."""
    if isinstance(value, complex):  # a blank would not tell its other part
        return False
    return value is None or bool(value != value) or (isinstance(value, str) and not value)


def _resize_ranges(package: Package, part: str, present: TableColumns, grown: int) -> dict[str, bytes]:
    """Return the XML parts of Excel Tables that end with the table, with their new range."""
    last = present.list_rows()[-1] + 1
    replaced = {}
    for table_part in Relations(package, part).present_targets("table"):
        content = package.read(table_part)
        has_totals = _totals_of(content)

        def resize(match: re.Match[bytes], *, has_totals: bool = has_totals) -> bytes:
            if int(match[5]) == last + 1 and has_totals:
                return b"%b%b%b:%b%d" % (match[1], match[2], match[3], match[4], last + 1 + grown)
            if int(match[5]) != last:
                return match[0]
            bottom = max(last + grown, int(match[3]) + 1)
            return b"%b%b%b:%b%d" % (match[1], match[2], match[3], match[4], bottom)

        if (changed := _RANGE.sub(resize, content)) != content:
            replaced[table_part] = changed
    return replaced


def _totals_of(content: bytes) -> bool:
    """Return whether an Excel Table shows a row of totals."""
    return re.search(rb"""\stotalsRowCount\s*=\s*["'][1-9]""", content[:_TABLE_HEAD]) is not None
