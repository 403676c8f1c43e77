"""Pictures of arrays in characters: a heat map of two axes, bars along one, and the legend.

With colours a character is two square pixels, one above the other; without, a pixel is two characters of a ramp. An
array with more elements than pixels is shown by the means of its blocks, NaN left out unless most of a block is NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..dtypes import Array
from ..pages.colours import MISSING, RISING, Colour, blend
from .values import Statistics, to_real

if TYPE_CHECKING:
    from rich.style import Style
    from rich.text import Text


RAMP = " .:-=+*#%@"
NAN_MARK = "?"
_BARS = " ▁▂▃▄▅▆▇█"
_LEVELS = 100
_MOST_ROWS = 24
_BAR_ROWS = 4
_LARGEST_PIXEL = 4


def draw_heat_map(values: Array, numbers: Statistics, width: int, *, colours: bool, blocks: bool) -> list[Text]:
    """Return the lines of a picture of a 2-D array, rows down, columns to the right."""
    from rich.text import Text

    if colours and blocks:
        levels = _enlarge(to_levels(values, numbers, 2 * _MOST_ROWS, width), 2 * _MOST_ROWS, width)
        if len(levels) % 2:
            levels = np.vstack([levels, np.full((1, levels.shape[1]), -2)])
        return [
            Text.assemble(*(_half_blocks(above, below) for above, below in zip(*pair, strict=True)))
            for pair in zip(levels[0::2].tolist(), levels[1::2].tolist(), strict=True)
        ]
    levels = _enlarge(to_levels(values, numbers, _MOST_ROWS, width // 2), _MOST_ROWS, width // 2)
    return [Text("".join(2 * _level_mark(level) for level in line)) for line in levels.tolist()]


def draw_bars(values: Array, numbers: Statistics, width: int, *, colours: bool, blocks: bool) -> list[Text]:
    """Return the lines of a bar chart of a 1-D array; one line of shades where there are no blocks to draw with."""
    from rich.text import Text

    levels = to_levels(values[np.newaxis], numbers, 1, width)[0].tolist()
    wide = max(1, min(_LARGEST_PIXEL, width // max(len(levels), 1)))
    if not blocks:
        return [Text("".join(wide * _level_mark(level) for level in levels))]
    lines = []
    for row in reversed(range(_BAR_ROWS)):
        line = Text()
        for level in levels:
            height = 1 + round(level * (_BAR_ROWS * 8 - 1) / (_LEVELS - 1)) - 8 * row
            text = _BARS[max(0, min(8, height))] if level >= 0 else (NAN_MARK if row == 0 else " ")
            line.append(wide * text, _ansi_style(level) if colours else "")
        lines.append(line)
    return lines


def draw_legend(numbers: Statistics, texts: tuple[str, str], *, colours: bool) -> Text:
    """Return the scale between the least and the greatest value, with the mark of NaN where there is any."""
    from rich.text import Text

    scale = Text(f"{texts[0]} ")
    if colours:
        for level in range(0, _LEVELS, 5):
            scale.append("█", _ansi_style(level))
    else:
        scale.append(f"[{RAMP}]")
    scale.append(f" {texts[1]}")
    if numbers.nan:
        scale.append("   ")
        scale.append("█" if colours else NAN_MARK, _ansi_style(-1) if colours else "")
        scale.append(" NaN")
    return scale


# From elements to pixels -----------------------------------------------------------------------------------------


def to_levels(values: Array, numbers: Statistics, most_rows: int, most_columns: int) -> Array:
    """Levels from 0 to 99 of at most so many pixels, -1 for NaN; the picture keeps about its proportions."""
    rows, columns = values.shape
    scale = min(1.0, most_rows / rows, most_columns / columns)
    high = min(rows, most_rows, max(round(rows * scale), min(rows, 8)))
    wide = min(columns, most_columns, max(round(columns * scale), min(columns, 16)))
    row_edges = np.linspace(0, rows, high + 1).astype(int)
    column_edges = np.linspace(0, columns, wide + 1).astype(int)
    low, top = float(numbers.minimum or 0), float(numbers.maximum or 0)
    unit = max(abs(low), abs(top)) or 1.0
    low, top = low / unit, top / unit
    picture = np.empty((high, wide), dtype=int)
    for index in range(high):
        part = to_real(values[row_edges[index] : row_edges[index + 1]]).astype(np.float64)
        known = ~np.isnan(part)
        with np.errstate(over="ignore"):
            part = np.clip(np.where(known, part, 0) / unit, low, top)
        part[~known] = 0
        counts = np.add.reduceat(known.sum(axis=0), column_edges[:-1])
        sums = np.add.reduceat(part.sum(axis=0), column_edges[:-1])
        share = (sums / np.maximum(counts, 1) - low) / (top - low) if top > low else np.full(wide, 0.5)
        sizes = np.diff(column_edges) * len(part)
        levels = np.clip(np.rint(share * (_LEVELS - 1)), 0, _LEVELS - 1).astype(int)
        picture[index] = np.where(2 * counts < sizes, -1, levels)
        picture[index][counts == 0] = -1
    return picture


def _enlarge(levels: Array, most_rows: int, most_columns: int) -> Array:
    rows, columns = levels.shape
    times = max(1, min(_LARGEST_PIXEL, most_rows // rows, most_columns // columns))
    return levels.repeat(times, axis=0).repeat(times, axis=1)


def _level_mark(level: int) -> str:
    return NAN_MARK if level < 0 else RAMP[level * len(RAMP) // _LEVELS]


# From pixels to colours ------------------------------------------------------------------------------------------

_STYLES: dict[tuple[int, ...], Style] = {}


def _half_blocks(above: int, below: int) -> tuple[str, Style]:
    """Return a character; -2 below is no pixel at all."""
    return ("▀", _ansi_style(above) if below == -2 else _ansi_style(above, below))


def _ansi_style(*levels: int) -> Style:
    """Return the foreground, and the background where a second level is given."""
    if levels not in _STYLES:
        from rich.color import Color
        from rich.style import Style

        colours = [Color.from_rgb(*level_colour(level)) for level in levels]
        _STYLES[levels] = Style(color=colours[0], bgcolor=colours[1] if len(colours) > 1 else None)
    return _STYLES[levels]


def level_colour(level: int) -> Colour:
    """Return the colour of a level from 0 to 99; of -1 that of NaN."""
    return MISSING if level < 0 else blend(RISING, level / (_LEVELS - 1))
