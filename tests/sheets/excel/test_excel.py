"""Excel workbooks: the shared suite, what people see in them, several sheets, parts, text cells, templates."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import openpyxl
import pytest
from limits import get_limit

import sheetarray as sa
from sheetarray.testing.cases import assert_same, objects
from sheetarray.testing.conformance import Conformance


class TestExcel(Conformance):
    suffix, format = ".xlsx", "xlsx"
    text = False


def sheet_of(path: Path, title: str = "arrays") -> Any:
    return openpyxl.load_workbook(path, data_only=True)[title]


# What people see -----------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("option", [{"mode": "x"}, {"cells": "exact"}, {"dates": "iso"}, {"if_sheet_exists": "skip"}])
def test_options_are_checked(tmp_path: Path, option: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(option))):
        sa.write(tmp_path / "x.xlsx", {"x": np.arange(3)}, **option)


# Sheets and parts ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_more_elements_than_a_sheet_has_rows(tmp_path: Path) -> None:
    assert (get_limit("worksheet_rows"), get_limit("worksheet_columns")) == (1_048_576, 16_384)
    array = np.arange(1_048_576) % 2 == 0
    sa.write(tmp_path / "x.xlsx", {"a": array, "b": np.arange(3)})
    result = sa.read(tmp_path / "x.xlsx")
    assert_same(result["a"], array)
    assert sa.scan(tmp_path / "x.xlsx")["a"].parts == 2


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
    assert caught.value.hint == "read one sheet at a time, sheet='one' or sheet='two', or rename one of them"
    assert sa.read(path, sheet="two")["a"].tolist() == [0, 1, 2, 3]
    assert list(sa.check(path)) == []  # each write is as it was written


# Appending -----------------------------------------------------------------------------------------------------


def test_an_open_file_cannot_be_appended_to() -> None:
    with pytest.raises(ValueError, match="path"):
        sa.write(io.BytesIO(), {"a": np.arange(3)}, format="xlsx", mode="a")


# What became of it ---------------------------------------------------------------------------------------------


def test_check_finds_an_array_in_a_sheet_that_was_renamed(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    sa.write(path, {"t": np.arange(12.0) / 7})
    book = openpyxl.load_workbook(path)
    book["arrays"].title = "renamed"
    book["renamed"]["A20"] = 5
    book.save(path)
    findings = list(sa.check(path))
    assert any(finding.location == "renamed!A20" for finding in findings)


# Suffixes ------------------------------------------------------------------------------------------------------

TYPES = {
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
    "xlsm": "application/vnd.ms-excel.sheet.macroEnabled.main+xml",
    "xltx": "application/vnd.openxmlformats-officedocument.spreadsheetml.template.main+xml",
    "xltm": "application/vnd.ms-excel.template.macroEnabled.main+xml",
}
ARRAYS = {"t": np.array([0.1, 0.25]), "s": np.array(["007", ""])}


def types_of(path: Path) -> str:
    with zipfile.ZipFile(path) as package:
        return package.read("[Content_Types].xml").decode()


@pytest.mark.parametrize("suffix", TYPES)
@pytest.mark.parametrize("letters", [str.lower, str.upper])
def test_each_suffix_has_its_content_type_and_every_verb(suffix: str, letters: type[str], tmp_path: Path) -> None:
    path = tmp_path / f"t.{letters(suffix)}"
    sa.write(path, ARRAYS, guard=True)
    sa.write(path, {"more": np.arange(3)}, sheet="more", mode="a")
    assert [name for name in TYPES if f'"{TYPES[name]}"' in types_of(path)] == [suffix]
    arrays = sa.read(path)
    assert (arrays["t"].tolist(), arrays["s"].tolist(), arrays["more"].tolist()) == (
        [0.1, 0.25],
        ["007", ""],
        [0, 1, 2],
    )
    assert list(sa.scan(path)) == ["t", "s", "more"]
    assert list(sa.check(path)) == []
    assert not sa.accept(path)
    restored = tmp_path / f"restored.{letters(suffix)}"
    sa.restore(path, restored)
    assert f'"{TYPES[suffix]}"' in types_of(restored)
    book = openpyxl.load_workbook(path)
    assert book.template == suffix.startswith("xlt")


@pytest.mark.parametrize("suffix", TYPES)
def test_ordinary_tables_are_written_and_read(suffix: str, tmp_path: Path) -> None:
    sa.write_table(tmp_path / f"t.{suffix}", {"n": np.array([1, 2])})
    assert f'"{TYPES[suffix]}"' in types_of(tmp_path / f"t.{suffix}")
    assert sa.read_columns(tmp_path / f"t.{suffix}")["n"].tolist() == [1, 2]
    book = openpyxl.Workbook()
    book.template = suffix.startswith("xlt")
    book.active.append(["n"])  # type: ignore[union-attr]  (a worksheet)
    book.active.append([5])  # type: ignore[union-attr]  (a worksheet)
    book.save(tmp_path / f"foreign.{suffix}")
    assert sa.read_columns(tmp_path / f"foreign.{suffix}")["n"].tolist() == [5]


# In other hands ------------------------------------------------------------------------------------------------

NUMBERS = np.random.default_rng(1).standard_normal(200)


def test_a_workbook_that_was_saved_or_removed_in_the_meantime_is_left_alone(tmp_path: Path) -> None:
    book = tmp_path / "x.xlsx"
    sa.write(book, {"f": NUMBERS})

    def save(done: int, total: int) -> None:
        if done == total:
            sa.write(book, {"g": np.arange(5)}, mode="a", sheet="theirs")

    with pytest.raises(sa.LimitError, match="try again"):
        sa.write(book, NUMBERS, mode="a", sheet="mine", progress=save)
    assert openpyxl.load_workbook(book).sheetnames == ["arrays", "arrays guard", "theirs", "theirs guard"]
    with pytest.raises(sa.LimitError, match="try again"):
        sa.write(book, NUMBERS, mode="a", sheet="mine", progress=lambda done, total: book.unlink(missing_ok=True))
    assert not list(book.parent.iterdir())


def test_names_and_titles_that_formulas_have_to_quote(tmp_path: Path) -> None:
    opened = openpyxl.Workbook()
    opened.active.title = 'it\'s "q" & <x> 😀'
    opened.defined_names["t"] = openpyxl.workbook.defined_name.DefinedName("t", attr_text="1")
    opened.save(tmp_path / "x.xlsx")
    for index in range(3):
        sa.write(tmp_path / "x.xlsx", {"t": np.arange(3.0) + index}, mode="a", if_sheet_exists="replace", sheet="a'&b")
    opened = openpyxl.load_workbook(tmp_path / "x.xlsx")
    assert opened.sheetnames == ['it\'s "q" & <x> 😀', "a'&b", "a'&b guard"]
    names = {name: defined.attr_text for name, defined in opened.defined_names.items()}
    assert names == {"t": "1", "t_2": "'a''&b'!$A$20:$A$22"}
    assert sa.read(tmp_path / "x.xlsx")["t"].tolist() == [2.0, 3.0, 4.0]
    assert not list(sa.check(tmp_path / "x.xlsx"))


def test_a_file_opened_to_be_appended_to(tmp_path: Path) -> None:
    with (tmp_path / "x.xlsx").open("ab") as file:
        sa.write(file, {"t": NUMBERS, "o": objects("a", 1)}, format="xlsx")
    assert_same(sa.read(tmp_path / "x.xlsx")["t"], NUMBERS)
    assert zipfile.ZipFile(tmp_path / "x.xlsx").testzip() is None


LISTS = ak.Array([[1.5, 2.0], [], [3.0]])


@pytest.mark.parametrize("suffix", ["xlsx", "csv", "json", "awkd"])
def test_a_nested_array_whose_name_no_reader_would_take_is_refused(tmp_path: Path, suffix: str) -> None:
    for name in ("", " ", "../x", "/x", "a\\b", "C:/x") if suffix != "awkd" else ("a\\b",):
        with pytest.raises(sa.LimitError, match=r"is blank|leads out of the container"):
            sa.write(tmp_path / f"x.{suffix}", {name: LISTS})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", ["xlsx", "csv", "json", "awkd"])
def test_fields_that_look_like_paths(tmp_path: Path, suffix: str) -> None:
    array = ak.Array([{"a/../b": 1, "c\\d": 2, "/e": [3], "..": 4, "x:/": "5", "p/q": 6, "": 7, "e.json": 8}])
    sa.write(tmp_path / f"x.{suffix}", {"e": array})
    assert sa.read(tmp_path / f"x.{suffix}")["e"].to_list() == array.to_list()
