"""A table that write_table put into a workbook in memory is the arrays: there, and in the file that is saved."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xarray as xr
import xlsxwriter
from recorded import GRID, assert_same, write_quietly

import sheetarray as sa


@pytest.mark.parametrize("engine", ["openpyxl", "xlsxwriter"])
def test_tables_of_an_excel_writer_stand_beside_arrays_and_cells(tmp_path: Path, engine: Any) -> None:
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path, engine=engine) as writer:
        pd.DataFrame({"mine": [1]}).to_excel(writer, sheet_name="results")
        write_quietly(writer, GRID, sheet="results", at="D5", guard=True)
        sa.write(writer, {"a": np.arange(3.0)}, sheet="results", at="K1", guard=True)
        write_quietly(writer, {"x": np.array([0.5, 1.5])}, sheet="more")
    arrays = sa.read(path)
    assert list(arrays) == ["a", "t", "height", "site", "day", "x"]
    np.testing.assert_array_equal(arrays["t"], GRID["t"].values)
    assert list(sa.check(path)) == []
    book = openpyxl.load_workbook(path)
    np.testing.assert_allclose(sa.read(book, "height"), GRID["height"].values, rtol=1e-15)  # by the values of its cells
    book["results"]["F7"] = 99.5
    book["results"]["K16"] = 7
    book.save(path)
    assert [(finding.location, finding.array) for finding in sa.check(path)] == [
        ("results!K16", "a"),
        ("results!F7", "t"),
    ]


def test_a_mapping_of_tables_is_recorded_sheet_by_sheet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    write_quietly(book, {"north": pd.DataFrame({"n": [0.1 + 0.2]}), "south": pd.DataFrame({"s": [1 / 3]})})
    assert_same(sa.read(book), {"n": np.array([0.1 + 0.2]), "s": np.array([1 / 3])})
    assert_same(sa.read(book, sheet="south"), {"s": np.array([1 / 3])})
    with pytest.raises(sa.FormatError, match="no array"):
        sa.read(book, sheet="Sheet")


def test_a_table_of_a_file_that_openpyxl_loaded_is_the_arrays(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, GRID)
    for options in ({}, {"read_only": True}, {"data_only": True}):
        book = openpyxl.load_workbook(path, **options)
        xr.testing.assert_identical(sa.read_dataset(book), GRID)
        assert list(sa.scan(book["table"])) == ["t", "height", "site", "day"]
        assert list(sa.check(book)) == []


def test_people_may_insert_rows_and_columns_around_a_table_of_a_workbook() -> None:
    book = openpyxl.Workbook()
    write_quietly(book, GRID)
    sheet = book["table"]
    del sheet.tables["table"]
    sheet.insert_rows(1, 2)
    sheet.insert_cols(1, 3)
    sheet["A1"] = "Our measurements"
    xr.testing.assert_identical(sa.read_dataset(book), GRID)
    sheet["F4"] = "n/a"
    (finding,) = sa.check(book)
    assert (finding.location, finding.array, finding.index) == ("table!F4", "t", (0, 0))
    sheet.delete_rows(4)
    assert [finding.message for finding in sa.check(book)] == ["the table has 11 rows of data, but 12 were written"]


@pytest.mark.parametrize("first", [None, "Read me"])
def test_a_table_behind_another_sheet_is_merged_and_appended_to(first: str | None, tmp_path: Path) -> None:
    base, edited, third = (tmp_path / f"{name}.xlsx" for name in ("base", "edited", "third"))
    for path in (base, edited, third):
        book = openpyxl.Workbook()
        book["Sheet"]["A1"] = first
        sa.write_table(book, {"a": np.array([0.1 + 0.2, 2]), "k": np.array([1, 2])}, guard=True)
        if path is edited:
            book["table"]["A3"] = 7.5
        book.save(path)
    assert not sa.merge(base, edited, third, target=base).conflicts
    assert_same(sa.read(base), {"a": np.array([0.1 + 0.2, 7.5]), "k": np.array([1, 2])})
    assert sa.append(base, {"a": [1.5], "k": [3]}) == {"a": 3, "k": 3}
    assert_same(sa.read(base), {"a": np.array([0.1 + 0.2, 7.5, 1.5]), "k": np.arange(1, 4)})
    assert list(sa.check(base)) == []


@pytest.mark.parametrize("make", [openpyxl.Workbook, lambda: xlsxwriter.Workbook(io.BytesIO())])
def test_a_second_table_on_a_worksheet_is_refused(make: Any) -> None:
    book = make()
    sa.write_table(book, {"a": np.array([1.5])}, sheet="s")
    with pytest.raises(sa.LimitError, match="'s' has a table already, and records one: sheet= takes another worksheet"):
        sa.write_table(book, {"b": np.array([2.5])}, sheet="s", at="D1")
    sa.write_table(book, {"b": np.array([2.5])}, sheet="t")
    if isinstance(book, openpyxl.Workbook):
        assert book["s"]["D1"].value is None
        assert_same(sa.read(book), {"a": np.array([1.5]), "b": np.array([2.5])})
    else:
        book.close()


def test_a_worksheet_that_holds_something_else_now_is_an_ordinary_one() -> None:
    book = openpyxl.Workbook()
    write_quietly(book, {"a": np.array([1.5]), "b": np.array([1.5])}, sheet="s")
    del book["s"]
    book.create_sheet("s").append(["other"])
    with pytest.warns(sa.SheetArrayWarning, match="'s' has no columns 'a', 'b' any more, and is read as any"):  # noqa: SIM117
        with pytest.raises(sa.FormatError, match="no array"):
            sa.read(book)
    write_quietly(book, {"c": np.array([2.5])}, sheet="t")
    del book["s"]
    write_quietly(book, {"d": np.array([3.5])}, sheet="s")
    assert_same(sa.read(book), {"d": np.array([3.5]), "c": np.array([2.5])})
