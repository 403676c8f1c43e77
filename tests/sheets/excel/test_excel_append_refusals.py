"""What no sheet is put into, or replaced in: sheets of others, workbooks closed, broken or hostile."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from examples import examples
from excel_packages import (
    RELATIONS,
    TYPES,
    WORKBOOK,
    append,
    parts,
    replace,
    replaced,
    rich,
    small,
    strict,
    titles,
    unchanged,
    with_parts,
    with_record,
    zipped,
)
from hostile import bounded_memory
from programs import resave

import sheetarray as sa
from sheetarray.testing.hostile import mutate

pytestmark = [  # openpyxl says what it would lose if it saved
    pytest.mark.filterwarnings("ignore:.*extension is not supported:UserWarning")
]


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
    assert titles(after) == ["Report", "Daten & Co", "Diagram", "Module1", "arrays"]
    for options in ({}, {"if_sheet_exists": "replace"}):
        with pytest.raises(sa.LimitError, match="'Module1'"):
            append(content, "module1", **options)


def test_titles_that_look_escaped_are_compared_as_they_read() -> None:
    content = replaced(rich(), WORKBOOK, ('name="Report"', 'name="a_x0062_c"'))
    with pytest.raises(sa.LimitError, match="'abc' already"):
        append(content, "ABC")


def test_a_sheet_is_not_ours_where_the_record_was_edited() -> None:
    content = append(rich())
    for record in ({"sheet": {"arrays": {}}}, {"sheets": {"others": {}}}):
        with pytest.raises(sa.LimitError, match="not remember"):
            replace(with_record(content, record))
    with pytest.raises(sa.LimitError, match="not remember"):
        replace(replaced(content, "docProps/custom.xml", ("sheetarray ", "other ")))


@pytest.mark.parametrize("title", [5.0, True, b"arrays", None])
def test_a_title_that_is_no_text_is_a_type_error(title: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    content = append(small())
    path.write_bytes(content)
    calls = [partial(sa.write, arrays=[1.5], mode=mode) for mode in ("w", "a")]
    if title is not None:
        calls += [sa.read, sa.scan, sa.read_columns, lambda path, **options: list(sa.check(path, **options))]
    for call in calls:
        with pytest.raises(TypeError, match=r"the title of a sheet(, as text| or its index.*), not|not None"):
            call(path, sheet=title)
    assert path.read_bytes() == content


def with_relation(content: bytes, part: str, kind: str) -> bytes:
    relation = f'<Relationship Id="rIdX" Target="x" Type="http://schemas.openxmlformats.org/{kind}"/></Relationships>'
    return replaced(content, part, ("</Relationships>", relation))


def protected(attribute: str) -> bytes:
    return replaced(rich(), WORKBOOK, ("<bookViews>", f"<workbookProtection {attribute}/><bookViews>"))


SIGNED, SHARED = (
    "package/2006/relationships/digital-signature/origin",
    "officeDocument/2006/relationships/revisionHeaders",
)
OPEN_XML = "openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
CLOSED: dict[str, tuple[Callable[[], bytes], type[Exception], str]] = {
    "protected": (lambda: protected('lockStructure="1"'), sa.LimitError, "protected"),
    "protected in words": (lambda: protected('lockStructure="true"'), sa.LimitError, "protected"),
    "signed": (lambda: with_relation(rich(), "_rels/.rels", SIGNED), sa.LimitError, "signed"),
    "a signature": (lambda: with_parts(rich(), {"_xmlsignatures/sig1.xml": b"<Signature/>"}), sa.LimitError, "signed"),
    "shared": (lambda: with_relation(rich(), RELATIONS, SHARED), sa.LimitError, "shared"),
    "strict": (lambda: strict(rich()), sa.LimitError, "strict format"),
    "binary": (
        lambda: replaced(rich(), TYPES, (OPEN_XML, "ms-excel.sheet.binary.macroEnabled.main")),
        sa.FormatError,
        r"save it as \.xlsx",
    ),
}


@pytest.mark.parametrize("kind", CLOSED)
def test_a_workbook_that_is_closed_to_new_sheets_is_refused(kind: str) -> None:
    made, error, message = CLOSED[kind]
    with pytest.raises(error, match=message):
        append(made())


def test_a_workbook_whose_sheets_may_change_is_open() -> None:
    for harmless in ('lockStructure="0"', 'lockWindows="1"', ""):
        append(protected(harmless))


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
    "no zip file": lambda: b"PK\3\4 not really",
    "another zip file": lambda: zipped({"a": b"b"}),
    **{f"no {name}": part_of(name, None) for name in (*FRAME[:4], "xl/worksheets/sheet1.xml")},
    **{f"no XML in {name}": part_of(name, b"<a>") for name in FRAME[:5]},
    **{f"another root in {name}": part_of(name, b"<a/>") for name in FRAME[:5]},
    **{f"entities in {name}": part_of(name, DTD + b"<a/>") for name in FRAME},
    "not a list of sheets": edit_of(WORKBOOK, "sheets>", "sheetz>"),
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
        append(BROKEN[kind]())


@pytest.mark.parametrize(
    "part",
    [
        *(WORKBOOK, RELATIONS, TYPES, "_rels/.rels", "docProps/custom.xml", "docProps/app.xml", "xl/styles.xml"),
        *("xl/tables/table1.xml", "xl/worksheets/_rels/sheet3.xml.rels", "xl/worksheets/sheet3.xml"),
    ],
)
def test_mutated_parts(part: str) -> None:
    """An error of ours, or a workbook that is read again; never anything else."""
    source = random.Random(part)
    members = parts(append(rich()))
    members["xl/worksheets/_rels/sheet3.xml.rels"] = members["xl/worksheets/_rels/sheet1.xml.rels"]
    for _ in range(examples(30)):
        content = zipped({**members, part: mutate(members[part], source)}, zipfile.ZIP_STORED)
        for options in ({"if_sheet_exists": "replace"}, {"title": "more"}):
            try:
                made = append(content, **options)  # type: ignore[arg-type]
            except (sa.FormatError, sa.LimitError) as error:
                assert str(error)  # noqa: PT017  (no error is right too)
            else:
                assert titles(made)


def test_a_bomb_in_a_part_that_is_looked_into_is_refused() -> None:
    for part in (*FRAME[:4], "xl/worksheets/_rels/sheet3.xml.rels"):
        content = with_parts(append(rich()), {part: b"<a>" + bytes(2**24)})
        with bounded_memory(), pytest.raises(sa.FormatError, match="at most 16777216 are read"):
            replace(content)


@pytest.mark.parametrize(
    "target",
    [
        *("../../[Content_Types].xml", "/_rels/.rels", "/xl/_rels/workbook.xml.rels", "../workbook.xml"),
        *("sheet3.xml", "../worksheets/sheet1.xml", "../../../../etc/passwd", "", "/", "NULL"),
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
