"""Workbooks in memory, of openpyxl, XlsxWriter and pandas: refused by name, and what the hint says works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xlsxwriter

import sheetarray as sa

ARRAYS = {"t": np.array([0.1, 0.25])}
WRITES: dict[str, Callable[[Any], Any]] = {
    "write": lambda place: sa.write(place, ARRAYS),
    "write by format": lambda place: sa.write(place, ARRAYS, format="xlsx"),
    "write blocks": lambda place: sa.write(place, iter([ARRAYS]), append_axis=0),
    "write_excel": lambda place: sa.write_excel(place, ARRAYS, mode="a"),
    "write_csv": lambda place: sa.write_csv(place, ARRAYS),
    "write_table": lambda place: sa.write_table(place, ARRAYS),
    "open_writer": lambda place: sa.open_writer(place).__enter__(),
}
READS: dict[str, Callable[[Any], Any]] = {
    "read": sa.read,
    "read by format": lambda place: sa.read(place, format="xlsx"),
    "read_excel": sa.read_excel,
    "scan": sa.scan,
    "check": lambda place: list(sa.check(place)),
    "read_columns": sa.read_columns,
    "read_dataset": sa.read_dataset,
    "read_frame": sa.read_frame,
    "iter_blocks": lambda place: list(sa.iter_blocks(place, "t", rows=1)),
    "adopt": sa.adopt,
}


@pytest.mark.parametrize("engine", ["openpyxl", "xlsxwriter"])
def test_a_writer_of_pandas_is_refused_and_its_sheet_is_kept(tmp_path: Path, engine: Any) -> None:
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path, engine=engine) as writer:
        pd.DataFrame({"a": [1]}).to_excel(writer, sheet_name="summary", index=False)
        for door in (*WRITES.values(), *READS.values()):
            with pytest.raises(sa.DTypeError, match=r"the ExcelWriter of pandas: close it first.*mode='a'"):
                door(writer)
    sa.write(path, ARRAYS, mode="a")  # as the hint says
    assert pd.read_excel(path, sheet_name="summary", engine="openpyxl").equals(pd.DataFrame({"a": [1]}))
    assert sa.read(path)["t"].tolist() == [0.1, 0.25]


def test_workbooks_of_openpyxl_are_refused_with_a_hint_that_works(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    book = openpyxl.Workbook()
    for place in (book, book.active, openpyxl.Workbook(write_only=True), openpyxl.Workbook().create_chartsheet()):
        for door in (*WRITES.values(), *READS.values()):
            with pytest.raises(sa.DTypeError, match=r"of openpyxl: save it first with workbook\.save\(path\)"):
                door(place)
    book.remove(book.worksheets[0])
    book.create_sheet("notes")["A1"] = "kept"
    book.save(path)
    sa.write(path, ARRAYS, mode="a")
    assert sa.read(path)["t"].tolist() == [0.1, 0.25]
    loaded = openpyxl.load_workbook(path, read_only=True)
    try:
        assert loaded["notes"]["A1"].value == "kept"
        for read in READS.values():
            with pytest.raises(sa.DTypeError, match="of openpyxl: give the path that it was loaded from"):
                read(loaded)
            with pytest.raises(sa.DTypeError, match="ReadOnlyWorksheet of openpyxl: give the path"):
                read(loaded["notes"])
    finally:
        loaded.close()


def test_workbooks_of_xlsxwriter_are_refused_with_a_hint_that_works(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("notes")
        sheet.write(0, 0, "kept")
        for place in (book, sheet):
            for door in (*WRITES.values(), *READS.values()):
                with pytest.raises(sa.DTypeError, match=r"of xlsxwriter: close the workbook first.*mode='a'"):
                    door(place)
    sa.write(path, ARRAYS, mode="a")
    assert openpyxl.load_workbook(path)["notes"]["A1"].value == "kept"
    assert sa.read(path)["t"].tolist() == [0.1, 0.25]
