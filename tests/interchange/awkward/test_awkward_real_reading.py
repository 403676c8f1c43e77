"""Files that the real awkward0 wrote, and the older awkward before it, read with the content that it says they have."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import awkward as ak
import awkward0_real
import awkward0_real as arrays
import numpy as np
import pytest

import sheetarray as sa
from sheetarray.interchange.awkward import deserialize

NAMELESS = {
    "structured",
    "structured2d",
    "structuredin",
    "jagged_structured",
    "table_tuple",
}  # tuples there, records here
KEPT_APART = {"union_index"}  # integers that no float has: awkward 2 would merge them with floats
OLD = {
    "0.5.0": arrays.OLD_BYTES,
    "0.5.6": arrays.OLD_NAN | arrays.OLD_TEXT,
    "0.8.16": arrays.OLD_NAN,
    "0.10.3": arrays.OLD_NAN,
    "0.12.22": arrays.OLD_NAN | arrays.OLD_TEXT,
    "0.14.0": arrays.OLD_NAN | arrays.OLD_TEXT,
}  # and what else each can write, beyond what all can


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of the files, and what awkward0 says they hold."""
    folder = tmp_path_factory.mktemp("awkward0")
    return folder, awkward0_real.run_json(arrays.saving(arrays.ARRAYS), folder)


def read(path: Path, **options: Any) -> ak.Array:
    return deserialize(arrays.members(path), "", schemasuffix=".json", **options)


def same(ours: Any, theirs: Any) -> bool:
    """Whether values are equal; an integer may have become a float of the same value, where a union has both."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(same(ours[key], theirs[key]) for key in ours)
    if type(ours) is type(theirs) or {type(ours), type(theirs)} == {int, float}:
        signs = not isinstance(ours, float) or math.copysign(1, ours) == math.copysign(1, theirs)
        return bool(ours == theirs) and signs
    return False


@pytest.mark.parametrize("name", arrays.ARRAYS)
def test_a_file_of_awkward0_has_the_content_that_awkward0_says(name: str, written: tuple[Path, dict[str, Any]]) -> None:
    folder, said = written
    array = read(folder / f"{name}.awkd")
    ours = arrays.plain(array.tolist())
    theirs = said[name]
    if name in NAMELESS:
        ours, theirs = arrays.without_names(ours), arrays.without_names(theirs)
    assert same(ours, theirs), f"{ours}\n{theirs}"
    if name not in KEPT_APART:
        assert ak.is_valid(array)


def test_compression_is_in_the_files_that_it_was_asked_for(written: tuple[Path, dict[str, Any]]) -> None:
    calls = {
        name: arrays.members(written[0] / f"{name}.awkd")[".json"]
        for name in ("compressed", "uncompressed", "compressed_lzma")
    }
    assert b'["zlib", "decompress"]' in calls["compressed"]
    assert b"decompress" not in calls["uncompressed"]
    assert b'["lzma", "decompress"]' in calls["compressed_lzma"]


def test_shared_arrays_are_one_array(written: tuple[Path, dict[str, Any]]) -> None:
    layout = read(written[0] / "shared.awkd").layout
    assert layout.contents[0] is layout.contents[1]


# Expressions that no ordinary array needs -------------------------------------------------------------------------


TYPED = """
import awkward0
storage = {}
awkward0.persist.Serializer(storage, prefix="t-").store("t", awkward0.JaggedArray.fromiter([[1.5, 2.5], [], [3.5]]))
for key, value in storage.items():
    np.save(sys.argv[1] + "/" + key + ".npy", np.frombuffer(value, "u1") if isinstance(value, bytes) else value)
print(json.dumps(sorted(storage)))
"""


def test_a_container_of_arrays_is_read(tmp_path: Path) -> None:
    names = awkward0_real.run_json(TYPED, tmp_path)
    storage = {name: np.load(tmp_path / f"{name}.npy") for name in names}
    assert deserialize(storage, "t").tolist() == [[1.5, 2.5], [], [3.5]]


MEMORY = """
import awkward0
storage = {}
table = awkward0.Table(x=np.arange(3), y=awkward0.fromiter(["a", "b", "c"]))
awkward0.serialize(table[1:], storage, "in memory", suffix=".raw", schemasuffix=".json", compression=True)
print(json.dumps({name: [str(value.dtype), value.tobytes().hex()] if isinstance(value, np.ndarray) else value.hex()
                  for name, value in storage.items()}))
"""


def test_names_with_a_prefix_and_suffixes_are_read() -> None:
    storage: dict[str, Any] = {}
    for name, value in awkward0_real.run_json(MEMORY).items():
        storage[name] = (
            bytes.fromhex(value) if isinstance(value, str) else np.frombuffer(bytes.fromhex(value[1]), value[0])
        )
    assert "in memory.json" in storage
    assert "in memory-1.raw" in storage
    result = deserialize(storage, "in memory", suffix=".raw", schemasuffix=".json")
    assert result.tolist() == [{"x": 1, "y": "b"}, {"x": 2, "y": "c"}]


OBJECTS = """
import awkward0, fractions
from awkward0.persist import save
content = awkward0.Table(n=[1, 2, 3], d=[2, 3, 4])
objects = awkward0.ObjectArray(content, fractions.Fraction, (7,), {"k": "v"})
save(sys.argv[1] + "/object.awkd", awkward0.JaggedArray.fromcounts([2, 1], objects))
virtual = awkward0.VirtualArray(np.linspace, (0, 1, 5), {"endpoint": True}, persistentkey="line",
                                type=awkward0.type.ArrayType(5, np.dtype(float)))
save(sys.argv[1] + "/virtual.awkd", awkward0.Table(v=virtual, n=np.arange(5)))
cycle = awkward0.JaggedArray([1, 0], [2, 1], np.arange(2))
cycle.content = awkward0.Table(x=np.arange(2), inner=cycle)
save(sys.argv[1] + "/cyclic.awkd", cycle)
save(sys.argv[1] + "/pickled.awkd", awkward0.SparseArray(3, [1], [1j], default=3 + 4j))
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    awkward0_real.run(OBJECTS, folder)
    return folder


def test_an_object_array_needs_a_function_of_the_callers(odd: Path) -> None:
    with pytest.raises(sa.FormatError, match=r"fractions\.Fraction is not in the whitelist") as caught:
        read(odd / "object.awkd")
    assert caught.value.location == "schema.args[1].args[1]"
    assert "('fractions', 'Fraction')" in str(caught.value.hint)

    def fraction(content: ak.Array, seven: int, *, k: str) -> ak.Array:
        assert (seven, k) == (7, "v")
        return content.n / content.d

    result = read(odd / "object.awkd", functions={("fractions", "Fraction"): fraction})
    assert result.tolist() == [[1 / 2, 2 / 3], [3 / 4]]


def test_a_virtual_array_is_made_once_and_cached_under_its_key(odd: Path) -> None:
    path = odd / "virtual.awkd"
    with pytest.raises(sa.FormatError, match="linspace is not in the whitelist"):
        read(path)
    calls = []

    def linspace(*args: Any, **options: Any) -> Any:
        calls.append((args, options))
        return np.linspace(*args, **options)

    table = json.loads(arrays.members(path)[".json"])["schema"]
    functions = {tuple(table["args"][0]["pairs"][0][1]["args"][0]["function"]): linspace}
    cache: dict[str, Any] = {}
    for _ in range(2):
        result = read(path, functions=functions, cache=cache)
        assert result.tolist() == [{"v": n / 4, "n": n} for n in range(5)]
    assert calls == [((0, 1, 5), {"endpoint": True})]
    assert list(cache) == ["line"]
    assert read(path, functions=functions).v.tolist() == [0, 0.25, 0.5, 0.75, 1]


def test_a_cyclic_array_is_refused_with_its_place(odd: Path) -> None:
    with pytest.raises(sa.FormatError, match="leads back to an array that it is part of") as caught:
        read(odd / "cyclic.awkd")
    assert caught.value.location == "schema.args[2].args[0].pairs['inner']"


def test_a_pickle_that_is_no_plain_value_needs_the_callers_leave(odd: Path) -> None:
    with pytest.raises(sa.FormatError, match="could execute anything") as caught:
        read(odd / "pickled.awkd")
    assert caught.value.location == "schema.args[3]"
    assert read(odd / "pickled.awkd", whitelist="*").tolist() == [3 + 4j, 1j, 3 + 4j]


# Older packages -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", OLD)
def test_files_of_older_packages_have_the_content_that_those_say(version: str, tmp_path: Path) -> None:
    script = arrays.saving(arrays.OLD | OLD[version], old=True)
    said = awkward0_real.run_json(script, tmp_path, version=version)
    for name, theirs in said.items():
        content = arrays.members(tmp_path / f"{name}.awkd")
        schema = json.loads(content[".json"])
        assert schema["awkward"] == version
        result = read(tmp_path / f"{name}.awkd")
        assert same(arrays.plain(result.tolist()), theirs), f"{name}: {result.tolist()}\n{theirs}"
        assert ak.is_valid(result)
