"""Small workbooks that hold very many of something: read or refused within bounds of CPU time and memory; and what
compresses well because it is all alike, which is no bomb."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from children import measured, run_limited
from examples import PART
from foreign_books import (
    book,
    columns,
    document,
    excel97_book,
    excel97_record,
    header,
    listed,
    number,
    parts,
    rows_of,
    shared,
    styles,
    table_cell,
    table_row,
    text,
    worksheet,
    zipped,
)
from limits import get_limit, set_limits

import sheetarray as sa
from sheetarray import loops
from sheetarray.sheets.excel.package.parts import Package
from sheetarray.sheets.excel.reader import parsing
from sheetarray.sheets.excel.reader import strings as shared_strings
from sheetarray.testing.cases import assert_same

MILLION = 10**6 // PART
ARRAY = rows_of(columns(listed("float64", [number(1.5)])))
ATTRIBUTES = "".join(f' a{index}="1"' for index in range(300_000 // PART))


def changed(part: str, old: str, new: str) -> bytes:
    """A workbook of one array with a change in one of its parts."""
    made = parts({"arrays": worksheet(ARRAY)}, strings=shared("<t>x</t>"), formats=styles(14))
    assert old in made[part]
    made[part] = made[part].replace(old, new, 1)
    return zipped(made)


def sheets(count: int, *, relations: bool) -> bytes:
    """A workbook that lists its only part many times."""
    made = parts({"arrays": worksheet(ARRAY)})
    ids = [f"q{index}" if relations else "rId1" for index in range(count)]
    listing = "".join(f'<sheet name="s{index}" sheetId="{index + 2}" r:id="{id_}"/>' for index, id_ in enumerate(ids))
    made["xl/workbook.xml"] = made["xl/workbook.xml"].replace("</sheets>", f"{listing}</sheets>")
    if relations:
        name = "xl/_rels/workbook.xml.rels"
        one = made[name].partition("<Relationship ")[2].partition("/>")[0]
        more = "".join(f"<Relationship {one.replace('rId1', id_)}/>" for id_ in ids)
        made[name] = made[name].replace("</Relationships>", f"{more}</Relationships>")
    return zipped(made)


def with_strings(items: str) -> bytes:
    rows = ARRAY + '<row r="30"><c r="B30" t="s"><v>0</v></c></row>'
    return book(rows, strings=shared("<t>x</t>").replace("<si>", f"{items}<si>", 1))


def odd_rows(count: int) -> str:
    return "".join(f"<row r='{index}'>{'<c><v>1</v></c>' * 100}</row>" for index in range(30, 30 + count))


SHEET, BOOK, STYLES = "xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/styles.xml"
FLOODS: dict[str, Callable[[], bytes]] = {
    "3 M empty rows": lambda: book(ARRAY + "<row/>" * (3 * MILLION)),
    "3 M empty rows of one number": lambda: book(ARRAY + '<row r="50"/>' * (3 * MILLION)),
    "60,000 sheets on one part": lambda: sheets(60_000 // PART, relations=False),
    "60,000 relationships to one part": lambda: sheets(60_000 // PART, relations=True),
    "2 M cells of one address in a row": lambda: book(
        f'{ARRAY}<row r="30">{"<c r=@A30@><v>1</v></c>".replace("@", chr(34)) * (2 * MILLION)}</row>'
    ),
    "2 M cells of one address in rows": lambda: book(
        ARRAY + '<row r="30"><c r="A30"><v>1</v></c></row>' * (2 * MILLION)
    ),
    "2 M blank cells of one address": lambda: book(ARRAY + '<row r="30"><c r="A30"/></row>' * (2 * MILLION)),
    "attributes of a cell": lambda: book(f'{ARRAY}<row r="30"><c r="B30"{ATTRIBUTES}><v>1</v></c></row>'),
    "attributes of a row": lambda: book(f'{ARRAY}<row{ATTRIBUTES} r="30"><c r="B30"><v>1</v></c></row>'),
    "attributes around rows": lambda: changed(SHEET, "<sheetData", f"<sheetData{ATTRIBUTES}"),
    "attributes of a sheet": lambda: changed(SHEET, "<worksheet", f"<worksheet{ATTRIBUTES}"),
    "attributes of a workbook": lambda: changed(BOOK, "<workbook", f"<workbook{ATTRIBUTES}"),
    "attributes of a style": lambda: changed(STYLES, "<xf", f"<xf{ATTRIBUTES}"),
    "attributes of a string": lambda: with_strings(f"<si{ATTRIBUTES}><t>a</t></si>"),
    "namespaces of a row": lambda: book(f"{ARRAY}<row{ATTRIBUTES.replace(' a', ' xmlns:a')}/>"),
    "relationships": lambda: changed(
        "xl/_rels/workbook.xml.rels",
        "</Relationships>",
        "".join(f'<Relationship Id="q{index}" Type="t" Target="x"/>' for index in range(150_000 // PART))
        + "</Relationships>",
    ),
    "shared strings": lambda: with_strings("<si><t>abc</t></si>" * (5 * MILLION)),
    "rich shared strings": lambda: with_strings("<si><r><t>abc</t></r></si>" * (2 * MILLION)),
    "comments among shared strings": lambda: with_strings("<!-- --><si><t>a</t></si>" * (5 * MILLION)),
    "styles": lambda: changed(STYLES, "<xf", "<xf/>" * (3 * MILLION) + "<xf"),
    "merged cells": lambda: changed(
        SHEET, "</worksheet>", f"<mergeCells>{'<mergeCell/>' * (5 * MILLION)}</mergeCells></worksheet>"
    ),
    "columns before the rows": lambda: changed(
        SHEET, "<sheetData>", f"<cols>{'<col/>' * 3 * MILLION}</cols><sheetData>"
    ),
    "6 M odd cells": lambda: book(ARRAY + odd_rows(60_000 // PART)),
    "6 M odd cells after a comment": lambda: book(f"{ARRAY}<!-- -->{odd_rows(60_000 // PART)}"),
    "comments": lambda: book(ARRAY + f"<!--{'x' * 1000}-->" * (230_000 // PART)),
    "cells without references": lambda: book("<row><c><v>1</v></c><c><v>2</v></c></row>" * (3 * MILLION)),
    "elements within elements": lambda: book(
        f'{ARRAY}<row r="30"><c r="A30">{"<is>" * MILLION}{"</is>" * MILLION}</c></row>'
    ),
    "a text of 32 MB": lambda: book({(1, 0): text("x" * (32 * MILLION))}),
    "a huge row number": lambda: book(f'{ARRAY}<row r="{"9" * 1000}"/>'),
    "repetition in a document": lambda: document(
        {"a": table_row(table_cell(1.0, repeated=1000), repeated=60) * (3000 // PART)}
    ),
    "empty rows of a document": lambda: document({"a": "<table:table-row/>" * (2 * MILLION)}),
    "tables of a document": lambda: document({f"t{index}": "" for index in range(200_000 // PART)}),
    "spaces of a document": lambda: document(
        {"a": table_row(f"<table:table-cell><text:p>{'<text:s/>' * (2 * MILLION)}</text:p></table:table-cell>")}
    ),
}

# `check` takes a workbook apart as `read` does; it is tried on one flood of each part, and of each kind of reader.
ALSO_CHECKED = {
    "3 M empty rows",
    "60,000 sheets on one part",
    "2 M cells of one address in rows",
    "attributes of a style",
    "relationships",
    "rich shared strings",
    "merged cells",
    "6 M odd cells after a comment",
    "a text of 32 MB",
    "repetition in a document",
    "spaces of a document",
}
CHECKED = sorted(ALSO_CHECKED)[:: 1 if PART == 1 else 3]


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


EXCEL_97_FLOODS: dict[str, Callable[[], bytes]] = {
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

# What is counted is as many times less, too, so that a flood exceeds what 32 MB of it would exceed.
_BOUNDS = f"""
from sheetarray.sheets.excel.reader import legacy, parsing, strings, worksheet
parsing._INFLATED_ALWAYS //= {PART}
worksheet.MOST_IN_ROWS //= {PART}
legacy._MOST_CELLS //= {PART}
legacy._MOST_RECORDS //= {PART}
legacy._MOST_STRINGS //= {PART}
strings.MOST_IN_STRINGS //= {PART}
"""
_SCRIPT = f"""{_BOUNDS}
import json, sys, warnings
import sheetarray as sa
warnings.simplefilter("ignore")
if sys.argv[2] == "check":
    findings = sa.check(sys.argv[1], format="xlsx")
    outcome = "FormatError" if any(finding.severity == "error" for finding in findings) else "['t']"
else:
    try:
        outcome = str(list(sa.read(sys.argv[1], format="xlsx")))
    except sa.SheetArrayError as error:
        outcome = type(error).__name__
print(json.dumps(outcome))
"""


def test_floods_that_are_checked_too_are_among_them() -> None:
    assert set(FLOODS) > ALSO_CHECKED


@pytest.mark.slow
@measured
@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_is_read_or_refused_within_bounds(tmp_path: Path, name: str) -> None:
    if name.startswith("6 M odd cells") and not loops.COMPILED:
        pytest.skip("without the compiled loops, a million cells take some 6 s, as SECURITY.md says")
    path = tmp_path / "flood.xlsx"
    path.write_bytes(FLOODS[name]())
    assert path.stat().st_size < 32_000_000
    verbs = ("read", "check") if name in CHECKED else ("read",)
    outcomes = {json.loads(run_limited(_SCRIPT, path, verb, part=PART).output) for verb in verbs}
    assert outcomes in ({"FormatError"}, {"['t']"})


_READ_TABLE = f"""{_BOUNDS}
import json, sys, warnings
import sheetarray as sa
warnings.simplefilter("ignore")
try:
    outcome = len(sa.read_columns(sys.argv[1]))
except sa.SheetArrayError as error:
    outcome = type(error).__name__
print(json.dumps(outcome))
"""


@pytest.mark.slow
@measured
@pytest.mark.parametrize("name", EXCEL_97_FLOODS)
def test_a_flood_of_excel_97_is_read_or_refused_within_bounds(tmp_path: Path, name: str) -> None:
    path = tmp_path / "flood.xls"
    path.write_bytes(EXCEL_97_FLOODS[name]())
    assert path.stat().st_size < 34_000_000
    outcome = json.loads(run_limited(_READ_TABLE, path, part=PART).output)
    columns_read = {"2 M cells of text": -(-2 * MILLION // 65_536)}
    assert outcome == columns_read.get(name, outcome)
    assert outcome == "FormatError" or outcome >= 1


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


def test_long_shared_strings_that_are_all_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(
        monkeypatch,
        repeated_strings=get_limit("repeated_strings") // PART,
        inflated_worksheet=get_limit("inflated_worksheet") // PART,
    )
    count = 2500 // PART
    cells = [text("a"), *header("string", count), *[f' t="s"><v>{index}</v></c>' for index in range(count)]]
    content = book(columns(cells), strings=shared(*["<t>" + "z" * 30_000 + "</t>"] * count))
    assert len(content) < 600_000 / PART + 10_000
    assert set(sa.read(io.BytesIO(content), format="xlsx")["a"].tolist()) == {"z" * 30_000}


@pytest.mark.parametrize("count", [17, 18, 19])
def test_how_often_cells_may_refer_to_a_long_text(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, repeated_strings=10_000)
    strings = "z" * 1128, "s" * 128
    cells = [text("a"), *header("string", count), *[' t="s"><v>0</v></c>'] * count]
    many = [text("b"), *header("string", 900), *[' t="s"><v>1</v></c>'] * 900]
    table = shared_strings.SharedTexts(pl.Series(strings))
    assert table.look_up([1] * 900).to_list() == ["s" * 128] * 900
    if count <= 18:  # 1,000 bytes of each are too long, and may be looked up 8 times besides
        assert table.look_up([0] * count).to_list() == ["z" * 1128] * count
        return
    with pytest.raises(sa.FormatError, match="of 19,000 bytes so far"):
        table.look_up([0] * count)
    content = book(columns(cells, many), strings=shared(*[f"<t>{string}</t>" for string in strings]))
    for verb in (sa.read, sa.read_columns):
        with pytest.raises(sa.FormatError, match="long shared strings"):
            verb(io.BytesIO(content), format="xlsx")
    assert any("long shared strings" in finding.message for finding in sa.check(io.BytesIO(content), format="xlsx"))


@pytest.mark.parametrize("more", [-1, 0])
@pytest.mark.parametrize("plain", [True, False])
def test_how_often_a_document_may_repeat_a_long_text(plain: bool, more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, opendocument_repeated=11 + 10 * 100 - 64 + more)
    if not plain:
        monkeypatch.setattr(parsing, "COMPILED", False)
    content = document({"a": table_row(table_cell("x" * 3200), repeated=11)})
    if more == 0:
        assert sa.read_columns(io.BytesIO(content), format="xlsx", header=False)["A"].tolist() == ["x" * 3200] * 11
    else:
        with pytest.raises(sa.FormatError, match="which repetition makes 1011 cells"):
            sa.read_columns(io.BytesIO(content), format="xlsx", header=False)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_what_a_part_may_inflate_to(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = Package(zipped({"a": bytes(MILLION)})).member("a").packed
    set_limits(monkeypatch, inflated_worksheet=MILLION - 100 * packed - more)
    inflating = parsing.inflate_blocks(Package(zipped({"a": bytes(MILLION)})), "a")
    if more <= 0:
        assert sum(map(len, inflating)) == MILLION
    else:
        with pytest.raises(sa.FormatError, match="inflates from"):
            next(inflating)


@pytest.mark.slow
@measured
@pytest.mark.parametrize("what", ["spaces", "rows", "text"])
def test_a_bomb_is_refused_at_once(tmp_path: Path, what: str) -> None:
    piece = {"spaces": " " * 60, "rows": '<row r="30"/>' * 4, "text": "<c><v>" + "x" * 200}[what]
    path = tmp_path / "bomb.xlsx"
    path.write_bytes(book(ARRAY + piece * (400_000_000 // PART // len(piece))))
    outcome = json.loads(run_limited(_SCRIPT, path, "read", mebibytes=512, part=PART).output)
    assert outcome == "FormatError"
