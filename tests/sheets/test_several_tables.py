"""A mapping of tables is a workbook with a sheet for each: written whole or not at all, read back one by one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest
import xlsxwriter
from adapters_deleted import needing
from limits import set_limits

import sheetarray as sa

NORTH = pd.DataFrame({"day": pd.date_range("2026-01-01", periods=3), "sold": [3, 5, 8], "price": [0.1, 1 / 3, np.nan]})
SOUTH = pd.DataFrame({"sold": [1.5], "kind": pd.Categorical(["a"])}, index=pd.Index(["x"], name="shop"))
TABLES = {"north": NORTH, "South 2": SOUTH}

pytestmark = needing("xlsx")


def by_path(tables: Any, path: Path, verb: Callable[..., Any]):
    verb(path, tables)


def by_file(tables: Any, path: Path, verb: Callable[..., Any]):
    with open(path, "wb") as file:
        verb(file, tables, format="xlsx")


def by_appending(tables: Any, path: Path, verb: Callable[..., Any]):
    sa.write(path, {"x": np.arange(3)}, sheet="before")
    verb(path, tables, mode="a")


def by_openpyxl(tables: Any, path: Path, verb: Callable[..., Any]):
    book = openpyxl.Workbook()
    verb(book, tables)
    book.save(path)


def by_write_only(tables: Any, path: Path, verb: Callable[..., Any]):
    book = openpyxl.Workbook(write_only=True)
    verb(book, tables)
    book.save(path)


def by_xlsxwriter(tables: Any, path: Path, verb: Callable[..., Any]):
    with xlsxwriter.Workbook(path) as book:
        verb(book, tables)


def by_pandas(tables: Any, path: Path, verb: Callable[..., Any]):
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        NORTH.to_excel(writer, sheet_name="summary")
        verb(writer, tables)


WAYS = [by_path, by_file, by_appending, by_openpyxl, by_write_only, by_xlsxwriter, by_pandas]


@pytest.mark.parametrize("way", WAYS)
def test_each_frame_comes_back_from_its_sheet(way, tmp_path):
    path = tmp_path / "t.xlsx"
    way(TABLES, path, sa.write)
    for title, frame in TABLES.items():
        pd.testing.assert_frame_equal(sa.read_frame(path, sheet=title), frame, check_freq=False)
        assert list(sa.scan(path, sheet=title)) == [*([frame.index.name] * (frame.index.name is not None)), *frame]
        assert [finding for finding in sa.check(path, sheet=title) if "no record" not in finding.message] == []
    assert sa.read(path, ["price"])["price"].tobytes() == NORTH["price"].to_numpy().tobytes()


@pytest.mark.parametrize("way", WAYS)
def test_each_table_comes_back_from_its_sheet(way, tmp_path):
    path = tmp_path / "t.xlsx"
    tables = {
        "north": NORTH,
        "polars": pl.DataFrame({"n": [1, 2]}),
        "rows": pd.DataFrame({"n": [1, 2], "s": ["x", "y"]}),
        "frame": pd.DataFrame({"n": [5, 6]}),
    }
    way(tables, path, sa.write_table)
    assert visible_titles(path)[-4:] == [*tables]
    assert sa.read_columns(path, ["sold"], sheet="north")["sold"].tolist() == [3, 5, 8]
    for title, expected in (("polars", [1, 2]), ("rows", [1, 2]), ("frame", [5, 6])):
        assert sa.read_columns(path, sheet=title)["n"].tolist() == expected
    assert sa.read_columns(path, sheet="rows")["s"].tolist() == ["x", "y"]


def test_datasets_and_trees_are_sheets(tmp_path):
    xr = pytest.importorskip("xarray")
    tree = xr.DataTree.from_dict(
        {"/": xr.Dataset({"a": ("x", [1, 2])}), "/c": xr.Dataset({"b": ("y", [1.5])}), "/c/d": None}
    )
    path = tmp_path / "t.xlsx"
    with pytest.raises(sa.DTypeError) as refused:
        sa.write(path, tree)
    line = str(refused.value)[str(refused.value).index("{") :]
    sa.write(path, eval(line, {"tree": tree}))  # the line that the message gives
    xr.testing.assert_identical(sa.read_dataset(path, sheet="root"), tree.to_dataset())
    xr.testing.assert_identical(sa.read_dataset(path, sheet="c"), tree["c"].to_dataset())


@needing("gsheet")
def test_a_spreadsheet_of_google_gets_a_worksheet_each(server):
    client = server.client()
    key = server.create()
    for target in (key, client.open_by_key(server.create())):
        url = sa.write(target, TABLES, **({"format": "gsheet", "client": client} if target is key else {}))
        assert url is not None
        for title, frame in TABLES.items():
            again = sa.read_frame(url.partition("#")[0], sheet=title, client=client)
            pd.testing.assert_frame_equal(again, frame, check_freq=False)
    tables = {"t1": NORTH, "t2": pl.DataFrame({"n": [1, 2]})}
    url = sa.write_table("gsheets://new?title=tables", tables, client=client)
    assert url is not None
    assert sa.read_columns(url.partition("#")[0], sheet="t2", client=client)["n"].tolist() == [1, 2]
    with pytest.raises(ValueError, match="one worksheet"):
        sa.write(client.open_by_key(key).sheet1, TABLES)
    before = [sheet.title for sheet in client.open_by_key(key).worksheets()]
    with pytest.raises(sa.DTypeError, match="sheet 'bad': x"):
        sa.write(client.open_by_key(key), {"fine": NORTH, "bad": pd.DataFrame({"x": [object()]})})
    assert [sheet.title for sheet in client.open_by_key(key).worksheets()] == before


def visible_titles(path):
    """The titles of the sheets that people see: guards are very hidden."""
    book = openpyxl.load_workbook(path)
    return [sheet.title for sheet in book.worksheets if sheet.sheet_state == "visible"]


def test_a_sheet_in_the_way_keeps_all_of_them_out(tmp_path):
    path = tmp_path / "t.xlsx"
    sa.write(path, TABLES)
    old = path.read_bytes()
    with pytest.raises(sa.LimitError, match="a sheet 'South 2' already"):
        sa.write(path, {"new": NORTH, "south 2": SOUTH}, mode="a")
    assert path.read_bytes() == old
    sa.write(path, {"new": NORTH, "south 2": NORTH}, mode="a", if_sheet_exists="replace")
    assert visible_titles(path) == ["north", "South 2", "new"]
    pd.testing.assert_frame_equal(sa.read_frame(path, sheet="South 2"), NORTH, check_freq=False)
    pd.testing.assert_frame_equal(sa.read_frame(path, sheet="north"), NORTH, check_freq=False)
    book = openpyxl.Workbook()
    book.create_sheet("South 2")["A1"] = "mine"
    sa.write(book, TABLES)  # to the right of what stands there
    assert book.sheetnames == ["Sheet", "South 2", "north"]
    assert book["South 2"]["A1"].value == "mine"
    pd.testing.assert_frame_equal(sa.read_frame(book, sheet="South 2"), TABLES["South 2"], check_freq=False)


def test_wide_tables_go_on_in_sheets_of_their_own(tmp_path, monkeypatch):
    set_limits(monkeypatch, worksheet_columns=30)
    wide, small = pl.DataFrame({f"c{number}": [number] for number in range(31)}), pl.DataFrame({"n": [0, 1]})
    path = tmp_path / "t.xlsx"
    sa.write(path, {"wide": wide, "small": small})
    assert visible_titles(path) == ["wide", "wide (2)", "small"]
    with pytest.raises(sa.LimitError, match=r"two (work)?sheets would (be titled|have the title) 'wide \(2\)'"):
        sa.write(path, {"wide": wide, "wide (2)": small})
    sa.write(path, {"wide": small * 2, "new": small}, mode="a", if_sheet_exists="replace")
    assert sa.read(path, sheet="wide")["n"].tolist() == [0, 2]
    assert "wide (2)" in openpyxl.load_workbook(path, read_only=True).sheetnames  # left, empty
    assert sa.read(path, sheet="new")["n"].tolist() == [0, 1]


def test_options_are_those_of_each_sheet(tmp_path):
    path = tmp_path / "t.xlsx"
    sa.write(path, TABLES, guard=True, formats={"price": "0.00"}, cells="numeric")
    titles = openpyxl.load_workbook(path, read_only=True).sheetnames
    assert titles == ["north", "South 2", "north guard"]
    for title in TABLES:
        assert list(sa.check(path, sheet=title)) == []
    assert sorted(sa.restore(path, tmp_path / "again.xlsx")) == sorted(
        ["day", "sold", "price", "shop", "sold", "kind", "dataset.json"]
    )
    with pytest.raises(ValueError, match="sheet="):
        sa.write(path, TABLES, sheet="one")
    with pytest.raises(ValueError, match="views= is for the arrays of one sheet"):
        sa.write(path, TABLES, views=True)
    with pytest.raises(sa.NotFoundError, match="'other'"):
        sa.write(path, TABLES, formats={"other": "0.0"})


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet", ".nc", ".npz", ".avro", ".msgpack"])
@pytest.mark.parametrize("verb", ["write", "write_table"])
def test_what_has_no_sheets_says_what_to_do(suffix, verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if verb == "write_table" and suffix not in (".csv", ".parquet"):
        pytest.skip("no tables at all")
    with pytest.raises((sa.DTypeError, sa.MissingDependencyError)) as refused:
        getattr(sa, verb)(f"t{suffix}", TABLES)
    line = str(refused.value).partition("a file for each, ")[2]
    assert line.startswith("for name, table in tables.items()")
    if suffix == ".csv" or (suffix == ".parquet" and verb == "write_table"):  # which keeps no index otherwise
        exec(line.replace(": sa.", ":\n    sa."), {"tables": TABLES, "sa": sa})
        assert {path.name for path in tmp_path.iterdir()} == {f"{title}{suffix}" for title in TABLES}
    else:
        assert list(tmp_path.iterdir()) == []


ALIKE = {"north": NORTH.set_index("day"), "south": NORTH.iloc[::-1].set_index("day") + 1}


def test_frames_of_the_same_columns_are_intact_and_each_edit_is_told_with_its_sheet(tmp_path):
    path, edited = tmp_path / "t.xlsx", tmp_path / "edited.xlsx"
    sa.write(path, ALIKE)
    assert list(sa.check(path)) == []
    with pytest.raises(sa.FormatError, match=r"(?s)two arrays have the name 'day', at north!A2.* and south!A2"):
        sa.read(path)
    book = openpyxl.load_workbook(path)
    row = next(cell.row for cell in book["south"]["B"] if cell.value == 9)
    book["south"].cell(row, 2).value = 7
    book.create_sheet("mine")["A1"] = "notes"
    book.save(edited)
    (finding,) = [one for one in sa.check(edited) if one.severity == "error"]
    assert (finding.location, finding.index) == (f"south!B{row}", (0,))
    del book["south"]
    book.save(edited)
    gone = [one for one in sa.check(edited) if one.array == "sold"]
    assert [one.message for one in gone] == [
        "is gone: it was written to the sheet 'south', and was deleted or renamed since"
    ]
    book.copy_worksheet(book["north"])
    book.save(edited)
    twice = [one for one in sa.check(edited) if one.severity == "error"]
    assert [one.array for one in twice] == ["day", "sold", "price", "dataset.json"]
    assert all("two arrays have the name" in one.message for one in twice)


@pytest.mark.parametrize("guard", [False, True])
def test_writes_with_the_same_names_in_one_workbook_are_intact(guard, tmp_path):
    path = tmp_path / "t.xlsx"
    for year in range(3):
        sa.write(path, {"t": np.linspace(year, 1, 5)}, sheet=f"year {year}", mode="a", guard=guard)
    assert list(sa.check(path)) == []
    book = openpyxl.load_workbook(path)
    book["year 1"]["A20"].value = 77
    book.save(path)
    errors = [one.location for one in sa.check(path) if one.severity == "error"]
    assert errors == ["year 1!A20" if guard else "year 1!A20:A24"]  # without a snapshot no element is named
