"""The dtype and the values of a short column, in plain Python: a table may have thousands of columns of ten cells.

`bulk` does the same for long columns by the columnar engine; a property test holds the two against each other.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dtypes import Array
from ..elements import DAY, moment_pattern, text_array
from .numerals import (
    EXACT,
    INTEGER,
    LONGEST,
    NUMBER,
    WHITE,
    NumeralMarks,
    commas_are_decimal,
    has_too_many_digits,
    keeps_number,
)

MOMENT = rf"(?:{moment_pattern('')}|{moment_pattern('1,9')})"
BOOLEANS = {"true": True, "false": False}


def _lines(cell: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{cell})(?:\n(?:{cell}))*")


_INTEGERS, _NUMBERS = _lines(INTEGER), _lines(NUMBER)
_DAYS, _MOMENTS = _lines(rf"{DAY}|NaT"), _lines(rf"{DAY}|{MOMENT}|NaT")
_ANY_INTEGERS = _lines(r"[+-]?[0-9]+")
_FRACTION = re.compile(r"\.([0-9]+)$", re.MULTILINE)
_FEW, _FEW_UNLOADED = 2**10, 2**17  # cells; with more the engine is faster: if it is imported already, and if not
_SPACED = re.compile(rf"^[{WHITE}]|[{WHITE}]$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Inferred:
    """The values that a column was read as.

    Attributes:
        values: of its cells.
        long: the index of a decimal with more digits than a double holds, which made the column text; None if that was
            not the reason, or the column is not text.
    """

    values: Array
    long: int | None = None


def infer_short(cells: Sequence[str | None], marks: NumeralMarks) -> Inferred:
    """Return the dtype that keeps every cell of a column of text, and its values.

    `cells`: text; None, "" and white space are blanks.

    Example:
        >>> infer_short(["1", "2"], NumeralMarks()).values, infer_short(["01", None], NumeralMarks()).values
        (array([1, 2]), array(['01', ''], dtype='<U2'))
    """
    texts = [text for text in cells if text]
    lines = "\n".join(texts)
    if texts and lines.split() != texts and _SPACED.search(lines):
        cells = [text.strip(WHITE) if text else None for text in cells] if (spaced := list(cells)) else cells
        texts = [text for text in cells if text]
        lines = "\n".join(texts)
    else:
        spaced = None
    if not texts:
        return Inferred(np.full(len(cells), np.nan))
    column = _Short(cells, texts, lines, marks)
    values = column.values() if lines.count("\n") == len(texts) - 1 else None
    if values is None:
        given = cells if spaced is None else [old if new else "" for old, new in zip(spaced, cells, strict=True)]
        values = text_array([text or "" for text in given])
    return Inferred(values, column.long)


def infer_doubles(columns: Mapping[int, Sequence[str | None]], marks: NumeralMarks) -> dict[int, Inferred]:
    """Return the values of those columns in which each cell is the shortest text of a double, all read at once.

    No rule about numerals is needed: a text that the engine prints again for the double that it has read is exact.

    `columns`: text, all of one length, by any key; `infer_short` gives the same values.
    """
    height = len(next(iter(columns.values()), ()))
    few = _FEW if "polars" in sys.modules else _FEW_UNLOADED
    if not marks.is_plain or height * len(columns) < few:
        return {}
    import polars as pl

    try:
        texts = pl.Series([text for cells in columns.values() for text in cells], dtype=pl.String)
    except UnicodeEncodeError:  # half a surrogate pair, which Python keeps and the engine does not
        return {}
    numbers = texts.cast(pl.Float64, strict=False)
    are_alike = (numbers.cast(pl.String) == texts).fill_null(value=False).to_numpy().reshape(-1, height)
    are_shortest = np.logical_and.reduce(are_alike, axis=1)
    values = numbers.to_numpy().reshape(-1, height)
    return {
        key: Inferred(values[index].copy())  # a view would keep the values of all columns in memory
        for index, key in enumerate(columns)
        if are_shortest[index]
    }


class _Short:
    """A column without white space around its cells.

    `cells`: text; None and "" are blanks. `lines`: the same cells as one text, a line each, so that one regular
    expression looks at all of them.
    """

    def __init__(self, cells: Sequence[str | None], texts: list[str], lines: str, marks: NumeralMarks) -> None:
        self.cells, self.texts, self.lines, self.marks = cells, texts, lines, marks
        self.blanks = len(cells) - len(texts)
        self.long: int | None = None

    def values(self) -> Array | None:
        """Return the values; None where the column is text."""
        if (numbers := self._plain_numbers()) is not None:
            lines = self.lines if numbers is self.texts else "\n".join(numbers)
            return self._integers(numbers) if _INTEGERS.fullmatch(lines) else self._floats(numbers, lines)
        if self.lines[0] in "tTfF":
            return self._booleans()
        return self._moments() if self.lines[0] in "0123456789N" else None

    def _plain_numbers(self) -> list[str] | None:
        """Return the numerals with a decimal point, and nothing between thousands; None where a cell is no number."""
        if self.marks.is_plain:
            if _NUMBERS.fullmatch(self.lines):
                return self.texts
            if self.marks.decimal is None and "," in self.lines and commas_are_decimal(self.texts):
                return self.lines.replace(",", ".").split("\n")
            return None
        if not _lines(self.marks.number).fullmatch(self.lines):
            return None
        lines = self.lines
        for mark in self.marks.group:
            lines = lines.replace(mark, "")
        return lines.replace(self.marks.point, ".").split("\n")

    def _integers(self, numerals: list[str]) -> Array | None:
        """Make int64 or uint64; beside blanks float64 or Python's integers; None where one is too large."""
        numbers = list(map(int, numerals))
        lowest, highest = min(numbers), max(numbers)
        if lowest < -(2**63) or highest >= 2**64 or (lowest < 0 and highest >= 2**63):
            return None
        if self.blanks:
            exact = lowest >= -EXACT and highest <= EXACT
            return self._spread(numbers, np.full(len(self.cells), np.nan) if exact else _nothing(len(self.cells)))
        return np.array(numbers, dtype=np.int64 if highest < 2**63 else np.uint64)

    def _floats(self, numerals: list[str], lines: str) -> Array | None:
        """Make float64; None where a double does not keep a numeral."""
        if _ANY_INTEGERS.fullmatch(lines) and any(len(text) > 16 for text in numerals):
            return None  # integers of so many digits may be ids, even if doubles hold them exactly
        if len(max(numerals, key=len)) > LONGEST:
            return None
        numbers = list(map(float, numerals))
        odd = () if list(map(repr, numbers)) == numerals else zip(numerals, numbers, strict=True)
        for text, number in odd:
            if repr(number) != text and not keeps_number(text, number):
                if has_too_many_digits(text):
                    self.long = [index for index, cell in enumerate(self.cells) if cell][numerals.index(text)]
                return None
        return self._spread(numbers, np.full(len(self.cells), np.nan)) if self.blanks else np.array(numbers)

    def _booleans(self) -> Array | None:
        words = self.lines.lower().split("\n")
        if not BOOLEANS.keys() >= set(words):
            return None
        values = [BOOLEANS[word] for word in words]
        return self._spread(values, _nothing(len(self.cells))) if self.blanks else np.array(values)

    def _moments(self) -> Array | None:
        if not _MOMENTS.fullmatch(self.lines) or set(self.texts) == {"NaT"}:
            return None
        return dates_of([text or "NaT" for text in self.cells], unit_of(self.lines))

    def _spread(self, values: Sequence[Any], out: Array) -> Array:
        """Put values into `out`, in the order of the cells that are not blank, and return it."""
        out[[index for index, text in enumerate(self.cells) if text]] = values
        return out


def _nothing(count: int) -> Array:
    return np.full(count, None, dtype=object)


def unit_of(lines: str) -> str:
    """Return the unit of datetime64 that keeps some dates or moments, one a line."""
    if _DAYS.fullmatch(lines):
        return "D"
    return unit_of_digits(max(map(len, _FRACTION.findall(lines)), default=0))


def unit_of_digits(count: int) -> str:
    """Return the coarsest unit that keeps `count` decimals of a second.

    Example:
        >>> [unit_of_digits(count) for count in (0, 1, 3, 4, 9)]
        ['s', 'ms', 'ms', 'us', 'ns']
    """
    return ("s", "ms", "us", "ns")[-(-count // 3)]


def dates_of(texts: Sequence[str], unit: str) -> Array | None:
    """Return dates and moments, given as ISO text or NaT; None if one is in no calendar, or beyond the unit's range."""
    if unit == "ns" and not all(_FIRST <= text.replace(" ", "T") <= _LAST for text in texts if text != "NaT"):
        return None
    try:
        return np.array(texts, dtype=f"datetime64[{unit}]")
    except ValueError:  # a 30th of February
        return None


_FIRST, _LAST = "1677-09-21T00:12:43.145224193", "2262-04-11T23:47:16.854775807"  # of nanoseconds
