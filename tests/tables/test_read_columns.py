"""Ordinary tables: dates apart from text, ranges, white space, and what sheetarray itself wrote."""

from __future__ import annotations

import io
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from addresses import cell_address
from hypothesis import given
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray.testing.cases import assert_same


def read(text: str, columns: Any = None, **options: Any) -> dict[str, Any]:
    return sa.read_columns(io.StringIO(text, newline=""), columns, format="csv", **options)


def column(*cells: str, **options: Any) -> Any:
    return read("x\n" + "".join(f"{cell}\n" for cell in cells), **options)["x"]


def test_an_ordinary_workbook_keeps_numbers_text_and_dates_apart(tmp_path: Path) -> None:
    """The table begins at C5; midnights have no time, one date is blank, numbers are doubles whatever they are."""
    moments = [datetime(2020, 1, 1, 12, 30), datetime(2021, 1, 1), datetime(2021, 1, 2)]
    rows = [
        ["moment", "zero", "half", "large", "id", "day", "ok"],
        [moments[0], -0.0, 2**53, 2**53 + 1, "007", moments[1], True],
        [moments[1], 1, 0.5, 2**60, "008", None, False],
        [moments[2], 2, 7, 3, "9", moments[2], True],
    ]
    book = openpyxl.Workbook()
    for down, row in enumerate(rows):
        for right, value in enumerate(row):
            cell = book.active.cell(5 + down, 3 + right, value)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                cell._value, cell.data_type = repr(value), "n"
    book.save(tmp_path / "x.xlsx")
    result = sa.read_columns(tmp_path / "x.xlsx")
    assert list(result) == rows[0]
    assert result["moment"].dtype == "datetime64[s]"
    assert result["moment"].tolist() == moments
    assert result["zero"].dtype == "float64"
    assert np.signbit(result["zero"]).tolist() == [True, False, False]
    assert result["half"].tolist() == [2.0**53, 0.5, 7]
    assert_same(result["large"], np.array([2**53 + 1, 2**60, 3]))  # the digits count, as they are written
    assert result["id"].tolist() == ["007", "008", "9"]
    assert result["day"].tolist() == [date(2021, 1, 1), None, date(2021, 1, 2)]
    assert result["ok"].tolist() == [True, False, True]
    with pytest.raises(sa.FormatError) as caught:
        sa.read_columns(tmp_path / "x.xlsx", missing="error")
    assert caught.value.location == "Sheet!H7"


@given(st.data())
def test_a_range_is_read_as_a_sheet_of_its_own_would_be(data: st.DataObject) -> None:
    """What stands in the range, written alone, gives the same columns; letters are those of the sheet."""
    height, width = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 5))
    cells = st.sampled_from(["", "1", "2.5", "x", "007", "2024-01-01", "TRUE"])
    grid = data.draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=height, max_size=height))
    top, bottom = sorted(data.draw(st.tuples(*[st.integers(0, height - 1)] * 2)))
    left, right = sorted(data.draw(st.tuples(*[st.integers(0, width - 1)] * 2)))
    inside = [["filled"] * width if row == top else cells for row, cells in enumerate(grid)]
    whole = "\n".join(",".join(row) for row in inside) + "\n"
    alone = "\n".join(",".join(row[left : right + 1]) for row in inside[top : bottom + 1]) + "\n"
    area = f"{cell_address(top, left)}:{cell_address(bottom, right)}"
    options: dict[str, Any] = {"header": False, "delimiter": ","}
    expected = sa.read_columns(io.StringIO(alone), **options)
    columns = sa.read_columns(io.StringIO(whole), range=area, **options)
    assert len(columns) == len(expected)
    for one, other in zip(columns.values(), expected.values(), strict=True):
        assert_same(one, other)


def test_what_sheetarray_wrote_as_text_comes_back(tmp_path: Path) -> None:
    table = {
        "id": np.array([2**60, 2**60 + 1]),
        "d": np.array(["1500-01-01", "2024-01-01"], "M8[D]"),
        "day": np.array(["2024-01-01", "2024-01-02"], "M8[D]"),
        "x": np.array([np.nan, np.inf]),
    }
    sa.write_table(tmp_path / "own.xlsx", table, dates="text")
    columns = sa.read_columns(tmp_path / "own.xlsx")
    assert [columns[name].dtype for name in table] == [array.dtype for array in table.values()]
    assert all(np.array_equal(columns[name], table[name], equal_nan=name == "x") for name in table)


@pytest.mark.parametrize("white", [" ", "\t", "\xa0", "\u3000", "\x85", "\u2009 ", ""])
@pytest.mark.parametrize("cell", ["1.5", "a", "é", "2024-05-01", "true", "~", "!x"])
def test_white_space_is_a_blank_in_short_and_long_columns_alike(cell: str, white: str) -> None:
    cells = [cell, white, f"{white}{cell}{white}", cell]
    short, long = (column(*(f'"{text}"' for text in cells * count)) for count in (1, 300))
    assert short.dtype.kind == long.dtype.kind
    assert_same(long[:4], short)
    assert_same(long, np.tile(short, 300))
