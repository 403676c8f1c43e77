"""`sheetarray show`: the values of an array or a slice of it, and a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from .arguments import as_json, missing, options_of, reading, split_pairs
from .comparing import dtype_name
from .console import (
    PIPED_WIDTH,
    console_out,
    has_blocks,
    has_colours,
    line_width,
    plural,
    put,
    put_json,
    spoken_shape,
    visible,
)
from .places import Place, source_place
from .program import Misuse
from .progress import watched
from .slices import Indices, SliceError, parse_slice, spoken_slice, to_two_axes
from .values import Array, Statistics, grid, has_numbers, json_cells, rectangular, spoken, statistics

if TYPE_CHECKING:
    from rich.console import Console

_ROWS = 12
_INDENT = 2


@click.command(short_help="Show the values of an array, and a picture.")
@click.argument("file")
@click.argument("name", required=False)
@click.option(
    "--slice", "slice_text", metavar="SLICE", help='Part of the array, as in NumPy: "[:, :, 3]", "0, ::2", "..., -1".'
)
@click.option("--rows", type=click.IntRange(min=1), default=_ROWS, show_default=True, help="Rows of values, at most.")
@click.option("--columns", type=click.IntRange(min=1), help="Values in a row, at most; as many as fit, unless given.")
@click.option("--picture/--no-picture", default=True, help="Draw a heat map (1-D: bars) below numbers; on by default.")
@reading
@missing
@as_json
def show(
    file: str,
    name: str | None,
    slice_text: str | None,
    rows: int,
    columns: int | None,
    picture: bool,
    from_format: str | None,
    read_pairs: tuple[str, ...],
    missing: str | None,
    wants_json: bool,
) -> None:
    """Show the values of the array NAME in FILE, and a picture of them.

    NAME may be left out where FILE holds one array. Of an array with more than two axes, the two longest are shown, at
    the middle of the others; the heading is the slice that you see, as NumPy code. The picture is a heat map in
    24-bit colour where the terminal has it, else in characters; NaN is red, or a question mark. Of complex numbers it
    shows magnitudes. With --json the values are complete: the whole array, or the whole of --slice.

    \b
    Examples:
      sheetarray show run.csv temperature
      sheetarray show run.csv temperature --slice "[:, :, 3]"
      sheetarray show run.csv temperature --slice "-1, ::2" --rows 40
      sheetarray show run.csv temperature --slice "[0]" --json | jq '.values'
    """
    place = source_place(file, from_format)
    pairs = split_pairs(read_pairs, missing)
    options = options_of(place.row, "read", pairs)
    infos = place.call("scan", **options_of(place.row, "scan", pairs, lenient=True))
    chosen = _chosen(name, list(infos), place)
    if chosen in infos:
        _indices(chosen, slice_text, infos[chosen].shape)  # refused, if at all, before everything is read
    with watched(place, "read") as progress:
        array = rectangular(place.call("read", [chosen], **options, **progress)[chosen])
    if not isinstance(array, np.ndarray):
        _show_nested(place, chosen, array, slice_text, wants_json=wants_json)
        return
    shape, dtype = array.shape, dtype_name(array)
    indices = _indices(chosen, slice_text, shape)
    if wants_json:
        put_json(_as_json(place, chosen, array, indices, dtype))
        return
    console = console_out()
    seen = to_two_axes(indices, shape)
    values = array[seen] if array.ndim else array
    _put_heading(console, chosen, seen, values, dtype, shape, chose=seen != indices)
    if np.ndim(values) == 0:
        put(console, " " * _INDENT + spoken(values if not isinstance(values, np.ndarray) else values[()]))
    elif values.size:
        _put_values(console, values, rows, columns, picture=picture)
    else:
        put(console, " " * _INDENT + "no elements")


def _indices(name: str, text: str | None, shape: tuple[int, ...]) -> Indices:
    try:
        return parse_slice(text or "...", shape)
    except SliceError as error:
        raise Misuse(f"{name}: {error}", '--slice "[:, 0]" takes integers, start:stop:step and ...') from None


def _show_nested(place: Place, name: str, array: Any, slice_text: str | None, *, wants_json: bool) -> None:
    if slice_text is not None:
        raise Misuse(f"{name}: --slice is for arrays that have axes; this is one of {array.type}")
    if wants_json:
        put_json({"file": place.label, "name": name, "dtype": str(array.type), "values": json_cells(array)})
        return
    console = console_out()
    put(console, f"{visible(name)}  {array.type}")
    put(console, visible(str(array)))


def _chosen(name: str | None, names: list[str], place: Place) -> str:
    there = ", ".join(map(repr, names)) or "none"
    if name is None and len(names) != 1:
        raise Misuse(f"{place.label} holds {plural(len(names), 'array')}: say which", f"there is {there}")
    return names[0] if name is None else name


def _put_heading(
    console: Console, name: str, seen: Indices, values: Any, dtype: str, shape: tuple[int, ...], *, chose: bool
) -> None:
    from rich.text import Text

    heading = Text.assemble(
        (visible(name), "bold cyan"), (spoken_slice(seen), "bold"), f"  {dtype}  {spoken_shape(np.shape(values))}"
    )
    if np.shape(values) != shape:
        heading.append(f"  of {spoken_shape(shape)}", "dim")
    put(console, heading)
    if chose:
        put(console, Text("the middle of the other axes; --slice shows any part", "dim italic"))


def _put_values(console: Console, values: Array, rows: int, columns: int | None, *, picture: bool) -> None:
    from rich.padding import Padding
    from rich.text import Text

    width = line_width(console)
    put(console, Text())
    for line in grid(values, width=None if width is None else width - _INDENT, rows=rows, columns=columns):
        put(console, Padding(line, (0, 0, 0, _INDENT), expand=False))
    if not has_numbers(values):
        return
    numbers = statistics(values)
    put(console, Text())
    if picture and values.size > 1 and numbers.minimum is not None:
        from . import pictures

        draw = pictures.heat_map if values.ndim == 2 else pictures.bars
        look = {"colours": has_colours(console), "blocks": has_blocks(console)}
        for line in draw(values, numbers, (width or PIPED_WIDTH) - 2 * _INDENT, **look):
            put(console, Padding(line, (0, 0, 0, _INDENT), expand=False))
        ends = (_number(numbers.minimum), _number(numbers.maximum))
        put(console, Text())
        scale = pictures.legend(numbers, ends, colours=look["colours"] and look["blocks"])
        put(console, Padding(scale, (0, 0, 0, _INDENT), expand=False))
    put(console, " " * _INDENT + _spoken_statistics(numbers, values))


def _number(value: float | None) -> str:
    return str(value) if isinstance(value, int) else "none" if value is None else f"{value:.6g}"


def _spoken_statistics(numbers: Statistics, values: Array) -> str:
    told = [
        f"{title} {_number(value)}"
        for title, value in (("min", numbers.minimum), ("mean", numbers.mean), ("max", numbers.maximum))
    ]
    told.append(f"NaN {numbers.nan:,}")
    if numbers.infinite:
        told.append(f"infinite {numbers.infinite:,}")
    if values.dtype.kind == "b":
        told = [f"true {round((numbers.mean or 0) * numbers.count):,} of {numbers.count:,}"]
    return ("|z|: " if values.dtype.kind == "c" else "") + "   ".join(told)


def _as_json(place: Place, name: str, array: Any, indices: Indices, dtype: str) -> dict[str, Any]:
    found: dict[str, Any] = {"file": place.label, "name": name, "dtype": dtype}
    values = np.asarray(array[indices])
    found |= {"slice": spoken_slice(indices), "shape": list(values.shape), "array_shape": list(array.shape)}
    if has_numbers(values):
        numbers = statistics(values)
        found["statistics"] = {
            "min": numbers.minimum,
            "mean": numbers.mean,
            "max": numbers.maximum,
            "nan": numbers.nan,
            "infinite": numbers.infinite,
        }
    return {**found, "values": json_cells(values)}
