"""The addresses of cells, columns and ranges, as people see them and as numbers from 0."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ..elements import Cell

Orient = Literal["columns", "rows"]
CellGrid = Sequence[Sequence[Cell]]


def quote_title(title: str) -> str:
    """Return a title as it stands before the `!` of a reference.

    Example:
        >>> quote_title("Ann's run")
        "'Ann''s run'"
    """
    return "'" + title.replace("'", "''") + "'"


@lru_cache(maxsize=2**14)  # the columns of a sheet, which are asked for again and again
def column_letters(column: int) -> str:
    """Return the letters of a column, counted from 0.

    Example:
        >>> column_letters(0), column_letters(25), column_letters(26)
        ('A', 'Z', 'AA')
    """
    text = ""
    column += 1
    while column:
        column, digit = divmod(column - 1, 26)
        text = chr(65 + digit) + text
    return text


@lru_cache(maxsize=2**14)
def column_number(letters: str) -> int:
    """Return the number of a column, counted from 0, by its letters; the opposite of `column_letters`.

    Example:
        >>> column_number("A"), column_number("z"), column_number("AA")
        (0, 25, 26)
    """
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


def cell_address(row: int, column: int) -> str:
    """Return the address of a cell, row and column counted from 0.

    Example:
        >>> cell_address(16, 2)
        'C17'
    """
    return f"{column_letters(column)}{row + 1}"


class Area(NamedTuple):
    """A range of cells: from a row and a column, counted from 0, to those before `bottom` and `right`."""

    top: int
    left: int
    bottom: int
    right: int


_AREA = re.compile(
    r"(?:(?:'(?P<quoted>(?:[^']|'')+)'|(?P<title>[^'!]+))!)?"
    r"\$?(?P<left>[A-Z]{1,3})?\$?(?P<top>[1-9][0-9]{0,6})?(?::(?=\$?[A-Z0-9])\$?(?P<right>[A-Z]{1,3})?\$?(?P<bottom>[1-9][0-9]{0,6})?)?",
    re.IGNORECASE,
)
_NO_END = 2**31  # rows or columns, of a range that has all of them


def parse_area(text: str) -> tuple[str | None, Area] | None:
    """Return the title of a sheet, if there is one, and the range in A1 notation; None for any other text.

    Example:
        >>> parse_area("A1:C5"), parse_area("'Ann''s run'!$B$2"), parse_area("sales")
        ((None, Area(top=0, left=0, bottom=5, right=3)), ("Ann's run", Area(top=1, left=1, bottom=2, right=2)), None)
        >>> parse_area("B:C")[1].left, parse_area("3:7")[1].top
        (1, 2)
    """
    match = _AREA.fullmatch(text)
    if match is None:
        return None
    first, last = match.group("left", "top"), match.group("right", "bottom")
    if not any(last):  # one cell
        last = first if all(first) else (None, None)
    if [text is None for text in first] != [text is None for text in last] or not any(first):
        return None
    left, right = sorted(map(column_number, (first[0], last[0]))) if first[0] else (0, _NO_END)
    top, bottom = sorted(map(int, (first[1], last[1]))) if first[1] else (1, _NO_END)
    title = match["quoted"].replace("''", "'") if match["quoted"] else match["title"]
    return title, Area(top - 1, left, bottom, right + 1)
