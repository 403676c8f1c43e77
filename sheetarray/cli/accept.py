"""`sheetarray accept`, `run_restore` and `run_merge`: what people have changed, accepted, undone or put together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from .. import api
from ..api.changes import Changes
from ..changes.conflicts import Conflict, FileChanges
from ..changes.wording import count_noun, join_names
from ..linear.header import name_element
from .arguments import (
    FILE,
    FROM,
    MOST_LINES,
    FormatOptions,
    UsageProblem,
    all_option,
    json_option,
    print_left_out,
    reading_options,
)
from .console import print_headed, print_json, print_line
from .endpoints import PIPE, place_of, refusing_values, source_endpoint, source_endpoints, target_endpoint
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
    """
    place = source_endpoint(file, reading)
    if place.pipe is not None and output is None:
        raise UsageProblem("a pipe cannot be changed in place", "name the file to write with -o")
    goal = place if output is None else replace(target_endpoint(output, FormatOptions()), given=reading)
    if goal.text == PIPE:
        raise UsageProblem("accept cannot write to a pipe", "name the file to write with -o")
    texts = {key: text for key, text in reading.texts.items() if key != "resize"}
    options = FormatOptions(None, texts).parse(place.row, "read")
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
@FROM
@json_option
def run_restore(file: str, out: str, from_format: str | None, keep_edits: bool, wants_json: bool) -> None:
    """Write the arrays of FILE to OUT as they were before people edited them.

    FILE needs a guard. You write one with `sheetarray convert run.csv run.xlsx --write guard=true`. OUT is an .xlsx
    file, and may be FILE itself. It is replaced whole or not at all.

    \b
    Examples:
      sheetarray restore returned.xlsx run.xlsx
      sheetarray restore returned.ods run.xlsx --keep-edits
    """
    if out == PIPE:
        raise UsageProblem("restore cannot write to a pipe", "name a file as OUT")
    place = source_endpoint(file, FormatOptions(from_format))
    names = place.call("restore", place_of(out), keep_edits=keep_edits)
    if wants_json:
        print_json({"file": place.label, "target": out, "arrays": names, "edits_kept": keep_edits})
        return
    summary = f"{count_noun(len(names), 'array')} restored{', edits kept' if keep_edits else ''}"
    print_headed(f"{out}: ", summary)


# What several people have changed in copies of one file, put together.


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
    places = source_endpoints([base, *returned], reading)
    goal = None if output is None else target_endpoint(output, FormatOptions())
    options: dict[str, Any] = {}
    for place in places:
        options |= reading.parse(place.row, "read", lenient=True)
    with refusing_values():
        merged = api.merge(
            *(place.place for place in places),
            target=None if goal is None else goal.place,
            prefer=prefer,
            choices=choices,
            key=key,
            **options,
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
    for changes in merged.changes:
        print_headed(f"{changes.file}: ", "; ".join(_summarise(changes)) or "no change")
        for one in changes.unreadable[:MOST_LINES]:
            where = ", ".join([*([one.cell] if one.cell else []), name_element(one.array, one.index)])
            print_headed(f"  {where} cannot be read: ", one.text, indent=4)
        print_left_out(len(changes.unreadable) - len(changes.unreadable[:MOST_LINES]), "cell")
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
