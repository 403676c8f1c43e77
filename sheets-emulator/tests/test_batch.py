"""The Google Sheets emulator's `batchUpdate`: all or nothing, sheets, sizes, and what moves with rows and columns."""

from __future__ import annotations

from typing import Any

import pytest
from sheets_asking import Sheets, ask, message

from sheets_emulator import SheetsServer


@pytest.fixture
def sheets(server: SheetsServer) -> Sheets:
    return Sheets(server)


def titles(sheets: Sheets) -> list[str]:
    return [sheet["properties"]["title"] for sheet in sheets.resource()["sheets"]]


def size(sheets: Sheets, index: int = 0) -> tuple[int, int]:
    grid = sheets.resource()["sheets"][index]["properties"]["gridProperties"]
    return grid["rowCount"], grid["columnCount"]


def add(title: str, **properties: Any) -> dict[str, Any]:
    return {"addSheet": {"properties": {"title": title, **properties}}}


def resized(rows: int | None = None, columns: int | None = None, sheet_id: int = 0) -> dict[str, Any]:
    grid = {"rowCount": rows, "columnCount": columns}
    fields = ",".join(f"gridProperties.{name}" for name, count in grid.items() if count is not None)
    return {"updateSheetProperties": {"properties": {"sheetId": sheet_id, "gridProperties": grid}, "fields": fields}}


def on(dimension: str, start: int | None, stop: int | None) -> dict[str, Any]:
    return {"sheetId": 0, "dimension": dimension, "startIndex": start, "endIndex": stop}


# All or nothing.


def test_a_batch_is_applied_whole_or_not_at_all(sheets: Sheets) -> None:
    sheets.put("S!A1", [[1], [2]])
    refusal = sheets.refused(
        add("new"),
        {"deleteDimension": {"range": on("ROWS", 0, 1)}},
        {"updateSheetProperties": {"properties": {"sheetId": 0, "title": "renamed"}, "fields": "title"}},
        {"deleteSheet": {"sheetId": 77}},
    )
    assert refusal == "Invalid requests[3].deleteSheet: No sheet with id: 77"
    assert sheets.cells() == [[1], [2]]


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ([], "Must specify at least one request."),
        ([{}], "Invalid requests[0]: No request set."),
        ([{"deleteSheet": {}, "addSheet": {}}], "Invalid requests[0]: More than one request set."),
    ],
)
def test_each_request_is_one_thing(sheets: Sheets, requests: Any, expected: str) -> None:
    assert sheets.refused(*requests) == expected


def test_a_batch_may_answer_the_spreadsheet(sheets: Sheets) -> None:
    body = {"requests": [add("new")], "includeSpreadsheetInResponse": True}
    answer = sheets.post(":batchUpdate", body)
    assert [sheet["properties"]["title"] for sheet in answer["updatedSpreadsheet"]["sheets"]] == ["S", "new"]
    assert "data" not in answer["updatedSpreadsheet"]["sheets"][0]
    whole = sheets.post(":batchUpdate", body | {"requests": [add("newer")], "responseIncludeGridData": True})
    assert whole["updatedSpreadsheet"]["sheets"][2]["data"]


# Sheets.


def test_sheets_are_added_where_they_are_wanted(sheets: Sheets) -> None:
    (reply,) = sheets.batch(add("end", sheetId=5, gridProperties={"rowCount": 3, "columnCount": 2}))
    assert reply["addSheet"]["properties"] == {
        "sheetId": 5,
        "title": "end",
        "index": 1,
        "sheetType": "GRID",
        "gridProperties": {"rowCount": 3, "columnCount": 2},
    }
    replies = sheets.batch(add("first", index=0), {"addSheet": {}}, add("hidden", hidden=True))
    assert titles(sheets) == ["first", "S", "end", "Sheet4", "hidden"]
    ids = {reply["addSheet"]["properties"]["sheetId"] for reply in replies}
    assert len(ids | {0, 5}) == 5
    assert (size(sheets), size(sheets, 2)) == ((1000, 26), (3, 2))
    assert sheets.resource()["sheets"][4]["properties"]["hidden"] is True


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (add("s"), 'addSheet: A sheet with the name "s" already exists. Please enter another name.'),
        (add(""), "addSheet: The sheet name cannot be empty."),
        (add("x" * 101), "addSheet: The sheet name cannot be greater than 100 characters."),
        (add("x", sheetId=0), "addSheet: The sheet ID 0 is negative or already in use."),
        (add("x", index=9), "addSheet: Cannot place a sheet at index 9; there are 1 sheets."),
        (add("x", sheetType="OBJECT"), "addSheet: Only sheets of the type GRID can be added."),
        (
            add("x", gridProperties={"rowCount": 2, "frozenRowCount": 2}),
            "addSheet: You can't freeze all visible rows on the sheet.",
        ),
        ({"deleteSheet": {"sheetId": 0}}, "deleteSheet: You can't remove all the sheets in a document."),
        (
            {"updateSheetProperties": {"properties": {"hidden": True}, "fields": "hidden"}},
            "updateSheetProperties: You can't hide all the sheets in a document.",
        ),
        (
            {"updateSheetProperties": {"properties": {"title": ""}, "fields": "title"}},
            "updateSheetProperties: The sheet name cannot be empty.",
        ),
        (
            {"updateSheetProperties": {"properties": {"title": "x"}}},
            "updateSheetProperties: At least one field must be listed in 'fields'.",
        ),
        (
            {"updateSheetProperties": {"properties": {"sheetId": 4}, "fields": "sheetId"}},
            "updateSheetProperties: No sheet with id: 4",
        ),
    ],
)
def test_sheets_that_cannot_be_are_refused(sheets: Sheets, request_: Any, expected: str) -> None:
    assert sheets.refused(request_).startswith(f"Invalid requests[0].{expected}")


def test_the_last_visible_sheet_stays(sheets: Sheets) -> None:
    sheets.batch(add("hidden", sheetId=1, hidden=True))
    assert "visible" in sheets.refused({"deleteSheet": {"sheetId": 0}})
    sheets.batch({"deleteSheet": {"sheetId": 1}})
    assert titles(sheets) == ["S"]


def test_properties_change_where_their_mask_says_so(sheets: Sheets) -> None:
    properties = {
        "title": "T",
        "hidden": False,
        "tabColorStyle": {"rgbColor": {"red": 1, "blue": 0.5}},
        "gridProperties": {"frozenRowCount": 2, "hideGridlines": True, "rowCount": 9},
    }
    fields = "tabColorStyle,gridProperties(frozenRowCount,hideGridlines)"
    sheets.batch({"updateSheetProperties": {"properties": properties, "fields": fields}})
    now = sheets.resource()["sheets"][0]["properties"]
    assert now == {
        "sheetId": 0,
        "title": "S",
        "index": 0,
        "sheetType": "GRID",
        "gridProperties": {"rowCount": 1000, "columnCount": 26, "frozenRowCount": 2, "hideGridlines": True},
        "tabColorStyle": {"rgbColor": {"red": 1, "blue": 0.49803922}},
    }
    sheets.batch({"updateSheetProperties": {"properties": {}, "fields": fields}})
    assert sheets.resource()["sheets"][0]["properties"].keys() == now.keys() - {"tabColorStyle"}


def test_a_spreadsheet_is_made_as_it_is_wanted(server: SheetsServer) -> None:
    body = {
        "properties": {"title": "mine", "locale": "de_DE"},
        "sheets": [{"properties": {"title": "one", "gridProperties": {"rowCount": 2, "columnCount": 3}}}, {}],
    }
    status, answer = ask(server, "POST", "", body)
    assert status == 200
    assert (answer["properties"]["title"], answer["properties"]["locale"]) == ("mine", "de_DE")
    assert [sheet["properties"]["title"] for sheet in answer["sheets"]] == ["one", "Sheet2"]
    assert ask(server, "GET", f"/{answer['spreadsheetId']}")[1] == answer
    plain = ask(server, "POST", "", {})[1]
    assert [(sheet["properties"]["sheetId"], sheet["properties"]["title"]) for sheet in plain["sheets"]] == [
        (0, "Sheet1")
    ]
    assert "not supported" in message(ask(server, "POST", "", {"dataSources": []}))


# Sizes and limits.

BEYOND = "This action would increase the number of cells in the workbook above the limit of 10000000 cells."


def test_ten_million_cells_are_the_limit_of_a_spreadsheet(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 1000, 26), ("T", 1, 1))
    refused = [
        (resized(384_616, 26), "updateSheetProperties"),
        (resized(10_000_000, 1), "updateSheetProperties"),
        (add("x", gridProperties={"rowCount": 9_974_000, "columnCount": 1}), "addSheet"),
        ({"insertDimension": {"range": on("ROWS", 5, 383_621)}}, "insertDimension"),
    ]
    for request, name in refused:
        assert sheets.refused(request) == f"Invalid requests[0].{name}: {BEYOND}"
    sheets.batch(resized(9_999_999, 1))
    assert size(sheets) == (9_999_999, 1)


def test_a_sheet_has_18278_columns_at_most(sheets: Sheets) -> None:
    sheets.batch(resized(10, 18_278))
    sheets.put("S!ZZZ10", [["last"]])
    assert sheets.get("S!ZZZ9:ZZZ")["range"] == "S!ZZZ9:ZZZ10"
    assert "18278" in sheets.refused(resized(10, 18_279))
    assert "18278" in sheets.refused({"insertDimension": {"range": on("COLUMNS", 0, 1)}})
    assert "18278" in sheets.refused(add("x", gridProperties={"rowCount": 1, "columnCount": 18_279}))


def test_rows_that_grow_are_counted_before_columns_shrink_unless_in_one_request(sheets: Sheets) -> None:
    assert BEYOND in sheets.refused(resized(1_000_000), resized(None, 1))
    sheets.batch(resized(None, 1), resized(1_000_000))
    assert size(sheets) == (1_000_000, 1)
    sheets.batch(resized(10, 100_00), resized(2_000_000, 5))
    assert size(sheets) == (2_000_000, 5)


def test_a_grid_has_a_cell(sheets: Sheets) -> None:
    for request in (resized(0), resized(None, 0), add("x", gridProperties={"rowCount": -1, "columnCount": 2})):
        assert "at least one row and one column" in sheets.refused(request)


def test_frozen_rows_must_leave_one_that_moves(sheets: Sheets) -> None:
    frozen = {"properties": {"gridProperties": {"frozenRowCount": 5}}, "fields": "gridProperties.frozenRowCount"}
    sheets.batch({"updateSheetProperties": frozen})
    assert "freeze all visible rows" in sheets.refused(resized(5))
    sheets.batch({"deleteDimension": {"range": on("ROWS", 3, 10)}})
    assert sheets.resource()["sheets"][0]["properties"]["gridProperties"]["frozenRowCount"] == 3


# Rows and columns.


def test_formats_move_with_their_cells(sheets: Sheets) -> None:
    sheets.put("S!B2", [["2020-01-01"]], "USER_ENTERED")
    sheets.batch({"insertDimension": {"range": on("ROWS", 0, 1)}}, {"insertDimension": {"range": on("COLUMNS", 0, 2)}})
    assert sheets.get("S!D3")["values"] == [["2020-01-01"]]
    sheets.batch({"deleteDimension": {"range": on("ROWS", 0, 2)}}, {"deleteDimension": {"range": on("COLUMNS", 0, 3)}})
    assert sheets.get("S!A1")["values"] == [["2020-01-01"]]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (
            {"deleteDimension": {"range": on("ROWS", 999, 1001)}},
            "Cannot delete a row that doesn't exist. Tried to delete row index 1000 but there are only 1000 rows.",
        ),
        (
            {"deleteDimension": {"range": on("COLUMNS", 30, 31)}},
            "Cannot delete a column that doesn't exist. Tried to delete column index 30 but there are only 26 columns.",
        ),
        ({"deleteDimension": {"range": on("ROWS", None, None)}}, "You can't delete all the rows on the sheet."),
        ({"deleteDimension": {"range": on("ROWS", 3, 3)}}, "The range of rows from index 3 to 3 is empty."),
        (
            {"insertDimension": {"range": on("ROWS", 1001, 1002)}},
            "range.startIndex[1001] must be less than",
        ),
    ],
)
def test_rows_and_columns_that_cannot_be_are_refused(sheets: Sheets, request_: Any, expected: str) -> None:
    assert sheets.refused(request_).partition(": ")[2].startswith(expected)


SPAN = {"startRowIndex": 4, "endRowIndex": 8, "startColumnIndex": 1, "endColumnIndex": 3}


@pytest.mark.parametrize(
    ("request_", "rows"),
    [
        ({"insertDimension": {"range": on("ROWS", 4, 6)}}, (6, 10)),
        ({"insertDimension": {"range": on("ROWS", 5, 6)}}, (4, 9)),
        ({"insertDimension": {"range": on("ROWS", 8, 9)}}, (4, 8)),
        ({"deleteDimension": {"range": on("ROWS", 0, 2)}}, (2, 6)),
        ({"deleteDimension": {"range": on("ROWS", 3, 5)}}, (3, 6)),
        ({"deleteDimension": {"range": on("ROWS", 5, 7)}}, (4, 6)),
        ({"deleteDimension": {"range": on("ROWS", 7, 9)}}, (4, 7)),
        ({"deleteDimension": {"range": on("ROWS", 8, 9)}}, (4, 8)),
    ],
)
def test_ranges_move_with_their_rows(sheets: Sheets, request_: Any, rows: tuple[int, int]) -> None:
    sheets.batch(
        {"addNamedRange": {"namedRange": {"name": "ours", "range": SPAN}}},
        {"addProtectedRange": {"protectedRange": {"range": SPAN}}},
        {"mergeCells": {"range": SPAN}},
        {"addDimensionGroup": {"range": on("ROWS", 4, 8)}},
        request_,
    )
    expected = {"startRowIndex": rows[0], "endRowIndex": rows[1]}
    resource = sheets.resource()
    assert resource["namedRanges"][0]["range"] == SPAN | expected
    (sheet,) = resource["sheets"]
    assert sheet["protectedRanges"][0]["range"] == SPAN | expected
    assert sheet["merges"] == [SPAN | expected]
    assert sheet["rowGroups"][0]["range"] == {"dimension": "ROWS", "startIndex": rows[0], "endIndex": rows[1]}


def test_open_ranges_stay_open(sheets: Sheets) -> None:
    sheets.batch(
        {"addNamedRange": {"namedRange": {"name": "below", "range": {"startRowIndex": 4}}}},
        {"addNamedRange": {"namedRange": {"name": "column", "range": {"startColumnIndex": 1, "endColumnIndex": 2}}}},
        {"deleteDimension": {"range": on("ROWS", 2, 6)}},
        {"insertDimension": {"range": on("ROWS", 0, 1)}},
    )
    below, column = sheets.resource()["namedRanges"]
    assert below["range"] == {"startRowIndex": 3}
    assert column["range"] == {"startColumnIndex": 1, "endColumnIndex": 2}


# What `spreadsheets.get` answers.


def test_the_resource_is_what_its_mask_wants(sheets: Sheets) -> None:
    sheets.put("S!B2", [["text", 1.5]])
    assert sheets.resource(fields="spreadsheetId") == {"spreadsheetId": sheets.key}
    assert sheets.resource(fields="sheets(properties(title,gridProperties/rowCount)),properties.title") == {
        "properties": {"title": "test"},
        "sheets": [{"properties": {"title": "S", "gridProperties": {"rowCount": 1000}}}],
    }
    assert sheets.resource(fields="namedRanges") == {}
    assert sheets.resource(fields="*") == sheets.resource()
    assert "data" not in sheets.resource()["sheets"][0]
    (data,) = sheets.resource(ranges=["S!B2:C3"], fields="sheets.data(startRow,startColumn,rowData)")["sheets"][0][
        "data"
    ]
    assert (data["startRow"], data["startColumn"]) == (1, 1)
    values = [
        {name: part for name, part in cell.items() if name != "effectiveFormat"}
        for cell in data["rowData"][0]["values"]
    ]
    assert values == [
        {
            "userEnteredValue": {"stringValue": "text"},
            "effectiveValue": {"stringValue": "text"},
            "formattedValue": "text",
        },
        {"userEnteredValue": {"numberValue": 1.5}, "effectiveValue": {"numberValue": 1.5}, "formattedValue": "1.5"},
    ]
    assert len(data["rowData"]) == 1


@pytest.mark.parametrize("mask", ["a(", "a)b", "sheets..data", "sheets,", ",", "sheets(", "sheets data", "(" * 99])
def test_a_mask_that_makes_no_sense_is_refused(sheets: Sheets, mask: str) -> None:
    assert message(ask(sheets.server, "GET", f"/{sheets.key}", fields=mask)).startswith("Error")


def test_ranges_choose_the_sheets_that_are_answered(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 5, 5), ("T", 5, 5), ("U", 5, 5))
    result = sheets.resource(ranges=["U!A1", "S!B2:C3", "S!A1"], includeGridData="true")["sheets"]
    assert [(sheet["properties"]["title"], len(sheet["data"])) for sheet in result] == [("S", 2), ("U", 1)]
    outside = ask(server, "GET", f"/{sheets.key}", ranges=["S!A6"])
    assert message(outside) == "Range (S!A6) exceeds grid limits. Max rows: 5, max columns: 5"


def test_columns_become_as_wide_as_their_longest_line(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 20, 4))
    sheets.put("S!A1", [["short", "=10^10+1"], ["two\nlines"]], "USER_ENTERED")
    sheets.batch({"autoResizeDimensions": {"dimensions": {"dimension": "COLUMNS", "endIndex": 3}}})
    (sheet,) = sheets.resource(fields="sheets.data.columnMetadata.pixelSize")["sheets"]
    assert [column["pixelSize"] for column in sheet["data"][0]["columnMetadata"]] == [41, 83, 100, 100]


@pytest.mark.parametrize("name", ["addBanding", "addTable", "appendCells", "randomizeRange", "findReplace"])
def test_a_request_that_the_emulator_does_not_know_is_refused_by_name(sheets: Sheets, name: str) -> None:
    assert sheets.refused({name: {}}).endswith(f"The request {name} is not supported by the emulator.")
