"""`sheetarray adopt` and `restore`: what people have changed, accepted or undone."""

from __future__ import annotations

from typing import Any

import click

from ..columns import ArrayInfo
from .arguments import from_and_read_options, json_option, missing_option, parse_options, split_pairs
from .console import count_noun, escape_controls, format_shape, print_json, print_line
from .endpoints import PIPE, Endpoint, place_of, source_endpoint, target_endpoint
from .program import UsageProblem


@click.command(short_help="Accept rows that people have added or deleted.")
@click.argument("file")
@click.option(
    "-o", "--output", metavar="OUT", help="Where the adopted file goes; FILE itself is replaced unless this says it."
)
@from_and_read_options
@missing_option
@json_option
def adopt(
    file: str,
    output: str | None,
    from_format: str | None,
    read_pairs: tuple[str, ...],
    missing: str | None,
    wants_json: bool,
) -> None:
    """Accept the rows that people have added to the arrays of FILE, or deleted from them.

    Headers are made true to the cells that stand below them; in a workbook the defined names, and the fingerprints that
    `check` compares with, become true too. Everything else in FILE stays as it is, to the byte. FILE is replaced as a
    whole or not at all.
    Workbooks that are only read (.ods, .xls, .xlsb) need an OUT in another format.

    \b
    Examples:
      sheetarray adopt returned.xlsx
      sheetarray adopt returned.csv -o run.csv
      sheetarray adopt returned.ods -o run.xlsx
    """
    place = source_endpoint(file, from_format)
    if place.pipe is not None and output is None:
        raise UsageProblem("a pipe is not adopted in place", "-o names the file to write")
    if output == PIPE:
        raise UsageProblem("adopt writes no pipe", "-o names the file to write")
    goal = place if output is None else target_endpoint(output, None)
    pairs = split_pairs(read_pairs, missing)
    options = parse_options(place.row, "read", {key: text for key, text in pairs.items() if key != "resize"})
    before = place.call("scan", **parse_options(place.row, "scan", pairs, lenient=True))
    infos = place.call("adopt", *([] if output is None else [goal.place]), **options)
    if wants_json:
        print_json(_to_json(place, goal, before, infos))
        return
    print_line(f"{escape_controls(goal.label)}: ", bold=True, nl=False)
    changed = count_noun(len(infos), "array")
    click.echo(f"{changed} adopted" if infos else "no array has another length; nothing to change in the headers")
    for name, info in infos.items():
        shapes = f"{format_shape(before[name].shape)} -> {format_shape(info.shape)}" if name in before else ""
        click.echo(f"  {escape_controls(name)}: {shapes}")


def _to_json(
    place: Endpoint, goal: Endpoint, before: dict[str, ArrayInfo], infos: dict[str, ArrayInfo]
) -> dict[str, Any]:
    return {
        "file": place.label,
        "target": goal.label,
        "arrays": [
            {"name": name, "before": list(before[name].shape) if name in before else None, "shape": list(info.shape)}
            for name, info in infos.items()
        ],
    }


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
