"""Files of the awkward0 protocol made to harm, or damaged: refused soon, in little memory, and nothing is executed."""

from __future__ import annotations

import base64
import io
import json
import os
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward_layouts import LISTS, Blobs, archive, buffer, built, call, contents, document, index, refused, strings
from examples import PART, STRIDE, examples
from hostile import HostileSamples, bounded_memory

import sheetarray as sa
from sheetarray.interchange.awkward import deserialize, load, save, serialize
from sheetarray.testing.hostile import Content

INTS = np.arange(4)
BYTES_ALWAYS, BYTES_TIMES = 2**28, 64  # that arrays may take: so many, or so many times the blobs' own
DEEPEST_ARRAY, DEEPEST_EXPRESSION, DEEPEST_JSON, MOST_SCHEMA_BYTES = 64, 200, 400, 2**24
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
        Blobs().read(bomb, whitelist="*")  # what it gives is not an array, but it was executed: the caller said so
    assert marker.exists()


# Bounded time and memory ----------------------------------------------------------------------------------------------


def _nested(depth: int, name: str = "JaggedArray.fromcounts") -> tuple[Blobs, Any]:
    """Lists of one element within each other."""
    blobs = Blobs()
    counts = blobs.array([1], id=0)
    expression = blobs.array([5])
    for level in range(depth):
        expression = call(name, counts if level == depth - 1 else {"ref": 0}, expression)
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
    for number in range(101, 140):
        lists = {"list": [lists, *({"ref": number - 1} for _ in range(9))], "id": number}
        pairs = [["a", tables], *([f"b{n}", {"ref": number - 1}] for n in range(9))]
        tables = call("Table.frompairs", {"pairs": pairs}, id=number)
        chunks = call("ChunkedArray", {"list": [chunks, *({"ref": number - 1} for _ in range(9))]}, id=number)
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
        "a decompressor of no blob": (buffer(inflate({"json": 1}), "int8", 3), "not a blob"),
        "a count of 10^15": (buffer("0", "int64", 10**15), "more than the"),
        "a count beyond 64 bits": (buffer("0", "int64", 10**25), "not an integer of 64 bits"),
        "10^15 elements of 0 bytes": (empties, "more than the"),
        "lists of 10^15 empty rows": (call("JaggedArray.fromcounts", empties, ints), "more than the"),
        "an element of 2^60 empty lists": (buffer("e", ["int64", [2**30, 2**30, 0]], 1), "a dtype has more than"),
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
            {"list": [{"ref": 1000 + (number + 1) % 9000, "id": 1000 + number} for number in range(9000)]},
            "leads back",
        ),
        "a chain of references": (
            {"list": [{"ref": 1001 + n, "id": 1000 + n} for n in range(9000)] + [{"json": 1, "id": 10000}]},
            "expressions are nested",
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
    result["escaped quotes"] = ({"": b'"' + b'\\"' * 7_000_000}, "not JSON")
    result["a schema of 20 MB"] = ({"": b" " * 20_000_000}, "has more than")
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
    refused(blobs, nested, f"arrays are nested more than {DEEPEST_ARRAY} deep")
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
        *(b"cbuiltins\nprint\n.", b"\x80\x04\x8c\x02os\x8c\x06system\x93.", b"\x80\x02}q\x00.", b"(lp0\n.", b""),
        *(b".", b"N", b"\x80\x04N", b"\x80\x04NN.", b"I99999999999999999999\n.", b"F1e999\n."),
        b"\x8a\xff" + b"\xff" * 255 + b".",
    ):
        text = base64.b64encode(data).decode()
        blobs = Blobs()
        sparse = call("SparseArray", {"json": 3}, blobs.array([1]), blobs.array([1.5]), {"python": text})
        try:
            assert blobs.read(sparse).tolist()[1] == 1.5
        except sa.FormatError as error:
            assert error.location in ("schema", "schema.args[3]")  # noqa: PT017  (no error is right too)


# Damaged schemas, blobs and archives ---------------------------------------------------------------------------------


def samples() -> list[Blobs]:
    """Containers with every class in them."""
    lists, integers = ("JaggedArray.fromcounts", [1, 0, 2], [1.5, 2.5, 3.5]), np.arange(9, dtype="u1")
    words = ("StringArray.fromcounts", [2, 3], np.frombuffer(b"ab\xc3\xbcb", "u1"), {"json": "utf-8"})
    wide = np.frombuffer("abüb".encode("utf-16-le"), "u1")
    columns = ("Table.frompairs", {"pairs": [["x", INTS], ["y", lists]]}, {"json": 0})
    view = {"tuple": [{"json": 2}, {"json": -1}, {"json": 3}]}
    structure = np.array([(1, b"ab", [1.5, 2])], [("x", ">i4"), ("y", "S2"), ("z", "f4", 2)])
    fields = {"dtype": [["x", ">i4"], ["y", "|S2"], ["z", ["float32", [2]]]]}
    parts: list[Any] = [
        INTS,
        np.array([["a", "bc"]]),
        ("JaggedArray", [2, 0], [4, 1], np.arange(8).reshape(4, 2)),
        ("JaggedArray.fromoffsets", [0, 1, 3], columns),
        ("Table.fromview", view, columns),
        ("Table.fromview", [1, 1], columns),
        ("ChunkedArray", {"list": [lists, lists]}, {"json": [3, 3]}),
        ("AppendableArray", {"tuple": [{"json": 4}]}, {"dtype": "int64"}, {"list": [INTS]}),
        ("MaskedArray", [True, False], words, {"json": True}),
        ("BitMaskedArray", np.array([5], "u1"), columns, {"json": False}, {"json": True}),
        ("IndexedMaskedArray", [1, -1], lists, {"json": -1}),
        ("IndexedArray", [[1, 0]], ("MaskedArray", [True, False, True], lists)),
        ("SparseArray", {"json": 9}, [1, 4], [1.5, 2], {"python": "Rm5hbgou"}),
        ("UnionArray", np.array([0, 1, 0], "u1"), [2, 0, 1], {"list": [lists, words]}),
        ("UnionArray.fromtags", np.array([1, 0], "u1"), {"list": [INTS, (*words[:3], {"json": None})]}),
        ("StringArray.fromcounts", [4, 4], wide, {"json": "utf-16le"}),
        ("ByteJaggedArray", [1, 5], [5, 9], integers, {"dtype": "int32"}),
        ("ByteIndexedArray", [4, 0], integers, {"dtype": ">i2"}),
    ]
    result = [Blobs() for _ in parts]
    for blobs, part in zip(result, parts, strict=True):
        blobs[""] = document(built(blobs, part), prefix="")
    shared = {"pairs": [["a", buffer("x", "int64", 4, id=40)], ["b", {"ref": 40}]]}
    result.append(Blobs({"x": INTS.tobytes(), "": document(call("Table.frompairs", shared))}))
    result.append(Blobs({"x": structure.tobytes(), "": document(buffer("x", fields["dtype"], 1, id=1))}))
    packed = {"x": zlib.compress(INTS.tobytes()), "": document(buffer(inflate({"read": "x"}), "int64", 4))}
    return [*result, Blobs(packed)]


SAMPLES = samples()


class TestHostileAwkwardFiles(HostileSamples):
    """Archives with every class in them."""

    suffix, format = ".awkd", "awkd"
    tries = examples(60)
    words = (b'{"ref": 40}', b'{"json": -1}', b'["int64", [0]]', b"frombuffer", b'"id": 1', b"null", b"[", b"}")

    def samples(self, place: Path) -> Mapping[str, Content]:
        return {str(start): archived(SAMPLES[start :: 3 * min(STRIDE, 3)]) for start in range(3)}


def archived(containers: list[Blobs]) -> bytes:
    """An archive of what is in some containers, each an array."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number, blobs in enumerate(containers):
            archive.writestr(f"a{number}.json", json.dumps({**json.loads(blobs[""]), "prefix": f"a{number}-"}))
            for name in sorted(blobs.keys() - {""}):
                archive.writestr(f"a{number}-{name}", blobs[name])
    return file.getvalue()


# Archives that no writer makes ---------------------------------------------------------------------------------------


def renamed(name: str) -> bytes:
    """An archive with a member of that name, as no zipfile writes it."""
    stand_in = "x" * len(name.encode())
    return archive(replaced={stand_in: b"1"}).replace(stand_in.encode(), name.encode())


def patched(at: int, form: str, value: int) -> bytes:
    """An archive in which each entry of the directory has a field changed."""
    content = bytearray(archive())
    start = 0
    while (start := content.find(b"PK\1\2", start)) >= 0:
        struct.pack_into(form, content, start + at, value)
        start += 4
    return bytes(content)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "no archive": lambda: b"PK" * 100,
    "cut off": lambda: archive()[:-30],
    "an absolute name": lambda: renamed("/etc/x"),
    "a name that leads out": lambda: renamed("../../x"),
    "a name that leads out within": lambda: renamed("a/../../x"),
    "a backslash": lambda: renamed("..\\x"),
    "a drive": lambda: renamed("C:/x"),
    "a NUL": lambda: renamed("t.json\0.txt"),
    "two members of one name": lambda: renamed("t.json"),
    "encrypted": lambda: patched(8, "<H", 1),
    "an unknown method": lambda: patched(10, "<H", 14),
    "larger than the archive": lambda: patched(20, "<I", 2**30),
    "far larger when inflated": lambda: patched(24, "<I", 2**31),
    "beyond the file": lambda: patched(42, "<I", 2**31),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_no_hostile_archive_is_read_or_added_to(case: str, tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"
    path.write_bytes(HOSTILE[case]())
    before = path.read_bytes()
    with bounded_memory():
        with pytest.raises(sa.FormatError) as caught, load(path) as result:
            dict(result)
        assert len(caught.value.reason) > 10
        for verb in (sa.read, sa.scan):
            with pytest.raises(sa.FormatError):
                verb(path)
        assert any(finding.severity == "error" for finding in sa.check(path))
    if case != "nothing":
        try:
            save(path, LISTS, "new")
        except sa.FormatError:
            assert path.read_bytes() == before


def test_a_deflated_archive_is_read_and_a_bomb_is_not(tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"
    path.write_bytes(archive(method=zipfile.ZIP_DEFLATED))
    assert sorted(sa.read(path)) == ["t", "u"]
    path.write_bytes(archive(method=zipfile.ZIP_LZMA))
    with pytest.raises(sa.FormatError, match="method 14"):
        sa.read(path)
    zeros = {f"bomb{index}.raw": bytes(2**24) for index in range(5)}
    path.write_bytes(archive(replaced=zeros, method=zipfile.ZIP_DEFLATED))
    with bounded_memory(), pytest.raises(sa.FormatError, match="inflates to"):
        sa.read(path)


@pytest.mark.parametrize("size", [10**6, 10])
def test_a_member_that_is_not_what_it_claims_is_damaged(size: int) -> None:
    content = bytearray(archive(method=zipfile.ZIP_DEFLATED))
    start = content.find(b"t.json", content.find(b"PK\1\2")) - 46
    struct.pack_into("<I", content, start + 24, size)
    with pytest.raises(sa.FormatError):
        sa.read(io.BytesIO(bytes(content)), ["t"], format="awkd")
    assert list(sa.read(io.BytesIO(bytes(content)), ["u"], format="awkd")) == ["u"]


# Arrays that reach more than they are made of -----------------------------------------------------------------

MANY = 30_000
ZEROS = contents.NumpyArray(np.zeros(MANY, "i8"))
ALL = contents.ListArray(index(np.zeros(MANY)), index(np.full(MANY, MANY)), ZEROS)


def nested_pairs(depth: int) -> Any:
    """Records of the same records twice, and so on."""
    layout: Any = ZEROS
    for _ in range(depth):
        layout = contents.RecordArray([layout, layout], ["a", "b"])
    return layout


LARGE = {
    "overlapping lists": ALL,
    "an index of long lists": contents.IndexedArray(index(np.zeros(MANY)), contents.RegularArray(ZEROS, MANY)),
    "an index of options": contents.IndexedOptionArray(index(np.zeros(MANY)), contents.RegularArray(ZEROS, MANY)),
    "a union": contents.UnionArray(
        index(np.zeros(MANY), "int8"), index(np.zeros(MANY)), [contents.RegularArray(ZEROS, MANY), strings("a")]
    ),
    "fixed lists of overlapping ones": contents.RegularArray(ALL, 2),
    "overlapping lists in records": contents.RecordArray([ALL, ZEROS], ["x", "y"]),
    "overlapping strings": contents.ListArray(
        index(np.zeros(MANY)),
        index(np.full(MANY, MANY)),
        contents.NumpyArray(np.full(MANY, 97, np.uint8), parameters={"__array__": "char"}),
        parameters={"__array__": "string"},
    ),
    "one array in many places": nested_pairs(11),
}


@pytest.mark.parametrize("case", LARGE)
@pytest.mark.parametrize("suffix", ["csv", "json", "xlsx", "awkd"])
def test_what_would_be_out_of_proportion_is_refused_with_its_size(tmp_path: Path, case: str, suffix: str) -> None:
    with bounded_memory(), pytest.raises(sa.LimitError, match=r"^t: .* would become \d{9,}; .*pack=False"):
        sa.write(tmp_path / f"t.{suffix}", {"t": ak.Array(LARGE[case])})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("case", sorted(LARGE.keys() - {"overlapping strings", "one array in many places"}))
def test_a_small_file_of_it_is_refused_by_whatever_reads_it(tmp_path: Path, case: str) -> None:
    path = tmp_path / "t.awkd"
    save(path, ak.Array(LARGE[case]), "t")
    assert path.stat().st_size < 100_000
    for verb in (
        lambda: sa.read(path),
        lambda: sa.scan(path),
        lambda: sa.convert(path, tmp_path / "t.csv"),
        lambda: sa.convert(path, tmp_path / "t.npz"),
    ):
        with bounded_memory(), pytest.raises(sa.FormatError, match=r"packed they would take \d{9,} bytes"):
            verb()
    assert [finding.hint for finding in sa.check(path)] == ["max_bytes= allows more"]
    assert len(sa.read(path, max_bytes=10**12)["t"]) == len(LARGE[case])


def test_overlapping_strings_are_never_written_as_they_are() -> None:
    with bounded_memory(), pytest.raises(sa.LimitError, match=r"would become \d{9,}"):
        serialize(LARGE["overlapping strings"], {}, pack=False)


def test_categories_count_once_however_often_they_are_named() -> None:
    words = strings("x" * 10_000, "y" * 10_000)
    array = contents.IndexedArray(index(np.arange(100_000) % 2), words, parameters={"__array__": "categorical"})
    blobs: dict[str, Any] = {}
    serialize(array, blobs, pack=True)
    assert sum(map(len, blobs.values())) < 10**6


def test_an_index_that_repeats_is_paid_for_when_it_is_read() -> None:
    blobs = Blobs()
    rows = call("JaggedArray.fromcounts", blobs.array([1000, 0]), blobs.array(np.arange(1000)))
    whole = call("IndexedArray", blobs.array(np.zeros(1000, "i8")), rows)
    assert len(blobs.read(whole, max_bytes=8_100_000)) == 1000
    with pytest.raises(sa.FormatError, match="packed they would take 8008000 bytes, more than the 8000000"):
        blobs.read(whole, max_bytes=8_000_000)


def test_one_array_in_many_places_is_paid_for_in_each() -> None:
    blobs = Blobs()
    whole: Any = blobs.array(np.zeros(MANY, "i8"), id=0)
    for ident in range(1, 12):
        pairs = [["a", whole], ["b", {"ref": ident - 1}]]
        whole = call("Table.frompairs", {"pairs": pairs}, {"json": 0}, id=ident)
    with bounded_memory(), pytest.raises(sa.FormatError, match=f"packed they would take {8 * MANY * 2**11} bytes"):
        blobs.read(whole)
    assert len(blobs.read(whole, max_bytes=10**10)) == MANY
