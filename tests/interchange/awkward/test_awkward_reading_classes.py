"""Classes of awkward0 read from schemas made by hand: what awkward0 itself does not write, and what is refused."""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward0_schemas import Blobs, call, document, refused

import sheetarray as sa
from sheetarray.interchange.awkward.reading import deserialize

INTS, FLOATS = np.arange(4), np.array([1.5, 2.5, 3.5, 4.5])


# Lists ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", ">i4", "int64", "uint64"])
def test_counts_offsets_starts_and_stops_are_of_any_integers(dtype: str) -> None:
    blobs = Blobs()
    content = blobs.array(FLOATS)
    lists = [[1.5, 2.5], [], [3.5]]
    for expression in (
        call("JaggedArray.fromcounts", blobs.array([2, 0, 1], dtype), content),
        call("JaggedArray.fromoffsets", blobs.array([0, 2, 2, 3], dtype), content),
        call("JaggedArray", blobs.array([0, 2, 2], dtype), blobs.array([2, 2, 3, 4], dtype), content),
        call("JaggedArray", blobs.array([0, 9, 2], dtype), blobs.array([2, 9, 3], dtype), content),
    ):
        result = blobs.read(expression)
        assert result.tolist() == lists
        assert ak.is_valid(result)


@pytest.mark.parametrize(
    ("expression", "match"),
    [
        (lambda b: call("JaggedArray.fromcounts", b.array([2, 3]), b.array(INTS)), "add up to 5, but the"),
        (lambda b: call("JaggedArray.fromcounts", b.array([2, -1]), b.array(INTS)), "counts has the value -1"),
        (lambda b: call("JaggedArray.fromcounts", b.array([2**62, 2**62, 2**62, 2**62]), b.array(INTS)), "value 461"),
        (lambda b: call("JaggedArray.fromcounts", b.array([2**64 - 1], "u8"), b.array(INTS)), "value 1844"),
        (lambda b: call("JaggedArray.fromcounts", b.array([1.0]), b.array(INTS)), "dtype float64; integers"),
        (lambda b: call("JaggedArray.fromcounts", b.array([True]), b.array(INTS)), "dtype bool; integers"),
        (lambda b: call("JaggedArray.fromcounts", {"json": [1]}, b.array(INTS)), "counts is a list"),
        (lambda b: call("JaggedArray.fromcounts", b.array([1]), {"json": "x"}), "content is 'x'"),
        (lambda b: call("JaggedArray.fromoffsets", b.array([0, 2, 1]), b.array(INTS)), "offsets that decrease"),
        (lambda b: call("JaggedArray.fromoffsets", b.array([0, 5]), b.array(INTS)), r"value 5 at \[1\], where 4 is"),
        (lambda b: call("JaggedArray.fromoffsets", b.array([], int), b.array(INTS)), "offsets are empty"),
        (lambda b: call("JaggedArray.fromoffsets", b.array([[0, 1]]), b.array(INTS)), "2 dimensions, not 1"),
        (lambda b: call("JaggedArray", b.array([0]), b.array([5]), b.array(INTS)), "a stop at 5, but the"),
        (lambda b: call("JaggedArray", b.array([2]), b.array([1]), b.array(INTS)), "stops before their starts"),
        (lambda b: call("JaggedArray", b.array([0, 1]), b.array([1]), b.array(INTS)), "the shape"),
        (lambda b: call("JaggedArray", b.array([[0, 1]]), b.array([[1]]), b.array(INTS)), "the shape"),
        (lambda b: call("JaggedArray", b.array([-1]), b.array([1]), b.array(INTS)), "starts has the value -1"),
    ],
    ids=range(17),
)
def test_lists_that_leave_their_content_are_refused(expression: Any, match: str) -> None:
    blobs = Blobs()
    refused(blobs, expression(blobs), match)


def test_lists_of_several_dimensions_have_lists_of_one_size_around() -> None:
    blobs = Blobs()
    content = blobs.array(INTS)
    counts = call("JaggedArray.fromcounts", blobs.array([[[1], [0]], [[2], [1]]]), content)
    assert blobs.read(counts).tolist() == [[[[0]], [[]]], [[[1, 2]], [[3]]]]
    assert str(blobs.read(counts).type) == "2 * 2 * 1 * var * int64"
    none = call("JaggedArray.fromcounts", blobs.array(np.zeros((3, 0), int)), content)
    assert blobs.read(none).tolist() == [[], [], []]


def test_bytes_of_version_0_5_become_elements() -> None:
    blobs = Blobs()
    data = blobs.array(np.frombuffer(b"\0" + np.arange(5, dtype="<i4").tobytes(), "u1"))
    int32, pairs = {"dtype": "int32"}, {"dtype": ["int16", [2]]}
    starts, stops = blobs.array([1, 13, 7]), blobs.array([9, 17, 7])
    assert blobs.read(call("ByteJaggedArray", starts, stops, data, int32)).tolist() == [[0, 1], [3], []]
    assert blobs.read(call("ByteJaggedArray", starts, stops, data, pairs)).tolist() == [[[0, 0], [1, 0]], [[3, 0]], []]
    counts = blobs.array([1, 0])
    int8 = {"dtype": "int8"}
    assert blobs.read(call("ByteJaggedArray.fromcounts", counts, data, int8)).tolist() == [[0], []]
    refused(blobs, call("ByteJaggedArray.fromcounts", counts, data, int32), "no multiples of the 4 of int32")
    refused(blobs, call("ByteJaggedArray.fromcounts", counts, data, {"json": "int8"}), "subdtype is 'int8'")
    index = blobs.array([[17, 1], [13, 5]])
    assert blobs.read(call("ByteIndexedArray", index, data, int32)).tolist() == [[4, 0], [3, 1]]
    assert blobs.read(call("ByteIndexedArray", index, data, pairs)).tolist() == [[[4, 0], [0, 0]], [[3, 0], [1, 0]]]
    refused(
        blobs,
        call("ByteIndexedArray", blobs.array([18]), data, int32),
        r"the value 18 at \[0\], where 17 is the largest",
    )
    refused(blobs, call("ByteIndexedArray", index, data, {"json": None}), "dtype is None")
    assert blobs.read(call("ByteIndexedArray", blobs.array([], int), blobs.array([], "u1"), int32)).tolist() == []


# Strings -------------------------------------------------------------------------------------------------------------


TEXTS = ["one", "", "dürfen", "𝔽ß", "€"]
ENCODINGS = {
    "utf-8": TEXTS,
    "UTF8": TEXTS,
    "utf_8": TEXTS,
    "utf-16": TEXTS,
    "utf-16le": TEXTS,
    "UTF-16BE": TEXTS,
    "utf_32": TEXTS,
    "utf-32le": TEXTS,
    "utf-32-be": TEXTS,
    "latin-1": TEXTS[:3],
    "iso-8859-1": TEXTS[:3],
    "iso8859-15": [*TEXTS[:3], "€"],
    "cp1252": [*TEXTS[:3], "€"],
    "ascii": TEXTS[:2],
    "us-ascii": TEXTS[:2],
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_text_in_every_known_encoding_is_read(encoding: str) -> None:
    texts = ENCODINGS[encoding]
    raw = [text.encode(encoding) for text in texts]
    blobs = Blobs()
    content = blobs.array(np.frombuffer(b"".join(raw), "u1"))
    offsets = np.cumsum([0, *map(len, raw)])
    for expression in (
        call("StringArray.fromcounts", blobs.array(np.diff(offsets)), content, {"json": encoding}),
        call("StringArray.fromoffsets", blobs.array(offsets), content, kwargs={"encoding": {"json": encoding}}),
        call("StringArray", blobs.array(offsets[:-1]), blobs.array(offsets[1:]), content, {"json": encoding}),
    ):
        result = blobs.read(expression)
        assert result.tolist() == texts
        assert str(result.type) == f"{len(texts)} * string"
        assert ak.is_valid(result)
    backwards = call(
        "StringArray", blobs.array(offsets[-2::-1]), blobs.array(offsets[:0:-1]), content, {"json": encoding}
    )
    assert blobs.read(backwards).tolist() == texts[::-1]


@pytest.mark.parametrize(
    "encoding", ["rot13", "zlib", "idna", "utf-7", "unicode_escape", "", "utf-9", "punycode", 5, True, []]
)
def test_other_encodings_are_refused(encoding: Any) -> None:
    blobs = Blobs()
    expression = call("StringArray.fromcounts", blobs.array([1]), blobs.array([97], "u1"), {"json": encoding})
    refused(blobs, expression, "which is not read")


def test_bytes_are_kept_as_they_are() -> None:
    blobs = Blobs()
    content = blobs.array(np.frombuffer(b"\xff\x00a", "u1"))
    result = blobs.read(call("StringArray.fromcounts", blobs.array([2, 0, 1]), content, {"json": None}))
    assert result.tolist() == [b"\xff\x00", b"", b"a"]
    shaped = blobs.read(call("StringArray.fromcounts", blobs.array([[2, 0], [1, 0]]), content, {"json": None}))
    assert shaped.tolist() == [[b"\xff\x00", b""], [b"a", b""]]


@pytest.mark.parametrize(
    ("counts", "content", "encoding", "replaced"),
    [
        ([1, 1], b"\xc3\xbc", "utf-8", ["�", "�"]),
        ([1, 2], b"a\xff\xff", "utf-8", ["a", "��"]),
        ([2, 1], b"a\xc3b", "utf-8", ["a�", "b"]),
        ([3], b"\xed\xa0\x80", "utf-8", ["���"]),
        ([1, 1], b"a\xe9", "ascii", ["a", "�"]),
        ([2, 1], b"a\0b", "utf-16le", ["a", "�"]),
        ([4], b"\0\0\x11\0", "utf-32le", ["�"]),
        ([1], b"\x81", "cp1252", ["�"]),
    ],
    ids=range(8),
)
def test_bytes_that_are_no_text_are_refused_or_replaced(
    counts: list[int], content: bytes, encoding: str, replaced: list[str]
) -> None:
    blobs = Blobs()
    characters = blobs.array(np.frombuffer(content, "u1"))
    expression = call("StringArray.fromcounts", blobs.array(counts), characters, {"json": encoding})
    refused(blobs, expression, "no valid")
    assert blobs.read(expression, errors="replace").tolist() == replaced


def test_bytes_that_no_string_uses_may_be_anything() -> None:
    blobs = Blobs()
    content = blobs.array(np.frombuffer(b"\xffab\xff", "u1"))
    assert blobs.read(call("StringArray", blobs.array([1]), blobs.array([3]), content)).tolist() == ["ab"]
    assert blobs.read(call("StringArray.fromoffsets", blobs.array([1, 2, 3]), content)).tolist() == ["a", "b"]
    refused(blobs, call("StringArray.fromcounts", blobs.array([1]), blobs.array([97.0])), "bytes are expected")
    refused(blobs, call("StringArray.fromcounts", blobs.array([1]), blobs.array([[97]], "u1")), "bytes are expected")


# Records -------------------------------------------------------------------------------------------------------------


def _table(blobs: Blobs, **more: Any) -> Any:
    return call("Table.frompairs", {"pairs": [["x", blobs.array(INTS)], ["y", blobs.array(FLOATS)]]}, **more)


ROWS = [{"x": x, "y": y} for x, y in zip(INTS.tolist(), FLOATS.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("view", "rows"),
    [
        ([0, 1, 4], ROWS),
        ([1, 1, 2], ROWS[1:3]),
        ([3, -1, 4], ROWS[::-1]),
        ([3, -2, 2], ROWS[3::-2]),
        ([0, 3, 2], ROWS[::3]),
        ([9, 7, 0], []),
        ([2, 0, 1], [ROWS[2]]),
        ([2, 5, 1], [ROWS[2]]),
        ([1, 0, 3], [ROWS[1]] * 3),
    ],
)
def test_views_of_a_table_are_read(view: list[int], rows: list[Any]) -> None:
    blobs = Blobs()
    expression = call("Table.fromview", {"tuple": [{"json": number} for number in view]}, _table(blobs))
    assert blobs.read(expression).tolist() == rows
    assert ak.is_valid(blobs.read(expression))


def test_views_by_an_index_and_of_views_are_read() -> None:
    blobs = Blobs()
    first = call("Table.fromview", blobs.array([3, 1, 1]), _table(blobs))
    assert blobs.read(first).tolist() == [ROWS[3], ROWS[1], ROWS[1]]
    second = call("Table.fromview", {"tuple": [{"json": 0}, {"json": 2}, {"json": 2}]}, first)
    assert blobs.read(second).tolist() == [ROWS[0], ROWS[2]]
    assert blobs.read(call("Table.fromview", {"json": None}, first)).tolist() == [ROWS[3], ROWS[1], ROWS[1]]


@pytest.mark.parametrize(
    "view",
    [
        [0, 1, 5],
        [1, 1, 4],
        [-1, 1, 1],
        [0, -1, 2],
        [0, 1, -1],
        [2**62, 2**62, 2],
        [0, 2**63, 2],
        [0, 1],
        [0, 1, 2, 3],
        [0, 1, 1.0],
        [0, True, 1],
        [None, 1, 1],
    ],
)
def test_views_that_leave_the_table_are_refused(view: list[Any]) -> None:
    blobs = Blobs()
    refused(blobs, call("Table.fromview", {"tuple": [{"json": number} for number in view]}, _table(blobs)), "view")


def test_tables_that_cannot_be_are_refused() -> None:
    blobs = Blobs()
    ints = blobs.array(INTS, id=0)
    refused(blobs, call("Table.fromview", ints, {"ref": 0}), "base is a ndarray, not a table")
    refused(
        blobs, call("Table.fromview", blobs.array([4]), _table(blobs)), r"the value 4 at \[0\], where 3 is the largest"
    )
    refused(blobs, call("Table.fromview", blobs.array([-1]), _table(blobs)), "view has the value -1")
    refused(blobs, call("Table.fromview", {"json": "x"}, _table(blobs)), "view is 'x'")
    refused(blobs, call("Table.frompairs", {"pairs": [["x", ints], ["x", {"ref": 0}]]}), "two columns are named 'x'")
    refused(blobs, call("Table.frompairs", {"pairs": [["\ud800", ints]]}), "no valid Unicode")
    refused(blobs, call("Table.frompairs", {"pairs": [["x", {"json": 1}]]}), "the column 'x' is 1")
    refused(blobs, call("Table.frompairs", {"list": [ints]}), "pairs has a ndarray, not a name")
    refused(blobs, call("Table.frompairs", {"json": [["x", 1]]}), "pairs has a list, not a name")
    refused(blobs, call("Table.frompairs", {"pairs": []}, {"json": "x"}), "rowstart is 'x'")


def test_a_table_is_as_long_as_its_shortest_column() -> None:
    blobs = Blobs()
    pairs = {"pairs": [["x", blobs.array(INTS)], ["y", blobs.array(FLOATS[:2])]]}
    table = call("Table.frompairs", pairs, id=0)
    assert blobs.read(table).tolist() == ROWS[:2]
    refused(blobs, call("Table.fromview", blobs.array([2]), table), r"the value 2 at \[0\], where 1 is the largest")


def test_records_have_the_names_that_the_metadata_has_by_their_ids() -> None:
    blobs = Blobs()
    numbered = call("Table.frompairs", {"pairs": [["0", blobs.array(INTS)], ["1", _table(blobs, id=3)]]}, id=2)

    def read(metadata: Any) -> ak.Array:
        return deserialize({**blobs, "": document(numbered, metadata=metadata)})

    named = read({"rowname": {"2": "tuple", "3": "Point", "17": "x"}})
    assert named.tolist() == [(n, row) for n, row in enumerate(ROWS)]
    assert str(named.type) == "4 * (int64, Point[x: int64, y: float64])"
    called_tuple = read({"rowname": {"3": "tuple"}})["1"]
    assert called_tuple.layout.parameter("__record__") == "tuple"
    assert called_tuple.tolist() == ROWS
    for metadata in (None, 5, [], {"rowname": None}, {"rowname": []}, {"rowname": {"2": 5}}, {"rowname": {"9": "x"}}):
        assert str(read(metadata).type) == '4 * {"0": int64, "1": {x: int64, y: float64}}'
    with pytest.raises(sa.FormatError, match="no valid Unicode"):
        read({"rowname": {"2": "\ud800"}})


# Missing elements ----------------------------------------------------------------------------------------------------


def test_masks_of_any_kind_are_read() -> None:
    blobs = Blobs()
    content = blobs.array(FLOATS)
    for mask in ([1, 0], [5, 0], [0.5, 0.0], np.array([True, False])):
        assert blobs.read(call("MaskedArray", blobs.array(mask), content)).tolist() == [None, 2.5]
        assert blobs.read(call("MaskedArray", blobs.array(mask), content, {"json": False})).tolist() == [1.5, None]
    bits = blobs.array([0b11111101, 0b10101010], "u1")
    assert blobs.read(call("BitMaskedArray", bits, content)).tolist() == [None] * 4
    lowest = call("BitMaskedArray", bits, content, {"json": True}, {"json": True})
    assert blobs.read(lowest).tolist() == [None, 2.5, None, None]
    index = blobs.array([2, -7, 0])
    assert blobs.read(call("IndexedMaskedArray", index, content, {"json": -7})).tolist() == [3.5, None, 1.5]
    unsigned = blobs.array([2, 9, 0], "u8")
    assert blobs.read(call("IndexedMaskedArray", unsigned, content, {"json": 9})).tolist() == [3.5, None, 1.5]
    assert blobs.read(call("IndexedMaskedArray", blobs.array([2, 0], "u8"), content)).tolist() == [3.5, 1.5]


@pytest.mark.parametrize(
    ("expression", "match"),
    [
        (lambda b: call("MaskedArray", b.array([True] * 5), b.array(INTS)), "a mask of 5 elements for"),
        (lambda b: call("MaskedArray", b.array([[True]]), b.array(INTS)), "2 dimensions"),
        (lambda b: call("MaskedArray", b.array(["a"]), b.array(INTS)), "dtype <U1"),
        (lambda b: call("MaskedArray", b.array([True]), b.array(INTS), {"json": 1}), "maskedwhen is 1"),
        (lambda b: call("BitMaskedArray", b.array([], "u1"), b.array(INTS)), "a mask of 0 bytes for"),
        (lambda b: call("BitMaskedArray", b.array([1], "u1"), b.array(np.arange(9))), "a mask of 1 bytes for"),
        (lambda b: call("BitMaskedArray", b.array([1.0]), b.array(INTS)), "dtype float64"),
        (lambda b: call("BitMaskedArray", b.array([1]), b.array(INTS), {"json": True}, {"json": "x"}), "lsborder is"),
        (lambda b: call("IndexedMaskedArray", b.array([4, -1]), b.array(INTS)), r"4 at \[0\], where 3 is the largest"),
        (lambda b: call("IndexedMaskedArray", b.array([-2]), b.array(INTS)), "the value -2"),
        (lambda b: call("IndexedMaskedArray", b.array([0, -1]), b.array([], int)), "the value 0"),
        (lambda b: call("IndexedMaskedArray", b.array([0.5]), b.array(INTS)), "integers are expected"),
        (lambda b: call("IndexedMaskedArray", b.array([0]), b.array(INTS), {"json": None}), "maskedwhen is None"),
        (lambda b: call("IndexedMaskedArray", b.array([0]), b.array(INTS), {"json": 10**30}), "maskedwhen is 1000"),
    ],
    ids=range(14),
)
def test_masks_that_cannot_be_are_refused(expression: Any, match: str) -> None:
    blobs = Blobs()
    refused(blobs, expression(blobs), match)


# Indices and sparse arrays -------------------------------------------------------------------------------------------


def test_indices_that_leave_their_content_are_refused() -> None:
    blobs = Blobs()
    refused(
        blobs,
        call("IndexedArray", blobs.array([4]), blobs.array(INTS)),
        r"the value 4 at \[0\], where 3 is the largest",
    )
    refused(blobs, call("IndexedArray", blobs.array([-1]), blobs.array(INTS)), "index has the value -1")
    refused(blobs, call("IndexedArray", blobs.array([0]), blobs.array([], int)), "there is nothing to lead to")
    refused(blobs, call("IndexedArray", blobs.array([0.0]), blobs.array(INTS)), "integers are expected")


@pytest.mark.parametrize(
    ("content", "default", "result"),
    [
        ([7, 8], None, [0, 7, 0, 8]),
        ([True, False], None, [False, True, False, False]),
        ([7, 8], 2.5, [2.5, 7, 2.5, 8]),
        ([2**53 + 1, 8], 3, [3, 2**53 + 1, 3, 8]),
        ([1.5, 2.5], 3, [3, 1.5, 3, 2.5]),
        (np.array([7, 8], "i1"), 300, [300, 7, 300, 8]),
        (np.array([7, 8], "u8"), -1, [-1, 7, -1, 8]),
        (np.array([0.5, 1.5], "f4"), 0.1, [0.1, 0.5, 0.1, 1.5]),
        ([1j, 2], 1.5, [1.5, 1j, 1.5, 2]),
        ([[1, 2], [3, 4]], None, [[0, 0], [1, 2], [0, 0], [3, 4]]),
        ([[1, 2], [3, 4]], 9, [[9, 9], [1, 2], [9, 9], [3, 4]]),
        ([True, False], 5, [5, 1, 5, 0]),
    ],
    ids=range(12),
)
def test_sparse_arrays_become_dense_without_changing_a_value(content: Any, default: Any, result: list[Any]) -> None:
    blobs = Blobs()
    sparse = call("SparseArray", {"json": 4}, blobs.array([1, 3]), blobs.array(content), {"json": default})
    assert blobs.read(sparse).tolist() == result


def test_sparse_lists_are_empty_where_nothing_is() -> None:
    blobs = Blobs()
    for lists in (
        call("JaggedArray.fromcounts", blobs.array([2, 1]), blobs.array(INTS)),
        call("JaggedArray", blobs.array([0, 2]), blobs.array([2, 3]), blobs.array(INTS)),
    ):
        sparse = call("SparseArray", {"json": 4}, blobs.array([1, 3]), lists)
        assert blobs.read(sparse).tolist() == [[], [0, 1], [], [2]]


def test_of_elements_that_a_sparse_array_has_twice_the_first_counts() -> None:
    blobs = Blobs()
    assert blobs.read(call("SparseArray", {"json": 3}, blobs.array([1, 1]), blobs.array([7, 8, 9]))).tolist() == [
        0,
        7,
        0,
    ]


@pytest.mark.parametrize(
    ("length", "index", "content", "default", "match"),
    [
        (-1, [0], INTS, None, "a length of -1"),
        (2.0, [0], INTS, None, "length is 2.0"),
        (3, [3], INTS, None, r"the value 3 at \[0\], where 2 is the largest"),
        (3, [1, 0], INTS, None, "an index that decreases"),
        (3, [[0]], INTS, None, "2 dimensions, not 1"),
        (9, [0, 1, 2, 3, 4], INTS, None, "an index of 5 elements for a content of 4"),
        (3, [0], INTS, "x", "the default is 'x'"),
        (3, [0], INTS, [1], "the default is a list"),
        (3, [0], INTS, 10**400, "the default is 1000"),
        (3, [0], [2**63 - 1], float("nan"), "which no dtype holds both"),
        (3, [0], [2**63 - 1], 0.5, "which no dtype holds both"),
        (3, [0], ["a"], None, "a SparseArray of the dtype <U1"),
        (3, [0], np.array([5], "M8[s]"), None, "a SparseArray of the dtype datetime64"),
    ],
    ids=range(13),
)
def test_sparse_arrays_that_cannot_be_are_refused(
    length: Any, index: Any, content: Any, default: Any, match: str
) -> None:
    blobs = Blobs()
    sparse = call("SparseArray", {"json": length}, blobs.array(index), blobs.array(content), {"json": default})
    refused(blobs, sparse, match)


def test_sparse_arrays_of_other_classes_are_refused() -> None:
    blobs = Blobs()
    words = call("StringArray.fromcounts", blobs.array([1]), blobs.array([97], "u1"))
    refused(blobs, call("SparseArray", {"json": 3}, blobs.array([0]), words), "something else than numbers or lists")
    refused(blobs, call("SparseArray", {"json": 3}, blobs.array([0]), _table(blobs)), "something else than numbers")


# Unions and chunks ---------------------------------------------------------------------------------------------------


def test_integers_that_no_float_has_stay_apart_from_floats() -> None:
    blobs = Blobs()
    large = blobs.array([2**53 + 1, 7])
    tags = blobs.array([0, 1, 0], "u1")
    for other in (blobs.array([2.5]), blobs.array([2**64 - 1], "u8")):
        result = blobs.read(call("UnionArray.fromtags", tags, {"list": [large, other]}))
        assert result.tolist()[::2] == [2**53 + 1, 7]
    lists = [
        call("JaggedArray.fromcounts", blobs.array([2]), large),
        call("JaggedArray.fromcounts", blobs.array([1]), other),
    ]
    nested = blobs.read(call("UnionArray.fromtags", blobs.array([1, 0]), {"list": lists}))
    assert nested.tolist() == [[2**64 - 1], [2**53 + 1, 7]]
    small = call("UnionArray.fromtags", tags, {"list": [blobs.array([2**53, 7]), blobs.array([2.5])]})
    assert str(blobs.read(small).type) == "3 * float64"
    seconds, days = blobs.array(np.array([5, 6], "M8[s]")), blobs.array(np.array([10**9], "M8[D]"))
    times = blobs.read(call("UnionArray.fromtags", tags, {"list": [seconds, days]}))
    assert times.to_list() == [
        *np.array([5], "M8[s]").tolist(),
        *np.array([10**9], "M8[D]").tolist(),
        *np.array([6], "M8[s]").tolist(),
    ]


def test_unions_of_several_dimensions_and_of_one_content_are_read() -> None:
    blobs = Blobs()
    contents = {"list": [blobs.array(INTS), blobs.array([b"a", b"b"])]}
    tags, index = blobs.array([[0, 1], [1, 0]]), blobs.array([[3, 1], [0, 0]])
    assert blobs.read(call("UnionArray", tags, index, contents)).tolist() == [[3, b"b"], [b"a", 0]]
    assert blobs.read(call("UnionArray.fromtags", tags, contents)).tolist() == [[0, b"a"], [b"b", 1]]
    one = call("UnionArray", blobs.array([0, 0]), blobs.array([3, 1, 2]), {"tuple": contents["list"][:1]})
    assert blobs.read(one).tolist() == [3, 1]


def test_indices_unions_and_options_in_unions_are_resolved() -> None:
    blobs = Blobs()
    words = call("StringArray.fromcounts", blobs.array([1, 1]), blobs.array(np.frombuffer(b"ab", "u1")))
    inner = call("UnionArray", blobs.array([1, 0, 1]), blobs.array([0, 3, 1]), {"list": [blobs.array(INTS), words]})
    indexed = call("IndexedArray", blobs.array([2, 0]), blobs.array([[1.5], [2.5], [3.5]]))
    masked = call("MaskedArray", blobs.array([True, False]), _table(blobs))
    outer = call(
        "UnionArray",
        blobs.array([0, 1, 2, 0, 2, 0]),
        blobs.array([2, 0, 1, 1, 0, 0]),
        {"list": [inner, indexed, masked]},
    )
    result = blobs.read(outer)
    assert result.tolist() == ["b", [3.5], ROWS[1], 3, None, "a"]
    assert ak.is_valid(result)


@pytest.mark.parametrize(
    ("tags", "index", "count", "match"),
    [
        ([0, 2], [0, 0], 2, r"tags has the value 2 at \[1\], where 1 is the largest"),
        ([-1], [0], 2, "tags has the value -1"),
        ([0], [4], 2, "index 4 with tag 0, whose content has 4 elements"),
        ([1], [-1], 2, "index has the value -1"),
        ([0, 1], [0], 2, "tags of the shape"),
        ([[0]], [0], 2, "tags of the shape"),
        ([0], [0], 0, "a union of 0 contents"),
        ([0], [0], 129, "a union of 129 contents"),
        ([0.5], [0], 2, "integers are expected"),
    ],
)
def test_unions_that_cannot_be_are_refused(tags: Any, index: Any, count: int, match: str) -> None:
    blobs = Blobs()
    contents = {"list": [blobs.array(INTS, id=0), *({"ref": 0} for _ in range(count - 1))][:count]}
    refused(blobs, call("UnionArray", blobs.array(tags), blobs.array(index), contents), match)
    if np.ndim(tags) == 1 and isinstance(tags[0], int) and max(map(abs, tags)) == 0:
        assert count in (0, 129) or blobs.read(call("UnionArray.fromtags", blobs.array(tags), contents)).tolist()


def test_a_union_of_tags_needs_as_many_elements() -> None:
    blobs = Blobs()
    expression = call("UnionArray.fromtags", blobs.array([0, 1, 1]), {"list": [blobs.array(INTS), blobs.array([1.5])]})
    refused(blobs, expression, "index 1 with tag 1, whose content has 1 elements")


def test_128_contents_in_a_union_are_read_and_more_by_nesting_are_refused() -> None:
    blobs = Blobs()
    kinds = [call("Table.frompairs", {"pairs": [[f"x{n}", blobs.array([n])]]}) for n in range(128)]
    tags = blobs.array(np.arange(128))
    union = call("UnionArray.fromtags", tags, {"list": kinds}, id=0)
    assert blobs.read(union).tolist() == [{f"x{n}": n} for n in range(128)]
    twice = call("UnionArray.fromtags", blobs.array([0, 1]), {"list": [union, blobs.array([b"x"])]})
    refused(blobs, twice, "a union of 129 contents")


def test_chunks_are_joined_and_their_sizes_checked() -> None:
    blobs = Blobs()
    chunks = {"list": [blobs.array(INTS), blobs.array([], int), blobs.array(INTS[:1])]}
    for sizes in ([4, 0, 1], [4, 0], [4], []):
        assert blobs.read(call("ChunkedArray", chunks, {"json": sizes})).tolist() == [0, 1, 2, 3, 0]
    assert blobs.read(call("ChunkedArray", chunks)).tolist() == [0, 1, 2, 3, 0]
    refused(blobs, call("ChunkedArray", chunks, {"json": [4, 1]}), "chunk 1 has 0 elements; chunksizes has 1")
    refused(blobs, call("ChunkedArray", chunks, {"json": [4, 0, 1, 0]}), "4 chunksizes for 3 chunks")
    refused(blobs, call("ChunkedArray", chunks, {"json": ["4"]}), "chunksizes is '4'")
    refused(blobs, call("ChunkedArray", blobs.array(INTS)), "chunks is a ndarray, not a list")
    assert blobs.read(call("ChunkedArray", {"list": []})).tolist() == []
    assert str(blobs.read(call("ChunkedArray", {"list": [blobs.array([], "i2")] * 2})).type) == "0 * int16"


def test_chunks_of_several_types_become_a_union() -> None:
    blobs = Blobs()
    words = call("StringArray.fromcounts", blobs.array([1, 2]), blobs.array(np.frombuffer(b"abc", "u1")))
    chunks = {"list": [blobs.array([2**60 + 1]), words, blobs.array([2.5, 3.5]), blobs.array([7])]}
    assert blobs.read(call("ChunkedArray", chunks)).tolist() == [2**60 + 1, "a", "bc", 2.5, 3.5, 7]
    kinds = [call("Table.frompairs", {"pairs": [[f"x{n}", blobs.array([n])]]}) for n in range(129)]
    refused(blobs, call("ChunkedArray", {"list": kinds}), "chunks of more than 128 types")


def test_appendable_arrays_that_cannot_be_are_refused() -> None:
    blobs = Blobs()
    pairs = {"list": [blobs.array([[1.5, 2.5]]), blobs.array([[3.5, 4.5]])]}
    shape, float64 = {"tuple": [{"json": 3}, {"json": 2}]}, {"dtype": "float64"}
    assert blobs.read(call("AppendableArray", shape, float64, pairs)).tolist() == [[1.5, 2.5], [3.5, 4.5]]
    assert blobs.read(call("AppendableArray", shape, {"dtype": ">f8"}, pairs)).tolist() == [[1.5, 2.5], [3.5, 4.5]]
    assert str(blobs.read(call("AppendableArray", shape, float64)).type) == "0 * 2 * float64"
    assert str(blobs.read(call("AppendableArray", {"json": 3}, {"dtype": "int8"})).type) == "0 * int8"
    refused(blobs, call("AppendableArray", shape, {"dtype": "float32"}, pairs), "a chunk of the dtype float64")
    refused(blobs, call("AppendableArray", {"json": 3}, float64, pairs), "a chunk of the dtype float64 and the shape")
    refused(blobs, call("AppendableArray", shape, {"json": "float64"}, pairs), "dtype is 'float64'")
    refused(blobs, call("AppendableArray", shape, {"dtype": ["float64", [2]]}, pairs), "not a dtype of elements")
    for wrong in ([], [0, 2], [3, -2], [2.0], None):
        refused(blobs, call("AppendableArray", {"json": wrong}, float64, pairs), "chunkshape")
    huge = {"tuple": [{"json": 3}, {"json": 2**40}, {"json": 2**40}]}
    refused(blobs, call("AppendableArray", huge, float64), "more than the")
