"""SciSerialize that is cut off, edited or made to harm: a `FormatError` with its place, and no memory taken for it."""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pandas as pd
import pytest
from children import limited
from examples import examples
from hostile import HostileSamples, bounded_memory

import sheetarray as sa
from sheetarray.formats import FORMATS
from sheetarray.interchange import sciserialize as sci
from sheetarray.testing.hostile import Content, mutate

FORM = {"__type__": "ndarray", "shape": [2, 3], "dtype": "int16", "bytes": {"__base64__": "AAABAAIAAwAEAAUA"}}


def without(key: str) -> dict[str, Any]:
    return {k: v for k, v in FORM.items() if k != key}


def changed(**parts: Any) -> dict[str, Any]:
    return {**FORM, **parts}


def b64(text: str) -> dict[str, Any]:
    return changed(bytes={"__base64__": text})


DTYPES = """float int =i2 |i2 <i3 V2 i2,i2 <M8 <M8[parsec] datetime64 datetime64[0s] float128 longdouble S2 U <U-1
os.system object_ complex256 INT16 (2,)i2"""
BAD = {
    "no shape": (without("shape"), "x"),
    "no dtype": (without("dtype"), "x"),
    "no bytes": (without("bytes"), "x"),
    "shape of text": (changed(shape=["2", 3]), "x.shape[0]"),
    "shape of bool": (changed(shape=[2, True]), "x.shape[1]"),
    "negative shape": (changed(shape=[2, -3]), "x.shape[1]"),
    "-1 in the shape": (changed(shape=[-1]), "x.shape[0]"),
    "fraction in the shape": (changed(shape=[2, 3.5]), "x.shape[1]"),
    "nan in the shape": (changed(shape=[float("nan")]), "x.shape[0]"),
    "infinity in the shape": (changed(shape=[float("inf")]), "x.shape[0]"),
    "huge shape": (changed(shape=[2**62, 2**62]), "x.shape"),
    "huge number in the shape": (changed(shape=[10**300]), "x.shape[0]"),
    "huge float in the shape": (changed(shape=[1e300]), "x.shape[0]"),
    "huge shape with a zero": (changed(shape=[0, 2**62, 2**62]), "x.shape"),
    "65 dimensions": (changed(shape=[1] * 65), "x.shape"),
    "shape is an object": (changed(shape={"a": 1}), "x.shape[0]"),
    "shape is null": (changed(shape=None), "x.shape[0]"),
    "nested shape": (changed(shape=[[2, 3]]), "x.shape[0]"),
    "too large a shape": (changed(shape=[2, 4]), "x.bytes"),
    "too small a shape": (changed(shape=[2, 2]), "x.bytes"),
    "bytes cut off": (b64("AAABAAIAAwAEAA=="), "x.bytes"),
    "base64 without padding": (b64("AAABAAIAAwAEAA"), "x.bytes"),
    "base64 with white space": (b64("AAABAAIAAwAE\nAUA"), "x.bytes"),
    "base64 of the URL alphabet": (b64("AAABAAIAAwAEA_-A"), "x.bytes"),
    "base64 with padding within": (b64("AAA=AAIAAwAEAAUA"), "x.bytes"),
    "base64 that is not ASCII": (b64("AAABAAIAAwAEAAUé"), "x.bytes"),
    "base64 of padding": (b64("================"), "x.bytes"),
    "base64 is not text": (changed(bytes={"__base64__": 5}), "x.bytes"),
    "bytes are text": (changed(bytes="AAABAAIAAwAEAAUA"), "x.bytes"),
    "bytes are null": (changed(bytes=None), "x.bytes"),
    "bytes are a list": (changed(bytes=[0, 1, 2, 3, 4, 5]), "x.bytes"),
    "bytes with a second key": (changed(bytes={"__base64__": "AAAA", "a": 1}), "x.bytes"),
    "a boolean of 2": ({**b64("Ag=="), "shape": [1], "dtype": "bool"}, "x.bytes, byte 0"),
    "a character beyond Unicode": ({**b64("AAARAA=="), "shape": [1], "dtype": "<U1"}, "x.bytes, byte 0"),
    "half a character": ({**b64("ANgAAA=="), "shape": [1], "dtype": "<U1"}, "x.bytes"),
    "texts of no characters": (changed(dtype="<U0", shape=[10**12], bytes={"__base64__": ""}), "x.shape"),
    "texts beyond memory": (changed(dtype="<U999999999"), "x.dtype"),
    "objects that are no list": (changed(dtype="object", bytes=5), "x.bytes"),
    "objects in another shape": (changed(dtype="object", bytes=[[1, 2, 3], [4, 5]]), "x.bytes"),
    "objects in too small a shape": (changed(dtype="object", bytes=[1, 2, 3]), "x.bytes"),
    "a broken object": (
        changed(dtype="object", shape=[1], bytes=[{"__type__": "datetime"}]),
        "x.bytes, element 0.isostr",
    ),
    **{
        f"dtype {name!r}": (changed(dtype=name), "x.dtype")
        for name in (5, None, ["i2"], {"i2": 1}, "", *DTYPES.split())
    },
}


def _packed(value: Any) -> bytes:
    """As MessagePack, with base64 as in JSON where it stands for bytes."""
    return bytes(msgpack.packb(value))


@pytest.mark.parametrize("case", BAD)
def test_arrays_that_cannot_be_are_refused_with_their_place(case: str) -> None:
    form, location = BAD[case]
    fine = dict(FORM)
    contents = [json.dumps({"fine": fine, "x": form}).encode()]
    if "huge" not in case or "float" in case:
        contents.append(_packed({"fine": fine, "x": form}))
    for content in contents:
        load = sci.loads if content[:1] == b"{" else sci.unpackb
        with pytest.raises(sa.FormatError) as caught:
            load(content)
        assert caught.value.location == location
        with pytest.raises(sa.FormatError) as caught:
            sci.read_sciserialize(io.BytesIO(content))
        assert caught.value.location == location
        assert [finding.location for finding in sci.check_sciserialize(io.BytesIO(content))] == [location]
        assert sci.read_sciserialize(io.BytesIO(content), ["fine"])["fine"].shape == (2, 3)


JSON = {
    "nothing": "",
    "half": '{"x": {"__type__": "nd',
    "two values": "{} {}",
    "a number": "5",
    "a list": "[1]",
    "an empty mapping": "{}",
    "a name twice": f'{{"x": {json.dumps(FORM)}, "x": {json.dumps(FORM)}}}',
    "a key twice": f'{{"x": {json.dumps(FORM)}}}'.replace('"shape"', '"dtype"'),
    "a deep list": "[" * 100_000,
    "a deep object": '{"x":' * 100_000,
    "a deep value": '{"x":' + "[" * 200 + "]" * 200 + "}",
    "an integer of 5000 digits": f'{{"x": {"9" * 5000}}}',
    "not UTF-8": b'{"x": "\xff"}',
    "half of UTF-16": "{}".encode("utf-16")[:-1],
    "a base64 object": '{"__base64__": "!"}',
    "a lone datetime": '{"__type__": "datetime", "isostr": "2020-01-01T00:00:00"}',
    "a lone pickle": '{"__type__": "pypickle", "b": {"__base64__": ""}}',
}


@pytest.mark.parametrize("case", JSON)
def test_json_that_cannot_be_is_refused(case: str) -> None:
    text = JSON[case]
    content = text.encode() if isinstance(text, str) else text
    with pytest.raises(sa.FormatError):
        sci.read_sciserialize(io.BytesIO(content))
    with pytest.raises(sa.FormatError):
        sci.scan_sciserialize(io.BytesIO(content))
    assert len(list(sci.check_sciserialize(io.BytesIO(content)))) == 1


PACKED = {
    "a text cut off": (b"\xa5abc", "byte 0"),
    "binary data of 4 GB": (b"\xc6\xff\xff\xff\xffabc", "byte 0"),
    "a text of 4 GB": (b"\xdb\xff\xff\xff\xffabc", "byte 0"),
    "a list of 4 billion": (b"\xdd\xff\xff\xff\xff\x01\x02", "byte 5"),
    "a map of 4 billion": (b"\xdf\xff\xff\xff\xff\xa1a\x02", "byte 5"),
    "lists of lists that are too long": (b"\xdc\x00\x08" * 4 + b"\0" * 12, "byte 9"),
    "the byte that nothing begins with": (b"\x81\xa1x\xc1", "byte 3"),
    "bytes after the end": (b"\x81\xa1x\x01\x02", "byte 4"),
    "a double cut off": (b"\x81\xa1x\xcb\0\0", "byte 3"),
    "a length cut off": (b"\x81\xa1x\xc5\0", "byte 3"),
    "a key that is a number": (b"\x81\x01\x02", "byte 1"),
    "a key that is binary": (b"\x81\xc4\x01x\x02", "byte 1"),
    "a key that is a list": (b"\x81\x91\x01\x02", "byte 1"),
    "a key twice": (b"\x82\xa1x\x01\xa1x\x02", None),
    "a key that is not UTF-8": (b"\x81\xa1\xff\x02", "byte 1"),
    "a text that is not UTF-8": (b"\x81\xa1x\xa1\xff", "byte 3"),
    "an extension type": (b"\x81\xa1x\xd4\x05\x00", "byte 3"),
    "an extension type in a list": (b"\x81\xa1x\x91\xd4\x05\x00", "byte 4"),
    "a timestamp": (b"\x81\xa1x\xd6\xff\0\0\0\0", "byte 3"),
    "a timestamp of a wrong length": (b"\x81\xa1x\xd5\xff\0\0", "byte 3"),
    "101 lists": (b"\x91" * 101 + b"\0", "byte 101"),
    "a million lists": (b"\x91" * 1_000_000, "byte 101"),
    "a million maps": (b"\x81\xa0" * 1_000_000, "byte 201"),
    "in a list: a key that is a number": (b"\x81\xa1x\x91\x81\x01\x02", "byte 5"),
    "in a list: a key twice": (b"\x81\xa1x\x91\x82\xa1y\x01\xa1y\x02", "x[0]"),
    "nothing": (b"", "byte 0"),
}


@pytest.mark.parametrize("case", PACKED)
def test_messagepack_that_cannot_be_is_refused_with_the_byte(case: str) -> None:
    content, location = PACKED[case]
    with pytest.raises(sa.FormatError) as caught:
        sci.unpackb(content)
    assert caught.value.location == location
    with pytest.raises(sa.FormatError):
        sci.read_sciserialize(io.BytesIO(content))
    assert len(list(sci.check_sciserialize(io.BytesIO(content)))) == 1


@pytest.mark.parametrize(
    "value",
    [
        [1, -200, 300, -70_000, 2**40, 1.5, None, True, False] * 8000,
        ["a" * n for n in range(300)] + ["x" * 70_000],
        [[], {}, [[]], {"a": [1] * 20}, {str(n): n for n in range(70_000)}] * 2,
        [b"x" * n for n in (0, 255, 256, 70_000)],
        *([2.5] * count for count in (15, 16, 65_535, 65_536)),
    ],
)
def test_long_lists_are_looked_through_whatever_is_in_them(value: Any) -> None:
    for wrapped in (value, {"a": value, "b": 1}):
        data = sci.packb(wrapped)
        assert sci.unpackb(data) == wrapped
        with pytest.raises(sa.FormatError):
            sci.unpackb(data[:-1])
        with pytest.raises(sa.FormatError):
            sci.unpackb(data + b"\0")


# Memory and time ---------------------------------------------------------------------------------------------


@pytest.fixture
def frugal() -> Iterator[None]:
    """Fails where more than 200 MB are taken, or 10 s of the processor."""
    with limited(seconds=10), bounded_memory():
        yield


def test_lists_within_lists_take_no_memory_on_their_word(frugal: Any) -> None:
    for size in (10_000, 1_000_000):
        head = b"\xdd" + size.to_bytes(4, "big")
        for content in (head * 90 + b"\0" * size, b"\x81\xa1x" + head * 90 + b"\0" * size):
            with pytest.raises(sa.FormatError, match="cut off"):
                sci.unpackb(content)
    with pytest.raises(sa.FormatError):
        sci.unpackb((b"\xdf\x00\x08\x00\x00" + b"\xa0") * 90 + b"\0" * 1_000_000)


def test_the_magic_is_found_quickly_in_anything() -> None:
    magic = FORMATS["sciserialize-json"].magic
    assert magic is not None
    with limited(seconds=1):
        for text in (
            b" " * 4096,
            b'{"' * 2048,
            b'{"' + b"\\" * 4000,
            b'"__type__" ' * 400,
            b'{"x"' + b" " * 4000,
            b'"__type__"' + b" " * 4000,
            b'{"__type__"' + b" " * 4000,
            b"[" + b'"__type__" ' * 400,
        ):
            assert magic.search(text[:4096]) is None


def values() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    arrays = {
        "a": rng.random((3, 2)),
        "b": np.array([True, False]),
        "s": np.array(["ü", "ab"]),
        "o": np.array([None, 1, "x"], dtype=object),
    }
    frame = pd.DataFrame({"a": [1.5, 2.5]}, index=[datetime(2020, 1, 1), datetime(2020, 1, 2)])
    nested = {
        "when": datetime(2020, 1, 2, 3),
        "for": timedelta(1, 2, 3),
        "m": np.ma.masked_array([1, 2], mask=[0, 1]),
        "set": {1, 2},
        "f": frame,
    }
    return {"arrays": arrays, "nested": nested, "frame": {"f": frame}}


class TestHostileMessages(HostileSamples):
    suffix, format = ".msgpack", "sciserialize"
    words: Sequence[bytes] = (b"dtype", b"object", b"<U9", b"M8[ns]", b"\xdd\xff\xff\xff\xff", b"\xc6\x7f\xff\xff\xff")

    def samples(self, place: Path) -> Mapping[str, Content]:
        return {name: sci.packb(values()[name], extensions=True) for name in ("arrays", "frame")}


class TestHostileTexts(HostileSamples):
    suffix, format = ".json", "sciserialize-json"
    words = (b'"shape"', b"dtype", b"-", b"e99", b"[", b"{", b"null", b"object", b"<U9", b"M8[ns]")

    def samples(self, place: Path) -> Mapping[str, Content]:
        return {
            name: sci.dumps(value, extensions=True).encode() for name, value in values().items() if name != "nested"
        }


@pytest.mark.parametrize("form", ["json", "msgpack"])
def test_times_sets_and_masked_arrays_are_read_or_refused_however_they_are_changed(form: str) -> None:
    pack, load = (
        (sci.packb, sci.unpackb) if form == "msgpack" else (lambda *v, **o: sci.dumps(*v, **o).encode(), sci.loads)
    )
    source, content = random.Random(form), pack(values()["nested"], extensions=True)
    assert isinstance(load(content), dict)
    with bounded_memory():
        for _ in range(examples(1500)):
            with contextlib.suppress(sa.FormatError):
                load(mutate(content, source, TestHostileTexts.words))
