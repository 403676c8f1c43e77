"""Templates (.xltx, .xltm): workbooks under another content type, without which Excel does not open them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pytest

import sheetarray as sa

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
    assert sa.adopt(path) == {}
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
