"""Pictures of arrays in characters: a heat map of two axes, a line along one, their axes, and the legend.

With colours a character is two square pixels, one above the other; without, a pixel is two characters of a ramp. An
array with more elements than pixels is shown by the means of its blocks, NaN left out unless most of a block is NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
_BRAILLE = 0x2800  # its dots, from above to below, left and right
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_LINE_ROWS = 6
_LINE_LEVEL = 65  # the colour of lines, among the levels
_LABELLED_EVERY = 4  # lines
_LABELS_APART = 12  # characters
_LEVELS = 100
MOST_LINES = 24
_LARGEST_PIXEL = 4


def draw_heat_map(
    values: Array, numbers: Statistics, width: int, *, colours: bool, blocks: bool, most_lines: int = MOST_LINES
) -> list[Text]:
    """Return the lines of a picture of a 2-D array, rows down, columns to the right."""
    from rich.text import Text

    if colours and blocks:
        levels = _enlarge(to_levels(values, numbers, 2 * most_lines, width), 2 * most_lines, width)
        if len(levels) % 2:
            levels = np.vstack([levels, np.full((1, levels.shape[1]), -2)])
        return [
            Text.assemble(*(_half_blocks(above, below) for above, below in zip(*pair, strict=True)))
            for pair in zip(levels[0::2].tolist(), levels[1::2].tolist(), strict=True)
        ]
    levels = _enlarge(to_levels(values, numbers, most_lines, width // 2), most_lines, width // 2)
    return [Text("".join(2 * _level_mark(level) for level in line)) for line in levels.tolist()]


def draw_line(values: Array, numbers: Statistics, width: int, *, colours: bool, blocks: bool) -> list[Text]:
    """Return the lines of a line chart of a 1-D array; one line of shades if the terminal has no characters for dots.

    If several elements share the width of a dot, the least and the greatest of them are connected, so that none is
    missed; if all of them are NaN there is a gap, and a mark below it.
    """
    from rich.text import Text

    if not blocks:
        levels = to_levels(values[np.newaxis], numbers, 1, width)[0].tolist()
        wide = max(1, min(_LARGEST_PIXEL, width // max(len(levels), 1)))
        return [Text("".join(wide * _level_mark(level) for level in levels))]
    top = 4 * _LINE_ROWS - 1
    dots = np.zeros((_LINE_ROWS, width), dtype=np.int64)
    missing = np.ones(width, dtype=bool)
    before: tuple[int, int] | None = None
    for column, (low, high) in enumerate(_find_heights(values, numbers, 2 * width)):
        if low > high:
            before = None
            continue
        reach = (low, high) if before is None else (min(low, before[1]), max(high, before[0]))
        before = (low, high)
        missing[column // 2] = False
        for height in range(reach[0], reach[1] + 1):
            row, dot = divmod(top - height, 4)
            dots[row, column // 2] |= _DOTS[dot][column % 2]
    style = _ansi_style(_LINE_LEVEL) if colours else ""
    lines = [Text("".join(chr(_BRAILLE + dot) for dot in row), style) for row in dots.tolist()]
    if missing.any():
        lines.append(Text("".join(NAN_MARK if gap else " " for gap in missing), _ansi_style(-1) if colours else ""))
    return lines


def _find_heights(values: Array, numbers: Statistics, count: int) -> Iterator[tuple[int, int]]:
    """Yield the least and the greatest height, in dots, of a line in each of so many columns; (1, 0) for a gap."""
    low, high = float(numbers.minimum or 0), float(numbers.maximum or 0)
    unit = max(abs(low), abs(high)) or 1.0
    real = to_real(values).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        shares = (np.clip(real, low, high) / unit - low / unit) / ((high / unit - low / unit) or 1.0)
    shares = shares if high > low else np.where(np.isnan(real), np.nan, 0.5)
    most = 4 * _LINE_ROWS - 1
    if len(shares) <= count:  # a line from element to element
        positions = (np.arange(count) + 0.5) * len(shares) / count - 0.5  # where the labels of the axis have them
        between = np.interp(positions, np.arange(len(shares)), shares)
        edges = np.stack([between, between], axis=1)
        columns = ((np.arange(len(shares)) + 0.5) * count / len(shares)).astype(int)
        edges[columns, 0] = np.fmin(edges[columns, 0], shares)  # each element itself, and one between two NaN
        edges[columns, 1] = np.fmax(edges[columns, 1], shares)
    else:
        starts = np.linspace(0, len(shares), count + 1).astype(int)[:-1]
        known = np.isnan(shares)
        least = np.minimum.reduceat(np.where(known, np.inf, shares), starts)
        greatest = np.maximum.reduceat(np.where(known, -np.inf, shares), starts)
        edges = np.stack([least, greatest], axis=1)
        edges[~np.isfinite(edges)] = np.nan
    for bottom, top in edges.tolist():
        yield (1, 0) if bottom != bottom else (round(bottom * most), round(top * most))


def add_axes(picture: list[Text], rows: Sequence[str], columns: Sequence[str]) -> list[Text]:
    """Return the lines of a picture with the labels of its rows on the left, and of its columns below.

    Args:
        picture: its lines, each as wide as the others.
        rows: the label of every row of the array; empty for none.
        columns: the label of every column of the array; empty for none.
    """
    from rich.text import Text

    height, width = len(picture), picture[0].cell_len
    every = range(0, height, _LABELLED_EVERY)
    labels = {line: rows[line * len(rows) // height] for line in every} if rows else {}
    margin = max((len(label) for label in labels.values()), default=0) + bool(labels)
    lines = [
        Text.assemble((labels.get(number, "").rjust(margin - 1) + " ", "dim"), line) if margin else line
        for number, line in enumerate(picture)
    ]
    axis, next_free = " " * margin, 0
    for place in range(width):
        column = place * len(columns) // width
        is_first = place == 0 or (place - 1) * len(columns) // width != column
        if is_first and place >= next_free and place + len(columns[column]) <= max(width, len(columns[0])):
            axis = axis.ljust(margin + place) + columns[column]
            next_free = place + max(len(columns[column]) + 2, _LABELS_APART)
    return [*lines, Text(axis, "dim")]


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
    """Return levels from 0 to 99 of at most so many pixels, -1 for NaN; the picture keeps about its proportions."""
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
    """Return a style with the colour of the first level as foreground, and that of a second one as background."""
    if levels not in _STYLES:
        from rich.color import Color
        from rich.style import Style

        colours = [Color.from_rgb(*level_colour(level)) for level in levels]
        _STYLES[levels] = Style(color=colours[0], bgcolor=colours[1] if len(colours) > 1 else None)
    return _STYLES[levels]


def level_colour(level: int) -> Colour:
    """Return the colour of a level from 0 to 99; of -1 that of NaN."""
    return MISSING if level < 0 else blend(RISING, level / (_LEVELS - 1))
