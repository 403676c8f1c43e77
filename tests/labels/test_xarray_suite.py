"""xarray's own tests of a backend, which its wheel ships, run on the engine `sheetarray`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from adapters_deleted import needing

import sheetarray as sa

suite = pytest.importorskip("xarray.tests.test_backends")


@pytest.fixture(params=["s", "ms", "us", "ns"])
def time_unit(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=[False, True], ids=["numpy", "dask"])
def use_dask(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip("dask.array") is not None if request.param else False


@needing("csv")
class TestCsv(suite.DatasetIOBase):  # type: ignore[misc]
    """Every test of the suite runs. Those that ask for what NetCDF does otherwise are below, each with the reason."""

    engine = "sheetarray"
    format = "csv"

    def save(self, dataset: xr.Dataset, path: str, **options: Any) -> None:
        sa.write(path, dataset, format=self.format, **options)

    @contextlib.contextmanager
    def open(self, path: str, **options: Any) -> Iterator[xr.Dataset]:
        with xr.open_dataset(path, engine=self.engine, format=self.format, **options) as dataset:
            yield dataset

    def check_identical(self, original: xr.Dataset) -> xr.Dataset:
        with self.roundtrip(original) as actual:
            xr.testing.assert_identical(original, actual)
            return actual.load()  # type: ignore[no-any-return]

    test_write_store = None  # a store takes variables one by one, and a file of ours is written whole

    def test_load_async(self) -> None:  # as it is; pytest runs no coroutines by itself
        asyncio.run(super().test_load_async())

    def test_zero_dimensional_variable(self) -> None:  # but for bytes, which are refused by name
        original = suite.create_test_data().assign(number=((), 1e9, {"units": "units of awesome"}), text=((), "foobar"))
        self.check_identical(original)
        with pytest.raises(sa.DTypeError, match=r"bytes_var: .*decode it first"):
            self.check_identical(original.assign(bytes_var=((), b"foobar")))

    def test_roundtrip_object_dtype(self) -> None:  # but for bytes; missing text stays missing, and is not ""
        columns = {
            "floats": [0.0, 0.0, 1.0],
            "floats_nans": [np.nan, np.nan, 1.0],
            "strings": ["ab", "cdef", "g"],
            "strings_nans": ["ab", "cdef", np.nan],
            "all_nans": [np.nan, np.nan, np.nan],
        }
        actual = self.check_identical(
            xr.Dataset({name: ("a", np.array(values, dtype=object)) for name, values in columns.items()})
        )
        assert actual["strings_nans"].isnull().values.tolist() == [False, False, True]
        with pytest.raises(sa.DTypeError, match=r"bytes.*decode it to text"):
            self.check_identical(xr.Dataset({"bytes": ("b", np.array([b"ab", np.nan], dtype=object))}))

    @pytest.mark.skipif(pd.__version__ < "3", reason="pandas 2 finds no missing text in NumPy's StringDType")
    def test_roundtrip_stringdtype_nulls(self) -> None:  # missing text stays missing, and is not ""
        for missing in (None, np.nan):
            dtype = np.dtypes.StringDType(na_object=missing)
            original = xr.Dataset({"x": ("t", np.array(["ab", missing], dtype))})
            assert self.check_identical(original)["x"].dtype == dtype

    def test_roundtrip_string_encoded_characters(self) -> None:  # text is text: it has no encoding of its own
        original = xr.Dataset({"x": ("t", ["ab", "cdef"])})
        original["x"].encoding["dtype"] = "S1"
        self.check_identical(original)

    def test_roundtrip_numpy_datetime_data(self) -> None:  # a date is a date, and counts from no other
        times = pd.to_datetime(["2000-01-01", "2000-01-02", "NaT"], unit="ns")
        self.check_identical(xr.Dataset({"t": ("t", times), "t0": times[0]}))

    def test_roundtrip_cftime_datetime_data(self) -> None:  # other calendars are refused with what to do instead
        cftime = pytest.importorskip("cftime")
        times = [cftime.DatetimeNoLeap(2001, 1, 1), cftime.DatetimeNoLeap(2001, 1, 2)]
        dataset = xr.Dataset({"v": ("time", [1, 2])}, {"time": times})
        with pytest.raises(sa.DTypeError, match=r"dataset\.convert_calendar\('standard', use_cftime=False\)"):
            self.check_identical(dataset)
        self.check_identical(dataset.convert_calendar("standard", use_cftime=False))

    def test_roundtrip_coordinates_with_space(self) -> None:  # NetCDF makes a variable of it, with a warning
        self.check_identical(xr.Dataset(coords={"x": 0, "y z": 1}))


@needing("xlsx")
class TestExcel(TestCsv):
    format = "xlsx"


@needing("json")
class TestJson(TestCsv):
    format = "json"
