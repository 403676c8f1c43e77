"""What a process does that tests kill while it writes to Google Sheets; it imports nothing else of theirs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from sheetarray import write_gsheet

NEW = {"t": np.full(300, 2.0), "fresh": np.array([2.0])}
STAGED = NEW | {"odd": np.array(["\x7f"])}  # text that a service may tidy up is tried on a stage


def write_when_told(url: str, key: str, go: Any, *, direct: bool) -> None:
    """Write `NEW`, at once or by a stage, to a spreadsheet of an emulator as soon as `go` is set."""
    os.environ["SHEETARRAY_SHEETS_ENDPOINT"] = url
    go.wait()
    write_gsheet(key, NEW if direct else STAGED)
