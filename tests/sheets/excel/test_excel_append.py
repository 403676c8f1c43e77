"""Sheets put into workbooks of other programs: what stays, byte for byte, and what a new workbook holds."""

from __future__ import annotations

import io
import re
from pathlib import Path

import openpyxl
import pytest
import xlsxwriter
from excel_packages import (
    MAY_CHANGE,
    RELATIONS,
    TYPES,
    WORKBOOK,
    WORKBOOKS,
    T,
    U,
    append,
    carry_out,
    ours,
    parts,
    plan,
    raw_members,
    replaced,
    rich,
    saved,
    small,
    unchanged,
    with_parts,
    zipped,
)

from sheetarray.adapters import replacing
from sheetarray.sheets.excel.append import PackageEdit, plan_append, sheet_titles
from sheetarray.sheets.excel.package.markup import Markup
from sheetarray.sheets.excel.package.packing import PackageWriter
from sheetarray.sheets.excel.package.parts import Package
from sheetarray.sheets.excel.package.relations import read_record
from sheetarray.sheets.excel.skeleton import SheetPlan, skeleton

pytestmark = [  # openpyxl says what it would lose if it saved
    pytest.mark.filterwarnings("ignore:.*extension is not supported:UserWarning"),
]


@pytest.fixture(params=WORKBOOKS)
def workbook(request: pytest.FixtureRequest) -> bytes:
    return WORKBOOKS[request.param]()


# What stays --------------------------------------------------------------------------------------------------


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
    assert made.styles.bold is not None
    assert openpyxl.load_workbook(io.BytesIO(saved(made, [T])))["arrays"]["A1"].font.b
    assert plan_append(Package(small()), [plan("arrays", T)]).styles.bold is None


@pytest.mark.parametrize("style", ["num_format", "bg_color", "italic", "border", "font_color", "align", "locked"])
def test_a_style_that_is_more_than_bold_is_not_used(style: str) -> None:
    values = {"num_format": "0.00", "bg_color": "red", "font_color": "red", "align": "center", "locked": False}
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    book.add_worksheet().write("A1", 1, book.add_format({"bold": True, style: values.get(style, 1)}))
    book.close()
    assert plan_append(Package(file.getvalue()), [plan("arrays", T)]).styles.bold is None


@pytest.mark.parametrize("styles", [None, b"", b"<a/>", b"<styleSheet>", b"<!DOCTYPE a><styleSheet/>"])
def test_styles_that_cannot_be_read_are_left_alone(styles: bytes | None) -> None:
    content = with_parts(rich(), {"xl/styles.xml": styles})
    assert plan_append(Package(content), [plan("arrays", T)]).styles.bold is None
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


# Failures ----------------------------------------------------------------------------------------------------


@pytest.mark.fault('An error while `mode="a"` adds a sheet.', "The workbook is as it was, byte for byte.")
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


def test_a_plan_says_what_it_changes() -> None:
    edit = plan_append(Package(rich()), [plan("arrays", T)])
    assert isinstance(edit, PackageEdit)
    assert set(edit.replaced) == MAY_CHANGE - {"docProps/custom.xml", "_rels/.rels"}
    assert not edit.dropped
    assert [(sheet.title, sheet.name) for sheet in edit.sheets] == [("arrays", "xl/worksheets/sheet3.xml")]
