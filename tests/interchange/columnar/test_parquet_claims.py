"""Parquet files whose metadata or heads of pages claim more than there is."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from limits import set_limits

import sheetarray as sa

CODECS: Any = ("snappy", "gzip", "lz4")


def varint(number: int) -> bytes:
    """A number of Thrift, with its sign in the last bit."""
    number, parts = number << 1 ^ number >> 63, bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def number_at(content: bytes, place: int) -> tuple[int, int]:
    """The number at a place, and the place after it."""
    number = shift = 0
    while True:
        number |= (content[place] & 127) << shift
        shift, place = shift + 7, place + 1
        if content[place - 1] < 128:
            return number >> 1, place


def claim_in_page(codec: Any, size: int) -> bytes:
    """A file of one column whose only page claims to inflate to a size."""
    buffer = io.BytesIO()
    pl.DataFrame({"n": np.arange(1000) * 7919 % 977}).write_parquet(buffer, compression=codec, statistics=False)
    content = buffer.getvalue()
    assert content[4] == content[6] == 0x15  # the type of the page, then the size, each the field after the last
    _, end = number_at(content, 7)
    return content[:7] + varint(size) + content[end:]


@pytest.mark.parametrize("size", [900_000_000, 2**31 - 1])
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("is_path", [True, False])
def test_a_page_that_claims_too_much_is_refused(codec: Any, size: int, is_path: bool, tmp_path: Path) -> None:
    """polars took that memory: 2 GB for 5 kB."""
    content = claim_in_page(codec, size)
    (tmp_path / "t.parquet").write_bytes(content)
    source: Any = tmp_path / "t.parquet" if is_path else io.BytesIO(content)
    with pytest.raises(sa.FormatError, match=f"1,000 rows of 1 columns take {size:,}"[:35]):
        sa.read(source, format="parquet")
    (finding,) = sa.check(tmp_path / "t.parquet")
    assert "more than is read at once" in finding.message
    assert sa.scan(tmp_path / "t.parquet")["n"].shape == (1000,)


@pytest.mark.parametrize("codec", [*CODECS, "zstd", "uncompressed"])
def test_pages_of_any_codec_are_read(codec: Any, tmp_path: Path) -> None:
    arrays = {"n": np.arange(15_000), "s": np.arange(15_000).astype(str), "x": np.linspace(0, 1, 15_000)}
    frame = pl.DataFrame(arrays).with_columns(pl.col("n").alias("o"), pl.lit("x" * 3000).alias("long"))
    frame.write_parquet(tmp_path / "t.parquet", compression=codec, row_group_size=7000, data_page_size=4096)
    result = sa.read(tmp_path / "t.parquet", [*arrays, "o"])
    assert all((result[name] == array).all() for name, array in arrays.items())
    assert sa.read(tmp_path / "t.parquet", "long")[-1] == "x" * 3000


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_values_of_the_metadata_are_counted(more: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    least = 2
    pl.DataFrame({"n": [1]}).write_parquet(tmp_path / "t.parquet", compression="snappy")

    def refuses(values: int) -> bool:
        set_limits(monkeypatch, parquet_values=values)
        messages = [finding.message for finding in sa.check(tmp_path / "t.parquet")]
        return any("values in its metadata" in message for message in messages)

    while refuses(least):
        least += 1
    assert least > 20
    assert refuses(least + more) == (more < 0)
    set_limits(monkeypatch, parquet_values=least)
    assert sa.read(tmp_path / "t.parquet", "n").tolist() == [1]


@pytest.mark.parametrize(
    "footer", [b"", b"\0", b"\x19\xfc\xff\xff\xff\x7f" + bytes(99), b"\x1c" * 10_000, b"\x49\x1c" * 99]
)
def test_damaged_metadata_are_a_format_error(footer: bytes) -> None:
    content = b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"
    for verb in (sa.read, sa.scan):
        with pytest.raises(sa.FormatError):
            verb(io.BytesIO(content), format="parquet")


@pytest.mark.parametrize("end", [b"\0\0\0\0PAR2", b"\xff\xff\xff\xffPAR1", struct.pack("<I", 13) + b"PAR1"])
def test_a_file_that_is_cut_off_is_a_format_error(end: bytes) -> None:
    """The last bytes say where the metadata begin: in front of the file, if they are any others."""
    with pytest.raises(sa.FormatError, match="cut off: the metadata at its end are missing"):
        sa.read(io.BytesIO(b"PAR1" + bytes(12) + end), format="parquet")


@pytest.mark.parametrize("rows", [3, 100])
def test_values_of_the_metadata_grow_with_the_file(rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of many groups of rows is no bomb: its metadata are in proportion to what it holds."""
    set_limits(monkeypatch, parquet_values=1)
    numbers = np.random.default_rng(1).integers(0, 2**62, rows * 300)
    path = tmp_path / "t.parquet"
    pl.DataFrame({"n": numbers}).write_parquet(path, compression="snappy", row_group_size=rows, statistics=False)
    if rows == 100:
        assert (sa.read(path, "n") == numbers).all()
    else:
        with pytest.raises(sa.FormatError, match="values in its metadata"):
            sa.read(path, "n")


def test_pages_of_other_columns_are_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    frame = pl.DataFrame({f"c{number}": np.arange(2000) for number in range(20)})
    frame.write_parquet(buffer, compression="snappy", row_group_size=10)
    values = 4
    while True:
        set_limits(monkeypatch, parquet_values=values, parquet_bytes_a_value=2**62)
        try:
            assert sa.read(io.BytesIO(buffer.getvalue()), "c3", format="parquet").tolist() == list(range(2000))
            break
        except sa.FormatError:
            values = values * 9 // 8 + 1
    with pytest.raises(sa.FormatError, match="values in its metadata"):
        sa.read(io.BytesIO(buffer.getvalue()), format="parquet")
