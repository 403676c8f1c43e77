"""Blobs of awkward0: dtypes, orders of bytes and compressions, read to the byte."""

from __future__ import annotations

import contextlib
import lzma
import zlib
from functools import partial
from importlib import import_module
from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward_layouts import Blobs, buffer, call, refused

import sheetarray as sa
from sheetarray.interchange.awkward.blobs import _STEP, MemoryBudget, StoredBlob

INTS = np.arange(4)


# Blobs ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        ["numpy", "frombuffer"],
        ["awkward0", "numpy", "frombuffer"],
        ["awkward.util", "frombuffer"],
        ["awkward", "numpy", "frombuffer"],
        ["awkward0.util", "frombuffer"],
    ],
)
def test_every_name_of_frombuffer_is_known(spec: list[str]) -> None:
    blobs = Blobs(x=INTS.astype("<i8").tobytes())
    assert blobs.read({**buffer("x", "int64", 4), "call": spec}).tolist() == [0, 1, 2, 3]
    assert blobs.read({"call": spec, "args": [{"read": "x"}, {"dtype": "int64"}]}).tolist() == [0, 1, 2, 3]
    assert blobs.read({"call": spec, "args": [{"read": "x"}]}).tolist() == INTS.view("f8").tolist()
    offset = {"call": spec, "args": [{"read": "x"}], "kwargs": {"dtype": {"json": "int64"}, "offset": {"json": 8}}}
    assert blobs.read(offset).tolist() == [1, 2, 3]
    refused(blobs, {**offset, "kwargs": {"offset": {"json": 9}}}, "holds no whole number of float64")
    refused(blobs, {**offset, "kwargs": {"offset": {"json": 64}}}, "holds no whole number of float64")
    refused(blobs, {**offset, "kwargs": {"offset": {"json": -8}}}, "an offset of -8")


DTYPES = {
    "bool": ("bool", [True, False]),
    "b1": ("|b1", [True, False]),
    "int8": ("int8", [-1, 2]),
    "int16": ("int16", [-1, 2]),
    ">i2": (">i2", [-1, 2]),
    "<u4": ("<u4", [1, 2**32 - 1]),
    ">u8": (">u8", [1, 2**64 - 1]),
    "uint64": ("uint64", [1, 2**64 - 1]),
    "float16": ("float16", [0.5, np.inf]),
    ">f4": (">f4", [0.5, -1.5]),
    "float64": ("float64", [0.1, -0.0]),
    "complex64": ("complex64", [1 + 2j, -1j]),
    ">c16": (">c16", [1 + 2j, -1j]),
    "S3": ("|S3", [b"abc", b""]),
    "U2": ("<U2", ["aü", ""]),
    ">U2": (">U2", ["aü", ""]),
    "datetime": ("datetime64[s]", np.array([5, -5], "M8[s]").tolist()),
    "timedelta": ("<m8[ms]", np.array([5, -5], "m8[ms]").tolist()),
}


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_is_read_and_unmarked_ones_are_little_endian(name: str) -> None:
    text, values = DTYPES[name]
    dtype = np.dtype(text) if text[0] in "<>|" else np.dtype(text).newbyteorder("<")
    array = np.array(values, dtype)
    result = Blobs(x=array.tobytes()).read(buffer("x", text, 2))
    assert result.tolist() == values
    twice = Blobs(x=np.array([values, values], dtype).tobytes()).read(buffer("x", [text, [2]], 2))
    assert twice.tolist() == [values, values]
    listed = Blobs(x=array).read({"read": "x"})
    assert listed.tolist() == values


def test_structured_dtypes_become_records() -> None:
    dtype = [["x", ">i2"], ["y", ["<f4", [2]]], ["z", [["p", "bool"], ["q", "S2"]]], ["w", "uint8", [1, 2]]]
    plain = np.dtype([("x", ">i2"), ("y", "<f4", 2), ("z", [("p", "?"), ("q", "S2")]), ("w", "u1", (1, 2))])
    array = np.array([(1, [1.5, 2.5], (True, b"ab"), [[3, 4]]), (-2, [0, 1], (False, b""), [[5, 6]])], plain)
    records = [
        {"x": 1, "y": [1.5, 2.5], "z": {"p": True, "q": b"ab"}, "w": [[3, 4]]},
        {"x": -2, "y": [0, 1], "z": {"p": False, "q": b""}, "w": [[5, 6]]},
    ]
    assert Blobs(x=array.tobytes()).read(buffer("x", dtype, 2)).tolist() == records
    assert ak.is_valid(Blobs(x=array[:1].tobytes()).read(buffer("x", dtype, 1)))
    shaped = Blobs(x=array.tobytes()).read(buffer("x", [dtype, [2, 1]], 1))
    assert shaped.tolist() == [[[records[0]], [records[1]]]]
    assert Blobs(x=b"").read(buffer("x", [dtype, [2, 1]], 0)).tolist() == []
    assert Blobs(x=array).read({"read": "x"}).tolist() == records


NO_DTYPES = [
    "",
    "int",
    "float",
    "long",
    "O",
    "|O8",
    "object",
    "V8",
    "float128",
    "complex256",
    "f16",
    ">g",
    "S0",
    "U0",
    "S",
    "datetime64",
    "M8",
    "M8[]",
    "M8[parsec]",
    "i3",
    "i8,i8",
    "(2,)i8",
    "int64 ",
    "os.system",
    5,
    None,
    True,
    {},
    [],
    ["int64"],
    ["int64", -1],
    ["int64", [-1]],
    ["int64", [2.0]],
    ["int64", [True]],
    ["int64", [2**40]],
    ["int64", [1] * 40],
    ["int64", "x"],
    [[]],
    [["x"]],
    [["x", "i8", 2, 3]],
    [["x", "i8"], ["x", "i8"]],
    [["", "i8"]],
    [[5, "i8"]],
    [["x", "O"]],
    [[["t", "x"], "i8"]],
    [["x", "i8", "y"]],
    ["S2147483647", [2]],
    [["x", "S2147483647"], ["y", "i1"]],
    ["i8", [2**31 - 1, 2**31 - 1]],
]


@pytest.mark.parametrize("dtype", NO_DTYPES)
def test_what_is_no_dtype_is_refused(dtype: Any) -> None:
    refused(Blobs(x=b"12345678"), buffer("x", dtype, 1), None, "schema.args[1]")


def test_empty_inner_dimensions_are_read() -> None:
    assert Blobs(x=b"").read(buffer("x", ["int64", [0]], 3)).tolist() == [[], [], []]
    assert Blobs(x=b"").read(buffer("x", ["int64", [2, 0]], 1)).tolist() == [[[], []]]
    assert Blobs(x=b"").read(buffer("x", ["int64", [0, 2]], 2)).type == ak.from_numpy(np.zeros((2, 0, 2), int)).type
    assert Blobs(x=b"").read(buffer("x", "int64", 0)).tolist() == []


PACKERS = {
    "zlib": (zlib.compress, ["zlib", "decompress"]),
    "lzma": (lzma.compress, ["lzma", "decompress"]),
    "lzma alone": (lambda data: lzma.compress(data, lzma.FORMAT_ALONE), ["backports.lzma", "decompress"]),
}
with contextlib.suppress(ImportError):
    PACKERS["lz4"] = (import_module("lz4.block").compress, ["lz4.block", "decompress"])


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize(
    ("steps", "more", "noise"),
    [
        (0, 0, False),
        (0, 1, False),
        (0, 7, False),
        (1, 0, False),
        (1, 1, False),
        (3, 0, False),
        (0, 7, True),
        (1, 1, True),
    ],
)
def test_compressed_blobs_are_inflated_to_the_byte(
    packer: str, steps: int, more: int, noise: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    compress, spec = PACKERS[packer]
    step = _STEP if packer == "zlib" else _STEP // 64
    monkeypatch.setattr("sheetarray.interchange.awkward.blobs._STEP", step)
    size = steps * step + more
    data = np.random.default_rng(0).bytes(size) if noise else bytes(size)
    packed = compress(data)
    blobs = Blobs(x=packed)
    inflate = {"call": spec, "args": [{"read": "x"}]}
    assert blobs.read(buffer(inflate, "uint8", size)).to_numpy().tobytes() == data
    whole = {"call": ["numpy", "frombuffer"], "args": [inflate, {"dtype": "uint8"}]}
    assert blobs.read(whole).to_numpy().tobytes() == data
    refused(blobs, buffer(inflate, "uint8", size + 1), f"has {size} bytes; its count and dtype need {size + 1}")
    if size:
        refused(blobs, buffer(inflate, "uint8", size - 1), f"inflates to more than the {size - 1} bytes")
        broken_ones = [packed[:-1], packed[: len(packed) // 2], packed + b"\0", b""]
        if packer != "lz4":  # which has no checksum
            broken_ones.append(packed[:8] + b"\xff" * 8 + packed[16:])
        for broken in broken_ones:
            refused(Blobs(x=broken), buffer(inflate, "uint8", size), "damaged|inflates to more")


@pytest.mark.parametrize("packer", ["zlib", "lzma"])
def test_a_blob_without_a_count_inflates_in_proportion(packer: str) -> None:
    compress = partial(zlib.compress, level=1) if packer == "zlib" else partial(lzma.compress, preset=0)
    spec = PACKERS[packer][1]
    whole = {"call": ["numpy", "frombuffer"], "args": [{"call": spec, "args": [{"read": "x"}]}, {"dtype": "uint8"}]}
    assert len(Blobs(x=compress(bytes(2**24))).read(whole)) == 2**24
    refused(Blobs(x=compress(bytes(2**24 + 1))), whole, "inflates to more than the 16777216 bytes")
    noise = compress(np.random.default_rng(0).bytes(2**19) + bytes(2**24))
    assert len(Blobs(x=noise).read(whole)) == 2**19 + 2**24


def test_lz4_is_read_where_it_is_installed_and_else_named() -> None:
    blobs = Blobs(x=(5).to_bytes(4, "little") + b"\x50hello")
    expression = buffer({"call": ["lz4.block", "decompress"], "args": [{"read": "x"}]}, "S5", 1)
    try:
        import lz4.block  # noqa: F401
    except ImportError:
        with pytest.raises(sa.MissingDependencyError, match="pip install lz4"):
            blobs.read(expression)
    else:
        assert blobs.read(expression).tolist() == [b"hello"]
        refused(Blobs(x=b"\xff\xff\xff\x7f\x50hello"), expression, "inflates to more")


def test_decompressors_take_one_argument_and_only_once() -> None:
    blobs = Blobs(x=zlib.compress(zlib.compress(b"abc")))
    once = {"call": ["zlib", "decompress"], "args": [{"read": "x"}]}
    twice = {"call": ["lzma", "decompress"], "args": [once]}
    refused(blobs, buffer(twice, "int8", 3), "compressed twice", "schema.args[0]")
    more = {"call": ["zlib", "decompress"], "args": [{"read": "x"}, {"json": 15}, {"json": 10**12}]}
    refused(blobs, buffer(more, "int8", 3), "too many positional arguments", "schema.args[0]")
    refused(
        blobs,
        buffer({"call": ["zlib", "decompress"], "args": [{"json": 1}]}, "int8", 3),
        "not a blob",
        "schema.args[0]",
    )


@pytest.mark.parametrize("count", [-1, -2, 2**62, 2**63, 2**64, 10**30, 1.0, True, "3", None, [3]])
def test_counts_that_cannot_be_are_refused(count: Any) -> None:
    if count is None:
        assert Blobs(x=b"abc").read(buffer("x", "int8", None)).tolist() == [97, 98, 99]
        return
    refused(Blobs(x=b"abc"), buffer("x", "int8", count), None)
    refused(
        Blobs(x=zlib.compress(b"abc")),
        buffer({"call": ["zlib", "decompress"], "args": [{"read": "x"}]}, "int64", count),
        None,
    )


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("text", "neither bytes nor an array"),
        (5, "neither bytes"),
        (None, "neither bytes"),
        ([1, 2], "neither bytes"),
        (np.array([None, 1], object), "Python objects"),
        (np.ma.masked_array([1, 2], [0, 1]), "neither bytes"),
    ],
)
def test_what_a_container_may_not_hold_is_refused(content: Any, match: str) -> None:
    refused(Blobs(x=content), {"read": "x"}, match)


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", "a\\x", "\\\\host\\x", "a\0b", "C:/x", ".."])
def test_names_that_lead_out_of_a_container_are_refused(name: str) -> None:
    blobs = Blobs({name: b"\1"})
    refused(blobs, buffer(name, "int8", 1), "leads out of the container", "schema.args[0]")
    refused(blobs, buffer({"read": name, "absolute": True}, "int8", 1), "leads out of the container", "schema.args[0]")


def test_a_blob_that_is_missing_is_named() -> None:
    refused(Blobs(), buffer("events-1", "int8", 1), "no blob named 'events-1'", "schema.args[0]")


def test_bools_and_characters_that_are_none_are_refused() -> None:
    refused(Blobs(x=b"\0\2"), buffer("x", "bool", 2), "neither 0 nor 1")
    refused(Blobs(x=b"\0\2"), buffer("x", [["a", "bool"]], 2), "neither 0 nor 1")
    refused(Blobs(x=(0x110000).to_bytes(4, "little")), buffer("x", "<U1", 1), "no characters of Unicode")
    refused(Blobs(x=(0xD800).to_bytes(4, "big")), buffer("x", ">U1", 1), "no characters of Unicode")


def test_arrays_of_a_container_are_used_as_they_are() -> None:
    matrix = np.arange(12.0).reshape(3, 4)
    for array in (
        matrix,
        matrix[:, ::2],
        matrix.T,
        matrix[::-1],
        matrix.astype(">f4"),
        np.asfortranarray(matrix),
        matrix[:0],
    ):
        assert Blobs(x=array).read({"read": "x"}).tolist() == array.tolist()
    for texts in (np.array(["a", "ü"]), np.zeros((2, 0), "U3"), np.ndarray((2,), np.dtype("S0"))):
        assert Blobs(x=texts).read({"read": "x"}).tolist() == texts.tolist()
    bytewise = np.frombuffer(matrix.tobytes(), "u1")
    assert Blobs(x=bytewise).read(buffer("x", ["float64", [4]], 3)).tolist() == matrix.tolist()
    assert Blobs(x=INTS).read(buffer("x", "int64", 4)).tolist() == [0, 1, 2, 3]
    refused(Blobs(x=np.array(5)), {"read": "x"}, "without dimensions")
    refused(Blobs(x=np.zeros(2, "V3")), {"read": "x"}, "which is not read")
    refused(Blobs(x=np.zeros(2, np.longdouble)), {"read": "x"}, "which is not read")
    refused(Blobs(x=np.zeros(2, "M8")), {"read": "x"}, "unit")


def test_arrays_share_the_memory_of_their_blobs() -> None:
    data = np.arange(1000.0)
    result = Blobs(x=data.tobytes()).read(buffer("x", "float64", 1000))
    assert not result.layout.data.flags.writeable
    assert np.shares_memory(Blobs(x=data).read({"read": "x"}).layout.data, data)


def test_the_budget_counts_a_blob_once_and_views_each_time() -> None:
    budget = MemoryBudget(100)
    budget.take(60, "a")
    with pytest.raises(sa.FormatError, match=r"b of 41 bytes: more than the 100 bytes") as caught:
        budget.take(41, "b")
    assert caught.value.hint == "max_bytes= allows more"
    budget = MemoryBudget()
    always = budget.limit
    budget.note_stored("x", 10 * always)
    budget.note_stored("x", 10 * always)
    assert budget.limit == 640 * always
    assert StoredBlob("x", b"abc").inflate(3, budget).tobytes() == b"abc"


def test_max_bytes_limits_and_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("blobs", "reading"):
        monkeypatch.setattr(f"sheetarray.interchange.awkward.{module}.BYTES_ALWAYS", 2**24)
    blobs = Blobs()
    index, content = blobs.array([5]), blobs.array([1.5])
    sparse = call("SparseArray", {"json": 5_000_000}, index, content, {"json": None})
    refused(blobs, sparse, "a sparse array of 40000000 bytes")
    assert len(blobs.read(sparse, max_bytes=10**9)) == 5_000_000
    refused(blobs, blobs.array(INTS), "more than the 16 bytes", max_bytes=16)
    refused(blobs, blobs.array(INTS), "more than the 0 bytes", max_bytes=0)
    for most in ("16", 1.5, -1, True):
        with pytest.raises(TypeError, match="max_bytes is a number of bytes"):
            blobs.read(sparse, max_bytes=most)


def test_errors_are_strict_or_replaced() -> None:
    with pytest.raises(ValueError, match="errors is one of"):
        Blobs().read({"json": 1}, errors="ignore")
