"""`sheetarray diff`: which arrays and which elements differ between two files."""

from __future__ import annotations

import click

from ..api.changes import MOST_LISTED, Changes
from ..api.changes_lines import MOST_SHOWN, list_lines, summarise
from ..api.differences import Differences
from ..api.differing import diff_sides
from ..changes.wording import count_noun
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
from .endpoints import source_endpoints
from .program import FINDINGS, FINE


def _check_tolerance(ctx: click.Context, option: click.Parameter, value: float) -> float:
    if not value >= 0:
        raise click.BadParameter("a tolerance is zero or more", ctx, option)
    return value


@click.command("diff", short_help="Compare the arrays of two files.")
@click.argument("a", type=FILE)
@click.argument("b", type=FILE)
@click.argument("names", nargs=-1)
@click.option(
    "--rtol", type=float, default=0, callback=_check_tolerance, help="Relative tolerance of floats; 0 by default."
)
@click.option(
    "--atol", type=float, default=0, callback=_check_tolerance, help="Absolute tolerance of floats; 0 by default."
)
@click.option(
    "--key", multiple=True, help="An array whose values tell which rows belong together; repeat it for several."
)
@all_option("lines of details")
@reading_options()
@json_option
def run_diff(
    a: str,
    b: str,
    names: tuple[str, ...],
    rtol: float,
    atol: float,
    key: tuple[str, ...],
    wants_all: bool,
    reading: FormatOptions,
    wants_json: bool,
) -> int:
    """Compare all arrays of files A and B, or only those NAMES.

    Arrays with the same name are compared by dtype, shape, order and every element. The files may have different
    formats. NaN equals NaN. Strides do not count. The exit status is 1 if anything differs.

    Without a tolerance the comparison is exact, and -0.0 differs from 0.0. With --rtol or --atol, floats are equal if
    |a - b| <= atol + rtol * |b|, as in np.isclose. Differences in dtype and order are then listed but do not count.

    The first line sums up, and up to 20 lines of details follow; --all prints every one. The largest differences come
    first. You see inserted and deleted rows once, with their labels and values. The other rows are compared. If the
    rows of a table were sorted, or all elements changed in the same way, that is one line. Numbers that a program only
    rounded are one line with their count. Cells that cannot be read, such as a blank or #DIV/0!, are listed apart.
    Rows belong together by --key, else by their labels, else by content. Each edit has its labels and its cell in B.
    Indices are those of B; if an element was elsewhere in A, you see its index there too.

    \b
    Examples:
      sheetarray diff run.csv returned.csv
      sheetarray diff run.csv run.json temperature
      sheetarray diff run.csv returned.csv --rtol 1e-14
      cat run.csv | sheetarray diff - run.json --from csv
    """
    places = source_endpoints([a, b], reading, "read_columns")
    if len(places) != 2:
        raise UsageProblem(f"diff takes two files, and you named {len(places)}")
    sides = [place.open_side(reads_all=not names) for place in places]
    most = MOST_LISTED if wants_json or wants_all else MOST_SHOWN
    differences = diff_sides(sides, names, rtol=rtol, atol=atol, key=key, most=most)
    changes = Changes(differences)
    if wants_json:
        print_json(changes.to_dict())
    else:
        _print_differences(differences, everything=wants_all)
    return FINDINGS if changes else FINE


def _print_differences(found: Differences, *, everything: bool) -> None:
    """Print what differs: a summary where several arrays do, then the details."""
    for table in found.sorted_rows:
        print_headed("", table.to_text())
    lines, blocks, silent = list_lines(found, everything=everything)
    if blocks > 1 and (summary := summarise(found)):
        print_headed("", summary)
    most = None if everything else MOST_LINES
    for line in lines[:most]:
        if line.dim:
            print_line(line.text, dim=True)
        else:
            print_headed(line.head, line.text, indent=2 if line.names else 4)
    print_left_out(len(lines) - len(lines[:most]), "line")
    if all(comparison.same for comparison in found.comparisons) and not (
        found.added or found.deleted or found.renamed or found.title_texts or found.remarks
    ):
        other = "other " * bool(found.sorted_rows)
        click.echo(f"no {other}differences ({count_noun(len(found.comparisons), 'array')})")
    elif silent:
        print_line(f"{count_noun(silent, 'other array')} without differences", dim=True)
