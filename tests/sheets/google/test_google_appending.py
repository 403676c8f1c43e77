"""Rows appended to arrays in Google Sheets: what was there is neither read nor sent, and all or nothing is appended."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import awkward as ak
import numpy as np
import pytest
import xarray as xr
from services import Book, meanwhile

import sheetarray as sa
from sheetarray.testing.cases import assert_same
from sheets_emulator import Fault, SheetsServer

ARRAYS = {
    "t": np.arange(12.0).reshape(4, 3),
    "day": np.datetime64("2024-01-01") + np.arange(4),
    "name": np.array(["a", "", "007", "=1"]),
    "fortran": np.asfortranarray(np.arange(8).reshape(2, 4)),
    "empty": np.zeros((0, 2)),
}


def rows_of(array: Any, count: int = 2) -> Any:
    """Return rows of the dtype of an array, others than its own."""
    some = np.concatenate([array[-1:], array[:1]]) if len(array) else np.full((2, *array.shape[1:]), 0.1, array.dtype)
    return some[:count]


def holding(server: SheetsServer, arrays: Any = ARRAYS) -> Book:
    """A spreadsheet with arrays."""
    book = Book(server)
    book.write(arrays)
    server.requests.clear()
    return book


@pytest.fixture
def book(server: SheetsServer) -> Book:
    return holding(server)


def test_progress_is_told_before_and_after(book: Book) -> None:
    reports: list[tuple[int, int]] = []
    book.append({"t": np.zeros((2, 3)), "name": np.array(["x", "y"])}, progress=lambda *cells: reports.append(cells))
    assert reports == [(0, 8), (8, 8)]


def test_rows_are_appended_to_each_kind_of_array(book: Book) -> None:
    new = {name: rows_of(array) for name, array in ARRAYS.items() if name != "fortran"}
    new["fortran"] = np.asfortranarray([[10], [11]])
    url = book.append(new)
    assert len(book.server.requests) == 3
    assert url.endswith(f"#gid={book.sheet('arrays').id}")
    arrays = book.read()
    for name, rows in new.items():
        axis = 1 if name == "fortran" else 0
        whole = np.concatenate([ARRAYS[name], rows], axis=axis)
        assert_same(arrays[name], np.asfortranarray(whole) if axis else whole)
    assert book.check() == []
    assert book.sheet("arrays").acell("B27").value == "2024-01-01"  # a date, not its number
    ranges = {named["name"]: named["range"] for named in book.opened.list_named_ranges()}
    assert ranges["t"]["endRowIndex"] - ranges["t"]["startRowIndex"] == 18
    assert ranges["empty"]["endRowIndex"] - ranges["empty"]["startRowIndex"] == 4


def test_no_rows_are_no_change(book: Book) -> None:
    before = book.dump()
    book.append({"t": np.zeros((0, 3))})
    assert book.dump() == before


@pytest.mark.parametrize(
    ("arrays", "error", "words"),
    [
        ({"unknown": np.zeros(2)}, sa.NotFoundError, "no array 'unknown'; there is 't', 'day'"),
        ({"t": np.zeros((2, 3), "f4")}, sa.DTypeError, "t: rows of float32, and the array is of float64"),
        ({"day": np.zeros(1, "M8[ms]")}, sa.DTypeError, r"day: rows of datetime64\[ms\]"),
        ({"t": np.zeros(3)}, sa.LimitError, r"t: rows of shape \(3,\); the array takes rows of shape \(n, 3\)"),
        ({"t": np.zeros((1, 2))}, sa.LimitError, r"of shape \(n, 3\)"),
        ({"fortran": np.zeros((1, 4), int)}, sa.LimitError, r"of shape \(2, n\)"),
        ({"name": np.array(["x" * 50_001])}, sa.LimitError, "50,001 characters"),
        ({"t": np.zeros((60_000, 3))}, sa.LimitError, "too many for one request"),
    ],
)
def test_rows_that_do_not_fit_are_refused_whole(
    book: Book, arrays: dict[str, Any], error: type[Exception], words: str
) -> None:
    before = book.dump()
    with pytest.raises(error, match=words):
        book.append({"name": np.array(["new"]), **arrays})
    assert book.dump() == before


def test_what_stands_below_is_not_overwritten(book: Book) -> None:
    book.sheet("arrays").update([["note"]], f"B{21 + 4 + 2}")
    before = book.dump()
    with pytest.raises(sa.FormatError, match="in the way of day") as error:
        book.append({"day": rows_of(ARRAYS["day"])})
    assert error.value.location == "arrays!B27"
    assert book.dump() == before
    book.append({"day": rows_of(ARRAYS["day"], 1)})  # one row less ends above it


@pytest.mark.parametrize(
    ("held", "rows", "error", "words"),
    [
        (np.float64(1), np.float64(2), sa.LimitError, "no axis"),
        (ak.Array([[1, 2], [3]]), ak.Array([[4]]), sa.DTypeError, "rows cannot be appended to awkward arrays"),
    ],
)
def test_arrays_without_rows_get_none(server: SheetsServer, held: Any, rows: Any, error: Any, words: str) -> None:
    book = holding(server, {"a": held})
    before = book.dump()
    with pytest.raises(error, match=words):
        book.append({"a": rows})
    with pytest.raises(sa.NotFoundError, match="no worksheet 'other'"):
        book.append({"x": np.zeros(2)}, sheet="other")
    assert book.dump() == before


@pytest.mark.fault("A fault at any request of an append.", "The rows are there once, or not at all.")
@pytest.mark.usefixtures("pauses")
@pytest.mark.parametrize("status", [503, "reset-before", "reset-after", "truncated", "empty", "wrong", "repeated"])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_fault_appends_once_or_not_at_all(server: SheetsServer, status: int | str, after: int) -> None:
    book = holding(server, {"t": ARRAYS["t"]})
    server.faults.append(Fault(status=status, after=after))
    book.append({"t": np.full((1, 3), 0.1)})
    assert_same(book.read()["t"], np.concatenate([ARRAYS["t"], np.full((1, 3), 0.1)]))


@pytest.mark.parametrize("labelled", [False, True])
def test_the_public_append_takes_three_requests_and_returns_the_lengths(server: SheetsServer, labelled: bool) -> None:
    held: Any = {"t": ARRAYS["t"], "day": ARRAYS["day"]}
    rows: Any = {"t": [[1, 2, 3]], "day": np.array(["2025-01-01"], "M8[D]")}
    if labelled:
        held = xr.Dataset({"t": (("day", "x"), ARRAYS["t"])}, {"day": ARRAYS["day"].astype("M8[ns]")})
        rows["day"] = rows["day"].astype("M8[ns]")
    book = holding(server, held)
    server.requests.clear()
    assert sa.append(book.key, rows, client=book.client) == {"t": 5, "day": 5}
    assert len(server.requests) == 3
    assert_same(book.read()["t"], np.concatenate([ARRAYS["t"], [[1.0, 2.0, 3.0]]]))


def test_arrays_are_found_on_the_worksheet_that_holds_them(server: SheetsServer) -> None:
    key, client = server.create(), server.client()
    sa.write_gsheet(key, {"a": [1]}, sheet="first", client=client)
    sa.write_gsheet(key, {"b": [1]}, sheet="second", client=client)
    assert sa.append(key, {"b": [2]}, client=client) == {"b": 2}
    assert sa.append(key, {"a": [3]}, client=client) == {"a": 2}
    with pytest.raises(sa.NotFoundError, match="no array 'c'"):
        sa.append(key, {"c": [3]}, client=client)
    with pytest.raises(sa.NotFoundError, match="third"):
        sa.append(key, {"a": [3]}, sheet="third", client=client)
    assert {name: array.tolist() for name, array in sa.read(key, client=client).items()} == {"a": [1, 3], "b": [1, 2]}


def test_who_was_slower_appends_below_who_was_faster_and_says_so(server: SheetsServer) -> None:
    book = holding(server, {"t": ARRAYS["t"]})

    def first() -> None:
        assert sa.append(book.key, {"t": [[1, 1, 1], [2, 2, 2]]}, client=book.client) == {"t": 6}

    with meanwhile(server, lambda record: record.method == "POST", first):
        assert sa.append(book.key, {"t": [[3, 3, 3]]}, client=book.client) == {"t": 7}
    assert book.read()["t"][4:, 0].tolist() == [1, 2, 3]


def test_rows_that_do_not_fit_any_more_are_refused(server: SheetsServer) -> None:
    """Somebody makes the array one of whole numbers while rows of fractions come."""
    book = holding(server, {"t": np.arange(3.0)})
    with (
        meanwhile(
            server,
            lambda record: record.method == "POST",
            lambda: sa.write_gsheet(book.key, {"t": [1, 2]}, client=book.client),
        ),
        pytest.raises(sa.DTypeError, match="int64 does not hold"),
    ):
        sa.append(book.key, {"t": [0.5]}, client=book.client)
    assert book.read()["t"].tolist() == [1, 2]


def test_eight_that_append_at_once_lose_nothing(server: SheetsServer) -> None:
    book = holding(server, {"t": np.zeros(1)})

    def add(number: int) -> None:
        sa.append(book.key, {"t": [number]}, client=server.client())

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add, range(1, 9)))
    assert sorted(book.read()["t"].tolist()) == list(range(9))


@pytest.fixture
def rounding(book: Book) -> None:
    """Let the service keep one double as another."""
    book.change_requests(lambda _, body: body.replace(b"0.30000000000000004", b"0.3"))


@pytest.mark.usefixtures("rounding")
def test_a_cell_that_the_service_does_not_keep_is_taken_back(book: Book) -> None:
    before = book.dump()
    with pytest.raises(sa.DTypeError, match=r"t, buffer element 13: the service keeps 0\.30000000000000004 as 0\.3"):
        book.append({"t": np.array([[1.0, 0.1 + 0.2, 2.0]]), "name": np.array(["x"])})
    after = book.dump()
    assert after["sheets"]["arrays"]["cells"] == before["sheets"]["arrays"]["cells"]
    assert all(after["ranges"][name] == before["ranges"][name] for name in ("t", "name", "empty"))
    assert_same(book.read()["t"], ARRAYS["t"])


@pytest.mark.usefixtures("rounding")
def test_rows_that_cannot_be_taken_back_are_told_and_appended_once(book: Book) -> None:
    book.server.faults.append(Fault(status=400, method="POST", after=1))
    with pytest.raises(sa.RemoteError, match="could not be put back"):
        book.append({"t": np.array([[1.0, 0.1 + 0.2, 2.0]])})
    assert book.read()["t"].shape == (5, 3)


def test_labels_of_a_dataset_stay_when_its_rows_are_appended(server: SheetsServer) -> None:
    grid = xr.Dataset({"t": ("x", [1.5, 2.5])}, coords={"x": [1, 2]}, attrs={"title": "a grid"})
    book = holding(server, grid)
    more = xr.Dataset({"t": ("x", [3.5])}, coords={"x": [3]})
    book.append(more)
    again = sa.read_dataset(f"gsheets://{book.key}/arrays", client=book.client)
    xr.testing.assert_identical(again, xr.concat([grid, more], "x"))


def test_nothing_is_appended_below_a_gap(book: Book) -> None:
    book.sheet("arrays").delete_rows(23)  # of four arrays of 4 to 12 rows, one element
    before = book.dump()
    with pytest.raises(sa.FormatError, match="day: nothing can be appended, since its last element is gone") as error:
        book.append({"day": rows_of(ARRAYS["day"]), "name": np.array(["new"])})
    assert error.value.location == "arrays!B25"
    assert book.dump() == before
    book.append({"name": np.array(["new"])})  # of text the last element may be blank


@pytest.mark.parametrize("name", ["day", "empty"])
def test_accept_makes_named_ranges_true(server: SheetsServer, name: str) -> None:
    book, count = holding(server, {name: ARRAYS[name]}), len(ARRAYS[name])
    sheet = book.sheet("arrays")
    sheet.add_rows(2)
    typed = [["2024-02-01"] if name == "day" else [0.5]] * 2
    sheet.update(typed, f"A{book.column(0).index('data') + 2 + count}", raw=False)
    assert {one.name: one.after for one in book.accept().arrays}[name][0] == count + (2 if name == "day" else 1)
    assert len(book.ranges()[name]) == count + 2
    assert book.check() == []
