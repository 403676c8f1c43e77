"""Every expression of the awkward0 protocol, and every class of awkward0, read from containers made by hand."""

from __future__ import annotations

import base64
import json
import pickle
from typing import Any

import numpy as np
import pytest
from awkward_layouts import Blobs, buffer, call, document, refused

import sheetarray as sa
from sheetarray.interchange.awkward import deserialize

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
        (b'{"awkward0": "\xff"}', "byte 14 is no utf-8"),
        (b'{"awkward0": 1, "schema": {"json": 1, "json": 2}}', "the key 'json' stands twice"),
        (b'{"awkward0": 1, "schema": {"json": 1}, "schema": {"json": 1}}', "the key 'schema' stands twice"),
        (b'{"awkward0": ' + b"9" * 5000 + b"}", "more digits than any number"),
        (5, "a schema that is a int"),
        (np.zeros(3), "of the dtype float64"),
        (b'{"awkward0": 1, "schema": {"json": 1}}', "the whole is 1, not an array"),
        (b'{"awkward0": 1, "schema": {"json": [1, 2]}}', "the whole is a list, not an array"),
        (b'{"awkward0": 1, "schema": {"read": "x"}}', "without count and dtype"),
    ],
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
