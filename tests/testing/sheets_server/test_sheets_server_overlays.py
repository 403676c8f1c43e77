"""The Google Sheets emulator's conditional formats, bandings, filter views, charts, borders, fills and texts."""

from __future__ import annotations

from typing import Any

import pytest
from sheets_asking import Sheets

from sheetarray.testing.sheets_server import SheetsServer

RED = {"red": 1}
STYLED = {"backgroundColor": RED, "backgroundColorStyle": {"rgbColor": RED}}


@pytest.fixture
def sheets(server: SheetsServer) -> Sheets:
    return Sheets(server, ("S", 12, 6), ("T", 5, 3))


def area(top: int, bottom: int, left: int, right: int) -> Any:
    return {"startRowIndex": top, "endRowIndex": bottom, "startColumnIndex": left, "endColumnIndex": right}


def sheet(sheets: Sheets) -> Any:
    return sheets.resource()["sheets"][0]


def rule(kind: str, *values: str, look: Any = None) -> Any:
    condition = {"type": kind, "values": [{"userEnteredValue": value} for value in values]}
    return {"ranges": [area(0, 9, 0, 2)], "booleanRule": {"condition": condition, "format": look or STYLED}}


# What lies over the cells.


def test_conditional_formats_are_kept_in_their_order(sheets: Sheets) -> None:
    one, two, three = rule("BLANK"), rule("NUMBER_GREATER", "5"), rule("TEXT_EQ", "x")
    for added in (one, two):
        sheets.batch({"addConditionalFormatRule": {"rule": added, "index": 0}})
    assert sheet(sheets)["conditionalFormats"] == [two, one]
    (moved,) = sheets.batch({"updateConditionalFormatRule": {"index": 0, "newIndex": 1, "sheetId": 0}})
    assert moved == {"updateConditionalFormatRule": {"newRule": two, "oldIndex": 0, "newIndex": 1}}
    (replaced,) = sheets.batch({"updateConditionalFormatRule": {"index": 0, "rule": three}})
    assert replaced == {"updateConditionalFormatRule": {"oldRule": one, "newRule": three, "newIndex": 0}}
    (deleted,) = sheets.batch({"deleteConditionalFormatRule": {"index": 1}})
    assert deleted == {"deleteConditionalFormatRule": {"rule": two}}
    assert sheet(sheets)["conditionalFormats"] == [three]
    assert "No conditional format on sheet at index: 1" in sheets.refused({"deleteConditionalFormatRule": {"index": 1}})
    assert "out of bounds" in sheets.refused({"addConditionalFormatRule": {"rule": one, "index": 2}})
    assert "one of" in sheets.refused({"addConditionalFormatRule": {"rule": {"ranges": [area(0, 1, 0, 1)]}}})
    assert "No ranges" in sheets.refused({"addConditionalFormatRule": {"rule": {}}})


def test_bandings_do_not_overlap(sheets: Sheets) -> None:
    banding = {"range": area(0, 4, 0, 2), "rowProperties": {"headerColor": {"red": 0.5}, "firstBandColor": RED}}
    (reply,) = sheets.batch({"addBanding": {"bandedRange": banding}})
    entry = reply["addBanding"]["bandedRange"]
    assert entry["rowProperties"]["firstBandColorStyle"] == {"rgbColor": RED}
    assert sheet(sheets)["bandedRanges"] == [entry]
    assert "already has them" in sheets.refused({"addBanding": {"bandedRange": banding}})
    sheets.batch({"addBanding": {"bandedRange": banding | {"range": area(4, 5, 0, 2)}}})
    wanted = {"bandedRangeId": entry["bandedRangeId"], "rowProperties": {"firstBandColor": {"blue": 1}}}
    sheets.batch({"updateBanding": {"bandedRange": wanted, "fields": "rowProperties.firstBandColor"}})
    changed = next(item for item in sheet(sheets)["bandedRanges"] if item["bandedRangeId"] == entry["bandedRangeId"])
    assert changed["rowProperties"]["firstBandColorStyle"] == {"rgbColor": {"blue": 1}}
    assert changed["rowProperties"]["headerColor"] == entry["rowProperties"]["headerColor"]
    sheets.batch({"deleteBanding": {"bandedRangeId": entry["bandedRangeId"]}})
    assert len(sheet(sheets)["bandedRanges"]) == 1
    assert "No banded range with id: 5" in sheets.refused({"deleteBanding": {"bandedRangeId": 5}})
    assert "At least one" in sheets.refused({"addBanding": {"bandedRange": {"range": area(0, 1, 5, 6)}}})


def test_filter_views_are_kept(sheets: Sheets) -> None:
    view = {"range": area(0, 4, 0, 2), "sortSpecs": [{"dimensionIndex": 1, "sortOrder": "DESCENDING"}]}
    (reply,) = sheets.batch({"addFilterView": {"filter": view}})
    entry = reply["addFilterView"]["filter"]
    assert entry["title"] == "Filter 1"
    (copied,) = sheets.batch({"duplicateFilterView": {"filterId": entry["filterViewId"]}})
    assert copied["duplicateFilterView"]["filter"]["title"] == "Copy of Filter 1"
    wanted = {"filterViewId": entry["filterViewId"], "title": "mine"}
    sheets.batch({"updateFilterView": {"filter": wanted, "fields": "title"}})
    assert {view["title"] for view in sheet(sheets)["filterViews"]} == {"mine", "Copy of Filter 1"}
    sheets.batch({"deleteFilterView": {"filterId": entry["filterViewId"]}})
    assert [view["title"] for view in sheet(sheets)["filterViews"]] == ["Copy of Filter 1"]


def test_charts_are_kept_moved_and_deleted(sheets: Sheets) -> None:
    sources = {"sourceRange": {"sources": [area(0, 5, 0, 1)]}}
    spec = {"title": "c", "basicChart": {"chartType": "LINE", "series": [{"series": sources}]}}
    position = {"overlayPosition": {"anchorCell": {"rowIndex": 2, "columnIndex": 3}}}
    (reply,) = sheets.batch({"addChart": {"chart": {"spec": spec, "position": position}}})
    chart = reply["addChart"]["chart"]
    assert chart["position"]["overlayPosition"]["widthPixels"] == 600
    assert sheet(sheets)["charts"] == [chart]
    sheets.batch({"insertDimension": {"range": {"dimension": "ROWS", "startIndex": 0, "endIndex": 2}}})
    moved = sheet(sheets)["charts"][0]
    assert moved["position"]["overlayPosition"]["anchorCell"] == {"rowIndex": 4, "columnIndex": 3}
    source = moved["spec"]["basicChart"]["series"][0]["series"]["sourceRange"]["sources"][0]
    assert (source["startRowIndex"], source["endRowIndex"]) == (2, 7)
    (copied,) = sheets.batch({"duplicateSheet": {"sourceSheetId": 0}})
    new_id = copied["duplicateSheet"]["properties"]["sheetId"]
    duplicate = sheets.resource()["sheets"][0]["charts"][0]
    assert duplicate["chartId"] != chart["chartId"]
    assert duplicate["position"]["overlayPosition"]["anchorCell"]["sheetId"] == new_id
    chart_id = chart["chartId"]
    sheets.batch(
        {"updateChartSpec": {"chartId": chart_id, "spec": {"title": "other"}}},
        {
            "updateEmbeddedObjectPosition": {
                "objectId": chart_id,
                "newPosition": {"overlayPosition": {"widthPixels": 9}},
                "fields": "widthPixels",
            }
        },
    )
    changed = next(entry for entry in sheets.resource()["sheets"][1]["charts"] if entry["chartId"] == chart_id)
    fonts = {"fontName": "Roboto", "titleTextFormat": {"fontFamily": "Roboto"}}
    assert changed["spec"] == {"title": "other", **fonts}
    assert changed["position"]["overlayPosition"]["widthPixels"] == 9
    sheets.batch({"deleteEmbeddedObject": {"objectId": chart_id}})
    assert "charts" not in sheets.resource()["sheets"][1]
    assert f"No object with id: {chart_id}" in sheets.refused({"deleteEmbeddedObject": {"objectId": chart_id}})


def test_a_slicer_is_kept(sheets: Sheets) -> None:
    (reply,) = sheets.batch({"addSlicer": {"slicer": {"spec": {"dataRange": area(0, 4, 0, 2), "title": "a"}}}})
    slicer = reply["addSlicer"]["slicer"]
    wanted = {"slicerId": slicer["slicerId"], "spec": {"title": "b"}, "fields": "title"}
    sheets.batch({"updateSlicerSpec": wanted})
    assert sheet(sheets)["slicers"][0]["spec"] == {"dataRange": area(0, 4, 0, 2), "title": "b"}


def test_an_empty_basic_filter_stays_empty(sheets: Sheets) -> None:
    sheets.batch({"setBasicFilter": {"filter": {"range": area(0, 4, 0, 2)}}})
    assert sheet(sheets)["basicFilter"] == {"range": area(0, 4, 0, 2)}
    sheets.batch({"clearBasicFilter": {}})
    assert "basicFilter" not in sheet(sheets)


def test_borders_are_drawn_around_and_between(sheets: Sheets) -> None:
    line = {"style": "SOLID", "color": RED}
    sheets.batch({"updateBorders": {"range": area(1, 3, 1, 3), "top": line, "innerVertical": line, "right": line}})
    rows = sheets.resource(ranges="S!A1:C4", includeGridData="true")["sheets"][0]["data"][0]["rowData"]
    drawn = {"style": "SOLID", "width": 1, "color": RED, "colorStyle": {"rgbColor": RED}}
    borders = [[cell.get("userEnteredFormat", {}).get("borders") for cell in row["values"]] for row in rows[1:3]]
    assert borders == [
        [None, {"top": drawn, "right": drawn}, {"top": drawn, "right": drawn}],
        [None, {"right": drawn}, {"right": drawn}],
    ]
    none = {"style": "NONE"}
    sheets.batch({"updateBorders": {"range": area(1, 3, 1, 3), "top": none, "innerVertical": none, "right": none}})
    assert "rowData" not in sheets.resource(ranges="S!A1:C4", includeGridData="true")["sheets"][0]["data"][0]


# Fills and texts.


@pytest.mark.parametrize(
    ("cells", "filled"),
    [
        ([5], [5, 5, 5]),
        ([1, 3], [5, 7, 9]),
        ([1, 2, 4], [16 / 3, 41 / 6, 25 / 3]),
        (["run 9"], ["run 10", "run 11", "run 12"]),
        (["a1", "b"], ["a2", "b", "a3"]),
        (["Mon"], ["Tue", "Wed", "Thu"]),
        (["x"], ["x", "x", "x"]),
        ([True], [True, True, True]),
        (["=B1+$B$1"], ["=B2+$B$1", "=B3+$B$1", "=B4+$B$1"]),
    ],
)
def test_a_series_goes_on(sheets: Sheets, cells: list[Any], filled: list[Any]) -> None:
    sheets.put("S!A1", [[cell] for cell in cells], "USER_ENTERED")
    source = area(0, len(cells), 0, 1)
    wanted = {"source": source, "dimension": "ROWS", "fillLength": 3}
    sheets.batch({"autoFill": {"sourceAndDestination": wanted}})
    values = sheets.get(f"S!A{len(cells) + 1}:A9", valueRenderOption="FORMULA")["values"]
    assert [row[0] for row in values] == [pytest.approx(value) if type(value) is float else value for value in filled]


def test_fills_go_in_every_direction_and_not_off_the_grid(sheets: Sheets) -> None:
    sheets.put("S!C3", [[10, 12]])
    sheets.batch(
        {"autoFill": {"range": area(2, 3, 2, 6)}},
        {"autoFill": {"sourceAndDestination": {"source": area(2, 3, 2, 4), "dimension": "COLUMNS", "fillLength": -2}}},
        {"autoFill": {"range": area(2, 4, 2, 3), "useAlternateSeries": True}},
    )
    assert sheets.values("S!A3:F4") == [[6, 8, 10, 12, 14, 16], ["", "", 11]]
    for length in (-3, 10):
        wanted = {"source": area(2, 3, 0, 1), "dimension": "ROWS", "fillLength": length}
        assert "exceed grid limits" in sheets.refused({"autoFill": {"sourceAndDestination": wanted}})
    assert "nothing to fill" in sheets.refused({"autoFill": {"range": area(7, 9, 0, 2)}})


def test_text_is_found_and_replaced(sheets: Sheets) -> None:
    sheets.put("S!A1", [["Eel", 11, "=1+1"], ["peel", "e1", True]], "USER_ENTERED")
    (reply,) = sheets.batch({"findReplace": {"find": "e", "replacement": "o", "allSheets": True}})
    counts = {"valuesChanged": 4, "rowsChanged": 2, "sheetsChanged": 1, "occurrencesChanged": 6}
    assert reply == {"findReplace": counts}
    assert sheets.values("S") == [["ool", 11, 2], ["pool", "o1", "TRUo"]]
    (reply,) = sheets.batch({"findReplace": {"find": "1", "replacement": "2", "sheetId": 0, "includeFormulas": True}})
    assert reply["findReplace"]["formulasChanged"] == 1
    assert sheets.values("S!B1:C1") == [[22, 4]]
    regular = {"find": r"^(\w)o+l$", "replacement": "$1!", "searchByRegex": True, "range": area(0, 2, 0, 1)}
    sheets.batch({"findReplace": regular})
    assert sheets.values("S!A1:A2") == [["o!"], ["p!"]]
    entire = {"find": "O2", "replacement": "", "matchEntireCell": True, "matchCase": True, "sheetId": 0}
    assert sheets.batch({"findReplace": entire}) == [{"findReplace": {}}]
    sheets.batch({"findReplace": entire | {"matchCase": False}})
    assert sheets.values("S!B2") is None
    for broken in ({"find": "(", "searchByRegex": True}, {"find": ""}):
        assert sheets.refused({"findReplace": {"sheetId": 0, "replacement": "", **broken}})
    assert "One of" in sheets.refused({"findReplace": {"find": "a"}})


def test_data_are_pasted_as_typed(sheets: Sheets) -> None:
    data = {"data": 'a,1.5,"x,y"\n2020-01-01,=1+1', "delimiter": ",", "coordinate": {"rowIndex": 11, "columnIndex": 4}}
    sheets.batch({"pasteData": data})
    assert sheets.values("S!E12:G13") == [["a", 1.5, "x,y"], [43831, 2]]
    assert sheets.get("S!E13")["values"] == [["2020-01-01"]]
    assert "HTML" in sheets.refused({"pasteData": {"data": "<p>", "html": True}})


def test_text_is_split_into_columns(sheets: Sheets) -> None:
    sheets.put("S!E1", [["a; b;3"], ["none"], [7]])
    sheets.batch({"textToColumns": {"source": area(0, 3, 4, 5)}})
    assert sheets.values("S!E1:G3") == [["a", "b", 3], ["none"], [7]]
    sheets.put("S!A1", [["1--2"]])
    custom = {"source": area(0, 1, 0, 1), "delimiterType": "CUSTOM", "delimiter": "--"}
    sheets.batch({"textToColumns": custom})
    assert sheets.values("S!A1:B1") == [[1, 2]]
    assert "exactly one column" in sheets.refused({"textToColumns": {"source": area(0, 1, 0, 2)}})


def test_white_space_is_trimmed_and_duplicates_are_deleted(sheets: Sheets) -> None:
    sheets.put("S!A1", [[" a  b ", 1], ["A b", 1], ["a b", 2], ["", 3], ["a b", 1]])
    assert sheets.batch({"trimWhitespace": {"range": area(0, 9, 0, 2)}}) == [
        {"trimWhitespace": {"cellsChangedCount": 1}}
    ]
    assert sheets.batch({"deleteDuplicates": {"range": area(0, 9, 0, 2)}}) == [
        {"deleteDuplicates": {"duplicatesRemovedCount": 2}}
    ]
    assert sheets.values("S") == [["a b", 1], ["a b", 2], ["", 3]]
    first = [{"sheetId": 0, "dimension": "COLUMNS", "startIndex": 0, "endIndex": 1}]
    sheets.batch({"deleteDuplicates": {"range": area(0, 9, 0, 2), "comparisonColumns": first}})
    assert sheets.values("S") == [["a b", 1], ["", 3]]


# How cells are shown.


def shown(sheets: Sheets, cells: str) -> list[list[Any]]:
    wanted = "sheets.data.rowData.values.effectiveFormat"
    rows = sheets.resource(ranges=f"S!{cells}", fields=wanted)["sheets"][0]["data"][0].get("rowData", [])
    return [[cell.get("effectiveFormat", {}) for cell in row.get("values", [])] for row in rows]


def test_a_cell_is_shown_in_its_effective_format(sheets: Sheets) -> None:
    sheets.put("S!A1", [["x", 7, True, None, 2]])
    look = {"userEnteredFormat": {"textFormat": {"bold": True}, "horizontalAlignment": "CENTER"}}
    bold = {"range": area(0, 1, 1, 2), "cell": look, "fields": "userEnteredFormat"}
    sheets.batch({"repeatCell": bold})
    ((text, number, boolean, blank, plain),) = shown(sheets, "A1:E1")
    alignments = [cell.get("horizontalAlignment") for cell in (text, number, boolean, plain)]
    assert alignments == ["LEFT", "CENTER", "CENTER", "RIGHT"]
    assert blank == {}
    assert number["textFormat"] == {**text["textFormat"], "bold": True}
    assert text["backgroundColor"] == {"red": 1, "green": 1, "blue": 1}
    assert text["hyperlinkDisplayType"] == "PLAIN_TEXT"


@pytest.mark.parametrize(
    ("condition", "cells"),
    [
        (("NUMBER_GREATER", "6"), "B1"),
        (("NUMBER_BETWEEN", "2", "=1+1"), "B2"),
        (("NUMBER_NOT_EQ", "7"), "B2"),
        (("TEXT_CONTAINS", "X"), "A1"),
        (("TEXT_STARTS_WITH", "y"), "A2"),
        (("TEXT_IS_EMAIL",), ""),
        (("CUSTOM_FORMULA", "=$B1=2"), "A2 B2"),
        (("CUSTOM_FORMULA", '=A1="y"'), "A2"),
        (("NOT_BLANK",), "A1 B1 A2 B2"),
        (("DATE_BEFORE", "1900-01-05"), "B2"),
    ],
)
def test_a_conditional_format_is_shown_where_its_condition_is_met(
    sheets: Sheets, condition: tuple[str, ...], cells: str
) -> None:
    sheets.put("S!A1", [["x", 7], ["y", 2]])
    sheets.batch({"addConditionalFormatRule": {"rule": rule(*condition), "index": 0}})
    red = [
        f"{'AB'[column]}{row + 1}"
        for row, line in enumerate(shown(sheets, "A1:B2"))
        for column, cell in enumerate(line)
        if cell["backgroundColor"] == RED
    ]
    assert " ".join(red) == cells


def test_bands_alternate_below_a_header(sheets: Sheets) -> None:
    sheets.put("S!A1", [["h"], [1], [2], [3], [4]])
    colors = {"headerColor": {"blue": 1}, "firstBandColor": {"red": 1}, "secondBandColor": {"green": 1}}
    colors |= {"footerColor": {}}
    sheets.batch({"addBanding": {"bandedRange": {"range": area(0, 5, 0, 1), "rowProperties": colors}}})
    backgrounds = [line[0]["backgroundColor"] for line in shown(sheets, "A1:A5")]
    assert backgrounds == [{"blue": 1}, {"red": 1}, {"green": 1}, {"red": 1}, {}]


def test_a_colour_comes_back_in_its_step_and_precision(sheets: Sheets) -> None:
    sent = {"red": 0.8980392, "green": 0.5, "blue": 0.2745098}
    cell = {"userEnteredFormat": {"backgroundColor": sent}}
    for _ in range(2):  # what comes back, comes back again
        sheets.batch({"repeatCell": {"range": area(0, 1, 0, 1), "cell": cell, "fields": "userEnteredFormat"}})
        data = sheets.resource(ranges="S!A1", includeGridData="true")["sheets"][0]["data"][0]
        cell = {"userEnteredFormat": data["rowData"][0]["values"][0]["userEnteredFormat"]}
        color = {"red": 0.8980392, "green": 0.49803922, "blue": 0.27450982}
        assert cell["userEnteredFormat"]["backgroundColor"] == color


def test_a_folded_group_stays_folded_where_rows_come_before_it(sheets: Sheets) -> None:
    span = {"sheetId": 0, "dimension": "ROWS", "startIndex": 4, "endIndex": 6}
    folded = {"dimensionGroup": {"range": span, "depth": 1, "collapsed": True}, "fields": "collapsed"}
    sheets.batch({"addDimensionGroup": {"range": span}}, {"updateDimensionGroup": folded})
    sheets.batch({"insertDimension": {"range": {"dimension": "ROWS", "startIndex": 0, "endIndex": 1}}})
    (group,) = sheet(sheets)["rowGroups"]
    assert (group["range"]["startIndex"], group["collapsed"]) == (5, True)
