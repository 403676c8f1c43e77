"""Workbooks that mean harm, or are damaged: a FormatError, soon, and no memory taken on their word."""

from __future__ import annotations

import gc
import io
import json
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from addresses import cell_address
from children import SECONDS, measured, run_limited
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
    excel97_record,
    header,
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
from hostile import survive

import sheetarray as sa
from sheetarray.adapters import Source
from sheetarray.sheets.excel.workbook import Workbook

MIB = 2**20
STYLES = 132_000 // PART  # more than are read
BOMB = f'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "{"&a;" * 1000}"><!ENTITY c "{"&b;" * 1000}">]>'
ARRAY = rows_of(columns(listed("float64", [number(1.5)])))


def opened(content: bytes) -> list[str]:
    """The titles in a workbook, each of whose sheets has been read."""
    with Source(io.BytesIO(content)) as source, Workbook(source) as result:
        for title in result.titles:
            result.sheet(title).head(10**6)
        return result.titles


# Packages ----------------------------------------------------------------------------------------------------


def test_what_is_no_workbook_is_told_apart() -> None:
    for content, reason in {
        b"": "the file is empty",
        b"a,b\r\n1,2\r\n": "no workbook: neither",
        b"PK\3\4": "cut off",
        b"%PDF-1.7": "no workbook: neither.*text is read as .csv",
        b"\xef\xbb\xbf<html><table>": "no workbook: neither.*HTML or XML, save it as .xlsx there",
        b"\n<?xml version='1.0'?>": "no workbook: neither.*HTML or XML",
        b"\t\4\6\0\0\0\x10\0": "a version before Excel 5",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "cut off",
        zipped({"a.txt": "a"}): "holds no workbook",
        zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<a/>"}): "no worksheets",
    }.items():
        with pytest.raises(sa.FormatError, match=reason):
            opened(content)


def test_a_document_of_another_program_is_no_workbook() -> None:
    made = parts({"arrays": worksheet(ARRAY)})
    made = {
        name.replace("xl/", "word/"): part.replace("xl/workbook.xml", "word/workbook.xml")
        for name, part in made.items()
    }
    made["word/workbook.xml"] = f'<document xmlns="{MAIN}"><body/></document>'
    with pytest.raises(sa.FormatError, match="lists no sheets"):
        opened(zipped(made))


@pytest.mark.parametrize(
    "absent",
    [
        "[Content_Types].xml",
        "_rels/.rels",
        "xl/workbook.xml",
        "xl/_rels/workbook.xml.rels",
        "xl/worksheets/sheet1.xml",
        "xl/sharedStrings.xml",
    ],
)
def test_missing_parts(absent: str) -> None:
    made = parts({"arrays": worksheet('<row r="1"><c r="A1" t="s"><v>0</v></c></row>')}, strings=shared("<t>x</t>"))
    assert opened(zipped(made)) == ["arrays"]
    with pytest.raises(sa.FormatError, match=r"holds no workbook|refers to no part|has no part"):
        opened(zipped({name: part for name, part in made.items() if name != absent}))


@pytest.mark.parametrize(
    "part",
    [
        "[Content_Types].xml",
        "_rels/.rels",
        "xl/workbook.xml",
        "xl/_rels/workbook.xml.rels",
        "xl/worksheets/sheet1.xml",
        "xl/sharedStrings.xml",
        "xl/styles.xml",
    ],
)
@pytest.mark.parametrize("how", ["entities", "no XML", "other encoding", "cut off", "empty"])
def test_parts_that_are_no_plain_xml(part: str, how: str) -> None:
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
    with pytest.raises(sa.FormatError):
        opened(zipped(made))


def test_an_encrypted_workbook_says_so() -> None:
    assert "encrypted with a password" in str(_raised(compound({"EncryptedPackage": b"x" * 5000})))
    assert "encrypted with a password" in str(_raised(document({"a": ""}, manifest="<m><encryption-data/></m>")))
    stream = begin(5) + excel97_record(0x2F, bytes(6)) + excel97_record(0x0A)
    assert "encrypted with a password" in str(_raised(compound({"Workbook": stream})))


def _raised(content: bytes) -> sa.FormatError:
    with pytest.raises(sa.FormatError) as caught:
        opened(content)
    return caught.value


def test_sheets_of_one_title_or_one_part() -> None:
    made = parts({"a": worksheet(""), "A": worksheet("")})
    with pytest.raises(sa.FormatError, match="two sheets have the title 'A'"):
        opened(zipped(made))
    made = parts({"a": worksheet(""), "b": worksheet("")})
    made["xl/_rels/workbook.xml.rels"] = made["xl/_rels/workbook.xml.rels"].replace("sheet2.xml", "sheet1.xml")
    with pytest.raises(sa.FormatError, match="'b' is another one as well"):
        opened(zipped(made))
    with pytest.raises(sa.FormatError, match="two sheets have the title"):
        opened(document({"a": "", "A": ""}))


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
    "some columns with a cell at their ends": lambda: far_apart(6),
    "columns with a cell at their ends": lambda: far_apart(12),
    "most columns with a cell at their ends": lambda: far_apart(3_000),
    "100 MB of spaces": lambda: book(ARRAY + " " * (100 * MIB // PART)),
    "64 MB of spaces": lambda: book(ARRAY + " " * (60 * MIB // PART)),
    "100 MB of shared strings": lambda: book(_first_shared(), strings=shared(" " * (100 * MIB // PART))),
    "64 MB of shared strings": lambda: book(_first_shared(), strings=shared(*["<t/>"] * (4 * MIB // PART))),
    "30 MB of rich shared strings": lambda: book(_first_shared(), strings=shared(*["<r><t>x</t></r>"] * (MIB // PART))),
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
    "a number of 60 MB": lambda: book(columns(listed("float64", [number("1" * (60 * MIB // PART))]))),
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


# What is counted is as many times less where there is as many times less to count.
_BOUNDS = f"""
from sheetarray.sheets.excel.reader import cells, formats, parsing, worksheet
parsing._INFLATED_ALWAYS //= {PART}
parsing._BLOCK //= {PART}
parsing._LONGEST //= {PART}
formats._MOST_STYLES //= {PART}
cells.MOST_ROWS = worksheet.MOST_ROWS = worksheet.MOST_ROWS // {PART}
cells._MOST_SHEETS //= {PART}
"""
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
    "64 MB of spaces": ("fine", "fine"),
    "64 MB of shared strings": ("fine", "fine"),
    "30 MB of rich shared strings": ("fine", "fine"),
    "shared strings that claim to be many": ("fine", "fine"),
    "dimensions beyond measure": ("fine", "fine"),
    "a text of 1 MB": ("fine", "fine"),
}
_FAR_APART = "cells, so far apart that their columns are"
_MORE_DATA = "expected no more than 1 data cells, found another"
_BEYOND = "a cell beyond the [0-9 rows and]+ (rows|columns) that a sheet has"
_REASONS = {
    "a column with a cell at its end": _MORE_DATA,
    "some columns with a cell at their ends": _MORE_DATA,
    "columns with a cell at their ends": _FAR_APART,
    "most columns with a cell at their ends": _FAR_APART,
    "a row that does not end": "a cell beyond the",
    "a text of 60 MB": "a cell of more than [0-9]+ characters",
    "elements within elements": "elements within elements, more than a sheet has",
    "100 MB of shared strings": "one si of more than",
    "rows without numbers": f"a row beyond the {2**20 // PART} that a sheet has",
    "one cell over and over": "the cell comes twice in the sheet",
    "a number of 4 MB": "a cell of more than [0-9]+ characters",
    "a number of 60 MB": "a number of [0-9]+ characters|a cell of more than [0-9]+ characters",
    "entities in the sheet": "has a document type definition",
    "styles without end": f"more than {2**17 // PART} styles",
    "sheets without end": f"more than {10_000 // PART} sheets",
    "rows repeated in one column": _MORE_DATA,
    "rows repeated in many columns": "which repetition makes [0-9]+ cells",
    "rows repeated in some columns": _MORE_DATA,
    "columns repeated": _BEYOND,
    "rows repeated beyond the sheet": _BEYOND,
    "blanks repeated": _BEYOND,
    "spaces repeated": "a text of more than 1048576 characters",
    "entities in a document": "has a document type definition",
    "a binary record without end": "breaks off within a record of 268435455 bytes",
    "a binary string without end": "a text of 2147483648 characters in 4 bytes of a record",
    "binary cells far away": _BEYOND,
    "a chain of sectors in a circle": "a chain of sectors in the file is broken",
    "a table of sectors in a circle": "the workbook breaks off",
    "a stream without end": "a chain of sectors in the file is broken",
}

# What is as hard to read where it is less of it, and is tried on a part of it, in a part of the time.
IN_PART = {
    "100 MB of spaces",
    "64 MB of spaces",
    "100 MB of shared strings",
    "rows without numbers",
    "one cell over and over",
    "styles without end",
    "sheets without end",
    "rows repeated in one column",
    "rows repeated in some columns",
    "64 MB of shared strings",
    "30 MB of rich shared strings",
    "a row that does not end",
    "a text of 60 MB",
    "a number of 60 MB",
    "a tag of 60 MB",
    "many ways to end a tag",
}
# `read` is tried on each, and the others, which take a workbook apart in the same way, on a part.
VERBS = cross(HARMFUL, ("read", "check", "scan", "read_columns"), "read", "a column with a cell at its end")


@pytest.mark.slow
@pytest.mark.parametrize("name", HARMFUL)
@measured
def test_harm_is_refused_within_half_a_gigabyte(tmp_path: Path, name: str) -> None:
    path = tmp_path / "harm.xlsx"
    path.write_bytes(HARMFUL[name]())
    verbs = [verb for harm, verb in VERBS if harm == name]
    part, script = (PART, _BOUNDS + _SCRIPT) if name in IN_PART else (1, _SCRIPT)
    child = run_limited(script, path, *verbs, seconds=len(verbs) * SECONDS, mebibytes=512, part=part)
    outcome, reasons = json.loads(child.output)
    reading, scanning = _FINE.get(name, ("FormatError", None))
    assert outcome["read"] == reading, outcome
    assert reading == "fine" or re.search(_REASONS.get(name, "no array of the exchange format"), reasons["read"])
    assert outcome.get("check") in (None, "fine" if reading == "fine" else "found"), outcome
    assert "scan" not in outcome or scanning in (outcome["scan"], None), outcome


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
            opened(made[:start] + filler + made[start + info.compress_size :])


def test_header_words_of_any_kind_of_cell() -> None:
    kinds = [
        number("1.5"),
        text("x"),
        ' t="b"><v>1</v></c>',
        ' t="e"><v>#N/A</v></c>',
        "><f>1</f></c>",
        ' s="1"><v>43831</v></c>',
        "/>",
    ]
    good = [text("t"), *header("float64", 1), number(1)]
    source = random.Random(5)
    for _ in range(examples(120)):
        cells: list[str | None] = list(good)
        for _ in range(source.choice((1, 1, 2, 3))):
            cells[source.randrange(len(cells))] = source.choice(kinds)
        survive(book(columns(cells), formats=styles(14)), "xlsx")


def test_readings_that_are_given_up_end_by_themselves() -> None:
    """A reading left half way is cleared away whenever the interpreter comes to it, in whatever thread that is."""
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 60_000))
    content = zipped(parts({"arrays": worksheet(rows)}))
    gc.set_threshold(20)
    try:
        for _ in range(examples(150)):
            with Source(io.BytesIO(content)) as source, Workbook(source) as result:
                run = next(result._container.cells("arrays", numeric=True))
                cycle = [run]
                cycle.append(cycle)  # type: ignore[arg-type]
                assert len(run)
    finally:
        gc.set_threshold(700, 10, 10)
