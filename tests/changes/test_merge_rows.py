"""Rows of copies are found again in a merge: rounded ones, those of single arrays and of empty tables, and at ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sheetarray as sa


def merge_files(folder: Path, suffix: str, base: Any, *copies: Any, **options: Any) -> Any:
    """Merge copies that are written to files, and hold that the target reads back as what was merged."""
    paths = [folder / f"{name}.{suffix}" for name in ("base", *(f"copy{number}" for number in range(len(copies))))]
    for path, arrays in zip(paths, (base, *copies), strict=True):
        sa.write(path, arrays, **(options if path is paths[0] else {}))
    target = folder / f"merged.{suffix}"
    merged = sa.merge(*paths, target=target)
    read = sa.read(target)
    assert list(read) == list(merged.arrays)
    for name, array in merged.arrays.items():
        assert read[name].tobytes() == array.tobytes(), name
    assert list(sa.check(target)) == []
    return merged


@pytest.mark.parametrize("digits", [15, 16, 17])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_that_were_rounded_keep_their_bits_where_one_was_added(tmp_path: Path, digits: int, order: Any) -> None:
    values = np.random.default_rng(1).normal(size=(3000, 5))
    rounded = np.array([float(f"{value:.{digits}g}") for value in values.ravel()]).reshape(values.shape)
    rounded[1700, 2] = 7.5
    longer = np.vstack([rounded, np.arange(5.0)])
    merged = merge_files(tmp_path, "csv", {"t": np.array(values, order=order)}, {"t": np.array(longer, order=order)})
    values[1700, 2] = 7.5
    assert merged.arrays["t"].tobytes() == np.vstack([values, np.arange(5.0)]).tobytes()
    assert (merged.files[0].elements, merged.files[0].added) == ({"t": 1}, {"t": 1})
    assert not merged.files[0].deleted


@pytest.mark.parametrize("at", [0, 1, 1500, 2999, 3000])
def test_rows_that_were_rounded_keep_their_bits_where_one_was_inserted_and_one_deleted(tmp_path: Path, at: int) -> None:
    values = np.random.default_rng(at).normal(size=(3000, 3))
    rounded = np.array([float(f"{value:.15g}") for value in values.ravel()]).reshape(values.shape)
    inserted = np.insert(rounded, at, [1.0, 2.0, 3.0], axis=0)
    deleted = np.delete(rounded, 77, axis=0)
    merged = merge_files(tmp_path, "csv", {"t": values}, {"t": inserted}, {"t": deleted})
    wanted = np.insert(values, at, [1.0, 2.0, 3.0], axis=0)
    assert merged.arrays["t"].tobytes() == np.delete(wanted, 77 + (at <= 77), axis=0).tobytes()


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "json"])
def test_tables_without_rows_take_the_rows_of_copies(tmp_path: Path, suffix: str) -> None:
    empty = pd.DataFrame({"a": np.zeros(0), "b": np.zeros(0, "U3")}, index=pd.Index(np.zeros(0, "i8"), name="id"))

    def fill(number: int, text: str) -> pd.DataFrame:
        return pd.DataFrame({"a": [number / 2], "b": [text]}, index=pd.Index([number], name="id"))

    merged = merge_files(tmp_path, suffix, empty, fill(3, "x"), empty, fill(4, "y"))
    assert merged.arrays["id"].tolist() == [3, 4]
    assert merged.arrays["b"].tolist() == ["x", "y"]
    merged = merge_files(tmp_path, suffix, fill(3, "x"), empty)
    assert merged.arrays["a"].shape == (0,)


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "json"])
@pytest.mark.parametrize("more", [0, 1, 3, 30])
def test_integers_of_many_digits_take_more_rows(tmp_path: Path, suffix: str, more: int) -> None:
    numbers = 2**60 + np.arange(5)
    longer = np.concatenate([numbers, 2**60 + 77 + np.arange(more), [5, 7]])
    merged = merge_files(tmp_path, suffix, {"n": numbers}, {"n": longer})
    assert merged.arrays["n"].tolist() == longer.tolist()
    if suffix != "json":
        assert sa.read(tmp_path / f"merged.{suffix}", resize=True)["n"].tolist() == longer.tolist()


def test_integers_of_many_digits_are_resized(tmp_path: Path) -> None:
    words = "version 1.0.0 ndarray shape 5 strides 1 offset 0 order row-major dtype int64 length 5 capacity 5 data"
    numbers = [str(2**60 + number) for number in range(5)]
    sa.write_table(tmp_path / "t.xlsx", {"n": np.array([*words.split(), *numbers, *numbers[:3]])}, verify=False)
    assert sa.read(tmp_path / "t.xlsx", resize=True)["n"].tolist() == list(map(int, [*numbers, *numbers[:3]]))


def test_a_single_array_is_compared_by_its_content_too(tmp_path: Path) -> None:
    base, ann, ben = ([1.5, 2.5, 3.5, 4.5, 5.5], [1.5, 3.5, 4.5, 5.5, 9.5], [1.5, 2.5, 3.5, 7.5, 5.5])
    merged = merge_files(tmp_path, "csv", *({"t": np.array(values)} for values in (base, ann, ben)))
    assert merged.arrays["t"].tolist() == [1.5, 3.5, 7.5, 5.5, 9.5]
    assert not merged.conflicts


@pytest.mark.parametrize(
    "now",
    [[1, 1, 0, 0, 1, 0], [0, 1, 1, 0, 0, 1], [0, 0, 0, 0, 1, 1], [1, 0, 1, 0, 1, 0]],
)
def test_edits_of_a_single_array_of_few_values_are_no_moves(tmp_path: Path, now: list[int]) -> None:
    base = np.array([0, 1, 0, 0, 1, 1])
    merged = merge_files(tmp_path, "csv", {"t": base}, {"t": np.array(now)})
    assert merged.arrays["t"].tolist() == now


def test_two_values_that_were_exchanged_are_edits_and_sorted_ones_are_not(tmp_path: Path) -> None:
    base = np.random.default_rng(3).normal(size=20)
    exchanged = base.copy()
    exchanged[[3, 9]] = exchanged[[9, 3]]
    merged = merge_files(tmp_path, "csv", {"t": base}, {"t": exchanged})
    assert merged.arrays["t"].tolist() == exchanged.tolist()
    merged = merge_files(tmp_path, "csv", {"t": base}, {"t": np.sort(base)})
    assert merged.arrays["t"].tolist() == base.tolist()
    assert merged.files[0].moved == ["t"]


def test_numbers_that_were_all_multiplied_are_edits(tmp_path: Path) -> None:
    base = np.random.default_rng(3).normal(size=(20, 4))
    other = base.copy()
    other[3, 2] = 5.0
    merged = merge_files(tmp_path, "csv", {"t": base}, {"t": base * 1000}, {"t": other})
    assert [conflict.index for conflict in merged.conflicts] == [(3, 2)]
    assert merged.files[0].elements == {"t": 80}
