"""Vectors of uproot_methods, and arrays of text; constructors that no writer of the protocol calls are not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import awkward as ak
import awkward0_real
import awkward0_real as arrays
import numpy as np
import pytest
from awkward_layouts import Blobs, call, refused

import sheetarray as sa

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
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of the files that uproot_methods wrote, and what it says they hold."""
    folder = tmp_path_factory.mktemp("vectors")
    return folder, awkward0_real.run_json(SCRIPT, folder, json.dumps(VECTORS), package=UPROOT)


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_that_uproot_methods_wrote_are_records(name: str, written: tuple[Path, dict[str, Any]]) -> None:
    folder, said = written
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


def test_the_older_names_of_the_package_mean_the_same() -> None:
    blobs = Blobs()
    for module in ("uproot_methods", "uproot3_methods"):
        name = [f"{module}.classes.TVector3", "TVector3Array", "from_cartesian"]
        result = blobs.read({"call": name, "args": [blobs.array([1.5]), blobs.array([2]), blobs.array([3])]})
        assert str(result.type) == "1 * Vector3D[x: float64, y: int64, z: int64]"


def test_components_that_do_not_fit_together_are_refused() -> None:
    blobs = Blobs()
    numbers, more = blobs.array([1.5, 2.5]), blobs.array([1.5, 2.5, 3.5])
    lists = call("JaggedArray.fromcounts", blobs.array([1, 1]), numbers)
    others = call("JaggedArray.fromcounts", blobs.array([2, 0]), numbers)
    apart = call("JaggedArray", blobs.array([1, 0]), blobs.array([2, 1]), numbers)

    def vector(*components: Any) -> Any:
        return {"call": ["uproot_methods.classes.TVector2", "TVector2Array"], "args": list(components)}

    refused(blobs, vector(numbers), "1 components, where x, y are expected")
    refused(blobs, vector(numbers, more), "of one length")
    refused(blobs, vector(numbers, lists), "lists alike")
    refused(blobs, vector(lists, others), "different lengths")
    assert blobs.read(vector(lists, apart)).to_list() == [[{"x": 1.5, "y": 2.5}], [{"x": 2.5, "y": 1.5}]]
    refused(blobs, {"call": ["uproot_methods.classes.TH1", "from_numpy"]}, "is not in the whitelist")


TEXTS = {
    "text": np.array(["a", "", "ü€", "x\0y"]),
    "bytes": np.array([b"a", b"", b"\xff\0z"]),
    "no text": np.array([], "U3"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_arrays_of_text_are_the_strings_that_awkward0_makes_of_them(tmp_path: Path, case: str) -> None:
    np.savez(tmp_path / "t.npz", TEXTS[case])
    script = (
        arrays._PLAIN
        + """
import awkward0
with np.load(sys.argv[1]) as stored:
    given = stored["arr_0"]
print(json.dumps(plain(awkward0.StringArray.fromnumpy(given).tolist())))
"""
    )
    theirs = awkward0_real.run_json(script, tmp_path / "t.npz")
    blobs = Blobs()
    assert arrays.plain(blobs.read(call("StringArray.fromnumpy", blobs.array(TEXTS[case]))).to_list()) == theirs


@pytest.mark.parametrize(
    "name",
    [
        *(f"JaggedArray.{name}" for name in ("fromparents", "fromuniques", "fromjagged", "fromfolding", "fromregular")),
        *("MaskedArray.fromcontent", "BitMaskedArray.fromboolmask", "StringArray.fromparents"),
        *("Table.named", "Table.fromrec"),
    ],
)
def test_constructors_that_no_writer_calls_are_supplied_by_the_caller(name: str) -> None:
    blobs = Blobs()
    expression = call(name, blobs.array([1, 2, 3]))
    refused(blobs, expression, "has no counterpart here|is not in the whitelist")
    spec = ("awkward0", *name.split("."))
    assert blobs.read(expression, functions={spec: lambda content: content * 2}).to_list() == [2, 4, 6]


def test_numbers_are_no_array_of_text() -> None:
    blobs = Blobs()
    refused(blobs, call("StringArray.fromnumpy", blobs.array([1, 2, 3])), "not an array of text")
