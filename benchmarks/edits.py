"""Reading an ordinary CSV without being told what it is; appending, checking, comparing and merging."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .contenders import POLARS, Arrays, Contender
from .wide import TABLES_OF_KINDS, make_table, repeat
from .workbooks import SHEETARRAY_XLSX

COPIES = 10  # that a merge takes
_MORE = 100  # rows that are appended


def _append_or_write(path: Path, arrays: Arrays) -> None:
    """Append some rows to a file; write it the first time."""
    import sheetarray

    if not path.exists():
        SHEETARRAY_XLSX.write(path, arrays)
    else:
        sheetarray.append(path, {name: array[:_MORE] for name, array in arrays.items()})


def _append_to_table(path: Path, arrays: Arrays) -> None:
    """Append some rows to a table that polars wrote the first time."""
    import sheetarray

    if not path.exists():
        POLARS.write(path, arrays)
    else:
        sheetarray.append(path, {name: array[:_MORE] for name, array in arrays.items()})


def _write_copies(path: Path, arrays: Arrays) -> None:
    """Write a workbook, and copies in each of which another element has changed."""
    import sheetarray

    sheetarray.write(path, arrays)
    (name, array), *_ = arrays.items()
    for number in range(COPIES):
        changed = array.copy()
        changed[number] += 1
        sheetarray.write(_copy(path, number), {**arrays, name: changed})


def _copy(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem} {number}.xlsx")


def _check(path: Path) -> Any:
    import sheetarray

    return list(sheetarray.check(path))


def _diff(path: Path) -> Any:
    import sheetarray

    return sheetarray.diff(path, _copy(path, 0))


def _merge(path: Path) -> Any:
    import sheetarray

    return sheetarray.merge(path, *(_copy(path, number) for number in range(COPIES)))


def _verb(label: str, call: Callable[[Path], Any]) -> Contender:
    """Return what reads workbooks for another purpose than their arrays; none is compared."""
    return Contender(label, _write_copies, call, lambda _: {}, suffix=".xlsx", verbs=("read",))


def make_sheet(columns: int) -> Callable[[int], Arrays]:
    """Return what makes an array of two dimensions: elements -> the array by its name."""

    def make(elements: int) -> Arrays:
        rng = np.random.default_rng(20240229)
        return {"x": rng.standard_normal((max(elements // columns, COPIES), columns))}

    return make


def make_numbers_table(rows: int) -> Arrays:
    """Return the columns of numbers of an ordinary table."""
    return {name: column for name, column in make_table(rows).items() if column.dtype.kind in "if"}


_OURS, _, _POLARS = TABLES_OF_KINDS
APPEND = Contender(
    "sheetarray append", _append_or_write, SHEETARRAY_XLSX.read, lambda _: {}, suffix=".xlsx", verbs=("write",)
)
APPEND_TABLE = replace(
    APPEND, label="sheetarray append to a table", write=_append_to_table, read=_OURS.read, suffix=".csv"
)
CHECK, DIFF, MERGE = (
    _verb(f"sheetarray {name}", call) for name, call in (("check", _check), ("diff", _diff), ("merge", _merge))
)
EDITS = (SHEETARRAY_XLSX, CHECK, DIFF, MERGE)
DETECT = (_OURS, _POLARS)
DETECT_FEW = tuple(repeat(contender, 20) for contender in DETECT)  # as for small workbooks
DETECT_NUMBERS = (replace(_OURS, write=POLARS.write), POLARS)
