"""Folders are replaced whole or not at all, whenever their writer is killed, and nothing of it stays beside them."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from children import run_child, run_together

import sheetarray as sa
from sheetarray.files import replacing_folder, replacing_folders

KILLED = """
import os, sys
import numpy as np
from pathlib import Path
from sheetarray.files import replacing_folder, replacing_folders

path, step, exchanges = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "True"

def die(*arguments, **options):
    os.kill(os.getpid(), 9)

if not exchanges:
    replacing_folders.exchange_names = lambda *names: False
if step == "exchange":
    replacing_folders.exchange_names = die
if step == "after exchange":
    replacing_folders._put_back = die
if step in ("first rename", "second rename", "after rename"):
    rename, calls = Path.rename, []
    def counted(self, target):
        calls.append(self)
        if len(calls) > ("first rename", "second rename", "after rename").index(step):
            die()
        return rename(self, target)
    Path.rename = counted
    if step == "after rename":
        replacing_folders._put_back = die
with replacing_folder(path) as folder:
    (folder / "new").write_text("new")
    if step == "filling":
        die()
"""
STEPS = [
    ("filling", True),
    ("exchange", True),
    ("after exchange", True),
    ("filling", False),
    ("first rename", False),
    ("second rename", False),
    ("after rename", False),
]


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.skipif(sys.platform != "linux", reason="kill -9, and folders that can be locked")
@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize(("step", "exchanges"), STEPS)
@pytest.mark.fault("A writer of a folder is killed.", "The folder is whole; the next write removes what is left.")
def test_a_killed_writer_leaves_the_old_folder_or_the_new_one(
    step: str, exchanges: bool, is_there: bool, tmp_path: Path
) -> None:
    path = tmp_path / "t.zarr"
    if is_there:
        path.mkdir()
        (path / "old").write_text("old")
    status = run_child(KILLED, path, step, str(exchanges)).status
    if step in ("exchange", "second rename") and not is_there:
        assert status in (0, -signal.SIGKILL)  # nothing was there to be moved
    else:
        assert status == -signal.SIGKILL
    if exchanges or not is_there:
        assert not is_there or names(path) in (["old"], ["new"])
    with replacing_folder(tmp_path / "other.zarr"):
        pass
    assert (names(path) if path.exists() else [""])[0] in (["old", "new"] if is_there else ["new", ""])
    assert [name for name in names(tmp_path) if name not in ("t.zarr", "other.zarr")] == []


@pytest.mark.skipif(sys.platform != "linux", reason="folders that can be locked")
def test_the_hidden_folder_of_a_writer_that_lives_stays(tmp_path: Path) -> None:
    with replacing_folder(tmp_path / "t.zarr") as folder:
        (folder / "mine").write_text("1")
        sa.write(tmp_path / "u.ra", {"a": np.arange(3), "b": np.arange(4)})
        (hidden,) = (name for name in names(tmp_path) if name.startswith(".sheetarray"))
        code = "import sys, sheetarray as sa; sa.write(sys.argv[1], {'a': [1], 'b': [2]})"
        assert run_child(code, tmp_path / "v.ra").status == 0
        assert hidden in names(tmp_path)
    assert names(tmp_path) == ["t.zarr", "u.ra", "v.ra"]
    assert names(tmp_path / "t.zarr") == ["mine"]


def test_other_hidden_folders_are_not_touched(tmp_path: Path) -> None:
    own = [".sheetarray-mine", ".sheetarray-0123456789abcdef.tmp", ".sheetarray-0123456789abcde"]
    for name in own:
        (tmp_path / name).mkdir()
    (tmp_path / ".sheetarray-0123456789abcdef").write_text("a file")
    with replacing_folder(tmp_path / "t.zarr"):
        pass
    assert names(tmp_path) == sorted([*own, ".sheetarray-0123456789abcdef", "t.zarr"])


@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_an_error_or_an_interruption_leaves_the_old_folder(
    exchanges: bool, error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.ra"
    sa.write(path, {"a": np.arange(3), "b": np.arange(4)})
    rename = Path.rename

    def refuse(*arguments: Any) -> bool:
        if exchanges:
            raise error
        return False

    def refuse_new(old: Path, target: Path) -> Path:
        if old.parent.name == "new":
            raise error
        return rename(old, target)

    monkeypatch.setattr(replacing_folders, "exchange_names", refuse)
    monkeypatch.setattr(Path, "rename", refuse_new)
    with pytest.raises(error):
        sa.write(path, {"x": np.arange(3), "y": np.arange(4)})
    assert list(sa.read(path)) == ["a", "b"]
    assert names(tmp_path) == ["t.ra"]


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_folder_keeps_its_permissions(exchanges: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not exchanges:
        monkeypatch.setattr(replacing_folders, "exchange_names", lambda *names: False)
    path = tmp_path / "t.ra"
    sa.write(path, {"a": np.arange(3), "b": np.arange(4)})
    path.chmod(0o750)
    sa.write(path, {"x": np.arange(3), "y": np.arange(4)})
    assert path.stat().st_mode & 0o777 == 0o750
    assert list(sa.read(path)) == ["x", "y"]


def test_what_threads_write_after_an_error_is_removed_by_the_next_write(tmp_path: Path) -> None:
    """zarr writes chunks in threads: some still write when the first error has come, as on a full disk."""
    threads: list[Thread] = []

    def keep_writing(folder: Path) -> None:
        for number in range(30):
            time.sleep(0.005)
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                (folder / str(number)).write_text("late")

    def write() -> None:
        with replacing_folder(tmp_path / "t.zarr") as folder:
            threads.append(Thread(target=keep_writing, args=(folder,)))
            threads[0].start()
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        write()
    threads[0].join()
    with replacing_folder(tmp_path / "u.zarr"):
        pass
    assert names(tmp_path) == ["u.zarr"]


@pytest.mark.skipif(sys.platform != "linux", reason="folders that can be locked")
def test_writers_of_one_place_at_once_lose_nothing(tmp_path: Path) -> None:
    """Each looks for leftovers while the others make their hidden folders."""
    code = """
        import sys, numpy as np, sheetarray as sa
        for number in range(20):
            sa.write(f"{sys.argv[2]}/{sys.argv[1]}.ra", {"a": np.full(100, number), "b": np.full(100, number)})
            sa.write(f"{sys.argv[2]}/shared.ra", {"a": np.full(100, number), "b": np.full(100, number)})
    """
    run_together(code, tmp_path, count=4)
    assert names(tmp_path) == ["0.ra", "1.ra", "2.ra", "3.ra", "shared.ra"]
    for path in tmp_path.iterdir():
        arrays = sa.read(path)
        assert arrays["a"].tolist() == arrays["b"].tolist() == [19] * 100
