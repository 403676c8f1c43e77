"""`accept` with a guard: what stands in cells is what is read afterwards, to the bit, whatever people did before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from examples import examples
from mixtures import edited_sheet

import sheetarray as sa

FIRST = 20  # the row of the first element of a 1-D array


@pytest.mark.filterwarnings("ignore:.* cannot be read, and stays as it is")
@pytest.mark.parametrize("second", [False, True])
def test_a_cell_that_was_unreadable_when_the_file_was_accepted_is_an_edit_later(tmp_path: Path, second: bool) -> None:
    path, array = tmp_path / "t.xlsx", np.arange(16.0).reshape(4, 4) / 7
    sa.write(path, {"t": array, **({"u": np.arange(5.0) / 7} if second else {})})
    with edited_sheet(path) as sheet:
        sheet["A28"] = "n/a"
        sheet["A29"] = 7.5
    sa.accept(path)
    (finding,) = sa.check(path)
    assert (finding.location, finding.index) == ("arrays!A28", (1, 2))
    with edited_sheet(path) as sheet:
        sheet["A28"] = 6
    (finding,) = sa.check(path)
    assert finding.message == f"t[1, 2]: {array[1, 2]:.6g} -> 6.0"
    expected = array.copy()
    expected[1, 2:] = 6, 7.5
    assert sa.read(path)["t"].tobytes() == expected.tobytes()
    sa.restore(path, tmp_path / "back.xlsx")
    expected[1, 2] = array[1, 2]  # the last value that could be read
    assert sa.read(tmp_path / "back.xlsx")["t"].tobytes() == expected.tobytes()


def test_of_two_rows_that_are_alike_the_one_that_is_there_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    for gone, rest in ((1, [5.5, 0.0, 2.5]), (2, [5.5, -0.0, 2.5])):
        sa.write(path, {"t": np.array([5.5, -0.0, 0.0, 2.5])})
        with edited_sheet(path) as sheet:
            sheet.delete_rows(FIRST + gone)
            sheet.cell(FIRST + 3, 1).value = 9.5
        expected = np.array([*rest, 9.5])
        assert sa.read(path)["t"].tobytes() == expected.tobytes()
        sa.accept(path)
        assert sa.read(path)["t"].tobytes() == sa.read(path, guard=False)["t"].tobytes() == expected.tobytes()
        assert list(sa.check(path)) == []


def test_an_empty_guard_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, {"t": np.arange(3.0)})
    book = openpyxl.load_workbook(path)
    book["arrays guard"].delete_rows(2, 10)
    book.save(path)
    assert sa.read(path)["t"].tolist() == [0, 1, 2]


def edit(rng: np.random.Generator, cells: list[Any]) -> tuple[list[Any], bool]:
    """What a person or a program makes of the cells of a column, and whether all of them can be read."""
    cells, place = list(cells), int(rng.integers(len(cells)))
    match rng.choice(["edit", "n/a", "blank", "sort", "insert", "delete", "append", "16 digits", "15 digits", "zeros"]):
        case "edit":
            cells[place] = float(rng.normal())
        case "n/a":
            cells[place] = "n/a"
        case "blank":
            cells[place] = None
        case "sort":
            cells.sort(key=lambda cell: cell if isinstance(cell, float) else 0.0)
        case "insert":
            cells.insert(place, float(rng.normal()))
        case "delete" if len(cells) > 3:
            del cells[place]
        case "append":
            cells.append(float(rng.normal()))
        case "16 digits":
            cells = [float(f"{cell:.16g}") if isinstance(cell, float) else cell for cell in cells]
        case "15 digits":
            cells = [float(f"{cell:.15g}") if isinstance(cell, float) else cell for cell in cells]
        case "zeros":
            cells = [cell + 0.0 if isinstance(cell, float) else cell for cell in cells]
    while cells and cells[-1] is None:
        cells.pop()
    return cells, all(isinstance(cell, float) for cell in cells)


def put(path: Path, cells: list[Any]) -> None:
    with edited_sheet(path) as sheet:
        for row in range(max(sheet.max_row - FIRST + 1, len(cells))):
            sheet.cell(FIRST + row, 1).value = cells[row] if row < len(cells) else None


@pytest.mark.filterwarnings("ignore:.* cannot be read, and stay")
@pytest.mark.parametrize("seed", range(examples(20)))
def test_whatever_was_done_to_cells_accept_makes_the_file_true_to_them(tmp_path: Path, seed: int) -> None:
    """Elements are near their cells after `accept`, nothing is found, and a second `accept` changes none."""
    rng, path = np.random.default_rng(seed), tmp_path / "t.xlsx"
    numbers = [float(number) for number in rng.choice([0.0, -0.0, 0.1 + 0.2, 0.3, *rng.normal(size=8)], 12)]
    sa.write(path, {"t": np.array(numbers), "other": np.arange(4.0) / 7})
    cells: list[Any] = numbers
    for _ in range(6):
        for _ in range(int(rng.integers(1, 4))):
            cells, is_whole = edit(rng, cells)
        if not cells:
            return
        put(path, cells)
        try:
            sa.accept(path)
        except sa.FormatError:
            assert not is_whole  # blanks at the end, and the like
            return
        findings = list(sa.check(path))
        assert sa.read(path, ["other"])["other"].tobytes() == (np.arange(4.0) / 7).tobytes()
        if is_whole:
            assert findings == []
            once = sa.read(path)["t"]
            assert np.allclose(once, np.array(cells), rtol=1e-14, atol=0)
            sa.accept(path)
            assert sa.read(path)["t"].tobytes() == once.tobytes()
            assert list(sa.check(path)) == []
        else:
            assert findings
