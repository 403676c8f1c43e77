"""How a written sheet looks: widths of columns, number formats, and what of it is printed.

Everything is found from the layout and a few elements of each column, so that it costs nothing beside the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from ...cells import TypedCells
from ...cells.serials import DATE_CODES, serial_unit
from ...columns import Layout, LayoutColumn, column_letters
from .alike import EXACT, group_alike, typed_together
from .package.styles import CellStyles

if TYPE_CHECKING:
    import polars as pl

GENERAL_DIGITS = 10**11  # from here on a number without a format is shown as 1.23E+11

_SAMPLE, _SPREAD = 20, 60  # elements that a column's width is found from: the first ones, and some all over it
_NARROWEST, _WIDEST = 14.0, 60.0  # characters; the widest word of a header is column-major
_BOLD = 1.15  # times as wide as other text
TALLEST_PRINTED = 1000  # rows of a column that is printed: some twenty pages
SHORTENED = 50  # elements of each that are printed, where all columns are longer
_MOST_RANGES = 40  # that are printed; a reference has at most 8,192 characters


def value_style(piece: LayoutColumn, styles: CellStyles, *, dates: bool) -> int | None:
    """Return the style of a column's numbers or booleans; None for the usual one.

    Args:
        piece: the column.
        styles: those that the workbook has.
        dates: whether dates are numbers.
    """
    if piece.dtype.kind == "datetime":
        unit = serial_unit(piece.buffer.dtype)
        return styles.dates.get(unit) if unit is not None and dates else None
    if piece.dtype.kind == "bool":
        return styles.truth
    if piece.dtype.kind not in ("int", "timedelta") or piece.buffer.dtype.itemsize < 8 or not len(piece.buffer):
        return None
    counts = piece.buffer if piece.dtype.kind == "int" else piece.buffer.view(np.int64)
    shown = max(int(counts.max()), -int(counts.min())) < GENERAL_DIGITS
    return None if shown else styles.whole


def stands_right(piece: LayoutColumn, style: int | None, *, as_text: bool) -> bool:
    """Return whether programs show the elements of a column at its right end, and so its name."""
    return not as_text and (piece.dtype.kind in ("float", "int", "timedelta", "bool") or style is not None)


def column_widths(pieces: Sequence[LayoutColumn], styles: Sequence[int | None], *, as_text: bool) -> list[float]:
    """Return the width of each column, in characters, in which its name, its header and some of its elements fit."""
    widest = [0] * len(pieces)
    sampled = []
    for place, (piece, style) in enumerate(zip(pieces, styles, strict=True)):
        unit = serial_unit(piece.buffer.dtype)
        if unit is not None and style is not None:
            widest[place] = len(DATE_CODES[unit])
        else:
            sampled.append((place, piece, None, min(len(piece.buffer), _SAMPLE)))
    groups, alone = group_alike(sampled)
    for places in groups:
        for place, length in zip(places, _longest_together([pieces[place] for place in places], as_text), strict=True):
            widest[place] = length
    for place in alone:
        kinds = (kind for cells in _samples(pieces[place], as_text) for kind in cells.kinds)
        widest[place] = max(map(_longest_text, kinds), default=0)
    return [
        min(max(_NARROWEST, float(round(len(piece.name) * _BOLD)) + 2.0, length + 2.0), _WIDEST)
        for piece, length in zip(pieces, widest, strict=True)
    ]


def _longest_together(pieces: Sequence[LayoutColumn], as_text: bool) -> list[int]:
    """Return the length of the longest text among the first elements of each column, of columns that are alike."""
    import polars as pl

    cells = typed_together([piece.buffer[:_SAMPLE] for piece in pieces], pieces[0], None, as_text=as_text)
    longest = np.zeros(len(pieces), np.int64)
    for kind in cells.kinds:
        lengths = kind.cast(pl.String).str.len_chars()
        known = (lengths.fill_null(0) if lengths.null_count() else lengths).to_numpy()
        longest = np.maximum(longest, known.reshape(-1, len(pieces)).max(axis=0, initial=0))
    return longest.tolist()


def _samples(piece: LayoutColumn, as_text: bool) -> Iterator[TypedCells]:
    """Yield some elements of a column as cells: the first ones, and some all over it."""
    yield piece.to_typed(0, _SAMPLE, exact=EXACT, as_text=as_text)
    if (count := len(piece.buffer)) > _SAMPLE and piece.dtype.kind in ("string", "generic"):
        yield piece.every(-(-count // _SPREAD)).to_typed(0, _SPREAD, exact=EXACT, as_text=as_text)


def _longest_text(cells: pl.Series) -> int:
    import polars as pl

    return max((len(text) for text in cells.cast(pl.String).to_list() if text), default=0)  # too few for the engine


# Printing ------------------------------------------------------------------------------------------------------


def printed_ranges(layout: Layout) -> list[str]:
    """Return the absolute ranges of a sheet that are printed; none where the whole of it is.

    Long columns are left out, as thousands of pages are of no use to anybody. Where all are long, their first rows are
    printed.
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
    return f"${column_letters(first)}$1:${column_letters(last)}${height}"
