"""`sheetarray check`: every finding in some files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import click

from ..errors import Finding
from .arguments import FileName, FormatOptions, json_option, reading_options, to_cli_options
from .console import count_noun, escape_controls, print_json, print_line, print_wrapped
from .endpoints import Endpoint, find_sources, report_each
from .program import FINDINGS, FINE

_COLOURS = {"error": "red", "warning": "yellow"}


@click.command(short_help="Find everything that is wrong in files.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FileName())
@reading_options()
@json_option
def check(files: tuple[str, ...], reading: FormatOptions, wants_json: bool) -> int:
    """Look at every header and every cell of each FILE, and list what is wrong.

    An error is something that reading would refuse; a warning is something that it would accept, but that you may
    want to know, such as digits that a spreadsheet program rounded away. Any finding of either kind makes the exit
    status 1. A file that cannot be opened makes it 2; the others are checked all the same. A FILE with wildcards is all
    files that match, under a URL too.

    \b
    Examples:
      sheetarray check run.csv
      sheetarray check returned/*.csv && echo all intact
      sheetarray check 's3://in/*.csv'
      sheetarray check run.csv --json | jq '.[].findings[] | .location'
      cat run.csv | sheetarray check - --from csv
    """

    def report(place: Endpoint) -> tuple[int, dict[str, Any]]:
        findings = place.call("check", **reading.parse(place.row, "check", lenient=True))
        count = None if findings else len(place.call("scan", **reading.parse(place.row, "scan", lenient=True)))
        if not wants_json:
            _print_findings(place, findings, count)
        return FINDINGS if findings else FINE, _to_json(place, findings, count)

    status, reports = report_each(find_sources(files, reading.format), reading, "check", report)
    if wants_json:
        print_json(reports)
    return status


def _print_findings(place: Endpoint, findings: Sequence[Finding], count: int | None) -> None:
    print_line(f"{escape_controls(place.label)}: ", bold=True, nl=False)
    if count is not None:
        print_line("ok", fg="green", nl=False)
        click.echo(f" ({count_noun(count, 'array')})")
        return
    kinds = [finding.severity for finding in findings]
    click.echo(", ".join(count_noun(kinds.count(kind), kind) for kind in _COLOURS if kind in kinds))
    for finding, after in zip_longest(findings, findings[1:]):
        print_line(f"  {finding.severity:<7}  ", fg=_COLOURS[finding.severity], nl=False)
        where = f"{escape_controls(finding.location)}  " if finding.location else ""
        print_wrapped(escape_controls(finding.message), indent=11, head=where, used=11)
        if finding.hint and (after is None or after.hint != finding.hint):  # once for all that it is said of
            print_wrapped(f"           {escape_controls(to_cli_options(finding.hint, '--read'))}", indent=11)


def _to_json(place: Endpoint, findings: Sequence[Finding], count: int | None) -> dict[str, Any]:
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
