"""Ordinary tables in every container: which rows and columns count, names, missing values, marks, options."""

from __future__ import annotations

import io
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from exact_powers import powers_of_ten
from limits import set_limits

import sheetarray as sa
from sheetarray.testing.cases import assert_same


def read(text: str | bytes, columns: Any = None, **options: Any) -> dict[str, Any]:
    file = io.StringIO(text, newline="") if isinstance(text, str) else io.BytesIO(text)
    return sa.read_columns(file, columns, format="csv", **options)


def workbook(rows: list[list[Any]], *, from_1904: bool = False) -> io.BytesIO:
    book = openpyxl.Workbook()
    if from_1904:
        book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    for down, row in enumerate(rows, 1):
        for right, value in enumerate(row, 1):
            if value is not None:
                book.active.cell(down, right, value)
    file = io.BytesIO()
    book.save(file)
    file.seek(0)
    return file


def lists(arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: array.tolist() for name, array in arrays.items()}


# Which rows and columns count --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*more cells than there are names:sheetarray.SheetArrayWarning")
@pytest.mark.parametrize("rows", [3, 198, 199, 200, 254, 255, 256, 1199, 1200, 1201, 3000, 30_000])
def test_a_column_counts_that_holds_a_cell_only_far_below(rows: int) -> None:
    lines = ["1"] * rows
    assert read("\n".join(["a", *lines, "1,2.5"]), delimiter=",")["B"][-1] == 2.5
    text = "\n".join(["a,b", *["1,x"] * rows, "1,y,2.5", ",,,7"])
    arrays = read(text)
    assert list(arrays) == ["a", "b", "C", "D"]
    assert (arrays["C"][rows], arrays["D"][rows + 1]) == (2.5, 7)
    assert np.isnan(arrays["C"]).sum() == np.isnan(arrays["D"]).sum() == rows + 1
    assert len(read(text, ["a"])["a"]) == rows + 2
    assert read(text, ["D"])["D"][-1] == 7
    quoted = read(text.replace("1,x", '1,"x ""z"""', 1), ["D"])["D"]
    assert (len(quoted), quoted[-1]) == (rows + 2, 7)


@pytest.mark.parametrize("rows", [0, 1, 15, 16, 17, 1199, 1200, 1201, 3000, 100_000])
def test_a_table_may_start_far_down(rows: int) -> None:
    assert lists(read("\n" * rows + "a,b\n1,x\n")) == {"a": [1], "b": ["x"]}
    assert lists(read(",\n" * rows + "a,b\n1,x\n" + ",\n" * rows)) == {"a": [1], "b": ["x"]}
    if rows < 10_000:
        assert lists(sa.read_columns(workbook([[]] * rows + [["a", "b"], [1, "x"]]), format="xlsx")) == {
            "a": [1],
            "b": ["x"],
        }


# Numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["%.18e", "%r", "%.17g", "%.20f", "%+.18e", "%.15g", "%.3f"])
@pytest.mark.parametrize("count", [5, 3000])
def test_what_programs_print_of_doubles_is_floats(form: str, count: int) -> None:
    powers = powers_of_ten(np.random.default_rng(2).integers(-5, 6, count))
    values = np.random.default_rng(1).normal(size=count) * powers
    texts = [form % value for value in values.tolist()]
    array = read("x\n" + "\n".join(texts))["x"]
    assert_same(array, np.array(list(map(float, texts))))


def test_what_savetxt_writes_is_read(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(1000, 3))
    np.savetxt(tmp_path / "x.txt", values, header="a b c")
    arrays = sa.read_columns(tmp_path / "x.txt", comment="#")
    assert_same(np.column_stack(list(arrays.values())), values)


# Options, arrays, warnings -----------------------------------------------------------------------------------


def test_many_short_columns_take_no_query_each() -> None:
    """Plain Python reads them: the engine is not asked for any of 8,000 columns of ten cells."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(10, 8000))
    text = ",".join(f"c{place}" for place in range(8000)) + "\n"
    text += "".join(",".join(map(repr, row)) + "\n" for row in values.tolist())
    code = (
        "import sys, io, sheetarray as sa\n"
        "arrays = sa.read_columns(io.StringIO(sys.stdin.read()), format='csv')\n"
        "assert len(arrays) == 8000, len(arrays)\n"
        "print('polars' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.filterwarnings("ignore:.*more cells than there are names:sheetarray.SheetArrayWarning")
@pytest.mark.parametrize("rows", [199, 200, 201, 3000])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_column_that_begins_below_the_rows_in_which_the_delimiter_is_looked_for(rows: int, delimiter: str) -> None:
    text = "a\n" + "1\n" * rows + f"1{delimiter}2.5\n"
    columns = sa.read_columns(io.StringIO(text), format="csv")
    assert list(columns) == ["a", "B"]
    assert columns["a"].tolist() == [1] * (rows + 1)
    assert columns["B"][-1] == 2.5
    assert np.isnan(columns["B"][:-1]).all()


@pytest.mark.parametrize("short", [0, 10**9])
@pytest.mark.parametrize("numeral", ["5.960464477539063e-08", "5.960464477539062e-08", "-5.960464477539063e-08"])
def test_a_double_halfway_between_two_numerals_is_known_by_both(
    numeral: str, short: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, short_table=short)
    array = sa.read_columns(io.StringIO(f"x\n0\n{numeral}\n"), format="csv")["x"]
    assert_same(array, np.array([0, float(numeral)]))


# Very many blank lines around the rows of a table change neither its values nor the addresses in its errors ---

COUNTS = [1, 300, 20_000]
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


@pytest.mark.parametrize("more", [-4, -1, 0, 1])  # four are more than the blank lines at the end
@pytest.mark.parametrize("limit", ["bytes_at_once", "few_rows"])
@pytest.mark.parametrize(
    "text",
    [
        'a,b\n1,x\n2,"y, z"\n3,w\n4,"v\nu"\n',
        "a,b\n1,x\n\n2,\n3,w,9\n4,v\n\n",
        "# c\n\na b,c\n1,2\n3,4\ntotal,6\n",
        "2019,2020\n1,2\n3,4\n5,Total",
    ],
)
def test_a_small_text_is_read_as_a_large_one(text: str, limit: str, more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = repr(columns(text))  # in which NaN is NaN
    size = len(text) if limit == "bytes_at_once" else text.count("\n")
    set_limits(monkeypatch, **{limit: size + more})
    assert repr(columns(text)) == expected


@pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")
@pytest.mark.parametrize("last", ["7|v", '7|"v"'])
def test_quotes_of_a_later_cell_change_no_names(last: str) -> None:
    text = f"x|\n# c\n|\n1|y\n2|z\n3|y\n4|y\n5|y\n6|y\n|w\n{last}\n"
    assert list(read(text)) == ["x", "B"]


@pytest.mark.parametrize("count", COUNTS)
def test_blank_lines_count_in_one_column_and_in_quotes(count: int) -> None:
    values = sa.read_columns(io.StringIO("a\n1\n" + "\n" * count + "2\n"), format="csv")["a"]
    assert len(values) == count + 2
    table = sa.read_columns(io.StringIO('a,b\n1,"x' + "\n" * count + 'y"\n' + ROW), format="csv")
    assert table["b"][0] == "x" + "\n" * count + "y"
    only_quoted = sa.read_columns(io.StringIO('"a,b"\n1\n' + "\n" * count + "2\n"), format="csv", delimiter=",")
    assert len(only_quoted["a,b"]) == count + 2
    rows = sa.read_columns(io.StringIO("a,b\n1,2\n" + ",\n" * count + "3,4\n"), format="csv")
    assert np.isnan(rows["a"]).nonzero()[0].tolist() == [*range(1, count + 1)]
