"""A folder holds the blobs of awkward arrays as files, and nothing leads out of it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from awkward_layouts import assert_kept, every_class

import sheetarray as sa
from sheetarray.interchange.awkward import Folder, deserialize, serialize

CASES = every_class()
NAMES = {"suffix": ".raw", "schemasuffix": ".json"}


def files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_every_layout_comes_back(tmp_path: Path) -> None:
    for index, array in enumerate(CASES.values()):
        serialize(array, Folder(tmp_path), f"array {index}", **NAMES)
    for index, array in enumerate(CASES.values()):
        assert_kept(deserialize(Folder(tmp_path), f"array {index}", schemasuffix=".json"), array)


def test_an_array_may_have_a_folder_of_its_own(tmp_path: Path) -> None:
    serialize(
        CASES["lists"], Folder(tmp_path), "runs/events", delimiter="/", suffix=".raw", schemasuffix="/schema.json"
    )
    assert files(tmp_path) == ["runs/events/1.raw", "runs/events/3.raw", "runs/events/schema.json"]
    os.rename(tmp_path / "runs", tmp_path / "runs 2")
    inside = Folder(tmp_path / "runs 2")
    (tmp_path / "runs").symlink_to("runs 2")
    assert sorted(inside) == ["events/1.raw", "events/3.raw", "events/schema.json"]
    with pytest.raises(sa.NotFoundError):
        deserialize(Folder(tmp_path), "runs/events", schemasuffix="/schema.json")


def test_it_is_a_mapping(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    folder["b"], folder["a/b"] = b"1", b"22"
    folder["b"] = b"333"
    assert dict(folder) == {"b": b"333", "a/b": b"22"}
    assert len(folder) == 2
    assert [name in folder for name in ("b", "a/b", "a", "c", "../b", "", 3)] == [True, True] + [False] * 5
    del folder["b"]
    for missing in ("b", "a", "c/d"):
        with pytest.raises(sa.NotFoundError, match=missing):
            folder[missing]
        with pytest.raises(sa.NotFoundError):
            del folder[missing]
    assert files(tmp_path) == ["a/b"]
    assert eval(repr(folder), {"Folder": Folder}).keys() == folder.keys()
    with pytest.raises(FileNotFoundError):
        Folder(tmp_path / "absent")


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "a\\x", "", "a//b", ".", "a\0", "\ud800"])
def test_names_that_lead_out_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"secret")
    (tmp_path / "in").mkdir()
    folder = Folder(tmp_path / "in")
    with pytest.raises(sa.FormatError):
        folder[name]
    with pytest.raises(sa.LimitError):
        folder[name] = b"1"
    with pytest.raises(sa.NotFoundError):
        del folder[name]
    assert name not in folder
    assert files(tmp_path) == ["x"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/x").write_bytes(b"secret")
    (tmp_path / "in").mkdir()
    (tmp_path / "in/folder").symlink_to(tmp_path / "secret")
    (tmp_path / "in/file").symlink_to(tmp_path / "secret/x")
    folder = Folder(tmp_path / "in")
    assert list(folder) == []
    for name in ("folder/x", "file"):
        with pytest.raises(sa.NotFoundError):
            folder[name]
        with pytest.raises(sa.LimitError, match="link"):
            folder[name] = b"1"
    assert (tmp_path / "secret/x").read_bytes() == b"secret"
    assert files(tmp_path / "secret") == ["x"]


def test_a_schema_that_leads_out_reads_nothing(tmp_path: Path) -> None:
    (tmp_path / "secret.raw").write_bytes(bytes(8))
    (tmp_path / "in").mkdir()
    folder = Folder(tmp_path / "in")
    for name in ("../secret.raw", str(tmp_path / "secret.raw")):
        read = f'{{"read": "{name}", "absolute": true}}'
        call = f'{{"call": ["numpy", "frombuffer"], "args": [{read}, {{"dtype": "i8"}}, {{"json": 1}}]}}'
        folder["t.json"] = f'{{"awkward0": "0", "schema": {call}}}'.encode()
        with pytest.raises(sa.FormatError):
            deserialize(folder, "t", schemasuffix=".json")


def test_a_failed_write_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    serialize(np.arange(3), folder, "t", **NAMES)
    before = dict(folder)
    for array, name, error in ((np.arange(3), "t", sa.LimitError), (np.array([object()]), "u", sa.DTypeError)):
        with pytest.raises(error):
            serialize(array, folder, name, **NAMES)
    with pytest.raises(OSError, match="long"):
        serialize(CASES["lists"], folder, "n" * 300, **NAMES)
    assert dict(folder) == before
    assert files(tmp_path) == ["t-0.raw", "t.json"]
