"""Sheets of workbooks: cells are found where they stand, whoever wrote them, and no more is read than is needed."""

from __future__ import annotations

import io
import random
import re
from pathlib import Path

import numpy as np
import openpyxl
import pytest
import xlsxwriter
from addresses import cell_address
from foreign_books import (
    FIRST,
    book,
    boolean,
    columns,
    grid,
    heads,
    listed,
    number,
    parts,
    read,
    rows_of,
    text,
    words,
    worksheet,
    zipped,
)

import sheetarray as sa
from sheetarray.testing.cases import assert_same, objects

# Where cells stand -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("row", "column"), [(1, 0), (5, 3), (900, 0), (3, 30), (1, 16383)])
def test_arrays_are_found_wherever_they_stand(row: int, column: int) -> None:
    content = book(columns(listed("float64", [number(1.5), number("x")]), row=row, column=column))
    with pytest.raises(sa.FormatError) as caught:
        read(content)
    assert caught.value.location == f"arrays!{cell_address(row + FIRST - 1, column)}"
    content = book(columns(listed("int8", [number(1), number(2)]), row=row, column=column))
    assert_same(read(content)["t"], np.array([1, 2], np.int8))
    assert sa.scan(io.BytesIO(content), format="xlsx")["t"].location == f"arrays!{cell_address(row, column)}"


def test_arrays_in_rows() -> None:
    first = listed("float64", [number(1.5), text("NaN"), number(3)], name="a")
    second = listed("generic", [number(1), text("x"), boolean(True), number("1E+300")], name="b")
    cells = {(row, column): cell for row, line in ((2, first), (5, second)) for column, cell in enumerate(line)}
    result = read(book(cells))
    assert_same(result["a"], np.array([1.5, np.nan, 3]))
    assert_same(result["b"], objects(1, "x", True, 1e300))
    cells[5, FIRST] = ' t="e"><v>#REF!</v></c>'
    with pytest.raises(sa.FormatError, match="#REF!") as caught:
        read(book(cells))
    assert caught.value.location == f"arrays!{cell_address(4, FIRST)}"


def test_rows_and_cells_in_any_order() -> None:
    cells = columns(
        listed("int64", list(map(number, range(50))), name="a"), listed("int64", list(map(number, range(50))), name="b")
    )
    rows = rows_of(cells).split("</row>")[:-1]
    random.Random(3).shuffle(rows)
    result = read(book("</row>".join(rows) + "</row>"))
    assert_same(result["a"], np.arange(50))
    assert_same(result["b"], np.arange(50))


@pytest.mark.parametrize(
    "rows",
    [
        '<row r="1048577"><c r="A1048577"><v>1</v></c></row>',
        '<row r="1"><c r="XFE1"><v>1</v></c></row>',
        '<row r="1"><c r="A2"><v>1</v></c></row>',
        '<row r="0"><c r="A0"><v>1</v></c></row>',
        '<row r="9999999999"><c r="A9999999999"><v>1</v></c></row>',
        '<row r="1"><c r="1A"><v>1</v></c></row>',
        '<row r="1"><c r="AAAA1"><v>1</v></c></row>',
        '<row r="1"><c r="A1" t="z"><v>1</v></c></row>',
        '<row r="1"><c r="A1" t="s"><v>1</v></c></row>',
        '<row r="1"><c r="A1" t="s"><v>x</v></c></row>',
        '<row r="1"><c r="A1"><v>1</c></row>',
        '<row r="1"><c r="A1"><v>&nbsp;</v></c></row>',
        '<row r="1"><c r="A1">',
        '<row r="1"><c r="A1" t="str"><v>&nope;</v></c></row>',
        '<row r="1"><c r="A1" t="inlineStr"><is><t>&#0;</t></is></c></row>',
    ],
)
def test_references_types_and_xml_that_are_wrong_are_refused_where_they_are(rows: str) -> None:
    with pytest.raises(sa.FormatError) as caught:
        heads(book(rows))
    assert re.fullmatch(r"arrays(![A-Z]+[0-9]+)?|xl/worksheets/sheet1\.xml", caught.value.location or "")


def test_a_sheet_in_utf_16() -> None:
    sheet = worksheet(rows_of(columns(listed("string", [text("äß漢😀")])))).replace("UTF-8", "UTF-16")
    assert read(zipped({**parts({"arrays": ""}), "xl/worksheets/sheet1.xml": sheet.encode("utf-16")}))[
        "t"
    ].tolist() == ["äß漢😀"]


# Workbooks ---------------------------------------------------------------------------------------------------


def test_titles_come_in_the_order_of_the_tabs_without_charts(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "x.xlsx") as made:
        for title in ("b & <c>", "a", "Übersicht"):
            made.add_worksheet(title).write(0, 0, title)
        chart = made.add_chart({"type": "line"})
        chart.add_series({"values": "=a!$A$1:$A$2"})
        made.add_chartsheet("chart").set_chart(chart)
        made.get_worksheet_by_name("a").hide()
        made.get_worksheet_by_name("Übersicht").very_hidden()
    content = (tmp_path / "x.xlsx").read_bytes()
    assert heads(content) == {title: [[title]] for title in ("b & <c>", "a", "Übersicht")}
    with pytest.raises(sa.NotFoundError, match="'b & <c>', 'a', 'Übersicht'"):
        read(content, sheet="c")


def test_modules_of_macros_are_passed_over_and_titles_are_told_without_escapes() -> None:
    made = parts({"a": worksheet(""), "Module1": worksheet(""), "_x005F_x0041_": worksheet("")})
    made["xl/workbook.xml"] = made["xl/workbook.xml"].replace('r:id="rId2"', 'r:id=""')
    assert list(heads(zipped(made))) == ["a", "_x0041_"]


def test_hidden_and_filtered_rows_and_hidden_columns_are_read(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = made.active
    for row, value in enumerate(["t", *words("float64", 3), 0.1, 0.2, 0.3], 1):
        sheet.cell(row, 2, value)
    sheet.row_dimensions[21].hidden = True
    sheet.column_dimensions["B"].hidden = True
    sheet.auto_filter.ref = "B19:B22"
    sheet.sheet_state = "hidden"
    made.create_sheet("other")
    made.save(tmp_path / "x.xlsx")
    assert_same(sa.read(tmp_path / "x.xlsx")["t"], np.array([0.1, 0.2, 0.3]))


def test_a_sheet_without_cells() -> None:
    for rows in ("", '<row r="1"/>', '<row r="5"><c r="A5" s="1"/></row>', "\n"):
        assert not any(grid(book(rows)))
        with pytest.raises(sa.FormatError, match="no array"):
            read(book(rows))
    empty = zipped(parts({"arrays": worksheet("").replace("<sheetData></sheetData>", "<sheetData/>")}))
    assert grid(empty) == []
