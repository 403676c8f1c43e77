"""Workbooks that mean harm, or are damaged: a FormatError, soon, and no memory taken on their word."""

from __future__ import annotations

import gc
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from addresses import cell_address
from children import MEBIBYTES, measured, run_limited
from examples import PART, cross, examples
from foreign_books import (
    MAIN,
    begin,
    binary_book,
    binary_cell,
    book,
    columns,
    compound,
    dated,
    document,
    excel97_book,
    excel97_record,
    header,
    heads,
    listed,
    number,
    parts,
    read,
    record,
    rows_of,
    shared,
    styles,
    table_cell,
    table_row,
    text,
    words,
    worksheet,
    zipped,
)
from limits import lower_limits, set_limits
from round_trips import without_loops

import sheetarray as sa
from sheetarray.testing.cases import assert_same

MIB = 2**20
BOMB = f'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "{"&a;" * 1000}"><!ENTITY c "{"&b;" * 1000}">]>'
ARRAY = rows_of(columns(listed("float64", [number(1.5)])))
MILLION = 10**6 // PART
BREAKS = ["entities", "no XML", "other encoding", "cut off", "empty"]
ATTRIBUTES = "".join(f' a{index}="1"' for index in range(300_000 // PART))


# Packages ----------------------------------------------------------------------------------------------------


def test_what_is_no_workbook_is_told_apart() -> None:
    for content, reason in {
        b"": "the file is empty",
        b"a,b\r\n1,2\r\n": "not a workbook: neither",
        b"PK\3\4": "cut off",
        b"%PDF-1.7": "not a workbook: neither.*text is read as .csv",
        b"\xef\xbb\xbf<html><table>": "not a workbook: neither.*HTML or XML, save it as .xlsx there",
        b"\n<?xml version='1.0'?>": "not a workbook: neither.*HTML or XML",
        b"\t\4\6\0\0\0\x10\0": "a version before Excel 5",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "cannot read it",
        zipped({"a.txt": "a"}): "holds no workbook",
        zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<a/>"}): "no worksheets",
    }.items():
        with pytest.raises(sa.FormatError, match=reason):
            heads(content)


def test_a_document_of_another_program_is_no_workbook() -> None:
    made = parts({"arrays": worksheet(ARRAY)})
    made = {
        name.replace("xl/", "word/"): part.replace("xl/workbook.xml", "word/workbook.xml")
        for name, part in made.items()
    }
    made["word/workbook.xml"] = f'<document xmlns="{MAIN}"><body/></document>'
    with pytest.raises(sa.FormatError, match="lists no sheets"):
        heads(zipped(made))


@pytest.mark.parametrize(
    "absent",
    [
        *("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"),
        *("xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"),
    ],
)
def test_missing_parts(absent: str) -> None:
    made = parts({"arrays": worksheet('<row r="1"><c r="A1" t="s"><v>0</v></c></row>')}, strings=shared("<t>x</t>"))
    assert list(heads(zipped(made))) == ["arrays"]
    with pytest.raises(sa.FormatError, match=r"holds no workbook|refers to no part|has no part"):
        heads(zipped({name: part for name, part in made.items() if name != absent}))


@pytest.mark.parametrize(
    "part",
    [
        *("_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"),
        *("xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"),
    ],
)
@pytest.mark.parametrize("how", BREAKS)
def test_parts_that_are_no_plain_xml(part: str, how: str) -> None:
    with pytest.raises(sa.FormatError):
        heads(_with_broken_part(part, how))


@pytest.mark.parametrize("how", BREAKS)
def test_a_broken_list_of_types_stops_a_change_alone(how: str, tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(broken := _with_broken_part("[Content_Types].xml", how))
    assert list(heads(broken)) == ["arrays"]
    with pytest.raises(sa.FormatError):
        sa.write(path, {"t": np.arange(2)}, sheet="more", mode="a")
    assert path.read_bytes() == broken


def _with_broken_part(part: str, how: str) -> bytes:
    """Return a workbook in which a part is no plain XML."""
    cells = '<row r="1"><c r="A1" t="s" s="1"><v>0</v></c><c r="B1" s="1"><v>1</v></c></row>'  # a date asks for styles
    made = parts({"arrays": worksheet(cells)}, strings=shared("<t>x</t>"), formats=styles(14))
    body = made[part].split("?>\n")[-1]
    made[part] = {
        "entities": f"<?xml version='1.0'?>{BOMB}{body.replace('<t>x</t>', '<t>&c;</t>')}",
        "no XML": body[: len(body) // 2] + "<<>>" + body[len(body) // 2 :],
        "other encoding": f"<?xml version='1.0' encoding='EBCDIC-US'?>{body}",
        "cut off": body[: len(body) * 2 // 3],
        "empty": "",
    }[how]
    return zipped(made)


@pytest.mark.parametrize("more", [0, 1])
def test_a_part_has_so_many_elements_and_no_more(more: int) -> None:
    made, name = parts({"arrays": worksheet(ARRAY)}), "xl/_rels/workbook.xml.rels"
    count = 200_000 + more - made[name].count("<") + made[name].count("</")
    made[name] = made[name].replace("</Relationships>", f"{'<x/>' * count}</Relationships>")
    with pytest.raises(sa.FormatError, match="more than 200000 elements") if more else nullcontext():
        assert read(zipped(made))["t"].tolist() == [1.5]


def test_an_encrypted_workbook_says_so() -> None:
    assert "encrypted with a password" in str(_raised(compound({"EncryptedPackage": b"x" * 5000})))
    assert "encrypted with a password" in str(_raised(document({"a": ""}, manifest="<m><encryption-data/></m>")))
    stream = begin(5) + excel97_record(0x2F, bytes(6)) + excel97_record(0x0A)
    assert "encrypted with a password" in str(_raised(compound({"Workbook": stream})))


def _raised(content: bytes) -> sa.FormatError:
    with pytest.raises(sa.FormatError) as caught:
        heads(content)
    return caught.value


def test_sheets_of_one_title_or_one_part() -> None:
    made = parts({"a": worksheet(""), "A": worksheet("")})
    with pytest.raises(sa.FormatError, match="two sheets have the title 'A'"):
        heads(zipped(made))
    made = parts({"a": worksheet(""), "b": worksheet("")})
    made["xl/_rels/workbook.xml.rels"] = made["xl/_rels/workbook.xml.rels"].replace("sheet2.xml", "sheet1.xml")
    with pytest.raises(sa.FormatError, match="'b' refers to the part of another sheet"):
        heads(zipped(made))
    with pytest.raises(sa.FormatError, match="two sheets have the title"):
        heads(document({"a": "", "A": ""}))


def test_a_damaged_part_is_noticed_where_its_xml_is_whole() -> None:
    content = bytearray(zipped({}))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, part in parts({"arrays": worksheet(ARRAY)}).items():
            archive.writestr(name, part)
    content = bytearray(file.getvalue())
    at = content.index(b"<v>1.5</v>")
    content[at + 3 : at + 4] = b"2"
    with pytest.raises(sa.FormatError, match="checksum"):
        read(bytes(content))


# Memory and time ---------------------------------------------------------------------------------------------


def far_apart(count: int) -> bytes:
    """Arrays whose columns have another cell in the last row of the sheet."""
    cells = columns(*(listed("float64", [number(1)], name=f"a{index}") for index in range(count)))
    return book({**cells, **{(1_048_576, index): number(1) for index in range(count)}})


def repeated(rows: int, across: int) -> bytes:
    head = table_row(*(table_cell(f"a{index}") for index in range(across)))
    head += "".join(table_row(table_cell(word, repeated=across)) for word in words("float64", 1))
    return document({"arrays": head + table_row(table_cell(0.5, repeated=across), repeated=rows)})


HARMFUL: dict[str, Callable[[], bytes]] = {
    "two cells, far apart": lambda: book({(1, 0): number(1), (1_048_576, 16_383): number(2)}),
    "a column with a cell at its end": lambda: far_apart(1),
    "columns with a cell at their ends": lambda: far_apart(12),
    "most columns with a cell at their ends": lambda: far_apart(3_000),
    "100 MB of spaces": lambda: book(ARRAY + " " * (100 * MIB // PART)),
    "400 MB of spaces": lambda: book(ARRAY + " " * (400 * MILLION)),
    "400 MB of rows": lambda: book(ARRAY + '<row r="30"/>' * (400 * MILLION // 13)),
    "400 MB of text": lambda: book(ARRAY + ("<c><v>" + "x" * 200) * (400 * MILLION // 206)),
    "100 MB of shared strings": lambda: book(_first_shared(), strings=shared(" " * (100 * MIB // PART))),
    "64 MB of shared strings": lambda: book(_first_shared(), strings=shared(*["<t/>"] * (4 * MIB // PART))),
    "18 MB of rich shared strings": lambda: book(
        _first_shared(), strings=shared(*["<r><t>x</t></r>"] * (600_000 // PART))
    ),
    "shared strings that claim to be many": lambda: book(
        _first_shared(),
        strings=shared("<t>x</t>").replace("<sst ", '<sst count="99999999999" uniqueCount="4294967295" '),
    ),
    "a row that does not end": lambda: book('<row r="1">' + "<c><v>1</v></c>" * (4 * MIB // PART) + "</row>"),
    "rows without numbers": lambda: book("<row><c><v>1</v></c></row>" * (MIB // PART + 1)),
    "one cell over and over": lambda: book(ARRAY + '<row r="20"><c r="A20"><v>1</v></c></row>' * (MIB // PART + 1)),
    "a text of 60 MB": lambda: book({(1, 0): text("x" * (60 * MIB // PART))}),
    "a number of 4 MB": lambda: book(columns(listed("float64", [number("1" * (4 * MIB))]))),
    "a text of 1 MB": lambda: book(columns(listed("string", [text("x" * MIB), text("y")]))),
    "a tag of 60 MB": lambda: book(f'<row r="1"><c r="A1" {" " * (60 * MIB // PART)}><v>1</v></c></row>'),
    "a long tag among short ones": lambda: book(
        f'<row r="1"><c r="A1" {" " * MIB}s="1"><v>1</v></c>'
        + "".join(f'<c r="{cell_address(0, n)}" s="2"><v>1</v></c>' for n in range(1, 9999))
        + "</row>"
    ),
    "elements within elements": lambda: book('<row r="1"><c r="A1">' + "<a>" * MIB + "</a>" * MIB + "</c></row>"),
    "many ways to end a tag": lambda: book(
        "".join(f'<row r="{n}"><c r="A{n}" cm="{n}"><v>1</v></c></row>' for n in range(1, 300_000 // PART))
    ),
    "entities in the sheet": lambda: zipped(
        parts({"arrays": BOMB + worksheet('<row r="1"><c r="A1" t="str"><v>&c;</v></c></row>')})
    ),
    "dimensions beyond measure": lambda: zipped(parts({"arrays": worksheet(ARRAY, before=_DIMENSION, after=_MERGED)})),
    "styles without end": lambda: book(
        columns(listed("float64", dated(1.0))), formats=styles(*["0"] * (132_000 // PART))
    ),
    "sheets without end": lambda: zipped(parts({f"s{index}": "" for index in range(10_000 // PART + 1)})),
    "rows repeated in one column": lambda: repeated(1_048_000 // PART, 1),
    "rows repeated in many columns": lambda: repeated(1_048_000, 16_384),
    "rows repeated in some columns": lambda: repeated(1_000_000 // PART, 5),
    "columns repeated": lambda: document({"a": table_row(table_cell(1.0, repeated=10**9))}),
    "rows repeated beyond the sheet": lambda: document({"a": table_row(table_cell(1.0), repeated=10**9)}),
    "blanks repeated": lambda: document(
        {"a": table_row(table_cell(None, repeated=10**9), table_cell(1.0), repeated=10**9)}
    ),
    "spaces repeated": lambda: document(
        {"a": table_row(table_cell("x").replace("x</", '<text:s text:c="999999999"/></'))}
    ),
    "entities in a document": lambda: _with_content(BOMB),
    "a binary record without end": lambda: binary_book({0: [record(6, b"x")[:-2] + b"\xff\xff\xff\x7f"]}),
    "a binary string without end": lambda: binary_book({0: [binary_cell(6, 0, struct.pack("<I", 2**31))]}),
    "binary cells far away": lambda: binary_book({2**31: [binary_cell(5, 2**31, bytes(8))]}),
    "a chain of sectors in a circle": lambda: _circle(),
    "a table of sectors in a circle": lambda: _patched(
        compound({"Workbook": begin(5)}), 68, struct.pack("<2I", 0, 2**31)
    ),
    "a stream without end": lambda: _patched(
        compound({"Workbook": begin(5) * 600}), 0x400 + 128 + 120, struct.pack("<Q", 2**40)
    ),
}


_DIMENSION = '<dimension ref="A1:XFD1048576"/>'
_MERGED = '<mergeCells count="4294967295">' + '<mergeCell ref="A1:XFD1048576"/>' * 9999 + "</mergeCells>"


def _first_shared() -> str:
    return ARRAY + '<row r="30"><c r="B30" t="s"><v>0</v></c></row>'


def _with_content(prolog: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(document({"a": table_row(table_cell("x"))}))) as archive:
        made = {name: archive.read(name).decode() for name in archive.namelist()}
    made["content.xml"] = prolog + made["content.xml"].split("?>\n")[1].replace("<text:p>x", "<text:p>&c;")
    return zipped(made)


def _patched(content: bytes, at: int, value: bytes) -> bytes:
    return content[:at] + value + content[at + len(value) :]


def _circle() -> bytes:
    content = compound({"Workbook": begin(5) * 600})
    return _patched(content, 512 + 4 * 3, struct.pack("<I", 2))


# Very many of something, which is read or refused.


def changed(part: str, old: str, new: str) -> bytes:
    """A workbook of one array with a change in one of its parts."""
    made = parts({"arrays": worksheet(ARRAY)}, strings=shared("<t>x</t>"), formats=styles(14))
    assert old in made[part]
    made[part] = made[part].replace(old, new, 1)
    return zipped(made)


def sheets_of_one_part(count: int) -> bytes:
    """A workbook that lists its only part many times, by as many relationships."""
    made = parts({"arrays": worksheet(ARRAY)})
    ids = [f"q{index}" for index in range(count)]
    listing = "".join(f'<sheet name="s{index}" sheetId="{index + 2}" r:id="{id_}"/>' for index, id_ in enumerate(ids))
    made["xl/workbook.xml"] = made["xl/workbook.xml"].replace("</sheets>", f"{listing}</sheets>")
    name = "xl/_rels/workbook.xml.rels"
    one = made[name].partition("<Relationship ")[2].partition("/>")[0]
    more = "".join(f"<Relationship {one.replace('rId1', id_)}/>" for id_ in ids)
    made[name] = made[name].replace("</Relationships>", f"{more}</Relationships>")
    return zipped(made)


def odd_rows(count: int) -> str:
    return "".join(f"<row r='{index}'>{'<c><v>1</v></c>' * 100}</row>" for index in range(30, 30 + count))


SHEET, BOOK, STYLES = "xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/styles.xml"
FLOODS: dict[str, Callable[[], bytes]] = {
    "3 M empty rows": lambda: book(ARRAY + "<row/>" * (3 * MILLION)),
    "60,000 sheets of one part": lambda: sheets_of_one_part(60_000 // PART),
    "2 M cells of one address in a row": lambda: book(
        f'{ARRAY}<row r="30">{"<c r=@A30@><v>1</v></c>".replace("@", chr(34)) * (2 * MILLION)}</row>'
    ),
    "2 M blank cells of one address": lambda: book(ARRAY + '<row r="30"><c r="A30"/></row>' * (2 * MILLION)),
    "attributes of a cell": lambda: book(f'{ARRAY}<row r="30"><c r="B30"{ATTRIBUTES}><v>1</v></c></row>'),
    "attributes of a row": lambda: book(f'{ARRAY}<row{ATTRIBUTES} r="30"><c r="B30"><v>1</v></c></row>'),
    "attributes around rows": lambda: changed(SHEET, "<sheetData", f"<sheetData{ATTRIBUTES}"),
    "attributes of a sheet": lambda: changed(SHEET, "<worksheet", f"<worksheet{ATTRIBUTES}"),
    "attributes of a workbook": lambda: changed(BOOK, "<workbook", f"<workbook{ATTRIBUTES}"),
    "attributes of a style": lambda: changed(STYLES, "<xf", f"<xf{ATTRIBUTES}"),
    "attributes of a string": lambda: book(_first_shared(), strings=shared("").replace("<si>", f"<si{ATTRIBUTES}>")),
    "namespaces of a row": lambda: book(f"{ARRAY}<row{ATTRIBUTES.replace(' a', ' xmlns:a')}/>"),
    "relationships": lambda: changed(
        "xl/_rels/workbook.xml.rels",
        "</Relationships>",
        "".join(f'<Relationship Id="q{index}" Type="t" Target="x"/>' for index in range(150_000 // PART))
        + "</Relationships>",
    ),
    "comments among shared strings": lambda: book(
        _first_shared(), strings=shared(*["<t>a</t>"] * (5 * MILLION)).replace("<si>", "<!-- --><si>")
    ),
    "merged cells": lambda: changed(
        SHEET, "</worksheet>", f"<mergeCells>{'<mergeCell/>' * (5 * MILLION)}</mergeCells></worksheet>"
    ),
    "columns before the rows": lambda: changed(
        SHEET, "<sheetData>", f"<cols>{'<col/>' * 3 * MILLION}</cols><sheetData>"
    ),
    "6 M odd cells": lambda: book(ARRAY + odd_rows(60_000 // PART)),
    "6 M odd cells after a comment": lambda: book(f"{ARRAY}<!-- -->{odd_rows(60_000 // PART)}"),
    "comments": lambda: book(ARRAY + f"<!--{'x' * 1000}-->" * (230_000 // PART)),
    "a huge row number": lambda: book(f'{ARRAY}<row r="{"9" * 1000}"/>'),
    "repetition in a document": lambda: document(
        {"a": table_row(table_cell(1.0, repeated=1000), repeated=60) * (3000 // PART)}
    ),
    "3 M cells of a document": lambda: document(
        {"a": "".join(table_row(*map(table_cell, (index / 7, index, f"row {index}"))) for index in range(MILLION))}
    ),
    "empty rows of a document": lambda: document({"a": "<table:table-row/>" * (2 * MILLION)}),
    "tables of a document": lambda: document({f"t{index}": "" for index in range(200_000 // PART)}),
    "spaces of a document": lambda: document(
        {"a": table_row(f"<table:table-cell><text:p>{'<text:s/>' * (2 * MILLION)}</text:p></table:table-cell>")}
    ),
}


def labels(count: int) -> dict[tuple[int, int], Any]:
    """Cells that hold their text themselves, column by column."""
    cell = struct.Struct("<2H3HHBc").pack
    cells = (cell(0x0204, 10, row % 65_536, row // 65_536, 0, 1, 0, b"x") for row in range(2, count))
    return {(0, 0): "a", (1, 0): 1.0, (2, 0): b"".join(cells)}


def packed_rows(count: int) -> dict[tuple[int, int], Any]:
    """Rows of 256 packed numbers."""
    rows = (
        excel97_record(0x00BD, struct.pack("<2H", row, 0) + bytes(6 * 256) + b"\xff\0") for row in range(2, count + 2)
    )
    return {(0, 0): "a", (1, 0): 1.0, (2, 0): b"".join(rows)}


def between_cells(records: bytes) -> bytes:
    return excel97_book({(0, 0): "a", (1, 0): records + excel97_record(0x0203, b"\2" + bytes(13))})


def among_globals(records: bytes) -> bytes:
    return excel97_book({(0, 0): "a", (1, 0): 1.0}, globals_=records)


def string_table(segment: bytes, count: int) -> bytes:
    """A table of shared strings that goes on over many records."""
    return among_globals(
        excel97_record(0x00FC, struct.pack("<2I", MILLION, MILLION)) + excel97_record(0x3C, segment) * count
    )


def shared_formulas(count: int) -> bytes:
    formula = excel97_record(0x0006, struct.pack("<3H", 2, 0, 0) + struct.pack("<BxB3xH", 0, 0, 0xFFFF) + bytes(8))
    return between_cells(formula + excel97_record(0x04BC, bytes(10)) * count)


OLD_FLOODS: dict[str, Callable[[], bytes]] = {
    "5 M numbers packed in rows": lambda: excel97_book(packed_rows(20_000 // PART)),
    "2 M cells of text": lambda: excel97_book(labels(2 * MILLION)),
    "8 M strings in 4,000 records": lambda: string_table(b"\1\0\0a" * 2000, 4000 // PART),
    "wide strings": lambda: string_table(b"\1\0\1a\0" * 1600, 4000 // PART),
    "strings with formats": lambda: string_table(b"\1\0\x08\0\0a" * 1300, 4000 // PART),
    "strings over many records": lambda: string_table(b"\1\0\0", 4 * MILLION),
    "records that hold nothing": lambda: between_cells(excel97_record(0x1234) * (7 * MILLION)),
    "settings that hold nothing": lambda: among_globals(excel97_record(0x1234) * (7 * MILLION)),
    "styles": lambda: among_globals(excel97_record(0x00E0, bytes(20)) * (1_300_000 // PART)),
    "formats": lambda: among_globals(excel97_record(0x041E, struct.pack("<HHB", 200, 1, 0) + b"0") * (3 * MILLION)),
    "sheets within sheets": lambda: between_cells(excel97_record(0x0809, bytes(16)) * (1_500_000 // PART)),
    "blank cells": lambda: between_cells(excel97_record(0x0201, bytes(6)) * (3 * MILLION)),
    "shared formulas": lambda: shared_formulas(2 * MILLION),
}

# What is counted is as many times less where there is as many times less to count, so that it exceeds the same.
_BOUNDS = lower_limits(
    PART,
    *("inflated_worksheet", "block", "inflated_element", "styles", "sheets", "rows_of_cells", "rows_of_worksheet"),
    *("parsed_in_rows", "parsed_in_strings", "legacy_cells"),
)
_SCRIPT = """
import json, sys, warnings
import sheetarray as sa
warnings.simplefilter("ignore")
outcomes, reasons = {}, {}
path, *verbs = sys.argv[1:]
for verb in verbs:
    try:
        result = getattr(sa, verb)(path, format="xlsx")
        errors = [finding for finding in result if finding.severity == "error"] if verb == "check" else []
        outcomes[verb] = "found" if errors else "fine"
    except sa.SheetArrayError as error:
        outcomes[verb] = type(error).__name__
        reasons[verb] = str(error)
print(json.dumps([outcomes, reasons]))
"""
_FINE = {
    "a column with a cell at its end": ("FormatError", "fine"),
    "100 MB of spaces": ("fine", "fine"),
    "64 MB of shared strings": ("fine", "fine"),
    "18 MB of rich shared strings": ("fine", "fine"),
    "shared strings that claim to be many": ("fine", "fine"),
    "dimensions beyond measure": ("fine", "fine"),
    "a text of 1 MB": ("fine", "fine"),
}
_FAR_APART = "cells, so far apart that their columns are"
_MORE_DATA = "expected no more than 1 data cells, found another"
_BEYOND = "a cell beyond the [0-9 rows and]+ (rows|columns) that a sheet has"
_REASONS = {
    "400 MB of spaces": "inflates from",
    "400 MB of rows": "inflates from",
    "400 MB of text": "elements are nested more deeply than in any sheet",
    "a column with a cell at its end": _MORE_DATA,
    "columns with a cell at their ends": _FAR_APART,
    "most columns with a cell at their ends": _FAR_APART,
    "a row that does not end": "a cell beyond the|very many elements",
    "a text of 60 MB": "a cell has more than [0-9]+ characters",
    "elements within elements": "elements are nested more deeply than in any sheet",
    "100 MB of shared strings": "one si has more than",
    "rows without numbers": f"a row beyond the {2**20 // PART} that a sheet has",
    "one cell over and over": "the cell occurs twice in the sheet",
    "a number of 4 MB": "a cell has more than [0-9]+ characters",
    "entities in the sheet": "has a document type definition",
    "styles without end": f"more than {2**17 // PART} styles",
    "sheets without end": f"more than {10_000 // PART} sheets",
    "rows repeated in one column": _MORE_DATA,
    "rows repeated in many columns": "rows repeat to [0-9]+ cells",
    "rows repeated in some columns": _MORE_DATA,
    "columns repeated": _BEYOND,
    "rows repeated beyond the sheet": _BEYOND,
    "blanks repeated": _BEYOND,
    "spaces repeated": "a text has more than 1048576 characters",
    "entities in a document": "has a document type definition",
    "a binary record without end": "cannot read it",
    "a binary string without end": "cannot read it",
    "binary cells far away": "cannot read it|no array",
    "a chain of sectors in a circle": "cannot read it",
    "a table of sectors in a circle": "cannot read it|no worksheets",
    "a stream without end": "cannot read it|no worksheets",
}

# What is as hard to read where it is less of it, and is tried on a part of it, in a part of the time.
IN_PART = {
    *("100 MB of spaces", "400 MB of spaces", "400 MB of rows", "400 MB of text"),
    *("100 MB of shared strings", "rows without numbers", "one cell over and over", "styles without end"),
    *("sheets without end", "rows repeated in one column", "rows repeated in some columns"),
    *("64 MB of shared strings", "18 MB of rich shared strings", "a row that does not end", "a text of 60 MB"),
    *("a tag of 60 MB", "many ways to end a tag"),
}
# `read` is tried on each, and the others, which take a workbook apart in the same way, on a part.
VERBS = cross(HARMFUL, ("read", "check", "scan", "read_columns"), "read", "a column with a cell at its end")
VERBS += [(name, "read") for name in FLOODS] + [(name, "check") for name in [*FLOODS][3 :: 1 if PART == 1 else 6]]


def outcomes_of(path: Path, name: str, content: bytes, *verbs: str) -> tuple[dict[str, str], dict[str, str]]:
    """What becomes of a file by each verb: an error, findings, or nothing; and the texts of the errors."""
    path.write_bytes(content)
    assert path.stat().st_size < 34_000_000
    part, script = (1, _SCRIPT) if name in HARMFUL and name not in IN_PART else (PART, _BOUNDS + _SCRIPT)
    mebibytes = 512 if name in HARMFUL else MEBIBYTES
    child = run_limited(script, path, *verbs, calls=len(verbs), mebibytes=mebibytes, part=part)
    outcomes, reasons = json.loads(child.output)
    return outcomes, reasons


@pytest.mark.slow
@pytest.mark.parametrize("name", [*HARMFUL, *FLOODS])
@measured
def test_harm_is_read_or_refused_within_bounds(tmp_path: Path, name: str) -> None:
    verbs = [verb for harm, verb in VERBS if harm == name]
    outcome, reasons = outcomes_of(tmp_path / "harm.xlsx", name, (HARMFUL | FLOODS)[name](), *verbs)
    reading, scanning = _FINE.get(name, ("FormatError", None)) if name in HARMFUL else (outcome["read"], None)
    assert outcome["read"] == reading in ("fine", "FormatError"), outcome
    missing = "no array of the exchange format" if name in HARMFUL else ""
    assert reading == "fine" or re.search(_REASONS.get(name, missing), reasons["read"])
    checks = {None, "fine" if reading == "fine" else "found"}
    if reading != "fine" and "no array of the exchange format" in reasons["read"]:
        checks.add("fine")  # an ordinary table, of which `check` says what is doubtful
    assert outcome.get("check") in checks, outcome
    assert "scan" not in outcome or scanning in (outcome["scan"], None), outcome


@pytest.mark.slow
@measured
@pytest.mark.parametrize("name", OLD_FLOODS)
def test_a_flood_of_excel_97_is_read_or_refused_within_bounds(tmp_path: Path, name: str) -> None:
    outcome, _ = outcomes_of(tmp_path / "flood.xls", name, OLD_FLOODS[name](), "read_columns")
    assert outcome["read_columns"] == "fine" or (outcome["read_columns"] == "FormatError" and "2 M" not in name)


# What is all alike -------------------------------------------------------------------------------------------


PACKED_WELL: dict[str, Callable[[], np.ndarray[Any, Any]]] = {
    "a long text": lambda: np.full(20_000 // PART, "abcdefghij" * 500),
    "zeros": lambda: np.zeros(MILLION),
    "sevens": lambda: np.full(MILLION, 7),
    "true": lambda: np.ones(MILLION, "bool"),
    "the longest text": lambda: np.full(500 // PART, "x" * 32_767),
    "a short text": lambda: np.full(200_000 // PART, "the same"),
    "complex zeros": lambda: np.zeros((1000 // PART, 1000), "complex64"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKED_WELL)
def test_what_is_written_is_read_however_well_it_packs(name: str) -> None:
    array = PACKED_WELL[name]()
    file = io.BytesIO()
    sa.write(file, {"a": array}, format="xlsx")
    assert_same(sa.read(io.BytesIO(file.getvalue()), format="xlsx")["a"], array)


@pytest.mark.parametrize("count", [17, 18, 19])
def test_how_often_cells_may_refer_to_a_long_text(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, repeated_strings=10_000)
    strings = "z" * 1128, "s" * 128
    cells = [text("a"), *header("string", count), *[' t="s"><v>0</v></c>'] * count]
    many = [text("b"), *header("string", 900), *[' t="s"><v>1</v></c>'] * 900]
    content = book(columns(cells, many), strings=shared(*[f"<t>{string}</t>" for string in strings]))
    if count <= 18:  # 1,000 bytes of each are too long, and may be looked up 8 times besides
        assert {name: set(array.tolist()) for name, array in read(content).items()} == {
            "a": {"z" * 1128},
            "b": {"s" * 128},
        }
        return
    for verb in (sa.read, sa.read_columns):
        with pytest.raises(sa.FormatError, match="long shared strings"):
            verb(io.BytesIO(content), format="xlsx")
    assert any("of 19,000 bytes so far" in finding.message for finding in sa.check(io.BytesIO(content), format="xlsx"))


@pytest.mark.parametrize("more", [-1, 0])
@pytest.mark.parametrize("plain", [True, False])
def test_how_often_a_document_may_repeat_a_long_text(plain: bool, more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, opendocument_repeated=11 + 10 * 100 - 64 + more)
    content = document({"a": table_row(table_cell("x" * 3200), repeated=11)})
    with without_loops() if not plain else nullcontext():
        if more == 0:
            assert sa.read_columns(io.BytesIO(content), format="xlsx", header=False)["A"].tolist() == ["x" * 3200] * 11
        else:
            with pytest.raises(sa.FormatError, match="rows repeat to 1011 cells"):
                sa.read_columns(io.BytesIO(content), format="xlsx", header=False)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_what_a_part_may_inflate_to(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    content = book(ARRAY + " " * 300_000)  # more than a short part has, which is inflated at once
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        part = archive.getinfo("xl/worksheets/sheet1.xml")
    most = part.file_size - 100 * part.compress_size - more
    set_limits(monkeypatch, inflated_worksheet=most, short_worksheet=0)  # short parts are inflated at once
    if more <= 0:
        assert read(content)["t"].tolist() == [1.5]
    else:
        with pytest.raises(sa.FormatError, match="inflates from"):
            read(content)


# Damage ------------------------------------------------------------------------------------------------------


def test_the_packed_bytes_may_not_end_early_or_go_on() -> None:
    rows = worksheet(ARRAY).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(rows) + packer.flush()
    for wrong in (packed[:-10], packed + b"\0" * 10, packed[: len(packed) // 2]):
        made = zipped({**parts({"arrays": "@" * len(rows)})})
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            info = archive.getinfo("xl/worksheets/sheet1.xml")
        start = info.header_offset + 30 + len(info.filename)
        filler = wrong[: info.compress_size].ljust(info.compress_size, b"\0")
        with pytest.raises(sa.FormatError):
            heads(made[:start] + filler + made[start + info.compress_size :])


def test_readings_that_are_given_up_end_by_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reading left half way is cleared away whenever the interpreter comes to it, in whatever thread that is."""
    sa.write(tmp_path / "t.xlsx", {"t": np.arange(60_000.0)})
    gc.set_threshold(20)
    try:
        for _ in range(examples(80)):
            blocks = sa.iter_blocks(tmp_path / "t.xlsx", "t", rows=10)
            cycle: list[Any] = [blocks, next(blocks)]
            cycle.append(cycle)
    finally:
        gc.set_threshold(700, 10, 10)
