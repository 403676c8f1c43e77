"""`sheetarray diff`: which arrays and which elements differ between two files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import click
import numpy as np

from ..errors import FormatError, NotFoundError
from ..labels import reading_labels
from ..merging import row_axis
from .arguments import FileName, FormatOptions, UsageProblem, json_option, reading_options
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
@reading_options()
@json_option
def diff(
    a: str,
    b: str,
    names: tuple[str, ...],
    rtol: float,
    atol: float,
    limit: int | None,
    reading: FormatOptions,
    wants_json: bool,
) -> int:
    """Compare the arrays of files A and B: all of them, or those NAMES alone.

    Arrays of one name are compared by dtype, shape, order (row-major or column-major) and every element; strides do
    not count. NaN equals NaN. Without a tolerance the comparison is exact: integers are compared as integers, with
    floats too, and -0.0 is not 0.0. With one, floats and complex numbers are equal where |a - b| <= atol + rtol * |b|,
    as for np.isclose, and another dtype or order is named, but is no difference. The exit status is 1 where anything
    differs. The two files may be of different formats.

    The largest differences come first. Numbers within 1 ulp, or the same to 15 or 16 digits, are rounding noise, of
    which only the count is said. Where one axis has another length, rows that were inserted or deleted are told once,
    and the others compared at their places; elements are named as in B. Cells of a sheet that cannot be read (blank,
    n/a, #DIV/0!) are listed apart, and all others are compared. Where the rows of a table were sorted, that is one
    line, and elements are named as in A.

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
            held.append(list(place.call("scan", **scan)))
        described.append(description.labels)
    wanted = _select_names(names, held)
    common = [name for name in wanted if name in held[0] and name in held[1]]
    most = limit if limit is not None else MOST_IN_JSON if wants_json else MOST_SHOWN
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
        _print_comparisons(compared, only, "no other differences" if sorted_rows else "no differences")
        for text in labels:
            click.echo(escape_controls(text))
    if labels and None not in described:  # a format that keeps none is no difference
        return FINDINGS
    return FINDINGS if only or sorted_rows or not all(comparison.same for comparison in compared) else FINE


def _select_names(names: Sequence[str], held: Sequence[Sequence[str]]) -> list[str]:
    names_present = list(dict.fromkeys([*held[0], *held[1]]))
    for name in names:
        if name not in names_present:
            raise NotFoundError(
                f"no array {name!r} in either file; there is {', '.join(map(repr, names_present)) or 'none'}"
            )
    return list(dict.fromkeys(names)) or names_present


def _print_comparisons(compared: Sequence[Comparison], only: dict[str, Endpoint], none: str) -> None:
    for name, place in only.items():
        _print_line(name, f"only in {place.label}")
    for comparison in compared:
        parts = _format_layouts(comparison)
        if comparison.same and not parts:
            continue
        if comparison.shapes[0] != comparison.shapes[1]:
            parts.append(f"shape {' -> '.join(format_shape(shape) for shape in comparison.shapes)}")
            parts += _format_rows(comparison)
        elif not comparison.compared:
            parts.append("the elements cannot be compared" if len(parts) else "the elements differ")
        elif comparison.differing:
            parts.append(_format_difference(comparison))
        else:
            rest = "other " * bool(comparison.unreadable)
            parts.append(f"all {rest}elements equal" + (" within the tolerance" if comparison.tolerant else ""))
        if comparison.unreadable:
            parts.append(f"{count_noun(len(comparison.unreadable), 'cell')} cannot be read")
        _print_line(comparison.name, "; ".join(parts))
        for index, x, y in comparison.first:
            element = escape_controls(_format_element(comparison.name, index))
            if (before := comparison.index_in_a(index)) != index:
                element += f" (was {list(before)})"
            print_wrapped(f"  {element}: {format_value(x)} -> {format_value(y)}", indent=4)
        for index, x, y in comparison.unreadable[:MOST_SHOWN]:
            head = f"  {escape_controls(_format_element(comparison.name, index))}: "
            print_wrapped(" -> ".join(map(_format_cell, (x, y))), indent=4, head=head)
        if (left := len(comparison.unreadable) - MOST_SHOWN) > 0:
            print_line(f"  and {left:,} more cells that cannot be read", dim=True)
        if comparison.first and (left := comparison.differing - comparison.noise - len(comparison.first)):
            print_line(f"  and {left:,} more", dim=True)
        if comparison.noise:
            what = "element differs" if comparison.noise == 1 else "elements differ"
            print_wrapped(
                f"  {comparison.noise:,} {what} by rounding alone: within 1 ulp, or the same to 15 or 16 digits",
                indent=4,
            )
    same = sum(comparison.same for comparison in compared)
    silent = sum(comparison.same and not _format_layouts(comparison) for comparison in compared)
    if same == len(compared) and not only:
        click.echo(f"{none} ({count_noun(same, 'array')})")
    elif silent:
        print_line(f"{count_noun(silent, 'other array')} without differences", dim=True)


def _format_layouts(comparison: Comparison) -> list[str]:
    """Return the dtypes and the orders of two arrays, as far as they differ."""
    parts = (
        []
        if comparison.dtypes[0] == comparison.dtypes[1]
        else [f"dtype {comparison.dtypes[0]} -> {comparison.dtypes[1]}"]
    )
    alike = comparison.orders[0] == comparison.orders[1] or comparison.shapes[0] != comparison.shapes[1]
    return parts if alike else [*parts, f"order {comparison.orders[0]} -> {comparison.orders[1]}"]


def _format_rows(comparison: Comparison) -> list[str]:
    """Return sentences on the rows that were inserted or deleted, and on the differences in the others."""
    aligned = comparison.alignment
    if aligned is None:
        return []
    changed = ((aligned.deleted, "deleted"), (aligned.inserted, "inserted"))
    parts = [f"{format_rows(rows)} {what}" for rows, what in changed if rows]
    return [*parts, _format_difference(comparison) if comparison.differing else "all other elements equal"]


def _format_cell(value: Any) -> str:
    """Return the value of an element; of one that cannot be read where its cell is, and why."""
    if not isinstance(value, FormatError):
        return format_value(value)
    return escape_controls(f"{value.location}: {value.reason}" if value.location else value.reason)


def _print_line(name: str, text: str) -> None:
    print_wrapped(escape_controls(text), indent=2, head=f"{escape_controls(name)}: ")


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
