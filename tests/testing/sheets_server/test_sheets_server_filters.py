"""Requests as other clients send them: ranges by data filters, a slash before the verb, lists of requests in lists."""

from __future__ import annotations

from typing import Any

import pytest
from sheets_asking import Sheets, ask

from sheetarray.testing.sheets_server import SheetsServer


@pytest.fixture
def sheets(sheets_server: SheetsServer) -> Sheets:
    sheets = Sheets(sheets_server, ("S", 10, 4), ("T", 5, 2))
    sheets.put("S!A1", [["a", 1], ["b", 2], ["c", 3]])
    sheets.put("T!A1", [["t"]])
    return sheets


def post(sheets: Sheets, path: str, body: Any, **query: Any) -> Any:
    status, answer = ask(sheets.server, "POST", f"/{sheets.key}{path}", body, **query)
    assert status == 200, answer
    return answer


AREA = {"sheetId": 0, "startRowIndex": 1, "endRowIndex": 3, "startColumnIndex": 0, "endColumnIndex": 2}


@pytest.mark.parametrize("path", [":getByDataFilter", "/:getByDataFilter"])
@pytest.mark.parametrize("data_filter", [{"a1Range": "S!A2:B3"}, {"gridRange": AREA}])
def test_a_spreadsheet_is_got_by_data_filters(sheets: Sheets, path: str, data_filter: Any) -> None:
    answer = post(sheets, path, {"dataFilters": [data_filter], "includeGridData": True})
    (sheet,) = answer["sheets"]
    assert sheet["properties"]["title"] == "S"
    (data,) = sheet["data"]
    assert data["startRow"] == 1
    values = [[cell["formattedValue"] for cell in row["values"]] for row in data["rowData"]]
    assert values == [["b", "2"], ["c", "3"]]
    assert len(post(sheets, path, {})["sheets"]) == 2
    assert "data" not in post(sheets, path, {"dataFilters": [data_filter]})["sheets"][0]
    masked = post(sheets, path, {"dataFilters": [data_filter]}, fields="sheets.data.rowData.values.userEnteredValue")
    assert masked["sheets"][0]["data"][0]["rowData"][0]["values"][1] == {"userEnteredValue": {"numberValue": 2}}


def test_values_are_got_put_and_cleared_by_data_filters(sheets: Sheets) -> None:
    filters = [{"a1Range": "S!A1:A2"}, {"gridRange": AREA}]
    answer = post(sheets, "/values:batchGetByDataFilter", {"dataFilters": filters, "majorDimension": "COLUMNS"})
    assert [match["valueRange"]["values"] for match in answer["valueRanges"]] == [
        [["a", "b"]],
        [["b", "c"], ["2", "3"]],
    ]
    assert [match["dataFilters"] for match in answer["valueRanges"]] == [[filters[0]], [filters[1]]]
    data = [{"dataFilter": filters[1], "values": [["x", 7], ["y", 8]]}]
    answer = post(sheets, "/values:batchUpdateByDataFilter", {"valueInputOption": "RAW", "data": data})
    assert (answer["totalUpdatedCells"], answer["responses"][0]["dataFilter"]) == (4, filters[1])
    assert sheets.cells() == [["a", 1], ["x", 7], ["y", 8]]
    answer = post(sheets, "/values:batchClearByDataFilter", {"dataFilters": [{"a1Range": "S!A2:A3"}]})
    assert answer["clearedRanges"] == ["S!A2:A3"]
    assert sheets.cells() == [["a", 1], [None, 7], [None, 8]]


def test_developer_metadata_means_its_row_its_column_or_its_sheet(sheets: Sheets) -> None:
    places = {
        "row": {"dimensionRange": {"sheetId": 0, "dimension": "ROWS", "startIndex": 1, "endIndex": 2}},
        "column": {"dimensionRange": {"sheetId": 0, "dimension": "COLUMNS", "startIndex": 1, "endIndex": 2}},
        "sheet": {"sheetId": 0},
    }
    for key, location in places.items():
        entry = {"metadataKey": key, "location": location, "visibility": "DOCUMENT"}
        sheets.batch({"createDeveloperMetadata": {"developerMetadata": entry}})
    got = {}
    for key in [*places, "none"]:
        body = {"dataFilters": [{"developerMetadataLookup": {"metadataKey": key}}]}
        answer = post(sheets, "/values:batchGetByDataFilter", body)
        got[key] = [match["valueRange"]["range"] for match in answer.get("valueRanges", [])]
    assert got == {"row": ["S!A2:D2"], "column": ["S!B1:B10"], "sheet": ["S!A1:D10"], "none": []}


def test_a_slash_before_the_verb_and_lists_of_requests_are_taken(sheets: Sheets) -> None:
    added = [{"addSheet": {"properties": {"title": title}}} for title in ("one", "two", "three")]
    answer = post(sheets, "/:batchUpdate", {"requests": [added[0], added[1:]]})
    assert [reply["addSheet"]["properties"]["title"] for reply in answer["replies"]] == ["one", "two", "three"]


def test_rows_are_inserted_into_a_blank_sheet_too(sheets: Sheets) -> None:
    sheets.batch({"addSheet": {"properties": {"title": "blank", "gridProperties": {"rowCount": 5, "columnCount": 2}}}})
    query = {"valueInputOption": "RAW", "insertDataOption": "INSERT_ROWS"}
    post(sheets, "/values/blank!A1:append", {"values": [["a"], ["b"]]}, **query)
    properties = sheets.resource(fields="sheets.properties")["sheets"][2]["properties"]
    assert properties["gridProperties"] == {"rowCount": 7, "columnCount": 2}
