"""Every expression of the awkward0 protocol, and every class of awkward0, read from containers made by hand."""

from __future__ import annotations

import base64
import contextlib
import json
import lzma
import pickle
import zlib
from importlib import import_module
from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward0_schemas import Blobs, buffer, call, document, refused

import sheetarray as sa
from sheetarray.interchange.awkward.blobs import StoredBlob
from sheetarray.interchange.awkward.limits import MemoryBudget
from sheetarray.interchange.awkward.reading import deserialize

INTS = np.arange(4)


# The whole -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signature", ["awkward0", "awkward"])
@pytest.mark.parametrize(
    "text", ["text", "bytes", "memory", "bytearray", "uint8", "text in UTF-8", "a byte order mark"]
)
def test_a_schema_is_read_from_text_and_from_bytes(signature: str, text: str) -> None:
    schema = json.dumps({signature: None, "doc": "ü", "schema": buffer("x", "int8", 2)}, ensure_ascii="UTF" not in text)
    content = {
        "text": schema,
        "bytes": schema.encode(),
        "memory": memoryview(schema.encode()),
        "bytearray": bytearray(schema.encode()),
        "uint8": np.frombuffer(schema.encode(), "u1"),
        "text in UTF-8": schema.encode(),
        "a byte order mark": schema.encode("utf-8-sig"),
    }[text]
    assert deserialize({"": content, "x": b"\1\2"}).tolist() == [1, 2]


def test_names_are_those_of_the_schema_with_its_prefix() -> None:
    schema = document(buffer("1.raw", "int8", 2), prefix="events-")
    storage = {"events.json": schema, "events-1.raw": b"\1\2", "1.raw": b"\3\4"}
    assert deserialize(storage, "events", schemasuffix=".json").tolist() == [1, 2]
    assert deserialize(storage, "events.json", suffix=None, delimiter=None).tolist() == [1, 2]
    absolute = document(buffer({"read": "1.raw", "absolute": True}, "int8", 2), prefix="events-")
    assert deserialize({**storage, "events.json": absolute}, "events.json").tolist() == [3, 4]


def test_no_array_of_a_name_is_said_with_those_that_there_are() -> None:
    with pytest.raises(sa.NotFoundError, match=r"no array 'evnts'; the container has 'events', 'other'"):
        deserialize({"events": b"", "other": b""}, "evnts")
    with pytest.raises(sa.NotFoundError, match="has nothing"):
        deserialize({})


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b'{"schema": {"json": 1}}', "neither awkward0 nor awkward"),
        (b'{"awkward0": 1}', "no expression"),
        (b'{"awkward0": 1, "schema": {"json": 1}, "prefix": 5}', "prefix that is no text"),
        (b"[1]", "no schema"),
        (b"{", "no JSON"),
        (b"", "no JSON"),
        (b'{"awkward0": "\xff"}', "no UTF-8"),
        (b'{"awkward0": 1, "schema": {"json": 1, "json": 2}}', "the key 'json' stands twice"),
        (b'{"awkward0": 1, "schema": {"json": 1}, "schema": {"json": 1}}', "the key 'schema' stands twice"),
        (b'{"awkward0": ' + b"9" * 5000 + b"}", "more digits than any number"),
        (5, "a schema that is a int"),
        (np.zeros(3), "of the dtype float64"),
        (b'{"awkward0": 1, "schema": {"json": 1}}', "the whole is 1, not an array"),
        (b'{"awkward0": 1, "schema": {"json": [1, 2]}}', "the whole is a list, not an array"),
        (b'{"awkward0": 1, "schema": {"read": "x"}}', "without count and dtype"),
    ],
    ids=range(15),
)
def test_what_is_no_schema_of_an_array_is_refused(content: Any, match: str) -> None:
    with pytest.raises(sa.FormatError, match=match) as caught:
        deserialize({"x": content}, "", schemasuffix="x") if isinstance(content, int) else deserialize(
            {"events": content, "x": b""}, "events"
        )
    assert caught.value.element == (None if isinstance(content, int) else "events")


def test_an_error_says_array_place_and_hint() -> None:
    schema = document(call("JaggedArray.fromcounts", {"read": "c"}, buffer("x", "object", 1)))
    with pytest.raises(sa.FormatError) as caught:
        deserialize({"events": schema, "c": np.array([1]), "x": b"12345678"}, "events")
    assert str(caught.value) == (
        "schema.args[1].args[1] (events): the dtype 'object', which is not read (an array of Python objects was stored "
        "as their addresses; the objects are lost)"
    )


# Expressions ---------------------------------------------------------------------------------------------------------


def test_more_keys_are_allowed_and_more_identifying_keys_are_not() -> None:
    blobs = Blobs(x=b"\1\2")
    assert blobs.read(buffer("x", "int8", 2, comment="mine", doc={"a": 1}, prefix=5)).tolist() == [1, 2]
    refused(blobs, {**buffer("x", "int8", 2), "json": 5}, "found call and json")
    refused(blobs, {"doc": 1}, "found none of them")
    refused(blobs, call("JaggedArray", 5, 6, 7), "found a int", "schema.args[0]")
    refused(blobs, call("JaggedArray", [], 6, 7), "found a list", "schema.args[0]")


@pytest.mark.parametrize(
    "expression",
    [
        {"call": "x"},
        {"call": {}},
        {"call": ["a", 5]},
        {"call": ["numpy"]},
        {"call": []},
        {"call": ["", ""]},
        {"call": ["numpy", "frombuffer"], "args": {}},
        {"call": ["numpy", "frombuffer"], "kwargs": []},
        {"list": {}},
        {"tuple": 5},
        {"dict": []},
        {"pairs": {}},
        {"pairs": [["a"]]},
        {"pairs": [[5, {"json": 1}]]},
        {"pairs": [["a", {"json": 1}, {"json": 1}]]},
        {"pairs": ["ab"]},
        {"read": 5},
        {"read": "x", "absolute": 1},
        {"dtype": None},
        {"function": "x"},
        {"python": 5},
        {"python": "not base64!"},
        {"ref": "1"},
        {"ref": -1},
        {"ref": 17},
        {"ref": True},
        {"ref": None},
        {"json": 1, "id": -1},
        {"json": 1, "id": "0"},
        {"json": 1, "id": 1.0},
        {"json": 1, "id": True},
        {"call": ["numpy", "frombuffer"], "cacheable": 1},
    ],
)
def test_malformed_expressions_are_refused_with_their_place(expression: Any) -> None:
    blobs = Blobs(x=b"\1\2")
    for whole, location in (
        (expression, "schema"),
        ({"list": [{"json": 1}, expression]}, "schema.list[1]"),
        ({"tuple": [expression]}, "schema.tuple[0]"),
        ({"dict": {"k": expression}}, "schema.dict['k']"),
        ({"pairs": [["n", expression]]}, "schema.pairs['n']"),
        (call("JaggedArray", expression), "schema.args[0]"),
        (call("JaggedArray", kwargs={"starts": expression}), "schema.kwargs['starts']"),
    ):
        refused(blobs, whole, None, location)


def test_ids_may_be_missing_and_stand_only_once() -> None:
    blobs = Blobs()
    shared = blobs.array(INTS, id=7)
    assert blobs.read(call("Table.frompairs", {"pairs": [["a", shared], ["b", {"ref": 7}]]})).b.tolist() == [0, 1, 2, 3]
    refused(blobs, {"list": [{"json": 1, "id": 7}, shared]}, "the id 7 belongs to schema", "schema.list[0]")


def test_references_lead_to_any_value_forward_too() -> None:
    blobs = Blobs(x=b"\1\2\3")
    columns = [
        ["a", buffer("x", "int8", None) | {"args": [{"read": "x"}, {"ref": 1}, {"ref": 2}]}],
        ["b", {"ref": 5}],
        [
            "c",
            buffer("x", "int8", None, id=5)
            | {"args": [{"read": "x", "id": 9}, {"dtype": "int8", "id": 1}, {"json": 3, "id": 2}]},
        ],
        ["d", {"ref": 6}],
        ["e", {"ref": 5, "id": 6}],
    ]
    table = blobs.read(call("Table.frompairs", {"pairs": columns}))
    assert table.tolist() == [dict.fromkeys("abcde", n) for n in (1, 2, 3)]
    assert table.layout.contents[1] is table.layout.contents[4]


def test_a_reference_to_what_it_is_part_of_is_refused() -> None:
    blobs = Blobs()
    counts = blobs.array([1, 1])
    cyclic = call("JaggedArray.fromcounts", counts, {"ref": 0}, id=0)
    refused(blobs, cyclic, "the reference 0 leads back to an array that it is part of", "schema.args[1]")
    refused(blobs, {"ref": 3, "id": 3}, "leads back")
    refused(blobs, {"list": [{"ref": 4, "id": 3}, {"ref": 3, "id": 4}]}, "leads back", "schema.list[1]")


def test_arguments_go_by_name_too() -> None:
    blobs = Blobs()
    named = {"starts": blobs.array([2, 0]), "stops": blobs.array([4, 1]), "content": blobs.array(INTS)}
    assert blobs.read({"call": ["awkward0", "JaggedArray"], "kwargs": named}).tolist() == [[2, 3], [0]]
    both = call("JaggedArray", named["starts"], kwargs={"stops": named["stops"], "content": named["content"]})
    assert blobs.read(both).tolist() == [[2, 3], [0]]
    refused(blobs, call("JaggedArray", kwargs={"offsets": named["starts"]}), "JaggedArray: missing a required argument")
    refused(blobs, call("JaggedArray", *named.values(), {"json": 1}), "too many positional arguments")
    refused(blobs, call("JaggedArray", *named.values(), kwargs={"starts": {"json": 1}}), "multiple values")
    refused(blobs, call("JaggedArray", *named.values(), cacheable=True), "unexpected keyword argument 'cache'")


def test_literals_without_an_expression_are_encodings_of_version_0_5() -> None:
    blobs = Blobs()
    counts, content = blobs.array([1, 2]), blobs.array(np.frombuffer(b"abc", "u1"))
    assert blobs.read(call("StringArray.fromcounts", counts, content, "utf-8")).tolist() == ["a", "bc"]
    assert blobs.read(call("StringArray.fromcounts", counts, content, None)).tolist() == [b"a", b"bc"]


@pytest.mark.parametrize(
    ("value", "protocols"),
    [(float("nan"), range(6)), (2.5, range(6)), (-7, range(6)), (10**6, range(6)), (None, range(1, 6))],
)
def test_pickles_of_one_plain_value_are_read_without_executing_them(value: Any, protocols: range) -> None:
    blobs = Blobs()
    index, content = blobs.array([1]), blobs.array([1.5])
    for protocol in protocols:
        pickled = base64.b64encode(pickle.dumps(value, protocol)).decode()
        result = blobs.read(call("SparseArray", {"json": 3}, index, content, {"python": pickled})).tolist()
        assert np.array_equal(result, [value or 0.0, 1.5, value or 0.0], equal_nan=True)


@pytest.mark.parametrize("value", [[1.0], (1.0,), {}, 1j, np.float64(2), {1.0}, b"x" * 3000, object])
def test_other_pickles_are_refused_unless_the_whitelist_names_them(value: Any) -> None:
    text = base64.b64encode(pickle.dumps(value)).decode()
    refused(Blobs(), {"list": [{"python": text}]}, "could execute anything", "schema.list[0]")
    refused(Blobs(), {"python": text}, "could execute", whitelist=[["awkward0.persist", "topython", "x"]])
    for whitelist in ("*", [["awkward0.persist"]], ["awkward0.persist", "to*"], [["awkward0.persist", "topython"]]):
        refused(Blobs(), {"python": text}, "the whole is", whitelist=whitelist)
    refused(Blobs(), {"python": "AAAA"}, "a pickle that cannot be read", whitelist="*")


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


@pytest.mark.parametrize("dtype", NO_DTYPES, ids=str)
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
@pytest.mark.parametrize("size", [0, 1, 7, 2**20, 2**20 + 1, 3 * 2**20])
@pytest.mark.parametrize("noise", [False, True])
def test_compressed_blobs_are_inflated_to_the_byte(packer: str, size: int, noise: bool) -> None:
    compress, spec = PACKERS[packer]
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
    compress, spec = PACKERS[packer]
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
    ids=range(6),
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
    refused(Blobs(x=np.zeros(2, "V3")), {"read": "x"}, "which awkward arrays do not have")
    refused(Blobs(x=np.zeros(2, np.longdouble)), {"read": "x"}, "which awkward arrays do not have")
    refused(Blobs(x=np.zeros(2, "M8")), {"read": "x"}, "without a unit")


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


def test_max_bytes_limits_and_allows() -> None:
    blobs = Blobs()
    index, content = blobs.array([5]), blobs.array([1.5])
    sparse = call("SparseArray", {"json": 50_000_000}, index, content, {"json": None})
    refused(blobs, sparse, "a sparse array of 400000000 bytes")
    assert len(blobs.read(sparse, max_bytes=10**9)) == 50_000_000
    refused(blobs, blobs.array(INTS), "more than the 16 bytes", max_bytes=16)
    refused(blobs, blobs.array(INTS), "more than the 0 bytes", max_bytes=0)
    for most in ("16", 1.5, -1, True):
        with pytest.raises(TypeError, match="max_bytes is a number of bytes"):
            blobs.read(sparse, max_bytes=most)


def test_errors_are_strict_or_replaced() -> None:
    with pytest.raises(ValueError, match="errors is one of"):
        Blobs().read({"json": 1}, errors="ignore")
