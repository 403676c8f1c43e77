"""Runs of cells, as a sheet gives them row by row: sorted into columns, looked up by position, or as Python scalars."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ....cells.serials import serials_to_dates
from ....columns import Request
from ....columns.words import CODES, NONE, WORDS, code_of
from ....dtypes import Positions
from ....elements import Cell
from ....errors import FormatError
from ...workbooks import MOST_COLUMNS
from . import cells as c
from .cells import CellRun, Kinds
from .column import ColumnRun

if TYPE_CHECKING:
    import polars as pl


# Runs of cells, as a sheet gives them row by row, sorted into the columns that are requested.

_CELLS_A_RUN = 2**18  # cells that are collected, at least, before they are sorted
_CELLS_A_COLUMN = 64  # cells for each column that are collected, at least, where that is more
_LONG_RUN = 2**11  # cells that a column gets at a time, on average, from which on they are copied for it
_LONG_COLUMN = 2**8  # rows, of the same columns, from which on a run is cut into columns without sorting
_BLANKS_ALWAYS, _BLANKS_TIMES = 2**23, 32  # blanks that columns may have in all, and how many more for each other cell


@dataclass
class ColumnRuns:
    """The cells of one column from the requested row on, run by run; the lists run in parallel.

    Attributes:
        rows: of the cells of each run, counted from the requested row; a range if no row is left out.
        kinds: of the cells of each run.
        values: of the cells of each run.
        height: the number of rows from the requested one to the last cell.
    """

    rows: list[range | Positions] = field(default_factory=list)
    kinds: list[Kinds] = field(default_factory=list)
    values: list[pl.Series] = field(default_factory=list)
    height: int = 0

    def __len__(self) -> int:
        return sum(map(len, self.rows))

    def split(self) -> tuple[ColumnRuns, ColumnRuns]:
        """Return the runs whose values are text, and those whose values are Float64."""
        halves = ColumnRuns(), ColumnRuns()
        for rows, kinds, values in zip(self.rows, self.kinds, self.values, strict=True):
            half = halves[values.dtype.is_numeric()]
            half.rows.append(rows)
            half.kinds.append(kinds)
            half.values.append(values)
        return halves

    def add(self, rows: Positions, kinds: Kinds, values: pl.Series) -> None:
        """Add a run of cells, which may have gaps."""
        first, count = int(rows[0]), len(rows)
        together = int(rows[-1]) - first == count - 1 and bool((np.diff(rows) == 1).all())
        self.rows.append(range(first, first + count) if together else rows)
        alike = bool((kinds == kinds[0]).all())
        self.kinds.append(np.broadcast_to(kinds[:1].copy(), count) if alike else kinds)
        self.values.append(values)
        self.height = max(self.height, 1 + int(rows.max()))

    def add_neighbours(self, first: int, kinds: Kinds, values: pl.Series) -> None:
        """Add a run of cells one under another, the first of them in the row `first`."""
        self.rows.append(range(first, first + len(kinds)))
        self.kinds.append(kinds)
        self.values.append(values)
        self.height = max(self.height, first + len(kinds))

    @property
    def is_whole(self) -> bool:
        """Whether it is one run without a gap, from the first row on."""
        return len(self.rows) == 1 and isinstance(self.rows[0], range) and self.rows[0].start == 0


def gather_columns(
    runs: Iterable[CellRun], requests: Sequence[Request], *, most_blanks: int = _BLANKS_ALWAYS
) -> list[ColumnRuns]:
    """Return the cells of each requested column, from the requested row on.

    `most_blanks`: that the columns may have in all, beside some for each other cell.

    Raises:
        FormatError: there are so few cells, so far apart, that the columns would be next to nothing but blanks.
    """
    columns = [ColumnRuns() for _ in requests]
    wanted = np.full(MOST_COLUMNS, -1, dtype=np.int64)
    wanted[[request.column for request in requests]] = np.arange(len(requests))
    first_rows = np.array([request.row for request in requests], dtype=np.int64)
    least = max(_CELLS_A_RUN, _CELLS_A_COLUMN * len(requests))
    waiting: list[tuple[Positions, CellRun]] = []
    for run in runs:
        if run.width and len(run) >= _LONG_COLUMN * run.width and (run.rows[0] >= first_rows).all():
            _sort_runs(waiting, first_rows, columns)
            waiting = []
            _slice_run(run, wanted, first_rows, columns)
            continue
        which = wanted[run.columns]
        mask = which >= 0
        mask &= run.rows >= first_rows[which]
        if not mask.all():
            run, which = run.select(mask), which[mask]
        if not len(run):
            continue
        if waiting and waiting[-1][1].values.dtype != run.values.dtype:
            _sort_runs(waiting, first_rows, columns)
            waiting = []
        waiting.append((which, run))
        if sum([len(which) for which, _ in waiting]) >= least:
            _sort_runs(waiting, first_rows, columns)
            waiting = []
    _sort_runs(waiting, first_rows, columns)
    heights, cells = sum([column.height for column in columns]), sum(map(len, columns))
    if heights > most_blanks + _BLANKS_TIMES * cells:
        raise FormatError(
            f"{cells} cells, so far apart that their columns are {heights} cells long",
            hint="delete what stands alone, far below all else",
        )
    return columns


def _slice_run(run: CellRun, wanted: Positions, first_rows: Positions, columns: list[ColumnRuns]) -> None:
    """Give each column its cells of a run in which all rows have the same columns.

    `wanted`: by the number of a column in the sheet, its index among the requested columns, or -1. `first_rows`: the
    row from which on each requested column is wanted.
    """
    rows, count = run.rows[:: run.width], len(run) // run.width
    places = [place for place, column in enumerate(run.columns[: run.width].tolist()) if wanted[column] >= 0]
    together = bool((np.diff(rows) == 1).all())
    kinds = run.kinds.reshape(count, run.width)
    alike = (kinds == kinds[0]).all(axis=0).tolist()
    of_one = {kind: np.broadcast_to(np.uint8(kind), count) for kind in set(kinds[0].tolist())}
    for place, values in zip(places, _split_values(run, places), strict=True):
        which = int(wanted[run.columns[place]])
        column_kinds = of_one[int(kinds[0, place])] if alike[place] else kinds[:, place]
        if together:
            columns[which].add_neighbours(int(rows[0] - first_rows[which]), column_kinds, values)
        else:
            columns[which].add(rows - first_rows[which], column_kinds, values)


def _split_values(run: CellRun, places: list[int]) -> list[pl.Series]:
    """Return the values in some columns of a run in which all rows have the same columns.

    `places`: which cells of each row are wanted, counted from 0.
    """
    import polars as pl

    count = len(run) // run.width
    if run.values.dtype.is_numeric() and not run.values.null_count():
        numbers = run.values.to_numpy().reshape(count, run.width)
        values = pl.Series((numbers if len(places) == run.width else numbers[:, places]).T.ravel())
    else:
        first = np.arange(0, len(run), run.width)
        values = run.values[(np.array(places, np.int64)[:, None] + first).ravel()]
    return [values.slice(start, count) for start in range(0, len(values), count)]


def _sort_runs(runs: list[tuple[Positions, CellRun]], first_rows: Positions, columns: list[ColumnRuns]) -> None:
    """Give each column its cells of some runs, which are sorted by column.

    `runs`: cells, and for each cell the index of its column among the requested ones. `first_rows`: the row from which
    on each requested column is wanted.
    """
    import polars as pl

    if not runs:
        return
    which = np.concatenate([which for which, _ in runs])
    rows = np.concatenate([run.rows for _, run in runs])
    kinds = np.concatenate([run.kinds for _, run in runs])
    values = pl.concat([run.values for _, run in runs])
    order = np.argsort(which.astype(np.uint16), kind="stable") if len(columns) > 1 else np.arange(len(which))
    bounds = np.searchsorted(which[order], np.arange(len(columns) + 1))
    rows, kinds = (rows - first_rows[which])[order], kinds[order]
    few = len(which) < _LONG_RUN * len(columns)
    if few:
        _share_out(rows, kinds, values[order], bounds, columns)
        return
    for index in np.flatnonzero(np.diff(bounds)).tolist():
        start, end = int(bounds[index]), int(bounds[index + 1])
        # copied, so that the memory of each column is its own, and is free once that column is done
        columns[index].add(rows[start:end].copy(), kinds[start:end], values[order[start:end]])


def _share_out(
    rows: Positions, kinds: Kinds, values: pl.Series, bounds: Positions, columns: Sequence[ColumnRuns]
) -> None:
    """Give each of very many columns its few cells, as views and no copies.

    `bounds`: the index of the first cell of each column, and the number of cells.
    """
    gaps = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.diff(rows) != 1)])  # before each cell
    filled = np.flatnonzero(np.diff(bounds))
    starts, ends = bounds[filled], bounds[filled + 1]
    together = (gaps[ends - 1] == gaps[starts]).tolist()
    firsts = rows[starts].tolist()
    for index, start, end, first, unbroken in zip(
        filled.tolist(), starts.tolist(), ends.tolist(), firsts, together, strict=True
    ):
        column, piece = columns[index], values.slice(start, end - start)
        if unbroken:
            column.add_neighbours(first, kinds[start:end], piece)
        else:
            column.add(rows[start:end], kinds[start:end], piece)


def join_runs(column: ColumnRuns) -> tuple[ColumnRun, int | None]:
    """Return the cells of a column as one run, sorted by row, and the first row that occurs twice, or None.

    The runs of the column are released.
    """
    import polars as pl

    if not column.rows:
        return ColumnRun(np.zeros(0, np.int64), np.zeros(0, np.uint8), pl.Series([], dtype=pl.String)), None
    rows: Positions = np.concatenate(
        [np.arange(rows.start, rows.stop) if isinstance(rows, range) else rows for rows in column.rows]
    )
    kinds: Kinds = np.concatenate(column.kinds)
    values = pl.concat(column.values)
    column.rows, column.kinds, column.values = [], [], []
    steps = np.diff(rows)
    if len(steps) and int(steps.min()) < 1:
        order = np.argsort(rows, kind="stable")
        rows, kinds, values = rows[order], kinds[order], values[order]
        twice = np.flatnonzero(np.diff(rows) < 1)
        if len(twice):
            return ColumnRun(rows, kinds, values), int(rows[twice[0]])
    return ColumnRun(rows, kinds, values), None


# The cells of some rows of a sheet, sorted by their positions, so that any of them can be looked up.

ROW = 2**31  # the position of a cell is its row times this, plus its column


class SomeRuns:
    """The cells of some rows: added run by run, sorted by row and column once, then looked up."""

    def __init__(self) -> None:
        self._cell_runs: list[CellRun] = []

    def __len__(self) -> int:
        """Return the number of cells; only after `sort`."""
        return len(self._positions)

    def add(self, run: CellRun) -> None:
        """Add the cells of a run; only before `sort`."""
        if len(run):
            self._cell_runs.append(run)

    def sort(self) -> SomeRuns:
        """Sort the cells by row and column, and return this object."""
        import polars as pl

        rows = np.concatenate([np.zeros(0, np.int64), *[run.rows for run in self._cell_runs]])
        columns = np.concatenate([np.zeros(0, np.int64), *[run.columns for run in self._cell_runs]])
        positions = rows * ROW + columns
        order = np.argsort(positions, kind="stable")
        self._positions = positions[order]
        self._kinds = np.concatenate([np.zeros(0, np.uint8), *[run.kinds for run in self._cell_runs]])[order]
        values = [run.values for run in self._cell_runs] or [pl.Series([], dtype=pl.String)]
        self._values = pl.concat(values)[order]
        self._cell_runs = []
        return self

    def cells(self) -> CellRun:
        """Return all cells as one run."""
        rows, columns = np.divmod(self._positions, ROW)
        return CellRun(rows, columns, self._kinds, self._values)

    def at(self, positions: Positions) -> tuple[Positions, CellRun]:
        """Return the indices of those positions at which a cell stands, and those cells."""
        index = np.searchsorted(self._positions, positions)
        known = np.minimum(index, max(len(self._positions) - 1, 0))
        match = np.flatnonzero(self._positions[known] == positions) if len(self._positions) else index[:0]
        selected = known[match]
        rows, columns = np.divmod(self._positions[selected], ROW)
        return match, CellRun(rows, columns, self._kinds[selected], self._values[selected])

    def between(self, request: Request) -> tuple[ColumnRun, int | None]:
        """Return the requested cells of a row, and the place among them of a cell that comes twice, or None."""
        first = request.row * ROW + request.column
        end = request.row * ROW + (ROW if request.stop is None else request.stop)
        low, high = np.searchsorted(self._positions, [first, end]).tolist()
        places = self._positions[low:high] - first
        twice = np.flatnonzero(np.diff(places) == 0)
        row = ColumnRun(places, self._kinds[low:high], self._values[low:high])
        return row, int(places[twice[0]]) if len(twice) else None


# Cells as Python scalars, and those among them that hold a word of a header.

_FEW = 2**14  # cells of which plain Python is faster than the engine
_LONGEST_NUMBER = 1000  # characters
_DIGITS = re.compile("-?[0-9]{1,20}")
_DAY = re.compile("([0-9]{4,5}-[0-9]{2}-[0-9]{2})(?:T00:00:00(?:[.,]0{1,9})?)?")


def words_of(run: c.CellRun) -> tuple[Positions, list[int]]:
    """Return the indices of the cells that hold words of headers, and the codes of these words."""
    if len(run) <= _FEW:
        kinds, values = run.kinds.tolist(), run.values.to_list()
        codes = [  # most words are written as they are in `WORDS`
            (code_of(value) if (code := CODES.get(value)) is None else code) if kind == c.TEXT else NONE
            for kind, value in zip(kinds, values, strict=True)
        ]
        which = np.array([index for index, code in enumerate(codes) if code != NONE], np.int64)
        return which, [code for code in codes if code != NONE]
    texts = run.values.str.strip_chars().str.to_lowercase()
    is_word = texts.is_in(list(WORDS)).fill_null(value=False).to_numpy() & (run.kinds == c.TEXT)
    which = np.flatnonzero(is_word)
    return which, [CODES[text] for text in texts.gather(which).to_list()]


def codes_of_words(texts: list[pl.Series]) -> list[int]:
    """Return the codes of the words of headers among some texts; a word that stands several times may come once."""
    import polars as pl

    some = pl.concat(texts) if texts else pl.Series([], dtype=pl.String)
    if len(some) > _FEW:
        some = some.unique()  # most texts of tables come again and again
    kinds, places = np.full(len(some), c.TEXT, np.uint8), np.arange(len(some))
    return words_of(c.CellRun(places, places, kinds, some))[1]


def scalars(run: c.CellRun, *, from_1904: bool) -> list[Cell]:
    """Return cells as Python scalars: numbers, text and booleans; dates as ISO text, errors as their names.

    A number that a format shows as a date, and that is not a date, such as a time of day, stays a number.
    """
    numeric = run.values.dtype.is_numeric()
    if numeric and ((run.kinds == c.NUMBER) | (run.kinds == c.LARGE)).all():
        return [int(value) if value.is_integer() and abs(value) <= 2.0**53 else value for value in run.values.to_list()]
    texts: list[Any] = (run.values.cast(str).str.strip_suffix(".0") if numeric else run.values).to_list()
    serials = np.flatnonzero(run.kinds == c.SERIAL)
    if len(serials):
        numbers = [_parse_number(texts[index]) for index in serials.tolist()]
        counts = [math.nan if isinstance(number, str) else number for number in numbers]  # a damaged cell may hold text
        dates = serials_to_dates(np.array(counts, float), from_1904=from_1904)
        for index, date, number in zip(serials.tolist(), dates, numbers, strict=True):
            texts[index] = number if date is None else date  # a time of day is no blank
    others = np.flatnonzero((run.kinds != c.TEXT) & (run.kinds != c.SERIAL))
    values: dict[tuple[int, str], Cell] = {}  # headers of very many arrays say the same
    for index, kind in zip(others.tolist(), run.kinds[others].tolist(), strict=True):
        cell = kind, texts[index]
        if cell not in values:
            values[cell] = scalar_of(*cell)
        texts[index] = values[cell]
    return texts


def scalar_of(kind: int, text: str) -> Cell:
    """Return a cell that is not a date as a Python scalar."""
    if kind in (c.NUMBER, c.LARGE):
        return _parse_number(text)
    if kind == c.BOOLEAN:
        return text.strip() in ("1", "true")
    return None if kind == c.PENDING else text


def number_shown(kind: int, text: str, day_zero: str | None) -> int | float | None:
    """Return the number that a cell's format shows as a date or as a duration; None if it is unknown.

    `day_zero`: the date that stands for the number 0, in a workbook whose cells hold dates as such; otherwise None.
    """
    if kind in (c.SERIAL, c.DURATION):
        number = _parse_number(text)
        return number if isinstance(number, int | float) else None
    match = _DAY.fullmatch(text) if kind == c.MOMENT and day_zero is not None else None
    if match is None:
        return None
    try:
        day = np.datetime64(match[1] if len(match[1]) == len("1899-12-30") else f"+{match[1]}", "D")
        return int((day - np.datetime64(day_zero, "D")).astype(np.int64))
    except ValueError:
        return None  # no calendar has such a day


def _parse_number(text: str) -> Cell:
    if _DIGITS.fullmatch(text):
        return int(text)
    try:
        value = float(text[:_LONGEST_NUMBER])
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) <= 2.0**53 else value
