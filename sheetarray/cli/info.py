"""`sheetarray info`: the arrays of a file, from their headers alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal

import click

from ..columns import ArrayInfo
from .arguments import from_and_read_options, json_option, parse_options, split_pairs
from .console import (
    count_noun,
    escape_controls,
    format_shape,
    format_size,
    line_width,
    make_console,
    print_json,
    print_renderable,
)
from .endpoints import Endpoint, source_endpoint

if TYPE_CHECKING:
    from rich.table import Table

_LEAST_NAME = 20  # characters of names that stand in one line, however narrow the terminal is


@click.command(short_help="List the arrays of a file.")
@click.argument("file")
@from_and_read_options
@json_option
def info(file: str, from_format: str | None, read_pairs: tuple[str, ...], wants_json: bool) -> None:
    """List the arrays of FILE: name, dtype, shape, dimensions, order, strides, cells and where they stand.

    Only headers are read, so it takes no longer for a large file. `location` is the cell of each array's first
    header field.

    \b
    Examples:
      sheetarray info run.csv
      sheetarray info run.csv --json | jq '.arrays[].name'
      zcat run.csv.gz | sheetarray info - --from csv
    """
    place = source_endpoint(file, from_format)
    arrays = place.call("scan", quiet=wants_json, **parse_options(place.row, "scan", split_pairs(read_pairs)))
    if wants_json:
        print_json(_to_json(place, arrays))
        return
    console = make_console()
    print_renderable(console, _format_headline(place, arrays))
    print_renderable(console, make_fitting_table(arrays, line_width(console)))


def _to_json(place: Endpoint, arrays: Mapping[str, ArrayInfo]) -> dict[str, Any]:
    return {
        "file": place.label,
        "format": place.row.name,
        "bytes": place.size,
        "arrays": [
            {
                "name": name,
                "dtype": array.dtype,
                "shape": list(array.shape),
                "order": array.order,
                "strides": list(array.strides),
                "offset": array.offset,
                "capacity": array.capacity,
                "cells": array.cells,
                "location": array.location,
                "parts": array.parts,
                **({} if array.dims is None else {"dims": list(array.dims)}),
            }
            for name, array in arrays.items()
        ],
    }


def _format_headline(place: Endpoint, arrays: Mapping[str, ArrayInfo]) -> Any:
    from rich.text import Text

    size = [format_size(place.size)] if place.size is not None else []
    cells = count_noun(sum(array.cells for array in arrays.values()), "cell")
    headline = ", ".join([place.row.title, *size, count_noun(len(arrays), "array"), cells])
    return Text.assemble((escape_controls(place.label), "bold"), f": {headline}")


def make_fitting_table(arrays: Mapping[str, ArrayInfo], width: int | None) -> Table:
    """Return the table of arrays, in a narrow terminal without strides and order, so that names stay whole."""
    table = _make_table(arrays)
    if width is not None:
        from rich.console import Console

        wide = Console(width=10**4)
        for left_out in (("strides",), ("strides", "order")):
            if wide.measure(table).maximum <= width:
                break
            table = _make_table(arrays, left_out)
    return table


def _make_table(arrays: Mapping[str, ArrayInfo], left_out: Collection[str] = ()) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    offsets = any(array.offset for array in arrays.values())
    parts = any(array.parts > 1 for array in arrays.values())
    dims = any(array.dims is not None for array in arrays.values())
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold")
    for title, right in (
        ("name", False),
        ("dtype", False),
        ("shape", False),
        *((("dims", False),) if dims else ()),
        *((title, False) for title in ("order", "strides") if title not in left_out),
        *((("offset", True),) if offsets else ()),
        ("cells", True),
        ("location", False),
        *((("parts", True),) if parts else ()),
    ):
        is_folded = title in ("name", "dims", "strides")
        least = min(max(map(len, arrays), default=0), _LEAST_NAME) if title == "name" else None
        justify: Literal["left", "right"] = "right" if right else "left"
        table.add_column(title, justify=justify, overflow="fold", no_wrap=not is_folded, min_width=least)
    for name, array in arrays.items():
        table.add_row(
            Text(escape_controls(name), "cyan"),
            array.dtype,
            format_shape(array.shape),
            *((Text(escape_controls(", ".join(array.dims or ()))),) if dims else ()),
            *((array.order,) if "order" not in left_out else ()),
            *((", ".join(map(str, array.strides)) or "0",) if "strides" not in left_out else ()),
            *((f"{array.offset:,}",) if offsets else ()),
            f"{array.cells:,}",
            Text(escape_controls(array.location)),
            *((str(array.parts),) if parts else ()),
        )
    return table
