"""Whatever bytes there are, reading ends in arrays or a `FormatError`, and `check` in findings: nothing else, ever."""

from __future__ import annotations

import io
import random
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cases import objects

import sheetarray as sa

FORMATS = ("csv", "tsv", "json")
VERBS: dict[str, Callable[..., Any]] = {
    "read": sa.read,
    "scan": sa.scan,
    "check": lambda *args, **options: list(sa.check(*args, **options)),
    "read_columns": sa.read_columns,
}

WORDS = (
    "version 1.0.0 1.1.0 2.0.0 1.0 ndarray shape strides offset order row-major column-major dtype float64 int8 bool string"
    " generic complex128 datetime64[D] length capacity data part unknown 0 1 2 3 -1 1.5 1,5 2.0 1e400 NaN Infinity TRUE x 3+4i"
    ' NaT 10000000000000000000 = \' " "" [ ] { } null true : \\u0000 \\ud800'
).split()
GLUE = [",", ";", "\t", "|", "\n", "\n", "\n", "\r\n", "\r", '"', " ", "", "\x00", "\ufeff", ", ", ": "]


def survive(content: bytes, format: str, **options: Any) -> None:
    """Put content through every verb: only a FormatError may come out."""
    for verb, function in VERBS.items():
        if verb == "read_columns" and format == "json":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", sa.SheetArrayWarning)
            try:
                found = function(io.BytesIO(content), format=format, **options)
            except sa.FormatError as error:
                assert verb != "check", f"check raised {error!r} for {content[:2000]!r}"
                assert str(error)
            except Exception as error:
                raise AssertionError(f"{verb} of {format} raised {error!r} for {content[:2000]!r}") from error
            else:
                assert verb == "check" or all(isinstance(name, str) for name in found)


def agree(content: bytes, format: str) -> None:
    """`check` finds an error exactly where `read` raises one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        findings = list(sa.check(io.BytesIO(content), format=format))
        errors = [finding for finding in findings if finding.severity == "error"]
        try:
            sa.read(io.BytesIO(content), format=format)
        except sa.FormatError as error:
            assert errors, f"read raised {error!r}, check found nothing in {content[:2000]!r}"
        else:
            assert not errors, f"read raised nothing, check found {errors} in {content[:2000]!r}"


def valid(format: str, **options: Any) -> bytes:
    """A file with arrays of several dtypes."""
    arrays = {
        "t": np.array([[1.5, -0.0], [np.nan, 2e300]]),
        "i": np.array([1, 2, 3], dtype="int8"),
        "s": np.array(["a", 'q"q', "x,y", ""]),
        "c": np.array([1 + 2j]),
        "d": np.array(["2020-01-01"], dtype="M8[D]"),
        "g": objects(None, 1, "1", True),
    }
    file = io.BytesIO()
    sa.write(file, arrays, format=format, **options)
    return file.getvalue()


@pytest.mark.parametrize("format", FORMATS)
def test_random_bytes(format: str) -> None:
    source = random.Random(1)
    for _ in range(400):
        survive(source.randbytes(source.choice((0, 1, 2, 3, 5, 20, 100, 1000))), format)


@pytest.mark.parametrize("start", [b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK", b"\xff\xfe\0\0"])
@pytest.mark.parametrize("format", FORMATS)
def test_random_bytes_after_magic_ones(start: bytes, format: str) -> None:
    source = random.Random(2)
    for length in (0, 1, 2, 3, 4, 7, 10, 64, 500):
        survive(start + source.randbytes(length), format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("seed", range(4))
def test_random_words_of_the_format(format: str, seed: int) -> None:
    source = random.Random(seed)
    for _ in range(250):
        glue = source.sample(GLUE, source.randint(1, 4))
        parts = [source.choice(WORDS) + source.choice(glue) for _ in range(source.randint(1, 80))]
        survive("".join(parts).encode(), format)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("format", FORMATS)
def test_headers_with_random_fields(format: str, seed: int) -> None:
    source = random.Random(seed)
    for _ in range(120):
        cells: list[Any] = ["version", source.choice(["1.0.0", "1.1.0", "1.9.0"]), "ndarray"]
        for key in source.sample(["shape", "strides", "offset", "order", "dtype", "length", "capacity", "part", "new"], 8):
            cells += [key, *[source.choice(WORDS) for _ in range(source.randint(0, 3))]]
        cells += ["data", *[source.choice(WORDS) for _ in range(source.randint(0, 5))]]
        survive(_put(cells, format), format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("seed", range(4))
def test_mutated_files(format: str, seed: int) -> None:
    source = random.Random(seed)
    options: dict[str, Any] = source.choice([{}, {"orient": "rows"}, {"max_rows": 22}, {"delimiter": ";", "decimal": ","}])
    content = valid(format, **({} if format == "json" else options))
    for _ in range(200):
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


@pytest.mark.parametrize("format", FORMATS)
def test_check_finds_an_error_exactly_where_read_raises_one(format: str) -> None:
    source = random.Random(7)
    content = valid(format)
    for _ in range(250):
        agree(_mutated(content, source), format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("options", [{}, {"orient": "rows"}, {"encoding": "utf-16"}, {"bom": True}], ids=str)
def test_truncated_files(format: str, options: dict[str, Any]) -> None:
    if format == "json" and options:
        pytest.skip("no option of JSON")
    content = valid(format, **options)
    for length in range(0, len(content), 1 + len(content) // 250):
        survive(content[:length], format)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_truncated_and_mutated_compressed_files(tmp_path: Any, suffix: str) -> None:
    path = tmp_path / f"x.csv{suffix}"
    sa.write(path, {"x": np.arange(300.0)})
    content, source = path.read_bytes(), random.Random(3)
    for length in range(0, len(content), 1 + len(content) // 100):
        survive(content[:length], "csv")
    for _ in range(100):
        changed = bytearray(content)
        changed[source.randrange(len(changed))] ^= 1 << source.randrange(8)
        survive(bytes(changed), "csv")


BIG = ("1000000000000000000", "9223372036854775807", "9223372036854775808", "99999999999999999999", "1" * 5000, "1e18", "-5")


@pytest.mark.parametrize("field", ["shape", "strides", "offset", "length", "capacity"])
@pytest.mark.parametrize("big", BIG, ids=lambda text: text[:22])
@pytest.mark.parametrize("dtype", ["float64", "string", "generic", "complex128"])
def test_huge_numbers_in_a_header_take_no_memory(field: str, big: str, dtype: str) -> None:
    cells = _header(dtype=dtype, **{field: [big]})
    for format in FORMATS:
        survive(_put([*cells, "1"], format), format)
        if field == "strides":
            continue  # a dimension of size 1 never takes its stride: NumPy decides whether it can hold it
        with pytest.raises(sa.FormatError) as caught:
            sa.read(io.BytesIO(_put([*cells, "1"], format)), format=format)
        assert caught.value.location


@pytest.mark.parametrize("dtype", ["float64", "string", "generic", "bool", "datetime64[s]"])
@pytest.mark.parametrize("size", ["10000000", "1000000000000", "4000000000000000000"])
def test_a_consistent_header_of_a_huge_array_takes_no_memory(dtype: str, size: str) -> None:
    cells = _header(dtype=dtype, shape=[size], length=[size], capacity=[size])
    for format in FORMATS:
        survive(_put([*cells, "1"], format), format)
        with pytest.raises(sa.FormatError):
            sa.read(io.BytesIO(_put([*cells, "1"], format)), format=format)


@pytest.mark.parametrize("dtype", ["float64", "string", "generic"])
def test_a_huge_view_on_one_element_is_a_view(dtype: str) -> None:
    cells = _header(dtype=dtype, shape=["1000000000000"], strides=["0"], length=["1000000000000"], capacity=["1"])
    for format in FORMATS:
        content = _put([*cells, "1"], format)
        survive(content, format)
        (array,) = sa.read(io.BytesIO(content), format=format).values()
        assert array.shape == (10**12,)
        assert array.strides == (0,)


def test_an_empty_array_of_a_huge_shape() -> None:
    cells = _header(shape=["1000000000000", "0", "1000000000000"], strides=["1"] * 3, length=["0"], capacity=["0"])
    for format in FORMATS:
        survive(_put(cells, format), format)


@pytest.mark.parametrize("dimensions", [64, 65, 66, 100, 1000, 30_000])
def test_very_many_dimensions(dimensions: int) -> None:
    cells = _header(shape=["1"] * dimensions, strides=["1"] * dimensions)
    for format in FORMATS:
        content = _put([*cells, "5"], format)
        survive(content, format)
        if dimensions <= 64:
            (array,) = sa.read(io.BytesIO(content), format=format).values()
            assert array.shape == (1,) * dimensions
        else:
            with pytest.raises(sa.FormatError) as caught:
                sa.read(io.BytesIO(content), format=format)
            assert caught.value.location


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_errors_in_header_or_data_always_have_a_location(version: str) -> None:
    base = [str(cell) for cell in sa.to_linear(np.array([[1, 2], [3, 4]], dtype="int16"))]
    base[1] = version
    for format in FORMATS:
        for at in range(1, len(base)):
            for other in ["", "x", "-1", "2.5", "data", "shape", "1.0.0", "99999", "NaN"]:
                cells = [*base[:at], other, *base[at + 1 :]]
                _located(cells, format)
            _located([*base[:at], *base[at + 1 :]], format)
            _located([*base[:at], base[at], *base[at:]], format)


def _located(cells: list[str], format: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        try:
            sa.read(io.BytesIO(_put(cells, format)), format=format)
        except sa.FormatError as error:
            if "no array of the exchange format" not in str(error):
                assert error.location, f"{error!r} for {cells}"
                assert re.search(r"[A-Z]+\d+$|\[\d+\]$", error.location), f"{error.location} of {error!r} for {cells}"


def _header(**fields: list[str] | str) -> list[str]:
    given: dict[str, Any] = {
        "shape": ["1"], "strides": ["1"], "offset": ["0"], "order": ["row-major"], "dtype": ["float64"], "length": ["1"],
        "capacity": ["1"], **fields,
    }  # fmt: skip
    cells = ["version", "1.0.0", "ndarray"]
    for key, values in given.items():
        cells += [key, *([values] if isinstance(values, str) else values)]
    return [*cells, "data"]


def _put(cells: list[Any], format: str) -> bytes:
    if format == "json":
        texts = [cell if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", str(cell)) else '"' + re.sub(r'(["\\])', r"\\\1", str(cell)) + '"' for cell in cells]
        return ('{"x": [' + ", ".join(texts) + "]}").encode()
    return ("x\n" + "".join(f"{cell}\n" for cell in cells)).encode()


