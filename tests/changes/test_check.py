"""What `check` says of the rows and elements of a workbook with a guard: each thing once, and nothing hidden."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xarray as xr
from adapters_deleted import needing
from mixtures import edited_sheet

import sheetarray as sa

pytestmark = needing("xlsx")
FIRST = 20  # the row of the first element of a 1-D array


def say(path: Path) -> list[tuple[str | None, str]]:
    return [(finding.location, finding.message) for finding in sa.check(path)]


def test_an_edit_has_its_labels_and_its_values_before_and_after(tmp_path):
    data = xr.Dataset(
        {"temperature": (("city", "year", "month"), np.full((2, 2, 3), 12.116715301656049))},
        {"city": ["Bern", "Zürich"], "year": [2020, 2021], "month": ["Jan", "May", "Jun"]},
    )
    sa.write(tmp_path / "t.xlsx", data)
    info = sa.scan(tmp_path / "t.xlsx")["temperature"]
    cell = info.data[0].address(3 * 3 + 1).partition("!")[2]
    with edited_sheet(tmp_path / "t.xlsx") as sheet:
        sheet[cell] = 99.5
    (finding,) = sa.check(tmp_path / "t.xlsx")
    assert str(finding) == (
        f"error: sheet arrays, cell {cell}: temperature[1, 1, 1] (Zürich, 2021, May): 12.1167 -> 99.5 "
        "(sa.accept takes the change, sa.restore gives back what was written)"
    )


def test_what_cannot_be_read_is_accepted_and_edited_afterwards(tmp_path):
    arrays = {"t": np.arange(12.0).reshape(3, 4), "u": np.arange(3.0)}
    for guard in (True, False):
        path = tmp_path / f"{guard}.xlsx"
        sa.write(path, arrays, guard=guard)
        cells = sa.scan(path)["t"].data[0]
        cell = cells.address(5).partition("!")[2]
        with edited_sheet(path) as sheet:
            sheet[cell] = "n/a"
        with pytest.warns(sa.SheetArrayWarning, match="stays as it is"):
            changes = sa.accept(path)
        assert [(one.array, one.index) for one in changes.unreadable] == [("t", (1, 1))]
        assert [finding.index for finding in sa.check(path)] == [(1, 1)]
        with edited_sheet(path) as sheet:
            sheet[cell] = 6
        (finding,) = sa.check(path)
        assert finding.array == "t"
        assert (finding.message == "t[1, 1]: 5.0 -> 6.0") == guard
        assert sa.read(path)["t"][1, 1] == 6
        with edited_sheet(path) as sheet:
            sheet[cell] = 5
        assert say(path) == []


def test_many_elements_are_named_exactly(tmp_path):
    array = np.random.default_rng(1).normal(size=(300, 100))
    sa.write(tmp_path / "t.xlsx", {"t": array})
    places = {(3, 7), (150, 0), (299, 99)}
    first = sa.scan(tmp_path / "t.xlsx")["t"].data[0].row + 1
    with edited_sheet(tmp_path / "t.xlsx") as sheet:
        for row, column in places:
            cell = sheet.cell(first + 100 * row + column, 1)
            cell.value = cell.value * (1 + 1e-12)
    findings = list(sa.check(tmp_path / "t.xlsx"))
    assert {finding.index for finding in findings} == places
    assert len(findings) == 3


def test_more_edits_than_are_named_are_counted(tmp_path):
    sa.write(tmp_path / "t.xlsx", {"t": np.random.default_rng(1).normal(size=100)})
    with edited_sheet(tmp_path / "t.xlsx") as sheet:
        for row in range(0, 44, 2):
            sheet.cell(FIRST + row, 1).value = row
    *named, last = sa.check(tmp_path / "t.xlsx")
    assert [finding.index for finding in named] == [(row,) for row in range(0, 40, 2)]
    assert last.message == "2 more elements of 100 edited"


def test_a_new_category_widens_the_categories(tmp_path):
    values = pd.Categorical(["a", "b", "a"], categories=["b", "a"], ordered=True)
    for suffix in ("xlsx", "csv"):
        path = tmp_path / f"t.{suffix}"
        sa.write(path, pd.DataFrame({"c": values, "n": [1, 2, 3]}))
        if suffix == "xlsx":
            with edited_sheet(path) as sheet:
                sheet[f"A{FIRST + 1}"] = "new"
            assert [message for _, message in say(path)] == ["c[1]: 'b' -> 'new'"]
        else:
            path.write_text(path.read_text().replace("\nb,2", "\nnew,2"))
        with pytest.warns(sa.SheetArrayWarning, match="'c' has new categories: 'new'"):
            frame = sa.read_frame(path)
        assert frame["c"].tolist() == ["a", "new", "a"]
        assert frame["c"].cat.categories.tolist() == ["b", "a", "new"]
        assert frame["c"].cat.ordered


def make_grid(rows: int, columns: int) -> Any:
    grid = np.random.default_rng(1).normal(size=(9, 9))[:rows, :columns]
    return xr.Dataset({"t": (("x", "y"), grid)}, {"x": np.arange(rows) * 10, "y": np.arange(columns) * 7})


def test_rows_that_changed_along_two_labelled_dimensions_are_found():
    before = make_grid(5, 4)
    after = make_grid(6, 4).isel(y=[0, 1, 3]).copy(deep=True)
    after["t"][2, 1] = 99.5
    changes = sa.diff(before, after)
    rows = {(one.axis, tuple(one.added), tuple(one.deleted)) for one in changes.rows if "t" in one.arrays}
    assert rows == {(0, (5,), ()), (1, (), (2,))}
    assert [(one.index, one.index_before, one.after) for one in changes.edited] == [((2, 1), (2, 1), 99.5)]
    text = repr(changes)
    assert "row 5 appended along axis 0" in text
    assert "row 2 deleted along axis 1" in text


@pytest.mark.parametrize(
    ("now", "added", "deleted", "moved"),
    [
        ([1, 2, 3, 4, 5, 6, 7, 9], [7], [0], False),
        ([9, 0, 1, 2, 3, 4, 5, 6], [0], [7], False),
        ([0, 1, 5, 2, 3, 4, 6, 7], [], [], True),
        ([0, 1, 9, 3, 4, 5, 6, 7], [], [], False),
    ],
)
def test_a_single_array_of_unchanged_length_is_compared_by_content(now, added, deleted, moved):
    values = np.random.default_rng(1).normal(size=10)
    changes = sa.diff({"t": values[:8]}, {"t": values[now]})
    assert [(one.added, one.deleted, bool(one.moved)) for one in changes.rows] == (
        [(added, deleted, moved)] if added or moved else []
    )
    assert [one.index for one in changes.edited] == ([] if added or moved else [(2,)])


@pytest.mark.parametrize("direction", ["down", "across"])
@pytest.mark.parametrize("which", ["one", "all"])
def test_labels_of_a_view_that_were_typed_over_are_found(tmp_path, direction, which):
    grid = xr.Dataset({"t": (("x", "y"), np.arange(6.0).reshape(2, 3))}, {"x": [*"ab"], "y": [*"pqr"]})
    sa.write(tmp_path / "t.xlsx", grid, views=True)
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    view = book["t view"]
    corner = next(
        cell for row in view.iter_rows() for cell in row if isinstance(cell.value, str) and "\\" in cell.value
    )
    down = [view.cell(corner.row + row, corner.column) for row in (1, 2)]
    across = [view.cell(corner.row, corner.column + column) for column in (1, 2, 3)]
    cells = (down if direction == "down" else across)[: None if which == "all" else 1]
    for cell in cells:
        assert str(cell.value).startswith("=")
        cell.value = "typed"
    book.save(tmp_path / "t.xlsx")
    findings = [finding for finding in sa.check(tmp_path / "t.xlsx") if "typed" in finding.message]
    assert [finding.location for finding in findings] == [f"t view!{cell.coordinate}" for cell in cells]
    assert all("a label" in finding.message for finding in findings)


def test_a_view_whose_dimensions_have_no_labels_has_no_finding(tmp_path):
    sa.write(tmp_path / "t.xlsx", {"t": np.arange(12.0).reshape(3, 4)}, views=True)
    with edited_sheet(tmp_path / "t.xlsx"):
        pass
    assert [finding for finding in sa.check(tmp_path / "t.xlsx") if "formula" in finding.message] == []


def test_the_last_good_value_of_a_cell_is_kept_where_rows_were_sorted(tmp_path):
    table = {"a": np.array([3.0, 1.0, 2.0, 5.0, 4.0]), "b": np.arange(5), "s": np.array([*"vwxyz"])}
    path, restored = tmp_path / "t.xlsx", tmp_path / "restored.xlsx"
    sa.write(path, table)
    with edited_sheet(path) as sheet:
        rows = sorted([sheet.cell(FIRST + row, column).value for column in (1, 2, 3)] for row in range(5))
        rows[1][1], rows[3][0] = "n/a", None
        for place, row in enumerate(rows):
            for column, cell in enumerate(row):
                sheet.cell(FIRST + place, column + 1).value = cell
    sorted_table = {name: array[np.argsort(table["a"])].tolist() for name, array in table.items()}
    assert sa.restore(path, restored, keep_edits=True) == ["a", "b", "s"]
    assert {name: array.tolist() for name, array in sa.read(restored).items()} == sorted_table
    with pytest.warns(sa.SheetArrayWarning, match="2 cells cannot be read"):
        sa.accept(path)
    assert sa.restore(path, restored) == ["a", "b", "s"]
    assert {name: array.tolist() for name, array in sa.read(restored).items()} == sorted_table


def test_the_work_of_a_check_is_linear_in_the_number_of_arrays(tmp_path):
    calls = []
    for count in (100, 400):
        path = tmp_path / f"{count}.xlsx"
        sa.write(path, {f"a{number}": np.array([number + 0.25, number + 0.5]) for number in range(count)}, guard=True)
        book = openpyxl.load_workbook(path)
        next(cell for row in book["arrays"].iter_rows() for cell in row if cell.value == 7.25).value = -1.5
        book.save(path)
        counted = 0

        def count_call(*_: object) -> None:
            nonlocal counted
            counted += 1

        sys.setprofile(count_call)
        try:
            findings = list(sa.check(path))
        finally:
            sys.setprofile(None)
        assert "7.25 -> -1.5" in str(findings[0])
        calls.append(counted)
    assert calls[1] < 5 * calls[0]


@pytest.mark.parametrize("layout", ["arrays", "table"])
def test_a_row_is_not_called_by_a_date_that_is_missing(tmp_path, layout):
    columns = {"day": np.array(["2026-01-01", "NaT"], "M8[D]"), "id": np.array(["a", "b"]), "t": np.arange(2.0)}
    sa.write(tmp_path / "t.xlsx", columns, layout=layout)
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    sheet = book.worksheets[0]
    bottom = sheet.max_row + 1
    for column, value in enumerate(["NaT" if layout == "arrays" else None, "c", 2], 1):
        sheet.cell(bottom, column).value = value
    book.save(tmp_path / "t.xlsx")
    finding = next(finding for finding in sa.check(tmp_path / "t.xlsx") if "appended" in finding.message)
    assert f"(row {bottom} of the sheet, c)" in finding.message
