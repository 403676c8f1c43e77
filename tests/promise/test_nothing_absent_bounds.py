"""Searching sheets for arrays is bounded: hostile words, and very many arrays, take little time and memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from children import measured, run_limited

import sheetarray as sa

pytestmark = [measured]

_OPERATION = """
    import sys, warnings
    import sheetarray as sa
    warnings.simplefilter("ignore")
    path, operation = sys.argv[1:]
    try:
        result = list(getattr(sa, operation)(path))
        print(len(result))
    except sa.SheetArrayError as error:
        print(type(error).__name__, str(error)[:200])
"""
HOSTILE = {
    "commas": b"," * 30_000_000,
    "versions": b"version," * 2_000_000,
    "keys": b"ndarray,shape," * 2_000_000,
    "spaces": b" data " * 5_000_000,
    "broken anchors": b"version\nx\nndarray\n" * 1_000_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["check"])
@pytest.mark.parametrize("content", HOSTILE.values(), ids=list(HOSTILE))
def test_thirty_megabytes_of_words_are_judged_in_seconds(tmp_path: Path, content: bytes, operation: str) -> None:
    path = tmp_path / "hostile.csv"
    path.write_bytes(content)
    run_limited(_OPERATION, path, operation)


def stacked(count: int, orient: str) -> bytes:
    """So many arrays of two elements, one below the other."""
    cells = sa.to_linear(np.array([0.5, 1.5]))
    if orient == "rows":
        line = ",".join(map(str, cells))
        return "".join(f"a{number},{line}\n" for number in range(count)).encode()
    lines = "\n".join(map(str, cells))
    return "".join(f"a{number}\n{lines}\n" for number in range(count)).encode()


@pytest.mark.slow
@pytest.mark.parametrize("orient", ["columns", "rows"])
def test_very_many_arrays_in_one_sheet_take_time_in_proportion(tmp_path: Path, orient: str) -> None:
    count = 20_000
    path = tmp_path / "many.csv"
    path.write_bytes(stacked(count, orient))
    assert run_limited(_OPERATION, path, "read").output == f"{count}\n"
