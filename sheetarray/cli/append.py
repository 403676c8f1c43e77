"""`sheetarray append`: rows of one file at the end of the arrays, or of the table, of another one."""

from __future__ import annotations

import click

from ..api.appending import append
from ..changes.wording import count_noun
from ..errors import NO_ARRAY, FormatError
from ..sheets.sheet_choice import TitleOrIndex
from .arguments import FILE, FormatOptions, UsageProblem, json_option, reading_options
from .console import print_headed, print_json, print_line
from .endpoints import PIPE, source_endpoint, target_endpoint
from .running import refusing_values


@click.command("append", short_help="Append rows to arrays or to a table.")
@click.argument("target", type=FILE)
@click.argument("rows", type=FILE)
@click.option("--sheet", metavar="TITLE", help="Append to this sheet of TARGET: its title, or its index from 0.")
@click.option("--table", metavar="NAME", help="Append to the Excel Table of this name in TARGET.")
@reading_options()
@json_option
def run_append(
    target: str, rows: str, sheet: str | None, table: str | None, reading: FormatOptions, wants_json: bool
) -> None:
    """Append the rows in the file ROWS to the arrays, or to the ordinary table, in TARGET.

    All rows arrive, or none. Arrays are found by their names, and arrays that share rows grow together. Headers, names,
    views and checksums of a workbook become true. An ordinary CSV table keeps its delimiter, decimal mark, quotes and
    line ends. The options of --read are those of ROWS.

    \b
    Examples:
      sheetarray append log.csv new.csv
      sheetarray append run.xlsx today.csv
    """
    if target == PIPE:
        raise UsageProblem("append changes a file, and no pipe", "name the file")
    place, goal = source_endpoint(rows, reading), target_endpoint(target, FormatOptions())
    reading.refuse_unknown([place.row], "read", "read_columns")
    try:
        arrays = place.call("read_labelled")
    except FormatError as error:
        if error.reason != NO_ARRAY:
            raise
        arrays = place.call("read_columns")
    with refusing_values():
        lengths = append(goal.place, arrays, sheet=None if sheet is None else TitleOrIndex(sheet), table=table)
    if wants_json:
        print_json({"target": goal.label, "rows": lengths})
        return
    print_headed(f"{goal.label}: ", f"rows appended to {count_noun(len(lengths), 'array')}")
    for name, length in lengths.items():
        print_line(f"  {name}: {count_noun(length, 'row')}")
