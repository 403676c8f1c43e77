"""The values of an array in a terminal: a grid of them, their statistics, and pictures in characters.

A picture is a heat map of two axes or a line along one, with axes and a legend. With colours a character is two square
pixels, one above the other; without, a pixel is two characters of a ramp. An array with more elements than pixels is
shown by the means of its blocks, NaN left out unless most of a block is NaN.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..api import shorten
from ..changes.wording import format_value
from ..dtypes import Array
from ..elements import label_text
from ..pages.colours import MISSING, RISING, Colour, blend
from .console import PIPED_WIDTH, has_blocks, has_colours, line_width, print_renderable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.style import Style
    from rich.table import Table
    from rich.text import Text

DIGITS = 6  # behind the decimal mark, at most, of values in a grid
_LONGEST_TEXT = 32
_PIPED_COLUMNS = 12
_A_LINE = (20, 10, 8, 5, 4, 2, 1)  # values of a 1-D array in a line
_NUMBERS = "biufc"
_BARE_WHOLE = re.compile(r"(?<![0-9.e])(?<!e[+-])[0-9]+(?![0-9.e])")  # of `54`, `1+2.5j`
_BARE_POINT = re.compile(r"\.( |(?=[^0-9]|$))")  # which NumPy prints of whole floats: `54.`, `1. +2.5j`
INDENT = 2

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


def print_values(
    console: Console, values: Array, rows: int, columns: int | None, axes: list[list[str]], *, picture: bool
) -> None:
    """Print the values of a slice, a picture of them if they are numbers, and their statistics."""
    width = line_width(console)
    print_renderable(console, "")
    _print_indented(console, _make_grid(values, None if width is None else width - INDENT, rows, columns))
    if not has_numbers(values):
        return
    numbers = compute_statistics(values)
    print_renderable(console, "")
    if picture and values.size > 1 and numbers.min is not None:
        draw = draw_heat_map if values.ndim == 2 else draw_line
        colours, blocks = has_colours(console), has_blocks(console)
        below, *beside = reversed(axes)
        margin = max(map(len, beside[0])) + 1 if beside else 0
        room = max((width or PIPED_WIDTH) - 2 * INDENT - margin, 8)
        drawn = draw(values, numbers, room, colours=colours, blocks=blocks)
        _print_indented(console, *add_axes(drawn, beside[0] if beside else [], below))
        print_renderable(console, "")
        _print_indented(console, _draw_legend(numbers, colours=colours and blocks))
    print_renderable(console, " " * INDENT + _format_statistics(numbers, values))


def _print_indented(console: Console, *lines: Any) -> None:
    from rich.padding import Padding

    for line in lines:
        print_renderable(console, Padding(line, (0, 0, 0, INDENT), expand=False))


def _format_number(value: float | None) -> str:
    return str(value) if isinstance(value, int) else "none" if value is None else f"{value:.6g}"


def _format_statistics(numbers: Statistics, values: Array) -> str:
    if values.dtype.kind == "b":
        return f"true {round((numbers.mean or 0) * values.size):,} of {values.size:,}"
    parts = [f"{title} {_format_number(getattr(numbers, title))}" for title in ("min", "mean", "max")]
    parts.append(f"NaN {numbers.nan:,}")
    if numbers.infinite:
        parts.append(f"infinite {numbers.infinite:,}")
    return ("|z|: " if values.dtype.kind == "c" else "") + "   ".join(parts)


# Many elements, in a grid ----------------------------------------------------------------------------------------


def _make_grid(values: Array, width: int | None, rows: int, columns: int | None) -> Table:
    """Return a table of a 1-D or 2-D array, with so many rows and columns at most; an ellipsis is what is left out.

    `width`: columns of the terminal; None for any number. `columns`: None for as many as the width takes, which are the
    most in any case.
    """
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    is_line = values.ndim == 1
    choices: Sequence[int] = _A_LINE if width is not None else _A_LINE[1:]
    if not is_line:
        choices = range(max(2, width // 4), 1, -1) if width is not None else (_PIPED_COLUMNS,)
    if columns is not None:
        choices = [columns, *(most for most in choices if most < columns)]
    for most in choices:
        size = min(most, values.size) if is_line else values.shape[1]
        across, down = elide_indices(size, most), elide_indices(-(-values.size // size), rows)
        shown = [row * size + column for row in down for column in across if row is not None and column is not None]
        shown = shown[: np.searchsorted(shown, values.size)]
        texts = format_elements(values[np.unravel_index(np.array(shown, np.intp), values.shape)])
        titles = ["" if column is None else f"+{column}" if is_line else str(column) for column in across]
        labels = ["…" if row is None else str(row * size if is_line else row) for row in down]
        cell_width = max(map(cell_len, [*titles, *texts]))
        if width is None or max(map(len, labels)) + sum(cell_width + 2 if title else 3 for title in titles) <= width:
            break
    is_words = values.dtype.kind in "UTO"

    def align(text: str) -> str:
        blanks = " " * (cell_width - cell_len(text))
        return text + blanks if is_words else blanks + text

    grid = Table.grid(padding=(0, 0, 0, 2))
    grid.add_column(justify="right", style="dim")
    if len(labels) > 1 or not is_line:
        grid.add_row("", *(Text(align(title) if title else " ", "dim") for title in titles))
    left = iter(texts)
    for label in labels:
        cells = [] if label == "…" else [align(next(left, "")) if title else "…" for title in titles]
        styles = ("red" if _is_missing(text) else "dim" if text == "…" else "" for text in cells)
        grid.add_row(label, *map(Text, cells, styles))
    return grid


def _is_missing(text: str) -> bool:
    return ("nan" in text or "NaT" in text) and not text.startswith(("'", '"'))


def elide_indices(count: int, most: int) -> list[int | None]:
    """Return the first and the last of `count` indices, and None for what is left out between them.

    Example:
        >>> elide_indices(9, 4)
        [0, 1, None, 7, 8]
    """
    if count <= max(most, 1):
        return list(range(count))
    before = -(-max(most, 2) // 2)
    return [*range(before), None, *range(count - max(most, 2) + before, count)]


def format_elements(values: Array) -> list[str]:
    """Return the elements, in row-major order, all in one notation."""
    flat = values.reshape(-1)
    if not flat.size:
        return []
    if flat.dtype.kind in "fc" and _spans_magnitudes(np.abs(flat)):
        return [_BARE_WHOLE.sub(r"\g<0>.0", f"{value:.{DIGITS}g}") for value in flat.tolist()]
    if flat.dtype.kind in _NUMBERS:
        joined = np.array2string(
            flat, separator="\n", precision=DIGITS, threshold=sys.maxsize, max_line_width=sys.maxsize
        )
        return _BARE_POINT.sub(".0", joined[1:-1].replace(".e", "e")).split("\n")
    texts = (label_text(value) if values.dtype.kind in "mM" else format_value(value) for value in flat)
    return [shorten(text, _LONGEST_TEXT) for text in texts]


def _spans_magnitudes(sizes: Array) -> bool:
    """Return whether the numbers need different numbers of decimals."""
    sizes = sizes[np.isfinite(sizes) & (sizes != 0)]
    if not sizes.size:
        return False
    least, greatest = float(sizes.min()), float(sizes.max())
    return greatest >= 1e8 or least < 1e-4 or greatest > 1000 * least


# Statistics ------------------------------------------------------------------------------------------------------


class Statistics(NamedTuple):
    """Statistics of the numbers of an array; of their magnitudes, if they are complex."""

    min: float | None  # of the finite elements; None if there are none. An int for integers
    mean: float | None  # of booleans the share that is true
    max: float | None
    nan: int
    infinite: int


def has_numbers(values: Array) -> bool:
    """Return whether statistics and a picture of an array make sense."""
    return values.dtype.kind in _NUMBERS


def to_real(values: Array) -> Array:
    """Return numbers that can be put in order: magnitudes of complex ones, 0 and 1 for booleans."""
    if values.dtype.kind == "c":
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.abs(values))
    return values.astype(np.uint8) if values.dtype.kind == "b" else values


def compute_statistics(values: Array) -> Statistics:
    """Return minimum, mean and maximum of the finite elements; NaN and infinities are counted."""
    numbers = to_real(values).reshape(-1)
    finite = numbers[np.isfinite(numbers)]
    nan = int(np.isnan(numbers).sum())
    infinite = numbers.size - finite.size - nan
    if not finite.size:
        return Statistics(None, None, None, nan, infinite)
    with np.errstate(over="ignore"):
        mean = float(finite.mean(dtype=np.float64))
    return Statistics(finite.min().item(), mean, finite.max().item(), nan, infinite)


# Pictures -----------------------------------------------------------------------------------------------------------


def draw_heat_map(values: Array, numbers: Statistics, width: int, *, colours: bool, blocks: bool) -> list[Text]:
    """Return the lines of a picture of a 2-D array, rows down, columns to the right."""
    from rich.text import Text

    if colours and blocks:
        levels = _enlarge(to_levels(values, numbers, 2 * MOST_LINES, width), 2 * MOST_LINES, width)
        if len(levels) % 2:
            levels = np.vstack([levels, np.full((1, levels.shape[1]), -2)])
        return [
            Text.assemble(*(_half_blocks(above, below) for above, below in zip(*pair, strict=True)))
            for pair in zip(levels[0::2].tolist(), levels[1::2].tolist(), strict=True)
        ]
    levels = _enlarge(to_levels(values, numbers, MOST_LINES, width // 2), MOST_LINES, width // 2)
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
    shares = _to_shares(values, numbers)
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


def _draw_legend(numbers: Statistics, *, colours: bool) -> Text:
    """Return the scale between the least and the greatest value, with the mark of NaN where there is any."""
    from rich.text import Text

    scale = Text(f"{_format_number(numbers.min)} ")
    if colours:
        for level in range(0, _LEVELS, 5):
            scale.append("█", _ansi_style(level))
    else:
        scale.append(f"[{RAMP}]")
    scale.append(f" {_format_number(numbers.max)}")
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
    picture = np.empty((high, wide), dtype=int)
    for index in range(high):
        part = _to_shares(values[row_edges[index] : row_edges[index + 1]], numbers)
        known = ~np.isnan(part)
        counts = np.add.reduceat(known.sum(axis=0), column_edges[:-1])
        sums = np.add.reduceat(np.where(known, part, 0).sum(axis=0), column_edges[:-1])
        levels = np.clip(np.rint(sums / np.maximum(counts, 1) * (_LEVELS - 1)), 0, _LEVELS - 1).astype(int)
        missing = 2 * counts < np.diff(column_edges) * len(part)
        picture[index] = np.where(missing | (counts == 0), -1, levels)
    return picture


def _to_shares(values: Array, numbers: Statistics) -> Array:
    """Return numbers as shares of the way from the least to the greatest one, NaN as it is."""
    low, high = float(numbers.min or 0), float(numbers.max or 0)
    real = to_real(values).astype(np.float64)
    if low == high:
        return np.where(np.isnan(real), np.nan, 0.5)
    unit = max(abs(low), abs(high))  # so that no difference overflows
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray((np.clip(real, low, high) / unit - low / unit) / ((high / unit - low / unit) or 1.0))


def _enlarge(levels: Array, most_rows: int, most_columns: int) -> Array:
    rows, columns = levels.shape
    times = max(1, min(_LARGEST_PIXEL, most_rows // rows, most_columns // columns))
    return levels.repeat(times, axis=0).repeat(times, axis=1)


def _level_mark(level: int) -> str:
    return NAN_MARK if level < 0 else RAMP[level * len(RAMP) // _LEVELS]


# From pixels to colours ------------------------------------------------------------------------------------------


def _half_blocks(above: int, below: int) -> tuple[str, Style]:
    """Return a character; -2 below is no pixel at all."""
    return ("▀", _ansi_style(above) if below == -2 else _ansi_style(above, below))


@cache
def _ansi_style(level: int, below: int | None = None) -> Style:
    """Return a style with the colour of a level as foreground, and that of a second one as background."""
    from rich.color import Color
    from rich.style import Style

    colours = [None if one is None else Color.from_rgb(*level_colour(one)) for one in (level, below)]
    return Style(color=colours[0], bgcolor=colours[1])


def level_colour(level: int) -> Colour:
    """Return the colour of a level from 0 to 99; of -1 that of NaN."""
    return MISSING if level < 0 else blend(RISING, level / (_LEVELS - 1))
