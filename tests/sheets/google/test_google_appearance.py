"""How arrays look in Google Sheets: dates are dates, headers are folded away, and no element is hidden with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from services import Book

import sheetarray as sa
from sheetarray.testing.cases import assert_same

TABLE = {
    "day": np.array(["1900-03-01", "9999-12-31", "2024-02-29"], "M8[D]"),
    "moment": np.array(["2024-01-01T12:30:00.123", "2024-01-01", "NaT"], "M8[ms]"),
    "early": np.array(["1900-02-28", "1850-05-05", "2024-01-01"], "M8[h]"),
    "fine": np.array(["2024-01-01T12:30:00.123456", "NaT", "2024-01-01"], "M8[us]"),
    "x": np.array([45000.0, np.nan, -0.0]),
}


def column(book: Book, index: int, option: str = "FORMATTED_VALUE") -> list[Any]:
    return [cell for (cell,) in book.sheet("arrays").get(f"R20C{index}:R22C{index}", value_render_option=option)]


def test_dates_are_dates_where_a_serial_number_is_exact(book: Book) -> None:
    book.write(TABLE)
    assert column(book, 1) == ["1900-03-01", "9999-12-31", "2024-02-29"]
    assert column(book, 1, "UNFORMATTED_VALUE") == [61, 2958465, 45351]
    assert column(book, 3, "UNFORMATTED_VALUE") == ["1900-02-28T00", "1850-05-05T00", 45292]
    assert column(book, 4, "UNFORMATTED_VALUE")[0] == "2024-01-01T12:30:00.123456"
    assert column(book, 5, "UNFORMATTED_VALUE")[0] == 45000
    for name, array in book.read().items():
        assert_same(array, TABLE[name])
    assert book.check() == []


def test_dates_may_be_text(book: Book) -> None:
    book.write(TABLE, dates="text")
    assert column(book, 1, "UNFORMATTED_VALUE") == ["1900-03-01", "9999-12-31", "2024-02-29"]
    assert_same(book.read()["moment"], TABLE["moment"])
    with pytest.raises(ValueError, match="dates is"):
        book.write(TABLE, dates="real dates")


def test_a_date_that_somebody_types_is_read(book: Book) -> None:
    book.write(TABLE)
    book.sheet("arrays").update([["2025-05-05"]], "A20", value_input_option="USER_ENTERED")
    book.sheet("arrays").update([["2025-05-05 06:00:00"]], "D21", value_input_option="USER_ENTERED")
    arrays = book.read()
    assert arrays["day"][0] == np.datetime64("2025-05-05")
    assert arrays["fine"][1] == np.datetime64("2025-05-05T06:00:00", "us")


@pytest.mark.parametrize("number", [60, 5.5, 45000.25, 2958466])
def test_a_number_that_is_no_day_is_named(book: Book, number: float) -> None:
    book.write(TABLE)
    book.sheet("arrays").update([[number]], "A20", value_input_option="RAW")
    with pytest.raises(sa.FormatError) as error:
        book.read()
    assert error.value.location == "arrays!A20"


def test_numbers_in_the_place_of_dates_are_shown_as_numbers(book: Book) -> None:
    book.write(TABLE)
    book.write({"day": np.array([1.5, 2.5, 3.5])})
    assert column(book, 1) == ["1.5", "2.5", "3.5"]


def layout_of(book: Book) -> tuple[int, list[tuple[int, int, bool]]]:
    """How many rows are frozen, and the groups of rows."""
    sheet = book.resource("arrays")
    groups = [
        (group["range"]["startIndex"], group["range"]["endIndex"], group.get("collapsed", False))
        for group in sheet.get("rowGroups", [])
    ]
    return sheet["properties"]["gridProperties"].get("frozenRowCount", 0), groups


@pytest.mark.parametrize(
    ("arrays", "headers"),
    [
        (TABLE, (19, [(1, 19, True)])),
        ({"a": np.zeros(0)}, (1, [])),  # only headers are folded away
        ({"a": np.zeros(3), "version": np.zeros((3, 1))}, (1, [])),
    ],
)
def test_headers_are_folded_away_and_frozen(book: Book, arrays: dict[str, Any], headers: Any) -> None:
    book.write(arrays)
    assert layout_of(book) == headers
    hidden = [row.get("hiddenByUser", False) for row in book.resource("arrays")["data"][0]["rowMetadata"]]
    assert [row for row, is_hidden in enumerate(hidden) if is_hidden] == list(range(1, headers[0]))


@pytest.mark.parametrize(
    ("name", "array", "shown"),
    [("later", np.float64(5), False), ("later", np.zeros((1, 1)), False), ("data", np.float64(5), True)],
)
def test_no_element_is_hidden_by_a_later_write(book: Book, name: str, array: Any, shown: bool) -> None:
    book.write(TABLE)
    for other in (name, "day"):  # above the header of an array that is named as a word of headers, no blanks can be
        book.write({other: array})
        (group,) = book.resource("arrays")["rowGroups"]
        assert group.get("collapsed", False) is not shown
        assert_same(book.read()[other], np.asarray(array))


def test_columns_for_programs_are_folded_away_and_long_texts_are_not_wide(book: Book) -> None:
    frame = pd.DataFrame({"note": ["long " * 50], "x": [1.5]}, index=pd.Index(["a"], name="key"))
    book.write(frame)
    whole = book.resource("arrays")
    names = [cell["formattedValue"] for cell in whole["data"][0]["rowData"][0]["values"]]
    (group,) = whole["columnGroups"]
    assert group["collapsed"]
    assert names[group["range"]["startIndex"] : group["range"]["endIndex"]] == ["dataset.json"]
    columns = whole["data"][0]["columnMetadata"]
    assert columns[names.index("note")]["pixelSize"] < 500
    assert [column.get("hiddenByUser", False) for column in columns] == [name == "dataset.json" for name in names]


# Where the data of arrays begin in Google Sheets --------------------------------------------------------------

RANKS = {"a": np.arange(3.0), "b": np.arange(8).reshape(2, 2, 2), "c": np.array(["x", "y"]), "d": np.float32(5)}


def data_rows(book: Book) -> set[int]:
    """The rows, from 1, in which data begin."""
    return {row for row, cells in enumerate(book.cells(), 2) if "data" in cells}


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
        assert {one.name: one.after for one in book.accept().arrays}["c"] == (4,)
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


@pytest.mark.parametrize(("names", "unaligned"), [("abcd", ""), (["a", "ndarray"], "b"), ("abcd", "cd")])
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
