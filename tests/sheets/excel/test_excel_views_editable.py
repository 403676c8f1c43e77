"""Views that people edit: the elements stand in the grid, the column looks into it, and what is typed there is read."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from limits import set_limits
from programs import resave_by_node, schema_errors

import sheetarray as sa
from sheetarray.testing.cases import assert_same, dtype_cases

EDITABLE = sa.View(editable=True)
RNG = np.random.default_rng(7)


def write_grid(path: Path, array: Any, **options: Any) -> Path:
    """A workbook with one array, `t`, and its view for editing."""
    sa.write(path, {"t": array}, views={"t": EDITABLE}, **options)
    return path


def change(path: Path, part: str, edit: Callable[[str], str]) -> None:
    """Change one part of a workbook, or all whose names begin so."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    changed = {name: edit(content.decode()).encode() for name, content in parts.items() if name.startswith(part)}
    assert changed
    parts |= changed
    with zipfile.ZipFile(path, "w") as new:
        for name, content in parts.items():
            new.writestr(name, content)


def edit_by_openpyxl(path: Path, edits: dict[str, Any], title: str = "t view") -> Path:
    """Put values into cells of a sheet; openpyxl drops the values of all formulas."""
    book = openpyxl.load_workbook(path)
    for address, value in edits.items():
        book[title][address] = value
    book.save(path)
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
        change(path, "xl/worksheets/sheet", lambda text: dropped.sub("</f>", text))
    with pytest.raises(sa.LimitError, match="generic"):
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


@pytest.mark.filterwarnings("ignore:.*belong to none:sheetarray.SheetArrayWarning")
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
        edit_by_openpyxl(path, {"B3": 0.125}, f"{name} view")
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
    path = edit_by_openpyxl(write_grid(tmp_path / "t.xlsx", array), {"C4": 99.5, "E11": -1})
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
    path = edit_by_openpyxl(write_grid(tmp_path / "t.xlsx", np.arange(6.0).reshape(2, 3)), {"C2": None})
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
    for call in (sa.read, sa.adopt):
        with pytest.raises(sa.FormatError, match="a formula without a value") as raised:
            call(path)
        assert raised.value.location == "arrays!A22"
    assert {finding.index for finding in sa.check(path)} == set(np.ndindex(2, 3))


@pytest.mark.parametrize("formula", ["=C2", "=B3", "=B2", "=SUM(C2:C3)", "='arrays'!A22", "=nowhere!A1"])
def test_what_leads_to_another_formula_is_an_error_with_its_address(tmp_path: Path, formula: str) -> None:
    path = edit_by_openpyxl(write_grid(tmp_path / "t.xlsx", np.arange(6.0).reshape(2, 3)), {"B2": formula, "C2": "=B2"})
    with pytest.raises(sa.FormatError, match="a formula without a value") as raised:
        sa.read(path)
    assert raised.value.location == "arrays!A22"


def test_a_formula_typed_into_the_column_is_told_and_those_of_the_view_are_not(tmp_path: Path) -> None:
    path = write_grid(tmp_path / "t.xlsx", np.arange(6.0).reshape(2, 3))
    change(path, "xl/worksheets/sheet2.xml", lambda text: text.replace("'t view'!C2", "1+0"))
    (finding,) = sa.check(path)
    assert "t[0, 1] (A23) is a formula now; its value is as written" in finding.message


def test_a_lost_record_loses_nothing_else(tmp_path: Path) -> None:
    array = np.arange(6.0).reshape(2, 3)
    path = edit_by_openpyxl(write_grid(tmp_path / "t.xlsx", array), {"B2": 8})
    change(path, "docProps/custom.xml", lambda text: re.sub("<property.*</property>", "", text))
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
    with pytest.raises(sa.LimitError, match="no view of 't' can be edited: it takes 17 formulas"):
        write_grid(tmp_path / "u.xlsx", np.zeros((3, 3)))
    set_limits(monkeypatch, editable_columns=3)
    write_grid(tmp_path / "t.xlsx", np.zeros((2, 3)))
    with pytest.raises(sa.LimitError, match="a sheet has room for 3"):
        write_grid(tmp_path / "u.xlsx", np.zeros((1, 4)))
    assert not (tmp_path / "u.xlsx").exists()


def test_no_more_references_are_followed_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = edit_by_openpyxl(write_grid(tmp_path / "t.xlsx", np.arange(6.0).reshape(2, 3)), {})
    for limit in (6, 7):
        set_limits(monkeypatch, references=limit)
        assert sa.read(path)["t"].tolist() == [[0, 1, 2], [3, 4, 5]]
    set_limits(monkeypatch, references=5)
    with pytest.raises(sa.FormatError, match="a formula without a value"):
        sa.read(path)


def test_a_sheet_that_is_added_brings_its_view_for_editing(tmp_path: Path) -> None:
    path, array = tmp_path / "t.xlsx", RNG.normal(size=(2, 3, 4))
    sa.write(path, {"first": np.arange(3)})
    write_grid(path, array, mode="a", sheet="a<b>{} c", guard=True)
    assert_same(sa.read(path)["t"], array)
    assert list(sa.check(path)) == []
    edit_by_openpyxl(path, {"B3": 0.5})
    array[0, 0, 0] = 0.5
    assert_same(sa.read(path)["t"], array)


def test_any_number_of_views_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is for sheets that formulas lead to, and that are no views for editing."""
    set_limits(monkeypatch, followed_titles=1)
    arrays = {f"n{number}": np.arange(4.0).reshape(2, 2) + number for number in range(3)}
    path = tmp_path / "views.xlsx"
    sa.write(path, arrays, views=dict.fromkeys(arrays, EDITABLE))
    assert list(sa.check(path)) == []
    edit_by_openpyxl(path, {"C3": 777}, "n2 view")
    assert sa.read(path)["n2"].tolist() == [[2, 3], [4, 777]]
    assert [finding.array for finding in sa.check(path)] == ["n2"]
