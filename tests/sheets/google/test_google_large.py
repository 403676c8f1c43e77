"""Worksheets too large for one request: what is fetched of them, all of one state, and what is found far down."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
from services import Book, meanwhile

import sheetarray as sa
from sheetarray.testing.cases import assert_same
from sheets_emulator import SheetsServer

# A request fetches 100,000 cells at most. Worksheets of 150,000 cells, or of 500,000 that are all read, take only one.
LONG = np.arange(180_000).reshape(-1, 3) % 7
ARRAYS = {"long": LONG, "other": np.arange(6_000)}
FLAT = ["below", *sa.to_linear(np.array(["x", "y"]))]


def put(book: Book, title: str, columns: list[list[Any]]) -> None:
    """Put columns of cells into a new worksheet, faster than a write does."""
    height = max(map(len, columns))
    book.opened.add_worksheet(title, height + 500, len(columns) + 1)
    body = {"values": columns, "majorDimension": "COLUMNS"}
    book.client.http_client.values_update(book.key, f"'{title}'!A1", {"valueInputOption": "RAW"}, body)


def flat(arrays: dict[str, Any]) -> list[list[Any]]:
    return [[name, *sa.to_linear(array)] for name, array in arrays.items()]


@pytest.fixture(scope="module")
def large(server: SheetsServer) -> Book:
    book = Book(server, [("Sheet1", 5, 1)])
    put(book, "arrays", flat(ARRAYS))
    return book


@pytest.fixture(autouse=True)
def _forget(request: pytest.FixtureRequest) -> None:
    """Leave out the requests that make a spreadsheet."""
    if "large" in request.fixturenames:
        request.getfixturevalue("large").server.requests.clear()


def asked(book: Book) -> list[str]:
    """The ranges of cells that were asked for."""
    return [cells for record in book.server.requests for cells in parse_qs(record.query).get("ranges", [])]


def sent(book: Book) -> int:
    return sum(len(record.sent) for record in book.server.requests)


def test_names_fetch_only_the_columns_that_they_need(large: Book) -> None:
    result = sa.read_gsheet(f"gsheets://{large.key}/arrays", ["other"], client=large.client)
    assert_same(result["other"], ARRAYS["other"])
    assert "'arrays'!B1:B" in asked(large)
    assert not [cells for cells in asked(large) if cells.startswith("'arrays'!A1:")]
    assert sent(large) < 100_000
    result = large.read()
    for name, array in ARRAYS.items():
        assert_same(result[name], array)


def test_a_scan_fetches_headers(large: Book) -> None:
    infos = sa.scan(large.key, client=large.client, format="gsheet")
    assert [(name, info.shape, info.location) for name, info in infos.items()] == [
        ("long", (60_000, 3), "arrays!A2"),
        ("other", (6_000,), "arrays!B2"),
    ]
    assert len(large.server.requests) <= 3
    assert sent(large) < 100_000


def test_only_the_cells_of_a_part_are_fetched(large: Book) -> None:
    part = large.read(["long"], slices={"long": slice(9_000, 9_002)})["long"]
    assert_same(part, LONG[9_000:9_002])
    assert asked(large).count("'arrays'!A27022:A27027") == 1
    assert len(large.server.requests) <= 5
    assert sent(large) < 100_000


def test_progress_rises_over_several_requests(large: Book) -> None:
    calls: list[tuple[int, int]] = []
    large.read(["long", "other"], progress=lambda *cells: calls.append(cells))
    assert len(calls) >= 4
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert calls[0][0] == 0
    assert calls[-1] == (186_000 + 20 + 18,) * 2


def test_blocks_are_fetched_one_after_the_other_of_one_state(large: Book) -> None:
    source, options = f"gsheets://{large.key}", {"client": large.client}
    blocks = sa.iter_blocks(source, "long", rows=30_000, **options)
    assert_same(next(blocks), LONG[:30_000])
    first = len(large.server.requests)
    assert_same(np.concatenate(list(blocks)), LONG[30_000:])
    assert len(large.server.requests) > first
    assert [len(block) for block in sa.iter_blocks(source, "other", rows=2_500, **options)] == [2_500, 2_500, 1_000]
    blocks = sa.iter_blocks(source, "long", rows=10_000, **options)
    assert_same(next(blocks), LONG[:10_000])
    large.write({"new": np.arange(2)})
    with pytest.raises(sa.FormatError, match="changed"):
        list(blocks)


def test_a_wrong_cell_of_a_part_is_named_and_no_other(large: Book) -> None:
    large.put("arrays", "A100022", [["x"]], raw=True)
    assert_same(large.read(slices={"long": slice(0, 10)})["long"], LONG[:10])
    with pytest.raises(sa.FormatError) as error:
        large.read(slices={"long": slice(33_000, 34_000)})
    assert (error.value.location, error.value.index) == ("arrays!A100022", (33_333, 1))
    large.put("arrays", "A100022", [[int(LONG[33_333, 1])]], raw=True)
    assert_same(large.read(["long"])["long"], LONG)


def test_a_write_between_two_requests_of_a_read_makes_it_begin_again(server: SheetsServer) -> None:
    book = Book(server, [("Sheet1", 5, 1)])
    put(book, "arrays", flat({"t": np.zeros(160_000, np.int8), "u": np.zeros(3)}))

    def write() -> None:
        book.write({"t": np.ones(160_000, np.int8), "u": np.ones(3)})

    with meanwhile(server, lambda record: "A100001%3AA" in record.query, write):
        result = sa.read_gsheet(f"gsheets://{book.key}/arrays", ["t", "u"], client=book.client)
    assert {name: set(array.tolist()) for name, array in result.items()} == {"t": {1}, "u": {1}}


def test_many_ranges_make_several_requests_of_one_generation(server: SheetsServer) -> None:
    arrays = {f"n{index}": (np.arange(310) + index) % 9 for index in range(500)}
    book = Book(server)
    put(book, "arrays", flat(arrays))
    server.requests.clear()
    names = list(arrays)[::2]
    result = sa.read_gsheet(f"gsheets://{book.key}/arrays", names, client=book.client)
    for name in names:
        assert_same(result[name], arrays[name])
    assert all(len(record.query) < 8000 for record in server.requests)
    assert sum("fields=" in record.query for record in server.requests) == 2  # before the columns, and after them


@pytest.mark.parametrize("long", [2_000, 160_000])
def test_an_array_far_down_beside_a_longer_one_and_one_below_another_are_found(server: SheetsServer, long: int) -> None:
    book = Book(server, [("Sheet1", 5, 1)])
    (first,) = flat({"long": np.zeros(long, np.int8)})
    put(book, "far", [[*first, None, *FLAT], [*[None] * 1400, *flat({"deep": np.arange(3.0)})[0]]])
    for place in (book.key, f"gsheets://{book.key}/far"):
        arrays = sa.read_gsheet(place, client=book.client)
        assert {name: array.shape for name, array in arrays.items()} == {"long": (long,), "below": (2,), "deep": (3,)}
        assert arrays["below"].tolist() == ["x", "y"]
        assert sa.scan(place, client=book.client, format="gsheet")["below"].location == f"far!A{long + 22}"
        assert list(sa.check(place, client=book.client, format="gsheet")) == []
    assert sa.read_gsheet(book.key, ["below"], client=book.client)["below"].tolist() == ["x", "y"]
