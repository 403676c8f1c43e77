"""Excel workbooks: the shared suite, what people see in them, several sheets, parts, text cells, templates."""

from __future__ import annotations

import zipfile
from pathlib import Path

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


# Sheets and parts ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_more_elements_than_a_sheet_has_rows(tmp_path: Path) -> None:
    assert (get_limit("worksheet_rows"), get_limit("worksheet_columns")) == (1_048_576, 16_384)
    array = np.arange(1_048_576) % 2 == 0
    sa.write(tmp_path / "x.xlsx", {"a": array, "b": np.arange(3)})
    result = sa.read(tmp_path / "x.xlsx")
    assert_same(result["a"], array)
    assert sa.scan(tmp_path / "x.xlsx")["a"].parts == 2


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
