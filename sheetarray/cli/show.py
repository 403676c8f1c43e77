"""`sheetarray show`: the values of an array or a slice of it, and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..api import format_shape, shorten
from ..changes.row_groups import dtype_name
from ..changes.wording import count_noun, format_value
from ..elements import label_text
from ..errors import FormatError, escape_controls, may_be_table
from ..linear.array import to_rectangular
from ..linear.json_lists import to_json_cells
from ..linear.named import select
from ..pages.slices import Indices, SliceError, find_indices, format_slice, parse_slice, slice_to_two_axes, split_labels
from .arguments import FILE, FormatOptions, UsageProblem, json_option, reading_options
from .console import make_console, print_json, print_renderable
from .drawing.statistics import compute_statistics, has_numbers
from .endpoints import Endpoint, source_endpoint
from .pictures import INDENT, AxisHeadings, print_values

if TYPE_CHECKING:
    from rich.console import Console

_ROWS = 12
_BY_INDEX = '--slice "[:, 0]" takes integers, start:stop:step and ...'
_BY_LABEL = '--slice "time=2026-07, lat=47.5" takes exact labels; --slice "0, :" takes indices'
_LONGEST_LABEL = 12


@click.command(short_help="Show the values of an array, and a picture.")
@click.argument("file", type=FILE)
@click.argument("name", required=False)
@click.option(
    "--slice",
    "slice_text",
    metavar="SLICE",
    help='Show a part, as in NumPy: "[:, :, 3]", "0, ::2", "..., -1". By labels: "time=2026-07".',
)
@click.option(
    "--rows", type=click.IntRange(min=1), default=_ROWS, show_default=True, help="Print at most this many rows."
)
@click.option(
    "--columns", type=click.IntRange(min=1), help="Print at most this many columns. The default is as many as fit."
)
@click.option(
    "--picture/--no-picture", default=True, help="Draw a heat map below numbers, or a line for 1-D. On by default."
)
@reading_options()
@json_option
def show(
    file: str,
    name: str | None,
    slice_text: str | None,
    rows: int,
    columns: int | None,
    picture: bool,
    reading: FormatOptions,
    wants_json: bool,
) -> None:
    """Print the values of the array NAME in FILE, and a picture of them.

    You can leave out NAME if FILE holds one array. If an array has more than two axes, you see the two longest, in the
    middle of the others. The heading is NumPy code for the slice that you see.

    The picture is a heat map: in colour if your terminal has 24-bit colour, otherwise in characters. NaN is red, or a
    question mark. For complex numbers it shows magnitudes. With --json you get all values of the array or the slice.

    \b
    Examples:
      sheetarray show run.csv temperature
      sheetarray show run.csv temperature --slice "[:, :, 3]"
      sheetarray show run.csv temperature --slice "-1, ::2" --rows 40
      sheetarray show run.csv temperature --slice "time=2026-07, lat=47.5"
      sheetarray show run.csv temperature --slice "[0]" --json | jq '.values'
    """
    place = source_endpoint(file, reading, "read")
    infos = place.call("scan")
    name_selected = _select_name(name, list(infos), place)
    dims = infos[name_selected].dims if name_selected in infos else None
    with _explaining(name_selected, "`sheetarray info` lists the dimensions"):
        labels = split_labels(slice_text or "", dims)
    if name_selected in infos and labels is None:
        with _explaining(name_selected, _BY_INDEX):  # refused, if at all, before everything is read
            parse_slice(slice_text or "...", infos[name_selected].shape)
    coordinates = [dim for dim in labels or () if dim in infos]
    beside = [dim for dim in dims or () if dim in infos and dim != name_selected and len(infos[dim].shape) == 1]
    try:
        arrays = place.call("read", [name_selected, *coordinates, *beside])
    except FormatError as error:
        if may_be_table(error.reason):  # ordinary tables, of all sheets
            arrays = select(place.open_side().open([name_selected], unreadable={})[0], [name_selected])
        else:  # labels may be damaged, and the array is to be shown all the same
            arrays = place.call("read", [name_selected, *coordinates])
    array = to_rectangular(arrays[name_selected])
    if not isinstance(array, np.ndarray):
        _show_nested(place, name_selected, array, slice_text, wants_json=wants_json)
        return
    shape, dtype = array.shape, dtype_name(array)
    with _explaining(name_selected, _BY_INDEX if labels is None else _BY_LABEL):
        indices = (
            parse_slice(slice_text or "...", shape) if labels is None else find_indices(labels, dims or (), arrays)
        )
    if wants_json:
        print_json(_to_json(place, name_selected, array, indices, dtype))
        return
    console = make_console()
    seen = slice_to_two_axes(indices, shape)
    values = array[seen] if array.ndim else array
    _print_heading(console, name_selected, seen, values, dtype, shape, chose=seen != indices)
    if np.ndim(values) == 0:
        print_renderable(
            console, " " * INDENT + format_value(values if not isinstance(values, np.ndarray) else values[()])
        )
    elif values.size:
        axes = [_label_axis(array.shape, seen, axis, dims, arrays) for axis in _shown_axes(seen)]
        print_values(console, values, rows, columns, axes, picture=picture)
    else:
        print_renderable(console, " " * INDENT + "no elements")


@contextmanager
def _explaining(name: str, hint: str) -> Iterator[None]:
    """Turn an error of a slice into one of the command line, which names the array."""
    try:
        yield
    except SliceError as error:
        raise UsageProblem(f"{name}: {error}", hint) from None


def _show_nested(place: Endpoint, name: str, array: Any, slice_text: str | None, *, wants_json: bool) -> None:
    if slice_text is not None:
        raise UsageProblem(f"{name}: --slice is for arrays that have axes; this is one of {array.type}")
    if wants_json:
        print_json({"file": place.label, "name": name, "dtype": str(array.type), "values": to_json_cells(array)})
        return
    console = make_console()
    print_renderable(console, f"{escape_controls(name)}  {array.type}")
    print_renderable(console, escape_controls(str(array)))


def _select_name(name: str | None, names: list[str], place: Endpoint) -> str:
    available = ", ".join(map(repr, names)) or "none"
    if name is None and len(names) != 1:
        raise UsageProblem(f"{place.label} holds {count_noun(len(names), 'array')}: say which", f"there is {available}")
    return names[0] if name is None else name


def _print_heading(
    console: Console, name: str, seen: Indices, values: Any, dtype: str, shape: tuple[int, ...], *, chose: bool
) -> None:
    from rich.text import Text

    heading = Text.assemble(
        (escape_controls(name), "bold cyan"),
        (format_slice(seen), "bold"),
        f"  {dtype}  {format_shape(np.shape(values))}",
    )
    if np.shape(values) != shape:
        heading.append(f"  of {format_shape(shape)}", "dim")
    print_renderable(console, heading)
    if chose:
        print_renderable(console, Text("the middle of the other axes; --slice shows any part", "dim italic"))


def _shown_axes(seen: Indices) -> list[int]:
    return [axis for axis, index in enumerate(seen) if isinstance(index, slice)]


def _label_axis(
    shape: Sequence[int], seen: Indices, axis: int, dims: Sequence[str] | None, arrays: Mapping[str, Any]
) -> AxisHeadings:
    """Return the headings of the indices along an axis of the picture: their labels, or the indices themselves."""
    index = seen[axis]
    positions = range(shape[axis])[index] if isinstance(index, slice) else range(0)
    labels = arrays.get(dims[axis]) if dims else None
    if not isinstance(labels, np.ndarray) or labels.shape != (shape[axis],):
        return AxisHeadings(list(map(str, positions)), are_labels=False)
    return AxisHeadings([_shorten_label(labels[position]) for position in positions], are_labels=True)


def _shorten_label(value: Any) -> str:
    if isinstance(value, np.datetime64):
        return label_text(value)
    return shorten(f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value), _LONGEST_LABEL)


def _to_json(place: Endpoint, name: str, array: Any, indices: Indices, dtype: str) -> dict[str, Any]:
    report: dict[str, Any] = {"file": place.label, "name": name, "dtype": dtype}
    values = np.asarray(array[indices])
    report |= {"slice": format_slice(indices), "shape": list(values.shape), "array_shape": list(array.shape)}
    if has_numbers(values):
        report["statistics"] = compute_statistics(values)._asdict()
    return {**report, "values": to_json_cells(values)}
