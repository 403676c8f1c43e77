"""Google Sheets: arrays in a worksheet, through gspread; a write is whole or absent, whoever else reads or writes.

The cells are those of the exchange format (https://github.com/stdlib-js/stdlib/issues/1140), one array a column, as
`columns` lays them out and finds them again. What this package knows is the service (Google Sheets API, version 4).

`address` says which worksheet is meant, `client` and `requests` how to get there; `state`, `content`, `fetch` and
`grid` look at what is there; `sheet` and `reading` read, `slices` and `pieces` only a part. `body`, `plan`, `placing`,
`data_rows`, `table` and `changes` prepare a write, `appearance` says how it looks, and `write` carries it out;
`direct` makes a small one at once, `stage` and `commit` a large one; `read_back` compares. `views` and `view_requests`
make the worksheets that show arrays slice by slice. `holder` tells living writers from dead ones, `leftovers` what the
dead have left; `creating` makes spreadsheets, `login` asks people for leave, `appending` lets arrays grow by rows.
"""

from __future__ import annotations

from ...adapters import Keeps
from .adopting import adopt_gsheet
from .appending import append_gsheet
from .creating import create_gsheet
from .leftovers import clean_gsheet
from .login import login_gsheet
from .pieces import iter_elements_gsheet
from .reading import check_gsheet, read_columns_gsheet, read_gsheet, scan_gsheet
from .writing import write_gsheet, write_table_gsheet

__all__ = [
    "adopt_gsheet",
    "append_gsheet",
    "check_gsheet",
    "clean_gsheet",
    "create_gsheet",
    "iter_elements_gsheet",
    "keeps_gsheet",
    "login_gsheet",
    "read_columns_gsheet",
    "read_gsheet",
    "scan_gsheet",
    "write_gsheet",
    "write_table_gsheet",
]

keeps_gsheet = Keeps(buffers=True, nested=True, labels=True)
