"""Workbooks that a sheet was put into, opened by LibreOffice and under Node."""

from __future__ import annotations

import io
from pathlib import Path

import openpyxl
import pytest
from excel_packages import (
    MAY_CHANGE,
    PIVOT,
    WORKBOOKS,
    U,
    append,
    parts,
    replace,
    replaced,
    rich,
    unchanged,
    with_record,
)
from programs import read_by_node, resave

from sheetarray.sheets.excel.append import sheet_titles
from sheetarray.sheets.excel.package.parts import Package
from sheetarray.sheets.excel.package.relations import read_record

pytestmark = [  # openpyxl says what it would lose if it saved
    pytest.mark.filterwarnings("ignore:.*extension is not supported:UserWarning"),
]


SUMS = '<row r="40"><c r="A40"><f>SUM(t)</f></c><c r="B40"><f>wind_speed*2</f></c></row></sheetData>'


def summed(content: bytes) -> bytes:
    """The workbook with formulas over the arrays that are to come."""
    return replaced(content, "xl/worksheets/sheet1.xml", ("</sheetData>", SUMS))


@pytest.mark.parametrize("kind", ["XlsxWriter", "macros", "prefixed", "strict"])
def test_libreoffice_opens_the_workbook_and_computes(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("x.xlsm" if kind == "macros" else "x.xlsx")
    path.write_bytes(append(summed(WORKBOOKS[kind]())))
    content = resave(path, "xlsx", tmp_path / "saved").read_bytes()
    book = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
    assert book.sheetnames[-1] == "arrays"
    assert [[cell.value for cell in row] for row in book["arrays"]][:2] == [["t", "wind speed"], [1.5, 0.1]]
    report = book.worksheets[0]
    assert (report["A40"].value, report["B40"].value) == (42.0, 0.2)
    assert len(report._charts) == 1
    names = set(parts(content))
    assert "xl/media/image1.png" in names
    assert any(name.startswith("xl/charts/chart") for name in names)  # LibreOffice counts those of all workbooks
    assert report["B2"].comment is not None
    assert len(report.conditional_formatting) == 2
    assert book.worksheets[1].tables
    assert list(book.worksheets[1].defined_names) == ["local"]


def test_libreoffice_finds_the_macros(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsm"
    path.write_bytes(replace(append(rich(macros=True)), columns=[("t", [7.0])]))
    saved_as = parts(resave(path, "ods", tmp_path / "saved").read_bytes())
    assert b"Sub Hello()" in saved_as["Basic/VBAProject/Module1.xml"]


def test_a_sheet_of_ours_that_libreoffice_saved_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(append(summed(rich()), record={"sheets": {"arrays": {"a": 1}}}))
    saved_as = resave(path, "xlsx", tmp_path / "saved").read_bytes()
    assert read_record(Package(saved_as)) == read_record(Package(path.read_bytes()))
    after = replace(saved_as, columns=[("t", [5.0, 6.0]), U])
    sheet = next(name for name, part in parts(saved_as).items() if b"<v>38</v>" in part)
    unchanged(saved_as, after, may_change={*MAY_CHANGE, sheet})
    formulas = next(name for name, part in parts(after).items() if b"SUM(t)" in part)
    assert b"<v>42</v>" in parts(after)[formulas]
    path.write_bytes(replaced(after, formulas, ("<v>42</v>", "")))  # LibreOffice trusts a result that is its own
    book = openpyxl.load_workbook(resave(path, "xlsx", tmp_path / "saved"), data_only=True)
    assert book["Report"]["A40"].value == 11.0
    assert {"t", "wind_speed", "total"} <= set(book.defined_names)
    assert "t_2" not in book.defined_names


@pytest.fixture(scope="module")
def pivoted(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A workbook of LibreOffice with a pivot table."""
    made = tmp_path_factory.mktemp("pivot") / "pivot.fods"
    made.write_text(PIVOT, "utf-8")
    content = resave(made, "xlsx", made.parent / "made").read_bytes()
    assert {"xl/pivotTables/pivotTable1.xml", "xl/pivotCache/pivotCacheDefinition1.xml"} <= set(parts(content))
    return content


def test_a_pivot_table_stays(pivoted: bytes, tmp_path: Path) -> None:
    after = append(pivoted)
    unchanged(pivoted, after)
    made = tmp_path / "pivot.xlsx"
    made.write_bytes(after)
    again = resave(made, "xlsx", tmp_path / "again").read_bytes()
    assert b'name="P1"' in parts(again)["xl/pivotTables/pivotTable1.xml"]
    assert openpyxl.load_workbook(io.BytesIO(again))["arrays"]["A4"].value == 38


def test_a_replaced_sheet_loses_its_pivot_table_and_the_other_sheet_keeps_its_cache(pivoted: bytes) -> None:
    part = with_record(append(pivoted), lambda text: text.replace('"sheets":{', '"sheets":{"Pivot":{},'))
    after = replace(part, "Pivot")
    assert set(parts(part)) - set(parts(after)) == {
        "xl/worksheets/_rels/sheet2.xml.rels",
        "xl/pivotTables/pivotTable1.xml",
        "xl/pivotTables/_rels/pivotTable1.xml.rels",
    }


@pytest.mark.parametrize("reader", ["sheetjs", "exceljs"])
@pytest.mark.parametrize("kind", ["no properties", "ours"])
def test_readers_under_node_find_the_arrays(tmp_path: Path, reader: str, kind: str) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(append(WORKBOOKS[kind]()))
    result = read_by_node(reader, path)
    assert [row[0] for row in result["arrays"]] == ["t", 1.5, 2.5, 38]
    assert list(result) == [*sheet_titles(Package(WORKBOOKS[kind]())), "arrays"]
