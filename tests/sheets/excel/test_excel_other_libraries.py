"""What readers that are not ours make of .xls: the same where they agree, and the cells where they lose something."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import fastexcel
import pytest
import python_calamine
from foreign_books import begin, excel97_book, excel97_record, grid

LONG = "x" * 9000


def _cell(kind: int, row: int, column: int, style: int, value: bytes) -> bytes:
    return excel97_record(kind, struct.pack("<3H", row, column, style) + value)


def _content() -> bytes:
    styles = excel97_record(0xE0, bytes(20)) + excel97_record(0xE0, struct.pack("<2H", 0, 14) + bytes(16))
    double = struct.Struct("<d").pack
    formula = _cell(6, 8, 0, 0, struct.pack("<BxB3xH", 0, 0, 0xFFFF) + bytes(8))
    text = excel97_record(0x207, struct.pack("<HB", 9000, 0) + LONG[:4000].encode())
    rows: list[Any] = [
        *("h", _cell(0x205, 1, 0, 0, b"\x2a\1"), "", 2.5, 1.5),
        *(_cell(0x203, row, 0, 1, double(serial)) for row, serial in ((5, 60.0), (6, -1.0), (7, 59.0))),
        formula + text + excel97_record(0x3C, b"\0" + LONG[4000:].encode()),
        begin(32) + _cell(0x203, 3, 5, 0, double(123.0)) + excel97_record(0x0A),  # the number of a chart
        2.0,
    ]
    return excel97_book({(row, 0): value for row, value in enumerate(rows)}, globals_=styles)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.xls"
    path.write_bytes(_content())
    return path


def test_ours_loses_nothing(path: Path) -> None:
    cells = [row[0] if row else None for row in grid(path.read_bytes())]
    assert cells == [
        "h",
        "#N/A",
        "",
        2.5,
        1.5,
        60,
        -1,
        "1900-02-28",
        LONG,
        None,
        2,
    ]  # two are shown as dates that are none


def test_what_calamine_loses(path: Path) -> None:
    rows = python_calamine.load_workbook(path).get_sheet_by_index(0).to_python()
    cells = [row[0] for row in rows]
    assert (cells[0], *cells[3:5], cells[10]) == ("h", 2.5, 1.5, 2.0)
    assert cells[1] == cells[2] == cells[9] == ""  # an error, a text, a blank
    assert cells[5] == cells[7]  # days 60 and 59
    assert str(cells[6]) == "00:00:00"  # day -1
    assert len(str(cells[8])) == 4000  # of 9,000 characters


def test_what_fastexcel_adds(path: Path) -> None:
    sheet = fastexcel.read_excel(path).load_sheet(0, header_row=None, dtypes="string").to_polars()
    rows = sheet.rows()
    assert [row[0] for row in (rows[0], rows[3], rows[4])] == ["h", "2.5", "1.5"]
    assert rows[1][0] is None or rows[1][0] == ""
    assert rows[3][5] == "123"  # of the chart
