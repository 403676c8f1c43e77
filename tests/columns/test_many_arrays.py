"""Very many small arrays in one sheet: each costs few calls, and no setting of the process is changed for them."""

from __future__ import annotations

import cProfile
import gc
import io

import numpy as np
import pytest

from sheetarray import read_csv, write_csv
from sheetarray.loops import describe
from sheetarray.sheets.delimited import check_csv, scan_csv


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
    ("operation", "compiled", "plain"), [(scan_csv, 100, 190), (read_csv, 148, 310), (check_csv, 180, 330)]
)
def test_an_array_of_two_elements_costs_few_calls(operation, compiled, plain):
    """Without the compiled loops each cell of a header costs some calls besides."""
    most = compiled if describe() == "compiled" else plain
    array = np.array([1.5, 2.5])
    count_calls(operation, 50, array)  # what is made once
    assert count_calls(operation, 1100, array) - count_calls(operation, 600, array) <= 500 * most


@pytest.mark.parametrize("operation", [scan_csv, read_csv, check_csv])
def test_no_setting_of_the_process_is_changed_for_many_arrays(operation, monkeypatch):
    changes: list[str] = []
    for name in ("disable", "enable", "freeze", "unfreeze", "set_threshold", "collect"):
        monkeypatch.setattr(gc, name, lambda *_, name=name: changes.append(name))
    list(operation(text_of(4000, np.array([1.5, 2.5]))))
    assert changes == []
