"""Pictures of an array in a terminal: a heat map of two dimensions, a line of one, with their axes.

A picture is a heat map of two axes or a line along one, with axes and a legend. With colours a character is two square
pixels, one above the other; without, a pixel is two characters of a ramp. An array with more elements than pixels is
shown by the means of its blocks, NaN left out unless most of a block is NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...dtypes import Array
from .pixels import (
    LARGEST_PIXEL,
    LEVELS,
    NAN_MARK,
    RAMP,
    ansi_style,
    enlarge,
    half_blocks,
    level_mark,
    to_levels,
    to_shares,
)
from .statistics import Statistics

if TYPE_CHECKING:
    from rich.text import Text

_BRAILLE = 0x2800  # its dots, from above to below, left and right
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_LINE_ROWS = 6
_LINE_LEVEL = 65  # the colour of lines, among the levels
_LABELLED_EVERY = 4  # lines
_LABELS_APART = 12  # characters
MOST_LINES = 24


def format_statistic(value: float | None) -> str:
    """Return a number as a legend shows it."""
    return str(value) if isinstance(value, int) else "none" if value is None else f"{value:.6g}"


def draw_heat_map(values: Array, numbers: Statistics, width: int, *, colours: bool, blocks: bool) -> list[Text]:
    """Return the lines of a picture of a 2-D array, rows down, columns to the right."""
    from rich.text import Text

    if colours and blocks:
        levels = enlarge(to_levels(values, numbers, 2 * MOST_LINES, width), 2 * MOST_LINES, width)
        if len(levels) % 2:
            levels = np.vstack([levels, np.full((1, levels.shape[1]), -2)])
        return [
            Text.assemble(*(half_blocks(above, below) for above, below in zip(*pair, strict=True)))
            for pair in zip(levels[0::2].tolist(), levels[1::2].tolist(), strict=True)
        ]
    levels = enlarge(to_levels(values, numbers, MOST_LINES, width // 2), MOST_LINES, width // 2)
    return [Text("".join(2 * level_mark(level) for level in line)) for line in levels.tolist()]


def draw_line(values: Array, numbers: Statistics, width: int, *, colours: bool, blocks: bool) -> list[Text]:
    """Return the lines of a line chart of a 1-D array; one line of shades if the terminal has no characters for dots.

    If several elements share the width of a dot, the least and the greatest of them are connected, so that none is
    missed; if all of them are NaN there is a gap, and a mark below it.
    """
    from rich.text import Text

    if not blocks:
        levels = to_levels(values[np.newaxis], numbers, 1, width)[0].tolist()
        wide = max(1, min(LARGEST_PIXEL, width // max(len(levels), 1)))
        return [Text("".join(wide * level_mark(level) for level in levels))]
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
    style = ansi_style(_LINE_LEVEL) if colours else ""
    lines = [Text("".join(chr(_BRAILLE + dot) for dot in row), style) for row in dots.tolist()]
    if missing.any():
        lines.append(Text("".join(NAN_MARK if gap else " " for gap in missing), ansi_style(-1) if colours else ""))
    return lines


def _find_heights(values: Array, numbers: Statistics, count: int) -> Iterator[tuple[int, int]]:
    """Yield the least and the greatest height, in dots, of a line in each of so many columns; (1, 0) for a gap."""
    shares = to_shares(values, numbers)
    times = 2 * (count // len(shares)) + 1  # points between an element and the next ones, itself in the middle
    between = (np.arange(len(shares) * times) + 0.5) / times - 0.5
    points = np.interp(between, np.arange(len(shares)), shares)
    points[times // 2 :: times] = shares  # one between two NaN too
    starts = np.linspace(0, len(points), count + 1).astype(int)[:-1]
    ends = zip(np.fmin.reduceat(points, starts).tolist(), np.fmax.reduceat(points, starts).tolist(), strict=True)
    most = 4 * _LINE_ROWS - 1
    for bottom, top in ends:
        yield (1, 0) if bottom != bottom else (round(bottom * most), round(top * most))


def add_axes(picture: list[Text], rows: Sequence[str], columns: Sequence[str]) -> list[Text]:
    """Return the lines of a picture with the labels of its rows on the left, and of its columns below.

    `rows`: the label of every row of the array; empty for none. So are columns.
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


def draw_legend(numbers: Statistics, *, colours: bool) -> Text:
    """Return the scale between the least and the greatest value, with the mark of NaN where there is any."""
    from rich.text import Text

    scale = Text(f"{format_statistic(numbers.min)} ")
    if colours:
        for level in range(0, LEVELS, 5):
            scale.append("█", ansi_style(level))
    else:
        scale.append(f"[{RAMP}]")
    scale.append(f" {format_statistic(numbers.max)}")
    if numbers.nan:
        scale.append("   ")
        scale.append("█" if colours else NAN_MARK, ansi_style(-1) if colours else "")
        scale.append(" NaN")
    return scale
