"""Regular rows: rows with cells in the same columns, each column with values of one type, read by comparing bytes.

Most of the bytes of a large workbook are such rows, whoever wrote it. The `=` of all attributes are found at once, and
every row must have as many as the first one. The bytes around them must be those of the first row, except row numbers,
which count up, and values, which the columnar engine parses (`row_comparison`). If there are as many tags as the first
row has, times the number of rows, and each value goes up to the next tag, then nothing else can stand in the block.
Blocks that are not regular are read by `worksheet`.

Source: ECMA-376 part 1, 18.3.1.4 (c), 18.3.1.73 (row).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ....columns.grid import column_number
from ....dtypes import Mask, Positions
from .cells import MOST_COLUMNS, MOST_ROWS, Kinds
from .cutting import holds_text
from .first_row import TRIMMED, FirstRow, read_first_row
from .raw import INLINE, LOGICAL, PLAIN, SHARED, RawCells
from .row_comparison import RowComparison
from .tags import numbers_at, texts_at
from .texts import ESCAPE, NO_TEXT, WHITE, all_without_entities, all_without_escapes

if TYPE_CHECKING:
    import polars as pl

NUMBERS, VALUES, ANY = (PLAIN, LOGICAL), (PLAIN, LOGICAL, SHARED), (PLAIN, LOGICAL, SHARED, INLINE)
"""What `regular_rows` takes: numbers and truth values; shared strings, too; inline strings, too. See `raw`."""
_LESS = ord("<")


@dataclass(frozen=True)
class RegularShape:
    """The place of regular rows, one under another, and the columns, types and styles of the cells of each.

    Attributes:
        first: the first row, from 0.
        count: the number of rows.
        columns: those in which each row has a cell, from 0.
        types: of the cells of a row, constants of `raw`.
        styles: of the cells of a row, the indices of their styles.
    """

    first: int
    count: int
    columns: Positions
    types: Kinds
    styles: Positions


@dataclass(frozen=True)
class RegularRows(RegularShape):
    """Regular rows, row by row.

    Attributes:
        values: of all cells, row by row: text or Float64.
    """

    values: pl.Series

    @property
    def after(self) -> int:
        """The number of the row below the last one."""
        return self.first + self.count

    def select(self, which: Mask) -> RegularRows:
        """Return the same rows with those columns that a mask marks."""
        if which.all():
            return self
        values = self.values.gather(np.flatnonzero(np.tile(which, self.count)))
        return replace(
            self, columns=self.columns[which], types=self.types[which], styles=self.styles[which], values=values
        )

    def cells(self) -> RawCells:
        """Return the cells, as those of any other block."""
        width, shape = len(self.columns), (self.count, len(self.columns))
        return RawCells(
            np.broadcast_to(np.arange(self.first, self.after)[:, None], shape).ravel(),
            np.broadcast_to(self.columns, shape).ravel(),
            np.broadcast_to(self.types, shape).ravel(),
            np.broadcast_to(self.styles, shape).ravel(),
            np.zeros(len(self.values), np.bool_),
            self.values,
            self.after,
            width,
        )


def regular_rows(block: bytes, *, numeric: bool, types: Collection[int] = ANY) -> RegularRows | None:
    """Return the rows of a block that is regular; None for any other.

    Args:
        block: from the tag of a row on, with at least 64 spaces at its end.
        numeric: give values as Float64, unless some are inline strings.
        types: the types that cells may have, constants of `raw`.

    Raises:
        FormatError: an inline string with an entity that XML does not have.
    """
    comparison = compare_rows(block, types)
    if comparison is None:
        return None
    row, count = comparison.row, comparison.count
    numeric = numeric and INLINE not in row.types
    places = comparison.find_values().ravel()
    values = numbers_at(block, places, comparison.find_ends().ravel()) if numeric else texts_at(block, places)
    if values is None or (not numeric and holds_text(block, NO_TEXT)):
        return None
    if not numeric:
        values = _decode(values, block, row, count)
    types_, styles = np.array(row.types, np.uint8), np.array(row.styles)
    return RegularRows(row.number - 1, count, columns_of(row), types_, styles, values)


def compare_rows(block: bytes, types: Collection[int], *, fewest: int = 1) -> RowComparison | None:
    """Return the rows of a block in which all are like the first one; None for any other block.

    Args:
        block: from the tag of a row on, with at least 64 spaces at its end.
        types: the types that cells may have, constants of `raw`.
        fewest: the number of rows below which a block is not compared.
    """
    row = read_first_row(block, types)
    if row is None:
        return None
    units = np.frombuffer(block, np.uint8)
    marks = np.flatnonzero(units == ord(row.mark))
    count, rest = divmod(len(marks), row.count_marks())
    if rest or count < fewest or row.number + count - 1 > MOST_ROWS or columns_of(row).max() >= MOST_COLUMNS:
        return None
    comparison = RowComparison(block, row, marks.reshape(count, -1))
    if not comparison.is_regular() or np.count_nonzero(units == _LESS) != count * row.count_tags():
        return None
    return comparison


def columns_of(row: FirstRow) -> Positions:
    """Return the columns of the cells of a row, from 0."""
    return np.array([column_number(letters.decode()) for letters in row.letters])


def _decode(values: pl.Series, block: bytes, row: FirstRow, count: int) -> pl.Series:
    """Return values without entities, escapes, and white space that XML does not keep.

    Args:
        values: of all cells, as they stand in the block.
        block: the rows.
        row: the first one of them.
        count: the number of rows.
    """
    if b"&" in block:
        values = all_without_entities(values)
    trimmed = [tail.endswith(TRIMMED) for tail in row.tails]
    if any(trimmed):
        places = np.flatnonzero(np.tile(trimmed, count))
        texts = values if all(trimmed) else values.gather(places)
        bare = texts.str.strip_chars(WHITE)
        if (bare != texts).any():
            values = bare if all(trimmed) else values.scatter(places, bare)
    return all_without_escapes(values) if holds_text(block, ESCAPE) else values
