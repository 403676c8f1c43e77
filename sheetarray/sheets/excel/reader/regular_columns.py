"""Regular rows of a table, column by column: each column parsed at once under the dtype that its cells have.

`regular` says what rows are regular, and gives their values row by row. Here the engine reads a row as a line, and what
stands between two values as a field of its own, that nobody asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import Positions
from .binary import are_plain_doubles
from .cutting import holds_text
from .raw import INLINE, LOGICAL, SHARED
from .regular import ANY, RegularShape, columns_of, compare_rows
from .texts import ESCAPE, NO_TEXT, all_without_entities, all_without_escapes

if TYPE_CHECKING:
    import polars as pl

    from .row_comparison import RowComparison

_FEWEST_ROWS = 2**8  # in fewer, a field for each column takes longer than to sort cells
_SEPARATOR, _LINE_END = b"\x01", b"\x02"  # no characters of XML
_PRESERVED = b' xml:space="preserve"'
_LAST_WHITE = ord(" ")  # of what text may hold, no other character is less


@dataclass(frozen=True)
class RegularColumns(RegularShape):
    """Regular rows, column by column.

    Attributes:
        values: of each column: text; numbers of shared strings; or doubles, of which no digit counts.
    """

    values: list[pl.Series]


def regular_columns(block: bytes) -> RegularColumns | None:
    """Return the columns of a block of many rows that is regular; None for any other, and where a digit may count.

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
    """Return the values of each column; None where one is empty, is not what it should be, or the engine refuses it."""
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
    """Return whether values are text, or doubles of which no digit counts; of truth values, whether they are 1 or 0."""
    if type_ in (INLINE, SHARED):
        return True
    doubles = values.to_numpy()
    return are_plain_doubles(doubles) and (type_ != LOGICAL or bool(((doubles == 0) | (doubles == 1)).all()))
