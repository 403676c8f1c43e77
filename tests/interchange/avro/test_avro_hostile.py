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


TYPESTRS = "=f8 |f8 f8 <f16 <c32 <c4 <b2 <U2 |S2 |O8 |V8 <M8 <m8[s] <i3 <i08"
BAD = {
    "nothing": (b"", "byte 0"),
    "trailing bytes": (datum() + b"\0", "byte 13"),
    "cut off": (datum()[:-1], "byte 12"),
    "cut off in the data": (datum()[:-3], "byte 8"),
    "data too short": (datum(data=b"\0\0"), "byte 7"),
    "data too long": (datum(data=b"\0" * 6), "byte 7"),
    "negative data": (datum()[:7] + encode_varint(-4) + datum()[8:], "byte 7"),
    "huge data": (datum()[:7] + encode_varint(2**62) + datum()[8:], "byte 7"),
    "negative dimension": (datum(encode_varint(1) + encode_varint(-2) + b"\0"), "byte 1"),
    "dimension beyond int": (datum(encode_varint(1) + encode_varint(2**31) + b"\0"), "byte 1"),
    "65 dimensions": (datum(encode_varint(65) + encode_varint(1) * 65 + b"\0", data=b"\0\0"), "byte 0"),
    "2^62 dimensions": (datum(encode_varint(2**62)), "byte 0"),
    "-2^63 dimensions": (datum(encode_varint(-(2**63)) + encode_varint(1)), "byte 0"),
    "block size wrong": (datum(encode_varint(-1) + encode_varint(5) + encode_varint(2) + b"\0"), "byte 0"),
    "a product beyond memory": (
        datum(encode_varint(4) + encode_varint(2**31 - 1) * 3 + encode_varint(0) + b"\0", data=b""),
        "byte 0",
    ),
    "varint of 11 bytes": (b"\x80" * 10 + b"\0" + datum(), "byte 0"),
    "varint of 65 bits": (b"\xff" * 9 + b"\x7f" + datum(), "byte 0"),
    "version 2": (datum(version=2), "byte 12"),
    "version beyond int": (datum(version=2**31), "byte 12"),
    "typestr of 2^40 bytes": (datum()[:3] + encode_varint(2**40) + b"<i2", "byte 3"),
    "typestr not UTF-8": (datum()[:3] + encode_varint(3) + b"\xff\xfe2" + datum()[7:], "byte 3"),
    "a boolean of 2": (datum(typestr="|b1", data=b"\1\2"), "byte 8"),
    **{f"typestr {name}": (datum(typestr=name, data=b"\0" * 32), "byte 3") for name in ("", "<i2 ", *TYPESTRS.split())},
}


@pytest.mark.parametrize("case", BAD)
def test_data_that_cannot_be_are_refused_with_the_byte(case: str) -> None:
    content, location = BAD[case]
    with pytest.raises(sa.FormatError) as caught:
        avro.unpack(content)
    assert caught.value.location == location
    (finding,) = avro.check_avro(io.BytesIO(content))
    assert finding.location == location
    with pytest.raises(sa.FormatError):
        avro.scan_avro(io.BytesIO(content)) if case != "a boolean of 2" else read(content)


DEEP = b'{"type":"record","fields":[{"name":"shape","type":' + b'{"type":' * 400 + b"1" + b"}" * 401 + b"]}"
FILES = {
    "no records": container(),
    "no schema": container((1, datum()), **{"avro.schema": b""}),
    "a schema of another record": container((1, datum()), schema={**avro.SCHEMA, "fields": avro.SCHEMA["fields"][:3]}),
    "fields in another order": container((1, datum()), schema={**avro.SCHEMA, "fields": avro.SCHEMA["fields"][::-1]}),
    "a schema that is a union": container((1, datum()), schema=["null", avro.SCHEMA]),
    "a schema that is a number": container((1, datum()), schema=3),
    "a schema with odd fields": container((1, datum()), schema={"type": "record", "fields": [1, None]}),
    "a schema nested deeply": container((1, datum()), **{"avro.schema": b'{"type":' * 100_000}),
    "types nested deeply": container((1, datum()), **{"avro.schema": DEEP}),
    "another codec": container((1, datum()), codec="brotli"),
    "a codec that is not text": container((1, datum()), **{"avro.codec": b"\xff"}),
    "names that are no list": container((1, datum()), names={"a": 1}),
    "names that are no text": container((1, datum()), names=[1]),
    "too few names": container((1, datum()), (1, datum()), names=["a"]),
    "too many names": container((1, datum()), names=["a", "b"]),
    "one name twice": container((1, datum()), (1, datum()), names=["a", "a"]),
    "names that are no JSON": container((1, datum()), **{"sheetarray.names": b"["}),
    "a negative count": container((-1, datum())),
    "a count of 2^62": container((2**62, datum())),
    "a count of 2^62, deflated": container((2**62, deflated(datum())), codec="deflate"),
    "two records said, one there": container((2, datum())),
    "two records said, one there, deflated": container((2, deflated(datum())), codec="deflate"),
    "one record said, two there": container((1, datum() * 2)),
    "one record said, two there, deflated": container((1, deflated(datum() * 2)), codec="deflate"),
    "damaged deflate data": container((1, b"\xff" * 50), codec="deflate"),
    "deflate data cut off": container((1, deflated(datum())[:-4]), codec="deflate"),
    "another sync marker": container((1, datum()))[:-1] + b"t",
    "cut off in the sync marker": container((1, datum()))[:-1],
    "a block of 2^60 bytes": container() + encode_varint(1) + encode_varint(2**60),
    "a block of negative size": container() + encode_varint(1) + encode_varint(-1) + SYNC,
    "metadata of 2^62 entries": b"Obj\x01" + encode_varint(2**62),
    "metadata with a key twice": b"Obj\x01" + encode_varint(2) + (text("a") + text("b")) * 2 + b"\0" + SYNC,
    "a value of 2^62 bytes": b"Obj\x01" + encode_varint(1) + text("a") + encode_varint(2**62),
    "the magic alone": b"Obj\x01",
}


@pytest.mark.parametrize("case", FILES)
def test_files_that_cannot_be_are_refused(case: str) -> None:
    content = FILES[case]
    with pytest.raises(sa.FormatError) as caught:
        read(content)
    assert caught.value.location or case == "no records"
    with pytest.raises(sa.FormatError):
        avro.scan_avro(io.BytesIO(content))
    assert len(list(avro.check_avro(io.BytesIO(content)))) == 1


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
