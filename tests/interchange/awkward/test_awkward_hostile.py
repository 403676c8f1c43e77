"""Files of the awkward0 protocol that are made to harm: refused, soon and in little memory, and nothing is executed."""

from __future__ import annotations

import base64
import os
import pickle
import sys
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from awkward_layouts import Blobs, buffer, call, document, refused
from examples import PART
from hostile import bounded_memory

import sheetarray as sa
from sheetarray.interchange.awkward import deserialize
from sheetarray.interchange.awkward.blobs import (
    BYTES_ALWAYS,
    BYTES_TIMES,
    DEEPEST_ARRAY,
    DEEPEST_EXPRESSION,
    DEEPEST_JSON,
    MOST_SCHEMA_BYTES,
)

INTS = np.arange(4)
PICKLE = b"cos\nsystem\n(S'touch hostile-marker'\ntR."
MOST_MEMORY = 400_000_000  # bytes, beyond what is imported


def inflate(*args: Any) -> Any:
    return {"call": ["zlib", "decompress"], "args": [*args]}


# Nothing is executed, nothing imported ------------------------------------------------------------------------------


class Marks:
    """A pickle of it makes a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return (os.mkdir, (os.fspath(self._path),))


def test_pickles_are_not_executed_wherever_they_stand(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        text = base64.b64encode(pickle.dumps(Marks(marker), protocol)).decode()
        bomb = {"python": text}
        blobs = Blobs()
        ints = blobs.array(INTS)
        for expression in (
            bomb,
            {"list": [bomb]},
            call("SparseArray", {"json": 3}, blobs.array([1]), blobs.array([1.5]), bomb),
            call("VirtualArray", {"function": ["awkward0.persist", "topython"]}, {"tuple": [{"json": text}]}),
            {"call": ["awkward0.persist", "topython"], "args": [{"json": text}]},
            {"call": ["awkward.persist", "topython"], "args": [{"json": text}]},
            {"call": ["pickle", "loads"], "args": [{"read": "0"}]},
            call("ObjectArray", ints, bomb),
            {**ints, "unknown": bomb, "kwargs": {"x": bomb}},
        ):
            with pytest.raises(sa.FormatError):
                blobs.read(expression)
    assert not marker.exists()
    with pytest.raises(sa.FormatError):
        Blobs().read(bomb, whitelist="*")  # what it gives is no array, but it was executed: the caller said so
    assert marker.exists()


def test_no_name_in_a_file_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hostile_module.py").write_text(
        "from pathlib import Path\nPath(__file__).with_name('marker').touch()\ndef f(*a, **k): return [1]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    blobs = Blobs()
    ints = blobs.array(INTS)
    blobs.read(ints)  # whatever reading itself loads when it is needed
    before = set(sys.modules)
    for spec in (
        ["hostile_module", "f"],
        ["hostile_module.f", "f"],
        ["awkward0.hostile_module", "f"],
        ["antigravity", "x"],
    ):
        for expression in (
            {"call": spec},
            {"function": spec},
            call("VirtualArray", {"function": spec}),
            call("ObjectArray", ints, {"function": spec}),
            {"call": spec, "args": [ints]},
        ):
            for whitelist in ([], [["hostile", "*"]], [["hostile_module", "f", "g"]], [["hostile_module", "g"]]):
                with pytest.raises(sa.FormatError):
                    blobs.read(expression, whitelist=whitelist)
            with pytest.raises(sa.FormatError):
                blobs.read(expression)
    assert set(sys.modules) == before
    assert not (tmp_path / "marker").exists()


# Bounded time and memory ----------------------------------------------------------------------------------------------


def _nested(depth: int, name: str = "JaggedArray.fromcounts") -> tuple[Blobs, Any]:
    """Lists of one element within each other."""
    blobs = Blobs()
    counts = blobs.array([1], id=0)
    expression = blobs.array([5])
    for index in range(depth):
        expression = call(name, counts if index == depth - 1 else {"ref": 0}, expression)
    return blobs, expression


@cache
def _zeros() -> bytes:
    """Some hundred kilobytes, of which zlib makes a little more than an array may take."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    block = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)  # refers to none before it
    count = (BYTES_ALWAYS >> 20) + 1
    checksum = ((count << 20) % 65521) << 16 | 1  # Adler-32 of zeros
    return b"\x78\x01" + block * count + packer.flush() + checksum.to_bytes(4, "big")


def bombs() -> dict[str, tuple[dict[str, Any], str]]:
    """Containers made to harm, each with what is said of it."""
    blobs = Blobs()
    ints = blobs.array(INTS, id=0)
    one = blobs.array([1])
    lists: Any = {"list": [ints, {"ref": 0}], "id": 100}
    tables: Any = call("Table.frompairs", {"pairs": [["a", ints]]}, id=100)
    chunks: Any = call("ChunkedArray", {"list": [ints]}, id=100)
    for index in range(101, 140):
        lists = {"list": [lists, *({"ref": index - 1} for _ in range(9))], "id": index}
        pairs = [["a", tables], *([f"b{n}", {"ref": index - 1}] for n in range(9))]
        tables = call("Table.frompairs", {"pairs": pairs}, id=index)
        chunks = call("ChunkedArray", {"list": [chunks, *({"ref": index - 1} for _ in range(9))]}, id=index)
    million = {**blobs, "z": _zeros(), "n": zlib.compress(_zeros()), "m": bytes(2**20)}
    view = {"tuple": [{"json": 0}, {"json": 0}, {"json": 10**15}]}
    table = call("Table.frompairs", {"pairs": [["a", ints]]})
    empties = buffer("e", ["int64", [0]], 10**15)
    many = [buffer("m", "int8", 2**20) for _ in range(5000)]
    overlapping = call(
        "StringArray", buffer("s", "int64", 10**6), buffer("t", "int64", 10**6), buffer("m", "uint8", 2**20)
    )
    strings = {"s": bytes(8 * 10**6), "t": np.full(10**6, 2**20).tobytes()}
    expressions = {
        "zeros": (buffer(inflate({"read": "z"}), "uint8", BYTES_ALWAYS + 2**20), "more than the 268435456 bytes"),
        "zeros that say less": (buffer(inflate({"read": "z"}), "uint8", 2**20), "inflates to more than"),
        "zeros that say nothing": (
            {"call": ["numpy", "frombuffer"], "args": [inflate({"read": "z"}), {"dtype": "uint8"}]},
            "inflates to more",
        ),
        "zlib in zlib": (buffer(inflate(inflate({"read": "n"})), "uint8", 16), "compressed twice"),
        "a decompressor with a size": (
            buffer(inflate({"read": "z"}, {"json": 15}, {"json": 10**12}), "uint8", 16),
            "too many positional arguments",
        ),
        "a count of 10^15": (buffer("0", "int64", 10**15), "more than the"),
        "a count beyond 64 bits": (buffer("0", "int64", 10**25), "not an integer of 64 bits"),
        "10^15 elements of no bytes": (empties, "more than the"),
        "lists of 10^15 empty rows": (call("JaggedArray.fromcounts", empties, ints), "more than the"),
        "an element of 2^60 empty lists": (buffer("e", ["int64", [2**30, 2**30, 0]], 1), "a dtype of more than"),
        "a sparse array of 10^15": (call("SparseArray", {"json": 10**15}, one, ints, {"json": None}), "more than the"),
        "a view of 10^15 rows": (call("Table.fromview", view, table), "more than the"),
        "an appendable array of 2^80": (
            call("AppendableArray", {"json": [1, 2**40, 2**40]}, {"dtype": "int8"}),
            "more than the",
        ),
        "lists of references": (lists, "the whole is a list"),
        "tables of references": (tables, r"an array made of \d+ arrays"),
        "chunks of references": (chunks, "more than the"),
        "strings of one megabyte, a million times": (overlapping, "more than the"),
        "one blob, 5000 times": ({"list": many}, "more than the"),
        "a cycle": (call("JaggedArray.fromcounts", one, {"ref": 7}, id=7), "leads back"),
        "a cycle of references": ({"ref": 7, "id": 7}, "leads back"),
        "a long cycle": (
            {"list": [{"ref": 1000 + (index + 1) % 9000, "id": 1000 + index} for index in range(9000)]},
            "leads back",
        ),
        "a chain of references": (
            {"list": [{"ref": 1001 + index, "id": 1000 + index} for index in range(9000)] + [{"json": 1, "id": 10000}]},
            "expressions within each other",
        ),
        "an integer of 10^4000": (buffer("0", "int64", 10**4000), "not an integer of 64 bits"),
        "a pickle": ({"python": base64.b64encode(PICKLE).decode()}, "could execute"),
        "a name that leads out": (buffer("../../etc/passwd", "int8", 1), "leads out"),
    }
    result = {
        name: ({**million, **strings, "e": b"", "": document(tree)}, said) for name, (tree, said) in expressions.items()
    }
    deep = {
        "a list": b"[" * 10**6,
        "an object": b'{"a":' * 10**5,
        "lists in a schema": b'{"awkward0":1,"schema":' + b"[" * 900,
        "calls": b'{"awkward0":1,"schema":' + b'{"call":["x","y"],"args":[' * 300 + b'{"json":1}' + b"]}" * 300 + b"}",
        "a literal": b'{"awkward0":1,"schema":{"json":' + b"[" * 500 + b"]" * 500 + b"}}",
        "a dtype": b'{"awkward0":1,"schema":{"dtype":' + b"[" * 200 + b'"i1"' + b",[1]]" * 200 + b"}}",
        "brackets in text": b'{"awkward0":1,"doc":"' + b"]" * 10**4 + b'","schema":' + b"[" * 2000,
    }
    result |= {f"deep: {name}": ({"": text}, "nested|deep|values") for name, text in deep.items()}
    result["escaped quotes"] = ({"": b'"' + b'\\"' * 7_000_000}, "no JSON")
    result["a schema of 20 MB"] = ({"": b" " * 20_000_000}, "a schema of more than")
    result["a million values"] = (
        {"": b'{"awkward0":1,"schema":{"json":[' + b"1," * 10**6 + b"1]}}"},
        "values; at most",
    )
    result["very many expressions"] = (
        {"": b'{"awkward0":1,"schema":{"list":[' + b",".join([b'{"json":1}'] * (10**5 // PART)) + b"]}}"},
        "the whole is a list",
    )
    return result


BOMBS = bombs()


@pytest.mark.parametrize("name", BOMBS)
def test_a_hostile_file_is_refused(name: str) -> None:
    storage, said = BOMBS[name]
    with bounded_memory(MOST_MEMORY), pytest.raises(sa.FormatError, match=said):
        deserialize(storage)


def test_what_just_fits_the_limits_is_read() -> None:
    blobs, nested = _nested(DEEPEST_ARRAY - 1)
    assert blobs.read(nested).tolist() != []
    blobs, nested = _nested(DEEPEST_ARRAY)
    refused(blobs, nested, f"more than {DEEPEST_ARRAY} arrays within each other")
    text: Any = 1
    for _ in range(DEEPEST_JSON - 2):
        text = [text]
    refused(Blobs(), {"json": text}, "the whole is a list")
    with pytest.raises(sa.FormatError, match="nested more than"):
        Blobs().read({"json": [text]})
    chain = [{"ref": index + 1, "id": index} for index in range(DEEPEST_EXPRESSION - 2)]
    refused(Blobs(), {"list": [*chain, {"json": 1, "id": len(chain)}]}, "the whole is a list")
    blobs = Blobs()
    exact = document(blobs.array(INTS))
    assert deserialize({**blobs, "": exact + b" " * (MOST_SCHEMA_BYTES - len(exact))}).tolist() == [0, 1, 2, 3]


def test_the_memory_allowed_grows_with_the_file() -> None:
    size = BYTES_ALWAYS // BYTES_TIMES * 2
    blobs = Blobs(x=bytes(size))
    index = blobs.array([1])
    content = buffer("x", "uint8", size)
    assert len(blobs.read(call("SparseArray", {"json": BYTES_ALWAYS + 2**24}, index, content))) == BYTES_ALWAYS + 2**24


def test_names_of_a_pickle_are_never_looked_up() -> None:
    for data in (
        b"cbuiltins\nprint\n.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
        b"\x80\x02}q\x00.",
        b"(lp0\n.",
        b"",
        b".",
        b"N",
        b"\x80\x04N",
        b"\x80\x04NN.",
        b"I99999999999999999999\n.",
        b"F1e999\n.",
        b"\x8a\xff" + b"\xff" * 255 + b".",
    ):
        text = base64.b64encode(data).decode()
        blobs = Blobs()
        sparse = call("SparseArray", {"json": 3}, blobs.array([1]), blobs.array([1.5]), {"python": text})
        try:
            assert blobs.read(sparse).tolist()[1] == 1.5
        except sa.FormatError as error:
            assert error.location in ("schema", "schema.args[3]")  # noqa: PT017  (no error is right too)
