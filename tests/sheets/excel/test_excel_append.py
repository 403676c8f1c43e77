"""Sheets put into workbooks of other programs, and sheets of ours replaced there: what stays, byte for byte."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xlsxwriter
from excel_packages import (
    ARRAYS,
    MAY_CHANGE,
    PIVOT,
    RELATIONS,
    TYPES,
    WORKBOOK,
    WORKBOOKS,
    append,
    names_of,
    ours,
    parts,
    picture,
    raw_members,
    replace,
    replaced,
    rich,
    said,
    small,
    titles,
    unchanged,
    with_parts,
    with_record,
    zipped,
)
from limits import set_limits
from programs import read_by_node, resave

import sheetarray as sa

pytestmark = [  # openpyxl says what it would lose if it saved
    pytest.mark.filterwarnings("ignore:.*extension is not supported:UserWarning")
]
SHEET = "xl/worksheets/sheet3.xml"  # that is put into the workbook of XlsxWriter


def load(content: bytes, **options: Any) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(content), **options)


def cells(sheet: Any) -> list[list[Any]]:
    """The names of arrays in a sheet, and their elements row by row."""
    rows = [[cell.value for cell in row] for row in sheet]
    return [rows[0], *rows[19:]]


# What stays --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WORKBOOKS)
def test_every_other_part_keeps_its_bytes(kind: str) -> None:
    workbook = WORKBOOKS[kind]()
    once = append(workbook)
    added = unchanged(workbook, once)
    sheets = {name for name in added if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name)}
    assert len(sheets) == 1
    assert added - sheets <= {"docProps/custom.xml"}
    twice = append(once, "more", {"t": ARRAYS["t"]})
    assert len(unchanged(once, twice)) == 1
    assert titles(twice) == [*titles(workbook), "arrays", "more"]
    assert append(workbook) == once


@pytest.mark.parametrize("kind", sorted(WORKBOOKS))
def test_openpyxl_reads_the_arrays_and_all_that_was_there(kind: str) -> None:
    workbook = WORKBOOKS[kind]()
    before, after = load(workbook), load(append(workbook))
    assert after.sheetnames == [*before.sheetnames, "arrays"]
    assert cells(after["arrays"]) == [["t", "wind speed"], [1.5, 0.1], [2.5, None], [38.0, None]]
    for old, new in zip(before.worksheets, after.worksheets, strict=False):
        assert [[cell.value for cell in row] for row in old] == [[cell.value for cell in row] for row in new]
        assert old.sheet_state == new.sheet_state
        assert list(old.defined_names) == list(new.defined_names)
    added = {
        name: defined.attr_text for name, defined in after.defined_names.items() if name not in before.defined_names
    }
    assert set(added.values()) == {"'arrays'!$A$20:$A$22", "'arrays'!$B$20:$B$20"}
    assert after.active.title == before.active.title
    assert not after["arrays"].sheet_view.tabSelected


def test_only_what_is_new_is_in_the_changed_parts() -> None:
    """What was there is all there, in its order: taking the new away gives the old, byte for byte."""
    before, after = parts(rich()), parts(append(rich()))
    taken = {
        WORKBOOK: [
            r'<sheet name="arrays" sheetId="4" r:id="rId\d+"/>',
            r"<definedName name=\"t\">'arrays'!\$A\$20:\$A\$22</definedName>",
            r"<definedName name=\"wind_speed\">'arrays'!\$B\$20:\$B\$20</definedName>",
        ],
        RELATIONS: [r'<Relationship Id="rId\d+" Type="[^"]*/worksheet" Target="worksheets/sheet3.xml"/>'],
        TYPES: [r'<Override PartName="/xl/worksheets/sheet3.xml" ContentType="[^"]*worksheet\+xml"/>'],
        "docProps/custom.xml": [r'(<property fmtid="[^"]*" pid="\d+" name="sheetarray \d+">.*?</property>)+'],
    }
    for name, patterns in taken.items():
        text = after[name].decode()
        for pattern in patterns:
            text, count = re.subn(pattern, "", text)
            assert count == 1, (name, pattern)
        assert text == before[name].decode(), name
    assert {name for name in before if before[name] != after[name]} == set(taken)


def test_the_foreign_things_in_a_workbook_part_stay() -> None:
    """What Excel and its guests write beside the schema, in places where a change might go wrong."""
    before = replaced(
        small(),
        WORKBOOK,
        ("<sheet name", '<sheet x15:id="rId9" name'),  # no identifier of a relationship
        ("</sheets>", "\n</sheets><functionGroups/><!-- > --><externalReferences></externalReferences>"),
        (
            "<workbook ",
            '<workbook xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
            'xmlns:x15="http://schemas.microsoft.com/office/spreadsheetml/2010/11/main" mc:Ignorable="x15" ',
        ),
        (
            "<bookViews>",
            '<mc:AlternateContent><mc:Choice Requires="x15"><x15:sheets><x15:sheet name="no"/></x15:sheets>'
            "</mc:Choice></mc:AlternateContent><!-- <sheets></sheets> --><?pi <sheets>?><bookViews>",
        ),
        (
            "</workbook>",
            '<extLst><ext uri="{1}"><x15:a b="&lt;/sheets>" c=\'">/workbook>\'/><definedNames/></ext>'
            "</extLst>\n</workbook >\n<!-- the end -->",
        ),
    )
    text = parts(append(before))[WORKBOOK].decode()
    assert '<sheet name="arrays" sheetId="2" r:id="rId4"/></sheets>' in text
    assert "<externalReferences></externalReferences><definedNames>" in text
    for new in (r'<sheet name="arrays"[^>]*>', r"(?<=ferences>)<definedNames>.*</definedNames>(?=<calc)"):
        text, count = re.subn(new, "", text)
        assert count == 1
    assert text == parts(before)[WORKBOOK].decode()


def test_parts_are_placed_where_no_other_is() -> None:
    content = small()
    for name in ("xl/worksheets/sheet2.xml", "xl/worksheets/Sheet3.XML", "docProps/custom.xml"):
        content = with_parts(content, {name: b"<someone/>"})
    content = replaced(
        content, TYPES, ("</Types>", '<Override PartName="/xl/worksheets/sheet4.xml" ContentType="x/y"/></Types>')
    )
    assert unchanged(content, append(content)) == {"xl/worksheets/sheet5.xml", "docProps/custom1.xml"}
    assert said(append(content)) == []  # of a workbook without its record it says that there is none


def test_a_workbook_may_lie_anywhere_in_its_package() -> None:
    """At the root, with absolute targets and escapes, as other makers have it."""
    before = parts(small())
    moved = {name.removeprefix("xl/").replace("worksheets/", "my sheets/"): part for name, part in before.items()}
    moved["_rels/workbook.xml.rels"] = moved["_rels/workbook.xml.rels"].replace(b'"worksheets/', b'"/my%20sheets/')
    moved["_rels/.rels"] = moved["_rels/.rels"].replace(b'"xl/workbook', b'"./workbook')
    moved[TYPES] = moved[TYPES].replace(b"/xl/worksheets/", b"/my%20sheets/").replace(b"/xl/", b"/")
    content = zipped(moved)  # once: the parts are dated
    after = append(content)
    may_change = {"workbook.xml", "_rels/workbook.xml.rels", "_rels/.rels", TYPES}
    assert unchanged(content, after, may_change=may_change) == {"worksheets/sheet1.xml", "docProps/custom.xml"}
    assert titles(after) == ["Sheet1", "arrays"]
    assert load(after)["arrays"]["A20"].value == 1.5


def test_a_workbook_without_a_window_gets_one() -> None:
    content = replaced(
        small(), WORKBOOK, (re.findall("<bookViews>.*</bookViews>", parts(small())[WORKBOOK].decode())[0], "")
    )
    assert b"<bookViews><workbookView/></bookViews><sheets>" in parts(append(content))[WORKBOOK]
    assert load(append(content))["arrays"]["A20"].value == 1.5


@pytest.mark.fault('An error while `mode="a"` adds a sheet.', "The workbook is as it was, byte for byte.")
@pytest.mark.fault("An error while sheets are written.", "The old workbook is whole.")
@pytest.mark.fault("An error in the middle of a worksheet.", "The old workbook is whole. No other file is left.")
@pytest.mark.fault("A `progress` function of yours raises an error.", "The workbook is as it was.")
@pytest.mark.parametrize("options", [{}, {"mode": "a", "sheet": "two"}])
@pytest.mark.parametrize("at", [0, 1])
def test_a_failure_leaves_the_workbook_as_it_was(tmp_path: Path, options: dict[str, Any], at: int) -> None:
    """Before anything is written, and in the middle of it."""
    path = tmp_path / "x.xlsx"
    path.write_bytes(rich())

    def fail(done: int, total: int) -> None:
        if done >= at:
            raise KeyboardInterrupt(f"{done} of {total}")

    with pytest.raises(KeyboardInterrupt):
        sa.write(path, {"b": np.arange(600_000.0)}, progress=fail, **options)
    with pytest.raises(sa.DTypeError, match="30000"):
        sa.write(path, {"late": np.array([*range(30_000), {"no": "cell"}], object)}, **options)
    assert path.read_bytes() == rich()
    assert list(tmp_path.iterdir()) == [path]


# Names, styles and formulas ----------------------------------------------------------------------------------


def test_names_clash_with_none_that_is_there() -> None:
    arrays = dict.fromkeys(("total", "LOCAL", "sales", "Print_Area", "new"), ARRAYS["t"])
    after = append(rich(), arrays=arrays)
    assert set(names_of(after)) == {"total", "total_2", "LOCAL_2", "sales_2", "_Print_Area", "new"}
    book = load(append(after, "more", {"local": ARRAYS["t"]}))
    assert book["Report"].print_area == "'Report'!$A$1:$C$11"
    assert list(book["Daten & Co"].defined_names) == ["local"]
    assert book["Daten & Co"].print_title_rows == "$1:$1"
    assert not book["more"].defined_names


@pytest.mark.parametrize("style", ["num_format", "bg_color", "italic", "border", "font_color", "align", "locked", ""])
def test_a_style_that_is_more_than_bold_is_not_used(style: str) -> None:
    values = {"num_format": "0.00", "bg_color": "red", "font_color": "red", "align": "center", "locked": False}
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    book.add_worksheet().write(
        "A1", 1, book.add_format({"bold": True} | ({style: values.get(style, 1)} if style else {}))
    )
    book.close()
    assert load(append(file.getvalue()))["arrays"]["A1"].font.b is (not style)


@pytest.mark.parametrize("styles", [None, b"", b"<a/>", b"<styleSheet>", b"<!DOCTYPE a><styleSheet/>"])
def test_styles_that_cannot_be_read_are_left_alone(styles: bytes | None) -> None:
    content = with_parts(rich(), {"xl/styles.xml": styles})
    unchanged(content, append(content))
    assert b' s="' not in parts(append(content))[SHEET]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<calcPr calcId="1"/>', '<calcPr fullCalcOnLoad="1" calcId="1"/>'),
        ('<calcPr fullCalcOnLoad = "0" calcId="1"></calcPr>', '<calcPr fullCalcOnLoad = "1" calcId="1"></calcPr>'),
        ('<calcPr calcMode="manual"/>', '<calcPr calcMode="manual"/>'),
        ("", '<calcPr fullCalcOnLoad="1"/>'),
    ],
)
def test_formulas_are_computed_when_the_workbook_is_opened(old: str, new: str) -> None:
    content = replaced(rich(), WORKBOOK, ('<calcPr calcId="124519" fullCalcOnLoad="1"/>', old))
    assert f"</definedNames>{new}</workbook>" in parts(append(content))[WORKBOOK].decode()


def test_a_new_workbook_says_who_made_it_and_not_when() -> None:
    content = ours()
    assert load(content).properties.creator == "sheetarray"
    assert b"<Application>sheetarray</Application>" in parts(content)["docProps/app.xml"]
    assert b"dcterms" not in parts(content)["docProps/core.xml"]
    assert next(iter(raw_members(content))) == TYPES


# Sheets that are replaced ------------------------------------------------------------------------------------


def test_a_sheet_of_ours_is_replaced_in_its_place() -> None:
    before = append(append(rich()), "more", {"other": np.array([7.0])})
    after = replace(before, "Arrays", {"t": np.array([9.0]), "new": np.array([1.0])})
    book = load(after)
    assert book.sheetnames == ["Report", "Daten & Co", "Diagram", "arrays", "more"]
    assert cells(book["arrays"]) == [["t", "new"], [9.0, 1.0]]
    assert cells(book["more"]) == [["other"], [7.0]]
    assert names_of(after) == {
        "total": "'Report'!$B$2:$B$11",
        "other": "'more'!$A$20:$A$20",
        "t": "'arrays'!$A$20:$A$20",
        "new": "'arrays'!$B$20:$B$20",
    }
    assert not unchanged(before, after, may_change={WORKBOOK, "docProps/custom.xml", SHEET})
    assert said(after) == []
    once = replace(append(rich()))
    assert parts(replace(once)) == parts(once)
    assert parts(replace(rich())) == parts(append(rich()))


def test_the_sheet_in_view_stays_in_view() -> None:
    for first, second in (("arrays", "more"), ("more", "arrays")):
        content = replace(append(ours(sheet=first), second), "arrays")
        assert [sheet.title for sheet in load(content).worksheets if sheet.sheet_view.tabSelected] == [first]


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
    assert len(load(after)["other"]._charts) == 1


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
    content = replaced(append(rich(macros=True)), SHEET, ("<sheetPr>", '<sheetPr codeName="Sheet3">'))
    after = replace(content)
    assert b'codeName="Sheet3"' in parts(after)[SHEET]
    unchanged(content, after, may_change={WORKBOOK, "docProps/custom.xml", SHEET})


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


def test_sheets_on_which_the_arrays_went_on_are_left_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, worksheet_columns=1)
    both = {"a": np.array([1.0]), "b": np.array([2.0])}
    before = append(rich(), arrays=both)
    after = replace(before, arrays={"a": np.array([3.0])})
    book = load(after)
    assert book.sheetnames[-2:] == ["arrays", "arrays (2)"]
    assert [[cell.value for cell in row] for row in book["arrays (2)"]] in ([], [[None]])
    assert set(book.defined_names) == {"total", "a"}
    again = replace(after, arrays=both)
    assert parts(again)["xl/worksheets/sheet4.xml"] == parts(before)["xl/worksheets/sheet4.xml"]
    assert set(names_of(again)) == {"total", "a", "b"}
    with pytest.raises(sa.LimitError, match=r"the arrays of the sheet 'arrays' go on in 'arrays \(2\)'"):
        replace(before, "arrays (2)")


@pytest.mark.parametrize("refers", ["arrays!$C$3", "'arrays'!A1:B2,ARRAYS!$C$3", "arrays!#REF!"])
def test_a_name_of_cells_of_the_replaced_sheet_goes(refers: str) -> None:
    assert "t_2" not in names_of(replace(replaced(append(rich()), WORKBOOK, ("'arrays'!$A$20:$A$22", refers))))


@pytest.mark.parametrize(
    "refers",
    [
        *("Report!$A$1", "arrays!$A$1,Report!$A$1", "$A$1", "SUM(arrays!$A$1)", "arrays!$A$1+1", "1.5", "#REF!"),
        *("arrays!$A$1,", "'" * 8000, "''" * 4000 + "!", "arrays!$A$1," * 1000, "[1]arrays!$A$1"),
        *("'arrays'!$A$1 'arrays'!$B$1", "other"),
    ],
)
def test_a_name_that_its_owner_gave_another_meaning_stays(refers: str) -> None:
    content = replaced(append(rich()), WORKBOOK, ("'arrays'!$A$20:$A$22", refers))
    assert names_of(replace(content)) == {
        "total": "'Report'!$B$2:$B$11",
        "t": refers,
        "t_2": "'arrays'!$A$20:$A$22",
        "wind_speed": "'arrays'!$B$20:$B$20",
    }


# Opened by other programs ------------------------------------------------------------------------------------

SUMS = '<row r="40"><c r="A40"><f>SUM(t)</f></c><c r="B40"><f>wind_speed*2</f></c></row></sheetData>'


def summed(content: bytes) -> bytes:
    """The workbook with formulas over the arrays that are to come."""
    return replaced(content, "xl/worksheets/sheet1.xml", ("</sheetData>", SUMS))


@pytest.mark.parametrize("kind", ["XlsxWriter", "macros", "prefixed"])
def test_libreoffice_opens_the_workbook_and_computes(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("x.xlsm" if kind == "macros" else "x.xlsx")
    path.write_bytes(append(summed(WORKBOOKS[kind]())))
    content = resave(path, "xlsx", tmp_path / "saved").read_bytes()
    book = load(content, data_only=True)
    assert book.sheetnames[-1] == "arrays"
    assert cells(book["arrays"])[:2] == [["t", "wind speed"], [1.5, 0.1]]
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
    path.write_bytes(replace(append(rich(macros=True)), arrays={"t": np.array([7.0])}))
    saved_as = parts(resave(path, "ods", tmp_path / "saved").read_bytes())
    assert b"Sub Hello()" in saved_as["Basic/VBAProject/Module1.xml"]


def test_a_sheet_of_ours_that_libreoffice_saved_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(append(summed(rich())))
    saved_as = resave(path, "xlsx", tmp_path / "saved").read_bytes()
    after = replace(saved_as, arrays={"t": np.array([5.0, 6.0]), "wind speed": np.array([0.1])})
    sheet = next(name for name, part in parts(saved_as).items() if b"<v>38</v>" in part)
    unchanged(saved_as, after, may_change={*MAY_CHANGE, sheet})
    formulas = next(name for name, part in parts(after).items() if b"SUM(t)" in part)
    assert b"<v>42</v>" in parts(after)[formulas]
    path.write_bytes(replaced(after, formulas, ("<v>42</v>", "")))  # LibreOffice trusts a result that is its own
    book = openpyxl.load_workbook(resave(path, "xlsx", tmp_path / "saved"), data_only=True)
    assert book["Report"]["A40"].value == 11.0
    assert {"t", "wind_speed", "total"} <= set(book.defined_names)
    assert "t_2" not in book.defined_names


def test_a_pivot_table_stays_and_goes_with_its_sheet(tmp_path: Path) -> None:
    """The other sheet keeps the cache of a table that was replaced."""
    made = tmp_path / "pivot.fods"
    made.write_text(PIVOT, "utf-8")
    pivoted = resave(made, "xlsx", tmp_path / "made").read_bytes()
    assert {"xl/pivotTables/pivotTable1.xml", "xl/pivotCache/pivotCacheDefinition1.xml"} <= set(parts(pivoted))
    after = append(pivoted)
    unchanged(pivoted, after)
    (tmp_path / "pivot.xlsx").write_bytes(after)
    again = resave(tmp_path / "pivot.xlsx", "xlsx", tmp_path / "again").read_bytes()
    assert b'name="P1"' in parts(again)["xl/pivotTables/pivotTable1.xml"]
    assert load(again)["arrays"]["A22"].value == 38
    without = replace(with_record(after, {"sheets": {"Pivot": {}}}), "Pivot")
    assert set(parts(after)) - set(parts(without)) == {
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
    assert [row[0] for row in [result["arrays"][0], *result["arrays"][19:]]] == ["t", 1.5, 2.5, 38]
    assert list(result) == [*titles(WORKBOOKS[kind]()), "arrays"]


def test_no_more_sheets_are_written_than_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.xlsx"
    frames = {title: pd.DataFrame({"a": [1, 2]}) for title in "xyz"}
    set_limits(monkeypatch, written_sheets=2)
    with pytest.raises(sa.LimitError, match="would have 3 sheets; at most 2 are read"):
        sa.write(path, frames, guard=False)
    assert not path.exists()
    sa.write(path, dict(list(frames.items())[:2]), guard=False)
    before = path.read_bytes()
    with pytest.raises(sa.LimitError, match="would have 3 sheets"):
        sa.write(path, {"b": np.arange(3)}, mode="a", sheet="z", guard=False)
    assert path.read_bytes() == before
    set_limits(monkeypatch, written_sheets=3)
    sa.write(path, {"b": np.arange(3)}, mode="a", sheet="z", guard=False)
    assert list(sa.read(path, ["b"])["b"]) == [0, 1, 2]
