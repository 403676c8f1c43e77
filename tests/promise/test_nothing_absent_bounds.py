"""Searching sheets for arrays is bounded: hostile words, and very many arrays, take little time and memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from children import SECONDS, measured, run_limited
from examples import PART

import sheetarray as sa

pytestmark = [measured]

_OPERATION = """
    import sys, warnings
    import sheetarray as sa
    warnings.simplefilter("ignore")
    path, *operations = sys.argv[1:]
    for operation in operations:
        try:
            result = list(getattr(sa, operation)(path))
            print(len(result))
        except sa.SheetArrayError as error:
            print(type(error).__name__, str(error)[:200])
"""
MILLION = 10**6 // PART
COLUMNS = 40_000 // PART
_TABLE = b"a,b\n1,2\n"
HOSTILE: dict[str, Callable[[], bytes]] = {
    "commas": lambda: b"," * 30 * MILLION,
    "versions": lambda: b"version," * max(2 * MILLION, 2**17 + 1),  # as many are refused; less do not shrink
    "keys": lambda: b"ndarray,shape," * 2 * MILLION,
    "spaces": lambda: b" data " * 5 * MILLION,
    "broken anchors": lambda: b"version\nx\nndarray\n" * 1 * MILLION,
    "anchors alone": lambda: b"version\n1.0.0\nndarray\n" * (1_300_000 // PART),
    "anchors in rows": lambda: b"version,1.0.0,ndarray\n" * (1_300_000 // PART),
    "repeated keys": lambda: b"version\n1.0.0\nndarray\n" + b"shape\n2\n" * (3_500_000 // PART),
    "repeated keys in a row": lambda: b"version,1.0.0,ndarray," + b"shape,2," * (3_500_000 // PART),
    "quotes": lambda: b'"' * 30 * MILLION,
    "empty quotes": lambda: b'"",' * 8 * MILLION,
    "stray quotes": lambda: b'a"b,' * (7_500_000 // PART),
    "stray quotes in lines": lambda: b'a"b\n' * (7_500_000 // PART),
    "carriage returns": lambda: b"\r" * 30 * MILLION,
    "lines that end in one": lambda: b"a\r" * 15 * MILLION,
    "blank lines above": lambda: b"\n" * 30 * MILLION + _TABLE,
    "blank lines of Windows above": lambda: b"\r\n" * 15 * MILLION + _TABLE,
    "lines of spaces above": lambda: b" \n" * 15 * MILLION + _TABLE,
    "blank lines below": lambda: _TABLE + b"\n" * 30 * MILLION,
    "a delimiter in each line": lambda: b",\n" * 4 * MILLION,
    "quotes within cells": lambda: b"x,y\n" + b'5" a,1\n' * 1 * MILLION,
    "a numeral of megabytes": lambda: b"x\n" + b"0." + b"1" * 8 * MILLION + b"\n1\n",
    "columns of one name": lambda: b"x," * COLUMNS + b"x\n" + b"1," * COLUMNS + b"1\n",
    "columns without a name": lambda: b"x" + b"," * COLUMNS + b"\n" + b"x," * COLUMNS + b"1\n",
    "what savetxt prints": lambda: b"x\n" + b"1.234567890123456690e+00\n" * (300_000 // PART),
    "blank lines between": lambda: _TABLE + b"\n" * 30 * MILLION + b"3,4\n",
}
# `scan` and `check` search as `read` does, in the same time; they are tried on what takes longest, or most memory.
ALSO_SCANNED = ["commas", "keys", "anchors in rows", "repeated keys in a row"]


def run_operations(path: Path, *operations: str) -> str:
    """What operations on a file say, one after the other in one child; two together are as fast as one may be.

    Only of whole floods, which none of the usual runs has, each has the time for itself.
    """
    seconds = SECONDS * (max(1, len(operations) // 2) if PART > 1 else len(operations))
    return run_limited(_OPERATION, path, *operations, seconds=seconds, part=PART).output


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_many_megabytes_of_words_are_judged_in_seconds(tmp_path, name):
    path = tmp_path / "hostile.csv"
    path.write_bytes(HOSTILE[name]())
    run_operations(path, "read", "read_columns", *(["scan", "check"] if name in ALSO_SCANNED else []))


WRONG = {
    "complex128": "1+2iiii",
    "datetime64[ms]": "2020-13-01",
    "timedelta64[s]": "1.5",
    "float64": "0x1",
    "int8": "3e2",
    "bool": "no",
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", WRONG)
def test_columns_of_nothing_but_wrong_cells_are_judged_in_seconds(tmp_path, dtype):
    cell = WRONG[dtype]
    count = 32 * MILLION // (len(cell) + 1)
    path = tmp_path / "wrong.csv"
    path.write_text("\n".join(["a", *_header(dtype, count)]) + f"\n{cell}" * count + "\n")
    read, check = run_operations(path, "read", "check").splitlines()
    assert read.startswith("FormatError")
    assert check.startswith("2")


def _header(dtype: str, count: int) -> list[str]:
    """The cells of a header: of an array of one element, made one of many."""
    cells = [str(cell) for cell in sa.to_linear(np.zeros(1, dtype))[:-1]]
    for key in ("shape", "length", "capacity"):
        cells[cells.index(key) + 1] = str(count)
    return cells


@pytest.mark.parametrize("count", [2, 3000, 20_000])
def test_a_sheet_of_arrays_side_by_side_is_told_by_read_columns(tmp_path, count):
    cells = sa.to_linear(np.array([0.5, 1.5]))
    lines = [",".join(f"a{number}" for number in range(count)), *(",".join([str(cell)] * count) for cell in cells)]
    (tmp_path / "many.csv").write_text("\n".join([*lines, ""]))
    with pytest.raises(sa.FormatError, match="an array of the exchange format, 'a0'"):
        sa.read_columns(tmp_path / "many.csv")
