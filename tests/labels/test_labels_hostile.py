"""Descriptions that are damaged, foreign or hostile: arrays are read all the same, and what is wrong is said."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hostile import header

import sheetarray as sa
from sheetarray.labels import NAME, DatasetLabels, VariableLabels, check_labels
from sheetarray.labels.description import DEEPEST_JSON, MOST_VALUES

GOOD: dict[str, Any] = {
    "coords": {"x": {"dims": ["x"], "attrs": {}, "dtype": "int64", "shape": [2]}},
    "attrs": {},
    "dims": {"x": 2},
    "data_vars": {"t": {"dims": ["x"], "attrs": {}, "dtype": "float64", "shape": [2]}},
}
SHADOW = header(shape=[str(10**9)], strides=["0"], length=[str(10**9)], capacity=["1"])
ENDLESS = header(dtype="generic", shape=[str(10**6)], length=[str(10**6)], capacity=[str(10**6)])


def put(folder: Path, description: Any, **arrays: Any) -> Path:
    """A file with arrays and a text that describes them."""
    text = description if isinstance(description, str) else json.dumps(description)
    arrays = {"t": np.array([1.5, 2.5]), "x": np.array([10, 20]), **arrays}
    present = {name: value for name, value in arrays.items() if value is not None} | {NAME: np.array([text])}
    cells = {name: sa.to_linear(array) for name, array in present.items()}
    (folder / "t.json").write_text(json.dumps(cells), encoding="utf-8")
    return folder / "t.json"


def changed(*path: str, value: Any) -> dict[str, Any]:
    """The good description with one value replaced."""
    tree = json.loads(json.dumps(GOOD))
    inner = tree
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return tree


def test_a_description_of_anybody_is_read(tmp_path: Path) -> None:
    path = put(tmp_path, GOOD)
    assert sa.read_dataset(path)["t"].sel(x=20).item() == 2.5
    assert list(sa.check(path)) == []
    assert sa.scan(path)["t"].dims == ("x",)


DAMAGED: dict[str, Any] = {
    "cut": json.dumps(GOOD)[:-5],
    "no object": changed("coords", value=[]),
    "no coords": {key: value for key, value in GOOD.items() if key != "coords"},
    "dims are no list": changed("data_vars", "t", "dims", value="x"),
    "dims of numbers": changed("data_vars", "t", "dims", value=[1]),
    "a dimension twice": changed("data_vars", "t", value={"dims": ["x", "x"], "dtype": "f8", "shape": [2, 2]}),
    "more dims than sizes": changed("data_vars", "t", "dims", value=["x", "y"]),
    "a size below zero": changed("data_vars", "t", "shape", value=[-1]),
    "a size of text": changed("data_vars", "t", "shape", value=["2"]),
    "a size that is true": changed("data_vars", "t", "shape", value=[True]),
    "no dtype": changed("data_vars", "t", "dtype", value=None),
    "sizes that disagree": changed("data_vars", "t", "shape", value=[3]),
    "a size that disagrees": changed("dims", "x", value=3),
    "a coordinate and none": changed("data_vars", "x", value=GOOD["coords"]["x"]),
    "no variable": changed("data_vars", "t", value=5),
    "attributes of a list": changed("attrs", value=[]),
    "no float": changed("attrs", value={"a": {"float": "1e999"}}),
    "no float but a list": changed("attrs", value={"a": {"float": []}}),
    "no array": changed("attrs", value={"a": {"ndarray": [1, 2, {}]}}),
    "an array of nothing": changed("attrs", value={"a": {"ndarray": []}}),
    "an array with a long shadow": changed("attrs", value={"a": {"ndarray": [*SHADOW, 1]}}),
    "an array whose end is missing": changed("attrs", value={"a": {"ndarray": [*ENDLESS, 1]}}),
    "no scalar": changed("attrs", value={"a": {"scalar": sa.to_linear(np.arange(3))}}),
    "no datetime": changed("attrs", value={"a": {"datetime": "yesterday"}}),
    "no date": changed("attrs", value={"a": {"date": 5}}),
    "no timedelta": changed("attrs", value={"a": {"timedelta": [1, 2]}}),
    "a long timedelta": changed("attrs", value={"a": {"timedelta": [10**30, 0, 0]}}),
    "no complex": changed("attrs", value={"a": {"complex": [1.0]}}),
    "no tuple": changed("attrs", value={"a": {"tuple": 5}}),
    "no text": changed("attrs", value={"a": {"text": [5]}}),
    "no list": changed("attrs", value={"a": {"list": [5]}}),
    "no dict": changed("attrs", value={"a": {"dict": []}}),
    "no frame": changed("attrs", value={"pandas": {"frame": 5}}),
    "a frame without levels": changed("attrs", value={"pandas": {"frame": {"index": {"x": []}}}}),
    "a frame with a strange level": changed("attrs", value={"pandas": {"frame": {"index": {"x": ["t"]}}}}),
    "a frame with a level twice": changed("attrs", value={"pandas": {"frame": {"index": {"x": ["x", "x"]}}}}),
    "categories of nothing": changed("attrs", value={"pandas": {"frame": {"categories": {"t": {"values": 5}}}}}),
    "a long frequency": changed("attrs", value={"pandas": {"frame": {"freq": {"x": "D" * 65}}}}),
    "ranges of numbers": changed("attrs", value={"pandas": {"frame": {"range": [1]}}}),
    "indexed of numbers": changed("attrs", value={"pandas": {"frame": {"indexed": {"x": 1}}}}),
    "a key twice": '{"data_vars": {}, "coords": {}, "coords": {}}',
    "a long integer": '{"data_vars": {}, "coords": {}, "attrs": {"a": 1' + "0" * 5000 + "}}",
    "a key of another name": {**GOOD, "attr": {}},
    "a key of another name in a variable": changed("data_vars", "t", "attr", value={}),
    "a key of another name in a frame": changed("attrs", value={"pandas": {"frame": {"inbex": {}}}}),
    "a dimension without a size": changed("dims", value={}),
    "too deep": changed("attrs", value={"a": None})
    .__repr__()
    .replace("'", '"')
    .replace("None", "[" * DEEPEST_JSON + "]" * DEEPEST_JSON),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_arrays_beside_a_damaged_description_are_read(damage: str, tmp_path: Path) -> None:
    path = put(tmp_path, DAMAGED[damage])
    with pytest.warns(sa.SheetArrayWarning, match="damaged"):
        arrays = sa.read(path)
    assert list(arrays) == ["t", "x", NAME]
    assert list(sa.read(path, ["t"])) == ["t"]
    with pytest.warns(sa.SheetArrayWarning, match="damaged"):
        assert sa.scan(path)["t"].dims is None
    findings = list(sa.check(path))
    assert [(finding.severity, finding.array) for finding in findings] == [("error", NAME)]
    assert findings[0].location == f"{NAME}[0]"
    for read in (sa.read_dataset, sa.read_frame):
        with pytest.raises(sa.FormatError) as caught:
            read(path)
        assert caught.value.location == f"{NAME}[0]"
        assert len(str(caught.value)) < 1000
    with pytest.warns(sa.SheetArrayWarning):
        sa.convert(path, tmp_path / "t.csv")
    with pytest.warns(sa.SheetArrayWarning, match="damaged"):
        assert list(sa.read(tmp_path / "t.csv")) == ["t", "x", NAME]


@pytest.mark.parametrize(
    "array",
    [
        *([text] for text in ("", "{}", "my notes", '{"a": 1}', "[1]")),
        *(np.arange(3), np.array([["{", '"data_vars"']]), np.array("{"), np.array([], "U1"), np.array([None, True])),
    ],
)
def test_an_array_of_that_name_that_describes_nothing_is_an_array_and_is_warned_of(array: Any, tmp_path: Path) -> None:
    path, arrays = tmp_path / "t.csv", {"t": np.array([1.5]), NAME: array}
    sa.write(path, arrays)
    verbs: list[Callable[[Path], Any]] = [sa.read, sa.scan, sa.read_dataset, lambda path: sa.read_dataset(path, ["t"])]
    for verb in verbs:
        with pytest.warns(sa.SheetArrayWarning, match="B2: dataset.json is read as an ordinary array") as caught:
            assert "t" in verb(path)
        assert len(caught) == 1
    with pytest.warns(sa.SheetArrayWarning):
        np.testing.assert_array_equal(sa.read(path)[NAME], array)
    (finding,) = sa.check(path)
    assert (finding.severity, finding.location, finding.array) == ("warning", "B2", NAME)


def test_a_description_under_another_name_is_warned_of(tmp_path: Path) -> None:
    path = put(tmp_path, GOOD)
    path.write_text(path.read_text(encoding="utf-8").replace(NAME, "notes"), encoding="utf-8")
    for verb in (sa.read, sa.scan, sa.read_dataset, lambda path: xr.open_dataset(path, engine="sheetarray")):
        with pytest.warns(sa.SheetArrayWarning, match=r"notes\[0\]: .*describes other arrays.*name it dataset.json"):
            assert "notes" in verb(path)
    (finding,) = sa.check(path)
    assert (finding.severity, finding.location, finding.array) == ("warning", "notes[0]", "notes")
    cells = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({"notes": cells["notes"]}), encoding="utf-8")  # no array that it describes
    assert list(sa.read(path)) == ["notes"]


def test_names_that_are_no_text_and_indexes_of_anybody_change_only_what_they_can(tmp_path: Path) -> None:
    indexed = {"x": False, "t": True, "absent": True}
    path = put(tmp_path, changed("attrs", value={"pandas": {"frame": {"indexed": indexed, "labels": {"t": "x"}}}}))
    dataset = sa.read_dataset(path)
    assert (list(dataset.variables), list(dataset.xindexes)) == (["t", "x"], [])
    one = {"dims": ["1"], "dtype": "i8", "shape": [2]}
    said = {"coords": {"1": one}, "data_vars": {}, "attrs": {"pandas": {"frame": {"labels": {"1": 1}}}}}
    path = put(tmp_path, said, **{"1": np.array([5, 6])})
    with pytest.warns(sa.SheetArrayWarning, match="names stay text"):
        assert "1" in sa.read_dataset(path).coords


def test_many_values_are_refused_before_they_are_parsed(tmp_path: Path) -> None:
    many = "[" + "0," * MOST_VALUES + "0]"
    path = put(tmp_path, json.dumps(changed("attrs", value={"a": "@"})).replace('"@"', many))
    with pytest.raises(sa.FormatError, match=f"at most {MOST_VALUES}"):
        sa.read_dataset(path)
    with pytest.raises(sa.LimitError, match="write large ones as arrays"):
        sa.write(tmp_path / "u.json", xr.Dataset({"t": ("x", [1])}, attrs={"a": [0] * MOST_VALUES}))
    assert not (tmp_path / "u.json").exists()


def test_as_many_attributes_as_are_written_are_read(tmp_path: Path) -> None:
    dataset = xr.Dataset({"t": ("x", [1])}, attrs={f"a{number}": number for number in range(50_000)})
    sa.write(tmp_path / "t.json", dataset)
    xr.testing.assert_identical(sa.read_dataset(tmp_path / "t.json"), dataset)


def test_attributes_as_deep_as_they_are_written_are_read(tmp_path: Path) -> None:
    value: Any = 1.5
    for _ in range(16):
        value = {"list": (value, *range(300))}
    dataset = xr.Dataset({"t": ("x", [1])}, attrs={"a": value})
    sa.write(tmp_path / "t.json", dataset)
    assert sa.read_dataset(tmp_path / "t.json").attrs["a"] == value
    with pytest.raises(sa.DTypeError, match="more than 32"):
        sa.write(tmp_path / "t.json", xr.Dataset({"t": ("x", [1])}, attrs={"a": {"b": value}}))


def test_labels_that_contradict_the_arrays(tmp_path: Path) -> None:
    path = put(tmp_path, GOOD, t=np.zeros((2, 2)))
    assert list(sa.read(path)) == ["t", "x"]
    with pytest.warns(sa.SheetArrayWarning, match="its labels name the dimensions"):
        assert sa.scan(path)["t"].dims is None
    assert [(f.severity, f.array) for f in sa.check(path)] == [("error", "t")]
    for action in (sa.read_dataset, lambda path: sa.convert(path, tmp_path / "t.csv")):
        with pytest.raises(sa.FormatError, match="its labels name the dimensions") as caught:
            action(path)
        assert caught.value.array == "t"
    path = put(tmp_path, GOOD, t=np.zeros(3))
    assert [(f.severity, f.array) for f in sa.check(path)] == [("error", "x")]
    with pytest.raises(sa.FormatError, match="the dimension 'x' has 3 in 't', and 2 in 'x'"):
        sa.read_dataset(path)


def test_rows_that_people_add_to_all_arrays_are_no_contradiction(tmp_path: Path) -> None:
    path = put(tmp_path, GOOD, t=np.zeros(3), x=np.arange(3))
    assert list(sa.check(path)) == []
    assert sa.read_dataset(path).sizes == {"x": 3}
    sa.convert(path, tmp_path / "t.csv")
    text = "".join(sa.read(tmp_path / "t.csv", [NAME])[NAME])
    assert DatasetLabels.from_pieces(np.array([text])).sizes() == {"x": 3}


def test_an_array_that_is_described_and_absent(tmp_path: Path) -> None:
    path = put(tmp_path, GOOD, x=None)
    assert [(f.severity, f.array) for f in sa.check(path)] == [("warning", "x")]
    with pytest.warns(sa.SheetArrayWarning, match="not in the file: 'x'"):
        assert sa.read_dataset(path).sizes == {"x": 2}
    for opened in (lambda: sa.read_dataset(path, ["t"]), lambda: xr.open_dataset(path, engine="sheetarray")):
        with pytest.warns(sa.SheetArrayWarning, match="not in the file: 'x'"):
            assert opened().sizes == {"x": 2}
    assert xr.open_dataset(path, engine="sheetarray", drop_variables="x").sizes == {"x": 2}
    with pytest.raises(sa.NotFoundError, match="'x'"):
        sa.read_dataset(path, ["x"])


def test_many_arrays_are_checked_at_the_cost_of_each() -> None:
    count = 20_000
    variables = {f"v{number}": VariableLabels(("x",), "float64", (3,)) for number in range(count)}
    info = sa.ArrayInfo((3,), "float64", "row-major", (1,), "A1", 21)
    infos = dict.fromkeys([*variables, NAME], info) | {"v7": replace(info, shape=(4,))}
    begin = time.process_time()
    findings = list(check_labels(DatasetLabels(data_vars=variables), infos))
    assert [finding.array for finding in findings] == ["v7"]
    assert time.process_time() - begin < 5
