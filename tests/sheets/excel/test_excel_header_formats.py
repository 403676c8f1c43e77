"""Headers whose cells somebody formatted as dates, times or durations: a header has none, so they are the numbers."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from examples import cross
from excel_packages import replaced
from foreign_books import (
    binary_book,
    binary_cell,
    book,
    columns,
    document,
    excel97_book,
    excel97_record,
    listed,
    number,
    read,
    styles,
    table_cell,
    table_row,
    text,
    wide,
    words,
)

import sheetarray as sa
from sheetarray.testing.cases import assert_same, objects

COUNT = 61  # as a date it is the first one that all programs count alike; 60 is a day that never was
WANTED = np.arange(COUNT, dtype=np.int16)


def result(content: bytes) -> Any:
    return read(content)["t"]


CODES = ("14", "dd/mm/yyyy hh:mm", "hh:mm", "mm:ss.0", "[h]:mm", "dddd", "0%", "@", "$#,##0")  # the first is built in
COUNTS = ("1", "2", "59", "60", "61", "62")


@pytest.mark.parametrize(("shown", "many"), cross(CODES, COUNTS, "14"))
def test_numbers_of_a_header_stay_numbers_in_xlsx(shown: str, many: str) -> None:
    code, count = int(shown) if shown.isdigit() else shown, int(many)
    header = [f' s="1"><v>{word}</v></c>' if isinstance(word, int) else text(word) for word in words("int16", count)]
    cells = columns([text("t"), *header, *(number(value) for value in range(count))])
    for settings in ("", '<workbookPr date1904="1"/>'):
        assert_same(result(book(cells, formats=styles(code), settings=settings)), np.arange(count, dtype=np.int16))


def test_numbers_of_a_header_stay_numbers_in_xlsb_and_xls() -> None:
    lines = ["t", *words("int16", COUNT)]
    rows = {
        row: [binary_cell(6, 0, wide(word)) if isinstance(word, str) else binary_cell(5, 0, struct.pack("<d", word), 1)]
        for row, word in enumerate(lines)
    }
    data = {len(lines) + row: [binary_cell(5, 0, struct.pack("<d", row))] for row in range(COUNT)}
    assert_same(result(binary_book(rows | data, dates=True)), WANTED)
    cells: dict[tuple[int, int], Any] = {(row, 0): word for row, word in enumerate(lines)}
    for place, word in cells.items():
        if isinstance(word, int):
            cells[place] = excel97_record(0x0203, struct.pack("<3Hd", *place, 1, word))
    cells |= {(len(lines) + row, 0): float(row) for row in range(COUNT)}
    formats = b"".join(excel97_record(0x00E0, struct.pack("<2H", 0, code) + bytes(16)) for code in (0, 14))
    assert_same(result(excel97_book(cells, globals_=formats)), WANTED)


@pytest.mark.parametrize("zero", ["", "1904-01-01", "1900-01-01"])
def test_numbers_of_a_header_stay_numbers_in_ods(zero: str) -> None:
    def shown(word: int) -> str:
        day = np.datetime64(zero or "1899-12-30") + np.timedelta64(word, "D")
        return f'<table:table-cell office:value-type="date" office:date-value="{day}"/>'

    lines = [shown(word) if isinstance(word, int) else table_cell(word) for word in ["t", *words("int16", COUNT)]]
    lines += [table_cell(float(value)) for value in range(COUNT)]
    content = document({"arrays": "".join(map(table_row, lines))})
    if zero:
        settings = (
            f'<table:calculation-settings><table:null-date table:date-value="{zero}"/></table:calculation-settings>'
        )
        content = replaced(content, "content.xml", ("<table:table ", f"{settings}<table:table "))
    assert_same(result(content), WANTED)


def test_a_name_that_is_a_date_stays_one_and_a_date_between_days_is_no_number_of_a_header() -> None:
    header = [*listed("int16", [number(7)])]
    dated_name = [' s="1"><v>43831</v></c>', *header[1:]]
    assert list(read(book(columns(dated_name), formats=styles(14)))) == ["2020-01-01"]
    header[5] = ' s="1"><v>1.5</v></c>'
    with pytest.raises(sa.FormatError, match=r"cell A6: expected an integer, found 1\.5"):
        read(book(columns(header), formats=styles(14)))


def test_numbers_shown_as_durations_and_times_of_day_are_numbers_in_a_generic_array() -> None:
    wanted = objects(5, 0.25, "x", -1.5)
    data = [' s="1"><v>5</v></c>', ' s="2"><v>0.25</v></c>', text("x"), ' s="1"><v>-1.5</v></c>']
    assert_same(result(book(columns(listed("generic", data)), formats=styles("[h]:mm", "hh:mm"))), wanted)
