"""Which blobs are compressed: the rules of the protocol, and everything that is promoted to one."""

from __future__ import annotations

import json
import lzma
import zlib
from collections.abc import Iterator
from typing import Any

import awkward as ak
import numpy as np
import pytest

import sheetarray as sa
from sheetarray.files import fast_zlib
from sheetarray.interchange.awkward import COMPRESSION, WHITELIST, deserialize, partner, serialize
from sheetarray.interchange.awkward.writing import Rule, parse_rules

ZLIB = (zlib.compress, ("zlib", "decompress"))
FAST = (fast_zlib.compress, ("zlib", "decompress"))
ARRAY = ak.Array({"lists": [[1, 2, 3]] * 500, "names": ["abc"] * 500, "x": np.arange(500.0), "b": [True] * 500})
CONTEXTS = {
    "JaggedArray.counts",
    "JaggedArray.content",
    "StringArray.counts",
    "StringArray.content",
    "Table.contents",
}


def stored(**options: Any) -> dict[str, Any]:
    blobs: dict[str, Any] = {}
    serialize(ARRAY, blobs, **options)
    assert deserialize(blobs).to_list() == ARRAY.to_list()
    return blobs


def calls(node: Any) -> Iterator[tuple[list[str], str]]:
    """The functions called on what is read, and the blobs."""
    if isinstance(node, dict):
        if "call" in node and "read" in node["args"][0]:
            yield node["call"], node["args"][0]["read"]
        for child in node.values():
            yield from calls(child)
    elif isinstance(node, list):
        for child in node:
            yield from calls(child)


def compressed(blobs: dict[str, Any]) -> dict[str, list[str]]:
    """By the blobs that are compressed, what decompresses them."""
    result = calls(json.loads(blobs[""]))
    return {blob: call for call, blob in result if call[-1] != "frombuffer"}


@pytest.mark.parametrize(
    "compression",
    [
        zlib.compress,
        ZLIB,
        list(ZLIB),
        (zlib.compress, ["zlib", "decompress"]),
        [ZLIB],
        [zlib.compress],
        {"pair": ZLIB},
        {"pair": zlib.compress},
        [{"pair": ZLIB}],
        Rule(*ZLIB),
    ],
)
def test_a_function_a_pair_and_a_rule_are_promoted(compression: Any) -> None:
    assert parse_rules(compression) == (Rule(zlib.compress, ("zlib", "decompress")),)
    result = compressed(stored(compression=compression))
    assert len(result) == 6
    assert all(call == ["zlib", "decompress"] for call in result.values())


@pytest.mark.parametrize("compression", [True, fast_zlib.compress, [FAST]])
def test_true_makes_zlibs_format_with_the_fastest_library(compression: Any) -> None:
    assert parse_rules(compression) == (Rule(*FAST),)
    blobs = stored(compression=compression)
    assert next(zlib.decompress(blobs[key]) for key in compressed(blobs)) == np.full(500, 3, "i8").tobytes()
    assert set(map(tuple, compressed(blobs).values())) == {("zlib", "decompress")}


@pytest.mark.parametrize("compression", [None, False, [], ()])
def test_no_rule_compresses_nothing(compression: Any) -> None:
    assert compressed(stored(compression=compression)) == {}


def test_the_default_compresses_integers_and_booleans_from_8_kib_on() -> None:
    assert parse_rules(COMPRESSION) == (Rule(*FAST, 8192, (np.bool_, np.integer)),)
    for count, dtype, expected in [
        (1024, "i8", True),
        (1023, "i8", False),
        (8192, "i1", True),
        (8192, "bool", True),
        (8191, "bool", False),
        (10**5, "f8", False),
        (10**5, "M8[s]", False),
        (10**5, "c16", False),
    ]:
        blobs: dict[str, Any] = {}
        serialize(np.zeros(count, dtype), blobs)
        assert bool(compressed(blobs)) == expected
        assert (len(blobs["0"]) < 1000) == expected


def test_the_first_rule_that_fits_is_taken() -> None:
    blobs = stored(
        compression=[
            {"contexts": "StringArray.*", "types": np.uint8, "pair": lzma.compress},
            {"contexts": ["*.counts", "nothing"], "pair": ZLIB},
            {"types": (np.floating,), "minsize": 4001, "pair": lzma.compress},
        ]
    )
    result = compressed(blobs)
    by_call = {tuple(call): blobs[key] for key, call in result.items()}
    assert set(by_call) == {("lzma", "decompress"), ("zlib", "decompress")}
    assert lzma.decompress(by_call["lzma", "decompress"]) == b"abc" * 500
    assert (
        sorted(zlib.decompress(blobs[key])[:8] for key, call in result.items() if call[0] == "zlib")
        == [(3).to_bytes(8, "little")] * 2
    )


@pytest.mark.parametrize("context", sorted(CONTEXTS))
def test_contexts_are_the_parameters_of_the_classes(context: str) -> None:
    assert compressed(stored(compression={"contexts": context, "pair": ZLIB}))


def test_the_context_of_an_array_that_stands_alone_is_empty() -> None:
    blobs: dict[str, Any] = {}
    serialize(np.arange(3), blobs, compression={"contexts": "", "pair": ZLIB})
    assert compressed(blobs) == {"0": ["zlib", "decompress"]}
    assert compressed(stored(compression={"contexts": "", "pair": ZLIB})) == {}


def flipped(content: Any) -> bytes:
    return bytes(255 - byte for byte in bytes(content))


def test_a_pair_of_the_callers_is_read_with_the_callers_function() -> None:
    blobs: dict[str, Any] = {}
    array = np.arange(5, dtype="u1")
    serialize(array, blobs, compression=(flipped, ("mine", "flipped")))
    assert blobs["0"] == bytes([255, 254, 253, 252, 251])
    assert deserialize(blobs, functions={("mine", "flipped"): flipped}).to_list() == array.tolist()
    with pytest.raises(sa.FormatError, match=r"mine\.flipped"):
        deserialize(blobs)
    with pytest.raises(sa.LimitError, match=r"mine\.flipped"):
        serialize(array, {}, compression=(flipped, ("mine", "flipped")), whitelist=WHITELIST)


def test_a_function_alone_needs_a_partner(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="partner"):
        serialize(ARRAY, {}, compression=flipped)
    monkeypatch.setitem(partner, flipped, ("mine", "flipped"))
    assert parse_rules(flipped) == (Rule(flipped, ("mine", "flipped")),)
    assert parse_rules(lzma.compress) == (Rule(lzma.compress, ("lzma", "decompress")),)


@pytest.mark.parametrize(
    ("compression", "error", "reason"),
    [
        ("zlib", TypeError, "pair"),
        (7, TypeError, "pair"),
        ((zlib.compress, "zlib"), TypeError, "pair"),
        ([("zlib", "compress")], TypeError, "pair"),
        ({"minsize": 3}, ValueError, "needs a pair"),
        ({"pair": ZLIB, "size": 3}, ValueError, "'size'"),
        ({"pair": ZLIB, "minsize": -1}, ValueError, "minsize"),
        ({"pair": ZLIB, "minsize": True}, ValueError, "minsize"),
        ({"pair": ZLIB, "types": "int"}, TypeError, "types"),
        ({"pair": ZLIB, "contexts": 3}, TypeError, "contexts"),
    ],
)
def test_what_is_no_policy_is_said(compression: Any, error: type[Exception], reason: str) -> None:
    blobs: dict[str, Any] = {}
    with pytest.raises(error, match=reason):
        serialize(ARRAY, blobs, compression=compression)
    assert blobs == {}


def test_a_function_that_gives_no_bytes_is_said_and_nothing_stays() -> None:
    blobs: dict[str, Any] = {}
    with pytest.raises(TypeError, match="not bytes"):
        serialize(ARRAY, blobs, compression=(len, ("builtins", "len")))
    assert blobs == {}
