"""Short blocks of rows, whose cells are made for all columns of a kind at once: the bytes are those of long blocks."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cases import dtype_cases

import sheetarray as sa
from sheetarray.sheets.excel import rows
from sheetarray.sheets.excel.rows import SHORT_BLOCK


def content(arrays: dict[str, Any], **options: Any) -> bytes:
    file = io.BytesIO()
    sa.write(file, arrays, format="xlsx", **options)
    return file.getvalue()


def mixed(step: int) -> dict[str, Any]:
    """Arrays of every dtype, or of one in so many, some alike and some shorter than others, in no order."""
    arrays: dict[str, Any] = {}
    for copy in range(3):
        for name, array in list(dtype_cases().items())[::step]:
            flat = np.asarray(array).reshape(-1)
            arrays[f"{name} {copy}"] = flat[: len(flat) - copy] if copy < 2 else flat
    arrays["not all finite"] = np.array([1.5, np.nan, -np.inf, -0.0])
    arrays["wide"] = np.array([2**62, 1, -(10**15), 10**15 - 1])
    arrays["large"] = np.array([10**11, 1, 2, 3])
    arrays["grid"] = np.arange(12.0).reshape(3, 4)
    return arrays


@pytest.mark.parametrize(
    "options", [{}, {"cells": "text"}, {"dates": "real"}, {"views": {"grid": sa.View(editable=True)}}]
)
def test_short_blocks_have_the_bytes_of_long_ones(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    arrays = mixed(3 if options else 1)
    short = content(arrays, **options)
    monkeypatch.setattr(rows, "SHORT_BLOCK", 0)
    assert content(arrays, **options) == short
    back = sa.read(io.BytesIO(short), format="xlsx")
    assert all(np.array_equal(back[name], array) for name, array in arrays.items() if array.dtype.kind in "iub")


@pytest.mark.parametrize("height", [SHORT_BLOCK - 1, SHORT_BLOCK, SHORT_BLOCK + 1])
def test_blocks_at_the_boundary(height: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    made: Callable[..., bytes] = rows.RowWriter._short_block_xml
    monkeypatch.setattr(
        rows.RowWriter, "_short_block_xml", lambda self, row, count: taken.append(count) or made(self, row, count)
    )
    arrays = {"x": np.random.default_rng(1).standard_normal(height), "n": np.arange(height - 1), "empty": np.zeros(0)}
    back = sa.read(io.BytesIO(content(arrays)), format="xlsx")
    assert all(back[name].tobytes() == array.tobytes() for name, array in arrays.items())
    assert taken == ([height] if height <= SHORT_BLOCK else [])
