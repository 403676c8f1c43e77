"""Binary workbooks, .xls and .xlsb, whose records are read many at a time: pieces, runs, and what is kept of them."""

from __future__ import annotations

import io
import struct
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest
from foreign_books import (
    begin,
    binary_book,
    binary_cell,
    excel97_book,
    excel97_record,
    excel97_text,
    grid,
    opened,
    wide,
)

import sheetarray as sa
from sheetarray.columns import Request
from sheetarray.dtypes import from_name
from sheetarray.files import Source
from sheetarray.sheets.excel.reader.excel97 import Excel97Book
from sheetarray.sheets.excel.reader.kept_runs import KeptRuns
from sheetarray.sheets.excel.workbook import Workbook

FLOAT = from_name("float64")


def many_cells(suffix: str, rows: int) -> bytes:
    """A workbook with rows of an integer, a shared string, a double and the text of a formula."""
    double, place = struct.Struct("<d").pack, struct.Struct("<3H").pack
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
        cells[row, 0] = excel97_record(0x027E, place(row, 0, 0) + struct.pack("<i", row << 2 | 2))
        cells[row, 1] = excel97_record(0x00FD, place(row, 1, 0) + struct.pack("<I", row % 3))
        cells[row, 2] = row / 7
        cells[row, 3] = excel97_record(0x0006, place(row, 3, 0) + struct.pack("<BxB3xH", 0, 0, 0xFFFF) + bytes(8))
        cells[row, 3] += excel97_record(0x0207, excel97_text(f"t{row}"))
    table = struct.pack("<2I", 3, 3) + excel97_text("a") + excel97_text("é") + excel97_text("漢")
    return excel97_book(cells, globals_=excel97_record(0xFC, table))


@pytest.mark.parametrize("suffix", ["xls", "xlsb"])
@pytest.mark.parametrize("rows", [1, 300])
def test_cells_of_many_records(suffix: str, rows: int) -> None:
    content = many_cells(suffix, rows)
    expected: list[list[Any]] = [[row, ("a", "é", "漢")[row % 3], row / 7, f"t{row}"] for row in range(rows)]
    assert grid(content) == expected
    with Source(io.BytesIO(content)) as source, Workbook(source) as workbook:
        sheet = workbook.sheet("arrays")
        for _ in range(2):  # the second time from what was kept
            ((_, numbers),) = sheet.columns([Request(2, 0, FLOAT)], typed=True)
            assert list(numbers) == [row / 7 for row in range(rows)]


@pytest.mark.parametrize("count", [1, 2, 4095, 4096, 4097, 9000])
def test_runs_of_records_of_one_kind(count: int) -> None:
    strings = ["a", "b"]
    lines = {row: [binary_cell(7, 0, struct.pack("<I", row % 2))] for row in range(count)}
    wide_row = {0: [binary_cell(7, column, struct.pack("<I", column % 2)) for column in range(count)]}
    for content, across in (
        (binary_book(lines, strings=strings), False),
        (binary_book(wide_row, strings=strings), True),
    ):
        with Source(io.BytesIO(content)) as source, Workbook(source) as workbook:
            runs = list(workbook._container.cells("arrays", numeric=False))
        places = np.concatenate([run.columns if across else run.rows for run in runs]).tolist()
        assert places == list(range(count))
        assert [text for run in runs for text in run.values] == [strings[place % 2] for place in range(count)]


def test_the_text_of_a_formula_counts_beyond_the_piece_that_holds_the_formula() -> None:
    """The first piece of an .xls ends after 65,536 bytes; a chart, a formula and its text lie on both sides of that."""
    place = struct.Struct("<3H").pack
    title, end = bytes(2) + excel97_text("arrays", "<B"), excel97_record(0x0A)
    start = len(begin(5)) + len(excel97_record(0x85, bytes(4) + title)) + len(end)
    for filler in range(65_300, 65_560, 2):
        sheet = begin(16) + excel97_record(0x5D, bytes(filler // 8)) * 8
        sheet += begin(32) + excel97_record(0x0203, place(9, 9, 0) + bytes(8)) + end
        sheet += excel97_record(0x0006, place(1, 0, 0) + struct.pack("<BxB3xH", 0, 0, 0xFFFF) + bytes(8))
        sheet += excel97_record(0x0221, bytes(12)) + excel97_record(0x0207, excel97_text("far"))
        sheet += excel97_record(0x0203, place(2, 0, 0) + struct.pack("<d", 2.5)) + end
        stream = begin(5) + excel97_record(0x85, struct.pack("<I", start) + title) + end + sheet
        runs = list(Excel97Book(stream).cells("arrays", numeric=False))
        assert [value for run in runs for value in run.values] == ["far", "2.5"]
        assert [row for run in runs for row in run.rows.tolist()] == [1, 2]


@pytest.mark.parametrize("suffix", ["xls", "xlsb"])
def test_a_cell_costs_no_call_of_a_function(suffix: str) -> None:
    place = struct.Struct("<3H").pack
    if suffix == "xlsb":
        content = binary_book({row: [binary_cell(5, column, bytes(8)) for column in range(50)] for row in range(40)})
    else:
        content = excel97_book({
            (row, column): excel97_record(0x027E, place(row, column, 0) + struct.pack("<i", row << 2 | 2))
            for row in range(40) for column in range(50)
        })  # fmt: skip
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    def cells() -> int:
        with Source(io.BytesIO(content)) as source, Workbook(source) as workbook:
            return sum(map(len, workbook._container.cells("arrays", numeric=True)))

    cells()  # polars is imported
    sys.setprofile(count)
    try:
        number = cells()
    finally:
        sys.setprofile(None)
    assert number == 2000
    assert calls < 4 * 2000  # opening included; one call for each field of each cell would be ten times as many


@pytest.mark.parametrize("count", [2**20 - 1, 2**20, 2**20 + 1])
def test_of_how_many_cells_the_runs_are_kept(count: int) -> None:
    class Run:
        def __init__(self, size: int) -> None:
            self.size = size

        def __len__(self) -> int:
            return self.size

    made = 0

    def make() -> Iterator[Any]:
        nonlocal made
        made += 1
        yield Run(count - 5)
        yield Run(5)

    kept = KeptRuns()
    for _ in range(2):
        assert sum(map(len, kept.read("a", make, "numbers"))) == count
    assert made == (1 if count <= 2**20 else 2)
    list(kept.read("b", make, "numbers"))
    before = made
    list(kept.read("a", make, "numbers"))  # another sheet took its place
    assert made == before + 1
    next(kept.read("c", make, "numbers"))  # a look that is given up keeps nothing
    assert len(list(kept.read("c", make, "numbers"))) == 2


def test_a_text_of_no_formula_is_refused() -> None:
    with pytest.raises(sa.FormatError, match="before all formulas"):
        grid(excel97_book({(0, 0): excel97_record(0x0207, excel97_text("x")), (1, 0): 1.5}))


def test_numbers_of_binary_workbooks_keep_every_bit() -> None:
    source = np.random.default_rng(11)
    bits = source.integers(0, 2**64, 3000, dtype=np.uint64).view(np.float64)
    numbers = np.concatenate([bits[np.isfinite(bits)], source.random(500), [-0.0, 2.0**53, 2.0**53 - 1, 5e-324, 1e-5]])
    content = binary_book({row: [binary_cell(5, 0, struct.pack("<d", value))] for row, value in enumerate(numbers)})
    for typed in (True, False):
        ((_, cells),) = opened(content).columns([Request(0, 0, FLOAT)], typed=typed)
        assert np.array([float(cell) for cell in cells]).tobytes() == numbers.tobytes()
