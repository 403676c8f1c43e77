"""Workbooks in memory: what stands beside ours, where ours stand, what is refused, and what is read."""

from __future__ import annotations

import datetime
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xarray as xr
import xlsxwriter
from openpyxl.cell.rich_text import CellRichText
from openpyxl.utils.cell import coordinate_to_tuple
from openpyxl.worksheet.table import Table
from programs import resave

import sheetarray as sa
from sheetarray.testing.cases import assert_same

ARRAYS = {"t": np.array([[0.1, 1 / 3], [-0.0, np.nan]]), "day": np.array(["2020-01-01", "2024-02-29"], "M8[D]")}
FRAME = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})


def assert_arrays(source: Any, expected: dict[str, Any] = ARRAYS, **options: Any) -> None:
    arrays = sa.read(source, **options)
    assert list(arrays) == list(expected)
    for name, array in expected.items():
        assert_same(arrays[name], array)


# Beside what the caller makes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["openpyxl", "xlsxwriter"])
def test_sheets_of_pandas_before_and_after_ours_are_all_there(tmp_path: Path, engine: Any) -> None:
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path, engine=engine) as writer:
        FRAME.to_excel(writer, sheet_name="summary", index=False)
        sa.write(writer, ARRAYS)
        FRAME.to_excel(writer, sheet_name="after", index=False)
        sa.write_table(writer, FRAME, sheet="table")
        sa.write(writer, {"right": np.arange(3.0)}, sheet="summary", at="E1")
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["summary", "arrays", "after", "table"]
    for sheet in ("summary", "after", "table"):
        frame = pd.read_excel(path, sheet_name=sheet, engine="openpyxl", usecols="A:B", nrows=2)
        pd.testing.assert_frame_equal(frame, FRAME)
    assert_arrays(path, sheet="arrays")
    assert_arrays(path, {"right": np.arange(3.0)}, sheet="summary")
    assert sorted(book.defined_names) == ["day", "right", "t"]


def test_a_sheet_of_ours_looks_as_in_a_file_and_one_of_the_callers_keeps_its_looks() -> None:
    book = openpyxl.Workbook()
    sa.write(book, ARRAYS)
    sheet = book["arrays"]
    assert sheet.freeze_panes == "A22"
    assert [row for row, entry in sheet.row_dimensions.items() if entry.hidden] == list(range(2, 22))
    assert sheet["A1"].font.bold
    assert sheet["B23"].number_format == "yyyy-mm-dd"
    assert sheet["B23"].value == datetime.date(2024, 2, 29)
    assert sheet.column_dimensions["A"].width >= 14
    own = book["Sheet"]
    own["A1"], own.freeze_panes = "mine", "B2"
    sa.write(own, ARRAYS, at="C1")
    assert own.freeze_panes == "B2"
    assert not any(entry.hidden for entry in own.row_dimensions.values())
    assert "C" not in own.column_dimensions


def test_a_description_of_labels_is_hidden_and_comes_back() -> None:
    frame = FRAME.set_index("b")
    data = xr.Dataset({"t": (("x", "y"), np.arange(6.0).reshape(2, 3))}, {"x": ["p", "q"]}, {"made": "by hand"})
    for engine in (openpyxl.Workbook, None):
        saved = io.BytesIO()
        book = xlsxwriter.Workbook(saved) if engine is None else engine()
        sa.write(book, frame, sheet="frame")
        sa.write(book, data, sheet="data")
        if engine is None:
            book.close()
            book = openpyxl.load_workbook(saved)
        assert [entry.hidden for entry in book["data"].column_dimensions.values()].count(True) == 1
        pd.testing.assert_frame_equal(sa.read_frame(book["frame"]), frame)
        xr.testing.assert_identical(sa.read_dataset(book, sheet="data"), data)


# Where ours stand -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["openpyxl", "xlsxwriter"])
def test_the_first_cell_is_chosen_and_cells_all_around_are_left_alone(kind: str) -> None:
    """Four arrays of one element take D5 to G24; cells one beyond every edge are free to hold anything."""
    around = {"C5": 1, "H5": 2, "D4": 3, "H25": 4, "C24": 5}
    saved = io.BytesIO()
    book: Any = openpyxl.Workbook() if kind == "openpyxl" else xlsxwriter.Workbook(saved)
    sheet = book.active if kind == "openpyxl" else book.add_worksheet("Sheet")
    for address, value in around.items():
        sheet.cell(*coordinate_to_tuple(address), value) if kind == "openpyxl" else sheet.write(address, value)
    arrays = {name: np.array([index + 0.1]) for index, name in enumerate("abcd")}
    sa.write(book, arrays, sheet="sheet", at="D5")  # titles are compared without case
    if kind == "openpyxl":
        book.save(saved)
    else:
        book.close()
    saved.seek(0)
    assert_arrays(saved, arrays, format="xlsx")
    loaded = openpyxl.load_workbook(saved)
    assert loaded.sheetnames == ["Sheet"]
    assert {address: loaded["Sheet"][address].value for address in around} == around
    assert sa.scan(loaded)["d"].location == "Sheet!G6"
    assert loaded.defined_names["d"].attr_text == "'Sheet'!$G$24:$G$24"


@pytest.mark.parametrize("engine", ["openpyxl", "xlsxwriter"])
def test_tables_are_not_put_below_arrays_which_would_take_them_for_elements(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path, engine=engine) as writer:
        sa.write(writer, {"t": np.arange(3.0)}, sheet="s", at="B2")
        with pytest.raises(sa.LimitError, match="s!B5 begins an array above, which would take the table for elements"):
            sa.write_table(writer, FRAME, sheet="s", at="A40")
        sa.write_table(writer, FRAME, sheet="s", at="C40")
        sa.write(writer, {"u": np.arange(2.0)}, sheet="s", at="B40")  # another array is no element
    assert_arrays(path, {"t": np.arange(3.0), "u": np.arange(2.0), "a": np.array([1, 2]), "b": np.array(["x", "y"])})


@pytest.mark.parametrize("engine", ["openpyxl", "xlsxwriter"])
def test_cells_of_merged_cells_and_tables_are_taken_and_names_of_tables_too(tmp_path: Path, engine: Any) -> None:
    """XlsxWriter names tables when it closes, `Table1` and so on, and leaves all but one cell of merged ones blank."""
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path, engine=engine) as writer:
        sheet: Any = writer.book.add_worksheet("s") if engine == "xlsxwriter" else writer.book.create_sheet("s")
        if engine == "xlsxwriter":
            sheet.merge_range("D1:E2", "x")
            sheet.add_table("A1:B30", {"columns": [{"header": "p"}, {"header": "q"}]})
        else:
            sheet.merge_cells("D1:E2")
            sheet["A1"], sheet["B1"] = "p", "q"
            sheet.add_table(Table(displayName="Table1", ref="A1:B30"))
        for at, what in (("E1", "s!E1 holds"), ("B5", "s!B5 belongs to an Excel Table"), ("A30", "s!A30 belongs")):
            for write in (sa.write, sa.write_table):
                with pytest.raises(sa.LimitError, match=f"^{what}"):
                    write(sheet, {"t": np.arange(3.0)}, at=at)
        sa.write(sheet, {"Table1": np.arange(3.0)}, at="F1")
    assert sa.scan(path)["Table1"].location == "s!F2"
    assert list(openpyxl.load_workbook(path).defined_names) == ["Table1_2"]


@pytest.mark.parametrize("kind", ["openpyxl", "write-only", "XlsxWriter", "ExcelWriter"])
def test_a_table_is_an_excel_table(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.xlsx"
    frame = pd.DataFrame(
        {"x": [0.5, 1 / 3], "a\nb": ["p", "_x0041_"], "day": pd.to_datetime(["2020-01-01", "2021-01-01"])}
    )
    book: Any = {
        "openpyxl": openpyxl.Workbook,
        "write-only": lambda: openpyxl.Workbook(write_only=True),
        "XlsxWriter": lambda: xlsxwriter.Workbook(path),
        "ExcelWriter": lambda: pd.ExcelWriter(path, engine="xlsxwriter"),
    }[kind]()
    sa.write_table(book, {"Sales": frame, "A1": pd.DataFrame({"n": [1, 2]})})
    if kind in ("openpyxl", "ExcelWriter"):
        sa.write_table(book, frame, sheet="more", at="C4")
    with pytest.warns(sa.SheetArrayWarning, match="without an Excel Table") as caught:
        sa.write_table(book, {"x": [1], "X": [2]}, sheet="case", verify=False)
    assert len(caught) == 1
    book.save(path) if kind in ("openpyxl", "write-only") else book.close()
    for name in ("sales", *(["more"] if kind in ("openpyxl", "ExcelWriter") else ())):
        columns = sa.read_columns(path, table=name, as_="pandas")
        pd.testing.assert_frame_equal(columns, frame.assign(day=frame["day"].astype("M8[s]")))
    tables = {table.name: table for sheet in openpyxl.load_workbook(path) for table in sheet.tables.values()}
    assert {name: table.ref for name, table in tables.items()} == {
        "Sales": "A1:C3",
        "_A1": "A1:A3",
        **({"more": "C4:E6"} if kind in ("openpyxl", "ExcelWriter") else {}),
    }
    assert tables["Sales"].autoFilter.ref == "A1:C3"


def test_numbers_that_xlsxwriter_would_make_infinite_are_text(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx")
    largest = np.array([0.1 + 0.2, np.finfo(float).max, -np.finfo(float).max])
    with pytest.warns(sa.SheetArrayWarning, match="^1 number is rounded"):
        sa.write(book, {"t": largest}, cells="numeric")
    book.close()
    assert sa.read(tmp_path / "a.xlsx")["t"][1:].tolist() == largest[1:].tolist()


def test_arrays_go_on_where_the_rows_and_columns_of_a_sheet_end() -> None:
    book = openpyxl.Workbook()
    long = np.arange(40)
    sa.write(book, {"long": long}, at="B1048540")
    assert_arrays(book, {"long": long})
    assert sa.scan(book)["long"].parts > 1
    wide = {f"n{number}": np.array(number) for number in range(3)}
    other = openpyxl.Workbook()
    sa.write(other, wide, at="XFC1")
    assert other.sheetnames == ["Sheet", "arrays", "arrays (2)"]
    assert_arrays(other, wide)
    assert sa.scan(other)["n2"].location == "arrays (2)!XFC2"


# What is refused, with nothing changed --------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["write", "write_table"])
@pytest.mark.parametrize("option", [{"mode": "a"}, {"if_sheet_exists": "replace"}, {"views": True}])
def test_options_of_files_are_refused_with_a_line_that_works(verb: str, option: Any, tmp_path: Path) -> None:
    path, arrays, book = tmp_path / "a.xlsx", {"t": np.arange(6) + 0.5}, openpyxl.Workbook()
    for target in (book, xlsxwriter.Workbook(tmp_path / "b.xlsx"), pd.ExcelWriter(tmp_path / "c.xlsx")):
        getattr(sa, verb)(target, arrays)
        with pytest.raises(TypeError, match=f"no option '{next(iter(option))}'") as refused:
            getattr(sa, verb)(target, arrays, **option)
        (line,) = re.findall(r"sheetarray\.write\w*\(.*?\)", str(refused.value))
        book.save(path)
        grid = {"t": arrays["t"].reshape(2, 3)} if "path" in line else arrays
        eval(line, {"sheetarray": sa, "target": target, "path": path, "arrays": grid})
        target.close()


# Tables ---------------------------------------------------------------------------------------------------------


def test_columns_of_a_worksheet_are_read_with_all_that_openpyxl_puts_into_cells() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    noon, later = datetime.datetime(2024, 1, 1, 12), datetime.date(2024, 1, 2)
    sheet.append(["n", "when", "wait", "rich", "error", "flag", "np"])
    sheet.append([1, noon, datetime.timedelta(hours=36), CellRichText("a", "b"), "#N/A", True, np.float32(0.5)])
    sheet.append([2.5, later, datetime.timedelta(hours=12), "c", 2, False, np.int64(3)])
    with pytest.warns(sa.SheetArrayWarning, match="Sheet!E2: an error cell, #N/A"):
        columns = sa.read_columns(book)
    assert {name: array.tolist() for name, array in columns.items() if name not in ("when", "error")} == {
        "n": [1.0, 2.5],
        "wait": [1.5, 0.5],
        "rich": ["ab", "c"],
        "flag": [True, False],
        "np": [0.5, 3.0],
    }
    assert columns["when"].astype("M8[s]").tolist() == [noon, datetime.datetime(2024, 1, 2)]
    assert np.isnan(columns["error"][0])
    assert sa.read_columns(sheet, ["n"], sheet="SHEET")["n"].tolist() == [1.0, 2.5]


# What is read ---------------------------------------------------------------------------------------------------


def test_values_that_a_program_saved_of_formulas_are_read(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sa.write(book, {"x": np.array([1.5, 2.5]), "n": np.array([1, 2])})
    book["arrays"]["A21"], book["arrays"]["B20"] = "=A20+1", 7
    book.save(tmp_path / "a.xlsx")
    computed = resave(tmp_path / "a.xlsx", "xlsx", tmp_path / "computed")
    for name, values in (("x", [1.5, 2.5]), ("n", [7, 2])):
        assert sa.read(openpyxl.load_workbook(computed, data_only=True), name).tolist() == values


def test_libreoffice_opens_what_each_library_saves(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "openpyxl.xlsx", engine="openpyxl") as writer:
        sa.write(writer, ARRAYS)
    with pd.ExcelWriter(tmp_path / "xlsxwriter.xlsx", engine="xlsxwriter") as writer:
        sa.write(writer, ARRAYS)
    for name in ("openpyxl", "xlsxwriter"):
        saved = resave(tmp_path / f"{name}.xlsx", "ods", tmp_path / "saved")
        arrays = sa.read(saved)
        np.testing.assert_allclose(arrays["t"], ARRAYS["t"], rtol=1e-15)
        assert_same(arrays["day"], ARRAYS["day"])


def test_dates_are_those_of_the_workbook_s_own_calendar() -> None:
    for epoch in (openpyxl.utils.datetime.WINDOWS_EPOCH, openpyxl.utils.datetime.MAC_EPOCH):
        book = openpyxl.Workbook()
        book.epoch = epoch
        arrays = {"m": np.array(["2024-01-01T12:30:00.123", "1850-01-01", "NaT"], "M8[ms]"), **ARRAYS}
        sa.write(book, arrays)
        assert_arrays(book, arrays)
        serial = openpyxl.utils.datetime.to_excel(datetime.datetime(2024, 1, 1, 12, 30, 0, 123_000), epoch)
        book["arrays"]["A22"].value = serial
        assert_arrays(book, arrays)
        saved = io.BytesIO()
        book.save(saved)
        saved.seek(0)
        assert_arrays(saved, arrays, format="xlsx")


def test_reading_changes_no_cell_of_the_object() -> None:
    book = openpyxl.Workbook()
    sa.write(book, ARRAYS, at="C3")
    book["arrays"]["XFD9000"] = "far"
    before = {sheet.title: len(sheet._cells) for sheet in book.worksheets}
    assert_arrays(book)
    list(sa.check(book))
    with pytest.raises(sa.FormatError):
        sa.read_columns(book, sheet="arrays")
    assert {sheet.title: len(sheet._cells) for sheet in book.worksheets} == before


def test_cells_very_far_apart_are_told_in_bounded_memory(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for number in range(1, 400):
        sheet.cell(1, number * 40, f"n{number}")
        sheet.cell(1_048_576, number * 40, 0.5)
    with pytest.raises(sa.FormatError, match="so far apart"):
        sa.read_columns(book)
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(sa.FormatError, match="no array"):
        sa.read(book)


def test_text_that_looks_like_an_escape_is_what_openpyxl_drops_when_it_loads_shared_strings() -> None:
    """docs/objects.md says so: by path the text is exact, and so it is in memory."""
    arrays = {"s": np.array(["_x0041_", "a\x01b", "  "])}
    book = openpyxl.Workbook()
    sa.write(book, arrays)
    assert_arrays(book, arrays)
    saved = io.BytesIO()
    with xlsxwriter.Workbook(saved) as written:
        sa.write(written, arrays)
    saved.seek(0)
    assert_arrays(saved, arrays, format="xlsx")
    assert sa.read(openpyxl.load_workbook(saved))["s"].tolist() == ["A", "a\x01b", "  "]


def test_convert_blocks_views_and_writers_take_a_workbook(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sa.write(tmp_path / "a.csv", ARRAYS)
    sa.convert(tmp_path / "a.csv", book)
    sa.convert(book, tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert [block.shape for block in sa.iter_blocks(book, "t", rows=1)] == [(1, 2), (1, 2)]
    sa.page(book).save(tmp_path / "page.html")
    assert "arrays!A" in (tmp_path / "page.html").read_text(encoding="utf-8")
    with sa.open_writer(other := openpyxl.Workbook()) as writer:
        writer.append({"x": np.arange(3)})
        writer.append({"x": np.arange(3, 5)})
    assert_arrays(other, {"x": np.arange(5)})


# Number formats that a caller chooses ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["Workbook", "Worksheet", "ExcelWriter"])
@pytest.mark.parametrize("package", ["openpyxl", "xlsxwriter"])
@pytest.mark.parametrize("table", [False, True])
def test_formats_are_those_of_files_in_every_object(tmp_path: Path, kind: str, package: str, table: bool) -> None:
    path = tmp_path / "a.xlsx"
    content = {"t": np.array([1.25, -3.5]), "n": np.array([1, 2]), "text": np.array(["x", "y"])}
    target: Any
    if kind == "ExcelWriter":
        target = pd.ExcelWriter(path, engine=package)  # type: ignore[arg-type]
        book = target.book
    else:
        book = openpyxl.Workbook() if package == "openpyxl" else xlsxwriter.Workbook(path)
        sheet = None if kind == "Workbook" else book.active if package == "openpyxl" else book.add_worksheet()
        target = sheet or book
    write = sa.write_table if table else sa.write
    write(target, content, formats={"t": "0.000"})
    if kind == "ExcelWriter":
        target.close()
    elif package == "openpyxl":
        book.save(path)
    else:
        book.close()
    saved = openpyxl.load_workbook(path).worksheets[-1]
    codes = [{cell.value: cell.number_format for cell in column} for column in saved.iter_cols()]
    assert codes[0][1.25] == codes[0][-3.5] == "0.000"
    assert codes[1][2] == "General"
    back = sa.read_columns(path, sheet=saved.title) if table else sa.read(path, sheet=saved.title)
    for name, array in content.items():
        assert_same(back[name], array)
