"""Excel workbooks, written exact and fast, and other workbooks read: the functions of the adapter."""

from __future__ import annotations

from ..views.description import View
from .accepting.workbook import accept_excel
from .adapter import check_excel, keeps_excel, read_excel, scan_excel, write_excel, write_sheets_excel
from .appending import append_excel
from .beside import list_other_cells_excel, list_writes_excel
from .reading import iter_elements_excel, read_written_excel
from .restoring import restore_excel
from .revising import revise_excel, revise_sheets_excel
from .tables.adapter import describe_table_excel, read_columns_excel, write_table_excel
from .tables.appending import append_table_excel
from .tables.formulas import list_formulas_excel
from .tables.revising import revise_table_excel

__all__ = [
    "View",
    "accept_excel",
    "append_excel",
    "append_table_excel",
    "check_excel",
    "describe_table_excel",
    "iter_elements_excel",
    "keeps_excel",
    "list_formulas_excel",
    "list_other_cells_excel",
    "list_writes_excel",
    "read_columns_excel",
    "read_excel",
    "read_written_excel",
    "restore_excel",
    "revise_excel",
    "revise_sheets_excel",
    "revise_table_excel",
    "scan_excel",
    "write_excel",
    "write_sheets_excel",
    "write_table_excel",
]
