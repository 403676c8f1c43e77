"""Whatever bytes there are, reading ends in arrays or a `FormatError`, and `check` in findings: nothing else, ever."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from examples import cross, examples
from hostile import FORMATS, agree, put, survive, valid

import sheetarray as sa


@pytest.mark.parametrize("format", FORMATS)
def test_random_bytes(format: str) -> None:
    source = random.Random(1)
    for _ in range(examples(400)):
        survive(source.randbytes(source.choice((0, 1, 2, 3, 5, 20, 100, 1000))), format)


@pytest.mark.parametrize(
    "start", [b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK", b"\xff\xfe\0\0"]
)
@pytest.mark.parametrize("format", FORMATS)
def test_random_bytes_after_magic_ones(start: bytes, format: str) -> None:
    source = random.Random(2)
    for length in (0, 1, 2, 3, 4, 7, 10, 64, 500):
        survive(start + source.randbytes(length), format)


# Text that tabs delimit is read as text that commas do.
@pytest.mark.parametrize(("format", "seed"), cross(FORMATS, "0123", "json"))
def test_random_words_of_the_format(format: str, seed: str) -> None:
    source = random.Random(int(seed))
    for _ in range(examples(250)):
        glue = source.sample(GLUE, source.randint(1, 4))
        parts = [source.choice(WORDS) + source.choice(glue) for _ in range(source.randint(1, 80))]
        survive("".join(parts).encode(), format)


@pytest.mark.parametrize(("format", "seed"), cross(FORMATS, "012345"))
def test_headers_with_random_fields(format: str, seed: str) -> None:
    source = random.Random(int(seed))
    for _ in range(examples(120)):
        cells: list[Any] = ["version", source.choice(["1.0.0", "1.1.0", "1.9.0"]), "ndarray"]
        for key in source.sample(
            ["shape", "strides", "offset", "order", "dtype", "length", "capacity", "part", "new"], 8
        ):
            cells += [key, *[source.choice(WORDS) for _ in range(source.randint(0, 3))]]
        cells += ["data", *[source.choice(WORDS) for _ in range(source.randint(0, 5))]]
        survive(put(cells, format), format)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"orient": "rows"},
    {"max_rows": 25, "delimiter": "\t"},
    {"delimiter": ";", "decimal": ","},
]


@pytest.mark.parametrize(("format", "options"), [*(("csv", options) for options in OPTIONS), ("json", {})])
def test_mutated_files(format: str, options: dict[str, Any]) -> None:
    source = random.Random(5)
    content = valid(format, **options)
    for _ in range(examples(200)):
        survive(_mutated(content, source), format)


def _mutated(content: bytes, source: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(source.randint(1, 3)):
        at, kind = source.randrange(len(changed) + 1), source.randrange(5)
        if kind == 0:
            changed[at : at + 1] = source.randbytes(1)
        elif kind == 1:
            del changed[at : at + source.randint(1, 20)]
        elif kind == 2:
            changed[at:at] = source.choice([*GLUE, *WORDS]).encode()
        elif kind == 3:
            changed[at:at] = changed[max(0, at - 30) : at]
        else:
            lines = bytes(changed).split(b"\n")
            source.shuffle(lines) if source.random() < 0.2 else lines.pop(source.randrange(len(lines)))
            changed = bytearray(b"\n".join(lines)) or bytearray(b"x")
    return bytes(changed)


@pytest.mark.parametrize(("format", "options"), [*(("csv", options) for options in OPTIONS), ("json", {})])
def test_check_finds_an_error_exactly_where_read_raises_one(format: str, options: dict[str, Any]) -> None:
    source = random.Random(7)
    content = valid(format, **options)
    for _ in range(examples(200)):
        agree(_mutated(content, source), format)


FORMS: list[dict[str, Any]] = [{}, {"orient": "rows"}, {"encoding": "utf-16"}, {"bom": True}]


@pytest.mark.parametrize(("format", "options"), [*(("csv", options) for options in FORMS), ("json", {})])
def test_truncated_files(format: str, options: dict[str, Any]) -> None:
    content = valid(format, **options)
    for length in range(0, len(content), 1 + len(content) // examples(250)):
        survive(content[:length], format)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_truncated_and_mutated_compressed_files(tmp_path: Any, suffix: str) -> None:
    path = tmp_path / f"x.csv{suffix}"
    sa.write(path, {"x": np.arange(300.0)})
    content, source = path.read_bytes(), random.Random(3)
    for length in range(0, len(content), 1 + len(content) // examples(100)):
        survive(content[:length], "csv")
    for _ in range(examples(100)):
        changed = bytearray(content)
        changed[source.randrange(len(changed))] ^= 1 << source.randrange(8)
        survive(bytes(changed), "csv")
