"""A disk that is full, or a file that may not grow: the error has its number, and nothing is left, in every format."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest
from children import run_child

from sheetarray.formats.inside import INSIDE

SUFFIXES = sorted({row.suffixes[0] for row in INSIDE.values() if row.suffixes and row.instead is None} - {".ods"})
WRITE = """
import json, os, resource, sys, warnings
import numpy as np
import sheetarray as sa

warnings.simplefilter("ignore")
folder, room, suffixes = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
if room:
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
arrays = [
    np.random.default_rng(1).random(500_000),
    np.random.default_rng(2).integers(10**15, size=120_000).astype(str),
]
for suffix in suffixes:
    for array in arrays:
        try:
            sa.write(os.path.join(folder, "x" + suffix), {"x": array})
        except OSError as error:
            print(json.dumps([suffix, error.errno, os.listdir(folder)]))
        except sa.SheetArrayError:
            continue  # a format without text
        else:
            print(json.dumps([suffix, "written", []]))
"""


def write_all(folder: Path, room: int) -> list[tuple[str, int | str, list[str]]]:
    child = run_child(WRITE, folder, str(room), *SUFFIXES)
    assert child.status == 0, child.errors
    return [tuple(json.loads(line)) for line in child.output.splitlines()]


@pytest.mark.slow
@pytest.mark.fault("A file may not grow any further, for each format.", "The error has its number. No file is left.")
@pytest.mark.skipif(sys.platform == "win32", reason="no limits of processes")
def test_a_file_that_may_not_grow_is_the_systems_error(tmp_path: Path) -> None:
    answers = write_all(tmp_path, 500_000)
    assert {suffix for suffix, *_ in answers} == set(SUFFIXES)
    chunks = (".zarr",)  # each is smaller than the limit
    assert [answer for answer in answers if answer[1:] != (errno.EFBIG, []) and answer[0] not in chunks] == []


@pytest.mark.slow
@pytest.mark.fault("The file system has no room, for each format.", "The error has its number. No file is left.")
def test_a_file_system_without_room_is_the_systems_error(tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "none", str(tmp_path)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no command mount")
    if done.returncode:
        pytest.skip("this user mounts no file systems")
    try:
        answers = write_all(tmp_path, 0)
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)
    assert {suffix for suffix, *_ in answers} == set(SUFFIXES)
    assert [answer for answer in answers if answer[1:] != (errno.ENOSPC, [])] == []
