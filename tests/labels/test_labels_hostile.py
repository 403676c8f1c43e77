"""Descriptions that are damaged, foreign or hostile: arrays are read all the same, and what is wrong is said."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sheetarray as sa
from sheetarray.labels import NAME, DatasetLabels, VariableLabels, check_labels
from sheetarray.labels.description import MOST_VALUES

GOOD: dict[str, Any] = {
    "coords": {"x": {"dims": ["x"], "attrs": {}, "dtype": "int64", "shape": [2]}},
    "attrs": {},
    "dims": {"x": 2},
    "data_vars": {"t": {"dims": ["x"], "attrs": {}, "dtype": "float64", "shape": [2]}},
}


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


def test_rows_that_people_add_to_all_arrays_are_no_contradiction(tmp_path: Path) -> None:
    path = put(tmp_path, GOOD, t=np.zeros(3), x=np.arange(3))
    assert list(sa.check(path)) == []
    assert sa.read_dataset(path).sizes == {"x": 3}
    sa.convert(path, tmp_path / "t.csv")
    text = "".join(sa.read(tmp_path / "t.csv", [NAME])[NAME])
    assert DatasetLabels.from_pieces(np.array([text])).sizes() == {"x": 3}


def test_many_arrays_are_checked_at_the_cost_of_each() -> None:
    count = 20_000
    variables = {f"v{number}": VariableLabels(("x",), "float64", (3,)) for number in range(count)}
    info = sa.ArrayInfo((3,), "float64", "row-major", (1,), "A1", 21)
    infos = dict.fromkeys([*variables, NAME], info) | {"v7": replace(info, shape=(4,))}
    begin = time.process_time()
    findings = list(check_labels(DatasetLabels(data_vars=variables), infos))
    assert [finding.array for finding in findings] == ["v7"]
    assert time.process_time() - begin < 5
