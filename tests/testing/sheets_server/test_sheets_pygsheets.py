"""pygsheets through what it offers on cells, sheets and ranges of the emulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from google.auth.credentials import AnonymousCredentials
from google_clients import EmulatedHttp
from googleapiclient.errors import HttpError

from sheetarray.testing.sheets_server import SheetsServer

pygsheets = pytest.importorskip("pygsheets")


@pytest.fixture(scope="module")
def client(server: SheetsServer) -> Any:
    return pygsheets.client.Client(AnonymousCredentials(), http=EmulatedHttp(server.url), check=False)


@pytest.fixture
def book(client: Any) -> Any:
    return client.create("pyg")


@pytest.fixture
def sheet(book: Any) -> Any:
    sheet = book.add_worksheet("run", 30, 8)
    sheet.update_values("A1:C4", [["name", "n", "m"], ["x", 3, "=B2*2"], ["y", 1, 0.5], ["z", 2, ""]])
    return sheet


def test_spreadsheets_and_their_sheets(client: Any, book: Any) -> None:
    book.title = "renamed"
    assert client.open("renamed").id == book.id
    more = book.add_worksheet("two", 20, 5, index=0)
    more.title, more.rows, more.cols, more.frozen_rows, more.frozen_cols = "zwei", 30, 6, 1, 2
    more.hidden = True
    more.hidden = False
    more.index = 1
    book.add_worksheet("copy", src_worksheet=more)
    titles = [one.title for one in book.worksheets(force_fetch=True)]
    assert titles == ["Sheet1", "zwei", "copy"]
    again = book.worksheet_by_title("zwei")
    assert (again.rows, again.cols, again.frozen_rows, again.frozen_cols) == (30, 6, 1, 2)
    book.del_worksheet(book.worksheet_by_title("copy"))
    book.custom_request({"addSheet": {"properties": {"title": "custom"}}}, "replies")
    book.share("someone@example.org", role="writer")
    assert [one["emailAddress"] for one in book.permissions] == ["someone@example.org", "owner@example.org"]
    book.remove_permission("someone@example.org")
    assert [one["role"] for one in book.permissions] == ["owner"]
    book.delete()
    assert "renamed" not in client.spreadsheet_titles()


def test_values_rows_and_columns(sheet: Any) -> None:
    assert sheet.get_values("A2", "C2") == [["x", "3", "6"]]
    assert sheet.get_all_records()[1] == {"name": "y", "n": 1, "m": 0.5}
    assert (sheet.get_row(3, include_tailing_empty=False), sheet.get_col(2)[:4]) == (
        ["y", "1", "0.5"],
        ["n", "3", "1", "2"],
    )
    sheet.sort_range("A2", "C4", 1, "DESCENDING")
    assert sheet.get_col(1, include_tailing_empty=False) == ["name", "x", "z", "y"]
    sheet.insert_rows(1, 2, [["i", "j"], ["k", "l"]])
    sheet.delete_rows(2)
    sheet.insert_cols(1, 1, values=[["v"]])
    sheet.delete_cols(2)
    assert sheet.get_values("A1", "B2", include_tailing_empty=False) == [["name", "n"], ["k", "l"]]
    added = sheet.append_table([["t", 1], ["u", 2]], "A1")
    assert added["updates"]["updatedCells"] == 4
    sheet.update_values_batch(["E1:E2", "F1"], [[["p"], ["q"]], [["s"]]])
    assert sheet.get_values_batch(["E1:E2", "F1"]) == [[["p"], ["q"]], [["s"]]]
    assert [cell.label for cell in sheet.find("t", matchEntireCell=True)] == ["A6"]
    sheet.replace("t", "T", matchEntireCell=True)
    assert sheet.get_value("A6") == "T"
    frame = pd.DataFrame({"a": [1.5, 2.0], "b": ["x", "y"]})
    sheet.set_dataframe(frame, "A10")
    np.testing.assert_array_equal(sheet.get_as_df(start="A10", end="B12").to_numpy(), frame.to_numpy())
    sheet.clear("A1", "H30")
    assert sheet.get_all_values(include_tailing_empty=False, include_tailing_empty_rows=False) == [[]]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pygsheets, where it links
def test_cells_and_ranges(sheet: Any) -> None:
    cell = sheet.cell("B2")
    cell.note, cell.color, cell.wrap_strategy = "note", (1, 0, 0, 1), "WRAP"
    cell.set_text_format("bold", True)
    cell.set_number_format(pygsheets.FormatType.NUMBER, "0.00")
    cell.set_horizontal_alignment(pygsheets.HorizontalAlignment.RIGHT)
    cell.formula = "=1+1"
    again = sheet.cell("B2")
    again.fetch()
    assert (again.value, again.formula, again.note, again.color) == ("2.00", "=1+1", "note", (1, 0, 0, 1))
    assert again.text_format["bold"]
    assert (again.neighbour("right").label, again.value_unformatted) == ("C2", 2)
    area = sheet.range("A1:B4", returnas="range")
    area.apply_format(pygsheets.Cell("A1"))
    area.update_values([[4, "1"], [3, "2"], [2, "3"], [1, "4"]])
    area.sort(0)
    assert sheet.get_col(2)[:4] == ["4", "3", "2", "1"]
    area.update_borders(top=True, style="SOLID")
    area.merge_cells()
    area.merge_cells("NONE")
    sheet.unlink()
    sheet.update_value("A1", "offline")
    sheet.link()
    assert sheet.get_value("A1") == "offline"


def test_what_lies_over_cells(book: Any, sheet: Any) -> None:
    sheet.adjust_column_width(1, 2, 120)
    sheet.adjust_column_width(1, 2)
    sheet.hide_dimensions(3, 4, "ROWS")
    sheet.apply_format(["A1", "B1:B2"], [{"textFormat": {"bold": True}}, {"backgroundColor": {"red": 1}}])
    sheet.set_data_validation("A2", "A4", "ONE_OF_LIST", ["x", "y"], strict=True)
    sheet.set_basic_filter("A1", "C4", filter_column_index=1, condition_type="NUMBER_GREATER", condition_values=["1"])
    sheet.clear_basic_filter()
    sheet.add_conditional_formatting("B2", "B4", "NUMBER_BETWEEN", {"backgroundColor": {"red": 1}}, ["1", "2"])
    chart = sheet.add_chart(("A2", "A4"), [("B2", "B4")], "Title", pygsheets.ChartType.LINE, "E2")
    chart.title, chart.chart_type, chart.legend_position = "new", pygsheets.ChartType.COLUMN, "TOP_LEGEND"
    chart.refresh()
    assert [one.title for one in sheet.get_charts()] == [chart.title] == ["new"]
    chart.delete()
    named = sheet.create_named_range("spot", "A1", "B3", returnas="json")
    sheet.get_named_range("spot").name = "place"
    assert [one.name_id for one in sheet.get_named_ranges()] == [named["namedRangeId"]]
    sheet.delete_named_range("place")
    protected = sheet.create_protected_range("A1", "A3")
    assert len(sheet.get_protected_ranges()) == 1
    sheet.remove_protected_range(protected.protect_id)
    entry = sheet.create_developer_metadata("k", "v")
    entry.value = "w"
    entry.update()
    assert [(one.key, one.value) for one in book.get_developer_metadata("k", search_sheets=True)] == [("k", "w")]
    entry.delete()


def test_what_does_not_go(sheet: Any) -> None:
    with pytest.raises(KeyError, match="range"):  # of pygsheets itself: it takes the whole answer for the range
        sheet.create_named_range("again", "A1", "B3")
    with pytest.raises(HttpError, match="An export as application/pdf is not supported"):
        sheet.client.drive.service.files().export(fileId=sheet.spreadsheet.id, mimeType="application/pdf").execute()
