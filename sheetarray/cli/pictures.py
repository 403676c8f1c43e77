"""The values of an array in a terminal: a grid of them, their statistics, and pictures in characters.

A picture is a heat map of two axes or a line along one, with axes and a legend. With colours a character is two square
pixels, one above the other; without, a pixel is two characters of a ramp. An array with more elements than pixels is
shown by the means of its blocks, NaN left out unless most of a block is NaN.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..comparing import cover_with_blocks
from ..dtypes import Array
from ..elements import label_text
from ..pages.colours import MISSING, RISING, Colour, blend
from .console import PIPED_WIDTH, has_blocks, has_colours, line_width, print_renderable
from .values import format_value

if TYPE_CHECKING:
    from rich.console import Console
    from rich.style import Style
    from rich.text import Text

DIGITS = 6  # behind the decimal mark, at most, of values in a grid
_LONGEST_TEXT = 32
_PIPED_COLUMNS = 12
_A_LINE = (20, 10, 8, 5, 4, 2, 1)  # values of a 1-D array in a line
_NUMBERS = "biufc"
INDENT = 2

_Cut = tuple[list[str | None], list[str | None], list[list[int]]]

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
    from rich.text import Text

    width = line_width(console)
    print_renderable(console, Text())
    _print_indented(console, _draw_grid(values, None if width is None else width - INDENT, rows, columns))
    if not has_numbers(values):
        return
    numbers = compute_statistics(values)
    print_renderable(console, Text())
    if picture and values.size > 1 and numbers.minimum is not None:
        draw = draw_heat_map if values.ndim == 2 else draw_line
        look = {"colours": has_colours(console), "blocks": has_blocks(console)}
        below, *beside = reversed(axes)
        margin = max(map(len, beside[0])) + 1 if beside else 0
        drawn = draw(values, numbers, max((width or PIPED_WIDTH) - 2 * INDENT - margin, 8), **look)
        _print_indented(console, add_axes(drawn, beside[0] if beside else [], below))
        print_renderable(console, Text())
        _print_indented(console, [_draw_legend(numbers, colours=look["colours"] and look["blocks"])])
    print_renderable(console, " " * INDENT + _format_statistics(numbers, values))


def _print_indented(console: Console, lines: Sequence[Text]) -> None:
    from rich.padding import Padding

    for line in lines:
        print_renderable(console, Padding(line, (0, 0, 0, INDENT), expand=False))


def _format_number(value: float | None) -> str:
    return str(value) if isinstance(value, int) else "none" if value is None else f"{value:.6g}"


def _format_statistics(numbers: Statistics, values: Array) -> str:
    parts = [
        f"{title} {_format_number(value)}"
        for title, value in (("min", numbers.minimum), ("mean", numbers.mean), ("max", numbers.maximum))
    ]
    parts.append(f"NaN {numbers.nan:,}")
    if numbers.infinite:
        parts.append(f"infinite {numbers.infinite:,}")
    if values.dtype.kind == "b":
        parts = [f"true {round((numbers.mean or 0) * numbers.count):,} of {numbers.count:,}"]
    return ("|z|: " if values.dtype.kind == "c" else "") + "   ".join(parts)


# Many elements, in a grid ----------------------------------------------------------------------------------------


def _draw_grid(values: Array, width: int | None, rows: int, columns: int | None) -> list[Text]:
    """Return the lines of a table of a 1-D or 2-D array, with so many rows and columns at most.

    `width`: columns of the terminal; None for any number. `columns`: None for as many as the width takes.
    """
    choices: Sequence[int] = _A_LINE if width is not None else _A_LINE[1:]
    if values.ndim == 2:
        choices = range(max(2, width // 4), 1, -1) if width is not None else (_PIPED_COLUMNS,)
    for most in (columns,) if columns else choices:
        labels, head, kept = _cut_line(values, rows, most) if values.ndim == 1 else _cut_table(values, rows, most)
        places = np.unravel_index(np.array([index for line in kept for index in line], np.intp), values.shape)
        texts = format_elements(values[places])
        cell_width = max((_display_width(text) for text in [*head, *texts] if text), default=1)
        label_width = max((len(label) for label in labels if label), default=1)
        line_width = label_width + sum(3 if title is None else cell_width + 2 for title in head)
        if width is None or line_width <= width:
            break
    left = iter(texts)
    body = iter([[next(left) for _ in line] for line in kept])
    head = head if len(kept) > 1 or values.ndim == 2 else []
    pad = _align_left if values.dtype.kind in "UTO" else _align_right
    return _draw_lines(labels, head, body, label_width, lambda text: pad(text, cell_width))


def _cut_table(values: Array, rows: int, most: int) -> _Cut:
    """Return labels of rows, headings of columns, None for a gap, and the indices of the elements of each row."""
    down, across = (elide_indices(size, limit) for size, limit in zip(values.shape, (rows, most), strict=True))
    labels, head = ([None if index is None else str(index) for index in axis] for axis in (down, across))
    kept = [
        [row * values.shape[1] + column for column in across if column is not None] for row in down if row is not None
    ]
    return labels, head, kept


def _cut_line(values: Array, rows: int, most: int) -> _Cut:
    """Return the same of a 1-D array, of which so many elements stand in a row."""
    starts = [None if row is None else row * most for row in elide_indices(-(-len(values) // most), rows)]
    kept = [[*range(start, min(start + most, len(values)))] for start in starts if start is not None]
    labels = [None if start is None else str(start) for start in starts]
    return labels, [f"+{index}" for index in range(min(most, len(values)))], kept


def _draw_lines(
    labels: list[str | None],
    head: list[str | None],
    body: Iterator[list[str]],
    label_width: int,
    pad: Callable[[str], str],
) -> list[Text]:
    """Return the lines of a table, each cell of which `pad` makes as wide as its column."""
    from rich.text import Text

    titles = ["  " + (" " if title is None else pad(title)) for title in head]
    lines = [Text(" " * label_width + "".join(titles), "dim")] if head else []
    gap = head.index(None) if None in head else -1
    for label in labels:
        if label is None:
            lines.append(Text("…".rjust(label_width), "dim"))
            continue
        line = Text.assemble((label.rjust(label_width), "dim"))
        for place, text in enumerate(next(body)):
            if place == gap:
                line.append("  …", "dim")
            missing = ("nan" in text or "NaT" in text) and not text.startswith(("'", '"'))
            line.append("  " + pad(text), "red" if missing else "")
        lines.append(line)
    return lines


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
        return [f"{value:.{DIGITS}g}" for value in flat.tolist()]
    if flat.dtype.kind in _NUMBERS:
        joined = np.array2string(
            flat, separator="\n", precision=DIGITS, threshold=sys.maxsize, max_line_width=sys.maxsize
        )
        return joined[1:-1].split("\n")
    return [_shorten(label_text(value) if values.dtype.kind in "mM" else format_value(value)) for value in flat]


def _spans_magnitudes(sizes: Array) -> bool:
    """Return whether the numbers need different numbers of decimals."""
    sizes = sizes[np.isfinite(sizes) & (sizes != 0)]
    if not sizes.size:
        return False
    least, greatest = float(sizes.min()), float(sizes.max())
    return greatest >= 1e8 or least < 1e-4 or greatest > 1000 * least


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def _align_left(text: str, width: int) -> str:
    """Return a text that stands at the left of its column, as words do."""
    return text + " " * (width - _display_width(text))


def _align_right(text: str, width: int) -> str:
    """Return a text that stands at the right of its column, as numbers do."""
    return " " * (width - _display_width(text)) + text


def _display_width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


# Statistics ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of the numbers of an array; of their magnitudes, if they are complex.

    Attributes:
        minimum: of the finite elements; None if no element is finite. An int for integers, else a float.
        mean: of the finite elements; of booleans the share that is true.
        maximum: of the finite elements.
        nan: the number of elements that are NaN.
        infinite: the number of infinite elements.
        count: the number of all elements.
    """

    minimum: float | None
    mean: float | None
    maximum: float | None
    nan: int
    infinite: int
    count: int


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
    """Return minimum, mean and maximum, computed block by block; NaN and infinities are counted."""
    lows: list[Any] = []
    highs: list[Any] = []
    nan = infinite = used = 0
    total = 0.0
    for block in cover_with_blocks(values.shape):
        part = to_real(values[block]).reshape(-1)
        if part.dtype.kind == "f":
            finite = part[np.isfinite(part)]
            missing = int(np.isnan(part).sum())
            nan, infinite = nan + missing, infinite + part.size - finite.size - missing
            part = finite
        if part.size:
            lows.append(part.min().item())
            highs.append(part.max().item())
            used += part.size
            with np.errstate(over="ignore"):
                total += float(part.sum(dtype=np.float64))
    if not used:
        return Statistics(None, None, None, nan, infinite, values.size)
    return Statistics(min(lows), total / used, max(highs), nan, infinite, values.size)


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
    low, high = float(numbers.minimum or 0), float(numbers.maximum or 0)
    unit = max(abs(low), abs(high)) or 1.0
    real = to_real(values).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        shares = (np.clip(real, low, high) / unit - low / unit) / ((high / unit - low / unit) or 1.0)
    shares = shares if high > low else np.where(np.isnan(real), np.nan, 0.5)
    times = (
        2 * (count // len(shares)) + 1
    )  # points for each element, between it and the next ones, itself in the middle
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

    scale = Text(f"{_format_number(numbers.minimum)} ")
    if colours:
        for level in range(0, _LEVELS, 5):
            scale.append("█", _ansi_style(level))
    else:
        scale.append(f"[{RAMP}]")
    scale.append(f" {_format_number(numbers.maximum)}")
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
