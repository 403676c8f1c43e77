"""What the tests of recorded tables share: values of each kind, tables of them, and hands that edit workbooks."""

from __future__ import annotations

import base64
import json
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import xarray as xr

import sheetarray as sa

KINDS: dict[str, Any] = {
    "float64": np.array([0.1 + 0.2, -0.0, np.nan, np.inf, -np.inf, 5e-324]),
    "zeros": np.array([-0.0, 3.0, 0.0, 1.0, -0.0, 2.0]),
    "float32": np.array([1 / 3, np.nan, -0.0, 1e30, 2, 3], np.float32),
    "float16": np.array([1 / 3, np.nan, -0.0, 6e4, 2, 3], np.float16),
    "int64": np.array([2**63 - 1, -(2**63), 0, 1, 2, 3]),
    "uint64": np.array([2**64 - 1, 0, 1, 2, 3, 4], np.uint64),
    "uint8": np.arange(6, dtype=np.uint8),
    "bool": np.array([True, False] * 3),
    "string": np.array(["007", "=1+1", "NaN", "", "TRUE", " a "]),
    "complex128": np.array([1 + 2j, complex(-0.0, np.nan), np.inf, 0, 1j, 3]),
    "complex64": np.array([1 + 2j, 0, 1j, 3, 4, 5], np.complex64),
    "days": np.array(["2020-01-01", "NaT", "1850-05-05", "9999-12-31", "2020-02-29", "1900-03-01"], "M8[D]"),
    "hours": np.array(["2020-01-01T05", "NaT", "1850-05-05", "2020-12-31", "2020-02-29", "1950-03-01"], "M8[h]"),
    "nanoseconds": np.array(["2020-01-01T00:00:00.000000001", "NaT", *["1950-03-01"] * 4], "M8[ns]"),
    "durations": np.array([1, 2, "NaT", -5, 2**53 + 1, 0], "m8[ns]"),
    "texts": np.array(["a", None, "1", None, "b", "c"], object),
    "mixed": np.array(["1", 1, None, True, 2.5, "=x"], object),
}


def plain(values: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {"v": values, "k": np.arange(len(values))}


def labelled(values: np.ndarray[Any, Any]) -> xr.Dataset:
    grid = np.asfortranarray(values.reshape(2, 3))
    variables = {"v": (("x", "y"), grid, {"units": "K"}), "z": ("y", np.arange(3.0))}
    return xr.Dataset(variables, {"x": [2.5, 1.5], "y": np.array(["q", "1", "b"])}, {"title": "T"})


def write_quietly(target: Any, table: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)  # of what read_columns would read otherwise
        return sa.write_table(target, table, **options)


def write_arrays(path: Path, table: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        sa.write(path, table)


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert list(one) == list(other)
    for name, array in one.items():
        again = other[name]
        assert (array.dtype, array.shape, array.strides) == (again.dtype, again.shape, again.strides), name
        if array.dtype == object:
            pairs = zip(array.ravel().tolist(), again.ravel().tolist(), strict=True)
            assert all(type(a) is type(b) and a == b for a, b in pairs), name
        elif array.dtype.kind in "fc":
            np.testing.assert_array_equal(array, again)
            real = ~np.isnan(array.real)
            assert (np.signbit(array.real) == np.signbit(again.real))[real].all(), name
        else:
            assert array.tobytes() == again.tobytes(), name


GRID = xr.Dataset(
    {
        "t": (("site", "day"), np.arange(12.0).reshape(3, 4) / 7, {"units": "degC"}),
        "height": ("site", [1 / 3, 2.5, 0.1 + 0.2]),
    },
    {"site": ["Zürich", "Bern", "Chur"], "day": np.arange("2020-01-01", "2020-01-05", dtype="M8[D]").astype("M8[s]")},
)


def edit(path: Path, change: Any) -> None:
    book = openpyxl.load_workbook(path)
    change(book)
    book.save(path)


def rows_of(book: Any) -> list[list[Any]]:
    return [[cell.value for cell in row] for row in book["table"].iter_rows()]


def put_rows(book: Any, rows: list[list[Any]]) -> None:
    for number, row in enumerate(rows, 1):
        for place, value in enumerate(row, 1):
            book["table"].cell(number, place, value)


def change_record(book: openpyxl.Workbook, change: Callable[[dict[str, Any]], Any], sheet: str = "table") -> None:
    """Change what a workbook keeps about the table of a sheet."""
    first, *others = list(book.custom_doc_props.props)
    packed = "".join(str(entry.value) for entry in (first, *others))
    record = json.loads(zlib.decompress(base64.b64decode(packed)))
    change(record["sheets"][sheet]["table"])
    first.value = json.dumps(record)
    for entry in others:
        del book.custom_doc_props[entry.name]
