"""Parts of arrays in Google Sheets: only their cells are fetched, and all of one state of the worksheet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import sheetarray as sa
from sheetarray.testing.cases import assert_same
from sheets_emulator import SheetsServer

LARGE = np.arange(30_000.0).reshape(-1, 3) / 7
SMALL = {
    "t": np.arange(12.0).reshape(4, 3),
    "day": np.datetime64("2024-01-01") + np.arange(5),
    "name": np.array(["a", "", "c", ""]),
    "fortran": np.asfortranarray(np.arange(8).reshape(2, 4)),
    "backwards": np.arange(6)[::-1],
    "z": np.array([1 + 2j, 3 - 4j, 5j]),
    "none": np.zeros((0, 2)),
}


class Book:
    """A spreadsheet of the emulator."""

    def __init__(self, server: SheetsServer, arrays: Any) -> None:
        self.server, self.client, self.key = server, server.client(), server.create()
        sa.write_gsheet(self.key, arrays, client=self.client)
        server.requests.clear()

    def read(self, names: Any = None, **options: Any) -> dict[str, Any]:
        return sa.read_gsheet(self.key, names, client=self.client, **options)

    def put(self, cell: str, value: Any) -> None:
        self.client.open_by_key(self.key).worksheet("arrays").update([[value]], cell, raw=True)

    def sizes(self) -> list[int]:
        return [record.received for record in self.server.requests]


@pytest.fixture(scope="module")
def large(server: SheetsServer) -> Book:
    return Book(server, {"large": LARGE, "other": np.arange(5)})


@pytest.fixture
def small(server: SheetsServer) -> Book:
    return Book(server, SMALL)


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
    return Book(server, SMALL)


@pytest.mark.usefixtures("a_tenth")
def test_only_the_cells_of_a_part_are_fetched(large: Book) -> None:
    large.server.requests.clear()
    part = large.read(["large"], slices={"large": slice(9_000, 9_002)})["large"]
    assert_same(part, LARGE[9_000:9_002])
    asked = [record.query for record in large.server.requests if "values" in record.path]
    assert sum("A27022" in query for query in asked) == 1
    assert len(large.server.requests) <= 7


@pytest.mark.usefixtures("a_tenth")
def test_blocks_are_fetched_one_after_the_other(large: Book) -> None:
    source, options = f"gsheets://{large.key}", {"client": large.client}
    blocks = sa.iter_blocks(source, "large", rows=3_000, **options)
    large.server.requests.clear()
    assert_same(next(blocks), LARGE[:3_000])
    first = len(large.server.requests)
    assert_same(np.concatenate(list(blocks)), LARGE[3_000:])
    assert len(large.server.requests) > first
    assert [len(block) for block in sa.iter_blocks(source, "other", rows=2, **options)] == [2, 2, 1]


def test_what_is_asked_for_has_to_be_there(small_book: Book) -> None:
    with pytest.raises(sa.NotFoundError, match="no array 'u'"):
        small_book.read(slices={"u": slice(1)})
    with pytest.raises(sa.LimitError, match="takes a slice of the first axis"):
        small_book.read(slices={"t": 1})
    with pytest.raises(sa.LimitError, match="resize"):
        small_book.read(slices={"t": slice(1)}, resize=True)
    assert list(small_book.read(["t"], slices={"t": slice(1)})) == ["t"]


@pytest.mark.usefixtures("a_tenth")
def test_a_wrong_cell_of_a_part_is_named_and_no_other(server: SheetsServer) -> None:
    book = Book(server, {"large": LARGE[:6_000]})
    book.put("A10020", "x")
    assert_same(book.read(slices={"large": slice(0, 10)})["large"], LARGE[:10])
    with pytest.raises(sa.FormatError) as error:
        book.read(slices={"large": slice(3_300, 4_000)})
    assert error.value.location == "arrays!A10020"
    assert error.value.index == (3_332, 2)


def test_blocks_are_of_one_state_of_the_worksheet(server: SheetsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sheetarray.sheets.google.reading.CELLS_A_REQUEST", 600)
    array = LARGE[:2_000]
    book = Book(server, {"large": array})
    blocks = sa.iter_blocks(f"gsheets://{book.key}", "large", rows=200, client=book.client)
    assert_same(next(blocks), array[:200])
    sa.write_gsheet(book.key, {"large": array + 1}, client=book.client)
    with pytest.raises(sa.FormatError, match="changed"):
        list(blocks)


@pytest.mark.parametrize("slices", [slice(1), ["t"], {"t": slice(0.5)}, {"t": slice(None, None, 0)}, {"t": 1}])
def test_what_is_no_slice_is_told_before_anything_is_asked(small_book: Book, slices: Any) -> None:
    with pytest.raises(sa.LimitError, match=r"slice.* of the first axis"):
        small_book.read(slices=slices)


def test_an_array_of_no_dimensions_has_no_parts(server: SheetsServer) -> None:
    key, client = server.create(), server.client()
    sa.write_gsheet(key, {"one": np.array(1.5)}, client=client)
    with pytest.raises(sa.LimitError, match="'one' has no dimensions"):
        sa.read_gsheet(key, client=client, slices={"one": slice(1)})


def test_parts_of_arrays_beside_those_named(server: SheetsServer) -> None:
    events = ak.Array([[1, 2], [], [3]])
    book = Book(server, {**SMALL, "events": events})
    read = book.read(["t"], slices={"fortran": slice(0, 1), "events": slice(1, 3), "day": slice(2, 3)})
    assert list(read) == ["t", "fortran", "events", "day"]
    assert_same(read["fortran"], SMALL["fortran"][:1])
    assert read["events"].to_list() == [[], [3]]
    assert_same(read["day"], SMALL["day"][2:3])
    with pytest.raises(sa.NotFoundError, match=r"no array 'nothing'; there is 't', .*'events'$"):
        book.read(["t"], slices={"nothing": slice(1)})


def test_convert_hands_a_client_to_the_side_that_takes_one(server: SheetsServer, tmp_path: Path) -> None:
    book = Book(server, {"t": np.arange(6.0).reshape(2, 3)})
    url = f"gsheets://{book.key}"
    sa.convert(url, tmp_path / "t.csv", client=book.client)
    assert sa.read(tmp_path / "t.csv")["t"].tolist() == [[0, 1, 2], [3, 4, 5]]
    sa.write(tmp_path / "t.csv", {"t": np.arange(3)})
    sa.convert(tmp_path / "t.csv", url, client=book.client)
    assert sa.read(url, client=book.client)["t"].tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="client= is for Google Sheets"):
        sa.convert(tmp_path / "t.csv", tmp_path / "t.json", client=book.client)
