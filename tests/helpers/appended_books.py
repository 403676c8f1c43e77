"""Workbooks of several makers, sheets put into them or replaced there, and what has to stay as it was."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import openpyxl
import xlsxwriter
from excel_packages import (
    parts,
    plan,
    prefixed,
    raw_members,
    rich,
    saved,
    strict,
    with_parts,
)

from sheetarray.sheets.excel.append import plan_append
from sheetarray.sheets.excel.package.parts import Package
from sheetarray.sheets.excel.package.relations import read_record
from sheetarray.sheets.excel.skeleton import skeleton

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
