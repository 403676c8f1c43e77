"""Rows that people have added, deleted and moved in a guarded array: found, and all other elements exact."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run_command
from exact_powers import powers_of_ten
from examples import examples
from excel_packages import parts, with_parts
from mixtures import edited_sheet
from roundings import at_15, random_numbers

import sheetarray as sa
from sheetarray import LinearArray
from sheetarray.changes import rows as aligning
from sheetarray.changes.rows import RowMap, align_tables
from sheetarray.dtypes import DType, from_name
from sheetarray.testing.cases import assert_same

Array = np.ndarray[Any, Any]


def align_rows(written: Array, cells: Array, dtype: DType, row: int) -> RowMap:
    """The origins of the rows of one array, given its elements."""
    return align_tables([(written.reshape(-1, row), dtype)], [(cells.reshape(-1, row), dtype)])


def round_to(array: Array, digits: int = 15) -> Array:
    """As a program leaves numbers."""
    return np.array([float(f"{number:.{digits}g}") for number in array.ravel().tolist()]).reshape(array.shape)


def make_doubles(rng: np.random.Generator, *shape: int) -> Array:
    return rng.normal(size=shape) * powers_of_ten(rng.integers(-9, 9, shape))


@pytest.mark.parametrize("shape", [(77_760, 1), (2160, 36), (216, 360)])
def test_fifty_edits_and_six_rows_leave_every_other_element_where_it_belongs(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(shape[0])
    for _ in range(examples(8)):
        written = make_doubles(rng, *shape)
        cells, origin = round_to(written), np.arange(shape[0])
        cells[rng.choice(shape[0], 50), rng.integers(0, shape[1], 50)] = rng.normal(size=50)
        gone, added = rng.choice(shape[0], 3, replace=False), rng.choice(shape[0] - 3, 3, replace=False)
        cells, origin = np.delete(cells, gone, 0), np.delete(origin, gone)
        cells = np.insert(cells, added, make_doubles(rng, 3, shape[1]), 0)
        origin = np.insert(origin, added, -1)
        sources = align_rows(written.ravel(), cells.ravel(), from_name("float64"), shape[1]).sources
        assert (sources == origin).mean() > 1 - 12 / shape[0]  # an edit beside an added row may be either
        wrong = np.flatnonzero((sources >= 0) & (sources != origin))
        assert not (np.isclose(written[sources[wrong]], cells[wrong], rtol=1e-14).any())


def test_many_equal_values_are_told_by_what_stands_around_them() -> None:
    rng = np.random.default_rng(3)
    written = rng.integers(0, 20, 5000) / 10
    cells = np.delete(written, [100, 2500])
    alignment = align_rows(written, cells, from_name("float64"), 1)
    assert (written[alignment.sources] == cells).all()
    assert (np.diff(alignment.sources) > 0).all()
    assert len(alignment.deleted) == 2
    same = np.zeros(500)
    assert (align_rows(same, same[:-7], from_name("float64"), 1).sources == np.arange(493)).all()


def kinds() -> dict[str, Array]:
    """Twenty elements of each kind of dtype, no two alike."""
    numbers = np.arange(1, 21)
    return {
        "float64": numbers / 7,
        "float16": numbers.astype("f2"),
        "complex128": numbers / 7 + 1j * numbers / 3,
        "int64": numbers * 10**17 + numbers,
        "uint8": numbers.astype("u1"),
        "datetime64[D]": numbers.astype("M8[D]"),
        "datetime64[ns]": (numbers * 86_400_001_117_111).astype("M8[ns]"),
        "timedelta64[s]": (numbers * 3611).astype("m8[s]"),
        "string": np.array([f"text {number} " for number in numbers]),
        "generic": np.array([None, True, "x", 0.1, *range(16)], dtype=object),
    }


@pytest.mark.parametrize("name", kinds())
def test_every_kind_of_elements_is_aligned(name: str) -> None:
    array = kinds()[name]
    cells = np.concatenate([array[3:5], array[:3], array[6:]])
    alignment = align_rows(array, cells, from_name(name), 1)
    assert alignment.sources.tolist() == [3, 4, 0, 1, 2, *range(6, 20)]
    assert alignment.moved.tolist() == [True] * 2 + [False] * 17
    assert alignment.deleted == [5]


def test_work_is_bounded_where_nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    one, other = rng.integers(0, 2, (2, 30_000)).astype(float)
    pairs = []
    monkeypatch.setattr(
        aligning, "_longest_common", lambda weights: pairs.append(weights.size) or np.zeros((0, 2), int)
    )
    align_rows(one, other, from_name("float64"), 1)
    assert max(pairs, default=0) <= aligning._MOST_PAIRS


# In workbooks --------------------------------------------------------------------------------------------------


@pytest.fixture
def guarded(tmp_path: Path) -> tuple[Path, Array]:
    """A workbook with a guarded array of 40 rows, as openpyxl saves it."""
    array = np.random.default_rng(8).normal(size=(40, 3))
    sa.write(tmp_path / "a.xlsx", {"t": array}, guard=True)
    return tmp_path / "a.xlsx", array


def rearrange(path: Path, rows: Array) -> Path:
    """Put other rows into the column of the array, and save the workbook."""
    with edited_sheet(path) as sheet:
        first = next(row for row in range(1, 99) if sheet.cell(row, 1).value == "data") + 1
        sheet.delete_rows(first, sheet.max_row)
        for place, element in enumerate(rows.ravel().tolist()):
            sheet.cell(first + place, 1, element)
    return path


def test_rows_added_and_deleted_leave_all_others_exact(guarded: tuple[Path, Array], tmp_path: Path) -> None:
    path, array = guarded
    wanted = np.delete(np.insert(array, [10, 20, 20], 0.1 + 0.2, 0), 35, 0)
    wanted[5, 1] = 7
    rounded = round_to(wanted)
    rearrange(path, rounded)
    wanted[[10, 21, 22]] = 0.3  # typed by people: nothing to restore
    assert_same(sa.read(path, resize=True)["t"], wanted)
    assert (sa.read(path, resize=True, guard=False)["t"] != wanted).sum() > 10
    messages = [finding.message for finding in sa.check(path)]
    was = " ".join(map(str, array[32].tolist()))
    assert messages[:2] == [f"row 32 deleted in t: it was t {was}", "rows 10, 21, 22 inserted in t"]
    assert [message.partition(":")[0] for message in messages[2:]] == ["t[5, 1]"]
    assert messages[2].endswith(" -> 7.0")
    sa.restore(path, tmp_path / "kept.xlsx", keep_edits=True)
    assert_same(sa.read(tmp_path / "kept.xlsx", guard=False)["t"], wanted)
    sa.restore(path, tmp_path / "written.xlsx")
    assert_same(sa.read(tmp_path / "written.xlsx", guard=False)["t"], array)


def test_moved_rows_are_named_and_restored_where_they_are_asked_for(guarded: tuple[Path, Array]) -> None:
    path, array = guarded
    order = [*range(3, 40), 0, 1, 2]
    rearrange(path, round_to(array[order]))
    (finding,) = (finding for finding in sa.check(path) if finding.severity == "error")
    assert finding.message == "rows 37 to 39 moved in t"
    for resize in (False, True):
        assert_same(sa.read(path, resize=resize)["t"], array[order])


def test_diff_uses_the_guard(guarded: tuple[Path, Array], tmp_path: Path) -> None:
    path, array = guarded
    sa.write(tmp_path / "exact.csv", {"t": array})
    rounded = round_to(array)
    rounded[4, 0] = 2.5
    rearrange(path, rounded)
    done = run_command("diff", tmp_path / "exact.csv", path, "--json")
    assert done.exit_code == 1
    (compared,) = json.loads(done.output)["arrays"]
    assert [element["index"] for element in compared["first"]] == [[4, 0]]
    rounded[4, 0] = array[4, 0]
    rearrange(path, rounded)
    assert run_command("diff", tmp_path / "exact.csv", path).exit_code == 0
    rearrange(path, np.delete(rounded, [7], 0))
    done = run_command("diff", tmp_path / "exact.csv", path, "--read", "resize=true")
    assert done.exit_code == 1
    assert "rounding" not in done.output


# Changes of whole arrays that `check` explains by the snapshot of a guard -------------------------------------

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
    assert any(word in said for word in ("->", "edited", "another order", "moved"))
    assert not any(word in said for word in ("every", "all numbers", "transposed", "sorted"))
