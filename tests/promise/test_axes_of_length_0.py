"""Arrays with axes of length 0, alone and beside others, come back from every format, or are refused by name.

An array beside one of them came back from Parquet as memory that nobody had written.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sheetarray as sa
from sheetarray.formats import FORMATS

ROWS = [row for row in FORMATS.values() if row.suffixes and row.instead is None]
SHAPES = [(0,), (0, 3), (3, 0), (2, 0, 4), (0, 0), (1, 2, 3, 0)]
DTYPES = ["f8", "f2", "i8", "u1", "?", "c16", "<U3", "M8[D]", "M8[ns]", "m8[s]"]


def same(array: Any, other: np.ndarray[Any, Any]) -> bool:
    array = np.asarray(array)
    return array.shape == other.shape and array.dtype.kind == other.dtype.kind and array.tobytes() == other.tobytes()


def try_to_write(path: Path, arrays: dict[str, np.ndarray[Any, Any]], name: str) -> str:
    """Write arrays, and return what a refusal says; an empty text for none."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* keeps no ", sa.SheetArrayWarning)
            sa.write(path, arrays, format=name)
    except (sa.DTypeError, sa.LimitError) as error:
        return str(error)
    return ""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("shape", SHAPES)
def test_axes_of_length_0_come_back_or_are_refused(row: Any, shape: tuple[int, ...], tmp_path: Path) -> None:
    for number, dtype in enumerate(DTYPES[SHAPES.index(shape) % 3 :: 3]):
        path = tmp_path / f"{number}{row.suffixes[0]}"
        empty = np.zeros(shape, dtype)
        arrays: dict[str, np.ndarray[Any, Any]] = {path.stem: empty}
        if row.keeps is None or row.keeps.several:
            beside = {"full": np.arange(1.0, 7.0).reshape(2, 3), "one": np.array(2.5), "n": np.arange(5)}
            others = {"e": empty, "also": np.zeros(shape[::-1], dtype)}
            groups = [arrays, {"e": empty, **beside}, {**beside, "e": empty}, others]
            arrays = groups[(number + SHAPES.index(shape)) % 4]  # each meets each shape and each dtype in some format
        if refusal := try_to_write(path, arrays, row.name):
            assert any(name in refusal for name in arrays), refusal
            continue
        found = sa.read(path, format=row.name)
        assert {*found} == {*arrays}, (dtype, arrays)
        assert all(same(found[name], array) for name, array in arrays.items()), (dtype, arrays, found)
        assert list(sa.check(path, format=row.name)) == []
