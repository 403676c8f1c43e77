"""Sheets as rows of cells, to be changed as people change them."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
from cases import assert_same

import sheetarray as sa

ARRAYS = {
    "t": np.array([[1.5, -0.0], [np.nan, 2.0]]),
    "i": np.array([1, 2, 3], dtype="int8"),
    "s": np.array(["a", "", "007"]),
}


def grid(arrays: dict[str, Any], **options: Any) -> list[list[str]]:
    """The cells of a written file."""
    file = io.StringIO()
    sa.write_csv(file, arrays, **options)
    return [
        list(row)
        for row in csv.reader(io.StringIO(file.getvalue(), newline=""), delimiter=options.get("delimiter", ","))
    ]


def put(rows: list[list[Any]]) -> io.StringIO:
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    file.seek(0)
    return file


def read(rows: list[list[Any]], **options: Any) -> dict[str, Any]:
    return sa.read_csv(put(rows), **options)


def same(result: dict[str, Any], expected: dict[str, Any] = ARRAYS) -> None:
    assert list(result) == list(expected)
    for name, array in expected.items():
        assert_same(result[name], array)


def intact(rows: list[list[Any]]) -> None:
    assert list(sa.check(put(rows), format="csv")) == []
