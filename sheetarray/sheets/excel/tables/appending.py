"""Rows at the end of an ordinary table of a workbook, or of one whose record says which arrays it is."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from ....changes.elements import cast_exactly
from ....dtypes import Array
from ....tables import TableOptions, given_dtypes
from ....tables.appended import fit_new_rows, is_without_values
from ...sheet_choice import SheetChoice
from ..accepting.workbook import accept_excel
from .adapter import describe_table_excel
from .revising import read_present, revise_table_excel


def append_table_excel(
    target: Any, columns: Mapping[str, Any], *, sheet: SheetChoice = None, table: str | None = None
) -> dict[str, int]:
    """Append rows to a table, and return the number of rows of each column.

    The range of an Excel Table grows with its rows, and its row of totals moves down. New cells have the formats of
    those above them. A column of formulas that the rows lack is filled down.

    Args:
        target: the path of a workbook.
        columns: the new elements, by the names of all columns of the table.
        sheet: the title of the sheet, or its index from 0; None takes the first one.
        table: the name of an Excel Table; None takes what stands in the sheet.

    Raises:
        DTypeError: a column does not hold the new elements exactly.
        LimitError: columns are missing, unknown, or of different lengths; or something else stands below the table.
        NotFoundError: there is no such sheet or table.
    """
    note = describe_table_excel(target, table=table, sheet=sheet)
    recorded = {name: dtype for name, dtype in dict(note.get("dtypes", {})).items() if dtype != "generic"}
    options, chosen = TableOptions(dtype=recorded or None, table=table), 0 if sheet is None else sheet
    present = read_present(target, None if note else list(columns), options, chosen)
    rows = fit_new_rows(columns, present, fills=not note, recorded=recorded)
    if unsettled := [
        name
        for name, column in present.items()
        if name in rows and name not in recorded and len(column) and is_without_values(column)
    ]:
        rows |= {name: _allow_blanks(rows[name]) for name in unsettled}
        settled = given_dtypes({name: rows[name] for name in unsettled})
        options = TableOptions(dtype=recorded | settled, table=table)
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


def _allow_blanks(array: Array) -> Array:
    """Return elements in a dtype that has a missing value, which the blank cells above them are."""
    if array.dtype.kind in "iu":
        numbers = cast_exactly(array, np.dtype(np.float64))
        return array.astype(object) if numbers is None else numbers
    return array.astype(object) if array.dtype.kind == "b" else array
