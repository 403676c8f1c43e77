"""Chooses the looks of a sheet that is written: widths of columns, number formats, and the ranges that are printed.

Only the layout and a few elements of each column are looked at, so that this takes next to no time beside the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from ...cells.serials import DATE_CODES, shown_unit
from ...columns import Layout, LayoutColumn, column_letters
from ...dtypes import Positions
from .cell_xml import ColumnSpan, make_cells_together
from .package.relations import CellStyles

if TYPE_CHECKING:
    import polars as pl

GENERAL_DIGITS = 10**11  # from here on a number without a format is shown as 1.23E+11

# Elements from which the width of a column is found: the first ones, and others evenly from the whole column
_SAMPLE, _SPREAD = 20, 60
_NARROWEST, _WIDEST = 14.0, 60.0  # characters; the widest word of a header, column-major, fits into the narrowest
_BOLD = 1.15  # how many times as wide as other text bold text is
_BUTTON = 5.0  # characters beside a name that a button for a filter takes
TALLEST_PRINTED = 1000  # rows of a column that is printed: some twenty pages
SHORTENED = 50  # elements of each column that are printed if all columns are taller than `TALLEST_PRINTED`
_MOST_RANGES = 40  # that are printed, as the reference to them may have 8,192 characters


def value_style(piece: LayoutColumn, styles: CellStyles, *, dates: bool) -> int | None:
    """Return the style of a column's numbers or booleans; None for the default style.

    `dates`: whether dates are written as serial dates, and not as texts.
    """
    if piece.dtype.kind == "datetime":
        unit = shown_unit(piece.buffer) if dates else None
        return None if unit is None else styles.dates.get(unit)
    if piece.dtype.kind == "bool":
        return styles.truth
    if piece.dtype.kind not in ("int", "timedelta") or piece.buffer.dtype.itemsize < 8 or not len(piece.buffer):
        return None
    counts = piece.buffer if piece.dtype.kind == "int" else piece.buffer.view(np.int64)
    shown = max(int(counts.max()), -int(counts.min())) < GENERAL_DIGITS
    return None if shown else styles.whole


def stands_right(piece: LayoutColumn, style: int | None, *, as_text: bool) -> bool:
    """Return whether programs align the elements of a column to the right, so that its name should be there too."""
    return not as_text and (piece.dtype.kind in ("float", "int", "timedelta", "bool") or style is not None)


def column_widths(
    pieces: Sequence[LayoutColumn], styles: Sequence[int | None], *, as_text: bool, filtered: bool = False
) -> list[float]:
    """Return the width of each column, in characters, so that its name, its header and the sampled elements fit in.

    `filtered`: whether a button for a filter stands beside each name.
    """
    widest = np.zeros(len(pieces), np.int64)
    first: list[ColumnSpan] = []
    spread: list[ColumnSpan] = []
    for place, (piece, style) in enumerate(zip(pieces, styles, strict=True)):
        count = len(piece.buffer)
        if style is not None and (unit := shown_unit(piece.buffer)) is not None:
            widest[place] = len(DATE_CODES[unit])
            continue
        first.append(ColumnSpan(place, piece, None, 0, min(count, _SAMPLE)))
        if count > _SAMPLE and piece.dtype.kind in ("string", "generic"):  # texts differ most in length
            some = piece.every(-(-count // _SPREAD))
            spread.append(ColumnSpan(place, some, None, 0, len(some.buffer)))
    for spans in (first, spread):
        for cells, _, members in make_cells_together(spans, as_text=as_text):
            starts = np.cumsum([0, *(span.size for span in members[:-1])])
            places = [span.place for span in members]
            for kind in cells.kinds:
                widest[places] = np.maximum(widest[places], np.maximum.reduceat(_count_characters(kind), starts))
    return [
        min(
            max(_NARROWEST, float(round(len(piece.name) * _BOLD)) + (_BUTTON if filtered else 2.0), length + 2.0),
            _WIDEST,
        )
        for piece, length in zip(pieces, widest.tolist(), strict=True)
    ]


def _count_characters(cells: pl.Series) -> Positions:
    """Return the number of characters of each cell, written as text."""
    import polars as pl

    characters: Positions = cells.cast(pl.String).str.len_chars().fill_null(0).to_numpy().astype(np.int64)
    return characters


# Printing ------------------------------------------------------------------------------------------------------


def printed_ranges(layout: Layout) -> list[str]:
    """Return the absolute ranges of a sheet that are printed; no range if the whole sheet is.

    Columns taller than `TALLEST_PRINTED` rows are not printed, as nobody needs thousands of pages. If all columns are
    that tall, their first rows are printed.
    """
    if layout.height <= TALLEST_PRINTED:
        return []
    ranges = []
    heights = [layout.named + piece.height for piece in layout.pieces]
    for printed, run in groupby(enumerate(heights), key=lambda column: column[1] <= TALLEST_PRINTED):
        columns = list(run)
        if printed:
            ranges.append(_absolute_range(columns[0][0], columns[-1][0], max(height for _, height in columns)))
    if not ranges:
        ranges = [_absolute_range(0, len(heights) - 1, min(layout.zone_height + SHORTENED, layout.height))]
    return ranges[:_MOST_RANGES]


def _absolute_range(first: int, last: int, height: int) -> str:
    """Return the range of some columns, counted from 0, down to a row, counted from 1."""
    return f"${column_letters(first)}$1:${column_letters(last)}${height}"
