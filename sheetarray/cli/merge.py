"""`sheetarray merge`: what several people have changed in copies of one file, put together."""

from __future__ import annotations

from typing import Any

import click

from .. import api
from ..changes.conflicts import Conflict, FileChanges
from ..changes.wording import count_noun, join_names
from ..linear.header import name_element
from .arguments import (
    FILE,
    MOST_LINES,
    FormatOptions,
    UsageProblem,
    all_option,
    json_option,
    print_left_out,
    reading_options,
)
from .console import print_headed, print_json, print_line
from .endpoints import PIPE, merging_options, source_endpoints, target_endpoint
from .program import FINDINGS, FINE
from .running import refusing_values


@click.command("merge", short_help="Merge what several people changed.")
@click.argument("base", type=FILE)
@click.argument("returned", nargs=-1, required=True, type=FILE)
@click.option("-o", "--output", metavar="OUT", help="Write the merged arrays to OUT. Without it, nothing is written.")
@click.option(
    "--prefer",
    metavar="FILE",
    multiple=True,
    help="Resolve conflicts with the values of this file. You can repeat it: the first one wins.",
)
@click.option(
    "--choices", metavar="FILE", help="Resolve conflicts with the choices that you saved on the page of `page --merge`."
)
@click.option(
    "--key", multiple=True, help="An array whose values tell which rows belong together; repeat it for several."
)
@all_option("conflicts")
@reading_options()
@json_option
def run_merge(
    base: str,
    returned: tuple[str, ...],
    output: str | None,
    prefer: tuple[str, ...],
    choices: str | None,
    key: tuple[str, ...],
    wants_all: bool,
    reading: FormatOptions,
    wants_json: bool,
) -> int:
    """Merge what several people changed in copies of BASE.

    You sent BASE to several people, and they sent the RETURNED files, perhaps in other formats. A change by one person
    is taken, and so is a change that several people made alike. Rounding by a program is no change. If people changed
    an element differently, that is a conflict: BASE's value stays until you choose. Added rows follow each other. Rows
    with the same label are one row.

    A blank cell is a change where the dtype has a missing value, such as NaN. Other cells that cannot be read are
    listed, and BASE's values stay. If OUT has the format of BASE, everything but the values stays as in BASE. If one of
    the files cannot be opened, nothing is written. OUT may be BASE, but none of the RETURNED files. The exit status is
    1 if conflicts or cells that cannot be read are left.

    A file of choices is a list of objects, or an object with such a list as "choices". Each object has "array",
    "index", "of" (the file in whose array the index counts) and "choose" (the file whose value stands).

    \b
    Examples:
      sheetarray merge sent.xlsx returned/*.xlsx            (lists conflicts)
      sheetarray merge sent.xlsx returned/*.xlsx -o merged.xlsx
      sheetarray merge sent.xlsx returned/*.xlsx -o merged.xlsx \\
          --prefer returned/ann.xlsx
      sheetarray merge sent.xlsx returned/*.xlsx -o merged.xlsx \\
          --choices choices.json
    """
    if PIPE in (base, *returned, output):
        raise UsageProblem("merge reads and writes files, not pipes", "name each file")
    places = source_endpoints([base, *returned], reading, "read_columns")
    goal = None if output is None else target_endpoint(output, FormatOptions())
    with refusing_values():
        merged = api.merge(
            *(place.place for place in places),
            target=None if goal is None else goal.place,
            prefer=prefer,
            choices=choices,
            key=key,
            **merging_options(places),
        )
    if wants_json:
        print_json({**merged.to_json(), "target": output, "url": merged.url})
    else:
        if merged.url is not None:
            print_line(merged.url)
        _print_summary(merged)
        _print_conflicts(merged, None if wants_all else MOST_LINES)
        left = merged.unresolved
        wrote = "nothing was written: name the file to write with -o" if output is None else f"{output}: "
        if output is not None:
            wrote += count_noun(len(merged.arrays), "array") + " merged"
            wrote += f"; {count_noun(left, 'conflict')} with the values of {merged.base}" if left else ""
        print_headed("", wrote)
    return FINDINGS if merged.unresolved or merged.unreadable else FINE


def _print_summary(merged: api.Merged) -> None:
    """Print one line for each file: what it changes."""
    for changes in merged.files:
        print_headed(f"{changes.file}: ", "; ".join(_summarise(changes)) or "no change")
        for lost in changes.unreadable[:MOST_LINES]:
            where = ", ".join([*([lost.cell] if lost.cell else []), name_element(lost.array, lost.index)])
            print_headed(f"  {where} cannot be read: ", lost.text, indent=4)
        print_left_out(len(changes.unreadable) - len(changes.unreadable[:MOST_LINES]), "cell")
        for remark in changes.remarks[:MOST_LINES]:
            print_headed(
                f"  {remark.cell} is beside the arrays, and not merged: ", remark.text or "blank now", indent=4
            )
        print_left_out(len(changes.remarks) - len(changes.remarks[:MOST_LINES]), "cell")
    total = len(merged.conflicts)
    if total:
        chosen = total - merged.unresolved
        print_line(count_noun(total, "conflict") + (f", {chosen} of them chosen" if chosen else ""), bold=True)


def _summarise(changes: FileChanges) -> list[str]:
    parts = [f"{before} renamed to {now}" for before, now in changes.renamed.items()]
    if changes.elements:
        count = count_noun(sum(changes.elements.values()), "element")
        parts.append(f"{count} changed in {join_names([*changes.elements])}")
    for counts, what in ((changes.added, "added"), (changes.deleted, "deleted")):
        by_count: dict[int, list[str]] = {}
        for name, rows in counts.items():
            by_count.setdefault(rows, []).append(name)
        parts += [f"{count_noun(rows, 'row')} {what} in {join_names(names)}" for rows, names in by_count.items()]
    if changes.moved:
        parts.append(f"rows sorted in {join_names(changes.moved)} (the result has the order of the base)")
    for names, what in (
        (changes.new, "new"),
        (changes.absent, "missing (the result has the array of the base)"),
        (changes.other, "of another shape or dtype (compared as a whole)"),
    ):
        parts += [f"{join_names(names)} {what}"] if names else []
    return parts


def _print_conflicts(merged: api.Merged, most: int | None) -> None:
    for conflict in merged.conflicts[:most]:
        where = ", ".join(f"{level} {label}" for level, label in conflict.labels.items())
        element = name_element(conflict.array, conflict.index)
        print_line(element + (f" ({where})" if where else ""))
        if conflict.place.file == merged.base:
            _print_value(conflict, merged.base, conflict.base, stands=conflict.chosen in (None, merged.base))
        for number, (file, value) in enumerate(conflict.values.items()):
            first = conflict.place.file != merged.base and conflict.chosen is None and number == 0
            _print_value(conflict, file, value, stands=first or conflict.chosen == file)
    print_left_out(len(merged.conflicts) - len(merged.conflicts[:most]), "conflict")


def _print_value(conflict: Conflict, file: str, value: Any, *, stands: bool) -> None:
    """Print the value that an element has in a file, with the address of its cell."""
    text = api.describe_value(value)
    cell = f", cell {conflict.cells[file]}" if file in conflict.cells else ""
    mark = "  (stands)" if stands else ""
    print_headed(f"  {file}: ", f"{text}{cell}{mark}", indent=6)
