"""New and extended workbooks under the Open XML SDK's validator, which knows the schemas that Excel opens files by."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from children import run_limited
from excel_packages import record_of, rich, strict
from limits import set_limits
from programs import resave, schema_errors

import sheetarray as sa
from sheetarray.testing.cases import dtype_cases, shape_cases


@pytest.mark.parametrize(("suffix", "cells"), [("xlsx", "numeric"), ("xlsm", "text")])
def test_a_new_workbook_of_every_dtype_and_shape_is_valid(tmp_path: Path, suffix: str, cells: str) -> None:
    path = tmp_path / f"x.{suffix}"
    sa.write(path, {**dtype_cases(), **shape_cases(), "A1": np.zeros(2), 'q"<&>': np.ones(1)}, cells=cells)
    assert not schema_errors(path)


def test_a_workbook_of_many_arrays_sheets_and_parts_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, worksheet_rows=40, worksheet_columns=50, full_fingerprints=100)
    arrays = {f"t {number}": np.linspace(0, 1, 50 if number < 6 else 2) for number in range(150)}
    sa.write(tmp_path / "x.xlsx", arrays, sheet="Größe & <co>")
    assert len(openpyxl.load_workbook(tmp_path / "x.xlsx").sheetnames) > 3
    assert "many" in next(iter(record_of(tmp_path / "x.xlsx")["sheets"].values()))
    assert not schema_errors(tmp_path / "x.xlsx")


def original(kind: str, folder: Path) -> Path:
    """A workbook that another program made."""
    path = folder / f"{kind}.xlsx"
    match kind:
        case "openpyxl":
            book = openpyxl.Workbook()
            book.active["B2"] = "text"
            book.save(path)
        case "rich":
            path.write_bytes(rich())
        case "strict":
            path.write_bytes(strict(rich()))
        case "libreoffice":
            return resave(original("openpyxl", folder), "xlsx", folder / "saved")
        case _:
            sa.write(path, {"first": np.arange(4.0)}, sheet="one")
    return path


@pytest.mark.parametrize("kind", ["openpyxl", "rich", "strict", "libreoffice", "ours"])
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
    code = """
    import sys, numpy as np, sheetarray as sa
    for mode in ("w", "a"):
        sa.write(sys.argv[1], {"t": np.arange(3.5)}, mode=mode, sheet=mode)
    assert not {"openpyxl", "xlsxwriter"} & set(sys.modules)
    """
    run_limited(code, tmp_path / "x.xlsx")
