"""What a hostile stranger and a careless analyst do to workbooks, and to nested arrays in them."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import openpyxl
import pytest
from excel_packages import parts, with_parts

import sheetarray as sa
from sheetarray.testing.cases import assert_same, objects

NUMBERS = np.random.default_rng(1).standard_normal(200)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    sa.write(tmp_path / "x.xlsx", {"f": NUMBERS, "i": np.arange(40) * 7, "s": np.array([f"t{k}" for k in range(40)])})
    return tmp_path / "x.xlsx"


def change(path: Path, how: Callable[[Any], None]) -> list[str]:
    """What `check` says after openpyxl loaded the sheet, something changed, and openpyxl saved it."""
    opened = openpyxl.load_workbook(path)
    how(opened["arrays"])
    opened.save(path)
    return [str(finding) for finding in sa.check(path)]


# check ---------------------------------------------------------------------------------------------------------


def test_an_array_that_was_deleted_or_renamed_is_missed(book: Path) -> None:
    result = change(book, lambda sheet: sheet.delete_cols(2))
    assert any(line.startswith("warning: i: is gone: it was written to the sheet 'arrays'") for line in result)
    result = change(book, lambda sheet: setattr(sheet["A1"], "value", "temperature"))
    assert [line.partition(": it was")[0].partition(", and")[0] for line in result] == [
        "warning: temperature: was written under the name 'f'",
        "warning: i: is gone",
    ]
    assert list(sa.read(book)) == ["temperature", "s"]


def test_in_a_workbook_of_a_hundred_arrays_each_of_a_few_edits_is_named(tmp_path: Path) -> None:
    arrays = {f"t{index}": np.random.default_rng(index).integers(0, 1000, (20, 10)) for index in range(100)}
    sa.write(tmp_path / "x.xlsx", arrays)
    content = (tmp_path / "x.xlsx").read_bytes()
    xml = parts(content)["xl/worksheets/sheet1.xml"].decode()
    for cell in ("C30", "C77", "CV25"):
        xml, count = re.subn(rf'(<c r="{cell}"[^>]*><v>)([0-9]+)', lambda found: f"{found[1]}{int(found[2]) + 1}", xml)
        assert count == 1
    (tmp_path / "x.xlsx").write_bytes(with_parts(content, {"xl/worksheets/sheet1.xml": xml.encode()}))
    assert [str(finding).partition(": t")[0] for finding in sa.check(tmp_path / "x.xlsx")] == [
        "error: sheet arrays, cell C30",
        "error: sheet arrays, cell C77",
        "error: sheet arrays, cell CV25",
    ]


def test_an_array_that_is_broken_is_not_said_to_be_gone(book: Path) -> None:
    result = change(book, lambda sheet: setattr(sheet["B15"], "value", "many"))
    assert any("cell B" in line for line in result)
    assert not any("is gone" in line for line in result)


def test_an_array_that_was_deleted_is_missed_though_others_were_edited(book: Path) -> None:
    def delete_and_edit(sheet: Any) -> None:
        sheet["B25"].value = 12
        sheet.delete_cols(1)

    result = change(book, delete_and_edit)
    assert any("cell A25: i[5] was edited" in line for line in result)
    assert any("f: is gone" in line for line in result)


def test_one_sheet_is_checked_without_the_arrays_of_others(book: Path) -> None:
    sa.write(book, {"t": np.arange(3)}, mode="a", sheet="two")
    assert not list(sa.check(book, sheet="two"))
    assert not list(sa.check(book))


def test_numbers_that_were_all_cut_to_two_decimals_are_not_said_to_be_within_15_digits(book: Path) -> None:
    def cut(sheet: Any) -> None:
        for row in range(20, 220):
            sheet.cell(row, 1).value = round(sheet.cell(row, 1).value, 2)

    result = change(book, cut)
    assert any(line.startswith("error: f: elements were edited throughout the array") for line in result)
    assert not any("15 digits" in line or "16 digits" in line for line in result)


# Guests --------------------------------------------------------------------------------------------------------


def test_a_workbook_that_was_saved_or_removed_in_the_meantime_is_left_alone(book: Path) -> None:
    def save(done: int, total: int) -> None:
        if done == total:
            sa.write(book, {"g": np.arange(5)}, mode="a", sheet="theirs")

    with pytest.raises(sa.LimitError, match="write once more"):
        sa.write(book, NUMBERS, mode="a", sheet="mine", progress=save)
    assert openpyxl.load_workbook(book).sheetnames == ["arrays", "theirs"]
    with pytest.raises(sa.LimitError, match="write once more"):
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
    assert opened.sheetnames == ['it\'s "q" & <x> 😀', "a'&b"]
    names = {name: defined.attr_text for name, defined in opened.defined_names.items()}
    assert names == {"t": "1", "t_2": "'a''&b'!$A$20:$A$22"}
    assert sa.read(tmp_path / "x.xlsx")["t"].tolist() == [2.0, 3.0, 4.0]
    assert not list(sa.check(tmp_path / "x.xlsx"))


def test_names_of_arrays_with_every_kind_of_character(tmp_path: Path) -> None:
    names = [
        "A1",
        "R1C1",
        "r",
        "TRUE",
        "_xlnm.Print_Area",
        "x y",
        "x_y",
        "_x0041_",
        "=1+1",
        "<>&\"'",
        " lead",
        "\x00a",
        "a\u0301",
        "\u00e1",
        "😀",
        "\ufffe",
        "x" * 300,
        "Sheet1!A1",
    ]
    arrays = {name: np.array(index) for index, name in enumerate(names)}
    sa.write(tmp_path / "x.xlsx", arrays)
    result = sa.read(tmp_path / "x.xlsx")
    assert {name: array.item() for name, array in result.items()} == {name: index for index, name in enumerate(names)}
    assert len({name.casefold() for name in openpyxl.load_workbook(tmp_path / "x.xlsx").defined_names}) == len(names)
    assert not list(sa.check(tmp_path / "x.xlsx"))


# Files ---------------------------------------------------------------------------------------------------------


class Pipe(io.RawIOBase):
    """What can be read and written once, in order, a few bytes at a time."""

    def __init__(self, content: bytes = b"") -> None:
        self.content = io.BytesIO(content)

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def write(self, chunk: Any) -> int:
        return self.content.write(chunk)

    def readinto(self, buffer: Any) -> int:
        return self.content.readinto(memoryview(buffer)[:7])


def test_files_that_cannot_be_sought_in() -> None:
    pipe = Pipe()
    sa.write(pipe, {"t": NUMBERS}, format="xlsx")
    content = pipe.content.getvalue()
    assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None
    assert_same(sa.read(Pipe(content), format="xlsx")["t"], NUMBERS)
    assert sa.scan(Pipe(content), format="xlsx")["t"].shape == (200,)
    assert not list(sa.check(Pipe(content), format="xlsx"))


def test_a_file_opened_to_be_appended_to(tmp_path: Path) -> None:
    with (tmp_path / "x.xlsx").open("ab") as file:
        sa.write(file, {"t": NUMBERS, "o": objects("a", 1)}, format="xlsx")
    assert_same(sa.read(tmp_path / "x.xlsx")["t"], NUMBERS)
    assert zipfile.ZipFile(tmp_path / "x.xlsx").testzip() is None


def test_a_workbook_through_pipes(book: Path) -> None:
    command = [sys.executable, "-m", "sheetarray", "convert", "-", "-", "--from", "xlsx", "--to", "xlsx"]
    with subprocess.Popen(["cat", str(book)], stdout=subprocess.PIPE) as giver:
        done = subprocess.run(command, stdin=giver.stdout, capture_output=True, check=True)
    assert_same(sa.read(io.BytesIO(done.stdout), format="xlsx")["f"], NUMBERS)


# Nested arrays -------------------------------------------------------------------------------------------------

LISTS = ak.Array([[1.5, 2.0], [], [3.0]])


@pytest.mark.parametrize("format", ["xlsx", "csv", "json"])
def test_a_nested_array_whose_name_no_reader_would_take_is_refused(tmp_path: Path, format: str) -> None:
    for name in ("", " ", "../x", "/x", "a\\b", "C:/x"):
        with pytest.raises(sa.LimitError, match=r"is blank|leads out of the container"):
            sa.write(tmp_path / f"x.{format}", {name: LISTS, "plain": np.arange(2)})
    assert not list(tmp_path.iterdir())


def test_such_a_name_is_refused_in_an_archive_as_well(tmp_path: Path) -> None:
    with pytest.raises(sa.LimitError, match="leads out of the container"):
        sa.write(tmp_path / "x.awkd", {"a\\b": LISTS})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", ["xlsx", "csv", "json", "awkd"])
def test_fields_that_look_like_paths(tmp_path: Path, suffix: str) -> None:
    array = ak.Array([{"a/../b": 1, "c\\d": 2, "/e": [3], "..": 4, "x:/": "5", "p/q": 6, "": 7, "e.json": 8}])
    sa.write(tmp_path / f"x.{suffix}", {"e": array})
    assert sa.read(tmp_path / f"x.{suffix}")["e"].to_list() == array.to_list()


def test_nested_and_plain_arrays_by_name(tmp_path: Path) -> None:
    arrays = {"n": LISTS, "plain": np.arange(3), "m": ak.Array(["a", None, "=1+1"])}
    sa.write(tmp_path / "x.xlsx", arrays)
    result = sa.read(tmp_path / "x.xlsx", ["m", "plain", "n"])
    assert list(result) == ["m", "plain", "n"]
    assert result["m"].to_list() == ["a", None, "=1+1"]
    assert list(sa.read(tmp_path / "x.xlsx")) == ["n", "plain", "m"]
    with pytest.raises(sa.NotFoundError, match="'k'"):
        sa.read(tmp_path / "x.xlsx", ["n", "k"])
