"""The cells of an ordinary table, as its container has them: all columns that hold something, all of their rows.

A container gives a `Table`, whose columns hand out single cells (for names), masks (for rows that are passed over),
and the cells of the rows that count as one `TableColumn`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..columns.grid import Area
from ..dtypes import Array, Mask, Positions
from ..elements import SHEET_ERRORS, Cell, FormulaMode, Unreadable, is_blank, parse_string
from .doubts import Doubt
from .hypotheses import Marks
from .numerals import WHITE, MarksLook

if TYPE_CHECKING:
    import polars as pl

    Texts = pl.Series | list[str | None]

TOP, TOP_ROWS = 20_000, 1200  # cells and rows at the beginning of a sheet in which arrays are looked for
ROWS_OF_ANCHOR = 5  # a name, the three cells of an anchor, and a row that may be cut short
_FEW = 2**10  # texts of which plain Python is faster than the engine
SHORT = 1024
"""Rows: columns that are no longer are read faster by plain Python than by the engine, and come as lists."""

_BLANKS = WHITE.replace("\n", "").replace("\r", "")  # a line end in quotes is no blank: somebody wrote it


def mark_blanks(texts: pl.Series, white: str = WHITE) -> Mask:
    """Return a mask of the texts that are null, or hold nothing but white space.

    Of many texts only those that begin with white space, or with a character beyond ASCII, are looked at closely.

    Example:
        >>> import polars as pl
        >>> mark_blanks(pl.Series(["a", " ", None, "\u3000", " b"])).tolist()
        [False, True, True, True, False]
    """
    if len(texts) <= _FEW:
        return np.array([text is None or not text.strip(white) for text in texts.to_list()], np.bool_)
    blanks = texts.is_null().to_numpy(writable=True)
    if len(places := np.flatnonzero(((texts < "!") | (texts > "~")).fill_null(value=False).to_numpy())):
        blanks[places] = (texts.gather(places).str.strip_chars(white) == "").fill_null(value=True).to_numpy()
    return blanks


_NOTHING: Mapping[int, Any] = MappingProxyType({})  # one for all columns, of which there may be thousands


@dataclass(slots=True)
class TableColumn:
    """The cells of a column, in the rows that count."""

    # the text of each cell; None or "" is a blank, and so is an error cell. `texts` itself is None if `numbers` is
    # enough, and a function that makes the texts if `typed` is given
    texts: Texts | Callable[[], Texts] | None
    # the cells as doubles, NaN for blanks, if the container says that all of them are numbers. If it gives their texts
    # as well, integers beyond 2^53 have digits that the doubles lack
    numbers: Array | None = None
    # the names of error cells, such as `#N/A`, by index
    errors: Mapping[int, str] = field(default_factory=lambda: _NOTHING)
    # cells whose value cannot be known, by index
    unreadable: Mapping[int, Unreadable] = field(default_factory=lambda: _NOTHING)
    # the array, if every cell is known to be a date, a boolean, or a number that loses nothing
    typed: Array | None = None
    # lists the cells that the container says are text, though they may look like numbers; None if it does not say
    text_cells: Callable[[], list[str]] | None = None
    # the numbers that have a format of dates and are none, such as days before 1900, by index
    not_dates: Mapping[int, float] = field(default_factory=lambda: _NOTHING)
    look: MarksLook = None  # what the marks of numbers show, if `typed` holds numbers

    def __len__(self) -> int:
        cells = self.numbers if self.typed is None else self.typed
        return len(self._texts()) if cells is None else len(cells)

    def _texts(self) -> Texts:
        texts = self.texts() if callable(self.texts) else self.texts
        return [] if texts is None else texts

    def to_infer(self) -> Texts:
        """Return the texts: a list if few of them are not blank, as Python is faster with few; otherwise a Series."""
        texts = self._texts()
        held = len(texts) - texts.count(None) if isinstance(texts, list) else len(texts)
        return self.as_list() if held <= SHORT else self.as_series()

    def as_list(self) -> list[str | None]:
        """Return the texts as a list; those of numbers as a spreadsheet would show them, with all their digits."""
        if self.numbers is not None and self.texts is None:
            return [None if number != number else _number_text(number) for number in self.numbers.tolist()]
        texts = self._texts()
        return texts if isinstance(texts, list) else texts.to_list()

    def as_series(self) -> pl.Series:
        """Return the texts as a Series."""
        import polars as pl

        texts = self.as_list() if self.texts is None else self._texts()
        return pl.Series(texts, dtype=pl.String) if isinstance(texts, list) else texts


def _number_text(number: float) -> str:
    if number == 0:
        return "-0" if math.copysign(1, number) < 0 else "0"
    return parse_string(int(number) if number.is_integer() and abs(number) <= 2.0**53 else number)


class RawColumn(Protocol):
    """A column of a sheet, from its first row on, before its dtype is known."""

    def cells(self, rows: Sequence[int]) -> list[Cell]:
        """Return the cells in a few rows, in ascending order; None for a blank."""

    def mark_filled(self) -> Mask:
        """Return a mask of the rows that hold something in this column; a table may have more rows than this."""

    def begins(self, mark: str) -> Positions:
        """Return the rows whose cell is a text that begins with a mark, such as `#`."""

    def take(self, rows: range | Positions) -> TableColumn:
        """Return the cells of some rows, in ascending order."""


class TypedColumn(RawColumn, Protocol):
    """A column of a container that says which cells are text: any that counts no cells of its rows."""

    def list_texts(self, rows: range | Positions) -> list[str]:
        """Return the cells in some rows that are text, errors left out."""


@dataclass
class Table:
    """All cells of a sheet."""

    height: int  # the number of rows, at least up to the last one that holds a cell of it; columns may have more
    columns: Mapping[int, RawColumn]  # by their numbers in the sheet, counted from 0; at least those that hold a cell
    # the row of the sheet in which each row stands, if rows that hold nothing were left out; None if no row was
    sheet_rows: Positions | None = None
    # takes ascending numbers of rows, and the mark of comments. It returns a mask: whether the first text of each row
    # stands in quotes, which make it a cell and no comment. None if the container has no quotes
    are_quoted: Callable[[list[int], str], Mask] | None = None
    # the number of cells that hold something, in a container in which they may stand very far apart; else None
    held: int | None = None
    first: int = 0  # the first row that belongs to the table
    end: int | None = None  # the number of rows of the sheet, blank ones below included; None if that is the height
    # counts the cells of each row as it is written, blank ones included; None if rows of the container have no length
    count_cells: Callable[[], Positions] | None = None
    count_cells_of: Callable[[int], int] | None = None  # those of one row
    marks: Marks | None = None  # that cut the text into cells; None if the container has cells
    # "escape" if an apostrophe stands before texts that a spreadsheet would evaluate
    formulas: FormulaMode = "keep"
    encoding: str | None = None  # of the text, if it is not UTF-8
    is_ended: bool = True  # whether the last row of a text has a line end
    # whether the workbook has no record of this package, which writes dates as text if it is asked to
    is_foreign: bool = False
    doubts: Sequence[Doubt] = ()  # about the marks, and what is no text
    # whether no cell is blank, and each row of the sheet is one of the table. Of many rows nobody looks
    is_full: bool = False
    # rows that were listed already, by the numbers of the columns that were asked for
    listed: dict[tuple[int, ...], dict[int, list[Cell]]] = field(default_factory=dict, init=False, repr=False)

    def count_rows(self) -> int:
        """Return the number of rows of the sheet, down to the last row with a cell that is not blank."""
        return self.row_of(self.height - 1) + 1 if self.height else 0

    def width_of(self, row: int) -> int:
        """Return the number of cells of a row as it is written; 0 if rows have no length."""
        return 0 if self.count_cells_of is None else self.count_cells_of(row)

    def index_of(self, row: int) -> int:
        """Return the first row of the table that stands in a row of the sheet, or below."""
        return row if self.sheet_rows is None else int(np.searchsorted(self.sheet_rows, row))

    def row_of(self, index: int) -> int:
        """Return the row of the sheet in which a row of the table stands."""
        return index if self.sheet_rows is None else int(self.rows_of(np.asarray(index)))

    def rows_of(self, indices: Positions) -> Positions:
        """Return the rows of the sheet in which rows of the table stand, blank ones below its last row among them."""
        if self.sheet_rows is None or not len(self.sheet_rows):
            return indices
        inside = np.minimum(indices, len(self.sheet_rows) - 1)
        return np.asarray(self.sheet_rows)[inside] + (indices - inside)


def crop_table(table: Table, area: Area) -> Table:
    """Return the part of a table that stands in a range of the sheet."""
    first, end = (min(table.index_of(row), table.height) for row in (area.top, area.bottom))
    columns = {number: column for number, column in table.columns.items() if area.left <= number < area.right}
    return replace(table, height=end, columns=columns, first=first, is_full=False)


class TableSheet(Protocol):
    """A sheet that may hold an ordinary table."""

    title: str | None  # the sheet's name in addresses; None where the container has only one

    def first_rows(self) -> Sequence[Sequence[Cell]]:
        """Return the first rows, in which arrays are looked for: some `TOP` cells, from `ROWS_OF_ANCHOR` to `TOP_ROWS`
        rows. None need be returned if no word of a header stands in them.
        """

    def table(self) -> Table:
        """Return all cells."""


class TextColumn:
    """A column of a container of text: a list where it is short, a Series otherwise."""

    def __init__(self, texts: pl.Series | list[str | None]) -> None:
        self._texts = texts

    def cells(self, rows: Sequence[int]) -> list[Cell]:
        """Return the cells in a few rows."""
        texts, count = self._texts, len(self._texts)
        if isinstance(texts, list):
            return [texts[row] if row < count else None for row in rows]
        cells: list[Cell] = []
        start = 0
        while start < len(rows):  # a slice for each run of rows: it takes no copy of the column
            end = start + 1
            while end < len(rows) and rows[end] == rows[end - 1] + 1:
                end += 1
            held = texts.slice(rows[start], end - start).to_list() if rows[start] < count else []
            cells += [*held, *[None] * (end - start - len(held))]
            start = end
        return cells

    def mark_filled(self) -> Mask:
        """Return a mask of the rows that hold something."""
        if isinstance(self._texts, list):
            return np.array([text is not None and bool(text.strip(_BLANKS)) for text in self._texts], dtype=bool)
        return ~mark_blanks(self._texts, _BLANKS)

    def has_blanks(self) -> bool:
        """Return whether a cell is blank."""
        return not all(self._texts) if isinstance(self._texts, list) else self._texts.null_count() > 0

    def begins(self, mark: str) -> Positions:
        """Return the rows whose cell is a text that begins with a mark, such as `#`."""
        if isinstance(self._texts, list):
            rows = [row for row, text in enumerate(self._texts) if text and text.lstrip(WHITE).startswith(mark)]
            return np.array(rows, dtype=np.int64)
        return self._texts.str.strip_chars_start(WHITE).str.starts_with(mark).arg_true().to_numpy().astype(np.int64)

    def take(self, rows: range | Positions) -> TableColumn:
        """Return the cells of some rows."""
        if isinstance(rows, range):
            return TableColumn(self._texts[rows.start : rows.stop])
        if isinstance(self._texts, list):
            return TableColumn([self._texts[row] for row in rows.tolist()])
        return TableColumn(self._texts.gather(rows))


class ScalarColumn:
    """A column of Python scalars, as a service gives them; the text of an error is an error."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._cells = cells

    def cells(self, rows: Sequence[int]) -> list[Cell]:
        """Return the cells in a few rows."""
        return [self._cells[row] if row < len(self._cells) else None for row in rows]

    def mark_filled(self) -> Mask:
        """Return a mask of the rows that hold something."""
        return np.array([not is_blank(cell) for cell in self._cells], dtype=bool)

    def begins(self, mark: str) -> Positions:
        """Return the rows whose cell is a text that begins with a mark, such as `#`."""
        rows = [
            r for r, cell in enumerate(self._cells) if isinstance(cell, str) and cell.lstrip(WHITE).startswith(mark)
        ]
        return np.array(rows, dtype=np.int64)

    def take(self, rows: range | Positions) -> TableColumn:
        """Return the cells of some rows."""
        cells = self.cells(rows if isinstance(rows, range) else rows.tolist())
        errors = {index: cell for index, cell in enumerate(cells) if isinstance(cell, str) and cell in SHEET_ERRORS}
        unreadable = {index: cell for index, cell in enumerate(cells) if isinstance(cell, Unreadable)}
        for index in (*errors, *unreadable):
            cells[index] = None
        kinds = {type(cell) for cell in cells if not is_blank(cell)}
        if kinds and kinds <= {int, float}:
            numbers = np.array([np.nan if is_blank(cell) else cell for cell in cells], np.float64)
            return TableColumn(None, numbers, errors, unreadable)
        texts = [None if is_blank(cell) else parse_string(cell) for cell in cells]
        held = [cell for cell in cells if isinstance(cell, str)]
        return TableColumn(texts, None, errors, unreadable, text_cells=(lambda: held) if held else None)

    def list_texts(self, rows: range | Positions) -> list[str]:
        """Return the cells in some rows that are text."""
        cells = self.cells(rows if isinstance(rows, range) else rows.tolist())
        return [cell for cell in cells if isinstance(cell, str) and cell not in SHEET_ERRORS]
