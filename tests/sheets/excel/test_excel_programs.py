"""What `check` says after real programs saved a workbook of ours again, with an edit and without."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from examples import cross
from excel_packages import parts, with_parts
from programs import resave, resave_by_node

import sheetarray as sa

RANDOM = np.random.default_rng(11)
ARRAYS = {
    "f": RANDOM.standard_normal(200) * 10.0 ** RANDOM.integers(-4, 9, 200),
    "i": RANDOM.integers(-(10**9), 10**9, 100),
    "s": np.array([f"t{number}" for number in range(50)]),
    "d": np.datetime64("2020-01-01") + np.arange(50),
}
EDITED = "A70"  # f[50], below the name and 18 cells of the header


def by_openpyxl(path: Path, folder: Path, edits: dict[str, float]) -> Path:
    book = openpyxl.load_workbook(path)
    for cell, value in edits.items():
        book["arrays"][cell] = value
    book.save(folder / "openpyxl.xlsx")
    return folder / "openpyxl.xlsx"


def by_pandas(path: Path, folder: Path, edits: dict[str, float]) -> Path:
    frame = pd.read_excel(path, header=None, dtype=object, engine="openpyxl")
    for cell, value in edits.items():
        frame.iloc[int(cell[1:]) - 1, 0] = value
    frame.to_excel(folder / "pandas.xlsx", header=False, index=False)
    return folder / "pandas.xlsx"


def by_sheetjs(path: Path, folder: Path, edits: dict[str, float]) -> Path:
    return resave_by_node("sheetjs", path, folder / "sheetjs.xlsx", edits)


def by_exceljs(path: Path, folder: Path, edits: dict[str, float]) -> Path:
    return resave_by_node("exceljs", path, folder / "exceljs.xlsx", edits)


def by_libreoffice(suffix: str) -> Callable[[Path, Path, dict[str, float]], Path]:
    def save(path: Path, folder: Path, edits: dict[str, float]) -> Path:
        if edits:  # LibreOffice saves what SheetJS, which keeps every digit, has edited
            path = by_sheetjs(path, folder, edits)
        return resave(path, suffix, folder / suffix)

    return save


# by program: whether it keeps the record, and what the only warning says of rounding
KEEPS: dict[str, tuple[Callable[[Path, Path, dict[str, float]], Path], bool, str]] = {
    "openpyxl": (by_openpyxl, True, "keeps 16 digits"),
    "pandas": (by_pandas, False, ""),
    "sheetjs": (by_sheetjs, True, ""),
    "exceljs": (by_exceljs, False, ""),
    "libreoffice xlsx": (by_libreoffice("xlsx"), True, "keeps 15 digits: every number is within"),
    "libreoffice ods": (by_libreoffice("ods"), True, "keeps 15 digits: every number is within"),
    "libreoffice xls": (by_libreoffice("xls"), False, ""),
}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("book") / "book.xlsx"
    sa.write(path, ARRAYS)
    assert sa.scan(path)["f"].capacity == 200
    return path


def findings(path: Path) -> list[Any]:
    return list(sa.check(path))


@pytest.mark.slow
@pytest.mark.parametrize("program", KEEPS)
def test_a_program_that_saved_a_workbook_without_an_edit(program: str, book: Path, tmp_path: Path) -> None:
    save, keeps, rounding = KEEPS[program]
    result = findings(save(book, tmp_path, {}))
    if not keeps:
        assert [finding.location for finding in result] == [None]
        assert "no record of what was written: cannot tell" in result[0].message
    elif rounding:
        assert [(finding.severity, finding.location) for finding in result] == [("warning", "f")]
        assert rounding in result[0].message
    else:
        assert not result


@pytest.mark.slow
@pytest.mark.parametrize(("program", "size"), cross(KEEPS, ["1e-9", "0.5"], "1e-9"))  # a small edit is hard to see
def test_a_program_that_saved_a_workbook_with_an_edit(program: str, size: str, book: Path, tmp_path: Path) -> None:
    save, keeps, _ = KEEPS[program]
    result = findings(save(book, tmp_path, {EDITED: float(ARRAYS["f"][50]) * (1 + float(size))}))
    errors = [finding for finding in result if finding.severity == "error"]
    if keeps:
        assert [finding.location for finding in errors] == [f"arrays!{EDITED}"]
        assert errors[0].message == "f[50] was edited since it was written"
    else:
        assert not errors
        assert "cannot tell" in result[0].message


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.0, 1e-9])
def test_two_programs_one_after_the_other(size: float, book: Path, tmp_path: Path) -> None:
    edits = {EDITED: float(ARRAYS["f"][50]) * (1 + size)} if size else {}
    saved = by_libreoffice("xlsx")(by_openpyxl(book, tmp_path, edits), tmp_path, {})
    result = findings(saved)
    assert [finding.location for finding in result] == ["f", *([f"arrays!{EDITED}"] if size else [])]
    assert "rounds in its own way" in result[0].message
    again = by_sheetjs(saved, tmp_path, {})
    assert [finding.message for finding in findings(again)] == [finding.message for finding in result]


# Numbers of any size --------------------------------------------------------------------------------------------

WIDE = RANDOM.standard_normal(100) * 10.0 ** RANDOM.integers(-14, 9, 100)
WIDE[:12] = 1e-300, 1e300, 5e-324, -2.5e-310, -0.0, 0.0, -1e-7, 1e-20, 4e-21, -1.7976931348623157e308, 1e-5, 9.99e-6
SIZES = {"small": WIDE[12:], "wide": WIDE, "few": np.array([1.5, 1e-300, 2.0]), "tiny": WIDE[12:] * 1e-8}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_numbers_of_any_size_that_libreoffice_rounded_are_not_said_to_be_edited(suffix: str, tmp_path: Path) -> None:
    sa.write(tmp_path / "wide.xlsx", SIZES)
    result = findings(resave(tmp_path / "wide.xlsx", suffix, tmp_path / "again"))
    if suffix == "ods":
        assert [finding.location for finding in result] == ["small", "wide", "tiny"]
        assert all("rounds in its own way" in finding.message for finding in result)
    assert all(finding.severity == "warning" for finding in result), [str(finding) for finding in result]


@pytest.mark.slow
def test_an_edit_beside_numbers_that_lost_digits_is_named(tmp_path: Path) -> None:
    sa.write(tmp_path / "wide.xlsx", {"f": SIZES["small"]})
    place = int(np.argmax(np.abs(SIZES["small"])))
    content = (tmp_path / "wide.xlsx").read_bytes()
    xml = parts(content)[(part := "xl/worksheets/sheet1.xml")].decode()
    xml = re.sub(f'(<c r="A{20 + place}"[^>]*>)<v>[^<]*', r"\1<v>3.75", xml)
    edited = tmp_path / "edited.xlsx"
    edited.write_bytes(with_parts(content, {part: xml.encode()}))
    result = findings(resave(edited, "ods", tmp_path / "again"))
    assert [finding.location for finding in result] == ["f", f"arrays!A{20 + place}"]
    assert "rounds in its own way" in result[0].message
