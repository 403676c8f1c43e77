"""A worksheet as an ordinary table: its cells by column, each with its kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...columns import Request, cell_address
from ...dtypes import Positions, from_name
from ...elements import Cell, Unreadable
from ...errors import FormatError
from ...tables import EXACT, WHITE, Table, TableColumn
from .reader import cells as c
from .reader.column import ColumnRun, ColumnTexts
from .reader.column_runs import gather_columns, join_runs
from .sheet import ExcelSheet, scalars

if TYPE_CHECKING:
    import polars as pl

_TEXT = from_name("string")


class ExcelTable:
    """A worksheet that is meant as a table; see `tables.TableSheet`."""

    def __init__(self, sheet: ExcelSheet) -> None:
        self._sheet = sheet
        self.title = sheet.title

    def head(self, budget: int) -> tuple[Sequence[Sequence[Cell]], bool]:
        """Return the first rows."""
        return self._sheet.head(budget)

    def table(self) -> Table:
        """Return all cells."""
        places = self._sheet.filled_columns()
        columns: dict[int, ExcelColumn] = {}
        with self._sheet.runs(numeric=False) as runs:
            pieces = gather_columns(runs, [Request(place, 0, _TEXT) for place in places])
        for place, piece in zip(places, pieces, strict=True):
            run, twice = join_runs(piece)
            if twice is not None:
                raise FormatError(
                    "the cell comes twice in the sheet", location=f"{self.title}!{cell_address(twice, place)}"
                )
            columns[place] = ExcelColumn(run, from_1904=self._sheet.from_1904)
        return Table(max((column.height for column in columns.values()), default=0), columns)


class ExcelColumn:
    """A column of a worksheet; see `tables.RawColumn`.

    Attributes:
        height: how many rows there are up to its last cell.
    """

    def __init__(self, run: ColumnRun, *, from_1904: bool) -> None:
        self._run, self._from_1904 = run, from_1904
        self.height = run.height

    def cell(self, row: int) -> Cell:
        """Return the cell in a row; None for a blank."""
        index = int(np.searchsorted(self._run.places, row))
        if index == len(self._run) or self._run.places[index] != row:
            return None
        one = slice(index, index + 1)
        places = self._run.places[one]
        run = c.CellRun(places, places, self._run.kinds[one], self._run.values[one])
        return scalars(run, from_1904=self._from_1904)[0]

    def filled(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which rows hold something."""
        rows = np.zeros(self.height, dtype=bool)
        held = self._run.kinds != c.TEXT
        texts = np.flatnonzero(~held)
        held[texts] = (self._run.values.gather(texts).str.strip_chars(WHITE) != "").to_numpy()
        rows[self._run.places[held]] = True
        return rows

    def begins(self, mark: str) -> Positions:
        """Return the rows in which text begins with a mark."""
        texts = np.flatnonzero(self._run.kinds == c.TEXT)
        values = self._run.values.gather(texts)
        rows: Positions = self._run.places[texts[values.str.strip_chars_start(WHITE).str.starts_with(mark).to_numpy()]]
        return rows

    def take(self, rows: range | Positions) -> TableColumn:
        """Return the cells of some rows."""
        run = self._part(rows)
        blank = (run.kinds == c.TEXT) & (run.values.str.strip_chars(WHITE) == "").to_numpy()
        run = _only(run, ~blank) if blank.any() else run
        faults = np.flatnonzero(run.kinds == c.FAULT)
        errors = dict(zip(run.places[faults].tolist(), run.values.gather(faults).to_list(), strict=True))
        return _column(_only(run, run.kinds != c.FAULT) if errors else run, len(rows), errors, self._from_1904)

    def _part(self, rows: range | Positions) -> ColumnRun:
        """Return the cells of some rows, with their places among those."""
        places = self._run.places
        if isinstance(rows, range):
            start, stop = np.searchsorted(places, [rows.start, rows.stop]).tolist()
            return ColumnRun(places[start:stop] - rows.start, self._run.kinds[start:stop], self._run.values[start:stop])
        kept = np.flatnonzero(np.isin(places, rows))
        return ColumnRun(np.searchsorted(rows, places[kept]), self._run.kinds[kept], self._run.values.gather(kept))


def _column(run: ColumnRun, height: int, errors: dict[int, str], from_1904: bool) -> TableColumn:
    """Return a column without error cells: as text, as doubles if all are numbers, or as both if their digits count."""
    import polars as pl

    numbers = None
    if len(run) and bool(np.isin(run.kinds, (c.NUMBER, c.LARGE)).all()):
        doubles = run.values.cast(pl.Float64, strict=False)
        if not doubles.null_count() and doubles.is_finite().all():
            numbers = _spread_over_rows(doubles, run, height)
            if bool((doubles.abs() < EXACT).all()):
                return TableColumn(None, numbers, errors)
    if not len(run):
        return TableColumn(pl.repeat(None, height, dtype=pl.String, eager=True), None, errors)
    texts = ColumnTexts(run, _TEXT, from_1904=from_1904, table=True).result()
    if not isinstance(texts, Sequence):
        return TableColumn(texts.extend_constant(None, height - len(texts)), numbers, errors)
    cells: list[Any] = [*texts, *[None] * (height - len(texts))]
    unreadable = {index: cell for index, cell in enumerate(cells) if isinstance(cell, Unreadable)}
    for index in unreadable:
        cells[index] = None
    return TableColumn(cells, numbers, errors, unreadable)


def _only(run: ColumnRun, kept: np.ndarray[Any, np.dtype[np.bool_]]) -> ColumnRun:
    """Return some of the cells."""
    places = np.flatnonzero(kept)
    return ColumnRun(run.places[places], run.kinds[places], run.values.gather(places))


def _spread_over_rows(numbers: pl.Series, run: ColumnRun, height: int) -> pl.Series:
    """Numbers at their places, null between."""
    import polars as pl

    if len(run) == height:
        return numbers
    return pl.repeat(None, height, dtype=pl.Float64, eager=True).scatter(run.places, numbers)
