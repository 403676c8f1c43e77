"""`sheetarray convert` and `export`: read from one place, write to another; arrays, or columns of an ordinary table."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from .. import api
from ..changes.row_groups import dtype_name
from ..changes.wording import count_noun
from ..files import find_places, is_url
from ..formats import format_of
from ..labels import lay_out_labels
from ..scale.conversions import convert as convert_files
from ..scale.conversions import is_conversion_of_many
from .arguments import (
    FILE,
    FormatOptions,
    UsageProblem,
    json_option,
    reading_options,
    storage_options,
    to_cli_options,
    writing_options,
)
from .console import print_json, print_note
from .endpoints import PIPE, Bar, Endpoint, is_many, refusing_values, source_endpoint, target_endpoint
from .program import FINDINGS, FINE

if TYPE_CHECKING:
    from ..scale.conversions.many import Conversions

_FAILURES_SHOWN = 20


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
        return _convert_files(sources, target, names, reading, writing, of_many, wants_json=wants_json)
    if given := [option for option, value in of_many.items() if value is not None]:
        raise UsageProblem(
            f"--{given[0]} is for many files", "name several SRC or a pattern, and a template such as 'out/{stem}.csv'"
        )
    origin, goal = source_endpoint(source, reading, "read"), find_target(target, writing, wants_json=wants_json)
    folder = None if goal.text == PIPE else api.folder_beside(goal.place)
    with origin.opened_arrays(list(names) or None, folder) as (arrays, release):
        url = goal.write(arrays, release=release)
        _report(origin, goal, arrays, url, wants_json=wants_json)
    return FINE


def find_target(text: str, writing: FormatOptions, verb: str = "write", *, wants_json: bool) -> Endpoint:
    """Return the place to write, unless that is where JSON goes too."""
    goal = target_endpoint(text, writing, verb)
    if wants_json and goal.text == PIPE:
        raise UsageProblem("--json and the target - both write to standard output", "leave one of them out")
    return goal


def _report(
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


# As a table ---------------------------------------------------------------------------------------------------------


@click.command(short_help="Write arrays as an ordinary table, for other programs.")
@click.argument("source", metavar="SRC", type=FILE)
@click.argument("target", metavar="DST", type=FILE)
@click.argument("names", nargs=-1)
@click.option("--columns", metavar="DIM", help="Make a column of each label of this dimension.")
@writing_options("Write this format: csv, tsv, xlsx or gsheet.", "delimiter=';', sheet=results or mode=a")
@reading_options(missing=False)
@json_option
def export(
    source: str,
    target: str,
    names: tuple[str, ...],
    columns: str | None,
    writing: FormatOptions,
    reading: FormatOptions,
    wants_json: bool,
) -> None:
    """Write all arrays of SRC to DST as an ordinary table, or only those NAMES.

    The table has one row of names, and one column for each array. The arrays must have one dimension and the same
    length. Arrays with labels may have any shape: the coordinates come first, and each combination of them has a row.

    Other programs can read the table, because it has no header of the exchange format. `sheetarray table DST` reads it
    again. You get a warning for each column that it would read as something else. To get arrays back bit for bit, use
    `run_convert`.

    \b
    Examples:
      sheetarray export run.npz run.csv
      sheetarray export run.csv stations.xlsx name latitude --write sheet=stations
      sheetarray export grid.xlsx wide.xlsx --columns city
      sheetarray export run.csv - --to csv | head
    """
    origin = source_endpoint(source, reading, "read")
    goal = find_target(target, writing, "write_table", wants_json=wants_json)
    arrays = origin.call("read_labelled", list(names) or None)
    if arrays.labels is None and columns is None:
        _check_columns(arrays)
        table, rows = dict(arrays), max(map(len, arrays.values()), default=0)
    else:
        table = lay_out_labels(arrays, columns)
        rows = table.rows
    url = goal.write(table, verb="write_table")
    _report(origin, goal, table, url, wants_json=wants_json, rows=rows)


def _check_columns(arrays: dict[str, Any]) -> None:
    """Raise a `UsageProblem` for arrays that are not columns of one table; it says which are."""
    columns = [name for name, array in arrays.items() if isinstance(array, np.ndarray) and array.ndim == 1]
    lengths = {name: len(arrays[name]) for name in columns}
    if len(columns) == len(arrays) and len(set(lengths.values())) <= 1:
        return
    ((height, count),) = Counter(lengths.values()).most_common(1) or [(0, 0)]
    alike = [name for name in columns if lengths[name] == height]
    hint = f"name those that belong together: {', '.join(alike[:8])}" if count > 1 else ""
    if count == 1:
        hint = f"these arrays have different lengths: name one, such as {columns[0]}"
    for name, array in arrays.items():
        if name not in lengths:
            shape = f"the shape {array.shape}" if isinstance(array, np.ndarray) else "lists in its rows"
            raise UsageProblem(f"{name} has {shape}, and a column of a table has one dimension", hint)
    first, other = columns[0], next(name for name in columns if lengths[name] != lengths[columns[0]])
    raise UsageProblem(f"{first} has {lengths[first]:,} rows, and {other} has {lengths[other]:,}", hint)


# Many files ---------------------------------------------------------------------------------------------------------


def _convert_files(
    sources: tuple[str, ...],
    template: str,
    names: tuple[str, ...],
    reading: FormatOptions,
    writing: FormatOptions,
    where: Mapping[str, Any],
    *,
    wants_json: bool,
) -> int:
    """Convert many files, and return the exit status; `where` says where the work is done and noted."""
    if template == PIPE:
        raise UsageProblem(
            "many files cannot be written to one pipe", "give a template as DST, such as 'out/{stem}.json'"
        )
    if PIPE in sources:
        raise UsageProblem("a pipe is one file, and cannot be converted with others", "convert it alone")
    first, found = sources[0], None
    if len(sources) > 1 and not is_conversion_of_many(first, template):
        raise UsageProblem(
            f"{template} is one target for {len(sources):,} files: name a template, such as 'out/{{stem}}.json'",
            "--name NAME converts only that array",
        )
    if len(sources) > 1:
        found = [
            place
            for text in sources
            for place in (find_places(text, storage_options() if is_url(text) else None) if is_many(text) else [text])
        ]
    options: dict[str, Any] = {
        "reading": reading.parse(format_of(first, reading.format), "read") if reading.texts else {},
        "writing": writing.parse(format_of(template, writing.format), "write") if writing.texts else {},
    }
    storage = storage_options() if any(map(is_url, (*sources, template))) else None
    start = time.monotonic()
    with closing(Bar()) as bar:

        def show(result: Conversions) -> None:
            done = result.done + len(result.failed)
            failed = f", {len(result.failed):,} failed" if result.failed else ""
            rate = done / max(time.monotonic() - start, 1e-3)
            text = f"{result.already + done:,} of {result.total:,} files{failed}, {rate:,.0f} a second"
            bar.update(text, done, result.total - result.already)

        with refusing_values():
            result = convert_files(
                first if found is None else found,
                template,
                list(names) or None,
                from_format=reading.format,
                to_format=writing.format,
                storage_options=storage,
                progress=show if sys.stderr.isatty() else None,
                **where,
                **options,
            )
    if wants_json:
        counts = {"files": result.total, "converted": result.done, "before": result.already}
        print_json({**counts, "failed": [asdict(failure) for failure in result.failed]})
    else:
        _print_result(result, time.monotonic() - start)
    return FINDINGS if result.failed else FINE


def _print_result(result: Conversions, seconds: float) -> None:
    for failure in result.failed[:_FAILURES_SHOWN]:
        message = failure.error if failure.source in failure.error else f"{failure.source}: {failure.error}"
        print_note("failed", to_cli_options(message, "--read"))
    if len(result.failed) > _FAILURES_SHOWN:
        click.echo(f"and {len(result.failed) - _FAILURES_SHOWN:,} more; --json or a manifest lists all", err=True)
    counts = [f"{result.done:,} converted"]
    counts += [f"{result.already:,} before"] if result.already else []
    counts += [f"{len(result.failed):,} failed"] if result.failed else []
    rate = f" ({(result.done + len(result.failed)) / max(seconds, 1e-3):,.0f} a second)" if result.done else ""
    click.echo(f"{count_noun(result.total, 'file')}: {', '.join(counts)}{rate}", err=True)
