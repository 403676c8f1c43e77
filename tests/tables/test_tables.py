"""Ordinary tables in every container: which rows and columns count, names, missing values, marks, options."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from exact_powers import powers_of_ten
from limits import set_limits

import sheetarray as sa
from sheetarray.testing.cases import assert_same, objects


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


@pytest.mark.filterwarnings("ignore:.*a cell beside the table, where no name stands:sheetarray.SheetArrayWarning")
def test_cells_of_a_workbook_count_however_far_below_or_to_the_right() -> None:
    arrays = sa.read_columns(workbook([["a"], *[[1]] * 3000, [1, None, 2.5]]), format="xlsx")
    assert list(arrays) == ["a", "C"]
    assert (arrays["C"][-1], np.isnan(arrays["C"]).sum()) == (2.5, 3000)


def test_columns_without_a_name_or_a_cell_do_not_count() -> None:
    assert list(read("a,,c,\n1,,3,\n2, ,4,\n")) == ["a", "c"]
    assert list(read(",a,\n,1,\n")) == ["a"]
    assert list(read("a,b,c\n1,,3\n")) == ["a", "b", "c"]


# Names -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("country,2019,2020", ["country", "2019", "2020"]),
        ("x,nan", ["x", "nan"]),
        (",2019,x", ["index", "2019", "x"]),
        ("true,v 2020-01-01", ["true", "v 2020-01-01"]),
        ("nan,1.5", None),
        ("2020-01-01,TRUE", None),
        ("-1e5,2020-01-01T10:20:30", None),
        ("007,5", None),
    ],
)
def test_row_1_holds_names_unless_every_cell_of_it_is_a_value(header: str, names: list[str] | None) -> None:
    width = len(next(csv.reader([header])))
    arrays = read(f"{header}\n{','.join(['1'] * width)}\n")
    assert list(arrays) == (names or ["A", "B", "C"][:width])
    assert len(next(iter(arrays.values()))) == (1 if names else 2)
    cells: list[Any] = [
        float(cell) if cell in ("2019", "2020", "1.5", "5", "4") else cell for cell in next(csv.reader([header]))
    ]
    assert list(sa.read_columns(workbook([cells, [1] * width]), format="xlsx")) == (names or ["A", "B", "C"][:width])


def test_several_rows_of_names() -> None:
    assert lists(read("a,b,\nm,,s\n1,2,3\n", header=2)) == {"a m": [1], "b": [2], "s": [3]}
    assert lists(read("a,b\n1,2\n", header=0)) == {"A": ["a", "1"], "B": ["b", "2"]}
    assert lists(read("a,b\n1,2\n", header=2)) == {"a 1": [], "b 2": []}
    for wrong in (-1, 1.5, "1"):
        with pytest.raises(ValueError, match="header"):
            read("a\n1\n", header=wrong)


def test_odd_names() -> None:
    assert lists(read('"a\nb", c \n1,2\n')) == {"a\nb": [1], "c": [2]}


# Decimal commas and thousands --------------------------------------------------------------------------------


COMMAS: dict[tuple[str, str], list[float] | None] = {
    ("1,234", "5,678"): None,
    ("3,14", "2,718"): [3.14, 2.718],
    ("1,234", "12,3456"): [1.234, 12.3456],
    ("0,123", "1,234"): [0.123, 1.234],
    ("1,234,567", "3,14"): None,
    ("3,14", "2.718"): [3.14, 2718],
    ("3,14", "2"): [3.14, 2],
    ("-1,5e3", "+2,25E-2"): [-1500, 0.0225],
    (",5", "1,5"): [0.5, 1.5],
    ("1.234,5", "1,5"): [1234.5, 1.5],
    ("00,5", "1,5"): None,
}


@pytest.mark.filterwarnings("ignore:.*every comma of column 'n' could part:sheetarray.SheetArrayWarning")
@pytest.mark.parametrize("length", [1, 200])
def test_a_comma_is_decimal_only_where_it_can_be_nothing_else(length: int) -> None:
    for cells, expected in COMMAS.items():
        rows = [["name", "n"], *[["a b", cell] for cell in cells] * length]
        typed = sa.read_columns(workbook(rows), format="xlsx")["n"]
        assert typed.tolist() == list(cells) * length  # what a workbook types as text stays text
        arrays = []
        for delimiter in "\t|;,":
            file = io.StringIO(newline="")
            csv.writer(file, delimiter=delimiter).writerows(rows)
            arrays.append(read(file.getvalue())["n"])
        for array in arrays:
            assert array.tolist() == list(expected or cells) * length
            assert (array.dtype == np.float64) == (expected is not None)


@pytest.mark.parametrize("length", [1, 200])
def test_marks_that_are_given(length: int) -> None:
    for cells, marks, expected in (
        (("1,234", "5"), {"thousands": ","}, [1234, 5]),
        (("1.234,5", "6,25"), {"thousands": "."}, [1234.5, 6.25]),
        (("1,234.5", "-1,234,567.25"), {"thousands": ","}, [1234.5, -1234567.25]),
        (("1,23", "5"), {"thousands": ","}, None),
        (("1 234", "1\u202f234\u00a0567"), {"thousands": " "}, [1234, 1234567]),
        (("1'234", "2"), {"thousands": "'"}, [1234, 2]),
        (("1,234", "2"), {"decimal": ","}, [1.234, 2]),
        (("1,5", "2"), {"decimal": "."}, None),
        (("1.5", "2,5"), {"decimal": ","}, None),
        (("+1.234,5e2", "0"), {"decimal": ",", "thousands": "."}, [123450, 0]),
    ):
        text = "\n".join(["n;m", *[f"{cell};x" for cell in cells] * length])
        array = read(text, **marks)["n"]
        assert array.tolist() == list(expected or cells) * length
        assert (array.dtype.kind == "U") == (expected is None)
        if expected is not None:
            assert read(text, dtype={"n": "float64"}, **marks)["n"].tolist() == list(expected) * length
    for wrong in ({"thousands": "ab"}, {"thousands": "1"}, {"thousands": ".", "decimal": "."}, {"decimal": ";"}):
        with pytest.raises(ValueError, match=r"mark|thousands"):
            read("a\n1\n", **wrong)


def test_a_dtype_that_is_given_leaves_the_marks_to_be_found() -> None:
    assert read("a;b\n1,5;x\n2;y\n", dtype={"a": "float32"})["a"].tolist() == [1.5, 2]
    with pytest.raises(sa.FormatError, match="'1,234'"):
        read("a;b\n1,234;x\n2,345;y\n", dtype={"a": "float64"})


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


@pytest.mark.parametrize("count", [1, 500])
def test_more_digits_than_a_double_holds_are_text_and_a_warning(count: int) -> None:
    text = "x,y\n" + "1.5,2\n" * count + "0.1234567890123456789,0.30000000000000004\n" * 2
    with pytest.warns(sa.SheetArrayWarning, match=rf'^A{count + 2}: .*dtype="float64"') as caught:
        arrays = read(text)
    assert [warning.filename for warning in caught] == [__file__]
    assert arrays["x"].tolist() == ["1.5"] * count + ["0.1234567890123456789"] * 2
    assert arrays["y"].dtype == np.float64
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(text, dtype="float64")["x"][-1] == 0.1234567890123456789


# Missing values ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", ["", " ", '""', '" "', "\t"])
@pytest.mark.parametrize("count", [1, 300])
def test_blanks_are_missing(blank: str, count: int) -> None:
    rows = [("2020-01-01", "1.5", "1", "true", "a", str(2**60)), (blank,) * 6]
    arrays = read("d,f,i,b,t,n,z\n" + "\n".join(",".join((*row, "z")) for row in rows * count), delimiter=",")
    assert_same(arrays["d"], np.array(["2020-01-01", "NaT"] * count, dtype="M8[D]"))
    assert_same(arrays["f"], np.array([1.5, np.nan] * count))
    assert_same(arrays["i"], np.array([1.0, np.nan] * count))
    assert_same(arrays["b"], objects(*[True, None] * count))
    assert_same(arrays["t"], np.array(["a", ""] * count))
    assert_same(arrays["n"], objects(*[2**60, None] * count))
    for place, name in enumerate("dfibtn"):
        with pytest.raises(sa.FormatError, match="blank") as caught:
            read(
                "d,f,i,b,t,n,z\n" + "\n".join(",".join((*row, "z")) for row in rows),
                [name],
                delimiter=",",
                missing="error",
            )
        assert caught.value.location == f"{'ABCDEF'[place]}3"


def test_error_cells_of_a_workbook_are_missing_with_one_warning() -> None:
    rows = [["x", "t", "n"], [1, "a", 1], ["#N/A", "b", 2], [3, "#REF!", "#DIV/0!"]]
    with pytest.warns(sa.SheetArrayWarning) as caught:
        arrays = sa.read_columns(workbook(rows), format="xlsx")
    assert [str(warning.message) for warning in caught] == [
        "Sheet!A3: 3 error cells, read as missing values; the first is #N/A"
    ]
    assert [warning.filename for warning in caught] == [__file__]
    assert_same(arrays["x"], np.array([1, np.nan, 3]))
    assert_same(arrays["t"], np.array(["a", "b", ""]))
    assert_same(arrays["n"], np.array([1, 2, np.nan]))
    with pytest.raises(sa.FormatError, match="#N/A") as error:
        sa.read_columns(workbook(rows), format="xlsx", missing="error")
    assert error.value.location == "Sheet!A3"
    with pytest.raises(sa.FormatError, match="found an error, #DIV/0!"):
        sa.read_columns(workbook(rows), dtype={"n": "int8"}, format="xlsx")


def test_values_that_mean_missing() -> None:
    text = "x,t,d\n1,a,2020-01-01\n-999.0,NA,NA\nNA,b,2020-01-02\n"
    arrays = read(text, na_values=["NA", -999])
    assert_same(arrays["x"], np.array([1, np.nan, np.nan]))
    assert_same(arrays["t"], np.array(["a", "", "b"]))
    assert_same(arrays["d"], np.array(["2020-01-01", "NaT", "2020-01-02"], dtype="M8[D]"))
    assert read(text, na_values="NA")["x"].tolist()[1] == -999
    book = workbook([["x"], [1], [-999], [3]])
    assert_same(sa.read_columns(book, format="xlsx", na_values=-999)["x"], np.array([1, np.nan, 3]))
    with pytest.raises(ValueError, match="na_values"):
        read(text, na_values=[None])


@pytest.mark.parametrize("serial", [-1, 60, 2_958_466, 1e9, 60.5])
def test_a_date_that_does_not_exist_makes_its_column_text(serial: float) -> None:
    rows: list[list[Any]] = [["d", "x"], [datetime(2020, 1, 1), 1], [datetime(2020, 1, 2), 2]]
    book = openpyxl.load_workbook(workbook(rows))
    book.active["A3"]._value, book.active["A3"].data_type = serial, "n"
    book.active["A3"].number_format = "yyyy-mm-dd"
    file = io.BytesIO()
    book.save(file)
    with pytest.warns(sa.SheetArrayWarning, match="A3: .* has a format of dates and is none"):
        array = sa.read_columns(io.BytesIO(file.getvalue()), format="xlsx")["d"]
    assert array.tolist() == ["2020-01-01", np.format_float_positional(serial, trim="-")]


@pytest.mark.filterwarnings("ignore:.*has a format of dates and is none")
@pytest.mark.parametrize("serial", [0.5, 0, -1, 2_958_466])
def test_rows_of_numbers_shown_as_dates_that_are_none_are_no_blank_rows(serial: float) -> None:
    """Times of day, for example, at the top and at the end."""
    book = openpyxl.load_workbook(workbook([["x"], [1], [5], [1]]))
    for cell in ("A2", "A4"):
        book.active[cell].value, book.active[cell].number_format = serial, "hh:mm"
    file = io.BytesIO()
    book.save(file)
    text = {0.5: "12:00:00", 0: "00:00:00"}.get(serial, str(serial))
    column = sa.read_columns(io.BytesIO(file.getvalue()), format="xlsx")["x"]
    assert column.astype(str).tolist() == [text, "5", text]
    book.active.delete_rows(1)
    file = io.BytesIO()
    book.save(file)
    column = sa.read_columns(io.BytesIO(file.getvalue()), format="xlsx", header=False)["A"]
    assert column.astype(str).tolist() == [text, "5", text]


@pytest.mark.parametrize("rows", [[["x"], [1], ["=A2*2"]], [["x"], ["=1+1"]], [["x"], [1], [None], ["=1"], ["=2"]]])
def test_formulas_without_a_value_at_the_end_are_told(rows: list[list[Any]]) -> None:
    with pytest.raises(sa.FormatError, match="a formula without a value"):
        sa.read_columns(workbook(rows), format="xlsx")
    with pytest.raises(sa.FormatError, match="a formula without a value"):
        sa.read_columns(workbook([row for row in rows if row != ["x"]]), format="xlsx", header=False)


@pytest.mark.parametrize("from_1904", [False, True])
def test_dates_of_workbooks(from_1904: bool) -> None:
    rows: list[list[Any]] = [["d"], [datetime(2020, 1, 1)], [None], [datetime(2021, 12, 31)], [" "]]
    array = sa.read_columns(workbook([*rows, ["x"]][:5], from_1904=from_1904), format="xlsx")["d"]
    assert_same(array, np.array(["2020-01-01", "NaT", "2021-12-31"], dtype="M8[D]"))


# Options, arrays, warnings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("short", [True, False])
def test_rows_that_are_passed_over(short: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not short:
        set_limits(monkeypatch, short_table=0)
    more = "" if short else "5,6\n" * 300
    text = f"# made by a program\na,b\nm,s\n1,2\n#3,4\n{more}5,6\nsum,8\n"
    for options in (
        {"comment": "#", "skip_rows": [2], "skip_footer": 1},
        {"comment": "#", "skip_rows": {2}, "skip_footer": 1},
        {"skip_rows": [0, 2, 4], "skip_footer": 1},
        {"comment": "#", "skip_rows": range(2, 3), "skip_footer": 1},
    ):
        arrays = read(text, **options)
        assert list(arrays) == ["a", "b"]
        assert arrays["b"].tolist() == [2, *[6] * (300 * (not short)), 6]
        assert arrays["b"].dtype == np.int64
    with pytest.raises(sa.FormatError) as caught:
        read("a,b\n1,2\n#\n\nx,3\n", comment="#", dtype={"a": "int8"})
    assert caught.value.location == "A5"
    for wrong in ({"skip_rows": -1}, {"skip_rows": [-1]}, {"skip_rows": "1"}, {"skip_footer": -1}, {"comment": ""}):
        with pytest.raises(ValueError, match=r"rows|skip_footer|comment"):
            read("a\n1\n", **wrong)
    assert lists(read("a,b\n1,2\n", skip_footer=1)) == {"a": [], "b": []}
    with pytest.raises(sa.FormatError, match="empty"):
        read("a,b\n1,2\n", skip_footer=2)
    pages = workbook([["t"], [], ["a", "b"], ["m", "s"], [1, 2], ["#", None], [5, 6], ["sum", 8]])
    arrays = sa.read_columns(pages, format="xlsx", skip_rows=[0, 3], comment="#", skip_footer=1)
    assert lists(arrays) == {"a": [1, 5], "b": [2, 6]}


@pytest.mark.parametrize("orient", ["columns", "rows"])
def test_a_sheet_of_arrays_is_told(orient: str, tmp_path: Path) -> None:
    for suffix in (".csv", ".tsv", ".xlsx"):
        options = {"orient": orient} if suffix != ".xlsx" else {}
        sa.write(tmp_path / f"x{suffix}", {"t": np.arange(3), "u": np.arange(4)}, **options)
        with pytest.raises(sa.FormatError, match=r"exchange format.*read it with sheetarray.read"):
            sa.read_columns(tmp_path / f"x{suffix}")
    assert list(read("version,ndarray\nndarray,shape\n1,2\n")) == ["version", "ndarray"]


def test_the_delimiter_of_a_table() -> None:
    assert lists(read("1,5;2,5\n3,5;4,5\n")) == {"A": [1.5, 3.5], "B": [2.5, 4.5]}
    assert lists(read("a,b\nx;y,1\nz,2\n")) == {"a": ["x;y", "z"], "b": [1, 2]}
    assert list(read("a;b\n1;2,3,4\n")) == ["a", "b"]
    assert lists(read(",,\n,;\n", delimiter=";", header=False)) == {"A": [",,", ","]}
    for empty in (",,,\n,,\n", ";\n;\n", "\n\n", "", " \n"):
        with pytest.raises(sa.FormatError, match="empty"):
            read(empty)


def test_other_encodings_and_unbalanced_quotes() -> None:
    assert lists(read("\ufeffa,b\n1,ü\n")) == {"a": [1], "b": ["ü"]}
    assert lists(read("a,b\n1,ü\n".encode("utf-16"))) == {"a": [1], "b": ["ü"]}
    assert lists(read('a,b\n5" pipe,1\n6" pipe,2\n')) == {"a": ['5" pipe', '6" pipe'], "b": [1, 2]}
    with pytest.warns(sa.SheetArrayWarning, match="A3: a quote stands beside no delimiter: row 3 was cut anew"):
        assert lists(read('a,b\n1,2\n3,"4\n5,6\n')) == {"a": [1, 3, 5], "b": ["2", '"4', "6"]}


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


def test_commas_in_fewer_than_half_of_the_first_rows_are_text() -> None:
    text = "a\n" + "x y\n" * 3 + "x, y\n"
    assert sa.read_columns(io.StringIO(text), format="csv")["a"].tolist() == ["x y"] * 3 + ["x, y"]


@pytest.mark.parametrize("rows", [1, 300])  # few are split in Python, many are parsed
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_quoted_text_is_no_comment(rows: int, delimiter: str) -> None:
    lines = ['x,"y,;\t"', '"#a",2', "#b,3", "c,4", ',"#e"', ",#f", "# a remark"] + ["g,6"] * rows
    text = "\n".join(lines).replace(",", delimiter).replace(f"y{delimiter};", "y,;") + "\n"
    table = sa.read_columns(io.StringIO(text), format="csv", comment="#", delimiter=delimiter, dtype="string")
    assert table["x"].tolist()[:4] == ["#a", "c", "", "g"]
    assert len(table["x"]) == 3 + rows


def test_a_cell_of_a_workbook_that_begins_with_the_mark_is_a_comment(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["x", "y"], ["#a", 2], ["c", 4]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    assert sa.read_columns(tmp_path / "t.xlsx", comment="#")["y"].tolist() == [4]


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


def test_a_blank_row_of_a_workbook_is_a_row() -> None:
    assert np.isnan(sa.read_columns(workbook([["a"], [1], [], [3]]), format="xlsx")["a"]).tolist() == [0, 1, 0]


@pytest.mark.parametrize("rows", [2, 300])
@pytest.mark.parametrize("numeral", ["9007199254740993.0", "-9007199254740993.00", "9007199254740993e0"])
def test_a_decimal_that_no_double_holds_stays_text(rows: int, numeral: str) -> None:
    for others in ("1", "1.5", "", "9007199254740992.0"):
        table, notes = columns("x,y\n" + f"{others},1\n" * (rows - 1) + f"{numeral},1\n")
        assert table["x"][0].kind == "U"
        assert table["x"][1][-1] == numeral
        assert "more digits than a double holds" in notes[0]
