"""What awkward 2 has and awkward0 does not: parameters, types and attrs kept in metadata, which nobody has to trust."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward_layouts import (
    CATEGORICAL,
    Blobs,
    assert_kept,
    call,
    contents,
    document,
    every_class,
    index,
    noted,
    strings,
)
from hostile import bounded_memory

import sheetarray as sa
from sheetarray.interchange.awkward import deserialize, serialize, to_columns

CASES = every_class()
LISTS = ak.Array([[1, 2], [3, 4]])


def blobs_with(metadata: Any, array: Any = LISTS) -> dict[str, Any]:
    """The blobs of an array, with other metadata."""
    blobs: dict[str, Any] = {}
    serialize(array, blobs)
    blobs[""] = json.dumps(json.loads(blobs[""]) | {"metadata": metadata})
    return blobs


@pytest.mark.parametrize("suffix", ["awkd", "csv", "xlsx", "json"])
def test_attrs_come_back_except_those_that_awkward_does_not_store(tmp_path: Path, suffix: str) -> None:
    array = ak.Array([[1], []], attrs={"source": "run 7", "cuts": [{"pt": 20.5}, None, True], "@cache": object()})
    sa.write(tmp_path / f"t.{suffix}", {"t": array})
    result = sa.read(tmp_path / f"t.{suffix}")["t"]
    assert_kept(result, array)
    assert result.attrs == {"source": "run 7", "cuts": [{"pt": 20.5}, None, True]}


@pytest.mark.parametrize(
    "value", [(1, 2), {1: 2}, np.float64(1.5), float("nan"), {"a": {1, 2}}, b"x", [1j], [10**5000]]
)
@pytest.mark.parametrize("suffix", ["awkd", "csv"])
def test_what_json_would_change_is_refused_with_the_arrays_name(tmp_path: Path, suffix: str, value: Any) -> None:
    inner = ak.Array(contents.RecordArray([noted(contents.NumpyArray(np.arange(2)), units=value)], ["x"]))
    for array in (ak.Array([1], attrs={"units": value}), inner):
        with pytest.raises(sa.DTypeError, match=r"^t: .*units.*JSON does not hold exactly"):
            sa.write(tmp_path / f"t.{suffix}", {"t": array})
    assert not list(tmp_path.iterdir())


def test_categories_that_are_a_union_are_refused() -> None:
    union = ak.Array([1, "a"]).layout
    with pytest.raises(sa.DTypeError, match="irreducible UnionArray"):
        serialize(contents.IndexedArray(index([0, 1]), union, parameters=CATEGORICAL), {})


@pytest.mark.parametrize(
    ("name", "entry", "reason"),
    [
        ("strings", {"parameters": {"__array__": "bytestring"}}, "another parameter __array__"),
        ("strings", {"inner": [{"__array__": "byte"}]}, "the parameters of their characters"),
        ("strings", {"inner": [{}, {}]}, "the parameters of their characters"),
        ("strings", {"size": 3}, "all lists must have the size 3"),
        ("records", {"tuple": True}, "not a record of the fields 0, 1"),
        ("a mask of bytes", {"unmasked": True}, "missing elements"),
        ("n-d numbers", {"inner": [{}, {}, {}]}, "nests 3 lists"),
        ("n-d numbers", {"size": 2}, "but the array has no lists"),
        ("an index", {"parameters": CATEGORICAL}, "requires contents to be unique"),
        ("numbers", {"parameters": {"__array__": "byte"}}, "which NumpyArray cannot have"),
    ],
)
def test_traits_of_another_array_are_refused(name: str, entry: Any, reason: str) -> None:
    if name == "an index":  # over lists, of which two are equal
        array: Any = contents.IndexedArray(index([1, 0]), strings("a", "a"))
    else:
        array = CASES[name]
    with pytest.raises(sa.FormatError, match=reason):
        deserialize(blobs_with({"sheetarray": {"layout": {"0": entry}}}, array))


def test_lists_of_one_size_stand_side_by_side() -> None:
    gaps = contents.ListArray(index([2, 0]), index([4, 2]), contents.NumpyArray(np.arange(4)))
    with pytest.raises(sa.FormatError, match="must stand side by side"):
        deserialize(blobs_with({"sheetarray": {"layout": {"0": {"size": 2}}}}, gaps))
    assert str(deserialize(blobs_with({"sheetarray": {"layout": {"0": {"size": 2}}}})).type) == "2 * 2 * int64"


def _union(*members: Any, **more: Any) -> Any:
    return {"class": "UnionArray", "tags": "i8", "index": "i64", "contents": list(members), **more}


@pytest.mark.parametrize(
    "form",
    [
        5,
        "int64",
        {"class": "ListOffsetArray", "offsets": "i64", "content": "int64"},
        {"class": "VirtualArray"},
        {"class": []},
        _union("int64"),
        _union("int64", "float64"),
        _union("int64", {"class": "RecordArray", "fields": ["a", "a"], "contents": ["int64", "int64"]}),
        _union(
            "int64", {"class": "ListOffsetArray", "offsets": "i64", "content": "bool", "parameters": {"__list__": 5}}
        ),
        _union("int64", "bool", parameters=[1]),
        _union("int64", "bool", tags="i3"),
        _union("int64", {"class": "NumpyArray", "primitive": "object"}),
    ],
)
def test_a_form_that_no_array_without_elements_has_is_refused(form: Any) -> None:
    blobs = blobs_with({"sheetarray": {"layout": {"0": {"empty": form}}}}, np.zeros(0))
    with bounded_memory(), pytest.raises(sa.FormatError):
        deserialize(blobs)


def test_a_form_of_enormous_lists_takes_no_memory() -> None:
    inner: Any = {"class": "NumpyArray", "primitive": "int64", "inner_shape": [10**9, 10**9]}
    for _ in range(2):
        inner = {"class": "RegularArray", "size": 10**18, "content": inner}
    blobs = blobs_with({"sheetarray": {"layout": {"0": {"empty": _union(inner, "bool")}}}}, np.zeros(0))
    with bounded_memory():
        assert len(deserialize(blobs)) == 0


@pytest.mark.parametrize("dtype", ["float64", "int32", "<U5", "|S3", "T", "object", "<U0", "[('x', 'i4')]", "", "O"])
def test_an_array_of_numpy_that_cannot_have_been_one_is_refused(tmp_path: Path, dtype: str) -> None:
    for array in (LISTS, ak.Array([1, 2]), CASES["strings"], CASES["bytes"]):
        whole = blobs_with({"sheetarray": {"ndarray": dtype}}, array)
        _archive(tmp_path / "t.awkd", whole)
        if dtype == "T" and array is CASES["strings"]:
            continue
        with pytest.raises(sa.FormatError):
            sa.read(tmp_path / "t.awkd")
        assert [finding.severity for finding in sa.check(tmp_path / "t.awkd")] == ["error"]


def test_an_array_of_wide_text_is_paid_for(tmp_path: Path) -> None:
    _archive(tmp_path / "t.awkd", blobs_with({"sheetarray": {"ndarray": "<U200000000"}}, CASES["strings"]))
    with bounded_memory(), pytest.raises(sa.FormatError, match="an array of text of 2400000000 bytes"):
        sa.read(tmp_path / "t.awkd")


def _archive(path: Path, blobs: dict[str, Any]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in blobs.items():
            archive.writestr("t.json" if name == "" else name, content)


def test_numbers_that_awkward0_wrote_alone_are_an_array_of_numpy(tmp_path: Path) -> None:
    blobs = blobs_with({}, np.arange(6).reshape(2, 3))
    blobs[""] = blobs[""].replace(f'"{ak.__version__}"', '"0.15.5"')
    _archive(tmp_path / "t.awkd", blobs)
    result = sa.read(tmp_path / "t.awkd")["t"]
    assert isinstance(result, np.ndarray)
    assert result.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_many_arrays_in_one_place_are_not_looked_through_again_and_again() -> None:
    blobs = Blobs()
    big = call("JaggedArray.fromcounts", blobs.array(np.zeros(2**20, "i8")), blobs.array([1]))
    lists = call("JaggedArray.fromcounts", blobs.array([0]), big, id=7)
    pairs = [["0", lists], *([str(number), {"ref": 7}] for number in range(1, 5000))]
    whole = call("Table.frompairs", {"pairs": pairs}, {"json": 0})
    metadata = {"sheetarray": {"layout": {"7": {"parameters": {"units": "mm"}}}}}
    with bounded_memory(), pytest.raises(sa.FormatError, match="one array in many places"):
        deserialize({**blobs, "": document(whole, metadata=metadata)})


def test_a_parameter_too_long_for_a_cell_is_refused() -> None:
    array = ak.Array(noted(contents.NumpyArray(np.arange(2)), text="x" * 200))
    with pytest.raises(sa.LimitError, match="a name or a parameter that does not fit into a cell of 100"):
        to_columns("t", array, limit=100)
