"""`sheetarray diff`: which arrays and which elements differ between two files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import click
import numpy as np

from ..api import format_shape
from ..changes.compare import Comparison, DifferingElement, compare
from ..changes.row_groups import align_tables_of, describe_rows
from ..columns import MOST_NAMED, ArrayInfo, describe_row
from ..elements import label_text
from ..errors import FormatError, NotFoundError
from ..labels import DatasetLabels, compare_labels, reading_labels
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
from .console import count_noun, join_names, print_headed, print_json, print_line
from .endpoints import Endpoint, source_endpoints
from .program import FINDINGS, FINE
from .values import format_value, to_json_cells

MOST_SHOWN, MOST_IN_JSON = 10, 100_000  # differing elements of an array that are named, of --all the latter


def _check_tolerance(ctx: click.Context, option: click.Parameter, value: float) -> float:
    if not value >= 0:
        raise click.BadParameter("a tolerance is zero or more", ctx, option)
    return value


@click.command(short_help="Compare the arrays of two files.")
@click.argument("a", type=FILE)
@click.argument("b", type=FILE)
@click.argument("names", nargs=-1)
@click.option(
    "--rtol", type=float, default=0, callback=_check_tolerance, help="Relative tolerance of floats; 0 by default."
)
@click.option(
    "--atol", type=float, default=0, callback=_check_tolerance, help="Absolute tolerance of floats; 0 by default."
)
@all_option("lines of details")
@reading_options()
@json_option
def diff(
    a: str,
    b: str,
    names: tuple[str, ...],
    rtol: float,
    atol: float,
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
    Indices are those of B; if an element was elsewhere in A, you see its index there too.

    \b
    Examples:
      sheetarray diff run.csv returned.csv
      sheetarray diff run.csv run.json temperature
      sheetarray diff run.csv returned.csv --rtol 1e-14
      cat run.csv | sheetarray diff - run.json --from csv
    """
    places = source_endpoints([a, b], reading)
    if len(places) != 2:
        raise UsageProblem(f"diff takes two files, and you named {len(places)}")
    held, described = [], []
    for place in places:
        with reading_labels() as description:
            held.append(dict(place.call("scan")))
        described.append(description.labels)
    wanted = _select_names(names, held)
    common = [name for name in wanted if name in held[0] and name in held[1]]
    how: dict[str, Any] = {"rtol": rtol, "atol": atol, "names_noise": wants_json}
    how["most"] = MOST_IN_JSON if wants_json or wants_all else MOST_SHOWN
    compared: list[Comparison] = []
    with ExitStack() as stack:
        errors: tuple[dict[str, Any], dict[str, Any]] = {}, {}
        opened = [
            stack.enter_context(place.opened_arrays(common, unreadable=unreadable))
            for place, unreadable in zip(places, errors, strict=True)
        ]
        (before, _), (now, _) = opened

        def release() -> None:
            for _, release_one in opened:
                release_one()

        whole = [name for name in common if name not in errors[0] and name not in errors[1]]
        sorted_rows, alignments = align_tables_of({name: (before[name], now[name]) for name in whole})
        for name in common:
            how |= {"errors": [some.get(name) for some in errors], "alignment": alignments.get(name)}
            compared.append(compare(name, before[name], now[name], release=release, **how))
        before = now = {}  # before their maps are closed
        opened.clear()
    only = {name: places[name not in held[0]] for name in wanted if name not in common}
    labels = [] if names else compare_labels(described, [place.label for place in places])
    same = not (only or sorted_rows) and all(comparison.same for comparison in compared)
    if wants_json:
        moved = [{"by": table.by, "arrays": table.names, "rows": table.order.tolist()} for table in sorted_rows]
        print_json({**_to_json(places, compared, only), "same": same, "labels": labels, "sorted": moved})
    else:
        for table in sorted_rows:
            print_headed("", table.to_text())
        rows = _describe_rows(compared, held, described)
        _print_comparisons(compared, only, rows, most=None if wants_all else MOST_LINES, is_sorted=bool(sorted_rows))
        for text in labels:
            print_line(text)
    if labels and None not in described:  # a format that keeps none is no difference
        return FINDINGS
    return FINE if same else FINDINGS


def _select_names(names: Sequence[str], held: Sequence[Mapping[str, ArrayInfo]]) -> list[str]:
    names_present = list(dict.fromkeys([*held[0], *held[1]]))
    for name in names:
        if name not in names_present:
            raise NotFoundError(
                f"no array {name!r} in either file; there is {', '.join(map(repr, names_present)) or 'none'}"
            )
    return list(dict.fromkeys(names)) or names_present


def _print_comparisons(
    compared: Sequence[Comparison],
    only: dict[str, Endpoint],
    rows: Mapping[str, list[_Line]],
    *,
    most: int | None,
    is_sorted: bool,
) -> None:
    """Print what differs: a summary where several arrays do, then the details.

    `rows`: lines on rows that were added or deleted, by the array below whose line they stand. `most`: the largest
    number of lines of details; None for all. `is_sorted`: whether rows were told to be sorted.
    """
    blocks = [([name], f"only in {place.label}", list[_Line]()) for name, place in only.items()]
    alike: dict[str, list[str]] = {}  # the names of arrays of which the same is to be said, such as a new row
    silent = {comparison.name for comparison in compared if comparison.same and not _format_layouts(comparison)}
    for comparison in compared:
        if comparison.name in silent:
            continue
        text, own = _format_comparison(comparison), rows.get(comparison.name, [])
        below = _describe_elements(comparison) if comparison.explanation is None or most is None else []
        if not own and not below and text in alike:
            alike[text].append(comparison.name)
            continue
        blocks.append(([comparison.name], text, [*own, *below]))
        if not below:
            alike[text] = blocks[-1][0]
    if len(blocks) > 1 and (summary := _summarise(compared, only)):
        print_headed("", summary)
    lines = [line for names, text, below in blocks for line in (_Line(text, names), *below)]
    for line in lines[:most]:
        if line.dim:
            print_line(line.text, dim=True)
        else:
            head = f"{join_names(line.names)}: " if line.names else ""
            print_headed(head, line.text, indent=2 if line.names else 4)
    print_left_out(len(lines) - len(lines[:most]), "line")
    if all(comparison.same for comparison in compared) and not only:
        click.echo(f"no {'other ' * is_sorted}differences ({count_noun(len(compared), 'array')})")
    elif silent:
        print_line(f"{count_noun(len(silent), 'other array')} without differences", dim=True)


class _Line(NamedTuple):
    """A line of details, and the names of the arrays that it is of; without names it stands below such a line."""

    text: str
    names: Sequence[str] = ()
    dim: bool = False


def _summarise(compared: Sequence[Comparison], only: Mapping[str, Endpoint]) -> str:
    """Return a line of what differs: rows first, then elements, then all else; each with the names of its arrays."""
    parts = []
    for describe in (_format_changed_rows, lambda one: [one.explanation] if one.explanation else []):
        found: dict[str, list[str]] = {}
        for one in compared:
            for what in describe(one):
                found.setdefault(what, []).append(one.name)
        parts += [f"{what} in {join_names(names)}" for what, names in found.items()]
    edited = {one.name: one.differing - one.noise for one in compared if one.explanation is None}
    unreadable = {one.name: len(one.unreadable) for one in compared}
    for counts, noun, what in ((edited, "element", "changed"), (unreadable, "cell", "unreadable")):
        if names := [name for name, count in counts.items() if count]:
            parts.append(f"{count_noun(sum(counts.values()), noun)} {what} in {join_names(names)}")
    for names, what in (
        ([one.name for one in compared if one.noise], "rounded"),
        ([one.name for one in compared if not one.compared], "different as a whole"),
        ([one.name for one in compared if _format_layouts(one) or one.is_reshaped], "of another shape, dtype or order"),
        ([*only], "in one file only"),
    ):
        parts += [f"{join_names(names)} {what}"] if names else []
    return "; ".join(parts)


def _format_comparison(comparison: Comparison) -> str:
    """Return the sentences on the differences of two arrays as wholes."""
    parts = _format_layouts(comparison)
    if comparison.shapes[0] != comparison.shapes[1]:
        parts.append(f"shape {' -> '.join(format_shape(shape) for shape in comparison.shapes)}")
    if comparison.shapes[0] != comparison.shapes[1] or comparison.has_other_rows:
        parts += _format_rows(comparison)
    elif not comparison.compared:
        parts.append("the elements cannot be compared" if len(parts) else "the elements differ")
    elif comparison.explanation is not None:
        parts.append(f"{comparison.explanation} ({_format_difference(comparison)})")
    elif comparison.differing:
        parts.append(_format_difference(comparison))
    else:
        rest = "other " * bool(comparison.unreadable)
        parts.append(f"all {rest}elements equal" + (" within the tolerance" if comparison.tolerant else ""))
    if comparison.unreadable:
        parts.append(f"{count_noun(len(comparison.unreadable), 'cell')} cannot be read")
    return "; ".join(parts)


def _describe_elements(comparison: Comparison) -> list[_Line]:
    """Return a line for each element that is named, and for those that are only counted."""
    lines = []
    for one in comparison.first:
        was = f" (was {list(one.index_in_a)})" if one.index_in_a != one.index else ""
        lines.append(_Line(f"  {name_element(comparison.name, one.index)}{was}: {_format_pair(one)}"))
    lines += [
        _Line(f"  {name_element(comparison.name, one.index)}: {_format_pair(one)}")
        for one in comparison.unreadable[:MOST_SHOWN]
    ]
    if (left := len(comparison.unreadable) - MOST_SHOWN) > 0:
        lines.append(_Line(f"  and {left:,} more cells that cannot be read", dim=True))
    if comparison.first and (left := comparison.differing - comparison.noise - len(comparison.first)):
        lines.append(_Line(f"  and {left:,} more", dim=True))
    if comparison.noise:
        what = "element differs" if comparison.noise == 1 else "elements differ"
        rounding = f"  {comparison.noise:,} {what} by rounding alone: within 1 ulp, or the same to 15 or 16 digits"
        lines.append(_Line(rounding))
    return lines


def _format_layouts(comparison: Comparison) -> list[str]:
    """Return the dtypes and the orders of two arrays, as far as they differ."""
    parts = (
        []
        if comparison.dtypes[0] == comparison.dtypes[1]
        else [f"dtype {comparison.dtypes[0]} -> {comparison.dtypes[1]}"]
    )
    alike = comparison.orders[0] == comparison.orders[1] or comparison.shapes[0] != comparison.shapes[1]
    return parts if alike else [*parts, f"order {comparison.orders[0]} -> {comparison.orders[1]}"]


def _describe_rows(
    compared: Sequence[Comparison],
    held: Sequence[Mapping[str, ArrayInfo]],
    described: Sequence[DatasetLabels | None],
) -> dict[str, list[_Line]]:
    """Return a line for each of the first rows that were deleted or added: where it stood, its labels and its values.

    Arrays whose rows have changed alike share the lines, which stand below the first of them.
    """
    groups: dict[tuple[tuple[int, ...], ...], list[Comparison]] = {}
    for one in compared:
        if one.alignment is not None:
            groups.setdefault((tuple(one.alignment.deleted), tuple(one.alignment.inserted)), []).append(one)
    found = {}
    for changed, group in groups.items():
        lines = []
        for side, (all_rows, verb, what) in enumerate(zip(changed, ("was", "is"), ("deleted", "added"), strict=True)):
            rows_of = {one.name: one.rows_come if side else one.rows_gone for one in group}
            labels = _labels_of_rows(described[side], group, side)
            shown = rows_of[group[0].name]
            for row in shown:
                where = _find_sheet_row([held[side][name] for name in rows_of], row)
                told = [f"row {where} of the sheet"] if where is not None else []
                told += [label_text(rows_of[name][row][0]) for name in labels]
                place = f" ({', '.join(told)})" if told else ""
                cells = [f"{name} {describe_row(rows[row])}" for name, rows in rows_of.items() if name not in labels]
                more = len(cells) - MOST_NAMED
                beside = f" and {count_noun(more, 'more array')}" if more > 0 else ""
                values = f" {verb} {', '.join(cells[:MOST_NAMED])}{beside}" if cells else ""
                lines.append(_Line(f"  row {row}{place}{values}"))
            if more := len(all_rows) - len(shown):
                lines.append(_Line(f"  and {count_noun(more, 'more row')} {what}", dim=True))
        found[group[0].name] = lines
    return found


def _labels_of_rows(labels: DatasetLabels | None, group: Sequence[Comparison], side: int) -> list[str]:
    """Return the arrays of a group that label its rows: coordinates of one dimension, and levels of an index."""
    if labels is None:
        return []
    levels = {level for levels in labels.frame.index.values() for level in levels}
    return [
        one.name for one in group if len(one.shapes[side]) == 1 and (one.name in labels.coords or one.name in levels)
    ]


def _find_sheet_row(infos: Sequence[ArrayInfo], row: int) -> int | None:
    """Return the row of a sheet in which a row of arrays stands; None unless it is one row, and the same for all."""
    places = {
        info.data[0].row + row + 1
        for info in infos
        if len(info.shape) == 1 and len(info.data) == 1 and info.data[0].orient == "columns"
    }
    return places.pop() if len(places) == 1 else None


def _format_rows(comparison: Comparison) -> list[str]:
    """Return sentences on the rows that were inserted or deleted, and on the differences in the others."""
    aligned = comparison.alignment
    if aligned is None:
        return []
    parts = _format_changed_rows(comparison)
    return [*parts, _format_difference(comparison) if comparison.differing else "all other elements equal"]


def _format_changed_rows(comparison: Comparison) -> list[str]:
    """Return the rows that were deleted, inserted, or appended after the last one."""
    if (aligned := comparison.alignment) is None:
        return []
    inserted, count = aligned.inserted, comparison.shapes[1][aligned.axis]
    is_end = bool(inserted) and inserted == list(range(count - len(inserted), count))
    changed = ((aligned.deleted, "deleted"), (inserted, "appended" if is_end else "inserted"))
    return [f"{describe_rows(rows)} {what}" for rows, what in changed if rows]


def _format_pair(one: DifferingElement) -> str:
    """Return the values of an element in both files; of one that cannot be read where its cell is, and why."""
    return " -> ".join(
        format_value(value)
        if not isinstance(value, FormatError)
        else f"{value.location}: {value.reason}"
        if value.location
        else value.reason
        for value in (one.a, one.b)
    )


def _format_difference(comparison: Comparison) -> str:
    share = 100 * comparison.differing / comparison.elements
    ending = "s" if comparison.differing == 1 else ""
    text = f"{comparison.differing:,} of {count_noun(comparison.elements, 'element')} differ{ending}"
    text += f" ({share:.2g} %)" if share < 99.5 else ""
    if comparison.signs == comparison.differing:
        return f"{text}, only in the sign of zero"
    if comparison.absolute is not None:
        largest = comparison.absolute if isinstance(comparison.absolute, int) else f"{comparison.absolute:.3g}"
        text += f", by at most {largest}"
        text += f" (relative {comparison.relative:.3g})" if comparison.relative is not None else ""
    if comparison.signs:
        text += f"; {comparison.signs:,} of them only in the sign of zero"
    return text


def _to_finite(value: float | None) -> int | float | str | None:
    return value if value is None or math.isfinite(value) else "Infinity"


def _element_to_json(name: str, one: DifferingElement) -> dict[str, Any]:
    values = {
        side: {"location": value.location, "problem": value.reason}
        if isinstance(value, FormatError)
        else to_json_cells(np.asarray(value))
        for side, value in (("a", one.a), ("b", one.b))
    }
    where = {"index": list(one.index), "index_in_a": list(one.index_in_a)}
    return {"element": name_element(name, one.index), **where, **values}


def _to_json(places: Sequence[Endpoint], compared: Sequence[Comparison], only: dict[str, Endpoint]) -> dict[str, Any]:
    return {
        "a": places[0].label,
        "b": places[1].label,
        "only_in_a": [name for name, place in only.items() if place is places[0]],
        "only_in_b": [name for name, place in only.items() if place is places[1]],
        "arrays": [
            {
                "name": comparison.name,
                "same": comparison.same,
                "dtype": list(comparison.dtypes),
                "order": list(comparison.orders),
                "shape": [list(shape) for shape in comparison.shapes],
                "compared": comparison.compared and comparison.shapes[0] == comparison.shapes[1],
                "elements": comparison.elements,
                "axis": comparison.alignment and comparison.alignment.axis,
                "rows_deleted": comparison.alignment.deleted if comparison.alignment else [],
                "rows_inserted": comparison.alignment.inserted if comparison.alignment else [],
                "differing": comparison.differing,
                "noise": comparison.noise,
                "listed": len(comparison.first),
                "signs_of_zero": comparison.signs,
                "unreadable": [_element_to_json(comparison.name, one) for one in comparison.unreadable[:MOST_IN_JSON]],
                "explanation": comparison.explanation,
                "largest_absolute": _to_finite(comparison.absolute),
                "largest_relative": _to_finite(comparison.relative),
                "first": [_element_to_json(comparison.name, one) for one in comparison.first],
            }
            for comparison in compared
        ],
    }
