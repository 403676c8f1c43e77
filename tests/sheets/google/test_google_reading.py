"""Reading from Google Sheets: how little is fetched, what people have made of a spreadsheet, and odd answers."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
from examples import examples
from services import Book

import sheetarray as sa
from sheetarray import read_gsheet, write_gsheet
from sheetarray.errors import RemoteError
from sheetarray.testing.cases import assert_same
from sheets_emulator import SheetsServer

ARRAYS = {"a": np.arange(2000.0), "b": np.arange(1500), "c": np.array(["x", "", "y", ""]), "d": np.array(7)}


def put(book: Book, rows: list[list[Any]], sheet: str = "Sheet1", cell: str = "A1", **how: Any) -> None:
    book.put(sheet, cell, rows, **{"raw": True, **how})
    book.server.requests.clear()


def columns(*lists: list[Any]) -> list[list[Any]]:
    """Columns as rows."""
    height = max(map(len, lists))
    return [[cells[row] if row < len(cells) else "" for cells in lists] for row in range(height)]


def flat(name: str, array: Any) -> list[Any]:
    return [name, *sa.to_linear(array)]


# How little ----------------------------------------------------------------------------------------------------


def test_a_scan_of_more_than_the_first_rows_is_two_requests_with_a_title_and_without(book: Book) -> None:
    book.write(ARRAYS)
    book.server.requests.clear()
    infos = sa.scan(f"{book.url}/arrays", client=book.client, format="gsheet")
    assert [(name, info.shape, info.location) for name, info in infos.items()] == [
        ("a", (2000,), "arrays!A2"),
        ("b", (1500,), "arrays!B2"),
        ("c", (4,), "arrays!C2"),
        ("d", (), "arrays!D3"),
    ]
    assert len(book.server.requests) == 2  # the second one shows that no array begins further down
    assert book.scan() == infos
    assert len(book.server.requests) == 4  # the size of the grid is known, and all of it is asked for at once
    assert sum(len(record.sent) for record in book.server.requests[:1]) < 30_000


def test_values_are_asked_for_as_they_are_and_without_permission_to_write(book: Book) -> None:
    book.write(ARRAYS)
    book.server.forbid(book.key, writes_only=True)
    book.server.requests.clear()
    assert list(book.read()) == list(ARRAYS)
    assert book.check() == []
    assert {record.method for record in book.server.requests} == {"GET"}
    for record in book.server.requests:
        if "values" in record.path:
            query = parse_qs(record.query)
            assert query["valueRenderOption"] == ["UNFORMATTED_VALUE"]
            assert query["majorDimension"] == ["COLUMNS"]
            assert query["dateTimeRenderOption"] == ["SERIAL_NUMBER"]


# What people have made of it -----------------------------------------------------------------------------------


def test_formulas_dates_and_percentages_are_their_values(book: Book) -> None:
    cells = flat("t", np.zeros(4))
    cells[-4:] = ["=1/3", "2024-02-29", "50%", "=A22*2"]
    put(book, columns(cells), raw=False)
    assert book.read()["t"].tolist() == [1 / 3, 45351.0, 0.5, 1.0]


def test_a_long_row_below_many_rows_is_read(server: SheetsServer) -> None:
    book = Book(server, [("Sheet1", 2000, 400)])
    put(book, [flat("r", np.arange(350.0))], cell="A30")
    put(book, [["far below"]], cell="A1900")
    assert_same(read_gsheet(f"{book.url}/Sheet1", client=book.client)["r"], np.arange(350.0))


def test_all_worksheets_are_read_and_two_arrays_of_one_name_are_an_error(server: SheetsServer) -> None:
    book = Book(server, [("one", 100, 5), ("two", 100, 5), ("table", 100, 5)])
    put(book, columns(flat("x", np.arange(3.0)), flat("y", np.arange(2))), "one")
    put(book, columns(flat("z", np.arange(4.0))), "two")
    put(book, [["id", "n"], [1, 2]], "table")
    assert list(book.read()) == ["x", "y", "z"]
    assert {name: info.location for name, info in book.scan().items()} == {"x": "one!A2", "y": "one!B2", "z": "two!A2"}
    assert list(book.read(["z"])) == ["z"]
    put(book, columns(flat("x", np.arange(4.0))), "two")
    with pytest.raises(sa.FormatError, match="one!A2 and two!A2"):
        book.read()
    assert_same(book.read(sheet="two")["x"], np.arange(4.0))
    assert [finding.severity for finding in book.check()] == ["error"]


def test_an_edited_cell_is_named_by_its_address(book: Book) -> None:
    book.write({"a": np.arange(3), "t": np.arange(6.0).reshape(2, 3)})
    put(book, [["about 4"]], "arrays", "B26")
    with pytest.raises(sa.FormatError) as caught:
        book.read()
    assert (caught.value.location, caught.value.element) == ("arrays!B26", "t[1, 1]")
    assert caught.value.source == book.url
    assert [(finding.location, finding.array, finding.index) for finding in book.check()] == [
        ("arrays!B26", "t", (1, 1))
    ]
    put(book, [[4], [""]], "arrays", "B26")
    assert np.isnan(book.read(missing="nan")["t"]).tolist() == [[False] * 3, [False, False, True]]


@pytest.mark.parametrize("capacity", [10**6, 10**9, 2**50])
def test_a_header_that_claims_more_than_there_is_costs_nothing(book: Book, capacity: int) -> None:
    cells = flat("t", np.arange(300.0))
    for word in ("shape", "length", "capacity"):
        cells[cells.index(word) + 1] = capacity
    put(book, columns(cells))
    for place in (book.key, f"{book.url}/Sheet1"):
        book.server.requests.clear()
        with pytest.raises(sa.FormatError, match="the data end after 300 cells"):
            read_gsheet(place, client=book.client)
        assert len(book.server.requests) <= 6


# Ordinary tables -------------------------------------------------------------------------------------------------


def test_a_long_table_is_read_in_few_requests(server: SheetsServer) -> None:
    book = Book(server, [("Sheet1", 5000, 3), ("other", 10, 2)])
    put(book, [["x", "y", "z"], *([row / 7, row, "a"] for row in range(4000))])
    result = sa.read_columns(book.key, ["y", "x"], format="gsheet", shape={"y": (2, -1)}, client=book.client)
    assert_same(result["x"], np.arange(4000) / 7)
    assert result["y"].shape == (2, 2000)
    assert len(book.server.requests) <= 3


# Odd answers -------------------------------------------------------------------------------------------------


def answering(book: Book, change: Any) -> Any:
    """A client whose answers are changed on the way."""
    client = book.server.client()
    patched = type(client.http_client).request

    def request(http: Any, method: str, endpoint: str, *args: Any, **options: Any) -> Any:
        response = patched(http, method, endpoint, *args, **options)
        response._content = change(response.content)
        return response

    type(client.http_client).request = request  # type: ignore[method-assign]
    return client


@pytest.mark.usefixtures("pauses")
@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"null", b"5", b"<html>", b"{", b"\xff\xfe", b'{"error": "x"}', b'{"namedRanges": [{}]}'),
        *(b'{"sheets": 5}', b'{"sheets": [5]}', b'{"sheets": [{}]}'),
        b'{"sheets": [{"properties": {"title": "x", "sheetId": "y"}}]}',
        *(b'{"valueRanges": 5}', b'{"valueRanges": [5]}', b'{"valueRanges": []}'),
        *(b'{"valueRanges": [{"values": 5}]}', b'{"valueRanges": [{"values": [5]}]}'),
    ],
)
def test_an_answer_that_is_none_is_a_remote_error(book: Book, content: bytes) -> None:
    book.write({"x": np.arange(3)})
    for place in (book.key, f"{book.url}/arrays"):
        for verb in (sa.read, sa.scan):
            with pytest.raises((RemoteError, sa.FormatError)):
                verb(place, client=answering(book, lambda _: content), format="gsheet")
        with pytest.raises((RemoteError, sa.NotFoundError)):
            write_gsheet(place, {"x": np.arange(4)}, client=answering(book, lambda _: content))


@pytest.mark.usefixtures("pauses")
@pytest.mark.parametrize("seed", range(examples(60)))
def test_damaged_answers_are_errors_of_ours(book: Book, seed: int) -> None:
    source = random.Random(seed)
    book.write({"x": np.arange(30.0), "s": np.array(["a", ""])})

    def damaged(content: bytes) -> bytes:
        for _ in range(source.choice((0, 1, 1, 3))):
            at = source.randrange(len(content) + 1)
            end = at + source.choice((0, 1, 5, 40, len(content)))
            put = source.choice([b"", b'"', b"[", b"{}", b"null", b"-", b"9", b"true", b"1e999", b"[[[[", b"0" * 400])
            content = content[:at] + put + content[end:]
        return content

    for verb in (sa.read, sa.scan, sa.check, sa.read_columns):
        for place in (book.key, f"{book.url}/arrays"):
            with suppress(RemoteError, sa.FormatError, sa.NotFoundError):
                result = verb(place, client=answering(book, damaged), format="gsheet")
                assert all(isinstance(entry, (str, sa.Finding)) for entry in result)
