"""Views that people edit: the elements stand in the grid, the column looks into it, and what is typed there is read."""

from __future__ import annotations

import re
import shutil
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from excel_packages import edit_part, lose_record, put_record, record_of, sheets_looked_into
from limits import set_limits
from mixtures import edit_cells, edited_sheet
from programs import resave, resave_by_node, schema_errors

import sheetarray as sa
from sheetarray.errors import LimitError
from sheetarray.testing.cases import assert_same, dtype_cases

EDITABLE = sa.View(editable=True)
RNG = np.random.default_rng(7)


def write_grid(path: Path, array: Any, **options: Any) -> Path:
    """A workbook with one array, `t`, and its view for editing."""
    sa.write(path, {"t": array}, views={"t": EDITABLE}, **options)
    return path


# As written ----------------------------------------------------------------------------------------------------


def test_every_dtype_is_exact_as_written_and_where_values_of_formulas_are_gone(tmp_path: Path) -> None:
    texts = np.array(["", "a b", " c ", "007", "a\nb", "=1", "'x", "TRUE", "_x0041_", "&<"])
    flat = {name: texts if name == "string" else np.asarray(array) for name, array in dtype_cases().items()}
    arrays = {name: np.concatenate([one, one]).reshape(2, -1) for name, one in flat.items() if name != "generic"}
    path = tmp_path / "t.xlsx"
    sa.write(path, arrays, views=dict.fromkeys(arrays, EDITABLE))
    dropped = re.compile(r"</f><v>[^<]*</v>")
    for _ in range(2):
        read = sa.read(path)
        assert list(read) == list(arrays)
        for name, array in arrays.items():
            assert_same(read[name], array)
        assert list(sa.check(path)) == []
        edit_part(path, "xl/worksheets/sheet", lambda text: dropped.sub("</f>", text))
    with pytest.raises(ValueError, match="generic"):
        write_grid(tmp_path / "g.xlsx", np.array([[1, None, "x"]], object))


def test_slices_stand_one_under_the_other_with_their_labels(tmp_path: Path) -> None:
    array = np.arange(24.0).reshape(2, 2, 2, 3)
    path = write_grid(tmp_path / "t.xlsx", array)
    rows = [[cell.value for cell in row] for row in openpyxl.load_workbook(path)["t view"].iter_rows(max_col=4)]
    assert rows[:5] == [["t_0:", 0, "t_1:", 0], ["t: t_2 \\ t_3", 0, 1, 2], [0, 0, 1, 2], [1, 3, 4, 5], [None] * 4]
    assert rows[15:19] == [["t_0:", 1, "t_1:", 1], ["t: t_2 \\ t_3", 0, 1, 2], [0, 18, 19, 20], [1, 21, 22, 23]]
    column = [cell.value for cell in openpyxl.load_workbook(path)["arrays"]["A"]]
    assert column[-24:][:4] == ["='t view'!B3", "='t view'!C3", "='t view'!D3", "='t view'!B4"]
    plane = write_grid(tmp_path / "plane.xlsx", array[0, 0])
    assert openpyxl.load_workbook(plane)["arrays"]["A"][-6].value == "='t view'!B2"


@pytest.mark.filterwarnings("ignore:.*and others to none:sheetarray.SheetArrayWarning")
def test_strides_of_any_kind_leave_the_rest_of_the_buffer_where_it_is(tmp_path: Path) -> None:
    buffer = RNG.normal(size=60)
    kinds = ((-20, 0, 2), 41), ((20, 5, 1), 0), ((0, 0, 0), 7)
    arrays = {
        f"t{place}": sa.LinearArray("float64", (3, 4, 5), strides, offset, "row-major", buffer)
        for place, (strides, offset) in enumerate(kinds)
    }
    path, four = tmp_path / "t.xlsx", np.arange(24.0).reshape(2, 2, 2, 3)
    sa.write(path, {**arrays, "four": four}, views=dict.fromkeys([*arrays, "four"], EDITABLE))
    assert not schema_errors(path)
    shown = {name: array.to_numpy() for name, array in arrays.items()}
    read = sa.read(path)
    for name in arrays:
        edit_cells(path, {"B3": 0.125}, f"{name} view")
    changed = sa.read(path)
    for name, wanted in shown.items():
        assert read[name].tolist() == wanted.tolist()
        assert (read[name].strides, read[name].base is not None) == (wanted.strides, True)
        is_edited = changed[name] == 0.125
        assert is_edited.sum() == (wanted == wanted[0, 0, 0]).sum()
        assert np.allclose(changed[name][~is_edited], wanted[~is_edited], rtol=1e-15)
    assert changed["four"].tolist() == four.tolist()


# Edited --------------------------------------------------------------------------------------------------------


def test_edits_of_the_grid_are_read_at_their_indices_and_named(tmp_path: Path) -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    path = edit_cells(write_grid(tmp_path / "t.xlsx", array), {"C4": 99.5, "E11": -1}, "t view")
    wanted = array.copy()
    wanted[0, 1, 1], wanted[1, 2, 3] = 99.5, -1
    assert_same(sa.read(path)["t"], wanted)
    assert [(finding.index, finding.array) for finding in sa.check(path)] == [((0, 1, 1), "t"), ((1, 2, 3), "t")]
    places = ["the element stands in cell C4 of 't view'; ", "the element stands in cell E11 of 't view'; "]
    assert [finding.hint.startswith(place) for finding, place in zip(sa.check(path), places, strict=True)] == [True] * 2


@pytest.mark.parametrize(("writer", "suffix"), [("exceljs", "xlsx"), ("sheetjs", "xlsx"), ("sheetjs", "ods")])
def test_a_program_that_leaves_old_values_in_formulas_hides_no_edit(tmp_path: Path, writer: str, suffix: str) -> None:
    array = np.arange(6.0).reshape(2, 3)
    path = write_grid(tmp_path / "t.xlsx", array)
    saved = resave_by_node(writer, path, tmp_path / f"saved.{suffix}", {"C3": 99.5})  # the view is the first sheet
    wanted = array.copy()
    wanted[1, 1] = 99.5
    assert_same(sa.read(saved)["t"], wanted)


def test_a_cell_that_is_emptied_is_a_blank_and_no_zero(tmp_path: Path) -> None:
    path = edit_cells(write_grid(tmp_path / "t.xlsx", np.arange(6.0).reshape(2, 3)), {"C2": None}, "t view")
    with pytest.raises(sa.FormatError, match="blank") as raised:
        sa.read(path)
    assert raised.value.location == "arrays!A23"
    assert (raised.value.hint or "").startswith("the element stands in cell C2 of 't view'; ")
    assert np.isnan(sa.read(path, missing="nan")["t"][0, 1])


@pytest.mark.parametrize("is_renamed", [True, False])
def test_elements_of_a_view_that_is_gone_are_errors_and_no_rows_that_were_deleted(
    tmp_path: Path, is_renamed: bool
) -> None:
    path = write_grid(tmp_path / "t.xlsx", np.arange(6.0).reshape(2, 3))
    book = openpyxl.load_workbook(path)
    if is_renamed:
        book["t view"].title = "other"  # openpyxl leaves formulas as they are
    else:
        del book["t view"]
    book.save(path)
    for call in (sa.read, sa.accept):
        with pytest.raises(sa.FormatError, match="a formula without a value") as raised:
            call(path)
        assert raised.value.location == "arrays!A22"
    assert {finding.index for finding in sa.check(path)} == set(np.ndindex(2, 3))


@pytest.mark.parametrize("formula", ["=C2", "=B3", "=B2", "=SUM(C2:C3)", "='arrays'!A22", "=nowhere!A1"])
def test_what_leads_to_another_formula_is_an_error_with_its_address(tmp_path: Path, formula: str) -> None:
    path = edit_cells(
        write_grid(tmp_path / "t.xlsx", np.arange(6.0).reshape(2, 3)), {"B2": formula, "C2": "=B2"}, "t view"
    )
    with pytest.raises(sa.FormatError, match="a formula without a value") as raised:
        sa.read(path)
    assert raised.value.location == "arrays!A22"


def test_a_formula_typed_into_the_column_is_told_and_those_of_the_view_are_not(tmp_path: Path) -> None:
    path = write_grid(tmp_path / "t.xlsx", np.arange(6.0).reshape(2, 3))
    edit_part(path, "xl/worksheets/sheet2.xml", lambda text: text.replace("'t view'!C2", "1+0"))
    (finding,) = sa.check(path)
    assert "t[0, 1] (A23) is a formula now" in finding.message


def test_a_lost_record_loses_nothing_else(tmp_path: Path) -> None:
    array = np.arange(6.0).reshape(2, 3)
    path = edit_cells(write_grid(tmp_path / "t.xlsx", array), {"B2": 8}, "t view")
    lose_record(path)
    wanted = array.copy()
    wanted[0, 0] = 8
    assert_same(sa.read(path)["t"], wanted)
    assert list(sa.scan(path)) == ["t"]


def test_a_reference_is_followed_wherever_people_put_one(tmp_path: Path) -> None:
    sa.write(tmp_path / "t.xlsx", {"t": np.arange(3.0), "u": np.array(["a", "", "c"])})
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    notes = book.create_sheet("Ann's notes & more")
    notes["C7"], notes["C8"], notes["C9"] = 7.25, "text", None
    sheet = book["arrays"]
    sheet["A21"], sheet["B20"], sheet["B21"] = "='Ann''s notes & more'!$C$7", "='Ann''s notes & more'!C8", "=$B$22"
    book.save(tmp_path / "t.xlsx")
    read = sa.read(tmp_path / "t.xlsx")
    assert read["t"].tolist() == [0, 7.25, 2]
    assert read["u"].tolist() == ["text", "c", "c"]


# Limits --------------------------------------------------------------------------------------------------------


def test_the_limit_of_formulas_is_met_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, view_formulas=6 + 2 + 3 + 2)  # elements, labels down and across, of the slice
    write_grid(tmp_path / "t.xlsx", np.zeros((2, 3)))
    with pytest.raises(ValueError, match="no view of 't' can be edited: it takes 17 formulas"):
        write_grid(tmp_path / "u.xlsx", np.zeros((3, 3)))
    set_limits(monkeypatch, editable_columns=3)
    write_grid(tmp_path / "t.xlsx", np.zeros((2, 3)))
    with pytest.raises(ValueError, match="a sheet has room for 3"):
        write_grid(tmp_path / "u.xlsx", np.zeros((1, 4)))
    assert not (tmp_path / "u.xlsx").exists()


# Views after `accept` ------------------------------------------------------------------------------------------

ARRAY = np.arange(24.0).reshape(4, 2, 3)


def known_views(path: Path) -> set[str]:
    """The sheets that reading passes over, since they are views as they were written."""
    with sheets_looked_into() as noted:
        sa.scan(path)
    titles = openpyxl.load_workbook(path).sheetnames
    passed_over = {title for place, title in enumerate(titles, 1) if f"sheet{place}.xml" not in noted}
    return {title for title in passed_over if not title.endswith(" guard")}


def append_cells(path: Path, values: list[float]) -> None:
    """Write values below the first column of the sheet of arrays, as openpyxl saves it."""
    with edited_sheet(path) as sheet:
        for value in values:
            sheet.append([value])


def test_a_view_of_an_array_that_grew_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    views = {"t": sa.View(rows=2, columns=0, colors="slice")}
    sa.write(path, {"t": ARRAY}, views=views)
    styles = [openpyxl.load_workbook(path)["t view"].cell(row, 2).fill.fgColor.rgb for row in (2, 3, 4)]
    append_cells(path, [30.5, 31, 32, 33, 34, 35])
    before = shutil.copy(path, tmp_path / "before.xlsx")
    sa.accept(path)
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
    edit_cells(path, {"B3": 0.5}, "u view")
    assert known_views(path) == set()
    assert sa.accept(path)
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


# What people type over the formulas of a view -----------------------------------------------------------------

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
    target = path.with_name("edited.xlsx")
    target.write_bytes(path.read_bytes())
    with edited_sheet(target, title) as sheet:
        change(sheet)
    return target


def first_row(sheet: Any) -> int:
    """The first row of the grid."""
    return next(row for row in range(1, 99) if sheet.cell(row, 1).value == "lat \\ lon") + 1


def said(path: Path) -> list[tuple[str | None, tuple[int, ...] | None, str]]:
    """The location, the index and the message of each finding about formulas that were typed over."""
    found = [finding for finding in sa.check(path) if "instead of" in finding.message]
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
    assert "holds 7.5 instead of a formula that showed t[1, 0, 1] (time: 2024-02-29, lat: south, lon: 1)" in element[2]
    assert "is blank instead of a formula that showed t[1, 1, 4]" in blank[2]
    assert (element[1], blank[1]) == ((1, 0, 1), (1, 1, 4))
    assert "showed a label (lon: 0)" in label[2]
    assert "holds 'far north' instead of a formula that showed a label (lat: north)" in name[2]
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
    book = openpyxl.load_workbook(lose_record(path))
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
    assert "t[1, 0, 1] holds a value instead of formulas that refer to the view for editing" in message
    (finding,) = (finding for finding in sa.check(saved) if "instead of" in finding.message)
    assert "type the formula ='t view'!C" in finding.hint


def test_accept_keeps_what_was_typed(tmp_path: Path) -> None:
    sa.write(tmp_path / "a.xlsx", {"t": GRID}, views=True)
    path = edit(tmp_path / "a.xlsx", lambda view: view.cell(18, 3, 7.5))
    before = said(path)
    assert len(before) == 1
    sa.accept(path)
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
        sa.accept(path)
    assert path.read_bytes() == content


def test_rows_added_below_a_column_of_formulas_are_values(tmp_path: Path) -> None:
    sa.write(tmp_path / "a.xlsx", {"t": GRID}, views={"t": sa.View(editable=True)})

    def append(sheet: Any) -> None:
        bottom = next(row for row in range(1, 99) if sheet.cell(row, 1).value == "data") + 60
        for place in range(15):
            sheet.cell(bottom + 1 + place, 1, 0.5)

    path = edit(tmp_path / "a.xlsx", append, "arrays")
    sa.accept(path)
    assert said(path) == []
    assert_same(sa.read(path)["t"], np.concatenate([GRID, np.full((1, 3, 5), 0.5)]))
    path = edit(path, lambda sheet: sheet.cell(sheet.max_row - 15, 1, 0.5), "arrays")
    ((_, index, _),) = said(path)
    assert index == (3, 2, 4)
