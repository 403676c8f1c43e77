"""How arrays look in Google Sheets: dates are dates, headers are folded away, and no element is hidden with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sheetarray as sa
from sheetarray import read_gsheet, write_gsheet
from sheetarray.testing.cases import assert_same
from sheets_emulator import SheetsServer

TABLE = {
    "day": np.array(["1900-03-01", "9999-12-31", "2024-02-29"], "M8[D]"),
    "moment": np.array(["2024-01-01T12:30:00.123", "2024-01-01", "NaT"], "M8[ms]"),
    "early": np.array(["1900-02-28", "1850-05-05", "2024-01-01"], "M8[h]"),
    "fine": np.array(["2024-01-01T12:30:00.123456", "NaT", "2024-01-01"], "M8[us]"),
    "x": np.array([45000.0, np.nan, -0.0]),
}


class Sheet:
    """The worksheet that arrays are written to, as the API shows it."""

    def __init__(self, server: SheetsServer) -> None:
        self.client, self.key = server.client(), server.create()

    def write(self, arrays: Any, **options: Any) -> None:
        write_gsheet(self.key, arrays, client=self.client, **options)

    def read(self) -> dict[str, Any]:
        return read_gsheet(self.key, client=self.client)

    @property
    def worksheet(self) -> Any:
        return self.client.open_by_key(self.key).worksheet("arrays")

    def resource(self) -> Any:
        params = {"includeGridData": "true", "ranges": "arrays"}
        (sheet,) = self.client.open_by_key(self.key).fetch_sheet_metadata(params)["sheets"]
        return sheet

    def column(self, index: int, option: str = "FORMATTED_VALUE") -> list[Any]:
        return [cell for (cell,) in self.worksheet.get(f"R20C{index}:R22C{index}", value_render_option=option)]


@pytest.fixture
def sheet(server: SheetsServer) -> Sheet:
    return Sheet(server)


def test_dates_are_dates_where_a_serial_number_is_exact(sheet: Sheet) -> None:
    sheet.write(TABLE)
    assert sheet.column(1) == ["1900-03-01", "9999-12-31", "2024-02-29"]
    assert sheet.column(1, "UNFORMATTED_VALUE") == [61, 2958465, 45351]
    assert sheet.column(3, "UNFORMATTED_VALUE") == ["1900-02-28T00", "1850-05-05T00", 45292]
    assert sheet.column(4, "UNFORMATTED_VALUE")[0] == "2024-01-01T12:30:00.123456"
    assert sheet.column(5, "UNFORMATTED_VALUE")[0] == 45000
    for name, array in sheet.read().items():
        assert_same(array, TABLE[name])
    assert list(sa.check(sheet.key, client=sheet.client, format="gsheet")) == []


def test_dates_may_be_text(sheet: Sheet) -> None:
    sheet.write(TABLE, dates="text")
    assert sheet.column(1, "UNFORMATTED_VALUE") == ["1900-03-01", "9999-12-31", "2024-02-29"]
    assert_same(sheet.read()["moment"], TABLE["moment"])
    with pytest.raises(sa.LimitError, match="dates is"):
        sheet.write(TABLE, dates="real dates")


def test_a_date_that_somebody_types_is_read(sheet: Sheet) -> None:
    sheet.write(TABLE)
    sheet.worksheet.update([["2025-05-05"]], "A20", value_input_option="USER_ENTERED")
    sheet.worksheet.update([["2025-05-05 06:00:00"]], "D21", value_input_option="USER_ENTERED")
    arrays = sheet.read()
    assert arrays["day"][0] == np.datetime64("2025-05-05")
    assert arrays["fine"][1] == np.datetime64("2025-05-05T06:00:00", "us")


@pytest.mark.parametrize("number", [60, 5.5, 45000.25, 2958466])
def test_a_number_that_is_no_day_is_named(sheet: Sheet, number: float) -> None:
    sheet.write(TABLE)
    sheet.worksheet.update([[number]], "A20", value_input_option="RAW")
    with pytest.raises(sa.FormatError) as error:
        sheet.read()
    assert error.value.location == "arrays!A20"


def test_numbers_in_the_place_of_dates_are_shown_as_numbers(sheet: Sheet) -> None:
    sheet.write(TABLE)
    sheet.write({"day": np.array([1.5, 2.5, 3.5])})
    assert sheet.column(1) == ["1.5", "2.5", "3.5"]


def test_headers_are_folded_away_and_frozen(sheet: Sheet) -> None:
    sheet.write(TABLE)
    whole = sheet.resource()
    assert whole["properties"]["gridProperties"]["frozenRowCount"] == 19
    (group,) = whole["rowGroups"]
    assert group["collapsed"]
    assert (group["range"]["startIndex"], group["range"]["endIndex"]) == (1, 19)
    hidden = [row.get("hiddenByUser", False) for row in whole["data"][0]["rowMetadata"]]
    assert hidden == [False] + [True] * 18 + [False] * 3


@pytest.mark.parametrize("arrays", [{"a": np.zeros(0)}, {"a": np.zeros(3), "version": np.zeros((3, 1))}])
def test_only_headers_are_folded_away(sheet: Sheet, arrays: dict[str, Any]) -> None:
    sheet.write(arrays)
    whole = sheet.resource()
    assert "rowGroups" not in whole
    assert whole["properties"]["gridProperties"]["frozenRowCount"] == 1


@pytest.mark.parametrize(
    ("name", "array", "shown"),
    [("later", np.float64(5), False), ("later", np.zeros((1, 1)), False), ("data", np.float64(5), True)],
)
def test_no_element_is_hidden_by_a_later_write(sheet: Sheet, name: str, array: Any, shown: bool) -> None:
    sheet.write(TABLE)
    for other in (name, "day"):  # above the header of an array that is named as a word of headers, no blanks can be
        sheet.write({other: array})
        (group,) = sheet.resource()["rowGroups"]
        assert group.get("collapsed", False) is not shown
        assert_same(sheet.read()[other], np.asarray(array))


def test_columns_for_programs_are_folded_away_and_long_texts_are_not_wide(sheet: Sheet) -> None:
    frame = pd.DataFrame({"note": ["long " * 50], "x": [1.5]}, index=pd.Index(["a"], name="key"))
    sheet.write(frame)
    whole = sheet.resource()
    names = [cell["formattedValue"] for cell in whole["data"][0]["rowData"][0]["values"]]
    (group,) = whole["columnGroups"]
    assert group["collapsed"]
    assert names[group["range"]["startIndex"] : group["range"]["endIndex"]] == ["dataset.json"]
    columns = whole["data"][0]["columnMetadata"]
    assert columns[names.index("note")]["pixelSize"] < 500
    assert [column.get("hiddenByUser", False) for column in columns] == [name == "dataset.json" for name in names]
