"""Very many blank lines around the rows of a table change neither its values nor the addresses in its errors."""

from __future__ import annotations

import io
import warnings
from typing import Any

import pytest
from limits import get_limit

import sheetarray as sa

COUNTS = [get_limit("many_lines") + more for more in (-1, 0, 1)]
ROW = "1,2\n" * 300  # more than are split in plain Python


def columns(text: str, **options: Any) -> Any:
    """What `read_columns` gives, as lists; an error's text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            table = sa.read_columns(io.StringIO(text), format="csv", **options)
        except sa.SheetArrayError as error:
            return str(error)
    return {name: (array.dtype, array.tolist()) for name, array in table.items()}, [str(w.message) for w in caught]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("line", ["\n", "\r\n", " \n", "\t \r\n"])
def test_blank_lines_count_nowhere(count: int, line: str) -> None:
    expected = columns("a,b\n" + ROW)
    lines = line * count
    assert columns(lines + "a,b\n" + ROW) == expected
    assert columns("a,b\n" + lines + ROW) == expected
    assert columns("a,b\n" + ROW + lines) == expected
    assert columns("a,b\n" + ROW + lines[:-1]) == expected


@pytest.mark.parametrize("count", COUNTS)
def test_addresses_are_those_of_the_sheet(count: int) -> None:
    text = "\n" * count + "a,b\n" + ROW + "\n" * 7 + "x,0.1234567890123456789\n"
    row = count + 1 + 300 + 7 + 1
    assert f"cell A{row} (a[300])" in columns(text, dtype="int64")
    (_, notes) = columns(text)
    assert len(notes) == 1
    assert notes[0].startswith(f"B{row}: ")
    assert columns("\n" * count + "a,a\n" + ROW)[1][0].startswith(f"B{count + 1}: 'a' is the name")


@pytest.mark.parametrize("count", COUNTS)
def test_rows_to_skip_are_those_of_the_sheet(count: int) -> None:
    text = "note,of somebody\n" + "\n" * count + "a,b\n5,6\n" + ROW
    expected = columns("a,b\n" + ROW)
    assert columns(text, skip_rows=[0, count + 2]) == expected
    assert columns(text, skip_rows=1) == columns(text, skip_rows=count + 1) == columns("a,b\n5,6\n" + ROW)
    assert columns(text, skip_rows=count + 2, header=False) == columns("5,6\n" + ROW, header=False)


@pytest.mark.parametrize("count", COUNTS)
def test_blank_lines_count_in_one_column_and_in_quotes(count: int) -> None:
    values = sa.read_columns(io.StringIO("a\n1\n" + "\n" * count + "2\n"), format="csv")["a"]
    assert len(values) == count + 2
    table = sa.read_columns(io.StringIO('a,b\n1,"x' + "\n" * count + 'y"\n' + ROW), format="csv")
    assert table["b"][0] == "x" + "\n" * count + "y"
    only_quoted = sa.read_columns(io.StringIO('"a,b"\n1\n' + "\n" * count + "2\n"), format="csv", delimiter=",")
    assert len(only_quoted["a,b"]) == count + 2


@pytest.mark.parametrize("rows", [2, 300])
@pytest.mark.parametrize("numeral", ["9007199254740993.0", "-9007199254740993.00", "9007199254740993e0"])
def test_a_decimal_that_no_double_holds_stays_text(rows: int, numeral: str) -> None:
    for others in ("1", "1.5", "", "9007199254740992.0"):
        table, notes = columns("x,y\n" + f"{others},1\n" * (rows - 1) + f"{numeral},1\n")
        assert table["x"][0].kind == "U"
        assert table["x"][1][-1] == numeral
        assert "more digits than a double holds" in notes[0]
