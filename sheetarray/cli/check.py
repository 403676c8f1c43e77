"""`sheetarray check`: what is wrong with files, cell by cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import click

from ..changes.wording import count_noun, join_names
from ..errors import Finding
from ..linear.header import name_element
from .arguments import (
    FILE,
    MOST_LINES,
    FormatOptions,
    all_option,
    json_option,
    print_left_out,
    reading_options,
    to_cli_options,
)
from .console import print_headed, print_json, print_line
from .endpoints import Endpoint, report_each
from .program import FINDINGS, FINE

_COLOURS = {"error": "red", "warning": "yellow"}


@click.command(short_help="Find everything that is wrong in files.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@all_option("findings of each file")
@reading_options()
@json_option
def check(files: tuple[str, ...], wants_all: bool, reading: FormatOptions, wants_json: bool) -> int:
    """Look at every cell of each FILE, and list what is wrong.

    You get an error for what `read` would refuse. You get a warning for what it accepts but you may want to know, such
    as rounded numbers. The first line sums up. Up to 20 lines follow, one for findings that are alike; --all and --json
    give every finding.

    The exit status is 1 if there is any finding. It is 2 if a FILE cannot be opened; the others are still checked. A
    FILE with wildcards stands for all files that match, under a URL too.

    \b
    Examples:
      sheetarray check run.csv
      sheetarray check returned/*.csv && echo all intact
      sheetarray check 's3://in/*.csv'
      sheetarray check run.csv --json | jq '.[].findings[] | .location'
      cat run.csv | sheetarray check - --from csv
    """

    def report(place: Endpoint) -> tuple[int, dict[str, Any]]:
        findings = place.call("check")
        count = None if findings else len(place.call("scan"))
        if not wants_json:
            _print_findings(place, findings, count, wants_all)
        return FINDINGS if findings else FINE, _findings_to_json(place, findings, count)

    status, reports = report_each(files, reading, "check", report)
    if wants_json:
        print_json(reports)
    return status


def _print_findings(place: Endpoint, findings: Sequence[Finding], count: int | None, wants_all: bool) -> None:
    """Print a summary in one line, then the findings.

    Unless all are wanted, findings that are alike take one line, and there are at most `MOST_LINES`.
    """
    print_line(f"{place.label}: ", bold=True, nl=False)
    if count is not None:
        print_line("ok", fg="green", nl=False)
        click.echo(f" ({count_noun(count, 'array')})")
        return
    click.echo(_summarise(findings))
    groups = [[finding] for finding in findings] if wants_all else _group_alike(findings)
    shown = groups[: None if wants_all else MOST_LINES]
    for group, after in zip_longest(shown, shown[1:]):
        finding = group[0]
        print_line(f"  {finding.severity:<7}  ", fg=_COLOURS[finding.severity], nl=False)
        print_headed(f"{finding.location}  " if finding.location else "", finding.message, indent=11, used=11)
        if len(group) > 1:
            more = f"           and {len(group) - 1} more like it: {_list_places(group[1:])}"
            print_headed("", more, indent=11)
        if finding.hint and (after is None or after[0].hint != finding.hint):  # once for all that it is said of
            print_headed("", f"           {to_cli_options(finding.hint, '--read')}", indent=11)
    print_left_out(sum(map(len, groups)) - sum(map(len, shown)), "finding")
    if any(len(group) > 1 for group in shown) and len(shown) == len(groups):
        print_line("--all shows each finding", dim=True)


_FEWEST_ALIKE = 3  # findings that are printed as one
_ADDRESS = r"\(\$?[A-Z]+\$?\d+\)"
_VALUE = r" (?:found|was) (?:'.*'|\S+)$"  # what a cell holds, or held


def _group_alike(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Return the findings in groups of alike ones, such as one value that was typed into many cells.

    Alike findings differ in the array, the element and the address. If this leaves too many groups, they may differ in
    the value of a cell too.
    """
    groups: list[list[Finding]] = []
    for varying in map(re.compile, (_ADDRESS, f"{_ADDRESS}|{_VALUE}")):
        alike: dict[tuple[str, ...], list[Finding]] = {}
        for finding in findings:
            message = varying.sub("", finding.message)
            if finding.array:
                if finding.index is not None:
                    message = message.removeprefix(name_element(finding.array, finding.index))
                message = message.replace(f"{finding.array}[", "[")
            alike.setdefault((finding.severity, finding.hint, message), []).append(finding)
        groups = [
            part
            for group in alike.values()
            for part in ([group] if len(group) >= _FEWEST_ALIKE else [[finding] for finding in group])
        ]
        if len(groups) <= MOST_LINES:
            break
    return groups


def _list_places(findings: Sequence[Finding]) -> str:
    """Return the elements of findings, the first and the last of each array; arrays, if findings have no index."""
    elements: dict[str, list[str]] = {}
    for finding in findings:
        name = finding.array or finding.location or ""
        elements.setdefault(name, []).append(name_element(name, finding.index))
    texts = [places[0] if len(places) == 1 else f"{places[0]} to {places[-1]}" for places in elements.values()]
    return join_names(texts)


def _summarise(findings: Sequence[Finding]) -> str:
    """Return how many findings of each kind there are, and in how many arrays, as far as they name one."""
    kinds = [finding.severity for finding in findings]
    counts = ", ".join(count_noun(kinds.count(kind), kind) for kind in _COLOURS if kind in kinds)
    arrays = {finding.array for finding in findings if finding.array is not None}
    return counts + (f" in {count_noun(len(arrays), 'array')}" if arrays else "")


def _findings_to_json(place: Endpoint, findings: Sequence[Finding], count: int | None) -> dict[str, Any]:
    return {
        "file": place.label,
        "ok": not findings,
        "arrays": count,
        "findings": [
            {fact: getattr(finding, fact) for fact in ("severity", "location", "array", "index", "message", "hint")}
            for finding in findings
        ],
    }
