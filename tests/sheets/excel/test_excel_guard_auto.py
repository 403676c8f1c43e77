"""By itself a workbook has a guard up to 100,000 elements; nobody meets its sheet who opens or reads the workbook."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from programs import resave

import sheetarray as sa


def titles(path: Path) -> list[str]:
    return openpyxl.load_workbook(path, read_only=True).sheetnames


@pytest.mark.parametrize(("count", "is_guarded"), [(99_999, True), (100_000, True), (100_001, False)])
def test_up_to_so_many_elements_together_have_a_guard(tmp_path: Path, count: int, is_guarded: bool) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, {"a": np.zeros(count - 1000), "b": np.zeros((10, 100))})
    assert titles(path) == ["arrays", "arrays guard"][: 1 + is_guarded]


def test_labels_count_as_the_cells_that_they_take(tmp_path: Path) -> None:
    """A frame of 50,000 rows, its index, and the description of them, which takes a cell."""
    for count, is_guarded in ((49_999, True), (50_000, False)):
        frame = pd.DataFrame({"a": np.zeros(count)}, index=pd.Index(np.arange(count) * 2, name="key"))
        sa.write(tmp_path / "t.xlsx", frame)
        assert titles(tmp_path / "t.xlsx") == ["arrays", "arrays guard"][: 1 + is_guarded]


@pytest.mark.parametrize(("guard", "expected"), [(True, True), (False, False), ("auto", False)])
def test_a_caller_may_say_otherwise(tmp_path: Path, guard: Any, expected: bool) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, {"a": np.zeros(100_001)}, guard=guard)
    assert ("arrays guard" in titles(path)) == expected
    with pytest.raises(ValueError, match="guard is"):
        sa.write(path, {"a": np.zeros(3)}, guard="always")


def test_a_workbook_that_has_one_keeps_it_and_arrays_that_are_there_count(tmp_path: Path) -> None:
    guarded, plain, small = (tmp_path / f"{name}.xlsx" for name in ("guarded", "plain", "small"))
    sa.write(guarded, {"a": np.zeros(100_001)}, guard=True)
    sa.write(plain, {"a": np.zeros(99_998)}, guard=False)
    sa.write(small, {"a": np.zeros(99_997)}, guard=False)
    for path in (guarded, plain, small):
        sa.write(path, {"b": np.arange(3.0)}, mode="a", sheet="more")
    assert titles(guarded) == ["arrays", "arrays guard", "more", "more guard"]
    assert titles(plain) == ["arrays", "more"]
    assert titles(small) == ["arrays", "more", "more guard"]
    sa.accept(guarded)
    assert titles(guarded) == ["arrays", "arrays guard", "more", "more guard"]


def test_nobody_meets_the_sheet(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, {"a": np.arange(3.0), "s": np.array(["x", "y", "z"])})
    book = openpyxl.load_workbook(path)
    assert [(sheet.title, sheet.sheet_state) for sheet in book] == [
        ("arrays", "visible"),
        ("arrays guard", "veryHidden"),
    ]
    assert list(sa.scan(path)) == list(sa.read(path)) == ["a", "s"]
    assert pd.read_excel(path, header=None, engine="openpyxl").iloc[0].tolist() == ["a", "s"]
    with pytest.raises(sa.NotFoundError) as caught:
        sa.read(path, sheet="other")
    assert "guard" not in str(caught.value)
    text = resave(path, "csv", tmp_path / "out").read_text("utf-8")
    assert text.replace('"', "").startswith("a,s")
    assert "sheetarray guard" not in text


def test_a_file_grows_by_at_most_two_thirds() -> None:
    rng = np.random.default_rng(1)
    arrays: dict[str, Any] = {
        "noise": rng.standard_normal(20_000),
        "prices": np.cumsum(rng.normal(0, 0.5, 20_000)).round(2),
        "integers": rng.integers(0, 1000, 20_000),
        "text": rng.choice([f"station {number}" for number in range(300)], 20_000),
        "complex": rng.standard_normal(20_000) + 1j * rng.standard_normal(20_000),
    }
    for name, array in arrays.items():
        sizes = []
        for guard in (True, False):
            file = io.BytesIO()
            sa.write(file, {name: array}, format="xlsx", guard=guard)
            sizes.append(len(file.getvalue()))
        assert sizes[0] <= 1.65 * sizes[1], name
