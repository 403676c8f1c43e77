"""The Google Sheets emulator's typed values: numbers, dates, formulas, and how they look."""

from __future__ import annotations

from typing import Any

import pytest
from sheets_asking import Sheets

from sheets_emulator import SheetsServer
from sheets_emulator.formats import format_number, format_plain


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
        ("2020-02-30", "2020-02-30", "2020-02-30"),
        ("1/2/2024", 45293, "1/2/2024"),
        ("6:30", 390 / 1440, "6:30"),
        ("18:05:07", (18 * 3600 + 5 * 60 + 7) / 86400, "18:05:07"),
        ("23:59", 1439 / 1440, "23:59"),
        ("12:60", "12:60", "12:60"),
        ("12:30:15.25", (12 * 3600 + 30 * 60 + 15.25) / 86400, "12:30:15.25"),
        ("13:00 am", "13:00 am", "13:00 am"),
        ("Janus 5, 2024", "Janus 5, 2024", "Janus 5, 2024"),
        ("Feb 30, 2024", "Feb 30, 2024", "Feb 30, 2024"),
        ("2024-01-05 12:30", 45296 + 750 / 1440, "2024-01-05 12:30"),
        ("2024-01-05 24:00", "2024-01-05 24:00", "2024-01-05 24:00"),
        ("2024-01-05T12:30", "2024-01-05T12:30", "2024-01-05T12:30"),
    ],
)
def test_typed_text_becomes_what_it_looks_like(sheets: Sheets, typed: str, value: Any, look: Any) -> None:
    sheets.put("S!A1", [[typed]], "USER_ENTERED")
    assert sheets.values("S!A1") == (None if value is None else [[value]])
    assert sheets.get("S!A1").get("values") == (None if look is None else [[look]])


@pytest.mark.parametrize(
    ("number", "look"),
    [(0.1 + 0.2, "0.3"), (1e10, "10000000000"), (1e-7, "1E-07"), (-1.5, "-1.5")],
)
def test_a_number_without_a_format_has_ten_digits(number: float, look: str) -> None:
    assert format_plain(number) == look


_AFTERNOON = 42465 + (16 * 3600 + 8 * 60 + 53.528) / 86400  # April 5, 2016


@pytest.mark.parametrize(
    ("number", "kind", "pattern", "look"),
    [
        (_AFTERNOON, "DATE_TIME", "dddd, m/d/yy at h:mm", "Tuesday, 4/5/16 at 16:08"),
        (_AFTERNOON, "TIME", "mm:ss", "08:54"),
        (12345.125, "NUMBER", "####.#", "12345.1"),
        (12.34, "NUMBER", "000.0000", "012.3400"),
        (12, "NUMBER", "#.0#", "12.0"),
        (12000, "NUMBER", "#,###", "12,000"),
        (10, "NUMBER", '[<10]"low";[>100]"high";0', "10"),
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
        ("=MAX(numbers)-MIN(T!B2:B3)", 19),
        ("='T'!B2", 1),
        ("=A4", 0),
        ("=B9", 0),
        ("=A3+1", "#VALUE!"),
        ("=1/0", "#DIV/0!"),
        ("=1/A4", "#DIV/0!"),
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
