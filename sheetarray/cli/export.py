"""`sheetarray export`: arrays as an ordinary table, plain columns under one row of names."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import click
import numpy as np

from .. import api
from ..errors import locating
from .arguments import FormatName, from_and_read_options, json_option, parse_options, split_pairs
from .comparing import dtype_name
from .console import count_noun, escape_controls, format_size, print_json
from .endpoints import PIPE, Endpoint, source_endpoint, target_endpoint
from .program import UsageProblem
from .progress import watching


@click.command(short_help="Write arrays as an ordinary table, for other programs.")
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
@click.argument("names", nargs=-1)
@click.option("--to", "to_format", metavar="FORMAT", type=FormatName(), help="Format of DST: csv, tsv, xlsx, gsheet.")
@click.option(
    "--write",
    "write_pairs",
    metavar="KEY=VALUE",
    multiple=True,
    help="An option of the table written, such as delimiter=';', sheet=results or mode=a; repeatable.",
)
@from_and_read_options
@json_option
def export(
    source: str,
    target: str,
    names: tuple[str, ...],
    to_format: str | None,
    write_pairs: tuple[str, ...],
    from_format: str | None,
    read_pairs: tuple[str, ...],
    wants_json: bool,
) -> None:
    """Write arrays of SRC, or those NAMES alone, to DST as an ordinary table: one row of names, one column an array.

    The arrays have one dimension and one length. No header of the exchange format is written, so other programs take
    the table as it is; `sheetarray table DST` reads it again, and a warning names each column that would come back as
    something else. `convert` is for what has to come back bit for bit.

    \b
    Examples:
      sheetarray export run.npz run.csv
      sheetarray export run.csv stations.xlsx name latitude longitude --write sheet=stations
      sheetarray export run.csv - --to csv | head
    """
    if wants_json and target == PIPE:
        raise UsageProblem("--json and DST - both want standard output", "leave one of them out")
    origin, goal = source_endpoint(source, from_format), target_endpoint(target, to_format)
    read_options = parse_options(origin.row, "read", split_pairs(read_pairs))
    write_options = parse_options(goal.row, "write_table", split_pairs(write_pairs))
    with watching(origin, "read") as progress:
        arrays = origin.call("read", list(names) or None, **read_options, **progress)
    _check_columns(arrays)
    place: Any = sys.stdout.buffer if target == PIPE else goal.place
    on_screen = target == PIPE and sys.stdout.isatty()
    with watching(goal, "write_table", quiet=on_screen) as progress, locating(source=goal.label):
        options: dict[str, Any] = {**write_options, **progress}
        api.write_table(place, arrays, format=goal.row.name, **options)
    if wants_json:
        print_json(_to_json(origin, goal, arrays))
    else:
        click.echo(_summarize(goal, arrays), err=True)


def _check_columns(arrays: dict[str, Any]) -> None:
    """Refuse arrays that are no columns of one table, and say which are.

    Raises:
        UsageProblem: an array of more or fewer dimensions than one, or of another length.
    """
    columns = [name for name, array in arrays.items() if isinstance(array, np.ndarray) and array.ndim == 1]
    lengths = {name: len(arrays[name]) for name in columns}
    if len(columns) == len(arrays) and len(set(lengths.values())) <= 1:
        return
    heights = Counter(lengths.values())
    alike = [name for name in columns if heights[lengths[name]] > 1]
    hint = f"name those that belong together: {', '.join((alike or columns)[:8])}" if columns else ""
    for name, array in arrays.items():
        if name not in lengths:
            shape = f"the shape {array.shape}" if isinstance(array, np.ndarray) else "rows of rows"
            raise UsageProblem(f"{name} has {shape}, and a column of a table has one dimension", hint)
    first, other = columns[0], next(name for name in columns if lengths[name] != lengths[columns[0]])
    raise UsageProblem(f"{first} has {lengths[first]:,} rows, and {other} has {lengths[other]:,}", hint)


def _height(arrays: dict[str, Any]) -> int:
    return max(map(len, arrays.values()), default=0)


def _summarize(goal: Endpoint, arrays: dict[str, Any]) -> str:
    size = [format_size(goal.size)] if goal.size is not None else []
    summary = ", ".join([count_noun(len(arrays), "column"), count_noun(_height(arrays), "row"), *size])
    return f"{escape_controls(goal.label)}: a table of {summary} ({goal.row.title})"


def _to_json(origin: Endpoint, goal: Endpoint, arrays: dict[str, Any]) -> dict[str, Any]:
    return {
        "source": origin.label,
        "target": goal.label,
        "format": goal.row.name,
        "bytes": goal.size,
        "rows": _height(arrays),
        "columns": [{"name": name, "dtype": dtype_name(array)} for name, array in arrays.items()],
    }
