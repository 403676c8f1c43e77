"""`sheet=` of readers: a title, an index from 0, or None; in files of every kind, objects and Google Sheets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from adapters_deleted import needing
from command_line import run_command
from programs import resave

import sheetarray as sa
from sheetarray.testing.cases import assert_same

KINDS = ["xlsx", "ods", "xls", "object"]
TABLES = {"north": {"a": [1, 2], "b": [3, 4]}, "blank": {}, "7": {"x": [5]}}
SHEETS = r"there is 'north', 'blank', '7'"


def make_tables() -> openpyxl.Workbook:
    """Return a workbook of three sheets."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, columns in TABLES.items():
        sheet = book.create_sheet(title)
        if columns:
            sheet.append(list(columns))
            for row in zip(*columns.values(), strict=True):
                sheet.append(list(row))
    return book


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder, book = tmp_path_factory.mktemp("tables"), make_tables()
    book.save(folder / "t.xlsx")

    def find(kind: str) -> Any:
        if kind in ("ods", "xls"):
            return resave(folder / "t.xlsx", kind, folder / kind)
        return book if kind == "object" else folder / "t.xlsx"

    return find


def as_lists(columns: Any) -> Any:
    """Return columns as lists."""
    return {name: column.tolist() for name, column in columns.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_sheet_of_a_table_is_meant_by_its_title_or_its_index(kind: str, sources: Any) -> None:
    source = sources(kind)
    assert as_lists(sa.read_columns(source)) == TABLES["north"]
    for sheet in (0, np.int64(0), "north", "NORTH"):
        assert as_lists(sa.read_columns(source, sheet=sheet)) == TABLES["north"]
    for sheet in (2, np.uint8(2), "7"):
        assert as_lists(sa.read_columns(source, sheet=sheet)) == TABLES["7"]
    assert as_lists(sa.read_columns(source, sheet=2, range="A1:A2")) == TABLES["7"]
    assert as_lists(sa.read_columns(source, range="'7'!A1:A2")) == TABLES["7"]
    assert [*sa.scan(source, sheet=2)] == ["x"]
    every = sa.read_columns(source, sheet=None)
    assert {title: as_lists(columns) for title, columns in every.items()} == TABLES
    frames = sa.read_columns(source, sheet=None, as_="pandas")
    assert {title: frame.to_dict("list") for title, frame in frames.items()} == TABLES
    for wrong in (3, -1, 10**30, "8", "0"):
        with pytest.raises(sa.NotFoundError, match=SHEETS):
            sa.read_columns(source, sheet=wrong)
    for wrong in (True, False, 1.0, b"7", ["7"]):
        with pytest.raises(TypeError, match="sheet is the title of a sheet or its index, counted from 0"):
            sa.read_columns(source, sheet=wrong)
    with pytest.raises(ValueError, match="is in the sheet '7'"):
        sa.read_columns(source, sheet=1, range="'7'!A1:A2")
    with pytest.raises(sa.FormatError, match="an empty table"):
        sa.read_columns(source, sheet=1)


def test_views_and_guards_have_no_index(tmp_path: Path) -> None:
    grid, more, path = np.arange(6.0).reshape(2, 3), np.array(["a"]), tmp_path / "x.xlsx"
    sa.write(path, {"grid": grid}, sheet="one", views=True, guard=True)
    sa.write(path, {"more": more}, sheet="two", mode="a")
    book = openpyxl.load_workbook(path)
    assert len(book.sheetnames) > 3
    for sheet, name, array in ((0, "grid", grid), (1, "more", more)):
        assert_same(sa.read(path, name, sheet=sheet), array)
        assert_same(sa.read_excel(path, sheet=sheet)[name], array)
        assert [*sa.scan(path, sheet=sheet)] == [name]
        assert [*sa.read_dataset(path, sheet=sheet)] == [name]
        assert list(sa.check(path, sheet=sheet)) == []
    assert {*sa.read(path)} == {*sa.read(path, sheet=None)} == {"grid", "more"}
    assert [*sa.read(book, sheet=2)] == ["more"]  # an object has no record of views
    for wrong in (2, -1):
        with pytest.raises(sa.NotFoundError, match="there is 'one', 'two'"):
            sa.read(path, sheet=wrong)
    with pytest.raises(TypeError, match="sheet is the title"):
        sa.read(path, sheet=True)
    with pytest.raises(sa.FormatError, match="an array of the exchange format"):
        sa.read_columns(path, sheet=None)


def test_a_command_takes_a_title_before_an_index(sources: Any) -> None:
    def run(sheet: str) -> Any:
        return run_command("table", sources("xlsx"), "--sheet", sheet, "--json")

    assert '"x"' in run("7").output
    assert '"x"' in run("2").output
    assert '"a"' in run("0").output
    for wrong in ("3", "none", "-1", "9" * 50):
        refused = run(wrong)
        assert refused.exit_code == 2
        assert "there is 'north', 'blank', '7'" in refused.output


@needing("gsheet")
def test_a_worksheet_of_google_is_meant_by_its_index(sheets_server: Any) -> None:
    key, client = sheets_server.create(), sheets_server.client()
    sa.write(key, {"t": np.arange(3)}, client=client, sheet="one")
    sa.write_table(key, {"a": np.arange(2)}, client=client, sheet="two")
    book = client.open_by_key(key)
    titles = [sheet.title for sheet in book.worksheets()]  # a blank one is there from the beginning
    one, two = titles.index("one"), titles.index("two")
    for source, options in ((key, {"client": client}), (book, {})):
        assert sa.read(source, "t", sheet=one, **options).tolist() == [0, 1, 2]
        assert [*sa.scan(source, sheet=one, **options)] == ["t"]
        assert list(sa.check(source, sheet=one, **options)) == []
        assert as_lists(sa.read_columns(source, sheet=two, **options)) == {"a": [0, 1]}
        assert as_lists(sa.read_columns(source, sheet=two, range="A1:A2", **options)) == {"a": [0]}
    for wrong in (9, -1):
        for read in (sa.read, sa.read_columns):
            with pytest.raises(sa.NotFoundError, match="'one', 'two'"):
                read(key, client=client, sheet=wrong)
    with pytest.raises(TypeError, match="sheet is the title"):
        sa.read(key, client=client, sheet=True)
    with pytest.raises(TypeError, match="the title of a worksheet"):
        sa.write(key, {"t": np.arange(3)}, client=client, sheet=0)
    with pytest.raises(ValueError, match="names a worksheet"):
        sa.read(f"gsheets://{key}/one", client=client, sheet=0)
    book.del_worksheet(book.worksheet("one"))
    sa.write_table(key, {"b": np.arange(3)}, client=client, sheet="three")
    every = sa.read_columns(book, sheet=None)
    tables = {title: as_lists(columns) for title, columns in every.items()}
    assert tables == {title: {} for title in titles[:1]} | {"two": {"a": [0, 1]}, "three": {"b": [0, 1, 2]}}
    with pytest.raises(ValueError, match="are of one worksheet"):
        sa.read_columns(book, sheet=None, range="A1:A2")
