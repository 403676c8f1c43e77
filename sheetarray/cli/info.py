"""`sheetarray info`: the arrays of a file, from their headers alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from ..api import format_shape
from ..changes.wording import count_noun
from ..columns import ArrayInfo
from ..errors import escape_controls
from .arguments import (
    FILE,
    FormatOptions,
    json_option,
    reading_options,
)
from .console import format_size, make_console, make_table, print_json, print_renderable
from .endpoints import Endpoint, is_many, report_each, source_endpoint
from .program import FINE

if TYPE_CHECKING:
    from rich.table import Table

_FACTS = ("dtype", "shape", "order", "strides", "offset", "capacity", "cells", "location", "parts", "dims")


@click.command(short_help="List the arrays of files.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@reading_options(missing=False)
@json_option
def info(files: tuple[str, ...], reading: FormatOptions, wants_json: bool) -> int:
    """List the arrays of each FILE: name, dtype, shape, dimensions, order, strides, number of cells and location.

    The command reads headers only, so a large file takes no longer. The location is the cell where the header of an
    array begins. A FILE with wildcards stands for all files that match, under a URL too. With --json, one FILE gives an
    object, and several give a list.

    \b
    Examples:
      sheetarray info run.csv
      sheetarray info run.csv --json | jq '.arrays[].name'
      sheetarray info 's3://in/*.csv'
      zcat run.csv.gz | sheetarray info - --from csv
    """

    def report(place: Endpoint) -> tuple[int, dict[str, Any]]:
        arrays = place.call("scan", quiet=wants_json)
        if not wants_json:
            console = make_console()
            print_renderable(console, _format_headline(place, arrays))
            print_renderable(console, _make_table(arrays))
        return FINE, _to_json(place, arrays)

    is_single = len(files) == 1 and not is_many(files[0])
    if is_single:
        status, report_of_file = report(source_endpoint(files[0], reading, "scan"))
        reports: Any = report_of_file
    else:
        status, reports = report_each(files, reading, "scan", report)
    if wants_json:
        print_json(reports)
    return status


def _to_json(place: Endpoint, arrays: Mapping[str, ArrayInfo]) -> dict[str, Any]:
    return {
        "file": place.label,
        "format": place.row.name,
        "bytes": place.size,
        "arrays": [
            {"name": name, **{fact: getattr(array, fact) for fact in _FACTS if getattr(array, fact) is not None}}
            for name, array in arrays.items()
        ],
    }


def _format_headline(place: Endpoint, arrays: Mapping[str, ArrayInfo]) -> Any:
    from rich.text import Text

    size = [format_size(place.size)] if place.size is not None else []
    cells = count_noun(sum(array.cells for array in arrays.values()), "cell")
    headline = ", ".join([place.row.title, *size, count_noun(len(arrays), "array"), cells])
    return Text.assemble((escape_controls(place.label), "bold"), f": {headline}")


def _make_table(arrays: Mapping[str, ArrayInfo]) -> Table:
    """Return the table of arrays, with a column for dimensions, offsets and parts if there are any."""
    from rich.text import Text

    infos = list(arrays.values())
    columns: dict[str, list[Any]] = {
        "name": [Text(escape_controls(name), "cyan") for name in arrays],
        "dtype": [array.dtype for array in infos],
        "shape": [format_shape(array.shape) for array in infos],
        "dims": [Text(escape_controls(", ".join(array.dims or ()))) for array in infos],
        "order": [array.order for array in infos],
        "strides": [", ".join(map(str, array.strides)) or "0" for array in infos],
        "offset": [f"{array.offset:,}" for array in infos],
        "cells": [f"{array.cells:,}" for array in infos],
        "location": [Text(escape_controls(array.location)) for array in infos],
        "parts": [str(array.parts) for array in infos],
    }
    if all(array.dims is None for array in infos):
        del columns["dims"]
    if not any(array.offset for array in infos):
        del columns["offset"]
    if all(array.parts == 1 for array in infos):
        del columns["parts"]
    return make_table([*columns.items()], right=("offset", "cells", "parts"))
