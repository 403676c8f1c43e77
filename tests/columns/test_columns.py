"""Anchors anywhere: what people do to a sheet, and what reading makes of it."""

from __future__ import annotations

from itertools import zip_longest

import numpy as np
import pytest
from addresses import cell_address
from round_trips import ARRAYS, grid, intact, put, read, same

import sheetarray as sa

# Layout ------------------------------------------------------------------------------------------------------


def test_row_1_holds_the_names_and_columns_have_their_own_lengths() -> None:
    rows = grid(ARRAYS)
    assert rows[0] == ["t", "i", "s"]
    for column, (name, array) in enumerate(ARRAYS.items()):
        cells = [row[column] for row in rows[1:]]
        assert cells[:3] == ["version", "1.0.0", "ndarray"]
        length = len(sa.to_linear(array))
        assert cells[length:] == [""] * (len(rows) - 1 - length), name
    assert {len(row) for row in rows} == {3}


@pytest.mark.parametrize("orient", ["columns", "rows"])
@pytest.mark.parametrize("cells", [["note"], [""], ["x", ""]])
def test_cells_put_between_version_and_ndarray_make_no_older_list(cells: list[str], orient: str) -> None:
    rows = [[row[0], *row[1:3], *cells, *row[3:]] for row in grid(ARRAYS, orient="rows")]
    if orient == "columns":
        rows = [list(row) for row in zip_longest(*rows, fillvalue="")]
    with pytest.raises(sa.FormatError, match="expected 'version' two cells before 'ndarray'"):
        read(rows)
    findings = list(sa.check(put(rows), format="csv"))
    assert [(finding.severity, finding.array) for finding in findings] == [("error", name) for name in ARRAYS]


def test_an_array_per_row() -> None:
    rows = grid(ARRAYS, orient="rows")
    assert [row[0] for row in rows] == ["t", "i", "s"]
    assert [row[1:4] for row in rows] == [["version", "1.0.0", "ndarray"]] * 3
    same(read(rows))
    intact(rows)


@pytest.mark.parametrize("column", [0, 25, 26, 701, 702, 18277])
def test_columns_have_letters(column: int) -> None:
    rows = [
        ["x"] * column + ["version"],
        ["x"] * column + ["1.0.0"],
        ["x"] * column + ["ndarray"],
        ["x"] * column + ["?"],
    ]
    with pytest.raises(sa.FormatError) as caught:
        read(rows)
    assert caught.value.location == cell_address(3, column)


# What people do to a sheet -----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 7, 300, 1000])
def test_rows_inserted_above(count: int) -> None:
    rows = [["Measured by us"] if index == 0 else [] for index in range(count)] + grid(ARRAYS)
    same(read(rows))
    intact(rows)


@pytest.mark.parametrize("cell", ["", "7", "text", "=A1"])
def test_a_column_inserted_to_the_left(cell: str) -> None:
    rows = [[cell, *row] for row in grid(ARRAYS)]
    same(read(rows))
    intact(rows)


@pytest.mark.parametrize("cell", ["", "=SUM(A1:A3)", "1,5"])
def test_a_formula_column_to_the_right_and_one_in_between(cell: str) -> None:
    rows = [[row[0], cell, *row[1:], cell, ""] for row in grid(ARRAYS)]
    same(read(rows))
    intact(rows)


def test_rows_above_and_columns_on_all_sides_at_once() -> None:
    rows = [["title"], [], *[["x", "", *row, "", "y"] for row in grid(ARRAYS)], *[["below"] + [""] * 4] * 50]
    same(read(rows))
    intact(rows)


def test_columns_moved_come_back_in_their_new_order() -> None:
    rows = [[row[2], row[0], row[1]] for row in grid(ARRAYS)]
    same(read(rows), {name: ARRAYS[name] for name in ("s", "t", "i")})


def test_arrays_that_begin_in_different_rows() -> None:
    one, other = grid({"t": ARRAYS["t"]}), grid({"i": ARRAYS["i"]})
    other = [[""], [""], [""], *other]
    height = max(len(one), len(other))
    rows = [
        (one[index] if index < len(one) else [""]) + (other[index] if index < len(other) else [""])
        for index in range(height)
    ]
    same(read(rows), {"t": ARRAYS["t"], "i": ARRAYS["i"]})


def test_one_array_under_another_in_one_column() -> None:
    rows = [*grid({"t": ARRAYS["t"]}), [""], *grid({"i": ARRAYS["i"]})]
    same(read(rows), {name: ARRAYS[name] for name in ("t", "i")})
    intact(rows)
    rows[len(sa.to_linear(ARRAYS["t"])) + 1][0] = "7"  # what stands between is no padding
    with pytest.raises(sa.FormatError) as caught:
        read(rows)
    assert caught.value.location == cell_address(1 + len(sa.to_linear(ARRAYS["t"])), 0)


def test_trailing_blank_columns_and_rows_are_nothing() -> None:
    rows = [[*row, "", "", " "] for row in grid(ARRAYS)] + [[""] * 6] * 5
    same(read(rows))
    intact(rows)


def test_a_cell_below_an_array_is_named() -> None:
    rows = [*grid({"i": ARRAYS["i"]}), [""], ["7"]]
    with pytest.raises(sa.FormatError) as caught:
        read(rows)
    assert caught.value.location == cell_address(len(rows) - 1, 0)
    assert list(sa.check(put(rows), format="csv"))


def test_an_edited_element_is_named_by_cell_and_index() -> None:
    rows = grid(ARRAYS)
    rows[-2][0] = "oops"  # t[1, 0] or one near it
    at = len(rows) - 2
    with pytest.raises(sa.FormatError) as caught:
        read(rows)
    assert caught.value.location == cell_address(at, 0)
    index = at - 1 - (len(sa.to_linear(ARRAYS["t"])) - 4)
    assert caught.value.element == f"t[{index // 2}, {index % 2}]"
    (finding,) = sa.check(put(rows), format="csv")
    assert (finding.severity, finding.location) == ("error", cell_address(at, 0))
    assert finding.message.startswith(caught.value.element)


def test_check_goes_on_after_the_first() -> None:
    rows = grid({"a": np.arange(4), "b": np.arange(4.0), "c": np.arange(4)})
    rows[-1][0], rows[-2][1], rows[-1][1], rows[8][2] = "x", "y", "", "z"
    findings = [finding.location for finding in sa.check(put(rows), format="csv")]
    assert {cell_address(len(rows) - 1, 0), cell_address(len(rows) - 2, 1), cell_address(len(rows) - 1, 1)} <= set(
        findings
    )
    assert any(location and location.startswith("C") for location in findings)
    assert all(finding.message for finding in sa.check(put(rows), format="csv"))


def test_names_decodes_only_what_it_selects() -> None:
    rows = grid(ARRAYS)
    rows[20][1] = "broken"
    same(read(rows, names=["t", "s"]), {name: ARRAYS[name] for name in ("t", "s")})
    with pytest.raises(sa.FormatError):
        read(rows, names=["i"])


def test_a_broken_semver_before_ndarray_is_an_anchor_that_check_reports() -> None:
    for broken in ("1.0", "2000-01-01", "1,0,0", "36526", "x"):
        rows = grid(ARRAYS)
        rows[2][1] = broken
        findings = list(sa.check(put(rows), format="csv"))
        assert [finding.location for finding in findings] == ["B3"], broken
        with pytest.raises(sa.FormatError) as caught:
            read(rows)
        assert caught.value.location == "B3"


def test_a_sheet_with_no_anchor_points_at_read_columns() -> None:
    for rows in ([["a", "b"], ["1", "2"]], [["version", "1.0.0", "x"]], [["ndarray"]], [["version"], ["1.0.0"]]):
        for verb in (sa.read, sa.scan):
            with pytest.raises(sa.FormatError, match="read_columns"):
                verb(put(rows), format="csv")
        (finding,) = sa.check(put(rows), format="csv")
        assert finding.severity == "error"


def test_the_words_of_an_anchor_within_data_are_data() -> None:
    array = np.array(["version", "1.0.0", "ndarray", "shape", "data"] * 20)
    rows = grid({"a": np.arange(3), "w": array, "z": np.arange(2)})
    same(read(rows), {"a": np.arange(3), "w": array, "z": np.arange(2)})
    rows = grid({"a": np.arange(3), "w": array, "z": np.arange(2)}, orient="rows")
    same(read(rows), {"a": np.arange(3), "w": array, "z": np.arange(2)})


def test_the_words_of_an_anchor_side_by_side_in_data_are_data() -> None:
    arrays = {
        "a": np.array(["version"] * 30),
        "b": np.array(["1.0.0"] * 30),
        "c": np.array(["ndarray"] * 30),
        "d": np.array(["shape"] * 30),
    }
    same(read(grid(arrays)), arrays)
    same(read(grid(arrays, orient="rows")), arrays)


def test_the_gsheets_form_without_a_version_is_read_with_a_warning() -> None:
    rows = [row for index, row in enumerate(grid({"i": ARRAYS["i"]})) if index not in (1, 2)]
    with pytest.warns(sa.SheetArrayWarning):
        same(read(rows), {"i": ARRAYS["i"]})
    with pytest.raises(sa.FormatError):
        read(rows, strict=True)
