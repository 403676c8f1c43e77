"""The Google Sheets emulator's typed values: numbers, dates, formulas, and how they look."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from sheets_asking import Sheets

from sheetarray.testing.sheets_server import SheetsServer
from sheetarray.testing.sheets_server.formats import format_number, format_plain
from sheetarray.testing.sheets_server.moments import serial


@pytest.fixture
def sheets(server: SheetsServer) -> Sheets:
    return Sheets(server)


@pytest.mark.parametrize(
    ("typed", "value", "look"),
    [
        ("007", 7, "7"),
        ("0042", 42, "42"),
        ("'0123", "0123", "0123"),
        ("'=1+1", "=1+1", "=1+1"),
        ("'", None, None),
        ("", None, None),
        ("text", "text", "text"),
        ("3_1_0", "3_1_0", "3_1_0"),
        ("1,2", "1,2", "1,2"),
        ("1e", "1e", "1e"),
        (".", ".", "."),
        ("=", "=", "="),
        ("true", True, "TRUE"),
        ("False", False, "FALSE"),
        ("+5", 5, "5"),
        ("-.5", -0.5, "-0.5"),
        ("-0", 0, "0"),
        (" 12 ", 12, "12"),
        ("2,000,000.01", 2000000.01, "2,000,000.01"),
        ("2,000", 2000, "2,000"),
        ("50%", 0.5, "50%"),
        ("12.5%", 0.125, "12.50%"),
        ("$5", 5, "$5"),
        ("-$1,234.50", -1234.5, "-$1,234.50"),
        ("1e5", 100000, "1.00E+05"),
        ("1.5E-3", 0.0015, "1.50E-03"),
        ("1e999", "1e999", "1e999"),
        ("2020-01-01", 43831, "2020-01-01"),
        ("2020/2/29", 43890, "2020/2/29"),
        ("2020-02-30", "2020-02-30", "2020-02-30"),
        ("1/2/2024", 45293, "1/2/2024"),
        ("12/31/99", 36525, "12/31/99"),
        ("6:30", 390 / 1440, "6:30"),
        ("18:05:07", (18 * 3600 + 5 * 60 + 7) / 86400, "18:05:07"),
        ("6:05 PM", (18 * 60 + 5) / 1440, "6:05 PM"),
        ("25:00", 25 / 24, "25:00"),
        ("24:00", 1, "24:00"),
        ("23:59", 1439 / 1440, "23:59"),
        ("100:15:30", 4 + 15330 / 86400, "100:15:30"),
        ("12:60", "12:60", "12:60"),
        ("12:30:15.25", (12 * 3600 + 30 * 60 + 15.25) / 86400, "12:30:15.25"),
        ("1 pm", 13 / 24, "1 PM"),
        ("13:00 am", "13:00 am", "13:00 am"),
        ("5-Jan-2024", 45296, "5-Jan-2024"),
        ("05 jan 24", 45296, "05 Jan 24"),
        ("Jan 5, 2024", 45296, "Jan 5, 2024"),
        ("january 05 2024", 45296, "January 05 2024"),
        ("Jan 2024", 45292, "Jan 2024"),
        ("Janus 5, 2024", "Janus 5, 2024", "Janus 5, 2024"),
        ("Feb 30, 2024", "Feb 30, 2024", "Feb 30, 2024"),
        ("2024-01-05 12:30", 45296 + 750 / 1440, "2024-01-05 12:30"),
        ("1/5/2024 1:30:15 PM", 45296 + 48615 / 86400, "1/5/2024 1:30:15 PM"),
        ("Jan 5, 2024 9 am", 45296.375, "Jan 5, 2024 9 AM"),
        ("2024-01-05 24:00", "2024-01-05 24:00", "2024-01-05 24:00"),
        ("2024-01-05T12:30", "2024-01-05T12:30", "2024-01-05T12:30"),
        ("€5", 5, "€5"),
        ("-£1,234.50", -1234.5, "-£1,234.50"),
    ],
)
def test_typed_text_becomes_what_it_looks_like(sheets: Sheets, typed: str, value: Any, look: Any) -> None:
    sheets.put("S!A1", [[typed]], "USER_ENTERED")
    assert sheets.values("S!A1") == (None if value is None else [[value]])
    assert sheets.get("S!A1").get("values") == (None if look is None else [[look]])


def test_month_and_day_are_of_this_year(sheets: Sheets) -> None:
    sheets.put("S!A1", [["1-2"]], "USER_ENTERED")
    assert sheets.values("S!A1") == [[serial(date(date.today().year, 1, 2))]]
    assert sheets.get("S!A1")["values"] == [["1-2"]]


def test_values_that_are_no_text_are_typed_as_they_are(sheets: Sheets) -> None:
    sheets.put("S!A1", [["x", "y", "z"]])
    sheets.put("S!A1", [[1.5, True, None]], "USER_ENTERED")
    assert sheets.values("S") == [[1.5, True, "z"]]


def test_dates_are_numbers_or_text_as_is_asked(sheets: Sheets) -> None:
    sheets.put("S!A1", [["2020-01-01", "5"]], "USER_ENTERED")
    assert sheets.values("S", dateTimeRenderOption="SERIAL_NUMBER") == [[43831, 5]]
    assert sheets.values("S", dateTimeRenderOption="FORMATTED_STRING") == [["2020-01-01", 5]]


@pytest.mark.parametrize(
    ("number", "look"),
    [(0.1 + 0.2, "0.3"), (1e10, "10000000000"), (1e-7, "1E-07"), (-1.5, "-1.5")],
)
def test_a_number_without_a_format_has_ten_digits(number: float, look: str) -> None:
    assert format_plain(number) == look


def test_formats_say_how_a_number_looks() -> None:
    moment = 43831.75
    assert format_number(moment, {"type": "DATE_TIME", "pattern": "yyyy-mm-dd hh:mm:ss"}) == "2020-01-01 18:00:00"
    assert format_number(moment, {"type": "DATE", "pattern": "d mmmm yy"}) == "1 January 20"
    assert format_number(moment, {"type": "DATE", "pattern": "mmm d"}) == "Jan 1"
    assert format_number(1e300, {"type": "DATE", "pattern": "yyyy"}) == format_plain(1e300)
    assert format_number(1234.5, {"type": "NUMBER", "pattern": "[red]0"}) == "1235"
    assert format_number(1234.5, {"type": "NUMBER", "pattern": "0x0.0"}) == "1234.5"
    assert format_number(1234.5, {"type": "TEXT", "pattern": "@"}) == "1234.5"


_AFTERNOON = 42465 + (16 * 3600 + 8 * 60 + 53.528) / 86400  # April 5, 2016
_DURATION = (3 * 3600 + 13 * 60 + 41.255) / 86400


@pytest.mark.parametrize(
    ("number", "kind", "pattern", "look"),
    [
        (_AFTERNOON, "TIME", "h:mm:ss.00 a/p", "4:08:53.53 p"),
        (_AFTERNOON, "TIME", 'hh:mm A/P".M."', "04:08 P.M."),
        (_AFTERNOON, "DATE", "mmmm d \\[dddd\\]", "April 5 [Tuesday]"),
        (_AFTERNOON, "DATE_TIME", "h PM, ddd mmm dd", "4 PM, Tue Apr 05"),
        (_AFTERNOON, "DATE_TIME", "dddd, m/d/yy at h:mm", "Tuesday, 4/5/16 at 16:08"),
        (_AFTERNOON, "DATE", "mmmmm", "A"),
        (_AFTERNOON, "TIME", "mm:ss", "08:54"),
        (_DURATION, "TIME", "[hh]:[mm]:[ss].000", "03:13:41.255"),
        (_DURATION, "TIME", "[mmmm]:[ss].000", "0193:41.255"),
        (-1.5, "TIME", "[h]:mm", "-36:00"),
        (12345.125, "NUMBER", "####.#", "12345.1"),
        (12.34, "NUMBER", "000.0000", "012.3400"),
        (12, "NUMBER", "#.0#", "12.0"),
        (5.125, "NUMBER", "# ???/???", "5   1/8  "),
        (2.0, "NUMBER", "# ?/?", "2    "),
        (2.5, "NUMBER", "0/2", "5/2"),
        (12000, "NUMBER", "#,###", "12,000"),
        (1230000, "NUMBER", '0.0,,"M"', "1.2M"),
        (1234500000, "NUMBER", "0.00e+00", "1.23e+09"),
        (12345, "NUMBER", "##0.0E+0", "12.3E+3"),
        (99.99, "SCIENTIFIC", "0.0E+00", "1.0E+02"),
        (5.5, "NUMBER", "??0.0??", "  5.5  "),
        (5551234567, "NUMBER", "(000) 000-0000", "(555) 123-4567"),
        (9, "NUMBER", "[<10]low;[>100]high;0", "low"),
        (10, "NUMBER", '[<10]"low";[>100]"high";0', "10"),
        (101, "NUMBER", '[<10]"low";[>100]"high";0', "high"),
        (5, "CURRENCY", "[$€-407]#,##0.00", "€5.00"),
        (5, "NUMBER", '0" ; "0', "0 ; 5"),
        (1234.567, "NUMBER", "", "1,234.57"),
        (0.256, "PERCENT", "", "25.60%"),
        (1234.5, "CURRENCY", "", "$1,234.50"),
        (_AFTERNOON, "DATE", "", "4/5/2016"),
        (0.75, "TIME", "", "6:00:00 PM"),
        (42465.5, "DATE_TIME", "", "4/5/2016 12:00:00"),
        (12345, "SCIENTIFIC", "", "1.23E+04"),
    ],
)
def test_patterns_are_those_of_the_guide(number: float, kind: str, pattern: str, look: str) -> None:
    assert format_number(number, {"type": kind, "pattern": pattern}) == look


def test_text_is_written_by_the_part_of_a_pattern_that_is_for_text(sheets: Sheets) -> None:
    look = {"numberFormat": {"type": "NUMBER", "pattern": '0;-0;0;"<"@">"'}}
    cell = {"userEnteredValue": {"stringValue": "x"}, "userEnteredFormat": look}
    sheets.batch({"appendCells": {"rows": [{"values": [cell]}], "fields": "*"}})
    assert sheets.get("S!A1")["values"] == [["<x>"]]
    assert sheets.values("S!A1") == [["x"]]


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("=1+1", 2),
        ("= 1 / 1024", 0.0009765625),
        ("=2*(3+4)-10/4", 11.5),
        ("=-2^2", 4),
        ("=50%*8", 4),
        ('="a"&1&TRUE&""""', 'a1TRUE"'),
        ("=1<2", True),
        ("=(1=1)=(2<>2)", False),
        ("=A1", 10),
        ("=A1+A2", 30),
        ("=SUM(A1:A3)", 30),
        ("=SUM(A:A)", 30),
        ("=sum(A1:A2, 5)", 35),
        ("=AVERAGE(numbers)", 15),
        ("=MAX(numbers)-MIN(T!B2:B3)", 19),
        ("=COUNT(A1:A4)", 2),
        ("=COUNTA(A1:A4)", 3),
        ("=ABS(-3)+SQRT(16)+PI()*0", 7),
        ("='T'!B2", 1),
        ("=A4", 0),
        ("=B9", 0),
        ("=A3+1", "#VALUE!"),
        ("=1/0", "#DIV/0!"),
        ("=1/A4", "#DIV/0!"),
        ("=AVERAGE(A3:A4)", "#DIV/0!"),
        ("=SQRT(-1)", "#NUM!"),
        ("=10^999", "#NUM!"),
        ("=1e308*10", "#NUM!"),
        ('="nan"+1', "#VALUE!"),
        ('="1.5"+1', 2.5),
        ('="abc"', "abc"),
        ("=(-1)^0.5", "#NUM!"),
        ("=FOOBAR(1,A:B,2)", "#NAME?"),
        ("=nothing", "#NAME?"),
        ("=U!A1", "#REF!"),
        ("=ZZ1", "#REF!"),
        ("=A1:A2", 10),
        ("=A1:A2+1", 11),
        ("=A2:A3+1", "#VALUE!"),
        ("=PI(1)", "#N/A"),
        ("=1+", "#ERROR!"),
        ("=(1", "#ERROR!"),
        ("=1 1", "#ERROR!"),
        ('="', "#ERROR!"),
        ("=" + "(" * 5000 + "1" + ")" * 5000, "#ERROR!"),
        ("=SUM(C1)", "#REF!"),
        ("=D2", "#DIV/0!"),
    ],
)
def test_a_formula_has_a_value(server: SheetsServer, formula: str, value: Any) -> None:
    sheets = Sheets(server, ("S", 9, 5), ("T", 3, 3))
    span = {"startRowIndex": 0, "endRowIndex": 2, "startColumnIndex": 0, "endColumnIndex": 1}
    sheets.batch({"addNamedRange": {"namedRange": {"name": "numbers", "range": span}}})
    sheets.put("S!A1", [[10], [20], ["text"]])
    sheets.put("T!B2", [[1], [2]])
    sheets.put("S!D2", [["=1/0"]], "USER_ENTERED")
    sheets.put("S!C1", [[formula]], "USER_ENTERED")
    assert sheets.values("S!C1") == [[value]]
    assert sheets.values("S!C1", valueRenderOption="FORMULA") == [[formula]]


def test_a_formula_follows_what_it_refers_to(sheets: Sheets) -> None:
    sheets.put("S!A1", [["=SUM(B1:B3)", 1], [None, 2]], "USER_ENTERED")
    assert sheets.values("S!A1") == [[3]]
    sheets.put("S!B3", [[4]])
    assert sheets.values("S!A1") == [[7]]
    assert sheets.cells() == [[7, 1], [None, 2], [None, 4]]


def test_formulas_that_refer_to_each_other_come_to_an_end(sheets: Sheets) -> None:
    sheets.put("S!A1", [["=B1", "=A1"]], "USER_ENTERED")
    assert sheets.values("S") == [["#REF!", "#REF!"]]


def test_a_long_chain_of_formulas_is_followed(sheets: Sheets) -> None:
    totals = [["1"], *([f"=A{row}+1"] for row in range(1, 1000))]
    sheets.put("S!A1", totals, "USER_ENTERED")
    sheets.put("S!B1", [["=SUM(A1:A1000)"]], "USER_ENTERED")
    assert sheets.values("S!B1") == [[500_500]]
    assert sheets.values("S!A999:A") == [[999], [1000]]
