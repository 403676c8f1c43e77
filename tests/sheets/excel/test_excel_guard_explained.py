"""Changes of whole arrays that `check` explains by the snapshot of a guard: other orders, factors, fewer digits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from excel_packages import parts, with_parts
from fingerprints import at_15, random_numbers

import sheetarray as sa
from sheetarray import LinearArray

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
    "single": (GRID, lambda x: x.astype("f4").astype("f8"), "all numbers were cut to single precision (float32)"),
    "sign": (GRID, np.negative, "every number was multiplied by -1"),
    "sign, rounded": (GRID, lambda x: at_15(-x), "every number was multiplied by -1"),
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
    "whole sign": (WHOLE, np.negative, "every number was multiplied by -1"),
    "whole factor": (WHOLE, lambda x: x * 7, "every number was multiplied by 7"),
    "whole divisor": (WHOLE * 4, lambda x: x // 4, "every number was divided by 4"),
    "whole constant": (WHOLE, lambda x: x + 1, "1 was added to every number"),
    "whole minus": (WHOLE.astype("u8") + 10**7, lambda x: x - np.uint64(3), "3 was taken from every number"),
    "dates": (DATES, lambda x: x - np.timedelta64(1462, "D"), "every date is 1462 days earlier"),
    "hours": (DATES.astype("M8[s]"), lambda x: x + np.timedelta64(3600, "s"), "every date is 1 hour later"),
    "durations": (3 * (DATES - DATES[0, 0]), lambda x: x + np.timedelta64(2, "D"), "every duration is 2 days longer"),
    "single floats": (GRID.astype("f4"), lambda x: x * np.float32(2.5), "every number was multiplied by 2.5"),
    "single decimals": (GRID.astype("f4"), lambda x: np.round(x, 1), "all numbers were rounded or cut to 1 decimal"),
}

SHEET = "xl/worksheets/sheet1.xml"


def errors(array: Array, change: Callable[[Array], Any], path: Path) -> list[str]:
    """What `check` says where other elements stand in the cells of a guarded array, taken from another workbook."""
    linear = LinearArray.from_numpy(array)
    elements = np.asarray(change(linear.buffer.copy())).astype(linear.buffer.dtype)
    changed = elements.reshape(array.shape, order="C" if array.flags.c_contiguous else "F")
    contents = []
    for one in (array, changed):
        sa.write(path, {"t": one}, guard=True, formats={"t": "General"} if array.dtype.kind in "fiu" else {})
        contents.append(path.read_bytes())
    path.write_bytes(with_parts(contents[0], {SHEET: parts(contents[1])[SHEET]}))
    found = [finding for finding in sa.check(path) if finding.severity == "error"]
    assert len(found) > 1 or {(finding.location, finding.array, finding.index) for finding in found} == {
        ("t", "t", None)
    }
    return [finding.message for finding in found]


@pytest.mark.parametrize("name", VALUES)
def test_a_change_that_was_the_same_for_all_elements_is_named(name: str, tmp_path: Path) -> None:
    array, change, message = VALUES[name]
    (said,) = errors(array, change, tmp_path / "t.xlsx")
    assert said == message


CUBE = random_numbers(4, 5, 6)


@pytest.mark.parametrize(
    ("array", "change", "message"),
    [
        (GRID, lambda x: x.reshape(40, 6).T.ravel(), "transposed: the elements stand in the order of the array's"),
        (
            np.asfortranarray(np.char.add("t", WHOLE.astype(str))),
            lambda x: x.reshape(40, 6, order="F").T.ravel("F"),
            "transposed: the elements stand in the order of the array's",
        ),
        (CUBE, lambda x: at_15(x.reshape(4, 5, 6).transpose(2, 0, 1).ravel()), "transposed, axes (2, 0, 1)"),
        (GRID, np.sort, "sorted: the elements are those that were written, but in ascending order"),
        (GRID, lambda x: np.sort(x)[::-1], "sorted: the elements are those that were written, but in descending order"),
    ],
)
def test_a_transpose_and_a_sort_are_named(array: Array, change: Any, message: str, tmp_path: Path) -> None:
    (said,) = errors(array, change, tmp_path / "t.xlsx")
    assert said.startswith(message)


RNG = np.random.default_rng(4)


@pytest.mark.parametrize(
    ("array", "change"),
    [
        (GRID, RNG.permutation),
        (GRID, lambda x: RNG.normal(size=len(x))),
        (GRID, lambda x: np.where(np.arange(len(x)) == 7, 5.0, x * 1000)),
        (GRID, lambda x: x * x),
        (GRID, lambda x: x * (1 + RNG.normal(size=len(x)) * 1e-9)),
        (GRID[0, :3], lambda x: x * 1000),
        (random_numbers(*[3] * 5, 70), RNG.permutation),  # the work is bounded for arrays of many axes
    ],
)
def test_what_has_no_single_explanation_has_none(array: Array, change: Any, tmp_path: Path) -> None:
    said = " ".join(errors(array, change, tmp_path / "t.xlsx"))
    assert any(word in said for word in ("edited", "reordered", "moved"))
    assert not any(word in said for word in ("every", "all numbers", "transposed", "sorted"))
