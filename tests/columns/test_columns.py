"""Names of arrays beside damaged ones, names that are no formulas, and very many small arrays in one sheet."""

from __future__ import annotations

import cProfile
import csv
import gc
import io
from typing import Any

import numpy as np
import openpyxl
import pytest
from command_line import has_compiled_loops

import sheetarray as sa
from sheetarray import write_csv
from sheetarray.errors import FormatError

A, B = np.arange(24.0).reshape(2, 3, 4), np.arange(5, dtype="int16")


@pytest.mark.parametrize("row", range(2, 24))
def test_an_array_keeps_its_name_whatever_cell_of_the_other_header_is_damaged(row: int) -> None:
    file = io.BytesIO()
    sa.write_excel(file, {"a": A, "b": B})
    book = openpyxl.load_workbook(io.BytesIO(file.getvalue()))
    book.worksheets[0].cell(row, 1).value = "x"
    damaged = io.BytesIO()
    book.save(damaged)
    assert list(sa.read_excel(io.BytesIO(damaged.getvalue()), ["b"])) == ["b"]
    with pytest.raises(FormatError):
        sa.read_excel(io.BytesIO(damaged.getvalue()))


def test_a_name_stands_in_the_row_of_another_whose_data_begin_beside_it() -> None:
    file = io.BytesIO()
    sa.write_excel(file, {"a": A, "b": B})
    book = openpyxl.load_workbook(io.BytesIO(file.getvalue()))
    book.worksheets[0].move_range("B2:B30", rows=1)  # its data begin elsewhere: so it is no sheet that was written so
    moved = io.BytesIO()
    book.save(moved)
    assert list(sa.read_excel(io.BytesIO(file.getvalue()))) == ["a", "b"]
    assert list(sa.read_excel(io.BytesIO(moved.getvalue()))) == ["a", "B"]


# Very many small arrays in one sheet --------------------------------------------------------------------------


def text_of(count: int, array: np.ndarray, orient: str = "columns") -> io.StringIO:
    """Return a text with many arrays one below another."""
    one = io.BytesIO()
    write_csv(one, {"name": array}, orient=orient)
    text = one.getvalue().decode()
    return io.StringIO("".join(text.replace("name", f"a{number}", 1) for number in range(count)))


def count_calls(operation, count: int, array: np.ndarray, orient: str = "columns") -> int:
    """Return how many functions are called."""
    text, profile = text_of(count, array, orient), cProfile.Profile()
    profile.enable()
    list(operation(text))
    profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize(
    ("operation", "compiled", "plain"), [(sa.scan, 100, 190), (sa.read, 148, 310), (sa.check, 195, 350)]
)
def test_an_array_of_two_elements_costs_few_calls(operation, compiled, plain):
    """Without the compiled loops each cell of a header costs some calls besides."""
    most = compiled if has_compiled_loops() else plain
    array = np.array([1.5, 2.5])
    count_calls(operation, 50, array)  # what is made once
    assert count_calls(operation, 1100, array) - count_calls(operation, 600, array) <= 500 * most


@pytest.mark.parametrize("operation", [sa.scan, sa.read, sa.check])
def test_no_setting_of_the_process_is_changed_for_many_arrays(operation, monkeypatch):
    changes: list[str] = []
    for name in ("disable", "enable", "freeze", "unfreeze", "set_threshold", "collect"):
        monkeypatch.setattr(gc, name, lambda *_, name=name: changes.append(name))
    list(operation(text_of(4000, np.array([1.5, 2.5]))))
    assert changes == []


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@x", "\tx", "\rx"])
@pytest.mark.parametrize("orient", ["columns", "rows"])
def test_a_name_is_no_formula(name: str, orient: Any) -> None:
    rows = {name: np.arange(3), "z": np.array(["x"])}
    file = io.StringIO()
    sa.write_csv(file, rows, orient=orient)
    file.seek(0)
    assert list(sa.read_csv(file)) == [name, "z"]
    first = next(csv.reader(io.StringIO(file.getvalue(), newline="")))[0]
    assert not first.startswith(("=", "+", "-", "@", "\t", "\r"))
