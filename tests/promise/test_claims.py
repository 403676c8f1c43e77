"""What small files claim: counts, sizes, depths and what they inflate to, held against the bytes that there are."""

from __future__ import annotations

import gzip
import io
import json
import re
import struct
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from children import measured, run_limited
from examples import PART, STRIDE
from limits import get_limit, lower_limits, set_limits

import sheetarray as sa

avro = pytest.importorskip("sheetarray.interchange.avro")
npy = pytest.importorskip("sheetarray.interchange.npy")
awkward = pytest.importorskip("sheetarray.interchange.awkward")
sciserialize = pytest.importorskip("sheetarray.interchange.sciserialize")
from sheetarray.interchange.avro.wire import encode_varint  # noqa: E402
from sheetarray.interchange.sciserialize import serializers  # noqa: E402

ONE = avro.pack(np.array(True))
SYNC = b"s" * 16
MOST = 32_000_000 // PART  # bytes of a file
RECORDS = 1_000_000 // PART


def avro_file(*blocks: tuple[int, bytes], codec: str = "null", **more: bytes) -> bytes:
    metadata = {"avro.schema": json.dumps(avro.SCHEMA).encode(), "avro.codec": codec.encode(), **more}
    texts = [encode_varint(len(text)) + text for key, value in metadata.items() for text in (key.encode(), value)]
    body = b"".join(encode_varint(count) + encode_varint(len(content)) + content + SYNC for count, content in blocks)
    return b"Obj\x01" + encode_varint(len(metadata)) + b"".join(texts) + b"\0" + SYNC + body


def deflated(content: bytes) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def packed_list(count: int, content: bytes) -> bytes:
    return b"\x81\xa1a\xdd" + struct.pack(">I", count) + content


def bomb(unit: bytes) -> bytes:
    """A gigabyte and a half of one byte, or its part, in 1.5 MB of gzip."""
    return gzip.compress(unit * 2**22, 6) * (375 // PART)


def zstandard_bomb(unit: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(level=3).compress(unit * 2**22) * (375 // PART)


FILES: dict[str, Callable[[], bytes]] = {
    "records.avro": lambda: avro_file((RECORDS, deflated(3 * ONE)), codec="deflate"),
    "deflated records.avro": lambda: avro_file((RECORDS, deflated(RECORDS * ONE)), codec="deflate"),
    "blocks.avro": lambda: avro_file(*[(1, ONE)] * (3 * get_limit("avro_records") // PART)),
    "empty blocks.avro": lambda: avro_file(*[(0, b"")] * (3 * get_limit("avro_records") // PART)),
    "gigabytes.avro": lambda: avro_file(
        *[(1, deflated(avro.pack(np.zeros(10**8 // PART, "u1"))))] * 20, codec="deflate"
    ),
    "schema.avro": lambda: avro_file((1, ONE), **{"sheetarray.names": b"[" * MOST}),
    "nils.msgpack": lambda: b"\xdd" + struct.pack(">I", 2 * MOST) + b"\xc0" * 2 * MOST,
    "lists.msgpack": lambda: packed_list(MOST, b"\x90" * MOST),
    "mixed.msgpack": lambda: packed_list(MOST, b"\xc0\xa0" * (MOST // 2)),
    "maps.msgpack": lambda: packed_list(MOST, b"\x80" * MOST),
    "keys.msgpack": lambda: (
        b"\x81\xa1a\xdf" + struct.pack(">I", MOST // 16) + b"".join(b"\xa6%06x\xc0" % i for i in range(MOST // 16))
    ),
    "deep.msgpack": lambda: b"\x91" * MOST,
    "claims.msgpack": lambda: b"\xdf\xff\xff\xff\xff\xc0",
    "deep.json": lambda: b"[" * MOST,
    "deep objects.json": lambda: b'{"a":' * (MOST // 5),
    "lists.json": lambda: b'{"a":[' + b"[]," * (MOST // 3) + b"[]]}",
    "objects.json": lambda: b'{"a":[' + b"{}," * (MOST // 3) + b"{}]}",
    "digits.json": lambda: b'{"a":[' + b"1" * MOST + b"]}",
    "members.json": lambda: b'{"a":{"__type__":"ndarray","x":[' + b"0," * (MOST // 2) + b"0]}}",
    "zeros.csv.gz": lambda: bomb(b"\0"),
    "lines.tsv.zst": lambda: zstandard_bomb(b"\n"),
    "brackets.json.gz": lambda: bomb(b"["),
    "blanks.json.zst": lambda: zstandard_bomb(b" "),
    "zeros.msgpack.gz": lambda: bomb(b"\0"),
    "members.csv.gz": lambda: gzip.compress(b"") * (MOST // 20),
    "frames.csv.zst": lambda: b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00" * (MOST // 9),
}
LOWER = lower_limits(  # what is counted shrinks with the files, and what is in proportion to them stays so
    PART,
    *("inflated", "inflated_text", "inflated_in_memory", "frames", "avro_records", "avro_blocks", "packed_values"),
    "nested_json",
)
VERBS = """
import sys
import sheetarray as sa
path, *verbs = sys.argv[1:]
for verb in verbs:
    try:
        names = list(getattr(sa, verb)(path))
    except sa.FormatError as error:
        assert verb != "check" and len(str(error)) < 1000
    else:
        assert verb == "check" and names
"""


@measured
@pytest.mark.parametrize("name", FILES)
def test_a_claim_costs_no_more_than_the_bytes_that_make_it(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    run_limited(LOWER + VERBS, path, "read", "scan", "check", part=PART)


@measured
@pytest.mark.parametrize("unit", ["90", "80", "c0 a0", "91 c0"])  # empty lists, empty maps, nil and "", a list of one
def test_values_that_are_not_too_many_are_looked_through_once(unit, tmp_path):
    size = 2_000_000 // STRIDE
    count = size // 2 if unit == "91 c0" else size
    path = tmp_path / "small.msgpack"
    path.write_bytes(packed_list(count, bytes.fromhex(unit) * (size // len(bytes.fromhex(unit)))))
    run_limited(VERBS, path, "check", seconds=4.0 / STRIDE)


# The limits themselves: at them, and one above --------------------------------------------------------------------


def in_frames(count: int) -> bytes:
    """A CSV file in so many frames of gzip; what fills the last one up does not count."""
    text = io.StringIO()
    sa.write(text, {"t": np.arange(3.0)}, format="csv")
    size = len(text.getvalue()) // count + 1
    pieces = [text.getvalue()[at : at + size].encode() for at in range(0, len(text.getvalue()), size)]
    return b"".join(map(gzip.compress, pieces)) + bytes(5000)


def in_archive(count: int) -> bytes:
    file = io.BytesIO()
    npy.write_npz(file, {str(number): np.arange(2) for number in range(count)})
    return file.getvalue()


def in_awkd(count: int) -> bytes:
    file = io.BytesIO()
    awkward.write_awkd(file, {str(number): np.arange(2) for number in range(count)})  # a schema, a call and a blob each
    return file.getvalue()


# What is counted; where there are four of them, or more; and what is said if one less is allowed
COUNTED: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "records.avro": ("avro_records", lambda: avro_file((3, 3 * ONE), (1, ONE)), "more than 3 records"),
    "deflated.avro": (
        "avro_records",
        lambda: avro_file((3, deflated(3 * ONE)), (1, deflated(ONE)), codec="deflate"),
        "more than 3 records",
    ),
    "blocks.avro": ("avro_blocks", lambda: avro_file(*[(0, b"")] * 3, (1, ONE)), "more than 3 blocks"),
    "members.npz": ("archive_members", lambda: in_archive(4), "4 members; at most 3"),
    "steps.awkd": ("awkward_steps", lambda: in_awkd(4), "more than 11 schemas, calls and blobs"),
    "frames.csv.gz": ("frames", lambda: in_frames(3), "more than 3 frames"),
    "values.msgpack": ("packed_values", lambda: sciserialize.packb({"a": np.arange(0)}), "12 values; at most 11"),
}


@pytest.mark.parametrize("name", COUNTED)
def test_as_many_are_read_as_there_may_be(name, tmp_path, monkeypatch):
    limit, make, message = COUNTED[name]
    path = tmp_path / name
    path.write_bytes(make())
    most = 1 + int(re.findall(r"\d+", message)[-1])
    set_limits(monkeypatch, **{limit: most})
    assert list(sa.check(path)) == []
    assert sa.read(path)
    set_limits(monkeypatch, **{limit: most - 1})
    with pytest.raises(sa.FormatError, match=message):
        sa.read(path)
    (finding,) = sa.check(path)
    assert re.search(message, finding.message)


@pytest.mark.parametrize(
    ("suffix", "limit", "said"), [("avro", "avro_records", "4 arrays"), ("npz", "archive_members", "4 arrays")]
)
def test_no_more_arrays_are_written_than_are_read(suffix, limit, said, tmp_path, monkeypatch):
    set_limits(monkeypatch, **{limit: 3})
    arrays = {name: np.arange(2) for name in "abcd"}
    with pytest.raises(sa.LimitError, match=said):
        sa.write(tmp_path / f"t.{suffix}", arrays)
    del arrays["a"]
    sa.write(tmp_path / f"t.{suffix}", arrays)
    assert list(sa.read(tmp_path / f"t.{suffix}")) == ["b", "c", "d"]


def test_what_all_blocks_inflate_to_counts_together(monkeypatch):
    block = (1, deflated(avro.pack(np.zeros(1_000_000, "u1"))))
    content = avro_file(block, block, block, codec="deflate")
    size = 3 * len(avro.pack(np.zeros(1_000_000, "u1")))
    for most, refused in ((size, False), (size - 1, True)):
        set_limits(monkeypatch, inflated=most)
        assert bool([*avro.check_avro(io.BytesIO(content))]) is refused
    assert avro.read_avro(io.BytesIO(content), ["A"])["A"].shape == (1_000_000,)


@pytest.mark.parametrize("form", ["msgpack", "json"])
def test_as_many_values_are_read_as_written(form, monkeypatch):
    pack, unpack = (
        getattr(sciserialize, name) for name in (("packb", "unpackb") if form == "msgpack" else ("dumps", "loads"))
    )
    value = {"a": [1, [2, 3], {"b": None}], "c": 'x,y,[,{\\"['}
    count = serializers.count_plain_values(value)
    assert count == 12
    for most in (count, count - 1):
        set_limits(monkeypatch, packed_values=most)
        if most == count:
            assert unpack(pack(value)) == value
        else:
            with pytest.raises(sa.LimitError, match="12 values"):
                pack(value)


@pytest.mark.parametrize(
    ("format", "limit"), [("csv", "inflated_text"), ("json", "inflated_text"), ("npy", "inflated")]
)
def test_what_a_compressed_file_inflates_to_has_a_limit(format, limit, monkeypatch, tmp_path):
    """Text may inflate to less than elements may, but to one byte more for each byte of the file."""
    for numbers in (np.zeros(50_000), np.random.default_rng(1).normal(size=20_000)):
        file = io.BytesIO()
        sa.write(file, {"t": numbers}, format=format)
        path = tmp_path / f"t.{format}.gz"
        path.write_bytes(gzip.compress(file.getvalue()))
        size = len(file.getvalue()) - (path.stat().st_size if limit == "inflated_text" else 0)
        for most, refused in ((size, False), (size - 1, True)):
            set_limits(monkeypatch, **{limit: most})
            assert bool(list(sa.check(path))) is refused, (most, size)


def test_what_follows_the_frames_is_no_frame():
    with pytest.raises(sa.FormatError, match="damaged"):
        sa.read(io.BytesIO(in_frames(2) + b"more"), format="csv")
