"""`sheetarray merge`: what several people have changed in copies of one file, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from .. import api
from ..merging import Conflict, FileChanges
from .arguments import FileName, UsageProblem, json_option
from .console import count_noun, escape_controls, print_json, print_line, print_wrapped
from .endpoints import PIPE, source_endpoints, target_endpoint
from .program import FINDINGS, FINE

MOST_SHOWN = 20  # conflicts that are named, unless --all


@click.command(short_help="Put together what several people have changed.")
@click.argument("base", type=FileName())
@click.argument("returned", nargs=-1, required=True, type=FileName())
@click.option("-o", "--output", metavar="OUT", help="Where the merged arrays go; nothing is written without it.")
@click.option(
    "--prefer",
    metavar="FILE",
    multiple=True,
    help="In conflicts the values of this file stand, one of BASE and RETURNED; may be given more than once.",
)
@click.option("--choices", metavar="FILE", help="The choices that the page of `view --merge` has saved.")
@click.option("--all", "wants_all", is_flag=True, help=f"Name every conflict, not the first {MOST_SHOWN}.")
@json_option
def merge(
    base: str,
    returned: tuple[str, ...],
    output: str | None,
    prefer: tuple[str, ...],
    choices: str | None,
    wants_all: bool,
    wants_json: bool,
) -> int:
    """Put together what several people have changed in copies of BASE; the RETURNED files may be of other formats.

    What one person has changed is taken, and what several have changed alike. Rounding by a program is no change.
    Elements that people have changed differently are conflicts: BASE's value stands until you choose. Rows that
    people have added stand one after the other; rows with the same label are one.

    OUT in the format of BASE is BASE's file with the merged values, and everything else as it was. Nothing is written
    where one of the files cannot be read. The exit status is 1 where conflicts are left.

    \b
    Examples:
      sheetarray merge original.xlsx returned/*.xlsx                    what a merge comes to
      sheetarray merge original.xlsx returned/*.xlsx -o merged.xlsx
      sheetarray merge original.xlsx returned/*.xlsx -o merged.xlsx --prefer returned/ann.xlsx
      sheetarray merge original.xlsx returned/*.xlsx -o merged.xlsx --choices choices.json
    """
    if PIPE in (base, *returned, output):
        raise UsageProblem("merge reads and writes files, no pipe", "name each file")
    places = source_endpoints([base, *returned], None)
    goal = None if output is None else target_endpoint(output, None)
    merged = api.merge(
        *(place.place for place in places),
        target=None if goal is None else goal.place,
        prefer=prefer,
        choices=choices,
    )
    if wants_json:
        print_json({**merged.to_json(), "target": output})
    else:
        _print_summary(merged)
        _print_conflicts(merged, len(merged.conflicts) if wants_all else MOST_SHOWN)
        left = merged.unresolved
        wrote = "nothing is written: -o names the file to write" if output is None else f"{output}: "
        if output is not None:
            wrote += count_noun(len(merged.arrays), "array") + " merged"
            wrote += f"; the values of {merged.base} stand in {count_noun(left, 'conflict')}" if left else ""
        print_wrapped(escape_controls(wrote), indent=2)
    return FINDINGS if merged.unresolved else FINE


def _print_summary(merged: api.MergedFiles) -> None:
    """Print one line for each file: what it changes."""
    for changes in merged.changes:
        text = "; ".join(_summarise(changes)) or "no change"
        print_wrapped(escape_controls(text), indent=2, head=f"{escape_controls(changes.file)}: ")
    total = len(merged.conflicts)
    if total:
        chosen = total - merged.unresolved
        print_line(count_noun(total, "conflict") + (f", {chosen} of them chosen" if chosen else ""), bold=True)


def _summarise(changes: FileChanges) -> list[str]:
    parts = []
    if changes.elements:
        parts.append(f"{count_noun(sum(changes.elements.values()), 'element')} changed in {_names(changes.elements)}")
    for counts, what in ((changes.added, "added"), (changes.deleted, "deleted")):
        by_count: dict[int, list[str]] = {}
        for name, count in counts.items():
            by_count.setdefault(count, []).append(name)
        parts += [f"{count_noun(count, 'row')} {what} in {_names(names)}" for count, names in by_count.items()]
    if changes.moved:
        parts.append(f"rows sorted in {_names(changes.moved)}, which keep the order of the base")
    for names, what in (
        (changes.new, "new"),
        (changes.absent, "not in it, and left as in the base"),
        (changes.other, "of another shape or dtype, compared as a whole"),
    ):
        parts += [f"{_names(names)} {what}"] if names else []
    return parts


def _names(names: Sequence[str] | Mapping[str, Any]) -> str:
    listed = [*names]
    return ", ".join(listed[:5]) + (f" and {len(listed) - 5} more arrays" if len(listed) > 5 else "")


def _print_conflicts(merged: api.MergedFiles, most: int) -> None:
    for conflict in merged.conflicts[:most]:
        element = conflict.array + (f"[{', '.join(map(str, conflict.index))}]" if conflict.index else "")
        where = ", ".join(f"{level} {label}" for level, label in conflict.labels.items())
        print_line(escape_controls(f"{element}" + (f" ({where})" if where else "")))
        if conflict.place.file == merged.base:
            _print_value(conflict, merged.base, conflict.base, stands=conflict.chosen in (None, merged.base))
        for number, (file, value) in enumerate(conflict.values.items()):
            first = conflict.place.file != merged.base and conflict.chosen is None and number == 0
            _print_value(conflict, file, value, stands=first or conflict.chosen == file)
    if len(merged.conflicts) > most:
        print_line(f"and {len(merged.conflicts) - most:,} more conflicts (--all names them)", dim=True)


def _print_value(conflict: Conflict, file: str, value: Any, *, stands: bool) -> None:
    """Print the value that an element has in a file, with the address of its cell."""
    text = api.describe_value(value)
    cell = f", cell {conflict.cells[file]}" if file in conflict.cells else ""
    mark = "  (stands)" if stands else ""
    print_wrapped(escape_controls(f"{text}{cell}{mark}"), indent=6, head=f"  {escape_controls(file)}: ")
