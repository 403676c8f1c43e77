"""The cells of a column as text, for columns that `numbers` cannot convert at once.

The result is a Series of text; or, where cells cannot be read, a list in which an `Unreadable` says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .....dtypes import Buffer, DType, Positions
from .....elements import FALSE_WORDS, TRUE_WORDS, Cell, Unreadable, format_bool, shortest_text
from .....elements.dates import dates_to_iso
from .....elements.serials import serial_unit, serials_to_counts, serials_to_dates
from ..cells import (
    BOOLEAN,
    DURATION,
    FAULT,
    LARGE,
    MOMENT,
    NUMBER,
    PENDING,
    ROUNDED,
    SERIAL,
    CellRun,
)

if TYPE_CHECKING:
    import polars as pl
from .durations import format_duration
from .numbers import DAYS_TO_1904

_DIGITS = r"^(-?(?:0|[1-9][0-9]{0,299}))(?:\.0{0,299})?$"  # an integer, or one with zeros after its point
_LONGEST_NUMBER = 1000  # characters
_NUMERAL = re.compile(r"\s*+[+-]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?\s*+")
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

    def __init__(self, run: CellRun, dtype: DType | None, *, from_1904: bool, table: bool = False) -> None:
        self._run, self._from_1904, self._table = run, from_1904, table
        self._kind = "generic" if dtype is None else dtype.kind
        self._counts = dtype is not None and self._kind == "generic" and not table
        self._unit = serial_unit(dtype.numpy) if dtype is not None and self._kind == "datetime" else None
        self._texts = run.texts().clone()  # as texts are put among these
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
            cells[int(self._run.rows[index])] = unreadable
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
        shown = text
        if self._kind in ("string", "generic", "int", "timedelta"):
            whole = (double == double.round()) & (double.abs() < ROUNDED)
            counts = double.cast(pl.Int64, strict=False).cast(pl.String)
            shortest = double.cast(pl.String) if self._kind in ("string", "generic") else text
            if self._kind == "string":
                shortest = shortest.str.strip_suffix(".0")
            digits = text.str.extract(_DIGITS)
            if self._kind == "generic":
                digits = pl.when(digits == "-0").then(pl.lit("-0.0")).otherwise(digits)
            shown = pl.when(digits.is_not_null()).then(digits).when(~double.is_finite()).then(text)
            shown = shown.when(whole).then(counts).otherwise(shortest)
        numbers = (  # few queries, as there may be thousands of columns
            pl.DataFrame({"given": self._texts.gather(places)})
            .with_columns(long=given.str.len_bytes() > _LONGEST_NUMBER)
            .with_columns(text=pl.when("long").then(pl.lit("0")).otherwise(given.str.strip_chars()))
            .with_columns(double=text.cast(pl.Float64, strict=False))
            .select("given", "long", "text", made=shown, odd=(~double.is_finite()).fill_null(value=True))
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
        truths = [_BOOLEANS.get(text.strip()) for text in self._texts.gather(places).to_list()]
        for index, value in zip(places.tolist(), truths, strict=True):
            if value is None:
                self._unreadable[index] = Unreadable(f"a boolean cell without a boolean, {self._texts[index]:.40}")
        self._put_texts(places, [format_bool(value) for value in truths])

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
                self.dated.append(int(self._run.rows[index]))
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
            self.dated += self._run.rows[places].tolist()

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
