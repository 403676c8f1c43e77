"""The real awkward0, the older awkward and uproot_methods: what they wrote is read, and they read what is written."""

from __future__ import annotations

import datetime
import inspect
import json
import lzma
import math
import zlib
from pathlib import Path
from typing import Any

import awkward as ak
import awkward0_real
import fsspec
import h5py
import numpy as np
import pytest
from awkward_layouts import Blobs, arrays, built, call, every_class, refused
from examples import examples
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray.interchange.awkward import deserialize, hdf5, load, save, serialize, to_columns

# Read -----------------------------------------------------------------------------------------------------------------


NAMELESS = {
    "structured",
    "structured2d",
    "structuredin",
    "jagged_structured",
    "table_tuple",
}  # tuples there, records here
KEPT_APART = {"union_index"}  # integers that no float has: awkward 2 would merge them with floats
OLD = {
    "0.5.0": awkward0_real.OLD_BYTES,
    "0.5.6": awkward0_real.OLD_NAN | awkward0_real.OLD_TEXT,
    "0.8.16": awkward0_real.OLD_NAN,
    "0.10.3": awkward0_real.OLD_NAN,
    "0.12.22": awkward0_real.OLD_NAN | awkward0_real.OLD_TEXT,
    "0.14.0": awkward0_real.OLD_NAN | awkward0_real.OLD_TEXT,
}  # and what else each can write, beyond what all can


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of the files, and what awkward0 says they hold."""
    folder = tmp_path_factory.mktemp("awkward0")
    return folder, awkward0_real.run_json(awkward0_real.saving(awkward0_real.ARRAYS), folder)


def read(path: Path, **options: Any) -> ak.Array:
    return deserialize(awkward0_real.members(path), "", schemasuffix=".json", **options)


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


@pytest.mark.parametrize("name", awkward0_real.ARRAYS)
def test_a_file_of_awkward0_has_the_content_that_awkward0_says(name: str, written: tuple[Path, dict[str, Any]]) -> None:
    folder, said = written
    array = read(folder / f"{name}.awkd")
    ours = awkward0_real.plain(array.tolist())
    theirs = said[name]
    if name in NAMELESS:
        ours, theirs = awkward0_real.without_names(ours), awkward0_real.without_names(theirs)
    assert same(ours, theirs), f"{ours}\n{theirs}"
    if name not in KEPT_APART:
        assert ak.is_valid(array)


def test_compression_is_in_the_files_that_it_was_asked_for(written: tuple[Path, dict[str, Any]]) -> None:
    calls = {
        name: awkward0_real.members(written[0] / f"{name}.awkd")[".json"]
        for name in ("compressed", "uncompressed", "compressed_lzma")
    }
    assert b'["zlib", "decompress"]' in calls["compressed"]
    assert b"decompress" not in calls["uncompressed"]
    assert b'["lzma", "decompress"]' in calls["compressed_lzma"]


def test_shared_arrays_are_one_array(written: tuple[Path, dict[str, Any]]) -> None:
    layout = read(written[0] / "shared.awkd").layout
    assert layout.contents[0] is layout.contents[1]


# Expressions that no ordinary array needs -------------------------------------------------------------------------


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

    table = json.loads(awkward0_real.members(path)[".json"])["schema"]
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
    script = awkward0_real.saving(awkward0_real.OLD | OLD[version], old=True)
    said = awkward0_real.run_json(script, tmp_path, version=version)
    for name, theirs in said.items():
        content = awkward0_real.members(tmp_path / f"{name}.awkd")
        schema = json.loads(content[".json"])
        assert schema["awkward"] == version
        result = read(tmp_path / f"{name}.awkd")
        assert same(awkward0_real.plain(result.tolist()), theirs), f"{name}: {result.tolist()}\n{theirs}"
        assert ak.is_valid(result)


# Written --------------------------------------------------------------------------------------------------------------


CASES = every_class()


def plain(value: Any) -> Any:
    """Values as JSON has them, here and, as text, in the scripts; tuples are records in awkward0."""
    if isinstance(value, np.ndarray):
        return plain(list(value) if value.dtype.kind in "mM" else value.tolist())
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return None if np.isnat(value) else ["time", int(value.astype(f"{value.dtype.kind}8[us]").astype("i8"))]
    if isinstance(value, datetime.datetime):
        value = value - datetime.datetime(1970, 1, 1)
    if isinstance(value, datetime.timedelta):
        return ["time", value // datetime.timedelta(microseconds=1)]
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return {str(index): plain(part) for index, part in enumerate(value)}
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


PLAIN = f"import awkward0, datetime, math\nfrom typing import Any\n{inspect.getsource(plain)}\n"
LOADING = (
    PLAIN
    + """
with awkward0.load(sys.argv[1]) as file:
    print(json.dumps({name: plain(file[name].tolist()) for name in file}))
"""
)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What awkward0 says of one file that holds every case, whole and packed."""
    path = tmp_path_factory.mktemp("awkward0") / "t.awkd"
    for pack in (False, True):
        save(path, {f"{index}{pack}": array for index, array in enumerate(CASES.values())}, pack=pack)
    result = awkward0_real.run_json(LOADING, path)
    assert isinstance(result, dict)
    return result


@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_awkward0_reads_every_layout(case: str, pack: bool, said: dict[str, Any]) -> None:
    assert said[f"{list(CASES).index(case)}{pack}"] == plain(CASES[case].to_list())


@settings(max_examples=examples(16), phases=[Phase.generate])  # each is many: nothing is made smaller that fails
@given(st.lists(arrays(), min_size=60, max_size=80))
def test_awkward0_reads_whatever_an_array_is_made_of(tmp_path_factory: pytest.TempPathFactory, many: Any) -> None:
    path = tmp_path_factory.mktemp("awkward0") / "t.awkd"
    save(path, {str(index): array for index, array in enumerate(many)})
    result = awkward0_real.run_json(LOADING, path)
    for index, array in enumerate(many):
        assert result[str(index)] == plain(array.to_list()), array.layout


@pytest.mark.parametrize("compression", [True, zlib.compress, (lzma.compress, ("lzma", "decompress"))])
def test_awkward0_reads_what_is_compressed(compression: Any, tmp_path: Path) -> None:
    array = ak.Array({"x": np.arange(5000) // 100, "lists": [[index] * (index % 3) for index in range(5000)]})
    path = tmp_path / "t.awkd"
    save(path, array, compression=compression)
    assert path.stat().st_size < 10_000  # of 120,000; the fastest library packs less than the best
    assert (
        awkward0_real.run_json(PLAIN + "print(json.dumps(plain(awkward0.load(sys.argv[1]).tolist())))", path)
        == array.to_list()
    )


def test_awkward0_reads_a_file_written_by_write(tmp_path: Path) -> None:
    structure = np.zeros(3, np.dtype([("a", "i1"), ("b", ">f8")], align=True))
    structure["a"], structure["b"] = [1, 2, 3], [1.5, 2.5, 3.5]
    sa.write(tmp_path / "t.awkd", {"s": structure, "t": np.array([["ü", ""]]), "n": np.arange(6).reshape(3, 2)})
    assert awkward0_real.run_json(LOADING, tmp_path / "t.awkd") == {
        "s": [{"a": 1, "b": 1.5}, {"a": 2, "b": 2.5}, {"a": 3, "b": 3.5}],
        "t": [["ü", ""]],
        "n": [[0, 1], [2, 3], [4, 5]],
    }


def test_awkward0_and_we_add_to_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"
    awkward0_real.run("import awkward0; awkward0.save(sys.argv[1], {'theirs': awkward0.fromiter([[1.5], []])})", path)
    save(path, CASES["records"], "ours")
    awkward0_real.run("import awkward0; awkward0.save(sys.argv[1], {'again': awkward0.fromiter(['a', 'b'])})", path)
    save(path, CASES["strings"], "and ours")
    expected = {
        "theirs": [[1.5], []],
        "ours": CASES["records"].to_list(),
        "again": ["a", "b"],
        "and ours": CASES["strings"].to_list(),
    }
    assert awkward0_real.run_json(LOADING, path) == expected
    with load(path) as result:
        assert {name: array.to_list() for name, array in result.items()} == expected


def test_awkward0_reads_a_folder_of_blobs(tmp_path: Path) -> None:
    script = """
class Files(dict):
    def __missing__(self, name):
        with open(sys.argv[1] + "/" + name, "rb") as file:
            return file.read()
print(json.dumps([plain(awkward0.deserialize(Files(), name + "/schema.json").tolist()) for name in sys.argv[2:]]))
"""
    names = ["records", "lists of strings", "a union"]
    for name in names:
        serialize(
            CASES[name],
            fsspec.get_mapper(str(tmp_path)),
            name,
            delimiter="/",
            suffix=".raw",
            schemasuffix="/schema.json",
        )
    assert awkward0_real.run_json(PLAIN + script, tmp_path, *names) == [plain(CASES[name].to_list()) for name in names]


def test_awkward0_and_we_share_an_hdf5_file(tmp_path: Path) -> None:
    script = """
try:
    import h5py
except ImportError as error:
    print(json.dumps(str(error)))
    raise SystemExit
with h5py.File(sys.argv[1], "r+") as file:
    arrays = awkward0.hdf5(file)
    print(json.dumps({name: plain(arrays[name].tolist()) for name in arrays}))
    arrays["theirs"] = awkward0.fromiter([{"x": "a", "y": [1.5]}, {"x": "", "y": []}])
    del arrays["0"]
"""
    with h5py.File(tmp_path / "t.h5", "w") as file:
        arrays = hdf5(file)
        for index, array in enumerate(CASES.values()):
            arrays[str(index)] = array
    result = awkward0_real.run_json(PLAIN + script, tmp_path / "t.h5")
    if isinstance(result, str):
        pytest.skip(f"h5py is not beside awkward0: {result}")
    assert result == {str(index): plain(array.to_list()) for index, array in enumerate(CASES.values())}
    with h5py.File(tmp_path / "t.h5", "r") as file:
        assert "0" not in hdf5(file)
        assert hdf5(file)["theirs"].to_list() == [{"x": "a", "y": [1.5]}, {"x": "", "y": []}]


def test_awkward0_reads_columns_as_a_container_that_keeps_dtypes(tmp_path: Path) -> None:
    script = """
columns = np.load(sys.argv[1])
names = json.loads(bytes(columns["names"]))
arrays = []
for number, keys in enumerate(names):
    storage = {key: columns[f"{number}-{place}"] for place, key in enumerate(keys)}
    storage["t"] = "".join(storage.pop("t.json").tolist()).encode("ascii")
    arrays.append(plain(awkward0.deserialize(storage, "t").tolist()))
print(json.dumps(arrays))
"""
    every = [to_columns("t", array, limit=100) for array in CASES.values()]
    stored = {
        f"{index}-{place}": column for index, part in enumerate(every) for place, column in enumerate(part.values())
    }
    names = json.dumps([list(part) for part in every]).encode()
    np.savez(tmp_path / "t.npz", names=np.frombuffer(names, np.uint8), **stored)  # type: ignore[arg-type]
    result = awkward0_real.run_json(PLAIN + script, tmp_path / "t.npz")
    for case, values in zip(CASES, result, strict=True):
        assert values == plain(CASES[case].to_list()), case


# Vectors of uproot_methods, and text ----------------------------------------------------------------------------------


UPROOT = "uproot3-methods==0.10.1"
VECTORS = {
    "lorentz": ("TLorentzVectorArray.from_cartesian(a, b, a * 2, b + 5)", "Momentum4D", "xyzt"),
    "polar": ("TLorentzVectorArray.from_ptetaphim(a, b, a / 9, b + 5)", "Momentum4D", ["pt", "eta", "phi", "mass"]),
    "three": ("TVector3Array.from_cartesian(a, b, a * 2)", "Vector3D", "xyz"),
    "two": ("TVector2Array.from_cartesian(a, b)", "Vector2D", "xy"),
    "jagged": ("TLorentzVectorArray.from_cartesian(j, j + 1, j * 2, j + 5)", "Momentum4D", "xyzt"),
    "jagged polar": ("TLorentzVectorArray.from_ptetaphim(j, j + 1, j, j)", "Momentum4D", ["pt", "eta", "phi", "mass"]),
    "jagged three": ("TVector3Array.from_cartesian(j, j + 1, j * 2)[::-1]", "Vector3D", "xyz"),
    "in a table": ("awkward0.Table(v=TVector2Array.from_cartesian(a, b), n=a)", None, None),
}
SCRIPT = """
import awkward0
from uproot3_methods.classes.TLorentzVector import TLorentzVectorArray
from uproot3_methods.classes.TVector3 import TVector3Array
from uproot3_methods.classes.TVector2 import TVector2Array
a, b = np.arange(4.0), np.array([0.5, -1.5, 2.5, 0.25])
j = awkward0.JaggedArray.fromcounts([2, 0, 1], np.array([1.5, 2.5, -3.5]))
said = {}
for name, (expression, _, fields) in json.loads(sys.argv[2]).items():
    array = eval(expression)
    awkward0.save(sys.argv[1] + "/" + name + ".awkd", array, mode="w")
    said[name] = {field: getattr(array, field).tolist() for field in fields or ()}
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of the files that uproot_methods wrote, and what it says they hold."""
    folder = tmp_path_factory.mktemp("vectors")
    return folder, awkward0_real.run_json(SCRIPT, folder, json.dumps(VECTORS), package=UPROOT)


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_that_uproot_methods_wrote_are_records(name: str, vectors: tuple[Path, dict[str, Any]]) -> None:
    folder, said = vectors
    _, record, fields = VECTORS[name]
    array = sa.read(folder / f"{name}.awkd")[name.partition(".")[0]]
    if fields is None:
        assert array.v.y.to_list() == [0.5, -1.5, 2.5, 0.25]
        assert array.v.layout.parameter("__record__") == "Vector2D"
        return
    assert array.fields == list(fields)
    assert f"{record}[" in str(array.type)
    assert {field: array[field].to_list() for field in fields} == said[name]
    assert ak.is_valid(array)


def test_components_that_do_not_fit_together_are_refused() -> None:
    lists = ("JaggedArray.fromcounts", [1, 1], [1.5, 2.5])
    for components, match in (
        ([[1.5]], "1 components, where x, y are expected"),
        ([[1.5, 2.5], [1.5]], "differ in length"),
        ([[1.5, 2.5], lists], "differ in length"),
        ([lists, ("JaggedArray.fromcounts", [2, 0], [1.5, 2.5])], "different lengths"),
    ):
        blobs = Blobs()
        name = ["uproot_methods.classes.TVector2", "TVector2Array"]  # as it was called until version 0.15
        refused(blobs, {"call": name, "args": [built(blobs, part) for part in components]}, match)


TEXTS = {
    "text": np.array(["a", "", "ü€", "x\0y"]),
    "bytes": np.array([b"a", b"", b"\xff\0z"]),
    "no text": np.array([], "U3"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_arrays_of_text_are_the_strings_that_awkward0_makes_of_them(tmp_path: Path, case: str) -> None:
    np.savez(tmp_path / "t.npz", TEXTS[case])
    script = (
        awkward0_real.PLAIN
        + """
import awkward0
with np.load(sys.argv[1]) as stored:
    given = stored["arr_0"]
print(json.dumps(plain(awkward0.StringArray.fromnumpy(given).tolist())))
"""
    )
    theirs = awkward0_real.run_json(script, tmp_path / "t.npz")
    blobs = Blobs()
    assert awkward0_real.plain(blobs.read(call("StringArray.fromnumpy", blobs.array(TEXTS[case]))).to_list()) == theirs


@pytest.mark.parametrize("name", ["JaggedArray.zip", "StringArray.fromstr", "IndexedArray.invert"])
def test_constructors_that_no_writer_calls_are_supplied_by_the_caller(name: str) -> None:
    blobs = Blobs()
    expression = call(name, blobs.array([1, 2, 3]))
    refused(blobs, expression, "has no counterpart here|is not in the whitelist")
    spec = ("awkward0", *name.split("."))
    assert blobs.read(expression, functions={spec: lambda content: content * 2}).to_list() == [2, 4, 6]
