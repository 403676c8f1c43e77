"""SciSerialize that is cut off, edited or made to harm: a `FormatError` with its place, and no memory taken for it."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

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
