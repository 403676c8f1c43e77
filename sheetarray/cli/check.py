"""`sheetarray check`: every finding in some files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import click

from ..errors import Finding
from .arguments import as_json, missing, options_of, reading, refuse_unknown, split_pairs
from .console import plural, put_json, say, visible
from .places import PIPE, Place, source_place
from .program import EXPECTED, FAILED, FINE, FOUND, Misuse, as_options, complain, explained
from .progress import watched

_COLOURS = {"error": "red", "warning": "yellow"}


@click.command(short_help="Find everything that is wrong in files.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@reading
@missing
@as_json
def check(
    files: tuple[str, ...],
    from_format: str | None,
    read_pairs: tuple[str, ...],
    missing: str | None,
    wants_json: bool,
) -> int:
    """Look at every header and every cell of each FILE, and list what is wrong.

    An error is something that reading would refuse; a warning is something that it would accept, but that you may
    want to know, such as digits that a spreadsheet program rounded away. Any finding of either kind makes the exit
    status 1. A file that cannot be opened makes it 2; the others are checked all the same.

    \b
    Examples:
      sheetarray check run.csv
      sheetarray check returned/*.csv && echo all intact
      sheetarray check run.csv --json | jq '.[].findings[] | .location'
      cat run.csv | sheetarray check - --from csv
    """
    if files.count(PIPE) > 1:
        raise Misuse("standard input can be read only once")
    pairs = split_pairs(read_pairs, missing)
    places = [_place(file, from_format) for file in files]
    refuse_unknown([place.row for place in places if isinstance(place, Place)], "check", pairs)
    status, told = FINE, []
    for file, place in zip(files, places, strict=True):
        try:
            if not isinstance(place, Place):
                raise place
            findings, count = _checked(place, pairs)
        except (*EXPECTED, Misuse) as error:
            complain(error)
            status = FAILED
            told.append({"file": file, "ok": False, "error": " ".join(filter(None, explained(error)))})
            continue
        status = max(status, FOUND if findings else FINE)
        told.append(_as_json(place, findings, count))
        if not wants_json:
            _put(place, findings, count)
    if wants_json:
        put_json(told)
    return status


def _place(file: str, from_format: str | None) -> Place | Exception:
    """The place, or why it is none; said when its turn comes."""
    try:
        return source_place(file, from_format, always=False)
    except (OSError, Misuse) as error:
        return error


def _checked(place: Place, pairs: dict[str, str]) -> tuple[list[Finding], int | None]:
    """The findings, and how many arrays there are in an intact file."""
    with watched(place, "check") as progress:
        findings = place.call("check", **options_of(place.row, "check", pairs, lenient=True), **progress)
    if findings:
        return findings, None
    return [], len(place.call("scan", **options_of(place.row, "scan", pairs, lenient=True)))


def _put(place: Place, findings: Sequence[Finding], count: int | None) -> None:
    say(f"{visible(place.label)}: ", bold=True, nl=False)
    if count is not None:
        say("ok", fg="green", nl=False)
        click.echo(f" ({plural(count, 'array')})")
        return
    kinds = [finding.severity for finding in findings]
    click.echo(", ".join(plural(kinds.count(kind), kind) for kind in _COLOURS if kind in kinds))
    for finding, after in zip_longest(findings, findings[1:]):
        say(f"  {finding.severity:<7}  ", fg=_COLOURS[finding.severity], nl=False)
        where = f"{visible(finding.location)}  " if finding.location else ""
        say(where, bold=True, nl=False)
        click.echo(visible(finding.message))
        if finding.hint and (after is None or after.hint != finding.hint):  # once for all that it is said of
            option = "--write" if finding.hint.startswith("write") else "--read"
            say(f"           {visible(as_options(finding.hint, option))}", dim=True)


def _as_json(place: Place, findings: Sequence[Finding], count: int | None) -> dict[str, Any]:
    return {
        "file": place.label,
        "ok": not findings,
        "arrays": count,
        "findings": [
            {
                "severity": finding.severity,
                "location": finding.location,
                "array": finding.array,
                "index": None if finding.index is None else list(finding.index),
                "message": finding.message,
                "hint": finding.hint,
            }
            for finding in findings
        ],
    }
