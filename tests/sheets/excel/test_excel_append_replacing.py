"""Sheets of ours that are replaced in a workbook: in their place, with all that only they had, and no more."""

from __future__ import annotations

import io

import openpyxl
import pytest
import xlsxwriter
from excel_packages import (
    RELATIONS,
    TYPES,
    WORKBOOK,
    T,
    U,
    apart,
    append,
    ours,
    parts,
    picture,
    plan,
    raw_members,
    replace,
    replaced,
    rich,
    saved,
    unchanged,
    with_parts,
)

import sheetarray as sa
from sheetarray.sheets.excel.append import plan_append, sheet_titles
from sheetarray.sheets.excel.package.parts import Package
from sheetarray.sheets.excel.package.relations import read_record

pytestmark = [  # openpyxl says what it would lose if it saved
    pytest.mark.filterwarnings("ignore:.*extension is not supported:UserWarning"),
]


def test_a_sheet_of_ours_is_replaced_in_its_place() -> None:
    before = append(append(rich()), "more", [("other", [7.0])])
    after = replace(before, "Arrays", [("t", [9.0]), ("new", [1.0])], record={"sheets": {"Arrays": {"x": 1}}})
    book = openpyxl.load_workbook(io.BytesIO(after))
    assert book.sheetnames == ["Report", "Daten & Co", "Diagram", "arrays", "more"]
    assert [[cell.value for cell in row] for row in book["arrays"]] == [["t", "new"], [9.0, 1.0]]
    assert book["more"]["A2"].value == 7.0
    names = {name: defined.attr_text for name, defined in book.defined_names.items()}
    assert names == {
        "total": "'Report'!$B$2:$B$11",
        "other": "'more'!$A$2:$A$2",
        "t": "'arrays'!$A$2:$A$2",
        "new": "'arrays'!$B$2:$B$2",
    }
    assert not unchanged(before, after, may_change={WORKBOOK, "docProps/custom.xml", "xl/worksheets/sheet3.xml"})
    record = read_record(Package(after))
    assert record == {
        "sheets": {
            "arrays": {"x": 1, "names": ["t", "new"], "of": "arrays"},
            "more": {"names": ["other"], "of": "more"},
        }
    }


def test_replacing_again_and_again_comes_to_the_same() -> None:
    once = replace(append(rich()))
    assert parts(replace(once)) == parts(once)


def test_a_sheet_that_is_not_there_is_added() -> None:
    assert parts(replace(rich())) == parts(append(rich()))


def test_the_sheet_in_view_stays_in_view() -> None:
    for content in (ours(("arrays", [T]), ("more", [U])), ours(("more", [U]), ("arrays", [T]))):
        views = {
            sheet.title: sheet.sheet_view.tabSelected
            for sheet in openpyxl.load_workbook(io.BytesIO(replace(apart(content, "arrays", "more")))).worksheets
        }
        assert [title for title, selected in views.items() if selected] == sheet_titles(Package(content))[:1]


def test_what_only_the_replaced_sheet_had_goes_with_it() -> None:
    before = decorated()
    assert {"xl/charts/chart1.xml", "xl/comments1.xml", "xl/media/image1.png"} <= set(parts(before))
    after = replace(before, "Sheet1")
    gone = set(parts(before)) - set(parts(after))
    assert gone == {
        "xl/worksheets/_rels/sheet1.xml.rels",
        "xl/drawings/drawing1.xml",
        "xl/drawings/_rels/drawing1.xml.rels",
        "xl/charts/chart1.xml",
        "xl/drawings/vmlDrawing1.vml",
        "xl/comments1.xml",
        "xl/tables/table1.xml",
    }
    types = parts(after)[TYPES].decode()
    assert not [name for name in gone if f'"/{name}"' in types]
    kept = {name: raw for name, raw in raw_members(before).items() if name not in gone}
    changed = {WORKBOOK, TYPES, "docProps/custom.xml", "xl/worksheets/sheet1.xml"}
    assert {name for name, raw in kept.items() if raw_members(after)[name] != raw} == changed
    assert len(openpyxl.load_workbook(io.BytesIO(after))["other"]._charts) == 1


def decorated() -> bytes:
    """Two sheets with charts and one image; the first is said to be ours."""
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    for title in ("Sheet1", "other"):
        sheet = book.add_worksheet(title)
        sheet.write_column("A1", ["x", 1, 2])
        chart = book.add_chart({"type": "line"})
        chart.add_series({"values": "=Sheet1!$A$2:$A$3"})
        sheet.insert_chart("C1", chart)
        sheet.insert_image("C20", "dot.png", {"image_data": io.BytesIO(picture())})
        if title == "Sheet1":
            sheet.write_comment("A1", "a comment")
            sheet.add_table("F1:G3")
    book.set_custom_property("sheetarray 1", '{"sheets":{"Sheet1":{}}}')
    book.close()
    return file.getvalue()


def test_the_name_by_which_macros_know_a_sheet_stays() -> None:
    content = replaced(
        append(rich(macros=True)), "xl/worksheets/sheet3.xml", ("<sheetPr>", '<sheetPr codeName="Sheet3">')
    )
    after = replace(content)
    assert b'codeName="Sheet3"' in parts(after)["xl/worksheets/sheet3.xml"]
    unchanged(content, after, may_change={WORKBOOK, "docProps/custom.xml", "xl/worksheets/sheet3.xml"})


@pytest.mark.parametrize(
    ("chain", "goes"),
    [
        ('<c r="C2" i="1"/><c r="C3"/>', False),
        ('<c r="C2" i="1"/><c r="C3"/><c r="D2" i="4"/>', True),
        ('<c r="C2" i="4"/>', True),
        ('<c r="C2" i="1"', True),
    ],
)
def test_the_order_of_formulas_goes_where_the_replaced_sheet_had_some(chain: str, goes: bool) -> None:
    """Excel would find an entry without its formula, and take the workbook for damaged."""
    part = "xl/calcChain.xml"
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    content = with_parts(append(rich()), {part: f'<calcChain xmlns="{space}">{chain}</calcChain>'.encode()})
    override = (
        f'<Override PartName="/{part}" ContentType="application/vnd.openxmlformats-officedocument.calcChain+xml"/>'
    )
    relation = (
        '<Relationship Id="rIdC" Target="calcChain.xml" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/calcChain"/>'
    )
    content = replaced(content, TYPES, ("</Types>", f"{override}</Types>"))
    content = replaced(content, RELATIONS, ("</Relationships>", f"{relation}</Relationships>"))
    unchanged(content, append(content, "more"))
    after = parts(replace(content))
    assert (part in after, override in after[TYPES].decode(), relation in after[RELATIONS].decode()) == (not goes,) * 3


def test_sheets_on_which_the_arrays_went_on_are_left_empty() -> None:
    long = [("a", [1.0]), ("b", [2.0])]
    first = plan_append(Package(rich()), [plan("arrays", long[0]), plan("arrays (2)", long[1])])
    before = saved(first, long[:1], long[1:])
    after = replace(before, columns=[("a", [3.0])])
    book = openpyxl.load_workbook(io.BytesIO(after))
    assert book.sheetnames[-2:] == ["arrays", "arrays (2)"]
    assert [[cell.value for cell in row] for row in book["arrays (2)"]] in ([], [[None]])
    assert set(book.defined_names) == {"total", "a"}
    again = plan_append(
        Package(after), [plan("arrays", long[0]), plan("arrays (2)", long[1])], if_sheet_exists="replace"
    )
    assert (
        parts(saved(again, long[:1], long[1:]))["xl/worksheets/sheet4.xml"] == parts(before)["xl/worksheets/sheet4.xml"]
    )
    assert set(openpyxl.load_workbook(io.BytesIO(saved(again, long[:1], long[1:]))).defined_names) == {
        "total",
        "a",
        "b",
    }
    with pytest.raises(sa.LimitError, match=r"the arrays of the sheet 'arrays' go on in 'arrays \(2\)'"):
        replace(before, "arrays (2)")


def test_a_name_that_its_owner_gave_another_meaning_stays() -> None:
    content = replaced(append(rich()), WORKBOOK, ("'arrays'!$A$2:$A$4", "Report!$A$1"))
    names = openpyxl.load_workbook(io.BytesIO(replace(content))).defined_names
    assert {name: defined.attr_text for name, defined in names.items()} == {
        "total": "'Report'!$B$2:$B$11",
        "t": "Report!$A$1",
        "t_2": "'arrays'!$A$2:$A$4",
        "wind_speed": "'arrays'!$B$2:$B$2",
    }


def test_what_else_the_record_holds_is_kept() -> None:
    before = append(rich(), record={"by": "x", "sheets": {"arrays": {"a": 1}}})
    assert read_record(Package(append(before, "more", record={"sheets": {"more": {"b": 2}}}))) == {
        "by": "x",
        "sheets": {
            "arrays": {"a": 1, "names": ["t", "wind_speed"], "of": "arrays"},
            "more": {"b": 2, "names": ["t_2", "wind_speed_2"], "of": "more"},
        },
    }
    without = replaced(before, WORKBOOK, ('name="arrays"', 'name="renamed"'))
    assert list((read_record(Package(append(without, "more"))) or {})["sheets"]) == ["more"]
