"""`.awkd` files: written whole or not at all, added to, read lazily, refused where no archive should be so."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward_layouts import CASES, LISTS, archive, members
from awkward_layouts import STRINGS as WORDS
from round_trips import OneWay

import sheetarray as sa
from sheetarray.interchange.awkward import load, save
from sheetarray.testing.cases import CASES as NUMPY
from sheetarray.testing.cases import objects
from sheetarray.testing.conformance import Conformance

# save and load -----------------------------------------------------------------------------------------------


def test_the_same_arrays_make_the_same_bytes() -> None:
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        save(file, CASES)
    assert files[0].getvalue() == files[1].getvalue()


@pytest.mark.parametrize("given", [str, Path])
def test_the_suffix_is_added_to_a_name_without_it(given: Callable[[Any], Any], tmp_path: Path) -> None:
    save(given(tmp_path / "events.v2"), LISTS)
    assert os.listdir(tmp_path) == ["events.v2.awkd"]
    assert load(given(tmp_path / "events.v2")).to_list() == LISTS.to_list()
    assert load(given(tmp_path / "events.v2.awkd")).to_list() == LISTS.to_list()
    with pytest.raises(FileNotFoundError):
        load(given(tmp_path / "other"))


def test_arrays_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"
    save(path, {"good": LISTS, "bad": WORDS})
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "broken.awkd", "w") as new:
        for name in old.namelist():
            if name != "bad-1.raw":
                new.writestr(name, old.read(name))
        new.writestr("worse.json", "{")
        new.writestr("foreign.json", '{"some": "settings"}')
    with load(tmp_path / "broken.awkd") as result:
        assert list(result) == ["good", "bad", "worse", "foreign"]
        assert "bad" in result
        assert "absent" not in result
        assert result["good"].to_list() == LISTS.to_list()
        for name in ("bad", "worse", "foreign"):
            with pytest.raises(sa.FormatError) as caught:
                result[name]
            assert caught.value.location is not None
            assert caught.value.location.startswith(f"{name}.json")
            assert caught.value.source == str(tmp_path / "broken.awkd")
        with pytest.raises(sa.NotFoundError, match="'good'"):
            result["absent"]
        assert result.get("absent") is None
        assert "good" in repr(result)
    with pytest.raises(ValueError, match="closed"):
        result["good"]


def test_options_of_reading_are_known_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="whitlist"):
        load(tmp_path / "absent.awkd", whitlist="*")
    save(tmp_path / "t.awkd", {"t": LISTS})
    with load(tmp_path / "t.awkd", whitelist=[["awkward0", "numpy"]]) as result, pytest.raises(sa.FormatError):
        result["t"]


# Adding ------------------------------------------------------------------------------------------------------


def test_adding_keeps_the_bytes_of_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = b"mine"
        archive.writestr(zipfile.ZipInfo("notes/read me.txt", (2001, 2, 3, 4, 5, 6)), b"text " * 100)
        archive.writestr("ü.bin", b"\0" * 100)
        archive.writestr("folder/", b"")
    before = path.read_bytes()
    start = zipfile.ZipFile(path).start_dir
    for index, array in enumerate((LISTS, WORDS)):
        save(path, array, f"a{index}")
    assert path.read_bytes()[:start] == before[:start]
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.comment == b"mine"
        assert archive.getinfo("notes/read me.txt").date_time == (2001, 2, 3, 4, 5, 6)
        assert archive.namelist()[:3] == ["notes/read me.txt", "ü.bin", "folder/"]
        assert archive.read("notes/read me.txt") == b"text " * 100
    with load(path) as result:
        assert result["a0"].to_list() == LISTS.to_list()
        assert result["a1"].to_list() == WORDS.to_list()
    assert os.listdir(tmp_path) == ["t.awkd"]


def test_something_before_the_archive_stays(tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"
    save(path, LISTS, "a")
    path.write_bytes(b"#!/bin/sh\n" + path.read_bytes())
    save(path, WORDS, "b")
    assert path.read_bytes().startswith(b"#!/bin/sh\n")
    with load(path) as result:
        assert [result[name].to_list() for name in result] == [LISTS.to_list(), WORDS.to_list()]


@pytest.mark.fault("An array that an `.awkd` file cannot hold.", "The old file is whole.")
@pytest.mark.parametrize("refused", [{"bad": objects(1)}, {"fine": np.arange(10), "bad": objects(1)}, {}])
@pytest.mark.parametrize("mode", ["a", "w"])
def test_a_failed_save_leaves_the_old_file(refused: dict[str, Any], mode: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"
    save(path, LISTS, "t")
    before = path.read_bytes()
    with pytest.raises((sa.DTypeError, sa.LimitError)):
        save(path, refused, mode=mode)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["t.awkd"]


@pytest.mark.fault("An error while an `.awkd` file is written.", "The old file is whole.")
@pytest.mark.parametrize("mode", ["a", "w"])
def test_a_save_that_fails_on_the_way_leaves_the_old_file(mode: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"
    save(path, LISTS, "t")
    before = path.read_bytes()

    def fails(_content: Any) -> bytes:
        raise OSError("no space left")

    pair = (fails, ("mine", "fails"))
    with pytest.raises(OSError, match="no space left"):
        save(path, {"fine": WORDS, "late": LISTS}, mode=mode, compression={"contexts": "Jagged*", "pair": pair})
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["t.awkd"]


def test_saves_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"
    save(path, LISTS, "first")
    names = [f"n{index}" for index in range(12)]
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda name: save(path, np.zeros(200_000), name), names))
    with load(path) as result:
        assert sorted(result) == sorted(["first", *names])
        assert result["n7"].tolist() == [0.0] * 200_000
    assert os.listdir(tmp_path) == ["t.awkd"]


@pytest.mark.parametrize("mode", ["a", "x"])
def test_a_file_that_appears_while_one_is_written_stays(mode: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"

    other = tmp_path / "other.awkd"
    save(other, LISTS, "other")

    def meanwhile(content: Any) -> bytes:
        if not path.exists():
            path.write_bytes(other.read_bytes())  # as another program does, which does not wait
        return zlib.compress(content)

    def late() -> None:
        save(path, np.arange(9), "late", mode=mode, compression=(meanwhile, ("zlib", "decompress")))

    with pytest.raises(FileExistsError if mode == "x" else sa.LimitError):
        late()
    with load(path) as result:
        assert list(result) == ["other"]
    assert sorted(os.listdir(tmp_path)) == ["other.awkd", "t.awkd"]


def test_what_is_no_archive_is_not_added_to(tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"
    path.write_bytes(b"")
    save(path, LISTS, "t")  # such as a temporary file that was just made
    assert list(load(path)) == ["t"]
    path.write_bytes(b"something else")
    with pytest.raises(sa.FormatError, match=r"not an \.awkd file"):
        save(path, LISTS, "t")
    assert path.read_bytes() == b"something else"


def test_open_files_are_written_added_to_and_read() -> None:
    file = io.BytesIO()
    for index, array in enumerate((LISTS, WORDS, LISTS)):
        save(file, array, f"a{index}")
    with load(file) as result:
        assert [array.to_list() for array in result.values()] == [LISTS.to_list(), WORDS.to_list(), LISTS.to_list()]
    assert not file.closed
    before = file.getvalue()
    with pytest.raises(sa.LimitError, match="already"):
        save(file, LISTS, "a1")
    with pytest.raises(TypeError, match="wb"):
        save(io.StringIO(), LISTS, mode="w")
    assert file.getvalue() == before
    assert len(members(file)) == 9


def test_a_pipe_is_read() -> None:
    file = io.BytesIO()
    save(file, LISTS)
    assert load(OneWay(file.getvalue())).to_list() == LISTS.to_list()


# read, write, scan, check ------------------------------------------------------------------------------------


class TestAwkd(Conformance):
    """NumPy arrays of at least one dimension, as other formats hold them."""

    suffix, format, text = ".awkd", "awkd", False
    lacks = {case: sa.DTypeError for case, array in NUMPY.items() if array.dtype.kind == "O" or not array.ndim}  # noqa: RUF012
    holds_too = frozenset({"bytes"})
    progress_of = ("write",)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "x.awkd"


def test_an_array_of_numpy_comes_back_as_one_and_an_awkward_one_as_such(place: Path) -> None:
    arrays = {
        "Fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "swapped": np.arange(3, dtype=">i4"),
        "rows of empty rows": np.zeros((2, 3, 0, 2), "c8"),
        "wide text": np.array(["a"], "U9"),
        "bytes": np.array([b"a", b"\xff\0b", b""], "S5"),
        "unpadded": np.array(["a", "b\0"], np.dtypes.StringDType()),
    }
    with pytest.warns(sa.SheetArrayWarning, match="column-major order: 'Fortran'"):
        sa.write(place, arrays | {"awkward": ak.Array([1, 2])})
    result = sa.read(place)
    for name, array in arrays.items():
        assert isinstance(result[name], np.ndarray)
        assert result[name].dtype == (np.dtype("i4") if name == "swapped" else array.dtype), name
        assert result[name].shape == array.shape
        assert result[name].tolist() == array.tolist()
    assert isinstance(result["awkward"], ak.Array)
    with load(place) as loaded:
        assert all(isinstance(array, ak.Array) for array in loaded.values())
    assert list(sa.check(place)) == []


def test_writing_replaces_and_leaves_out_what_is_not_reached(place: Path) -> None:
    whole = ak.Array([{"secret": 10**6 + index} for index in range(10_000)])
    sa.write(place, {"few": whole[np.array([3, 7])]})
    assert place.stat().st_size < 2000
    sa.write(place, {"few": whole[np.array([3, 7])]}, pack=False, compression=None)
    assert place.stat().st_size > 80_000
    assert sa.read(place)["few"].to_list() == [{"secret": 10**6 + 3}, {"secret": 10**6 + 7}]
    assert list(sa.read(place)) == ["few"]


def test_an_array_without_a_name_has_the_files(tmp_path: Path) -> None:
    save(tmp_path / "run.awkd", LISTS)
    assert list(sa.read(tmp_path / "run.awkd")) == list(sa.scan(tmp_path / "run.awkd")) == ["run"]
    assert sa.read(tmp_path / "run.awkd", ["run"])["run"].to_list() == LISTS.to_list()
    save(tmp_path / "run.awkd", WORDS, "run")
    assert sorted(sa.read(tmp_path / "run.awkd")) == ["", "run"]
    with zipfile.ZipFile(tmp_path / "none.awkd", "w") as empty:
        empty.writestr("notes.txt", "none")
    with pytest.raises(sa.FormatError, match="no array"):
        sa.read(tmp_path / "none.awkd")


def test_scan_tells_the_type_and_the_number_of_entries(place: Path) -> None:
    sa.write(place, {"n": np.zeros((2, 3), "f4"), "lists": LISTS, "table": CASES["records"], "words": WORDS})
    infos = sa.scan(place)
    assert {name: (info.shape, info.dtype, info.location) for name, info in infos.items()} == {
        "n": ((2, 3), "float32", "n.json"),
        "lists": ((3,), "var * float64", "lists.json"),
        "table": ((3,), "{x: int64, y: var * float64}", "table.json"),
        "words": ((3,), "string", "words.json"),
    }
    assert infos["n"].cells == 6
    assert infos["n"].strides == (3, 1)
    assert infos["lists"].cells == 4 + 3


def test_check_finds_each_broken_array(place: Path) -> None:
    broken = {"t-3.raw": b"123", "u.json": b"{"}
    place.write_bytes(archive(replaced=broken))
    findings = list(sa.check(place))
    assert [finding.severity for finding in findings] == ["error"] * 2
    assert [str(finding.location).partition(",")[0] for finding in findings] == ["t.json", "u.json"]
    assert sa.check(io.BytesIO(archive()), format="awkd") is not None
    assert list(sa.check(io.BytesIO(archive()), format="awkd")) == []
