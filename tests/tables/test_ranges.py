"""A table is read from some cells of a sheet: a range, a defined name, an Excel Table; in files and in memory."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.table import Table

import sheetarray as sa
from sheetarray.columns.grid import cell_address, parse_area
from sheetarray.testing.cases import assert_same

ROWS: list[list[Any]] = [
    ["title", None, None, None, "x"],
    [None, "id", "t", "note", "y"],
    [None, "007", 0.5, "a", "z"],
    [None, "008", 1.5, None, None],
    [None, "total", 2, "all", None],
]


def book() -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    for row in ROWS:
        made.active.append(row)
    made.active.title = "Ann's run"
    made.create_sheet("plain").append(["only"])
    table = Table(displayName="Sales", ref="B2:D5", totalsRowCount=1)
    made.active.add_table(table)
    made.defined_names["both"] = DefinedName("both", attr_text="'Ann''s run'!$B$2:$C$4")
    made.defined_names["several"] = DefinedName("several", attr_text="'Ann''s run'!$B$2,'Ann''s run'!$C$2")
    made.defined_names["elsewhere"] = DefinedName("elsewhere", attr_text="plain!$A$1")
    return made


def saved() -> io.BytesIO:
    file = io.BytesIO()
    book().save(file)
    file.seek(0)
    return file


SOURCES: dict[str, Callable[[], Any]] = {"in memory": book, "in a file": saved}


@pytest.mark.parametrize("source", SOURCES)
def test_a_range_a_name_and_a_table_are_read_from_a_workbook(source: str) -> None:
    make = SOURCES[source]
    ids = {"id": np.array(["007", "008"]), "t": np.array([0.5, 1.5])}
    for options in (
        {"range": "B2:C4"},
        {"range": "$B$2:$C$4", "sheet": "ANN'S RUN"},
        {"range": "c4:b2"},
        {"range": "'Ann''s run'!B2:C4"},
        {"range": "both"},
        {"range": "BOTH", "sheet": "Ann's run"},
    ):
        columns = sa.read_columns(make(), **options)
        assert list(columns) == ["id", "t"]
        for name, array in columns.items():
            assert_same(array, ids[name])
    sales = sa.read_columns(make(), table="sales")
    assert sales["note"].tolist() == ["a", ""]
    assert sales["t"].tolist() == [0.5, 1.5]  # not the total row
    assert sa.read_columns(make(), ["t"], table="Sales", dtype="float32")["t"].dtype == np.float32
    assert sa.read_columns(make(), range="elsewhere", header=False)["A"].tolist() == ["only"]
    assert sa.read_columns(make(), range="plain!A:A", header=False)["A"].tolist() == ["only"]


@pytest.mark.parametrize("source", SOURCES)
def test_names_that_are_not_there_and_ranges_of_another_kind_are_told(source: str) -> None:
    make = SOURCES[source]
    for options, error, message in (
        ({"table": "Sale"}, sa.NotFoundError, "no table 'Sale'; there is 'Sales'"),
        ({"range": "Sales"}, sa.NotFoundError, "no range of cells 'Sales'; there is 'both'"),
        ({"range": "several"}, sa.FormatError, "which is not one range of cells"),
        ({"range": "elsewhere", "sheet": "Ann's run"}, sa.LimitError, "is in the sheet 'plain', not in"),
        ({"range": "other!A1:B2"}, sa.NotFoundError, "no sheet 'other'"),
        ({"range": "A1:B2", "table": "Sales"}, sa.LimitError, "give one of them"),
        ({"range": 5}, sa.LimitError, "range is a text, such as 'A1:C5'"),
        ({"range": "G1:H9"}, sa.FormatError, "an empty table"),
    ):
        with pytest.raises(error, match=message):
            sa.read_columns(make(), **options)


def test_text_has_ranges_and_no_names() -> None:
    text = "title,,\n,id,t\n,007,0.5\n,008,1.5\n"
    columns = sa.read_columns(io.StringIO(text), range="B2:C4")
    assert columns["id"].tolist() == ["007", "008"]
    assert sa.read_columns(io.StringIO(text), range="B2:C4", skip_rows=1, header=False)["C"].tolist() == [0.5, 1.5]
    for options, message in (
        ({"range": "both"}, "no range of cells 'both'; no names are known here; range='A1:C5' says cells"),
        ({"table": "Sales"}, "no table 'Sales'; no names are known here"),
        ({"range": "run!A1:B2"}, "a file of text has no sheets"),
    ):
        with pytest.raises(sa.NotFoundError, match=message):
            sa.read_columns(io.StringIO(text), **options)


def test_an_array_of_the_exchange_format_may_stand_beside_the_range(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    made = book()
    sa.write(made, {"x": np.arange(3.0)}, sheet="Ann's run", at="H1")
    made.save(path)
    assert sa.read_columns(path, range="B2:C4")["t"].tolist() == [0.5, 1.5]
    with pytest.raises(sa.FormatError, match="an array of the exchange format"):
        sa.read_columns(path)


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


@pytest.mark.parametrize(
    "text", ["", "A", "1", "A1:", ":B2", "A1:B", "A:1", "A0", "ABCD1", "!A1", "A1:B2:C3", "A1,B2", "sales"]
)
def test_what_is_no_range_is_a_name(text: str) -> None:
    assert parse_area(text) is None
