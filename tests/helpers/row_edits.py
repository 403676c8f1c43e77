"""Rows that people add to sheets of arrays, or delete from them, alike in all columns: in CSV and through openpyxl."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import openpyxl

import sheetarray as sa

NEW = {"f": 9.5, "i": 7, "u": 7, "b": True, "U": "new"}
Way = Literal["csv", "openpyxl"]


@dataclass(frozen=True)
class Edit:
    """Rows of every array that are added or deleted.

    Attributes:
        kind: "insert" or "delete".
        first: the first of them.
        count: how many.
    """

    kind: Literal["insert", "delete"]
    first: int
    count: int

    def of_cells(self, cells: list[Any], row: int, new: Any) -> list[Any]:
        """The data cells of a column after the edit."""
        start, end = self.first * row, (self.first + self.count) * row
        if self.kind == "delete":
            return cells[:start] + cells[end:]
        return cells[:start] + [new] * (end - start) + cells[start:]

    def of_array(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """What the cells say after the edit."""
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        axis = array.ndim - 1 if order == "F" else 0
        if self.kind == "delete":
            edited = np.delete(array, np.s_[self.first : self.first + self.count], axis)
        else:
            edited = np.insert(array, [self.first] * self.count, NEW[array.dtype.kind], axis)
        return np.asarray(edited, order=order)


def written(path: Path, arrays: dict[str, Any]) -> Path:
    """A file of arrays."""
    sa.write(path, arrays)
    return path


def edit_columns(columns: list[list[Any]], arrays: dict[str, np.ndarray[Any, Any]], edit: Edit, way: Way) -> None:
    """Edit the columns of a sheet, one for each array, names on top."""
    for column, array in zip(columns, arrays.values(), strict=True):
        slow = array.shape[-1 if array.ndim > 1 and not array.flags.c_contiguous else 0]
        begin = next(i for i, cell in enumerate(column) if cell == "data") + 1
        new = NEW[array.dtype.kind]
        column[begin:] = edit.of_cells(column[begin:], array.size // slow, str(new) if way == "csv" else new)


def take_columns(rows: list[list[Any]], blank: Any) -> list[list[Any]]:
    """The columns of rows, without the blanks below them."""
    columns = [[row[place] if place < len(row) else blank for row in rows] for place in range(max(map(len, rows)))]
    for column in columns:
        while column and column[-1] == blank:
            column.pop()
    return columns


def edit_csv(path: Path, arrays: dict[str, np.ndarray[Any, Any]], edit: Edit) -> None:
    """Edit a CSV as it was written."""
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    columns = take_columns(rows, "")
    edit_columns(columns, arrays, edit, "csv")
    put_csv(path, columns)


def put_csv(path: Path, columns: list[list[str]]) -> None:
    """Write columns of text as CSV."""
    height = max(map(len, columns))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [column[row] if row < len(column) else "" for column in columns] for row in range(height)
        )


def edit_workbook(path: Path, arrays: dict[str, np.ndarray[Any, Any]], edit: Edit) -> None:
    """Edit a workbook as it was written, through openpyxl."""
    book = openpyxl.load_workbook(path, keep_vba=path.suffix == ".xlsm")
    sheet = book["arrays"]
    old = take_columns([[cell.value for cell in row] for row in sheet.iter_rows()], None)
    new = [list(column) for column in old]
    edit_columns(new, arrays, edit, "openpyxl")
    for place, (before, after) in enumerate(zip(old, new, strict=True), 1):
        for row in range(max(len(before), len(after))):
            sheet.cell(row + 1, place).value = after[row] if row < len(after) else None
    book.save(path)
