"""Printing: the ranges that are printed, and the columns that get a filter."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from ..columns import Layout, cell_address, column_letters
from ..errors import quote_names, warn_caller

if TYPE_CHECKING:
    pass

TALLEST_PRINTED = 1000  # rows of a column that is printed: some twenty pages
SHORTENED = 50  # elements of each column that are printed if all columns are taller than `TALLEST_PRINTED`
_LONGEST_COLUMN = 255  # characters of the name of a column of an Excel Table
_MOST_RANGES = 40  # that are printed, as the reference to them may have 8,192 characters


def printed_ranges(layout: Layout) -> list[str]:
    """Return the absolute ranges that are printed of a sheet taller than `TALLEST_PRINTED` rows.

    Columns taller than `TALLEST_PRINTED` rows are not printed, as nobody needs thousands of pages. If all columns are
    that tall, their first rows are printed.
    """
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


def filtered_columns(layout: Layout) -> tuple[str, ...]:
    """Return the names of the columns of an Excel Table; no names for a table without rows, which Excel has not.

    Warns:
        SheetArrayWarning: names that no Excel Table can have.
    """
    names = [piece.name for piece in layout.pieces]
    counts = Counter(map(str.casefold, names))
    alike = [name for name in names if counts[name.casefold()] > 1 or len(name) > _LONGEST_COLUMN]
    if alike:
        warn_caller(
            f"{quote_names(alike)}: written as cells without an Excel Table, whose columns have names of at most "
            f"{_LONGEST_COLUMN} characters that differ in more than upper and lower case"
        )
    return tuple(names) if layout.height > 1 and not alike else ()


def cells_of(layout: Layout, corner: tuple[int, int]) -> str:
    """Return the range of a layout from a corner on."""
    last = cell_address(corner[0] + layout.height - 1, corner[1] + len(layout.pieces) - 1)
    return f"{cell_address(*corner)}:{last}"
