"""What compressed files may hold: bytes and values are counted, and what we write is padded so that it may be read."""

from __future__ import annotations

import gzip
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from limits import set_limits

import sheetarray as sa
from sheetarray.files import max_inflated_size, max_values, size_for_values
from sheetarray.files.compressed import size_for_text

COUNTS = pytest.mark.parametrize(("more", "is_read"), [(-1, True), (0, True), (1, False)])


@COUNTS
@pytest.mark.parametrize(
    "line", ["1\n", "1,2\n", "1;2;3\n", "1\t2\r\n", "\n", "1\r"], ids=["1", "2", "3", "tabs", "blank", "CR"]
)
def test_the_values_of_a_compressed_text_are_counted(
    line: str, more: int, is_read: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress((line * 1000).encode(), mtime=0))
    values = 1000 * (1 + sum(map(line.count, ",;\t")))
    set_limits(monkeypatch, inflated_values=values - more - path.stat().st_size // 32)
    if is_read:
        sa.check(path)
        return
    with pytest.raises(sa.FormatError, match=f"inflates to more than {values - 1:,} values") as caught:
        sa.read_columns(path)
    assert caught.value.hint == "if this is intended, decompress it first"
    path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
    sa.check(path.with_suffix(""))


@COUNTS
def test_the_values_of_a_member_of_an_archive_are_counted(
    more: int, is_read: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "n\n" + "1\n" * 100_000
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", text)
        packed = archive.getinfo("t.csv").compress_size
    url = f"zip://t.csv::{tmp_path / 'b.zip'}"
    beyond_head = 100_001 - len(text[: 2**16]) // 2  # what was read before it was known as text is not counted
    set_limits(monkeypatch, inflated_values=0)
    with pytest.raises(sa.FormatError, match="inflates to more than"):
        sa.read_columns(url)
    set_limits(monkeypatch, inflated_values=(100_001 if is_read else beyond_head // 2) - more - packed // 32)
    if is_read:
        assert len(sa.read_columns(url)["n"]) == 100_000
    else:
        with pytest.raises(sa.FormatError, match="inflates to more than"):
            sa.read_columns(url)


ARRAYS: dict[str, Any] = {
    "zeros": np.zeros(5000, np.int8),
    "long texts": np.full(40, "x" * 3000),
    "rows": np.zeros((50, 100)),
}


@pytest.mark.parametrize("suffix", [".csv.gz", ".csv.zst", ".json.gz", ".json.zst"])
@pytest.mark.parametrize("name", ARRAYS)
def test_what_is_written_is_never_taken_for_a_bomb(
    name: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, array = tmp_path / f"t{suffix}", ARRAYS[name]
    sa.write(path, {"t": array})
    size = path.stat().st_size
    set_limits(monkeypatch, inflated_values=100, inflated_text=1000)
    with pytest.raises(sa.FormatError, match="inflates to more than"):
        sa.read(path)
    sa.write(path, {"t": array})
    assert np.array_equal(sa.read(path)["t"], array)
    assert size < path.stat().st_size < 2**19
    for program in ("gzip -t", "zstd -q -t"):  # other readers pass over the padding
        if path.suffix in (".gz" if program.startswith("gzip") else ".zst"):
            try:
                assert subprocess.run([*program.split(), path], capture_output=True, check=False).returncode == 0
            except FileNotFoundError:
                continue
    if suffix == ".csv.gz":
        assert gzip.decompress(path.read_bytes()).startswith(b"t")


def test_what_a_file_of_32_mib_may_hold_does_not_grow_at_once_beyond() -> None:
    for size in (2**25 - 1, 2**25, 2**25 + 1):
        assert 0 <= max_values(size + 1) - max_values(size) <= 1
        assert max_inflated_size(size + 1) - max_inflated_size(size) <= 100
        assert max_inflated_size(size + 1, text=True) - max_inflated_size(size, text=True) <= 30
        assert max_values(size_for_values(max_values(size) + 1)) > max_values(size)
        assert size_for_text(max_inflated_size(size, text=True)) == size
