"""New and extended workbooks under the Open XML SDK's validator, which knows the schemas that Excel opens files by."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import openpyxl
import pytest
import xlsxwriter
from cases import dtype_cases, shape_cases
from excel_packages import rich, strict
from programs import resave, schema_errors

import sheetarray as sa
from sheetarray.sheets.excel import writing


@pytest.mark.parametrize("cells", ["numeric", "text"])
def test_a_new_workbook_of_every_dtype_and_shape_is_valid(tmp_path: Path, cells: str) -> None:
    sa.write(
        tmp_path / "x.xlsx", {**dtype_cases(), **shape_cases(), "A1": np.zeros(2), 'q"<&>': np.ones(1)}, cells=cells
    )
    assert not schema_errors(tmp_path / "x.xlsx")


@pytest.mark.parametrize("suffix", ["xlsx", "xlsm"])
def test_a_workbook_of_many_sheets_and_parts_is_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(writing, "MAX_ROWS", 40)
    monkeypatch.setattr(writing, "MAX_COLUMNS", 3)
    arrays = {f"t {number}": np.linspace(0, 1, 50) for number in range(6)}
    sa.write(tmp_path / f"x.{suffix}", arrays, sheet="Größe & <co>")
    assert len(openpyxl.load_workbook(tmp_path / f"x.{suffix}").sheetnames) > 3
    assert not schema_errors(tmp_path / f"x.{suffix}")


def test_a_workbook_of_many_arrays_is_valid(tmp_path: Path) -> None:
    sa.write(tmp_path / "x.xlsx", {f"t{number}": np.zeros(2) for number in range(1500)})
    assert not schema_errors(tmp_path / "x.xlsx")


def original(kind: str, folder: Path) -> Path:
    """A workbook that another program made."""
    path = folder / f"{kind}.xlsx"
    match kind:
        case "openpyxl":
            book = openpyxl.Workbook()
            book.active["B2"] = "text"
            book.save(path)
        case "xlsxwriter":
            with xlsxwriter.Workbook(path) as made:
                made.add_worksheet("data").write(1, 1, 2.5)
        case "rich":
            path.write_bytes(rich())
        case "strict":
            path.write_bytes(strict(rich()))
        case "libreoffice":
            return resave(original("openpyxl", folder), "xlsx", folder / "saved")
        case _:
            sa.write(path, {"first": np.arange(4.0)}, sheet="one")
    return path


@pytest.mark.parametrize("kind", ["openpyxl", "xlsxwriter", "rich", "strict", "libreoffice", "ours"])
def test_sheets_put_into_a_workbook_bring_no_error_that_was_not_in_it(tmp_path: Path, kind: str) -> None:
    path = original(kind, tmp_path)
    before = shutil.copy(path, tmp_path / "before.xlsx")
    arrays = dtype_cases()
    sa.write(
        path,
        {name: arrays[name] for name in list(arrays)[:: 1 if kind == "rich" else 5]},
        mode="a",
        sheet="of dtypes",
    )
    sa.write(path, {"r": np.arange(3)}, mode="a", sheet="to be replaced")
    sa.write(path, {"t": np.arange(5.0)}, mode="a", sheet="to be replaced", if_sheet_exists="replace")
    errors = set(schema_errors(path))
    assert not errors or errors <= set(schema_errors(before))
    assert sa.read(path, ["t"])["t"].tolist() == [0, 1, 2, 3, 4]


def test_writing_imports_no_other_library_of_workbooks(tmp_path: Path) -> None:
    code = f"""
import sys, numpy as np, sheetarray as sa
for mode in ("w", "a"):
    sa.write({str(tmp_path / "x.xlsx")!r}, {{"t": np.arange(3.5)}}, mode=mode, sheet=mode)
assert not {{"openpyxl", "xlsxwriter"}} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
