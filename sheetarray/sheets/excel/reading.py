"""Reads the arrays of an open workbook as a whole; `piecewise` reads an array piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...columns import reporting_cells
from ...elements import Missing
from ...errors import FormatError
from ...formats.contract import Progress
from ..arrays_of_sheets import count_named, open_sheets, read_composites
from ..workbooks import SheetChoice
from .checking.workbook import select_sheets
from .guard.snapshots import open_snapshots, warn_of_guard
from .workbook import Workbook


def read_book(
    book: Workbook,
    names: Sequence[str] | None,
    *,
    sheet: SheetChoice,
    missing: Missing,
    strict: bool = False,
    resize: bool = False,
    guard: bool = True,
    progress: Progress | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays of an open workbook; the arguments are those of `read_excel`."""
    sheets = select_sheets(book, sheet)
    snapshots = open_snapshots(book) if guard else None
    restore = snapshots if snapshots is not None and snapshots.exist else None
    try:
        arrays = open_sheets(sheets, strict=strict, missing=missing, resize=resize, restore=restore)
        with reporting_cells(progress, sheets, lambda: count_named(arrays.read, arrays.scan, names)):
            by_name = read_composites(arrays.read, arrays.scan, names)
    except FormatError as error:
        error.hint = book.advise(error.location, error.hint or "") or None
        raise
    if snapshots is not None:
        warn_of_guard(snapshots)
    return by_name
