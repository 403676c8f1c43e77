"""The values of a slice, printed: a grid of them, their statistics, and pictures as wide as the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dtypes import Array
from .console import (
    PIPED_WIDTH,
    count_noun,
    has_blocks,
    has_colours,
    line_width,
    print_renderable,
)
from .slices import Indices
from .values import (
    Statistics,
    compute_statistics,
    draw_grid,
    has_numbers,
)

if TYPE_CHECKING:
    from rich.console import Console

INDENT = 2


def print_values(
    console: Console, values: Array, rows: int, columns: int | None, axes: list[list[str]], *, picture: bool
) -> None:
    """Print the values of a slice, a picture of them if they are numbers, and their statistics."""
    from rich.padding import Padding
    from rich.text import Text

    width = line_width(console)
    print_renderable(console, Text())
    for line in draw_grid(values, width=None if width is None else width - INDENT, rows=rows, columns=columns):
        print_renderable(console, Padding(line, (0, 0, 0, INDENT), expand=False))
    if not has_numbers(values):
        return
    numbers = compute_statistics(values)
    print_renderable(console, Text())
    if picture and values.size > 1 and numbers.minimum is not None:
        from . import pictures

        draw = pictures.draw_heat_map if values.ndim == 2 else pictures.draw_line
        look = {"colours": has_colours(console), "blocks": has_blocks(console)}
        below, *beside = reversed(axes)
        margin = max(map(len, beside[0])) + 1 if beside else 0
        drawn = draw(values, numbers, max((width or PIPED_WIDTH) - 2 * INDENT - margin, 8), **look)
        for line in pictures.add_axes(drawn, beside[0] if beside else [], below):
            print_renderable(console, Padding(line, (0, 0, 0, INDENT), expand=False))
        ends = (_parse_count(numbers.minimum), _parse_count(numbers.maximum))
        print_renderable(console, Text())
        scale = pictures.draw_legend(numbers, ends, colours=look["colours"] and look["blocks"])
        print_renderable(console, Padding(scale, (0, 0, 0, INDENT), expand=False))
    print_renderable(console, " " * INDENT + _format_statistics(numbers, values))


def print_multiples(console: Console, array: Array, asked: Indices, seen: Indices) -> None:
    """Print several slices beside each other, if the user gave no index for more than two axes."""
    from rich.padding import Padding
    from rich.text import Text

    from .multiples import choose_slices, draw_multiples, stack_slices

    slices = choose_slices(asked, seen, array.shape)
    numbers = compute_statistics(stack_slices(array, slices)) if slices else None
    if numbers is None or numbers.minimum is None:
        return
    width = (line_width(console) or PIPED_WIDTH) - 2 * INDENT
    print_renderable(
        console, Text(f"\n{count_noun(len(slices), 'slice')}, in the colours of all of them", "dim italic")
    )
    drawn = draw_multiples(
        array, slices, numbers, max(width, 8), colours=has_colours(console), blocks=has_blocks(console)
    )
    for line in drawn[:-1]:
        print_renderable(console, Padding(line, (0, 0, 0, INDENT), expand=False))


def _parse_count(value: float | None) -> str:
    return str(value) if isinstance(value, int) else "none" if value is None else f"{value:.6g}"


def _format_statistics(numbers: Statistics, values: Array) -> str:
    parts = [
        f"{title} {_parse_count(value)}"
        for title, value in (("min", numbers.minimum), ("mean", numbers.mean), ("max", numbers.maximum))
    ]
    parts.append(f"NaN {numbers.nan:,}")
    if numbers.infinite:
        parts.append(f"infinite {numbers.infinite:,}")
    if values.dtype.kind == "b":
        parts = [f"true {round((numbers.mean or 0) * numbers.count):,} of {numbers.count:,}"]
    return ("|z|: " if values.dtype.kind == "c" else "") + "   ".join(parts)
