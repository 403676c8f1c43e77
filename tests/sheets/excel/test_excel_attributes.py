"""Wrong numbers and addresses in the attributes of a workbook end in an error of ours, or in nothing, in both ways."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import nullcontext, suppress

import pytest
import xlsxwriter
from excel_packages import parts
from foreign_books import zipped
from round_trips import without_loops

import sheetarray as sa

NUMBERS = ["-7", "-1", "-0", "1", "2", "3", "-1e300", "1e300", "4294967296", "9" * 20, "1.5", "0.999", "", "NaN", " 1"]
ADDRESSES = [
    *("A0", "XFE1", "A1048577", "ZZZZ1", "A" + "9" * 20, "a2", "$A$2", "A-1", "1", "A", "", "A2:B3", "AA", "Ä2", "A02")
]
SHEET, BOOK, STYLES, TEXTS = (f"xl/{name}.xml" for name in ("worksheets/sheet1", "workbook", "styles", "sharedStrings"))
VERBS = {
    "read": lambda file: sa.read(file, format="xlsx"),
    "scan": lambda file: sa.scan(file, format="xlsx"),
    "check": lambda file: list(sa.check(file, format="xlsx")),
    "read_columns": lambda file: sa.read_columns(file, format="xlsx"),
}


def make_parts() -> dict[str, str]:
    """Return the parts of a small workbook: a table with two texts, which are shared strings."""
    file = io.BytesIO()
    with xlsxwriter.Workbook(file) as book:
        book.add_worksheet().write_column(0, 0, ["n", 1, 2.5, "x"])
    return {name: part.decode() for name, part in parts(file.getvalue()).items()}


PLACES = {
    "a shared string": (SHEET, r't="s"><v>()0()</v>', NUMBERS),
    "a later shared string": (SHEET, r't="s"><v>()1()</v>', NUMBERS),
    "a style": (SHEET, r'<c ()()r="A2"', [f's="{number}" ' for number in NUMBERS]),
    "a row": (SHEET, r'<row r="()2()"', NUMBERS),
    "spans": (SHEET, r'spans="()[^"]*()"', [f"{number}:{number}" for number in NUMBERS]),
    "the id of a sheet": (BOOK, r'sheetId="()[^"]*()"', NUMBERS),
    "the active tab": (BOOK, r"<workbookView ()()", [f'activeTab="{number}" ' for number in NUMBERS]),
    "a number format": (STYLES, r'numFmtId="()[^"]*()"', NUMBERS),
    "the style of a style": (STYLES, r'xfId="()[^"]*()"', NUMBERS),
    "the number of styles": (STYLES, r'<cellXfs count="()[^"]*()"', NUMBERS),
    "the number of texts": (TEXTS, r' count="()[^"]*()"', NUMBERS),
    "the number of different texts": (TEXTS, r'uniqueCount="()[^"]*()"', NUMBERS),
    "an address": (SHEET, r'<c r="()A2()"', ADDRESSES),
    "the dimension": (SHEET, r'ref="()[^"]*()"', ADDRESSES),
}


def workbooks_with(place: str) -> Iterator[bytes]:
    made = make_parts()
    name, pattern, values = PLACES[place]
    match = re.search(pattern, made[name])
    assert match is not None, made[name]
    for value in values:
        changed = made[name][: match.start(1)] + value + made[name][match.start(2) :]
        yield zipped(made | {name: changed})


def ask(content: bytes, *verbs: str) -> None:
    for verb in verbs or VERBS:
        with warnings.catch_warnings(), suppress(sa.FormatError):
            warnings.simplefilter("ignore", sa.SheetArrayWarning)
            VERBS[verb](io.BytesIO(content))


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_a_wrong_attribute_is_no_error_of_python(place: str, plain: bool) -> None:
    """`read_columns` takes a workbook apart as all verbs do, and looks at each cell; the others take turns."""
    with without_loops() if plain else nullcontext():
        for number, content in enumerate(workbooks_with(place)):
            other = ("check", "read", "scan")[(number + len(place)) % 3]
            if not plain or other == "read":
                ask(content, "read_columns", *([] if plain else [other]))


def test_a_sheet_that_is_listed_twice() -> None:
    made = make_parts()
    match = re.search("<sheet [^>]*/>", made[BOOK])
    assert match is not None
    ask(zipped(made | {BOOK: made[BOOK].replace("</sheets>", f"{match[0]}</sheets>")}))
