"""Rows are appended to tables of workbooks, ordinary ones and those that `write_table` wrote."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xlsxwriter
from openpyxl.worksheet.filters import AutoFilter
from openpyxl.worksheet.table import Table

import sheetarray as sa

DAYS = [datetime.datetime(2026, 1, day) for day in (1, 2)]
NEW = {"day": np.array(["2026-03-01"], "M8[D]"), "id": ["c d"], "t": [3]}


def save_book(path: Path, *, below: Any = None, named: bool = True) -> Path:
    """Save a workbook with notes, a table below a title, and a formula on another sheet that sums it."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "first"
    sheet["A1"] = "nothing here"
    sheet = book.create_sheet("sales")
    for row in [["id", "t", "day"], ["a", 1.5, DAYS[0]], ["b", 2.5, DAYS[1]]]:
        sheet.append(row)
    sheet["B3"].number_format = "0.00"
    if below is not None:
        sheet["B4"] = below
    if named:
        sheet.add_table(Table(displayName="Sales", ref="A1:C3"))
    book.create_sheet("sums")["A1"] = "=SUM(Sales[t])"
    book.save(path)
    return path


def parts_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as package:
        return {name: package.read(name) for name in package.namelist()}


@pytest.mark.parametrize("chosen", [{"sheet": "sales"}, {"sheet": 1}, {"table": "Sales"}, {"table": "sales"}])
def test_a_table_of_a_workbook_grows_and_all_else_stays(tmp_path: Path, chosen: dict[str, Any]) -> None:
    path = save_book(tmp_path / "t.xlsx")
    before = parts_of(path)
    assert sa.append(path, NEW, **chosen) == {"day": 3, "id": 3, "t": 3}
    assert sa.append(path, {name: values[:1] for name, values in NEW.items()}, **chosen)["t"] == 4
    read = sa.read_columns(path, table="Sales")
    assert read["id"].tolist() == ["a", "b", "c d", "c d"]
    assert read["t"].tolist() == [1.5, 2.5, 3.0, 3.0]
    assert read["day"].astype(str).tolist() == ["2026-01-01", "2026-01-02", "2026-03-01", "2026-03-01"]
    after = parts_of(path)
    assert [name for name in before if after[name] != before[name]] == [
        name for name in before if name in ("xl/worksheets/sheet2.xml", "xl/tables/table1.xml")
    ]
    book = openpyxl.load_workbook(path)
    assert book["sales"].tables["Sales"].ref == "A1:C5"
    assert book["sales"]["B5"].number_format == "0.00"
    assert book["sales"]["C4"].is_date


def test_a_frame_brings_its_index_to_a_table_that_was_written(tmp_path: Path) -> None:
    path, index = tmp_path / "f.xlsx", pd.Index(["p", "q"], name="id")
    frame = pd.DataFrame({"n": [1, 2**60], "s": ["007", "=b"], "t": [0.1, np.nan]}, index=index)
    more = pd.DataFrame({"n": [-(2**61)], "s": ["1"], "t": [1 / 3]}, index=pd.Index(["r"], name="id"))
    sa.write_table(path, frame)
    assert sa.append(path, more) == {"id": 3, "n": 3, "s": 3, "t": 3}
    pd.testing.assert_frame_equal(sa.read_frame(path), pd.concat([frame, more]), check_exact=True, check_dtype=False)
    assert list(sa.check(path)) == []


@pytest.mark.parametrize(
    ("rows", "error", "text"),
    [
        ({**NEW, "t": ["x"]}, sa.DTypeError, "t: the column holds float64"),
        ({"id": ["c"], "t": [3]}, sa.LimitError, "lack 'day'"),
        ({**NEW, "x": [1]}, sa.LimitError, "no column 'x'"),
        ({**NEW, "t": [1, 2]}, sa.LimitError, "different lengths"),
        ({**NEW, "t": [[1]]}, sa.DTypeError, "t: a column of a table takes an array of one dimension"),
    ],
)
def test_rows_that_no_table_holds_change_nothing(tmp_path: Path, rows: Any, error: Any, text: str) -> None:
    path = save_book(tmp_path / "t.xlsx")
    before = path.read_bytes()
    with pytest.raises(error, match=text):
        sa.append(path, rows, table="Sales")
    assert path.read_bytes() == before


def test_what_stands_below_a_table_is_not_written_over(tmp_path: Path) -> None:
    path = save_book(tmp_path / "t.xlsx", below="a note")
    before = path.read_bytes()
    with pytest.raises(sa.LimitError, match="sales!B4: a new row needs this cell"):
        sa.append(path, NEW, table="Sales")
    assert path.read_bytes() == before


def test_no_rows_change_nothing(tmp_path: Path) -> None:
    path = save_book(tmp_path / "t.xlsx")
    before = path.read_bytes()
    nothing = {name: np.array(values)[:0] for name, values in NEW.items()}
    assert sa.append(path, nothing, table="Sales") == {"day": 2, "id": 2, "t": 2}
    assert path.read_bytes() == before


def test_a_table_beside_arrays_is_chosen_by_its_name_or_sheet(tmp_path: Path) -> None:
    path = save_book(tmp_path / "t.xlsx")
    sa.write(path, {"u": np.array([1.5])}, mode="a")
    assert sa.append(path, {"u": [2]}) == {"u": 2}
    assert sa.append(path, NEW, table="Sales")["t"] == 3
    assert sa.append(path, NEW, sheet="sales")["t"] == 4
    assert sa.read(path, "u").tolist() == [1.5, 2.0]
    assert sa.read_columns(path, sheet="sales")["t"].tolist() == [1.5, 2.5, 3.0, 3.0]
    with pytest.raises(sa.NotFoundError, match="Wages"):
        sa.append(path, NEW, table="Wages")


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_only_workbooks_have_named_tables(tmp_path: Path, suffix: str) -> None:
    sa.write(tmp_path / f"t.{suffix}", {"t": np.array([1.5])})
    with pytest.raises(TypeError, match="append has no option 'table'"):
        sa.append(tmp_path / f"t.{suffix}", {"t": [1]}, table="Sales")


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
@pytest.mark.parametrize("values", [["x"], [2.5], [True], np.array(["2026-01-01"], "M8[D]")])
def test_a_column_of_blanks_takes_any_elements(tmp_path: Path, suffix: str, values: Any) -> None:
    path = tmp_path / f"t.{suffix}"
    if suffix == "csv":
        path.write_text("id,t\na,\nb,\n")
    else:
        book = openpyxl.Workbook()
        for row in [["id", "t"], ["a"], ["b"]]:
            book.active.append(row)
        book.save(path)
    assert sa.append(path, {"id": ["c"], "t": values}) == {"id": 3, "t": 3}
    assert str(sa.read_columns(path)["t"][-1]).lower() == str(np.array(values)[0]).lower()


def save_totals(path: Path, *, reference: str | None = None, below: Any = None) -> Path:
    """Save an Excel Table with a row of totals, a column that a formula computes, and another one beside it."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "sales"
    for row in [["id", "t", "double", None, "beside"], ["a", 1.5, "=Sales[[#This Row],[t]]*2"], ["b", 2.5, "=B3*2"]]:
        sheet.append(row)
    sheet.append(["Total", "=SUBTOTAL(109,B2:B3)", None, None, "stays"])
    sheet["B4"].number_format = "0.00"
    sheet["A6"] = below
    table = Table(displayName="Sales", ref="A1:C4", totalsRowCount=1)
    table._initialise_columns()
    for column, name in zip(table.tableColumns, ["id", "t", "double"], strict=True):
        column.name = name
    table.autoFilter = AutoFilter(ref="A1:C3")
    sheet.add_table(table)
    book.create_sheet("sums")["A1"] = reference
    book.save(path)
    return path


def test_a_table_grows_above_its_totals_and_formulas_are_filled_down(tmp_path: Path) -> None:
    path = save_totals(tmp_path / "t.xlsx")
    assert sa.append(path, {"id": ["c"], "t": [3.5]}, table="Sales")["t"] == 3
    assert sa.append(path, {"id": ["d", "e"], "t": [4.5, 5.5]}, table="Sales")["t"] == 5
    sheet = openpyxl.load_workbook(path)["sales"]
    assert sheet.tables["Sales"].ref == "A1:C7"
    assert sheet.tables["Sales"].autoFilter.ref == "A1:C6"
    assert [cell.value for cell in sheet["A"]] == ["id", "a", "b", "c", "d", "e", "Total"]
    assert sheet["B7"].value == "=SUBTOTAL(109,B2:B6)"
    assert sheet["B7"].number_format == "0.00"
    assert [cell.value for cell in sheet["C"][3:]] == ["=B4*2", "=B5*2", "=B6*2", None]
    assert [cell.value for cell in sheet["E"]][:4] == ["beside", None, None, "stays"]
    assert sa.read_columns(path, ["id", "t"], table="Sales")["t"].tolist() == [1.5, 2.5, 3.5, 4.5, 5.5]


def test_values_below_formulas_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("sales")
        for row, cells in enumerate([["id", "t", "double"], ["a", 1.5, None], ["b", 2.5, None]]):
            sheet.write_row(row, 0, cells)
        for row in (1, 2):
            sheet.write_formula(row, 2, f"=B{row + 1}*2", None, row + 1.5)
    with pytest.warns(sa.SheetArrayWarning, match="values were added below the formulas of 'double'"):
        sa.append(path, {"id": ["c"], "t": [3.5], "double": [7.0]})
    assert sa.read_columns(path)["double"].tolist() == [2.5, 3.5, 7.0]
    assert openpyxl.load_workbook(path)["sales"]["C4"].value == 7
    with pytest.raises(sa.LimitError, match="lack 'id', 'double'"):
        sa.append(path, {"t": [3.5]})  # the last row of `double` has no formula


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"reference": "=sales!B4/2"}, "a formula of 'sums' names a cell of the row of totals: sales!B4/2"),
        ({"below": "a note"}, "sales!A6"),
    ],
)
def test_totals_that_cannot_move_stay(tmp_path: Path, options: Any, text: str) -> None:
    path = save_totals(tmp_path / "t.xlsx", **options)
    before = path.read_bytes()
    with pytest.raises(sa.LimitError, match=text):
        sa.append(path, {"id": ["c", "d", "e"], "t": [3.5, 4, 5]}, table="Sales")
    assert path.read_bytes() == before


def write_sales(path: Path, kind: str) -> dict[str, list[Any]]:
    """Write a table of three rows with a row of totals, and return the row that is appended to it."""
    if kind == "xlsxwriter":
        book = xlsxwriter.Workbook(path)
        sheet = book.add_worksheet("s")
        formula = {"header": "amount", "formula": "=Sales[[#This Row],[n]]*2", "total_function": "sum"}
        columns = [{"header": "id", "total_string": "Total"}, {"header": "n", "total_function": "sum"}, formula]
        rows = [["a", 1], ["b", 2], ["c", 3]]
        sheet.add_table(0, 0, 4, 2, {"name": "Sales", "total_row": True, "data": rows, "columns": columns})
        sheet.write(0, 6, "a note")
        book.close()
        return {"id": ["d"], "n": [4]}
    if kind.startswith("recorded"):
        sa.write_table(path, {"id": np.array(["a", "b", "c"]), "n": np.array([1, 2, 3])}, sheet="s")
        book = openpyxl.load_workbook(path)
    else:
        book = openpyxl.Workbook()
        book.active.title = "s"
        for row in (["id", "n"], ["a", 1], ["b", 2], ["c", 3]):
            book.active.append(row)
    row = 6 if kind == "typed below a blank row" else 5
    book["s"].cell(row, 1).value, book["s"].cell(row, 2).value = "Total", "=SUM(B2:B4)"
    if kind == "recorded, Excel's":
        (table,) = book["s"].tables.values()
        table.ref, table.totalsRowCount = "A1:B5", 1
        book["s"]["B5"] = f"=SUBTOTAL(109,{table.name}[n])"
    book.save(path)
    return {"id": ["d"], "n": [4]}


@pytest.mark.parametrize("options", [{"sheet": "s"}, {}, {"sheet": 0}])
@pytest.mark.parametrize(
    "kind", ["xlsxwriter", "typed", "typed below a blank row", "recorded, typed", "recorded, Excel's"]
)
def test_rows_go_above_the_totals_which_sum_them_up(kind: str, options: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    rows = write_sales(path, kind)
    assert set(sa.append(path, rows, **options).values()) == {4}
    sheet = openpyxl.load_workbook(path)["s"]
    cells = [[cell.value for cell in row[:3]] for row in sheet.iter_rows()]
    total = next(row for row in cells if row[0] == "Total")
    assert cells.index(total) == (6 if "blank row" in kind else 5)
    assert cells[4][:2] == ["d", 4]
    if kind == "xlsxwriter":
        assert cells[4][2] == "=Sales[[#This Row],[n]]*2"
    elif "Excel" not in kind:
        assert total[1] == "=SUM(B2:B5)"
    if kind.startswith("recorded"):
        assert sa.read(path, "n").tolist() == [1, 2, 3, 4]
        assert not list(sa.check(path))
    sa.append(path, {"id": ["e"], "n": [5]}, **options)
    assert openpyxl.load_workbook(path)["s"]["A6"].value == "e"


def test_rows_go_below_a_column_that_was_renamed(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write_table(path, {"id": np.array(["a", "b"]), "n": np.array([1, 2])})
    book = openpyxl.load_workbook(path)
    book.worksheets[0]["B1"] = "count"
    book.save(path)
    with pytest.raises(sa.LimitError, match="they lack 'count'"):
        sa.append(path, {"id": ["c"], "n": [3]})
    assert sa.append(path, {"id": ["c"], "count": [3]}) == {"id": 3, "count": 3}
    assert sa.read(path)["count"].tolist() == [1, 2, 3]
