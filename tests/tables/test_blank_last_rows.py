"""Recorded tables whose last rows hold nothing but blank text come back with all of their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import xarray as xr
from programs import resave
from recorded import assert_same, write_quietly
from services import Book

import sheetarray as sa
from sheets_emulator import SheetsServer

TABLES: dict[str, Any] = {
    "last": {"a": np.array(["x", "y", ""])},
    "two": {"a": np.array(["x", "", ""]), "b": np.array(["y", "", ""])},
    "all": {"a": np.array(["", "", ""])},
    "one row": {"a": np.array([""])},
    "none": {"a": np.array(["x", None], object)},
    "labels": xr.Dataset({"s": ("x", np.array(["a", ""]))}),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("guard", [True, False])
def test_blank_rows_at_the_end_are_rows_of_workbooks(name: str, guard: bool, tmp_path: Path) -> None:
    path, arrays = tmp_path / "a.xlsx", tmp_path / "arrays.xlsx"
    write_quietly(path, TABLES[name], guard=guard)
    sa.write(arrays, TABLES[name])
    assert_same(sa.read(path), sa.read(arrays))
    assert list(sa.check(path)) == []
    openpyxl.load_workbook(path).save(path)
    assert_same(sa.read(path), sa.read(arrays))
    assert list(sa.check(path)) == []
    if name == "two":
        assert_same(sa.read(resave(path, "ods", tmp_path / "saved")), sa.read(arrays))


@pytest.mark.parametrize("name", TABLES)
def test_blank_rows_at_the_end_are_rows_of_objects_and_google_sheets(
    name: str, server: SheetsServer, tmp_path: Path
) -> None:
    sa.write(tmp_path / "a.xlsx", TABLES[name])
    wanted = sa.read(tmp_path / "a.xlsx")
    book = openpyxl.Workbook()
    write_quietly(book, TABLES[name])
    assert_same(sa.read(book), wanted)
    sheets = Book(server)
    url = str(write_quietly(sheets.url, TABLES[name], client=sheets.client))
    assert_same(sa.read(url, client=sheets.client), wanted)


def test_rows_below_blank_ones_are_new_and_a_deleted_one_is_missed(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    write_quietly(path, TABLES["two"])
    sa.append(path, {"a": ["z"], "b": [""]})
    assert sa.read(path)["a"].tolist() == ["x", "", "", "z"]
    sa.append(path, {"a": [""], "b": [""]})
    assert sa.read(path)["a"].tolist() == ["x", "", "", "z", ""]
    assert list(sa.check(path)) == []
    book = openpyxl.load_workbook(path)
    sheet = book["table"]
    sheet.delete_rows(2)
    sheet.tables["table"].ref = "A1:B5"
    book.save(path)
    with pytest.raises(sa.FormatError, match="4 rows of data, but 5 were written"):
        sa.read(path)
    assert sa.read(path, resize=True)["a"].tolist() == ["", "", "z", ""]
    sa.accept(path)
    assert sa.read(path)["a"].tolist() == ["", "", "z", ""]
