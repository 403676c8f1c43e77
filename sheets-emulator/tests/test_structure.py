"""The Google Sheets emulator: groups in groups, tables, charts on their own sheets, links, whole new spreadsheets."""

from __future__ import annotations

from typing import Any

import pytest
from sheets_asking import Sheets

from sheets_emulator import SheetsServer


@pytest.fixture
def sheets(server: SheetsServer) -> Sheets:
    return Sheets(server, ("S", 20, 6), ("T", 20, 6))


def area(top: int, bottom: int, left: int, right: int, sheet_id: int = 0) -> dict[str, int]:
    ends = {"startRowIndex": top, "endRowIndex": bottom, "startColumnIndex": left, "endColumnIndex": right}
    return {"sheetId": sheet_id, **ends}


def on(start: int, stop: int) -> dict[str, Any]:
    return {"range": {"dimension": "COLUMNS", "startIndex": start, "endIndex": stop}}


def group_ends(sheets: Sheets) -> list[tuple[int, int, int, bool]]:
    groups = sheets.resource()["sheets"][0].get("columnGroups", [])
    return [
        (group["range"]["startIndex"], group["range"]["endIndex"], group["depth"], group.get("collapsed", False))
        for group in groups
    ]


def test_a_sheet_is_duplicated_with_its_cells_and_metadata(sheets: Sheets) -> None:
    entry = {"metadataKey": "k", "metadataValue": "v", "location": {"sheetId": 0}, "visibility": "DOCUMENT"}
    sheets.batch({"createDeveloperMetadata": {"developerMetadata": entry}})
    sheets.put("S!A1", [[1, "=A1+1"]], "USER_ENTERED")
    (reply,) = sheets.batch({"duplicateSheet": {"sourceSheetId": 0}})
    made = reply["duplicateSheet"]["properties"]
    assert (made["title"], made["index"]) == ("Copy of S", 0)
    sheets.put("S!A1", [[5]])
    assert sheets.get("'Copy of S'!A1:B1")["values"] == [["1", "2"]]
    copied, first = (sheet["developerMetadata"] for sheet in sheets.resource()["sheets"][:2])
    assert copied[0]["metadataValue"] == first[0]["metadataValue"] == "v"
    assert copied[0]["metadataId"] != first[0]["metadataId"]
    named = {"sourceSheetId": 0, "newSheetName": "N", "newSheetId": 9, "insertSheetIndex": 3}
    (reply,) = sheets.batch({"duplicateSheet": named})
    assert reply["duplicateSheet"]["properties"]["title"] == "N"
    assert "already exists" in sheets.refused({"duplicateSheet": named | {"newSheetId": 10}})
    assert "No sheet with id: 77" in sheets.refused({"duplicateSheet": {"sourceSheetId": 77}})


def test_groups_lie_within_groups(sheets: Sheets) -> None:
    sheets.batch({"addDimensionGroup": on(1, 5)}, {"addDimensionGroup": on(2, 4)})
    assert group_ends(sheets) == [(1, 5, 1, False), (2, 4, 2, False)]
    folded = {"dimensionGroup": {**on(1, 5), "depth": 1, "collapsed": True}, "fields": "collapsed"}
    sheets.batch({"updateDimensionGroup": folded})
    sheets.batch({"deleteDimensionGroup": on(3, 5)})  # the example of the service's reference
    assert group_ends(sheets) == [(1, 4, 1, False), (2, 3, 2, False)]
    sheets.batch({"addDimensionGroup": on(4, 6)})  # it touches the other one
    assert group_ends(sheets) == [(1, 6, 1, False), (2, 3, 2, False)]
    sheets.batch({"addDimensionGroup": on(0, 6)})  # around the others
    assert group_ends(sheets) == [(0, 6, 1, False), (1, 6, 2, False), (2, 3, 3, False)]
    for _ in range(5):
        sheets.batch({"addDimensionGroup": on(2, 3)})
    assert "at most 8 levels deep" in sheets.refused({"addDimensionGroup": on(0, 6)})
    sheets.batch({"deleteDimension": {"range": on(2, 3)["range"]}})
    assert group_ends(sheets) == [(0, 5, 1, False), (1, 5, 2, False)]
