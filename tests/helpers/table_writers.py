"""Programs that write ordinary tables, and what the columns must come back as."""

from __future__ import annotations

import csv
import datetime
import math
import re
import warnings
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from mixtures import Column

import sheetarray as sa
from sheetarray.testing.cases import Array

# Programs that write ordinary tables, each a function of a path and columns, and what columns must come back as.

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


def _write_openpyxl(path: Path, table: Table, *, write_only: bool = False) -> None:
    import openpyxl

    book = openpyxl.Workbook(write_only=write_only)
    sheet = book.create_sheet() if write_only else book.active
    assert sheet is not None
    for row in _rows_of(table):
        sheet.append(row)
    book.save(path)


def _frame(table: Table) -> Any:
    import pandas

    return pandas.DataFrame({name: pandas.Series(column, dtype=object) for name, column in table.items()})


def _polars_frame(table: Table) -> Any:
    import polars as pl

    return pl.DataFrame({name: pl.Series(name, column, strict=True) for name, column in table.items()})


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
    "XlsxWriter in constant memory": (".xlsx", partial(_write_xlsxwriter, constant_memory=True)),  # inline strings
    "openpyxl": (".xlsx", _write_openpyxl),
    "openpyxl write-only": (".xlsx", partial(_write_openpyxl, write_only=True)),
    "pandas": (".xlsx", lambda path, table: _frame(table).to_excel(path, index=False, engine="openpyxl")),
    "polars": (".xlsx", lambda path, table: _polars_frame(table).write_excel(path)),
    "rustpy": (".xlsx", _write_rustpy),
    "sheetarray": (".xlsx", _write_sheetarray),
    "pandas CSV": (".csv", lambda path, table: _frame(table).to_csv(path, index=False)),
    "polars CSV": (".csv", lambda path, table: _polars_frame(table).write_csv(path)),
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


# What a column of a table means, worked out with Decimal, cell by cell and slowly: an oracle for `read_columns`.

_PLAIN = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WORDS = {"nan", "inf", "infinity"}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d{1,9})?)?", re.ASCII)


def is_number(text: str) -> bool:
    word = text.removeprefix("+") if text.startswith("+") else text.removeprefix("-")
    return bool(_PLAIN.fullmatch(text)) or word.lower() in _WORDS


def is_integer(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+", text, re.ASCII) is not None and text != "-0"


def gives_back(text: str) -> bool:
    """Whether the double, printed with as many digits as the numeral has, is the numeral."""
    if text.lstrip("+-").lower() in _WORDS:
        return True
    exact, value = Decimal(text), float(text)
    digits = re.split("[eE]", text)[0].lstrip("+-").replace(".", "").lstrip("0")
    if not digits:
        return True
    if abs(value) == float("inf"):
        return False
    # The shortest text of 2**-24 ends in 063, and %.15e prints 062: halfway between them, both are what programs print.
    return exact == Decimal(f"{value:.{len(digits) - 1}e}") or (len(digits) <= 17 and exact == Decimal(repr(value)))


def comma_can_part_thousands(text: str) -> bool:
    return re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+", text, re.ASCII) is not None


def may_have_decimal_comma(text: str) -> bool:
    plain = text.count(",") < 2 and "." not in text and not text.endswith(",") and ",e" not in text.lower()
    return plain and is_number(text.replace(",", "."))


def meaning(cells: list[str]) -> tuple[str, list[Any]]:
    """The name of the dtype that a column has, and its values: None for a missing one."""
    texts = [cell.strip() for cell in cells]
    filled = [text for text in texts if text]
    missing = len(filled) < len(texts)
    if not filled:
        return "float64", [None] * len(cells)
    if any(re.fullmatch(r"\+\d{7,}", text, re.ASCII) for text in filled):
        return _text(cells)
    if all(map(is_number, filled)):
        return _numbers(texts, filled, missing) or _text(cells)
    points = [text.replace(",", ".") for text in texts]
    known = any("," in text and not comma_can_part_thousands(text) for text in filled)
    if known and all(map(may_have_decimal_comma, filled)):
        return _numbers(points, [text for text in points if text], missing) or _text(cells)
    if all(text.lower() in ("true", "false") for text in filled):
        values = [text.lower() == "true" if text else None for text in texts]
        return "object" if missing else "bool", values
    if all(map(_MOMENT.fullmatch, filled)):
        return _moments(texts, filled) or _text(cells)
    return _text(cells)


def _text(cells: list[str]) -> tuple[str, list[Any]]:
    return "str", [cell if cell.strip() else "" for cell in cells]


def _numbers(texts: list[str], filled: list[str], missing: bool) -> tuple[str, list[Any]] | None:
    if all(map(is_integer, filled)):
        low, high = min(map(int, filled)), max(map(int, filled))
        values: list[Any] = [int(text) if text else None for text in texts]
        if low < -(2**63) or high >= 2**64 or (low < 0 and high >= 2**63):
            return None
        if missing:
            exact = max(-low, high) <= 2**53
            return "float64" if exact else "object", [float(v) if exact and v is not None else v for v in values]
        return "int64" if high < 2**63 else "uint64", values
    if not all(map(gives_back, filled)):
        return None
    if all(re.fullmatch(r"[+-]?\d+", text, re.ASCII) for text in filled) and any(len(text) > 16 for text in filled):
        return None  # integers beside -0, which no integer is: one as long as an id stays text, however round
    return "float64", [float(text) if text else None for text in texts]


def _moments(texts: list[str], filled: list[str]) -> tuple[str, list[Any]] | None:
    digits = max((len(text.partition(".")[2]) for text in filled), default=0)
    unit = "D" if all(len(text) == 10 for text in filled) else ("s", "ms", "us", "ns")[-(-digits // 3)]
    for text in filled:
        try:
            if int(text[:4]) > 0:
                datetime.datetime.fromisoformat(text[:19]) if len(text) > 10 else datetime.date.fromisoformat(text)
        except ValueError:
            return None
        if unit == "ns" and not 1678 <= int(text[:4]) <= 2261:
            return None
    return f"datetime64[{unit}]", [text.replace(" ", "T") if text else None for text in texts]


def holds(array: np.ndarray[Any, Any], cells: list[str]) -> None:
    """Assert that an array is what a column of cells means."""
    dtype, values = meaning(cells)
    assert (array.dtype.kind in "UT") == (dtype == "str"), (array.dtype, cells[:50])
    assert array.shape == (len(cells),)
    if dtype != "str":
        assert array.dtype == dtype, (array.dtype, dtype, cells[:50])
    if dtype == "float64":
        expected = np.array([np.nan if value is None else value for value in values])
        same = (array.view(np.int64) == expected.view(np.int64)) | (np.isnan(array) & np.isnan(expected))
        assert same.all(), (cells, array)
    elif dtype.startswith("datetime64"):
        expected = np.array(["NaT" if value is None else value for value in values], dtype=dtype)
        assert array.tolist() == expected.tolist()
        assert (array.view(np.int64) == expected.view(np.int64)).all()
    else:
        assert array.tolist() == values
        assert [type(value) for value in array.tolist()] == [type(value) for value in values]
