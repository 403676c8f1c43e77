"""What the Google Sheets emulator works out of what lies over cells: gradients, filters, parts of seconds."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from children import limited
from sheets_asking import Sheets, ask

from sheetarray.testing.sheets_server import SheetsServer

BLACK, WHITE, RED, GREEN = {}, {"red": 1, "green": 1, "blue": 1}, {"red": 1}, {"green": 1}


@pytest.fixture
def sheets(server: SheetsServer) -> Sheets:
    return Sheets(server, ("S", 12, 6), ("T", 5, 3))


def write(sheets: Sheets, cells: list[list[Any]], place: str = "A1") -> None:
    sheets.put(place, cells, "USER_ENTERED")


def grid_data(sheets: Sheets, fields: str) -> Any:
    answer = sheets.done(*ask(sheets.server, "GET", f"/{sheets.key}", ranges="S", fields=f"sheets.data({fields})"))
    return answer["sheets"][0]["data"][0]


def backgrounds(sheets: Sheets) -> list[Any]:
    rows = grid_data(sheets, "rowData.values.effectiveFormat.backgroundColor")["rowData"]
    return [row["values"][0].get("effectiveFormat", {}).get("backgroundColor") for row in rows]


def gradient(**points: Any) -> Any:
    ranges = [{"startRowIndex": 0, "endRowIndex": 9, "startColumnIndex": 0, "endColumnIndex": 1}]
    return {"addConditionalFormatRule": {"rule": {"ranges": ranges, "gradientRule": points}, "index": 0}}


def channel(value: float) -> float:
    """One of 256 steps, in single precision, as the service answers them."""
    import numpy as np

    return float(str(np.float32(int(np.float32(value) * np.float32(255) + np.float32(1e-4)) / 255)))


def test_a_gradient_colours_numbers_between_its_points(sheets: Sheets) -> None:
    write(sheets, [[0], [5], ["=5+5"], ["text"], [2.5], [-3]])
    low, high = {"type": "NUMBER", "value": "0", "color": BLACK}, {"type": "MAX", "color": RED}
    sheets.batch(gradient(minpoint=low, maxpoint=high))
    assert backgrounds(sheets) == [BLACK, {"red": channel(0.5)}, RED, WHITE, {"red": channel(0.25)}, BLACK]


def test_a_gradient_may_have_a_middle_and_points_of_each_kind(sheets: Sheets) -> None:
    write(sheets, [[0], [10], [20], [30], [1000]])
    points = [("MIN", None, RED), ("PERCENTILE", "50", WHITE), ("PERCENT", "100", GREEN)]
    low, middle, high = (
        {"type": kind, **({"value": value} if value else {}), "colorStyle": {"rgbColor": color}}
        for kind, value, color in points
    )
    sheets.batch(gradient(minpoint=low, midpoint=middle, maxpoint=high))
    half = channel(0.5)
    assert backgrounds(sheets)[:3] == [RED, {"red": 1, "green": half, "blue": half}, WHITE]
    assert backgrounds(sheets)[4] == GREEN
    answer = sheets.done(*ask(sheets.server, "GET", f"/{sheets.key}", ranges="S!A1", includeGridData="true"))
    whole = answer["sheets"][0]["data"][0]["rowData"][0]["values"][0]
    assert whole["effectiveFormat"]["backgroundColorStyle"] == {"rgbColor": RED}


def test_an_earlier_rule_wins_over_a_gradient(sheets: Sheets) -> None:
    write(sheets, [[0], [10]])
    sheets.batch(gradient(minpoint={"type": "MIN", "color": RED}, maxpoint={"type": "MAX", "color": GREEN}))
    rule = {"condition": {"type": "NUMBER_EQ", "values": [{"userEnteredValue": "10"}]}}
    rule["format"] = {"backgroundColor": BLACK, "textFormat": {"bold": True}}  # type: ignore[assignment]
    ranges = [{"startRowIndex": 0, "endRowIndex": 9, "startColumnIndex": 0, "endColumnIndex": 1}]
    sheets.batch({"addConditionalFormatRule": {"rule": {"ranges": ranges, "booleanRule": rule}, "index": 0}})
    assert backgrounds(sheets) == [RED, BLACK]


@pytest.mark.parametrize("form", ["criteria", "filterSpecs"])
@pytest.mark.parametrize(
    ("criteria", "hidden"),
    [
        ({"hiddenValues": ["b", ""]}, [2, 4]),
        ({"condition": {"type": "TEXT_EQ", "values": [{"userEnteredValue": "a"}]}}, [2, 3, 4]),
        ({"condition": {"type": "NOT_BLANK"}}, [4]),
    ],
)
def test_a_basic_filter_hides_rows(sheets: Sheets, form: str, criteria: Any, hidden: list[int]) -> None:
    write(sheets, [["name", "n"], ["a", 1], ["b", 2], ["c", 3], ["", 4]])
    wanted: Any = {"range": {"startRowIndex": 0, "endRowIndex": 5, "startColumnIndex": 0, "endColumnIndex": 2}}
    wanted[form] = {"0": criteria} if form == "criteria" else [{"columnIndex": 0, "filterCriteria": criteria}]
    sheets.batch({"setBasicFilter": {"filter": wanted}})
    rows = grid_data(sheets, "rowMetadata.hiddenByFilter")["rowMetadata"]
    assert [row for row, entry in enumerate(rows) if entry.get("hiddenByFilter")] == hidden
    sheets.batch({"clearBasicFilter": {}})
    assert not any("hiddenByFilter" in entry for entry in grid_data(sheets, "rowMetadata")["rowMetadata"])


def test_a_basic_filter_sorts_the_rows_below_its_first_one(sheets: Sheets) -> None:
    write(sheets, [["name", "n"], ["b", 1], ["a", 2], ["b", 3], ["x", 4], ["below", 9]])
    place = {"startRowIndex": 0, "endRowIndex": 4, "startColumnIndex": 0, "endColumnIndex": 2}
    specs = [{"dimensionIndex": 0, "sortOrder": "DESCENDING"}, {"dimensionIndex": 1, "sortOrder": "DESCENDING"}]
    wanted: Any = {"range": place, "sortSpecs": specs, "criteria": {"0": {"hiddenValues": ["a"]}}}
    sheets.batch({"setBasicFilter": {"filter": wanted}})
    assert sheets.cells()[:4] == [["name", "n"], ["b", 3], ["b", 1], ["a", 2]]
    assert sheets.cells()[5] == ["below", 9]
    assert sheets.resource()["sheets"][0]["basicFilter"]["sortSpecs"] == specs
    rows = grid_data(sheets, "rowMetadata.hiddenByFilter")["rowMetadata"]
    assert [row for row, entry in enumerate(rows) if entry.get("hiddenByFilter")] == [3]
    for request in ("setBasicFilter", "sortRange"):
        for spec, reason in (({"dimensionIndex": 2}, "is not in the range"), ({"backgroundColor": RED}, "by colors")):
            refused: Any = {"range": place, "sortSpecs": [spec]}
            assert reason in sheets.refused({request: {"filter": refused} if request == "setBasicFilter" else refused})


def test_conditions_of_a_filter_look_at_numbers_that_formulas_come_to(sheets: Sheets) -> None:
    write(sheets, [["n"], [1], ["=1+4"], [3]])
    condition = {"type": "NUMBER_BETWEEN", "values": [{"userEnteredValue": "2"}, {"userEnteredValue": "4"}]}
    place = {"startRowIndex": 0, "endRowIndex": 4, "startColumnIndex": 0, "endColumnIndex": 1}
    sheets.batch({"setBasicFilter": {"filter": {"range": place, "criteria": {"0": {"condition": condition}}}}})
    rows = grid_data(sheets, "rowMetadata.hiddenByFilter")["rowMetadata"]
    assert [row for row, entry in enumerate(rows) if entry.get("hiddenByFilter")] == [1, 2]


@pytest.mark.parametrize(
    ("pattern", "shown"),
    [
        ("yyyy-mm-dd hh:mm:ss.000", "2024-02-29 06:30:01.235"),
        ("yyyy-mm-dd hh:mm:ss", "2024-02-29 06:30:01"),
        ("ss.0", "01.2"),
        ("ss.00", "01.23"),
        ('ss".000"', "01.000"),
    ],
)
def test_parts_of_a_second_are_shown(sheets: Sheets, pattern: str, shown: str) -> None:
    moment = 45351 + (6 * 3600 + 30 * 60 + 1.2346) / 86_400
    number_format = {"numberFormat": {"type": "DATE_TIME", "pattern": pattern}}
    cell = {"userEnteredValue": {"numberValue": moment}, "userEnteredFormat": number_format}
    start = {"sheetId": 0, "rowIndex": 0, "columnIndex": 0}
    sheets.batch({"updateCells": {"rows": [{"values": [cell]}], "fields": "*", "start": start}})
    assert sheets.get("A1")["values"] == [[shown]]


def test_grid_data_without_a_mask_costs_no_more_than_its_cells(server: SheetsServer) -> None:
    """What lies over 25,000 cells is not looked for anew for each of them, which took four times as long."""
    sheets = Sheets(server, ("S", 5_000, 5))
    write(sheets, [[1.5] * 5] * 5_000)
    gc.collect()
    gc.freeze()  # what other tests have left is not looked at again and again
    with limited(seconds=2):  # a busy machine may double the time that work takes
        answer = sheets.done(*ask(server, "GET", f"/{sheets.key}", includeGridData="true"))
    (data,) = answer["sheets"][0]["data"]
    assert sum("effectiveFormat" in cell for row in data["rowData"] for cell in row["values"]) == 25_000
