"""Workbooks in memory: those of openpyxl, XlsxWriter and pandas.ExcelWriter, beside whatever the caller puts in them.

`writing` lays arrays and tables out in the cells of any of them; saving stays the caller's. `records` keeps in their
custom properties which arrays a table is. `reading` shows the worksheets of openpyxl as `columns.Sheet`, which
XlsxWriter's are not: they can only be written.
"""

from __future__ import annotations

from ...formats.contract import Keeps
from .reading import check_workbook, read_columns_workbook, read_workbook, scan_workbook
from .writing import write_sheets_workbook, write_table_workbook, write_workbook

__all__ = [
    "check_workbook",
    "instead_workbook",
    "keeps_workbook",
    "read_columns_workbook",
    "read_workbook",
    "scan_workbook",
    "write_sheets_workbook",
    "write_table_workbook",
    "write_workbook",
]

keeps_workbook = Keeps(buffers=True, nested=True, labels=True)

_BESIDE = 'nothing is overwritten, and sheetarray.{verb}(target, arrays, sheet="another title") adds a sheet'
_IN_A_FILE = (
    "views are kept in files that sheetarray saves: save the workbook, then "
    'sheetarray.write(path, arrays, mode="a", sheet="another title", views=True)'
)
instead_workbook = {
    "mode": _BESIDE,
    "if_sheet_exists": _BESIDE,
    "views": _IN_A_FILE,
}
"""What to do instead of giving options of files."""
