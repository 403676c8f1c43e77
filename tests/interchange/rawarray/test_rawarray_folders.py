"""Several arrays in one folder of .ra files: written and replaced as a whole, never in place of anything else."""

from __future__ import annotations

import io
import os
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sheetarray as sa
from sheetarray.files import replacing_folders
from sheetarray.interchange import rawarray
from sheetarray.testing.cases import assert_same

MANY = {"t": np.arange(6.0).reshape(2, 3), "a b": np.array(7, "u1"), "ü.v2": np.array([1 + 2j])}


def test_several_arrays_are_a_folder(tmp_path: Path) -> None:
    place = tmp_path / "run.ra"
    sa.write(place, MANY)
    assert sorted(os.listdir(place)) == ["a b.ra", "t.ra", "ü.v2.ra"]
    assert os.listdir(tmp_path) == ["run.ra"]
    result = sa.read(place)
    assert list(result) == sorted(MANY)
    for name, array in MANY.items():
        assert_same(result[name], array)
        assert_same(rawarray.read(place / f"{name}.ra"), array)
    assert list(sa.check(place)) == []
    assert sa.scan(place)["t"].location == "t.ra, byte 64"
    assert list(sa.read(place, ["t"])) == ["t"]
    with pytest.raises(sa.NotFoundError, match="'a b', 't'"):
        sa.read(place, ["u"])
    assert sa.read(place, axes="same")["t"].shape == (3, 2)


def test_a_folder_is_replaced_as_a_whole_and_stays_one(tmp_path: Path) -> None:
    place = tmp_path / "run.ra"
    sa.write(place, MANY)
    place.chmod(0o750)
    sa.write(place, {"u": np.zeros(1), "v": np.zeros(2)})
    assert sorted(os.listdir(place)) == ["u.ra", "v.ra"]
    assert stat.S_IMODE(place.stat().st_mode) == 0o750
    sa.write(place, {"w": np.zeros(1)})
    assert os.listdir(place) == ["w.ra"]
    assert list(sa.read(place)) == ["w"]
    assert os.listdir(tmp_path) == ["run.ra"]


@pytest.mark.filterwarnings("ignore:.* keeps no :sheetarray.SheetArrayWarning")
def test_a_file_gives_way_to_a_folder(tmp_path: Path) -> None:
    place = tmp_path / "run.ra"
    sa.write(place, {"old": np.zeros(1)})
    sa.write(place, MANY)
    assert sorted(sa.read(place)) == sorted(MANY)
    assert os.listdir(tmp_path) == ["run.ra"]


def test_a_folder_with_something_else_in_it_is_never_replaced(tmp_path: Path) -> None:
    place = tmp_path / "run.ra"
    sa.write(place, MANY)
    (place / "notes.txt").write_text("mine")
    with pytest.raises(sa.LimitError, match=r"notes\.txt"):
        sa.write(place, {"u": np.zeros(1), "v": np.zeros(1)})
    (place / "notes.txt").rename(place / "notes.ra")
    (place / "notes.ra").unlink()
    (place / "inner.ra").mkdir()
    with pytest.raises(sa.LimitError, match=r"inner\.ra"):
        sa.write(place, {"u": np.zeros(1), "v": np.zeros(1)})
    assert sorted(sa.read(place)) == sorted(MANY)
    assert os.listdir(tmp_path) == ["run.ra"]


@pytest.mark.fault("An error or Ctrl-C while a RawArray folder is replaced.", "The old folder is whole.")
@pytest.mark.parametrize("old", [MANY, {"run": np.zeros(3)}])
@pytest.mark.parametrize("step", ["writing", "putting in place"])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_folder_that_cannot_be_written_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: dict[str, Any], step: str, error: type[BaseException]
) -> None:
    place = tmp_path / "run.ra"
    sa.write(place, old)
    exchange, fsync = replacing_folders.exchange_names, os.fsync
    synced = []

    def failing_exchange(new: Path, place: Path) -> bool:
        if step != "writing":
            raise error
        return exchange(new, place)

    def failing_fsync(file: int) -> None:
        synced.append(file)
        if step == "writing" and len(synced) == 2:
            raise error
        fsync(file)

    with monkeypatch.context() as patch:
        patch.setattr(replacing_folders, "exchange_names", failing_exchange)
        patch.setattr(os, "fsync", failing_fsync)
        with pytest.raises(error):
            sa.write(place, {"u": np.zeros(1), "v": np.zeros(1)})
    assert sorted(sa.read(place)) == sorted(old)
    assert os.listdir(tmp_path) == ["run.ra"]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux has a folder in which nobody makes another")
def test_the_error_of_a_folder_that_cannot_be_made_names_the_target() -> None:
    with pytest.raises(OSError) as caught:  # noqa: PT011  (whatever the system says)
        sa.write("/proc/run.ra", MANY)
    assert caught.value.filename == "/proc/run.ra"


def test_the_longest_names(tmp_path: Path) -> None:
    for name in ("x" * 252, "ü" * 126, "😀" * 63):
        sa.write(tmp_path / f"{name}.ra", np.zeros(1))
        sa.write(tmp_path / f"{name}.ra", {name: np.zeros(1), "other": np.ones(1)})
        assert set(sa.read(tmp_path / f"{name}.ra")) == {name, "other"}
    assert len(os.listdir(tmp_path)) == 3


@pytest.mark.filterwarnings("ignore:.* keeps no :sheetarray.SheetArrayWarning")
@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", ".hidden", "a/b", "a\\b", "../a", "/a", "C:a", "a*", "a\nb", "a\0", " a", "a ", "con"),
        *("NUL", "com1", "Lpt9.x", "x" * 253, "ü" * 127, "\ud800"),
    ],
)
def test_names_that_are_none_for_files_are_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(sa.LimitError, match="rename"):
        sa.write(tmp_path / "run.ra", {"fine": np.zeros(1), name: np.zeros(1)})
    assert list(tmp_path.iterdir()) == []
    sa.write(tmp_path / "run.ra", {name: np.zeros(1)})  # alone, its name is not stored
    assert list(sa.read(tmp_path / "run.ra")) == ["run"]


@pytest.mark.parametrize("names", [("b", "B"), ("\xfc", "u\u0308"), ("straße", "STRASSE")])
def test_names_that_are_one_file_somewhere_are_refused(tmp_path: Path, names: tuple[str, str]) -> None:
    with pytest.raises(sa.LimitError, match="one file"):
        sa.write(tmp_path / "run.ra", dict.fromkeys(names, np.zeros(1)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", ["run.ra.gz", None])
def test_several_arrays_need_a_folder(tmp_path: Path, target: str | None) -> None:
    with pytest.raises(sa.LimitError, match=r"holds one array, not 3: .*\.npz"):
        sa.write(tmp_path / target if target else io.BytesIO(), MANY, format="ra")
    with pytest.raises(ValueError, match="metadata"):
        sa.write(tmp_path / "run.ra", MANY, metadata=b"x")
    with pytest.raises(FileNotFoundError):
        sa.write(tmp_path / "absent" / "run.ra", MANY)
    assert list(tmp_path.iterdir()) == []


def test_findings_in_a_folder_name_the_file(tmp_path: Path) -> None:
    place = tmp_path / "run.ra"
    sa.write(place, MANY)
    (place / "README").write_text("not an array")
    (place / "._t.ra").write_text("left by a Mac")
    (place / "bad.ra").write_bytes(b"rawarray" + b"\xff" * 40)
    (place / "worse.ra").write_bytes(b"")
    findings = list(sa.check(place))
    assert [finding.location for finding in findings] == ["bad.ra, byte 40", "worse.ra, byte 0"]
    with pytest.raises(sa.FormatError, match=r"run\.ra, bad\.ra, byte 40: \d+ dimensions"):
        sa.read(place)
    assert list(sa.read(place, ["t"])) == ["t"]


def test_a_folder_without_files_says_so(tmp_path: Path) -> None:
    (tmp_path / "run.ra").mkdir()
    for verb in (sa.read, sa.scan):
        with pytest.raises(sa.FormatError, match="without any"):
            verb(tmp_path / "run.ra")
    (finding,) = sa.check(tmp_path / "run.ra")
    assert "without any" in finding.message
