"""A large CSV is converted and checked in memory that does not grow with it, to the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import run_limited
from click.testing import CliRunner

import sheetarray as sa
from sheetarray.cli import main
from sheetarray.lazy import large
from sheetarray.sheets.delimited import reported
from sheetarray.spool import Spool

RUN = """
import contextlib, resource, sys
import numpy, polars, sheetarray as sa
from sheetarray.cli import main
polars.DataFrame({"a": ["1"]}).select(polars.col("a").cast(float))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with contextlib.suppress(SystemExit):
    main(sys.argv[1:])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def grown_by(*arguments: Any) -> float:
    """Return by how many mebibytes a command line grows."""
    return float(run_limited(RUN, *arguments, seconds=60).output.split()[-1])


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with sa.open_writer(path) as writer:
        for number in range(10):
            rng = np.random.default_rng(number)
            writer.append({"t": rng.normal(size=(500, 1000)), "n": np.arange(500)})
    assert path.stat().st_size > 100_000_000
    assert grown_by("convert", path, tmp_path / "out.csv") < 150  # all elements as text take 100, and read at once 300
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()
    assert grown_by("check", path) < 170


@pytest.mark.parametrize("suffix", ["csv", "json", "npz", "xlsx"])
def test_the_bytes_are_those_of_reading_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    xr = pytest.importorskip("xarray")
    path = tmp_path / "run.csv"
    variables = {
        "t": (("x", "y"), np.random.default_rng(0).normal(size=(60, 70)), {"units": "K"}),
        "n": ("x", np.arange(60) - 2**62),
        "b": ("y", np.arange(70) % 3 == 0),
        "turned": (("x", "y"), np.arange(4200).reshape((60, 70), order="F")),
        "when": ("x", np.arange(60).astype("M8[D]").astype("M8[ns]")),
        "word": ("y", np.array([f"w{number}" for number in range(70)])),
    }
    sa.write(path, xr.Dataset(variables, {"y": np.arange(70.0)}))
    outs = [tmp_path / f"once.{suffix}", tmp_path / f"pieces.{suffix}"]
    assert CliRunner().invoke(main, ["convert", str(path), str(outs[0])]).exit_code == 0
    monkeypatch.setattr(large, "LARGE_FILE", 1)
    monkeypatch.setattr(large, "LONG_ARRAY", 4200)
    with Spool() as spool:
        arrays = large.read_in_pieces(path, None, spool)
        assert arrays is not None
        assert {name for name, array in arrays.items() if not array.flags.writeable} >= {"t", "n", "b", "y"}
    assert CliRunner().invoke(main, ["convert", str(path), str(outs[1])]).exit_code == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()


def test_what_comes_in_pieces_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def comes_in_pieces(arrays: dict[str, Any], names: list[str] | None = None) -> bool:
        sa.write(tmp_path / "run.csv", arrays)
        with Spool() as spool:
            return large.read_in_pieces(tmp_path / "run.csv", names, spool) is not None

    monkeypatch.setattr(large, "LONG_ARRAY", 100)
    long = {"t": np.zeros(100)}
    assert not comes_in_pieces(long)
    for limit, wanted in ((0, True), (-1, True), (1, False)):
        monkeypatch.setattr(large, "LARGE_FILE", (tmp_path / "run.csv").stat().st_size + limit)
        assert comes_in_pieces(long) == wanted
    monkeypatch.setattr(large, "LARGE_FILE", 1)
    for size in (99, 100, 101):
        assert comes_in_pieces({"t": np.zeros(size)}) == (size >= 100)
    for count in (7, 8, 9):
        assert comes_in_pieces({str(number): np.zeros(100) for number in range(count)}) == (count <= 8)
    assert not comes_in_pieces(long, ["absent"])


@pytest.mark.parametrize("row", [20, 300, 899])
def test_a_wrong_cell_is_an_error_wherever_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: int) -> None:
    path = tmp_path / "run.csv"
    sa.write(path, {"t": np.arange(900.0), "s": np.array(["a", "=b"] * 300)})
    monkeypatch.setattr(large, "LARGE_FILE", 1)
    monkeypatch.setattr(large, "LONG_ARRAY", 1)
    monkeypatch.setattr(reported, "PIECE", 1000)
    assert list(sa.check(path)) == []
    lines = path.read_bytes().split(b"\n")
    lines[row - 1] = b"x" + lines[row - 1]
    path.write_bytes(b"\n".join(lines))
    (tmp_path / "out.csv").write_text("old")
    result = CliRunner().invoke(main, ["convert", str(path), str(tmp_path / "out.csv")])
    assert result.exit_code == 2
    assert f"A{row}" in result.stderr
    assert (tmp_path / "out.csv").read_text() == "old"
    assert [finding.location for finding in sa.check(path)] == [f"A{row}"]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out.csv", "run.csv"]
