"""Changes of whole arrays that `check` explains by the snapshot of a guard: other orders, factors, fewer digits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fingerprints import at_15, random_numbers

import sheetarray as sa
from sheetarray import LinearArray
from sheetarray.comparing import explain_change

openpyxl = pytest.importorskip("openpyxl")

Array = np.ndarray[Any, Any]
GRID = random_numbers(40, 6) * 100 + 20
WHOLE = np.random.default_rng(5).integers(-(10**6), 10**6, (40, 6))
DATES = np.datetime64("2020-01-01") + np.arange(240).reshape(40, 6)

VALUES: dict[str, tuple[Array, Callable[[Array], Any], str]] = {
    "2 decimals": (GRID, lambda x: np.round(x, 2), "all numbers were rounded or cut to 2 decimals"),
    "1 decimal": (GRID, lambda x: np.round(x, 1), "all numbers were rounded or cut to 1 decimal"),
    "no decimals": (GRID, np.round, "all numbers were rounded or cut to whole numbers"),
    "cut": (GRID, lambda x: np.trunc(x * 1000) / 1000, "all numbers were rounded or cut to 3 decimals"),
    "9 decimals": (GRID, lambda x: np.round(x, 9), "all numbers were rounded or cut to 9 decimals"),
    "4 to 2 decimals": (np.round(GRID, 4), lambda x: np.round(x, 2), "all numbers were rounded or cut to 2 decimals"),
    "6 digits": (
        GRID * 10.0 ** np.arange(6),
        lambda x: np.array([float(f"{v:.6g}") for v in x]),
        "all numbers were rounded or cut to 6 digits",
    ),
    "single": (GRID, lambda x: x.astype("f4").astype("f8"), "all numbers were cut to single precision (float32)"),
    "sign": (GRID, np.negative, "every number has the opposite sign"),
    "sign, rounded": (GRID, lambda x: at_15(-x), "every number has the opposite sign"),
    "factor": (GRID, lambda x: x * 2.54, "every number was multiplied by 2.54"),
    "factor, rounded": (GRID, lambda x: at_15(x * 2.54), "every number was multiplied by 2.54"),
    "divisor": (GRID, lambda x: x / 3, "every number was divided by 3"),
    "constant": (GRID, lambda x: x + 273.15, "273.15 was added to every number"),
    "minus": (GRID, lambda x: x - 1e-3, "0.001 was taken from every number"),
    "both": (GRID, lambda x: x * 1.8 + 32, "every number was multiplied by 1.8, and 32 added"),
    "filled": (GRID, lambda x: np.full_like(x, 7), "filled with one value: all 240 elements are 7.0 now"),
    "filled text": (
        np.array([f"t{k}" for k in range(200)]),
        lambda x: np.full_like(x, "t7"),
        "filled with one value: all 200 elements are 't7' now",
    ),
    "whole sign": (WHOLE, np.negative, "every number has the opposite sign"),
    "whole factor": (WHOLE, lambda x: x * 7, "every number was multiplied by 7"),
    "whole divisor": (WHOLE * 4, lambda x: x // 4, "every number was divided by 4"),
    "whole constant": (WHOLE, lambda x: x + 1, "1 was added to every number"),
    "whole minus": (WHOLE.astype("u8") + 10**7, lambda x: x - np.uint64(3), "3 was taken from every number"),
    "dates": (DATES, lambda x: x - 1462, "every date is 1462 days earlier"),
    "hours": (DATES.astype("M8[s]"), lambda x: x + 3600, "every date is 1 hour later"),
    "durations": (DATES - DATES[0, 0], lambda x: x + 2, "every duration is 2 days longer"),
    "single floats": (GRID.astype("f4"), lambda x: x * np.float32(2.5), "every number was multiplied by 2.5"),
    "single decimals": (GRID.astype("f4"), lambda x: np.round(x, 1), "all numbers were rounded or cut to 1 decimal"),
}

SHAPED = {
    "f8": GRID,
    "i4": WHOLE.astype("i4"),
    "text": np.char.add("t", WHOLE.astype(str)),
    "F": np.asfortranarray(GRID),
}
PLACES: dict[str, tuple[Callable[[Array], Array], str]] = {
    "reversed": (lambda grid: grid[::-1, ::-1], "reversed: the last element stands first"),
    "rows reversed": (lambda grid: grid[::-1], "reversed: the rows stand in reverse order"),
    "columns reversed": (lambda grid: grid[:, ::-1], "reversed: the columns stand in reverse order"),
}


def explain(array: Array, change: Callable[[Array], Any]) -> str | None:
    linear = LinearArray.from_numpy(array)
    return explain_change(linear.buffer, np.asarray(change(linear.buffer.copy())), linear.header)


@pytest.mark.parametrize("name", VALUES)
def test_a_change_that_was_the_same_for_all_elements_is_named(name: str) -> None:
    array, change, message = VALUES[name]
    assert explain(array, change) == message


@pytest.mark.parametrize("moved_array", [f"{kind}, {name}" for kind in SHAPED for name in PLACES])
def test_another_order_of_all_elements_is_named(moved_array: str) -> None:
    kind, _, name = moved_array.partition(", ")
    array, (change, message) = SHAPED[kind], PLACES[name]
    linear = LinearArray.from_numpy(array)
    moved = change(linear.to_numpy()).ravel("F" if kind == "F" else "C")
    assert (explain_change(linear.buffer, moved, linear.header) or "").startswith(message)


def test_a_transpose_and_a_sort_are_named() -> None:
    said = explain(GRID, lambda x: x.reshape(40, 6).T.ravel())
    assert said == "transposed: the elements stand in the order of the array's transpose"
    cube = random_numbers(4, 5, 6)
    said = explain(cube, lambda x: at_15(x.reshape(4, 5, 6).transpose(2, 0, 1).ravel()))
    assert (said or "").startswith("transposed, axes (2, 0, 1)")
    assert "ascending" in (explain(GRID, np.sort) or "")
    assert "descending" in (explain(GRID, lambda x: np.sort(x)[::-1]) or "")


def test_what_has_no_single_explanation_has_none() -> None:
    rng = np.random.default_rng(4)
    changes: list[Callable[[Array], Array]] = [
        rng.permutation,
        lambda x: rng.normal(size=len(x)),
        lambda x: np.where(np.arange(len(x)) == 7, 5.0, x * 1000),
        lambda x: x * x,
        lambda x: x * (1 + rng.normal(size=len(x)) * 1e-9),
    ]
    assert [explain(GRID, change) for change in changes] == [None] * len(changes)
    assert explain(GRID[0, :3], lambda x: x * 1000) is None


def test_the_work_is_bounded_for_arrays_of_many_axes() -> None:
    array = random_numbers(*[3] * 5, 70)
    assert explain(array, np.random.default_rng(1).permutation) is None


def change_book(path: Path, change: Callable[[Array], Array]) -> list[sa.Finding]:
    book = openpyxl.load_workbook(path)
    sheet = book["arrays"]
    first = next(row for row in range(1, 99) if sheet.cell(row, 1).value == "data") + 1
    cells = [sheet.cell(row, 1) for row in range(first, sheet.max_row + 1)]
    for cell, value in zip(cells, change(np.array([cell.value for cell in cells])).tolist(), strict=True):
        cell.value = value
    book.save(path)
    return [finding for finding in sa.check(path) if finding.severity == "error"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x * 1000, "every number was multiplied by 1000"),
        (lambda x: x.reshape(40, 6).T.ravel(), "transposed: "),
        (np.sort, "sorted: "),
        (lambda x: x.astype("f4").astype("f8"), "all numbers were cut to single precision (float32)"),
    ],
)
def test_check_says_it_in_one_finding(change: Callable[[Array], Array], message: str, tmp_path: Path) -> None:
    sa.write(tmp_path / "a.xlsx", {"t": GRID}, guard=True)
    (finding,) = change_book(tmp_path / "a.xlsx", change)
    assert finding.message.startswith(message)
    assert (finding.location, finding.array, finding.index) == ("t", "t", None)
