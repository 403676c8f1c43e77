"""pandas DataFrames: written with their index and dtypes, and read again equal."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from examples import cross

import sheetarray as sa

NAME = "dataset.json"

SUFFIXES = ("csv", "json", "xlsx")
INDEXES: dict[str, Any] = {
    "named": pd.Index([3, 1, 2], name="key"),
    "text without a name": pd.Index(["a", "b", "c"]),
    "dates with a frequency": pd.date_range("2020-01-31", periods=3, freq="2D", name="day"),
    "durations with a frequency": pd.timedelta_range("1h", periods=3, freq="h"),
    "counted with a step": pd.RangeIndex(5, 11, 2),
    "counted with a name": pd.RangeIndex(3, name="row"),
    "categories": pd.CategoricalIndex(["x", "y", "x"], name="kind"),
    "nullable": pd.Index(pd.array([1, None, 2], dtype="Int64"), name="n"),
    "a number as its name": pd.Index([3, 1, 2], name=7),
    "several levels": pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["letter", None]),
    "levels of dates": pd.MultiIndex.from_arrays(
        [pd.date_range("2020", periods=3), [1.5, np.nan, 2.5]], names=["x", "y"]
    ),
    "one level of several": pd.MultiIndex.from_arrays([[3, 1, 3]], names=["k"]),
    "one level without a name": pd.MultiIndex.from_arrays([["a", "b", "c"]]),
    "levels of integers and booleans with blanks": pd.MultiIndex(
        [np.array([1, 2**53 + 1]), np.array([7], "u1"), [True]],
        [[1, -1, 0], [0, -1, -1], [-1, 0, 0]],
        names=list("xyz"),
    ),
}


def read_again(frame: Any, folder: Path, suffix: str) -> pd.DataFrame:
    path = folder / f"t.{suffix}"
    sa.write(path, frame)
    assert list(sa.check(path)) == []
    assert NAME not in sa.read(path)
    return sa.read_frame(path)


@pytest.mark.parametrize(("index", "suffix"), cross(INDEXES, SUFFIXES, SUFFIXES[0]))
def test_an_index_comes_back(index: str, suffix: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.5, np.nan, -0.0], "b": ["x", "y", ""]}, index=INDEXES[index])
    restored = read_again(frame, tmp_path, suffix)
    pd.testing.assert_frame_equal(restored, frame, check_index_type="equiv", check_freq="level" not in index)
    if "level" not in index:
        pd.testing.assert_index_equal(restored.index, frame.index, exact=True)
    assert restored.index.names == frame.index.names
    assert sa.read_frame(tmp_path / f"t.{suffix}", ["b"]).equals(frame[["b"]])


def test_dates_in_levels_and_categories_keep_their_frequency(tmp_path: Path) -> None:
    days, hours = pd.date_range("2020-01-31", periods=3, freq="2D"), pd.timedelta_range("1h", periods=3, freq="h")
    by_dates = pd.MultiIndex.from_product([days, ["x", "y"], hours[:1]], names=["day", "k", "hour"])
    frame = pd.DataFrame({"day_": pd.Categorical([*days, *days], categories=days), "n": np.arange(6)}, index=by_dates)
    restored = read_again(frame, tmp_path, "csv")
    for one, other in zip(restored.index.levels, frame.index.levels, strict=True):
        pd.testing.assert_index_equal(one, other, check_freq=True)
    pd.testing.assert_index_equal(restored["day_"].cat.categories, days, check_freq=True)
    categories = pd.DataFrame({"n": [1, 2, 3]}, index=pd.CategoricalIndex(hours[::-1], categories=hours))
    again = read_again(categories, tmp_path, "csv")
    pd.testing.assert_index_equal(again.index.categories, hours, check_freq=True)
    for some in (frame[2:3], frame[::-1], frame.set_index("day_", append=True)):  # what no row has is lost
        pd.testing.assert_frame_equal(read_again(some, tmp_path, "csv"), some, check_freq=False)
    without = pd.DataFrame(
        {"n": [1, 2, 3]}, index=pd.MultiIndex.from_arrays([pd.DatetimeIndex(days, freq=None), [1, 2, 3]])
    )
    assert [level.freqstr for level in read_again(without, tmp_path, "csv").index.levels[:1]] == [None]


def test_labels_of_columns_that_are_no_text_their_name_and_attributes(tmp_path: Path) -> None:
    frame = pd.DataFrame(np.eye(2), columns=pd.Index([0, 1], name="place"))
    frame.attrs = {"source": "a file", "scale": np.float32(0.1)}
    restored = read_again(frame, tmp_path, "csv")
    pd.testing.assert_frame_equal(restored, frame)
    assert repr(restored.attrs) == repr(frame.attrs)
    dates = pd.DataFrame(np.eye(2), columns=pd.date_range("2020", periods=2), index=["a", "b"])
    pd.testing.assert_frame_equal(read_again(dates, tmp_path, "csv"), dates, check_freq=False)


@pytest.mark.parametrize(
    "columns",
    [
        pd.RangeIndex(2),
        pd.RangeIndex(7, 1, -3, name="n"),
        pd.Index([0, 1]),
        pd.CategoricalIndex(["b", "a"], categories=["a", "b", "c"], ordered=True),
        pd.CategoricalIndex([20, 10], name="size"),
        pd.date_range("2020", periods=2, freq="MS"),
        pd.Index([("a", 1), ("b", 2)], tupleize_cols=False),
        pd.Index([("a", 1), "b"], name="n"),
        pd.MultiIndex.from_arrays([["a", "b"]]),
        pd.Index([]),
        pd.Index(["a"])[:0],
        pd.Index([1], name="n")[:0],
        pd.RangeIndex(0),
        pd.MultiIndex.from_tuples([("a", "b")])[:0].remove_unused_levels(),
        pd.date_range("2020", periods=2)[:0],
        pd.CategoricalIndex(["a"])[:0],
    ],
    ids=repr,
)
def test_the_labels_of_the_columns_are_of_the_same_kind(columns: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame(np.eye(2, len(columns)), columns=columns)
    if columns.empty:
        frame.index = pd.Index([5, 7], name="key")
    pd.testing.assert_index_equal(read_again(frame, tmp_path, "csv").columns, columns, exact=True)
    pd.testing.assert_frame_equal(sa.read_frame(tmp_path / "t.csv"), frame)


def test_a_series_comes_back_as_a_column(tmp_path: Path) -> None:
    series = pd.Series([1.5, 2.5], index=pd.Index(["a", "b"], name="k"), name="s")
    pd.testing.assert_frame_equal(read_again(series, tmp_path, "csv"), series.to_frame())


def test_a_frame_is_a_dataset_too(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    frame = pd.DataFrame({"a": [1.5, 2.5]}, index=pd.Index([10, 20], name="x"))
    sa.write(tmp_path / "t.csv", frame)
    xr.testing.assert_identical(sa.read_dataset(tmp_path / "t.csv"), frame.to_xarray())


# `write_table` of frames and Datasets, and `read_columns(as_=..)`, which gives them -----------------------------

FRAME = pd.DataFrame({"a": [1, 2], "b": ["x", None]}, index=pd.Index([10, 20], name="k"))
DATA = xr.Dataset({"t": (("x", "y"), np.arange(6.0).reshape(2, 3))}, {"x": ["p", "q"]}, {"made": "by hand"})


def test_tables_are_plain_columns_coordinates_before_values() -> None:
    for table, header in (
        (FRAME.fillna("z"), "k,a,b"),
        (pl.DataFrame({"n": [1], "m": ["z"]}), "n,m"),
        (DATA, "x,y,t"),
        (DATA["t"], "x,y,t"),
        (DATA["t"].rename(None), "x,y,array"),
    ):
        file = io.StringIO()
        sa.write_table(file, table, format="csv")
        assert file.getvalue().splitlines()[0] == header
    columns = sa.read_columns(io.StringIO(_table_of(DATA)))
    assert columns["t"].tolist() == list(range(6))
    assert columns["x"].tolist() == ["p"] * 3 + ["q"] * 3


def _table_of(table: Any) -> str:
    file = io.StringIO()
    sa.write_table(file, table, format="csv")
    return file.getvalue()


# read_columns(as_=..) -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [0, 1, -1], ids=["first", "second", "last"])
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_labels_stay_when_somebody_deletes_a_row(suffix: str, row: int, tmp_path: Path) -> None:
    """Their text stands beside the headers, not in a row of elements."""
    path = tmp_path / f"t.{suffix}"
    index = pd.Index(["a", "b", "c", "d"], name="key")
    frame = pd.DataFrame({"t": [1.5, 2.5, 3.5, 4.5], "n": [1, 2, 3, 4]}, index=index)
    sa.write(path, frame)
    if suffix == "csv":
        lines = path.read_text().splitlines()
        del lines[len(lines) - 4 + row % 4]
        path.write_text("\n".join(lines) + "\n")
    else:
        book = openpyxl.load_workbook(path)
        book["arrays"].delete_rows(book["arrays"].max_row - 3 + row % 4)
        book.save(path)
    assert ["in 3 arrays" in finding.message for finding in sa.check(path)] == [True]
    expected = frame.drop(index=index[row])
    pd.testing.assert_frame_equal(sa.read_frame(path, resize=True), expected)
    sa.accept(path)
    pd.testing.assert_frame_equal(sa.read_frame(path), expected)
