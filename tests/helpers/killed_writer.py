"""What a process does that tests kill while it writes to Google Sheets; it imports nothing else of theirs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from sheetarray import write_gsheet
from sheetarray.sheets.google import sent_cells

NEW = {"t": np.full(300, 2.0), "fresh": np.array([2.0])}


def write_when_told(url: str, key: str, go: Any, *, direct: bool) -> None:
    """Write `NEW` to a spreadsheet of an emulator as soon as `go` is set."""
    if not direct:
        sent_cells.MOST_DIRECT_BYTES = 0
    os.environ["SHEETARRAY_SHEETS_ENDPOINT"] = url
    go.wait()
    write_gsheet(key, NEW)
