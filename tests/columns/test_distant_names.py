"""Names that stand further up than right above their headers, since the data of all arrays begin in one row."""

from __future__ import annotations

import io

import numpy as np
import openpyxl
import pytest
from limits import get_limit

import sheetarray as sa
from sheetarray.errors import FormatError, NotFoundError

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
