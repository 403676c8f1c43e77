"""Old workbooks, .xls and .xlsb, by calamine in a process of its own: what they hold, and what ends that process."""

from __future__ import annotations

import io
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foreign_books import (
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
    with opened(content) as sheet, sheet.runs() as runs:
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
        content = excel97_book(expected)
    else:
        content = binary_book(
            {row: [binary_cell(5, column, double(value))] for (row, column), value in expected.items()}
        )
    assert texts_of(content) == {place: str(value) for place, value in expected.items()}
    with opened(content) as sheet:
        assert sheet.max_rows == (65_536 if suffix == "xls" else 2**20)


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
    """The same cells in both kinds; errors and empty texts are blanks, as docs/formats.md says."""
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
    expected = ["a", None, "1900-02-28", "1900-02-28", "1900-03-01", "2020-01-01T06:00:00", 0.5, 0]
    for content, more in ((excel97_book(cells, globals_=styles), ["1.5"]), (binary_book(rows, dates=True), [])):
        assert [row[0] if row else None for row in grid(content)] == [*expected, *more]


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


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["xls"])
def test_arrays_go_through_other_programs(suffix: str, tmp_path: Path) -> None:
    """LibreOffice and SheetJS save .xls; they read ours from .xlsx, so all numbers are doubles."""
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
    saved.append(resave(tmp_path / "a.xlsx", suffix, tmp_path / "office"))
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


@pytest.mark.parametrize("suffix", ["xls", "xlsb"])
def test_a_missing_library_is_named_with_its_extra(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = many_cells(suffix, 2)
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    for verb in (sa.read, sa.scan, sa.read_columns):
        with pytest.raises(sa.MissingDependencyError, match=r"python-calamine: pip install 'sheetarray\[legacy\]'"):
            verb(io.BytesIO(content), format="xlsx")


@pytest.mark.parametrize("executable", ["", None])
def test_a_program_without_an_interpreter_says_so(executable: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    with pytest.raises(sa.MissingDependencyError, match="this program has no interpreter"):
        sa.read_columns(io.BytesIO(many_cells("xls", 2)), format="xlsx")


def test_a_frozen_program_is_not_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(sa.MissingDependencyError, match="this program has no interpreter"):
        sa.read_columns(io.BytesIO(many_cells("xls", 2)), format="xlsx")


HARM = {
    "a panic of Rust": (
        lambda: binary_book({0: [binary_cell(7, 0, struct.pack("<I", 9))]}, strings=["x"]),
        "PanicException: index out of bounds",
    ),
    "an abort, since memory ends": (lambda: excel97_book({(0, 0): 1.5, (65_535, 255): 2.5}), "ended with status -6"),
    "a cell beyond a sheet": (lambda: binary_book({0: [binary_cell(5, 2**31, double(1.0))]}), "a cell beyond the"),
    "a compound file of nothing": (lambda: compound({"x": b"y"}), "cannot read it"),
    "a workbook that breaks off": (lambda: many_cells("xls", 300)[:9000], "cannot read it"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded, and an abort has this number, on Linux")
@pytest.mark.parametrize("name", HARM)
def test_a_workbook_that_harms_the_library_is_refused(name: str, tmp_path: Path) -> None:
    make, reason = HARM[name]
    path = tmp_path / "old.xls"
    path.write_bytes(make())
    turn = list(HARM).index(name)
    for verb in ([sa.read, sa.scan, sa.read_columns] * 2)[turn % 3 :][: 3 if turn == 0 else 1]:
        with pytest.raises(sa.FormatError, match=f"old.xls.*{reason}"):
            verb(path, format="xlsx")
    assert "error" in [finding.severity for finding in sa.check(path, format="xlsx")]


FAULTS = {
    "while True: pass": "more than 1 seconds",
    "import time; time.sleep(600)": "more than 1 seconds",
    "import os; os.abort()": "its process ended with status",
    "import ctypes; ctypes.string_at(0)": "its process ended with status",
    "bytearray(2**40)": "MemoryError",
    "import os; os._exit(0)": "its process ended with status 0",
    "raise RecursionError('deep')": "RecursionError: deep",
    "raise KeyError('\\x1b[31m')": r"KeyError: .*\\x1b",
    "import sys; sys.stdout.buffer.write(b'B' + bytes(8)); sys.stdout.flush()": "its process ended|cannot read it",
    "import sys; sys.stdout.buffer.write(b'T' + b'\\xff' * 99); sys.stdout.flush()": "cannot read it",
    "import os; os.write(1, b'T' + (9).to_bytes(8, 'little') + b'\\xff' * 9)": "does not fit together",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_library_that_misbehaves_is_ended(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is the real one; the library in it does what a file could make it do."""
    (tmp_path / "python_calamine").mkdir()
    (tmp_path / "python_calamine" / "__init__.py").write_text(f"def load_workbook(_):\n    {fault}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "python_calamine", raising=False)
    set_limits(monkeypatch, legacy_seconds=1)
    path = tmp_path / "old.xls"
    path.write_bytes(many_cells("xls", 2))
    with pytest.raises(sa.FormatError, match=f"old.xls.*{FAULTS[fault]}"):
        sa.read(path)


@pytest.mark.parametrize("more", [-1, 0, 1])
@pytest.mark.parametrize("suffix", ["xls", "xlsb"])
def test_cells_are_counted(suffix: str, more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    content = many_cells(suffix, 3)
    set_limits(monkeypatch, legacy_cells=12 - more)
    if more > 0:
        assert "save it as .xlsx" in str(refused(content, "more than 11 cells").hint)
    else:
        assert len(texts_of(content)) == 12


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_text_to_which_many_cells_refer_is_counted(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    content = binary_book({row: [binary_cell(7, 0, bytes(4))] for row in range(4)}, strings=["x" * 10])
    set_limits(monkeypatch, legacy_text=43 - more)  # with a byte between two texts
    if more > 0:
        refused(content, "more than 42 bytes of text")
    else:
        assert grid(content) == [["x" * 10]] * 4


def members_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
