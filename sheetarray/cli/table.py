"""`sheetarray table`: the columns of an ordinary table, shown, or written as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..api import shorten
from ..changes.row_groups import dtype_name
from ..changes.wording import count_noun
from ..errors import escape_controls
from ..linear.json_lists import to_json_cells
from ..pages.differences import mask_missing
from .arguments import FILE, NA_VALUE, FormatOptions, UsageProblem, json_option, reading_options, writing_options
from .console import make_console, make_table, print_json, print_renderable
from .convert import find_target
from .endpoints import PIPE, Endpoint, source_endpoint
from .pictures import format_elements

if TYPE_CHECKING:
    from rich.table import Table

_MOST_COLUMNS = 12  # shown side by side on a screen
_LONGEST_CELL = 32


@click.command("table", short_help="Read an ordinary table, or turn it into arrays.")
@click.argument("file", type=FILE)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="OUT",
    type=FILE,
    help="Write the columns as arrays. - is standard output.",
)
@click.option("--columns", metavar="NAMES", help="Read only these columns: names or letters, with commas between.")
@click.option("--header", metavar="ROWS", help="The number of rows with names; true is 1, false is 0.")
@click.option(
    "--skip-rows",
    metavar="ROWS",
    help="Skip this many rows above the table, or rows by number, such as 0,3 (counted from 0).",
)
@click.option("--skip-footer", metavar="ROWS", help="Skip this many rows below the table.")
@click.option("--delimiter", metavar="MARK", help="The character between cells. By default, it is found in the file.")
@click.option(
    "--decimal", type=click.Choice([".", ","]), help="The decimal mark. By default, it is found for each column."
)
@click.option("--thousands", metavar="MARK", help="The mark between thousands in numbers.")
@click.option("--comment", metavar="TEXT", help="Skip rows that begin with this text.")
@NA_VALUE
@click.option("--sheet", metavar="TITLE", help="Read this sheet. The default is the first sheet.")
@click.option("--range", metavar="RANGE", help="Read only these cells: A1:C5, or a defined name.")
@click.option("--table", "named", metavar="NAME", help="Read the Excel Table of this name.")
@click.option("--dtype", metavar="DTYPE", help="Give every column this dtype. By default, dtypes are inferred.")
@click.option(
    "--rows", "shown", metavar="N", default=10, type=click.IntRange(0), help="Print this many rows. The default is 10."
)
@click.option(
    "--missing",
    type=click.Choice(["error", "nan"]),
    help="Read blanks as missing values (nan), or refuse them (error).",
)
@writing_options(
    "Write this format, if OUT has no known suffix. Without -o, arrays go to standard output.",
    "delimiter=';' or guard=true",
)
@reading_options(missing=False)
@json_option
def run_table(
    file: str,
    target: str | None,
    columns: str | None,
    na_values: tuple[str, ...],
    sheet: str | None,
    named: str | None,
    shown: int,
    writing: FormatOptions,
    reading: FormatOptions,
    wants_json: bool,
    **given: str | None,
) -> None:
    """Read an ordinary table: each column becomes an array, with a dtype that loses nothing.

    The command prints names, dtypes, missing values and the first rows. With -o or --to it writes the arrays instead.

    \b
    Examples:
      sheetarray table survey.csv
      sheetarray table survey.xlsx --sheet 2024 --header 2 -o survey.npz
      sheetarray table survey.csv --to json | jq .height
      sheetarray table export.txt --delimiter ";" --decimal , --na-value n/a
    """
    place, goal = source_endpoint(file, FormatOptions(reading.format)), None
    if target is not None or writing.format is not None:
        goal = find_target(PIPE if target is None else target, writing, wants_json=wants_json)
    elif writing.texts:
        raise UsageProblem("--write is for the file that -o names", "-o OUT writes the columns as arrays")
    options = _options(place, {**given, **reading.texts}, sheet)
    if named is not None:
        options["table"] = named
    if na_values:
        options["na_values"] = list(na_values)
    names = None if columns is None else [name.strip() for name in columns.split(",")]
    arrays: dict[str, Any] = place.call("read_columns", names, **options)
    url = None if goal is None else goal.write(arrays)
    if wants_json:
        print_json(_to_json(place, goal, url, arrays, shown))
    elif goal is not None:
        goal.print_written(url, count_noun(len(arrays), "array"), count_noun(_height(arrays), "row"))
    else:
        _print_tables(place, arrays, shown)


def _options(place: Endpoint, given: Mapping[str, str | Sequence[str] | None], sheet: str | None) -> dict[str, Any]:
    """Return the options of `read_columns`, as its function takes them."""
    texts = {key: text for key, text in given.items() if text is not None}
    if sheet is not None:
        texts["sheet"] = sheet
    rows = texts.pop("skip_rows", None)
    options = FormatOptions(None, texts).parse(place.row, "read_columns")
    if rows is not None:
        options["skip_rows"] = _parse_rows(str(rows))
    return options


def _parse_rows(text: str) -> int | list[int]:
    if text.isascii() and text.isdigit():
        return int(text)
    rows = text.split(",")
    if not all(row.strip().isascii() and row.strip().isdigit() for row in rows):
        raise UsageProblem(f"--skip-rows is a number of rows, or rows such as 0,3, not {text!r}")
    return [int(row) for row in rows]


def _height(arrays: Mapping[str, Any]) -> int:
    return max(map(len, arrays.values()), default=0)


def _count_missing(array: np.ndarray[Any, Any]) -> int:
    """Return the number of elements that are missing values."""
    return int(np.count_nonzero(array == "" if array.dtype.kind in "UT" else mask_missing(array)))


def _to_json(
    place: Endpoint, goal: Endpoint | None, url: str | None, arrays: Mapping[str, Any], shown: int
) -> dict[str, Any]:
    return {
        "file": place.label,
        "format": place.row.name,
        "rows": _height(arrays),
        **({} if goal is None else {"target": goal.label, "bytes": goal.size, "url": url}),
        "columns": [
            {
                "name": name,
                "dtype": dtype_name(array),
                "missing": _count_missing(array),
                "first": to_json_cells(array[:shown]),
            }
            for name, array in arrays.items()
        ],
    }


def _print_tables(place: Endpoint, arrays: Mapping[str, Any], shown: int) -> None:
    from rich.text import Text

    console = make_console()
    summary = ", ".join([place.row.title, count_noun(len(arrays), "column"), count_noun(_height(arrays), "row")])
    print_renderable(console, Text.assemble((escape_controls(place.label), "bold"), f": {summary}"))
    print_renderable(console, _make_columns_table(arrays))
    if shown and arrays and _height(arrays):
        print_renderable(console, Text(""))
        print_renderable(console, _make_rows_table(arrays, shown))


def _make_columns_table(arrays: Mapping[str, Any]) -> Table:
    from rich.text import Text

    missing = {name: _count_missing(array) for name, array in arrays.items()}
    columns: dict[str, list[Any]] = {
        "name": [Text(escape_controls(name), "cyan") for name in arrays],
        "dtype": [dtype_name(array) for array in arrays.values()],
        "values": [f"{len(array) - missing[name]:,}" for name, array in arrays.items()],
        "missing": [f"{count:,}" if count else "" for count in missing.values()],
    }
    return make_table([*columns.items()], right=("values", "missing"))


def _make_rows_table(arrays: Mapping[str, Any], shown: int) -> Table:
    from rich.text import Text

    columns = list(arrays.items())[:_MOST_COLUMNS]
    titles = [shorten(name, _LONGEST_CELL) for name, _ in columns]
    cells = [[Text(shorten(text, _LONGEST_CELL)) for text in _format_values(array[:shown])] for _, array in columns]
    numbers = {title for title, (_, array) in zip(titles, columns, strict=True) if array.dtype.kind in "iuf"}
    listing = make_table([*zip(titles, cells, strict=True)], right=numbers)
    more, hidden = _height(arrays) - shown, len(arrays) - len(columns)
    notes = [count_noun(more, "more row")] if more > 0 else []
    notes += [count_noun(hidden, "more column")] if hidden > 0 else []
    listing.caption = Text(", ".join(notes), justify="left") if notes else None
    listing.caption_justify = "left"
    return listing


def _format_values(values: np.ndarray[Any, Any]) -> list[str]:
    """Return values as a table shows them: text as it is, a missing value as a blank."""
    if values.dtype.kind in "UT":
        return [str(value) for value in values.tolist()]
    if values.dtype.kind == "O":
        return ["" if value is None else str(value) for value in values.tolist()]
    blank = np.isnat(values) if values.dtype.kind == "M" else values != values
    return ["" if missing else text for text, missing in zip(format_elements(values), blank.tolist(), strict=True)]
