"""The values of an array in a terminal: a grid of them, or their statistics and a picture."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..api import shorten
from ..changes.wording import format_value
from ..dtypes import Array
from ..elements import label_text
from .console import PIPED_WIDTH, has_blocks, has_colours, line_width, print_renderable
from .drawing.heat_maps import add_axes, draw_heat_map, draw_legend, draw_line, format_statistic
from .drawing.statistics import NUMBERS, Statistics, compute_statistics, has_numbers

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

DIGITS = 6  # behind the decimal mark, at most, of values in a grid
_LONGEST_TEXT = 32
_PIPED_COLUMNS = 12
_A_LINE = (20, 10, 8, 5, 4, 2, 1)  # values of a 1-D array in a line
_BARE_WHOLE = re.compile(r"(?<![0-9.e])(?<!e[+-])[0-9]+(?![0-9.e])")  # of `54`, `1+2.5j`
_BARE_POINT = re.compile(r"\.( |(?=[^0-9]|$))")  # which NumPy prints of whole floats: `54.`, `1. +2.5j`
INDENT = 2


class AxisHeadings(NamedTuple):
    """What stands before the rows of a picture, or above its columns: labels, or the indices in the array."""

    texts: list[str]
    are_labels: bool


def print_values(
    console: Console, values: Array, rows: int, columns: int | None, axes: list[AxisHeadings], *, picture: bool
) -> None:
    """Print the values of a slice, a picture of them if they are numbers, and their statistics."""
    width = line_width(console)
    print_renderable(console, "")
    _print_indented(console, _make_grid(values, None if width is None else width - INDENT, rows, columns, axes))
    if not has_numbers(values):
        return
    from rich.cells import cell_len

    numbers = compute_statistics(values)
    print_renderable(console, "")
    if picture and values.size > 1 and numbers.min is not None:
        draw = draw_heat_map if values.ndim == 2 else draw_line
        colours, blocks = has_colours(console), has_blocks(console)
        below, *beside = [axis.texts for axis in reversed(axes)]
        margin = max(map(cell_len, beside[0])) + 1 if beside else 0
        room = max((width or PIPED_WIDTH) - 2 * INDENT - margin, 8)
        drawn = draw(values, numbers, room, colours=colours, blocks=blocks)
        _print_indented(console, *add_axes(drawn, beside[0] if beside else [], below))
        print_renderable(console, "")
        _print_indented(console, draw_legend(numbers, colours=colours and blocks))
    print_renderable(console, " " * INDENT + _format_statistics(numbers, values))


def _print_indented(console: Console, *lines: Any) -> None:
    from rich.padding import Padding

    for line in lines:
        print_renderable(console, Padding(line, (0, 0, 0, INDENT), expand=False))


def _format_statistics(numbers: Statistics, values: Array) -> str:
    if values.dtype.kind == "b":
        return f"true {round((numbers.mean or 0) * values.size):,} of {values.size:,}"
    parts = [f"{title} {format_statistic(getattr(numbers, title))}" for title in ("min", "mean", "max")]
    parts.append(f"NaN {numbers.nan:,}")
    if numbers.infinite:
        parts.append(f"infinite {numbers.infinite:,}")
    return ("|z|: " if values.dtype.kind == "c" else "") + "   ".join(parts)


def _make_grid(values: Array, width: int | None, rows: int, columns: int | None, axes: Sequence[AxisHeadings]) -> Table:
    """Return a table of a 1-D or 2-D array, with so many rows and columns at most; an ellipsis is what is left out.

    Several values of a 1-D array without labels share a line.

    `width`: columns of the terminal; None for any number. `columns`: None for as many as the width takes, which are the
    most in any case. `axes`: the headings of each axis.
    """
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    is_line = values.ndim == 1 and not axes[0].are_labels
    if values.ndim == 1 and not is_line:
        values, axes = values[:, None], [axes[0], AxisHeadings([""], are_labels=True)]
    step = int(axes[0].texts[1]) - int(axes[0].texts[0]) if is_line and values.size > 1 else 1
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
        of_columns = [f"{number * step:+d}" for number in range(size)] if is_line else axes[1].texts
        titles = [None if column is None else of_columns[column] for column in across]
        labels = ["…" if row is None else axes[0].texts[row * size if is_line else row] for row in down]
        cell_width = max(map(cell_len, [*filter(None, titles), *texts]))
        room = sum(3 if title is None else cell_width + 2 for title in titles)
        if width is None or max(map(cell_len, labels)) + room <= width:
            break
    is_words = values.dtype.kind in "UTO"

    def align(text: str) -> str:
        blanks = " " * (cell_width - cell_len(text))
        return text + blanks if is_words else blanks + text

    grid = Table.grid(padding=(0, 0, 0, 2))
    grid.add_column(justify="right", style="dim")
    if any(titles) and (len(labels) > 1 or not is_line):
        grid.add_row("", *(Text(" " if title is None else align(title), "dim") for title in titles))
    left = iter(texts)
    for label, row in zip(labels, down, strict=True):
        cells = [] if row is None else ["…" if title is None else align(next(left, "")) for title in titles]
        styles = ("red" if _is_missing(text) else "dim" if text == "…" else "" for text in cells)
        grid.add_row(Text(label), *map(Text, cells, styles))
    return grid


def _is_missing(text: str) -> bool:
    return ("nan" in text or "NaT" in text) and not text.startswith(("'", '"'))


def elide_indices(count: int, most: int) -> list[int | None]:
    """Return the first and the last of `count` indices, with None for those left out between them.

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
    if flat.dtype.kind in NUMBERS:
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
