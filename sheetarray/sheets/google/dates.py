"""Serial numbers that are dates: in columns of arrays by their dtype, in tables by how a worksheet shows them."""

from __future__ import annotations

import numpy as np

from ...cells.serials import FIRST_SERIAL, serials_to_dates
from ...dtypes import DType
from ...elements import Cell
from .retries import ChangedError


def put_shown_dates(cells: list[Cell], top: int, shown: list[Cell]) -> None:
    """Replace the numbers of a column that its worksheet shows as dates: by the text of the date.

    Durations, and dates before `FIRST_SERIAL`, of which programs disagree, become the text that is shown.

    Args:
        cells: of the column, changed in place.
        top: the index of the first cell to which `shown` belongs.
        shown: the cells as the service shows dates: text for a number that is shown as a date.

    Raises:
        ChangedError: the column has fewer cells than are shown.
    """
    if top + len(shown) > len(cells):
        raise ChangedError
    numbers = [row for row, text in enumerate(shown, top) if isinstance(text, str) and not isinstance(cells[row], str)]
    serials = np.array([_to_serial(cells[row]) for row in numbers], np.float64)
    for row, date in zip(numbers, serials_to_dates(serials, from_1904=False), strict=True):
        if type(cells[row]) in (int, float):
            cells[row] = shown[row - top] if date is None else date


def _to_serial(cell: Cell) -> float:
    """Return a number that all programs take for the same date; NaN for anything else."""
    return float(cell) if type(cell) in (int, float) and cell >= FIRST_SERIAL else np.nan


def put_dates(cells: list[Cell], dtype: DType) -> list[Cell]:
    """Return the cells of a column of dates with the text of each date that is a serial number."""
    if dtype.kind != "datetime":
        return cells
    serials = np.array([_to_serial(cell) for cell in cells], np.float64)
    texts = serials_to_dates(serials, from_1904=False)
    return [cell if text is None else text for cell, text in zip(cells, texts, strict=True)]
