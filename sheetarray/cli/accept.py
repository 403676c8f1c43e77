"""`sheetarray accept` and `restore`: what people have changed in a file, accepted or undone."""

from __future__ import annotations

from dataclasses import replace

import click

from ..api.changes import Changes
from ..changes.wording import count_noun
from .arguments import (
    FILE,
    FormatOptions,
    UsageProblem,
    json_option,
    reading_options,
)
from .console import print_headed, print_json
from .endpoints import PIPE, place_of, source_endpoint, target_endpoint
from .program import FINDINGS, FINE


@click.command("accept", short_help="Accept what people changed.")
@click.argument("file", type=FILE)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=FILE,
    help="Write the result to OUT. By default, FILE is replaced.",
)
@reading_options()
@json_option
def run_accept(file: str, output: str | None, reading: FormatOptions, wants_json: bool) -> int:
    """Accept the rows that people added to FILE or deleted from it, and the elements that they edited.

    The command corrects the headers, so that they fit the cells below them. In a workbook it also corrects defined
    names and checksums. Everything else in FILE stays as it is, byte for byte. FILE is replaced whole or not at all.

    .ods, .xls and .xlsb files can only be read, so name an OUT in another format. Cells that cannot be read, such as a
    blank or n/a, stay as they are, and the exit status is 1.

    \b
    Examples:
      sheetarray accept returned.xlsx
      sheetarray accept returned.csv -o run.csv
      sheetarray accept returned.ods -o run.xlsx
      sheetarray accept returned.xlsx --read sheet=north
    """
    place = source_endpoint(file, reading)
    if place.pipe is not None and output is None:
        raise UsageProblem("a pipe cannot be changed in place", "name the file to write with -o")
    goal = place if output is None else replace(target_endpoint(output, FormatOptions()), given=reading)
    if goal.text == PIPE:
        raise UsageProblem("accept cannot write to a pipe", "name the file to write with -o")
    texts = {key: text for key, text in reading.texts.items() if key != "resize"}
    verb = "accept" if goal.row.name == place.row.name else "read"
    options = FormatOptions(None, texts).parse(place.row, verb)
    changes: Changes = place.call("accept", *([] if output is None else [goal.place]), **options)
    status = FINDINGS if changes.unreadable else FINE
    if wants_json:
        print_json({"file": place.label, "target": goal.label, "changes": changes.to_dict()})
        return status
    summary, *lines = repr(changes).splitlines()
    print_headed(f"{goal.label}: ", f"accepted: {summary}" if changes else "accepted as it is")
    for line in lines if changes else ():
        print_headed("", f"  {line}", indent=4)
    return status


@click.command("restore", short_help="Write a workbook as it was, from its guard.")
@click.argument("file", type=FILE)
@click.argument("out", type=FILE)
@click.option("--keep-edits", is_flag=True, help="Keep the elements that people edited; all others are exact.")
@reading_options()
@json_option
def run_restore(file: str, out: str, reading: FormatOptions, keep_edits: bool, wants_json: bool) -> None:
    """Write the arrays of FILE to OUT as they were before people edited them.

    FILE needs a guard. You write one with `sheetarray convert run.csv run.xlsx --write guard=true`. OUT is an .xlsx
    file, and may be FILE itself. It is replaced whole or not at all.

    \b
    Examples:
      sheetarray restore returned.xlsx run.xlsx
      sheetarray restore returned.ods run.xlsx --keep-edits
      sheetarray restore returned.xlsx run.xlsx --read sheet=north
    """
    if out == PIPE:
        raise UsageProblem("restore cannot write to a pipe", "name a file as OUT")
    place = source_endpoint(file, reading)
    names = place.call("restore", place_of(out), keep_edits=keep_edits, **reading.parse(place.row, "restore"))
    if wants_json:
        print_json({"file": place.label, "target": out, "arrays": names, "edits_kept": keep_edits})
        return
    summary = f"{count_noun(len(names), 'array')} restored{', edits kept' if keep_edits else ''}"
    print_headed(f"{out}: ", summary)
