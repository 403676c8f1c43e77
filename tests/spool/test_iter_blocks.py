"""Arrays that are read block by block: joined, the blocks are the array, or the error is that of `read`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import CASES
from children import measured, run_limited
from hypothesis import given
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray.sheets.delimited import pieces, written


def joined(path: Any, name: str, rows: int, **options: Any) -> np.ndarray[Any, Any]:
    """The blocks of an array, put together again."""
    return np.concatenate(list(sa.iter_blocks(path, name, rows=rows, **options)))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".json", ".xlsx", ".npz"])
@pytest.mark.parametrize("rows", [1, 2, 3, 7, 8])
def test_blocks_are_the_array(tmp_path: Path, suffix: str, rows: int) -> None:
    arrays = {
        "t": np.arange(42.0).reshape(7, 2, 3),
        "long": np.arange(500, dtype="int16"),
        "turned": np.asfortranarray(np.arange(14).reshape(7, 2)),
        "none": np.zeros((0, 3)),
        "flat": np.zeros((3, 0)),
    }
    path = tmp_path / f"x{suffix}"
    sa.write(path, arrays)
    for name, array in arrays.items():
        blocks = list(sa.iter_blocks(path, name, rows=rows))
        assert [len(block) for block in blocks] == [len(array[at : at + rows]) for at in range(0, len(array), rows)]
        assert all(block.dtype == array.dtype and block.shape[1:] == array.shape[1:] for block in blocks)
        if blocks:
            assert np.concatenate(blocks).tolist() == array.tolist()


@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_array_comes_in_blocks(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.asarray(CASES[case])
    if not array.ndim or not len(array):
        return
    monkeypatch.setattr(pieces, "_PIECE", 30)
    file = io.BytesIO()
    sa.write_csv(file, {"x": array, "other": np.arange(100)})
    with io.BytesIO(b"  " + file.getvalue()) as content:
        content.seek(2)
        back = joined(content, "x", 2, format="csv")
    assert back.shape == array.shape
    assert repr(back.tolist()) == repr(sa.read_csv(io.BytesIO(file.getvalue()))["x"].tolist())


@pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")  # remarks on the harm, from either way of reading
@given(st.data())
def test_a_harmed_text_gives_the_same_as_read_or_an_error(data: st.DataObject) -> None:
    file = io.BytesIO()
    values = np.arange(60.0).reshape(20, 3)
    values[3, 1], values[11, 2] = np.nan, -np.inf
    sa.write_csv(file, {"x": values, "n": np.arange(30), "s": np.arange(30).astype(str)})
    content = file.getvalue()
    for _ in range(data.draw(st.integers(0, 2))):
        place = data.draw(st.integers(0, len(content)))
        piece = data.draw(
            st.sampled_from([b"", b'"', b"\n", b",", b"x", b"7", b"1e999", b"\r", b"data", b"\xff", b";"])
        )
        content = content[:place] + piece + content[place + data.draw(st.integers(0, 3)) :]
    results: list[str | None] = []
    for read in (
        lambda: sa.read(io.BytesIO(content), ["x"], format="csv")["x"],
        lambda: joined(io.BytesIO(content), "x", data.draw(st.integers(1, 9)), format="csv"),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pieces, "_PIECE", data.draw(st.integers(1, 200)))
            patch.setattr(written, "_SEARCHED", 50)
            patch.setattr(written, "_COUNTED", 7)
            try:
                results.append(repr(read().tolist()))
            except sa.SheetArrayError:
                results.append(None)
    if results[0] is not None and results[1] is None:  # the header of another array is damaged
        with pytest.raises(sa.SheetArrayError):
            sa.scan(io.BytesIO(content), format="csv")
    else:
        assert results[0] == results[1]


def test_what_cannot_be_cut_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    sa.write(path, {"x": np.zeros(3), "scalar": np.array(1.5)})
    with pytest.raises(ValueError, match="one row at least, not 0"):
        next(sa.iter_blocks(path, "x", rows=0))
    with pytest.raises(TypeError):
        next(sa.iter_blocks(path, "x", rows=1.5))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no dimensions"):
        next(sa.iter_blocks(path, "scalar", rows=1))
    with pytest.raises(sa.NotFoundError, match="no array 'y'"):
        next(sa.iter_blocks(path, "y", rows=1))


_READ = """
import sys
import sheetarray as sa
import polars
print(sum(len(block) for block in sa.iter_blocks(sys.argv[1], "a", rows=1000)))
"""


@measured
def test_memory_does_not_grow_with_the_text(tmp_path: Path) -> None:
    array = np.random.default_rng(1).standard_normal((10_000, 50))
    peaks = []
    for times in (2, 20):
        with sa.open_writer(tmp_path / "x.csv") as writer:
            for _ in range(times):
                writer.append({"a": array})
        child = run_limited(_READ, tmp_path / "x.csv", seconds=30, mebibytes=400)
        assert child.output.strip() == str(10_000 * times)
        peaks.append(child.mebibytes)
    assert peaks[1] - peaks[0] < 40, peaks  # of 180 MB of text, and 72 MB of elements
