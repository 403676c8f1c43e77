"""Latitudes run north up in tables and views, and the arrays come back in their own order, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import xarray as xr
from recorded import assert_same, write_quietly
from services import Book

import sheetarray as sa
from sheets_emulator import SheetsServer

NORTHERN = {"units": "degrees_north"}


def make_map(latitudes: Any = (-45.0, 0.1, 45.0), name: str = "lat", attrs: Any = None) -> xr.Dataset:
    """Temperatures of two days on a map, column-major, with one value for each latitude."""
    days = np.array(["2020-01-01", "2020-02-01"], "M8[ns]")
    count = len(latitudes)
    grid = np.asfortranarray(np.arange(2.0 * count * 4).reshape(2, count, 4) / 8)
    variables = {"t": (("time", name, "lon"), grid), "area": (name, np.arange(count) + 1)}
    coordinates = {"time": days, name: (name, np.array(latitudes), attrs or {}), "lon": np.arange(4) * 90}
    return xr.Dataset(variables, coordinates)


def latitudes_of(path: Path, name: str = "lat") -> list[Any]:
    """The latitudes from row to row, each once."""
    sheet = openpyxl.load_workbook(path)["table"]
    column = [cell.value for cell in sheet[1]].index(name) + 1
    return list(dict.fromkeys(sheet.cell(row, column).value for row in range(2, sheet.max_row + 1)))


@pytest.mark.parametrize("columns", [None, "time", "lon", "lat"])
@pytest.mark.parametrize("guard", [True, False])
def test_a_table_begins_in_the_north_and_comes_back_as_it_was(columns: str | None, guard: bool, tmp_path: Path) -> None:
    path, arrays, content = tmp_path / "a.xlsx", tmp_path / "arrays.xlsx", make_map()
    write_quietly(path, content, columns=columns, guard=guard)
    sa.write(arrays, content)
    if columns != "lat":
        assert latitudes_of(path) == [45.0, 0.1, -45.0]
    xr.testing.assert_identical(sa.read_dataset(path), content)
    assert_same(sa.read(path), sa.read(arrays))
    assert list(sa.check(path)) == []
    sa.accept(path)
    assert_same(sa.read(path), sa.read(arrays))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (make_map((45.0, 0.0, -45.0)), "lat"),  # north is up already
        (make_map((-45.0, 45.0, 0.0)), "lat"),  # neither end is the north
        (make_map((-45.0, 0.0, 45.0), "y"), "y"),  # no latitude
        (make_map(("a", "b", "c")), "lat"),
        (make_map((7.0,)), "lat"),
    ],
)
def test_what_does_not_end_in_the_north_keeps_its_order(content: xr.Dataset, name: str, tmp_path: Path) -> None:
    write_quietly(tmp_path / "a.xlsx", content)
    assert latitudes_of(tmp_path / "a.xlsx", name) == content[name].values.tolist()
    xr.testing.assert_identical(sa.read_dataset(tmp_path / "a.xlsx"), content)


def test_a_latitude_is_known_by_its_units_and_stations_are_no_map(tmp_path: Path) -> None:
    write_quietly(tmp_path / "a.xlsx", make_map(name="y", attrs=NORTHERN))
    assert latitudes_of(tmp_path / "a.xlsx", "y") == [45.0, 0.1, -45.0]
    stations = xr.Dataset({"t": ("station", [1.0, 2.0])}, {"station": ["a", "b"], "lat": ("station", [10.0, 20.0])})
    write_quietly(tmp_path / "b.xlsx", stations)
    assert latitudes_of(tmp_path / "b.xlsx") == [10.0, 20.0]
    frame = make_map()["area"].to_dataframe()
    write_quietly(tmp_path / "c.xlsx", frame)
    assert latitudes_of(tmp_path / "c.xlsx") == [-45.0, 0.1, 45.0]


def test_a_csv_records_no_order_and_keeps_it_in_its_rows(tmp_path: Path) -> None:
    write_quietly(tmp_path / "a.csv", make_map())
    read = sa.read_dataset(tmp_path / "a.csv", dims=["time", "lat", "lon"])
    assert read["lat"].values.tolist() == [-45.0, 0.1, 45.0]


@pytest.mark.parametrize("columns", [None, "lon"])
@pytest.mark.parametrize("guard", [True, False])
def test_sorted_rows_and_edits_of_a_map(columns: str | None, guard: bool, tmp_path: Path) -> None:
    base, path, content = tmp_path / "base.xlsx", tmp_path / "a.xlsx", make_map()
    for file in (base, path):
        write_quietly(file, content, columns=columns, guard=guard)
    book = openpyxl.load_workbook(path)
    sheet = book["table"]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
    for number, row in enumerate(sorted(rows, key=lambda row: (row[1], row[0])), 2):  # by latitude, then by day
        for column, value in enumerate(row, 1):
            sheet.cell(number, column).value = value
    last = [cell.value for cell in sheet[1]].index("t" if columns is None else "0") + 1
    sheet.cell(2, last).value = 99.5
    book.save(path)
    expected = content.copy(deep=True)
    expected["t"][0, 0, 0] = 99.5
    xr.testing.assert_identical(sa.read_dataset(path), expected)
    (edit,) = sa.diff(base, path).edited
    assert (edit.array, edit.index, edit.after, edit.labels["lat"]) == ("t", (0, 0, 0), 99.5, "-45.0")
    if guard:
        (finding,) = [finding for finding in sa.check(path) if finding.index == (0, 0, 0)]
        assert finding.location == f"table!{sheet.cell(2, last).coordinate}"


def test_a_map_of_one_dimension_grows_and_takes_a_label_twice(tmp_path: Path) -> None:
    path, content = tmp_path / "a.xlsx", make_map().isel(time=0, lon=0, drop=True)
    write_quietly(path, content)
    assert latitudes_of(path) == [45.0, 0.1, -45.0]
    sa.append(path, {"lat": [60.0, 0.1], "t": [1.5, 2.5], "area": [8, 9]})
    assert sa.read(path, "lat").tolist() == [-45.0, 0.1, 0.1, 45.0, 60.0]
    assert sa.read(path, "area").tolist() == [1, 2, 9, 3, 8]
    assert list(sa.check(path)) == []


@pytest.mark.parametrize("columns", ["lon", "time"])
def test_merge_puts_edits_of_maps_where_they_belong(columns: str, tmp_path: Path) -> None:
    base, ann, ben, merged = (tmp_path / f"{name}.xlsx" for name in ("base", "ann", "ben", "merged"))
    content = make_map()
    for file, place, value in ((base, None, 0), (ann, (0, 0, 0), 50.5), (ben, (1, 2, 3), 60.5)):
        edited = content.copy(deep=True)
        if place is not None:
            edited["t"][place] = value
        write_quietly(file, edited, columns=columns)
    assert not sa.merge(base, ann, ben, target=merged).conflicts
    content["t"][0, 0, 0], content["t"][1, 2, 3] = 50.5, 60.5
    xr.testing.assert_identical(sa.read_dataset(merged), content)
    assert latitudes_of(merged) == [45.0, 0.1, -45.0]


def labels_of(path: Path, title: str, corner: str) -> list[Any]:
    """The labels of the first rows of a view."""
    sheet = openpyxl.load_workbook(path, data_only=True)[title]
    first = next(row for row in range(1, 40) if sheet.cell(row, 1).value == corner) + 1
    return [sheet.cell(row, 1).value for row in range(first, first + 3)]


def test_views_begin_in_the_north(tmp_path: Path) -> None:
    content, view, editable = make_map(), tmp_path / "view.xlsx", tmp_path / "editable.xlsx"
    sa.write(view, content, views=["t"])
    sa.write(editable, content, views={"t": sa.View(editable=True)})
    assert labels_of(view, "t view", "lat \\ lon") == [45.0, 0.1, -45.0]
    assert labels_of(editable, "t view", "t: lat \\ lon") == [45.0, 0.1, -45.0]
    for path in (view, editable):
        xr.testing.assert_identical(sa.read_dataset(path), content)
    sheet = openpyxl.load_workbook(view, data_only=True)["t view"]
    row = next(row for row in range(1, 40) if sheet.cell(row, 1).value == "lat \\ lon") + 1
    assert [sheet.cell(row, 2 + place).value for place in range(4)] == content["t"].values[0, 2].tolist()
    book = openpyxl.load_workbook(editable)
    book["t view"]["C3"] = 77.5  # the second longitude of the north
    book.save(editable)
    content["t"][0, 2, 1] = 77.5
    xr.testing.assert_identical(sa.read_dataset(editable), content)
    book = openpyxl.load_workbook(view)
    book["t view"].cell(row, 3).value = 5
    book.save(view)
    (finding,) = [finding for finding in sa.check(view) if "instead of a formula" in finding.message]
    assert "holds 5 instead of a formula that showed t[0, 2, 1]" in finding.message
    assert "lat: 45" in finding.message


def test_google_sheets_show_maps_north_up(server: SheetsServer) -> None:
    book, content = Book(server), make_map()
    url = str(write_quietly(book.url, content, columns="lon", client=book.client))
    sheet = book.opened.worksheet("table")
    assert list(dict.fromkeys(sheet.col_values(2)[1:])) == ["45", "0.1", "-45"]
    xr.testing.assert_identical(sa.read_dataset(url, client=book.client), content)
    book = Book(server)
    url = sa.write(book.url, content, client=book.client, views=["t"])
    view = book.opened.worksheet("t view")
    row = view.col_values(1).index("lat \\ lon") + 1
    assert view.col_values(1)[row : row + 3] == ["45", "0.1", "-45"]
    shown = view.get(f"B{row + 1}:E{row + 1}", value_render_option="UNFORMATTED_VALUE")[0]
    assert shown == content["t"].values[0, 2].tolist()
    view.update_acell(f"C{row + 1}", 5)
    (finding,) = [finding for finding in sa.check(url, client=book.client) if "instead of" in finding.message]
    assert "showed t[0, 2, 1]" in finding.message
