"""Classes of awkward0 read from schemas made by hand: what awkward0 itself does not write, and what is refused."""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward_layouts import FLOATS, INTS, ROWS, Blobs, call, refused, table

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
    expression = call("Table.fromview", {"tuple": [{"json": number} for number in view]}, table(blobs))
    assert blobs.read(expression).tolist() == rows
    assert ak.is_valid(blobs.read(expression))


def test_views_by_an_index_and_of_views_are_read() -> None:
    blobs = Blobs()
    first = call("Table.fromview", blobs.array([3, 1, 1]), table(blobs))
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
    refused(blobs, call("Table.fromview", {"tuple": [{"json": number} for number in view]}, table(blobs)), "view")


def test_tables_that_cannot_be_are_refused() -> None:
    blobs = Blobs()
    ints = blobs.array(INTS, id=0)
    refused(blobs, call("Table.fromview", ints, {"ref": 0}), "base is a ndarray, not a table")
    refused(
        blobs, call("Table.fromview", blobs.array([4]), table(blobs)), r"the value 4 at \[0\], where 3 is the largest"
    )
    refused(blobs, call("Table.fromview", blobs.array([-1]), table(blobs)), "view has the value -1")
    refused(blobs, call("Table.fromview", {"json": "x"}, table(blobs)), "view is 'x'")
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
)
def test_masks_that_cannot_be_are_refused(expression: Any, match: str) -> None:
    blobs = Blobs()
    refused(blobs, expression(blobs), match)
