"""Every dtype through every program, and back by the guard: what nobody has edited comes back bit for bit."""

from __future__ import annotations

import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import assert_same, dtype_cases
from programs import resave, resave_by_node

import sheetarray as sa
from sheetarray.errors import SheetArrayWarning

openpyxl = pytest.importorskip("openpyxl")


def _arrays() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    arrays = {name.replace("[", " ").replace("]", ""): array for name, array in dtype_cases().items()}
    arrays["doubles"] = rng.standard_normal(3000) * 10.0 ** rng.integers(-12, 12, 3000)
    arrays["large"] = rng.integers(-(2**63), 2**63 - 1, 200)
    arrays["pairs"] = rng.standard_normal(100) + 1j * rng.standard_normal(100)
    steps = {"D": 1, "s": 86_407, "ms": 86_401_117, "us": 86_400_111_711, "ns": 86_400_001_117_111}
    for unit, step in steps.items():
        arrays[f"moments {unit}"] = (rng.integers(10**3, 3 * 10**4, 60) * step).view(f"datetime64[{unit}]")
    return arrays


def _by_openpyxl(path: Path, folder: Path) -> Path:
    openpyxl.load_workbook(path).save(folder / "openpyxl.xlsx")
    return folder / "openpyxl.xlsx"


def _by_fifteen(path: Path, folder: Path) -> Path:
    """Write every number as `%.15g` does."""

    def rounded(match: re.Match[bytes]) -> bytes:
        return b"<v>%s</v>" % (b"%.15g" % float(match[1]))

    target = folder / "fifteen.xlsx"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as sink:
        for name in source.namelist():
            content = source.read(name)
            sink.writestr(name, re.sub(rb"<v>([^<]*)</v>", rounded, content) if "sheet1" in name else content)
    return target


PROGRAMS = {
    "openpyxl": _by_openpyxl,
    "%.15g": _by_fifteen,
    "SheetJS": lambda path, folder: resave_by_node("sheetjs", path, folder / "sheetjs.xlsx"),
    "SheetJS, ods": lambda path, folder: resave_by_node("sheetjs", path, folder / "sheetjs.ods"),
    "exceljs": lambda path, folder: resave_by_node("exceljs", path, folder / "exceljs.xlsx"),
    "LibreOffice, xlsx": lambda path, folder: resave(path, "xlsx", folder / "xlsx"),
    "LibreOffice, ods": lambda path, folder: resave(path, "ods", folder / "ods"),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_nobody_has_edited_comes_back(program: str, tmp_path: Path) -> None:
    arrays = _arrays()
    sa.write(tmp_path / "run.xlsx", arrays, guard=True)
    saved = PROGRAMS[program](tmp_path / "run.xlsx", tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # date cells in the place of text
        actual = sa.read(saved)
    assert list(actual) == list(arrays)
    for name, array in arrays.items():
        assert_same(actual[name], array)
    assert [finding for finding in sa.check(saved) if "edited" in finding.message] == []


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_doubles_come_back_from_two_programs_in_turn(suffix: str, tmp_path: Path) -> None:
    array = np.random.default_rng(5).standard_normal(5000)
    sa.write(tmp_path / "run.xlsx", {"t": array}, guard=True)
    saved = resave(_by_openpyxl(tmp_path / "run.xlsx", tmp_path), suffix, tmp_path / "saved")
    assert_same(sa.read(saved)["t"], array)
