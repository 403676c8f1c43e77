"""Any arrays in any container, under any options, after any harmless edits: the right arrays, all of them, no error.

Harmless is what the contract calls so: rows inserted above, columns inserted anywhere, notes, formulas and ordinary
tables beside the arrays, columns moved, arrays one below another. `Edited` does it to text, to the XML of a worksheet,
through openpyxl, and through the service of Google Sheets.
"""

from __future__ import annotations

import csv
import functools
import io
import json
import re
import warnings
from typing import Any

import numpy as np
import openpyxl
import pytest
from addresses import column_letters
from examples import examples
from excel_packages import parts, with_parts
from foreign_books import document, table_cell, table_row
from hypothesis import given, note, settings
from hypothesis import strategies as st
from mixtures import EDITS, SHAPES, TEXTS, Edited, Rows, arrays, numbers

import sheetarray as sa
from sheetarray.testing.cases import assert_same
from sheets_emulator import SheetsServer

NAMES = st.one_of(TEXTS, st.sampled_from(["t", "shape", "dtype", "2019", "a b", "é"])).filter(str.strip)
MAPPINGS = st.dictionaries(NAMES, arrays(), min_size=1, max_size=4)


def assert_all(place: Any, expected: dict[str, Any], **options: Any):
    """Everything comes back, in any order, with nothing to object to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        result = sa.read(place(), **options)
        assert set(result) == set(expected)
        for name, array in expected.items():
            assert_same(result[name], array)
        assert set(sa.scan(place(), **{key: value for key, value in options.items() if key != "decimal"})) == {
            *expected
        }
        for finding in sa.check(place(), **options):
            assert finding.severity == "warning", finding
        name = next(iter(expected))
        assert_same(sa.read(place(), [name], **options)[name], expected[name])


# Containers: each draws arrays and options, writes them, gives them to be edited, and saves what became of them ----

DIALECTS = st.fixed_dictionaries(
    {
        "orient": st.sampled_from(["columns", "rows"]),
        "formulas": st.sampled_from(["escape", "escape", "keep"]),
        "names": st.sampled_from([True, True, True, False]),
        "encoding": st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"]),
    },
    optional={"delimiter": st.sampled_from(",;\t| :"), "decimal": st.sampled_from(".,")},
)


def turned(rows: list[list[Any]]) -> list[list[Any]]:
    """Rows as columns."""
    width = max(map(len, rows))
    return [list(cells) for cells in zip(*([*row, *[""] * (width - len(row))] for row in rows), strict=True)]


def edit(data: Any, sheet: Any, mapping: dict[str, Any], ends: list[int], *, named: bool = True, **how: Any) -> Edited:
    """Edit a sheet in which each array has a column of its own."""
    edited = Edited(sheet, [[name] for name in mapping], ends, dict(mapping), named=named)
    edited.edit(data.draw, **how)
    note(f"{edited.log}")
    return edited


def edit_text(data: Any):
    mapping, options = data.draw(MAPPINGS), data.draw(DIALECTS)
    delimiter = options.get("delimiter", ",")
    if options.get("decimal") == delimiter:
        del options["decimal"]
    note(f"{options}")
    lying, encoding = options["orient"] == "rows", options["encoding"]
    file = io.BytesIO()
    try:
        sa.write_csv(file, mapping, **options)
    except (sa.DTypeError, sa.LimitError):
        assert options["formulas"] == "keep" or "delimiter" in options  # what cannot be kept is refused
        return
    text = file.getvalue().decode(encoding)
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter))
    ends = [options["names"] + len(sa.to_linear(array)) for array in mapping.values()]
    edited = edit(data, Rows(turned(rows) if lying else rows), mapping, ends, named=options["names"])
    rows = turned(edited.sheet.rows) if lying else edited.sheet.rows
    if len(mapping) > 1 and data.draw(st.booleans()):  # blanks at the ends of rows left out
        rows = [row[: max((index + 1 for index, cell in enumerate(row) if cell), default=0)] for row in rows]
    out = io.StringIO(newline="")
    how: Any = data.draw(st.sampled_from([{}, {"lineterminator": "\n", "quoting": csv.QUOTE_ALL}]))
    csv.writer(out, delimiter=delimiter, **how).writerows(rows)  # it would leave a lone CR unquoted before "\n"
    content = out.getvalue().encode(encoding)
    reading = {"formulas": options["formulas"]} | ({"encoding": encoding} if encoding == "utf-16-le" else {})
    assert_all(lambda: io.BytesIO(content), edited.expected(lying=lying), format="csv", **reading)


def edit_json(data: Any):
    """Lay it out anew: the arrays in another order, blanks below them, other white space."""
    mapping = data.draw(MAPPINGS)
    file = io.StringIO()
    sa.write_json(file, mapping)
    lists = json.loads(file.getvalue())
    names = data.draw(st.permutations(list(lists)))
    blanks = {name: [None] * data.draw(st.integers(0, 3)) for name in names}  # at the end they are padding
    indent, ascii_only = data.draw(st.sampled_from([None, 2, "\t"])), data.draw(st.booleans())
    text = json.dumps({name: lists[name] + blanks[name] for name in names}, indent=indent, ensure_ascii=ascii_only)
    encoded = text.encode(data.draw(st.sampled_from(["utf-8", "utf-16", "utf-8-sig"])))
    assert_all(lambda: io.BytesIO(encoded), mapping, format="json")


PART = "xl/worksheets/sheet1.xml"
_CELL = re.compile(r'<c r="([A-Z]+)([0-9]+)"([^>]*?)(?:/>|>(.*?)</c>)', re.DOTALL)
BOOK_NAMES = NAMES.filter(lambda name: len(name) < 200)


def cells_of(content: bytes) -> list[list[str]]:
    """The cells of our worksheet as pieces of XML, without their addresses."""
    matches = {
        (int(row) - 1, column_of(column)): f"{attributes}>{inner}"
        for column, row, attributes, inner in _CELL.findall(parts(content)[PART].decode())
    }
    rows, columns = (max(numbers) + 1 for numbers in zip(*matches, strict=True))
    return [[matches.get((row, column), "") for column in range(columns)] for row in range(rows)]


def column_of(text: str) -> int:
    column = 0
    for letter in text:
        column = column * 26 + ord(letter) - 64
    return column - 1


def piece(value: Any) -> str:
    """A cell that somebody typed: a formula with its value or without one, a number, or text."""
    cell = str(value)
    if cell.startswith("="):
        return f"><f>{cell[1:]}</f>" + ("<v>3.5</v>" if len(cell) % 2 else "")
    if re.fullmatch(r"-?[0-9.]+", cell) and cell.count(".") < 2:
        return f"><v>{cell}</v>"
    escaped = cell.replace("&", "&amp;").replace("<", "&lt;")
    return f' t="inlineStr"><is><t xml:space="preserve">{escaped}</t></is>'


def as_sheet(rows: list[list[str]]) -> bytes:
    """A worksheet of such pieces."""
    lines = []
    for row, pieces in enumerate(rows, 1):
        cells = "".join(f'<c r="{column_letters(at)}{row}"{xml}</c>' for at, xml in enumerate(pieces) if xml)
        lines.append(f'<row r="{row}">{cells}</row>' if cells else "")
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return f'<worksheet xmlns="{space}"><sheetData>{"".join(lines)}</sheetData></worksheet>'.encode()


def ends_in_sheet(source: Any, mapping: dict[str, Any], **options: Any) -> list[int]:
    """How many rows of each column are in use; headers end in one row, so that shorter ones begin further down."""
    infos = sa.scan(source, **options)
    return [int(re.sub(r".*![A-Z]+", "", infos[name].location)) + infos[name].cells - 1 for name in mapping]


def edit_worksheet_xml(data: Any):
    mapping = data.draw(st.dictionaries(BOOK_NAMES, arrays(), min_size=1, max_size=4))
    file = io.BytesIO()
    sa.write_excel(file, mapping, cells=data.draw(st.sampled_from(["numeric", "text"])))
    ends = ends_in_sheet(io.BytesIO(file.getvalue()), mapping, format="xlsx")
    edited = edit(data, Rows(cells_of(file.getvalue()), make=piece), mapping, ends)
    content = with_parts(file.getvalue(), {PART: as_sheet(edited.sheet.rows)})
    assert_all(lambda: io.BytesIO(content), edited.expected(), format="xlsx")


class Book:
    """A worksheet of openpyxl as a sheet."""

    def __init__(self, sheet: Any):
        self.sheet = sheet

    def insert_rows(self, count: int):
        self.sheet.insert_rows(1, count)

    def insert_column(self, at: int):
        self.sheet.insert_cols(at + 1)

    def move_column(self, source: int, target: int):
        cells = [(row, cell.value, cell.data_type) for row, cell in enumerate(self.column(source), 1)]
        self.sheet.delete_cols(source + 1)
        self.insert_column(target)
        for row, value, kind in cells:
            if value is not None:
                cell = self.sheet.cell(row, target + 1)
                cell._value, cell.data_type = value, kind  # openpyxl takes text that begins with = for a formula

    def column(self, at: int) -> list[Any]:
        return [self.sheet.cell(row, at + 1) for row in range(1, self.sheet.max_row + 1)]

    def put(self, row: int, column: int, cell: Any):
        self.sheet.cell(row + 1, column + 1).value = cell


_PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=0x24F, exclude_characters="\x7f\x85_"), max_size=8)
SHORT = st.one_of(
    st.sampled_from([np.array(7), np.array([True, False]), np.array([1.5, -0.25, 3e10]), np.array([[1], [2]], "int8")]),
    st.lists(_PRINTABLE, min_size=1, max_size=5).map(np.array),
    numbers(SHAPES).filter(lambda array: array.dtype.kind in "iumM"),
)  # openpyxl keeps neither every digit nor every character


def open_cell(value: Any) -> str:
    """A cell of .ods that somebody typed."""
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", value):
        return table_cell(float(value))
    if isinstance(value, str) and value.startswith("="):
        cached = ' office:value-type="float" office:value="3.5"' if len(value) % 2 else ""
        return f'<table:table-cell table:formula="of:{value}"{cached}/>'
    return element_cell(value)


def element_cell(value: Any) -> str:
    """A cell of .ods that holds a value of an array: an integer that is no double stands there as text."""
    if isinstance(value, int) and abs(value) > 2**53:
        value = str(value)
    return table_cell(value).replace("<text:p> ", "<text:p><text:s/>").replace("  ", '<text:s text:c="2"/>')


def edit_document(data: Any):
    mapping = data.draw(st.dictionaries(_PRINTABLE.filter(str.strip), SHORT, min_size=1, max_size=4))
    cells = [[element_cell(cell) for cell in (name, *sa.to_linear(array))] for name, array in mapping.items()]
    height = max(map(len, cells))
    sheet = Rows(turned([[*column, *[""] * (height - len(column))] for column in cells]), make=open_cell)
    edited = edit(data, sheet, mapping, [len(column) for column in cells])
    blank, slow = table_cell(None), data.draw(st.sampled_from(["", "<!-- x -->"]))  # these rows go to the parser
    rows = "".join(table_row(slow, *(cell or blank for cell in row)) for row in sheet.rows)
    content = document({"notes": table_row(table_cell("x")), "arrays": rows})
    assert_all(lambda: io.BytesIO(content), edited.expected(), format="ods")


def edit_by_openpyxl(data: Any):
    mapping = data.draw(st.dictionaries(_PRINTABLE.filter(str.strip), SHORT, min_size=1, max_size=3))
    file, saved = io.BytesIO(), io.BytesIO()
    how: Any = data.draw(st.sampled_from([{}, {"cells": "text"}, {"guard": True}, {"views": True}]))
    sa.write_excel(file, mapping, **how)
    book = openpyxl.load_workbook(file)
    ends = ends_in_sheet(io.BytesIO(file.getvalue()), mapping, format="xlsx")
    edited = edit(data, Book(book["arrays"]), mapping, ends)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book.save(saved)
    assert_all(lambda: io.BytesIO(saved.getvalue()), edited.expected(), format="xlsx")


class Worksheet:
    """A worksheet of gspread as a sheet."""

    def __init__(self, sheet: Any):
        self.sheet = sheet

    def change(self, **request: Any):
        self.sheet.spreadsheet.batch_update({"requests": [request]})

    def range(self, dimension: str, start: int, end: int) -> dict[str, Any]:
        return {"sheetId": self.sheet.id, "dimension": dimension, "startIndex": start, "endIndex": end}

    def insert_rows(self, count: int):
        self.change(insertDimension={"range": self.range("ROWS", 0, count)})

    def insert_column(self, at: int):
        self.sheet.add_cols(1)
        self.change(insertDimension={"range": self.range("COLUMNS", at, at + 1)})

    def move_column(self, source: int, target: int):
        if source != target:
            to = target if target < source else target + 1
            self.insert_column(to)
            source += to <= source
            block = {"sheetId": self.sheet.id, "startRowIndex": 0}  # to the end, however many rows were inserted
            places = [{**block, "startColumnIndex": at, "endColumnIndex": at + 1} for at in (source, to)]
            self.change(copyPaste={"source": places[0], "destination": places[1], "pasteType": "PASTE_NORMAL"})
            self.change(deleteDimension={"range": self.range("COLUMNS", source, source + 1)})

    def put(self, row: int, column: int, cell: Any):
        if row >= self.sheet.row_count:
            self.sheet.add_rows(row + 50 - self.sheet.row_count)
        if column >= self.sheet.col_count:
            self.sheet.add_cols(column + 5 - self.sheet.col_count)
        self.sheet.update([[cell]], f"{column_letters(column)}{row + 1}", raw=not str(cell).startswith("="))


def edit_google_sheet(data: Any, server: SheetsServer):
    mapping = data.draw(st.dictionaries(BOOK_NAMES, arrays(), min_size=1, max_size=3))
    key, client = server.create(), server.client()
    sa.write_gsheet(key, mapping, client=client)
    sheet = Worksheet(client.open_by_key(key).worksheet("arrays"))
    ends = ends_in_sheet(f"gsheets://{key}", mapping, client=client)
    edited = edit(data, sheet, mapping, ends, edits=[edit for edit in EDITS if edit != "table"], most=3)
    place = data.draw(st.sampled_from([f"gsheets://{key}/arrays", f"gsheets://{key}"]))
    assert_all(lambda: place, edited.expected(), client=client)


@pytest.mark.parametrize(
    ("edit_any", "count"),
    [
        (edit_text, 250),
        (edit_json, 60),
        (edit_worksheet_xml, 80),
        (edit_document, 60),
        (edit_by_openpyxl, 40),
        (edit_google_sheet, 20),
    ],
)
def test_all_arrays_come_back_after_harmless_edits(edit_any, count, server):
    run = functools.partial(edit_any, server=server) if edit_any is edit_google_sheet else edit_any
    settings(max_examples=examples(count))(given(st.data())(lambda data: run(data)))()


# Where an edit makes it ambiguous ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("notes", "names"),
    [
        (["note", "", ""], ["A", "B", "C"]),
        (["", "note", ""], ["A", "B", "C"]),
        (["note", "note", ""], ["A", "B", "C"]),  # the data of these two begin in unlike rows
        (["", "note", "version"], ["A", "note", "version"]),
    ],
)
def test_two_texts_above_blanks_are_names_where_headers_end_in_one_row(notes, names):
    file = io.StringIO()
    sa.write_csv(file, {"a": np.zeros((2, 1)), "b": np.array(1.0), "c": np.array(2.0)}, names=False)
    text = ",".join(notes) + "\n,,\n" + file.getvalue()
    assert list(sa.read(io.StringIO(text), format="csv")) == names


@settings(max_examples=examples(60))
@given(st.data())
def test_text_right_below_an_array_is_an_error_or_padding(data):
    """What stands in the column of an array, and below it, is an error that names the cell; never fewer arrays.

    Below text it may be a row that was added: then the first one is named, and the arrays that would be longer.
    """
    mapping = data.draw(MAPPINGS)
    file = io.StringIO()
    sa.write_csv(file, mapping)
    sheet = Rows(list(csv.reader(io.StringIO(file.getvalue(), newline=""))))
    ends = [1 + len(sa.to_linear(array)) for array in mapping.values()]
    column, gap = data.draw(st.integers(0, len(ends) - 1)), data.draw(st.integers(0, 3))
    sheet.put(ends[column] + gap, column, "a remark")
    out = io.StringIO(newline="")
    csv.writer(out).writerows(sheet.rows)
    errors = [f for f in sa.check(io.StringIO(out.getvalue(), newline=""), format="csv") if f.severity == "error"]
    name = list(mapping)[column]
    added = [f for f in errors if "added in" in f.message]
    remarks = [f for f in errors if f not in added]
    assert len(added) <= 1
    assert errors
    for finding in added:
        assert any(np.asarray(array).dtype.kind in "UTO" for array in mapping.values())
        assert finding.location in [f"{column_letters(at)}{end + 1}" for at, end in enumerate(ends)]
        assert repr(name) in finding.message
    assert all(finding.array == name for finding in remarks)  # blank cells above the remark among them
    if remarks:
        assert remarks[-1].location == f"{column_letters(column)}{ends[column] + gap + 1}"


def test_a_comma_beside_the_version_is_no_delimiter():
    cells = ["x", *map(str, sa.to_linear(np.array([1, 2])))]
    for row in range(len(cells)):
        text = "".join(f"{'2,5' if row == index else ''}\t{cell}\n" for index, cell in enumerate(cells))
        assert_same(sa.read(io.StringIO(text), format="csv")["x"], np.array([1, 2]))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_as_many_cells_below_as_there_are_complex_numbers_are_not_their_other_halves(size):
    file = io.StringIO()
    sa.write_csv(file, {"z": np.full(size, 1 + 2j)})
    text = file.getvalue() + "a remark\n" * size
    (error,) = [f for f in sa.check(io.StringIO(text), format="csv") if f.severity == "error"]
    assert error.location == f"A{len(file.getvalue().splitlines()) + 1}"
    interleaved = ["z", *map(str, sa.to_linear(np.full(size, 1 + 2j), complex="interleaved"))]
    assert_same(sa.read(io.StringIO("\n".join(interleaved)), format="csv")["z"], np.full(size, 1 + 2j))
