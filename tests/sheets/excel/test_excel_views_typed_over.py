"""What people type over the formulas of a view: said by `check` with cell and labels, and never lost by `adopt`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from limits import set_limits
from programs import resave

import sheetarray as sa
from sheetarray.errors import LimitError
from sheetarray.testing.cases import assert_same

GRID = np.arange(60.0).reshape(4, 3, 5)
DAYS = np.array(["2024-02-28", "2024-02-29", "2024-03-01", "2024-03-05"], "M8[D]")
PROGRAMS = {
    "openpyxl": lambda path, _: path,
    "LibreOffice, xlsx": lambda path, folder: resave(path, "xlsx", folder / "out"),
    "LibreOffice, ods": lambda path, folder: resave(path, "ods", folder / "out"),
}


def write(folder: Path, **options: Any) -> Path:
    xarray = pytest.importorskip("xarray")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # xarray of what it makes of days
        data = xarray.Dataset(
            {"t": (("time", "lat", "lon"), GRID)}, {"time": DAYS, "lat": np.array(["south", "middle", "north"])}
        )
        sa.write(folder / "a.xlsx", data, **{"views": True, **options})
    return folder / "a.xlsx"


def edit(path: Path, change: Callable[[Any], None], title: str = "t view") -> Path:
    book = openpyxl.load_workbook(path)
    change(book[title])
    target = path.with_name("edited.xlsx")
    book.save(target)
    return target


def first_row(sheet: Any) -> int:
    """The first row of the grid."""
    return next(row for row in range(1, 99) if sheet.cell(row, 1).value == "lat \\ lon") + 1


def said(path: Path) -> list[tuple[str | None, tuple[int, ...] | None, str]]:
    """The location, the index and the message of each finding about formulas that were typed over."""
    found = [finding for finding in sa.check(path) if "in the place of" in finding.message]
    assert all((finding.severity, finding.array) == ("warning", "t") for finding in found)
    return [(finding.location, finding.index, finding.message) for finding in found]


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_cell_is_said_with_its_labels(program: str, tmp_path: Path) -> None:
    def change(view: Any) -> None:
        row = first_row(view)
        view["B2"] = DAYS[1].astype(object)
        view.cell(row, 3, 7.5)
        view.cell(row + 1, 6).value = None
        view.cell(row + 2, 1, "far north")
        view.cell(row - 1, 2, "zero")

    path = edit(write(tmp_path), change)
    row = first_row(openpyxl.load_workbook(path)["t view"])
    saved = PROGRAMS[program](path, tmp_path)
    label, element, blank, name = said(saved)
    assert (label[0], element[0], blank[0], name[0]) == tuple(
        f"t view!{cell}" for cell in (f"B{row - 1}", f"C{row}", f"F{row + 1}", f"A{row + 2}")
    )
    assert (
        "holds 7.5 in the place of a formula that showed t[1, 0, 1] (time: 2024-02-29, lat: south, lon: 1)"
        in element[2]
    )
    assert "is blank in the place of a formula that showed t[1, 1, 4]" in blank[2]
    assert (element[1], blank[1]) == ((1, 0, 1), (1, 1, 4))
    assert "showed a label (lon: 0)" in label[2]
    assert "holds 'far north' in the place of a formula that showed a label (lat: north)" in name[2]
    assert_same(sa.read(saved)["t"], GRID)
    (hint,) = (finding.hint for finding in sa.check(saved) if finding.index == (1, 0, 1))
    assert f"type the value into {sa.scan(saved)['t'].location.partition('!')[0]}!A" in hint


@pytest.mark.parametrize("program", PROGRAMS)
def test_choosers_and_notes_are_no_news(program: str, tmp_path: Path) -> None:
    def change(view: Any) -> None:
        view["B2"] = DAYS[3].astype(object)
        view["B3"] = "slice"
        view["B4"] = "north"
        view["J30"] = "a note of mine"
        view.cell(first_row(view) + 5, 2, 4.5)  # below the grid

    assert said(PROGRAMS[program](edit(write(tmp_path), change), tmp_path)) == []


def test_rows_and_columns_put_into_a_view_move_what_is_said(tmp_path: Path) -> None:
    def change(view: Any) -> None:
        row = first_row(view)
        view.cell(row + 1, 4, 99)
        view.insert_rows(1, 2)
        view.insert_cols(1)

    ((location, _, message),) = said(edit(write(tmp_path), change))
    assert location == f"t view!E{first_row(openpyxl.load_workbook(tmp_path / 'a.xlsx')['t view']) + 3}"
    assert "lat: middle, lon: 2" in message


def test_a_grid_of_values_alone_is_said(tmp_path: Path) -> None:
    def paste(view: Any) -> None:
        for line in view.iter_rows():
            for cell in line:
                if isinstance(cell.value, str) and cell.value.startswith("="):
                    cell.value = 1.5

    def paste_grid(view: Any) -> None:
        for row in range(3):
            for column in range(5):
                view.cell(first_row(view) + row, column + 2, 1.5)

    messages = [finding.message for finding in sa.check(edit(write(tmp_path), paste))]
    assert any("the view of 't' has no formulas any more" in message for message in messages)
    assert len(said(edit(write(tmp_path), paste_grid))) == 15


def test_twenty_cells_are_named_and_the_others_counted(tmp_path: Path) -> None:
    sa.write(tmp_path / "a.xlsx", {"t": np.arange(60.0).reshape(6, 10)}, views=True)
    for count in (20, 21, 22):

        def change(view: Any, count: int = count) -> None:
            row = next(row for row in range(1, 99) if view.cell(row, 1).value == "t_0 \\ t_1") + 1
            for place in range(count):
                view.cell(row + place // 10, 2 + place % 10, -1)

        found = said(edit(tmp_path / "a.xlsx", change))
        assert len(found) == min(count, 21)
        assert (f"{count - 20} more cells" in found[-1][2]) == (count > 20)


def test_a_view_of_which_the_record_is_lost(tmp_path: Path) -> None:
    path = edit(write(tmp_path), lambda view: view.cell(first_row(view), 3, 7.5))
    book = openpyxl.load_workbook(path)
    for name in [prop.name for prop in book.custom_doc_props.props]:
        del book.custom_doc_props[name]
    mine = book.create_sheet("my view")
    for line in (["a \\ b", "=1+1", "=2+2"], ["x", 5, "=3+3"]):
        mine.append(line)
    book.save(path)
    ((location, index, _),) = said(path)
    assert (location, index) == (f"t view!C{first_row(book['t view'])}", (0, 0, 1))


@pytest.mark.parametrize("program", ["openpyxl", "LibreOffice, xlsx"])
def test_a_window_says_the_element_that_it_showed(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, view_formulas=200)
    array = np.arange(900.0).reshape(30, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        set_limits(monkeypatch, view_window=5)
        sa.write(tmp_path / "a.xlsx", {"t": array}, views=True)

    def change(view: Any) -> None:
        rows = {view.cell(row, 1).value: row for row in range(1, 30)}
        view.cell(rows["first t_0:"], 2, 10)
        view.cell(rows["first t_1:"], 2, 20)
        view.cell(rows["step:"], 2, 2)
        view.cell(rows["t_0 \\ t_1"] + 2, 4, -5)

    ((_, index, message),) = said(PROGRAMS[program](edit(tmp_path / "a.xlsx", change), tmp_path))
    assert index == (12, 24)
    assert "t[12, 24]" in message


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_column_that_lost_a_formula_into_its_view(program: str, tmp_path: Path) -> None:
    path = write(tmp_path, views={"t": sa.View(editable=True)})
    assert said(PROGRAMS[program](edit(path, lambda _: None), tmp_path)) == []

    def change(sheet: Any) -> None:
        first = next(row for row in range(1, 99) if sheet.cell(row, 1).value == "data") + 1
        sheet.cell(first + 16, 1, float(GRID.ravel()[16]))  # the same value: nothing else tells

    saved = PROGRAMS[program](edit(path, change, "arrays"), tmp_path)
    ((_, index, message),) = said(saved)
    assert index == (1, 0, 1)
    assert "t[1, 0, 1] holds a value in the place of formulas into the view for editing" in message
    (finding,) = (finding for finding in sa.check(saved) if "in the place" in finding.message)
    assert "type the formula ='t view'!C" in finding.hint


def test_adopt_keeps_what_was_typed(tmp_path: Path) -> None:
    sa.write(tmp_path / "a.xlsx", {"t": GRID}, views=True)
    path = edit(tmp_path / "a.xlsx", lambda view: view.cell(18, 3, 7.5))
    before = said(path)
    assert len(before) == 1
    sa.adopt(path)
    assert said(path) == before
    book = openpyxl.load_workbook(path)
    assert book["t view"].cell(18, 3).value == 7.5
    sheet = book["arrays"]
    bottom = next(row for row in range(1, 99) if sheet.cell(row, 1).value == "data") + 60
    for place in range(15):  # one more day, so that the view has to be made anew
        sheet.cell(bottom + 1 + place, 1, 0.5)
    book.save(path)
    content = path.read_bytes()
    with pytest.raises(LimitError, match="'t view' has to be made anew"):
        sa.adopt(path)
    assert path.read_bytes() == content


def test_rows_added_below_a_column_of_formulas_are_values(tmp_path: Path) -> None:
    sa.write(tmp_path / "a.xlsx", {"t": GRID}, views={"t": sa.View(editable=True)})

    def append(sheet: Any) -> None:
        bottom = next(row for row in range(1, 99) if sheet.cell(row, 1).value == "data") + 60
        for place in range(15):
            sheet.cell(bottom + 1 + place, 1, 0.5)

    path = edit(tmp_path / "a.xlsx", append, "arrays")
    sa.adopt(path)
    assert said(path) == []
    assert_same(sa.read(path)["t"], np.concatenate([GRID, np.full((1, 3, 5), 0.5)]))
    path = edit(path, lambda sheet: sheet.cell(sheet.max_row - 15, 1, 0.5), "arrays")
    ((_, index, _),) = said(path)
    assert index == (3, 2, 4)


def test_array_formulas_over_a_grid_are_formulas(tmp_path: Path) -> None:
    def change(view: Any) -> None:
        row = first_row(view)
        formula = openpyxl.worksheet.formula.ArrayFormula(f"B{row}:F{row}", f"=B{row + 1}:F{row + 1}")
        for column in range(3, 7):
            view.cell(row, column, 1.0)
        view.cell(row, 2).value = formula

    assert said(edit(write(tmp_path), change)) == []
