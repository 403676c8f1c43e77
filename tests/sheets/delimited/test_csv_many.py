"""Very many short arrays in one sheet: found and decoded together, as they are one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from limits import set_limits

import sheetarray as sa


def write_stacked(path: Path, arrays: dict[str, np.ndarray], damage: tuple[int, str] | None = None) -> None:
    lines: list[str] = []
    for number, (name, array) in enumerate(arrays.items()):
        cells = [str(cell) for cell in sa.to_linear(array)]
        if damage and damage[0] == number:
            cells[-1] = damage[1]
        lines += [name, *cells]
    path.write_text("\n".join([*lines, ""]))


@pytest.mark.parametrize("dtype", ["float64", "float16", "int8", "uint64", "complex128", "str"])
def test_stacked_arrays_are_their_own(tmp_path: Path, dtype: str) -> None:
    arrays = {f"a{number}": np.arange(number % 4).astype(dtype) for number in range(60)}
    write_stacked(tmp_path / "many.csv", arrays)
    together = sa.read(tmp_path / "many.csv")
    assert list(together) == list(arrays)
    for name, array in arrays.items():
        assert (together[name].dtype.kind, together[name].tolist()) == (array.dtype.kind, array.tolist())
        assert together[name].base is None or together[name].base.size == array.size  # nothing of the others


@pytest.mark.parametrize("damage", ["x", "", "1e999", "300"])
def test_a_damaged_one_among_many_is_named(tmp_path: Path, damage: str) -> None:
    arrays = {f"a{number}": np.arange(2, dtype="int8") for number in range(60)}
    write_stacked(tmp_path / "many.csv", arrays, (41, damage))
    findings = list(sa.check(tmp_path / "many.csv"))
    assert [finding.array for finding in findings] == ["a41"]
    with pytest.raises(sa.FormatError) as caught:
        sa.read(tmp_path / "many.csv")
    assert caught.value.array == "a41"
    assert caught.value.location == findings[0].location


def test_very_many_wrong_cells_of_one_array_leave_those_beside_it_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, explained_problems=3)
    arrays = {f"a{number}": np.arange(10.0) + number / 4 for number in range(40)}
    path = tmp_path / "many.csv"
    sa.write(path, arrays)
    rows = [line.split(",") for line in path.read_text().splitlines()]
    for row in rows[-8:]:
        row[1] = "x"
    path.write_text("\n".join(map(",".join, rows)) + "\n")
    sound = sa.read(path, [name for name in arrays if name != "a1"])
    assert all(np.array_equal(sound[name], arrays[name]) for name in sound)
    findings = list(sa.check(path))
    assert {finding.array for finding in findings} == {"a1"}
    assert [finding.index for finding in findings] == [(2,), (3,), (4,), (5,)]
    with pytest.raises(sa.FormatError, match=r"cell B\d+ \(a1\[2\]\)"):
        sa.read(path)
