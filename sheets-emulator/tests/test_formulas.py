"""The Google Sheets emulator's formulas: functions, errors, and references that follow cells that move."""

from __future__ import annotations

from typing import Any

import pytest
from sheets_asking import Sheets

from sheets_emulator import SheetsServer

TABLE = [["apple", 3, "red"], ["Pear", 5, "green"], ["fig", 8, "blue"], ["a*", -2.5, None], [None, True, "=1/0"]]


@pytest.fixture(scope="module")
def table(server: SheetsServer) -> Sheets:
    sheets = Sheets(server, ("S", 20, 9), ("my data", 5, 3))
    sheets.put("S!A1", TABLE, "USER_ENTERED")
    sheets.put("my data!A1", [[1, 2, 3], [4, 5, 6]])
    span = {"startRowIndex": 0, "endRowIndex": 4, "startColumnIndex": 1, "endColumnIndex": 2}
    sheets.batch({"addNamedRange": {"namedRange": {"name": "prices", "range": span}}})
    return sheets


VALUES: list[tuple[str, Any]] = [
    # lookups
    ('=MATCH("PEAR",A1:A5,0)', 2),
    ('=MATCH("plum",A1:A5,0)', "#N/A"),
    ("=MATCH(3,'my data'!A1:C1,0)", 3),
    ("=MATCH(1,A1:B2,0)", "#N/A"),
    ("=INDEX(A1:C5,2,3)", "green"),
    ("=INDEX(B1:B5,3)", 8),
    ("=INDEX('my data'!A1:C1,2)", 2),
    ("=INDEX(B1:B5,6)", "#NUM!"),
    ("=SUM(INDEX('my data'!A1:C2,2,0))", 15),
    ("=SUM(INDEX('my data'!A1:C2,0,2))", 7),
    ("=INDEX(prices,MATCH(8,prices,0)-1)", 5),
    ("=ROW()*100+COLUMN()+ROW(A7)/1000", 1009.007),
    # decisions
    ("=IF(1>2,1/0,7)", 7),
    ("=IF(B1=3,,1)", 0),
    ("=IF(FALSE,1)", False),
    ('=IF("x",1,2)', "#VALUE!"),
    ("=AND(TRUE,B1>2)", True),
    # comparisons
    ('="a"="A"', True),
    ('="a">1E300', True),
    ("=TRUE>A1", True),
    ('=A5=""', True),
    ("=A5=0", True),
    # sums by criteria
    ("=SUM(B1:C5)", "#DIV/0!"),
    # numbers
    ("=MOD(-7,3)", 2),
    ("=MOD(7,0)", "#DIV/0!"),
    ("=0^-1", "#DIV/0!"),
    # dates
    ("=YEAR(45352)&MONTH(45352)&DAY(45352)", "202431"),
    ("=HOUR(45352.75)&MINUTE(45352.5007)&SECOND(45352.5001)", "1819"),
    ("=YEAR(1E9)", "#NUM!"),
    # text
    # names, errors
    ("=SUM(prices)+SUM(PRICES)", 27),
    ("=prices2", "#NAME?"),
    ("=NOSUCH(1)", "#NAME?"),
    ("=IF(1)", "#N/A"),
    ("=#REF!+1", "#REF!"),
    ("=nowhere!A1", "#REF!"),
    ("=B1:B5", "#VALUE!"),
    ("=" + "-" * 9999 + "1", -1),
    ("=" + "+".join(["1"] * 9999), 9999),
]


@pytest.mark.parametrize(("formula", "value"), VALUES, ids=[formula[:40] for formula, _ in VALUES])
def test_a_function_has_a_value(table: Sheets, formula: str, value: Any) -> None:
    table.put("S!I10", [[formula]], "USER_ENTERED")
    assert table.values("S!I10", valueRenderOption="UNFORMATTED_VALUE") == ([[value]] if value != "" else None)
    table.put("S!I10", [[""]])


def test_an_error_has_a_kind_and_a_reason(table: Sheets) -> None:
    table.put(
        "S!I12",
        [
            [
                '=MATCH("no",A1:A4,0)',
            ]
        ],
        "USER_ENTERED",
    )
    data = table.resource(ranges="S!I12", includeGridData="true")["sheets"][0]["data"][0]["rowData"][0]["values"][0]
    assert data["effectiveValue"] == {
        "errorValue": {"type": "N_A", "message": "Did not find value 'no' in MATCH evaluation."}
    }
    assert data["formattedValue"] == "#N/A"
    assert data["userEnteredValue"] == {"formulaValue": '=MATCH("no",A1:A4,0)'}
    kinds = {
        "=1/0": "DIVIDE_BY_ZERO",
        "=X(": "ERROR",
        "=nix": "NAME",
        "=(-1)^0.5": "NUM",
        "=U!A1": "REF",
        '="a"+1': "VALUE",
    }
    for formula, kind in kinds.items():
        table.put("S!I12", [[formula]], "USER_ENTERED")
        shown = table.resource(ranges="S!I12", fields="sheets.data.rowData.values.effectiveValue")
        assert shown["sheets"][0]["data"][0]["rowData"][0]["values"][0]["effectiveValue"]["errorValue"]["type"] == kind


# Cells that move ------------------------------------------------------------------------------------------------


@pytest.fixture
def sheets(server: SheetsServer) -> Sheets:
    return Sheets(server, ("S", 20, 9), ("T", 5, 3))


def on(dimension: str, start: int, stop: int, sheet: int = 0) -> Any:
    return {"sheetId": sheet, "dimension": dimension, "startIndex": start, "endIndex": stop}


def area(top: int, bottom: int, left: int, right: int, sheet: int = 0) -> Any:
    ends = {"startRowIndex": top, "endRowIndex": bottom, "startColumnIndex": left, "endColumnIndex": right}
    return {"sheetId": sheet, **ends}


def formulas(sheets: Sheets, text: str) -> Any:
    values = sheets.get(text, valueRenderOption="FORMULA", majorDimension="COLUMNS").get("values", [[]])
    return [cell for column in values for cell in column]


MOVED: list[tuple[dict[str, Any], list[str]]] = [
    (
        {"insertDimension": {"range": on("ROWS", 2, 4)}},
        ["=SUM(B1:B6)+$B$5+B2", '=S!B5&"B3"', "=b:b", "=SUM(B7:B)", "=nix+B5:B6"],
    ),
    (
        {"insertDimension": {"range": on("COLUMNS", 0, 1)}},
        ["=SUM(C1:C4)+$C$3+C2", '=S!C3&"B3"', "=C:C", "=SUM(C5:C)", "=nix+C3:C4"],
    ),
    (
        {"deleteDimension": {"range": on("ROWS", 2, 3)}},
        ["=SUM(B1:B3)+#REF!+B2", '=#REF!&"B3"', "=b:b", "=SUM(B4:B)", "=nix+B3:B3"],
    ),
    (
        {"deleteDimension": {"range": on("COLUMNS", 1, 2)}},
        ["=SUM(#REF!)+#REF!+#REF!", '=#REF!&"B3"', "=#REF!", "=SUM(#REF!)", "=nix+#REF!"],
    ),
    (
        {"cutPaste": {"source": area(2, 4, 1, 2), "destination": {"rowIndex": 10, "columnIndex": 2}}},
        ["=SUM(B1:B4)+$C$11+B2", '=S!C11&"B3"', "=b:b", "=SUM(B5:B)", "=nix+C11:C12"],
    ),
    (
        {"updateSheetProperties": {"properties": {"sheetId": 0, "title": "it's"}, "fields": "title"}},
        ["=SUM(B1:B4)+$B$3+B2", "='it''s'!B3&\"B3\"", "=b:b", "=SUM(B5:B)", "=nix+B3:B4"],
    ),
]


def test_what_names_cells_follows_them(sheets: Sheets) -> None:
    bold = {"condition": {"type": "CUSTOM_FORMULA", "values": [{"userEnteredValue": "=$B3>1"}]}, "format": {}}
    sheets.batch(
        {"addNamedRange": {"namedRange": {"name": "spot", "range": area(2, 4, 1, 2)}}},
        {"addConditionalFormatRule": {"rule": {"ranges": [area(2, 9, 0, 1)], "booleanRule": bold}, "index": 0}},
        {"insertDimension": {"range": on("ROWS", 0, 2)}},
    )
    state = sheets.resource()
    assert state["namedRanges"][0]["range"]["startRowIndex"] == 4
    sheet = state["sheets"][0]
    (conditional,) = sheet["conditionalFormats"]
    assert conditional["ranges"][0]["startRowIndex"] == 4
    sheets.batch({"deleteDimension": {"range": on("ROWS", 4, 12)}})
    assert "conditionalFormats" not in sheets.resource()["sheets"][0]


def test_a_deleted_sheet_leaves_errors(sheets: Sheets) -> None:
    sheets.put("T!A1", [["=S!A1+1"]], "USER_ENTERED")
    sheets.batch({"deleteSheet": {"sheetId": 0}})
    assert formulas(sheets, "T!A1") == ["=#REF!+1"]
    assert sheets.values("T!A1") == [["#REF!"]]


def test_copied_formulas_refer_to_other_cells(sheets: Sheets) -> None:
    sheets.put("S!B2", [["=A1+$A1+A$1+$A$1", "=SUM(A:A)"]], "USER_ENTERED")
    sheets.batch({"copyPaste": {"source": area(1, 2, 1, 2), "destination": area(2, 4, 2, 3)}})
    assert formulas(sheets, "S!C3:C4") == ["=B2+$A2+B$1+$A$1", "=B3+$A3+B$1+$A$1"]
    sheets.batch({"copyPaste": {"source": area(1, 2, 1, 2), "destination": area(0, 1, 0, 1)}})
    assert formulas(sheets, "S!A1") == ["=#REF!+#REF!+#REF!+$A$1"]


def test_sorted_formulas_stay_with_their_rows(sheets: Sheets) -> None:
    sheets.put("S!A1", [[3, "=A1*2"], [1, "=A2*2"], [2, "=A3*2"]], "USER_ENTERED")
    sheets.batch({"sortRange": {"range": area(0, 3, 0, 2), "sortSpecs": [{"dimensionIndex": 0}]}})
    assert sheets.values("S!A1:B3") == [[1, 2], [2, 4], [3, 6]]


def test_rows_appended_in_between_push_references_down(sheets: Sheets) -> None:
    sheets.put("S!A1", [["a"], [None], ["b"]])
    sheets.put("S!C1", [["=A3"]], "USER_ENTERED")
    sheets.append("S!A1", [["new"]], insertDataOption="INSERT_ROWS")
    assert formulas(sheets, "S!C1") == ["=A4"]


@pytest.mark.parametrize(("request_", "expected"), MOVED)
def test_references_follow_the_cells_that_move(sheets: Sheets, request_: Any, expected: list[str]) -> None:
    entries = ["=SUM(B1:B4)+$B$3+B2", '=S!B3&"B3"', "=b:b", "=SUM(B5:B)", "=nix+B3:B4"]
    sheets.put("S!E1", [entries], "USER_ENTERED")
    sheets.put("T!A1", [["=$B$2"]], "USER_ENTERED")
    sheets.batch(request_)
    title = sheets.resource()["sheets"][0]["properties"]["title"]
    moved = [cell for cell in formulas(sheets, title if title == "S" else "'it''s'") if isinstance(cell, str) and cell]
    assert moved == expected
    assert formulas(sheets, "T!A1") == ["=$B$2"]  # of its own sheet
