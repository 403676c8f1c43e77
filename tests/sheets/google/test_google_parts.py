"""Parts of arrays in Google Sheets: only their cells are fetched, and all of one state of the worksheet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
from services import Book

import sheetarray as sa
from sheetarray.testing.cases import assert_same
from sheets_emulator import SheetsServer

SMALL = {
    "t": np.arange(12.0).reshape(4, 3),
    "day": np.datetime64("2024-01-01") + np.arange(5),
    "name": np.array(["a", "", "c", ""]),
    "fortran": np.asfortranarray(np.arange(8).reshape(2, 4)),
    "backwards": np.arange(6)[::-1],
    "z": np.array([1 + 2j, 3 - 4j, 5j]),
    "none": np.zeros((0, 2)),
}


def holding(server: SheetsServer, arrays: Any) -> Book:
    book = Book(server)
    book.write(arrays)
    return book


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("rows", [slice(1, 3), slice(0), slice(None, None, 2), slice(-1, None), slice(None, None, -1)])
def test_parts_of_each_kind_of_array_are_theirs(small_book: Book, name: str, rows: slice) -> None:
    arrays = small_book.read(slices={name: rows})
    assert list(arrays) == list(SMALL)
    for other, array in SMALL.items():
        part = arrays[other]
        expected = array[rows] if other == name else array
        assert part.dtype == expected.dtype
        assert part.shape == expected.shape
        assert part.tolist() == expected.tolist()


@pytest.fixture(scope="module")
def small_book(server: SheetsServer) -> Book:
    return holding(server, SMALL)


def test_what_is_asked_for_has_to_be_there(small_book: Book) -> None:
    with pytest.raises(sa.NotFoundError, match="no array 'u'"):
        small_book.read(slices={"u": slice(1)})
    with pytest.raises(ValueError, match="resize"):
        small_book.read(slices={"t": slice(1)}, resize=True)
    assert list(small_book.read(["t"], slices={"t": slice(1)})) == ["t"]
    small_book.write({"one": np.array("x")}, sheet="one")
    with pytest.raises(ValueError, match="'one' has no dimensions"):
        small_book.read(slices={"one": slice(1)}, sheet="one")


@pytest.mark.parametrize("slices", [slice(1), ["t"], {"t": slice(0.5)}, {"t": slice(None, None, 0)}, {"t": 1}])
def test_what_is_no_slice_is_told_before_anything_is_asked(small_book: Book, slices: Any) -> None:
    with pytest.raises(ValueError, match=r"slice.* of the first axis"):
        small_book.read(slices=slices)


def test_parts_of_arrays_beside_those_named(server: SheetsServer) -> None:
    events = ak.Array([[1, 2], [], [3]])
    book = holding(server, {**SMALL, "events": events})
    read = book.read(["t"], slices={"fortran": slice(0, 1), "events": slice(1, 3), "day": slice(2, 3)})
    assert list(read) == ["t", "fortran", "events", "day"]
    assert_same(read["fortran"], SMALL["fortran"][:1])
    assert read["events"].to_list() == [[], [3]]
    assert_same(read["day"], SMALL["day"][2:3])
    with pytest.raises(sa.NotFoundError, match=r"no array 'nothing'; there is 't', .*'events'$"):
        book.read(["t"], slices={"nothing": slice(1)})


def test_convert_hands_a_client_to_the_side_that_takes_one(server: SheetsServer, tmp_path: Path) -> None:
    book = holding(server, {"t": np.arange(6.0).reshape(2, 3)})
    url = book.url
    sa.convert(url, tmp_path / "t.csv", client=book.client)
    assert sa.read(tmp_path / "t.csv")["t"].tolist() == [[0, 1, 2], [3, 4, 5]]
    sa.write(tmp_path / "t.csv", {"t": np.arange(3)})
    sa.convert(tmp_path / "t.csv", url, client=book.client)
    assert sa.read(url, client=book.client)["t"].tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="client= is for Google Sheets"):
        sa.convert(tmp_path / "t.csv", tmp_path / "t.json", client=book.client)
