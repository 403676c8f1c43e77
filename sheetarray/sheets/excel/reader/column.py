"""The cells of a column as a Series of the engine, or as text where some cell has to be looked at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ....cells import engine_dtype
from ....cells.serials import serial_unit, serials_to_counts, serials_to_dates, serials_to_texts
from ....columns import Request
from ....columns.sheet import Numbers
from ....dtypes import Buffer, DType, Positions
from ....elements import FALSE_WORDS, TRUE_WORDS, Cell, Unreadable, format_bool, shortest_text
from ....elements.dates import dates_to_iso
from ....elements.decoding import find_ties
from .cells import BOOLEAN, DURATION, FAULT, LARGE, LONG, MOMENT, NUMBER, PENDING, ROUNDED, SERIAL, TEXT, Kinds
from .formats import format_duration

if TYPE_CHECKING:
    import polars as pl

    from .column_runs import ColumnRuns


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


def to_numbers(run: ColumnRun, dtype: DType, *, numerals: bool = True) -> pl.Series | Numbers | None:
    """Return the column as a Series of the engine's dtype; None where cells have to be looked at one by one.

    That is where a cell is neither a number nor (with `numerals`) text that reads as one, or where the dtype may not
    hold its number exactly. Doubles without blanks between them come as `Numbers`.
    """
    import polars as pl

    wanted: Any = engine_dtype(dtype)
    if np.bincount(run.kinds, minlength=LONG + 1)[_known_kinds(dtype, numerals)].sum() < len(run):
        return None
    if run.values.dtype == pl.String:
        made = run.values.cast(pl.Int64 if dtype.kind == "bool" else wanted, strict=False)
        if made.null_count() or (dtype.kind == "float" and not _are_numbers(made.to_numpy(), run.kinds)):
            return None
        if dtype.kind == "bool" and not made.is_between(0, 1).all():
            return None
        return run.put_nulls(made.cast(wanted))
    if run.values.null_count():
        return None
    values = run.values.to_numpy()
    if dtype.kind == "float":
        narrow = _round_to(values, dtype)
        if narrow is None or not _are_numbers(values, run.kinds):
            return None
        is_plain = run.height == len(run) and bool(np.isfinite(narrow).all())
        return np.array(narrow) if is_plain else run.put_nulls(pl.Series(narrow))
    if len(values) and not np.abs(values).max() < ROUNDED:
        return None
    counts = values.astype(np.int64)
    if (counts != values).any() or (dtype.kind == "bool" and len(counts) and int(counts.view(np.uint64).max()) > 1):
        return None
    made = pl.Series(counts).cast(wanted, strict=False)
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


def _known_kinds(dtype: DType, numerals: bool) -> list[int]:
    """Return the kinds of cells whose values may be taken as they are under a dtype.

    LARGE and LONG, whose double may not be the number that was written, are among them for floats alone.
    """
    if dtype.kind == "bool":
        return [BOOLEAN]
    doubles = [LARGE, LONG] if dtype.kind == "float" else []
    return [NUMBER, TEXT, *doubles] if numerals else [NUMBER, *doubles[:1]]


def _are_numbers(values: np.ndarray[Any, Any], kinds: Kinds) -> bool:
    """Return whether all values are finite, not counting those of cells that hold text, which may say `Infinity`."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return True
    return bool((np.isfinite(values) | (kinds == TEXT) | (kinds == LONG)).all())


def _round_to(values: np.ndarray[Any, Any], dtype: DType) -> np.ndarray[Any, Any] | None:
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
FEW = 64  # cells that plain Python looks at as quickly as the engine
_BOOLEANS = dict.fromkeys(TRUE_WORDS, True) | dict.fromkeys(FALSE_WORDS, False)
_TO_CALCULATE = "open the workbook in a spreadsheet program and save it"
_TO_FORMAT = "format the cell as a number"
_TO_WRITE_AS_TEXT = "write it as text: of such integers a number cell keeps only some"


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
                    f"a number that does not read as one, {numeral:.40}", "", numeral
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
        if len(places) > FEW:
            places = self._add_plain_booleans(places)
        known = [_BOOLEANS.get(text.strip()) for text in self._texts.gather(places).to_list()]
        for index, value in zip(places.tolist(), known, strict=True):
            if value is None:
                self._unreadable[index] = Unreadable(f"a boolean that does not read as one, {self._texts[index]:.40}")
        self._put_texts(places, [format_bool(value) for value in known])

    def _add_plain_booleans(self, places: Positions) -> Positions:
        """Put the booleans that are written in a usual way, and return the indices of all others."""
        import polars as pl

        texts = {word: format_bool(value) for word, value in _BOOLEANS.items()}
        known = self._texts.gather(places).replace_strict(texts, default=None, return_dtype=pl.String)
        plain = known.is_not_null().to_numpy()
        self._put_texts(places[plain], known.drop_nulls())
        others: Positions = places[~plain]
        return others

    def _add_serials(self, places: Positions) -> None:
        if self._refuse_kind(places, "a date"):
            return
        places, serials = self._take_numbers(places)
        if self._unit is not None:
            counts, exact = serials_to_counts(serials + DAYS_TO_1904 * self._from_1904, self._unit)
            self._put_texts(places[exact], dates_to_iso(counts[exact].view(f"M8[{self._unit}]")))
            places, serials = places[~exact], serials[~exact]
        if len(places) > FEW:
            places, serials = self._add_plain_dates(places, serials)
        texts = serials_to_dates(serials, from_1904=self._from_1904)
        for number, index in enumerate(places.tolist()):
            if texts[number] is not None and self._unit is None:
                self.dated.append(int(self._run.places[index]))
            elif texts[number] is not None:
                pass  # the date is not a whole number of units: its ISO text lets the dtype's parser say so
            elif self._table and not 0 <= serials[number] < 1:
                texts[number] = shortest_text(float(serials[number]), repr(float(serials[number])))
            elif self._kind == "datetime" or not 0 <= serials[number] < 1:
                self._unreadable[index] = Unreadable(f"a date that there is not, {serials[number]:.15g}")
            else:
                texts[number] = self._format_duration(float(serials[number]))
        self._put_texts(places, texts)

    def _add_plain_dates(self, places: Positions, serials: Buffer) -> tuple[Positions, Buffer]:
        """Put the serial numbers that are dates, if the dtype has no unit; return all others, their indices first."""
        texts = serials_to_texts(serials, from_1904=self._from_1904)
        dates = texts.is_not_null().to_numpy()
        if self._unit is None:
            self.dated += self._run.places[places[dates]].tolist()
            self._put_texts(places[dates], texts.drop_nulls())
            return places[~dates], serials[~dates]
        return places, serials

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
            places[odd], lambda text: Unreadable(f"a number that does not read as one, {text:.40}", "", text)
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


# Very many short columns of numbers: the cells of all of one dtype are converted at once.

FEWEST = 8  # columns; fewer are as quickly converted one by one
LONGEST = 2**11  # cells of a column that is converted together with others
_KINDS = ("float", "int")


def numbers_of_short(requests: Iterable[Request], columns: Mapping[int, ColumnRuns]) -> dict[int, pl.Series | Numbers]:
    """Return those columns that could be converted together, by their numbers, as `to_numbers` returns them.

    All others are to be converted one by one: long columns, columns with gaps, columns of other dtypes than numbers,
    and all columns of one dtype if a single cell in them is in doubt.

    `columns`: the cells of each column from the requested row on, by the number of the column in the sheet.
    """
    groups: dict[tuple[Any, ...], list[Request]] = {}
    for request in requests:
        runs = columns[request.column]
        if request.dtype.kind in _KINDS and runs.is_whole and runs.height <= LONGEST:
            key = request.dtype.name, request.as_numerals, runs.values[0].dtype
            groups.setdefault(key, []).append(request)
    numbers: dict[int, pl.Series | Numbers] = {}
    for group in groups.values():
        if len(group) >= FEWEST:
            numbers |= _convert([request.column for request in group], group[0], columns)
    return numbers


def _convert(places: list[int], request: Request, columns: Mapping[int, ColumnRuns]) -> dict[int, pl.Series | Numbers]:
    """Return columns of one dtype, converted together; nothing if a cell is in doubt."""
    import polars as pl

    values = pl.concat([columns[place].values[0] for place in places], rechunk=True)
    kinds = np.concatenate([columns[place].kinds[0] for place in places])
    run = ColumnRun(np.arange(len(values)), kinds, values)
    together = to_numbers(run, request.dtype, numerals=request.as_numerals)
    if together is None:
        return {}
    ends = np.cumsum([columns[place].height for place in places]).tolist()
    bounds = list(zip(places, [0, *ends], ends, strict=False))
    if isinstance(together, np.ndarray):
        return {place: together[start:end].copy() for place, start, end in bounds}  # each array has memory of its own
    return {place: together.slice(start, end - start) for place, start, end in bounds}
