"""A worksheet as an ordinary table: its cells by column, each with its kind, in one pass over the sheet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...cells.serials import serials_to_moments
from ...columns import Request, cell_address, may_make_anchors
from ...dtypes import Array, Positions, from_name
from ...elements import Cell, Unreadable
from ...tables import EXACT, WHITE, Table, TableColumn
from .reader import cells as c
from .reader.column import ColumnRun
from .reader.column_runs import ColumnRuns, gather_columns, join_runs
from .reader.column_texts import ColumnTexts
from .reader.scalars import codes_of_words, scalar_of, scalars
from .sheet import ExcelSheet

if TYPE_CHECKING:
    import polars as pl

_TEXT = from_name("string")
_FEW = 256  # cells of which plain Python is faster than the engine
_ROWS_TOLD = 100  # blank rows, at most, that stand for rows without an array
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,17}(?:\.[0-9]{1,20})?(?:[eE][-+]?[0-9]{1,2})?")


class ExcelTable:
    """A worksheet that is meant as a table; see `tables.TableSheet`."""

    def __init__(self, sheet: ExcelSheet) -> None:
        self._sheet = sheet
        self.title = sheet.title
        self._runs: list[c.CellRun | c.AlikeRows] | None = None

    def _cells(self) -> list[c.CellRun | c.AlikeRows]:
        """Return all cells of the sheet; numbers may be Float64 if doubles hold them for certain."""
        if self._runs is None:
            with self._sheet.table_runs() as runs:
                self._runs = list(runs)
        return self._runs

    def head(self, budget: int) -> tuple[Sequence[Sequence[Cell]], bool]:
        """Return the first rows; blank ones in their place if they hold no words of headers, which is faster."""
        rows = self._rows_without_arrays(budget)
        return self._sheet.head_of(_by_row(self._cells()), budget) if rows is None else rows

    def _rows_without_arrays(self, budget: int) -> tuple[list[list[Cell]], bool] | None:
        """Return blank rows for the rows that were searched, and whether these are all; None if an array may be there.

        Args:
            budget: the number of cells that are searched, and up to a row more.
        """
        texts: list[pl.Series] = []
        height, ended = 0, True
        for run in self._cells():
            if budget <= 0:
                ended = False
                break
            some = (
                run.head(budget // len(run.columns) + 1)
                if isinstance(run, c.AlikeRows)
                else run.first(budget + c.MOST_COLUMNS)
            )
            texts += some.texts()
            budget, ended = budget - len(some), len(some) == len(run)
            height = max(height, some.after)
        codes = codes_of_words(texts)
        blank: list[list[Cell]] = [[]] * min(height, _ROWS_TOLD)
        return None if may_make_anchors(np.array(codes, np.uint8)) else (blank, ended)

    def table(self) -> Table:
        """Return all cells as a table, and release them: called once."""
        runs, self._runs = self._cells(), None
        filled = np.zeros(c.MOST_COLUMNS, dtype=bool)
        for run in runs:
            of_one_row = run.columns[: run.width] if isinstance(run, c.CellRun) and run.width else run.columns
            filled[of_one_row] = True
        places = np.flatnonzero(filled).tolist()
        pieces = gather_columns(_consume(runs), [Request(place, 0, _TEXT) for place in places])
        columns = {place: self._join_column(piece, place) for place, piece in zip(places, pieces, strict=True)}
        return Table(max((column.height for column in columns.values()), default=0), columns)

    def _join_column(self, gathering: ColumnRuns, place: int) -> ExcelColumn:
        """Return a column, given its cells run by run and its number in the sheet."""
        halves = [join_runs(half) for half in gathering.split()]
        for _, twice in halves:
            if twice is not None:
                raise c.repeated_cell_error(f"{self.title}!{cell_address(twice, place)}")
        (texts, _), (numbers, _) = halves
        return ExcelColumn(texts, numbers, from_1904=self._sheet.from_1904)


def _by_row(runs: list[c.CellRun | c.AlikeRows]) -> Iterator[c.CellRun]:
    """Yield the same cells as runs of cells alone, without `AlikeRows`."""
    for run in runs:
        yield from run.runs() if isinstance(run, c.AlikeRows) else (run,)


def _consume(runs: list[c.CellRun | c.AlikeRows]) -> Iterator[c.CellRun | c.AlikeRows]:
    """Yield the runs one by one, and remove each from the list, so that its memory is free once it is used."""
    runs.reverse()
    while runs:
        yield runs.pop()


class ExcelColumn:
    """A column of a worksheet; see `tables.RawColumn`.

    Args:
        texts: the cells whose values are text.
        numbers: the cells whose values are Float64: numbers that doubles hold for certain, dates and truth values.
        from_1904: whether serial dates count from 1904-01-01, not from 1900.

    Attributes:
        height: the number of rows down to the last cell.
    """

    def __init__(self, texts: ColumnRun, numbers: ColumnRun, *, from_1904: bool) -> None:
        self._texts, self._numbers, self._from_1904 = texts, numbers, from_1904
        self.height = max(texts.height, numbers.height)

    def cell(self, row: int) -> Cell:
        """Return the cell in a row; None for a blank, `Unreadable` for a formula that was not calculated."""
        for half in (self._texts, self._numbers):
            index = int(np.searchsorted(half.places, row))
            if index < len(half) and half.places[index] == row:
                kind, value = int(half.kinds[index]), half.values[index]
                if kind == c.PENDING:
                    return Unreadable("a formula without a value")
                if kind != c.SERIAL and isinstance(value, str):
                    return scalar_of(kind, value)
                one = slice(index, index + 1)
                places = half.places[one]
                run = c.CellRun(places, places, half.kinds[one], half.values[one])
                return scalars(run, from_1904=self._from_1904)[0]
        return None

    def mark_filled(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return a mask of the rows in which the cell is not blank."""
        rows = np.zeros(self.height, dtype=bool)
        rows[self._numbers.places] = True
        rows[self._texts.places[~_mark_blank(self._texts)]] = True
        return rows

    def begins(self, mark: str) -> Positions:
        """Return the rows in which text begins with a mark."""
        texts = np.flatnonzero(self._texts.kinds == c.TEXT)
        values = self._texts.values.gather(texts)
        rows: Positions = self._texts.places[
            texts[values.str.strip_chars_start(WHITE).str.starts_with(mark).to_numpy()]
        ]
        return rows

    def take(self, rows: range | Positions) -> TableColumn:
        """Return the cells of some rows."""
        run, numbers = _take_rows(self._texts, rows), _take_rows(self._numbers, rows)
        blank = _mark_blank(run)
        run = _select(run, ~blank) if blank.any() else run
        faults = np.flatnonzero(run.kinds == c.FAULT)
        errors: dict[int, str] = {}
        if len(faults):
            errors = dict(zip(run.places[faults].tolist(), run.values.gather(faults).to_list(), strict=True))
            run = _select(run, run.kinds != c.FAULT)
        return _make_column(run, numbers, len(rows), errors, self._from_1904)


def _mark_blank(run: ColumnRun) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return a mask of the cells that hold nothing but white space."""
    import polars as pl

    blank = np.zeros(len(run), np.bool_)
    if not len(run):
        return blank
    texts = np.flatnonzero(run.kinds == c.TEXT)
    if len(run) <= _FEW:
        blank[[index for index in texts.tolist() if not run.values[index].strip(WHITE)]] = True
    elif len(texts):
        values = run.values if len(texts) == len(run) else run.values.gather(texts)
        is_blank = pl.col("text").str.strip_chars(WHITE) == ""
        blank[texts] = values.to_frame("text").select(is_blank).to_series().to_numpy()
    return blank


def _take_rows(run: ColumnRun, rows: range | Positions) -> ColumnRun:
    """Return the cells of some rows; their places are counted among these rows."""
    places = run.places
    if isinstance(rows, range):
        start, stop = np.searchsorted(places, [rows.start, rows.stop]).tolist()
        return ColumnRun(places[start:stop] - rows.start, run.kinds[start:stop], run.values[start:stop])
    kept = np.flatnonzero(np.isin(places, rows))
    return ColumnRun(np.searchsorted(rows, places[kept]), run.kinds[kept], run.values.gather(kept))


def _make_column(
    run: ColumnRun, doubles: ColumnRun, height: int, errors: dict[int, str], from_1904: bool
) -> TableColumn:
    """Return a column without error cells: as text, as doubles if all are numbers, or as both if their digits count."""

    numbers = None
    if not len(run) and not len(doubles):
        return TableColumn([None] * height, None, errors)
    if all(bool(((half.kinds == c.NUMBER) | (half.kinds == c.LARGE)).all()) for half in (run, doubles)):
        made = _to_doubles(run.values)
        if made is not None:
            numbers = _spread_over_rows(_merge(ColumnRun(run.places, run.kinds, made), doubles), height)
            if len(run) == 0 or bool(np.abs(made.to_numpy()).max() < EXACT):
                return TableColumn(None, numbers, errors)
    typed = _decode_typed(run, doubles, height, from_1904)
    if typed is not None:
        return TableColumn(lambda: _to_texts(run, doubles, from_1904), None, errors, typed=typed)
    texts = _to_texts(run, doubles, from_1904)
    if not isinstance(texts, Sequence):
        if len(texts) < height:
            texts = texts.extend_constant(None, height - len(texts))
        return TableColumn(texts, numbers, errors)
    cells: list[Any] = [*texts, *[None] * (height - len(texts))]
    unreadable = {index: cell for index, cell in enumerate(cells) if isinstance(cell, Unreadable)}
    for index in unreadable:
        cells[index] = None
    return TableColumn(cells, numbers, errors, unreadable)


def _to_texts(run: ColumnRun, doubles: ColumnRun, from_1904: bool) -> Any:
    """Return the cells of a column as text."""
    import polars as pl

    if len(doubles):
        texts = doubles.values.cast(pl.String)
        if (doubles.kinds == c.BOOLEAN).any():
            texts = texts.str.strip_suffix(".0")
        run = _merge(run, ColumnRun(doubles.places, doubles.kinds, texts))
    return ColumnTexts(run, _TEXT, from_1904=from_1904, table=True).result()


def _decode_typed(run: ColumnRun, doubles: ColumnRun, height: int, from_1904: bool) -> Array | None:
    """Return the array of a column in which every cell is a date, or every one a truth value; otherwise None."""
    kinds = np.concatenate([run.kinds, doubles.kinds])
    kind = int(kinds[0])
    if len(kinds) < height or kind not in (c.SERIAL, c.BOOLEAN) or (kinds != kind).any():
        return None
    made = _to_doubles(run.values)
    if made is None:
        return None
    values = _merge(ColumnRun(run.places, run.kinds, made), doubles).values.to_numpy()
    if kind == c.SERIAL:
        return serials_to_moments(values, from_1904=from_1904)
    return values == 1 if ((values == 0) | (values == 1)).all() else None


def _to_doubles(texts: pl.Series) -> pl.Series | None:
    """Return numerals as doubles; None if a text is no numeral, or too large."""
    import polars as pl

    if len(texts) <= _FEW:
        numerals = texts.to_list()
        if all(map(_PLAIN_NUMBER.fullmatch, numerals)):
            return pl.Series(list(map(float, numerals)), dtype=pl.Float64)
    doubles = texts.cast(pl.Float64, strict=False)
    return None if doubles.null_count() or not doubles.is_finite().all() else doubles


def _merge(run: ColumnRun, other: ColumnRun) -> ColumnRun:
    """Return the cells of two runs as one run, in the order of their rows."""
    import polars as pl

    if not len(run) or not len(other):
        return other if len(other) else run
    places, kinds = np.concatenate([run.places, other.places]), np.concatenate([run.kinds, other.kinds])
    values = pl.concat([run.values, other.values])
    if run.places[-1] > other.places[0]:
        order = np.argsort(places, kind="stable")
        places, kinds, values = places[order], kinds[order], values.gather(order)
    return ColumnRun(places, kinds, values)


def _select(run: ColumnRun, kept: np.ndarray[Any, np.dtype[np.bool_]]) -> ColumnRun:
    """Return the cells under a mask."""
    places = np.flatnonzero(kept)
    return ColumnRun(run.places[places], run.kinds[places], run.values.gather(places))


def _spread_over_rows(run: ColumnRun, height: int) -> pl.Series:
    """Return numbers at their places as a Series of some height, with null for blanks."""
    import polars as pl

    if len(run) == height:
        return run.values
    return pl.repeat(None, height, dtype=pl.Float64, eager=True).scatter(run.places, run.values)
