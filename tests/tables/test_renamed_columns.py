"""Columns of recorded tables that people rename or delete: arrays come back, and each verb says what became of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xarray as xr
from programs import FILTERS, open_office
from recorded import GRID, assert_same, edit, write_quietly
from services import TableBook

import sheetarray as sa
from sheets_emulator import SheetsServer

RENAMED = {"t": "temperature", "site": "station", "height": "above sea"}


def rename(names: dict[str, str]) -> Any:
    def change(book: Any) -> None:
        for cell in book["table"][1]:
            cell.value = names.get(str(cell.value), cell.value)

    return change


def delete(name: str) -> Any:
    """Delete a column, as programs do: with its column of the Excel Table."""

    def change(book: Any) -> None:
        sheet = book["table"]
        table = sheet.tables.pop("table")
        sheet.delete_cols([cell.value for cell in sheet[1]].index(name) + 1)
        ref = f"A1:{openpyxl.utils.get_column_letter(sheet.max_column)}{sheet.max_row}"
        sheet.add_table(openpyxl.worksheet.table.Table(displayName="table", ref=ref, id=table.id))

    return change


def told(source: Any, **options: Any) -> list[tuple[str, str | None]]:
    return [(finding.severity, finding.location) for finding in sa.check(source, **options)]


@pytest.mark.parametrize("name", RENAMED)
@pytest.mark.parametrize("guard", [True, False])
def test_a_renamed_column_is_a_renamed_array_for_each_verb(name: str, guard: bool, tmp_path: Path) -> None:
    base, path, merged = (tmp_path / f"{stem}.xlsx" for stem in ("base", "copy", "merged"))
    grid = GRID if guard else GRID.round(3)  # openpyxl prints numbers with 16 digits
    for file in (base, path):
        write_quietly(file, grid, guard=guard)
    edit(path, rename({name: RENAMED[name]}))
    expected = grid.rename({name: RENAMED[name]})
    assert sa.scan(path).keys() == {*expected.variables}
    xr.testing.assert_identical(sa.read_dataset(path), expected)
    (finding,) = sa.check(path)
    assert (finding.severity, finding.array) == ("warning", RENAMED[name])
    assert str(finding.location) == f"table!{'ABCD'[['site', 'day', 't', 'height'].index(name)]}1"
    assert finding.message.endswith(f"was written under the name {name!r}, and renamed since")
    assert f"{RENAMED[name]}: renamed; it was {name}" in repr(sa.diff(base, path))
    assert f"renamed to {RENAMED[name]}" in repr(sa.merge(base, path, target=merged))
    xr.testing.assert_identical(sa.read_dataset(merged), expected)
    assert list(sa.check(merged)) == []
    if guard:
        sa.restore(path, merged)
        xr.testing.assert_identical(sa.read_dataset(merged), grid)
        sa.restore(path, merged, keep_edits=True)
        xr.testing.assert_identical(sa.read_dataset(merged), expected)
    assert f"{RENAMED[name]}: renamed; it was {name}" in repr(sa.accept(path))
    assert list(sa.check(path)) == []
    xr.testing.assert_identical(sa.read_dataset(path), expected)


def test_neighbours_that_were_all_renamed_are_told_by_their_order_and_their_values(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": [3.5, 0.1 + 0.2], "c": ["x", "y"]})
    write_quietly(path, frame)
    edit(path, rename({"a": "first", "b": "second", "c": "word"}))
    pd.testing.assert_frame_equal(sa.read_frame(path), frame.set_axis(["first", "second", "word"], axis=1))
    assert [location for _, location in told(path)] == ["table!A1", "table!B1", "table!C1"]


def test_a_column_that_was_moved_and_renamed_is_told_by_its_values(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, {"k": np.arange(4), "v": np.arange(4) / 7, "w": np.arange(4) / 3})

    def change(book: Any) -> None:
        sheet = book["table"]
        for row in range(1, 6):
            first, second = sheet.cell(row, 1), sheet.cell(row, 3)
            first.value, second.value = second.value, first.value
        sheet["A1"] = "weight"

    edit(path, change)
    assert_same({"weight": sa.read(path)["weight"]}, {"weight": np.arange(4) / 3})
    assert told(path) == [("warning", "table!A1")]


@pytest.mark.parametrize(
    ("cells", "is_renamed"),
    [
        ([0.0, 1 / 7, 9.5, 9.5], True),  # half of them are there
        ([0.0, 8.5, 9.5, 9.5], False),
        (["a", "b", "c", "d"], False),
        ([None] * 4, False),
    ],
)
def test_another_column_in_the_place_of_a_deleted_one_is_no_rename(
    cells: list[Any], is_renamed: bool, tmp_path: Path
) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, {"k": np.arange(4), "v": np.arange(4) / 7})

    def change(book: Any) -> None:
        for row, value in enumerate(["other", *cells], 1):
            book["table"].cell(row, 2).value = value

    edit(path, change)
    found = [(finding.severity, finding.message) for finding in sa.check(path) if "column" in finding.message]
    if is_renamed:
        assert found == [("warning", "the column 'other' was written under the name 'v', and renamed since")]
        assert sa.read(path)["other"].tolist() == cells
    else:
        assert found == [("error", "the column 'v' is gone, and its array with it")]
        assert sa.read(path)["k"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("now", "labels"),
    [
        ("2020-01-09", ["2020-01-01", "2020-01-09", "2020-01-03", "2020-01-04"]),
        ("second", ["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"]),
    ],
)
def test_a_column_that_is_named_after_a_label_has_another_label(now: str, labels: list[str], tmp_path: Path) -> None:
    base, path = tmp_path / "base.xlsx", tmp_path / "t.xlsx"
    for file in (base, path):
        write_quietly(file, GRID[["t"]], columns="day")
    edit(path, rename({"2020-01-02": now}))
    expected = GRID[["t"]].assign_coords(day=np.array(labels, "M8[s]"))
    xr.testing.assert_identical(sa.read_dataset(path), expected)
    (finding,) = sa.check(path)
    assert (finding.location, finding.array) == ("table!C1", "day" if now != "second" else "t")
    assert bool(sa.diff(base, path)) == (now != "second")
    sa.accept(path)
    assert list(sa.check(path)) == []
    xr.testing.assert_identical(sa.read_dataset(path), expected)


@pytest.mark.parametrize("guard", [True, False])
def test_the_other_arrays_come_back_if_a_column_is_gone(guard: bool, tmp_path: Path) -> None:
    base, path, restored = (tmp_path / f"{stem}.xlsx" for stem in ("base", "copy", "restored"))
    grid = GRID if guard else GRID.round(3)
    for file in (base, path):
        write_quietly(file, grid, guard=guard)
    edit(path, delete("t"))
    xr.testing.assert_identical(sa.read_dataset(path), grid.drop_vars("t"))
    with pytest.raises(sa.NotFoundError, match="no array 't'"):
        sa.read(path, "t")
    (finding,) = sa.check(path)
    assert (finding.severity, finding.location, finding.array) == ("error", "table", "t")
    assert "t: only in" in repr(sa.diff(base, path))
    if guard:
        sa.restore(path, restored)
        xr.testing.assert_identical(sa.read_dataset(restored), GRID)
    assert "t: only in as written" in repr(sa.accept(path))
    assert list(sa.check(path)) == []
    xr.testing.assert_identical(sa.read_dataset(path), grid.drop_vars("t"))


@pytest.mark.parametrize(("name", "columns"), [("site", None), ("2020-01-02", "day")])
def test_a_column_without_which_nothing_has_its_place_is_said_with_its_sheet(
    name: str, columns: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, GRID, columns=columns)
    edit(path, delete(f"t {name}" if columns and f"t {name}" in str(sa.read_columns(path).keys()) else name))
    assert told(path) == [("error", "sheet table")]
    for verb in (sa.read, sa.accept, sa.scan):
        with pytest.raises(sa.FormatError, match=f"sheet table: no column '(t )?{name}' any more"):
            verb(path)


def test_a_renamed_column_of_a_workbook_in_memory_and_of_libreoffice(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sa.write_table(book, GRID)
    rename({"t": "temperature"})(book)
    assert told(book) == [("warning", "table!C1")]
    xr.testing.assert_identical(sa.read_dataset(book), GRID.rename(t="temperature"))
    path, saved = tmp_path / "t.xlsx", tmp_path / "t.ods"
    write_quietly(path, GRID)
    open_office().work_on(path, ["set", "table", "C1", "temperature"], ["save", str(saved), *FILTERS["ods"]])
    assert told(saved) == [("warning", "table!C1")]
    xr.testing.assert_identical(sa.read_dataset(saved), GRID.rename(t="temperature"))


def test_a_renamed_and_a_deleted_column_in_google_sheets(server: SheetsServer) -> None:
    base, book = TableBook(server), TableBook(server)
    how: dict[str, Any] = {"client": book.client}
    for each in (base, book):
        each.write(GRID)
    book.table.update_cell(1, 3, "temperature")
    expected = GRID.rename(t="temperature")
    assert told(book.url, **how) == [("warning", "table!C1")]
    xr.testing.assert_identical(sa.read_dataset(book.url, **how), expected)
    assert "temperature: renamed; it was t" in repr(sa.diff(base.url, book.url, **how))
    sa.merge(base.url, book.url, target=base.url, client=book.client)
    xr.testing.assert_identical(sa.read_dataset(base.url, **how), expected)
    assert "temperature: renamed; it was t" in repr(book.accept())
    assert told(book.url, **how) == []
    book.table.delete_columns(4)
    assert told(book.url, **how) == [("error", "table")]
    xr.testing.assert_identical(sa.read_dataset(book.url, **how), expected.drop_vars("height"))
    assert "height: only in as written" in repr(book.accept())
    assert told(book.url, **how) == []


@pytest.mark.parametrize(
    ("labels", "renamed"),
    [
        (["q", "1", "b"], {"q": "a longer one"}),
        ([2.5, 1.5, 0.5], {"1.5": "7.25"}),
        ([3, 1, 2], {"3": "4", "2": "x"}),  # the last is no label of integers
        (np.array(["2020-01-01", "2020-01-02", "2020-01-03"], "M8[ns]"), {"2020-01-03": "2020-02-03"}),
        ([1, 2, 3], {"1": "01"}),  # the same number
    ],
)
def test_labels_of_each_kind_follow_the_names_of_columns(labels: Any, renamed: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    grid = xr.Dataset({"t": (("k", "label"), np.arange(6.0).reshape(2, 3))}, {"k": [0, 1], "label": labels})
    write_quietly(path, grid, columns="label")
    edit(path, rename(renamed))
    expected = grid["label"].values.tolist()
    for number, label in enumerate(np.asarray(labels).astype(str).tolist()):
        now = renamed.get(label[:10] if label.startswith("2020") else label)
        if now not in (None, "x"):
            expected[number] = np.array([now]).astype(grid["label"].dtype if grid["label"].dtype.kind != "U" else "U")[
                0
            ]
    result = sa.read_dataset(path)
    assert result["label"].values.tolist() == np.array(expected, result["label"].dtype).tolist()
    np.testing.assert_array_equal(result["t"].values, grid["t"].values)
    assert list(sa.check(path)) or renamed == {"1": "01"}
    sa.accept(path)
    assert list(sa.check(path)) == []
    xr.testing.assert_identical(sa.read_dataset(path), result)


def test_many_columns_that_were_all_renamed_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, calls = tmp_path / "t.xlsx", list[int]()
    write_quietly(path, {f"c{number}": np.arange(3) * number for number in range(200)})
    edit(path, lambda book: rename({f"c{number}": f"x{number}" for number in range(200)})(book))
    read_table = sa.sheets.table_areas.read_table
    monkeypatch.setattr(
        "sheetarray.sheets.table_areas.read_table", lambda *a, **k: calls.append(1) or read_table(*a, **k)
    )
    assert len(sa.read(path)) == 200
    assert len(calls) == 1
