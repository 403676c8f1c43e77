"""Which spreadsheet and which worksheet an address means, and what is refused before anything is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sheetarray as sa
from sheetarray import read_gsheet
from sheetarray.sheets.google.address import parse_address

KEY = "1aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789-_abcde"


@pytest.mark.parametrize(
    ("text", "gid", "title"),
    [
        (f"https://docs.google.com/spreadsheets/d/{KEY}", None, None),
        (f"https://docs.google.com/spreadsheets/d/{KEY}/edit", None, None),
        (f"https://docs.google.com/spreadsheets/d/{KEY}/edit#gid=0", 0, None),
        (f"https://docs.google.com/spreadsheets/d/{KEY}/edit?gid=12#gid=12", 12, None),
        (f"https://docs.google.com/spreadsheets/d/{KEY}/edit?gid=12", 12, None),
        (f"https://docs.google.com/spreadsheets/d/{KEY}/edit?usp=sharing", None, None),
        (f"https://docs.google.com/spreadsheets/d/{KEY}/edit#gid=7&range=A1:B2", 7, None),
        (f"https://docs.google.com/spreadsheets/u/1/d/{KEY}/htmlview", None, None),
        (f"https://docs.google.com/a/example.org/spreadsheets/d/{KEY}/edit", None, None),
        (f"https://spreadsheets.google.com/ccc?key={KEY}#gid=3", 3, None),
        (f"gsheets://{KEY}", None, None),
        (f"gsheets://{KEY}/", None, None),
        (f"gsheets://{KEY}/run 1", None, "run 1"),
        (f"gsheets://{KEY}/a%2Fb", None, "a/b"),
        (f"gsheets://{KEY}/a/b", None, "a/b"),
        (f"gsheets://{KEY}/run #1", None, "run #1"),
        (f"gsheets://{KEY}/run%20%231", None, "run #1"),
        (f"gsheets://{KEY}/why?", None, "why?"),
        (f'gsheets://{KEY}/Bob\'s "größe"', None, 'Bob\'s "größe"'),
        (f"gsheets://{KEY}/gr%C3%B6%C3%9Fe 100%", None, "größe 100%"),
        (f"gsheets://{KEY}#gid=5", 5, None),
        (f"gsheets://{KEY}?gid=5", 5, None),
        (f"gsheets://{KEY}/?gid=5", 5, None),
        (KEY, None, None),
    ],
)
def test_addresses_are_understood(text: str, gid: int | None, title: str | None) -> None:
    result = parse_address(text)
    assert (result.key, result.gid, result.title) == (KEY, gid, title)
    assert parse_address(text, "given").title == (title or (None if gid is not None else "given"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "run.csv",
        "gsheets://",
        "gsheets://short/x",
        "https://example.org/spreadsheets",
        "gsheets:///arrays",
        f"https://example.org/?key={KEY}",
        "https://docs.google.com/spreadsheets/",
        "https://docs.google.com/document/d/x",
        "https://docs.google.com/spreadsheets/d/e/2PACX-1vSomething/pubhtml",
        f"{KEY}/../x",
        f"{KEY}?x",
        f"gsheets://{KEY}:x",
        f"gsheets://{KEY}#x",
        "https://[::1/x",
    ],
)
def test_other_text_is_refused_and_nothing_is_sent(text: str) -> None:
    with pytest.raises(sa.NotFoundError, match=r"Google Sheets|published"):
        parse_address(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"https://docs.google.com/spreadsheets/d/{KEY}/edit#gid=x", "no worksheet has the id 'x'"),
        (f"https://docs.google.com/spreadsheets/d/{KEY}/edit?gid=-1", "no worksheet has the id '-1'"),
        (f"gsheets://{KEY}#gid=99999999999", "no worksheet has the id '99999999999'"),
        (f"gsheets://{KEY}/x#gid=5", "two worksheets"),
        (f"gsheets://{KEY}/a%FFb", "no UTF-8"),
        (f"gsheets://{KEY}/%20", "not 0"),
        (f"gsheets://{KEY}/{'x' * 101}", "not 101"),
        (f"gsheets://{KEY}/\ud800", "valid Unicode"),
    ],
)
def test_no_address_falls_back_on_another_worksheet_than_it_says(text: str, message: str) -> None:
    with pytest.raises((sa.NotFoundError, sa.LimitError), match=message):
        parse_address(text)


@pytest.mark.parametrize("thing", [None, 5, Path("run.csv"), object(), b"x", {"key": KEY}])
def test_other_things_are_a_type_error(thing: Any) -> None:
    with pytest.raises(TypeError, match="gspread"):
        read_gsheet(thing)
