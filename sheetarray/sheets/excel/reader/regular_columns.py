"""Regular rows of a table, parsed column by column, each column under the dtype that its cells have.

`regular` says which rows are regular, and gives their values row by row. Here the engine reads each row as a line, and
the tags between two values as a field of their own, which it passes over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import Positions
from .cutting import holds_text
from .raw import INLINE, LOGICAL, SHARED
from .regular import ANY, RegularShape, columns_of, compare_rows
from .serials import are_plain_doubles
from .texts import ESCAPE, NO_TEXT, all_without_entities, all_without_escapes

if TYPE_CHECKING:
    import polars as pl

    from .row_comparison import RowComparison

_FEWEST_ROWS = 2**8  # rows: with fewer, the engine takes longer for its fields than `column_runs` for sorting cells
_SEPARATOR, _LINE_END = b"\x01", b"\x02"  # no characters of XML
_PRESERVED = b' xml:space="preserve"'
_LAST_WHITE = ord(" ")  # the bytes of all other characters that text may hold are greater


@dataclass(frozen=True)
class RegularColumns(RegularShape):
    """Regular rows, column by column.

    Attributes:
        values: of each column: text; the numbers of shared strings; or doubles, which hold the numbers for certain.
    """

    values: list[pl.Series]


def regular_columns(block: bytes) -> RegularColumns | None:
    """Return the columns of a block of many regular rows; None for others, and if a number may be more than a double.

    Args:
        block: from the tag of a row on, with at least 64 spaces at its end.

    Raises:
        FormatError: an inline string with an entity that XML does not have.
    """
    if _SEPARATOR in block or _LINE_END in block:
        return None
    rows = compare_rows(block, ANY, fewest=_FEWEST_ROWS)
    if rows is None:
        return None
    row, places, ends = rows.row, rows.find_values(), rows.find_ends()
    inline = np.array(row.types) == INLINE
    if inline.any() and holds_text(block, NO_TEXT):
        return None
    units, preserved = np.frombuffer(block, np.uint8), np.array([_PRESERVED in tail for tail in row.tails])
    for edges in (places, ends - 1):
        if (units[edges[:, ~preserved] if preserved.any() else edges] <= _LAST_WHITE).any():
            return None
    values = _parse(block, rows, places, ends)
    if values is None or not all(_are_plain(column, kind) for column, kind in zip(values, row.types, strict=True)):
        return None
    if inline.any():
        for change, mark in ((all_without_entities, b"&"), (all_without_escapes, ESCAPE)):
            if holds_text(block, mark):
                values = [change(text) if text_ else text for text, text_ in zip(values, inline.tolist(), strict=True)]
    types, styles = np.array(row.types, np.uint8), np.array(row.styles)
    return RegularColumns(row.number - 1, rows.count, columns_of(row), types, styles, values)


def _parse(block: bytes, rows: RowComparison, places: Positions, ends: Positions) -> list[pl.Series] | None:
    """Return the values of each column; None if a value is empty, no number in a column of numbers, or refused.

    Args:
        block: the rows.
        rows: their comparison.
        places: the byte at which each value begins, row by row.
        ends: the byte after each value.
    """
    import polars as pl

    lines = np.frombuffer(block, np.uint8).copy()
    lines[places - 1] = lines[ends] = ord(_SEPARATOR)
    lines[rows.begins[1:]] = ord(_LINE_END)
    kinds: dict[int, Any] = {INLINE: pl.String, SHARED: pl.UInt32}
    schema: dict[str, Any] = {}
    for place, type_ in enumerate(rows.row.types):
        schema |= {f"column_{2 * place + 1}": pl.String, f"column_{2 * place + 2}": kinds.get(type_, pl.Float64)}
    names = list(schema)[1::2]
    try:
        frame = pl.read_csv(
            lines.tobytes(),
            has_header=False,
            separator=_SEPARATOR.decode(),
            eol_char=_LINE_END.decode(),
            quote_char=None,
            columns=names,
            schema=schema | {f"column_{len(schema) + 1}": pl.String},
            ignore_errors=True,
            glob=False,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    values = [frame[name] for name in names]
    return values if len(frame) == rows.count and not any(column.null_count() for column in values) else None


def _are_plain(values: pl.Series, type_: int) -> bool:
    """Return whether a column holds text, truth values that are 1 or 0, or numbers that doubles hold for certain."""
    if type_ in (INLINE, SHARED):
        return True
    doubles = values.to_numpy()
    return are_plain_doubles(doubles) and (type_ != LOGICAL or bool(((doubles == 0) | (doubles == 1)).all()))
