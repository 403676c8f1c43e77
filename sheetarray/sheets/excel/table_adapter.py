"""Ordinary sheets of workbooks: written and read as tables, a row of names above columns of values.

They have no headers of the exchange format; sheets that have are written and read by `adapter`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ...adapters import Progress, ignore_progress
from ...errors import LimitError, locating
from ...files import Readable, Source, Writable, exists
from ...tables import TableOptions, lay_out_table, read_table
from .append import IfSheetExists
from .checking import check_is_text, select_sheets
from .table import ExcelTable
from .workbook import Workbook
from .writing import MAX_CHARACTERS, MAX_COLUMNS, MAX_ROWS, append_workbook, write_workbook


def write_table_excel(
    target: Writable,
    table: Any,
    *,
    sheet: str = "table",
    mode: Literal["w", "a"] = "w",
    if_sheet_exists: IfSheetExists = "error",
    dates: Literal["real", "text"] = "real",
    progress: Progress | None = None,
) -> None:
    """Write the columns of a table to a sheet of a workbook, one row of names above them; see `sheetarray.write_table`.

    Args:
        target: a path, replaced as a whole (mode "w"), or an open file (mode "w").
        table: a mapping of names to 1-D arrays, a DataFrame, or an Arrow table.
        sheet: title of the sheet.
        mode: "a" adds the sheet to the workbook that is there, and leaves everything else in it as it is.
        if_sheet_exists: "replace" puts it in the place of a sheet of that title that this package wrote.
        dates: as for `write_excel`.
        progress: called with the cells written and the cells in all.

    Raises:
        DTypeError: an array that is no column, or that no cells hold.
        FormatError: mode "a", and the file is no workbook.
        LimitError: columns of different lengths, or more than Excel holds; the file is as it was.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> write_table_excel(file, {"id": np.array(["007"]), "t": np.array([1.5])})
        >>> read_columns_excel(io.BytesIO(file.getvalue()))
        {'id': array(['007'], dtype='<U3'), 't': array([1.5])}
    """
    if mode not in ("w", "a") or if_sheet_exists not in ("error", "replace") or dates not in ("real", "text"):
        raise LimitError('mode is "w" or "a", if_sheet_exists "error" or "replace", dates "real" or "text"')
    check_is_text(sheet)
    layout = lay_out_table(table, max_rows=MAX_ROWS, max_columns=MAX_COLUMNS, max_characters=MAX_CHARACTERS)
    how: dict[str, Any] = {"sheet": sheet, "as_text": False, "real_dates": dates == "real"}
    how["report"] = progress or ignore_progress
    if mode == "w" or (isinstance(target, (str, os.PathLike)) and not exists(target)):
        write_workbook(target, {}, [layout], **how)
    elif isinstance(target, (str, os.PathLike)):
        append_workbook(target, {}, [layout], if_sheet_exists=if_sheet_exists, **how)
    else:
        raise LimitError('mode="a" takes a path, not an open file')


def read_columns_excel(
    source: Readable,
    columns: Sequence[str] | None = None,
    *,
    table: TableOptions | None = None,
    sheet: str | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the columns of an ordinary sheet, one array each; see `sheetarray.read_columns`.

    Args:
        source: a path or an open file.
        columns: names (or letters) of the columns wanted; None for all.
        table: what the caller says of the table; None for nothing.
        sheet: the title of the sheet; None for the first one.

    Raises:
        FormatError: no table, a cell that its dtype cannot mean, or a column that does not fill its shape.
        NotFoundError: no such sheet, or no such column.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> write_table_excel(file, {"id": np.array(["007", "008"]), "t": np.array([1.5, np.nan])})
        >>> read_columns_excel(io.BytesIO(file.getvalue()), ["t"])
        {'t': array([1.5, nan])}
    """
    with Source(source) as opened, locating(source=opened.name), Workbook(opened) as book:
        meant = select_sheets(book, sheet, of_table=True)[0]
        with locating(sheet=meant.title):
            return read_table(ExcelTable(meant), columns, table)
