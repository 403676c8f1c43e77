"""The Google Sheets emulator's functions of dates, statistics, expressions and references, and how formulas look."""

from __future__ import annotations

from datetime import date
from typing import Any

from sheets_asking import Sheets

from sheetarray.testing.sheets_server import SheetsServer
from sheetarray.testing.sheets_server.moments import serial

FUNCTIONS: list[tuple[str, Any]] = [
    ("=EDATE(DATE(2024,1,31),1)", 45351),
    ("=EOMONTH(DATE(2024,1,31),-2)", 45260),
    ('=DATEVALUE("Jan 5, 2024")', 45296),
    ('=DATEVALUE("x")', "#VALUE!"),
    ('=TIMEVALUE("2024-01-05 18:00")', 0.75),
    ("=DAYS(DATE(2024,3,1),DATE(2024,2,1))", 29),
    ('=DATEDIF(DATE(2020,2,29),DATE(2024,2,28),"Y")', 3),
    ('=DATEDIF(DATE(2020,1,31),DATE(2020,3,1),"MD")', 1),
    ('=DATEDIF(2,1,"D")', "#NUM!"),
    ('=DATEDIF(1,2,"X")', "#NUM!"),
    ("=WEEKDAY(DATE(2024,1,7),2)", 7),
    ("=WEEKDAY(DATE(2024,1,7),3)", 6),
    ("=WEEKNUM(DATE(2024,1,7))", 2),
    ("=WEEKNUM(DATE(2024,1,7),2)", 1),
    ("=ISOWEEKNUM(DATE(2024,12,30))", 1),
    ("=NETWORKDAYS(DATE(2024,1,1),DATE(2024,1,31),A7:A8)", 21),
    ("=NETWORKDAYS(DATE(2024,1,7),DATE(2024,1,1))", -5),
    ("=WORKDAY(DATE(2024,1,5),1,A7:A8)", 45300),
    ("=WORKDAY(DATE(2024,1,8),-1)", 45296),
    ("=LARGE(A1:A4,2)", 3),
    ("=SMALL(A1:A4,2)", 2),
    ("=SMALL(A1:A4,5)", "#NUM!"),
    ("=RANK(3,A1:A4)", 2),
    ("=RANK(3,A1:A4,TRUE)", 3),
    ("=RANK(9,A1:A4)", "#N/A"),
    ("=PERCENTILE(A1:A4,0.25)", 1.75),
    ("=QUARTILE(A1:A4,4)", 4),
    ("=QUARTILE(A1:A4,5)", "#NUM!"),
    ("=MODE(A1:A4,2)", 2),
    ("=MODE(A1:A4)", "#N/A"),
    ("=COUNTUNIQUE(A1:B4)", 6),
    ("=STDEVP(A1:A4)^2-VARP(A1:A4)<1e-12", True),
    ("=VARP(A1:A4)", 1.25),
    ("=CORREL(A1:A4,A1:A4)", 1),
    ("=CORREL(A1:A4,A1:A3)", "#N/A"),
    ("=SUMSQ(A1:A4)", 30),
    ("=GCD(12,18,-30)", 6),
    ("=LCM(4,6)", 12),
    ("=FACT(5)", 120),
    ("=FACT(171)", "#NUM!"),
    ("=COMBIN(5,2)", 10),
    ("=COMBIN(2,5)", "#NUM!"),
    ("=MROUND(7.5,5)", 10),
    ("=EVEN(-1.5)", -2),
    ("=ODD(2)", 3),
    ("=ISODD(3)", True),
    ("=AND(RAND()>=0,RAND()<1)", True),
    ("=RANDBETWEEN(4,4)", 4),
    ("=RANDBETWEEN(5,4)", "#NUM!"),
    ("=POW(2,10)", 1024),
    ('=MAXIFS(A1:A4,B1:B4,"a")', 3),
    ('=MINIFS(A1:A4,B1:B4,"b")', 2),
    ('=REGEXMATCH("abc","b.$")', True),
    ('=REGEXEXTRACT("ab12","[0-9]+")', "12"),
    ('=REGEXEXTRACT("k=v","=(.*)")', "v"),
    ('=REGEXEXTRACT("ab","[0-9]")', "#N/A"),
    ('=REGEXREPLACE("2024-05","(\\d+)-(\\d+)","$2/$1")', "05/2024"),
    ('=REGEXMATCH("a","(")', "#REF!"),
    ('=REGEXMATCH("a","(a+)+$")', "#ERROR!"),
    ('=UNICHAR(65)&UNICODE("A")', "A65"),
    ("=DOLLAR(-1234.5)", "-$1,234.50"),
    ("=FIXED(1234.567,1)", "1,234.6"),
    ("=ADDRESS(2,28)", "$AB$2"),
    ("=ADDRESS(2,3,4)", "C2"),
    ('=ADDRESS(2,3,1,FALSE,"my data")', "'my data'!R2C3"),
    ("=ADDRESS(0,1)", "#VALUE!"),
    ('=INDIRECT("A"&2)', 2),
    ('=SUM(INDIRECT("A1:A4"))', 10),
    ('=INDIRECT("no such")', "#REF!"),
    ("=OFFSET(A1,3,0)", 4),
    ("=SUM(OFFSET(A1,1,0,3,1))", 9),
    ("=OFFSET(A1,-1,0)", "#REF!"),
    ("=OFFSET(A1,0,0,0)", "#REF!"),
    ("=ISFORMULA(A1)", False),
    ("=FORMULATEXT(C1)", "=EDATE(DATE(2024,1,31),1)"),
    ("=FORMULATEXT(A1)", "#N/A"),
    ("=ISREF(A1)", True),
    ("=ISREF(1)", False),
    ("=SUBTOTAL(9,A1:A4)", 10),
    ("=SUBTOTAL(101,A1:A4)", 2.5),
    ("=SUBTOTAL(12,A1:A4)", "#VALUE!"),
    ("=ERROR.TYPE(1/0)", 2),
    ("=ERROR.TYPE(NA())", 7),
    ("=ERROR.TYPE(1)", "#N/A"),
    ("=TYPE(A1)&TYPE(B1)&TYPE(TRUE)&TYPE(1/0)", "12416"),
    ('=IMAGE("https://example.org/a.png")', ""),
    ("=TODAY()", serial(date.today())),
    ("=INT(NOW())-TODAY()", 0),
]


def test_functions_come_to_what_the_service_documents(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 100, 5))
    sheets.put("S!A1", [[1, "a"], [2, "b"], [3, "a"], [4, ""]])
    sheets.put("S!A7", [["2024-01-01"], ["2024-01-08"]], "USER_ENTERED")
    sheets.put("S!C1", [[formula] for formula, _ in FUNCTIONS], "USER_ENTERED")
    shown = [line[0] if line else "" for line in sheets.values(f"S!C1:C{len(FUNCTIONS)}")]
    shown += [""] * (len(FUNCTIONS) - len(shown))
    assert list(zip([name for name, _ in FUNCTIONS], shown, strict=True)) == FUNCTIONS


def test_a_formula_looks_like_what_it_is_about(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 20, 5), ("T", 20, 5))
    sheets.put("S!A1", [["5%"], ["$3.00"], ["2024-01-05"], ["2024-01-07"], [1]], "USER_ENTERED")
    formulas = {
        "=A1*2": "10%",
        "=SUM(A2:A2)": "$3.00",
        "=S!A3+1": "2024-01-06",
        "=A4-A3": "2",
        "=B3": "2024-01-06",
        "=YEAR(A3)": "2024",
        "=DATE(2024,1,5)": "1/5/2024",
        "=DATE(2024,1,5)-A3": "0",
        "=TIME(18,5,0)": "6:05:00 PM",
        "=A5/4": "0.25",
        "=COUNT(A1:A5)": "5",
        "=U!A1": "#REF!",
    }
    sheets.put("S!B1", [[formula] for formula in formulas], "USER_ENTERED")
    assert [line[0] for line in sheets.get("S!B1:B20")["values"]] == list(formulas.values())
    (cell,) = sheets.resource(ranges="S!B1", fields="sheets.data.rowData.values")["sheets"][0]["data"][0]["rowData"]
    (data,) = cell["values"]
    assert data["effectiveFormat"]["numberFormat"] == {"type": "PERCENT", "pattern": "0%"}
    assert "userEnteredFormat" not in data
