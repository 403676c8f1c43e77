"""Excel workbooks: the shared suite, what people see in them, several sheets, parts, text cells, appended sheets."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from examples import PART
from limits import get_limit, set_limits
from programs import resave

import sheetarray as sa
from sheetarray.testing.cases import CASES, assert_same, objects
from sheetarray.testing.conformance import Conformance


class TestExcel(Conformance):
    suffix, format = ".xlsx", "xlsx"
    text = False


# The options --------------------------------------------------------------------------------------------------


def write_and_check(path: Path, **options: Any) -> None:
    """Write arrays of every kind, one of them long, and hold what is read, scanned and checked against them."""
    calls: list[tuple[int, int]] = []
    arrays = {**CASES, "long": np.random.default_rng(0).standard_normal(12_000)}
    sa.write(path, arrays, progress=lambda done, total: calls.append((done, total)), **options)
    assert calls[0][0] == 0
    assert calls[-1][0] == calls[-1][1] >= 12_000
    result = sa.read(path)
    assert list(result) == list(sa.scan(path)) == list(arrays)
    for name, array in arrays.items():
        assert_same(result[name], array)
    assert list(sa.check(path)) == []


def test_cells_of_text_keep_every_array(tmp_path: Path) -> None:
    write_and_check(tmp_path / "x.xlsm", cells="text")
    with zipfile.ZipFile(tmp_path / "x.xlsm") as archive:
        content = archive.read("xl/worksheets/sheet1.xml")
    assert content.count(b"<v>") < 1000 < 12_000 < content.count(b"<t>")  # only those of headers are numbers


def test_arrays_put_into_a_workbook_that_holds_something_else(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["foreign", 1, 2])
    book.save(path)
    with pytest.raises(sa.DTypeError, match="30000"):
        sa.write(path, {"late": objects(*range(30_000), {"no": "cell"})}, mode="a")
    assert [file.name for file in tmp_path.iterdir()] == ["x.xlsx"]
    assert openpyxl.load_workbook(path).sheetnames == ["Sheet"]
    write_and_check(path, mode="a")
    sa.write(path, {"short": np.arange(2)}, mode="a", if_sheet_exists="replace")
    assert {name: array.tolist() for name, array in sa.read(path).items()} == {"short": [0, 1]}
    assert [[cell.value for cell in row] for row in sheet_of(path, "Sheet")] == [["foreign", 1, 2]]


def sheet_of(path: Path, title: str = "arrays") -> Any:
    return openpyxl.load_workbook(path, data_only=True)[title]


# What people see -----------------------------------------------------------------------------------------------


def test_names_are_bold_and_stay_in_view_and_columns_are_wide_enough(tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).standard_normal(5)
    sa.write(tmp_path / "x.xlsx", {"temperature": numbers, "s": np.array(["x" * 40])})
    sheet = sheet_of(tmp_path / "x.xlsx")
    assert [cell.value for cell in sheet[1]] == ["temperature", "s"]
    assert all(cell.font.b for cell in sheet[1])
    assert not any(cell.font.b for cell in sheet[2])
    assert sheet.freeze_panes == "A20"
    assert 15 <= sheet.column_dimensions["A"].width <= 30
    assert 40 <= sheet.column_dimensions["B"].width <= 60


@pytest.mark.parametrize("name", ["x.xlsm", "X.XLSM", "x.xlsx"])
def test_the_type_of_a_workbook_is_that_of_its_suffix(tmp_path: Path, name: str) -> None:
    sa.write(tmp_path / name, {"a": np.arange(3)})
    sa.write(tmp_path / name, {"b": np.arange(4)}, mode="a", sheet="more")
    with zipfile.ZipFile(tmp_path / name) as archive:
        matches = re.findall(r"vnd\.([\w.-]+)\.main\+xml", archive.read("[Content_Types].xml").decode())
    macros = name.lower().endswith("m")
    assert matches == ["ms-excel.sheet.macroEnabled" if macros else "openxmlformats-officedocument.spreadsheetml.sheet"]
    assert list(sa.scan(tmp_path / name)) == ["a", "b"]
    assert list(sa.check(tmp_path / name)) == []
    for path in (tmp_path / name, resave(tmp_path / name, "xlsx", tmp_path / "saved")):
        assert {key: array.tolist() for key, array in sa.read(path).items()} == {"a": [0, 1, 2], "b": [0, 1, 2, 3]}


def test_numbers_are_numbers_booleans_booleans_and_text_is_text(tmp_path: Path) -> None:
    arrays = {
        "f": np.array([0.1, np.nan, np.inf, -np.inf, 1e300]),
        "i": np.array([10**15 - 1, 10**15, -(2**63)]),
        "b": np.array([True, False]),
        "s": np.array(["=1+1", "007", ""]),
        "c": np.array([1 - 2j]),
        "d": np.array(["2026-01-05"], dtype="datetime64[D]"),
    }
    sa.write(tmp_path / "x.xlsx", arrays, dates="text")
    sheet = sheet_of(tmp_path / "x.xlsx")
    result = {}
    for column in sheet.iter_cols():
        cells = [cell for cell in column if cell.value is not None]
        start = [cell.value for cell in cells].index("data") + 1
        result[cells[0].value] = [(cell.data_type, cell.value) for cell in cells[start:]]
    assert result["f"] == [("n", 0.1), ("s", "NaN"), ("s", "Infinity"), ("s", "-Infinity"), ("n", 1e300)]
    assert result["i"] == [("n", 10**15 - 1), ("s", "1000000000000000"), ("s", str(-(2**63)))]
    assert result["b"] == [("b", True), ("b", False)]
    assert result["s"] == [("s", "=1+1"), ("s", "007")]
    assert result["c"] == [("s", "1-2i")]
    assert result["d"] == [("s", "2026-01-05")]


def test_each_array_has_a_name_over_its_elements(tmp_path: Path) -> None:
    sa.write(tmp_path / "x.xlsx", {"temperature": np.arange(4.0), "wind speed": np.arange(2), "A1": np.arange(3)})
    book = openpyxl.load_workbook(tmp_path / "x.xlsx")
    for name, values in {"temperature": [0, 1, 2, 3], "wind_speed": [0, 1], "_A1": [0, 1, 2]}.items():
        ((title, cells),) = book.defined_names[name].destinations
        assert [row[0].value for row in book[title][cells]] == values


def test_the_same_arrays_make_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        sa.write(tmp_path / f"{name}.xlsx", {"x": np.arange(1000.0)})
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_a_text_of_the_longest_length_is_kept_and_a_longer_one_refused(tmp_path: Path) -> None:
    longest = np.array(["x" * 32_767, "😀" * 16_383])
    sa.write(tmp_path / "x.xlsx", {"t": longest})
    assert_same(sa.read(tmp_path / "x.xlsx")["t"], longest)
    for bad in (np.array(["a", "x" * 32_768]), np.array(["😀" * 16_384]), objects("x" * 32_768)):
        with pytest.raises(sa.LimitError, match=r"t\[\d\] has 32,768 characters"):
            sa.write(tmp_path / "x.xlsx", {"t": bad})
    with pytest.raises(sa.LimitError, match="name"):
        sa.write(tmp_path / "x.xlsx", {"n" * 40_000: np.arange(3)})
    assert_same(sa.read(tmp_path / "x.xlsx")["t"], longest)


@pytest.mark.parametrize("title", ["", " ", "a/b", "x" * 32, "'x", "History", "[1]"])
def test_a_title_that_no_sheet_can_have_is_refused_before_writing(tmp_path: Path, title: str) -> None:
    with pytest.raises(sa.LimitError, match="titled"):
        sa.write(tmp_path / "x.xlsx", {"x": np.arange(3)}, sheet=title)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", [{"mode": "x"}, {"cells": "exact"}, {"if_sheet_exists": "skip"}])
def test_options_are_checked(tmp_path: Path, option: dict[str, str]) -> None:
    with pytest.raises(sa.LimitError, match="mode"):
        sa.write(tmp_path / "x.xlsx", {"x": np.arange(3)}, **option)


# Sheets and parts ----------------------------------------------------------------------------------------------


def test_arrays_longer_than_a_sheet_go_on_in_the_next_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, worksheet_rows=100)
    array = np.random.default_rng(0).standard_normal((13, 50))
    texts = np.array([str(index % 4) if index % 4 else "" for index in range(140)])
    sa.write(tmp_path / "x.xlsx", {"a": array, "b": np.arange(5), "c": texts})
    result = sa.read(tmp_path / "x.xlsx")
    assert list(result) == ["a", "b", "c"]
    assert_same(result["a"], array)
    assert_same(result["c"], texts)
    assert sa.scan(tmp_path / "x.xlsx")["a"].parts == 9
    assert list(sa.check(tmp_path / "x.xlsx")) == []
    ranges = list(openpyxl.load_workbook(tmp_path / "x.xlsx").defined_names["a"].destinations)
    assert len(ranges) == 9


@pytest.mark.slow
def test_more_elements_than_a_sheet_has_rows(tmp_path: Path) -> None:
    array = np.arange(1_048_576) % 2 == 0
    sa.write(tmp_path / "x.xlsx", {"a": array, "b": np.arange(3)})
    result = sa.read(tmp_path / "x.xlsx")
    assert_same(result["a"], array)
    assert sa.scan(tmp_path / "x.xlsx")["a"].parts == 2


def test_more_arrays_than_a_sheet_has_columns_go_on_in_the_next_sheets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, worksheet_columns=3, worksheet_rows=64)
    arrays = {f"n{index}": np.arange(index * 40.0) for index in range(4)}
    sa.write(tmp_path / "x.xlsx", arrays, sheet="run")
    assert openpyxl.load_workbook(tmp_path / "x.xlsx").sheetnames == ["run", "run (2)", "run (3)"]
    result = sa.read(tmp_path / "x.xlsx")
    assert list(result) == list(arrays)
    for name, array in arrays.items():
        assert_same(result[name], array)
    assert list(sa.check(tmp_path / "x.xlsx")) == []
    assert sa.scan(tmp_path / "x.xlsx")["n0"].location == "run!A5"


@pytest.mark.slow
def test_a_sheet_of_very_many_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (get_limit("worksheet_rows"), get_limit("worksheet_columns")) == (1_048_576, 16_384)
    most = 16_384 // PART
    set_limits(monkeypatch, worksheet_columns=most)
    arrays = {f"n{index}": np.array([index, index + 0.5]) for index in range(most + 6)}
    sa.write(tmp_path / "x.xlsx", arrays)
    assert openpyxl.load_workbook(tmp_path / "x.xlsx", read_only=True).sheetnames == ["arrays", "arrays (2)"]
    some = (0, most - 1, most, most + 5)
    result = sa.read(tmp_path / "x.xlsx", [f"n{index}" for index in some])
    assert {name: array.tolist() for name, array in result.items()} == {
        f"n{index}": [index, index + 0.5] for index in some
    }


def test_arrays_are_read_from_all_sheets_or_one(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    sa.write(path, {"a": np.arange(3)}, sheet="one")
    sa.write(path, {"b": np.arange(4), "c": np.arange(2)}, sheet="two", mode="a")
    assert list(sa.read(path)) == ["a", "b", "c"]
    assert list(sa.read(path, sheet="TWO")) == ["b", "c"]
    assert list(sa.scan(path, sheet="one")) == ["a"]
    with pytest.raises(sa.NotFoundError, match="'one', 'two'"):
        sa.read(path, sheet="three")
    with pytest.raises(sa.NotFoundError, match="'b'"):
        sa.read(path, ["b"], sheet="one")


def test_two_arrays_of_one_name_are_an_error_that_names_both_unless_the_sheet_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    sa.write(path, {"a": np.arange(3)}, sheet="one")
    sa.write(path, {"a": np.arange(4)}, sheet="two", mode="a")
    with pytest.raises(sa.FormatError, match=r"one!A2 and two!A2") as caught:
        sa.read(path)
    assert caught.value.location == "two!A2"
    assert sa.read(path, sheet="two")["a"].tolist() == [0, 1, 2, 3]
    assert [finding.location for finding in sa.check(path)] == ["two!A2"]


# Appending -----------------------------------------------------------------------------------------------------


def test_a_sheet_that_is_there_is_refused_or_replaced_and_the_rest_keeps_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    sa.write(path, {"a": np.arange(3)}, sheet="one")
    sa.write(path, {"b": np.arange(4)}, sheet="two", mode="a")
    before = path.read_bytes()
    with pytest.raises(sa.LimitError, match="'two' already"):
        sa.write(path, {"c": np.arange(5)}, sheet="TWO", mode="a")
    assert path.read_bytes() == before
    with zipfile.ZipFile(path) as package:
        untouched = {name: package.read(name) for name in ("xl/worksheets/sheet1.xml", "xl/styles.xml")}
    sa.write(path, {"c": np.arange(5)}, sheet="two", mode="a", if_sheet_exists="replace")
    assert {name: array.size for name, array in sa.read(path).items()} == {"a": 3, "c": 5}
    with zipfile.ZipFile(path) as package:
        assert {name: package.read(name) for name in untouched} == untouched
    assert openpyxl.load_workbook(path).sheetnames == ["one", "two"]
    assert list(sa.check(path)) == []


def test_somebody_elses_sheet_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    book = openpyxl.Workbook()
    book.active.title = "arrays"
    book.active["A1"] = "mine"
    book.save(path)
    before = path.read_bytes()
    with pytest.raises(sa.LimitError, match="arrays"):
        sa.write(path, {"x": np.arange(3)}, mode="a", if_sheet_exists="replace")
    assert path.read_bytes() == before


@pytest.mark.fault("An error while sheets are written.", "The old workbook is whole.")
def test_a_failure_in_the_middle_leaves_the_workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.xlsx"
    sa.write(path, {"a": np.arange(3)})
    before = path.read_bytes()

    def stop(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sa.write(path, {"b": np.arange(600_000.0)}, sheet="two", mode="a", progress=stop)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.xlsx"]


def test_a_workbook_that_is_not_there_is_made(tmp_path: Path) -> None:
    sa.write(tmp_path / "x.xlsx", {"a": np.arange(3)}, mode="a")
    assert sa.read(tmp_path / "x.xlsx")["a"].tolist() == [0, 1, 2]


def test_an_open_file_cannot_be_appended_to() -> None:
    with pytest.raises(sa.LimitError, match="path"):
        sa.write(io.BytesIO(), {"a": np.arange(3)}, format="xlsx", mode="a")


def test_nothing_is_appended_to_what_is_no_workbook(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(b"PK\3\4 not really")
    with pytest.raises(sa.FormatError) as caught:
        sa.write(path, {"a": np.arange(3)}, mode="a")
    assert caught.value.source == str(path)
    assert path.read_bytes() == b"PK\3\4 not really"


# What became of it ---------------------------------------------------------------------------------------------


def edited(path: Path, changes: dict[str, Any]) -> None:
    """Change cells of a workbook as a program does that keeps everything else."""
    book = openpyxl.load_workbook(path)
    for cell, value in changes.items():
        book["arrays"][cell] = value
    for row in book["arrays"].iter_rows():
        for cell in row:
            if isinstance(cell.value, float):
                cell._value, cell.data_type = repr(cell.value), "n"  # openpyxl alone would round
    book.save(path)


def test_check_says_nothing_of_a_workbook_that_another_program_saved_without_changes(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    sa.write(path, {"t": np.random.default_rng(0).standard_normal((3, 4))})
    edited(path, {})
    assert list(sa.check(path)) == []


def test_check_names_the_element_that_was_edited(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    sa.write(path, {"t": np.random.default_rng(0).standard_normal((3, 4)), "u": np.arange(5)})
    row = sa.scan(path)["t"].cells + 2 - 12 + 6  # of t[1, 2], counted from 1
    edited(path, {f"A{row}": 99.5})
    (finding,) = sa.check(path)
    assert finding.severity == "error"
    assert finding.location == f"arrays!A{row}"
    assert "t[1, 2]" in finding.message
    assert sa.read(path)["t"][1, 2] == 99.5


def test_check_finds_an_array_in_a_sheet_that_was_renamed(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    sa.write(path, {"t": np.arange(12.0) / 7})
    book = openpyxl.load_workbook(path)
    book["arrays"].title = "renamed"
    book["renamed"]["A20"] = 5
    book.save(path)
    findings = list(sa.check(path))
    assert any(finding.location == "renamed!A20" for finding in findings)


def test_check_goes_on_without_what_the_workbook_remembers(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    sa.write(path, {"t": np.arange(12.0)})
    book = openpyxl.load_workbook(path)
    for name in [entry.name for entry in book.custom_doc_props.props]:
        del book.custom_doc_props[name]
    book.save(path)
    (finding,) = sa.check(path)
    assert finding.message.startswith("no record of what was written: cannot tell")


@pytest.mark.parametrize("case", ["dtype string", "dtype float64", "dtype generic", "dtype complex128"])
def test_each_dtype_survives_next_to_every_other_in_one_block(tmp_path: Path, case: str) -> None:
    arrays = {"one": np.resize(CASES[case], 3000), "other": np.arange(5000.0), "third": np.resize(CASES[case], 700)}
    sa.write(tmp_path / "x.xlsx", arrays)
    result = sa.read(tmp_path / "x.xlsx")
    for name, array in arrays.items():
        assert_same(result[name], array)
