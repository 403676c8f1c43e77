"""Ordinary tables in Google Sheets: written to a worksheet of their own, read back as they were; dates are dates."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from limits import set_limits
from services import Book, meanwhile

import sheetarray as sa
from sheetarray import write_gsheet
from sheetarray.testing.cases import assert_same
from sheets_emulator import Fault, SheetsServer

TABLE = {
    "day": np.array(["1900-03-01", "NaT", "2024-02-29"], "M8[D]"),
    "moment": np.array(["2024-01-01T12:30:00.123", "2024-01-01T00:00:01", "NaT"], "M8[ms]"),
    "fine": np.array(["2024-01-01T12:30:00.123456", "1850-01-01T00:00:00.000001", "2024-01-01T00:00:00.1"], "M8[us]"),
    "x": np.array([0.1 + 0.2, np.nan, -0.0]),
    "id": np.array([1, 2**60, -3]),
    "flag": np.array([True, False, True]),
    "text": np.array(["007", "=1+1", "x"]),
}


class TableBook(Book):
    """A spreadsheet with tables."""

    def write(self, arrays: Any, **options: Any) -> Any:
        return sa.write_table(self.url, arrays, client=self.client, **options)

    def read(self, names: Any = None, **options: Any) -> dict[str, Any]:
        return sa.read_columns(self.url, names, **{"sheet": "table", "client": self.client, **options})  # type: ignore[return-value]

    def cells(self, title: str = "table") -> list[list[Any]]:
        values: list[list[Any]] = self.sheet(title).get_all_values()
        return values


@pytest.fixture
def book(server: SheetsServer) -> TableBook:
    return TableBook(server)


def test_a_table_comes_back_as_it_was(book: TableBook) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        book.write(TABLE)
    assert book.cells()[0] == list(TABLE)
    assert [row[0] for row in book.cells()[1:]] == ["1900-03-01", "", "2024-02-29"]
    for name, array in book.read().items():
        assert_same(array, TABLE[name])


def test_a_table_is_replaced_where_that_is_asked_for(book: TableBook) -> None:
    book.write(TABLE)
    before = book.dump()
    with pytest.raises(sa.LimitError, match="if_sheet_exists='replace'"):
        book.write({"a": np.arange(2)})
    assert book.dump() == before
    book.write({"a": np.arange(2), "b": np.array(["x", "y"])}, if_sheet_exists="replace")
    assert book.cells() == [["a", "b"], ["0", "x"], ["1", "y"]]
    book.write({name: np.repeat(array, 50) for name, array in TABLE.items()}, if_sheet_exists="replace")
    assert len(book.cells()) == 151


def test_a_blank_worksheet_is_taken(book: TableBook) -> None:
    sa.write_table(f"{book.url}/Sheet1", {"a": np.arange(2)}, client=book.client)
    assert book.cells("Sheet1")[:3] == [["a"], ["0"], ["1"]]


@pytest.mark.parametrize("cell", ["A1", "Z1000"])
def test_what_others_have_written_is_not_replaced(book: TableBook, cell: str) -> None:
    book.opened.worksheet("Sheet1").update([["mine"]], cell)
    for options in ({}, {"if_sheet_exists": "replace"}):
        with pytest.raises(sa.LimitError, match=r"not blank|not written by"):
            sa.write_table(f"{book.url}/Sheet1", {"a": np.arange(2)}, client=book.client, **options, format="gsheet")


def test_arrays_are_not_replaced_by_a_table(book: TableBook) -> None:
    write_gsheet(book.url, {"t": np.arange(3)}, client=book.client)
    with pytest.raises(sa.LimitError, match="holds arrays"):
        book.write({"a": np.arange(2)}, sheet="arrays", if_sheet_exists="replace", verify=False)


def test_a_large_table_goes_over_a_stage(book: TableBook, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, google_batch=200_000)
    table = {"day": np.datetime64("2000-01-01") + np.arange(3_000), "x": np.arange(3_000) / 7}
    book.server.requests.clear()
    book.write(table, verify=False)
    assert any(record.method == "PUT" for record in book.server.requests)
    for name, array in book.read().items():
        assert_same(array, table[name])
    book.write({"x": np.arange(3)}, if_sheet_exists="replace")
    assert book.cells()[:2] == [["x"], ["0"]]
    assert len([row for row in book.cells() if any(row)]) == 4


def test_columns_that_differ_and_odd_options_are_refused_before_anything_is_written(book: TableBook) -> None:
    book.server.requests.clear()
    for table, options in (
        ({"a": np.arange(2), "b": np.arange(3)}, {}),
        ({"a": np.arange(2)}, {"dates": "iso"}),
        ({"a": np.arange(2)}, {"if_sheet_exists": "append"}),
    ):
        with pytest.raises(ValueError, match=" "):
            book.write(table, **options)
    assert not book.server.requests


def test_a_date_of_an_ordinary_table_is_a_date(book: TableBook) -> None:
    sheet = book.opened.worksheet("Sheet1")
    rows = [["day", "n", "time"], ["2024-05-06", 45000, "12:30"], ["2024-05-07", 45001, "06:00"]]
    sheet.update(rows, "A1", value_input_option="USER_ENTERED")
    columns = book.read(sheet="Sheet1")
    assert columns["day"].tolist() == np.array(["2024-05-06", "2024-05-07"], "M8[D]").tolist()
    assert columns["n"].tolist() == [45000, 45001]


@pytest.mark.fault("The service fails while a table is written.", "The table is whole or absent.")
@pytest.mark.usefixtures("pauses")
@pytest.mark.parametrize("status", [503, "reset-after", "empty"])
def test_a_table_written_while_the_service_fails_is_whole_or_absent(book: TableBook, status: Any) -> None:
    book.server.faults.append(Fault(status=status, method="POST"))
    book.write(TABLE)
    assert [row[5] for row in book.cells()[1:]] == ["TRUE", "FALSE", "TRUE"]


def test_ranges_of_cells_and_named_ranges_are_read(book: TableBook) -> None:
    first = book.sheet("Sheet1")
    other = first.spreadsheet.add_worksheet("Ann's run", 10, 5)
    first.update([["mine", "x"], [1, 2], [3, 4]])
    other.update([["", "a"], ["", 5]])
    first.define_named_range("A1:B3", "whole")
    other.define_named_range("B1:B2", "anns")
    read = sa.read_columns
    for source, options in ((first.spreadsheet, {}), (other, {}), (book.url, {"client": book.client})):
        for text in ("anns", "ANNS", "'Ann''s run'!B1:B2"):
            assert {name: column.tolist() for name, column in read(source, range=text, **options).items()} == {"a": [5]}
    assert read(first, range="whole")["x"].tolist() == [2, 4]
    write_gsheet(first.spreadsheet, {"t": np.arange(3.0)}, client=book.client)
    assert read(first.spreadsheet, range="t", header=False)["A"].tolist() == [0, 1, 2]
    for source, text, error, message in (
        (first.spreadsheet, "nope", sa.NotFoundError, "no range of cells 'nope'; there is 'whole', 'anns', 't'$"),
        (first.spreadsheet, "nowhere!A1", sa.NotFoundError, "no worksheet 'nowhere'; there is 'Sheet1'"),
        (first, "anns", ValueError, "is in the sheet \"Ann's run\", not in 'Sheet1'"),
        (first, "'Ann''s run'!B1:B2", ValueError, "is in the sheet \"Ann's run\", not in 'Sheet1'"),
    ):
        with pytest.raises(error, match=message):
            read(source, range=text)


def test_a_named_range_that_moves_while_it_is_read_is_read_where_it_is(book: TableBook) -> None:
    """Somebody puts rows above it between the requests for its place and for its cells."""
    first = book.sheet("Sheet1")
    first.update([["a"], [5], ["b"], [6]])
    first.define_named_range("A1:A2", "named")
    reads: list[Any] = []

    def reads_cells(request: Any) -> bool:
        reads.extend([request] if "values" in request.path else [])
        return len(reads) == 1

    with meanwhile(book.server, reads_cells, lambda: first.insert_rows([["x"]])):
        assert sa.read_columns(first.spreadsheet, range="named")["a"].tolist() == [5]
