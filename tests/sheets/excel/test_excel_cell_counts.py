"""How many cells a workbook may have is bounded by the bytes of its file; what we write has bytes enough."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from foreign_books import document, table_cell, table_row
from limits import set_limits

import sheetarray as sa

COUNTS = pytest.mark.parametrize(("more", "is_read"), [(-1, True), (0, True), (1, False)])
CELLS: dict[str, tuple[list[Any], int]] = {
    "numbers": ([1.5, 2], 20),
    "truths": ([True, False], 20),
    "texts": (["a", "b"], 40),
    "both": (["a", 1], 30),
    "errors": (["#N/A", 1], 80),
    "formulas": (["=A1", "=1+1"], 240),  # without values, as openpyxl writes them
}


@COUNTS
@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("sheets", [1, 2])
def test_the_cells_of_all_sheets_are_counted(
    kind: str, sheets: int, more: int, is_read: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (row, weight), path = CELLS[kind], tmp_path / "t.xlsx"
    book = openpyxl.Workbook()
    for number in range(sheets):
        sheet = book.active if number == 0 else book.create_sheet()
        assert sheet is not None
        for _ in range(10):
            sheet.append(row)
    book.save(path)
    set_limits(monkeypatch, inflated_values=sheets * weight - more - path.stat().st_size // 32)
    for _ in range(2):  # what is read twice counts once
        if is_read:
            assert len(sa.scan(path)) == 2 * sheets or kind == "formulas"
        else:
            with pytest.raises(sa.FormatError, match=r"more cells than files of its size hold.*\(if this is intended"):
                sa.scan(path)


@COUNTS
def test_the_cells_that_repetition_makes_in_ods_are_counted(
    more: int, is_read: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = table_row(table_cell("a"), table_cell(1.0, repeated=3), repeated=10)
    path = tmp_path / "t.ods"
    path.write_bytes(document({"s": row}))
    set_limits(monkeypatch, inflated_values=50 - more - path.stat().st_size // 32)
    if is_read:
        assert len(sa.read_columns(path)) == 4
    else:
        with pytest.raises(sa.FormatError, match="more cells than files of its size hold"):
            sa.read_columns(path)


ARRAYS: dict[str, Any] = {"zeros": np.zeros(12_000), "texts": np.full(6_000, "ab"), "NaN": np.full(6_000, np.nan)}


@pytest.mark.parametrize("estimated", [0, 2**26])
@pytest.mark.parametrize("name", ARRAYS)
def test_what_is_written_has_bytes_enough_for_its_cells(
    name: str, estimated: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, arrays = tmp_path / "t.xlsx", {"t": ARRAYS[name]}
    sa.write(path, arrays, guard=False)
    unpadded = path.stat().st_size
    monkeypatch.undo()
    set_limits(monkeypatch, inflated_values=200, estimated_cells=estimated)
    with pytest.raises(sa.FormatError, match="more cells than files of its size hold"):
        sa.read(path)
    sa.write(path, arrays, guard=False)
    back = sa.read(path)
    assert all(np.array_equal(back[each], array, equal_nan=array.dtype.kind == "f") for each, array in arrays.items())
    assert unpadded < path.stat().st_size < 2**23
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
    openpyxl.load_workbook(path)


def test_what_is_changed_has_bytes_enough_for_its_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.xlsx"
    set_limits(monkeypatch, inflated_values=200, estimated_cells=0)
    sa.write(path, {"t": np.zeros(3000)})
    for added in (1, 2000):
        sa.append(path, {"t": np.ones(added)})
        sa.write(path, {f"u{added}": np.full(500, "a")}, mode="a", sheet=f"s{added}")
    arrays = sa.read(path)
    assert (arrays["t"].sum(), len(arrays["t"]), len(arrays["u2000"])) == (2001, 5001, 500)


@pytest.mark.parametrize(("width", "weight"), [(1000, 1000), (1001, 1351), (1002, 1702)])
@COUNTS
def test_the_columns_of_a_table_beyond_a_thousand_are_counted(
    width: int, weight: int, more: int, is_read: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, book = tmp_path / "t.xlsx", openpyxl.Workbook()
    book.worksheets[0].append([*range(width)])
    book.save(path)
    set_limits(monkeypatch, inflated_values=weight - more - path.stat().st_size // 32)
    if is_read:
        assert len(sa.read_columns(path, header=0)) == width
    else:
        with pytest.raises(sa.FormatError, match="more cells than files of its size hold"):
            sa.read_columns(path, header=0)


def test_large_numbers_of_a_table_count_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, book = tmp_path / "t.xlsx", openpyxl.Workbook()
    for number in (2.0**53, 1e99, 5.0):
        book.worksheets[0].append([number])
    book.save(path)
    for more in (0, 1):
        set_limits(monkeypatch, inflated_values=5 - more - path.stat().st_size // 32)
        if not more:
            assert sa.read_columns(path, header=0)["A"].tolist() == [2.0**53, 1e99, 5.0]
        else:
            with pytest.raises(sa.FormatError, match="more cells than files of its size hold"):
                sa.read_columns(path, header=0)
