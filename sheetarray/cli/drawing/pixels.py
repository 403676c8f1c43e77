"""Pictures in a terminal: elements -> levels of colour -> half blocks, dots and escape sequences."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ...dtypes import Array
from ...pages.colours import MISSING, RISING, Colour, blend
from .statistics import Statistics, to_real

if TYPE_CHECKING:
    from rich.style import Style

RAMP = " .:-=+*#%@"
NAN_MARK = "?"
LEVELS = 100
LARGEST_PIXEL = 4


def to_levels(values: Array, numbers: Statistics, most_rows: int, most_columns: int) -> Array:
    """Return levels from 0 to 99 of at most so many pixels, -1 for NaN; the picture keeps about its proportions."""
    rows, columns = values.shape
    scale = min(1.0, most_rows / rows, most_columns / columns)
    high = min(rows, most_rows, max(round(rows * scale), min(rows, 8)))
    wide = min(columns, most_columns, max(round(columns * scale), min(columns, 16)))
    row_edges = np.linspace(0, rows, high + 1).astype(int)
    column_edges = np.linspace(0, columns, wide + 1).astype(int)
    picture = np.empty((high, wide), dtype=int)
    for index in range(high):
        part = to_shares(values[row_edges[index] : row_edges[index + 1]], numbers)
        is_number = ~np.isnan(part)
        counts = np.add.reduceat(is_number.sum(axis=0), column_edges[:-1])
        sums = np.add.reduceat(np.where(is_number, part, 0).sum(axis=0), column_edges[:-1])
        levels = np.clip(np.rint(sums / np.maximum(counts, 1) * (LEVELS - 1)), 0, LEVELS - 1).astype(int)
        missing = 2 * counts < np.diff(column_edges) * len(part)
        picture[index] = np.where(missing | (counts == 0), -1, levels)
    return picture


def to_shares(values: Array, numbers: Statistics) -> Array:
    """Return numbers as shares of the way from the least to the greatest one, NaN as it is."""
    low, high = float(numbers.min or 0), float(numbers.max or 0)
    real = to_real(values).astype(np.float64)
    if low == high:
        return np.where(np.isnan(real), np.nan, 0.5)
    unit = max(abs(low), abs(high))  # so that no difference overflows
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray((np.clip(real, low, high) / unit - low / unit) / ((high / unit - low / unit) or 1.0))


def enlarge(levels: Array, most_rows: int, most_columns: int) -> Array:
    """Return levels, each repeated to a square that is as large as the room allows."""
    rows, columns = levels.shape
    times = max(1, min(LARGEST_PIXEL, most_rows // rows, most_columns // columns))
    return levels.repeat(times, axis=0).repeat(times, axis=1)


def level_mark(level: int) -> str:
    """Return the character of a level, for terminals without colours."""
    return NAN_MARK if level < 0 else RAMP[level * len(RAMP) // LEVELS]


def half_blocks(above: int, below: int) -> tuple[str, Style]:
    """Return a character; -2 below is no pixel at all."""
    return ("▀", ansi_style(above) if below == -2 else ansi_style(above, below))


@cache
def ansi_style(level: int, below: int | None = None) -> Style:
    """Return a style with the colour of one level as foreground, and of another as background."""
    from rich.color import Color
    from rich.style import Style

    colours = [None if shade is None else Color.from_rgb(*level_colour(shade)) for shade in (level, below)]
    return Style(color=colours[0], bgcolor=colours[1])


def level_colour(level: int) -> Colour:
    """Return the colour of a level from 0 to 99; -1 has the colour of NaN."""
    return MISSING if level < 0 else blend(RISING, level / (LEVELS - 1))
