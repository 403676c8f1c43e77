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
    with pytest.raises(sa.LimitError, match="dates is"):
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


def test_headers_are_folded_away_and_frozen(book: Book) -> None:
    book.write(TABLE)
    whole = book.resource("arrays")
    assert whole["properties"]["gridProperties"]["frozenRowCount"] == 19
    (group,) = whole["rowGroups"]
    assert group["collapsed"]
    assert (group["range"]["startIndex"], group["range"]["endIndex"]) == (1, 19)
    hidden = [row.get("hiddenByUser", False) for row in whole["data"][0]["rowMetadata"]]
    assert hidden == [False] + [True] * 18 + [False] * 3


@pytest.mark.parametrize("arrays", [{"a": np.zeros(0)}, {"a": np.zeros(3), "version": np.zeros((3, 1))}])
def test_only_headers_are_folded_away(book: Book, arrays: dict[str, Any]) -> None:
    book.write(arrays)
    whole = book.resource("arrays")
    assert "rowGroups" not in whole
    assert whole["properties"]["gridProperties"]["frozenRowCount"] == 1


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
