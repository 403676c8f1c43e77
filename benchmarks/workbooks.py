"""The contenders for Excel workbooks. Each writes and reads numbers as its manual shows for speed."""

from __future__ import annotations

import os
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from .contenders import Arrays, Contender, _read_sheetarray, _write_sheetarray
from .wide import repeat


def _by_column(rows: Any) -> Arrays:
    """Arrays of rows whose first one is the names."""
    names, *values = rows
    return {str(name): np.array(column) for name, column in zip(names, zip(*values, strict=True), strict=True)}


def _write_openpyxl(path: Path, arrays: Arrays) -> None:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet = book.create_sheet("arrays")
    sheet.append(list(arrays))
    for row in zip_longest(*(array.tolist() for array in arrays.values())):
        sheet.append(row)
    book.save(path)


def _read_openpyxl(path: Path) -> Any:
    from openpyxl import load_workbook

    book = load_workbook(path, read_only=True, data_only=True)
    rows = list(book.worksheets[0].iter_rows(values_only=True))
    book.close()
    return rows


def _write_rustpy(path: Path, arrays: Arrays) -> None:
    import polars
    from rustpy_xlsxwriter import write_worksheet

    write_worksheet(polars.DataFrame(dict(arrays)), str(path))


def _read_calamine(path: Path) -> Any:
    from python_calamine import load_workbook

    return load_workbook(path).get_sheet_by_index(0).to_python()


def _write_xlsxwriter(path: Path, arrays: Arrays) -> None:
    from xlsxwriter import Workbook

    with Workbook(path, {"constant_memory": True, "nan_inf_to_errors": True}) as book:
        sheet = book.add_worksheet("arrays")
        sheet.write_row(0, 0, list(arrays))
        for number, row in enumerate(zip_longest(*(array.tolist() for array in arrays.values())), 1):
            sheet.write_row(number, 0, row)


def _arrays_of_polars(frame: Any) -> Arrays:
    return {name: frame[name].to_numpy() for name in frame.columns}


def _write_rustpy_flushed(path: Path, arrays: Arrays) -> None:
    """Write as sheetarray does: flushed to the disk, and put in the place of the old file."""
    temporary = path.with_suffix(".part.xlsx")
    _write_rustpy(temporary, arrays)
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    temporary.replace(path)


def _read_fastexcel(path: Path) -> Arrays:
    import fastexcel

    return _arrays_of_polars(fastexcel.read_excel(path).load_sheet(0).to_polars())


def _read_columns(path: Path) -> Arrays:
    import sheetarray

    return sheetarray.read_columns(path)


def _workbook(label: str, write: Any, read: Any, arrays: Any) -> Contender:
    return Contender(label, write, read, arrays, suffix=".xlsx")


def _write_with(**options: Any) -> Any:
    """Return what writes with some options; a view for editing holds at most 100,000 formulas."""

    def write(path: Path, arrays: Arrays) -> None:
        import sheetarray

        views = {name: sheetarray.View(editable=True) for name in arrays} if options.get("views") == "editable" else {}
        sheetarray.write(path, arrays, **(options | ({"views": views} if views else {})))

    return write


def _ours(label: str, **options: Any) -> Contender:
    return Contender(label, _write_with(**options), _read_sheetarray, suffix=".xlsx", ours=True)


def make_grid(elements: int) -> Arrays:
    """Return an array of three dimensions, with as many elements or a few less."""
    rng = np.random.default_rng(20240229)
    return {"x": rng.standard_normal((max(elements // 1080, 1), 30, 36))}


SHEETARRAY_XLSX = Contender("sheetarray", _write_sheetarray, _read_sheetarray, suffix=".xlsx", ours=True)
OPENPYXL = _workbook("openpyxl", _write_openpyxl, _read_openpyxl, _by_column)
XLSXWRITER = _workbook("XlsxWriter, python-calamine", _write_xlsxwriter, _read_calamine, _by_column)
CALAMINE = _workbook("rustpy-xlsxwriter flushed, python-calamine", _write_rustpy_flushed, _read_calamine, _by_column)
FOREIGN = Contender(
    "sheetarray read_columns, of rustpy-xlsxwriter's",
    _write_rustpy_flushed,
    _read_columns,
    suffix=".xlsx",
    verbs=("read",),
    ours=True,
)
FASTEXCEL = Contender(
    "rustpy-xlsxwriter flushed, fastexcel to NumPy", _write_rustpy_flushed, _read_fastexcel, suffix=".xlsx"
)
GUARD, VIEW = _ours("sheetarray, guard", guard=True), _ours("sheetarray, view", views=True)
EDITABLE = _ours("sheetarray, view for editing", views="editable")
NO_SNAPSHOT = _ours("sheetarray, no snapshot", guard=False)
FEW_XLSX = tuple(repeat(contender, 10) for contender in (SHEETARRAY_XLSX, CALAMINE, NO_SNAPSHOT))
