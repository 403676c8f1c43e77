"""What people read beside the name of an array: its long_name and its units."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import xarray as xr
from programs import resave, schema_errors

import sheetarray as sa

NOTE = "air temperature\nunits: °C <&>"


def dataset(units: str | None = "°C <&>") -> xr.Dataset:
    made = xr.Dataset(
        {"t": (("time", "lat"), np.arange(24.0).reshape(12, 2) + 0.5), "n": ("time", np.arange(12))},
        coords={"time": np.arange("2026-03-01", "2026-03-13", dtype="M8[D]"), "lat": [50.5, 51.5]},
    )
    if units is not None:
        made["t"].attrs = {"units": units, "long_name": "air temperature", "scale": 3}
        made["lat"].attrs = {"units": "degrees_north"}
        made["n"].attrs = {"units": 7, "long_name": " "}  # which says nothing
    return made


def notes_of(path: Any, sheet: str = "arrays") -> dict[str, str]:
    """Return the notes of the first row, by what the cells hold."""
    book = openpyxl.load_workbook(path)
    return {cell.value: cell.comment.text for cell in book[sheet][1] if cell.comment}


WANTED = {"t": NOTE, "lat": "units: degrees_north"}


def parts_of_notes(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as package:
        return [name for name in package.namelist() if "comments" in name or name.endswith(".vml")]


@pytest.mark.parametrize("options", [{}, {"guard": True, "views": True}, {"cells": "text"}])
def test_names_have_notes_in_workbooks(tmp_path, options):
    path = tmp_path / "a.xlsx"
    sa.write(path, dataset(), **options)
    assert notes_of(path) == WANTED
    assert schema_errors(path) == []
    assert list(sa.check(path)) == []
    assert sa.read_dataset(path).identical(dataset())
    sa.write(tmp_path / "b.xlsx", dataset(None), **options)
    assert parts_of_notes(tmp_path / "b.xlsx") == []


def test_notes_stay_and_go_with_the_sheet(tmp_path):
    path = tmp_path / "a.xlsx"
    book = openpyxl.Workbook()
    book.active["B2"].value = "mine"
    book.active["B2"].comment = openpyxl.comments.Comment("my note", "me")
    book.save(path)
    before = schema_errors(path)
    for _ in range(3):
        sa.write(path, dataset(), mode="a", if_sheet_exists="replace")
        assert notes_of(path) == WANTED
        assert openpyxl.load_workbook(path)["Sheet"]["B2"].comment.text == "my note"
        assert len(parts_of_notes(path)) == 4
    sa.write(path, dataset("K"), sheet="more", mode="a")
    assert notes_of(path, "more")["t"] == "air temperature\nunits: K"
    assert notes_of(path) == WANTED
    assert schema_errors(path) == before
    sa.write(path, dataset(None), mode="a", if_sheet_exists="replace")
    assert notes_of(path) == {}
    assert len(parts_of_notes(path)) == 4  # those of the other two sheets


def test_notes_survive_what_is_done_to_a_workbook(tmp_path):
    path = tmp_path / "a.xlsx"
    sa.write(path, dataset(), guard=True)
    changed = dataset().copy(deep=True)
    changed["t"][3, 1] = 99.5
    sa.write(tmp_path / "b.json", changed)
    sa.merge(path, tmp_path / "b.json", target=tmp_path / "merged.xlsx")
    assert notes_of(tmp_path / "merged.xlsx") == WANTED
    book = openpyxl.load_workbook(path)
    book["arrays"].cell(sa.scan(path)["n"].data[0].row + 2, sa.scan(path)["n"].data[0].column + 1).value = 77
    book.save(tmp_path / "edited.xlsx")
    sa.accept(tmp_path / "edited.xlsx")
    assert notes_of(tmp_path / "edited.xlsx") == WANTED
    sa.restore(tmp_path / "edited.xlsx", tmp_path / "restored.xlsx")
    assert notes_of(tmp_path / "restored.xlsx") == WANTED
    assert notes_of(resave(path, "xlsx", tmp_path / "office")) == WANTED  # LibreOffice has read them


@pytest.mark.parametrize("columns", [None, "lat"])
def test_columns_of_tables_have_notes(tmp_path, columns):
    path = tmp_path / "a.xlsx"
    sa.write_table(path, dataset()[["t"]], columns=columns)  # 50.5 is a name, as the record says
    found = notes_of(path, "table")
    assert list(found.values()).count(NOTE) == (1 if columns is None else 2)
    assert schema_errors(path) == []
    assert sa.read_dataset(path, table="table").equals(dataset()[["t"]])


def test_workbooks_in_memory_have_notes(tmp_path):
    for write_only in (False, True):
        book = openpyxl.Workbook(write_only=write_only)
        sa.write(book, dataset())
        book.save(tmp_path / "a.xlsx")
        assert notes_of(tmp_path / "a.xlsx") == WANTED
    xlsxwriter = pytest.importorskip("xlsxwriter")
    other = xlsxwriter.Workbook(tmp_path / "b.xlsx")
    sa.write(other, dataset())
    other.close()
    assert notes_of(tmp_path / "b.xlsx") == WANTED


@pytest.mark.parametrize("rows", [50, 30_000])  # the cells of the larger worksheet are not fetched at once
@pytest.mark.parametrize("above", [0, 2])
def test_names_have_notes_in_google_sheets(server, rows, above):
    client = server.client()
    key = server.create()
    for units, wanted in (("°C <&>", NOTE), ("K", "air temperature\nunits: K"), (None, "")):
        sa.write(f"gsheets://{key}/arrays", dataset(units), client=client)
        sheet = client.open_by_key(key).worksheet("arrays")
        row, notes = 0 if units == "°C <&>" else above, sheet.get_notes()
        found = dict(zip(sheet.row_values(row + 1), [*(notes[row] if notes else []), *[""] * 9], strict=False))
        assert found.get("t", "") == wanted
        assert list(sa.check(f"gsheets://{key}/arrays", client=client)) == []
        if units == "°C <&>":
            sheet.resize(rows=rows)
            if above:
                sheet.insert_rows([[]] * above, 1)
    assert not any(map(any, sheet.get_notes()))


def test_notes_of_people_stay_in_google_sheets(server):
    client, key = server.client(), server.create()
    url = f"gsheets://{key}/arrays"
    book = client.open_by_key(key)
    book.add_worksheet("arrays", 20, 5).insert_note("A1", "put here before")
    sa.write(url, dataset(), client=client)
    sheet = book.worksheet("arrays")
    names = sheet.row_values(1)
    cells = {name: f"{chr(65 + names.index(name))}1" for name in names[:4]}
    assert names[0] == "t"
    assert sheet.get_note("A1") == "put here before"  # not ours, though "t" has labels
    assert sheet.get_note(cells["lat"]) == WANTED["lat"]
    for cell, text in ((cells["n"], "counted by hand"), (cells["lat"], "mine now"), ("B5", "of an element")):
        sheet.insert_note(cell, text)
    kept = {"A1": "put here before", cells["n"]: "counted by hand", cells["lat"]: "mine now", "B5": "of an element"}
    for units in ("K", None, "m"):
        changed = dataset(units)
        changed["n"].attrs = {"units": "1"}
        sa.write(url, changed, client=client)
        assert {cell: sheet.get_note(cell) for cell in kept} == kept
    sheet.clear_notes([cells["n"]])
    sa.write(url, changed, client=client)
    assert sheet.get_note(cells["n"]) == "units: 1"
    sheet.insert_note(cells["n"], "units: 1, but I doubt it")
    edited = sheet.find("1.5")
    assert edited is not None
    sheet.update_acell(edited.address, 99.5)
    sa.accept(url, client=client)
    assert sheet.get_note(cells["n"]) == "units: 1, but I doubt it"
    assert {cell: sheet.get_note(cell) for cell in ("A1", "B5")} == {"A1": "put here before", "B5": "of an element"}


@pytest.mark.parametrize("labelled", [False, True])
def test_comments_of_people_stay_in_workbooks(tmp_path, labelled):
    arrays = dataset() if labelled else {"t": np.arange(6.0), "n": np.arange(6.0) * 2}
    path, returned, target = tmp_path / "a.xlsx", tmp_path / "b.xlsx", tmp_path / "merged.xlsx"
    sa.write(path, arrays)
    book = openpyxl.load_workbook(path)
    wanted = {"A1": "about t", "B1": "about n", "B3": "about a header", "J9": "far away"}
    for cell, text in wanted.items():
        book["arrays"][cell].comment = openpyxl.comments.Comment(text, "a person")
    book.save(path)
    data = sa.scan(path)["t"].data[0]
    book["arrays"].cell(data.row + 2, data.column + 1).value = 77.5
    book.save(returned)

    def comments(file: Path) -> dict[str, str]:
        cells = [cell for row in openpyxl.load_workbook(file)["arrays"] for cell in row if cell.comment]
        return {cell.coordinate: cell.comment.text for cell in cells if cell.coordinate in wanted}

    sa.merge(path, returned, target=target)
    sa.accept(returned)
    sa.write(path, dataset("K"), sheet="more", mode="a")
    assert sa.read(target)["t"].flat[1] == sa.read(returned)["t"].flat[1] == 77.5
    for file in (path, returned, target):
        assert comments(file) == wanted


@pytest.mark.filterwarnings("ignore:.*header=True takes the first row as names")
@pytest.mark.parametrize("columns", [None, "lat"])
def test_tables_in_memory_have_the_notes_that_files_have(tmp_path, columns):
    sa.write_table(tmp_path / "file.xlsx", dataset()[["t"]], columns=columns)
    for write_only in (False, True):
        book = openpyxl.Workbook(write_only=write_only)
        sa.write_table(book, dataset()[["t"]], columns=columns, at="A1")
        book.save(tmp_path / "a.xlsx")
        assert notes_of(tmp_path / "a.xlsx", "table") == notes_of(tmp_path / "file.xlsx", "table") != {}
    xlsxwriter = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(tmp_path / "b.xlsx") as other:
        sa.write_table(other, dataset()[["t"]], columns=columns)
    assert notes_of(tmp_path / "b.xlsx", "table") == notes_of(tmp_path / "file.xlsx", "table")
