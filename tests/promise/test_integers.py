"""Integers where doubles begin to leave some out: exact in every container and at every place, or an error."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from examples import STRIDE, cross
from foreign_books import (
    binary_book,
    binary_cell,
    book,
    columns,
    document,
    excel97_book,
    header,
    number,
    shared,
    table_cell,
    table_row,
    text,
    wide,
    words,
)
from programs import resave

import sheetarray as sa
from sheetarray import read_gsheet, write_gsheet
from sheetarray.testing.cases import assert_same, objects

AROUND = [sign * (base + more) for base in (2**53, 2**63, 2**64) for sign in (1, -1) for more in (*range(-3, 4), 1000)]
TYPES = ("int64", "uint64")


def held(dtype: str) -> list[int]:
    """Those of the numbers that a dtype holds."""
    info = np.iinfo(dtype)
    return [value for value in AROUND if info.min <= value <= info.max]


def arrangements() -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Arrays with such a number alone, first, in the middle, last; among small ones; in generic ones, beside None."""
    for dtype in TYPES:
        values = held(dtype)
        yield f"{dtype} all", np.array(values, dtype)
        for index, value in enumerate(values):
            yield f"{dtype} {index}", np.array([value], dtype)
            yield f"{dtype} {index} first", np.array([value, 1, 2], dtype)
            yield f"{dtype} {index} middle", np.array([1, value, 2], dtype)
            yield f"{dtype} {index} last", np.array([0, 1, value], dtype)
    for index, value in enumerate(AROUND):
        yield f"generic {index}", objects(value)
        yield f"generic {index} mixed", objects(1, value, None, "x", 0.5, True, str(value), None, value)
    yield "tall", np.zeros((1,) * 9, "int64")  # others have their first elements beside its header


ARRAYS = dict(arrangements())


def exact(array: np.ndarray[Any, Any]) -> bool:
    return array.dtype != object or all(not isinstance(cell, int) or abs(cell) <= 2**53 for cell in array)


@pytest.mark.parametrize(
    ("format", "options"),
    [
        ("csv", {}),
        ("csv", {"orient": "rows"}),
        ("csv", {"decimal": ",", "delimiter": ";"}),
        ("tsv", {}),
        ("json", {}),
        ("xlsx", {}),
        ("xlsm", {}),
        ("xlsx", {"cells": "text"}),
    ],
)
def test_what_is_written_is_read(format, options, tmp_path):
    cells = format in ("csv", "tsv", "xlsx", "xlsm")
    arrays = ARRAYS if cells else {name: array for name, array in ARRAYS.items() if exact(array)}
    if options or format in ("tsv", "xlsm"):  # a third: csv, json and xlsx have all
        arrays = {name: arrays[name] for name in list(arrays)[len(format) % 3 :: min(STRIDE, 3)]}
    path = tmp_path / f"numbers.{format}"
    sa.write(path, arrays, **options)
    read = sa.read(path)
    for name, array in arrays.items():
        assert_same(np.asarray(read[name]), array)
    for name in list(arrays)[::17]:
        sa.write(path, {name: arrays[name]}, **options)
        assert_same(np.asarray(sa.read(path, name)), arrays[name])


def test_a_spreadsheet_of_google(server):
    client, key = server.client(), server.create()
    arrays = {name: ARRAYS[name] for name in list(ARRAYS)[::3]}
    write_gsheet(key, arrays, client=client)
    read = read_gsheet(key, client=client)
    for name, array in arrays.items():
        assert_same(read[name], array)
    write_gsheet(key, {"a": np.array([1, 2, 3])}, client=client, sheet="doubles")
    sheet = client.open_by_key(key).worksheet("doubles")
    sheet.update([[2**53 + 2]], f"A{sheet.col_values(1).index('data') + 2}", value_input_option="RAW")
    with pytest.raises(sa.FormatError, match=r"doubles of 2\^53 or more"):
        read_gsheet(key, client=client, sheet="doubles")


@pytest.mark.parametrize("suffix", ["xlsx", "ods", "xls"])
def test_what_libreoffice_saves(suffix, tmp_path):
    arrays = {name: ARRAYS[name] for name in ("int64 all", "uint64 all", "int64 3 middle", "generic 2 mixed", "tall")}
    sa.write(tmp_path / "numbers.xlsx", arrays)
    read = sa.read(resave(tmp_path / "numbers.xlsx", suffix, tmp_path / "saved"))
    for name, array in arrays.items():
        assert_same(read[name], array)


# Cells of others ---------------------------------------------------------------------------------------------

NUMERALS = {
    "9007199254740993": 2**53 + 1,
    "9007199254740993.0": 2**53 + 1,
    "9007199254740993.000": 2**53 + 1,
    "9.007199254740993E+15": 2**53 + 1,
    "1E+16": 10**16,
    "1e16": 10**16,
    "1.0e0": 1,
    "2.0": 2,
    "-9007199254740993": -(2**53) - 1,
    "9007199254740992": 2**53,
    "9007199254740991.0": 2**53 - 1,
    "9223372036854775807": 2**63 - 1,
    "-0": 0,
    "-0.0": 0,
    "-9223372036854775808": -(2**63),
    "9223372036854775807.0": 2**63 - 1,
    "900719925474099.3E1": 2**53 + 1,
}
NO_INTEGERS = ["9223372036854775808", "1E+19", "9007199254740993.5", "9007199254740992.4", "2.5", "1E-1", "1e400"]


KINDS: dict[str, Callable[[str], str]] = {
    "number": number,
    "inline": lambda value: f' t="inlineStr"><is><t>{value}</t></is></c>',
    "formula": lambda value: f"><f>1+1</f><v>{value}</v></c>",
    "text formula": lambda value: f' t="str"><f>1+1</f><v>{value}</v></c>',
    "shared": lambda _: ' t="s"><v>0</v></c>',
}
PLACES = {"alone": [None], "first": [None, "1", "2"], "middle": ["1", None, "2"], "last": ["3", "4", None]}


def workbook(kind: str, value: str, around: list[str | None], *, dtype: str = "int64", beside: bool = False) -> bytes:
    """A workbook of one array with a cell of a kind among small numbers; `beside` it an array of text."""
    arrays = [
        [text("a"), *header(dtype, len(around)), *(KINDS[kind](value) if o is None else number(o) for o in around)]
    ]
    if beside:
        arrays.append([text("s"), *header("string", 1), text("x")])
    return book(columns(*arrays), strings=shared(f"<t>{value}</t>"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beside", [False, True])
def test_digits_of_cells_count_as_they_are_written(kind, beside):
    begin = (list(KINDS).index(kind) + beside) % len(PLACES)
    places = [*PLACES, *PLACES][begin : begin + len(PLACES)]  # other ones of each kind
    for value, place in cross(NUMERALS, places):
        around = PLACES[place]
        content = workbook(kind, value, around, beside=beside)
        expected = [NUMERALS[value] if other is None else int(other) for other in around]
        assert sa.read(io.BytesIO(content), "a", format="xlsx").tolist() == expected, value
    for value, place in cross(NO_INTEGERS, places):
        around = PLACES[place]
        content = workbook(kind, value, around, beside=beside)
        with pytest.raises(sa.FormatError, match=f"A{len(words('int64', 1)) + 2 + around.index(None)}"):
            sa.read(io.BytesIO(content), format="xlsx")


def test_uint64_cells():
    for turn, kind in enumerate(KINDS):
        for value in held("uint64")[turn % 2 :: 2]:  # each of some kinds
            content = workbook(kind, str(value), ["1", None], dtype="uint64")
            assert sa.read(io.BytesIO(content), format="xlsx")["a"].tolist() == [1, value]


def test_a_fraction_that_text_has_is_none_of_an_integer():
    """A number cell is a double, whatever its digits; text is not."""
    for value in ("0.99999999999999999999", "1.00000000000000000001", "-3.0000000000000000001"):
        for around in PLACES.values():
            for kind in ("inline", "shared", "text formula"):
                with pytest.raises(sa.FormatError, match="expected an integer"):
                    sa.read(io.BytesIO(workbook(kind, value, around)), format="xlsx")
            for beside in (False, True):
                content = workbook("number", value, around, beside=beside)
                assert sa.read(io.BytesIO(content), "a", format="xlsx")[around.index(None)] == round(float(value))


@pytest.mark.parametrize(
    ("dtype", "cell", "message"),
    [("bool", ' t="b"><v>2</v></c>', "boolean"), ("float64", ' t="s"><v>0.5</v></c>', "refers to string")],
)
def test_a_boolean_and_an_index_of_a_string_are_integers(dtype, cell, message):
    cells = [text("a"), *header(dtype, 1), cell]
    with pytest.raises(sa.FormatError, match=message):
        sa.read(io.BytesIO(book(columns(cells), strings=shared("<t>1</t>"))), format="xlsx")


def test_generic_cells_keep_their_digits():
    for value, meant in {
        "9007199254740993": 2**53 + 1,
        "9007199254740993.0": 2**53 + 1,
        "2.0": 2,
        "1.0e0": 1,
        "1E+16": 1e16,
        "9.007199254740992E+15": 2.0**53,
        "-0": -0.0,
        "-0.0": -0.0,
        "0.50": 0.5,
        "1" * 25: int("1" * 25),
    }.items():
        content = workbook("number", value, ["1", None, "3"], dtype="generic")
        assert_same(sa.read(io.BytesIO(content), format="xlsx")["a"], objects(1, meant, 3))


def test_a_document_keeps_its_digits():
    for value, meant in NUMERALS.items():
        cell = table_cell(0.5).replace("0.5", value)
        for cells, expected in (([cell], [meant]), ([table_cell(1.0), cell], [1, meant])):
            rows = [table_row(table_cell(word)) for word in ("a", *words("int64", len(cells)))]
            content = document({"arrays": "".join([*rows, *map(table_row, cells)])})
            assert sa.read(io.BytesIO(content), format="ods")["a"].tolist() == expected


def binary(value: float, dtype: str) -> list[bytes]:
    """A .xlsb and a .xls with an array of one double."""
    cells = ["a", *words(dtype, 1), value]
    rows = {
        index: [binary_cell(6, 0, wide(cell)) if isinstance(cell, str) else binary_cell(5, 0, struct.pack("<d", cell))]
        for index, cell in enumerate(cells)
    }
    return [binary_book(rows), excel97_book({(index, 0): cell for index, cell in enumerate(cells)})]


@pytest.mark.parametrize("value", [2.0**53, 2.0**53 + 2, -(2.0**53), 2.0**62, 1e300])
def test_a_double_of_a_binary_workbook_is_no_integer_beyond_2_53(value):
    for content in binary(value, "int64"):
        with pytest.raises(sa.FormatError, match=r"a number of 2\^53 or more"):
            sa.read(io.BytesIO(content), format="xlsx")
        assert [finding.severity for finding in sa.check(io.BytesIO(content), format="xlsx")] == ["error"]
    for dtype in ("float64", "generic"):
        for content in binary(value, dtype):
            assert sa.read(io.BytesIO(content), format="xlsx")["a"].tolist() == [value]
    for content in binary(2.0**53 - 1, "int64"):
        assert sa.read(io.BytesIO(content), format="xlsx")["a"].tolist() == [2**53 - 1]


def read_as_doubles(array: np.ndarray[Any, Any]) -> Any:
    """Return an array that goes through the JSON of a program that has no numbers but doubles."""
    cells = sa.to_linear(array)
    start = cells.index("data") + 1
    cells[start:] = (float(cell) if type(cell) is int else cell for cell in cells[start:])
    return sa.read_json(io.StringIO(json.dumps({"x": cells})))["x"]


@pytest.mark.parametrize("dtype", ["int64", "uint64", "m8[s]"])
@pytest.mark.parametrize("more", range(-2, 3))
def test_integers_around_2_53_come_back_where_all_numbers_are_doubles(dtype, more):
    for sign in (1,) if dtype == "uint64" else (1, -1):
        array = np.array([sign * (2**53 + more), 1]).astype(dtype)
        assert_same(read_as_doubles(array), array)


def test_generic_integers_of_json_reach_to_2_53():
    for sign in (1, -1):
        for more in (-1, 0):
            array = objects(sign * (2**53 + more), 1)
            assert_same(sa.from_linear(json.loads(json.dumps(sa.to_linear(array)))), array)
        with pytest.raises(sa.DTypeError, match=r"beyond 2\^53"):
            sa.to_linear(objects(sign * (2**53 + 1)))


def test_doubles_among_cells_are_integers_only_below_2_53():
    *flat, _ = sa.to_linear(np.array([1, 2]))
    assert sa.from_linear([*flat, float(2**53 - 1)]).tolist() == [1, 2**53 - 1]
    for value in (float(2**53), -float(2**53), 1e16):
        with pytest.raises(sa.FormatError, match=r"2\^53"):
            sa.from_linear([*flat, value])
    content = json.dumps({"x": [*flat, 0]}).replace(" 0]}", " 9007199254740993.0]}")
    with pytest.raises(sa.FormatError, match=r"x\[19\].*2\^53"):
        sa.read(io.BytesIO(content.encode()), format="json")


def test_an_integer_is_rounded_once_on_its_way_to_a_narrow_float():
    value = 2**60 + 2**36 + 1
    flat = sa.to_linear(np.array([1.0], "float32"))
    assert sa.from_linear([*flat[:-1], value])[0] == np.float32(2.0**60 + 2.0**37)


# Ordinary tables ---------------------------------------------------------------------------------------------


def table(*cells: str) -> bytes:
    return book({(1, 0): text("id"), **{(index, 0): cell for index, cell in enumerate(cells, 2)}})


@pytest.mark.parametrize("kind", ["number", "inline", "formula", "text formula"])
def test_identifiers_in_tables_stay_exact(kind):
    for dtype in TYPES:
        for turn, value in enumerate(held(dtype), list(KINDS).index(kind)):  # all at every place, of some kind
            cells = ([value], [value, 1], [1, value, 2], [5, value])[turn % 4]
            content = table(*(KINDS[kind](str(cell)) for cell in cells))
            read = sa.read_columns(io.BytesIO(content), format="xlsx")["id"]
            if kind in ("inline", "text formula"):  # another program typed them as text
                assert read.tolist() == [str(cell) for cell in cells]
            else:
                assert read.tolist() == cells, (read.dtype, cells)
                assert read.dtype in (np.int64, np.uint64)
            if value > 0:
                read = sa.read_columns(io.BytesIO(content), dtype=dtype, format="xlsx")["id"]
                assert read.tolist() == cells


@pytest.mark.filterwarnings("ignore:.*more digits than a double holds:sheetarray.SheetArrayWarning")
def test_number_cells_of_tables_beyond_2_53():
    for cells, expected in {
        ("1.5", "10000000000000000"): [1.5, 1e16],
        ("1E+16", "2"): [1e16, 2.0],
        ("1e300", "2"): [1e300, 2.0],
        ("1.5", "9007199254740993"): ["1.5", "9007199254740993"],
        ("9007199254740993.0",): [2**53 + 1],
        ("18446744073709551616",): [2.0**64],
        ("18446744073709551617",): ["18446744073709551617"],
    }.items():
        read = sa.read_columns(io.BytesIO(table(*map(number, cells))), format="xlsx")["id"]
        assert read.tolist() == expected
        assert (read.dtype.kind == "f") == isinstance(expected[0], float)


def test_doubles_of_binary_tables_stay_doubles():
    for value in (2.0**53, 2.0**53 + 2, -(2.0**60)):
        read = sa.read_columns(io.BytesIO(excel97_book({(0, 0): "id", (1, 0): value})), format="xlsx")["id"]
        assert (read.dtype, read.tolist()) == (np.float64, [value])
