"""Google Sheets: arrays in a worksheet, through gspread; a write is whole or absent, whoever else reads or writes.

The cells are those of the exchange format (https://github.com/stdlib-js/stdlib/issues/1140), one array a column, as
`columns` lays them out and finds them again. What this package knows is the service (Google Sheets API, version 4).

`address` says which worksheet is meant; `client` and `requests` get there. `state` looks at the
whole spreadsheet, `worksheet` fetches cells, and `reading` reads arrays from them. For a write, `standing` looks at
what is there, `plan` says which cells it takes, `sent_cells` and `changes` prepare its requests, `appearance`
its looks. `spreadsheet_write` then makes it: `at_once` where it is small, by a `stage` where it is large. `appending`
adds rows, `views` makes worksheets that show arrays slice by slice. `tables` has the records that say which arrays a
table is, finds such tables and changes them.
"""

from __future__ import annotations

from ...formats.contract import Keeps
from .accepting import accept_gsheet
from .address import url_of_key_gsheet
from .appending import append_gsheet
from .reading import (
    check_gsheet,
    describe_table_gsheet,
    iter_elements_gsheet,
    read_columns_gsheet,
    read_gsheet,
    scan_gsheet,
)
from .tables.revising import revise_tables_gsheet
from .writing import write_gsheet, write_sheets_gsheet, write_table_gsheet

__all__ = [
    "accept_gsheet",
    "append_gsheet",
    "check_gsheet",
    "describe_table_gsheet",
    "instead_gsheet",
    "iter_elements_gsheet",
    "keeps_gsheet",
    "read_columns_gsheet",
    "read_gsheet",
    "revise_tables_gsheet",
    "scan_gsheet",
    "url_of_key_gsheet",
    "write_gsheet",
    "write_sheets_gsheet",
    "write_table_gsheet",
]

keeps_gsheet = Keeps(buffers=True, nested=True, labels=True)

_BY_NAME = "{verb} replaces what it wrote under the same names, and leaves all else as it is"
instead_gsheet = {
    "mode": _BY_NAME,
    "if_sheet_exists": _BY_NAME,
}
"""What to do instead of giving options of workbooks."""
