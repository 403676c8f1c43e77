"""Several tables in one write, a worksheet each: a reader gets the old ones or the new ones of all, at any moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from services import Book, at_each_request

import sheetarray as sa
from sheets_emulator import Fault, SheetsServer

OLD = {"north": 1.0, "south": 1.0}
NEW = {"fresh": 2.0, "south": 2.0, "north": 2.0}


def frames(numbers: dict[str, float], rows: int = 30) -> dict[str, pd.DataFrame]:
    return {title: pd.DataFrame({"t": np.full(rows, number), "u": range(rows)}) for title, number in numbers.items()}


def write(book: Book, tables: dict[str, Any], **options: Any) -> None:
    sa.write(book.url, tables, client=book.client, **options)


@pytest.fixture
def book(way: str, pauses: list[float], server: SheetsServer) -> Iterator[Book]:
    book = Book(server)
    write(book, frames(OLD))
    server.requests.clear()
    yield book
    server.on_request = None


def numbers(book: Book) -> dict[str, float]:
    """The number in each table; each array holds only one."""
    found = {}
    for title in ("fresh", "south", "north"):
        try:
            array = sa.read_gsheet(book.key, sheet=title, client=book.client)["t"]
        except sa.NotFoundError:
            continue
        (found[title],) = set(array.tolist())
    return found


def test_a_reader_sees_all_of_them_or_none(book: Book) -> None:
    seen: list[dict[str, float]] = []
    with at_each_request(book.server, lambda: seen.append(numbers(book))):
        write(book, frames(NEW, rows=40))
    assert numbers(book) == NEW
    assert OLD in seen
    assert all(found in (OLD, NEW) for found in seen)
    assert list(book.dump()["sheets"]) == ["Sheet1", "north", "south", "fresh"]


@pytest.mark.fault("A fault that lasts, while several tables are written.", "All old tables stand, or all new ones.")
@pytest.mark.parametrize(
    ("way", "kind"), [("at once", "reset-after"), ("staged", 503), ("staged", "reset-after")], indirect=["way"]
)
def test_a_fault_that_lasts_leaves_all_old_tables_or_all_new_ones(book: Book, kind: Any) -> None:
    values, outcomes = dict(OLD), []
    for index in range(40):
        fault = Fault(kind, after=index, times=None)
        book.server.faults.append(fault)
        new = {"south": index + 2.0, "north": index + 2.0}
        try:
            write(book, frames(new))
            values = new
        except sa.RemoteError:
            book.server.faults.clear()
            assert numbers(book) in (values, new), index
            values = numbers(book)
            outcomes.append(values == new)
        book.server.faults.clear()
        if fault.seen <= index:
            break
    assert False in outcomes
    write(book, frames(NEW))
    assert numbers(book) == NEW
    assert [title for title in book.dump()["sheets"] if title.startswith("sheetarray")] == []


def test_a_cell_that_the_service_changes_in_one_keeps_all_of_them_out(book: Book) -> None:
    before = book.dump()
    book.change_requests(lambda _, body: body.replace(b"0.125", b"0.25"))
    tables = frames(NEW)
    tables["south"].loc[3, "t"] = 0.125
    with pytest.raises(sa.DTypeError, match=r"t, buffer element 3: the service keeps 0\.125 as 0\.25"):
        write(book, tables)
    assert book.dump() == before


def test_what_is_in_the_way_of_one_keeps_all_of_them_out(book: Book) -> None:
    book.sheet("south").resize(rows=80)
    book.put("south", "A60", [["mine"]])
    before = book.dump()
    with pytest.raises(sa.FormatError, match="in the way") as caught:
        write(book, frames(NEW, rows=70))
    assert caught.value.location == "south!A60"
    assert book.dump() == before


def test_tables_of_plain_columns_are_put_into_place_together(book: Book) -> None:
    before = book.dump()
    with pytest.raises(sa.LimitError, match="not blank"):
        sa.write_table(book.url, frames({"plain": 1.5, "north": 1.5}), client=book.client)
    assert book.dump() == before
    sa.write_table(book.url, frames({"plain": 1.5, "other": 3.5}), client=book.client)
    writing = [record for record in book.server.requests if record.status == 200 and b"addSheet" in record.received]
    assert len(writing) == 1
    assert sa.read_columns(book.url, sheet="other", client=book.client)["t"].tolist() == [3.5] * 30


def test_their_cells_count_together() -> None:
    with SheetsServer(cells=5_000) as server:
        book = Book(server, [("Sheet1", 5, 1)])
        write(book, frames({"north": 1.0}))
        before = book.dump()
        with pytest.raises(
            sa.LimitError, match=r"the spreadsheet would have [56],\d\d\d cells, .* but it may have at most 5,000"
        ):
            write(book, frames({"south": 1.0, "north": 2.0}, rows=1_300))
        assert book.dump() == before
        write(book, frames({"south": 2.0, "north": 2.0}, rows=400))
        assert numbers(book) == {"south": 2.0, "north": 2.0}
