"""Names of arrays in a sheet, and arrays that go on in the next columns."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest
from addresses import cell_address
from round_trips import ARRAYS, grid, intact, put, read, same

import sheetarray as sa
from sheetarray.testing.cases import objects

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


@pytest.mark.parametrize(
    "name",
    [
        *("=1+1", "+x", "-x", "@x", "'x", "''x", "\tx", "\rx", "1.0.0", "data", "shape", "version", "ndarray"),
        *(" Version ", "NDARRAY", "007", "TRUE", "1,5", '"', "a,b", "a\nb", " x ", "a\x1fb", "ü", "A", "B"),
    ],
)
@pytest.mark.parametrize("orient", ["columns", "rows"])
def test_any_other_name_comes_back(name: str, orient: Any) -> None:
    rows = {name: np.arange(3), "z": np.array(["x"])}
    file = io.StringIO()
    sa.write_csv(file, rows, orient=orient)
    file.seek(0)
    assert list(sa.read_csv(file)) == [name, "z"]
    first = next(csv.reader(io.StringIO(file.getvalue(), newline="")))[0]
    assert not first.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_two_names_that_are_one_as_text_are_refused() -> None:
    with pytest.raises(sa.LimitError, match="'1'"):
        sa.write(io.BytesIO(), {1: np.arange(2), "1": np.arange(2)}, format="csv")


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
