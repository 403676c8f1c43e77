"""Sheets of workbooks: cells are found where they stand, whoever wrote them, and no more is read than is needed."""

from __future__ import annotations

import io
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import openpyxl
import pytest
import xlsxwriter
from foreign_books import (
    book,
    columns,
    grid,
    header,
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
from limits import set_limits
from round_trips import without_loops

import sheetarray as sa
from sheetarray.testing.cases import assert_same

# Where cells stand -------------------------------------------------------------------------------------------


def test_cells_in_another_order_are_refused_where_their_places_are_too_many_to_keep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = rows_of(cells := columns(listed("int64", list(map(number, range(50)))))).split("</row>")[:-1]
    ascending, content = book(cells), book("</row>".join([*rows[1:], rows[0]]) + "</row>")
    set_limits(monkeypatch, cell_places=len(cells))
    assert_same(read(content)["t"], np.arange(50))
    set_limits(monkeypatch, cell_places=len(cells) - 1)
    assert_same(read(ascending)["t"], np.arange(50))
    with pytest.raises(sa.FormatError, match="are not in order, and it has more than"):
        read(content)


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


# A cell that comes twice -------------------------------------------------------------------------------------


def test_rows_and_cells_without_references_follow_each_other() -> None:
    cells = [text("a"), *header("float64", 3000), *[number(index / 7) for index in range(3000)]]
    rows = "".join(f'<row><c{cell}<c t="str"><v>x{index}</v></c><c s="0"/></row>' for index, cell in enumerate(cells))
    for made in (rows, rows.replace("<row>", "<row/><row>", 1), "<!-- -->" + rows):
        for way in (nullcontext, without_loops):
            with way():
                result = sa.read(io.BytesIO(book(made)), format="xlsx")
            assert np.array_equal(result["a"], np.arange(3000) / 7)
