"""Programs that write ordinary tables, each a function of a path and columns, and what columns must come back as."""

from __future__ import annotations

import csv
import datetime
import math
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from mixtures import Column

import sheetarray as sa
from sheetarray.dtypes import Array

Table = Mapping[str, Column]


def _rows_of(table: Table) -> list[list[Any]]:
    return [list(table), *map(list, zip(*table.values(), strict=True))]


def _write_xlsxwriter(path: Path, table: Table, **options: Any) -> None:
    import xlsxwriter

    book = xlsxwriter.Workbook(path, options)
    sheet = book.add_worksheet()
    formats = {
        datetime.date: book.add_format({"num_format": "yyyy-mm-dd"}),
        datetime.datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
    }
    for row, cells in enumerate(_rows_of(table)):
        for column, cell in enumerate(cells):
            if type(cell) in formats:
                sheet.write_datetime(row, column, cell, formats[type(cell)])
            elif cell is not None:
                sheet.write(row, column, cell)
    book.close()


def _write_xlsxwriter_in_memory(path: Path, table: Table) -> None:
    _write_xlsxwriter(path, table, constant_memory=True)  # inline strings


def _write_openpyxl(path: Path, table: Table, *, write_only: bool = False) -> None:
    import openpyxl

    book = openpyxl.Workbook(write_only=write_only)
    sheet = book.create_sheet() if write_only else book.active
    assert sheet is not None
    for row in _rows_of(table):
        sheet.append(row)
    book.save(path)


def _write_openpyxl_row_by_row(path: Path, table: Table) -> None:
    _write_openpyxl(path, table, write_only=True)


def _frame(table: Table) -> Any:
    import pandas

    return pandas.DataFrame({name: pandas.Series(column, dtype=object) for name, column in table.items()})


def _write_pandas(path: Path, table: Table) -> None:
    _frame(table).to_excel(path, index=False, engine="openpyxl")


def _write_pandas_csv(path: Path, table: Table) -> None:
    _frame(table).to_csv(path, index=False)


def _polars_frame(table: Table) -> Any:
    import polars as pl

    return pl.DataFrame({name: pl.Series(name, column, strict=True) for name, column in table.items()})


def _write_polars(path: Path, table: Table) -> None:
    _polars_frame(table).write_excel(path)


def _write_polars_csv(path: Path, table: Table) -> None:
    _polars_frame(table).write_csv(path)


def _write_rustpy(path: Path, table: Table) -> None:
    from rustpy_xlsxwriter import write_worksheet

    names, *rows = _rows_of(table)
    write_worksheet([dict(zip(names, row, strict=True)) for row in rows], str(path))


def _write_csv(path: Path, table: Table) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=";").writerows(_rows_of(table))


def _write_sheetarray(path: Path, table: Table) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)  # nulls in numbers come back as NaN
        sa.write_table(path, _polars_frame(table))


WRITERS: dict[str, tuple[str, Callable[[Path, Table], None]]] = {
    "XlsxWriter": (".xlsx", _write_xlsxwriter),
    "XlsxWriter in constant memory": (".xlsx", _write_xlsxwriter_in_memory),
    "openpyxl": (".xlsx", _write_openpyxl),
    "openpyxl write-only": (".xlsx", _write_openpyxl_row_by_row),
    "pandas": (".xlsx", _write_pandas),
    "polars": (".xlsx", _write_polars),
    "rustpy": (".xlsx", _write_rustpy),
    "sheetarray": (".xlsx", _write_sheetarray),
    "pandas CSV": (".csv", _write_pandas_csv),
    "polars CSV": (".csv", _write_polars_csv),
    "csv": (".csv", _write_csv),
    "sheetarray CSV": (".csv", _write_sheetarray),
}
"""By name: the suffix, and a function that writes a table to a path."""

OF_SEVERAL_KINDS = ("XlsxWriter", "XlsxWriter in constant memory", "openpyxl", "openpyxl write-only", "pandas")
"""Those whose columns may hold values of several kinds, each as a cell of its own kind."""

_FAMILIES = {float: "number", int: "number", datetime.date: "date", datetime.datetime: "date"}


def _text_of(value: Any) -> str:
    """Return the text of a cell in a column of several kinds."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return value.isoformat().removesuffix("T00:00:00") if isinstance(value, datetime.date) else str(value)


def expected_column(column: Column) -> Array:
    """Return the array that values must come back as, with None for blanks: text, if they are of several kinds."""
    values = [value for value in column if value is not None]
    if len({_FAMILIES.get(type(value), type(value)) for value in values}) > 1:
        return np.array([_text_of(value) for value in column])
    kind = float if float in set(map(type, values)) else type(values[0])
    if kind is str:
        return np.array(["" if value is None else value for value in column])
    if kind is bool and len(values) == len(column):
        return np.array(column)
    if kind is bool:
        return np.array(column, dtype=object)
    if kind in (datetime.date, datetime.datetime):
        return np.array(column, dtype="M8[us]")
    if kind is int and len(values) == len(column):
        return np.array(column)
    return np.array([math.nan if value is None else value for value in column], dtype=np.float64)


def assert_column(array: Array, column: Column) -> None:
    """Assert that an array has the values of a column, under a dtype that suits them.

    Whole floats may come back as integers, since a worksheet writes both alike.
    """
    expected = expected_column(column)
    assert array.shape == expected.shape, (array.shape, expected.shape)
    if expected.dtype.kind in "UO":
        assert array.dtype.kind == expected.dtype.kind
        assert array.tolist() == expected.tolist()
    elif expected.dtype.kind == "M":
        assert array.dtype.kind == "M"
        assert array.astype("M8[us]").tolist() == expected.tolist()
    elif expected.dtype.kind == "f":
        assert array.dtype.kind in "if"
        np.testing.assert_array_equal(array.astype(np.float64), expected)
    else:
        assert array.dtype == expected.dtype
        assert array.tolist() == expected.tolist()
