"""Requests as other clients send them: ranges by data filters, a slash before the verb, lists of requests in lists."""

from __future__ import annotations

from typing import Any

import pytest
from programs import run_sheets_client
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


@pytest.mark.parametrize(
    "data_filter", [{}, {"a1Range": "none!A1"}, {"a1Range": "S!Z1"}, {"gridRange": {"sheetId": 9}}]
)
@pytest.mark.parametrize("verb", [":getByDataFilter", "/values:batchGetByDataFilter", "/values:batchClearByDataFilter"])
def test_a_filter_that_means_nothing_is_refused(sheets: Sheets, verb: str, data_filter: Any) -> None:
    status, _ = ask(sheets.server, "POST", f"/{sheets.key}{verb}", {"dataFilters": [data_filter]})
    assert status == 400


# Room among cells --------------------------------------------------------------------------------------------


def area(top: int, bottom: int, left: int, right: int) -> dict[str, int]:
    keys = ("startRowIndex", "endRowIndex", "startColumnIndex", "endColumnIndex")
    return {"sheetId": 0, **dict(zip(keys, (top, bottom, left, right), strict=True))}


@pytest.mark.parametrize(
    ("request_name", "place", "dimension", "cells"),
    [
        ("deleteRange", area(0, 1, 0, 1), "ROWS", [["b", 1], ["c", 2], [None, 3]]),
        ("deleteRange", area(1, 3, 0, 2), "ROWS", [["a", 1]]),
        ("deleteRange", area(0, 1, 0, 1), "COLUMNS", [[1], ["b", 2], ["c", 3]]),
        ("insertRange", area(1, 2, 0, 1), "ROWS", [["a", 1], [None, 2], ["b", 3], ["c"]]),
        ("insertRange", area(0, 2, 1, 2), "COLUMNS", [["a", None, 1], ["b", None, 2], ["c", 3]]),
        ("insertRange", area(9, 10, 0, 1), "ROWS", [["a", 1], ["b", 2], ["c", 3]]),
    ],
)
def test_cells_move_where_a_range_comes_or_goes(
    sheets: Sheets, request_name: str, place: Any, dimension: str, cells: Any
) -> None:
    bold = {"userEnteredFormat": {"textFormat": {"bold": True}}}
    mask = "userEnteredFormat.textFormat.bold"
    sheets.batch({"repeatCell": {"range": area(2, 3, 0, 1), "cell": bold, "fields": mask}})
    sheets.batch({request_name: {"range": place, "shiftDimension": dimension}})
    assert sheets.cells() == cells
    data = sheets.resource(ranges=["S!A1:D10"], fields="sheets.data.rowData.values")["sheets"][0]["data"][0]["rowData"]
    views = [
        cell.get("formattedValue") for row in data for cell in row.get("values", []) if "userEnteredFormat" in cell
    ]
    assert views == (["c"] if any("c" in row for row in cells) else [])


def test_a_range_without_a_dimension_is_refused(sheets: Sheets) -> None:
    body = {"requests": [{"deleteRange": {"range": area(0, 1, 0, 1)}}]}
    status, answer = ask(sheets.server, "POST", f"/{sheets.key}:batchUpdate", body)
    assert (status, "dimension" in answer["error"]["message"]) == (400, True)


# Another client ----------------------------------------------------------------------------------------------


def test_the_npm_client_works_through_what_it_offers(sheets_server: SheetsServer) -> None:
    key = sheets_server.create("old")
    seen = run_sheets_client(sheets_server.url, key)
    assert seen["title"] == "old"
    assert [row["value"] for row in seen["rows"]] == ["1.5", "2", "0.1"]
    assert seen["cells"] == [["name", "value", "note"], ["a", 7.25, "x"], ["c", 0.1, None]]
    assert seen["formula"] == ["=SUM(B2:B3)", 7.35]
    assert seen["look"] == ["changed", True, "a note"]
    assert seen["header"] == ["n", "v", "t"]
    assert sorted(seen["sheets"]) == [["Sheet1", 1000, 26], ["copy", 51, 5], ["renamed", 51, 5]]
    assert seen["after"] == ["another", ["Sheet1", "renamed"]]
    assert [named.name for named in sheets_server.snapshot(key).named.values()] == ["spot"]


def test_the_npm_client_goes_through_the_rest_of_what_it_offers(sheets_server: SheetsServer) -> None:
    outcome = run_sheets_client(sheets_server.url, sheets_server.create("rest"), "rest")
    failed = {name: words for name, words in outcome.items() if str(words).startswith("failed")}
    assert "404: GET https://docs.google.com" in failed.pop("downloadAsCSV")  # no part of the API
    assert len(failed) == 5
    assert set(failed.values()) == {"failed: Not implemented yet "}  # says the client itself
    assert outcome["sorted"] == [["b"], ["c"], ["c"], ["a"], [" d "]]
    assert outcome["trimmed"] == [["b"], ["c"], ["a"], ["d"]]
    assert outcome["randomized"] == "a,b,c,d"
    assert outcome["pasted"] == [["again"], ["again"]]
    assert (outcome["textToColumns"], outcome["replaced"]) == ([["x", "y"]], [["p", "q"], ["R", "s"]])
    assert outcome["size"] == [63, 11]
    assert (outcome["searchDeveloperMetadata"], outcome["listPermissions"]) == (1, 2)  # the owner is listed, too
    assert outcome["cells by their looks"] == ["4.00", "CENTER", {"red": 1}, "numberValue"]
