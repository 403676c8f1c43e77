"""Old workbooks, .xls by xlrd and .xlsb by calamine: what they hold, and what is refused before a library sees it."""

from __future__ import annotations

import io
import struct
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foreign_books import (
    begin,
    binary_book,
    binary_cell,
    cells_of,
    column_of,
    compound,
    excel97_book,
    excel97_record,
    excel97_text,
    grid,
    opened,
    record,
    wide,
    zipped,
)
from limits import set_limits
from programs import resave, resave_by_node

import sheetarray as sa

FOREIGN = Path(__file__).parents[4] / "shared" / "foreign-workbooks"
double, place97 = struct.Struct("<d").pack, struct.Struct("<3H").pack


def many_cells(suffix: str, rows: int) -> bytes:
    """A workbook with rows of an integer, a shared string, a double and the text of a formula."""
    if suffix == "xlsb":
        lines = {
            row: [
                binary_cell(2, 0, struct.pack("<i", row << 2 | 2)),
                binary_cell(7, 1, struct.pack("<I", row % 3)),
                binary_cell(5, 2, double(row / 7)),
                binary_cell(8, 3, wide(f"t{row}") + bytes(8)),
            ]
            for row in range(rows)
        }
        return binary_book(lines, strings=["a", "é", "漢"])
    cells: dict[tuple[int, int], Any] = {}
    for row in range(rows):
        cells[row, 0] = excel97_record(0x027E, place97(row, 0, 0) + struct.pack("<i", row << 2 | 2))
        cells[row, 1] = excel97_record(0x00FD, place97(row, 1, 0) + struct.pack("<I", row % 3))
        cells[row, 2] = row / 7
        cells[row, 3] = excel97_record(0x0006, place97(row, 3, 0) + struct.pack("<BxB3xH", 0, 0, 0xFFFF) + bytes(8))
        cells[row, 3] += excel97_record(0x0207, excel97_text(f"t{row}"))
    table = struct.pack("<2I", 3, 3) + excel97_text("a") + excel97_text("é") + excel97_text("漢")
    return excel97_book(cells, globals_=excel97_record(0xFC, table))


def texts_of(content: bytes) -> dict[tuple[int, int], str]:
    """All cells of the first sheet, as text."""
    with opened(content) as sheet, sheet.runs(numeric=False) as runs:
        return {place: value for place, (_, value, _) in cells_of(runs).items()}


def refused(content: bytes, message: str, verb: Callable[..., Any] = sa.read_columns) -> sa.FormatError:
    """The error that a workbook is refused with."""
    with pytest.raises(sa.FormatError, match=message) as caught:
        verb(io.BytesIO(content), format="xlsx")
    return caught.value


# What is kept ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["xls", "xlsb"])
@pytest.mark.parametrize("rows", [1, 300, 4095, 4096, 4097])
def test_cells_of_many_records(suffix: str, rows: int) -> None:
    content = many_cells(suffix, rows)
    table = sa.read_columns(io.BytesIO(content), format="xlsx", header=False)
    assert table["A"].tolist() == list(range(rows))
    assert table["B"].tolist() == [("a", "é", "漢")[row % 3] for row in range(rows)]
    assert table["C"].tolist() == [row / 7 for row in range(rows)]
    assert table["D"].tolist() == [f"t{row}" for row in range(rows)]
    assert column_of(content, 2, typed=True) == [row / 7 for row in range(rows)]


@pytest.mark.parametrize("suffix", ["xls", "xlsb"])
def test_cells_far_from_the_first_ones(suffix: str) -> None:
    expected = {(4, 3): 1.5, (9000, 200): 2.5}
    if suffix == "xls":
        expected[65_535, 255] = 3.5
        content = excel97_book(expected)
    else:
        content = binary_book(
            {row: [binary_cell(5, column, double(value))] for (row, column), value in expected.items()}
        )
    assert texts_of(content) == {place: str(value) for place, value in expected.items()}


@pytest.mark.parametrize("suffix", ["xls", "xlsb"])
def test_numbers_keep_every_bit(suffix: str) -> None:
    source = np.random.default_rng(11)
    bits = source.integers(0, 2**64, 3000, dtype=np.uint64).view(np.float64)
    numbers = np.concatenate([bits[np.isfinite(bits)], source.random(500), [-0.0, 2.0**53, 2.0**53 - 1, 5e-324, 1e-5]])
    if suffix == "xls":
        content = excel97_book({(row, 0): float(value) for row, value in enumerate(numbers)})
    else:
        content = binary_book({row: [binary_cell(5, 0, double(value))] for row, value in enumerate(numbers)})
    for typed in (True, False):
        assert np.array([float(cell) for cell in column_of(content, 0, typed=typed)]).tobytes() == numbers.tobytes()


def test_errors_dates_and_durations_are_told_apart() -> None:
    """The same cells in both kinds; an empty text is a blank in .xlsb, as docs/formats.md says."""
    serials = [59.0, 60.0, 61.0, 43831.25, 0.5, -1.0]
    styles = b"".join(excel97_record(0xE0, struct.pack("<2H", 0, code) + bytes(16)) for code in (0, 14, 46))
    cells: dict[tuple[int, int], Any] = {(0, 0): "a", (1, 0): excel97_record(0x205, place97(1, 0, 0) + b"\x2a\1")}
    rows = {0: [binary_cell(6, 0, wide("a"))], 1: [binary_cell(3, 0, b"\x2a")]}
    for row, serial in enumerate(serials, 2):
        cells[row, 0] = excel97_record(0x203, place97(row, 0, 1) + double(serial))
        rows[row] = [binary_cell(5, 0, double(serial), 1)]
    cells[8, 0] = excel97_record(0x203, place97(8, 0, 2) + double(1.5))
    cells[9, 0] = ""
    rows[9] = [binary_cell(6, 0, wide(""))]
    expected = ["a", "#N/A", "1900-02-28", 60, "1900-03-01", "2020-01-01T06:00:00", 0.5, -1]
    assert [row[0] for row in grid(excel97_book(cells, globals_=styles))] == [*expected, "1.5", ""]
    assert [row[0] for row in grid(binary_book(rows, dates=True))] == expected


@pytest.mark.parametrize("year", [1900, 1904])
def test_dates_count_from_1900_or_1904(year: int) -> None:
    settings = excel97_record(0x22, struct.pack("<H", year == 1904))
    styles = settings + b"".join(excel97_record(0xE0, struct.pack("<2H", 0, code) + bytes(16)) for code in (0, 14))
    cells: dict[tuple[int, int], Any] = {(0, 0): "a", (1, 0): excel97_record(0x203, place97(1, 0, 1) + double(43831))}
    day = np.datetime64("2020-01-01" if year == 1900 else "2024-01-02")
    table = sa.read_columns(io.BytesIO(excel97_book(cells, globals_=styles)), format="xlsx")
    assert table["a"].tolist() == [day.item()]
    rows = {0: [binary_cell(6, 0, wide("a"))], 1: [binary_cell(5, 0, double(43831), 1)]}
    members = members_of(binary_book(rows, dates=True))
    if year == 1904:
        members["xl/workbook.bin"] = members["xl/workbook.bin"].replace(bytes(12), b"\1" + bytes(11), 1)
    assert sa.read_columns(io.BytesIO(zipped(members)), format="xlsx")["a"].tolist() == [day.item()]


@pytest.mark.parametrize("code", [14, 27, 36, 50, 58])
def test_dates_of_a_format_that_is_built_in_need_no_code(code: int) -> None:
    """Those from 27 on are East Asian; files have no code of theirs."""
    styles = b"".join(excel97_record(0xE0, struct.pack("<2H", 0, number) + bytes(16)) for number in (0, code))
    cells: dict[tuple[int, int], Any] = {(0, 0): "a", (1, 0): excel97_record(0x203, place97(1, 0, 1) + double(43831))}
    table = sa.read_columns(io.BytesIO(excel97_book(cells, globals_=styles)), format="xlsx")
    assert table["a"].tolist() == [np.datetime64("2020-01-01").item()]


def test_cells_of_xlsb_without_a_column_stand_to_the_right_of_the_one_before() -> None:
    """SheetJS writes them so (kinds 12 to 18), also after a blank; calamine alone would pass over them."""
    style, text = bytes(4), wide("b")
    row = [binary_cell(6, 0, wide("a")), record(17, style + text), record(12, style)]
    row += [record(17, style + wide("d")), binary_cell(1, 4, b""), record(17, style + wide("f"))]
    numbers = [record(16, style + double(column + 0.5)) for column in range(6)]
    table = sa.read_columns(io.BytesIO(zipped(members_of(binary_book({0: row, 1: numbers})))), format="xlsx", header=1)
    assert list(table) == ["a", "b", "C", "d", "E", "f"]
    assert [float(column[0]) for column in table.values()] == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["xls", "xlsb"])
def test_arrays_go_through_other_programs(suffix: str, tmp_path: Path) -> None:
    """LibreOffice saves .xls, SheetJS .xls and .xlsb; they read ours from .xlsx, so all numbers are doubles."""
    source = np.random.default_rng(5)
    arrays = {
        "t": source.normal(size=(40, 3)).round(6),
        "i": np.arange(-5, 300, dtype="int16"),
        "ok": source.random(90) < 0.5,
        "s": np.array(["a", "é漢😀", "=1+1", "x" * 255]),  # SheetJS cuts longer ones in .xls
        "d": np.array(["1999-12-31", "2026-02-28"], "datetime64[D]"),
        "g": np.array([None, 1.5, "x", True, "12", 2.0], dtype=object),
        "c": np.array([1 + 2j, complex(-0.0, np.inf)]),
        "f": np.array([[1.5, np.nan, -np.inf], [0.25, 1e-9, 7]]),
        "l": np.array([1, 2**60, -5]),
    }
    sa.write(tmp_path / "a.xlsx", arrays, guard=False)  # SheetJS cuts the texts of a guard too
    saved = [resave_by_node("sheetjs", tmp_path / "a.xlsx", tmp_path / f"node.{suffix}")]
    saved += [resave(tmp_path / "a.xlsx", suffix, tmp_path / "office")] if suffix == "xls" else []
    for path in saved:
        read = sa.read(path)
        for name, array in arrays.items():
            assert read[name].dtype.kind == array.dtype.kind, name
            assert repr(read[name].tolist()) == repr(array.tolist()), name
        assert list(sa.scan(path)) == list(arrays)
        assert not [finding for finding in sa.check(path) if finding.severity == "error"]


@pytest.mark.parametrize("name", ["56563a.xls", "Test10x10000.xls", "51710.xlsb", "Test10x10000.xlsb"])
def test_workbooks_of_other_people(name: str) -> None:
    if not (FOREIGN / name).exists():
        pytest.skip(f"{name} is not in the folder of foreign workbooks")
    table = sa.read_columns(FOREIGN / name)
    if name.startswith("Test"):
        assert {len(column) for column in table.values()} == {9999}
        assert [table[f"col{number}"][-1] for number in range(1, 11)] == [f"1x{number}" for number in range(1, 11)]
    elif name == "51710.xlsb":
        assert list(table) == [chr(ord("A") + number) for number in range(13)]
        assert table["B"].tolist()[:6] == [10, 10, 20, 30, 40, 50]
        assert (np.isnan(table["A"][0]), table["A"][1]) == (True, 1)
    else:
        assert len(table) == 14
        assert np.unique(table["Date"]).astype(str).tolist() == ["2014-05-15", "2014-05-16", "2014-05-17"]
        assert table["Col10"][-1] == 2.099999904633


# What is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("suffix", "library"), [("xls", "xlrd"), ("xlsb", "python-calamine")])
def test_a_missing_library_is_named_with_its_extra(suffix: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = many_cells(suffix, 2)
    monkeypatch.setitem(sys.modules, library.replace("-", "_"), None)
    for verb in (sa.read, sa.scan, sa.read_columns):
        with pytest.raises(sa.MissingDependencyError, match=rf"need {library}: pip install 'sheetarray\[legacy\]'"):
            verb(io.BytesIO(content), format="xlsx")


@pytest.mark.parametrize("error", [RecursionError("deep"), AssertionError(), KeyError(3), MemoryError(), OSError("x")])
@pytest.mark.parametrize("suffix", ["xls", "xlsb"])
def test_whatever_a_library_raises_is_an_error_of_ours(
    suffix: str, error: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    path = tmp_path / f"old.{suffix}"
    path.write_bytes(many_cells(suffix, 2))
    library, function = ("xlrd", "open_workbook") if suffix == "xls" else ("python_calamine", "load_workbook")
    monkeypatch.setattr(f"{library}.{function}", fail)
    with pytest.raises(sa.FormatError, match=f"old.{suffix}.*cannot read it .{type(error).__name__}") as caught:
        sa.read(path)
    assert "save it as .xlsx" in str(caught.value.hint)
    assert [finding.severity for finding in sa.check(path)] == ["error"]


def test_a_panic_of_rust_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        """As pyo3 raises it: no Exception."""

        __module__ = "pyo3_runtime"

    def panic(*_: object) -> None:
        raise PanicException("index out of bounds")

    monkeypatch.setattr("python_calamine.load_workbook", panic)
    refused(many_cells("xlsb", 2), "PanicException: index out of bounds")


def test_names_that_refer_to_each_other_never_reach_the_library() -> None:
    """xlrd follows the names in formulas of names: a ring of them ended in a RecursionError."""
    name = struct.pack("<H2B6H4BB", 0, 0, 1, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) + b"x"
    ring = b"".join(
        excel97_record(0x18, name[:4] + struct.pack("<H", 5) + name[6:] + b"\x23" + struct.pack("<HH", 1 + at % 2, 0))
        for at in range(2)
    )
    content = excel97_book({(0, 0): "a", (1, 0): 1.5}, globals_=ring)
    assert sa.read_columns(io.BytesIO(content), format="xlsx")["a"].tolist() == [1.5]


def test_sheets_within_each_other_are_refused() -> None:
    sheet = begin(16) + excel97_record(0x0203, place97(0, 0, 0) + double(1.0)) + excel97_record(0x0A)
    end = excel97_record(0x0A)
    titles = [bytes(2) + excel97_text(title, "<B") for title in "ab"]
    first = len(begin(5)) + sum(len(excel97_record(0x85, bytes(4) + title)) for title in titles) + len(end)
    for second, message in ((first, "two sheets of the workbook overlap"), (first + len(sheet), "")):
        listed = b"".join(
            excel97_record(0x85, struct.pack("<I", at) + title)
            for at, title in zip((first, second), titles, strict=True)
        )
        content = compound({"Workbook": begin(5) + listed + end + sheet + sheet})
        if message:
            refused(content, message)
        else:
            assert sa.read_columns(io.BytesIO(content), format="xlsx", sheet="b", header=False)["A"].tolist() == [1]
    refused(compound({"Workbook": begin(5) + listed[: len(listed) // 2] + end}), "breaks off|no sheet begins")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (struct.pack("<2I", 2, 2) + b"\1\0\0a", "shared strings breaks off after 1"),
        (struct.pack("<2I", 1, 1) + b"\1\0\4" + struct.pack("<i", -4) + b"a", "breaks off after 0"),
        (struct.pack("<2I", 1, 1) + b"\1\0\x08\xff\xffa", "breaks off after 0"),
        (struct.pack("<2I", 1, 2**31) + b"\1\0\0a", "the table claims 2,147,483,648 shared strings"),
        (struct.pack("<2I", 1, 1) + b"\1\0\0a", "string 1 of a table of 1"),
    ],
)
def test_tables_of_strings_that_are_no_tables(table: bytes, message: str) -> None:
    refers = excel97_record(0x00FD, place97(0, 0, 0) + struct.pack("<I", 1))
    refused(excel97_book({(0, 0): refers}, globals_=excel97_record(0xFC, table)), message)


@pytest.mark.parametrize("suffix", ["xls", "xlsb"])
@pytest.mark.parametrize(("limit", "what"), [("legacy_cells", "cells"), ("legacy_strings", "shared strings")])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_what_is_counted(suffix: str, limit: str, what: str, more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, **{limit: (12 if what == "cells" else 3) - more})
    content = many_cells(suffix, 3)
    if more > 0:
        error = refused(
            content, f"the table claims 3 {what}" if suffix == "xls" and what != "cells" else f"more than .* {what}"
        )
        assert "save it as .xlsx" in str(error.hint)
    else:
        assert len(texts_of(content)) == 12


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_the_range_of_a_sheet_is_bounded(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, legacy_area=10 * 8 - more)
    content = binary_book({5: [binary_cell(5, 3, double(1.5))], 14: [binary_cell(5, 10, double(2.5))]})
    if more > 0:
        refused(content, "cells in a range of 10 rows and 8 columns")
    else:
        assert list(texts_of(content)) == [(5, 3), (14, 10)]


@pytest.mark.parametrize(("suffix", "bytes_of_one"), [("xls", 2), ("xlsb", 1)])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_text_to_which_many_cells_refer(
    suffix: str, bytes_of_one: int, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, legacy_text=4 * bytes_of_one * 10 - more)
    if suffix == "xls":
        table = excel97_record(0xFC, struct.pack("<2I", 1, 1) + struct.pack("<HB", 10, 0) + b"x" * 10)
        cells = {(row, 0): excel97_record(0xFD, place97(row, 0, 0) + bytes(4)) for row in range(4)}
        content = excel97_book(cells, globals_=table)
    else:
        content = binary_book({row: [binary_cell(7, 0, bytes(4))] for row in range(4)}, strings=["x" * 10])
    if more > 0:
        refused(content, "cells hold more than [0-9]+ bytes of text")
    else:
        assert grid(content) == [["x" * 10]] * 4


def test_a_cell_twice_is_refused() -> None:
    again = excel97_record(0x0203, place97(2, 0, 0) + double(2.0))
    row = excel97_record(0x00BD, struct.pack("<2H", 2, 0) + bytes(6 * 3) + b"\2\0")
    for repeated in (again * 9, row + again, again + row):
        for verb in (sa.read, sa.read_columns):
            refused(
                excel97_book({(0, 0): "a", (1, 0): 1.0, (2, 0): repeated, (3, 0): 2.0}), "a cell occurs twice", verb
            )
    twice = [binary_cell(5, 0, double(1.0))] * 2
    refused(binary_book({0: [binary_cell(6, 0, wide("a"))], 2: twice}), r"\bA3\b.*twice")
    cells = [binary_cell(5, column, double(1.0)) for column in (1, 0)]
    refused(binary_book({0: cells}), r"\bA1\b.*after a later one")


@pytest.mark.parametrize("less", [0, 1])
@pytest.mark.parametrize("text", ["abc", "漢字"])
@pytest.mark.parametrize("version", [0x0500, 0x0600])
def test_a_text_that_ends_with_its_record(text: str, less: int, version: int) -> None:
    if version == 0x0500 and not text.isascii():
        return  # before Excel 97 text is in a code page
    raw = excel97_text(text) if version == 0x0600 else struct.pack("<H", len(text)) + text.encode()
    label = excel97_record(0x0204, place97(1, 0, 0) + raw[: len(raw) - less])
    cells: dict[tuple[int, int], Any] = {(0, 0): 1.5, (1, 0): label}
    content = excel97_book(cells).replace(begin(5), begin(5, version))
    if version == 0x0500:  # whose titles have no flags
        content = content.replace(b"\x06\0arrays", b"\x06arrays ")
    if less:
        refused(content, "a text claims [0-9]+ bytes, but the record has only", partial(sa.read_columns, header=False))
    else:
        assert list(texts_of(content).values()) == ["1.5", text]


@pytest.mark.parametrize("count", [16_384, 16_385])
def test_a_row_has_no_more_cells_than_columns(count: int) -> None:
    content = binary_book({0: [binary_cell(5, column, double(1.0)) for column in range(count)]})
    if count == 16_384:
        assert len(texts_of(content)) == 16_384
    else:
        refused(content, "a cell beyond the 1048576 rows and 16384 columns")


def members_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
