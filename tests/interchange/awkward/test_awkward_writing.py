"""Awkward arrays of every layout come back from a mapping of blobs, compressed or not, or are refused beforehand."""

from __future__ import annotations

import json
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward_layouts import arrays, assert_kept, contents, every_class, index
from examples import examples
from hypothesis import given, settings

import sheetarray as sa
from sheetarray.interchange.awkward import WHITELIST, deserialize, partner, serialize

CASES = every_class()


def stored(array: Any, name: str | None = None, **options: Any) -> dict[str, Any]:
    blobs: dict[str, Any] = {}
    serialize(array, blobs, name, **options)
    return blobs


def schema(blobs: dict[str, Any], name: str = "") -> dict[str, Any]:
    result = json.loads(blobs[name].decode("ascii"))
    assert isinstance(result, dict)
    return result


def there_and_back(array: Any, **options: Any) -> ak.Array:
    result = deserialize(stored(array, **options))
    assert isinstance(result, ak.Array)
    assert ak.validity_error(result) == ""
    return result


# What comes back ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_every_layout_comes_back(case: str, pack: bool) -> None:
    assert_kept(there_and_back(CASES[case], pack=pack), CASES[case])


@settings(max_examples=examples(300))
@given(arrays())
def test_whatever_an_array_is_made_of_comes_back(array: ak.Array) -> None:
    assert_kept(there_and_back(array), array)


def test_a_linear_array_is_its_view() -> None:
    base = np.arange(12).reshape(3, 4)
    assert there_and_back(sa.LinearArray.from_numpy(base[::2, 1:], base=True)).to_list() == [[1, 2, 3], [9, 10, 11]]


def test_layouts_and_builders_are_arrays_too() -> None:
    builder = ak.ArrayBuilder()
    builder.real(1.5)
    assert there_and_back(builder).to_list() == [1.5]
    assert there_and_back(CASES["lists"].layout).to_list() == CASES["lists"].to_list()


@pytest.mark.skipif(not hasattr(ak, "materialize"), reason="awkward has lazy buffers since 2.8")
def test_an_array_that_is_not_in_memory_yet_is_read_first() -> None:
    form, length, buffers = ak.to_buffers(CASES["lists"])
    lazy = ak.from_buffers(form, length, {key: lambda key=key: buffers[key] for key in buffers})
    assert there_and_back(lazy).to_list() == CASES["lists"].to_list()


def test_a_union_of_no_elements_is_of_its_first_type_to_awkward0() -> None:
    blobs = stored(CASES["a union"][:0])
    assert str(deserialize(blobs).type) == str(CASES["a union"][:0].type)
    (name,) = {"", "schema.json"} & set(blobs) or {""}
    written = json.loads(blobs[name])
    del written["metadata"]
    assert str(deserialize(blobs | {name: json.dumps(written)}).type) == "0 * float64"


# The wire ----------------------------------------------------------------------------------------------------


def frombuffer(key: str, dtype: Any, count: int, ident: int) -> dict[str, Any]:
    return {
        "call": ["awkward0", "numpy", "frombuffer"],
        "args": [{"read": key}, {"dtype": dtype}, {"json": count, "id": ident + 1}],
        "id": ident,
    }


@pytest.mark.parametrize("case", CASES)
def test_ids_are_unique_references_lead_back_and_nothing_is_pickled(case: str) -> None:
    seen: list[int] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            assert "python" not in node
            if "ref" in node:
                assert node["ref"] in seen
            if "id" in node:
                seen.append(node["id"])
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    blobs = stored(CASES[case])
    walk(schema(blobs)["schema"])
    assert len(set(seen)) == len(seen)
    assert set(blobs) - {""} <= set(map(str, seen))


@pytest.mark.parametrize(
    ("name", "options", "names"),
    [
        (None, {}, ["", "0"]),
        ("", {"suffix": ".raw", "schemasuffix": ".json"}, [".json", "0.raw"]),
        ("t", {}, ["t", "t-0"]),
        ("t", {"delimiter": None}, ["t", "t0"]),
        ("a/t", {"delimiter": "/", "schemasuffix": "/schema.json"}, ["a/t/0", "a/t/schema.json"]),
    ],
)
def test_names_are_made_of_prefix_id_and_suffix(name: str | None, options: dict[str, Any], names: list[str]) -> None:
    blobs = stored(np.arange(3), name, **options)
    assert sorted(blobs) == names
    assert deserialize(blobs, name or "", schemasuffix=options.get("schemasuffix")).to_list() == [0, 1, 2]


def test_what_is_shared_is_stored_once() -> None:
    whole = np.arange(100.0)
    inner = contents.NumpyArray(whole)
    lists = contents.ListOffsetArray(index(np.arange(0, 101, 10)), inner)
    layout = contents.RecordArray([lists, lists, contents.IndexedArray(index([0, 0]), inner)], ["a", "b", "c"], 2)
    blobs = stored(layout)
    assert sum(len(content) == whole.nbytes for content in blobs.values()) == 1
    assert deserialize(blobs).to_list() == ak.Array(layout).to_list()


def test_only_what_is_reached_is_stored_when_packed() -> None:
    whole = ak.Array([{"secret": 10**6 + number, "words": [str(number)]} for number in range(1000)])
    few = whole[np.array([3, 7])]
    kept, packed = (sum(map(len, stored(few, pack=pack, compression=None).values())) for pack in (False, True))
    assert kept > 8000
    assert packed < 1500
    assert there_and_back(few, pack=True).to_list() == few.to_list()


def test_lists_are_cut_to_what_they_reach() -> None:
    lists = ak.Array(contents.ListOffsetArray(index(np.arange(0, 10_001, 10)), contents.NumpyArray(np.arange(10_000))))
    for part in (lists[500:502], lists[np.array([501, 500])], lists[500:502][:, 1:3]):
        assert sum(map(len, stored(part).values())) < 2000
        assert there_and_back(part).to_list() == part.to_list()


# Refusals ----------------------------------------------------------------------------------------------------


def test_a_name_that_is_taken_is_refused_before_anything_is_written() -> None:
    for taken in ("t", "t-1"):
        blobs: dict[str, Any] = {taken: b"old"}
        with pytest.raises(sa.LimitError, match=taken):
            serialize(CASES["lists"], blobs, "t")
        assert blobs == {taken: b"old"}
    blobs = stored(CASES["lists"], "x")
    serialize(CASES["lists"], blobs, "xy")  # one name is the beginning of the other
    assert deserialize(blobs, "x").to_list() == deserialize(blobs, "xy").to_list()


class Full(dict[str, Any]):
    """A container with room for so many."""

    most = 0

    def __setitem__(self, name: str, content: Any) -> None:
        if len(self) > self.most:
            raise OSError("no space left")
        super().__setitem__(name, content)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_container_that_fails_is_left_as_it_was(most: int) -> None:
    container = Full(old=b"1")
    container.most = most
    with pytest.raises(OSError, match="no space left"):
        serialize(CASES["records"], container, "t")
    assert container == {"old": b"1"}


# Which blobs are compressed -------------------------------------------------------------------------------------------


ZLIB = (zlib.compress, ("zlib", "decompress"))
ARRAY = ak.Array({"lists": [[1, 2, 3]] * 500, "names": ["abc"] * 500, "x": np.arange(500.0), "b": [True] * 500})
CONTEXTS = {
    "JaggedArray.counts",
    "JaggedArray.content",
    "StringArray.counts",
    "StringArray.content",
    "Table.contents",
}


def stored_whole(**options: Any) -> dict[str, Any]:
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


PROMOTED = [zlib.compress, ZLIB, list(ZLIB), [ZLIB], [zlib.compress], {"pair": ZLIB}, [{"pair": zlib.compress}]]


@pytest.mark.parametrize("compression", [*PROMOTED, True])
def test_a_function_a_pair_and_a_rule_are_promoted(compression: Any) -> None:
    blobs = stored_whole(compression=compression)
    assert [*compressed(blobs).values()] == [["zlib", "decompress"]] * 6
    assert zlib.decompress(blobs[next(iter(compressed(blobs)))]) == np.full(500, 3, "i8").tobytes()


@pytest.mark.parametrize("compression", [None, False, [], ()])
def test_no_rule_compresses_nothing(compression: Any) -> None:
    assert compressed(stored_whole(compression=compression)) == {}


def test_the_default_compresses_integers_and_booleans_from_8_kib_on() -> None:
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


@pytest.mark.parametrize("count", [0, 1, 2**16 - 1, 2**16, 2**16 + 1, 2**20])
@pytest.mark.parametrize("end", [0, 1])
def test_many_bytes_that_are_alike_become_a_sixteenth(count: int, end: int) -> None:
    array = np.zeros(count, "u1")
    array[-1:] = end
    packed = stored(array, compression=True)["0"]
    assert zlib.decompress(packed) == array.tobytes()
    assert count // 16 <= len(packed) < count // 16 + 2000 if count >= 2**16 else len(packed) < 500


def test_many_elements_that_are_alike_are_read_without_an_option(tmp_path: Path) -> None:
    array = np.ones(2**28 + 1, np.bool_)
    sa.write(tmp_path / "t.awkd", {"t": array})
    assert (tmp_path / "t.awkd").stat().st_size < array.nbytes // 12
    assert np.array_equal(sa.read(tmp_path / "t.awkd")["t"], array)


def test_the_first_rule_that_fits_is_taken() -> None:
    blobs = stored_whole(
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
    assert compressed(stored_whole(compression={"contexts": context, "pair": ZLIB}))


def test_the_context_of_an_array_that_stands_alone_is_empty() -> None:
    blobs: dict[str, Any] = {}
    serialize(np.arange(3), blobs, compression={"contexts": "", "pair": ZLIB})
    assert compressed(blobs) == {"0": ["zlib", "decompress"]}
    assert compressed(stored_whole(compression={"contexts": "", "pair": ZLIB})) == {}


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
    with pytest.raises(ValueError, match=r"mine\.flipped"):
        serialize(array, {}, compression=(flipped, ("mine", "flipped")), whitelist=WHITELIST)


def test_a_function_alone_needs_a_partner(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="partner"):
        serialize(ARRAY, {}, compression=flipped)
    monkeypatch.setitem(partner, flipped, ("mine", "flipped"))
    blobs: dict[str, Any] = {}
    serialize(np.arange(3, dtype="u1"), blobs, compression=flipped)
    assert compressed(blobs) == {"0": ["mine", "flipped"]}
