"""`sheetarray convert`: reads arrays from one place and writes them to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click
import numpy as np

from .. import api
from ..changes.row_groups import dtype_name
from ..changes.wording import count_noun
from ..scale.conversions import is_conversion_of_many
from .arguments import (
    FILE,
    FormatOptions,
    UsageProblem,
    json_option,
    reading_options,
    writing_options,
)
from .console import print_json
from .convert_many import convert_files
from .endpoints import PIPE, Endpoint, is_many, source_endpoint, target_endpoint
from .program import FINE


@click.command("convert", short_help="Convert a file, or many, to another format.")
@click.argument("sources", metavar="SRC...", nargs=-1, required=True, type=FILE)
@click.argument("target", metavar="DST", type=FILE)
@click.option("--name", "names", metavar="NAME", multiple=True, help="Convert only this array. You can repeat it.")
@writing_options("Write this format, if DST is - or has no known suffix.", "delimiter=';' or bom=true")
@click.option(
    "--views",
    is_flag=True,
    help="For each array of two dimensions or more, add a sheet that shows it slice by slice.",
)
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Convert many files in N processes.")
@click.option("--scheduler", metavar="ADDRESS", help="Convert many files on a dask.distributed cluster.")
@click.option(
    "--manifest",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Record which files are done in this SQLite file. The same command then resumes.",
)
@reading_options()
@json_option
def run_convert(
    sources: tuple[str, ...],
    target: str,
    names: tuple[str, ...],
    writing: FormatOptions,
    views: bool,
    workers: int | None,
    scheduler: str | None,
    manifest: str | None,
    reading: FormatOptions,
    wants_json: bool,
) -> int:
    """Convert all arrays of SRC to DST, or the arrays that --name names.

    Values, dtypes, shapes, labels and order stay as they are. If the format of DST cannot keep one of them, you get a
    warning. DST is replaced whole when everything is written. If the conversion fails, DST stays as it was.

    --read and --write take every option of the Python functions. If you mistype one, the error lists those that exist.

    If there are several SRC, or SRC has wildcards, each file is converted. DST then names each target with {stem},
    {name} or {index}. Files that fail are skipped and listed at the end, with exit status 1.

    If DST is gsheets://new?title=TITLE, a Google spreadsheet is made. Its URL is printed.

    \b
    Examples:
      sheetarray convert run.csv run.json
      sheetarray convert run.csv two.tsv.gz --name temperature --name pressure
      sheetarray convert run.csv excel.csv --write bom=true --write delimiter=";"
      sheetarray convert run.csv run.xlsx --views
      sheetarray convert run.csv 'gsheets://new?title=Run 12&share=me@example.org'
      sheetarray convert returned.csv run.json --missing nan
      cat run.csv | sheetarray convert - - --from csv --to json | jq .temperature
      sheetarray convert 's3://in/*.csv' 's3://out/{stem}.avro' --workers 8 \\
          --manifest done.sqlite
    """
    writing = replace(writing, texts={**writing.texts, **({"views": "true"} if views else {})})
    of_many = {"workers": workers, "scheduler": scheduler, "manifest": manifest}
    source = sources[0]
    if len(sources) > 1 or is_many(source) or (source != PIPE and is_conversion_of_many(source, target)):
        return convert_files(sources, target, names, reading, writing, of_many, wants_json=wants_json)
    if given := [option for option, value in of_many.items() if value is not None]:
        raise UsageProblem(
            f"--{given[0]} is for many files", "name several SRC or a pattern, and a template such as 'out/{stem}.csv'"
        )
    origin, goal = source_endpoint(source, reading, "read"), find_target(target, writing, wants_json=wants_json)
    folder = None if goal.text == PIPE else api.folder_beside(goal.place)
    arrays, release = origin.call("open_arrays", list(names) or None, folder=folder)
    url = goal.write(arrays, release=release)
    report_converted(origin, goal, arrays, url, wants_json=wants_json)
    return FINE


def find_target(text: str, writing: FormatOptions, verb: str = "write", *, wants_json: bool) -> Endpoint:
    """Return the place to write, unless that is where JSON goes too."""
    goal = target_endpoint(text, writing, verb)
    if wants_json and goal.text == PIPE:
        raise UsageProblem("--json and the target - both write to standard output", "leave one of them out")
    return goal


def report_converted(
    origin: Endpoint,
    goal: Endpoint,
    arrays: Mapping[str, Any],
    url: str | None,
    *,
    wants_json: bool,
    rows: int | None = None,
) -> None:
    """Print what was written, in one line or as JSON.

    `url`: of a sheet in a service. `rows`: the number of rows, if the arrays are the columns of a table.
    """
    if wants_json:
        listed: list[dict[str, Any]] = [{"name": name, "dtype": dtype_name(array)} for name, array in arrays.items()]
        if rows is None:
            for entry, array in zip(listed, arrays.values(), strict=True):
                entry["shape"] = list(getattr(array, "shape", ()))
        content = {"arrays": listed} if rows is None else {"rows": rows, "columns": listed}
        facts = {"source": origin.label, "target": goal.label, "format": goal.row.name, "bytes": goal.size, "url": url}
        print_json({**facts, **content})
    elif rows is None:
        elements = sum(array.size if isinstance(array, np.ndarray) else len(array) for array in arrays.values())
        goal.print_written(url, count_noun(len(arrays), "array"), count_noun(elements, "element"))
    else:
        goal.print_written(url, f"a table of {count_noun(len(arrays), 'column')}", count_noun(rows, "row"))
