"""Arrays that are put on a sheet which holds something already stand to the right of it."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xlsxwriter

import sheetarray as sa

FIRST, SECOND = {"t": np.arange(6.0).reshape(1, 2, 3)}, {"u": np.array([0.1, 2.5]), "v": np.array(["a", "b", "c"])}
THIRD = {"w": np.arange(16).reshape(2, 2, 2, 2)}


@contextmanager
def openpyxl_book(path: Path) -> Iterator[Any]:
    book = openpyxl.Workbook()
    yield book
    book.save(path)


@contextmanager
def xlsxwriter_book(path: Path) -> Iterator[Any]:
    book = xlsxwriter.Workbook(path)
    yield book
    book.close()


def pandas_book(engine: Any) -> Callable[[Path], Any]:
    return lambda path: pd.ExcelWriter(path, engine=engine)


BOOKS: dict[str, Any] = {
    "openpyxl": openpyxl_book,
    "XlsxWriter": xlsxwriter_book,
    "pandas and openpyxl": pandas_book("openpyxl"),
    "pandas and XlsxWriter": pandas_book("xlsxwriter"),
}


@pytest.fixture(params=BOOKS)
def make_book(request: pytest.FixtureRequest) -> Any:
    return BOOKS[request.param]


def test_each_write_stands_to_the_right_of_the_last_one(make_book: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    with make_book(path) as book:
        for arrays in (FIRST, SECOND, THIRD):
            sa.write(book, arrays, sheet="run 7")
        with pytest.raises(sa.LimitError, match="'u' is on the worksheet 'Run 7' already"):
            sa.write(book, {"z": np.arange(3), "u": np.arange(3)}, sheet="Run 7")
    arrays = FIRST | SECOND | THIRD
    read_back = sa.read(path)
    assert list(read_back) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(read_back[name], array)
    locations = [info.location for info in sa.scan(path).values()]
    assert [location.split("!")[1].rstrip("0123456789") for location in locations] == ["A", "B", "C", "D"]
    assert not [finding for finding in sa.check(path) if finding.severity == "error"]
    sheet = openpyxl.load_workbook(path)["run 7"]
    hidden = {row for row, look in sheet.row_dimensions.items() if look.hidden}
    for column in "ABC":
        first = next(cell.row for cell in sheet[column] if cell.value == "data") + 1
        assert first not in hidden, "no element is hidden with the headers of other arrays"


def test_a_blank_column_parts_arrays_from_cells_of_the_caller(make_book: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    with make_book(path) as book:
        cells = pd.DataFrame({"day": [1, 2], "sold": [3, 4]})
        if isinstance(book, pd.ExcelWriter):
            cells.to_excel(book, sheet_name="plain", index=False)
        elif hasattr(book, "create_sheet"):
            sheet = book.create_sheet("plain")
            for row in (("day", "sold"), (1, 3), (2, 4)):
                sheet.append(row)
        else:
            sheet = book.add_worksheet("plain")
            for number, row in enumerate((("day", "sold"), (1, 3), (2, 4))):
                sheet.write_row(number, 0, row)
        sa.write(book, SECOND, sheet="plain")
    sheet = openpyxl.load_workbook(path)["plain"]
    assert [sheet["A1"].value, sheet["B3"].value, sheet["C1"].value, sheet["D1"].value] == ["day", 4, None, "u"]
    np.testing.assert_array_equal(sa.read(path)["u"], SECOND["u"])


def test_merged_cells_and_tables_are_what_stands_there(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.merge_cells("A1:C2")
    sa.write(book, SECOND, sheet="Sheet")
    assert book.active["E1"].value == "u"
    book = xlsxwriter.Workbook(io.BytesIO())
    sheet = book.add_worksheet("s")
    sheet.add_table("A1:D4")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.write(book, SECOND, sheet="s")
    assert 5 in sheet.table[0]
    book.close()


@pytest.mark.parametrize("names", [["version", "ndarray"], ["data"], ["1.0.0"]])
def test_names_that_look_like_headers_are_told_apart(names: list[str], make_book: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    with make_book(path) as book:
        sa.write(book, {name: np.array(["version", "1.0.0", "ndarray", "data"]) for name in names})
        sa.write(book, {"last": np.arange(3)})
        with pytest.raises(sa.LimitError, match="already"):
            sa.write(book, {names[0]: np.arange(3)})
    assert list(sa.read(path)) == [*names, "last"]
