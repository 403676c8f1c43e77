"""Views after `adopt`: made anew where their arrays have other rows, and known again where a program saved them."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from excel_packages import put_record, record_of, sheets_looked_into
from programs import resave, schema_errors

import sheetarray as sa

ARRAY = np.arange(24.0).reshape(4, 2, 3)


def known_views(path: Path) -> set[str]:
    """The sheets that reading passes over, since they are views as they were written."""
    with sheets_looked_into() as noted:
        sa.scan(path)
    titles = openpyxl.load_workbook(path).sheetnames
    return {title for place, title in enumerate(titles, 1) if f"sheet{place}.xml" not in noted}


def append_cells(path: Path, values: list[float]) -> None:
    """Write values below the first column of the sheet of arrays, as openpyxl saves it."""
    book = openpyxl.load_workbook(path)
    sheet = book["arrays"]
    for place, value in enumerate(values, sheet.max_row + 1):
        sheet.cell(place, 1, value)
    book.save(path)


def test_a_view_of_an_array_that_grew_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    views = {"t": sa.View(rows=2, columns=0, colors="slice")}
    sa.write(path, {"t": ARRAY}, views=views)
    styles = [openpyxl.load_workbook(path)["t view"].cell(row, 2).fill.fgColor.rgb for row in (2, 3, 4)]
    append_cells(path, [30.5, 31, 32, 33, 34, 35])
    before = shutil.copy(path, tmp_path / "before.xlsx")
    sa.adopt(path)
    wanted = np.concatenate([ARRAY, [[[30.5, 31, 32], [33, 34, 35]]]])
    assert sa.read(path)["t"].tolist() == wanted.tolist()
    assert known_views(path) == {"t view"}
    assert list(sa.check(path)) == []
    errors = set(schema_errors(path))
    assert not errors or errors <= set(schema_errors(before))
    saved = openpyxl.load_workbook(resave(path, "xlsx", tmp_path / "saved"), data_only=True)["t view"]
    grid = [[cell.value for cell in row[1:6]] for row in saved.iter_rows(min_row=17, max_row=19)]
    assert grid == wanted[:, 0].T.tolist()
    assert saved["B3"].value == "slice"
    assert [openpyxl.load_workbook(path)["t view"].cell(row, 2).fill.fgColor.rgb for row in (2, 3, 4)] == styles
    with zipfile.ZipFile(path) as package:
        charts = [package.read(name).decode() for name in package.namelist() if "charts/chart" in name]
    assert all("$F$15" in chart or "F$15" in chart for chart in charts)


def test_a_view_that_a_program_saved_again_is_known_again(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, {"t": ARRAY, "u": ARRAY}, views={"t": sa.View(), "u": sa.View(editable=True)})
    book = openpyxl.load_workbook(path)
    book["u view"]["B3"] = 0.5
    book.save(path)
    assert known_views(path) == set()
    assert sa.adopt(path) == {}
    assert known_views(path) == {"t view", "u view"}
    assert sa.read(path)["u"][0, 0, 0] == 0.5
    assert list(sa.check(path)) == []


@pytest.mark.parametrize("program", ["xlsx", "ods", "openpyxl"])
@pytest.mark.parametrize("view", [sa.View(rows=2, columns=0, colors="slice"), sa.View(editable=True)])
def test_restore_makes_views_again(program: str, view: sa.View, tmp_path: Path) -> None:
    path, again = tmp_path / "t.xlsx", tmp_path / "again.xlsx"
    sa.write(path, {"t": ARRAY / 7, "u": ARRAY, "n": np.arange(3)}, views={"t": view, "u": sa.View()}, guard=True)
    if program == "openpyxl":
        openpyxl.load_workbook(path).save(tmp_path / "saved.xlsx")
        saved = tmp_path / "saved.xlsx"
    else:
        saved = resave(path, program, tmp_path / "saved")
    assert sa.restore(saved, again) == ["t", "u", "n"]
    assert again.read_bytes() == path.read_bytes()
    assert known_views(again) - {"arrays guard"} == {"t view", "u view"}


def test_a_record_of_dimensions_that_are_not_there_is_no_matter(tmp_path: Path) -> None:
    path, again = tmp_path / "t.xlsx", tmp_path / "again.xlsx"
    sa.write(path, {"t": ARRAY, "n": np.arange(3)}, views={"t": sa.View(rows=2, columns=0)}, guard=True)
    record = record_of(path)
    record["sheets"]["t view"]["view"]["rows"] = "nobody"
    put_record(path, record)
    sa.restore(path, again)
    view = record_of(again)["sheets"]["t view"]["view"]
    assert (view["rows"], view["columns"]) == ("t_1", "t_2")
