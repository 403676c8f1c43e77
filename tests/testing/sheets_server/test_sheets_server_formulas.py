"""The Google Sheets emulator's formulas: functions, errors, and references that follow cells that move."""

from __future__ import annotations

from typing import Any

import pytest
from sheets_asking import Sheets

from sheetarray.testing.sheets_server import SheetsServer

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
    ('=MATCH("f*",A1:A5,0)', 3),
    ('=MATCH("a~*",A1:A5,0)', 4),
    ('=MATCH("plum",A1:A5,0)', "#N/A"),
    ("=MATCH(6,B1:B3)", 2),
    ("=MATCH(2,B1:B3)", "#N/A"),
    ("=MATCH(3,'my data'!A1:C1,0)", 3),
    ("=MATCH(1,A1:B2,0)", "#N/A"),
    ("=INDEX(A1:C5,2,3)", "green"),
    ("=INDEX(B1:B5,3)", 8),
    ("=INDEX('my data'!A1:C1,2)", 2),
    ("=INDEX(B1:B5,6)", "#NUM!"),
    ("=SUM(INDEX('my data'!A1:C2,2,0))", 15),
    ("=SUM(INDEX('my data'!A1:C2,0,2))", 7),
    ("=INDEX(prices,MATCH(8,prices,0)-1)", 5),
    ('=VLOOKUP("fig",A1:C5,2,FALSE)', 8),
    ('=VLOOKUP("fig",A1:C5,4,FALSE)', "#REF!"),
    ('=VLOOKUP("fig",A1:C5,0,FALSE)', "#VALUE!"),
    ('=VLOOKUP("no",A1:C5,2,FALSE)', "#N/A"),
    ("=VLOOKUP(7,B1:C3,2)", "green"),
    ("=HLOOKUP(2,'my data'!A1:C2,2,FALSE)", 5),
    ('=XLOOKUP("fig",A1:A5,B1:B5)', 8),
    ('=XLOOKUP("no",A1:A5,B1:B5,"none")', "none"),
    ("=ROWS(A1:C5)*10+COLUMNS(A1:C5)", 53),
    ("=ROW()*100+COLUMN()+ROW(A7)/1000", 1009.007),
    # decisions
    ("=IF(1>2,1/0,7)", 7),
    ("=IF(B1=3,,1)", 0),
    ("=IF(FALSE,1)", False),
    ('=IF("x",1,2)', "#VALUE!"),
    ("=IFERROR(1/0,9)", 9),
    ("=IFERROR(C5)", ""),
    ("=IFNA(1/0,9)", "#DIV/0!"),
    ('=IFNA(MATCH("no",A:A,0),9)', 9),
    ("=IFS(FALSE,1,TRUE,2)", 2),
    ("=IFS(FALSE,1)", "#N/A"),
    ("=SWITCH(2,1,10,2,20,30)", 20),
    ("=CHOOSE(3,1,2)", "#NUM!"),
    ("=AND(TRUE,B1>2)", True),
    ("=OR(FALSE,0)", False),
    ("=NOT(XOR(TRUE,TRUE))", True),
    ("=ISERROR(C5)&ISNA(C5)&ISBLANK(A5)&ISNUMBER(B1)&ISTEXT(B1)", "TRUEFALSETRUETRUEFALSE"),
    # comparisons
    ('="a"="A"', True),
    ('="a">1E300', True),
    ("=TRUE>A1", True),
    ('=A5=""', True),
    ("=A5=0", True),
    # sums by criteria
    ('=SUMIF(A1:A5,"fig",B1:B5)', 8),
    ('=SUMIF(B1:B4,">3")', 13),
    ('=SUMIF(A1:A4,"*p*",B1:B4)', 8),
    ('=SUMIFS(B1:B4,B1:B4,">0",C1:C4,"<>red")', 13),
    ('=COUNTIF(B1:B4,"<=3")', 2),
    ('=COUNTIF(A1:A9,"<>fig")', 8),
    ('=AVERAGEIF(B1:B4,">3")', 6.5),
    ('=AVERAGEIF(B1:B4,">300")', "#DIV/0!"),
    ('=COUNT(B1:B5,1,"x")&COUNTA(A1:A5)&COUNTBLANK(A1:A5)', "541"),
    ("=SUMPRODUCT('my data'!A1:B2,'my data'!B1:C2)", 58),
    ("=SUM(B1:C5)", "#DIV/0!"),
    ("=MEDIAN(B1:B4)+PRODUCT(2,3)", 10),
    # numbers
    ("=MOD(-7,3)", 2),
    ("=MOD(7,0)", "#DIV/0!"),
    ("=INT(-1.5)&QUOTIENT(-7,2)&TRUNC(-1.59,1)", "-2-3-1.5"),
    ("=ROUND(2.675,2)&ROUND(-0.5)&ROUND(1234,-2)&ROUNDUP(1.01)&ROUNDDOWN(1.99)", "2.68-1120021"),
    ("=ROUND(1E300,2)", 1e300),
    ("=CEILING(7,5)+FLOOR(7,5)", 15),
    ("=0^-1", "#DIV/0!"),
    ("=LN(0)", "#NUM!"),
    ("=LOG(8,2)+LOG10(100)+EXP(0)+SIGN(-3)", 5),
    # text
    ('=CONCATENATE("a",1,TRUE,A1:A2)', "a1TRUEapplePear"),
    ('=JOIN("-",A1:A3)&TEXTJOIN(",",TRUE,"",1,2)', "apple-Pear-fig1,2"),
    ('=LEFT("abc",2)&RIGHT("abc")&RIGHT("abc",0)&MID("abcdef",3,2)&LEN("añ")', "abccd2"),
    ('=UPPER("a")&LOWER("B")&PROPER("ab cD")&TRIM("  a  b ")', "AbAb Cda b"),
    ('=FIND("c","abcabc",4)&SEARCH("B?","abc")', "62"),
    ('=FIND("z","abc")', "#VALUE!"),
    ('=SUBSTITUTE("aXbXc","X","-")&SUBSTITUTE("aXbXc","X","-",2)&REPLACE("abcd",2,2,"_")', "a-b-caXb-ca_d"),
    ('=EXACT("a","A")&VALUE("1,234.5")&T(5)&N("x")&REPT("ab",2)&CODE(CHAR(65))', "FALSE1234.50abab65"),
    ('=REPT("ab",1E9)', "#VALUE!"),
    ('=HYPERLINK("http://x","shown")', "shown"),
    ('=TEXT(1234.567,"#,##0.00")', "1,234.57"),
    ('=TEXT(0.1234,"0.0%")&TEXT(7,"000")&TEXT(-3,"0;(0);zero")&TEXT(0,"0;(0);zero")', "12.3%007(3)zero"),
    ('=TEXT(12345,"0.00E+00")&TEXT(1.5,"0.##")&TEXT(1,"0.##")&TEXT(5,"""n=""0")', "1.23E+041.51n=5"),
    ('=TEXT(DATE(2024,2,30),"yyyy-mm-dd ddd")', "2024-03-01 Fri"),
    ('=TEXT("abc","0")&TEXT(0.75,"hh:mm")', "abc18:00"),
    ("=YEAR(DATE(2020,14,1))*100+MONTH(DATE(2020,14,1))", 202102),
    ('="2020-01-02"-DATE(2020,1,1)', 1),
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
        "=SQRT(-1)": "NUM",
        "=U!A1": "REF",
        '="a"+1': "VALUE",
    }
    for formula, kind in kinds.items():
        table.put("S!I12", [[formula]], "USER_ENTERED")
        shown = table.resource(ranges="S!I12", fields="sheets.data.rowData.values.effectiveValue")
        assert shown["sheets"][0]["data"][0]["rowData"][0]["values"][0]["effectiveValue"]["errorValue"]["type"] == kind


def test_the_fill_formula_of_a_view_works_on_many_cells(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 2100, 40))
    column = ["shape", 2, 30, 30, "strides", 900, 30, 1, "offset", 0, "data", *(value / 2 for value in range(1800))]
    sheets.put("S!A1", [[cell] for cell in column])
    sheets.put("S!B1", [[1]])
    formula = (
        '=INDEX($A$1:$A$2000,MATCH("data",$A$1:$A$2000,0)+1+INDEX($A$1:$A$2000,MATCH("offset",$A$1:$A$2000,0)+1)'
        '+$B$1*INDEX($A$1:$A$2000,MATCH("strides",$A$1:$A$2000,0)+1)'
        '+(ROWS(D$1:D1)-1)*INDEX($A$1:$A$2000,MATCH("strides",$A$1:$A$2000,0)+2)'
        '+(COLUMNS($D1:D1)-1)*INDEX($A$1:$A$2000,MATCH("strides",$A$1:$A$2000,0)+3))'
    )
    span = {"startRowIndex": 0, "endRowIndex": 30, "startColumnIndex": 3, "endColumnIndex": 33}
    cell = {"userEnteredValue": {"formulaValue": formula}}
    sheets.batch({"repeatCell": {"range": span, "cell": cell, "fields": "userEnteredValue"}})
    assert sheets.values("S!D1:AG30") == [[(900 + 30 * row + at) / 2 for at in range(30)] for row in range(30)]


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
        {"moveDimension": {"source": on("ROWS", 2, 3), "destinationIndex": 0}},
        ["=SUM(B2:B4)+$B$1+B3", '=S!B1&"B3"', "=b:b", "=SUM(B5:B)", "=nix+B4:B4"],
    ),
    (
        {"insertRange": {"range": area(0, 1, 1, 2), "shiftDimension": "ROWS"}},
        ["=SUM(B2:B5)+$B$4+B3", '=S!B4&"B3"', "=b:b", "=SUM(B6:B)", "=nix+B4:B5"],
    ),
    (
        {"deleteRange": {"range": area(1, 2, 1, 2), "shiftDimension": "ROWS"}},
        ["=SUM(B1:B3)+$B$2+#REF!", '=S!B2&"B3"', "=b:b", "=SUM(B4:B)", "=nix+B2:B3"],
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


def test_what_names_cells_follows_them(sheets: Sheets) -> None:
    rule = {"condition": {"type": "ONE_OF_RANGE", "values": [{"userEnteredValue": "=S!$B$3:$B$4"}]}, "strict": True}
    bold = {"condition": {"type": "CUSTOM_FORMULA", "values": [{"userEnteredValue": "=$B3>1"}]}, "format": {}}
    sheets.batch(
        {"addNamedRange": {"namedRange": {"name": "spot", "range": area(2, 4, 1, 2)}}},
        {"setDataValidation": {"range": area(2, 3, 3, 4), "rule": rule}},
        {"addConditionalFormatRule": {"rule": {"ranges": [area(2, 9, 0, 1)], "booleanRule": bold}, "index": 0}},
        {"insertDimension": {"range": on("ROWS", 0, 2)}},
    )
    state = sheets.resource(includeGridData="true")
    assert state["namedRanges"][0]["range"]["startRowIndex"] == 4
    sheet = state["sheets"][0]
    (conditional,) = sheet["conditionalFormats"]
    assert conditional["ranges"][0]["startRowIndex"] == 4
    assert conditional["booleanRule"]["condition"]["values"] == [{"userEnteredValue": "=$B5>1"}]
    cell = sheet["data"][0]["rowData"][4]["values"][3]
    assert cell["dataValidation"]["condition"]["values"] == [{"userEnteredValue": "=S!$B$5:$B$6"}]
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
    source, target = area(1, 2, 1, 3), area(5, 6, 0, 1)
    sheets.batch({"copyPaste": {"source": source, "destination": target, "pasteOrientation": "TRANSPOSE"}})
    assert formulas(sheets, "S!A6:A7") == ["=#REF!+$A5+#REF!+$A$1", "=SUM(#REF!)"]


def test_sorted_formulas_stay_with_their_rows(sheets: Sheets) -> None:
    sheets.put("S!A1", [[3, "=A1*2"], [1, "=A2*2"], [2, "=A3*2"]], "USER_ENTERED")
    sheets.batch({"sortRange": {"range": area(0, 3, 0, 2), "sortSpecs": [{"dimensionIndex": 0}]}})
    assert sheets.values("S!A1:B3") == [[1, 2], [2, 4], [3, 6]]


def test_cut_cells_take_their_references_to_another_sheet(sheets: Sheets) -> None:
    other = sheets.resource()["sheets"][1]["properties"]["sheetId"]
    sheets.put("S!A1", [[5, "=A1+C1", 2, "=A1+C1"]], "USER_ENTERED")
    position = {"sheetId": other, "rowIndex": 1, "columnIndex": 0}
    sheets.batch({"cutPaste": {"source": area(0, 1, 0, 2), "destination": position}})
    assert formulas(sheets, "S!A1:D1") == [2, "=T!A2+C1"]
    assert formulas(sheets, "T!B2") == ["=T!A2+S!C1"]
    assert sheets.values("T!B2") == [[7]]


def test_rows_appended_in_between_push_references_down(sheets: Sheets) -> None:
    sheets.put("S!A1", [["a"], [None], ["b"]])
    sheets.put("S!C1", [["=A3"]], "USER_ENTERED")
    sheets.append("S!A1", [["new"]], insertDataOption="INSERT_ROWS")
    assert formulas(sheets, "S!C1") == ["=A4"]
