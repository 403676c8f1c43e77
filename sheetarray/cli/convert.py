"""`sheetarray convert`: read from one place, write to another."""

from __future__ import annotations

import sys
from typing import Any

import click
import numpy as np

from .. import api
from .arguments import FormatName, as_json, missing, options_of, reading, split_pairs
from .comparing import dtype_name
from .console import plural, put_json, spoken_size, visible
from .places import PIPE, Place, source_place, target_place
from .program import Misuse
from .progress import watched


@click.command(short_help="Convert a file to another format.")
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
@click.argument("names", nargs=-1)
@click.option(
    "--to", "to_format", metavar="FORMAT", type=FormatName(),
    help="Format of DST, if it is - or its suffix does not say it.",
)  # fmt: skip
@click.option(
    "--write", "write_pairs", metavar="KEY=VALUE", multiple=True,
    help="An option of the format written, such as delimiter=';' or bom=true; repeatable.",
)  # fmt: skip
@reading
@missing
@as_json
def convert(
    source: str,
    target: str,
    names: tuple[str, ...],
    to_format: str | None,
    write_pairs: tuple[str, ...],
    from_format: str | None,
    read_pairs: tuple[str, ...],
    missing: str | None,
    wants_json: bool,
) -> None:
    """Convert SRC to DST: all its arrays, or those NAMES alone.

    Values, dtypes and shapes stay as they are; so does the order in memory (row-major or column-major), or a warning
    names the arrays whose order DST's format cannot keep. DST is replaced as a whole once everything is written; a
    conversion that fails leaves it as it was. Options of the formats are those of the Python functions; one that does
    not exist is answered with those that do.

    \b
    Examples:
      sheetarray convert run.csv run.json
      sheetarray convert run.csv two.tsv.gz temperature pressure
      sheetarray convert run.csv excel.csv --write bom=true --write delimiter=";" --write decimal=","
      sheetarray convert returned.csv run.json --missing nan
      cat run.csv | sheetarray convert - - --from csv --to json | jq .temperature
    """
    if wants_json and target == PIPE:
        raise Misuse("--json and DST - both want standard output", "leave one of them out")
    origin, goal = source_place(source, from_format), target_place(target, to_format)
    read_options = options_of(origin.row, "read", split_pairs(read_pairs, missing))
    write_options = options_of(goal.row, "write", split_pairs(write_pairs))
    with watched(origin, "read") as progress:
        arrays = origin.call("read", list(names) or None, **read_options, **progress)
    place: Any = sys.stdout.buffer if target == PIPE else target
    on_screen = target == PIPE and sys.stdout.isatty()
    with watched(goal, "write", quiet=on_screen) as progress:
        try:
            api.write(place, arrays, format=goal.row.name, **write_options, **progress)
        except OSError as error:
            if error.strerror and error.filename is None:  # the system does not say which file
                error.filename = goal.label
            raise
    if wants_json:
        put_json(_as_json(origin, goal, arrays))
    else:
        click.echo(_summary(goal, arrays), err=True)


def _summary(goal: Place, arrays: dict[str, Any]) -> str:
    size = [spoken_size(goal.size)] if goal.size is not None else []
    elements = sum(int(np.size(array)) if isinstance(array, np.ndarray) else len(array) for array in arrays.values())
    told = ", ".join([plural(len(arrays), "array"), plural(elements, "element"), *size])
    return f"{visible(goal.label)}: {told} ({goal.row.title})"


def _as_json(origin: Place, goal: Place, arrays: dict[str, Any]) -> dict[str, Any]:
    return {
        "source": origin.label,
        "target": goal.label,
        "format": goal.row.name,
        "bytes": goal.size,
        "arrays": [
            {"name": name, "dtype": dtype_name(array), "shape": list(getattr(array, "shape", ()))}
            for name, array in arrays.items()
        ],
    }
