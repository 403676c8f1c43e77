"""`.sheetarray` of frames and Datasets, and `read_columns(as_=..)`, which gives them."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import sheetarray as sa
import sheetarray.accessors

FRAME = pd.DataFrame({"a": [1, 2], "b": ["x", None]}, index=pd.Index([10, 20], name="k"))
DATA = xr.Dataset({"t": (("x", "y"), np.arange(6.0).reshape(2, 3))}, {"x": ["p", "q"]}, {"made": "by hand"})


def test_frames_and_datasets_write_themselves(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    FRAME.sheetarray.write(path)
    pd.testing.assert_frame_equal(sa.read_frame(path), FRAME)
    DATA.sheetarray.write(path, sheet="data")
    xr.testing.assert_identical(sa.read_dataset(path), DATA)
    pl.DataFrame({"n": [1, 2]}).sheetarray.write(path)  # type: ignore[attr-defined]
    assert sa.read(path)["n"].tolist() == [1, 2]
    DATA["t"].sheetarray.write(path)
    assert sa.read(path)["t"].shape == (2, 3)


def test_tables_are_plain_columns_coordinates_before_values() -> None:
    for table, header in (
        (FRAME.fillna("z"), "k,a,b"),
        (pl.DataFrame({"n": [1], "m": ["z"]}), "n,m"),
        (DATA, "x,y,t"),
        (DATA["t"], "x,y,t"),
        (DATA["t"].rename(None), "x,y,array"),
    ):
        file = io.StringIO()
        table.sheetarray.to_table(file, format="csv")  # type: ignore[attr-defined]
        assert file.getvalue().splitlines()[0] == header
    columns = sa.read_columns(io.StringIO(_table_of(DATA)))
    assert columns["t"].tolist() == list(range(6))
    assert columns["x"].tolist() == ["p"] * 3 + ["q"] * 3


def _table_of(table: Any) -> str:
    file = io.StringIO()
    table.sheetarray.to_table(file, format="csv")
    return file.getvalue()


@pytest.mark.parametrize(
    "order", ["pandas, polars, xarray, sheetarray", "sheetarray.accessors, pandas, polars, xarray"]
)
def test_the_order_of_imports_is_either_one(order: str) -> None:
    script = f"""import {order}
for kind in (pandas.DataFrame, polars.DataFrame, xarray.Dataset):
    print(hasattr(kind, "sheetarray"))"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"] * 3


def test_importing_the_package_imports_none_of_the_libraries() -> None:
    script = "import sys, sheetarray; print({'pandas', 'polars', 'xarray'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# read_columns(as_=..) -------------------------------------------------------------------------------------------

TEXT = "id,t,day\n007,0.5,2024-01-01\n008,,2024-01-02\n"


def test_columns_come_as_the_table_that_is_asked_for() -> None:
    frame = sa.read_columns(io.StringIO(TEXT), as_="pandas")
    assert frame["id"].tolist() == ["007", "008"]
    assert frame["t"].dtype == np.float64
    assert frame["day"].dtype.kind == "M"
    polars = sa.read_columns(io.StringIO(TEXT), as_="polars")
    assert polars.equals(sa.read_columns(io.StringIO(TEXT), as_="arrow"))
    data = sa.read_columns(io.StringIO(TEXT), ["t", "id"], as_="dataset")
    assert data.sizes == {"row": 2}
    assert data["t"].dims == ("row",)
    assert list(data.data_vars) == ["t", "id"]


def test_columns_with_a_shape_are_a_dataset_and_no_frame() -> None:
    text = "a,b\n1,2\n3,4\n5,6\n7,8\n"
    data = sa.read_columns(io.StringIO(text), as_="dataset", shape={"a": (2, 2), "b": (2, 2)})
    assert data["a"].dims == ("row", "a_1")
    assert data["b"].dims == ("row", "b_1")
    with pytest.raises(sa.DTypeError, match="'a': a DataFrame holds columns of one dimension; as_='dataset'"):
        sa.read_columns(io.StringIO(text), as_="pandas", shape={"a": (2, 2)})
    with pytest.raises((sa.FormatError, sa.LimitError)):
        sa.read_columns(io.StringIO(text), as_="dataset", shape={"a": (2, 2)})
    with pytest.raises(ValueError, match='as_ is "numpy", "pandas"'):
        sa.read_columns(io.StringIO(text), as_="list")  # type: ignore[call-overload]
