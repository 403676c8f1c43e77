"""Workbooks of other programs, their packages, and sheets put into them."""

from __future__ import annotations

import datetime
import io
import json
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import openpyxl
import xlsxwriter
from openpyxl.utils import get_column_letter

import sheetarray as sa
from sheetarray.sheets.excel.append import PackageEdit, plan_append
from sheetarray.sheets.excel.package.packing import PackageWriter
from sheetarray.sheets.excel.package.parts import Package
from sheetarray.sheets.excel.package.relations import read_record
from sheetarray.sheets.excel.skeleton import SheetPlan, WorkbookSkeleton, skeleton

# Workbooks of other programs, their packages, and sheets put into them.

# A macro project, made byte by byte: a compound file with the streams that MS-OVBA asks for.
#
# Sources: [MS-CFB] (compound files, version 3), [MS-OVBA] 2.3 (streams of a project) and 2.4.1 (their compression).

_SECTOR, _MINI = 512, 64
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_NONE = 0xFFFFFFFF
_SMALL = 4096  # streams below this lie in the mini stream


def project(modules: dict[str, str], documents: tuple[str, ...] = ("ThisWorkbook", "Sheet1")) -> bytes:
    """A `vbaProject.bin` with modules by name, and an empty module for each document."""
    sources = {
        **{
            name: f'Attribute VB_Name = "{name}"\r\nAttribute VB_Base = "0{{00020820-0000-0000-C000-000000000046}}"\r\n'
            "Attribute VB_PredeclaredId = True\r\nAttribute VB_Exposed = True\r\n"
            for name in documents
        },
        **{name: f'Attribute VB_Name = "{name}"\r\n{text}' for name, text in modules.items()},
    }
    listed = [f"Document={name}/&H00000000" for name in documents] + [f"Module={name}" for name in modules]
    text = "\r\n".join(
        [
            'ID="{00000000-0000-0000-0000-000000000000}"',
            *listed,
            'Name="VBAProject"',
            'HelpContextID="0"',
            'VersionCompatible32="393222000"',
            "",
            "[Host Extender Info]",
            "&H00000001={3832D640-CF90-11CF-8E43-00A0C911005A};VBE;&H00000000",
            "",
        ]
    )
    streams = {
        "VBA/dir": _compressed(_dir(sources, set(documents))),
        "VBA/_VBA_PROJECT": bytes.fromhex("cc61ffff000000"),
        **{f"VBA/{name}": _compressed(source.encode("cp1252")) for name, source in sources.items()},
        "PROJECT": text.encode("cp1252"),
    }
    return _compound(streams)


def _dir(sources: dict[str, str], documents: set[str]) -> bytes:
    """The stream that lists the modules."""

    def record(id_: int, content: bytes = b"") -> bytes:
        return struct.pack("<HI", id_, len(content)) + content

    def both(id_: int, wide: int, content: str) -> bytes:
        return record(id_, content.encode("cp1252")) + record(wide, content.encode("utf-16-le"))

    long, short = struct.Struct("<I").pack, struct.Struct("<H").pack
    made = [
        record(0x01, long(1)),
        record(0x02, long(0x409)),
        record(0x14, long(0x409)),
        record(0x03, short(1252)),
        record(0x04, b"VBAProject"),
        both(0x05, 0x40, ""),
        both(0x06, 0x3D, ""),
        record(0x07, long(0)),
        record(0x08, long(0)),
        struct.pack("<HIIH", 0x09, 4, 1, 1),
        both(0x0C, 0x3C, ""),
        record(0x0F, short(len(sources))),
        record(0x13, short(0xFFFF)),
    ]
    for name in sources:
        made += [
            both(0x19, 0x47, name),
            both(0x1A, 0x32, name),
            both(0x1C, 0x48, ""),
            record(0x31, long(0)),
            record(0x1E, long(0)),
            record(0x2C, short(0xFFFF)),
            record(0x22 if name in documents else 0x21),
            record(0x2B),
        ]
    return b"".join([*made, record(0x10)])


def _compressed(content: bytes) -> bytes:
    """MS-OVBA's container, with literals only."""
    made = [b"\1"]
    for start in range(0, len(content), 3500):
        piece = content[start : start + 3500]
        tokens = b"".join(b"\0" + piece[at : at + 8] for at in range(0, len(piece), 8))
        made += [struct.pack("<H", len(tokens) + 2 - 3 | 0xB000), tokens]
    return b"".join(made)


def _compound(streams: dict[str, bytes]) -> bytes:
    """A compound file with the storage VBA and these streams, all in the mini stream."""
    assert all(len(content) < _SMALL for content in streams.values())
    mini, chain, firsts = b"", [], {}
    for name, content in streams.items():
        count = -(-len(content) // _MINI)
        firsts[name] = len(chain)
        chain += [*range(len(chain) + 1, len(chain) + count), _END]
        mini += content.ljust(count * _MINI, b"\0")
    inner = [name for name in streams if "/" in name]
    outer = [name for name in streams if "/" not in name]
    order = ["", "VBA", *inner, *outer]
    entries = []
    for index, name in enumerate(order):
        beside = _next_sibling(index, order, inner)
        if index == 0:
            entries.append(_entry("Root Entry", 5, _NONE, 1, 0, len(mini)))
        elif index == 1:
            entries.append(_entry("VBA", 1, beside, 2, 0, 0))
        else:
            entries.append(_entry(name.rpartition("/")[2], 2, beside, _NONE, firsts[name], len(streams[name])))
    entries += [bytes(68) + struct.pack("<3I", _NONE, _NONE, _NONE) + bytes(48)] * (-len(entries) % 4)
    directory = b"".join(entries)
    mini = mini.ljust(-(-len(mini) // _SECTOR) * _SECTOR, b"\0")
    mini_fat = struct.pack(f"<{len(chain)}I", *chain)
    mini_fat = mini_fat.ljust(-(-len(mini_fat) // _SECTOR) * _SECTOR, b"\xff")
    # sectors: the FAT, the mini stream, the directory, the mini FAT
    fat, starts = [_FAT], []
    for part in (mini, directory, mini_fat):
        starts.append(len(fat))
        count = len(part) // _SECTOR
        fat += [*range(len(fat) + 1, len(fat) + count), _END]
    assert len(fat) <= _SECTOR // 4
    fat += [_FREE] * (_SECTOR // 4 - len(fat))
    directory = directory[:116] + struct.pack("<I", starts[0]) + directory[120:]
    header = struct.pack(
        "<8s16s5H6s9I",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        bytes(16),
        0x3E,
        3,
        0xFFFE,
        9,
        6,
        bytes(6),
        0,
        1,
        starts[1],
        0,
        _SMALL,
        starts[2],
        len(mini_fat) // _SECTOR,
        _END,
        0,
    ) + struct.pack("<109I", 0, *[_FREE] * 108)
    return header + struct.pack(f"<{len(fat)}I", *fat) + mini + directory + mini_fat


def _next_sibling(index: int, order: list[str], inner: list[str]) -> int:
    """The tree of siblings, drawn as a list: each entry's right one is the next of the same storage."""
    if index == 0:
        return _NONE
    last = 1 + len(inner)
    if index == 1:
        return last + 1 if last + 1 < len(order) else _NONE
    return index + 1 if index not in (last, len(order) - 1) else _NONE


def _entry(name: str, kind: int, right: int, child: int, first: int, size: int) -> bytes:
    wide = (name + "\0").encode("utf-16-le")
    return struct.pack(
        "<64sHBB3I16sI8s8sIQ",
        wide.ljust(64, b"\0"),
        len(wide),
        kind,
        1,
        _NONE,
        right,
        child,
        bytes(16),
        0,
        bytes(8),
        bytes(8),
        first,
        size,
    )


# Workbooks of other programs, for the tests of packages, and a look into a zip file that is not ours.

_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

MACRO = 'Sub Hello()\r\n    Range("A1").Value = "Hello"\r\nEnd Sub\r\n'


class Raw(NamedTuple):
    """A member as it is packed."""

    method: int
    crc: int
    size: int
    packed: bytes


def raw_members(content: bytes) -> dict[str, Raw]:
    """What Python's zipfile and the local headers say of each member."""
    result = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            named, extra = struct.unpack_from("<2H", content, info.header_offset + 26)
            start = info.header_offset + 30 + named + extra
            result[info.filename] = Raw(
                info.compress_type, info.CRC, info.file_size, content[start : start + info.compress_size]
            )
    return result


def parts(content: bytes) -> dict[str, bytes]:
    """The content of each member, inflated and checked by Python's zipfile."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file by Python's zipfile."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def with_parts(content: bytes, changes: Mapping[str, bytes | None]) -> bytes:
    """The same package with other content of some parts; None takes one away."""
    return zipped({name: part for name, part in {**parts(content), **changes}.items() if part is not None})


def replaced(content: bytes, name: str, *pairs: tuple[str, str]) -> bytes:
    """The same package with other words in one part, each of which is there."""
    text = parts(content)[name].decode()
    for old, new in pairs:
        assert old in text, (name, old)
        text = text.replace(old, new)
    return with_parts(content, {name: text.encode()})


# Our own -----------------------------------------------------------------------------------------------------


def plan(title: str = "arrays", *columns: tuple[str, Sequence[float]], **more: Any) -> SheetPlan:
    """A sheet with a name in row 1 and numbers under it."""
    height = max((len(cells) for _, cells in columns), default=0) + 1
    letters = [get_column_letter(index) for index in range(1, len(columns) + 1)]
    named = [
        (name, f"${letter}$2:${letter}${len(cells) + 1}")
        for letter, (name, cells) in zip(letters, columns, strict=True)
    ]
    return SheetPlan(title, [22.0] * len(columns), height, named, **more)


def saved(
    made: WorkbookSkeleton | PackageEdit,
    *sheets: Sequence[tuple[str, Sequence[float]]],
    record: Mapping[str, Any] | None = None,
) -> bytes:
    """A plan carried out: the columns of each sheet in its order."""
    file = io.BytesIO()
    carry_out(made, PackageWriter(file), *sheets, record=record)
    return file.getvalue()


def carry_out(
    made: WorkbookSkeleton | PackageEdit,
    writer: PackageWriter,
    *sheets: Sequence[tuple[str, Sequence[float]]],
    record: Mapping[str, Any] | None = None,
) -> None:
    made.write(writer)
    for part, columns in zip(made.sheets, sheets, strict=True):
        content = part.head + _rows(columns, made.styles.bold).encode() + part.tail
        with writer.stream_part(part.name, expected=len(content)) as sink:
            sink.write(content)
    made.write_properties(writer, record or {})
    writer.finish()


def _rows(columns: Sequence[tuple[str, Sequence[float]]], bold: int | None) -> str:
    style = f' s="{bold}"' if bold is not None else ""
    height = max((len(cells) for _, cells in columns), default=0)
    names = [f' t="inlineStr"{style}><is><t>{name}</t></is></c>' for name, _ in columns]
    rows = [
        [f"><v>{cells[index]!r}</v></c>" if index < len(cells) else "/>" for _, cells in columns]
        for index in range(height)
    ]
    letters = [get_column_letter(index) for index in range(1, len(columns) + 1)]
    made = []
    for row, cells in enumerate([names, *rows], 1):
        inner = "".join(f'<c r="{letter}{row}"{cell}' for letter, cell in zip(letters, cells, strict=True))
        made.append(f'<row r="{row}">{inner}</row>')
    return "".join(made)


# Others' -----------------------------------------------------------------------------------------------------


def picture() -> bytes:
    """A small PNG."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    pixels = b"".join(b"\0" + bytes([16 * row, 128, 255 - 16 * row]) * 16 for row in range(16))
    head = struct.pack(">2I5B", 16, 16, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")


@cache
def rich(*, macros: bool = False, titles: Sequence[str] = ("Report", "Daten & Co")) -> bytes:
    """A workbook with a chart, an image, comments, conditional formats, a table, names and much else."""
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    book.set_properties({"title": "Quarter", "author": "Ann", "created": datetime.datetime(2026, 1, 5)})
    book.set_custom_property("Client", "Ann & Bob <x>")
    book.set_custom_property("Checked", True)
    report, more = (book.add_worksheet(title) for title in titles)
    report.write_row("A1", ["x", "y", "formula"], book.add_format({"bold": True}))
    for row in range(1, 11):
        report.write_row(row, 0, [row, row * row])
        report.write_formula(row, 2, f"=A{row + 1}+B{row + 1}", value=row + row * row)
    chart = book.add_chart({"type": "line"})
    chart.add_series({"values": f"='{titles[0]}'!$B$2:$B$11"})
    report.insert_chart("E2", chart)
    report.insert_image("E20", "dot.png", {"image_data": io.BytesIO(picture())})
    report.write_comment("B2", "a comment")
    report.conditional_format("B2:B11", {"type": "3_color_scale"})
    report.conditional_format("A2:A11", {"type": "data_bar", "data_bar_2010": True})
    report.data_validation("D2", {"validate": "list", "source": ["a", "b"]})
    report.write_url("D3", "https://example.com/?a=1&b=2")
    report.autofilter("A1:C11")
    report.print_area("A1:C11")
    more.add_table(
        "A1:B4",
        {
            "name": "Sales",
            "columns": [{"header": "who"}, {"header": "how many"}],
            "data": [["ä", 1], ["b", 2], ["c", 3]],
        },
    )
    more.add_sparkline("D1", {"range": f"'{titles[0]}'!B2:B11"})
    more.protect("secret")
    more.repeat_rows(0)
    book.define_name("total", f"='{titles[0]}'!$B$2:$B$11")
    book.define_name(f"'{titles[1]}'!local", f"='{titles[1]}'!$B$2")
    sheet = book.add_chartsheet("Diagram")
    other = book.add_chart({"type": "bar"})
    other.add_series({"values": f"='{titles[0]}'!$B$2:$B$11"})
    sheet.set_chart(other)
    if macros:
        book.add_vba_project(io.BytesIO(project({"Module1": MACRO})), is_stream=True)
        book.set_vba_name("ThisWorkbook")
        report.set_vba_name("Sheet1")
    book.close()
    return file.getvalue()


def strict(content: bytes) -> bytes:
    """The same workbook in the namespaces of strict OOXML."""
    old = "http://schemas.openxmlformats.org/"
    spaces = {
        f"{old}spreadsheetml/2006/main": "spreadsheetml/main",
        f"{_RELATIONS}/extended-properties": "officeDocument/relationships/extendedProperties",
        f"{_RELATIONS}/custom-properties": "officeDocument/relationships/customProperties",
        _RELATIONS: "officeDocument/relationships",
        f"{old}officeDocument/2006/extended-properties": "officeDocument/extendedProperties",
        f"{old}officeDocument/2006/custom-properties": "officeDocument/customProperties",
        f"{old}officeDocument/2006/docPropsVTypes": "officeDocument/docPropsVTypes",
        f"{old}drawingml/2006/": "drawingml/",
    }
    made = {}
    for name, part in parts(content).items():
        text = part
        for space, new in spaces.items():
            text = text.replace(space.encode(), b"http://purl.oclc.org/ooxml/" + new.encode())
        made[name] = text
    return zipped(made)


def prefixed(content: bytes) -> bytes:
    """The same workbook with every element of its frame prefixed, as the Open XML SDK writes it."""
    changes: dict[str, bytes | None] = {}
    for name in ("xl/workbook.xml", "xl/_rels/workbook.xml.rels", "_rels/.rels", "[Content_Types].xml"):
        text = re.sub(r"(</?)(?=[a-zA-Z])", r"\1x:", parts(content)[name].decode()).replace(" xmlns=", " xmlns:x=")
        text = text.replace(f' xmlns:r="{_RELATIONS}"', "").replace(" r:id=", f' xmlns:r="{_RELATIONS}" r:id=')
        changes[name] = text.encode()
    return with_parts(content, changes)


# A sheet of sales and a pivot table of it, for LibreOffice to make a workbook of.
PIVOT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:body><office:spreadsheet><table:table table:name="Sales">
<table:table-row><table:table-cell office:value-type="string"><text:p>who</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>much</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell>
<table:table-cell office:value-type="float" office:value="1"/></table:table-row>
<table:table-row><table:table-cell office:value-type="string"><text:p>b</text:p></table:table-cell>
<table:table-cell office:value-type="float" office:value="2"/></table:table-row></table:table>
<table:table table:name="Pivot"><table:table-row><table:table-cell/></table:table-row></table:table>
<table:data-pilot-tables><table:data-pilot-table table:name="P1" table:target-range-address="Pivot.A1:Pivot.B5">
<table:source-cell-range table:cell-range-address="Sales.A1:Sales.B3"/>
<table:data-pilot-field table:source-field-name="who" table:orientation="row"/>
<table:data-pilot-field table:source-field-name="much" table:orientation="data" table:function="sum"/>
</table:data-pilot-table></table:data-pilot-tables></office:spreadsheet></office:body></office:document>
"""


# Small zip packages for the tests of reading and writing them: their parts, fields of their structures, a sink.

LOCAL, CENTRAL, END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
TEXT = {"[Content_Types].xml": b"<Types/>" * 40, "xl/workbook.xml": b"<workbook/>", "xl/empty.xml": b""}


def noise(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


class OnlyWrite:
    """A sink that cannot be sought in."""

    def __init__(self) -> None:
        self.content = bytearray()

    def write(self, chunk: bytes | memoryview, /) -> int:
        self.content += chunk
        return len(chunk)

    def flush(self) -> None:
        """There is nothing to flush."""


def field(content: bytes, signature: bytes, at: int, layout: str, value: int) -> bytes:
    """The content with one field of the first structure of a kind changed."""
    start = content.index(signature) + at
    return content[:start] + struct.pack(layout, value) + content[start + struct.calcsize(layout) :]


def survive_as_package(content: bytes) -> bool:
    """Whether all parts could be read; only a FormatError may come out."""
    try:
        package = Package(content)
    except sa.FormatError:
        return False
    for name in package.names():
        try:
            package.read(name)
        except sa.FormatError as error:
            assert error.location  # noqa: PT017  (no error is right too)
            return False
    return True


# Workbooks of several makers, sheets put into them or replaced there, and what has to stay as it was.

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


_MAKERS: dict[str, Callable[[], bytes]] = {
    "XlsxWriter": rich,
    "macros": lambda: rich(macros=True),
    "openpyxl": by_openpyxl,
    "prefixed": lambda: prefixed(rich()),
    "strict": lambda: strict(rich()),
    "UTF-16": lambda: in_utf16(rich()),
    "no properties": small,
    "ours": lambda: ours(("first", [T])),
}
WORKBOOKS = {kind: cache(make) for kind, make in _MAKERS.items()}  # each is made once


def unchanged(before: bytes, after: bytes, *, may_change: set[str] = MAY_CHANGE) -> set[str]:
    """Check that all other parts kept their packed bytes; the parts that are new."""
    old, new = raw_members(before), raw_members(after)
    assert set(old) <= set(new)
    for name in set(old) - may_change:
        assert new[name] == old[name], name
    return set(new) - set(old)


def with_record(content: bytes, edit: Callable[[str], str]) -> bytes:
    """The workbook with another record, as JSON, the form of older ones."""
    record = read_record(Package(content))
    assert record is not None
    text = edit(json.dumps(record, separators=(",", ":")))
    assert json.loads(text) != record
    part = parts(content)["docProps/custom.xml"].decode()
    part = re.sub(r'<property [^>]*name="sheetarray (?!1")\d+".*?</property>', "", part)
    part = re.sub(
        r'(name="sheetarray 1"[^>]*><vt:lpwstr>)[^<]*', lambda result: result[1] + text.replace('"', "&quot;"), part
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
