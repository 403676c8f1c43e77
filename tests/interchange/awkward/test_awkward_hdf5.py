"""HDF5 groups as mappings of awkward arrays: nothing is lost, and nothing outside of the group is read."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from awkward_layouts import every_class
from children import limited

import sheetarray as sa
from sheetarray.interchange.awkward import WHITELIST, hdf5
from sheetarray.testing.cases import objects

CASES = every_class()
LISTS, WORDS = CASES["lists"], CASES["strings"]


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Any]:
    with h5py.File(tmp_path / "t.h5", "w") as opened:
        yield opened


def test_arrays_are_groups_of_bytes_and_a_schema(file: Any) -> None:
    hdf5(file, compression=None)["events"] = LISTS
    assert list(file) == ["events"]
    assert sorted(file["events"]) == ["1", "3", "schema.json"]
    assert all(dataset.dtype == np.uint8 for dataset in file["events"].values())
    assert file["events/1"][()].tobytes() == np.array([2, 0, 1], "<i8").tobytes()
    assert b'"prefix":"events/"' in file["events/schema.json"][()].tobytes()


def test_it_is_a_mapping_in_any_group(file: Any) -> None:
    file["other"] = np.arange(3)
    file.create_group("deep/er")
    for group in (file, file["deep/er"]):
        arrays = hdf5(group)
        arrays["a"] = LISTS
        arrays["b"] = WORDS
        arrays["a"] = WORDS
        assert list(arrays) == ["a", "b"]
        assert arrays["a"].to_list() == WORDS.to_list()
        assert "a" in arrays
        assert [name in arrays for name in ("other", "deep", "a/1", "", ".", "..", 3)] == [False] * 7
        assert arrays.pop("b").to_list() == WORDS.to_list()
        assert dict(arrays).keys() == {"a"}
        assert "'a'" in repr(arrays)
        for missing in ("b", "other", "a/1", "/a"):
            with pytest.raises(sa.NotFoundError, match="'a'"):
                arrays[missing]
            with pytest.raises(sa.NotFoundError):
                del arrays[missing]
    assert file["other"][()].tolist() == [0, 1, 2]


# Refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "array", "error"),
    [
        ("t", objects(1), sa.DTypeError),
        ("a/b", LISTS, sa.LimitError),
        ("/a", LISTS, sa.LimitError),
        ("..", LISTS, sa.LimitError),
        ("", LISTS, sa.LimitError),
        ("taken", LISTS, sa.LimitError),
        ("linked", LISTS, sa.LimitError),
    ],
)
def test_a_refused_array_leaves_the_group_as_it_was(name: str, array: Any, error: type[Exception], file: Any) -> None:
    arrays = hdf5(file)
    arrays["t"] = LISTS
    file["taken"] = np.arange(3)
    file["linked"] = h5py.SoftLink("/t")
    with pytest.raises(error):
        arrays[name] = array
    assert sorted(file) == ["linked", "t", "taken"]
    assert arrays["t"].to_list() == LISTS.to_list()


@pytest.mark.fault("An error while an array is written into HDF5.", "The old array is whole.")
def test_an_array_that_fails_on_the_way_leaves_the_old_one(file: Any) -> None:
    def fails(_content: Any) -> bytes:
        raise OSError("no space left")

    hdf5(file)["t"] = LISTS
    arrays = hdf5(file, compression={"contexts": "*.content", "pair": (fails, ("mine", "fails"))})
    with pytest.raises(OSError, match="no space left"):
        arrays["t"] = WORDS
    assert list(file) == ["t"]
    assert arrays["t"].to_list() == LISTS.to_list()


def test_options_are_known_and_the_whitelist_is_for_both_ways(file: Any) -> None:
    with pytest.raises(TypeError, match="whitlist"):
        hdf5(file, whitlist="*")
    with pytest.raises(TypeError, match="h5py"):
        hdf5({})
    hdf5(file, whitelist=WHITELIST)["t"] = LISTS
    narrow = hdf5(file, whitelist=[["awkward0", "numpy", "frombuffer"]])
    with pytest.raises(ValueError, match="JaggedArray"):
        narrow["u"] = LISTS
    with pytest.raises(sa.FormatError, match="JaggedArray"):
        narrow["t"]


def test_a_missing_package_names_the_extra(file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(sa.MissingDependencyError, match=r"sheetarray\[awkward\]"):
        hdf5(file)


# Hostile files -----------------------------------------------------------------------------------------------


def schema(file: Any, text: bytes) -> None:
    del file["t/schema.json"]
    file["t/schema.json"] = np.frombuffer(text, np.uint8)


def reading(name: str) -> bytes:
    args: list[Any] = [{"read": name, "absolute": True}, {"dtype": "u1"}, {"json": 2}]
    call = {"call": ["awkward0", "numpy", "frombuffer"], "args": args}
    return json.dumps({"awkward0": "0", "schema": call}).encode()


def soft(file: Any) -> None:
    del file["t/1"]
    file["t/1"] = h5py.SoftLink("/secret")


def external(file: Any) -> None:
    del file["t/1"]
    file["t/1"] = h5py.ExternalLink("other.h5", "/secret")


def external_schema(file: Any) -> None:
    del file["t/schema.json"]
    file["t/schema.json"] = h5py.ExternalLink("other.h5", "/secret")


def stored_elsewhere(file: Any) -> None:
    del file["t/1"]
    raw = Path(file.file.filename).with_name("secret.raw")
    raw.write_bytes(bytes(24))
    file["t"].create_dataset("1", (24,), "u1", external=[(str(raw), 0, 24)])


def virtual(file: Any) -> None:
    del file["t/1"]
    layout = h5py.VirtualLayout((24,), "u1")
    layout[:] = h5py.VirtualSource("other.h5", "secret", (24,))
    file["t"].create_virtual_dataset("1", layout)


def of_objects(file: Any) -> None:
    del file["t/1"]
    file["t"].create_dataset("1", data=["a", "b"], dtype=h5py.string_dtype())


def a_bomb(file: Any) -> None:
    del file["t/1"]
    file["t"].create_dataset("1", (2**36,), "u1", chunks=(2**20,), compression="gzip")


def many_bombs(file: Any) -> None:
    parts = []
    for index in range(40):
        file["t"].create_dataset(f"z{index}", (2**23,), "u1", chunks=(2**20,), compression="gzip")
        parts.append([f"z{index}", {"read": f"z{index}"}])
    table = {"call": ["awkward0", "Table", "frompairs"], "args": [{"pairs": parts}, {"json": 0}]}
    schema(file, json.dumps({"awkward0": "0", "prefix": "t/", "schema": table}).encode())


def a_group(file: Any) -> None:
    del file["t/1"]
    file["t"].create_group("1")


def missing(file: Any) -> None:
    del file["t/1"]


HOSTILE: dict[str, tuple[Callable[[Any], None], str]] = {
    "a soft link": (soft, "a link"),
    "an external link": (external, "a link"),
    "a schema behind a link": (external_schema, "a link"),
    "elements in another file": (stored_elsewhere, "another file"),
    "a virtual dataset": (virtual, "another file"),
    "strings": (of_objects, "not of bytes"),
    "a bomb": (a_bomb, "inflates to"),
    "many small bombs": (many_bombs, "inflates to"),
    "a group": (a_group, "no dataset"),
    "a missing blob": (missing, r"t/1"),
    "an absolute name": (lambda file: schema(file, reading("/secret")), "leads out"),
    "a name that leads out": (lambda file: schema(file, reading("t/../../secret")), "leads out"),
    "an empty name": (lambda file: schema(file, reading("")), "empty"),
    "no JSON": (lambda file: schema(file, b"{"), "JSON"),
}


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("case", HOSTILE)
def test_nothing_hostile_is_read_and_other_arrays_are(case: str, inside: bool, tmp_path: Path) -> None:
    damage, reason = HOSTILE[case]
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["secret"] = np.zeros(24, "u1")
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["secret"] = np.zeros(24, "u1")
        group = file.create_group("inner") if inside else file
        arrays = hdf5(group)
        arrays["t"], arrays["fine"] = LISTS, WORDS
        damage(group)
        with limited(seconds=60, megabytes=200), pytest.raises(sa.FormatError, match=reason) as caught:
            arrays["t"]
        assert str(caught.value.location).startswith("t")
        assert caught.value.source == str(tmp_path / "t.h5")
        assert arrays["fine"].to_list() == WORDS.to_list()


def test_a_damaged_dataset_is_a_format_error(tmp_path: Path) -> None:
    path = tmp_path / "t.h5"
    with h5py.File(path, "w") as file:
        hdf5(file)["t"] = LISTS
        del file["t/1"]
        file["t"].create_dataset("1", data=np.frombuffer(b"findable" * 3, "u1"), fletcher32=True)
    content = path.read_bytes()
    assert content.count(b"findable" * 3) == 1
    path.write_bytes(content.replace(b"findable" * 3, b"mangled!" * 3))
    with h5py.File(path, "r") as file, pytest.raises(sa.FormatError, match="damaged"):
        hdf5(file)["t"]
