"""`sheetarray export`: arrays or columns of a table -> an ordinary table."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click
import numpy as np

from ..errors import FormatError, may_be_table
from ..labels import LabelledArrays, lay_out_labels
from .arguments import (
    FILE,
    FormatOptions,
    UsageProblem,
    json_option,
    reading_options,
    writing_options,
)
from .convert import find_target, report_converted
from .endpoints import source_endpoint


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
    If SRC is an ordinary table, its columns are written.

    Other programs can read the table, because it has no header of the exchange format. `sheetarray table DST` reads it
    again. You get a warning for each column that it would read as something else. To get arrays back bit for bit, use
    `run_convert`.

    \b
    Examples:
      sheetarray export run.npz run.csv
      sheetarray export run.csv stations.xlsx name latitude --write sheet=stations
      sheetarray export grid.xlsx wide.xlsx --columns city
      sheetarray export run.csv - --to csv | head
      sheetarray export log.csv 'gsheets://new?title=log'
    """
    origin = source_endpoint(source, reading)
    reading.refuse_unknown([origin.row], "read", "read_columns")
    goal = find_target(target, writing, "write_table", wants_json=wants_json)
    try:
        arrays = origin.call("read_labelled", list(names) or None)
    except FormatError as error:
        if columns is not None or not may_be_table(error.reason):
            raise
        options = reading.parse(origin.row, "read_columns", lenient=True)
        arrays = LabelledArrays(origin.call("read_columns", list(names) or None, **options), None)
    if arrays.labels is None and columns is None:
        _check_columns(arrays)
        table, rows = dict(arrays), max(map(len, arrays.values()), default=0)
    else:
        table = lay_out_labels(arrays, columns, north_up=goal.row.records_tables)
        rows = table.rows
    url = goal.write(table, verb="write_table")
    report_converted(origin, goal, table, url, wants_json=wants_json, rows=rows)


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
