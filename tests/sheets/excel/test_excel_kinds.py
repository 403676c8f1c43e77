"""The other kinds of workbooks: .xlsb, .xls and .ods, and what LibreOffice saves of each."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import cross
from foreign_books import (
    binary_book,
    binary_cell,
    book,
    column_of,
    columns,
    document,
    excel97_book,
    excel97_record,
    grid,
    heads,
    listed,
    number,
    read,
    record,
    styles,
    table_cell,
    table_row,
    text,
    wide,
    words,
    zipped,
)
from programs import resave

import sheetarray as sa
from sheetarray.testing.cases import assert_same, objects

# .xlsb, .xls and .ods -----------------------------------------------------------------------------------------


def test_a_module_of_macros_in_a_binary_workbook_is_passed_over() -> None:
    with zipfile.ZipFile(io.BytesIO(binary_book({0: [binary_cell(6, 0, wide("x"))]}))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["xl/workbook.bin"] += record(156, struct.pack("<2I", 0, 2) + wide("") + wide("Module1"))
    assert list(heads(zipped(members))) == ["arrays"]


def test_repeated_rows_and_columns_of_an_open_document() -> None:
    rows = [
        table_row(table_cell(None, repeated=3), repeated=2),
        table_row(table_cell(None), table_cell("a", repeated=2), table_cell(1.5)),
        table_row(table_cell(True), table_cell(None, repeated=1000), repeated=3),
        table_row(table_cell(None), repeated=1_048_000),
    ]
    assert grid(document({"arrays": "".join(rows)})) == [[], [], [None, "a", "a", 1.5], [True], [True], [True]]


@pytest.mark.parametrize("count", [16_385, 10**9, 10**19])
def test_repetition_beyond_the_sheet_is_refused(count: int) -> None:
    for cells in ([table_cell(1.5, repeated=count)], [table_cell(None, repeated=count), table_cell(1.5)]):
        with pytest.raises(sa.FormatError, match="beyond the 16384 columns") as caught:
            grid(document({"arrays": table_row(*cells)}))
        assert caught.value.location == "arrays!XFE1"
    with pytest.raises(sa.FormatError, match="beyond the 1048576 rows"):
        grid(document({"arrays": table_row(table_cell(1.5), repeated=64 * count)}))


def test_arrays_of_one_value_in_an_open_document() -> None:
    rows = (
        table_row(table_cell("a"), table_cell("b"))
        + "".join(table_row(table_cell(word, repeated=2)) for word in words("float64", 100_000))
        + table_row(table_cell(0.1, repeated=2), repeated=100_000)
    )
    result = sa.read(io.BytesIO(document({"arrays": rows})), format="xlsx")
    for name in ("a", "b"):
        assert_same(result[name], np.full(100_000, 0.1))


def test_text_of_an_open_document() -> None:
    def paragraphs(inner: str, more: str = "") -> str:
        return f'<table:table-cell office:value-type="string"{more}>{inner}</table:table-cell>'

    cells = [
        paragraphs("<text:p>a<text:s text:c='3'/>b<text:tab/>c<text:line-break/>d</text:p><text:p>e</text:p><text:p/>"),
        paragraphs("<text:p>\n  a\n  <text:span>b<text:span>c</text:span></text:span></text:p>\n"),
        paragraphs("<text:p><text:span>ld </text:span> x</text:p>"),
        paragraphs(
            "<text:p><text:ruby><text:ruby-base>漢</text:ruby-base><text:ruby-text>か</text:ruby-text></text:ruby>字</text:p>"
        ),
        paragraphs("<office:annotation><text:p>remark</text:p></office:annotation><text:p>said</text:p>"),
        paragraphs("<text:p>shown</text:p>", ' office:string-value="meant"'),
        paragraphs(""),
        paragraphs("<text:p>#DIV/0!</text:p>", ' table:formula="of:=1/0" calcext:value-type="error"'),
        '<table:table-cell table:formula="of:=[.A1]*2"/>',
        '<table:table-cell office:value-type="date" office:date-value="2020-02-29T12:00:00"/>',
        '<table:table-cell office:value-type="time" office:time-value="PT36H30M15S"/>',
        '<table:table-cell office:value-type="percentage" office:value="0.5"><text:p>50%</text:p></table:table-cell>',
    ]
    content = document({"arrays": "".join(map(table_row, cells)), "'file:///x.ods'#$other": table_row(table_cell(1.0))})
    assert column_of(content, 0, dtype="string") == [
        *("a   b\tc\nd\ne\n", " a bc", "ld  x", "漢字", "said", "meant", "", "an error, #DIV/0!"),
        *("a formula without a value", "2020-02-29T12:00:00", "36:30:15", "0.5"),
    ]


def test_a_document_that_does_not_begin_with_its_type() -> None:
    with zipfile.ZipFile(io.BytesIO(document({"arrays": table_row(table_cell(1.5))}))) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "mimetype"}
    assert grid(zipped(members)) == [[1.5]]


def test_tables_in_groups_and_of_several_titles() -> None:
    grouped = f"<table:table-header-rows>{table_row(table_cell('h'))}</table:table-header-rows>"
    grouped += f"<table:table-row-group>{table_row(table_cell(1.0))}</table:table-row-group>"
    content = document({"one & two": grouped, "<empty>": ""})
    assert grid(content, "one & two") == [["h"], [1]]
    assert grid(content, "<empty>") == []


# What LibreOffice saves ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["xlsx", "ods", "xls"])
def test_errors_formulas_and_dates_of_libreoffice(tmp_path: Path, suffix: str) -> None:
    cells = columns(
        [
            *("><f>1/0</f></c>", "><f>1+1</f></c>", ' t="str"><f>"a"&amp;"b"</f></c>', "><f>1=1</f></c>"),
            *(' s="1"><v>43831.5</v></c>', ' s="2"><v>1.5</v></c>', "><f>NA()</f></c>", number(0.1), text("x")),
            *(text("two\nlines"), text("a\ttab")),
        ]
    )
    (tmp_path / "x.xlsx").write_bytes(book(cells, formats=styles("yyyy-mm-dd hh:mm:ss", "[h]:mm:ss")))
    saved = resave(tmp_path / "x.xlsx", suffix, tmp_path / "again").read_bytes()
    if suffix == "xls":  # whose errors are blanks, as docs/formats.md says
        result = [row[0] if row else None for row in grid(saved)]
        assert result[:5] == [None, 2, "ab", True, "2020-01-01T12:00:00"]
        assert result[6:] == [None, 0.1, "x", "two\nlines", "a\ttab"]
        return
    result = [row[0] for row in grid(saved)]
    assert result[:5] == ["#DIV/0!", 2, "ab", True, "2020-01-01T12:00:00"]
    assert result[6:] == ["#N/A", 0.1, "x", "two\nlines", "a\ttab"]
    texts = column_of(saved, 0, dtype="string")
    texts = ["TRUE" if place == 3 and cell == "1" else cell for place, cell in enumerate(texts)]  # as .ods has it
    assert texts == [
        *("an error, #DIV/0!", "2", "ab", "TRUE", "2020-01-01T12:00:00", "36:00:00", "an error, #N/A", "0.1", "x"),
        *("two\nlines", "a\ttab"),
    ]


# Headers whose cells somebody formatted as dates, times or durations ------------------------------------------

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


def test_numbers_of_a_header_stay_numbers_in_ods() -> None:
    def shown(word: int) -> str:
        day = np.datetime64("1899-12-30") + np.timedelta64(word, "D")
        return f'<table:table-cell office:value-type="date" office:date-value="{day}"/>'

    lines = [shown(word) if isinstance(word, int) else table_cell(word) for word in ["t", *words("int16", COUNT)]]
    lines += [table_cell(float(value)) for value in range(COUNT)]
    assert_same(result(document({"arrays": "".join(map(table_row, lines))})), WANTED)


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
