"""RawArray: the shared suite, the examples of the format's repository, its variants, and what is refused."""

from __future__ import annotations

import hashlib
import io
import random
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from examples import examples
from hostile import HostileSamples, survive
from lz4 import block as lz4

import sheetarray as sa
from sheetarray.interchange import rawarray
from sheetarray.testing.cases import CASES, assert_same
from sheetarray.testing.conformance import Conformance
from sheetarray.testing.hostile import Content

EXAMPLES = Path(__file__).resolve().parents[4] / "shared" / "examples" / "rawarray"
HELD = {case: array for case, array in CASES.items() if array.dtype.kind in "iufc"}
LACKS = dict.fromkeys(CASES.keys() - HELD.keys(), sa.DTypeError)


class TestRa(Conformance):
    suffix, format = ".ra", "ra"
    lacks = LACKS
    holds_too = frozenset({"void"})
    sample = np.array([[1.5, -0.0, np.nan]])
    keeps_layout = False  # the option says which, for every array
    keeps_buffers = False
    holds_several = False
    text = False
    progress_of = ("write",)

    def name(self, index: int, name: str) -> str:
        return "file"


class TestRaOfTheSameAxes(TestRa):
    every_case = False
    writing = reading = scanning = {"axes": "same"}  # noqa: RUF012


class TestRaZstandard(TestRa):
    every_case = False
    suffix = ".ra.zst"


class TestRaOfJulia(TestRa):
    every_case = False
    writing = {"bool_as": "julia"}  # noqa: RUF012
    lacks = {case: error for case, error in LACKS.items() if CASES[case].dtype.kind != "b"}  # noqa: RUF012


def file(
    data: bytes,
    dims: tuple[int, ...],
    eltype: int,
    elbyte: int,
    *,
    flags: int = 0,
    size: int | None = None,
    mark: str = "<",
    ndims: int | None = None,
    magic: int = 0x7961727261776172,
) -> io.BytesIO:
    """A file with this header and these data."""
    fields = (
        magic,
        flags,
        eltype,
        elbyte,
        len(data) if size is None else size,
        len(dims) if ndims is None else ndims,
        *dims,
    )
    return io.BytesIO(struct.pack(f"{mark}{len(fields)}Q", *fields) + data)


def written(array: Any, **options: Any) -> bytes:
    target = io.BytesIO()
    rawarray.write(target, array, **options)
    return target.getvalue()


# The examples ------------------------------------------------------------------------------------------------


def example_rows() -> list[dict[str, str]]:
    """The rows of the table in the folder's README."""
    if not EXAMPLES.is_dir():
        return []
    lines = [
        line.strip("| ").split(" | ")
        for line in (EXAMPLES / "README.md").read_text().splitlines()
        if line.startswith("|")
    ]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


ROWS = example_rows() or [None]  # type: ignore[list-item]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("axes", ["reversed", "same"])
def test_examples_of_the_formats_repository(tmp_path: Path, row: dict[str, str] | None, axes: Any) -> None:
    if row is None:
        pytest.skip("the folder ../shared/examples/rawarray is not there")
    path = EXAMPLES / row["file"]
    dims = tuple(map(int, row["dims"].split("x")))
    array = rawarray.read(path, axes=axes)
    assert array.shape == (dims if axes == "same" else dims[::-1])
    assert array.dtype == row["dtype"]
    flat = array.ravel(order="F" if axes == "same" else "C")
    assert flat[:4].tolist() == [
        complex(text.strip()) if "j" in text else float(text) for text in row["first values, in file order"].split(",")
    ]
    finite = flat[np.isfinite(flat)].astype(
        "c16" if array.dtype.kind == "c" else "f8" if array.dtype.kind == "f" else "i8"
    )
    assert finite.sum() == pytest.approx(complex(row["sum of the finite elements"]), rel=1e-5)
    assert hashlib.md5(path.read_bytes()).hexdigest() == row["md5 of the file"]
    assert list(sa.check(path)) == []
    assert sa.scan(path, axes=axes)[path.stem].shape == array.shape
    rawarray.write(tmp_path / "again.ra", array, axes=axes)
    plain = EXAMPLES / row["file"].replace("_z", "")  # what is compressed is written as it is
    assert (tmp_path / "again.ra").read_bytes() == plain.read_bytes()


# The two conventions -----------------------------------------------------------------------------------------


def test_dimensions_are_reversed_or_the_same_and_no_element_moves() -> None:
    array = np.arange(6, dtype="int16").reshape(2, 3)
    reversed_, same = written(array), written(array, axes="same")
    assert struct.unpack("<8Q", reversed_[:64])[2:] == (1, 2, 12, 2, 3, 2)
    assert struct.unpack("<8Q", same[:64])[2:] == (1, 2, 12, 2, 2, 3)
    assert np.frombuffer(reversed_, "<i2", offset=64).tolist() == [0, 1, 2, 3, 4, 5]
    assert np.frombuffer(same, "<i2", offset=64).tolist() == [0, 3, 1, 4, 2, 5]
    assert rawarray.read(io.BytesIO(reversed_), axes="same").tolist() == array.T.tolist()
    assert rawarray.read(io.BytesIO(same)).tolist() == array.T.tolist()
    assert rawarray.read(io.BytesIO(same), axes="same").flags.f_contiguous


def test_scan_says_order_strides_and_where_the_data_begin() -> None:
    content = written(np.arange(24.0).reshape(2, 3, 4))
    (info,) = sa.scan(io.BytesIO(content[:72]), format="ra").values()
    assert (info.shape, info.order, info.strides) == ((2, 3, 4), "row-major", (12, 4, 1))
    assert (info.location, info.cells, info.capacity) == ("byte 72", 24, 24)
    (info,) = sa.scan(io.BytesIO(content[:72]), format="ra", axes="same").values()
    assert (info.shape, info.order, info.strides) == ((4, 3, 2), "column-major", (1, 4, 12))


@pytest.mark.parametrize("option", [{"axes": "both"}, {"bool_as": "int8"}])
def test_unknown_conventions_are_refused(tmp_path: Path, option: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"axes|bool_as"):
        sa.write(tmp_path / "x.ra", np.zeros(2), **option)
    assert not (tmp_path / "x.ra").exists()
    if "axes" in option:
        for verb in (sa.read, sa.scan, sa.check):
            with pytest.raises(ValueError, match="axes"):
                list(verb(io.BytesIO(written(np.zeros(2))), format="ra", **option))


def test_arrays_of_large_files_can_be_changed_and_files_never_change(tmp_path: Path) -> None:
    path, array = tmp_path / "x.ra", np.arange(300_000.0).reshape(300, 1000)
    rawarray.write(path, array)
    before = path.read_bytes()
    for axes in ("reversed", "same"):
        result = rawarray.read(path, axes=axes)  # type: ignore[arg-type]
        assert result.flags.aligned
        assert np.array_equal(result, array if axes == "reversed" else array.T)
        result[:] = 7
    assert path.read_bytes() == before
    mapped = sa.read(path, mmap=True)["x"]
    rawarray.write(path, np.zeros(200_000))  # replaced under the map
    assert np.array_equal(mapped, array)


# Element types -----------------------------------------------------------------------------------------------


def test_user_defined_elements_are_opaque_bytes(tmp_path: Path) -> None:
    array = rawarray.read(file(bytes(range(160)), (2,), 0, 80))
    assert (array.dtype, array.shape) == (np.dtype("V80"), (2,))
    assert array.view([("info", "S12"), ("index", "<u4"), ("v", "<f8", (8,))])["index"][0] == 0x0F0E0D0C
    for suffix in (".ra", ".npy", ".npz"):
        sa.write(tmp_path / f"x{suffix}", {"x": array})
        result = sa.read(tmp_path / f"x{suffix}")["x"]
        assert (result.dtype, result.tobytes()) == (array.dtype, array.tobytes())
        assert sa.scan(tmp_path / f"x{suffix}")["x"].dtype == "V80"
    assert (tmp_path / "x.ra").read_bytes() == file(bytes(range(160)), (2,), 0, 80).getvalue()


def test_brain_floats_are_widened() -> None:
    values = np.array([0.0, -0.0, 1.0, -2.5, np.inf, np.nan], "f4")
    halves = (values.view("u4") >> 16).astype("u2")
    for flags, data in ((0, halves.tobytes()), (1, halves.byteswap().tobytes())):
        for axes in ("reversed", "same"):
            result = rawarray.read(file(data, (2, 3), 5, 2, flags=flags), axes=axes)  # type: ignore[arg-type]
            assert result.dtype == "float32"
            assert np.array_equal(result.ravel(order="F" if axes == "same" else "C"), values, equal_nan=True)
    assert rawarray.read(file(halves[2:3].tobytes(), (), 5, 2))[()] == 1
    (info,) = sa.scan(file(halves.tobytes(), (6,), 5, 2), format="ra").values()
    assert info.dtype == "float32"


def test_pairs_of_half_floats_are_widened() -> None:
    parts = np.array([1.5, -0.0, 2.0, 65504.0, np.nan, 1.0], "f2")
    for flags, data in ((0, parts.tobytes()), (1, parts.byteswap().tobytes())):
        result = rawarray.read(file(data, (3, 1), 4, 4, flags=flags), axes="same")
        assert result.dtype == "complex64"
        assert result.shape == (3, 1)
        assert np.array_equal(result.ravel().view("f4"), parts.astype("f4"), equal_nan=True)
    assert rawarray.read(file(parts[:2].tobytes(), (), 4, 4))[()] == 1.5
    (info,) = sa.scan(file(data, (3, 1), 4, 4), format="ra").values()
    assert info.dtype == "complex64"


def test_bool_of_julia() -> None:
    assert rawarray.read(file(b"\1\0\1", (3,), 5, 1)).tolist() == [True, False, True]
    with pytest.raises(sa.FormatError, match="byte 58: 2 is neither 0 nor 1"):
        rawarray.read(file(b"\1\0\2", (3,), 5, 1))


def test_bool_is_written_only_as_told() -> None:
    array = np.array([[True, False]])
    with pytest.raises(sa.DTypeError, match="bool_as="):
        written(array)
    assert rawarray.read(io.BytesIO(written(array, bool_as="uint8"))).dtype == "uint8"
    assert_same(rawarray.read(io.BytesIO(written(array, bool_as="julia"))), array)


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.array(["a"]), r"\.npy"),
        (np.zeros(2, "M8[s]"), r"view\('int64'\)"),
        (np.zeros(2, "m8[s]"), r"view\('int64'\)"),
        (np.array([None]), "pickle"),
        (np.zeros(2, "g"), "float64"),
        (np.zeros(2, "V0"), "V0|void"),
    ],
)
def test_what_it_cannot_hold_is_refused_with_what_to_do(tmp_path: Path, array: Any, said: str) -> None:
    with pytest.raises(sa.DTypeError, match=said):
        rawarray.write(tmp_path / "x.ra", array)
    with pytest.raises(sa.DTypeError, match=f"bad: .*{said}"):
        sa.write(tmp_path / "x.ra", {"fine": np.zeros(2), "bad": array})
    assert list(tmp_path.iterdir()) == []


# Byte order and flags ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i2", "u8", "f4", "c8", "c16"])
def test_big_endian_data_and_files(dtype: str) -> None:
    array = np.array([[1, 2, 3]], dtype)
    eltype = {"i": 1, "u": 2, "f": 3, "c": 4}[array.dtype.kind]
    data = array.astype(f">{dtype}").tobytes()
    for given in (
        file(data, (3, 1), eltype, array.itemsize, flags=1),
        file(data, (3, 1), eltype, array.itemsize, mark=">"),
    ):
        assert_same(rawarray.read(given), array)


def test_metadata_are_the_bytes_after_the_data() -> None:
    content = written(np.zeros((2, 3)), metadata=b"unit: K")
    assert rawarray.read_metadata(io.BytesIO(content)) == b"unit: K"
    assert rawarray.read(io.BytesIO(content)).shape == (2, 3)
    assert rawarray.read_metadata(io.BytesIO(written(np.zeros(0)))) == b""
    target = io.BytesIO()
    sa.write(target, {"x": np.zeros(2)}, format="ra", metadata=b"\0\1")
    assert rawarray.read_metadata(io.BytesIO(target.getvalue())) == b"\0\1"
    assert rawarray.read_metadata(io.BytesIO(written(np.zeros(2), metadata="µ"))) == b"\xc2\xb5"
    with pytest.raises(TypeError):
        written(np.zeros(2), metadata=3)


def leb128(values: Any) -> bytes:
    """One by one, as Julia's code does it."""
    out = bytearray()
    signed, bits = values.dtype.kind == "i", 8 * values.dtype.itemsize
    for value in values.ravel().tolist():
        rest = ((value << 1) ^ (value >> (bits - 1))) & (2**bits - 1) if signed else value
        while rest > 127:
            out.append(rest & 127 | 128)
            rest >>= 7
        out.append(rest)
    return bytes(out)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_integers_of_julia_in_leb128(dtype: str) -> None:
    info, source = np.iinfo(dtype), random.Random(1)
    edges = [info.min, info.max, 0, 1, info.max - 1, 127 if info.max > 126 else 1]
    values = np.array(
        edges + [source.randint(info.min, info.max) >> source.randrange(8 * info.bits // 8) for _ in range(994)], dtype
    )
    eltype = 1 if values.dtype.kind == "i" else 2
    encoded = leb128(values)
    for times in (1, 2**20 // len(encoded) + 2):  # it is read by the megabyte
        whole, data = np.tile(values, times), encoded * times + b"after"
        for flags in (2, 3):
            given = file(data, whole.shape, eltype, values.itemsize, flags=flags, size=whole.nbytes)
            assert_same(rawarray.read(given), whole)
            given.seek(0)
            assert rawarray.read_metadata(given) == b"after"


def test_floats_that_julia_flags_but_does_not_encode() -> None:
    assert rawarray.read(file(np.arange(3.0).tobytes(), (3,), 3, 8, flags=2)).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("data", "location", "said"),
    [
        (b"\xff" * 3, "byte 56", "does not end"),
        (b"\1", "byte 56", "take more"),
        (b"\xff\x04\1\1\1", "byte 56", "too large"),
        (b"\1\xff\xff\x01\1", "byte 57", "too large"),
        (b"\xff" * 30, "byte 56", "does not end"),
    ],
)
def test_damaged_leb128(data: bytes, location: str, said: str) -> None:
    with pytest.raises(sa.FormatError, match=said) as caught:
        rawarray.read(file(data, (3,), 2, 1, flags=2, size=3))
    assert caught.value.location == location


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 200])
def test_bit_arrays_of_julia(count: int) -> None:
    values = np.random.default_rng(count).random(count) < 0.5
    chunks = np.packbits(np.concatenate([values, np.zeros(-count % 64, bool)]), bitorder="little").tobytes()
    for flags in (4, 6):
        assert_same(rawarray.read(file(chunks, (count,), 5, 8, flags=flags)), values)
        swapped = np.frombuffer(chunks, "<u8").byteswap().tobytes()
        assert_same(rawarray.read(file(swapped, (count,), 5, 8, flags=flags | 1)), values)
    if count == 200:
        result = rawarray.read(file(chunks, (20, 10), 5, 8, flags=6), axes="same")
        assert_same(result, values.reshape(20, 10, order="F"))
        (info,) = sa.scan(file(chunks, (20, 10), 5, 8, flags=6), format="ra").values()
        assert (info.shape, info.dtype) == ((10, 20), "bool")


def test_lz4_blocks_of_c() -> None:
    source = random.Random(2)
    for size in (100, 300, 5000):
        values = np.array([source.choice([0, 0, 0, 1, source.randrange(256)]) for _ in range(size)] * 3, "u1")
        block = lz4.compress(values.tobytes(), store_size=False)
        given = file(block + b"after", (size * 3,), 2, 1, flags=2, size=len(block))
        assert_same(rawarray.read(given), values)
        given.seek(0)
        assert rawarray.read_metadata(given) == b"after"
    values = (np.arange(400) % 3).astype(">f4")
    block = lz4.compress(values.tobytes(), store_size=False)
    result = rawarray.read(file(block, (20, 20), 3, 4, flags=3))
    assert_same(result, values.reshape(20, 20))
    assert result.flags.writeable


def test_without_lz4_its_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lz4.block", None)
    with pytest.raises(sa.MissingDependencyError, match="pip install lz4"):
        rawarray.read(file(b"\x30abc", (200,), 2, 1, flags=2))


@pytest.mark.parametrize(
    ("block", "count", "said"),
    [
        (b"", 10**6, "cannot hold"),
        (b"\x0f\x00", 10**6, "cannot hold"),
        (b"\xf0", 200, "damaged"),
        (b"\xf0\xff\xff", 200, "damaged"),
        (b"\x1f", 200, "damaged"),
        (b"\x10a\x00\x00\x00", 200, "damaged"),
        (b"\x10a\x01", 200, "damaged"),
        (b"\x10a\x01\x00", 200, "bytes|damaged"),
        (b"\x30ab", 200, "damaged"),
        (b"\x10a\x02\x00\x00", 200, "damaged"),
        (b"\x1fa\x01\x00\xff\xff\xff\xff\x00", 200, "damaged"),
        (b"\x30abc", 200, "3 bytes"),
    ],
)
def test_damaged_lz4(block: bytes, count: int, said: str) -> None:
    with pytest.raises(sa.FormatError, match=said) as caught:
        rawarray.read(file(block, (count,), 2, 1, flags=2))
    assert caught.value.location


# Damaged files -----------------------------------------------------------------------------------------------

VALID = {
    "floats": written(np.arange(24.0).reshape(2, 3, 4)),
    "metadata": written(np.arange(6, dtype="int16").reshape(3, 2), metadata=b'{"unit": "K"}' * 3),
    "bool": written(np.array([True, False, True]), bool_as="julia"),
    "opaque": written(np.zeros(4, "V5")),
    "empty": written(np.zeros((3, 0, 2), "c8")),
    "0-d": written(np.array(1.5)),
    "brain": file(bytes(range(12)), (2, 3), 5, 2, flags=0, size=12).getvalue(),
    "half": file(bytes(range(24)), (2, 3), 4, 4, flags=1, size=24).getvalue(),
    "leb128": file(bytes(range(40)), (4, 10), 1, 4, flags=2, size=160).getvalue(),
    "bits": file(bytes(range(16)), (10, 10), 5, 8, flags=6, size=16).getvalue(),
    "lz4": file(bytes.fromhex("1f6101005d") + b"\x70bcdefgh", (12, 10), 2, 1, flags=2, size=13).getvalue(),
    "big": b"yarrawar" + struct.pack(">6Q2d", 1, 3, 8, 16, 1, 2, 1.5, -0.0),
}


class TestHostileRawArrays(HostileSamples):
    suffix, format = ".ra", "ra"
    tries = examples(200)

    def samples(self, place: Path) -> Mapping[str, Content]:
        return {kind: content for kind, content in VALID.items() if kind != "metadata"}


class TestHostileMetadata(HostileSamples):
    suffix, format, reads_cut = ".ra", "ra", True
    reading = scanning = MappingProxyType({"axes": "same"})

    def samples(self, place: Path) -> Mapping[str, Content]:
        return {"metadata": VALID["metadata"]}


def test_a_large_lz4_block_that_breaks_off_is_refused() -> None:
    block = b"\x1f" + b"a\x01\x00" + b"\xff" * 300_000  # one copy of any length
    assert not survive(file(block, (70_000_000,), 2, 1, flags=2).getvalue(), "ra")
