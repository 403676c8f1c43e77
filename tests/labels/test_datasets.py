"""xarray Datasets: written with their labels, and read again identical, through every container of cells."""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import resave

import sheetarray as sa

NAME = "dataset.json"

PLACES = ["csv", "tsv", "json", "csv.gz", "xlsx", "google"]


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A path, or a URL of an emulator."""
    if request.param != "google":
        yield str(tmp_path / f"grid.{request.param}")
        return
    server = request.getfixturevalue("sheets_server")
    monkeypatch.setenv("SHEETARRAY_SHEETS_ENDPOINT", server.url)
    yield f"gsheets://{server.create()}/grid"


def make_grid() -> xr.Dataset:
    """A Dataset with everything in it that a Dataset may have."""
    rows = np.arange(6.0).reshape(3, 2)
    rows[0, 0] = np.nan
    return xr.Dataset(
        {
            "t": (("time", "lat"), rows, {"units": "K", "range": np.array([0, 400], "f4"), "scale": np.float32(0.1)}),
            "quality": ("time", np.array(["good", "=1+1", ""], dtype=object), {"flags": [1, 2.5, None, True, "x"]}),
            "valid": ("time", [True, False, True]),
            "counts": (("lat", "time"), np.asfortranarray(np.arange(6, dtype="u2").reshape(2, 3))),
            "wait": ("time", np.array([1, -2, 3], "m8[ms]")),
            "nothing": (("time", "void"), np.zeros((3, 0), "i4")),
            "wave": ("lat", np.array([1 + 2j, complex(0.0, -0.0)])),
            "total": ((), np.int64(2**62 + 1)),
        },
        coords={
            "time": ("time", pd.date_range("2026-06-30", periods=3).to_numpy(), {"axis": "T"}),
            "lat": ("lat", np.array([47.1, 47.6], "f4"), {"long_name": "latitude"}),
            "place": ("lat", ["Köln", "007"]),
            "area": (("lat", "time"), np.ones((2, 3))),
            "run": 7,
            "name": 'a "quoted", text',
        },
        attrs={
            "title": "a grid",
            "history": "long " * 20_000,
            "missing": float("nan"),
            "limits": (-1, float("inf")),
            "when": dt.datetime(2026, 7, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2))),
            "day": dt.date(2026, 7, 1),
            "step": dt.timedelta(days=1, microseconds=5),
            "root": 1 - 2j,
            "moment": np.datetime64("2026-07-01T00:00", "m"),
            "word": np.str_("word"),
            "table": np.arange(1000).reshape(10, 100),
            "many": list(range(5000)),
            "big": 10**30,
            "nested": {"float": "no number", "list": [{"text": ["a"]}, {}]},
        },
    )


def assert_identical(actual: xr.Dataset, expected: xr.Dataset) -> None:
    """Hold two Datasets against each other, the types of attributes and dtypes included."""
    xr.testing.assert_identical(actual, expected)
    for name, variable in expected.variables.items():
        assert actual[name].dtype.kind == variable.dtype.kind
        assert repr(actual[name].attrs) == repr(variable.attrs)
    assert repr(actual.attrs) == repr(expected.attrs)
    assert list(actual.coords) == list(expected.coords)


def test_a_dataset_comes_back_identical(place: str) -> None:
    grid = make_grid()
    grid["t"].encoding["scale_factor"] = 0.1
    sa.write(place, grid)
    assert_identical(sa.read_dataset(place), grid)
    assert grid["t"].encoding == {"scale_factor": 0.1}
    assert list(sa.check(place)) == []


def test_all_doors_show_the_arrays_without_the_description(place: str) -> None:
    grid = make_grid()
    sa.write(place, grid)
    arrays = sa.read(place)
    assert set(arrays) == set(grid.variables)
    np.testing.assert_array_equal(arrays["t"], grid["t"].values)
    infos = sa.scan(place)
    assert list(infos) == list(arrays)
    assert {name: info.dims for name, info in infos.items()} == {name: v.dims for name, v in grid.variables.items()}
    assert list(sa.read(place, ["t"])) == ["t"]
    assert sa.read(place, [NAME])[NAME].ndim == 1
    with pytest.raises(sa.NotFoundError, match="'absent'"):
        sa.read(place, ["absent"])


def test_the_description_is_the_dictionary_of_xarray_and_nothing_else(tmp_path: Path) -> None:
    grid = make_grid()
    grid.attrs = {"title": "a grid", "number": 1.5, "list": [1, "two"]}
    grid["t"].attrs = {"units": "K"}
    sa.write(tmp_path / "t.csv", grid)
    text = "".join(sa.read(tmp_path / "t.csv", [NAME])[NAME])
    assert json.loads(text) == json.loads(json.dumps(grid.to_dict(data=False)))


def test_some_variables_come_with_their_coordinates(place: str) -> None:
    grid = make_grid()
    grid.attrs = {"title": "a grid"}
    sa.write(place, grid)
    for names in (["valid"], ["t", "wave"], ["lat"], ["total"], "counts"):
        expected = grid[[names] if isinstance(names, str) else names]
        xr.testing.assert_identical(sa.read_dataset(place, names), expected)
    with pytest.raises(sa.NotFoundError, match="'absent'"):
        sa.read_dataset(place, ["t", "absent"])


def test_every_door_that_writes_keeps_labels(tmp_path: Path) -> None:
    grid = make_grid()
    for suffix, write in (("csv", sa.write_csv), ("json", sa.write_json), ("xlsx", sa.write_excel)):
        write(tmp_path / f"t.{suffix}", grid)
        xr.testing.assert_identical(sa.read_dataset(tmp_path / f"t.{suffix}"), grid)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_libreoffice_saves_labels_again(suffix: str, tmp_path: Path) -> None:
    grid = make_grid()
    sa.write_excel(tmp_path / "t.xlsx", grid, cells="text")
    saved = resave(tmp_path / "t.xlsx", suffix, tmp_path / "saved")
    assert_identical(sa.read_dataset(saved), grid)


def test_a_data_array_is_written_with_its_coordinates(tmp_path: Path) -> None:
    grid, path = make_grid(), tmp_path / "t.csv"
    sa.write(path, grid["t"])
    assert_identical(sa.read_dataset(path), grid["t"].to_dataset())
    sa.write(path, grid["t"].rename(None))
    xr.testing.assert_identical(sa.read_dataset(path)["array"], grid["t"].rename("array"))
    sa.write(path, grid["time"])
    xr.testing.assert_identical(sa.read_dataset(path)["time"], grid["time"])


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_indexes_that_were_set_or_dropped_and_labels_that_are_no_text(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{suffix}"
    dataset = xr.Dataset(
        {1: (("x", 3), [[1], [2]]), 2.5: ("x", [True, False])},
        coords={"x": [10, 20], "place": ("x", ["a", "b"]), "y": ("y", [1.5])},
    )
    dataset = dataset.set_xindex("place").drop_indexes("y")
    sa.write(path, dataset)
    assert_identical(sa.read_dataset(path), dataset)
    assert set(sa.read(path)) == {"1", "2.5", "x", "y", "place"}


def test_an_index_of_several_levels(place: str) -> None:
    index = pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["letter", "digit"])
    coords = xr.Coordinates.from_pandas_multiindex(index, "pair")
    dataset = xr.Dataset({"v": ("pair", np.arange(4.0))}, coords=coords)
    dataset["letter"].attrs["alphabet"] = "latin"
    sa.write(place, dataset)
    restored = sa.read_dataset(place)
    xr.testing.assert_identical(restored, dataset)
    assert isinstance(restored.indexes["pair"], pd.MultiIndex)
    assert list(sa.check(place)) == []
    assert set(sa.read(place)) == {"v", "letter", "digit"}
    xr.testing.assert_identical(sa.read_dataset(place, ["v"]), dataset)


def test_labels_go_along_with_a_conversion(tmp_path: Path) -> None:
    grid = make_grid()
    sa.write(tmp_path / "t.csv", grid)
    sa.convert(tmp_path / "t.csv", tmp_path / "t.xlsx")
    sa.convert(tmp_path / "t.xlsx", tmp_path / "t.json")
    xr.testing.assert_identical(sa.read_dataset(tmp_path / "t.json"), grid)
    sa.convert(tmp_path / "t.csv", tmp_path / "t.json", ["valid", "time"])
    expected = grid[["valid"]].drop_vars(["run", "name"])
    xr.testing.assert_identical(sa.read_dataset(tmp_path / "t.json"), expected)


def test_open_files_are_read_once(tmp_path: Path) -> None:
    grid, file = make_grid(), io.BytesIO()
    sa.write(file, grid, format="csv")
    for names in (None, ["t"]):
        file.seek(0)
        expected = grid if names is None else grid[names]
        xr.testing.assert_identical(sa.read_dataset(file, names, format="csv"), expected)


def test_a_dimension_twice_is_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        square = xr.Dataset({"t": (("x", "x"), np.eye(2))})
    with pytest.raises(sa.DTypeError, match="t: a dimension occurs twice"):
        sa.write(tmp_path / "t.csv", square)


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
VALUES = st.recursive(
    PLAIN | st.builds(np.float32, st.floats(width=32)) | st.builds(np.array, st.lists(st.integers(-5, 5))),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.sampled_from(["a", "float", "list", "dict", "frame"]), inner, max_size=2)
    ),
    max_leaves=6,
)
NAMES = st.text("abcxyz_ =-é", min_size=1, max_size=5).filter(lambda name: name.strip() == name and name != "")
DTYPES = st.sampled_from(["f8", "f4", "i8", "u1", "?", "M8[ns]", "m8[s]", "c16", "U3"])


@st.composite
def datasets(draw: Any) -> xr.Dataset:
    """Datasets of random names, dimensions, dtypes and attributes."""
    sizes = draw(st.dictionaries(NAMES, st.integers(0, 3), min_size=1, max_size=3))
    variables: dict[str, Any] = {}
    for name in draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)):
        dims = [name] if name in sizes else draw(st.lists(st.sampled_from(sorted(sizes)), unique=True, max_size=3))
        shape = tuple(sizes[dim] for dim in dims)
        dtype = np.dtype(draw(DTYPES))
        numbers = np.array(draw(st.lists(st.integers(0, 100), min_size=9 * 3, max_size=27)))[: int(np.prod(shape))]
        array = numbers.astype("i8" if dtype.kind in "Mm" else dtype).astype(dtype).reshape(shape)
        variables[name] = (dims, array, draw(st.dictionaries(NAMES, VALUES, max_size=2)))
    coords = [name for name in variables if name in sizes or draw(st.booleans())]
    attrs = draw(st.dictionaries(NAMES, VALUES, max_size=3))
    return xr.Dataset(variables, attrs=attrs).set_coords(coords)


@settings(max_examples=examples(25))
@given(datasets())
@pytest.mark.parametrize("format", ["csv", "json", "xlsx"])
def test_random_datasets(format: str, dataset: xr.Dataset) -> None:
    file = io.BytesIO()
    sa.write(file, dataset, format=format)
    file.seek(0)
    restored = sa.read_dataset(file, format=format)
    xr.testing.assert_equal(restored, dataset)
    for name, variable in dataset.variables.items():  # by their text: xarray compares no arrays in tuples
        assert repr(restored[name].attrs) == repr(variable.attrs)
    assert repr(restored.attrs) == repr(dataset.attrs)
    file.seek(0)
    assert list(sa.check(file, format=format)) == []


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".json", ".nc"])
def test_a_mapping_of_data_arrays_keeps_their_labels(tmp_path: Path, suffix: str) -> None:
    days = xr.DataArray([[1.5, 2.5]], dims=("day", "site"), coords={"site": ["a", "b"]}, attrs={"units": "mm"})
    path = tmp_path / f"rain{suffix}"
    sa.write(path, {"rain": days, "sun": days[0] * 2, "n": np.arange(2), "bare": xr.DataArray([1, 2, 3])})
    assert list(sa.read(path))[:4] == ["rain", "sun", "n", "bare"]
    back = sa.read_dataset(path)
    xr.testing.assert_identical(back.rain, days.rename("rain"))
    assert back.sun.dims == ("site",)
    assert back.sun.site.to_numpy().tolist() == ["a", "b"]


def test_labels_that_contradict_each_other_are_left_out_with_a_warning(tmp_path: Path) -> None:
    days = xr.DataArray([1.5, 2.5], dims="day", coords={"day": [1, 2]})
    with pytest.warns(sa.SheetArrayWarning, match="labels of the DataArrays are left out.*day"):
        sa.write(tmp_path / "t.csv", {"a": days[0], "b": days[1]})
    assert sa.scan(tmp_path / "t.csv")["b"].dims is None


def test_data_arrays_without_labels_are_arrays(tmp_path: Path) -> None:
    sa.write(tmp_path / "t.npz", {"a": xr.DataArray([1, 2]), "b": xr.DataArray([1, 2, 3])})
    assert sa.read(tmp_path / "t.npz", "b").tolist() == [1, 2, 3]
