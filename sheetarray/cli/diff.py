"""`sheetarray diff`: which arrays and which elements differ between two files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from ..columns import MOST_NAMED, ArrayInfo, describe_row
from ..dtypes import Array
from ..errors import FormatError, NotFoundError
from ..labels import DatasetLabels, reading_labels
from ..merging import row_axis
from .arguments import (
    MOST_LINES,
    FileName,
    FormatOptions,
    UsageProblem,
    all_option,
    json_option,
    print_left_out,
    reading_options,
)
from .comparing import Comparison, compare, compare_labels, find_sorted_rows, format_rows
from .console import count_noun, escape_controls, format_shape, print_json, print_line, print_wrapped
from .endpoints import Endpoint, source_endpoints
from .program import FINDINGS, FINE
from .values import format_value, to_json_cells

MOST_SHOWN, MOST_IN_JSON = 10, 100_000  # differing elements of an array that are named


def _check_tolerance(ctx: click.Context, option: click.Parameter, value: float) -> float:
    if not value >= 0:
        raise click.BadParameter("a tolerance is zero or more", ctx, option)
    return value


@click.command(short_help="Compare the arrays of two files.")
@click.argument("a", type=FileName())
@click.argument("b", type=FileName())
@click.argument("names", nargs=-1)
@click.option(
    "--rtol", type=float, default=0, callback=_check_tolerance, help="Relative tolerance of floats; 0 by default."
)
@click.option(
    "--atol", type=float, default=0, callback=_check_tolerance, help="Absolute tolerance of floats; 0 by default."
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=None,
    help="So many differing elements of each array are named: 10, and with --json 100,000, unless this says another.",
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
    limit: int | None,
    wants_all: bool,
    reading: FormatOptions,
    wants_json: bool,
) -> int:
    """Compare the arrays of files A and B: all of them, or those NAMES alone.

    Arrays of one name are compared by dtype, shape, order (row-major or column-major) and every element; strides do
    not count. NaN equals NaN. Without a tolerance the comparison is exact: integers are compared as integers, with
    floats too, and -0.0 is not 0.0. With one, floats and complex numbers are equal where |a - b| <= atol + rtol * |b|,
    as for np.isclose, and another dtype or order is named, but is no difference. The exit status is 1 where anything
    differs. The two files may be of different formats.

    Where several arrays differ, the first line sums up; details follow, up to 20 lines unless --all or --limit says
    more. Rows that were inserted or deleted are told once, with their labels and values, and the others compared at
    their places; elements are named as in B. Where the rows of a table were sorted, that is one line, and elements are
    named as in A. A change that was the same for all elements, such as a factor, is one line. The largest differences
    come first. Numbers within 1 ulp, or the same to 15 or 16 digits, are rounding noise, of which only the count is
    said. Cells that cannot be read (blank, n/a, #DIV/0!) are listed apart, and all others are compared.

    \b
    Examples:
      sheetarray diff run.csv returned.csv
      sheetarray diff run.csv run.json temperature
      sheetarray diff run.csv returned.csv --rtol 1e-14      forgive rounding to 15 digits
      cat run.csv | sheetarray diff - run.json --from csv
    """
    places = source_endpoints([a, b], reading.format)
    if len(places) != 2:
        raise UsageProblem(f"diff compares two files, and these are {len(places)}")
    reading.refuse_unknown([place.row for place in places], "read")
    options = [reading.parse(place.row, "read", lenient=True) for place in places]
    scanning = [reading.parse(place.row, "scan", lenient=True) for place in places]
    held, described = [], []
    for place, scan in zip(places, scanning, strict=True):
        with reading_labels() as description:
            held.append(dict(place.call("scan", **scan)))
        described.append(description.labels)
    wanted = _select_names(names, held)
    common = [name for name in wanted if name in held[0] and name in held[1]]
    most = limit if limit is not None else MOST_IN_JSON if wants_json or wants_all else MOST_SHOWN
    tolerances = {"rtol": rtol, "atol": atol}
    with ExitStack() as stack:
        arrays, releases = [], []
        errors: list[dict[str, Any]] = [{}, {}]
        for place, option, unreadable in zip(places, options, errors, strict=True):
            opened = place.opened_arrays("read_changed", common, option, unreadable=unreadable)
            some, release = stack.enter_context(opened)
            arrays.append(some)
            releases.append(release)

        def release_all() -> None:
            for release in filter(None, releases):
                release()

        sorted_rows = find_sorted_rows(
            {name: (arrays[0][name], arrays[1][name]) for name in common if not any(name in each for each in errors)}
        )
        for table in sorted_rows:  # the rows of B are put in the order of A
            for name in table.names:
                one, other = arrays[0][name], arrays[1][name]
                taken = np.take(other, table.order, row_axis(one))
                arrays[1][name] = np.asfortranarray(taken) if row_axis(other) else taken
        compared = [
            compare(
                name,
                arrays[0][name],
                arrays[1][name],
                **tolerances,
                most=most,
                names_noise=wants_json,
                release=release_all,
                errors=(errors[0].get(name), errors[1].get(name)),
            )
            for name in common
        ]
        arrays.clear()  # before their maps are closed
    only = {
        name: place
        for name in wanted
        for place, names_present in zip(places, held, strict=True)
        if name in names_present and name not in common
    }
    labels = [] if names else compare_labels(described)
    if wants_json:
        found = _to_json(places, compared, only)
        found["same"] &= not sorted_rows
        moved = [{"by": table.by, "arrays": table.names, "rows": table.order.tolist()} for table in sorted_rows]
        print_json({**found, "labels": labels, "sorted": moved})
    else:
        for table in sorted_rows:
            print_wrapped(escape_controls(table.to_text()), indent=2)
        shown = None if wants_all or limit is not None else MOST_LINES
        rows = _describe_rows(compared, held, described)
        _print_comparisons(compared, only, rows, most=shown, is_sorted=bool(sorted_rows), lists_all=limit is not None)
        for text in labels:
            click.echo(escape_controls(text))
    if labels and None not in described:  # a format that keeps none is no difference
        return FINDINGS
    return FINDINGS if only or sorted_rows or not all(comparison.same for comparison in compared) else FINE


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
    lists_all: bool,
) -> None:
    """Print what differs: a summary where several arrays do, then the details.

    `rows`: lines on rows that were added or deleted, by the array below whose line they stand. `most`: the largest
    number of lines of details; None for all. `is_sorted`: whether rows were told to be sorted. `lists_all`: whether
    elements are named although one sentence explains how they have changed.
    """
    blocks = [([name], f"only in {place.label}", list[_Line]()) for name, place in only.items()]
    alike: dict[str, list[str]] = {}  # the names of arrays of which the same is to be said, such as a new row
    for comparison in compared:
        if comparison.same and not _format_layouts(comparison):
            continue
        names_elements = comparison.explanation is None or most is None or lists_all
        text, below = _format_comparison(comparison), _describe_elements(comparison) if names_elements else []
        below = [*rows.get(comparison.name, []), *below]
        if not below and text in alike:
            alike[text].append(comparison.name)
            continue
        blocks.append(([comparison.name], text, below))
        if not below or below == rows.get(comparison.name):
            alike[text] = blocks[-1][0]
    if len(blocks) > 1 and (summary := _summarise(compared, only)):
        print_wrapped(escape_controls(summary), indent=2)
    lines = [line for names, text, below in blocks for line in (_Line(escape_controls(text), 2, names), *below)]
    for line in lines[:most]:
        line.print()
    print_left_out(len(lines) - len(lines[:most]), "line")
    same = sum(comparison.same for comparison in compared)
    silent = sum(comparison.same and not _format_layouts(comparison) for comparison in compared)
    if same == len(compared) and not only:
        click.echo(f"{'no other differences' if is_sorted else 'no differences'} ({count_noun(same, 'array')})")
    elif silent:
        print_line(f"{count_noun(silent, 'other array')} without differences", dim=True)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of details: its text, the blanks before what goes on below, and the names of the arrays that it is of."""

    text: str
    indent: int
    names: Sequence[str] = ()
    head: str = ""
    dim: bool = False

    def print(self) -> None:
        if self.dim:
            print_line(self.text, dim=True)
        else:
            head = f"{escape_controls(_join_names(self.names))}: " if self.names else self.head
            print_wrapped(self.text, indent=self.indent, head=head)


def _join_names(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {count_noun(more, 'more array')}" if more > 0 else "")


def _summarise(compared: Sequence[Comparison], only: Mapping[str, Endpoint]) -> str:
    """Return a line of what differs: rows first, then elements, then all else; each with the names of its arrays."""
    found: dict[str, list[str]] = {}
    for comparison in compared:
        for what in _format_changed_rows(comparison):
            found.setdefault(what, []).append(comparison.name)
    parts = [f"{what} in {_join_names(names)}" for what, names in found.items()]
    explained = {one.name: one.explanation for one in compared if one.explanation is not None}
    parts += [f"{what} in {_join_names(names)}" for what, names in _by_value(explained).items()]
    edited = {one.name: one.differing - one.noise for one in compared if one.differing > one.noise}
    edited = {name: count for name, count in edited.items() if name not in explained}
    if edited:
        parts.append(f"{count_noun(sum(edited.values()), 'element')} changed in {_join_names([*edited])}")
    unreadable = {one.name: len(one.unreadable) for one in compared if one.unreadable}
    if unreadable:
        parts.append(f"{count_noun(sum(unreadable.values()), 'cell')} unreadable in {_join_names([*unreadable])}")
    noisy = [one.name for one in compared if one.noise]
    whole = [one.name for one in compared if not one.compared]
    other = [
        one.name
        for one in compared
        if _format_layouts(one) or (one.shapes[0] != one.shapes[1] and one.alignment is None)
    ]
    for names, what in (
        (noisy, "rounded"),
        (whole, "different as a whole"),
        (other, "of another shape, dtype or order"),
        ([*only], "in one file only"),
    ):
        parts += [f"{_join_names(names)} {what}"] if names else []
    return "; ".join(parts)


def _format_comparison(comparison: Comparison) -> str:
    """Return the sentences on the differences of two arrays as wholes."""
    parts = _format_layouts(comparison)
    if comparison.shapes[0] != comparison.shapes[1]:
        parts.append(f"shape {' -> '.join(format_shape(shape) for shape in comparison.shapes)}")
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
    for index, x, y in comparison.first:
        element = escape_controls(_format_element(comparison.name, index))
        if (before := comparison.index_in_a(index)) != index:
            element += f" (was {list(before)})"
        lines.append(_Line(f"  {element}: {format_value(x)} -> {format_value(y)}", 4))
    for index, x, y in comparison.unreadable[:MOST_SHOWN]:
        head = f"  {escape_controls(_format_element(comparison.name, index))}: "
        lines.append(_Line(" -> ".join(map(_format_cell, (x, y))), 4, head=head))
    if (left := len(comparison.unreadable) - MOST_SHOWN) > 0:
        lines.append(_Line(f"  and {left:,} more cells that cannot be read", 4, dim=True))
    if comparison.first and (left := comparison.differing - comparison.noise - len(comparison.first)):
        lines.append(_Line(f"  and {left:,} more", 4, dim=True))
    if comparison.noise:
        what = "element differs" if comparison.noise == 1 else "elements differ"
        rounding = f"  {comparison.noise:,} {what} by rounding alone: within 1 ulp, or the same to 15 or 16 digits"
        lines.append(_Line(rounding, 4))
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


def _by_value(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the names that have each text."""
    names: dict[str, list[str]] = {}
    for name, text in texts.items():
        names.setdefault(text, []).append(name)
    return names


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
                told += [_format_label(rows_of[name][row]) for name in labels]
                place = f" ({', '.join(told)})" if told else ""
                cells = [f"{name} {describe_row(rows[row])}" for name, rows in rows_of.items() if name not in labels]
                more = len(cells) - MOST_NAMED
                beside = f" and {count_noun(more, 'more array')}" if more > 0 else ""
                values = f" {verb} {', '.join(cells[:MOST_NAMED])}{beside}" if cells else ""
                lines.append(_Line(escape_controls(f"  row {row}{place}{values}"), 4))
            if more := len(all_rows) - len(shown):
                lines.append(_Line(f"  and {count_noun(more, 'more row')} {what}", 4, dim=True))
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


def _format_label(elements: Array) -> str:
    return str(elements[0]).removesuffix("T00:00:00")


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
    return [f"{format_rows(rows)} {what}" for rows, what in changed if rows]


def _format_cell(value: Any) -> str:
    """Return the value of an element; of one that cannot be read where its cell is, and why."""
    if not isinstance(value, FormatError):
        return format_value(value)
    return escape_controls(f"{value.location}: {value.reason}" if value.location else value.reason)


def _format_element(name: str, index: Sequence[int]) -> str:
    """Return the name that messages use for an element, such as `t[2, 0, 5]`; for a 0-d array its own name."""
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def _format_difference(comparison: Comparison) -> str:
    share = 100 * comparison.differing / comparison.elements
    ending = "s" if comparison.differing == 1 else ""
    text = f"{comparison.differing:,} of {count_noun(comparison.elements, 'element')} differ{ending}"
    text += f" ({share:.2g} %)" if share < 99.5 else ""
    if comparison.signs == comparison.differing:
        return f"{text}, in the sign of zero alone"
    if comparison.absolute is not None:
        largest = comparison.absolute if isinstance(comparison.absolute, int) else f"{comparison.absolute:.3g}"
        text += f", by at most {largest}"
        text += f" (relative {comparison.relative:.3g})" if comparison.relative is not None else ""
    if comparison.signs:
        text += f"; {comparison.signs:,} of them in the sign of zero alone"
    return text


def _to_finite(value: float | None) -> int | float | str | None:
    return value if value is None or math.isfinite(value) else "Infinity"


def _to_json_value(value: Any) -> Any:
    if isinstance(value, FormatError):
        return {"location": value.location, "problem": value.reason}
    return to_json_cells(np.asarray(value))


def _to_json(places: Sequence[Endpoint], compared: Sequence[Comparison], only: dict[str, Endpoint]) -> dict[str, Any]:
    return {
        "a": places[0].label,
        "b": places[1].label,
        "same": not only and all(comparison.same for comparison in compared),
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
                "unreadable": [
                    {
                        "element": _format_element(comparison.name, index),
                        "index": list(index),
                        "index_in_a": list(comparison.index_in_a(index)),
                        **{side: _to_json_value(value) for side, value in (("a", x), ("b", y))},
                    }
                    for index, x, y in comparison.unreadable[:MOST_IN_JSON]
                ],
                "explanation": comparison.explanation,
                "largest_absolute": _to_finite(comparison.absolute),
                "largest_relative": _to_finite(comparison.relative),
                "first": [
                    {
                        "element": _format_element(comparison.name, index),
                        "index": list(index),
                        "index_in_a": list(comparison.index_in_a(index)),
                        "a": to_json_cells(np.asarray(x)),
                        "b": to_json_cells(np.asarray(y)),
                    }
                    for index, x, y in comparison.first
                ],
            }
            for comparison in compared
        ],
    }
