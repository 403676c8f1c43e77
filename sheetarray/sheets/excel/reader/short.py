"""Parses short blocks of worksheet XML by one regular expression, which is faster than the engine for a few cells.

It knows the forms of cells that programs write most: values of any type, and inline strings, also those that are bold
as a whole, each cell with its reference. A block with anything else, or with entities or escapes, is left to
`worksheet`.

Source: ECMA-376 part 1, 18.3.1.4 (c), 18.3.1.73 (row), 18.18.11 (ST_CellType).
"""

from __future__ import annotations

import re

import numpy as np

from ....columns.grid import column_number
from .cells import MOST_COLUMNS, MOST_ROWS
from .raw import INLINE, RESULT, TYPES, RawCells
from .texts import WHITE

LONGEST = 2**16  # bytes
_TOKEN = re.compile(
    r'<c r="([A-Z]{1,3})([1-9][0-9]{0,6})"(?: s="([0-9]{1,6})")?(?: t="([a-zA-Z]{1,9})")?'
    r"(?:/>|></c>|><v>([^<>]*+)</v></c>"
    r'|><is>(<r><rPr><b/></rPr>)?<t( xml:space="preserve")?>([^<>]*+)</t>(?(6)</r>)</is></c>)'
    r'|<row r="([1-9][0-9]{0,6})"(?: [a-zA-Z0-9:]{1,20}="[^"<>]{0,64}")*+(?:>|(/>))'
    r"|(</row>)\s*+|(\s++)\Z"
)
_DISGUISES = ("&", "_x")  # begin entities and escapes, which are not the text of the cell


def short_rows(block: bytes) -> RawCells | None:
    """Return the cells of a short block, with values of text; None for any block that has other forms."""
    try:
        text = block.decode()
    except UnicodeDecodeError:
        return None
    if any(disguise in text for disguise in _DISGUISES):
        return None
    rows: list[int] = []
    columns: list[int] = []
    types: list[int] = []
    styles: list[int] = []
    values: list[str] = []
    place, row, is_open = 0, 0, False
    while token := _TOKEN.match(text, place):
        place = token.end()
        letters, number, style, kind, value, _, preserved, inline, next_row, closed, end, _ = token.groups()
        if letters is not None:
            type_ = TYPES.get(kind or "")
            if type_ is None or not is_open or int(number) != row or (inline is not None) != (type_ == INLINE):
                return None
            if inline is not None:
                value = inline
                if not preserved and value.strip(WHITE) != value:
                    return None
            if value is None or (value == "" and type_ not in (RESULT, INLINE)):
                continue
            rows.append(row - 1)
            columns.append(column_number(letters))
            types.append(type_)
            styles.append(int(style or 0))
            values.append(value)
        elif next_row is not None:
            if is_open:
                return None
            row, is_open = int(next_row), closed is None
            if row > MOST_ROWS:
                return None
        elif end is not None:
            if not is_open:
                return None
            is_open = False
    if place != len(text) or is_open or not row or any(column >= MOST_COLUMNS for column in columns):
        return None
    return _cells(rows, columns, types, styles, values, row)


def _cells(
    rows: list[int], columns: list[int], types: list[int], styles: list[int], values: list[str], after: int
) -> RawCells:
    import polars as pl

    return RawCells(
        np.array(rows, np.int64),
        np.array(columns, np.int64),
        np.array(types, np.uint8),
        np.array(styles, np.int64),
        np.zeros(len(rows), np.bool_),
        pl.Series(values, dtype=pl.String),
        after,
    )
