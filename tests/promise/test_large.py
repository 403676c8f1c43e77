"""Large files are converted, compared and checked in memory that does not grow with them, with the same results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import run_limited
from click.testing import CliRunner

import sheetarray as sa
from sheetarray.api import large
from sheetarray.cli import main
from sheetarray.sheets.delimited import reported
from sheetarray.spool import PiecedArrays

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
    assert grown_by("diff", path, tmp_path / "out.csv") < 150


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Let every file be a large one, and tell which arrays have come in pieces."""
    names: list[str] = []
    append = PiecedArrays.append

    def note(self: PiecedArrays, name: str, elements: Any) -> None:
        names.append(name)
        append(self, name, elements)

    monkeypatch.setattr(large, "LARGE_FILE", 1)
    monkeypatch.setattr(large, "MANY_ELEMENTS", 1)
    monkeypatch.setattr(PiecedArrays, "append", note)
    yield names
    assert names, "nothing was read in pieces"


@pytest.mark.parametrize(("suffix", "to"), [("csv", "csv"), ("json", "csv"), ("csv", "xlsx"), ("xlsx", "json")])
def test_the_bytes_are_those_of_reading_at_once(tmp_path: Path, in_pieces: list[str], suffix: str, to: str) -> None:
    xr = pytest.importorskip("xarray")
    path = tmp_path / f"run.{suffix}"
    variables = {
        "t": (("x", "y"), np.random.default_rng(0).normal(size=(60, 70)), {"units": "K"}),
        "n": ("x", np.arange(60) - 2**62),
        "b": ("y", np.arange(70) % 3 == 0),
        "turned": (("x", "y"), np.arange(4200).reshape((60, 70), order="F")),
        "when": ("x", np.arange(60).astype("M8[D]").astype("M8[ns]")),
        "word": ("y", np.array([f"w{number}" for number in range(70)])),
    }
    sa.write(path, xr.Dataset(variables, {"y": np.arange(70.0)}))
    outs = [tmp_path / f"{name}.{to}" for name in ("once", "pieces", "command", "some", "some-once")]
    sa.convert(path, outs[1])
    assert {*in_pieces} == {"t", "n", "b", "turned", "when", "y"}
    assert CliRunner().invoke(main, ["convert", str(path), str(outs[2])]).exit_code == 0
    sa.convert(path, outs[3], ["turned", "word"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "LARGE_FILE", 2**60)
        sa.convert(path, outs[0])
        sa.convert(path, outs[4], ["turned", "word"])
    assert outs[0].read_bytes() == outs[1].read_bytes() == outs[2].read_bytes()
    assert outs[3].read_bytes() == outs[4].read_bytes()
    assert sa.read(outs[1], ["turned"])["turned"].flags.f_contiguous


def test_the_differences_are_those_of_reading_at_once(tmp_path: Path, in_pieces: list[str]) -> None:
    arrays: dict[str, Any] = {"t": np.random.default_rng(0).normal(size=(60, 70)), "n": np.arange(9), "s": ["a", "b"]}
    sa.write(tmp_path / "a.csv", arrays)
    changed = {"t": arrays["t"].copy(), "n": np.arange(10), "s": ["a", "c"]}
    changed["t"][3, 5] += 1
    sa.write(tmp_path / "b.xlsx", changed)
    command = ["diff", str(tmp_path / "a.csv"), str(tmp_path / "b.xlsx"), "--json"]
    result = CliRunner().invoke(main, command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "LARGE_FILE", 2**60)
        once = CliRunner().invoke(main, command)
    assert result.exit_code == 1
    assert result.output == once.output
    assert {*in_pieces} == {"t", "n"}


def test_what_comes_in_pieces_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def comes_in_pieces(arrays: dict[str, Any], names: list[str] | None = None, **options: Any) -> bool:
        sa.write(tmp_path / "run.csv", arrays)
        mapped = large.read_in_pieces(tmp_path / "run.csv", names, **options)
        if mapped is None:
            return False
        with mapped:
            assert not any(array.flags.writeable for array in mapped.arrays.values())
        return True

    monkeypatch.setattr(large, "MANY_ELEMENTS", 100)
    long = {"t": np.zeros(100)}
    assert not comes_in_pieces(long)
    for limit, wanted in ((0, True), (-1, True), (1, False)):
        monkeypatch.setattr(large, "LARGE_FILE", (tmp_path / "run.csv").stat().st_size + limit)
        assert comes_in_pieces(long) == wanted
    monkeypatch.setattr(large, "LARGE_FILE", 1)
    for size in (99, 100, 101):
        assert comes_in_pieces({"t": np.zeros(size)}) == (size >= 100)
    assert comes_in_pieces({str(number): np.zeros(1) for number in range(100)})
    assert comes_in_pieces(long, missing="nan")
    assert not comes_in_pieces(long, delimiter=",")  # an option that pieces have not
    with pytest.raises(sa.NotFoundError, match="absent"):
        comes_in_pieces(long, ["absent"])
    for limit, wanted in ((799, False), (800, True), (801, True)):
        monkeypatch.setattr(large, "MOST_BYTES", limit)
        assert comes_in_pieces(long) == wanted


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    sa.write(path, {"t": np.arange(9000.0)})
    monkeypatch.setattr(large, "LARGE_FILE", 1)
    monkeypatch.setattr(large, "MANY_ELEMENTS", 1)
    content = path.read_bytes()

    def save_again(done: int, total: int) -> None:
        path.write_bytes(content + b"\n")

    with pytest.raises(sa.FormatError, match="has changed since its first rows were read"):
        large.read_in_pieces(path, progress=save_again)


@pytest.mark.parametrize("row", [20, 300, 899])
def test_a_wrong_cell_is_an_error_wherever_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: int) -> None:
    path = tmp_path / "run.csv"
    sa.write(path, {"t": np.arange(900.0), "s": np.array(["a", "=b"] * 300)})
    monkeypatch.setattr(large, "LARGE_FILE", 1)
    monkeypatch.setattr(large, "MANY_ELEMENTS", 1)
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
