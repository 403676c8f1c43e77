"""Looks of the columns of arrays in workbooks, whoever writes them: number formats, widths, and what is printed.

Only the layout and a few elements of each column are looked at, so that this takes next to no time beside the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..columns import LayoutColumn
from ..dtypes import Positions
from ..elements import buffer_to_typed
from ..elements.serials import DATE_CODES, shown_unit
from .cells_together import ColumnSpan, make_cells_together
from .decimals import GENERAL_DIGITS, choose_formats, count_shown
from .workbooks import EXACT_INTEGER, GENERAL, TRUTH_CODE

if TYPE_CHECKING:
    import polars as pl
"""The codes of the formats of floats: with up to six decimals, and with a power of ten besides."""

# Elements from which the width of a column is found: the first ones, and others evenly from the whole column
_SAMPLE, _SPREAD = 20, 60
_NARROWEST, _WIDEST = 14.0, 60.0  # characters; the widest word of a header, column-major, fits into the narrowest
_BOLD = 1.15  # how many times as wide as other text bold text is
_BUTTON = 5.0  # characters beside a name that a button for a filter takes


def number_formats(pieces: Sequence[LayoutColumn], *, formats: Mapping[str, str], decimals: bool) -> list[str | None]:
    """Return the code of the number format of each column's numbers or booleans; None for the general one.

    `formats`: codes that a caller has chosen for floats and integers, by the names of arrays. `decimals`: whether other
    floats have as many decimals as they need, see `choose_formats`, as in tables and views. In the columns of arrays
    they have the general format, since a program that saves the sheet as CSV may write what is shown.
    """
    codes = [_usual_format(piece) for piece in pieces]
    floats = [place for place, piece in enumerate(pieces) if piece.dtype.kind == "float" and len(piece.buffer)]
    if floats and decimals:
        for place, code in zip(floats, choose_formats([pieces[place].buffer for place in floats]), strict=True):
            codes[place] = code
    for place, piece in enumerate(pieces if formats else ()):
        if piece.name in formats and piece.dtype.kind in ("float", "int"):
            codes[place] = None if formats[piece.name] == GENERAL else formats[piece.name]
    return codes


def _usual_format(piece: LayoutColumn) -> str | None:
    """Return the code of the format of numbers or booleans that are no floats."""
    if piece.dtype.kind == "datetime":
        unit = shown_unit(piece.buffer) if piece.serials else None
        return None if unit is None else DATE_CODES[unit]
    if piece.dtype.kind == "bool":
        return TRUTH_CODE
    if piece.dtype.kind not in ("int", "timedelta") or piece.buffer.dtype.itemsize < 8 or not len(piece.buffer):
        return None
    counts = piece.buffer if piece.dtype.kind == "int" else piece.buffer.view(np.int64)
    return "0" if max(int(counts.max()), -int(counts.min())) >= GENERAL_DIGITS else None


def column_widths(
    pieces: Sequence[LayoutColumn], codes: Sequence[str | None], *, as_text: bool, filtered: bool = False
) -> list[float]:
    """Return the width of each column, in characters, so that its name, its header and the sampled elements fit in.

    `codes`: of the number formats of columns; None also for dates that are texts. `filtered`: whether a button for a
    filter stands beside each name.
    """
    widest = np.zeros(len(pieces), np.int64)
    first: list[ColumnSpan] = []
    spread: list[ColumnSpan] = []
    for place, (piece, code) in enumerate(zip(pieces, codes, strict=True)):
        count = len(piece.buffer)
        if code is not None and piece.dtype.kind == "datetime":
            sample = np.ascontiguousarray(piece.buffer[:_SAMPLE])
            texts = buffer_to_typed(sample, piece.dtype, exact=EXACT_INTEGER, as_text=as_text, serials=True).texts
            lengths = [] if texts is None else _count_characters(texts).tolist()
            widest[place] = max([len(code), *lengths])  # some moments are no serial dates
        elif code is not None and piece.dtype.kind in ("float", "int"):
            widest[place] = count_shown(code, piece.buffer)
        else:
            first.append(ColumnSpan(place, piece, None, 0, min(count, _SAMPLE)))
            if count > _SAMPLE and piece.dtype.kind in ("string", "generic"):  # texts differ most in length
                spread_piece = piece.every(-(-count // _SPREAD))
                spread.append(ColumnSpan(place, spread_piece, None, 0, len(spread_piece.buffer)))
    for spans in filter(None, (first, spread)):
        for cells, _, members in make_cells_together(spans, as_text=as_text):
            starts = np.cumsum([0, *(span.size for span in members[:-1])])
            places = [span.place for span in members]
            for kind in cells.kinds:
                widest[places] = np.maximum(widest[places], np.maximum.reduceat(_count_characters(kind), starts))
    names = np.rint(np.array([len(piece.name) for piece in pieces], float) * _BOLD) + (_BUTTON if filtered else 2.0)
    widths: list[float] = np.clip(np.maximum(names, widest + 2.0), _NARROWEST, _WIDEST).tolist()
    return widths


def _count_characters(cells: pl.Series) -> Positions:
    """Return the number of characters of each cell, written as text."""
    import polars as pl

    texts = cells.cast(pl.String).to_list()  # few, as a rule: the engine's expressions take longer to begin
    return np.array([0 if text is None else len(text) for text in texts], np.int64)
