"""Arrays that are written block by block: what comes out is what one write of the whole would have given."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from children import GIVEN_UP_AFTER, measured, run_child, run_limited
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nst

import sheetarray as sa
from sheetarray.scale.spool import Spool
from sheetarray.scale.spooled_array import SpooledArray
from sheetarray.testing.cases import assert_same

DTYPES = ["float64", "float32", ">i4", "uint8", "bool", "complex64", "M8[s]", "m8[D]", "O"]


@st.composite
def blocks(draw: st.DrawFn) -> tuple[list[Any], int]:
    """Some blocks of one array, and the axis along which they fit."""
    shape = draw(nst.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    counts = draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    dtype = draw(st.sampled_from([*DTYPES, "U"]))
    made = []
    for count in counts:
        sides = list(shape)
        sides[axis] = count
        numbers = np.arange(np.prod(sides, dtype=int)).reshape(sides) + len(made)
        if dtype == "U":
            made.append(np.array(["ä" * (number % 4 + len(made)) for number in numbers.ravel()], "U").reshape(sides))
        else:
            made.append(np.asfortranarray((numbers % 2).astype(dtype) if dtype == "bool" else numbers.astype(dtype)))
    return made, axis


@given(blocks())
def test_joined_blocks_are_what_numpy_joins(case: tuple[list[Any], int]) -> None:
    made, axis = case
    with Spool(axis) as spool:
        for block in made:
            spool.append({"a": block})
        whole = spool.join()["a"]
        expected = np.concatenate(made, axis)
        assert whole.shape == expected.shape
        assert whole.tolist() == expected.tolist()
        assert whole.dtype == expected.dtype.newbyteorder("=")
        spool.release()
        assert whole.tolist() == expected.tolist()


def extend(path: Path, blocks: Any) -> None:
    with sa.open_writer(path) as writer:
        writer.extend(blocks)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".json", ".xlsx", ".npz", ".avro"])
def test_a_file_of_blocks_is_the_file_of_the_whole(tmp_path: Path, suffix: str) -> None:
    rng = np.random.default_rng(1)
    parts = [{"t": rng.normal(size=(count, 3)), "n": np.arange(count)} for count in (2, 0, 5)]
    whole = {name: np.concatenate([part[name] for part in parts]) for name in ("t", "n")}
    with sa.open_writer(tmp_path / f"blocks{suffix}") as writer:
        for part in parts:
            writer.append(part)
    with sa.open_writer(tmp_path / f"generator{suffix}") as writer:
        writer.extend(part for part in parts)
    sa.write(tmp_path / f"whole{suffix}", whole)
    for name in ("blocks", "generator"):
        back = sa.read(tmp_path / f"{name}{suffix}")
        for key, array in whole.items():
            assert_same(back[key], array)
        if not suffix.endswith((".gz", ".xlsx", ".npz", ".avro")):  # those have the time, or a random mark, in them
            assert (tmp_path / f"{name}{suffix}").read_bytes() == (tmp_path / f"whole{suffix}").read_bytes()
        assert list(sa.check(tmp_path / f"{name}{suffix}")) == []
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_datasets_are_joined_along_the_dimension_of_the_axis(tmp_path: Path, suffix: str) -> None:
    times = np.arange("2026-07-01", "2026-07-08", dtype="M8[D]").astype("M8[ns]")
    whole = xr.Dataset(
        {"t": (("time", "lat"), np.arange(14.0).reshape(7, 2), {"units": "K"}), "n": ("time", np.arange(7))},
        coords={"time": times, "lat": [47.5, 48.0], "height": 2.0},
        attrs={"title": "a run"},
    )
    path = tmp_path / f"run{suffix}"
    with sa.open_writer(path) as writer:
        for start in (0, 3, 4):
            writer.append(whole.isel(time=slice(start, {0: 3, 3: 4, 4: 7}[start])))
    xr.testing.assert_identical(sa.read_dataset(path), whole)
    others = [whole, whole.assign_coords(lat=[1.0, 2.0])]
    with pytest.raises(ValueError, match="differs from the first one in more than what lies along 'time'"):
        extend(path, others)
    xr.testing.assert_identical(sa.read_dataset(path), whole)
    with pytest.raises(ValueError, match="but it is lat, time"), sa.open_writer(path) as writer:
        writer.append(whole.assign(u=("lat", [1.0, 2.0])))


def test_dimensions_of_a_dataset_are_the_same_in_each_block(tmp_path: Path) -> None:
    square = xr.Dataset({"t": (("time", "lat"), np.arange(4.0).reshape(2, 2))})
    with pytest.raises(ValueError, match="differs from the first one"):
        extend(tmp_path / "x.csv", [square, square.transpose("lat", "time")])
    with Spool() as spool:
        with pytest.raises(ValueError, match="no axis 0"):
            spool.append(square.assign(u=1.5))
        spool.append(square)  # what was refused is no first block
        xr.testing.assert_identical(spool.join(), square)


def test_a_block_that_was_kept_in_part_ends_the_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sa.write(tmp_path / "x.csv", {"old": [1.5]})
    keep = SpooledArray.append

    def fail(array: SpooledArray, block: Any) -> None:
        if array.name == "b":
            raise OSError("the disk is full")
        keep(array, block)

    monkeypatch.setattr(SpooledArray, "append", fail)
    writer = sa.open_writer(tmp_path / "x.csv")
    with pytest.raises(OSError, match="full"):
        writer.append({"a": np.zeros(2), "b": np.zeros(2)})
    for go_on in (lambda: writer.append({"a": np.zeros(2)}), writer.close):
        with pytest.raises(ValueError, match="kept in part"):
            go_on()
    assert list(sa.read(tmp_path / "x.csv")) == ["old"]
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_a_target_of_rawarray_may_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "x.ra").mkdir()
    sa.open_writer(tmp_path / "x.ra")


@pytest.mark.fault("An error between two blocks of `open_writer`.", "The old file is whole.")
def test_a_failure_leaves_the_old_file_alone(tmp_path: Path) -> None:
    sa.write(tmp_path / "x.csv", {"old": [1.5]})

    def failing() -> Iterator[Any]:
        yield {"a": np.zeros(3)}
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError, match="the source broke"):
        extend(tmp_path / "x.csv", failing())
    assert list(sa.read(tmp_path / "x.csv")) == ["old"]
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


_KILLED = """
import sys
import numpy as np
import sheetarray as sa
with sa.open_writer(sys.argv[1]) as writer:
    while True:
        writer.append({"a": np.zeros(1_000_000)})
        print("appended", flush=True)
"""


@pytest.mark.fault(
    "The process is killed between two blocks of `open_writer`.", "The old file is whole. No other file is left."
)
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_killed_writer_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    sa.write(tmp_path / "x.csv", {"old": [1.5]})
    with subprocess.Popen([sys.executable, "-c", _KILLED, tmp_path / "x.csv"], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert [child.stdout.readline() for _ in range(2)] == [b"appended\n"] * 2
        os.kill(child.pid, signal.SIGKILL)
        child.wait(GIVEN_UP_AFTER)
    assert list(sa.read(tmp_path / "x.csv")) == ["old"]
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


_KILLED_AT_THE_END = """
import os, sys, signal
import numpy as np
import sheetarray as sa
die = lambda done, total: os.kill(os.getpid(), signal.SIGKILL)
with sa.open_writer(sys.argv[1], progress=die) as writer:
    writer.append({"a": np.arange(200_000.0)})
"""


@pytest.mark.fault(
    "The process is killed while `open_writer` writes the file.", "The old file is whole. No other file is left."
)
@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="every file of this system has a name")
@pytest.mark.parametrize("name", ["x.csv", "x.xlsx", "x.csv.gz"])
def test_a_writer_that_is_killed_while_it_writes_leaves_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"old")
    assert run_child(_KILLED_AT_THE_END, tmp_path / name).status == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == b"old"


_LARGE = """
import sys
import numpy as np
import polars
import sheetarray as sa
rng = np.random.default_rng(1)
with sa.open_writer(sys.argv[1]) as writer:
    for _ in range(int(sys.argv[2])):
        writer.append({"a": rng.standard_normal((10_000, 50))})
"""


@measured
@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_memory_does_not_grow_with_the_arrays(tmp_path: Path, suffix: str) -> None:
    times = 6  # 24 MB more
    short, long = (
        run_limited(_LARGE, tmp_path / f"x{suffix}", str(4 + more), seconds=60, mebibytes=600).mebibytes
        for more in (0, times)
    )
    assert sa.scan(tmp_path / f"x{suffix}")["a"].shape == (10_000 * (4 + times), 50)
    assert long - short < times * 4 * 0.75, (short, long)
