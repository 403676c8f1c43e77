"""The values of an array in a terminal: a grid of them, their statistics, and pictures in characters.

A picture is a heat map of two axes or a line along one, with axes and a legend; below it stand slices along another
axis, small and in common colours. With colours a character is two square pixels, one above the other; without, a pixel
is two characters of a ramp. An array with more elements than pixels is shown by the means of its blocks, NaN left out
unless most of a block is NaN.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import Array
from ..pages.colours import MISSING, RISING, Colour, blend
from .console import PIPED_WIDTH, count_noun, has_blocks, has_colours, line_width, print_renderable
from .slices import Indices, cover_with_blocks, format_slice
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
_MOST_SLICES = 8  # pictures
_SLICE_WIDTH = 24  # characters of a picture, at most
_SLICE_LINES = 8  # lines of a picture, at most
_GAP = 3  # characters between pictures


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


def print_multiples(console: Console, array: Array, asked: Indices, seen: Indices) -> None:
    """Print several slices beside each other, if the user gave no index for more than two axes."""
    from rich.text import Text

    slices = choose_slices(asked, seen, array.shape)
    numbers = compute_statistics(np.stack([array[indices] for indices in slices])) if slices else None
    if numbers is None or numbers.minimum is None:
        return
    width = max((line_width(console) or PIPED_WIDTH) - 2 * INDENT, 8)
    heading = f"\n{count_noun(len(slices), 'slice')}, in the colours of all of them"
    print_renderable(console, Text(heading, "dim italic"))
    look = {"colours": has_colours(console), "blocks": has_blocks(console)}
    _print_indented(console, draw_multiples(array, slices, numbers, width, **look)[:-1])


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
    return (_lines_of_1d if values.ndim == 1 else _table)(values, width, rows, columns)


def _table(values: Array, width: int | None, rows: int, columns: int | None) -> list[Text]:
    down = elide_indices(values.shape[0], rows)
    label = max(len(str(values.shape[0] - 1)), 1)
    most = columns or (_PIPED_COLUMNS if width is None else max(2, width // 4))
    while True:
        across = elide_indices(values.shape[1], most)
        kept = values[np.ix_([i for i in down if i is not None], [j for j in across if j is not None])]
        texts = iter(format_elements(kept))
        body = [["" if j is None else next(texts) for j in across] for i in down if i is not None]
        head = ["" if j is None else str(j) for j in across]
        cell_width = max((_display_width(text) for line in [head, *body] for text in line), default=1)
        taken = label + sum(2 + (1 if j is None else cell_width) for j in across)
        if width is None or columns or taken <= width or most <= 2:
            break
        most = max(2, min(most - 1, (width - label - 3) // (cell_width + 2)))
    gaps = [index for index, j in enumerate(across) if j is None]
    labels = [str(i) for i in down if i is not None]
    return _draw_lines(head, labels, body, cell_width, gaps, gap_row=down.index(None) if None in down else None)


def _lines_of_1d(values: Array, width: int | None, rows: int, columns: int | None) -> list[Text]:
    label = len(str(max(len(values) - 1, 0)))
    for each_line in (columns,) if columns else _A_LINE if width is not None else _A_LINE[1:]:
        starts = elide_indices(-(-len(values) // each_line), rows)
        kept = [np.arange(n * each_line, min((n + 1) * each_line, len(values))) for n in starts if n is not None]
        texts = iter(format_elements(values[np.concatenate(kept)] if kept else values))
        body = [[next(texts) for _ in line] for line in kept]
        cell_width = max((_display_width(text) for line in body for text in line), default=1)
        cell_width = max(cell_width, len(f"+{each_line - 1}"))
        if width is None or label + each_line * (cell_width + 2) <= width:
            break
    head = [f"+{index}" for index in range(min(each_line, len(values)))] if len(values) > each_line else []
    gap_row = starts.index(None) if None in starts else None
    return _draw_lines(head, [str(line[0]) for line in kept], body, cell_width, [], gap_row)


def _draw_lines(
    head: list[str], labels: list[str], body: list[list[str]], cell_width: int, gaps: list[int], gap_row: int | None
) -> list[Text]:
    from rich.text import Text

    label = max(map(len, labels), default=1)
    lines = [Text(" " * label)] if head else []
    for index, text in enumerate(head):
        lines[0].append("  " + (" " if index in gaps else text.rjust(cell_width)), "dim")
    for index, (name, cells) in enumerate(zip(labels, body, strict=True)):
        if index == gap_row:
            lines.append(Text("…".rjust(label), "dim"))
        line = Text.assemble((name.rjust(label), "dim"))
        for place, text in enumerate(cells):
            if place in gaps:
                line.append("  …", "dim")
            else:
                missing = ("nan" in text or "NaT" in text) and not text.startswith(("'", '"'))
                style = "red" if missing else ""
                line.append("  " + " " * (cell_width - _display_width(text)) + text, style)
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
    return [_shorten(str(value) if values.dtype.kind in "mM" else format_value(value)) for value in flat]


def _spans_magnitudes(sizes: Array) -> bool:
    """Return whether the numbers need different numbers of decimals."""
    sizes = sizes[np.isfinite(sizes) & (sizes != 0)]
    if not sizes.size:
        return False
    least, greatest = float(sizes.min()), float(sizes.max())
    return greatest >= 1e8 or least < 1e-4 or greatest > 1000 * least


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


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


# Several slices -----------------------------------------------------------------------------------------------------


def choose_slices(asked: Indices, seen: Indices, shape: Sequence[int]) -> list[Indices]:
    """Return up to eight slices to be drawn beside each other, the first and the last index of an axis among them.

    The axis is the longest of those that the user left open in `asked`, but of which the picture above shows one index
    alone in `seen`. The list is empty if no such axis is left.

    Example:
        >>> whole = slice(None)
        >>> choose_slices((whole,) * 3, (1, whole, whole), (3, 4, 5))[-1]
        (2, slice(None, None, None), slice(None, None, None))
    """
    open_axes = {
        axis: range(shape[axis])[part]
        for axis, (part, index) in enumerate(zip(asked, seen, strict=True))
        if isinstance(part, slice) and not isinstance(index, slice)
    }
    if not open_axes:
        return []
    axis = max(open_axes, key=lambda axis: (len(open_axes[axis]), -axis))
    along = open_axes[axis]
    count = min(len(along), _MOST_SLICES)
    if count < 2:
        return []
    indices = [along[number * (len(along) - 1) // (count - 1)] for number in range(count)]
    return [(*seen[:axis], index, *seen[axis + 1 :]) for index in indices]


def draw_multiples(
    array: Array, slices: Sequence[Indices], numbers: Statistics, width: int, *, colours: bool, blocks: bool
) -> list[Text]:
    """Return the lines of pictures of some slices, each below its indices, in the colours of common statistics."""
    from rich.text import Text

    beside = max(1, (width + _GAP) // (_SLICE_WIDTH + _GAP))
    wide = min(_SLICE_WIDTH, width)
    lines: list[Text] = []
    for first in range(0, len(slices), beside):
        row = []
        for indices in slices[first : first + beside]:
            picture = draw_heat_map(
                array[indices], numbers, wide, colours=colours, blocks=blocks, most_lines=_SLICE_LINES
            )
            row.append([Text(_cut(format_slice(indices), wide), "dim"), *picture])
        for number in range(max(map(len, row))):
            line = Text()
            for after, cells in enumerate(row, 1):
                line.append_text(cells[number] if number < len(cells) else Text())
                if after < len(row):
                    line.append(" " * ((wide + _GAP) * after - line.cell_len))
            lines.append(line)
        lines.append(Text())
    return lines


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}~"
