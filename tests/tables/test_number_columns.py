"""Columns of values and of text in long tables: parsed where they stand, they are what they are in short ones."""

from __future__ import annotations

import io
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from examples import cross
from limits import set_limits

import sheetarray as sa

ROWS = 300
DICE = random.Random(5)
COLUMNS: dict[str, Callable[[int], str]] = {
    "count": str,
    "float": lambda row: repr(DICE.gauss(0, 1)),
    "fixed": lambda row: f"{DICE.random():.3f}",
    "printed": lambda row: f"{DICE.random():.18e}",
    "gaps": lambda row: "" if row % 7 == 3 else str(row),
    "holes": lambda row: "" if row % 5 == 1 else repr(row / 3),
    "grouped": lambda row: f"{row % 9 + 1}.{row:03}",
    "word": lambda row: f"w{row}",
    "day": lambda row: f"2024-01-{row % 28 + 1:02}",
    "days off": lambda row: "" if row % 6 == 1 else "NaT" if row % 6 == 2 else f"{1900 + row}-02-28",
    "second": lambda row: f"2024-02-29 {row % 24:02}:59:{row % 60:02}",
    "fraction": lambda row: f"1969-12-31T23:59:59.{row:03}" + "5" * (row % 4),
    "fine": lambda row: f"{1678 + row}-12-31T23:59:59.{row:09}",
    "answer": lambda row: "true" if row % 3 else "FALSE",
    "answers": lambda row: "" if row % 3 == 2 else "True",
    "text": lambda row: "" if row % 5 == 4 else f"no {row}" + "é😀" * (row % 2),
    "blanks": lambda row: " " if row % 5 == 4 else f" {row}x ",
}
ODD = (
    "007",
    "+1",
    "n/a",
    "1,5",
    "12345678901234567890",
    "0.1000000000000000001",
    " 5",
    "",
    "-0",
    "1e400",
    '"x,y"',
    "3.5",
    "2023-02-29",
    "2024-01-01T24:00:00",
    "2024-01-01T10:20:30.1234567890",
    "1677-12-31T00:00:00",
    "2024-01-01",
    "NaT",
    "TRUE",
    "\u3000",
    "b\x7f",
)


def make_rows(rows: int = ROWS) -> list[list[str]]:
    return [[make(row) for make in COLUMNS.values()] for row in range(rows)]


def join(rows: list[list[str]], *, names: bool = True) -> str:
    return "".join(",".join(row) + "\n" for row in ([list(COLUMNS)] if names else []) + rows)


def read(text: str, **options: Any) -> tuple[Any, list[str]]:
    """The columns, or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            columns = sa.read_columns(io.StringIO(text), format="csv", **options)
        except sa.SheetArrayError as error:
            return str(error), []
    told = [str(each.message) for each in caught]
    if options.get("as_") == "pandas":
        return {name: (str(column.dtype), repr(column.tolist())) for name, column in columns.items()}, told
    return {name: (str(array.dtype), array.shape, repr(array.tolist())) for name, array in columns.items()}, told


def agree(text: str, **options: Any) -> None:
    """A long table is what it is if no column is taken for numbers, and if all are few rows."""
    fast = read(text, **options)
    for limits in ({"rows_that_say_numbers": 10**9}, {"few_rows": 10**9, "short_table": 10**9}):
        with pytest.MonkeyPatch.context() as patch:
            set_limits(patch, **limits)
            assert read(text, **options) == fast


@pytest.mark.parametrize(
    "options",
    [
        *(
            {},
            {"nrows": 100},
            {"nrows": 1},
            {"skip_footer": 20},
            {"skip_rows": 1},
            {"skip_rows": [5, 9]},
            {"header": 2},
        ),
        *(
            {"header": False},
            {"header": 40},
            {"missing": "error"},
            {"na_values": [4]},
            {"decimal": "."},
            {"comment": "w"},
        ),
        *(
            {"comment": "1"},
            {"thousands": "."},
            {"decimal": ","},
            {"as_": "pandas"},
            {"dtype": "float64"},
            {"dtype": str},
        ),
        *({"columns": ["gaps", "count"]}, {"shape": {"count": (3, 100)}}, {"shape": {"holes": (-1, 3)}}),
        *({"dtype": {"count": "int8"}}, {"dtype": {"count": "float32"}, "columns": ["count"]}),
        *({"columns": ["count"], "dtype": "int64"}, {"columns": ["holes"], "dtype": "float64"}, {"range": "B1:D200"}),
    ],
)
def test_options_mean_the_same_where_columns_are_numbers(options: dict[str, Any]) -> None:
    agree(join(make_rows()), **options)


@pytest.mark.parametrize(("odd", "place"), cross(ODD, [0, 1, 20, 40, 150, ROWS - 1], "", "n/a"))
def test_one_odd_cell_makes_a_column_what_it_makes_of_a_short_one(odd: str, place: int) -> None:
    rows = make_rows()
    for column in (0, 1, 4):
        rows[place][column] = odd
    agree(join(rows))


@pytest.mark.parametrize(
    ("change", "above"),
    cross(
        [
            lambda rows: [["m", "s", *[""] * (len(COLUMNS) - 2)], *rows],  # units
            lambda rows: [*rows, ["total"], ["", "12.5"]],
            lambda rows: [*rows[:40], [*rows[40], "more"], *rows[41:]],
            lambda rows: [*rows[:40], rows[40][:3], *rows[41:]],
            lambda rows: [*rows[:40], [], *rows[40:]],
            lambda rows: [*rows, [], []],
            lambda rows: [*rows, list(COLUMNS), *rows],
            lambda rows: [row[:2] for row in rows],
        ],
        ["", "\n\n", "a report\n", "sep=,\n"],
        "",
    ),
)
def test_rows_that_differ_are_told_alike(change: Callable[[Any], Any], above: str) -> None:
    agree(above + join(change(make_rows())))
    agree(above + join(change(make_rows()), names=False))


def test_a_decimal_comma_below_makes_points_parts_of_thousands() -> None:
    rows = "".join(f"{row % 9 + 1}.{row:03};{row},5\n" for row in range(ROWS))
    agree("a;b\n" + rows)
    assert sa.read_columns(io.StringIO("a;b\n" + rows), format="csv")["a"][:2].tolist() == [1000, 2001]


def test_arrays_can_be_changed_and_do_not_hold_each_other() -> None:
    columns = sa.read_columns(io.StringIO(join([row[:3] for row in make_rows()])), format="csv")
    for array in columns.values():
        array[0] = 5
        assert array.base is None
    assert np.isfinite(columns["float"]).all()
