"""Avro files that are cut off, edited or made to harm: a `FormatError` with the byte, and no memory taken for it."""

from __future__ import annotations

import bz2
import io
import json
import lzma
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from children import limited
from cramjam import snappy
from examples import examples
from hostile import HostileSamples, bounded_memory

import sheetarray as sa
from sheetarray.interchange import avro
from sheetarray.testing.hostile import Content


def encode_varint(number: int) -> bytes:
    """An int or a long of Avro: zigzag, seven bits a byte, the lowest first."""
    rest = number << 1 if number >= 0 else (-number << 1) - 1
    out = bytearray()
    while rest > 127:
        out.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*out, rest])


F8 = encode_varint(3) + b"<f8"
SYNC = b"s" * 16


def text(value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return encode_varint(len(raw)) + raw


def datum(
    shape: bytes = encode_varint(1) + encode_varint(2) + b"\0",
    typestr: str = "<i2",
    data: bytes = b"\1\0\2\0",
    version: int = 3,
) -> bytes:
    return shape + text(typestr) + text(data) + encode_varint(version)


def container(
    *blocks: tuple[int, bytes], codec: str = "null", names: Any = None, schema: Any = avro.SCHEMA, **more: bytes
) -> bytes:
    metadata = {"avro.schema": json.dumps(schema).encode(), "avro.codec": codec.encode(), **more}
    if names is not None:
        metadata["sheetarray.names"] = json.dumps(names).encode()
    head = encode_varint(len(metadata)) + b"".join(text(key) + text(value) for key, value in metadata.items()) + b"\0"
    body = b"".join(encode_varint(count) + text(content) + SYNC for count, content in blocks)
    return b"Obj\x01" + head + SYNC + body


def deflated(content: bytes, zeros: int = 0) -> bytes:
    """Deflated bytes, and so many megabytes of zeros after them."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return b"".join([packer.compress(content), *(packer.compress(bytes(10**6)) for _ in range(zeros)), packer.flush()])


def read(content: bytes) -> dict[str, Any]:
    return avro.read_avro(io.BytesIO(content))


# What is accepted --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape",
    [
        encode_varint(2) + encode_varint(2) + encode_varint(3) + b"\0",
        encode_varint(1) + encode_varint(2) + encode_varint(1) + encode_varint(3) + b"\0",
        encode_varint(-2) + encode_varint(2) + encode_varint(2) + encode_varint(3) + b"\0",
        encode_varint(-1) + encode_varint(1) + encode_varint(2) + encode_varint(1) + encode_varint(3) + b"\0",
        encode_varint(2) + b"\x84\x80\x80\x00" + encode_varint(3) + b"\x80\x00",
    ],
)
def test_every_way_to_write_an_array_is_read(shape: bytes) -> None:
    result = avro.unpack(datum(shape, "<u1", bytes(range(6))))
    assert result.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("typestr", ["|u1", "<u1", ">u1"])
@pytest.mark.parametrize("version", [3, 4, 2**31 - 1])
def test_newer_versions_and_byte_orders_of_single_bytes_are_read(typestr: str, version: int) -> None:
    assert avro.unpack(datum(typestr=typestr, data=b"\1\2", version=version)).tolist() == [1, 2]


def test_bytes_after_the_deflate_stream_are_passed_over() -> None:
    content = container((1, deflated(datum()) + b"\x9c\x1d\x02"), codec="deflate")
    assert read(content)["array"].tolist() == [1, 2]


def test_empty_blocks_are_read() -> None:
    assert read(container((0, b""), (1, datum()), (0, b"")))["array"].tolist() == [1, 2]


# What is refused ---------------------------------------------------------------------------------------------


def test_check_goes_on_after_a_broken_block() -> None:
    bad = datum(version=1)
    content = container((1, bad), (1, datum()), (1, datum(typestr="<U2")), names=["a", "b", "c"])
    assert len(list(avro.check_avro(io.BytesIO(content)))) == 2
    assert avro.read_avro(io.BytesIO(content), ["b"])["b"].tolist() == [1, 2]


# Memory and time ---------------------------------------------------------------------------------------------


@pytest.fixture
def frugal() -> Iterator[None]:
    """Fails where more than 200 MB are taken, or 10 s of the processor."""
    with limited(seconds=10), bounded_memory():
        yield


def test_a_block_inflates_no_further_than_its_array_needs(frugal: Any) -> None:
    bomb = deflated(datum(), zeros=300)
    assert len(bomb) < 360_000
    for content in (container((1, bomb), codec="deflate"), container((2, bomb), codec="deflate")):
        with pytest.raises(sa.FormatError):
            read(content)
        assert len(list(avro.check_avro(io.BytesIO(content)))) == 1
    shape = encode_varint(1) + encode_varint(2**31 - 1) + b"\0"
    claims = shape + F8 + encode_varint(8 * (2**31 - 1)) + b"\0" * 10_000
    with pytest.raises(sa.FormatError, match="are read at once"):
        read(container((1, deflated(claims)), codec="deflate"))


PACK = {
    "deflate": deflated,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": lambda content: zstandard.ZstdCompressor().compress(content),
    "snappy": lambda content: bytes(snappy.compress_raw(content)) + zlib.crc32(content).to_bytes(4, "big"),
}


@pytest.mark.parametrize("codec", sorted(set(PACK) - {"snappy"}))
def test_a_block_of_any_codec_inflates_no_further_than_asked(codec: str, frugal: Any) -> None:
    bomb = PACK[codec](datum() + bytes(10**7))
    assert len(bomb) < 50_000
    with pytest.raises(sa.FormatError, match="bytes after"):
        read(container((1, bomb), codec=codec))


def test_a_snappy_block_takes_no_memory_on_its_word(frugal: Any) -> None:
    for size in (2**30, 2**35 - 1):
        word = bytearray()
        while size > 127:
            word.append(size & 127 | 128)
            size >>= 7
        with pytest.raises(sa.FormatError, match=r"cannot stand for|larger than allowed"):
            read(container((1, bytes(word) + bytes([size]) + b"\0" * 9), codec="snappy"))


def test_a_zstandard_frame_with_a_window_of_gigabytes_is_refused(frugal: Any) -> None:
    frame = bytes.fromhex("28b52ffd00a8") + b"\x01\0\0"  # a window of 2^31 bytes, and an empty block
    with pytest.raises(sa.FormatError, match="zstandard"):
        read(container((1, frame), codec="zstandard"))


class TestHostileAvroFiles(HostileSamples):
    """Bare data, and files of each codec."""

    suffix, format = ".avro", "avro"
    tries = examples(120)
    words = (b"\xff\xff\xff\xff\x7f", encode_varint(2**40), encode_varint(-5))

    def samples(self, place: Path) -> Mapping[str, Content]:
        rng = np.random.default_rng(0)
        arrays = {"a": rng.random((3, 4)), "b": np.array([True, False]), "c": np.arange(7, dtype=">i2")}
        blocks = {name: avro.pack(array) for name, array in {**arrays, "z": np.array(1j)}.items()}
        files = {
            codec: container(*[(1, pack(block)) for block in blocks.values()], codec=codec, names=list(blocks))
            for codec, pack in PACK.items()
        }
        return {**blocks, **files}
