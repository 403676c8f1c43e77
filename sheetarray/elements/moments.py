"""Cells as dates and durations, each by itself: ISO 8601 texts, and what else reads as a moment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dtypes import Buffer, DType
from . import scalars as scalar_text
from .dates import known_dates_to_iso
from .missing import Missing
from .problems import Problem, decode_each
from .scalars import Cell, describe_cell
from .spelling import ANY_MOMENT, NO_TIME

_ISO = re.compile(rf"{ANY_MOMENT}|{NO_TIME}", re.ASCII | re.IGNORECASE)
_ISO_LINES = re.compile(rf"(?:(?:{ANY_MOMENT}|{NO_TIME})\n)*+", re.ASCII | re.IGNORECASE)
_NOTHING_MORE = re.compile(r"(?:-01){0,2}(?:T?00)?(?::00){0,2}\.?0*")


def decode_datetimes(cells: Sequence[Cell], dtype: DType, missing: Missing) -> tuple[Buffer, list[Problem]]:
    """Return cells as datetime64, in the unit of the dtype, with a problem for each cell that is no such moment."""
    count = len(cells)
    if set(map(type, cells)) == {str} and _ISO_LINES.fullmatch("\n".join([*cells, ""])):
        try:
            out = np.array(cells, dtype=dtype.numpy)
        except (ValueError, OverflowError):
            pass  # a month 13, or a unit too fine: the loop below says which
        else:
            if known_dates_to_iso(out) == list(cells):
                return out, []
    out = np.full(count, "NaT", dtype=dtype.numpy)

    years = np.datetime_data(dtype.numpy)[0] == "Y"  # elsewhere 20200101 is a date without its dashes

    def read(cell: Cell) -> Any:
        text = cell.strip().replace(" ", "T") if isinstance(cell, str) else ""
        if not _ISO.fullmatch(text) or (text.isdigit() and len(text) > 4 and not years):
            raise ValueError(f"expected a date as ISO text, found {describe_cell(cell)}")
        try:
            value = np.array([text], dtype=dtype.numpy)
        except (ValueError, OverflowError):
            raise ValueError(f"{describe_cell(cell)} is not a date, or finer than {dtype.name}") from None
        if not _is_same_date(text, known_dates_to_iso(value)[0]):
            raise ValueError(f"{describe_cell(cell)} is beyond the range of {dtype.name}, or finer than its unit")
        return value[0]

    return decode_each(cells, out, read, missing=missing)


def _is_same_date(text: str, canonical: str) -> bool:
    if not canonical:
        return False  # a moment that NumPy cannot print, so that what it made of the text is anybody's guess
    longer, shorter = sorted((text.removeprefix("+").upper(), canonical.upper()), key=len, reverse=True)
    return longer.startswith(shorter) and _NOTHING_MORE.fullmatch(longer[len(shorter) :]) is not None


def decode_timedeltas(cells: Sequence[Cell], dtype: DType, missing: Missing) -> tuple[Buffer, list[Problem]]:
    """Return cells as timedelta64: integers that count units of the dtype, with a problem for each other cell."""
    not_a_time = np.iinfo(np.int64).min

    def read(cell: Cell) -> int:
        return (
            not_a_time
            if isinstance(cell, str) and cell.strip().casefold() == NO_TIME.casefold()
            else scalar_text.parse_int(cell)
        )

    counts, problems = decode_each(cells, np.zeros(len(cells), dtype=np.int64), read, missing=missing)
    return counts.view(dtype.numpy), problems
