"""Runs of cells sorted into columns, and a column as a Series of the engine, or as text where cells are looked at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ....columns import Request
from ....columns.sheet import Numbers
from ....dtypes import Buffer, DType, Mask, Positions
from ....elements import FALSE_WORDS, TRUE_WORDS, Cell, Unreadable, engine_dtype, format_bool, shortest_text
from ....elements.dates import dates_to_iso
from ....elements.floats import find_ties
from ....elements.serials import serial_unit, serials_to_counts, serials_to_dates
from ....errors import FormatError
from ...workbooks import MOST_COLUMNS
from .cells import BOOLEAN, DURATION, FAULT, LARGE, LONG, MOMENT, NUMBER, PENDING, ROUNDED, SERIAL, TEXT, CellRun, Kinds

if TYPE_CHECKING:
    import polars as pl


# Runs of cells, as a sheet gives them row by row, sorted into the columns that are requested.

_CELLS_A_RUN = 2**18  # cells that are collected, at least, before they are sorted
_CELLS_A_COLUMN = 64  # cells for each column that are collected, at least, where that is more
LONG_COLUMN = 2**8  # rows, of the same columns, from which on a run is cut into columns without sorting
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

    def add(self, rows: range | Positions, kinds: Kinds, values: pl.Series) -> None:
        """Add a run of cells."""
        self.rows.append(rows)
        self.kinds.append(kinds)
        self.values.append(values)
        self.height = max(self.height, 1 + (rows[-1] if isinstance(rows, range) else int(rows.max())))


def gather_columns(
    runs: Iterable[CellRun],
    requests: Sequence[Request],
    *,
    most_blanks: int = _BLANKS_ALWAYS,
    note: Callable[[CellRun], None] | None = None,
) -> list[ColumnRuns]:
    """Return the cells of each requested column, from the requested row on.

    `most_blanks`: that the columns may have in all, beside some for each other cell. `note`: is given each run.

    Raises:
        FormatError: there are so few cells, so far apart, that the columns would be next to nothing but blanks.
    """
    columns = [ColumnRuns() for _ in requests]
    wanted = np.full(MOST_COLUMNS, -1, dtype=np.int64)
    wanted[[request.column for request in requests]] = np.arange(len(requests))
    first_rows = np.array([request.row for request in requests], dtype=np.int64)
    least = max(_CELLS_A_RUN, _CELLS_A_COLUMN * len(requests))
    waiting: list[tuple[Positions, CellRun]] = []
    count = 0  # of the cells that wait
    for run in runs:
        if note is not None:
            note(run)
        if run.width and len(run) >= LONG_COLUMN * run.width and (run.rows[0] >= first_rows).all():
            _sort_runs(waiting, first_rows, columns)
            waiting, count = [], 0
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
            waiting, count = [], 0
        waiting.append((which, run))
        count += len(which)
        if count >= least:
            _sort_runs(waiting, first_rows, columns)
            waiting, count = [], 0
    _sort_runs(waiting, first_rows, columns)
    heights, cells = sum([column.height for column in columns]), sum(map(len, columns))
    if heights > most_blanks + _BLANKS_TIMES * cells:
        raise FormatError(
            f"{cells} cells, so far apart that their columns are {heights} cells long",
            hint="delete the cells that stand far below all others",
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
    for place, values in zip(places, _split_values(run, places), strict=True):
        which = int(wanted[run.columns[place]])
        first = int(rows[0] - first_rows[which])
        some = range(first, first + count) if together else rows - first_rows[which]
        columns[which].add(some, kinds[:, place], values)


def _split_values(run: CellRun, places: list[int]) -> list[pl.Series]:
    """Return the values in some columns of a run in which all rows have the same columns.

    `places`: which cells of each row are wanted, counted from 0.
    """
    import polars as pl

    count = len(run) // run.width
    if run.width == len(places) == 1:
        return [run.values]
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
    arrays = zip(*[(which, run.rows, run.kinds, run.values) for which, run in runs], strict=True)
    all_which, all_rows, all_kinds, all_values = arrays
    which, rows, kinds = map(np.concatenate, (all_which, all_rows, all_kinds))
    values = pl.concat(all_values)
    order = np.argsort(which.astype(np.uint16), kind="stable") if len(columns) > 1 else np.arange(len(which))
    bounds = np.searchsorted(which[order], np.arange(len(columns) + 1))
    rows, kinds = (rows - first_rows[which])[order], kinds[order]
    values = values[order]
    gaps = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.diff(rows) != 1)])  # before each cell
    filled = np.flatnonzero(np.diff(bounds))
    starts, ends = bounds[filled], bounds[filled + 1]
    together = (gaps[ends - 1] == gaps[starts]).tolist()
    places = zip(filled.tolist(), starts.tolist(), ends.tolist(), rows[starts].tolist(), together, strict=True)
    for index, start, end, first, unbroken in places:  # of which there may be thousands: views, no copies
        some = range(first, first + end - start) if unbroken else rows[start:end]
        columns[index].add(some, kinds[start:end], values.slice(start, end - start))


def join_runs(column: ColumnRuns) -> ColumnRun:
    """Return the cells of a column as one run, sorted by row.

    The runs of the column are released.
    """
    import polars as pl

    if not column.rows:
        return ColumnRun(np.zeros(0, np.int64), np.zeros(0, np.uint8), pl.Series([], dtype=pl.String))
    every = [np.arange(rows.start, rows.stop) if isinstance(rows, range) else rows for rows in column.rows]
    if len(every) == 1 and isinstance(column.rows[0], range):
        return ColumnRun(every[0], column.kinds[0], column.values[0])
    rows: Positions = np.concatenate(every)
    kinds: Kinds = np.concatenate(column.kinds)
    values = pl.concat(column.values)
    column.rows, column.kinds, column.values = [], [], []
    steps = np.diff(rows)
    if len(steps) and int(steps.min()) < 1:
        order = np.argsort(rows, kind="stable")
        rows, kinds, values = rows[order], kinds[order], values[order]
    return ColumnRun(rows, kinds, values)


# The cells of a column, all at once, as a Series of the engine's dtype.
#
# Where a cell of the column is in doubt, there is no Series, and `ColumnTexts` looks at the cells one by one.

DAYS_TO_1904 = 1462  # from the day 0 of 1900 to that of 1904


@dataclass(frozen=True)
class ColumnRun:
    """The cells of a column, or of a row, that are not blank, in their order; the arrays run in parallel.

    Attributes:
        places: how many cells further down (or to the right) than the first requested one each cell stands.
        kinds: of each cell, constants of `cells`.
        values: of each cell, text or Float64.
    """

    places: Positions
    kinds: Kinds
    values: pl.Series

    def __len__(self) -> int:
        return len(self.places)

    @property
    def height(self) -> int:
        """The number of cells from the first requested one to the last one that is not blank."""
        return int(self.places[-1]) + 1 if len(self) else 0

    def put_nulls(self, series: pl.Series) -> pl.Series:
        """Return a series with one value for each cell, spread over their places, with nulls for blanks between."""
        import polars as pl

        if self.height == len(self):
            return series
        return pl.repeat(None, self.height, dtype=series.dtype, eager=True).scatter(self.places, series)


def to_numbers(run: ColumnRun, dtype: DType) -> pl.Series | Numbers | None:
    """Return the column as a Series of the engine's dtype; None where cells have to be looked at one by one.

    That is where a cell is neither a number nor text that reads as one, or where the dtype may not hold its number
    exactly. Doubles without blanks between them come as `Numbers`.
    """
    import polars as pl

    if not _mark_known_kinds(dtype.kind)[run.kinds].all():
        return None
    if run.values.dtype == pl.String:
        wanted: Any = engine_dtype(dtype)
        made = run.values.cast(pl.Int64 if dtype.kind == "bool" else wanted, strict=False)
        if made.null_count() or (dtype.kind == "float" and not _are_numbers(made.to_numpy(), run.kinds)):
            return None
        if dtype.kind == "bool" and not made.is_between(0, 1).all():
            return None
        if dtype.name == "float16" and round_to(made.to_numpy(), dtype) is None:
            return None
        return run.put_nulls(made.cast(wanted))
    if run.values.null_count():
        return None
    values = run.values.to_numpy()
    if dtype.kind == "float":
        narrow = round_to(values, dtype)
        if narrow is None:
            return None
        if np.isfinite(narrow).all():
            return np.array(narrow) if run.height == len(run) else run.put_nulls(pl.Series(narrow))
        return run.put_nulls(pl.Series(narrow)) if _are_numbers(values, run.kinds) else None
    if len(values) and not np.abs(values).max() < ROUNDED:
        return None
    counts = values.astype(np.int64)
    if (counts != values).any() or (dtype.kind == "bool" and len(counts) and int(counts.view(np.uint64).max()) > 1):
        return None
    made = pl.Series(counts).cast(engine_dtype(dtype), strict=False)
    return None if made.null_count() else run.put_nulls(made)


def to_moments(run: ColumnRun, dtype: DType, *, from_1904: bool) -> pl.Series | None:
    """Return a column of dates as counts of the dtype's unit; None where cells have to be looked at one by one.

    That is where a cell is not a date, or its moment is not a whole number of units.
    """
    import polars as pl

    unit = serial_unit(dtype.numpy)
    if unit is None or not (run.kinds == SERIAL).all():
        return None
    serials = run.values.cast(pl.Float64, strict=False)
    if serials.null_count():
        return None
    counts, exact = serials_to_counts(serials.to_numpy() + DAYS_TO_1904 * from_1904, unit)
    return run.put_nulls(pl.Series(counts)) if exact.all() else None


@cache
def _mark_known_kinds(kind: str) -> Mask:
    """Return a mask of the kinds of cells whose values may be taken as they are under a dtype of some kind.

    LARGE and LONG, whose double may not be the number that was written, are among them for floats alone.
    """
    known = {"bool": [BOOLEAN], "float": [NUMBER, TEXT, LARGE, LONG]}.get(kind, [NUMBER, TEXT])
    return np.isin(np.arange(LONG + 1), known)


def _are_numbers(values: np.ndarray[Any, Any], kinds: Kinds) -> bool:
    """Return whether all values are finite, not counting those of cells that hold text, which may say `Infinity`."""
    return bool((np.isfinite(values) | (kinds == TEXT) | (kinds == LONG)).all())


def round_to(values: np.ndarray[Any, Any], dtype: DType) -> np.ndarray[Any, Any] | None:
    """Return doubles as `dtype`; None where one lies in the middle between two values, and the text has to decide."""
    if dtype.numpy.itemsize == 8:
        return values
    with np.errstate(over="ignore", under="ignore"):
        narrow = values.astype(dtype.numpy)
    return None if len(find_ties(values, narrow)) else narrow


# The cells of a column as text, for columns that `column` cannot convert at once.
#
# The result is a Series of text; or, where cells cannot be read, a list in which an `Unreadable` says why.

# The digits of an integer that is written as one, or with zeros after its point
_DIGITS = r"^(-?(?:0|[1-9][0-9]{0,299}))(?:\.0{0,299})?$"
_LONGEST_NUMBER = 1000  # characters
_NUMERAL = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
_BOOLEANS = dict.fromkeys(TRUE_WORDS, True) | dict.fromkeys(FALSE_WORDS, False)
_TO_CALCULATE = "open the workbook in a spreadsheet program and save it"
_TO_FORMAT = "format the cell as a number"
_TO_WRITE_AS_TEXT = "write it as text, because a number cell rounds such integers"


class ColumnTexts:
    """A column of cells as text, converted kind by kind.

    `dtype`: under which the text will be parsed; None if it is not known yet. `from_1904`: whether serial dates count
    from 1904-01-01, not from 1900. `table`: True for an ordinary table, in which a serial number that is not a date may
    stand as a number.

    Attributes:
        dated: the places of dates that became ISO text. The text may say less than the date that somebody entered,
            since date cells keep milliseconds at most.
    """

    def __init__(self, run: ColumnRun, dtype: DType | None, *, from_1904: bool, table: bool = False) -> None:
        self._run, self._from_1904, self._table = run, from_1904, table
        self._kind = "generic" if dtype is None else dtype.kind
        self._counts = dtype is not None and self._kind == "generic" and not table
        self._unit = None if dtype is None else serial_unit(dtype.numpy)
        self._texts = run.values
        self._unreadable: dict[int, Unreadable] = {}
        self.dated: list[int] = []
        for kind, change in (
            (NUMBER, self._add_numbers),
            (LARGE, self._add_large),
            (BOOLEAN, self._add_booleans),
            (SERIAL, self._add_serials),
            (MOMENT, self._add_dates),
            (DURATION, self._add_durations),
            (FAULT, self._add_faults),
            (PENDING, self._add_pending),
        ):
            if len(places := np.flatnonzero(run.kinds == kind)):
                change(places)

    def result(self) -> pl.Series | Sequence[Cell]:
        """Return a Series of text with null for blanks; a list with an `Unreadable` for each cell not to be read."""
        series = self._run.put_nulls(self._texts)
        if not self._unreadable:
            return series
        cells: list[Cell] = series.to_list()
        for index, unreadable in self._unreadable.items():
            cells[int(self._run.places[index])] = unreadable
        return cells

    def _put_texts(self, places: Positions, texts: Any) -> None:
        """Make some texts those of the cells at some indices."""
        import polars as pl

        if not len(places):
            return
        texts = pl.Series(texts, dtype=pl.String)
        self._texts = texts if len(places) == len(self._run) else self._texts.scatter(places, texts)

    def _add_numbers(self, places: Positions) -> None:
        """Put numerals, rewritten where the dtype asks for integers or allows text.

        An integer keeps its digits as they are written. Any other numeral, such as `1E+05`, becomes that of the double
        for which programs take it, if that is an integer for certain; for strings and generic elements, of any double.
        """
        import polars as pl

        if self._unit is not None:
            places = self._add_bare_serials(places)
        given, text, double = pl.col("given"), pl.col("text"), pl.col("double")
        made = text
        if self._kind in ("string", "generic", "int", "timedelta"):
            whole = (double == double.round()) & (double.abs() < ROUNDED)
            counts = double.cast(pl.Int64, strict=False).cast(pl.String)
            shortest = double.cast(pl.String) if self._kind in ("string", "generic") else text
            if self._kind == "string":
                shortest = shortest.str.strip_suffix(".0")
            digits = text.str.extract(_DIGITS)
            if self._kind == "generic":
                digits = pl.when(digits == "-0").then(pl.lit("-0.0")).otherwise(digits)
            made = pl.when(digits.is_not_null()).then(digits).when(~double.is_finite()).then(text)
            made = made.when(whole).then(counts).otherwise(shortest)
        numbers = (  # few queries, as there may be thousands of columns
            pl.DataFrame({"given": self._texts.gather(places)})
            .with_columns(long=given.str.len_bytes() > _LONGEST_NUMBER)
            .with_columns(text=pl.when("long").then(pl.lit("0")).otherwise(given.str.strip_chars()))
            .with_columns(double=text.cast(pl.Float64, strict=False))
            .select("given", "long", "text", made=made, odd=(~double.is_finite()).fill_null(value=True))
        )
        for index in numbers["long"].arg_true().to_list():
            self._unreadable[int(places[index])] = Unreadable(f"a number of {len(numbers['given'][index])} characters")
        for index in numbers["odd"].arg_true().to_list():
            if not _NUMERAL.fullmatch(numeral := numbers["text"][index]):
                self._unreadable[int(places[index])] = Unreadable(
                    f"a number cell without a number, {numeral:.40}", "", numeral
                )
        self._put_texts(places, numbers["made"])

    def _add_bare_serials(self, places: Positions) -> Positions:
        """Put the numbers that are dates without the format of a date, and return the indices of all others.

        SheetJS and others leave formats out when they save. The dtype in the header says that they are dates.
        """
        import polars as pl

        serials = self._texts.gather(places).cast(pl.Float64, strict=False).fill_null(0).to_numpy()
        _, exact = serials_to_counts(serials + DAYS_TO_1904 * self._from_1904, self._unit or "D")
        if exact.any():
            self._add_serials(places[exact])
        return places[~exact]

    def _add_large(self, places: Positions) -> None:
        """Refuse large doubles under integer dtypes, since nobody knows which integer was meant; else they stay."""
        if self._kind in ("int", "timedelta"):
            self._refuse_cells(
                places, lambda text: Unreadable(f"a number of 2^53 or more, {text:.40}", _TO_WRITE_AS_TEXT)
            )

    def _add_booleans(self, places: Positions) -> None:
        known = [_BOOLEANS.get(text.strip()) for text in self._texts.gather(places).to_list()]
        for index, value in zip(places.tolist(), known, strict=True):
            if value is None:
                self._unreadable[index] = Unreadable(f"a boolean cell without a boolean, {self._texts[index]:.40}")
        self._put_texts(places, [format_bool(value) for value in known])

    def _add_serials(self, places: Positions) -> None:
        if self._refuse_kind(places, "a date"):
            return
        places, serials = self._take_numbers(places)
        if self._unit is not None:
            counts, exact = serials_to_counts(serials + DAYS_TO_1904 * self._from_1904, self._unit)
            self._put_texts(places[exact], dates_to_iso(counts[exact].view(f"M8[{self._unit}]")))
            places, serials = places[~exact], serials[~exact]
        texts = serials_to_dates(serials, from_1904=self._from_1904)
        for number, index in enumerate(places.tolist()):
            if texts[number] is not None and self._unit is None:
                self.dated.append(int(self._run.places[index]))
            elif texts[number] is not None:
                pass  # the date is not a whole number of units: its ISO text lets the dtype's parser say so
            elif self._table and not 0 <= serials[number] < 1:
                texts[number] = shortest_text(float(serials[number]), repr(float(serials[number])))
            elif self._kind == "datetime" or not 0 <= serials[number] < 1:
                self._unreadable[index] = Unreadable(f"a date that does not exist, {serials[number]:.15g}")
            else:
                texts[number] = self._format_duration(float(serials[number]))
        self._put_texts(places, texts)

    def _add_dates(self, places: Positions) -> None:
        if not self._refuse_kind(places, "a date") and self._unit in (None, "ms"):  # LibreOffice's .ods keeps 10 ms
            self.dated += self._run.places[places].tolist()

    def _add_durations(self, places: Positions) -> None:
        if self._kind == "datetime" or self._refuse_kind(places, "a duration"):
            self._refuse_cells(places, lambda _: Unreadable("a duration"))
            return
        places, days = self._take_numbers(places)
        self._put_texts(places, [self._format_duration(number) for number in days.tolist()])

    def _take_numbers(self, places: Positions) -> tuple[Positions, Buffer]:
        """Return the indices of the cells that hold finite numbers, and the numbers; refuse all other cells."""
        import polars as pl

        numbers = self._texts.gather(places).str.strip_chars().cast(pl.Float64, strict=False)
        wrong = numbers.is_null() | ~numbers.fill_null(0).is_finite()
        if not wrong.any():
            return places, numbers.to_numpy()
        odd = wrong.to_numpy()
        self._refuse_cells(
            places[odd], lambda text: Unreadable(f"a number cell without a number, {text:.40}", "", text)
        )
        return places[~odd], numbers.filter(~wrong).to_numpy()

    def _format_duration(self, days: float) -> str:
        """Return a duration as programs show it; as a number of days for generic elements, and where it is too long."""
        shown = None if self._counts else format_duration(days)
        return shortest_text(days, repr(days)) if shown is None else shown

    def _add_faults(self, places: Positions) -> None:
        self._refuse_cells(places, lambda text: Unreadable(f"an error, {text:.40}", is_error=True))

    def _add_pending(self, places: Positions) -> None:
        self._refuse_cells(places, lambda _: Unreadable("a formula without a value", _TO_CALCULATE))

    def _refuse_kind(self, places: Positions, what: str) -> bool:
        """Refuse cells of dates or durations, and return True, unless the elements are dates, strings or generic."""
        if self._kind in ("datetime", "string", "generic"):
            return False
        self._refuse_cells(places, lambda _: Unreadable(what, _TO_FORMAT))
        return True

    def _refuse_cells(self, places: Positions, reason: Callable[[str], Unreadable]) -> None:
        for index, text in zip(places.tolist(), self._texts.gather(places).to_list(), strict=True):
            self._unreadable[index] = reason(text)


# Durations, which are numbers of days: spreadsheet programs keep milliseconds. Source: ECMA-376 part 1, 18.17.4.

_MILLISECONDS = 86_400_000  # of a day
_LONGEST_DURATION = 1e8  # days: no program shows as many as a duration


def format_duration(serial: float) -> str | None:
    """Return hours, minutes and seconds, as programs show a number of days as a duration; None if it is too large.

    Example:
        >>> format_duration(1.5), format_duration(0.000000058)
        ('36:00:00', '00:00:00.005')
    """
    if not abs(serial) < _LONGEST_DURATION:
        return None
    seconds, milliseconds = divmod(round(abs(serial) * _MILLISECONDS), 1000)
    fraction = f".{milliseconds:03}" if milliseconds else ""
    hours, seconds = divmod(seconds, 3600)
    sign = "-" if serial < 0 else ""
    return f"{sign}{hours:02}:{seconds // 60:02}:{seconds % 60:02}{fraction}"
