"""Workbooks made by hand, part by part and cell by cell, as programs that are not ours could have made them."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from addresses import cell_address

import sheetarray as sa
from sheetarray.columns import Request
from sheetarray.dtypes import from_name
from sheetarray.formats.contract import Source
from sheetarray.sheets.excel.reader.scalars import scalars
from sheetarray.sheets.excel.workbook import Workbook

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


# Cells -------------------------------------------------------------------------------------------------------


def number(text: object) -> str:
    """What follows the reference of a cell that holds a number."""
    return f"><v>{text}</v></c>"


def text(value: str) -> str:
    """What follows the reference of a cell that holds text."""
    return f' t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'


def boolean(value: bool) -> str:
    """What follows the reference of a cell that holds a boolean."""
    return f' t="b"><v>{int(value)}</v></c>'


def dated(*serials: float) -> list[str]:
    """What follows the references of cells of the second style, which hold numbers."""
    return [f' s="1"><v>{serial!r}</v></c>' for serial in serials]


def words(dtype: str, count: int, shape: Sequence[int] | None = None) -> list[str | int]:
    """The header of an array in one column."""
    shape = [count] if shape is None else shape
    strides = [1] * len(shape)
    for index in range(len(shape) - 2, -1, -1):
        strides[index] = strides[index + 1] * shape[index + 1]
    result: list[str | int] = ["version", "1.0.0", "ndarray", "shape", *shape, "strides", *strides, "offset", 0]
    return [*result, "order", "row-major", "dtype", dtype, "length", count, "capacity", count, "data"]


def header(dtype: str, count: int, shape: Sequence[int] | None = None) -> list[str]:
    """The same, as cells."""
    return [number(word) if isinstance(word, int) else text(word) for word in words(dtype, count, shape)]


def listed(dtype: str, data: Sequence[str], *, name: str = "t") -> list[str]:
    """An array with its name, as cells from the top of a column on."""
    return [text(name), *header(dtype, len(data)), *data]


FIRST = len(listed("float64", [])) + 1  # the row in which the data of such an array begin


def columns(*lists: Sequence[str | None], row: int = 1, column: int = 0) -> dict[tuple[int, int], str]:
    """Columns of cells side by side; None is a blank. Rows count from 1, columns from 0."""
    return {
        (row + down, column + across): cell
        for across, cells in enumerate(lists)
        for down, cell in enumerate(cells)
        if cell is not None
    }


def rows_of(cells: Mapping[tuple[int, int], str], *, gap: str = "") -> str:
    """The rows of worksheet XML."""
    rows: dict[int, list[tuple[int, str]]] = {}
    for (row, column), cell in sorted(cells.items()):
        rows.setdefault(row, []).append((column, cell))
    return gap.join(
        f'<row r="{row}">{gap}'
        + gap.join(f'<c r="{cell_address(row - 1, column)}"{cell}' for column, cell in result)
        + f"{gap}</row>"
        for row, result in rows.items()
    )


# Packages ----------------------------------------------------------------------------------------------------


def worksheet(rows: str, *, before: str = "", after: str = "") -> str:
    return f'{_XML}<worksheet xmlns="{MAIN}">{before}<sheetData>{rows}</sheetData>{after}</worksheet>'


def styles(*codes: str | int) -> str:
    """Styles: the first one plain, the others with a format code, or one that is built in."""
    own = [code for code in codes if isinstance(code, str)]
    numbers = [0, *(code if isinstance(code, int) else 164 + own.index(code) for code in codes)]
    listed = "".join(
        f'<numFmt numFmtId="{164 + index}" formatCode={quoteattr(code)}/>' for index, code in enumerate(own)
    )
    used = "".join(f'<xf numFmtId="{number}"/>' for number in numbers)
    return f'{_XML}<styleSheet xmlns="{MAIN}"><numFmts>{listed}</numFmts><cellXfs>{used}</cellXfs></styleSheet>'


def shared(*items: str) -> str:
    """Shared strings, each as the XML within its item."""
    return f'{_XML}<sst xmlns="{MAIN}">{"".join(f"<si>{item}</si>" for item in items)}</sst>'


def parts(
    sheets: Mapping[str, str], *, strings: str | None = None, formats: str | None = None, settings: str = ""
) -> dict[str, str]:
    """The parts of a workbook; the sheets by their titles, as whole parts."""
    relations, listed, types = "", "", ""
    for index, title in enumerate(sheets, 1):
        relations += (
            f'<Relationship Id="rId{index}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{index}.xml"/>'
        )
        listed += f'<sheet name={quoteattr(title)} sheetId="{index}" r:id="rId{index}"/>'
        types += f'<Override PartName="/xl/worksheets/sheet{index}.xml" ContentType="{_TYPE}.worksheet+xml"/>'
    made = {f"xl/worksheets/sheet{index}.xml": sheet for index, sheet in enumerate(sheets.values(), 1)}
    for kind, target, part in (("sharedStrings", "sharedStrings.xml", strings), ("styles", "styles.xml", formats)):
        if part is not None:
            relations += f'<Relationship Id="{kind}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
            made[f"xl/{target}"] = part
    return {
        "[Content_Types].xml": f'{_XML}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" '
        f'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f"{types}</Types>",
        "_rels/.rels": f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{_XML}<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}">{settings}<sheets>{listed}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{relations}'
        "</Relationships>",
        **made,
    }


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    """A zip file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def book(cells: Mapping[tuple[int, int], str] | str, **options: Any) -> bytes:
    """A workbook of one sheet: of its cells, or of the XML of its rows."""
    rows = cells if isinstance(cells, str) else rows_of(cells)
    return zipped(parts({"arrays": worksheet(rows)}, **options))


@contextmanager
def opened(content: bytes, title: str | None = None) -> Iterator[Any]:
    """The first sheet of a workbook, or another, as the adapter reads it."""
    with Source(io.BytesIO(content)) as source, Workbook(source) as book:
        yield book.sheet(book.titles[0] if title is None else title)


def column_of(content: bytes, column: int, *, dtype: str = "float64", first: int = 0, typed: bool = False) -> list[Any]:
    """The cells of a column from a row on, as an array of a dtype asks for them; the reason of one that has none."""
    with opened(content) as sheet:
        (block,) = sheet.blocks([Request(column, first, from_name(dtype))], typed=typed)
        return [getattr(cell, "reason", cell) for cell in block.cells[1]]


def cells_of(runs: Iterable[Any]) -> dict[tuple[int, int], tuple[int, Any, bool]]:
    """Kinds, values and formulas by place of the cells that a reader gives."""
    cells: dict[tuple[int, int], tuple[int, Any, bool]] = {}
    for run in runs:
        assert not run.width or len(run) % run.width == 0
        marks = [False] * len(run) if run.formulas is None else run.formulas.tolist()
        places = zip(run.rows.tolist(), run.columns.tolist(), strict=True)
        texts = [None] * len(run) if run.values is None else run.written().to_list()
        numbers = [None if number != number else number for number in run.numbers.tolist()]
        values = [number if text is None else text for text, number in zip(texts, numbers, strict=True)]
        cells |= zip(places, zip(run.kinds.tolist(), values, marks, strict=True), strict=True)
    return cells


def read(content: bytes, **options: Any) -> dict[str, Any]:
    return sa.read(io.BytesIO(content), format="xlsx", **options)


def _rows_of(sheet: Any) -> list[list[Any]]:
    rows: list[list[Any]] = []
    with sheet.runs() as runs:
        for run in runs:
            cells = scalars(run, from_1904=sheet.from_1904)
            for row, column, cell in zip(run.rows.tolist(), run.columns.tolist(), cells, strict=True):
                rows += ([] for _ in range(row + 1 - len(rows)))
                rows[row] += [None] * (column + 1 - len(rows[row]))
                rows[row][column] = cell
    return rows


def heads(content: bytes) -> dict[str, list[list[Any]]]:
    """All cells of each sheet of a small workbook by their titles, without the blanks at the ends of rows."""
    with Source(io.BytesIO(content)) as source, Workbook(source) as book:
        return {title: _rows_of(book.sheet(title)) for title in book.titles}


def grid(content: bytes, title: str = "arrays") -> list[list[Any]]:
    """The same of one sheet."""
    return heads(content)[title]


# .xlsb -------------------------------------------------------------------------------------------------------


def record(kind: int, content: bytes = b"") -> bytes:
    """A record of a binary workbook."""
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size, length = b"", len(content)
    while True:
        length, unit = length >> 7, length & 0x7F
        size += bytes([unit | (0x80 if length else 0)])
        if not length:
            return head + size + content


def wide(value: str) -> bytes:
    """A text in such a record."""
    raw = value.encode("utf-16-le")
    return struct.pack("<I", len(raw) // 2) + raw


def binary_cell(kind: int, column: int, value: bytes, style: int = 0) -> bytes:
    return record(kind, struct.pack("<2I", column, style) + value)


def binary_book(rows: Mapping[int, Sequence[bytes]], *, strings: Iterable[str] = (), dates: bool = False) -> bytes:
    """A binary workbook of one sheet, whose rows count from 0."""
    base = parts({"arrays": ""})
    listed = record(156, struct.pack("<2I", 0, 1) + wide("rId1") + wide("arrays"))
    workbook = record(131) + record(153, bytes(12)) + record(143) + listed + record(144) + record(132)
    sheet = record(129) + record(148, struct.pack("<4I", min(rows, default=0), max(rows, default=0), 0, 16_383))
    sheet += record(145)
    for row, cells in rows.items():
        sheet += record(0, struct.pack("<I", row) + bytes(9)) + b"".join(cells)
    sheet += record(146) + record(130)
    items = [record(19, b"\0" + wide(value)) for value in strings]
    table = record(159, struct.pack("<2I", len(items), len(items))) + b"".join(items) + record(160)
    style_part = record(617, struct.pack("<I", 2)) + record(47, struct.pack("<2H", 0, 0) + bytes(12))
    style_part += record(47, struct.pack("<2H", 0, 14 if dates else 0) + bytes(12)) + record(618)
    relations = re.sub(r"\.xml\"", '.bin"', base["xl/_rels/workbook.xml.rels"]).replace(
        "</Relationships>",
        f'<Relationship Id="s" Type="{RELATIONS}/sharedStrings" Target="sharedStrings.bin"/>'
        f'<Relationship Id="f" Type="{RELATIONS}/styles" Target="styles.bin"/></Relationships>',
    )
    return zipped(
        {
            "[Content_Types].xml": base["[Content_Types].xml"]
            .replace("/xl/workbook.xml", "/xl/workbook.bin")
            .replace(f"{_TYPE}.sheet.main+xml", "application/vnd.ms-excel.sheet.binary.macroEnabled.main"),
            "_rels/.rels": base["_rels/.rels"].replace("xl/workbook.xml", "xl/workbook.bin"),
            "xl/workbook.bin": workbook,
            "xl/_rels/workbook.bin.rels": relations,
            "xl/worksheets/sheet1.bin": sheet,
            "xl/sharedStrings.bin": table,
            "xl/styles.bin": style_part,
        }
    )


# .ods --------------------------------------------------------------------------------------------------------

_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
_SPACES = "".join(f' xmlns:{name}="{_ODF}{name}:1.0"' for name in ("office", "table", "text"))


def document(tables: Mapping[str, str], *, manifest: str = "<manifest/>") -> bytes:
    """An OpenDocument spreadsheet; the tables by their titles, as the XML within them."""
    listed = "".join(
        f"<table:table table:name={quoteattr(title)}>{rows}</table:table>" for title, rows in tables.items()
    )
    content = (
        f'{_XML}<office:document-content{_SPACES} xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:'
        f'xmlns:calcext:1.0"><office:body><office:spreadsheet>{listed}</office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": manifest,
            "content.xml": content,
        }
    )


def table_row(*cells: str, repeated: int = 1) -> str:
    return f'<table:table-row table:number-rows-repeated="{repeated}">{"".join(cells)}</table:table-row>'


def table_cell(value: str | float | bool | None, *, repeated: int = 1) -> str:
    """A cell of a table."""
    times = f' table:number-columns-repeated="{repeated}"' if repeated > 1 else ""
    if value is None:
        return f"<table:table-cell{times}/>"
    if isinstance(value, str):
        return (
            f'<table:table-cell{times} office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'
        )
    if isinstance(value, bool):
        return f'<table:table-cell{times} office:value-type="boolean" office:boolean-value="{str(value).lower()}"/>'
    return f'<table:table-cell{times} office:value-type="float" office:value="{value!r}"/>'


# .xls --------------------------------------------------------------------------------------------------------


def excel97_record(kind: int, content: bytes = b"") -> bytes:
    """A record of a workbook of Excel 97."""
    return struct.pack("<2H", kind, len(content)) + content


def begin(kind: int, version: int = 0x0600) -> bytes:
    """The record that begins the workbook (5) or a sheet (16)."""
    return excel97_record(0x0809, struct.pack("<2H", version, kind) + bytes(12))


def excel97_text(value: str, count: str = "<H") -> bytes:
    """A text of Excel 97."""
    if all(ord(character) < 256 for character in value):
        return struct.pack(count, len(value)) + b"\0" + value.encode("latin-1")
    raw = value.encode("utf-16-le")
    return struct.pack(count, len(raw) // 2) + b"\1" + raw


def excel97_book(cells: Mapping[tuple[int, int], str | float | bool | bytes], *, globals_: bytes = b"") -> bytes:
    """A workbook of one sheet; rows and columns count from 0. Bytes are records as they are."""
    sheet = begin(16)
    for (row, column), value in cells.items():
        place = struct.pack("<3H", row, column, 0)
        if isinstance(value, bytes):
            sheet += value
        elif isinstance(value, str):
            sheet += excel97_record(0x0204, place + excel97_text(value))
        elif isinstance(value, bool):
            sheet += excel97_record(0x0205, place + bytes([value, 0]))
        else:
            sheet += excel97_record(0x0203, place + struct.pack("<d", value))
    sheet += excel97_record(0x0A)
    title = bytes(2) + excel97_text("arrays", "<B")
    start = len(begin(5)) + len(globals_) + len(excel97_record(0x85, bytes(4) + title)) + len(excel97_record(0x0A))
    whole = begin(5) + globals_ + excel97_record(0x85, struct.pack("<I", start) + title) + excel97_record(0x0A) + sheet
    return compound({"Workbook": whole})


_FREE, _END, _TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD  # in the place of the number of the next sector


def compound(streams: Mapping[str, bytes]) -> bytes:
    """A compound file, with long sectors if there is much in it: its table, its directory, and its streams.

    These are filled up to the 4,096 bytes from which on they have sectors of their own.
    """
    version, power = (3, 9) if sum(map(len, streams.values())) <= 7_000_000 else (4, 12)
    sector, tables = 2**power, 1
    filled = {name: content.ljust(4096, b"\0") for name, content in streams.items()}
    counts = {name: -(-len(content) // sector) for name, content in filled.items()}
    while tables * sector // 4 < tables + 1 + sum(counts.values()):
        tables += 1
    links, entries = [_TABLE] * tables + [_END], [_entry("Root Entry", 5, _END, 0)]
    for name, content in filled.items():
        entries.append(_entry(name, 2, len(links), len(content)))
        links += [*range(len(links) + 1, len(links) + counts[name]), _END]
    assert tables <= 109
    assert len(entries) <= sector // 128
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H", 0x3E, version, 0xFFFE, power, 6)
    head += bytes(6) + struct.pack("<9I", version - 3, tables, tables, 0, 4096, _END, 0, _END, 0)
    head += struct.pack("<109I", *range(tables), *[_FREE] * (109 - tables))
    table = np.array(links + [_FREE] * (tables * sector // 4 - len(links)), "<u4").tobytes()
    sectors = [content.ljust(counts[name] * sector, b"\0") for name, content in filled.items()]
    return head.ljust(sector, b"\0") + table + b"".join(entries).ljust(sector, b"\0") + b"".join(sectors)


def _entry(name: str, kind: int, start: int, size: int) -> bytes:
    raw = name.encode("utf-16-le")
    return raw.ljust(64, b"\0") + struct.pack("<HB49xIQ", len(raw) + 2, kind, start, size)


# Both ---------------------------------------------------------------------------------------------------------

_double, _place97 = struct.Struct("<d").pack, struct.Struct("<3H").pack


def book_of_everything(suffix: str) -> bytes:
    """A workbook with an array, shared strings, formulas, errors, booleans, and numbers shown as dates."""
    flat = ["t", *words("float64", 2), 0.5, -7.0]
    if suffix == "xls":
        cells: dict[tuple[int, int], Any] = {(row, 0): value for row, value in enumerate(flat)}
        for row in range(4):
            cells[row, 2] = excel97_record(0x00FD, _place97(row, 2, 0) + struct.pack("<I", row % 2))
            formula = struct.pack("<BxB3xH", 0, 0, 0xFFFF) + bytes(6) + struct.pack("<H", 5) + bytes(5)
            cells[row, 3] = excel97_record(0x0006, _place97(row, 3, 0) + formula)
            cells[row, 3] += excel97_record(0x0207, excel97_text(f"t{row}"))
            cells[row, 4] = excel97_record(0x0205, _place97(row, 4, 0) + bytes([7, row % 2]))
            cells[row, 5] = excel97_record(0x0203, _place97(row, 5, 1) + _double(43831.5))
            cells[row, 6] = excel97_record(0x00BD, struct.pack("<2H", row, 6) + bytes(6 * 3) + b"\x08\0")
        table = excel97_record(0xFC, struct.pack("<2I", 2, 2) + excel97_text("a") + excel97_text("漢"))
        styles = excel97_record(0x041E, struct.pack("<H", 164) + excel97_text("yyyy"))
        styles += b"".join(excel97_record(0xE0, struct.pack("<2H", 0, code) + bytes(16)) for code in (0, 164))
        return excel97_book(cells, globals_=styles + table)
    rows: dict[int, list[bytes]] = {}
    for row, value in enumerate(flat):
        text = isinstance(value, str)
        rows[row] = [binary_cell(6, 0, wide(value)) if text else binary_cell(5, 0, _double(value))]  # type: ignore[arg-type]
        rows[row] += [
            binary_cell(7, 2, struct.pack("<I", row % 2)),
            binary_cell(8, 3, wide(f"t{row}") + bytes(8)),
            binary_cell(3, 4, b"\7"),
            binary_cell(4, 5, b"\1"),
            binary_cell(2, 6, struct.pack("<i", row << 2 | 2), 1),
            binary_cell(62, 7, b"\1" + wide("rich") + bytes(8)),
        ]
    return binary_book(rows, strings=["a", "漢"], dates=True)
