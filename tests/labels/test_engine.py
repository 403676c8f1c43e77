"""`xarray.open_dataset(.., engine=..)`: lazy, and the same as `read_dataset`."""

from __future__ import annotations

import io
import pickle
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import sheetarray as sa
from sheetarray import api

ENGINE = xr.backends.list_engines()["sheetarray"]


@pytest.fixture
def grid() -> xr.Dataset:
    return xr.Dataset(
        {
            "t": (("time", "lat"), np.arange(6.0).reshape(3, 2), {"units": "days since 1970-01-01"}),
            "word": ("time", np.array(["a", "bb", ""])),
            "kind": ("time", pd.Categorical(["a", "b", "a"])),
        },
        coords={"time": pd.date_range("2026-07-01", periods=3), "lat": [47.5, 48.0], "run": 7},
        attrs={"title": "a grid"},
    )


def test_arrays_are_read_when_they_are_asked_for(
    grid: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sa.write(tmp_path / "t.csv", grid)
    read: list[Any] = []

    def spy(source: Any, names: Any = None, **options: Any) -> Any:
        read.append(sorted(names))
        return original(source, names, **options)

    original = api.read
    monkeypatch.setattr(api, "read", spy)
    opened = xr.open_dataset(tmp_path / "t.csv", engine="sheetarray")
    assert read == [["kind", "lat", "time"]]
    assert opened["t"].dtype == np.float64
    assert opened["t"].dims == ("time", "lat")
    opened["t"].variable.load()
    assert read == [["kind", "lat", "time"], ["t"]]
    assert pickle.loads(pickle.dumps(opened)).identical(grid)


def test_rows_of_a_large_text_are_read_without_the_rest(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(2000, 3))
    sa.write(tmp_path / "t.csv", {"t": values, "turned": np.asfortranarray(values)})
    opened = xr.open_dataset(tmp_path / "t.csv", engine="sheetarray")
    assert (opened["turned"][5:7].values == values[5:7]).all()
    assert (opened["t"][1:].values == values[1:]).all()
    cells = (tmp_path / "t.csv").read_text()
    (tmp_path / "t.csv").write_text(cells.replace(repr(values[1000, 1].item()), "five"))
    opened = xr.open_dataset(tmp_path / "t.csv", engine="sheetarray")
    with pytest.raises(sa.FormatError, match=r"t\[1000, 1\]"):
        opened["t"][999:1001].load()
    for rows in (slice(0, 3), slice(700, 900), slice(1990, None), slice(8, 8), slice(1001, 2000)):
        assert (opened["t"][rows].values == values[rows]).all()
        assert (opened["t"][rows, ::-1].values == values[rows, ::-1]).all()


def test_a_file_that_changed_is_an_error(grid: xr.Dataset, tmp_path: Path) -> None:
    sa.write(tmp_path / "t.csv", grid)
    opened = xr.open_dataset(tmp_path / "t.csv", engine="sheetarray")
    sa.write(tmp_path / "t.csv", grid[["t"]])
    with pytest.raises(sa.FormatError, match="has changed since it was opened"):
        opened["t"].load()


def test_options_variables_to_drop_and_files_without_labels(grid: xr.Dataset, tmp_path: Path) -> None:
    sa.write(tmp_path / "t.csv", grid)
    opened = xr.open_dataset(tmp_path / "t.csv", engine="sheetarray", drop_variables=["t"], missing="nan")
    xr.testing.assert_identical(opened.load(), grid.drop_vars("t"))
    for option, said in (("strange", "no option 'strange'"), ("names", "drop_variables= leaves out arrays")):
        with pytest.raises(TypeError, match=said):
            xr.open_dataset(tmp_path / "t.csv", engine="sheetarray", **{option: ["t"]})
    sa.write(tmp_path / "u.dat", {"a": np.zeros((2, 3))}, format="csv")
    assert xr.open_dataset(tmp_path / "u.dat", engine="sheetarray", format="csv")["a"].dims == ("a_0", "a_1")
    file = io.BytesIO((tmp_path / "t.csv").read_bytes())
    xr.testing.assert_identical(
        ENGINE.open_dataset(file, format="csv", drop_variables="t"),
        grid.drop_vars("t"),
    )


@pytest.mark.parametrize(
    ("name", "opens"),
    [
        ("a.csv", True),
        ("a.CSV.gz", True),
        ("a.xlsx", True),
        ("a.ods", True),
        ("a.npz", True),
        ("gsheets://key", True),
        ("a.nc", False),
        ("a.zarr", False),
        ("a.parquet", True),
        ("a", False),
        ("https://host/a.csv", True),
        ("https://host/a.nc", False),
    ],
)
def test_a_suffix_tells_whether_the_engine_is_meant(name: str, opens: bool) -> None:
    assert ENGINE.guess_can_open(name) is opens


def test_the_beginning_of_an_open_file_tells_whether_the_engine_is_meant() -> None:
    file = io.BytesIO()
    sa.write(file, {"t": np.arange(3)}, format="csv")
    for content, opens in ((file.getvalue(), True), (b"\x89HDF\r\n\x1a\n", False), (b"CDF\x01" + bytes(4), False)):
        opened = io.BytesIO(content)
        assert ENGINE.guess_can_open(opened) is opens
        assert opened.tell() == 0


def test_only_an_open_file_of_arrays_is_claimed_among_texts() -> None:
    arrays, files = {"t": np.arange(3)}, {}
    for suffix, name in (("csv", "array of csv"), ("json", "array of json"), ("xlsx", "workbook")):
        files[name] = io.BytesIO()
        sa.write(files[name], arrays, format=suffix)
    utf16 = files["array of csv"].getvalue().decode().encode("utf-16")
    for content in (utf16, *(file.getvalue() for file in files.values())):
        assert ENGINE.guess_can_open(io.BytesIO(content))
    for content in (b"", b"hello", b"a,b\n1,2\n", b"{}", b"[1, 2]", b'{"t": 1}', b"\x81\xa1a\x01"):
        assert not ENGINE.guess_can_open(io.BytesIO(content)), content
    with pytest.raises(ValueError, match="did not find a match"):
        xr.open_dataset(io.BytesIO(b"a,b\n1,2\n"))


@pytest.mark.parametrize("option", ["decode_times", "decode_timedelta", "mask_and_scale", "concat_characters"])
def test_values_are_decoded_only_where_it_is_asked_for(option: str, grid: xr.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    sa.write(path, grid)
    for off in ({option: False}, {option: None}, {"decode_cf": False}, {"use_cftime": False, "decode_coords": False}):
        xr.testing.assert_identical(xr.open_dataset(path, engine="sheetarray", **off).load(), grid)


def test_values_are_decoded_by_the_rules_of_netcdf(grid: xr.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    sa.write(path, grid)
    with xr.open_dataset(path, engine="sheetarray", decode_times=True) as opened:
        assert opened["t"].values[0, 1] == np.datetime64("1970-01-02")
        assert opened["t"].attrs == {}
        assert opened["lat"].identical(grid["lat"])
    cftime = pytest.importorskip("cftime")
    with xr.open_dataset(path, engine="sheetarray", decode_times=xr.coders.CFDatetimeCoder(use_cftime=True)) as o:
        assert o["t"].values[0, 1] == cftime.DatetimeGregorian(1970, 1, 2)
    packed = xr.Dataset(
        {
            "n": ("x", [2, -1], {"scale_factor": 0.5, "_FillValue": -1, "coordinates": "p"}),
            "p": ("x", [7, 8]),
            "lag": ("x", [1, 2], {"units": "hours"}),
        }
    )
    sa.write(path, packed)
    decoded = {"mask_and_scale": True, "decode_coords": True, "decode_timedelta": True}
    with xr.open_dataset(path, engine="sheetarray", **decoded) as opened:
        np.testing.assert_array_equal(opened["n"], [1, np.nan])
        assert "p" in opened.coords
        assert opened["lag"].values.tolist() == np.array([1, 2], "m8[h]").astype("m8[ns]").tolist()


def test_a_variable_named_none_comes_back_so(tmp_path: Path) -> None:
    dataset = xr.Dataset({None: ("x", [1, 2]), "b": ("x", [3, 4])})
    for suffix in ("csv", "json", "xlsx"):
        sa.write(tmp_path / f"t.{suffix}", dataset)
        xr.testing.assert_identical(sa.read_dataset(tmp_path / f"t.{suffix}"), dataset)
        assert list(sa.read(tmp_path / f"t.{suffix}")) == ["None", "b"]
    with pytest.raises(sa.LimitError, match="'None'"):
        sa.write(tmp_path / "t.csv", dataset.assign({"None": 1}))


def test_the_entry_point_names_the_engine() -> None:
    pyproject = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    module, _, name = pyproject["project"]["entry-points"]["xarray.backends"]["sheetarray"].partition(":")
    assert getattr(import_module(module), name) is type(ENGINE)
