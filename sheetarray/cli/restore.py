"""`sheetarray restore`: writes a workbook anew from its guard, as it was, or with people's edits and all else exact."""

from __future__ import annotations

import click

from .console import count_noun, escape_controls, print_line
from .endpoints import PIPE, place_of, source_endpoint
from .program import UsageProblem


@click.command(short_help="Write a workbook anew from its guard.")
@click.argument("file")
@click.argument("out")
@click.option("--keep-edits", is_flag=True, help="Keep what people have edited; all other elements are exact.")
@click.option("--from", "from_format", metavar="FORMAT", help="The format of FILE, instead of its suffix.")
def restore(file: str, out: str, from_format: str | None, keep_edits: bool) -> None:
    """Write the arrays of FILE to OUT as they were written, from the guard that FILE has (write with guard=True).

    OUT is a workbook (.xlsx), and may be FILE itself; it is replaced as a whole or not at all.

    \b
    Examples:
      sheetarray restore returned.xlsx run.xlsx
      sheetarray restore returned.ods run.xlsx --keep-edits
    """
    if out == PIPE:
        raise UsageProblem("restore writes no pipe", "OUT names the file to write")
    place = source_endpoint(file, from_format)
    names = place.call("restore", place_of(out), keep_edits=keep_edits)
    print_line(f"{escape_controls(out)}: ", bold=True, nl=False)
    click.echo(f"{count_noun(len(names), 'array')} restored{', edits kept' if keep_edits else ''}")
