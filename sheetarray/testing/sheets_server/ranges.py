"""Ranges of cells: A1 notation both ways, and the half-open index ranges that requests carry."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from ...columns.grid import column_letters, column_number
from .errors import Json, invalid

COLUMNS_LIMIT = 18_278  # ZZZ, the last column that three letters name

_SIDE = r"\$?([A-Za-z]{1,3})?\$?([1-9][0-9]{0,8})?"
_A1 = re.compile(rf"{_SIDE}(:{_SIDE})?")
_R1C1 = re.compile(r"[Rr]([1-9]\d{0,8})[Cc]([1-9]\d{0,4})(?::[Rr]([1-9]\d{0,8})[Cc]([1-9]\d{0,4}))?")
_PLAIN_TITLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CELL_LIKE = re.compile(r"[A-Za-z]{1,3}[0-9]+|[Rr][0-9]*[Cc][0-9]*")
_QUOTED = re.compile(r"'((?:[^']|'')*)'(?:!(.*))?", re.DOTALL)


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

    def holds(self, row: int, column: int) -> bool:
        """Return whether a cell belongs to it."""
        return self.top <= row < self.bottom and self.left <= column < self.right

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
    """Return the title of a range in A1 notation, its cells, and whether its title is quoted; None for a missing part.

    Example:
        >>> split("'It''s'!A1:B2"), split("A1")
        (("It's", 'A1:B2', True), (None, 'A1', False))
    """
    if quoted := _QUOTED.fullmatch(text):
        return quoted[1].replace("''", "'"), quoted[2], True
    title, mark, cells = text.rpartition("!")
    return (title, cells, False) if mark else (None, text, False)


def cells_span(text: str) -> Span | None:
    """Return the span that A1 or R1C1 notation means; None where the text is neither.

    Example:
        >>> cells_span("D4:A1") == cells_span("A1:D4")
        True
    """
    if by_number := _R1C1.fullmatch(text):
        top, left = int(by_number[1]), int(by_number[2])
        return _span(top, int(by_number[3] or top), left, int(by_number[4] or left))
    match = _A1.fullmatch(text)
    if match is None:
        return None
    column, row, more, last_column, last_row = match.groups()
    if not more:
        return (
            _span(int(row), int(row), column_number(column) + 1, column_number(column) + 1) if column and row else None
        )
    if not (column or row) or not (last_column or last_row):
        return None
    return _span(
        int(row) if row else None,
        int(last_row) if last_row else None,
        column_number(column) + 1 if column else None,
        column_number(last_column) + 1 if last_column else None,
    )


def _span(top: int | None, bottom: int | None, left: int | None, right: int | None) -> Span:
    """Return the span between two rows and two columns, counted from 1, both included, and in either order."""
    if top and bottom and top > bottom:
        top, bottom = bottom, top
    if left and right and left > right:
        left, right = right, left
    return Span(top - 1 if top else None, bottom, left - 1 if left else None, right)


def quote_title(title: str) -> str:
    """Return a title as it stands in ranges: in quotes if it could be taken for something else."""
    if _PLAIN_TITLE.fullmatch(title) and not _CELL_LIKE.fullmatch(title):
        return title
    return "'" + title.replace("'", "''") + "'"


def format_range(title: str, span: Span | GridArea) -> str:
    """Return a range in A1 notation with its title, as answers and messages give it.

    Example:
        >>> format_range("Sheet1", GridArea(0, 1, 0, 1)), format_range("my data", Span(220, None, 0, 702))
        ('Sheet1!A1', "'my data'!A221:ZZ")
    """
    top, left = span.top or 0, span.left or 0
    start = f"{column_letters(left)}{top + 1}"
    stop = (column_letters(span.right - 1) if span.right is not None and span.right > 0 else "") + (
        str(span.bottom) if span.bottom is not None else ""
    )
    return f"{quote_title(title)}!{start}" + (f":{stop}" if stop and stop != start else "")
