"""Anchors anywhere: what people do to a sheet, and what reading makes of it."""

from __future__ import annotations

import cProfile
import csv
import gc
import io
from itertools import zip_longest
from typing import Any

import numpy as np
import openpyxl
import pytest
from addresses import cell_address
from limits import get_limit
from round_trips import ARRAYS, grid, intact, put, read, same

import sheetarray as sa
from sheetarray import read_csv, write_csv
from sheetarray.errors import FormatError, NotFoundError
from sheetarray.loops import describe
from sheetarray.sheets.delimited import check_csv, scan_csv
from sheetarray.testing.cases import objects

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


def test_one_array_under_another_in_one_column() -> None:
    rows = [*grid({"t": ARRAYS["t"]}), [""], *grid({"i": ARRAYS["i"]})]
    same(read(rows), {name: ARRAYS[name] for name in ("t", "i")})
    intact(rows)
    rows[len(sa.to_linear(ARRAYS["t"])) + 1][0] = "7"  # what stands between is no padding
    with pytest.raises(sa.FormatError) as caught:
        read(rows)
    assert caught.value.location == cell_address(1 + len(sa.to_linear(ARRAYS["t"])), 0)


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
        with pytest.raises(sa.FormatError, match="read_columns"):
            sa.read(put(rows), format="csv")
        assert sa.scan(put(rows), format="csv").dialect is not None  # an ordinary table
        assert list(sa.check(put(rows), format="csv")) == []


def test_the_words_of_an_anchor_side_by_side_in_data_are_data() -> None:
    arrays = {
        "a": np.array(["version"] * 30),
        "b": np.array(["1.0.0"] * 30),
        "c": np.array(["ndarray"] * 30),
        "d": np.array(["shape"] * 30),
    }
    same(read(grid(arrays)), arrays)
    same(read(grid(arrays, orient="rows")), arrays)


# Names that stand further up than right above their headers, since the data of all arrays begin in one row ----

A, B = np.arange(24.0).reshape(2, 3, 4), np.arange(5, dtype="int16")

_MOST = get_limit("blanks_above")


def aligned_csv(*, blanks: int = 4, above: str = "", name: str = "b") -> bytes:
    """Return a CSV with two arrays, their names `blanks` cells above their headers."""
    file = io.BytesIO()
    sa.write_csv(file, {name: B, "c": B})
    first, *rest = file.getvalue().decode().splitlines()
    lines = [above, first] if above else [first]
    return "\r\n".join([*lines, *[","] * blanks, *rest, ""]).encode()


@pytest.mark.parametrize("blanks", [0, 1, 15, 16, 17, _MOST - 1, _MOST])
def test_a_name_may_stand_above_blanks(blanks: int) -> None:
    assert list(sa.read_csv(io.BytesIO(aligned_csv(blanks=blanks)))) == ["b", "c"]


def test_a_name_stands_above_no_more_blanks_than_a_header_is_tall() -> None:
    assert list(sa.read_csv(io.BytesIO(aligned_csv(blanks=_MOST + 1)))) == ["A", "B"]


def test_the_nearest_cell_above_is_the_name() -> None:
    assert list(sa.read_csv(io.BytesIO(aligned_csv(above="a report")))) == ["b", "c"]


def test_a_note_above_arrays_without_names_is_no_name() -> None:
    rows = aligned_csv(blanks=0).partition(b"\r\n")[2]
    assert list(sa.read_csv(io.BytesIO(b"a note,\r\n,\r\n" + rows))) == ["A", "B"]


@pytest.mark.parametrize("row", range(2, 24))
def test_an_array_keeps_its_name_whatever_cell_of_the_other_header_is_damaged(row: int) -> None:
    file = io.BytesIO()
    sa.write_excel(file, {"a": A, "b": B})
    book = openpyxl.load_workbook(io.BytesIO(file.getvalue()))
    book.worksheets[0].cell(row, 1).value = "x"
    damaged = io.BytesIO()
    book.save(damaged)
    assert list(sa.read_excel(io.BytesIO(damaged.getvalue()), ["b"])) == ["b"]
    with pytest.raises(FormatError):
        sa.read_excel(io.BytesIO(damaged.getvalue()))


def test_a_name_stands_in_the_row_of_another_whose_data_begin_beside_it() -> None:
    file = io.BytesIO()
    sa.write_excel(file, {"a": A, "b": B})
    book = openpyxl.load_workbook(io.BytesIO(file.getvalue()))
    book.worksheets[0].move_range("B2:B30", rows=1)  # its data begin elsewhere: so it is no sheet that was written so
    moved = io.BytesIO()
    book.save(moved)
    assert list(sa.read_excel(io.BytesIO(file.getvalue()))) == ["a", "b"]
    assert list(sa.read_excel(io.BytesIO(moved.getvalue()))) == ["a", "B"]


def test_what_stands_between_two_arrays_of_a_column_is_no_name() -> None:
    upper, lower = aligned_csv(blanks=0), aligned_csv(blanks=0).partition(b"\r\n")[2]
    stacked = upper + b",\r\n,\r\n" + lower
    assert list(sa.read_csv(io.BytesIO(stacked))) == ["b", "A", "c", "B"]
    grown = upper + b"77,77\r\n,\r\n" + lower  # an element that somebody added is not taken for a name
    with pytest.raises(FormatError, match="no more than 5 data cells"):
        sa.read_csv(io.BytesIO(grown))


@pytest.mark.parametrize("word", ["version", "1.0.0", "ndarray"])
@pytest.mark.parametrize("instead", ["", "x"])
def test_a_damaged_header_below_blanks_is_known_by_its_name(word: str, instead: str) -> None:
    damaged = aligned_csv().replace(word.encode(), instead.encode(), 1)
    (finding, *_) = sa.check(io.BytesIO(damaged), format="csv")
    assert finding.severity == "error"
    with pytest.raises(FormatError):
        sa.read_csv(io.BytesIO(damaged), ["b"])
    with pytest.raises((FormatError, NotFoundError)):
        sa.read_csv(io.BytesIO(damaged), ["other"])


def test_a_flat_list_may_begin_with_blanks() -> None:
    cells = [None, "", " ", *sa.to_linear(B)]
    assert sa.from_linear(cells).tolist() == B.tolist()
    with pytest.raises(FormatError, match=r"cells\[22\]"):
        sa.from_linear([*cells[:22], "x", *cells[23:]])


# Very many small arrays in one sheet --------------------------------------------------------------------------


def text_of(count: int, array: np.ndarray, orient: str = "columns") -> io.StringIO:
    """Return a text with many arrays one below another."""
    one = io.BytesIO()
    write_csv(one, {"name": array}, orient=orient)
    text = one.getvalue().decode()
    return io.StringIO("".join(text.replace("name", f"a{number}", 1) for number in range(count)))


def count_calls(operation, count: int, array: np.ndarray, orient: str = "columns") -> int:
    """Return how many functions are called."""
    text, profile = text_of(count, array, orient), cProfile.Profile()
    profile.enable()
    list(operation(text))
    profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize(
    ("operation", "compiled", "plain"), [(scan_csv, 100, 190), (read_csv, 148, 310), (check_csv, 195, 350)]
)
def test_an_array_of_two_elements_costs_few_calls(operation, compiled, plain):
    """Without the compiled loops each cell of a header costs some calls besides."""
    most = compiled if describe() == "compiled" else plain
    array = np.array([1.5, 2.5])
    count_calls(operation, 50, array)  # what is made once
    assert count_calls(operation, 1100, array) - count_calls(operation, 600, array) <= 500 * most


@pytest.mark.parametrize("operation", [scan_csv, read_csv, check_csv])
def test_no_setting_of_the_process_is_changed_for_many_arrays(operation, monkeypatch):
    changes: list[str] = []
    for name in ("disable", "enable", "freeze", "unfreeze", "set_threshold", "collect"):
        monkeypatch.setattr(gc, name, lambda *_, name=name: changes.append(name))
    list(operation(text_of(4000, np.array([1.5, 2.5]))))
    assert changes == []


# Names -------------------------------------------------------------------------------------------------------


def test_without_names_the_columns_letter_is_the_name() -> None:
    rows = grid(ARRAYS, names=False)
    assert list(read(rows)) == ["A", "B", "C"]
    assert list(read([["", *row] for row in rows])) == ["B", "C", "D"]
    rows = grid(ARRAYS)
    rows[0][1] = " "
    assert list(read(rows)) == ["t", "B", "s"]


def test_two_arrays_of_one_name_is_an_error_that_names_both_places() -> None:
    rows = grid(ARRAYS)
    rows[0][2] = "t"
    for call in (lambda: read(rows), lambda: sa.scan(put(rows), format="csv")):
        with pytest.raises(sa.FormatError) as caught:
            call()
        assert "'t'" in str(caught.value)
        assert "A2" in str(caught.value)
        assert "C2" in str(caught.value)
    assert [finding.severity for finding in sa.check(put(rows), format="csv")] == ["error"]


@pytest.mark.parametrize(("count", "more"), [(5, ""), (6, " and 1 more"), (2000, " and 1,995 more")])
def test_an_error_tells_the_places_of_a_few_arrays_of_one_name(count: int, more: str) -> None:
    file = io.BytesIO()
    sa.write(file, {"t": np.zeros(0)}, format="csv")
    with pytest.raises(sa.FormatError, match=rf"at A2 and A\d+ and A\d+ and A\d+ and A\d+{more} \(rename"):
        sa.read(io.BytesIO(file.getvalue() * count), format="csv")


@pytest.mark.parametrize("name", ["", " ", "\t"])
def test_a_name_that_is_nothing_is_refused(name: str) -> None:
    for options in ({}, {"orient": "rows"}):
        file = io.BytesIO()
        with pytest.raises(sa.LimitError):
            sa.write_csv(file, {"fine": np.arange(3), name: np.arange(3)}, **options)
        assert file.getvalue() == b""


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@x", "\tx", "\rx"])
@pytest.mark.parametrize("orient", ["columns", "rows"])
def test_a_name_is_no_formula(name: str, orient: Any) -> None:
    rows = {name: np.arange(3), "z": np.array(["x"])}
    file = io.StringIO()
    sa.write_csv(file, rows, orient=orient)
    file.seek(0)
    assert list(sa.read_csv(file)) == [name, "z"]
    first = next(csv.reader(io.StringIO(file.getvalue(), newline="")))[0]
    assert not first.startswith(("=", "+", "-", "@", "\t", "\r"))


# Parts -------------------------------------------------------------------------------------------------------

LONG = np.arange(40.0).reshape(4, 10)


def parts() -> list[list[str]]:
    return grid({"p": LONG}, max_rows=38)


def test_a_long_array_goes_on_in_complete_columns_of_version_1_1() -> None:
    rows = parts()
    assert len(rows) == 38
    assert len(rows[0]) == 3
    for k in range(3):
        column = [row[k] for row in rows]
        assert column[:4] == ["p", "version", "1.1.0", "ndarray"]
        at = column.index("part")
        assert column[at : at + 4] == ["part", str(k + 1), "3", "data"]
        assert column[column.index("capacity") + 1] == "40"
    same(read(rows), {"p": LONG})
    intact(rows)


@pytest.mark.parametrize("order", [(2, 1, 0), (1, 2, 0), (0, 2, 1)])
def test_parts_stand_in_any_column_order(order: tuple[int, ...]) -> None:
    rows = [[row[k] for k in order] for row in parts()]
    same(read(rows), {"p": LONG})
    intact(rows)
    info = sa.scan(put(rows), format="csv")["p"]
    assert (info.parts, info.capacity, info.shape) == (3, 40, (4, 10))
    assert info.location == cell_address(1, order.index(0))


def _broken(change: str) -> list[list[str]]:
    rows = parts()
    at = [row[0] for row in rows].index("part")
    if change == "missing":
        rows = [[row[0], row[2]] for row in rows]
    elif change == "duplicate":
        rows[at + 1][1] = "1"
    elif change == "count":
        rows[at + 2][1] = "4"
    elif change == "beyond":
        rows[at + 1][2] = "4"
    elif change == "zero":
        rows[at + 1][0] = "0"
    elif change == "foreign":
        rows = [
            [*row, *other]
            for row, other in zip(
                rows, grid({"p": LONG + 1, "q": np.arange(20)}, max_rows=38)[: len(rows)], strict=True
            )
        ]
    elif change == "dtype":
        rows[[row[1] for row in rows].index("dtype") + 1][1] = "float32"
    elif change == "unpart":
        rows = [
            [*row, *other] for row, other in zip(rows, [*grid({"p": np.arange(3)}), *[[""]] * 38][:38], strict=True)
        ]
    elif change == "short":
        rows[-1][2] = rows[-2][2] = ""
        rows[-20][2] = ""
    elif change == "hole":
        rows[-1][0] = ""
    return rows


@pytest.mark.parametrize(
    "change", ["missing", "duplicate", "count", "beyond", "zero", "foreign", "dtype", "unpart", "hole"]
)
def test_parts_that_do_not_fit_are_refused_with_a_place(change: str) -> None:
    rows = _broken(change)
    with pytest.raises(sa.FormatError) as caught:
        read(rows)
    assert caught.value.location
    assert [finding for finding in sa.check(put(rows), format="csv") if finding.severity == "error"]


def test_parts_of_text_keep_blanks_at_their_ends() -> None:
    for array in (
        np.array(["", "a", ""] * 30),
        np.array([""] * 90),
        objects(*([None, 1, None] * 30)),
        objects(*([None] * 89), "x"),
    ):
        rows = grid({"p": array, "z": np.arange(5)}, max_rows=38)
        same(read(rows), {"p": array, "z": np.arange(5)})
        intact(rows)


def test_no_room_for_a_header_is_said_before_anything_is_written() -> None:
    file = io.BytesIO()
    with pytest.raises(sa.LimitError, match="p"):
        sa.write_csv(file, {"p": np.arange(100)}, max_rows=20)
    assert file.getvalue() == b""


def test_a_long_array_without_a_name_is_refused_before_anything_is_written() -> None:
    file = io.BytesIO()
    with pytest.raises(sa.LimitError, match="p: it takes 6 columns"):
        sa.write_csv(file, {"p": np.arange(100)}, max_rows=40, names=False)
    assert file.getvalue() == b""
