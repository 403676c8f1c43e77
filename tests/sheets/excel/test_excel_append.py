"""Sheets put into workbooks of other programs: what stays, byte for byte, and what the programs make of the result."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from excel_packages import (
    PIVOT,
    carry_out,
    parts,
    picture,
    plan,
    prefixed,
    raw_members,
    replaced,
    rich,
    saved,
    strict,
    with_parts,
    zipped,
)
from mutations import bounded_memory, mutated
from programs import read_by_node, resave

import sheetarray as sa
from sheetarray.files import replacing
from sheetarray.sheets.excel.append import PackageEdit, plan_append, sheet_titles
from sheetarray.sheets.excel.package.markup import Markup
from sheetarray.sheets.excel.package.packing import PackageWriter
from sheetarray.sheets.excel.package.parts import Package
from sheetarray.sheets.excel.package.properties import read_record
from sheetarray.sheets.excel.skeleton import SheetPlan, skeleton

pytestmark = [  # openpyxl says what it would lose if it saved
    pytest.mark.filterwarnings("ignore:.*extension is not supported:UserWarning"),
]

Columns = Sequence[tuple[str, Sequence[float]]]
T = ("t", [1.5, 2.5, 38.0])
U = ("wind speed", [0.1])
MAY_CHANGE = {
    "[Content_Types].xml",
    "_rels/.rels",
    "xl/workbook.xml",
    "xl/_rels/workbook.xml.rels",
    "docProps/app.xml",
    "docProps/custom.xml",
}
WORKBOOK, RELATIONS, TYPES = "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "[Content_Types].xml"


def append(
    content: bytes,
    title: str = "arrays",
    columns: Columns = (T, U),
    record: Mapping[str, Any] | None = None,
    **options: Any,
) -> bytes:
    edit = plan_append(Package(content), [plan(title, *columns)], **options)
    return saved(edit, columns, record=record)


def replace(content: bytes, title: str = "arrays", columns: Columns = (T, U), **more: Any) -> bytes:
    return append(content, title, columns, if_sheet_exists="replace", **more)


def ours(*titled: tuple[str, Columns]) -> bytes:
    """A new workbook of ours."""
    made = skeleton([plan(title, *columns) for title, columns in titled])
    return saved(made, *(columns for _, columns in titled))


def by_openpyxl() -> bytes:
    book = openpyxl.Workbook()
    book.active["A1"] = "=SUM(t)"
    book.active["A2"] = "text"
    chart = openpyxl.chart.LineChart()
    chart.add_data(openpyxl.chart.Reference(book.active, min_col=1, min_row=1, max_row=2))
    book.active.add_chart(chart)
    book.create_sheet("hidden").sheet_state = "hidden"
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def small(**options: Any) -> bytes:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True, **options})
    book.add_worksheet("Sheet1").write("A1", 1)
    book.close()
    return file.getvalue()


def in_utf16(content: bytes) -> bytes:
    """The same with every part of the workbook's frame in UTF-16."""
    changed: dict[str, bytes | None] = {}
    for name in (WORKBOOK, RELATIONS, TYPES, "_rels/.rels", "docProps/custom.xml", "docProps/app.xml"):
        text = parts(content)[name].decode().replace('encoding="UTF-8"', 'encoding="UTF-16"')
        changed[name] = text.encode("utf-16")
    return with_parts(content, changed)


WORKBOOKS: dict[str, Callable[[], bytes]] = {
    "XlsxWriter": rich,
    "macros": lambda: rich(macros=True),
    "openpyxl": by_openpyxl,
    "prefixed": lambda: prefixed(rich()),
    "strict": lambda: strict(rich()),
    "UTF-16": lambda: in_utf16(rich()),
    "no properties": small,
    "ours": lambda: ours(("first", [T])),
}


@pytest.fixture(params=WORKBOOKS)
def workbook(request: pytest.FixtureRequest) -> bytes:
    return WORKBOOKS[request.param]()


# What stays --------------------------------------------------------------------------------------------------


def unchanged(before: bytes, after: bytes, *, may_change: set[str] = MAY_CHANGE) -> set[str]:
    """Check that all other parts kept their packed bytes; the parts that are new."""
    old, new = raw_members(before), raw_members(after)
    assert set(old) <= set(new)
    for name in set(old) - may_change:
        assert new[name] == old[name], name
    return set(new) - set(old)


def test_every_other_part_keeps_its_bytes(workbook: bytes) -> None:
    added = unchanged(workbook, append(workbook))
    sheets = {name for name in added if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name)}
    assert len(sheets) == 1
    assert added - sheets <= {"docProps/custom.xml"}


def test_another_sheet_changes_no_more_than_the_first(workbook: bytes) -> None:
    once = append(workbook)
    twice = append(once, "more", [T])
    assert len(unchanged(once, twice)) == 1
    assert sheet_titles(Package(twice)) == [*sheet_titles(Package(workbook)), "arrays", "more"]


@pytest.mark.parametrize("kind", sorted(WORKBOOKS.keys() - {"strict"}))  # which openpyxl does not read
def test_openpyxl_reads_the_arrays_and_all_that_was_there(kind: str) -> None:
    workbook = WORKBOOKS[kind]()
    before, after = (openpyxl.load_workbook(io.BytesIO(content)) for content in (workbook, append(workbook)))
    assert after.sheetnames == [*before.sheetnames, "arrays"]
    assert [[cell.value for cell in row] for row in after["arrays"]] == [
        ["t", "wind speed"],
        [1.5, 0.1],
        [2.5, None],
        [38.0, None],
    ]
    for old, new in zip(before.worksheets, after.worksheets, strict=False):
        assert [[cell.value for cell in row] for row in old] == [[cell.value for cell in row] for row in new]
        assert old.sheet_state == new.sheet_state
        assert list(old.defined_names) == list(new.defined_names)
    added = {
        name: defined.attr_text for name, defined in after.defined_names.items() if name not in before.defined_names
    }
    assert set(added.values()) == {"'arrays'!$A$2:$A$4", "'arrays'!$B$2:$B$2"}
    assert after.active.title == before.active.title
    assert after["arrays"].freeze_panes == "A2"
    assert not after["arrays"].sheet_view.tabSelected
    assert after["arrays"].column_dimensions["A"].width == 22


def test_only_what_is_new_is_in_the_changed_parts() -> None:
    """What was there is all there, in its order: taking the new away gives the old, byte for byte."""
    before, after = parts(rich()), parts(append(rich()))
    taken = {
        WORKBOOK: [
            r'<sheet name="arrays" sheetId="4" r:id="rId\d+"/>',
            r"<definedName name=\"t\">'arrays'!\$A\$2:\$A\$4</definedName>",
            r"<definedName name=\"wind_speed\">'arrays'!\$B\$2:\$B\$2</definedName>",
        ],
        RELATIONS: [r'<Relationship Id="rId\d+" Type="[^"]*/worksheet" Target="worksheets/sheet3.xml"/>'],
        TYPES: [r'<Override PartName="/xl/worksheets/sheet3.xml" ContentType="[^"]*worksheet\+xml"/>'],
        "docProps/app.xml": ["<vt:lpstr>arrays</vt:lpstr>"],
        "docProps/custom.xml": [r'<property fmtid="[^"]*" pid="4" name="sheetarray 1">.*?</property>'],
    }
    for name, patterns in taken.items():
        text = after[name].decode()
        for pattern in patterns:
            text, count = re.subn(pattern, "", text)
            assert count == 1, (name, pattern)
        if name == "docProps/app.xml":
            text = text.replace("<vt:i4>3</vt:i4>", "<vt:i4>2</vt:i4>", 1).replace('size="8"', 'size="7"')
        assert text == before[name].decode(), name
    assert {name for name in before if before[name] != after[name]} == set(taken)


def test_the_foreign_things_in_a_workbook_part_stay() -> None:
    """What Excel and its guests write beside the schema, in places where a change might go wrong."""
    before = replaced(
        small(),
        WORKBOOK,
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
    assert read_record(Package(append(content))) is not None


def test_a_workbook_may_lie_anywhere_in_its_package() -> None:
    """At the root, with absolute targets and escapes, as other makers have it."""
    before = parts(small())
    moved = {name.removeprefix("xl/").replace("worksheets/", "my sheets/"): part for name, part in before.items()}
    moved["_rels/workbook.xml.rels"] = moved["_rels/workbook.xml.rels"].replace(b'"worksheets/', b'"/my%20sheets/')
    moved["_rels/.rels"] = moved["_rels/.rels"].replace(b'"xl/workbook', b'"./workbook')
    moved[TYPES] = moved[TYPES].replace(b"/xl/worksheets/", b"/my%20sheets/").replace(b"/xl/", b"/")
    after = append(zipped(moved))
    assert unchanged(
        zipped(moved),
        after,
        may_change={"workbook.xml", "_rels/workbook.xml.rels", "_rels/.rels", TYPES, "docProps/app.xml"},
    ) == {"worksheets/sheet1.xml", "docProps/custom.xml"}
    assert sheet_titles(Package(after)) == ["Sheet1", "arrays"]
    assert openpyxl.load_workbook(io.BytesIO(after))["arrays"]["A2"].value == 1.5


def test_a_workbook_without_a_window_gets_one() -> None:
    content = replaced(
        small(), WORKBOOK, (re.findall("<bookViews>.*</bookViews>", parts(small())[WORKBOOK].decode())[0], "")
    )
    assert b"<bookViews><workbookView/></bookViews><sheets>" in parts(append(content))[WORKBOOK]
    assert openpyxl.load_workbook(io.BytesIO(append(content)))["arrays"]["A2"].value == 1.5


# Names, styles and formulas ----------------------------------------------------------------------------------


def test_names_clash_with_none_that_is_there() -> None:
    columns = [(name, [1.0]) for name in ("total", "LOCAL", "sales", "Print_Area", "new")]
    book = openpyxl.load_workbook(io.BytesIO(append(rich(), columns=columns)))
    assert set(book.defined_names) == {"total", "total_2", "LOCAL_2", "sales_2", "_Print_Area", "new"}


def test_local_names_stay_with_their_sheets() -> None:
    book = openpyxl.load_workbook(io.BytesIO(append(append(rich()), "more", [("local", [1.0])])))
    assert book["Report"].print_area == "'Report'!$A$1:$C$11"
    assert list(book["Daten & Co"].defined_names) == ["local"]
    assert book["Daten & Co"].print_title_rows == "$1:$1"
    assert not book["more"].defined_names


def test_a_bold_style_is_one_that_is_there() -> None:
    made = plan_append(Package(rich()), [plan("arrays", T)])
    assert made.bold is not None
    assert openpyxl.load_workbook(io.BytesIO(saved(made, [T])))["arrays"]["A1"].font.b
    assert plan_append(Package(small()), [plan("arrays", T)]).bold is None


@pytest.mark.parametrize("style", ["num_format", "bg_color", "italic", "border", "font_color", "align", "locked"])
def test_a_style_that_is_more_than_bold_is_not_used(style: str) -> None:
    values = {"num_format": "0.00", "bg_color": "red", "font_color": "red", "align": "center", "locked": False}
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    book.add_worksheet().write("A1", 1, book.add_format({"bold": True, style: values.get(style, 1)}))
    book.close()
    assert plan_append(Package(file.getvalue()), [plan("arrays", T)]).bold is None


@pytest.mark.parametrize("styles", [None, b"", b"<a/>", b"<styleSheet>", b"<!DOCTYPE a><styleSheet/>"])
def test_styles_that_cannot_be_read_are_left_alone(styles: bytes | None) -> None:
    content = with_parts(rich(), {"xl/styles.xml": styles})
    assert plan_append(Package(content), [plan("arrays", T)]).bold is None
    unchanged(content, append(content))


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


# Replacing ---------------------------------------------------------------------------------------------------


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


def with_record(content: bytes, edit: Callable[[str], str]) -> bytes:
    """The workbook with another record, as JSON, the form of older ones."""
    record = read_record(Package(content))
    assert record is not None
    text = edit(json.dumps(record, separators=(",", ":")))
    assert json.loads(text) != record
    part = parts(content)["docProps/custom.xml"].decode()
    part = re.sub(r'<property [^>]*name="sheetarray (?!1")\d+".*?</property>', "", part)
    part = re.sub(
        r'(name="sheetarray 1"[^>]*><vt:lpwstr>)[^<]*', lambda found: found[1] + text.replace('"', "&quot;"), part
    )
    return with_parts(content, {"docProps/custom.xml": part.encode()})


def apart(content: bytes, *titled: str) -> bytes:
    """The workbook, whose sheets are each of a write of its own."""

    def edit(text: str) -> str:
        record = json.loads(text)
        for title in titled:
            record["sheets"][title]["of"] = title
        return json.dumps(record)

    return with_record(content, edit)


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


# Refusing ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("title", ["Report", "REPORT", "daten & co", "diagram"])
def test_a_sheet_of_others_is_neither_doubled_nor_replaced(title: str) -> None:
    with pytest.raises(sa.LimitError, match=r"has a sheet '(Report|Daten & Co|Diagram)' already"):
        append(rich(), title)
    with pytest.raises(sa.LimitError, match="is not replaced: the workbook does not remember"):
        replace(rich(), title)


def test_a_sheet_of_ours_is_not_doubled() -> None:
    with pytest.raises(sa.LimitError, match=r"'arrays' already \(if_sheet_exists='replace'"):
        append(append(rich()), "ARRAYS")


def test_the_place_of_a_module_that_has_no_part_stays() -> None:
    module = '<sheet name="Module1" sheetId="9" state="veryHidden" r:id=""/></sheets>'
    content = replaced(rich(), WORKBOOK, ("</sheets>", module))
    after = append(content)
    unchanged(content, after)
    assert module.removesuffix("</sheets>") in parts(after)[WORKBOOK].decode()
    assert sheet_titles(Package(after)) == ["Report", "Daten & Co", "Diagram", "Module1", "arrays"]
    for options in ({}, {"if_sheet_exists": "replace"}):
        with pytest.raises(sa.LimitError, match="'Module1'"):
            append(content, "module1", **options)


def test_titles_that_look_escaped_are_compared_as_they_read() -> None:
    content = replaced(rich(), WORKBOOK, ('name="Report"', 'name="a_x0062_c"'))
    assert sheet_titles(Package(content))[0] == "abc"
    with pytest.raises(sa.LimitError, match="'abc' already"):
        append(content, "ABC")


def test_a_sheet_is_not_ours_where_the_record_was_edited() -> None:
    content = append(rich())
    for old, new in (('{"sheets"', '{"sheet"'), ('"arrays"', '"others"')):
        with pytest.raises(sa.LimitError, match="not remember"):
            replace(with_record(content, lambda text, old=old, new=new: text.replace(old, new)))
    with pytest.raises(sa.LimitError, match="not remember"):
        replace(replaced(content, "docProps/custom.xml", ("sheetarray 1", "sheetarray 2")))


@pytest.mark.parametrize(
    ("plans", "reason"),
    [
        ([SheetPlan("a/b", [], 1)], "'/'"),
        ([SheetPlan("", [], 1)], "blank"),
        ([SheetPlan("a", [], 1), SheetPlan("A", [], 1)], "two sheets"),
    ],
)
def test_titles_that_cannot_be_are_refused(plans: list[SheetPlan], reason: str) -> None:
    with pytest.raises(sa.LimitError, match=reason):
        plan_append(Package(rich()), plans)
    with pytest.raises(sa.LimitError, match=reason):
        skeleton(plans)


def test_a_workbook_that_is_closed_to_new_sheets_is_refused() -> None:
    for word in ("1", "true"):
        protected = replaced(
            rich(), WORKBOOK, ("<bookViews>", f'<workbookProtection lockStructure="{word}"/><bookViews>')
        )
        with pytest.raises(sa.LimitError, match="protected"):
            append(protected)
    for harmless in ('lockStructure="0"', 'lockWindows="1"', ""):
        append(replaced(rich(), WORKBOOK, ("<bookViews>", f"<workbookProtection {harmless}/><bookViews>")))


def test_a_signed_workbook_is_refused() -> None:
    signature = (
        '<Relationship Id="rIdS" Target="_xmlsignatures/origin.sigs" '
        'Type="http://schemas.openxmlformats.org/package/2006/relationships/digital-signature/origin"/></Relationships>'
    )
    for content in (
        replaced(rich(), "_rels/.rels", ("</Relationships>", signature)),
        with_parts(rich(), {"_xmlsignatures/sig1.xml": b"<Signature/>"}),
    ):
        with pytest.raises(sa.LimitError, match="signed"):
            append(content)


def test_a_shared_workbook_is_refused() -> None:
    history = (
        '<Relationship Id="rIdH" Target="revisions/revisionHeaders.xml" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/revisionHeaders"/></Relationships>'
    )
    content = replaced(rich(), RELATIONS, ("</Relationships>", history))
    for shared in (content, strict(content)):
        with pytest.raises(sa.LimitError, match="shared"):
            append(shared)


def test_a_workbook_of_the_binary_kind_is_refused() -> None:
    binary = replaced(
        rich(),
        TYPES,
        ("openxmlformats-officedocument.spreadsheetml.sheet.main+xml", "ms-excel.sheet.binary.macroEnabled.main"),
    )
    with pytest.raises(sa.FormatError, match=r"save it as \.xlsx"):
        append(binary)


@pytest.mark.parametrize("suffix", ["ods", "xls"])
def test_a_workbook_of_another_format_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(small())
    with pytest.raises(sa.FormatError, match=r"save it as \.xlsx"):
        append(resave(path, suffix, tmp_path / "saved").read_bytes())


def edit_of(name: str, old: str, new: str) -> Callable[[], bytes]:
    return lambda: replaced(rich(), name, (old, new))


def part_of(name: str, content: bytes | None) -> Callable[[], bytes]:
    return lambda: with_parts(rich(), {name: content})


DTD = b'<!DOCTYPE workbook [<!ENTITY a "aaaaaaaaaaaaaaaa">]>'
FRAME = (WORKBOOK, RELATIONS, TYPES, "_rels/.rels", "docProps/custom.xml", "xl/tables/table1.xml")
BROKEN: dict[str, Callable[[], bytes]] = {
    "another zip file": lambda: zipped({"a": b"b"}),
    **{f"no {name}": part_of(name, None) for name in (*FRAME[:4], "xl/worksheets/sheet1.xml")},
    **{f"no XML in {name}": part_of(name, b"<a>") for name in FRAME[:5]},
    **{f"another root in {name}": part_of(name, b"<a/>") for name in FRAME[:5]},
    **{f"entities in {name}": part_of(name, DTD + b"<a/>") for name in FRAME},
    "no list of sheets": edit_of(WORKBOOK, "sheets>", "sheetz>"),
    "a sheet without a part": edit_of(WORKBOOK, 'r:id="rId2"', 'r:id="rId99"'),
    "a sheet outside": edit_of(
        RELATIONS, 'Target="worksheets/sheet1.xml"', 'TargetMode="External" Target="http://a/b"'
    ),
    "another type": edit_of(TYPES, "spreadsheetml.sheet.main+xml", "wordprocessingml.document.main+xml"),
    "properties that are the workbook": edit_of("_rels/.rels", "docProps/custom.xml", WORKBOOK),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_workbook_is_refused_before_anything_is_written(kind: str) -> None:
    with pytest.raises(sa.FormatError):
        plan_append(Package(BROKEN[kind]()), [plan("arrays", T)])


@pytest.mark.parametrize(
    "part",
    [
        WORKBOOK,
        RELATIONS,
        TYPES,
        "_rels/.rels",
        "docProps/custom.xml",
        "docProps/app.xml",
        "xl/styles.xml",
        "xl/tables/table1.xml",
        "xl/worksheets/_rels/sheet3.xml.rels",
        "xl/worksheets/sheet3.xml",
    ],
)
def test_mutated_parts(part: str) -> None:
    """An error of ours, or a workbook that is read again; never anything else."""
    source = random.Random(part)
    members = parts(append(rich()))
    members["xl/worksheets/_rels/sheet3.xml.rels"] = members["xl/worksheets/_rels/sheet1.xml.rels"]
    for _ in range(30):
        content = zipped({**members, part: mutated(members[part], source)}, zipfile.ZIP_STORED)
        for options in ({"if_sheet_exists": "replace"}, {"title": "more"}):
            try:
                made = append(content, columns=[T], **options)  # type: ignore[arg-type]
            except (sa.FormatError, sa.LimitError) as error:
                assert str(error)  # noqa: PT017  (no error is right too)
            else:
                assert sheet_titles(Package(made))


def test_a_bomb_in_a_part_that_is_looked_into_is_refused() -> None:
    for part in (*FRAME[:4], "xl/worksheets/_rels/sheet3.xml.rels"):
        content = with_parts(append(rich()), {part: b"<a>" + bytes(20_000_000)})
        with bounded_memory(), pytest.raises(sa.FormatError, match="of which 16777216 are read"):
            plan_append(Package(content), [plan("arrays", T)], if_sheet_exists="replace")


@pytest.mark.parametrize(
    "target",
    [
        "../../[Content_Types].xml",
        "/_rels/.rels",
        "/xl/_rels/workbook.xml.rels",
        "../workbook.xml",
        "sheet3.xml",
        "../worksheets/sheet1.xml",
        "../../../../etc/passwd",
        "",
        "/",
        "NULL",
    ],
)
def test_no_relationship_of_a_replaced_sheet_takes_what_others_need(target: str) -> None:
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="x:y" Target="{target}"/></Relationships>'
    )
    content = with_parts(append(rich()), {"xl/worksheets/_rels/sheet3.xml.rels": relations.encode()})
    assert set(parts(content)) - set(parts(replace(content))) == {"xl/worksheets/_rels/sheet3.xml.rels"}


def test_relationships_in_a_circle_come_to_an_end() -> None:
    def to(*targets: str) -> bytes:
        entries = "".join(
            f'<Relationship Id="r{index}" Type="x:y" Target="{name}"/>' for index, name in enumerate(targets)
        )
        return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{entries}</Relationships>'.encode()

    content = with_parts(
        append(rich()),
        {
            "xl/worksheets/_rels/sheet3.xml.rels": to("../a", "sheet3.xml"),
            "xl/a": b"",
            "xl/b": b"",
            "xl/_rels/a.rels": to("b", "a"),
            "xl/_rels/b.rels": to("a", "worksheets/sheet3.xml", "worksheets/sheet1.xml"),
        },
    )
    assert set(parts(content)) - set(parts(replace(content))) == {
        "xl/worksheets/_rels/sheet3.xml.rels",
        "xl/a",
        "xl/b",
        "xl/_rels/a.rels",
        "xl/_rels/b.rels",
    }


# Failures ----------------------------------------------------------------------------------------------------


def test_a_failure_leaves_the_workbook_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(rich())

    def fail() -> None:
        edit = plan_append(Package(path.read_bytes()), [plan("arrays", T)])
        with replacing(path, binary=True) as sink:
            writer = PackageWriter(sink)
            edit.write(writer)
            with writer.stream_part(edit.sheets[0].name, expected=10**6) as out:
                out.write(edit.sheets[0].head)
                raise RuntimeError("in mid-stream")

    with pytest.raises(RuntimeError, match="in mid-stream"):
        fail()
    assert path.read_bytes() == rich()
    assert list(tmp_path.iterdir()) == [path]


def test_the_bytes_of_a_workbook_depend_on_nothing_but_its_content(tmp_path: Path) -> None:
    def made() -> bytes:
        with replacing(tmp_path / "x.xlsx", binary=True) as sink:
            carry_out(skeleton([plan("arrays", T)]), PackageWriter(sink), [T])
        return (tmp_path / "x.xlsx").read_bytes()

    assert made() == made() == ours(("arrays", [T]))
    assert append(rich()) == append(rich())


# Our own workbooks -------------------------------------------------------------------------------------------


def test_a_new_workbook_has_all_that_was_planned() -> None:
    made = skeleton([plan("arrays", T, U), plan("Größe & <co>", ("t", [4.0]))])
    content = saved(made, [T, U], [("t", [4.0])], record={"by": 1})
    book = openpyxl.load_workbook(io.BytesIO(content))
    assert book.sheetnames == ["arrays", "Größe & <co>"]
    assert book["arrays"]["A1"].font.b
    assert book["arrays"]["A1"].font.name == book["arrays"]["A2"].font.name
    assert (book["arrays"].freeze_panes, book["arrays"].dimensions) == ("A2", "A1:B4")
    assert {name: defined.attr_text for name, defined in book.defined_names.items()} == {
        "t_1": "'arrays'!$A$2:$A$4",
        "wind_speed": "'arrays'!$B$2:$B$2",
        "t_2": "'Größe & <co>'!$A$2:$A$2",
    }
    assert book.properties.creator == "sheetarray"
    assert b"<Application>sheetarray</Application>" in parts(content)["docProps/app.xml"]
    assert b"dcterms" not in parts(content)["docProps/core.xml"]
    assert read_record(Package(content)) == {
        "by": 1,
        "sheets": {
            "arrays": {"names": ["t_1", "wind_speed"], "of": "arrays"},
            "Größe & <co>": {"names": ["t_2"], "of": "arrays"},
        },
    }
    assert next(iter(raw_members(content))) == TYPES


def test_widths_of_columns_and_sheets_without_names() -> None:
    made = skeleton([SheetPlan("arrays", [10.0, 10.0, 22.5, 10.0], 3, names=False)])
    sheet = openpyxl.load_workbook(io.BytesIO(saved(made, [T])))["arrays"]
    widths = [(column.min, column.max, column.width) for column in sheet.column_dimensions.values()]
    assert widths == [(1, 2, 10.0), (3, 3, 22.5), (4, 4, 10.0)]
    assert sheet.freeze_panes is None


def test_a_workbook_of_very_many_columns_is_planned() -> None:
    count = 16_384
    made = skeleton(
        [
            SheetPlan(
                "arrays", [22.0] * count, 30, [(f"a {index}", f"$A${index}:$A${index}") for index in range(1, count)]
            )
        ]
    )
    assert b'ref="A1:XFD30"' in made.sheets[0].head
    assert made.sheets[0].head.count(b"<col ") == 1
    assert len(Markup(made.parts[WORKBOOK], location=WORKBOOK).root.children) > 3


# In LibreOffice and under Node -------------------------------------------------------------------------------


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
    assert {"xl/media/image1.png", "xl/charts/chart2.xml"} <= set(parts(content))
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


def test_a_pivot_table_stays(tmp_path: Path) -> None:
    made = tmp_path / "pivot.fods"
    made.write_text(PIVOT, "utf-8")
    before = resave(made, "xlsx", tmp_path / "made").read_bytes()
    assert {"xl/pivotTables/pivotTable1.xml", "xl/pivotCache/pivotCacheDefinition1.xml"} <= set(parts(before))
    after = append(before)
    unchanged(before, after)
    made = tmp_path / "pivot.xlsx"
    made.write_bytes(after)
    again = resave(made, "xlsx", tmp_path / "again").read_bytes()
    assert b'name="P1"' in parts(again)["xl/pivotTables/pivotTable1.xml"]
    assert openpyxl.load_workbook(io.BytesIO(again))["arrays"]["A4"].value == 38


def test_a_replaced_sheet_loses_its_pivot_table_and_the_other_sheet_keeps_its_cache(tmp_path: Path) -> None:
    made = tmp_path / "pivot.fods"
    made.write_text(PIVOT, "utf-8")
    before = resave(made, "xlsx", tmp_path / "made").read_bytes()
    part = with_record(append(before), lambda text: text.replace('"sheets":{', '"sheets":{"Pivot":{},'))
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
    found = read_by_node(reader, path)
    assert [row[0] for row in found["arrays"]] == ["t", 1.5, 2.5, 38]
    assert list(found) == [*sheet_titles(Package(WORKBOOKS[kind]())), "arrays"]


def test_a_plan_says_what_it_changes() -> None:
    edit = plan_append(Package(rich()), [plan("arrays", T)])
    assert isinstance(edit, PackageEdit)
    assert set(edit.replaced) == MAY_CHANGE - {"docProps/custom.xml", "_rels/.rels"}
    assert not edit.dropped
    assert [(sheet.title, sheet.name) for sheet in edit.sheets] == [("arrays", "xl/worksheets/sheet3.xml")]
