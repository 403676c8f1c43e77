"""`sheetarray check`: every finding in some files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import click

from ..errors import Finding
from .arguments import from_and_read_options, json_option, missing_option, parse_options, refuse_unknown, split_pairs
from .console import count_noun, escape_controls, print_json, print_line, print_wrapped
from .endpoints import PIPE, Endpoint, source_endpoint
from .program import EXPECTED, FAILED, FINDINGS, FINE, UsageProblem, explain_error, print_error, to_cli_options

_COLOURS = {"error": "red", "warning": "yellow"}


@click.command(short_help="Find everything that is wrong in files.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@from_and_read_options
@missing_option
@json_option
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
        raise UsageProblem("standard input can be read only once")
    pairs = split_pairs(read_pairs, missing)
    places = [_open_endpoint(file, from_format) for file in files]
    refuse_unknown([place.row for place in places if isinstance(place, Endpoint)], "check", pairs)
    status, reports = FINE, []
    for file, place in zip(files, places, strict=True):
        try:
            if not isinstance(place, Endpoint):
                raise place
            findings, count = _run_check(place, pairs)
        except (*EXPECTED, UsageProblem) as error:
            print_error(error)
            status = FAILED
            reports.append({"file": file, "ok": False, "error": " ".join(filter(None, explain_error(error)))})
            continue
        status = max(status, FINDINGS if findings else FINE)
        reports.append(_to_json(place, findings, count))
        if not wants_json:
            _print_findings(place, findings, count)
    if wants_json:
        print_json(reports)
    return status


def _open_endpoint(file: str, from_format: str | None) -> Endpoint | Exception:
    """Return the file to check, or the error that will be reported for it."""
    try:
        return source_endpoint(file, from_format, always=False)
    except (OSError, UsageProblem) as error:
        return error


def _run_check(place: Endpoint, pairs: dict[str, str]) -> tuple[list[Finding], int | None]:
    """Check a file. Return its findings, and the number of arrays if nothing was found."""
    findings = place.call("check", **parse_options(place.row, "check", pairs, lenient=True))
    if findings:
        return findings, None
    return [], len(place.call("scan", **parse_options(place.row, "scan", pairs, lenient=True)))


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
            option = "--write" if finding.hint.startswith("write") else "--read"
            print_wrapped(f"           {escape_controls(to_cli_options(finding.hint, option))}", indent=11)


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
