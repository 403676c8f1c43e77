"""Indices, sparse arrays, unions and chunks of awkward0, read as arrays of awkward 2."""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward_layouts import INTS, ROWS, Blobs, call, refused, table


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
)
def test_sparse_arrays_become_dense_without_changing_a_value(content: Any, default: Any, result: list[Any]) -> None:
    blobs = Blobs()
    sparse = call("SparseArray", {"json": 4}, blobs.array([1, 3]), blobs.array(content), {"json": default})
    assert blobs.read(sparse).tolist() == result


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
)
def test_sparse_arrays_that_cannot_be_are_refused(
    length: Any, index: Any, content: Any, default: Any, match: str
) -> None:
    blobs = Blobs()
    sparse = call("SparseArray", {"json": length}, blobs.array(index), blobs.array(content), {"json": default})
    refused(blobs, sparse, match)


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
    masked = call("MaskedArray", blobs.array([True, False]), table(blobs))
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
