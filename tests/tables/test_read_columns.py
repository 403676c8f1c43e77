"""Ordinary tables: one array a column, dtypes inferred without loss or given."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.table import Table

import sheetarray as sa
from sheetarray.columns.grid import cell_address, parse_area
from sheetarray.testing.cases import assert_same


def read(text: str, columns: Any = None, **options: Any) -> dict[str, Any]:
    return sa.read_columns(io.StringIO(text, newline=""), columns, format="csv", **options)


def column(*cells: str, **options: Any) -> Any:
    return read("x\n" + "".join(f"{cell}\n" for cell in cells), **options)["x"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2", "-3"], np.array([1, 2, -3])),
        (["0", "-1"], np.array([0, -1])),
        (["1.5", "2"], np.array([1.5, 2.0])),
        (["1e5", "-.5", "2."], np.array([1e5, -0.5, 2.0])),
        (["007", "8"], np.array(["007", "8"])),
        (["00.5", "1"], np.array(["00.5", "1"])),
        (["-007"], np.array(["-007"])),
        (["9007199254740993"], np.array([9007199254740993])),
        (["9223372036854775807", "-9223372036854775808"], np.array([2**63 - 1, -(2**63)])),
        (["18446744073709551615"], np.array([2**64 - 1], dtype="uint64")),
        (["18446744073709551616"], np.array(["18446744073709551616"])),
        (["-1", "18446744073709551615"], np.array(["-1", "18446744073709551615"])),
        (["1e999"], np.array(["1e999"])),
        (["NaN", "1", "-inf", "Infinity"], np.array([np.nan, 1, -np.inf, np.inf])),
        (["TRUE", "false", "True"], np.array([True, False, True])),
        (["2020-01-01", "1999-12-31"], np.array(["2020-01-01", "1999-12-31"], dtype="M8[D]")),
        (
            ["2020-01-01T10:20:30", "2020-01-01 10:20:31"],
            np.array(["2020-01-01T10:20:30", "2020-01-01T10:20:31"], dtype="M8[s]"),
        ),
        (
            ["2020-01-01T10:20:30.5", "2020-01-01T10:20:30.123456"],
            np.array(["2020-01-01T10:20:30.500000", "2020-01-01T10:20:30.123456"], dtype="M8[us]"),
        ),
        (["2020-02-30"], np.array(["2020-02-30"])),
        (["2020-01-01T25:00:00"], np.array(["2020-01-01T25:00:00"])),
        (["a", "b"], np.array(["a", "b"])),
        (["a", " b "], np.array(["a", " b "])),
        (["1_0"], np.array(["1_0"])),
        (["0x10"], np.array(["0x10"])),
        (["\u0661"], np.array(["\u0661"])),
        (["=1+1"], np.array(["=1+1"])),
        (["'1"], np.array(["'1"])),
        (["1e-400"], np.array(["1e-400"])),
    ],
    ids=lambda value: repr(value)[:40] if isinstance(value, list) else "",
)
def test_dtypes_are_inferred_without_loss(cells: list[str], expected: Any) -> None:
    assert_same(column(*cells), expected)


def test_a_given_dtype_wins_for_all_or_by_name() -> None:
    text = "id,t,n\n007,1.5,3\n008,2,4\n"
    result = read(text, dtype={"id": "int16", "t": np.float32})
    assert_same(result["id"], np.array([7, 8], dtype="int16"))
    assert_same(result["t"], np.array([1.5, 2], dtype="float32"))
    assert_same(result["n"], np.array([3, 4]))
    assert_same(read(text, ["n", "t"], dtype="float64")["n"], np.array([3.0, 4.0]))
    assert_same(read(text, dtype="string")["t"], np.array(["1.5", "2"]))
    assert_same(read("z\n1+2i\n3\n", dtype=complex)["z"], np.array([1 + 2j, 3]))


@pytest.mark.parametrize("dtype", ["str", str, "string", "U", "<U9", "<U1", np.dtype("U2"), np.dtypes.StringDType()])
def test_text_is_kept_as_it_stands_however_text_is_called(dtype: Any) -> None:
    for asked in (dtype, {"id": dtype, "t": dtype}):
        result = read("id,t\n007,1.50\n008,\n", dtype=asked)
        assert_same(result["id"], np.array(["007", "008"]))
        assert_same(result["t"], np.array(["1.50", ""]))


@pytest.mark.parametrize(
    ("dtype", "name"), [("float", "float64"), ("i4", "int32"), ("O", "object"), (">f4", "float32")]
)
def test_a_dtype_may_be_given_as_numpy_names_it(dtype: str, name: str) -> None:
    assert read("t\n7\n", dtype=dtype)["t"].dtype == name


def test_options_of_a_column_take_its_letter_too() -> None:
    result = read("id,t\n1,2\n3,4\n", dtype={"A": "int8"}, shape={"B": (2, 1), "id": (1, 2)})
    assert (result["id"].dtype, result["id"].shape, result["t"].shape) == (np.int8, (1, 2), (2, 1))


@pytest.mark.parametrize("dtype", ["text", "category", "S5", "f4,i4", ",", "V8", "", "longdouble", bytes, 7])
def test_a_dtype_that_no_column_has_is_refused(dtype: Any) -> None:
    with pytest.raises(sa.DTypeError):
        read("t\n7\n", dtype=dtype)


def test_a_cell_that_the_dtype_cannot_mean_is_named() -> None:
    with pytest.raises(sa.FormatError) as caught:
        read("a,b\n1,2\n3,300\n", dtype={"b": "uint8"})
    assert caught.value.location == "B3"
    assert caught.value.element == "b[1]"


def test_an_unknown_dtype_or_column_in_a_mapping_is_an_error() -> None:
    with pytest.raises((sa.SheetArrayError, TypeError)):
        read("a\n1\n", dtype="float7")
    with pytest.raises(sa.SheetArrayError):
        read("a\n1\n", dtype={"b": "int8"})
    with pytest.raises(sa.SheetArrayError):
        read("a\n1\n", shape={"b": (1,)})


def test_shapes_fill_in_either_order() -> None:
    text = "a,b\n" + "".join(f"{n},{n * 2}\n" for n in range(6))
    result = read(text, shape={"a": (2, 3), "b": (-1, 2)})
    assert result["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert result["b"].shape == (3, 2)
    result = read(text, ["a"], shape=(2, 3), order="column-major")
    assert result["a"].tolist() == [[0, 2, 4], [1, 3, 5]]
    with pytest.raises(sa.FormatError, match="shape") as caught:
        read(text, shape=(4, 2))
    assert caught.value.location


def test_columns_of_different_lengths() -> None:
    result = read("a,b\n1,1\n2,\n3,\n4,\n", shape={"a": (4,), "b": (1,)})
    assert result["b"].tolist() == [1]
    assert np.isnan(read("a,b\n1,1\n2,\n")["b"]).tolist() == [False, True]


def test_columns_are_chosen_by_name_or_letter() -> None:
    text = "a,b,c\n1,2,3\n"
    assert list(read(text, ["c", "a"])) == ["c", "a"]
    assert list(read(text, "b")) == ["b"]
    assert list(read(text, ["C"])) == ["c"]
    with pytest.raises(sa.NotFoundError, match=r"'z'.*'a'"):
        read(text, ["z"])
    with pytest.raises(sa.NotFoundError):
        read(text, ["D"])


def test_a_name_that_is_there_already_gets_a_number() -> None:
    with pytest.warns(sa.SheetArrayWarning, match=r"C1: 'a' .* 'a_2'") as caught:
        assert {name: values.tolist() for name, values in read("a,b,a\n1,2,3\n").items()} == {
            "a": [1],
            "b": [2],
            "a_2": [3],
        }
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(sa.SheetArrayWarning, match=r"B1: 'a' .* 'a_3' \(and 1 more\)"):
        assert {name: values.tolist() for name, values in read("a,a,a_2,a\n1,2,3,4\n").items()} == {
            "a": [1],
            "a_3": [2],
            "a_2": [3],
            "a_4": [4],
        }
    with pytest.warns(sa.SheetArrayWarning, match="B1: 'B' "):  # the letter of a column without a name
        assert list(read("B,,c\n1,2,3\n")) == ["B", "B_2", "c"]


def test_quoted_cells_with_delimiters_and_line_breaks() -> None:
    assert read('a,b\n"x,1","l1\nl2"\n"q""q",z\n')["b"].tolist() == ["l1\nl2", "z"]


def test_options_that_cannot_be_are_said() -> None:
    for options in (
        {"order": "diagonal", "shape": (1,)},
        {"missing": "ignore"},
        {"decimal": ";"},
        {"delimiter": "a,"},
        {"delimiter": ""},
        {"quotechar": "ab"},
        {"escapechar": ","},
        {"nrows": -1},
        {"date_format": "day first"},
        {"skip_rows": -1},
    ):
        with pytest.raises((sa.SheetArrayError, ValueError, TypeError)):
            read("a,b\n1,2\n", **options)


def test_an_ordinary_workbook_keeps_numbers_text_and_dates_apart(tmp_path: Path) -> None:
    """The table begins at C5; midnights have no time, one date is blank, numbers are doubles whatever they are."""
    moments = [datetime(2020, 1, 1, 12, 30), datetime(2021, 1, 1), datetime(2021, 1, 2)]
    rows = [
        ["moment", "zero", "half", "large", "id", "day", "ok"],
        [moments[0], -0.0, 2**53, 2**53 + 1, "007", moments[1], True],
        [moments[1], 1, 0.5, 2**60, "008", None, False],
        [moments[2], 2, 7, 3, "9", moments[2], True],
    ]
    book = openpyxl.Workbook()
    for down, row in enumerate(rows):
        for right, value in enumerate(row):
            cell = book.active.cell(5 + down, 3 + right, value)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                cell._value, cell.data_type = repr(value), "n"
    book.save(tmp_path / "x.xlsx")
    result = sa.read_columns(tmp_path / "x.xlsx")
    assert list(result) == rows[0]
    assert result["moment"].dtype == "datetime64[s]"
    assert result["moment"].tolist() == moments
    assert result["zero"].dtype == "float64"
    assert np.signbit(result["zero"]).tolist() == [True, False, False]
    assert result["half"].tolist() == [2.0**53, 0.5, 7]
    assert_same(result["large"], np.array([2**53 + 1, 2**60, 3]))  # the digits count, as they are written
    assert result["id"].tolist() == ["007", "008", "9"]
    assert result["day"].tolist() == [date(2021, 1, 1), None, date(2021, 1, 2)]
    assert result["ok"].tolist() == [True, False, True]
    with pytest.raises(sa.FormatError) as caught:
        sa.read_columns(tmp_path / "x.xlsx", missing="error")
    assert caught.value.location == "Sheet!H7"


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"header": 3}, "header=3, but the table ends after row 2"),
        ({"header": 2, "skip_footer": 1}, "header=2, but the table ends after row 1"),
        ({"header": 1, "skip_rows": 2}, "an empty table: skip_rows=2 skipped all of its rows .*down to row 2"),
        ({"skip_footer": 2}, "an empty table: skip_footer=2 skipped all of its rows .2 rows hold something"),
        ({"skip_rows": [0, 1], "comment": "#"}, r"an empty table: skip_rows=\[0, 1\] and comment='#' skipped"),
    ],
)
def test_options_that_leave_no_row_are_told(tmp_path: Path, suffix: str, options: dict[str, Any], reason: str) -> None:
    path = tmp_path / f"t.{suffix}"
    if suffix == "csv":
        path.write_text("a,b\n1,2\n")
    else:
        book = openpyxl.Workbook()
        for row in (["a", "b"], [1, 2]):
            book.active.append(row)
        book.save(path)
    with pytest.raises(sa.FormatError, match=reason):
        sa.read_columns(path, **options)
    assert list(sa.read_columns(path, header=2)) == ["a 1", "b 2"]


# A table is read from some cells of a sheet -------------------------------------------------------------------

ROWS: list[list[Any]] = [
    ["title", None, None, None, "x"],
    [None, "id", "t", "note", "y"],
    [None, "007", 0.5, "a", "z"],
    [None, "008", 1.5, None, None],
    [None, "total", 2, "all", None],
]


def book() -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    for row in ROWS:
        made.active.append(row)
    made.active.title = "Ann's run"
    made.create_sheet("plain").append(["only"])
    table = Table(displayName="Sales", ref="B2:D5", totalsRowCount=1)
    made.active.add_table(table)
    made.defined_names["both"] = DefinedName("both", attr_text="'Ann''s run'!$B$2:$C$4")
    made.defined_names["several"] = DefinedName("several", attr_text="'Ann''s run'!$B$2,'Ann''s run'!$C$2")
    made.defined_names["elsewhere"] = DefinedName("elsewhere", attr_text="plain!$A$1")
    return made


def saved() -> io.BytesIO:
    file = io.BytesIO()
    book().save(file)
    file.seek(0)
    return file


SOURCES: dict[str, Callable[[], Any]] = {"in memory": book, "in a file": saved}


@pytest.mark.parametrize("source", SOURCES)
def test_a_range_a_name_and_a_table_are_read_from_a_workbook(source: str) -> None:
    make = SOURCES[source]
    ids = {"id": np.array(["007", "008"]), "t": np.array([0.5, 1.5])}
    for options in (
        {"range": "B2:C4"},
        {"range": "$B$2:$C$4", "sheet": "ANN'S RUN"},
        {"range": "c4:b2"},
        {"range": "'Ann''s run'!B2:C4"},
        {"range": "both"},
        {"range": "BOTH", "sheet": "Ann's run"},
    ):
        columns = sa.read_columns(make(), **options)
        assert list(columns) == ["id", "t"]
        for name, array in columns.items():
            assert_same(array, ids[name])
    sales = sa.read_columns(make(), table="sales")
    assert sales["note"].tolist() == ["a", ""]
    assert sales["t"].tolist() == [0.5, 1.5]  # not the total row
    assert sa.read_columns(make(), ["t"], table="Sales", dtype="float32")["t"].dtype == np.float32
    assert sa.read_columns(make(), range="elsewhere", header=False)["A"].tolist() == ["only"]
    assert sa.read_columns(make(), range="plain!A:A", header=False)["A"].tolist() == ["only"]


@pytest.mark.parametrize("source", SOURCES)
def test_names_that_are_not_there_and_ranges_of_another_kind_are_told(source: str) -> None:
    make = SOURCES[source]
    for options, error, message in (
        ({"table": "Sale"}, sa.NotFoundError, "no table 'Sale'; there is 'Sales'"),
        ({"range": "Sales"}, sa.NotFoundError, "no range of cells 'Sales'; there is 'both'"),
        ({"range": "several"}, sa.FormatError, "which is not one range of cells"),
        ({"range": "elsewhere", "sheet": "Ann's run"}, ValueError, "is in the sheet 'plain', not in"),
        ({"range": "other!A1:B2"}, sa.NotFoundError, "no sheet 'other'"),
        ({"range": "A1:B2", "table": "Sales"}, ValueError, "pass only one of them"),
        ({"range": 5}, ValueError, "range is a text, such as 'A1:C5'"),
        ({"range": "G1:H9"}, sa.FormatError, "an empty table"),
    ):
        with pytest.raises(error, match=message):
            sa.read_columns(make(), **options)


@pytest.mark.parametrize("is_file", [False, True])
def test_names_of_single_sheets_are_told_apart(tmp_path: Path, is_file: bool) -> None:
    made = openpyxl.Workbook()
    for title, value in (("a", 1), ("b", 2), ("c", 3)):
        sheet = made.create_sheet(title)
        sheet.append(["x"])
        sheet.append([value])
        sheet.append([value * 10])
        if title != "c":
            sheet.defined_names["own"] = DefinedName("own", attr_text=f"{title}!$A$1:$A$2")
    made["a"].defined_names["both"] = DefinedName("both", attr_text="a!$A$1:$A$2")
    made.defined_names["both"] = DefinedName("both", attr_text="c!$A$1:$A$2")
    made.save(tmp_path / "a.xlsx")
    source: Any = tmp_path / "a.xlsx" if is_file else made
    for options, value in (
        ({"range": "own", "sheet": "a"}, 1),
        ({"range": "OWN", "sheet": "B"}, 2),
        ({"range": "both"}, 3),
        ({"range": "both", "sheet": "a"}, 1),
    ):
        assert sa.read_columns(source, **options)["x"].tolist() == [value]
    with pytest.raises(ValueError, match="'own' is a name in several sheets, 'a', 'b': sheet= says in which"):
        sa.read_columns(source, range="own")


def test_text_has_ranges_and_no_names() -> None:
    text = "title,,\n,id,t\n,007,0.5\n,008,1.5\n"
    columns = sa.read_columns(io.StringIO(text), range="B2:C4")
    assert columns["id"].tolist() == ["007", "008"]
    assert sa.read_columns(io.StringIO(text), range="B2:C4", skip_rows=1, header=False)["C"].tolist() == [0.5, 1.5]
    for options, message in (
        (
            {"range": "both"},
            "no range of cells 'both'; names of cells are not known here; pass cells, such as range='A1:C5'",
        ),
        ({"table": "Sales"}, "no table 'Sales'; names of cells are not known here"),
        ({"range": "run!A1:B2"}, "a file of text has no sheets"),
    ):
        with pytest.raises(sa.NotFoundError, match=message):
            sa.read_columns(io.StringIO(text), **options)


def test_an_array_of_the_exchange_format_may_stand_beside_the_range(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    made = book()
    sa.write(made, {"x": np.arange(3.0)}, sheet="Ann's run", at="H1")
    made.save(path)
    assert sa.read_columns(path, range="B2:C4")["t"].tolist() == [0.5, 1.5]
    with pytest.raises(sa.FormatError, match="an array of the exchange format"):
        sa.read_columns(path)


@given(st.data())
def test_a_range_is_read_as_a_sheet_of_its_own_would_be(data: st.DataObject) -> None:
    """What stands in the range, written alone, gives the same columns; letters are those of the sheet."""
    height, width = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 5))
    cells = st.sampled_from(["", "1", "2.5", "x", "007", "2024-01-01", "TRUE"])
    grid = data.draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=height, max_size=height))
    top, bottom = sorted(data.draw(st.tuples(*[st.integers(0, height - 1)] * 2)))
    left, right = sorted(data.draw(st.tuples(*[st.integers(0, width - 1)] * 2)))
    inside = [["filled"] * width if row == top else cells for row, cells in enumerate(grid)]
    whole = "\n".join(",".join(row) for row in inside) + "\n"
    alone = "\n".join(",".join(row[left : right + 1]) for row in inside[top : bottom + 1]) + "\n"
    area = f"{cell_address(top, left)}:{cell_address(bottom, right)}"
    options: dict[str, Any] = {"header": False, "delimiter": ","}
    expected = sa.read_columns(io.StringIO(alone), **options)
    columns = sa.read_columns(io.StringIO(whole), range=area, **options)
    assert len(columns) == len(expected)
    for one, other in zip(columns.values(), expected.values(), strict=True):
        assert_same(one, other)


@pytest.mark.parametrize(
    "text", ["", "A", "1", "A1:", ":B2", "A1:B", "A:1", "A0", "ABCD1", "!A1", "A1:B2:C3", "A1,B2", "sales"]
)
def test_what_is_no_range_is_a_name(text: str) -> None:
    assert parse_area(text) is None


TYPED_AS_TEXT = [
    ["12e4", "13e4"], ["2310009E13", "1E5"], ["2024-01-01", "2024-01-02"], ["2024-01-01T10:00:00", "NaT"],
    ["1900-03-01", "9999-12-31"], ["TRUE", "false"], ["12", "13"], ["123456789012345", "1"], ["0.5", ""],
]  # fmt: skip


@pytest.mark.parametrize("cells", TYPED_AS_TEXT)
@pytest.mark.parametrize("rows", [1, 150, 300])
def test_cells_typed_as_text_in_a_foreign_workbook_stay_text(cells: list[str], rows: int, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [["x", "n"], *zip(cells * rows, range(2 * rows), strict=True)]:
        book.active.append(row)
    book.save(tmp_path / "foreign.xlsx")
    columns = sa.read_columns(tmp_path / "foreign.xlsx")
    assert (columns["x"].tolist(), columns["n"].tolist()) == (cells * rows, list(range(2 * rows)))


def test_cells_typed_as_text_are_what_the_caller_names(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [["d", "x"], ["01/02/2024", "1,5"], ["02/02/2024", "2,5"]]:
        book.active.append(row)
    book.save(tmp_path / "foreign.xlsx")
    columns = sa.read_columns(tmp_path / "foreign.xlsx", date_format="dayfirst", dtype={"x": "float64"})
    assert columns["d"].astype(str).tolist() == ["2024-02-01", "2024-02-02"]
    assert columns["x"].tolist() == [1.5, 2.5]


def test_what_sheetarray_wrote_as_text_comes_back(tmp_path: Path) -> None:
    table = {
        "id": np.array([2**60, 2**60 + 1]),
        "d": np.array(["1500-01-01", "2024-01-01"], "M8[D]"),
        "day": np.array(["2024-01-01", "2024-01-02"], "M8[D]"),
        "x": np.array([np.nan, np.inf]),
    }
    sa.write_table(tmp_path / "own.xlsx", table, dates="text")
    columns = sa.read_columns(tmp_path / "own.xlsx")
    assert [columns[name].dtype for name in table] == [array.dtype for array in table.values()]
    assert all(np.array_equal(columns[name], table[name], equal_nan=name == "x") for name in table)


@pytest.mark.parametrize("rows", [2, 1002])
@pytest.mark.parametrize("dtype", ["M8[D]", "m8[s]"])
def test_a_blank_under_a_given_dtype_of_times_is_nat(dtype: str, rows: int, tmp_path: Path) -> None:
    cells = ["2024-05-06" if dtype[0] == "M" else "5", *[""] * (rows - 1)]
    (tmp_path / "t.csv").write_text("\n".join(["v,k", *(f"{cell},1" for cell in cells)]), encoding="utf-8")
    column = sa.read_columns(tmp_path / "t.csv", dtype={"v": dtype})["v"]
    assert (column.dtype, np.isnat(column).tolist()) == (np.dtype(dtype), [False] + [True] * (rows - 1))
    with pytest.raises(sa.FormatError, match="blank"):
        sa.read_columns(tmp_path / "t.csv", dtype={"v": dtype}, missing="error")


@pytest.mark.parametrize("white", [" ", "\t", "\xa0", "\u3000", "\x85", "\u2009 ", ""])
@pytest.mark.parametrize("cell", ["1.5", "a", "é", "2024-05-01", "true", "~", "!x"])
def test_white_space_is_a_blank_in_short_and_long_columns_alike(cell: str, white: str) -> None:
    cells = [cell, white, f"{white}{cell}{white}", cell]
    short, long = (column(*(f'"{text}"' for text in cells * count)) for count in (1, 300))
    assert short.dtype.kind == long.dtype.kind
    assert_same(long[:4], short)
    assert_same(long, np.tile(short, 300))
