"""Ranges of cells: A1 notation both ways, and the half-open index ranges that requests carry."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from .errors import Json, invalid

COLUMNS_LIMIT = 18_278  # ZZZ, the last column that three letters name

_PLAIN_TITLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CELL_LIKE = re.compile(r"[A-Za-z]{1,3}[0-9]+|[Rr][0-9]*[Cc][0-9]*")
_QUOTED = re.compile(r"'((?:[^']|'')*)'(?:!(.*))?", re.DOTALL)


def column_letters(index: int) -> str:
    """Return the letters of a column, counted from 0."""
    letters = ""
    index += 1
    while index:
        index, letter = divmod(index - 1, 26)
        letters = chr(65 + letter) + letters
    return letters


def column_number(letters: str) -> int:
    """Return the column, counted from 0, that letters of either case name."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


class GridArea(NamedTuple):
    """A rectangle of cells: rows from `top` up to, but without, `bottom`; columns from `left` up to `right`; from 0."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def height(self) -> int:
        """The number of its rows."""
        return self.bottom - self.top

    @property
    def width(self) -> int:
        """The number of its columns."""
        return self.right - self.left

    def encloses(self, other: GridArea) -> bool:
        """Return whether all cells of another area belong to it."""
        rows = self.top <= other.top and other.bottom <= self.bottom
        return rows and self.left <= other.left and other.right <= self.right

    def meets(self, other: GridArea) -> bool:
        """Return whether some cell belongs to both."""
        rows = self.top < other.bottom and other.top < self.bottom
        return rows and self.left < other.right and other.left < self.right


@dataclass(frozen=True, slots=True)
class Span:
    """A range on a sheet: like a GridArea, but an end may be open (None), as in `A2:B` and `3:5`."""

    top: int | None = None
    bottom: int | None = None
    left: int | None = None
    right: int | None = None

    @classmethod
    def from_json(cls, grid_range: Json) -> Span:
        """Return the span that a GridRange means."""
        ends = (grid_range.get(name) for name in ("startRowIndex", "endRowIndex", "startColumnIndex", "endColumnIndex"))
        top, bottom, left, right = ends
        for name, start, stop in (("Row", top, bottom), ("Column", left, right)):
            if (start or 0) < 0 or (stop is not None and stop < (start or 0)):
                raise invalid(f"range.end{name}Index must not be before range.start{name}Index, nor either negative.")
        return cls(top, bottom, left, right)

    def json(self, sheet_id: int) -> Json:
        """Return the GridRange of it on a sheet; a sheet id of 0 is left out, as protocol buffers leave out zeros."""
        ends = {
            "sheetId": sheet_id or None,
            "startRowIndex": self.top,
            "endRowIndex": self.bottom,
            "startColumnIndex": self.left,
            "endColumnIndex": self.right,
        }
        return {name: end for name, end in ends.items() if end is not None}

    def on(self, rows: int, columns: int) -> GridArea:
        """Return the cells of it that lie on a grid of so many rows and columns; open ends are those of the grid."""
        top, left = min(self.top or 0, rows), min(self.left or 0, columns)
        bottom = rows if self.bottom is None else min(self.bottom, rows)
        right = columns if self.right is None else min(self.right, columns)
        return GridArea(top, max(top, bottom), left, max(left, right))

    @property
    def is_one_cell(self) -> bool:
        """Whether it is one cell; `values.update` takes such a range as the first cell of as many as it has values."""
        return self.bottom == (self.top or 0) + 1 and self.right == (self.left or 0) + 1


def split(text: str) -> tuple[str | None, str | None, bool]:
    """Return the title of a range in A1 notation, its cells, None for a missing one; whether the title is quoted."""
    if quoted := _QUOTED.fullmatch(text):
        return quoted[1].replace("''", "'"), quoted[2], True
    title, mark, cells = text.rpartition("!")
    return (title, cells, False) if mark else (None, text, False)


def quote_title(title: str) -> str:
    """Return a title as it stands in ranges: in quotes if it could be taken for something else."""
    if _PLAIN_TITLE.fullmatch(title) and not _CELL_LIKE.fullmatch(title):
        return title
    return "'" + title.replace("'", "''") + "'"


def format_range(title: str, span: Span | GridArea) -> str:
    """Return a range in A1 notation with its title, as answers and messages give it."""
    top, left = span.top or 0, span.left or 0
    start = f"{column_letters(left)}{top + 1}"
    stop = (column_letters(span.right - 1) if span.right is not None and span.right > 0 else "") + (
        str(span.bottom) if span.bottom is not None else ""
    )
    return f"{quote_title(title)}!{start}" + (f":{stop}" if stop and stop != start else "")
