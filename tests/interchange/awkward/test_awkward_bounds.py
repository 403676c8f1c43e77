"""Arrays of one file share its limits of memory and steps, and what is written stays within them."""

from __future__ import annotations

import csv
import io
import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from limits import set_limits

import sheetarray as sa

ak = pytest.importorskip("awkward")
pytest.importorskip("sheetarray.interchange.awkward")

STEPS_OF_ONE = 3  # a schema, a call and a blob
MEGABYTE = 2**20


def archive(path: Path, members: dict[str, Any]) -> Path:
    """Write a file of members, of which dicts are expressions of schemas."""
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            if isinstance(content, dict):
                content = json.dumps({"awkward0": "0.15.5", "schema": content})
            file.writestr(name, content)
    return path


def bytes_of(blob: str) -> dict[str, Any]:
    """The expression of an array of the bytes of a blob."""
    return {"call": ["numpy", "frombuffer"], "args": [{"read": blob}, {"dtype": "int8"}]}


def in_rows(arrays: dict[str, str]) -> str:
    """Arrays of text, of one element each, in rows of CSV."""
    file = io.StringIO()
    for name, text in arrays.items():
        header = ["version", "1.0.0", "ndarray", "shape", "1", "strides", "1", "offset", "0", "order", "row-major"]
        csv.writer(file).writerow([name, *header, "dtype", "string", "length", "1", "capacity", "1", "data", text])
    return file.getvalue()


@pytest.mark.parametrize("count", [3, 4, 5])
def test_arrays_of_a_file_share_its_steps(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "t.awkd", {"x": b"12", **{f"n{number}.json": bytes_of("x") for number in range(count)}})
    set_limits(monkeypatch, awkward_steps=4 * STEPS_OF_ONE)
    assert sa.read(path, ["n0", "n1"])["n1"].tolist() == [49, 50]
    if count <= 4:
        assert len(sa.read(path)) == len(sa.scan(path)) == count
        assert list(sa.check(path)) == []
        return
    for verb in (sa.read, sa.scan):
        with pytest.raises(sa.FormatError, match="more than 12 schemas, calls and blobs"):
            verb(path)
    assert [finding.array for finding in sa.check(path)] == ["n4"]


def test_values_of_all_schemas_are_counted_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "t.awkd", {"x": b"12", **{f"n{number}.json": bytes_of("x") for number in range(3)}})
    schema = json.dumps({"awkward0": "0.15.5", "schema": bytes_of("x")})
    values = 3 * sum(schema.count(mark) for mark in "[{,")
    set_limits(monkeypatch, awkward_values=values)
    assert len(sa.read(path)) == 3
    set_limits(monkeypatch, awkward_values=values - 1)
    with pytest.raises(sa.FormatError, match="values in schemas, the most that are read together"):
        sa.read(path)


def test_a_blob_takes_memory_each_time_that_it_is_read(tmp_path: Path) -> None:
    blob = bytes(MEGABYTE)
    for members in (
        {"t.json": {"list": [{"read": "x"}] * 300}},
        {f"n{number}.json": bytes_of("x") for number in range(300)},
    ):
        path = archive(tmp_path / "t.awkd", {"x": blob, **members})
        with pytest.raises(sa.FormatError, match="more than the 268435456 bytes that the arrays of this file may take"):
            sa.read(path)
        assert 0 < len(list(sa.check(path))) <= 1001
    path = archive(tmp_path / "t.awkd", {"x": blob, **{f"n{number}.json": bytes_of("x") for number in range(100)}})
    assert len(sa.read(path)) == 100


@pytest.mark.parametrize("suffix", [".awkd", ".csv"])
def test_no_more_awkward_arrays_are_written_than_are_read(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"t{suffix}"
    arrays = {name: ak.Array([[1], [], [2, 3]]) for name in "abcd"}
    sa.write(path, dict(list(arrays.items())[:3]))
    steps = {".awkd": 3 * (1 + 2 * 2 + 1), ".csv": 3 * (1 + 2 + 1)}[suffix]  # a schema, two blobs, lists
    set_limits(monkeypatch, awkward_steps=steps)
    set_limits(monkeypatch, awkward_descriptions=3)
    assert len(sa.read(path)) == 3
    with pytest.raises(sa.LimitError, match="write several files"):
        sa.write(path, arrays)
    assert len(sa.read(path)) == 3


def test_texts_that_look_like_schemas_are_told_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text(in_rows({f"n{number}.json": '{"awkward0":1}' for number in range(300)}), newline="")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(sa.read(path)) == 300
    beginnings = [str(warning.message).partition(": ")[2][:12] for warning in caught]
    assert beginnings == ["read as text"] * 100 + ["200 more arr"]
    assert [finding.severity for finding in sa.check(path)] == ["warning"] * 101
    for module in ("interchange.awkward.columns", "sheets.arrays_of_sheets.gathering", "columns.refusals"):
        monkeypatch.setattr(f"sheetarray.{module}.MOST_DESCRIPTIONS", 299)
    with pytest.raises(sa.FormatError, match="more than 299 awkward arrays"):
        sa.read(path)
    assert [finding.severity for finding in sa.check(path)] == ["error"]
    assert len(sa.scan(path)) == 300


def test_arrays_in_quoted_rows_are_read_in_linear_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sheetarray.sheets.delimited.plain_records import RecordBlock

    matched = []
    match_fields = RecordBlock._match_fields

    def counted(self: Any, content: Any, place: int, mark: int, size: int) -> None:
        match_fields(self, content, place, mark, size)
        matched.append(int(self.ends[-1]) - place)

    monkeypatch.setattr(RecordBlock, "_match_fields", counted)
    path = tmp_path / "t.csv"
    text = in_rows({f"n{number}": 'a"b' for number in range(2000)})
    path.write_text(text, newline="")
    arrays = sa.read(path)
    assert len(arrays) == 2000
    assert np.concatenate([*arrays.values()]).tolist() == ['a"b'] * 2000
    assert sum(matched) < 12 * len(text)
