"""`sheetarray adopt` and `restore`: what people have changed, accepted or undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import click

from ..columns import ArrayInfo, keeping_unreadable
from ..errors import Finding
from .arguments import FileName, FormatOptions, UsageProblem, json_option, parse_options, reading_options
from .console import count_noun, escape_controls, format_shape, print_json, print_line, print_wrapped
from .endpoints import PIPE, Endpoint, place_of, source_endpoint, target_endpoint
from .program import FINDINGS, FINE


@click.command(short_help="Accept what people have changed.")
@click.argument("file", type=FileName())
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=FileName(),
    help="Where the adopted file goes; FILE itself is replaced unless this says it.",
)
@reading_options()
@json_option
def adopt(file: str, output: str | None, reading: FormatOptions, wants_json: bool) -> int:
    """Accept the rows that people have added to the arrays of FILE, or deleted from them, and what they have edited.

    Headers are made true to the cells that stand below them; in a workbook the defined names, and the fingerprints that
    `check` compares with, become true too. Everything else in FILE stays as it is, to the byte. FILE is replaced as a
    whole or not at all.
    Workbooks that are only read (.ods, .xls, .xlsb) need an OUT in another format. Cells of a sheet that cannot be
    read, such as a blank or n/a, stay as they are; then the exit status is 1.

    \b
    Examples:
      sheetarray adopt returned.xlsx
      sheetarray adopt returned.csv -o run.csv
      sheetarray adopt returned.ods -o run.xlsx
    """
    place = source_endpoint(file, reading.format)
    if place.pipe is not None and output is None:
        raise UsageProblem("a pipe is not adopted in place", "-o names the file to write")
    goal = place if output is None else target_endpoint(output, None)
    if goal.text == PIPE:
        raise UsageProblem("adopt writes no pipe", "-o names the file to write")
    options = parse_options(place.row, "read", {k: text for k, text in reading.texts.items() if k != "resize"})
    before = place.call("scan", **reading.parse(place.row, "scan", lenient=True))
    findings = _check(place, reading)
    with keeping_unreadable("missing") as unreadable:
        infos = place.call("adopt", *([] if output is None else [goal.place]), **options)
    status = FINDINGS if unreadable else FINE
    accepted = _list_accepted(findings, _check(goal, reading) if findings else [], infos)
    if wants_json:
        print_json(_to_json(place, goal, before, infos, accepted))
        return status
    print_line(f"{escape_controls(goal.label)}: ", bold=True, nl=False)
    counts = [f"{count_noun(len(infos), 'array')} adopted"] if infos else []
    counts += [f"{count_noun(len(accepted), 'other change' if infos else 'change')} accepted"] if accepted else []
    click.echo(", ".join(counts) or "no array has another length; nothing to change")
    for name, info in infos.items():
        shapes = f"{format_shape(before[name].shape)} -> {format_shape(info.shape)}" if name in before else ""
        click.echo(f"  {escape_controls(name)}: {shapes}")
    for finding in accepted:
        where = f"{escape_controls(finding.location)}  " if finding.location else ""
        click.echo("  ", nl=False)
        print_wrapped(escape_controls(finding.message), indent=4, head=where, used=2)
    return status


def _check(place: Endpoint, reading: FormatOptions) -> list[Finding]:
    findings: list[Finding] = place.call("check", quiet=True, **reading.parse(place.row, "check", lenient=True))
    return findings


def _list_accepted(
    before: Sequence[Finding], after: Sequence[Finding], infos: Mapping[str, ArrayInfo]
) -> list[Finding]:
    """Return the findings that are gone since a file was adopted, but those of arrays that took another length."""
    left = Counter((finding.array, finding.message) for finding in after)
    gone = [finding for finding in before if not left[finding.array, finding.message]]
    return [finding for finding in gone if not infos or (finding.array is not None and finding.array not in infos)]


def _to_json(
    place: Endpoint,
    goal: Endpoint,
    before: Mapping[str, ArrayInfo],
    infos: Mapping[str, ArrayInfo],
    accepted: Sequence[Finding],
) -> dict[str, Any]:
    return {
        "file": place.label,
        "target": goal.label,
        "arrays": [
            {"name": name, "before": list(before[name].shape) if name in before else None, "shape": list(info.shape)}
            for name, info in infos.items()
        ],
        "accepted": [
            {"location": finding.location, "array": finding.array, "message": finding.message} for finding in accepted
        ],
    }


@click.command(short_help="Write a workbook anew from its guard.")
@click.argument("file", type=FileName())
@click.argument("out", type=FileName())
@click.option("--keep-edits", is_flag=True, help="Keep what people have edited; all other elements are exact.")
@click.option("--from", "from_format", metavar="FORMAT", help="The format of FILE, instead of its suffix.")
@json_option
def restore(file: str, out: str, from_format: str | None, keep_edits: bool, wants_json: bool) -> None:
    """Write the arrays of FILE to OUT as they were written, from the guard that FILE has.

    A guard is there if FILE was written with it: `sheetarray convert run.csv run.xlsx --write guard=true`.
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
    if wants_json:
        print_json({"file": place.label, "target": out, "arrays": names, "edits_kept": keep_edits})
        return
    print_line(f"{escape_controls(out)}: ", bold=True, nl=False)
    click.echo(f"{count_noun(len(names), 'array')} restored{', edits kept' if keep_edits else ''}")
