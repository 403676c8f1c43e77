"""Every expression of the awkward0 protocol and every class of awkward0, read from containers made by hand.

What awkward0 itself writes is read in `test_awkward_real.py`; here is what it does not write, and what is refused.
"""

from __future__ import annotations

import base64
import json
import lzma
import pickle
import zlib
from functools import partial
from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward_layouts import FLOATS, INTS, ROWS, Blobs, buffer, built, call, document, refused, table, values_of

import sheetarray as sa
from sheetarray.interchange.awkward import deserialize

# The whole -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signature", ["awkward0", "awkward"])
@pytest.mark.parametrize("as_stored", [bytes, memoryview, bytearray, partial(np.frombuffer, dtype="u1"), bytes.decode])
@pytest.mark.parametrize("encoding", ["ascii", "utf-8", "utf-8-sig"])
def test_a_schema_is_read_from_text_and_from_bytes(signature: str, as_stored: Any, encoding: str) -> None:
    schema = {signature: None, "doc": "ü", "schema": buffer("x", "int8", 2)}
    content = json.dumps(schema, ensure_ascii=encoding == "ascii").encode(encoding)
    assert deserialize({"": as_stored(content), "x": b"\1\2"}).tolist() == [1, 2]


def test_names_are_those_of_the_schema_with_its_prefix() -> None:
    schema = document(buffer("1.raw", "int8", 2), prefix="events-")
    storage = {"events.json": schema, "events-1.raw": b"\1\2", "1.raw": b"\3\4"}
    assert deserialize(storage, "events", schemasuffix=".json").tolist() == [1, 2]
    assert deserialize(storage, "events.json", suffix=None, delimiter=None).tolist() == [1, 2]
    absolute = document(buffer({"read": "1.raw", "absolute": True}, "int8", 2), prefix="events-")
    assert deserialize({**storage, "events.json": absolute}, "events.json").tolist() == [3, 4]
    with pytest.raises(sa.NotFoundError, match=r"no array 'evnts'; the container has 'events.json', 'events-1.raw'"):
        deserialize(storage, "evnts")


def test_an_error_says_array_place_and_hint() -> None:
    schema = document(call("JaggedArray.fromcounts", {"read": "c"}, buffer("x", "object", 1)))
    with pytest.raises(sa.FormatError) as caught:
        deserialize({"events": schema, "c": np.array([1]), "x": b"12345678"}, "events")
    assert str(caught.value) == (
        "schema.args[1].args[1] (events): the dtype 'object', which is not read (an array of Python objects was stored "
        "as their addresses; the objects are lost)"
    )


# Expressions ---------------------------------------------------------------------------------------------------------


def test_more_keys_are_allowed() -> None:
    assert Blobs(x=b"\1\2").read(buffer("x", "int8", 2, comment="mine", doc={"a": 1}, prefix=5)).tolist() == [1, 2]


def test_references_lead_to_any_value_forward_too() -> None:
    blobs = Blobs(x=b"\1\2\3")
    count = {"args": [{"read": "x"}, {"ref": 1}, {"ref": 2}]}
    parts = {"args": [{"read": "x", "id": 9}, {"dtype": "int8", "id": 1}, {"json": 3, "id": 2}]}
    first, third = buffer("x", "int8", None) | count, buffer("x", "int8", None, id=5) | parts
    columns = [["a", first], ["b", {"ref": 5}], ["c", third], ["d", {"ref": 6}], ["e", {"ref": 5, "id": 6}]]
    result = blobs.read(call("Table.frompairs", {"pairs": columns}))
    assert result.tolist() == [dict.fromkeys("abcde", n) for n in (1, 2, 3)]
    assert result.layout.contents[1] is result.layout.contents[4]
    shared = blobs.array(INTS, id=7)
    refused(blobs, {"list": [{"json": 1, "id": 7}, shared]}, "the id 7 belongs to schema", "schema.list[0]")


def test_arguments_go_by_name_too() -> None:
    blobs = Blobs()
    named = {"starts": blobs.array([2, 0]), "stops": blobs.array([4, 1]), "content": blobs.array(INTS)}
    assert blobs.read({"call": ["awkward0", "JaggedArray"], "kwargs": named}).tolist() == [[2, 3], [0]]
    both = call("JaggedArray", named["starts"], kwargs={"stops": named["stops"], "content": named["content"]})
    assert blobs.read(both).tolist() == [[2, 3], [0]]
    refused(blobs, call("JaggedArray", kwargs={"offsets": named["starts"]}), "JaggedArray: missing a required argument")
    refused(blobs, call("JaggedArray", *named.values(), {"json": 1}), "too many positional arguments")
    refused(blobs, call("JaggedArray", *named.values(), cacheable=True), "unexpected keyword argument 'cache'")


@pytest.mark.parametrize("value", [float("nan"), 2.5, -7, 10**6, None])
@pytest.mark.parametrize("protocol", range(6))
def test_pickles_of_one_plain_value_are_read_without_executing_them(value: Any, protocol: int) -> None:
    pickled = base64.b64encode(pickle.dumps(value, protocol)).decode()
    if (value, protocol) == (None, 0):
        return  # a pickle of two letters, "N."
    blobs = Blobs()
    result = blobs.read(built(blobs, ("SparseArray", {"json": 3}, [1], [1.5], {"python": pickled}))).tolist()
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


@pytest.mark.parametrize("module", ["numpy", "awkward0.util", "awkward.util", "awkward0 numpy", "awkward numpy"])
def test_every_name_of_frombuffer_is_known(module: str) -> None:
    spec, blobs = [*module.split(), "frombuffer"], Blobs(x=INTS.astype("<i8").tobytes())
    assert blobs.read({**buffer("x", "int64", 4), "call": spec}).tolist() == [0, 1, 2, 3]
    assert blobs.read({"call": spec, "args": [{"read": "x"}, {"dtype": "int64"}]}).tolist() == [0, 1, 2, 3]
    assert blobs.read({"call": spec, "args": [{"read": "x"}]}).tolist() == INTS.view("f8").tolist()
    offset = {"call": spec, "args": [{"read": "x"}], "kwargs": {"dtype": {"json": "int64"}, "offset": {"json": 8}}}
    assert blobs.read(offset).tolist() == [1, 2, 3]
    for wrong, match in (
        (9, "does not hold a whole number of float64"),
        (64, "does not hold a whole number of float64"),
        (-8, "the offset -8"),
    ):
        refused(blobs, {**offset, "kwargs": {"offset": {"json": wrong}}}, match)


DTYPES = {
    "bool |b1": [True, False],
    "int8 int16 >i2": [-1, 2],
    "<u4 >u8 uint64": [1, 2**32 - 1],
    "float16 >f4 float64": [0.5, -0.0],
    "complex64 >c16": [1 + 2j, -1j],
    "|S3": [b"abc", b""],
    "<U2 >U2": ["aü", ""],
    "datetime64[s]": np.array([5, -5], "M8[s]").tolist(),
    "<m8[ms]": np.array([5, -5], "m8[ms]").tolist(),
}


@pytest.mark.parametrize(("texts", "values"), DTYPES.items())
def test_every_dtype_is_read_and_unmarked_ones_are_little_endian(texts: str, values: list[Any]) -> None:
    for text in texts.split():
        dtype = np.dtype(text) if text[0] in "<>|" else np.dtype(text).newbyteorder("<")
        array = np.array(values, dtype)
        assert Blobs(x=array.tobytes()).read(buffer("x", text, 2)).tolist() == values
        twice = Blobs(x=np.array([values, values], dtype).tobytes()).read(buffer("x", [text, [2]], 2))
        assert twice.tolist() == [values, values]
        assert Blobs(x=array).read({"read": "x"}).tolist() == values


def test_empty_inner_dimensions_are_read() -> None:
    assert Blobs(x=b"").read(buffer("x", ["int64", [0]], 3)).tolist() == [[], [], []]
    assert Blobs(x=b"").read(buffer("x", ["int64", [2, 0]], 1)).tolist() == [[[], []]]
    assert Blobs(x=b"").read(buffer("x", ["int64", [0, 2]], 2)).type == ak.from_numpy(np.zeros((2, 0, 2), int)).type
    assert Blobs(x=b"").read(buffer("x", "int64", 0)).tolist() == []


PACKERS = {
    "zlib": (partial(zlib.compress, level=1), ["zlib", "decompress"]),
    "lzma": (partial(lzma.compress, preset=0), ["lzma", "decompress"]),
    "lzma alone": (partial(lzma.compress, preset=0, format=lzma.FORMAT_ALONE), ["backports.lzma", "decompress"]),
}


@pytest.mark.parametrize(("packer", "noise"), [("zlib", False), ("zlib", True), ("lzma", True), ("lzma alone", False)])
@pytest.mark.parametrize("size", [0, 1, 7, 2**20 - 1, 2**20, 2**20 + 1])
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
        for broken in (packed[:-1], packed[: len(packed) // 2], packed + b"\0", b"", packed[:8] + b"\xff" * 99):
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


@pytest.mark.parametrize("count", [-1, 2**62, 2**63, 2**64, 10**30, 1.0, True, "3", [3]])
def test_counts_that_cannot_be_are_refused(count: Any) -> None:
    refused(Blobs(x=b"abc"), buffer("x", "int8", count), None)
    inflate = {"call": ["zlib", "decompress"], "args": [{"read": "x"}]}
    refused(Blobs(x=zlib.compress(b"abc")), buffer(inflate, "int64", count), None)


@pytest.mark.parametrize(
    "content", ["text", 5, None, [1, 2], np.array([None, 1], object), np.ma.masked_array([1], [0])]
)
def test_what_a_container_may_not_hold_is_refused(content: Any) -> None:
    refused(Blobs(x=content), {"read": "x"}, "neither bytes nor an array|Python objects")


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", "a\\x", "\\\\host\\x", "a\0b", "C:/x", ".."])
def test_names_that_lead_out_of_a_container_are_refused(name: str) -> None:
    blobs = Blobs({name: b"\1"})
    refused(blobs, buffer(name, "int8", 1), "leads out of the container", "schema.args[0]")
    refused(blobs, buffer({"read": name, "absolute": True}, "int8", 1), "leads out of the container", "schema.args[0]")


def test_arrays_of_a_container_are_used_as_they_are() -> None:
    matrix = np.arange(12.0).reshape(3, 4)
    texts = np.array(["a", "ü"]), np.zeros((2, 0), "U3"), np.ndarray((2,), np.dtype("S0"))
    for array in (matrix, matrix[:, ::2], matrix.T, matrix[::-1], matrix.astype(">f4"), matrix[:0], *texts):
        assert Blobs(x=array).read({"read": "x"}).tolist() == array.tolist()
    assert np.shares_memory(Blobs(x=matrix).read({"read": "x"}).layout.data, matrix)
    assert not Blobs(x=matrix.tobytes()).read(buffer("x", "float64", 12)).layout.data.flags.writeable
    bytewise = np.frombuffer(matrix.tobytes(), "u1")
    assert Blobs(x=bytewise).read(buffer("x", ["float64", [4]], 3)).tolist() == matrix.tolist()
    refused(Blobs(x=np.array(5)), {"read": "x"}, "without dimensions")
    for dtype in ("V3", np.longdouble, "M8"):
        refused(Blobs(x=np.zeros(2, dtype)), {"read": "x"}, "which cannot be read")


def test_max_bytes_limits_and_allows() -> None:
    blobs = Blobs()
    sparse = built(blobs, ("SparseArray", {"json": 2**25 + 1}, [5], [1.5], {"json": None}))
    refused(blobs, sparse, "a sparse array of 268435464 bytes: more than the 268435456 bytes")
    assert len(blobs.read(sparse, max_bytes=10**9)) == 2**25 + 1
    refused(blobs, blobs.array(INTS), "more than the 16 bytes", max_bytes=16)
    refused(blobs, blobs.array(INTS), "more than the 0 bytes", max_bytes=0)
    for most in ("16", 1.5, -1, True):
        with pytest.raises(TypeError, match="max_bytes is a number of bytes"):
            blobs.read(sparse, max_bytes=most)
    with pytest.raises(ValueError, match="errors is one of"):
        blobs.read(sparse, errors="ignore")


# Classes -------------------------------------------------------------------------------------------------------------


def test_integers_that_no_float_has_stay_apart_from_floats() -> None:
    blobs = Blobs()
    large, tags = [2**53 + 1, 7], np.array([0, 1, 0], "u1")
    for other in ([2.5], np.array([2**64 - 1], "u8")):
        result = blobs.read(built(blobs, ("UnionArray.fromtags", tags, {"list": [large, other]})))
        assert result.tolist()[::2] == [2**53 + 1, 7]
    lists = {"list": [("JaggedArray.fromcounts", [2], large), ("JaggedArray.fromcounts", [1], other)]}
    nested = blobs.read(built(blobs, ("UnionArray.fromtags", [1, 0], lists)))
    assert nested.tolist() == [[2**64 - 1], [2**53 + 1, 7]]
    small = blobs.read(built(blobs, ("UnionArray.fromtags", tags, {"list": [[2**53, 7], [2.5]]})))
    assert str(small.type) == "3 * float64"
    times = [np.array([5, 6], "M8[s]"), np.array([10**9], "M8[D]")]
    mixed = blobs.read(built(blobs, ("UnionArray.fromtags", tags, {"list": times})))
    assert mixed.to_list() == [times[0].tolist()[0], times[1].tolist()[0], times[0].tolist()[1]]


def test_128_contents_in_a_union_are_read_and_more_by_nesting_are_refused() -> None:
    blobs = Blobs()
    kinds = {"list": [("Table.frompairs", {"pairs": [[f"x{n}", [n]]]}) for n in range(129)]}
    union = built(blobs, ("UnionArray.fromtags", np.arange(128), {"list": kinds["list"][:128]}))
    assert blobs.read(union).tolist() == [{f"x{n}": n} for n in range(128)]
    twice = call("UnionArray.fromtags", blobs.array([0, 1]), {"list": [union, blobs.array([b"x"])]})
    refused(blobs, twice, "a union of 129 contents")
    refused(blobs, built(blobs, ("ChunkedArray", kinds)), "the chunks have more than 128 types")


# Strings -------------------------------------------------------------------------------------------------------------

TEXTS = ["one", "", "dürfen", "€", "𝔽ß"]
ENCODINGS = {
    "utf-8 UTF8 utf_8 utf-16 utf-16le UTF-16BE utf_32 utf-32le utf-32-be": 5,
    "iso8859-15 cp1252": 4,
    "latin-1 iso-8859-1": 3,
    "ascii us-ascii": 2,
}


@pytest.mark.parametrize(("encoding", "count"), [(name, n) for names, n in ENCODINGS.items() for name in names.split()])
def test_text_in_every_known_encoding_is_read(encoding: str, count: int) -> None:
    raw = [text.encode(encoding) for text in TEXTS[:count]]
    offsets, content = np.cumsum([0, *map(len, raw)]), np.frombuffer(b"".join(raw), "u1")
    named = {"json": encoding}
    for part, texts in (
        (("StringArray.fromcounts", np.diff(offsets), content, named), TEXTS[:count]),
        (("StringArray.fromoffsets", offsets, content, named), TEXTS[:count]),
        (("StringArray", offsets[:-1], offsets[1:], content, named), TEXTS[:count]),
        (("StringArray", offsets[-2::-1], offsets[:0:-1], content, named), TEXTS[:count][::-1]),
    ):
        blobs = Blobs()
        result = blobs.read(built(blobs, part))
        assert result.tolist() == texts
        assert str(result.type) == f"{count} * string"
        assert ak.is_valid(result)


@pytest.mark.parametrize("encoding", ["rot13", "zlib", "idna", "utf-7", "unicode_escape", "", "punycode", 5, True, []])
def test_other_encodings_are_refused(encoding: Any) -> None:
    blobs = Blobs()
    expression = built(blobs, ("StringArray.fromcounts", [1], np.array([97], "u1"), {"json": encoding}))
    refused(blobs, expression, "which is not read")


@pytest.mark.parametrize(
    ("counts", "content", "encoding", "replaced"),
    [
        ([1, 1], b"\xc3\xbc", "utf-8", ["�", "�"]),
        ([1, 2], b"a\xff\xff", "utf-8", ["a", "��"]),
        ([3], b"\xed\xa0\x80", "utf-8", ["���"]),
        ([1, 1], b"a\xe9", "ascii", ["a", "�"]),
        ([2, 1], b"a\0b", "utf-16le", ["a", "�"]),
        ([4], b"\0\0\x11\0", "utf-32le", ["�"]),
        ([1], b"\x81", "cp1252", ["�"]),
    ],
)
def test_bytes_that_are_no_text_are_refused_or_replaced(
    counts: list[int], content: bytes, encoding: str, replaced: list[str]
) -> None:
    blobs = Blobs()
    strings = ("StringArray.fromcounts", counts, np.frombuffer(content, "u1"), {"json": encoding})
    refused(blobs, built(blobs, strings), "not valid")
    assert blobs.read(built(blobs, strings), errors="replace").tolist() == replaced


# Tables --------------------------------------------------------------------------------------------------------------


VIEWS = """
[0, 1, 5] [1, 1, 4] [-1, 1, 1] [0, -1, 2] [0, 1, -1] [4611686018427387904, 4611686018427387904, 2]
[0, 9223372036854775808, 2] [0, 1] [0, 1, 2, 3] [0, 1, 1.0] [0, true, 1] [null, 1, 1]
"""


@pytest.mark.parametrize("view", values_of(VIEWS))
def test_views_that_leave_the_table_are_refused(view: list[Any]) -> None:
    blobs = Blobs()
    refused(blobs, call("Table.fromview", {"tuple": [{"json": number} for number in view]}, table(blobs)), "view")


def test_a_table_is_as_long_as_its_shortest_column() -> None:
    blobs = Blobs()
    short = built(blobs, ("Table.frompairs", {"pairs": [["x", INTS], ["y", FLOATS[:2]]]}))
    assert blobs.read(short).tolist() == ROWS[:2]
    refused(blobs, call("Table.fromview", blobs.array([2]), short), r"the value 2 at \[0\], where 1 is the largest")


def test_records_have_the_names_that_older_metadata_have_by_their_ids() -> None:
    blobs = Blobs()
    numbered = call("Table.frompairs", {"pairs": [["0", blobs.array(INTS)], ["1", table(blobs, id=3)]]}, id=2)

    def read(metadata: Any) -> ak.Array:
        return deserialize({**blobs, "": document(numbered, metadata=metadata)})

    named = read({"rowname": {"2": "tuple", "3": "Point", "17": "x"}})
    assert named.tolist() == [(n, row) for n, row in enumerate(ROWS)]
    assert str(named.type) == "4 * (int64, Point[x: int64, y: float64])"
    for metadata in (None, 5, {"rowname": []}, {"rowname": {"2": 5}}, {"rowname": {"9": "x"}}):
        assert str(read(metadata).type) == '4 * {"0": int64, "1": {x: int64, y: float64}}'
    with pytest.raises(sa.FormatError, match="not valid Unicode"):
        read({"rowname": {"2": "\ud800"}})
