"""NetCDF and Zarr: arrays and datasets come back as they were, other programs read them, damage is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import sheetarray as sa
from sheetarray.testing.conformance import Conformance

pytest.importorskip("h5netcdf")
pytest.importorskip("zarr")


class TestNetcdf(Conformance):
    suffix, format, text, progress_of = ".nc", "netcdf", False, ("write",)
    lacks = dict.fromkeys(["64-d"], sa.LimitError)


class TestZarr(Conformance):
    suffix, format, text, binary, progress_of = ".zarr", "zarr", False, False, ("write",)
    lacks = dict.fromkeys(["64-d"], sa.LimitError)
    test_what_the_format_cannot_hold_leaves_the_old_file = None  # a folder has no bytes: below
    test_a_late_refusal_leaves_the_old_file = None


def grid() -> Any:
    return xr.Dataset(
        {
            "t": (("time", "lat"), np.arange(6, dtype="f4").reshape(3, 2), {"units": "K", "n": 3, "f": 1.5}),
            "b": ("lat", [True, False]),
            "s": ("lat", ["a", ""]),
            "d": ("lat", np.array([1, "NaT"], "m8[s]")),
        },
        coords={"time": pd.date_range("2020", periods=3), "mask": (("lat", "time"), np.eye(2, 3) > 0), "x": 5.0},
        attrs={"title": "a grid"},
    )


OPENERS = {".nc": "h5netcdf", ".zarr": "zarr"}


@pytest.mark.parametrize("suffix", OPENERS)
def test_a_dataset_is_the_files_own(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    sa.write(path, grid())
    xr.testing.assert_identical(sa.read_dataset(path), grid())
    assert sa.scan(path)["t"].dims == ("time", "lat")
    with xr.open_dataset(path, engine=OPENERS[suffix]) as theirs:
        assert "dataset.json" not in theirs
        xr.testing.assert_equal(theirs, grid())
    sa.convert(path, tmp_path / "t.csv")
    xr.testing.assert_identical(sa.read_dataset(tmp_path / "t.csv"), grid())


@pytest.mark.parametrize("suffix", OPENERS)
def test_what_attributes_cannot_say_comes_back_too(suffix: str, tmp_path: Path) -> None:
    index = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["k", "l"])
    levels = xr.Dataset({"v": ("i", [1, 2]), "o": ("i", np.array(["a", None], dtype=object))})
    zone = pd.date_range("2020", periods=3, tz="Europe/Berlin")
    sets = [
        levels.assign_coords(xr.Coordinates.from_pandas_multiindex(index, "i")),
        grid().assign_attrs(tree={"a": [1, None]}, sizes=[1, 2]).assign_coords(time=zone),
        xr.Dataset({"v": ("i", [1, 2], {"units": "days since 2000-01-01", "scale_factor": 2.0})}),
    ]
    for number, dataset in enumerate(sets):
        sa.write(tmp_path / f"{number}{suffix}", dataset)
        xr.testing.assert_identical(sa.read_dataset(tmp_path / f"{number}{suffix}"), dataset)
        assert list(sa.check(tmp_path / f"{number}{suffix}")) == []


@pytest.mark.parametrize("suffix", OPENERS)
def test_packed_numbers_and_times_of_others_are_read_by_cf(suffix: str, tmp_path: Path) -> None:
    dataset = xr.Dataset({"p": ("x", [1.5, np.nan, 3.5])}, coords={"x": pd.date_range("2020", periods=3)})
    dataset["p"].encoding = {"scale_factor": 0.5, "dtype": "int16", "_FillValue": -1}
    path = tmp_path / f"t{suffix}"
    if suffix == ".nc":
        dataset.to_netcdf(path, engine="h5netcdf")
    else:
        dataset.to_zarr(path, zarr_format=2)
    np.testing.assert_array_equal(sa.read(path)["p"], [1.5, np.nan, 3.5])
    assert sa.scan(path)["p"].dtype == "float64"
    xr.testing.assert_equal(sa.read_dataset(path), dataset)


@pytest.mark.parametrize("suffix", OPENERS)
def test_texts_of_any_length_of_others_are_read(suffix: str, tmp_path: Path) -> None:
    dataset, path = xr.Dataset(coords={"file": np.array(["run0.csv", "größe"], object)}), tmp_path / f"t{suffix}"
    dataset.to_netcdf(path, engine="h5netcdf") if suffix == ".nc" else dataset.to_zarr(path, consolidated=False)
    assert sa.scan(path)["file"].dtype == "string"
    assert (texts := sa.read(path, "file")).dtype == "<U8"
    assert texts.tolist() == ["run0.csv", "größe"]


@pytest.mark.parametrize("suffix", OPENERS)
def test_arrays_beside_one_that_is_too_large_are_read(suffix: str, tmp_path: Path) -> None:
    """No byte of the large one is stored: each element is the fill value. Scanning reads no packed numbers."""
    path, shape = tmp_path / f"t{suffix}", (30_000, 30_000)
    names = np.array([b"ab", b"\xc3\xbc"])
    sa.write(path, {"small": np.array([1.5, 2.5])})
    if suffix == ".nc":
        import h5py

        with h5py.File(path, "a") as file:
            file["names"] = names
            large = file.create_dataset("large", shape, "i2", chunks=(1000, 1000))
            large.attrs["scale_factor"] = 0.5
    else:
        import zarr

        group = zarr.open_group(path, mode="a", zarr_format=2)
        for name, array in (("large", None), ("names", names)):
            made = group.create_array(
                name, **({"shape": shape, "dtype": "i2", "chunks": (1000, 1000)} if array is None else {"data": array})
            )
            made.attrs.update({"_ARRAY_DIMENSIONS": ["a", "b"] if array is None else ["n"], "scale_factor": 0.5})
            if array is not None:
                del made.attrs["scale_factor"]
        zarr.consolidate_metadata(path, zarr_format=2)
    infos = sa.scan(path)
    assert {name: (info.shape, info.dtype) for name, info in infos.items()} == {
        "small": ((2,), "float64"),
        "large": (shape, "float64"),
        "names": ((2,), "string"),
    }
    assert sa.read(path, ["small"])["small"].tolist() == [1.5, 2.5]
    assert sa.read(path, ["names"])["names"].tolist() == ["ab", "ü"]
    for call in (lambda: sa.read(path), lambda: sa.read(path, ["large"]), lambda: sa.read_dataset(path)):
        with pytest.raises(sa.FormatError, match=r"arrays of 9,000,000,\d+ bytes: more than.*names= reads some"):
            call()
    assert "more than is read at once" in next(sa.check(path)).message
    assert sa.read_dataset(path, ["small"]).sizes == {"small_0": 2}


def test_links_to_other_files_are_not_followed(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "other.nc", "w") as file:
        file["secret"] = np.arange(3)
    with h5py.File(tmp_path / "t.nc", "w") as file:
        file["t"] = h5py.ExternalLink(str(tmp_path / "other.nc"), "secret")
    with pytest.raises(sa.FormatError, match="links are not followed"):
        sa.read(tmp_path / "t.nc")
    with h5py.File(tmp_path / "u.nc", "w") as file:
        file.create_dataset("t", (10,), "i1", external=[(str(tmp_path / "other.nc"), 0, 10)])
    with pytest.raises(sa.FormatError, match="lies in another file"):
        sa.read(tmp_path / "u.nc")


@pytest.mark.fault("An error or Ctrl-C while a Zarr folder is replaced.", "The old folder is whole.")
def test_a_zarr_folder_is_replaced_whole_or_stays(tmp_path: Path) -> None:
    path = tmp_path / "t.zarr"
    sa.write(path, {"old": np.arange(3)})
    for bad in (np.array([b"ab"]), np.zeros(2, "V3")):
        with pytest.raises(sa.DTypeError):
            sa.write(path, {"fine": np.arange(5), "bad": bad})
    with pytest.raises(sa.LimitError, match="'a/b'"):
        sa.write(path, {"a/b": np.arange(3)})
    assert sa.read(path)["old"].tolist() == [0, 1, 2]
    sa.write(path, {"z": np.arange(2), "a": np.arange(4)})
    assert list(sa.read(path)) == ["z", "a"]
    assert [place.name for place in tmp_path.iterdir()] == ["t.zarr"]
    (tmp_path / "mine.zarr").mkdir()
    (tmp_path / "mine.zarr" / "notes.txt").write_text("mine")
    with pytest.raises(sa.LimitError, match="not a Zarr folder"):
        sa.write(tmp_path / "mine.zarr", {"a": np.arange(3)})
    with pytest.raises(sa.FormatError, match="not a Zarr folder"):
        sa.read(tmp_path / "mine.zarr")


@pytest.mark.parametrize("name", [".zmetadata", "a/.zarray"])
def test_a_folder_in_place_of_a_file_of_zarr_is_a_format_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.zarr"
    sa.write(path, {"a": np.arange(3)})
    (path / name).unlink()
    (path / name).mkdir()
    with pytest.raises(sa.FormatError, match="not a Zarr folder, or damaged"):
        sa.read(path)
    assert [finding.severity for finding in sa.check(path)] == ["error"]
    with pytest.raises(FileNotFoundError):
        sa.read(tmp_path / "absent.zarr")


def test_what_is_not_read_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "old.nc").write_bytes(b"CDF\x01" + bytes(28))
    with pytest.raises(sa.FormatError, match=r"NetCDF-3.*engine='scipy'"):
        sa.read(tmp_path / "old.nc")
    with pytest.raises(sa.FormatError, match=r"under a URL.*xarray\.open_zarr\(url\)"):
        sa.read("memory://t.zarr")
    with pytest.raises(sa.LimitError, match=r"under a URL: .*to_zarr\(url\)"):
        sa.write("memory://t.zarr", {"a": np.arange(3)})
    sa.write(tmp_path / "t.nc", {"a": np.arange(3)})
    with pytest.raises(sa.NotFoundError, match="no read_columns for it; read, read_frame"):
        sa.read_columns(tmp_path / "t.nc")
    with pytest.raises(sa.NotFoundError, match="no write_table for it; write takes the same table"):
        sa.write_table(tmp_path / "u.nc", {"a": np.arange(3)})


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_attributes_that_only_say_how_others_have_coded_values_are_not_those_of_the_values(
    tmp_path: Path, suffix: str
) -> None:
    pytest.importorskip({"nc": "h5netcdf", "zarr": "zarr"}[suffix])
    data = xr.Dataset(
        {
            "t": (("time", "x"), np.array([[0.5, np.nan], [1.5, 2.0]]), {"units": "K"}),
            "n": ("x", [1, 2], {"units": "days"}),
        },
        {"time": pd.date_range("2026-01-01", periods=2)},
    )
    coded = {"t": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -9}}
    path = tmp_path / f"a.{suffix}"
    if suffix == "nc":
        data.to_netcdf(path, engine="h5netcdf", encoding=coded)
    else:
        data.to_zarr(path, encoding=coded, consolidated=False)
    found = sa.read_dataset(path)
    options = {"engine": "h5netcdf"} if suffix == "nc" else {"engine": "zarr", "consolidated": False}
    xr.testing.assert_identical(found, xr.load_dataset(path, decode_timedelta=False, **options))
    found.to_netcdf(tmp_path / "again.nc", engine="h5netcdf") if suffix == "nc" else found.to_zarr(
        tmp_path / "b.zarr", consolidated=False
    )
    sa.convert(path, tmp_path / f"again2.{suffix}")
    xr.testing.assert_identical(sa.read_dataset(tmp_path / f"again2.{suffix}"), found)
