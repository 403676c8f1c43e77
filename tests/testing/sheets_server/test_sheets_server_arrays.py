"""Arrays in formulas of the Google Sheets emulator: what they come to, which cells they fill, what is in the way."""

from __future__ import annotations

from typing import Any

from sheets_asking import Sheets

from sheetarray.testing.sheets_server import SheetsServer
from sheetarray.testing.sheets_server.formulas.parsing import parse

LIST = [["b", 2], ["a", 1], ["c", 3], ["a", 5]]
ARRAYS: list[tuple[str, Any]] = [
    ("={1,2;3,4}", [[1, 2], [3, 4]]),
    ('={A1:A2;"z"}', [["b"], ["a"], ["z"]]),
    ("={A1:B2,B3:B4}", [["b", 2, 3], ["a", 1, 5]]),
    ("={1,2;3}", [["#VALUE!"]]),
    ("={1,2}*2", [[2]]),
    ("=ARRAYFORMULA(B1:B4*2)", [[4], [2], [6], [10]]),
    ("=ARRAYFORMULA(B1:B2*{1,10})", [[2, 20], [1, 10]]),
    ('=ARRAYFORMULA(IF(B1:B4>2,"big",A1:A4&"x"))', [["bx"], ["ax"], ["big"], ["big"]]),
    ("=ARRAYFORMULA(1/{1;0;2})", [[1], ["#DIV/0!"], [0.5]]),
    ('=ARRAYFORMULA(IFERROR(1/{1;0},"none"))', [[1], ["none"]]),
    ("=ARRAYFORMULA(ROUND(B1:B2/3,2))", [[0.67], [0.33]]),
    ('=ARRAYFORMULA(VLOOKUP({"c";"a"},A1:B4,2,FALSE))', [[3], [1]]),
    ("=ARRAYFORMULA(ROW(A2:A3)*10+COLUMN(A1:B1))", [[21, 22], [31, 32]]),
    ("=ARRAYFORMULA(-B1:B2%)", [[-0.02], [-0.01]]),
    ("=ARRAYFORMULA(SUM(B1:B4*B1:B4))", [[39]]),
    ('=SUMPRODUCT((A1:A4="a")*B1:B4)', [[6]]),
    ("=SEQUENCE(2,3,5,2)", [[5, 7, 9], [11, 13, 15]]),
    ("=SEQUENCE(0)", [["#NUM!"]]),
    ("=TRANSPOSE(A1:B2)", [["b", "a"], [2, 1]]),
    ('=FILTER(A1:B4,B1:B4>1,A1:A4<>"c")', [["b", 2], ["a", 5]]),
    ("=FILTER(A1:A4,B1:B4>9)", [["#N/A"]]),
    ('=IFERROR(FILTER(A1:A4,B1:B4>9),"none")', [["none"]]),
    ("=IFERROR(FILTER(A1:A4,B1:B4>2),0)", [["c"], ["a"]]),
    ("=SORT(A1:B4)", [["a", 1], ["a", 5], ["b", 2], ["c", 3]]),
    ("=SORT(A1:B4,1,TRUE,2,FALSE)", [["a", 5], ["a", 1], ["b", 2], ["c", 3]]),
    ("=SORTN(A1:B4,2,0,2,FALSE)", [["a", 5], ["c", 3]]),
    ("=UNIQUE(A1:A4)", [["b"], ["a"], ["c"]]),
    ("=UNIQUE(A1:A4,FALSE,TRUE)", [["b"], ["c"]]),
    ('=SPLIT("a, b,3",", ")', [["a", "b", 3]]),
    ('=SPLIT("1--2","--",FALSE)', [[1, 2]]),
    ("=FLATTEN(A1:B2)", [["b"], [2], ["a"], [1]]),
    ("=HSTACK(B1:B2,{7;8})", [[2, 7], [1, 8]]),
    ("=VSTACK(A1:B1,{9,9,9})", [["b", 2, "#N/A"], [9, 9, 9]]),
    ("=WRAPROWS(SEQUENCE(5),2)", [[1, 2], [3, 4], [5, "#N/A"]]),
    ("=WRAPCOLS(SEQUENCE(4),2)", [[1, 3], [2, 4]]),
    ("=TOROW(A1:B2)", [["b", 2, "a", 1]]),
    ("=CHOOSECOLS(A1:B2,-1,1)", [[2, "b"], [1, "a"]]),
    ("=CHOOSEROWS(A1:B4,3)", [["c", 3]]),
    ("=TAKE(A1:B4,-1)", [["a", 5]]),
    ("=DROP(A1:B4,2,1)", [[3], [5]]),
    ("=ARRAY_CONSTRAIN(A1:B4,2,1)", [["b"], ["a"]]),
    ("=MMULT({1,2;3,4},{1;1})", [[3], [7]]),
    ("=INDEX(A1:B4,0,2)", [[2], [1], [3], [5]]),
    ("=INDEX(SORT(A1:B4),4,1)", [["c"]]),
    ('=INDIRECT("A1:B1")', [["b", 2]]),
    ("=LET(v,A1:B4,n,ROWS(v),MAKEARRAY(n,2,LAMBDA(i,j,INDEX(v,n+1-i,j))))", [["a", 5], ["c", 3], ["a", 1], ["b", 2]]),
    ("=MAP(B1:B2,LAMBDA(x,x^2))", [[4], [1]]),
    ("=BYROW(A1:B2,LAMBDA(line,COUNTA(line)))", [[2], [2]]),
    ("=BYCOL(A1:B4,LAMBDA(line,SUM(line)))", [[0, 11]]),
    ("=REDUCE(0,B1:B4,LAMBDA(a,x,a+x))", [[11]]),
    ("=SCAN(0,B1:B3,LAMBDA(a,x,a+x))", [[2], [3], [6]]),
    ("=LAMBDA(x,x+1)(4)", [[5]]),
    ("=LET(f,LAMBDA(x,x*2),f(f(3)))", [[12]]),
    ("=ARRAYFORMULA(D1:D2+1)", [["#REF!"]]),
    ("=A1:B1", [["#VALUE!"]]),
]
FUNCTIONS: list[tuple[str, Any]] = [
    ('=LOOKUP(2.5,{1,2,3},{"x","y","z"})', "y"),
    ("=XMATCH(3,B1:B4)&GT(2,1)&ISBETWEEN(1,1,2,FALSE)", "3TRUEFALSE"),
    ('=ROMAN(1994)&ARABIC("MCMXCIV")', "MCMXCIV1994"),
    ('=DEC2BIN(5,8)&DEC2HEX(-1)&HEX2DEC("FFFFFFFFFF")&BASE(255,16)&DECIMAL("zz",36)', "00000101FFFFFFFFFF-1FF1295"),
    ("=ROMAN(0)", "#VALUE!"),
    ('=BIN2DEC("12")', "#NUM!"),
    ('=ROUND(PMT(0.01,12,1000),2)&" "&ROUND(FV(0.01,12,-100),2)&" "&ROUND(PV(0,12,-100),2)', "-88.85 1268.25 1200"),
    ('=ROUND(NPV(0.1,100,100),2)&" "&ROUND(IRR({-100;110}),4)', "173.55 0.1"),
    ("=SLOPE({1;3},{1;2})&INTERCEPT({1;3},{1;2})&FORECAST(3,{1;3},{1;2})", "2-15"),
    ("=ROUND(ATAN2(1,1)*4,4)&GEOMEAN(1,4)&RANK.AVG(1,{1;1;3})", "3.141622.5"),
    ('=ENCODEURL("a b&c")&ISEMAIL("a@b.org")&ISURL("x y")', "a%20b%26cTRUEFALSE"),
    ("=AVERAGEA(A1:B1)&STDEV.S(1,3)^2&VAR.P(1,3)&UMINUS(2)", "121-2"),
]


def test_arrays_fill_the_cells_beside_and_below(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 600, 10))
    sheets.put("S!A1", LIST)
    tops = range(1, 10 * len(ARRAYS), 10)
    for top, (formula, _) in zip(tops, ARRAYS, strict=True):
        formula = formula.replace("D1:D2", f"D{top}:D{top + 1}")
        sheets.put(f"S!D{top}", [[formula]], "USER_ENTERED")
    shown = [sheets.values(f"S!D{top}:J{top + 9}") for top in tops]
    assert list(zip([formula for formula, _ in ARRAYS], shown, strict=True)) == ARRAYS


def test_more_functions_come_to_what_the_service_documents(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 50, 5))
    sheets.put("S!A1", LIST)
    sheets.put("S!D1", [[formula] for formula, _ in FUNCTIONS], "USER_ENTERED")
    shown = [line[0] for line in sheets.values("S!D1:D50")]
    assert list(zip([formula for formula, _ in FUNCTIONS], shown, strict=True)) == FUNCTIONS


def test_what_stands_in_the_way_of_an_array_is_named(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 10, 6))
    sheets.put("S!A1", [["=SEQUENCE(3,2)"], [""], ["x"]], "USER_ENTERED")
    (cell,) = _cells(sheets, "S!A1")[0]
    reason = "Array result was not expanded because it would overwrite data in A3."
    assert cell["effectiveValue"] == {"errorValue": {"type": "REF", "message": reason}}
    sheets.put("S!A3", [[""]])
    assert sheets.values("S!A1:B4") == [[1, 2], [3, 4], [5, 6]]
    sheets.put("S!B1", [["=SEQUENCE(2)"]], "USER_ENTERED")  # two arrays: neither may cover the formula of the other
    assert sheets.values("S!A1:B4") == [["#REF!", 1], ["", 2]]
    sheets.put("S!D9:E9", [["=SEQUENCE(4)", "=SEQUENCE(1,9)"]], "USER_ENTERED")
    reasons = [cell["effectiveValue"]["errorValue"]["message"] for cell in _cells(sheets, "S!D9:E9")[0]]
    assert reasons == [
        "Result was not automatically expanded, please insert more rows (2).",
        "Result was not automatically expanded, please insert more columns (7).",
    ]


def _cells(sheets: Sheets, text: str) -> list[list[Any]]:
    fields = "sheets.data.rowData.values(userEnteredValue,effectiveValue,formattedValue)"
    (sheet,) = sheets.resource(ranges=text, fields=fields)["sheets"]
    return [line.get("values", []) for line in sheet["data"][0]["rowData"]]


def test_a_filled_cell_holds_nothing_and_follows_its_formula(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 20, 6))
    sheets.put("S!A1", [["=ARRAYFORMULA(C1:C3*2)", "=SUM(A1:A9)", 1], ["", "", 2], ["", "", 3]], "USER_ENTERED")
    first, second, _ = _cells(sheets, "S!A1:A3")
    assert first[0]["userEnteredValue"] == {"formulaValue": "=ARRAYFORMULA(C1:C3*2)"}
    assert second == [{"effectiveValue": {"numberValue": 4}, "formattedValue": "4"}]
    sheets.batch({"insertDimension": {"range": {"dimension": "ROWS", "startIndex": 0, "endIndex": 2}}})
    sheets.put("S!C4", [[7]])
    assert sheets.values("S!A3:B5") == [[2, 22], [14], [6]]
    assert sheets.append("S!A3", [["below"]])["updates"]["updatedRange"] == "S!A6"  # filled cells belong to the table
    copy = {"source": {"startRowIndex": 2, "endRowIndex": 5, "endColumnIndex": 1}, "pasteType": "PASTE_VALUES"}
    sheets.batch(
        {"copyPaste": {**copy, "destination": {"startRowIndex": 2, "startColumnIndex": 4, "endColumnIndex": 5}}}
    )
    assert sheets.values("S!E3:E5", valueRenderOption="FORMULA") == [[2], [14], [6]]


def test_arrays_that_feed_arrays_are_worked_out_in_any_order(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 20, 8))
    sheets.put(
        "S!A1", [["=SORT(B1:B9,1,FALSE)", "=FILTER(C1:C9,C1:C9>1)", "=SEQUENCE(4)", "=RANDARRAY(2)"]], "USER_ENTERED"
    )
    sheets.put("S!E1", [["=ARRAYFORMULA(D1:D2*0)"]], "USER_ENTERED")
    rows = sheets.values("S!A1:E4")
    assert [row[:3] for row in rows] == [[4, 2, 1], [3, 3, 2], [2, 4, 3], ["", "", 4]]
    assert [row[4] for row in rows[:2]] == [0, 0]
    assert sheets.values("S!D1:D2") == [row[3:4] for row in rows[:2]]  # drawn anew only when something is written


def test_formulas_that_differ_in_references_only_are_read_once() -> None:
    node, references = parse('=IF(A2>$B$1,"A1",SUM(C1:C2))')
    other, others = parse('=IF(B7>$B$1,"A1",SUM(C9:D12))')
    assert node is other
    assert (references, others) == (["A2", "$B$1", "C1:C2"], ["B7", "$B$1", "C9:D12"])
    assert parse("=LOG10 (5)+A1")[0] is not parse("=LOG10 (6)+A1")[0]
    assert parse("='my A1'!B2+S!B2+A_1")[1] == []
    assert parse("=LET(x1,5,x1)")[1] == []
