"""Numerals become narrow floats by one rounding, in every container of text and at every length."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from contextlib import nullcontext
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from foreign_books import book, columns, document, number, table_cell, table_row, text
from round_trips import without_loops

import sheetarray as sa


def round_exactly(text: str, dtype: np.dtype[Any]) -> Any:
    """Return the nearest float to a numeral, the even one of two."""
    near, exact = dtype.type(float(text)), Fraction(text)
    around = [np.nextafter(near, dtype.type(-np.inf)), near, np.nextafter(near, dtype.type(np.inf))]
    finite = [value for value in around if np.isfinite(value)]
    odd = [int(value.view(f"u{dtype.itemsize}")) & 1 for value in finite]
    return min(zip([abs(Fraction(float(value)) - exact) for value in finite], odd, finite, strict=True))[2]


@cache
def make_numerals(dtype: np.dtype[Any], count: int) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Return numerals in the middle between two floats, or right beside it, and the floats that they become."""
    drawn, numerals = random.Random(count), []
    with localcontext() as context:
        context.prec = 200
        for _ in range(count):
            low = dtype.type(drawn.choice([drawn.uniform(0.01, 1000), drawn.uniform(1e-7, 1e-4)]))
            middle = (Decimal(float(low)) + Decimal(float(np.nextafter(low, dtype.type(np.inf))))) / 2
            beside = drawn.choice([-1, 0, 0, 1]) * Decimal(10) ** (middle.adjusted() - drawn.choice([9, 18, 20, 25]))
            numerals.append(drawn.choice(["", "-"]) + format(middle + beside, "f"))
    return numerals, np.array([round_exactly(numeral, dtype) for numeral in numerals], dtype)


def flat_list(cells: list[str], name: str) -> list[Any]:
    count = len(cells)
    header = ["version", "1.0.0", "ndarray", "shape", count, "strides", 1, "offset", 0, "order", "row-major"]
    return [*header, "dtype", name, "length", count, "capacity", count, "data", *cells]


def as_csv(cells: list[str], name: str, beside: str = "") -> io.BytesIO:
    return io.BytesIO("".join(f"{cell}{beside}\n" for cell in ["t", *flat_list(cells, name)]).encode())


def as_json(cells: list[str], name: str) -> io.BytesIO:
    return io.BytesIO(json.dumps({"t": flat_list(cells, name)}).encode())


def as_workbook(cells: list[str], name: str) -> io.BytesIO:
    import xlsxwriter

    file = io.BytesIO()
    with xlsxwriter.Workbook(file) as book:
        book.add_worksheet().write_column(0, 0, ["t", *flat_list(cells, name)])
    file.seek(0)
    return file


def as_table(cells: list[str]) -> io.BytesIO:
    return io.BytesIO("".join(f"{cell},a\n" for cell in ["t", *cells]).encode())


READERS: dict[str, Callable[[list[str], str], Any]] = {
    "CSV": lambda cells, name: sa.read(as_csv(cells, name), format="csv")["t"],
    "CSV of two columns": lambda cells, name: sa.read(as_csv(cells, name, ","), format="csv")["t"],
    "a table": lambda cells, name: sa.read_columns(as_table(cells), ["t"], format="csv", dtype=name)["t"],
    "text in JSON": lambda cells, name: sa.read(as_json(cells, name), format="json")["t"],
    "text in a workbook": lambda cells, name: sa.read(as_workbook(cells, name), format="xlsx")["t"],
    "a flat list": lambda cells, name: sa.from_linear(flat_list(cells, name)),
}


NAMES = ["float16", "float32", "complex64"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reader", READERS)
def test_numerals_are_rounded_once(reader: str, name: str) -> None:
    dtype = np.dtype("float32" if name == "complex64" else name)
    is_long = [*READERS].index(reader) % 3 == NAMES.index(name)  # very many of one dtype by each reader
    for count, times in ((1, 1), (10, 1), (1000, 40 if is_long else 1)):
        numerals, expected = make_numerals(dtype, count)
        cells = [f"{numeral}+0.5i" for numeral in numerals] if name == "complex64" else numerals
        array = READERS[reader](cells * times, name)
        np.testing.assert_array_equal(array.real, np.tile(expected, times))


def make_doubles(dtype: np.dtype[Any], count: int) -> list[float]:
    """Return doubles in the middle between two narrow floats, and the doubles right beside it."""
    drawn, doubles = random.Random(count), []
    for _ in range(count):
        low = dtype.type(drawn.choice([drawn.uniform(0.01, 1000), drawn.uniform(1e-7, 1e-4)]))
        middle = (float(low) + float(np.nextafter(low, dtype.type(np.inf)))) / 2  # exact
        double = drawn.choice([middle, np.nextafter(middle, -np.inf), np.nextafter(middle, np.inf)])
        doubles.append(drawn.choice([-1, 1]) * float(double))
    return doubles


def as_numbers(cells: list[float], name: str, suffix: str) -> io.BytesIO:
    """Return a workbook of number cells, with 17 digits where a double needs them."""
    listed = ["t", *flat_list([], name)]
    listed[5] = listed[15] = listed[17] = len(cells)
    if suffix == "ods":
        return io.BytesIO(document({"arrays": "".join(table_row(table_cell(word)) for word in [*listed, *cells])}))
    words = [number(word) if isinstance(word, int) else text(word) for word in listed]
    rows = columns([*words, *map(number, cells)])
    return io.BytesIO(book(rows))


@pytest.mark.parametrize("name", ["float16", "float32"])
@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_number_cells_are_rounded_once(suffix: str, name: str) -> None:
    dtype = np.dtype(name)
    long_by = "loop" if (suffix == "xlsx") == (name == "float16") else "plain"
    for count, way in product([1, 10, 1000], ["loop", "plain"]):
        times = 40 if count == 1000 and way == long_by else 1
        doubles = make_doubles(dtype, count)
        expected = np.array([round_exactly(repr(double), dtype) for double in doubles], dtype)
        workbook = as_numbers(doubles * times, name, suffix)
        with without_loops() if way == "plain" else nullcontext():
            array = sa.read(workbook, format=suffix)["t"]
        np.testing.assert_array_equal(array, np.tile(expected, times))


@pytest.mark.parametrize("count", [1, 2000])
@pytest.mark.parametrize("name", ["float16", "float32"])
def test_the_greatest_value_is_met_exactly(name: str, count: int) -> None:
    greatest = np.finfo(name).max
    with localcontext() as context:
        context.prec = 100
        half = Decimal(float(greatest)) + Decimal(float(greatest - np.nextafter(greatest, greatest.dtype.type(0)))) / 2
        below, at = format(half - Decimal("1e-9"), "f"), format(half, "f")
    for reader in READERS.values():
        assert (reader([below] * count, name) == greatest).all()
        with pytest.raises(sa.FormatError, match="beyond the range"):
            reader([at] * count, name)
