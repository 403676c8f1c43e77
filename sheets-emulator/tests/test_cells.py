"""The Google Sheets emulator's batch requests for cells: copied, cut, filled, formatted, sorted, merged."""

from __future__ import annotations

from typing import Any

import pytest
from sheets_asking import Sheets

from sheets_emulator import SheetsServer


@pytest.fixture
def sheets(server: SheetsServer) -> Sheets:
    return Sheets(server, ("S", 6, 5), ("T", 3, 3))


def area(top: int, bottom: int, left: int, right: int, sheet_id: int = 0) -> dict[str, int]:
    return {
        "sheetId": sheet_id,
        "startRowIndex": top,
        "endRowIndex": bottom,
        "startColumnIndex": left,
        "endColumnIndex": right,
    }


def pasted(source: Any, destination: Any, kind: str = "PASTE_NORMAL") -> dict[str, Any]:
    return {"copyPaste": {"source": source, "destination": destination, "pasteType": kind}}


def second(sheets: Sheets) -> int:
    return int(sheets.resource()["sheets"][1]["properties"]["sheetId"])


# Copied and cut.


def test_cells_are_copied_with_their_formats(sheets: Sheets) -> None:
    sheets.put("S!A1", [["2020-01-01", "=A1+1"], ["", "x"]], "USER_ENTERED")
    sheets.put("S!C3", [["old", "old"], ["old", "old"]])
    sheets.batch(pasted(area(0, 2, 0, 2), area(2, 4, 2, 4)))
    assert sheets.get("S!C3:D4", valueRenderOption="FORMULA")["values"] == [[43831, "=C3+1"], ["", "x"]]
    assert sheets.get("S!C3:C4")["values"] == [["2020-01-01"]]


def test_only_values_are_copied_where_that_is_wanted(sheets: Sheets) -> None:
    sheets.put("S!A1", [["2020-01-01", "=1+2"]], "USER_ENTERED")
    sheets.put("S!A2", [["50%", "x"]], "USER_ENTERED")
    sheets.batch(pasted(area(0, 1, 0, 2), area(1, 2, 0, 2), "PASTE_VALUES"))
    assert sheets.get("S!A2:B2", valueRenderOption="FORMULA")["values"] == [[43831, 3]]
    assert sheets.get("S!A2")["values"] == [["4383100%"]]
    sheets.batch(pasted(area(0, 1, 0, 2), area(1, 2, 0, 2), "PASTE_FORMULA"))
    assert sheets.get("S!B2", valueRenderOption="FORMULA")["values"] == [["=1+2"]]
    sheets.batch(pasted(area(0, 1, 0, 1), area(1, 2, 0, 1), "PASTE_FORMAT"))
    assert sheets.get("S!A2")["values"] == [["2020-01-01"]]


def test_a_copy_fills_a_multiple_of_its_source_and_runs_over_a_smaller_destination(sheets: Sheets) -> None:
    sheets.put("S!A1", [["a"], ["b"]])
    sheets.batch(pasted(area(0, 2, 0, 1), area(2, 6, 0, 2)))
    assert sheets.cells() == [["a"], ["b"], ["a", "a"], ["b", "b"], ["a", "a"], ["b", "b"]]
    sheets.batch(pasted(area(0, 2, 0, 1), area(0, 1, 4, 5)))
    assert sheets.values("S!E1:E3") == [["a"], ["b"]]
    sheets.batch(pasted(area(0, 2, 0, 1), area(0, 3, 3, 4)))
    assert sheets.values("S!D1:D3") == [["a"], ["b"]]


def test_a_copy_goes_to_another_sheet_and_over_itself(sheets: Sheets) -> None:
    sheets.put("S!A1", [[1, 2, 3], [4, 5, 6]])
    sheets.batch(
        pasted(area(0, 2, 0, 3), area(1, 3, 0, 3, second(sheets))),
        pasted(area(0, 2, 0, 2), area(1, 3, 1, 3)),
    )
    assert sheets.cells("T") == [[], [1, 2, 3], [4, 5, 6]]
    assert sheets.cells() == [[1, 2, 3], [4, 1, 2], [None, 4, 5]]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (
            pasted(area(0, 2, 0, 1), area(5, 6, 0, 1)),
            "The pasted cells exceed grid limits. Max rows: 6",
        ),
        (pasted(area(6, 7, 0, 1), area(0, 1, 0, 1)), "Range (S!A7) exceeds grid limits. Max rows: 6, max columns: 5"),
        (pasted(area(0, 1, 0, 1), area(0, 1, 5, 6)), "Range (S!F1) exceeds grid limits. Max rows: 6, max columns: 5"),
        (pasted(area(0, 1, 0, 1, 9), area(0, 1, 0, 1)), "No grid with id: 9"),
        (pasted(area(2, 1, 0, 1), area(0, 1, 0, 1)), "range.endRowIndex must not be before range.startRowIndex"),
        (pasted(area(1, 1, 0, 1), area(0, 1, 0, 1)), "There is nothing to copy: the source is empty."),
    ],
)
def test_copies_that_cannot_be_are_refused(sheets: Sheets, request_: Any, expected: str) -> None:
    sheets.put("S!A1", [["x"]])
    assert sheets.refused(request_).startswith(f"Invalid requests[0].copyPaste: {expected}")
    assert sheets.cells() == [["x"]]


# Filled and formatted.


def values(*rows: list[Any]) -> list[dict[str, Any]]:
    kinds = {bool: "boolValue", float: "numberValue", int: "numberValue", str: "stringValue"}
    return [
        {"values": [{} if cell is None else {"userEnteredValue": {kinds[type(cell)]: cell}} for cell in row]}
        for row in rows
    ]


def test_cells_are_updated_and_those_not_given_cleared(sheets: Sheets) -> None:
    sheets.put("S!A1", [["old"] * 4] * 4)
    request = {"range": area(0, 3, 0, 3), "rows": values([1, "=x"], [True]), "fields": "userEnteredValue"}
    sheets.batch({"updateCells": request})
    assert sheets.cells() == [
        [1, "=x", None, "old"],
        [True, None, None, "old"],
        [None, None, None, "old"],
        ["old"] * 4,
    ]
    sheets.batch({"updateCells": {"start": {"rowIndex": 3}, "rows": values([None, 2.5]), "fields": "*"}})
    assert sheets.cells()[3] == [None, 2.5, "old", "old"]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (
            {"range": area(0, 1, 0, 2), "rows": values([1, 2, 3]), "fields": "userEnteredValue"},
            "Attempting to write column: 2, beyond the last requested column of: 1",
        ),
        (
            {"range": area(0, 1, 0, 2), "rows": values([1], [2]), "fields": "userEnteredValue"},
            "Attempting to write row: 1, beyond the last requested row of: 0",
        ),
        (
            {"start": {"rowIndex": 5}, "rows": values([1], [2]), "fields": "userEnteredValue"},
            "Attempting to write row: 6, beyond the last requested row of: 5",
        ),
        ({"start": {}, "rows": [], "fields": ""}, "At least one field must be listed in 'fields'."),
        ({"start": {}, "rows": [], "fields": "dataSourceTable"}, "The cell field dataSourceTable is not supported"),
        (
            {"start": {}, "rows": values(["x" * 50_001]), "fields": "userEnteredValue"},
            "Your input contains more than the maximum of 50000 characters",
        ),
        (
            {
                "start": {},
                "rows": [{"values": [{"userEnteredValue": {"numberValue": 1, "boolValue": True}}]}],
                "fields": "userEnteredValue",
            },
            "A userEnteredValue must have one value.",
        ),
    ],
)
def test_updates_that_cannot_be_are_refused(sheets: Sheets, request_: Any, expected: str) -> None:
    assert sheets.refused({"updateCells": request_}).startswith(f"Invalid requests[0].updateCells: {expected}")
    assert sheets.cells() == []


def test_a_cell_is_repeated(sheets: Sheets) -> None:
    sheets.put("S!A1", [["a", "b"], ["c", "d"]])
    bold = {"userEnteredFormat": {"textFormat": {"bold": True}}, "userEnteredValue": {"numberValue": 9}}
    mask = "userEnteredFormat.textFormat.bold"
    sheets.batch({"repeatCell": {"range": area(0, 1, 0, 2), "cell": bold, "fields": mask}})
    assert sheets.cells() == [["a", "b"], ["c", "d"]]
    shown = sheets.resource(fields="sheets.data.rowData.values.userEnteredFormat", ranges=["S!A1:C2"])
    cell = {"userEnteredFormat": {"textFormat": {"bold": True}}}
    assert shown["sheets"][0]["data"][0]["rowData"] == [{"values": [cell, cell]}, {"values": [{}, {}]}]
    sheets.batch({"repeatCell": {"range": {"endColumnIndex": 1}, "cell": bold, "fields": "userEnteredValue"}})
    assert sheets.cells() == [[9, "b"], [9, "d"], [9], [9], [9], [9]]
    sheets.batch({"repeatCell": {"range": {}, "cell": {}, "fields": "userEnteredFormat"}})
    assert "userEnteredFormat" not in str(sheets.resource(includeGridData="true"))


def test_a_million_cells_are_formatted_as_one(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 1_000_000, 2))
    bold = {"userEnteredFormat": {"textFormat": {"bold": True}}}
    sheets.batch({"repeatCell": {"range": {}, "cell": bold, "fields": "userEnteredFormat"}})
    sheets.batch({"repeatCell": {"range": area(9, 10, 0, 1), "cell": {}, "fields": "userEnteredFormat"}})
    grid = server.snapshot(sheets.key).sheets[0].grid
    assert grid.mark(9, 0) is None
    assert grid.mark(8, 0) == grid.mark(10, 0) == grid.mark(999_999, 1) == bold


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (area(6, 7, 0, 1), "Range (S!A7) exceeds grid limits. Max rows: 6, max columns: 5"),
        ({"startRowIndex": 6, "startColumnIndex": 0, "endColumnIndex": 2}, "Range (S!A7:B) exceeds grid limits."),
        ({"startColumnIndex": 5, "startRowIndex": 0, "endRowIndex": 2}, "Range (S!F1:2) exceeds grid limits."),
    ],
)
def test_a_range_must_start_on_the_grid_and_is_cut_where_that_ends(sheets: Sheets, given: Any, expected: str) -> None:
    one = {"cell": {"userEnteredValue": {"numberValue": 1}}, "fields": "userEnteredValue"}
    assert sheets.refused({"repeatCell": {"range": given, **one}}).partition(": ")[2].startswith(expected)
    sheets.batch({"repeatCell": {"range": area(5, 99, 4, 99), **one}})
    assert sheets.values("S!A6:E6") == [["", "", "", "", 1]]
    assert sheets.resource()["sheets"][0]["properties"]["gridProperties"] == {"rowCount": 6, "columnCount": 5}
    sheets.batch({"repeatCell": {"range": area(3, 3, 0, 1), **one}})
    assert sheets.values("S!A4") is None


def test_notes_and_validation_are_kept(sheets: Sheets) -> None:
    rule = {"condition": {"type": "ONE_OF_LIST", "values": [{"userEnteredValue": "y"}]}, "strict": True}
    note = {"rows": [{"values": [{"note": "mind"}]}], "fields": "note", "start": {"rowIndex": 1}}
    sheets.batch({"setDataValidation": {"range": area(1, 2, 0, 1), "rule": rule}}, {"updateCells": note})
    rows = sheets.resource(includeGridData="true")["sheets"][0]["data"][0]["rowData"]
    assert rows == [{}, {"values": [{"note": "mind", "dataValidation": rule}]}]
    sheets.batch({"setDataValidation": {"range": area(1, 2, 0, 1)}})
    rows = sheets.resource(includeGridData="true")["sheets"][0]["data"][0]["rowData"]
    assert rows == [{}, {"values": [{"note": "mind"}]}]


def test_a_format_is_kept_as_the_service_keeps_it(sheets: Sheets) -> None:
    look = {"backgroundColor": {"red": 0.0, "green": 1.0, "blue": 0.5}, "textFormat": {"fontSize": 12}}
    mask = "userEnteredFormat(backgroundColor,textFormat)"
    sheets.batch({"repeatCell": {"range": area(0, 1, 0, 1), "cell": {"userEnteredFormat": look}, "fields": mask}})
    color = {"green": 1, "blue": 0.49803922}
    rows = sheets.resource(includeGridData="true")["sheets"][0]["data"][0]["rowData"]
    assert rows[0]["values"][0]["userEnteredFormat"] == {
        "backgroundColor": color,
        "backgroundColorStyle": {"rgbColor": color},
        "textFormat": {"fontSize": 12},
    }


# Sorted and merged.
