"""Ordinary sheets of workbooks: written and read as tables, a row of names above columns of values.

They have no headers of the exchange format; sheets that have are written and read by `adapter`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from ....errors import locating
from ....files import Readable, Source, Writable
from ....formats.contract import Progress, ignore_progress
from ....tables import TableOptions, read_tables
from ...content import Formats, IfSheetExists, WriteOptions, choose_formats_of, lay_out_columns
from ...recorded_tables import leave_out_below, read_as_ordinary
from ...sheet_choice import SheetChoice, is_first
from ...workbooks import check_is_text
from ..checking.workbook import select_sheets
from ..sheet_writes import sheet_room, write
from ..workbook import Workbook
from ..workbook_part import WorkbookPart
from .cells import ExcelTable
from .recorded import find_tables


def write_table_excel(
    target: Writable,
    table: Any,
    *,
    sheet: str = "table",
    mode: Literal["w", "a"] = "w",
    if_sheet_exists: IfSheetExists = "error",
    dates: Literal["real", "text"] = "real",
    guard: bool | Literal["auto"] = "auto",
    formats: Formats = None,
    na_rep: str = "",
    progress: Progress | None = None,
) -> None:
    """Write the columns of a table to a sheet of a workbook, under a row of names; see `sheetarray.write_table`.

    Args:
        target: a path, replaced as a whole (mode "w"), or an open file (mode "w").
        table: a mapping of names to 1-D arrays, a DataFrame, or an Arrow table.
        sheet: title of the sheet.
        mode: "a" adds the sheet to the workbook that is there, and leaves everything else in it as it is.
        if_sheet_exists: "replace" puts it in the place of a sheet of that title that this package wrote.
        dates: as for `write_excel`.
        guard: as for `write_excel`: an exact snapshot of the columns.
        formats: the number format of all floats, or those of columns by name, as for `write_excel`. By default, floats
            show as many decimals as they need, at most 6, and very small and very large floats show a power of ten.
        na_rep: the text of NaN and NaT; "" leaves their cells blank.
        progress: a function, called with the number of cells written and the total.

    Raises:
        DTypeError: an array is not 1-D, or cells cannot hold it.
        FormatError: with mode "a", the file is not a workbook.
        LimitError: columns of different lengths, or more than Excel holds. The file stays as it was.
        ValueError: a format that is not for numbers.
        NotFoundError: `formats` names a column that you do not write.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> write_table_excel(file, {"id": np.array(["007"]), "t": np.array([1.5])})
        >>> read_columns_excel(io.BytesIO(file.getvalue()))
        {'id': array(['007'], dtype='<U3'), 't': array([1.5])}
    """
    check_is_text(sheet)
    report = progress or ignore_progress
    options = WriteOptions(dates=dates, guard=guard, mode=mode, if_sheet_exists=if_sheet_exists, report=report)
    content = lay_out_columns(table, sheet_room(), title=sheet, serials=options.serials, na_rep=na_rep)
    write(target, choose_formats_of([content], formats), options)


def read_columns_excel(
    source: Readable,
    columns: Sequence[str] | None = None,
    *,
    table: TableOptions | None = None,
    sheet: SheetChoice = 0,
) -> dict[str, Any]:
    """Return the columns of an ordinary sheet as arrays; see `sheetarray.read_columns`.

    Args:
        source: a path or an open file.
        columns: the names (or letters) of the columns to read; None reads all.
        table: the options that the caller passed to `read_columns`, or None.
        sheet: the title of the sheet, or its index from 0; None returns the columns of each sheet by its title.

    Raises:
        FormatError: there is no table, a cell does not fit the dtype, or a column does not fill its shape.
        NotFoundError: the sheet, or a column, does not exist.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> write_table_excel(file, {"id": np.array(["007", "008"]), "t": np.array([1.5, np.nan])})
        >>> read_columns_excel(io.BytesIO(file.getvalue()), ["t"])
        {'t': array([1.5, nan])}
    """
    with Source(source) as opened, locating(source=opened.name), Workbook(opened) as book:
        if sheet is None:
            titles = [meant.title or "" for meant in select_sheets(book, None, of_table=True)]
            return read_tables({title: partial(_read_sheet, book, title, columns, table) for title in titles}, table)
        return _read_sheet(book, sheet, columns, table)


def _read_sheet(
    book: Workbook, sheet: str | int, columns: Sequence[str] | None, table: TableOptions | None
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the columns of one sheet."""
    asked = None if is_first(sheet) else select_sheets(book, sheet)[0].title
    title, table = (table or TableOptions()).locate(
        asked, lambda: _open_own(book, WorkbookPart.name_references), lambda: _open_own(book, WorkbookPart.tables)
    )
    meant = select_sheets(book, title, of_table=True)[0]
    with locating(sheet=meant.title):
        cells = ExcelTable(meant, is_foreign=not book.record.get("sheets"))
        table = leave_out_below(table, lambda: find_tables(book, [meant]))
        return read_as_ordinary(cells, columns, table, lambda: find_tables(book, [meant]))


def describe_table_excel(source: Readable, *, table: str | None = None, sheet: SheetChoice = None) -> dict[str, Any]:
    """Return the description of a table that a workbook stores, or an empty dictionary if it stores none.

    Args:
        source: a path or an open file.
        table: the name of an Excel Table; None takes the whole sheet.
        sheet: the title of the sheet, or its index from 0; None for the first one.

    Raises:
        FormatError: the file is not a workbook, or is damaged.
        NotFoundError: the table or the sheet does not exist.
    """
    with Source(source) as opened, locating(source=opened.name), Workbook(opened) as book:
        note_by_title = {title: more.get("table") for title, more in book.record.get("sheets", {}).items()}
        notes = {title: note for title, note in note_by_title.items() if isinstance(note, dict)}
        if table is not None:  # whose sheet, or itself, may have another name now
            named = [note for note in notes.values() if str(note.get("name")).casefold() == table.casefold()]
            if len(named) == 1:
                return _name_columns(book, named[0])
            title, _ = TableOptions(table=table).locate(None, dict, lambda: _open_own(book, WorkbookPart.tables))
        else:
            title = select_sheets(book, sheet, of_table=True)[0].title
        return _name_columns(book, notes.get(title or "", {}))


def _name_columns(book: Workbook, tree: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a table under the names that its columns have today."""
    places = find_tables(book, select_sheets(book, None, of_table=True)) if tree else []
    note = next((place.note for place in places if place.tree is tree), None)
    if note is None or note.original is None:
        return tree
    present = {name: dtype for name, dtype in note.dtypes.items() if name not in note.gone}
    return {"name": tree.get("name", ""), **replace(note, dtypes=present).to_json()}


def _open_own(book: Workbook, look: Callable[[WorkbookPart], Mapping[Any, Any]]) -> Mapping[Any, Any]:
    """Return what the own part of an .xlsx or .xlsm says; nothing of any other workbook."""
    return {} if book.own is None else look(book.own)
