"""RawArray files of any bytes whatever: an array or a `FormatError`, little memory, no hang."""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
from examples import examples
from hostile import NUMBERS, Hostile, bounded_memory, survive
from hypothesis import given
from hypothesis import strategies as st

from sheetarray.interchange import rawarray
from sheetarray.testing.hostile import Content


def written(array: np.ndarray, **options: object) -> bytes:  # type: ignore[type-arg]
    file = io.BytesIO()
    rawarray.write(file, array, **options)  # type: ignore[arg-type]
    return file.getvalue()


def encoded(flags: int, eltype: int, elbyte: int, size: int, dims: tuple[int, ...], data: bytes) -> bytes:
    return b"rawarray" + struct.pack(f"<{5 + len(dims)}Q", flags, eltype, elbyte, size, len(dims), *dims) + data


VALID = {
    "floats": written(np.arange(24.0).reshape(2, 3, 4)),
    "metadata": written(np.arange(6, dtype="int16").reshape(3, 2), metadata=b'{"unit": "K"}' * 3),
    "bool": written(np.array([True, False, True]), bool_as="julia"),
    "opaque": written(np.zeros(4, "V5")),
    "empty": written(np.zeros((3, 0, 2), "c8")),
    "0-d": written(np.array(1.5)),
    "brain": encoded(0, 5, 2, 12, (2, 3), bytes(range(12))),
    "half": encoded(1, 4, 4, 24, (2, 3), bytes(range(24))),
    "leb128": encoded(2, 1, 4, 160, (4, 10), bytes(range(40))),
    "bits": encoded(6, 5, 8, 16, (10, 10), bytes(range(16))),
    "lz4": encoded(2, 2, 1, 13, (12, 10), bytes.fromhex("1f6101005d") + b"\x70bcdefgh"),
    "big": b"yarrawar" + struct.pack(">6Q2d", 1, 3, 8, 16, 1, 2, 1.5, -0.0),
}


class TestHostileRawArrays(Hostile):
    suffix, format = ".ra", "ra"
    tries = examples(200)

    def samples(self, place: Path) -> Mapping[str, Content]:
        return {kind: content for kind, content in VALID.items() if kind != "metadata"}


class TestHostileMetadata(Hostile):
    suffix, format, reads_cut = ".ra", "ra", True
    reading = scanning = MappingProxyType({"axes": "same"})

    def samples(self, place: Path) -> Mapping[str, Content]:
        return {"metadata": VALID["metadata"]}


def test_random_headers() -> None:
    source = random.Random(4)
    readable = 0
    with bounded_memory():
        for _ in range(examples(2000)):
            eltype, elbyte = source.choice(
                [
                    (1, 4),
                    (2, 1),
                    (3, 8),
                    (4, 8),
                    (5, 1),
                    (5, 2),
                    (5, 8),
                    (0, 3),
                    (source.choice(NUMBERS), source.choice(NUMBERS)),
                ]
            )
            dims = tuple(source.choice([0, 1, 2, 3, 5, 8, source.choice(NUMBERS)]) for _ in range(source.randrange(4)))
            count = int(np.prod(dims, dtype=object))
            size = source.choice([count * elbyte, count, source.choice(NUMBERS)]) % 2**64
            data = source.randbytes(min(source.choice([size, 10, 100, 1000]), 5000))
            readable += survive(encoded(source.choice([0, 0, 1, 2, 3, 4, 6]), eltype, elbyte, size, dims, data), "ra")
    assert readable > examples(200)


@given(
    st.integers(0, 7),
    st.integers(0, 6),
    st.sampled_from([0, 1, 2, 3, 4, 8, 16]),
    st.lists(st.integers(0, 6), max_size=3),
    st.binary(max_size=200),
)
def test_any_data_under_a_likely_header(flags: int, eltype: int, elbyte: int, dims: list[int], data: bytes) -> None:
    count = int(np.prod(dims, dtype=object))
    for size in (len(data), count * elbyte, 8 * -(-count // 64)):
        survive(encoded(flags, eltype, elbyte, size, tuple(dims), data), "ra")


@given(st.binary(max_size=100), st.integers(1, 3000))
def test_any_lz4_block(block: bytes, count: int) -> None:
    survive(encoded(2, 3, 4, len(block), (count,), block), "ra")


def test_a_large_lz4_block_takes_linear_time() -> None:
    block = b"\x10a" + b"\x01\x00\x00" * 300_000  # copies of four bytes each
    assert not survive(encoded(2, 2, 1, len(block), (len(block) + 1,), block), "ra")
    block = b"\x1f" + b"a\x01\x00" + b"\xff" * 300_000  # one copy of any length
    assert not survive(encoded(2, 2, 1, len(block), (70_000_000,), block), "ra")
