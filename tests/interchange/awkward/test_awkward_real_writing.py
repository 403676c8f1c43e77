"""The real awkward0 reads what is written here, for every layout class, with equal content."""

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
import fsspec
import h5py
import numpy as np
import pytest
from awkward0_real import run, run_json
from awkward_layouts import arrays, every_class
from examples import examples
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray.interchange.awkward import hdf5, load, save, serialize, to_columns

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
    result = run_json(LOADING, path)
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
    result = run_json(LOADING, path)
    for index, array in enumerate(many):
        assert result[str(index)] == plain(array.to_list()), array.layout


@pytest.mark.parametrize("compression", [True, zlib.compress, (lzma.compress, ("lzma", "decompress"))])
def test_awkward0_reads_what_is_compressed(compression: Any, tmp_path: Path) -> None:
    array = ak.Array({"x": np.arange(5000) // 100, "lists": [[index] * (index % 3) for index in range(5000)]})
    path = tmp_path / "t.awkd"
    save(path, array, compression=compression)
    assert path.stat().st_size < 10_000  # of 120,000; the fastest library packs less than the best
    assert run_json(PLAIN + "print(json.dumps(plain(awkward0.load(sys.argv[1]).tolist())))", path) == array.to_list()


def test_awkward0_reads_a_file_written_by_write(tmp_path: Path) -> None:
    structure = np.zeros(3, np.dtype([("a", "i1"), ("b", ">f8")], align=True))
    structure["a"], structure["b"] = [1, 2, 3], [1.5, 2.5, 3.5]
    sa.write(tmp_path / "t.awkd", {"s": structure, "t": np.array([["ü", ""]]), "n": np.arange(6).reshape(3, 2)})
    assert run_json(LOADING, tmp_path / "t.awkd") == {
        "s": [{"a": 1, "b": 1.5}, {"a": 2, "b": 2.5}, {"a": 3, "b": 3.5}],
        "t": [["ü", ""]],
        "n": [[0, 1], [2, 3], [4, 5]],
    }


def test_awkward0_and_we_add_to_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"
    run("import awkward0; awkward0.save(sys.argv[1], {'theirs': awkward0.fromiter([[1.5], []])})", path)
    save(path, CASES["records"], "ours")
    run("import awkward0; awkward0.save(sys.argv[1], {'again': awkward0.fromiter(['a', 'b'])})", path)
    save(path, CASES["strings"], "and ours")
    expected = {
        "theirs": [[1.5], []],
        "ours": CASES["records"].to_list(),
        "again": ["a", "b"],
        "and ours": CASES["strings"].to_list(),
    }
    assert run_json(LOADING, path) == expected
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
    assert run_json(PLAIN + script, tmp_path, *names) == [plain(CASES[name].to_list()) for name in names]


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
    result = run_json(PLAIN + script, tmp_path / "t.h5")
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
    result = run_json(PLAIN + script, tmp_path / "t.npz")
    for case, values in zip(CASES, result, strict=True):
        assert values == plain(CASES[case].to_list()), case
