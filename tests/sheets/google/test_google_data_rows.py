"""Where the data of arrays begin in Google Sheets: in one row, and every array keeps its name whatever is replaced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from limits import set_limits
from services import Book

import sheetarray as sa
from sheetarray.testing.cases import assert_same

RANKS = {"a": np.arange(3.0), "b": np.arange(8).reshape(2, 2, 2), "c": np.array(["x", "y"]), "d": np.float32(5)}


@pytest.fixture(params=["at once", "stage"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each of the two ways of writing."""
    if request.param != "at once":
        set_limits(monkeypatch, google_batch=0)
    return str(request.param)


def data_rows(book: Book) -> set[int]:
    """The rows, from 1, in which data begin."""
    return {row for row, cells in enumerate(book.cells(), 2) if "data" in cells}


def layout_of(book: Book) -> tuple[int, list[tuple[int, int, bool]]]:
    """How many rows are frozen, and the groups of rows."""
    params = {"ranges": "arrays", "fields": "sheets(properties.gridProperties,rowGroups)"}
    (sheet,) = book.opened.fetch_sheet_metadata(params)["sheets"]
    groups = [
        (group["range"]["startIndex"], group["range"]["endIndex"], group.get("collapsed", False))
        for group in sheet.get("rowGroups", [])
    ]
    return sheet["properties"]["gridProperties"].get("frozenRowCount", 0), groups


def assert_holds(book: Book, arrays: dict[str, Any]) -> None:
    result = book.read()
    assert set(result) == set(arrays)
    for name, array in arrays.items():
        assert_same(result[name], np.asarray(array))
    assert book.check() == []


def test_data_of_a_new_worksheet_begin_in_one_row(book: Book, way: str) -> None:
    book.write(RANKS)
    assert len(data_rows(book)) == 1
    assert layout_of(book) == (23, [(1, 23, True)])
    assert all(cell is None for cell in book.column(0)[1:5])
    assert_holds(book, RANKS)


def test_what_is_added_or_replaced_begins_there_too_where_it_fits(book: Book, way: str) -> None:
    book.write(RANKS)
    book.write({"new": np.zeros((2, 1)), "a": np.zeros((2, 3), "i2")})
    assert len(data_rows(book)) == 1
    assert layout_of(book) == (23, [(1, 23, True)])
    assert_holds(book, RANKS | {"new": np.zeros((2, 1)), "a": np.zeros((2, 3), "i2")})
    book.append({"a": np.ones((1, 3), "i2"), "c": np.array(["z"])})
    book.put("arrays", f"C{max(data_rows(book)) + 3}", [["typed"]])
    longer = {"a": np.array([[0] * 3] * 2 + [[1] * 3], "i2"), "c": np.array(["x", "y", "z", "typed"])}
    with pytest.warns(sa.SheetArrayWarning, match="different numbers of rows"):  # "new" had as many rows as others
        assert book.adopt()["c"].shape == (4,)
    assert_holds(book, RANKS | {"new": np.zeros((2, 1))} | longer)


def test_rows_of_headers_grow_with_a_worksheet_that_is_written_anew(book: Book, way: str) -> None:
    book.write(RANKS)
    taller = {name: np.ones((1, 2, 1, 2)) for name in RANKS} | {"a": np.arange(4)}
    book.write(taller)
    assert len(data_rows(book)) == 1
    assert layout_of(book) == (25, [(1, 25, True)])
    assert_holds(book, taller)
    book.write({name: np.arange(2) for name in RANKS})  # what is frozen and folded away may stay as it is
    assert layout_of(book) == (25, [(1, 25, True)])
    assert_holds(book, {name: np.arange(2) for name in RANKS})


def put_unaligned(book: Book, arrays: dict[str, Any]) -> None:
    """Add arrays by hand, each with its header right below its name, as older versions have written them."""
    sheet = book.sheet("arrays")
    first, width = len(sheet.row_values(1)), len(arrays)
    sheet.resize(max(sheet.row_count, 60), max(sheet.col_count, first + width))
    for column, (name, array) in enumerate(arrays.items(), first + 1):
        cells = [[cell] for cell in (name, *sa.to_linear(array))]
        sheet.update(cells, f"R1C{column}", raw=True)


@pytest.mark.parametrize("unaligned", ["", "b", "cd"])
@pytest.mark.parametrize("names", ["abcd", ["a", "ndarray"]])
def test_any_writes_after_each_other_leave_what_they_wrote(
    book: Book, way: str, names: list[str], unaligned: str
) -> None:
    random = np.random.default_rng(len(unaligned))
    holds: dict[str, Any] = {"a": np.ones((2, 2))}
    book.write(holds)
    older = {name: random.normal(size=(2,) * rank) for rank, name in enumerate(unaligned, 1)}
    put_unaligned(book, older)
    holds |= older
    for _ in range(7):
        some = random.choice(list(names), random.integers(1, 3), replace=False).tolist()
        made = {name: random.normal(size=(2,) * int(random.integers(0, 5))) for name in some}
        book.write(made)
        holds |= made
        assert_holds(book, holds)


def test_what_the_service_does_not_keep_is_put_back_with_its_looks(book: Book) -> None:
    book.write({"a": np.arange(3.0), "b": np.ones((2, 2)), "c": np.arange(2)})
    before, shown = book.dump(), layout_of(book)
    book.change_requests(lambda _, body: body.replace(b"0.125", b"0.25"))
    taller = np.full((1, 1, 1, 2), 0.125)
    for arrays in ({"a": taller, "b": taller, "c": taller}, {"b": taller, "c": taller}):  # "a" left alone, or not
        with pytest.raises(sa.DTypeError, match="the service keeps"):
            book.write(arrays)
        assert (book.dump(), layout_of(book)) == (before, shown)
