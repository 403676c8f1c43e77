"""Puts other cells, and other rows, into an ordinary table of a workbook; everything else in it stays as it is.

Rows that follow a deleted one move up, and the cells that become free are blank. Rows are added below the last one. A
formula stays where it stands, with the value that its cell is to show.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....dtypes import Array
from ....elements import buffer_to_typed
from ....elements.equality import index_changes
from ....errors import FormatError, locating
from ....files import Readable, Source, Writable, replacing
from ....linear.array import LinearArray
from ....tables import TableColumns, TableOptions, given_dtypes, is_same_column
from ...sheet_choice import SheetChoice
from ...workbooks import EXACT_INTEGER
from ..package.package import Package
from ..package.packing import PackageWriter
from ..package.relations import Relations
from ..row_xml import cells_xml, format_text
from ..splicing import SAVE_ANEW, NewCell, NewCells, Splice
from ..workbook_part import WorkbookPart
from .adapter import read_columns_excel

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

    Raises:
        FormatError: the cells cannot be changed in place.
        LimitError: the workbook is signed or shared; or cells below the table are in the way of added rows.
    """
    options = table or TableOptions()
    with Source(source) as opened, locating(source=opened.name):
        present = read_columns_excel(opened.path or io.BytesIO(bytes(opened.whole())), table=options, sheet=sheet)
        assert isinstance(present, TableColumns)
        package = Package(opened.ranges())
        names = {name: (renamed or {}).get(name, name) for name in columns}
        content = _revise(package, present, columns, np.asarray(sources, np.int64), names)
    asked = replace(options, dtype=given_dtypes({names[name]: column for name, column in columns.items()}))
    revised = read_columns_excel(io.BytesIO(content), list(names.values()), table=asked, sheet=sheet)
    for name, column in columns.items():
        if not is_same_column(revised[names[name]], column):
            reason = f"the column {name!r:.80} of this workbook cannot be changed in place"
            raise FormatError(reason, location=present.title, hint=SAVE_ANEW)
    with replacing(target, binary=True) as sink:
        sink.write(content)


def _revise(
    package: Package, present: TableColumns, columns: Mapping[str, Array], sources: Array, names: Mapping[str, str]
) -> bytes:
    """Return the workbook with new cells in its table."""
    book = WorkbookPart.of_package(package)
    book.check_changeable()
    title = present.title or ""
    part = next(sheet.part for sheet in book.sheets if sheet.title == title)
    splice = Splice(title, _find_cells(present, columns, sources, names))
    replaced = {part: splice.change(package.read(part))} if splice.cells else {}
    if splice.followed:
        raise FormatError("cells of the table are formulas of other sheets", location=title, hint=SAVE_ANEW)
    grown = len(sources) - len(present.list_rows())
    if grown and present.list_rows():
        replaced |= _resize_ranges(package, part, present, grown)
    chain = book.relations.present_target("calcChain")
    dropped = {chain} if splice.lost_formula and chain else set()
    for gone in dropped:
        book.relations.drop(gone)
        book.types.drop(gone)
    replaced |= book.changed_parts()
    file = io.BytesIO()
    writer = PackageWriter(file)
    writer.copy_parts(package, replaced, dropped)
    writer.finish()
    return file.getvalue()


def _find_cells(
    present: TableColumns, columns: Mapping[str, Array], sources: Array, names: Mapping[str, str]
) -> NewCells:
    """Return the cells that change; `names` are those that columns get."""
    rows = present.list_rows()
    count, last = len(rows), rows[-1] if rows else present.name_row
    places = [*rows, *range(last + 1, last + 1 + len(sources) - count)][: max(count, len(sources))]
    numbers = present.place_columns([*columns])
    cells: NewCells = {
        (present.name_row, numbers[name]): NewCell(format_text(now))
        for name, now in names.items()
        if name != now or name not in present
    }
    for name, column in columns.items():
        number, both = numbers[name], min(count, len(column))
        changed = np.arange(len(column))
        if name in present:
            changed = np.concatenate([index_changes(present[name][:both], column[:both]), np.arange(both, len(column))])
        array = LinearArray.from_numpy(column[changed])
        plain = cells_xml(buffer_to_typed(array.buffer, array.dtype_entry, exact=EXACT_INTEGER))
        serial: Sequence[str | None] = [None] * len(plain)
        if column.dtype.kind == "M":
            serial = cells_xml(buffer_to_typed(array.buffer, array.dtype_entry, exact=EXACT_INTEGER, serials=True))
        for index, cell, date in zip(changed.tolist(), plain, serial, strict=True):
            is_blank = _is_blank(column[index])
            model = last if index >= count and rows else None
            cells[places[index], number] = NewCell(
                None if is_blank else cell, None if is_blank else date, model, keeps_formula=True
            )
        for index in range(len(column), count):
            cells[places[index], number] = NewCell(None)
    return cells


def _is_blank(value: Any) -> bool:
    """Return whether a value of a table is a blank cell: NaN, NaT, None or no text."""
    return value is None or bool(value != value) or (isinstance(value, str) and not value)


def _resize_ranges(package: Package, part: str, present: TableColumns, grown: int) -> dict[str, bytes]:
    """Return the parts of Excel's tables whose range ends with the table, with the range that it has now."""
    last = present.list_rows()[-1] + 1
    replaced = {}
    for table_part in Relations(package, part).present_targets("table"):
        content = package.read(table_part)

        def resize(match: re.Match[bytes]) -> bytes:
            if int(match[5]) != last:
                return match[0]
            bottom = max(last + grown, int(match[3]) + 1)
            return b"%b%b%b:%b%d" % (match[1], match[2], match[3], match[4], bottom)

        if (changed := _RANGE.sub(resize, content)) != content:
            replaced[table_part] = changed
    return replaced
