"""Workbooks of other programs, their packages, and sheets put into them."""

from __future__ import annotations

import datetime
import io
import json
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import openpyxl
import pytest
import xlsxwriter

import sheetarray as sa
from sheetarray.sheets.excel.package.package import Package
from sheetarray.sheets.excel.package.properties import merge_properties, read_record
from sheetarray.sheets.excel.reader import worksheet

# Workbooks of other programs, for the tests of packages, and a look into a zip file that is not ours.

_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

MACROS = Path(__file__).parents[1] / "sheets" / "excel" / "macros.bin"  # a project with `Sub Hello()` in Module1


class Raw(NamedTuple):
    """A member as it is packed."""

    method: int
    crc: int
    size: int
    packed: bytes
    time: tuple[int, ...]


def raw_members(content: bytes) -> dict[str, Raw]:
    """What Python's zipfile and the local headers say of each member."""
    result = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            named, extra = struct.unpack_from("<2H", content, info.header_offset + 26)
            start = info.header_offset + 30 + named + extra
            result[info.filename] = Raw(
                info.compress_type,
                info.CRC,
                info.file_size,
                content[start : start + info.compress_size],
                info.date_time,
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


def edit_part(path: Path, part: str, edit: Callable[[str], str]) -> Path:
    """Change the text of one part of a workbook, or of all whose names begin so."""
    content = path.read_bytes()
    changes = {name: edit(text.decode()).encode() for name, text in parts(content).items() if name.startswith(part)}
    assert changes
    path.write_bytes(with_parts(content, changes))
    return path


# What the package keeps in workbooks ---------------------------------------------------------------------------

CUSTOM = "docProps/custom.xml"


def record_of(path: Path) -> Any:
    """The record of a workbook, in its document properties; None if there is none."""
    return read_record(Package(path.read_bytes()))


def put_record(path: Path, record: Mapping[str, Any]) -> None:
    """Put another record into a workbook."""
    content = path.read_bytes()
    path.write_bytes(with_parts(content, {CUSTOM: merge_properties(parts(content)[CUSTOM], record, location=CUSTOM)}))


def lose_record(path: Path) -> Path:
    """Take its record out of a workbook, as some programs do."""
    return edit_part(path, CUSTOM, lambda text: re.sub("<property.*</property>", "", text))


@contextmanager
def sheets_looked_into() -> Iterator[list[str]]:
    """Note the worksheets that are inflated, as "sheet1.xml", in the order in which that was begun."""
    noted: list[str] = []
    inflate = worksheet.part_blocks

    def note(package: Any, part: str, short: int) -> Any:
        noted.extend([part.rpartition("/")[2]] if "worksheets" in part else [])
        return inflate(package, part, short)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worksheet, "part_blocks", note)
        yield noted


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
        book.add_vba_project(MACROS)
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


# Workbooks of several makers, sheets put into them or replaced there, and what has to stay as it was.

ARRAYS = {"t": np.array([1.5, 2.5, 38.0]), "wind speed": np.array([0.1])}
MAY_CHANGE = {
    "[Content_Types].xml",
    "_rels/.rels",
    "xl/workbook.xml",
    "xl/_rels/workbook.xml.rels",
    "docProps/custom.xml",
}
WORKBOOK, RELATIONS, TYPES = "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "[Content_Types].xml"


def append(content: bytes, title: str = "arrays", arrays: Mapping[str, Any] = ARRAYS, **options: Any) -> bytes:
    """The workbook after `write` has put a sheet of arrays into it, by itself without a guard."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.xlsm" if b"vbaProject.bin" in content else "x.xlsx")
        path.write_bytes(content)
        sa.write(path, arrays, mode="a", sheet=title, **{"guard": False, **options})
        return path.read_bytes()


def replace(content: bytes, title: str = "arrays", arrays: Mapping[str, Any] = ARRAYS) -> bytes:
    """The workbook after `write` has put arrays in the place of a sheet of ours."""
    return append(content, title, arrays, if_sheet_exists="replace")


def ours(arrays: Mapping[str, Any] = ARRAYS, **options: Any) -> bytes:
    """A new workbook of ours, by itself without a guard."""
    file = io.BytesIO()
    sa.write_excel(file, arrays, **{"guard": False, **options})
    return file.getvalue()


def titles(content: bytes) -> list[str]:
    """The titles of all sheets, as the workbook's own part lists them."""
    (part,) = (part for name, part in parts(content).items() if name.endswith("workbook.xml"))
    sheets = (element for element in ElementTree.fromstring(part).iter() if element.tag.endswith("}sheet"))
    return [element.attrib["name"] for element in sheets]


def names_of(content: bytes) -> dict[str, str]:
    """What the defined names of a workbook refer to, by openpyxl."""
    names = openpyxl.load_workbook(io.BytesIO(content)).defined_names
    return {name: defined.attr_text for name, defined in names.items()}


def said(content: bytes) -> list[str]:
    """What `check` says of a workbook."""
    return [finding.message for finding in sa.check(io.BytesIO(content), format="xlsx")]


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
    "UTF-16": lambda: in_utf16(rich()),
    "no properties": small,
    "ours": lambda: ours({"t": ARRAYS["t"]}, sheet="first"),
}
WORKBOOKS = {kind: cache(make) for kind, make in _MAKERS.items()}  # each is made once


def unchanged(before: bytes, after: bytes, *, may_change: set[str] = MAY_CHANGE) -> set[str]:
    """Check that all other parts kept their packed bytes; the parts that are new."""
    old, new = raw_members(before), raw_members(after)
    assert set(old) <= set(new)
    for name in set(old) - may_change:
        assert new[name] == old[name], name
    return set(new) - set(old)


def with_record(content: bytes, record: Mapping[str, Any]) -> bytes:
    """The workbook with another record, as JSON, the form of older ones."""
    part = parts(content)["docProps/custom.xml"].decode()
    part = re.sub(r'<property [^>]*name="sheetarray (?!1")\d+".*?</property>', "", part)
    text = json.dumps(record).replace('"', "&quot;")
    part = re.sub(r'(name="sheetarray 1"[^>]*><vt:lpwstr>)[^<]*', lambda found: found[1] + text, part)
    return with_parts(content, {"docProps/custom.xml": part.encode()})
