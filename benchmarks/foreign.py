"""Ordinary tables in workbooks of other programs, and scans of workbooks that hold more than arrays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .contenders import Arrays, Contender
from .wide import make_table
from .workbooks import CALAMINE, EDITABLE, FASTEXCEL, FOREIGN, SHEETARRAY_XLSX, VIEW

_WIDEST = 16_384  # columns
_REPORT = (1000, 50)  # rows and columns of the ordinary sheet beside the arrays


def _kind(name: str) -> Any:
    """Return what makes eight columns of one kind."""

    def make(rows: int) -> Arrays:
        (column,) = (array for key, array in make_table(8 * rows).items() if key == name)
        return {f"{name}{place}": column[place * rows : (place + 1) * rows] for place in range(8)}

    return make


def make_wide(rows: int) -> Arrays:
    """Return as many columns as a worksheet has: words, days, numbers and answers in turn."""
    tall = make_table(_WIDEST * rows)
    kinds = ("city", "day", "value", "valid")
    return {f"c{place}": tall[kinds[place % len(kinds)]][place * rows : (place + 1) * rows] for place in range(_WIDEST)}


def _texts(arrays: Arrays) -> Arrays:
    return {name: array.astype("U") if array.dtype.kind == "O" else array for name, array in arrays.items()}


def _read_fastexcel(path: Path) -> Arrays:
    return _texts(FASTEXCEL.read(path))


def _write_beside_report(path: Path, arrays: Arrays) -> None:
    """Write arrays into a workbook that has an ordinary sheet."""
    from xlsxwriter import Workbook

    import sheetarray

    rng = np.random.default_rng(20240229)
    with Workbook(path) as book:
        sheet = book.add_worksheet("report")
        for number, row in enumerate(rng.standard_normal(_REPORT).round(3).tolist()):
            sheet.write_row(number, 0, [f"line {number}", *row])
    sheetarray.write(path, arrays, mode="a")


def _scan(path: Path) -> Any:
    import sheetarray

    return sheetarray.scan(path)


def _scanned(label: str, write: Any) -> Contender:
    """Return what scans a workbook; it reads no element, and none is compared."""
    return Contender(label, write, _scan, lambda _: {}, suffix=".xlsx", verbs=("read",))


MIXED = make_table
KINDS = {"ids": _kind("id"), "days": _kind("day"), "words": _kind("city"), "answers": _kind("valid")}
TABLES_XLSX = (FOREIGN, replace(FASTEXCEL, read=_read_fastexcel), CALAMINE)
SCAN = _scanned("sheetarray scan", SHEETARRAY_XLSX.write)
SCAN_VIEW = _scanned("sheetarray scan, a view beside", VIEW.write)
SCAN_EDITABLE = _scanned("sheetarray scan, a view for editing beside", EDITABLE.write)
SCAN_REPORT = _scanned("sheetarray scan, an ordinary sheet beside", _write_beside_report)
SCANS = (SCAN, SCAN_VIEW, SCAN_EDITABLE, SCAN_REPORT)
