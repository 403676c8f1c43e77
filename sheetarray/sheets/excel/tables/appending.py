"""Rows at the end of an ordinary table of a workbook, or of one whose record says which arrays it is."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ....changes.elements import cast_exactly
from ....dtypes import Array
from ....errors import DTypeError, FormatError
from ....files import Source
from ....tables import AppendOptions, TableOptions, given_dtypes
from ....tables.appended import fit_new_rows, is_without_values
from ...sheet_choice import SheetChoice
from ..accepting.workbook import accept_excel
from ..checking.workbook import select_sheets
from ..workbook import Workbook
from .adapter import describe_table_excel
from .recorded import find_tables
from .revising import read_present, revise_table_excel
from .totals import find_typed_totals


def append_table_excel(
    target: Any, columns: Mapping[str, Any], *, sheet: SheetChoice = None, table: str | None = None
) -> dict[str, int]:
    """Append rows to a table, and return the number of rows of each column.

    The range of an Excel Table grows with its rows, and its row of totals moves down. New cells have the formats of
    those above them. A column of formulas that the rows lack is filled down. A row of totals that somebody typed
    moves down, too, and sums up the new rows.

    Args:
        target: the path of a workbook.
        columns: the new elements, by the names of all columns of the table.
        sheet: the title of the sheet, or its index from 0; None takes that of the only recorded table which has all
            columns, else the first one.
        table: the name of an Excel Table; None takes that of the sheet which has all columns, or what stands there.

    Raises:
        DTypeError: a column does not hold the new elements exactly.
        LimitError: columns are missing, unknown, or of different lengths; or something else stands below the table.
        NotFoundError: there is no such sheet or table.
    """
    if sheet is None and table is None:
        sheet = _find_recorded_sheet(target, columns)
    table, footer = (table, 0) if table is not None else _find_end(target, columns, sheet)
    note = describe_table_excel(target, table=table, sheet=sheet)
    recorded = dict(note.get("dtypes", {}))
    texts = [name for name in note.get("texts", ()) if name in columns]
    recorded |= dict.fromkeys(texts, "string")
    columns = {**columns, **{name: _blank_none(name, columns[name]) for name in texts}}
    options: TableOptions = TableOptions(table=table, skip_footer=footer)
    if note:
        options = AppendOptions(dtype=recorded, table=table, skip_footer=footer)
    chosen = 0 if sheet is None else sheet
    present = read_present(target, None if note else list(columns), options, chosen)
    rows = fit_new_rows(columns, present, fills=not note, recorded=recorded)
    if unsettled := [
        name
        for name, column in present.items()
        if name in rows and name not in recorded and len(column) and is_without_values(column)
    ]:
        rows |= {name: _allow_blanks(rows[name]) for name in unsettled}
        settled = given_dtypes({name: rows[name] for name in unsettled})
        options = replace(options, dtype=recorded | settled)
        present = read_present(target, None if note else list(columns), options, chosen)
        rows = fit_new_rows(rows, present, fills=not note, recorded=recorded)
    grown = {
        name: np.concatenate([present[name], array]) if len(present[name]) else array for name, array in rows.items()
    }
    count, added = len(next(iter(present.values()), ())), len(next(iter(rows.values()), ()))
    if added:
        sources = [*range(count), *[-1] * added]
        if note:
            grown_file = io.BytesIO()
            revise_table_excel(target, grown_file, grown, sources, table=options, sheet=chosen)
            accept_excel(io.BytesIO(grown_file.getvalue()), target)  # the record and the snapshot of the table
        else:
            revise_table_excel(target, target, grown, sources, table=options, sheet=chosen, fills=True)
    return dict.fromkeys(present, count + added)


def _find_recorded_sheet(target: Any, columns: Mapping[str, Any]) -> str | None:
    """Return the title of the sheet of the only recorded table that has all columns of some rows; None without one."""
    with Source(target) as opened, Workbook(opened) as book:
        places = find_tables(book, select_sheets(book, None, of_table=True))
        titles = [place.title for place in places if {*columns} <= {*place.place_names().values()}]
    return titles[0] if len(titles) == 1 else None


def _find_end(target: Any, columns: Mapping[str, Any], sheet: SheetChoice) -> tuple[str | None, int]:
    """Return the name of the only Excel Table of a sheet that has all columns of some rows; where there is none, how
    many rows at the end of the sheet are blank or hold totals that somebody typed.
    """
    with Source(target) as opened, Workbook(opened) as book:
        if book.own is None:
            return None, 0
        title = select_sheets(book, sheet, of_table=True)[0].title
        tables = [name for name, table in book.own.tables().items() if table.title == title]
        part = next((own.part for own in book.own.sheets if own.title == title), None)
        content = b"" if part is None or part not in book.own.package else book.own.package.read(part)
    named = []
    for name in tables:
        with suppress(FormatError):
            if {*columns} <= {*read_present(target, [*columns], TableOptions(table=name, nrows=1), 0)}:
                named.append(name)
    totals = find_typed_totals(content)
    return (named[0], 0) if len(named) == 1 else (None, 0 if totals is None else totals.row - totals.last)


def _blank_none(name: str, column: Any) -> Array:
    """Return new elements of a column of text and None as text: a blank cell is None there.

    Raises:
        DTypeError: one of them is neither text nor None.
    """
    elements = np.asarray(column, object).tolist()
    if not all(element is None or isinstance(element, str) for element in elements):
        raise DTypeError(f"{name}: the column holds text, and a new row does not")
    return np.array([element or "" for element in elements] or np.zeros(0, "U1"))


def _allow_blanks(array: Array) -> Array:
    """Return elements in a dtype that has a missing value, which the blank cells above them are."""
    if array.dtype.kind in "iu":
        numbers = cast_exactly(array, np.dtype(np.float64))
        return array.astype(object) if numbers is None else numbers
    return array.astype(object) if array.dtype.kind == "b" else array
