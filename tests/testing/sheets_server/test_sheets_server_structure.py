"""The Google Sheets emulator: groups in groups, tables, charts on their own sheets, links, whole new spreadsheets."""

from __future__ import annotations

from typing import Any

import pytest
from sheets_asking import Sheets, ask, message

from sheetarray.testing.sheets_server import SheetsServer


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


def test_a_table_has_a_header_and_grows(sheets: Sheets) -> None:
    sheets.put("S!B2", [["name", ""], ["x", 1]])
    wanted = {
        "name": "prices",
        "range": area(1, 4, 1, 3),
        "columnProperties": [{"columnIndex": 1, "columnType": "DOUBLE"}],
    }
    (reply,) = sheets.batch({"addTable": {"table": wanted}})
    table = reply["addTable"]["table"]
    assert [column["columnName"] for column in table["columnProperties"]] == ["name", "Column 2"]
    assert sheets.resource()["sheets"][0]["tables"] == [table]
    assert sheets.cells()[1] == [None, "name", "Column 2"]
    row = {"values": [{"userEnteredValue": {"stringValue": "y"}}, {"userEnteredValue": {"numberValue": 2}}]}
    append = {"tableId": table["tableId"], "rows": [row, row], "fields": "userEnteredValue"}
    sheets.batch({"appendCells": append})
    assert sheets.cells()[3:] == [[None, "y", 2], [None, "y", 2]]
    assert sheets.resource()["sheets"][0]["tables"][0]["range"]["endRowIndex"] == 5
    update = {"table": {"tableId": table["tableId"], "name": "costs"}, "fields": "name"}
    sheets.batch({"updateTable": update}, {"insertDimension": {"range": {"dimension": "ROWS", "endIndex": 1}}})
    (moved,) = sheets.resource()["sheets"][0]["tables"]
    assert (moved["name"], moved["range"]["startRowIndex"]) == ("costs", 2)
    taken = {"table": {"name": "Costs", "range": area(10, 14, 0, 1)}}
    assert 'with the name "Costs" already exists' in sheets.refused({"addTable": taken})
    meeting = {"table": {"range": area(3, 5, 0, 2)}}
    assert "already has one" in sheets.refused({"addTable": meeting})
    assert "a header row" in sheets.refused({"addTable": {"table": {"range": area(10, 11, 0, 2)}}})
    assert "wider than the table" in sheets.refused({"appendCells": append | {"rows": [{"values": [{}] * 3}]}})
    sheets.batch({"duplicateSheet": {"sourceSheetId": 0, "insertSheetIndex": 2}})
    (copied,) = sheets.resource()["sheets"][2]["tables"]
    assert copied["tableId"] != table["tableId"]
    assert copied["name"] != "costs"
    sheets.batch({"deleteTable": {"tableId": table["tableId"]}})
    assert sheets.cells() == []
    assert "No table with id" in sheets.refused({"deleteTable": {"tableId": table["tableId"]}})


def test_a_chart_has_a_sheet_of_its_own(sheets: Sheets) -> None:
    chart = {"spec": {"title": "c"}, "position": {"newSheet": True}}
    (reply,) = sheets.batch({"addChart": {"chart": chart}})
    made = reply["addChart"]["chart"]
    held = sheets.resource(includeGridData="true")["sheets"][-1]
    assert (held["properties"]["sheetType"], held["properties"]["title"]) == ("OBJECT", "Chart1")
    assert not {"gridProperties"} & held["properties"].keys()
    assert held["charts"] == [made]
    assert made["position"] == {"sheetId": held["properties"]["sheetId"]}
    assert "exceeds grid limits" in message(ask(sheets.server, "GET", f"/{sheets.key}/values/Chart1!A1"))
    move = {
        "objectId": made["chartId"],
        "newPosition": {"overlayPosition": {"anchorCell": {"rowIndex": 2}}},
        "fields": "*",
    }
    sheets.batch({"updateEmbeddedObjectPosition": move})
    assert [len(sheet.get("charts", [])) for sheet in sheets.resource()["sheets"]] == [1, 0]
    back = {"objectId": made["chartId"], "newPosition": {"sheetId": 77}, "fields": "sheetId"}
    sheets.batch({"updateEmbeddedObjectPosition": back})
    assert "already in use" in sheets.refused(
        {"addChart": {"chart": {"spec": {"title": "d"}, "position": {"sheetId": 77}}}}
    )
    sheets.batch({"deleteEmbeddedObject": {"objectId": made["chartId"]}})
    assert len(sheets.resource()["sheets"]) == 2


def test_conditional_formats_are_pasted(sheets: Sheets) -> None:
    condition = {"type": "CUSTOM_FORMULA", "values": [{"userEnteredValue": "=A1>1"}]}
    rule = {
        "ranges": [area(0, 2, 0, 1)],
        "booleanRule": {"condition": condition, "format": {"textFormat": {"bold": True}}},
    }
    other_id = sheets.resource()["sheets"][1]["properties"]["sheetId"]
    paste = {"source": area(0, 2, 0, 1), "pasteType": "PASTE_CONDITIONAL_FORMATTING"}
    sheets.batch(
        {"addConditionalFormatRule": {"rule": rule}},
        {"copyPaste": {**paste, "destination": area(5, 6, 2, 3)}},
        {"copyPaste": {**paste, "destination": area(3, 4, 1, 2, other_id)}},
    )
    first, second = (sheet["conditionalFormats"][0] for sheet in sheets.resource()["sheets"])
    assert first["ranges"][1] == {name: end for name, end in area(5, 7, 2, 3).items() if name != "sheetId"}
    assert second["ranges"] == [area(3, 5, 1, 2, other_id)]
    assert second["booleanRule"]["condition"]["values"] == [{"userEnteredValue": "=B4>1"}]


def test_links_and_pivot_tables_are_answered(sheets: Sheets) -> None:
    sheets.put("S!A1", [['=HYPERLINK("https://example.org/?a=""b""","label")', "=A1"]], "USER_ENTERED")
    pivot = {"source": area(0, 2, 0, 2), "rows": [{"sourceColumnOffset": 0, "sortOrder": "ASCENDING"}]}
    link = {"textFormat": {"link": {"uri": "https://example.org"}}}
    cells = [{"userEnteredValue": {"stringValue": "x"}, "userEnteredFormat": link}, {"pivotTable": pivot}]
    request = {"start": {"columnIndex": 2}, "rows": [{"values": cells}], "fields": "*"}
    sheets.batch({"updateCells": request})
    (row,) = sheets.resource(ranges="S!A1:D1", includeGridData="true")["sheets"][0]["data"][0]["rowData"]
    links = [cell.get("hyperlink") for cell in row["values"]]
    assert links == ['https://example.org/?a="b"', None, "https://example.org", None]
    assert row["values"][3]["pivotTable"]["rows"] == pivot["rows"]


def test_a_whole_spreadsheet_is_made_at_once(server: SheetsServer) -> None:
    cell = {"userEnteredValue": {"numberValue": 0.5}, "userEnteredFormat": {"numberFormat": {"type": "PERCENT"}}}
    sheet = {
        "properties": {"sheetId": 5, "title": "one", "gridProperties": {"rowCount": 20, "columnCount": 6}},
        "data": [
            {"startRow": 1, "startColumn": 1, "rowData": [{"values": [cell]}], "columnMetadata": [{"pixelSize": 70}]}
        ],
        "merges": [area(3, 4, 0, 2, 5)],
        "protectedRanges": [{"range": area(0, 1, 0, 1, 5)}],
        "conditionalFormats": [],
        "filterViews": [{"title": "mine", "range": area(0, 3, 0, 2, 5)}],
        "basicFilter": {"range": area(0, 3, 0, 2, 5)},
        "bandedRanges": [{"range": area(0, 3, 0, 2, 5), "rowProperties": {"firstBandColor": {"red": 1}}}],
        "charts": [{"spec": {"title": "c"}, "position": {"overlayPosition": {"anchorCell": {"sheetId": 5}}}}],
        "tables": [{"name": "t", "range": area(10, 12, 0, 1, 5)}],
        "rowGroups": [{"range": {"sheetId": 5, "dimension": "ROWS", "startIndex": 1, "endIndex": 3}}],
        "developerMetadata": [{"metadataKey": "k", "location": {"sheetId": 5}, "visibility": "DOCUMENT"}],
    }
    body = {
        "properties": {"title": "all"},
        "sheets": [sheet, {"properties": {"title": "two"}}],
        "namedRanges": [{"name": "spot", "range": area(1, 2, 1, 2, 5)}],
    }
    status, made = ask(server, "POST", "", body)
    assert status == 200, made
    assert made["namedRanges"][0]["name"] == "spot"
    filled = made["sheets"][0]
    assert not (sheet.keys() - {"conditionalFormats", "data"}) - filled.keys()
    read = ask(server, "GET", f"/{made['spreadsheetId']}/values/spot")[1]
    assert read["values"] == [["50.00%"]]
    columns = ask(server, "GET", f"/{made['spreadsheetId']}", ranges="one", includeGridData="true")[1]
    assert columns["sheets"][0]["data"][0]["columnMetadata"][1]["pixelSize"] == 70
    wrong = {"sheets": [{"merges": [area(0, 1, 0, 2, 9)]}]}
    assert "No grid with id: 9" in message(ask(server, "POST", "", wrong))
