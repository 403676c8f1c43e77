"""NetCDF and Zarr: no group is left out in silence, and arrays without names of dimensions are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sheetarray as sa

pytest.importorskip("h5netcdf")
zarr: Any = pytest.importorskip("zarr")

pytestmark = [
    pytest.mark.filterwarnings("ignore:Consolidated metadata is currently not part"),
    pytest.mark.filterwarnings("ignore:The data type .* does not have a Zarr V3 specification"),
]


def make_tree(path: Path, *, root: bool = True, version: int = 2) -> Path:
    """Write a file of xarray's with arrays in two groups, and in the root unless it is to be without."""
    root_arrays = {"r": ("x", [1.5])} if root else {}
    tree = xr.DataTree.from_dict(
        {
            "/": xr.Dataset(root_arrays),
            "/north/day": xr.Dataset({"t": ("y", [1, 2], {"units": "K"})}, {"y": [3.5, 4.5]}),
            "/south": xr.Dataset({"t": ("y", [7, 8, 9])}),
        }
    )
    if path.suffix == ".nc":
        tree.to_netcdf(path, engine="h5netcdf")
    else:
        tree.to_zarr(path, zarr_format=version)
    return path


KINDS = [("t.nc", 2), ("t.zarr", 2), ("t.zarr", 3)]


@pytest.mark.parametrize(("name", "version"), KINDS)
def test_groups_are_listed_and_read_by_their_paths(name: str, version: int, tmp_path: Path) -> None:
    path = make_tree(tmp_path / name, version=version)
    infos = sa.scan(path)
    assert {name: info.shape for name, info in infos.items()} == {
        "r": (1,),
        "north/day/t": (2,),
        "north/day/y": (2,),
        "south/t": (3,),
    }
    assert infos["north/day/t"].dims == ("y",)
    assert sorted(sa.scan(path, group="north/day")) == ["t", "y"]
    assert sa.read(path, group="south")["t"].tolist() == [7, 8, 9]
    assert sa.read(path, group="/south/")["t"].tolist() == [7, 8, 9]
    assert list(sa.read(path, group="/")) == ["r"]
    some = sa.read(path, ["south/t", "r"])  # by the names that scan gives them
    assert {name: array.tolist() for name, array in some.items()} == {"south/t": [7, 8, 9], "r": [1.5]}
    with pytest.raises(sa.NotFoundError, match=r"there is 'r', 'north/day/t'.*'south/t'"):
        sa.read(path, ["t"])
    assert sa.read(path, ["r"])["r"].tolist() == [1.5]
    dataset = sa.read_dataset(path, group="north/day")
    assert dataset["t"].attrs == {"units": "K"}
    assert dataset["y"].values.tolist() == [3.5, 4.5]
    with pytest.raises(sa.NotFoundError, match=r"no group 'north'.*there is '/', 'north/day', 'south'"):
        sa.read(path, group="north")


@pytest.mark.parametrize(("name", "version"), KINDS)
@pytest.mark.parametrize("root", [True, False])
def test_a_file_with_groups_is_not_read_as_if_it_had_none(name: str, version: int, root: bool, tmp_path: Path) -> None:
    """`read` gave {}, or the root alone; `check` gave nothing; `convert` dropped variables."""
    path = make_tree(tmp_path / name, root=root, version=version)
    calls: list[Any] = [sa.read, sa.read_dataset, lambda path: sa.convert(path, tmp_path / "t.csv")]
    for call in calls:
        with pytest.raises(sa.FormatError, match=r"groups 'north/day', 'south'.*'north/day'}? reads one") as caught:
            call(path)
        option = "reading={'group': %s}" if call is calls[-1] else "group=%s"
        assert caught.value.hint == option % "'north/day'" + " reads one of them"
        assert (f"in the root ({option % repr('/')})" in str(caught.value)) == root
    if not root:
        with pytest.raises(sa.NotFoundError, match="no group '' with arrays"):
            sa.read(path, group="/")
    assert not (tmp_path / "t.csv").exists()
    (finding,) = sa.check(path)
    assert (finding.severity, "'north/day', 'south'" in finding.message) == ("warning", True)
    assert list(sa.check(path, group="south")) == []


def test_damage_in_a_group_is_found(tmp_path: Path) -> None:
    path = make_tree(tmp_path / "t.zarr")
    (path / "south" / "t" / "0").write_bytes(b"damaged")
    findings = list(sa.check(path))
    assert [(finding.severity, finding.array) for finding in findings] == [("warning", None), ("error", "south/t")]
    assert sa.read(path, group="north/day")["t"].tolist() == [1, 2]
    with pytest.raises(sa.FormatError):
        sa.read(path, group="south")


@pytest.mark.parametrize("version", [2, 3])
def test_arrays_without_names_of_dimensions_get_their_own(version: int, tmp_path: Path) -> None:
    """They were called damaged. Their fill value, which is 0 as a rule, is no missing value."""
    group = zarr.open_group(tmp_path / "t.zarr", mode="w", zarr_format=version)
    group.create_array("q", data=np.arange(6).reshape(2, 3), chunks=(1, 2))
    group.create_array("s", data=np.array(["a", "bc"]))
    group.create_group("inner").create_array("z", data=np.arange(4.0))
    assert list(sa.check(tmp_path / "t.zarr", group="/")) == []
    assert sa.scan(tmp_path / "t.zarr")["q"].dims == ("q_0", "q_1")
    arrays = sa.read(tmp_path / "t.zarr", group="/")
    assert arrays["q"].dtype == np.int64
    assert arrays["q"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert arrays["s"].tolist() == ["a", "bc"]
    assert sa.read(tmp_path / "t.zarr", group="inner")["z"].tolist() == [0, 1, 2, 3]
    assert sa.read_dataset(tmp_path / "t.zarr", group="/").sizes == {"q_0": 2, "q_1": 3, "s_0": 2}
    zarr.save_array(str(tmp_path / "alone.zarr"), np.arange(3), zarr_format=version)
    with pytest.raises(sa.FormatError, match=r"without a group.*zarr\.open_array\(path\)"):
        sa.read(tmp_path / "alone.zarr")


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_an_array_called_dataset_json_is_an_array(suffix: str, tmp_path: Path) -> None:
    """It was absent in silence."""
    path, arrays = tmp_path / f"t{suffix}", {"a": np.arange(2), "dataset.json": np.array([30, 31])}
    sa.write(path, arrays)
    with pytest.warns(sa.SheetArrayWarning, match=r"dataset\.json is read as an ordinary array"):
        found = sa.read(path)
    assert {name: array.tolist() for name, array in found.items()} == {"a": [0, 1], "dataset.json": [30, 31]}
    with pytest.warns(sa.SheetArrayWarning):
        assert list(sa.scan(path)) == ["a", "dataset.json"]


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_names_and_text_that_the_format_does_not_hold_are_errors_of_ours(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    for name in ("\ud800", "a\0b", "a/b", "", ".", ".."):
        with pytest.raises(sa.LimitError):
            sa.write(path, {"fine": np.arange(2), name: np.arange(2)})
    with pytest.raises(sa.LimitError):
        sa.write(path, xr.Dataset({"t": ("\ud800", [1])}))
    for texts in (["ok", "a\0b"], ["\0a", "b"]):
        for array in (np.array(texts), np.array([*texts, None], dtype=object)):
            if suffix == ".nc":
                with pytest.raises(sa.DTypeError, match=r"^t\[\d\].*NUL"):
                    sa.write(path, {"t": array})
            else:
                sa.write(path, {"t": array})
                assert sa.read(path)["t"].tolist() == array.tolist()
    ends = np.array([None, "b\0"], dtype=object)
    if suffix == ".zarr":
        sa.write(path, {"t": ends})
        assert sa.read(path)["t"].tolist() == ends.tolist()
    assert suffix == ".zarr" or list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata", "x" * 256, "é" * 128])
def test_an_array_of_a_zarr_folder_has_the_name_of_a_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(sa.LimitError, match="no folder there can be called"):
        sa.write(tmp_path / "t.zarr", {name: np.arange(2)})
    assert list(tmp_path.iterdir()) == []
    for other in (f"{name[:120]}.", "x" * 255, "é" * 127):
        sa.write(tmp_path / "t.zarr", {other: np.arange(2)})
        assert list(sa.read(tmp_path / "t.zarr")) == [other]


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            (name, "v")
            for name in ("NAME", "CLASS", "_NCProperties", "_nc3_strict", "_ARRAY_DIMENSIONS", "DIMENSION_LIST")
        ),
        *((name, "v") for name in ("\ud800", "a\0b", "a/b", "", "_FillValue", "units", "coordinates")),
        *(("k", value) for value in ("\ud800", "a\0b", "\0", "x\0", "", "x" * 70_000)),
    ],
)
def test_any_name_and_text_of_an_attribute_comes_back(name: str, value: str, suffix: str, tmp_path: Path) -> None:
    """Some were an error of another library, and one was absent in silence."""
    dataset = xr.Dataset({"t": ("x", [1.5, 2.0], {name: value})}, attrs={name: value})
    sa.write(tmp_path / f"t{suffix}", dataset)
    xr.testing.assert_identical(sa.read_dataset(tmp_path / f"t{suffix}"), dataset)
