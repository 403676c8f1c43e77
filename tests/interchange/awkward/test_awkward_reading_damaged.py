"""Damaged files of the awkward0 protocol: an array or a `FormatError` comes out, and nothing else."""

from __future__ import annotations

import copy
import io
import json
import random
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward_layouts import Blobs, buffer, call, document
from examples import examples
from hostile import Hostile, bounded_memory

import sheetarray as sa
from sheetarray.interchange.awkward import WHITELIST, deserialize
from sheetarray.testing.hostile import Content

INTS = np.arange(4)


def samples() -> list[Blobs]:
    """Containers with every class in them."""
    result = []

    def add(make: Callable[[Blobs], Any]) -> None:
        blobs = Blobs()
        blobs[""] = document(make(blobs), prefix="")
        result.append(blobs)

    def lists(b: Blobs) -> Any:
        return call("JaggedArray.fromcounts", b.array([1, 0, 2]), b.array([1.5, 2.5, 3.5]), id=40)

    def words(b: Blobs, encoding: Any = "utf-8") -> Any:
        raw = ["ab".encode(encoding or "ascii"), "üb".encode(encoding or "latin-1")]
        characters = b.array(np.frombuffer(b"".join(raw), "u1"))
        return call("StringArray.fromcounts", b.array([*map(len, raw)]), characters, {"json": encoding})

    def table(b: Blobs) -> Any:
        return call("Table.frompairs", {"pairs": [["x", b.array(INTS)], ["y", lists(b)]]}, {"json": 0})

    def structured(b: Blobs) -> Any:
        b["s"] = np.array([(1, b"ab", [1.5, 2])], [("x", ">i4"), ("y", "S2"), ("z", "f4", 2)]).tobytes()
        return buffer("s", [["x", ">i4"], ["y", "|S2"], ["z", ["float32", [2]]]], 1, id=1)

    def byte_lists(b: Blobs) -> Any:
        characters = b.array(np.arange(9, dtype="u1"))
        return call("ByteJaggedArray", b.array([1, 5]), b.array([5, 9]), characters, {"dtype": "int32"})

    view = {"tuple": [{"json": 2}, {"json": -1}, {"json": 3}]}
    add(lambda b: b.array(INTS))
    add(structured)
    add(lambda b: b.array(np.array([["a", "bc"]])))
    add(lambda b: call("JaggedArray", b.array([2, 0]), b.array([4, 1]), b.array(np.arange(8).reshape(4, 2))))
    add(lambda b: call("JaggedArray.fromoffsets", b.array([0, 1, 3]), table(b)))
    add(lambda b: call("Table.fromview", view, table(b)))
    add(lambda b: call("Table.fromview", b.array([1, 1]), table(b)))
    add(lambda b: call("ChunkedArray", {"list": [lists(b), {"ref": 40}]}, {"json": [3, 3]}))
    add(lambda b: call("AppendableArray", {"tuple": [{"json": 4}]}, {"dtype": "int64"}, {"list": [b.array(INTS)]}))
    add(lambda b: call("MaskedArray", b.array([True, False]), words(b), {"json": True}))
    add(lambda b: call("BitMaskedArray", b.array([5], "u1"), table(b), {"json": False}, {"json": True}))
    add(lambda b: call("IndexedMaskedArray", b.array([1, -1]), lists(b), {"json": -1}))
    add(lambda b: call("IndexedArray", b.array([[1, 0]]), call("MaskedArray", b.array([True, False, True]), lists(b))))
    add(lambda b: call("SparseArray", {"json": 9}, b.array([1, 4]), b.array([1.5, 2]), {"python": "Rm5hbgou"}))
    add(lambda b: call("UnionArray", b.array([0, 1, 0], "u1"), b.array([2, 0, 1]), {"list": [lists(b), words(b)]}))
    add(lambda b: call("UnionArray.fromtags", b.array([1, 0], "u1"), {"list": [b.array(INTS), words(b, None)]}))
    add(lambda b: words(b, "utf-16le"))
    add(
        lambda b: call(
            "ByteJaggedArray", b.array([1, 5]), b.array([5, 9]), b.array(np.arange(9, dtype="u1")), {"dtype": "int32"}
        )
    )
    add(lambda b: call("ByteIndexedArray", b.array([4, 0]), b.array(np.arange(9, dtype="u1")), {"dtype": ">i2"}))
    packed = Blobs(x=zlib.compress(INTS.tobytes()))
    inflate = {"call": ["zlib", "decompress"], "args": [{"read": "x"}]}
    packed[""] = document(buffer(inflate, "int64", 4))
    result.append(packed)
    return result


SAMPLES = samples()
PARTS: list[Any] = [  # what takes the place of a part of a schema
    *(None, True, False, -1, 0, 1, 3, 2**31, 2**63, 2**64, 10**30, 2.5, float("nan"), [], [1], {}),
    *("", "x", "utf-8", "int64", "bool", ">f8", "U3", "S2", ["int64", [2]], ["int64", [0]], ["int64", [2**40]]),
    *([["x", "int32"]], {"dtype": "int8"}, {"json": 1}, {"json": -1}, {"json": None}, {"json": [1, 2]}),
    *({"ref": 0}, {"ref": 1}, {"ref": 40}, {"list": []}, {"tuple": []}, {"dict": {}}, {"pairs": []}),
    *({"pairs": [["a", {"ref": 40}]]}, {"read": "0"}, {"read": "../x"}, ["zlib", "decompress"], ["os", "system"]),
    *(list(spec) for spec in WHITELIST if spec[0] == "awkward0"),
]


def _survives(storage: dict[str, Any]) -> bool:
    """Whether it could be read; else a FormatError says why."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = deserialize(storage)
        except sa.FormatError as error:
            assert len(error.reason) > 10  # noqa: PT017  (no error is right too)
            return False
        problem = ak.validity_error(result)
        assert not problem or "mergeable" in problem, problem
        if len(result) < 100:
            result.tolist()
        return True


def _spoil(node: Any, source: random.Random) -> None:
    """Change one part of a schema."""
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = source.choice(keys)
        inner = node[key]
        if not isinstance(inner, (dict, list)) or not inner or source.random() < 0.25:
            kind = source.random()
            if kind < 0.6:
                node[key] = copy.deepcopy(source.choice(PARTS))
            elif kind < 0.8 and isinstance(node, list):
                other = source.choice(keys)
                node[key], node[other] = node[other], node[key]
            elif kind < 0.9 and isinstance(node, list):
                node.append(copy.deepcopy(source.choice(PARTS)))
            else:
                del node[key]
            return
        node = inner


@pytest.mark.parametrize("seed", range(4))
def test_schemas_with_wrong_parts_are_read_or_refused(seed: int) -> None:
    source = random.Random(seed)
    read = 0
    with bounded_memory():
        for _ in range(examples(600)):
            storage: dict[str, Any] = dict(source.choice(SAMPLES))
            schema = json.loads(storage[""])
            for _ in range(source.choice((1, 1, 2, 3))):
                _spoil(schema["schema"], source)
            read += _survives({**storage, "": json.dumps(schema)})
    assert 0 < read < 600


class TestHostileAwkwardFiles(Hostile):
    """Archives with every class in them."""

    suffix, format = ".awkd", "awkd"
    tries = examples(60)
    words = (b'{"ref": 40}', b'{"json": -1}', b'["int64", [0]]', b"frombuffer", b'"id": 1', b"null", b"[", b"}")

    def samples(self, place: Path) -> Mapping[str, Content]:
        return {str(start): archived(SAMPLES[start::3]) for start in range(3)}


def archived(containers: list[Blobs]) -> bytes:
    """An archive of what is in some containers, each an array."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number, blobs in enumerate(containers):
            archive.writestr(f"a{number}.json", json.dumps({**json.loads(blobs[""]), "prefix": f"a{number}-"}))
            for name in sorted(blobs.keys() - {""}):
                archive.writestr(f"a{number}-{name}", blobs[name])
    return file.getvalue()
