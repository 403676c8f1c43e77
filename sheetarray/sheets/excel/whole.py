"""Reads the arrays of an open workbook as a whole; `pieces` reads an array piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...adapters import Progress
from ...columns import reporting_cells
from ...composite import count_cells, read_sheets
from ...elements import Missing
from ...errors import FormatError
from .checking import open_snapshots, select_sheets, warn_of_guard
from .workbook import Workbook


def read_book(
    book: Workbook,
    names: Sequence[str] | None,
    *,
    sheet: str | None,
    missing: Missing,
    strict: bool = False,
    resize: bool = False,
    guard: bool = True,
    progress: Progress | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays of an open workbook; the arguments are those of `read_excel`.

    Raises:
        FormatError: as `read_excel`.
    """
    sheets = select_sheets(book, sheet)
    snapshots = open_snapshots(book, used=guard)
    restore = snapshots if snapshots.exist else None
    with reporting_cells(progress, sheets, lambda: count_cells(sheets, names, strict=strict)):
        try:
            arrays = read_sheets(sheets, names, strict=strict, missing=missing, resize=resize, restore=restore)
        except FormatError as error:
            error.hint = book.advise(error.location, error.hint or "") or None
            raise
    warn_of_guard(book, snapshots, used=guard)
    return arrays
