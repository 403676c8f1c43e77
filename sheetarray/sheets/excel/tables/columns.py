"""The columns of a worksheet that is an ordinary table: single cells of them, and whole columns with what their cells
say of their dtype.

Columns are converted in groups, as there may be thousands of them: a call of NumPy or the engine serves all columns of
a group. A tall column is a group by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import Array, Mask, Positions, from_name
from ....elements import Cell, Unreadable
from ....elements.serials import serials_to_dates, serials_to_moments
from ....tables import EXACT, SHORT, WHITE, TableColumn, mark_blanks
from ..reader import cells as c
from ..reader.columns.numbers import to_doubles
from ..reader.columns.texts import ColumnTexts
from ..reader.scalars import scalars

if TYPE_CHECKING:
    import polars as pl


_TEXT = from_name("string")
_SMALL = 2**13  # cells, blanks among them, of a group whose cells are listed once for all who ask for a few of them
_NO_ERRORS: Mapping[int, str] = MappingProxyType({})
PENDING = "a formula without a value"


class ColumnGroup:
    """Some columns of a worksheet side by side, whose cells are converted together, with one query of the engine for
    all columns of a kind: thousands of short ones, or a tall one alone.

    `cells`: column by column, each from top to bottom; numbers that doubles hold, dates and truth values need no texts.
    `count`: the number of columns. `from_1904`: whether serial dates count from 1904-01-01, not from 1900. `height`:
    the number of rows; None for those down to the last cell.

    Attributes:
        bounds: where each column begins among the cells, and where the last one ends.
    """

    def __init__(self, cells: c.CellRun, count: int, *, from_1904: bool, height: int | None = None) -> None:
        self.cells, self._count, self._from_1904 = cells, count, from_1904
        self.height = cells.after if height is None else height
        self.bounds = np.searchsorted(cells.columns, np.arange(count + 1)).tolist()
        self._taken: tuple[range | Positions, dict[int, TableColumn]] | None = None
        self._has_unreadable = False  # whether a converted text is `Unreadable`
        self._is_small = self.height * count <= _SMALL
        self._asked: list[int] | None = None  # the rows of which cells were asked for last
        self._listed: dict[int, list[Cell]] = {}  # the cells in these rows, or in all rows of a small group, by column

    def columns(self) -> list[GroupedColumn]:
        """Return the columns."""
        return [GroupedColumn(self, index) for index in range(self._count)]

    def cells_of(self, index: int, rows: Sequence[int]) -> list[Cell]:
        """Return the cells of a column in a few rows, in ascending order: None for a blank, `Unreadable` for a formula
        without a value.

        When a second column is asked for the same rows, the cells of all columns are made together. Those of a small
        group are made once for all rows.
        """
        if self._is_small:
            if not self._listed:
                self._listed = self._list_cells(range(self.height), 0, self._count)
            column = self._listed[index]
            if rows and rows[-1] < len(column) and rows[-1] - rows[0] == len(rows) - 1:
                return column[rows[0] : rows[-1] + 1]
            return [column[row] if row < len(column) else None for row in rows]
        if rows != self._asked:
            self._asked, self._listed = [*rows], self._list_cells(rows, index, index + 1)
        elif index not in self._listed:
            self._listed = self._list_cells(rows, 0, self._count)
        return self._listed[index]

    def _list_cells(self, rows: Sequence[int], first: int, end: int) -> dict[int, list[Cell]]:
        """Return the cells of some columns in some rows."""
        asked = np.add.outer(np.arange(first, end) * c.ROW, np.asarray(rows, np.int64)).ravel()
        index = np.minimum(np.searchsorted(self._positions, asked), max(len(self.cells) - 1, 0))
        match = np.flatnonzero(self._positions[index] == asked) if len(self.cells) else index[:0]
        run = self.cells.gather(index[match])
        cells = np.empty(len(run), object)
        cells[:] = scalars(run, from_1904=self._from_1904)
        if (pending := run.kinds == c.PENDING).any():
            cells[pending] = Unreadable(PENDING)
        listed = np.full(len(asked), None, object)
        listed[match] = cells
        return dict(zip(range(first, end), listed.reshape(end - first, len(rows)).tolist(), strict=True))

    @cached_property
    def _positions(self) -> Positions:
        """Where the cells stand, column by column; ascending."""
        return self.cells.columns * c.ROW + self.cells.rows

    def take(self, index: int, rows: range | Positions) -> TableColumn:
        """Return the cells of a column in some rows. All columns are converted when the first is asked for."""
        if self._taken is None or self._taken[0] is not rows or index not in self._taken[1]:
            cells = _take_rows(self.cells.select(~self.blank_texts), rows)
            is_error = cells.kinds == c.FAULT
            errors, cells = (cells.select(is_error), cells.select(~is_error)) if is_error.any() else (None, cells)
            group = ColumnGroup(cells, self._count, from_1904=self._from_1904, height=len(rows))
            self._taken = rows, dict(enumerate(group._convert(errors)))
        return self._taken[1].pop(index)

    @cached_property
    def blank_texts(self) -> Mask:
        """A mask of the cells whose text holds nothing but white space."""
        blank = np.zeros(len(self.cells), np.bool_)
        if len(places := np.flatnonzero(self.cells.kinds == c.TEXT)):
            blank[places] = mark_blanks(self.cells.texts_of(c.TEXT))
        return blank

    def _convert(self, error_cells: c.CellRun | None) -> Iterator[TableColumn]:
        """Yield the columns: as text, as doubles if all are numbers, or as both if their digits count.

        No text of this group may be blank. `error_cells`: errors in the same columns and rows.
        """
        errors_of: dict[int, dict[int, str]] = {}
        if error_cells is not None:
            places = zip(error_cells.columns.tolist(), error_cells.rows.tolist(), strict=True)
            for (column, row), text in zip(places, error_cells.texts().to_list(), strict=True):
                errors_of.setdefault(column, {})[row] = text
        kinds, cells = self._kinds_of_columns()
        are_numbers = (kinds != 0) & (kinds & ~_bits(c.NUMBER, c.LARGE) == 0)
        are_dates, are_truths = ((kinds == _bits(kind)) & (cells == self.height) for kind in (c.SERIAL, c.BOOLEAN))
        table, sound, large = self._to_doubles(are_numbers | are_dates | are_truths)
        are_numbers &= sound
        typed = self._find_moments(table, are_dates & sound) | self._find_truths(table, are_truths & sound)
        are_typed = np.isin(np.arange(self._count), list(typed))
        texts = self._to_texts((kinds != 0) & ~(are_numbers & ~large) & ~are_typed)
        texts_of_typed = cache(lambda: self._to_texts(are_typed))
        no_dates = self._find_no_dates((kinds & _bits(c.SERIAL) != 0) & ~are_typed)
        by_column = zip(are_numbers.tolist(), large.tolist(), kinds.tolist(), table, strict=True)
        for index, (is_number, is_large, bits, numbers) in enumerate(by_column):
            errors = errors_of.get(index, _NO_ERRORS)
            if index in typed:
                yield TableColumn(partial(_text_of, texts_of_typed, index), None, errors, typed=typed[index])
                continue
            if is_number and not is_large:
                yield TableColumn(None, numbers, errors)
            elif not bits:
                yield TableColumn([None] * self.height, None, errors)
            else:
                column = TableColumn(texts[index], numbers if is_number else None, errors)
                if self._has_unreadable:
                    _take_unreadable(column)
                if bits & _bits(c.TEXT):
                    column.text_cells = partial(self._list_texts, index)
                if index in no_dates:
                    column.not_dates = no_dates[index]
                yield column

    def _find_no_dates(self, wanted: Mask) -> dict[int, dict[int, float]]:
        """Return the numbers of some columns that have a format of dates and are no dates, by column and row.

        A time of day is none of them, nor is a 0 in a column of such times.
        """
        numbers: dict[int, dict[int, float]] = {}
        if not wanted.any():
            return numbers
        serials = self.cells.select(wanted[self.cells.columns] & (self.cells.kinds == c.SERIAL))
        days, _ = to_doubles(serials)
        days = np.where(np.isnan(days), 0.5, days)
        fits = np.array([text is not None for text in serials_to_dates(days, from_1904=self._from_1904)], np.bool_)
        of_dates = np.isin(serials.columns, serials.columns[fits | (days < 0) | (days >= 1)])
        for place in np.flatnonzero(~fits & (((days < 0) | (days >= 1)) | ((days == 0) & of_dates))).tolist():
            numbers.setdefault(int(serials.columns[place]), {})[int(serials.rows[place])] = float(days[place])
        return numbers

    def _list_texts(self, index: int) -> list[str]:
        """Return the cells of a column that are typed as text."""
        first, end = self.bounds[index : index + 2]
        texts, is_text = self.cells.written(), self.cells.kinds[first:end] == c.TEXT
        assert texts is not None, "a cell of this column is text"
        texts = texts.slice(first, end - first)
        return (texts if is_text.all() else texts.gather(np.flatnonzero(is_text))).to_list()

    def column(self, index: int) -> c.CellRun:
        """Return the cells of one column."""
        return self.cells.take(slice(*self.bounds[index : index + 2]))

    def _kinds_of_columns(self) -> tuple[Positions, Positions]:
        """Return a sum of `_bits` of the kinds that the cells of each column have, and the number of its cells."""
        kinds, counts = np.zeros(self._count, np.int64), np.diff(self.bounds)
        if len(filled := np.flatnonzero(counts)):
            starts = np.array(self.bounds)[filled]
            kinds[filled] = np.bitwise_or.reduceat(_KIND_BITS[self.cells.kinds], starts)
        return kinds, counts

    def _to_doubles(self, wanted: Mask) -> tuple[Array, Mask, Mask]:
        """Return the doubles of some columns, a row for each, with NaN for blanks; which columns are numbers; and which
        have numerals of so many digits that their texts count.
        """
        table = np.full((self._count, self.height), np.nan)
        sound, large = np.ones(self._count, np.bool_), np.zeros(self._count, np.bool_)
        chosen = self.cells.select(wanted[self.cells.columns])
        values, _ = to_doubles(chosen)
        table[chosen.columns, chosen.rows] = values
        if chosen.values is not None:  # else doubles hold all of them for certain
            sound[chosen.columns[~np.isfinite(values)]] = False
            large[chosen.columns[np.abs(values) >= EXACT]] = True
        return table, sound, large

    def _find_moments(self, table: Array, wanted: Mask) -> dict[int, Array]:
        """Return the moments of those columns of serial dates that hold nothing but dates, by their index."""
        indices = np.flatnonzero(wanted)
        moments = serials_to_moments(table[indices], from_1904=self._from_1904) if len(indices) else []
        return {index: array for index, array in zip(indices.tolist(), moments, strict=True) if array is not None}

    def _find_truths(self, table: Array, wanted: Mask) -> dict[int, Array]:
        """Return the booleans of those columns of truth values that hold nothing but 0 and 1, by their index."""
        indices = np.flatnonzero(wanted)
        values = table[indices]
        truths, sound = values == 1, ((values == 0) | (values == 1)).all(axis=1)
        return {index: truths[place].copy() for place, index in enumerate(indices.tolist()) if sound[place]}

    def _to_texts(self, wanted: Mask) -> dict[int, pl.Series | list[Any]]:
        """Return the texts of some columns, by their index: lists if they are short, or if cells cannot be read."""
        import polars as pl

        indices = np.flatnonzero(wanted)
        if not len(indices):
            return {}
        chosen = self.cells.select(wanted[self.cells.columns])
        order = np.cumsum(wanted) - 1  # of each column among those that are wanted
        places = order[chosen.columns] * self.height + chosen.rows
        run = replace(chosen, rows=np.arange(len(chosen)))  # as one line
        converted = ColumnTexts(run, _TEXT, from_1904=self._from_1904, table=True).result()
        cells: Any
        if isinstance(converted, pl.Series):
            cells = _spread(converted, places, len(indices) * self.height)
            cells = cells.to_list() if self.height <= SHORT else cells
        else:
            self._has_unreadable = True
            cells = [None] * (len(indices) * self.height)
            for place, cell in zip(places.tolist(), converted, strict=True):
                cells[place] = cell
        starts = range(0, len(indices) * self.height, self.height)
        return {
            index: cells[start : start + self.height] for index, start in zip(indices.tolist(), starts, strict=True)
        }


class GroupedColumn:
    """One column of a group; see `tables.RawColumn`."""

    __slots__ = "_group", "_index"  # there may be thousands

    def __init__(self, group: ColumnGroup, index: int) -> None:
        self._group, self._index = group, index

    def cells(self, rows: Sequence[int]) -> list[Cell]:
        """Return the cells in a few rows; None for a blank, `Unreadable` for a formula that was not calculated."""
        return self._group.cells_of(self._index, rows)

    def mark_filled(self) -> Mask:
        """Return a mask of the rows in which the cell is not blank."""
        first, end = self._group.bounds[self._index : self._index + 2]
        rows = self._group.cells.rows[first:end]
        mask = np.zeros(int(rows[-1]) + 1 if len(rows) else 0, np.bool_)
        mask[rows] = ~self._group.blank_texts[first:end]
        return mask

    def begins(self, mark: str) -> Positions:
        """Return the rows in which text begins with a mark."""
        column = self._group.column(self._index)
        texts = column.texts_of(c.TEXT)
        rows = column.rows[column.kinds == c.TEXT]
        marked: Positions = rows[texts.str.strip_chars_start(WHITE).str.starts_with(mark).to_numpy()]
        return marked

    def take(self, rows: range | Positions) -> TableColumn:
        """Return the cells of some rows."""
        return self._group.take(self._index, rows)

    def list_texts(self, rows: range | Positions) -> list[str]:
        """Return the cells of some rows that are text and not blank."""
        column, (first, end) = self._group.column(self._index), self._group.bounds[self._index : self._index + 2]
        texts = column.select((column.kinds == c.TEXT) & ~self._group.blank_texts[first:end])
        return _take_rows(texts, rows).texts().to_list() if len(texts) else []


def _take_rows(cells: c.CellRun, rows: range | Positions) -> c.CellRun:
    """Return the cells in some rows, which are counted among these rows."""
    if isinstance(rows, range):
        selected = cells.select((cells.rows >= rows.start) & (cells.rows < rows.stop))
        places = selected.rows - rows.start
    else:
        selected = cells.select(np.isin(cells.rows, rows))
        places = np.searchsorted(rows, selected.rows)
    return replace(selected, rows=places, width=0)


def _bits(*kinds: int) -> int:
    """Return a number in which each of some kinds of cells has a bit of its own."""
    return sum(1 << kind for kind in kinds)


_KIND_BITS = np.array([_bits(kind) for kind in range(c.LARGE + 1)])


def _spread(texts: pl.Series, places: Positions, count: int) -> pl.Series:
    """Return texts at their places, with null for blanks."""
    import polars as pl

    if len(texts) == count and (np.diff(places) == 1).all():
        return texts
    return pl.repeat(None, count, dtype=pl.String, eager=True).scatter(places, texts)


def _text_of(texts: Callable[[], dict[int, Any]], index: int) -> Any:
    return texts()[index]


def _take_unreadable(column: TableColumn) -> None:
    """Put the cells that cannot be read from the texts of a column to `unreadable`."""
    texts: Any = column.texts
    if isinstance(texts, list):
        column.unreadable = {index: cell for index, cell in enumerate(texts) if isinstance(cell, Unreadable)}
        for index in column.unreadable:
            texts[index] = None
