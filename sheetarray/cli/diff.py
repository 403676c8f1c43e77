"""`sheetarray diff`: which arrays and which elements differ between two files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from ..errors import NotFoundError
from .arguments import as_json, missing, options_of, reading, refuse_unknown, split_pairs
from .comparing import Comparison, compare
from .console import plural, put_json, say, spoken_shape, visible
from .places import Place, source_places
from .program import FINE, FOUND
from .progress import watched
from .values import json_cells, spoken


def _tolerance(ctx: click.Context, option: click.Parameter, value: float) -> float:
    if not value >= 0:
        raise click.BadParameter("a tolerance is zero or more", ctx, option)
    return value


@click.command(short_help="Compare the arrays of two files.")
@click.argument("a")
@click.argument("b")
@click.argument("names", nargs=-1)
@click.option("--rtol", type=float, default=0, callback=_tolerance, help="Relative tolerance of floats; 0 by default.")
@click.option("--atol", type=float, default=0, callback=_tolerance, help="Absolute tolerance of floats; 0 by default.")
@click.option("--limit", type=click.IntRange(min=0), default=10, show_default=True,
              help="So many differing elements of each array are named.")  # fmt: skip
@reading
@missing
@as_json
def diff(
    a: str,
    b: str,
    names: tuple[str, ...],
    rtol: float,
    atol: float,
    limit: int,
    from_format: str | None,
    read_pairs: tuple[str, ...],
    missing: str | None,
    wants_json: bool,
) -> int:
    """Compare the arrays of files A and B: all of them, or those NAMES alone.

    Arrays of one name are compared by dtype, shape, order (row-major or column-major) and every element; strides do
    not count. NaN equals NaN. Without a tolerance the comparison is exact: integers are compared as integers, with
    floats too, and -0.0 is not 0.0. With one, floats and complex numbers are equal where |a - b| <= atol + rtol * |b|,
    as for np.isclose, and another dtype or order is named, but is no difference. The exit status is 1 where anything
    differs. The two files may be of different formats.

    \b
    Examples:
      sheetarray diff run.csv returned.csv
      sheetarray diff run.csv run.json temperature
      sheetarray diff run.csv returned.csv --rtol 1e-14      forgive rounding to 15 digits
      cat run.csv | sheetarray diff - run.json --from csv
    """
    places = source_places([a, b], from_format)
    pairs = split_pairs(read_pairs, missing)
    refuse_unknown([place.row for place in places], "read", pairs)
    options = [options_of(place.row, "read", pairs, lenient=True) for place in places]
    scanning = [options_of(place.row, "scan", pairs, lenient=True) for place in places]
    held = [list(place.call("scan", **scan)) for place, scan in zip(places, scanning, strict=True)]
    wanted = _wanted(names, held)
    common = [name for name in wanted if name in held[0] and name in held[1]]
    arrays = []
    for place, option in zip(places, options, strict=True):
        with watched(place, "read") as progress:
            arrays.append(place.call("read", common, **option, **progress) if common else {})
    compared = [compare(name, arrays[0][name], arrays[1][name], rtol=rtol, atol=atol, most=limit) for name in common]
    only = {name: place for name in wanted for place, there in zip(places, held, strict=True)
            if name in there and name not in common}  # fmt: skip
    if wants_json:
        put_json(_as_json(places, compared, only))
    else:
        _put(compared, only)
    return FOUND if only or not all(found.same for found in compared) else FINE


def _wanted(names: Sequence[str], held: Sequence[Sequence[str]]) -> list[str]:
    there = list(dict.fromkeys([*held[0], *held[1]]))
    for name in names:
        if name not in there:
            raise NotFoundError(f"no array {name!r} in either file; there is {', '.join(map(repr, there)) or 'none'}")
    return list(dict.fromkeys(names)) or there


def element(name: str, index: Sequence[int]) -> str:
    """How an element is called: `t[2, 0, 5]`; a 0-d array by its name."""
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def _put(compared: Sequence[Comparison], only: dict[str, Place]) -> None:
    for name, place in only.items():
        _put_line(name, f"only in {place.label}")
    for found in compared:
        told = _spoken_layouts(found)
        if found.same and not told:
            continue
        if found.shapes[0] != found.shapes[1]:
            told.append(f"shape {' -> '.join(spoken_shape(shape) for shape in found.shapes)}")
        elif not found.compared:
            told.append("the elements cannot be compared" if len(told) else "the elements differ")
        elif found.differing:
            told.append(_spoken_difference(found))
        else:
            told.append("all elements equal" + (" within the tolerance" if found.tolerant else ""))
        _put_line(found.name, "; ".join(told))
        for index, x, y in found.first:
            click.echo(f"  {visible(element(found.name, index))}: {spoken(x)} -> {spoken(y)}")
        if found.first and (left := found.differing - len(found.first)):
            say(f"  and {left:,} more", dim=True)
    same = sum(found.same for found in compared)
    silent = sum(found.same and not _spoken_layouts(found) for found in compared)
    if same == len(compared) and not only:
        click.echo(f"no differences ({plural(same, 'array')})")
    elif silent:
        say(f"{plural(silent, 'other array')} without differences", dim=True)


def _spoken_layouts(found: Comparison) -> list[str]:
    """What two arrays have beside their elements, where it is not the same."""
    told = [] if found.dtypes[0] == found.dtypes[1] else [f"dtype {found.dtypes[0]} -> {found.dtypes[1]}"]
    alike = found.orders[0] == found.orders[1] or found.shapes[0] != found.shapes[1]
    return told if alike else [*told, f"order {found.orders[0]} -> {found.orders[1]}"]


def _put_line(name: str, text: str) -> None:
    say(f"{visible(name)}: ", bold=True, nl=False)
    click.echo(visible(text))


def _spoken_difference(found: Comparison) -> str:
    share = 100 * found.differing / found.elements
    text = f"{found.differing:,} of {plural(found.elements, 'element')} differ{'s' * (found.differing == 1)}"
    text += f" ({share:.2g} %)" if share < 99.5 else ""
    if found.signs == found.differing:
        return f"{text}, in the sign of zero alone"
    if found.absolute is not None:
        largest = found.absolute if isinstance(found.absolute, int) else f"{found.absolute:.3g}"
        text += f", by at most {largest}"
        text += f" (relative {found.relative:.3g})" if found.relative is not None else ""
    if found.signs:
        text += f"; {found.signs:,} of them in the sign of zero alone"
    return text


def _finite(value: float | None) -> int | float | str | None:
    return value if value is None or math.isfinite(value) else "Infinity"


def _as_json(places: Sequence[Place], compared: Sequence[Comparison], only: dict[str, Place]) -> dict[str, Any]:
    return {
        "a": places[0].label,
        "b": places[1].label,
        "same": not only and all(found.same for found in compared),
        "only_in_a": [name for name, place in only.items() if place is places[0]],
        "only_in_b": [name for name, place in only.items() if place is places[1]],
        "arrays": [
            {
                "name": found.name,
                "same": found.same,
                "dtype": list(found.dtypes),
                "order": list(found.orders),
                "shape": [list(shape) for shape in found.shapes],
                "compared": found.compared and found.shapes[0] == found.shapes[1],
                "elements": found.elements,
                "differing": found.differing,
                "signs_of_zero": found.signs,
                "largest_absolute": _finite(found.absolute),
                "largest_relative": _finite(found.relative),
                "first": [
                    {
                        "element": element(found.name, index),
                        "index": list(index),
                        "a": json_cells(np.asarray(x)),
                        "b": json_cells(np.asarray(y)),
                    }
                    for index, x, y in found.first
                ],
            }
            for found in compared
        ],
    }
