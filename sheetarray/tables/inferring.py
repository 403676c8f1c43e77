"""The dtype that keeps every cell of a column of text, and the values under it.

`infer` has the rules. Two classes go over the cells: `_Short` in plain Python, since a table may have thousands of
columns of ten cells, and `_Long` by the columnar engine, which is 20 times as fast where there are many cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..cells import TextLook, buffer_from_text, longest_text
from ..dtypes import Array, Mask, from_name
from ..elements import DAY, moment_pattern, text_array
from .numerals import (
    COMMA_NUMBER,
    EXACT,
    GROUPED,
    INTEGER,
    LONGEST,
    NUMBER,
    WHITE,
    NumeralMarks,
    commas_are_decimal,
    has_too_many_digits,
    keeps_number,
)

if TYPE_CHECKING:
    import polars as pl

_DATES = f"{DAY}|NaT"
_MOMENTS = rf"{DAY}|{moment_pattern('')}|{moment_pattern('1,9')}|NaT"
_FIRST, _LAST = "1677-09-21T00:12:43.145224193", "2262-04-11T23:47:16.854775807"  # of nanoseconds
_SPACED = re.compile(rf"^[{WHITE}]|[{WHITE}]$", re.MULTILINE)
_PRINTED = re.compile(r"[+-]?[0-9]+\.([0-9]+)(?:([eE])[+-][0-9]{2,3})?")
_BEGINNINGS = "0123456789+-.,nNiI"  # of numbers and dates
_SAMPLE = 100  # cells that say what a long column may be
_CELLS_A_PRINT = 2**16
_EASY_NUMBER = r"^(?:-?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,2})?)$"
_EASY_LENGTH = 15  # characters: such a numeral has no more digits than any double keeps


@dataclass(frozen=True, slots=True)
class Inferred:
    """The values that a column was read as."""

    values: Array  # of its cells
    # the index of a decimal with more digits than a double holds, which made the column text; None if that was not the
    # reason, or the column is not text
    long: int | None = None


class _TooManyDigitsError(Exception):
    """A decimal, by its index, has more digits than a double holds."""


def infer(texts: list[str | None] | pl.Series, marks: NumeralMarks) -> Inferred:
    """Return the dtype that keeps every cell of a column of text, and its values.

    `texts`: None, "" and white space are blanks.

    Example:
        >>> infer(["1", "2"], NumeralMarks()).values, infer(["01", None], NumeralMarks()).values
        (array([1, 2]), array(['01', ''], dtype='<U2'))
    """
    if isinstance(texts, list) and marks.is_plain and (doubles := _read_shortest(texts)) is not None:
        return Inferred(doubles)
    column = _Short.strip(texts) if isinstance(texts, list) else _Long.strip(texts)
    if not len(column):
        return Inferred(np.full(len(texts), np.nan))
    long = values = None
    try:
        if column.first in "tTfF":
            values = _read_booleans(column)
        elif column.first in _BEGINNINGS:
            values = _read_numbers(column, marks)
            values = _read_moments(column) if values is None else values
    except _TooManyDigitsError as error:
        long = error.args[0] if column.blanks is None else int(np.flatnonzero(~column.blanks)[error.args[0]])
    if values is None:
        return Inferred(column.keep_text(texts), long)  # type: ignore[arg-type]  # `column` is of its kind
    return Inferred(_spread(values, column.blanks))


def _read_shortest(texts: list[str | None]) -> Array | None:
    """Return doubles if each cell is the shortest text of one, as most programs print them: no rule is needed."""
    if not texts or "." not in (texts[0] or ""):
        return None
    try:
        numbers = list(map(float, texts))  # type: ignore[arg-type]  # None is a TypeError
    except (ValueError, TypeError):
        return None
    return np.array(numbers) if list(map(repr, numbers)) == texts else None


def _read_numbers(column: _Short | _Long, marks: NumeralMarks) -> Array | None:
    if not marks.is_plain:
        if not column.are(marks.number):
            return None
        for mark in marks.group:
            column = column.replace(mark, "")
        return _read_plain_numbers(column.replace(marks.point, "."))
    if column.may_be(NUMBER) and (values := _read_plain_numbers(column)) is not None:
        return values
    if marks.decimal is None and column.may_be(COMMA_NUMBER) and column.has_decimal_commas():
        return _read_plain_numbers(column.replace(",", "."))
    return None


def _read_plain_numbers(column: _Short | _Long) -> Array | None:
    """Return int64, uint64 or float64; None where a cell is no number, or loses something as one."""
    if (integers := column.to_integers()) is not None:
        return integers
    if column.are("[+-]?[0-9]+") and column.longest > 16:
        return None  # integers of so many digits may be ids, even if doubles hold them exactly
    return column.to_doubles() if column.longest <= LONGEST else None


def _find_lost(texts: Sequence[str], values: Sequence[float]) -> int | None:
    """Return the index of the first numeral that would lose digits as a double; None if none would."""
    for start in range(0, len(texts), _CELLS_A_PRINT):
        some, numbers = texts[start : start + _CELLS_A_PRINT], values[start : start + _CELLS_A_PRINT]
        if _are_printed_alike(some, numbers):
            continue
        for index, (text, number) in enumerate(zip(some, numbers, strict=True)):
            if repr(number) != text and not keeps_number(text, number):
                return start + index
    return None


def _are_printed_alike(texts: Sequence[str], values: Sequence[float]) -> bool:
    """Return whether numerals look like doubles printed with one fixed number of digits after the point."""
    match = _PRINTED.fullmatch(texts[0])
    if match is None:
        return False
    plus = "+" if texts[0].startswith("+") else ""
    form = f"%{plus}.{len(match[1])}{match[2] or 'f'}\n"
    return form * len(texts) % tuple(values) == "\n".join(texts) + "\n"


def _read_booleans(column: _Short | _Long) -> Array | None:
    if not column.may_be("(?i:true|false)"):
        return None
    words = column.distinct()
    if not {word.lower() for word in words} <= {"true", "false"}:
        return None
    return column.are_among([word for word in words if word.lower() == "true"])


def _read_moments(column: _Short | _Long) -> Array | None:
    """Return dates and moments in the coarsest unit that keeps them; None if one is in no calendar, or out of range."""
    if column.are(_DATES):
        unit = "D"
    elif column.are(_MOMENTS):
        unit = ("s", "ms", "us", "ns")[-(-column.longest_fraction() // 3)]
    else:
        return None
    texts = column.to_list()
    if {*texts} == {"NaT"}:
        return None
    if unit == "ns" and not all(_FIRST <= text.replace(" ", "T") <= _LAST for text in texts if text != "NaT"):
        return None
    try:
        return np.array(texts, dtype=f"datetime64[{unit}]")
    except ValueError:  # a 30th of February
        return None


def _spread(values: Array, blanks: Mask | None) -> Array:
    """Return values with NaN, NaT or None for blanks; integers become floats where these hold them exactly."""
    if blanks is None:
        return values
    kind = values.dtype.kind
    exact = kind == "f" or (kind in "iu" and values.min() >= -EXACT and values.max() <= EXACT)
    dtype = values.dtype if kind == "M" else np.dtype(np.float64 if exact else object)
    spread = np.full(len(blanks), "NaT" if kind == "M" else np.nan if exact else None, dtype)
    spread[~blanks] = values
    return spread


@lru_cache
def _lines(cell: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{cell})(?:\n(?:{cell}))*")


class _Short:
    """The cells of a short column that are not blank, without white space around them.

    `blanks`: a mask of all cells; None if none is blank.
    """

    def __init__(self, lines: str, count: int, blanks: Mask | None) -> None:
        self.lines, self.count, self.blanks = lines, count, blanks  # a line each: one expression looks at all of them
        self.texts = lines.split("\n")
        self.first = lines[:1]

    @classmethod
    def strip(cls, texts: list[str | None]) -> _Short:
        """Return the cells that are left of a column."""
        held = [text for text in texts if text]
        lines = "\n".join(held)
        if lines.split() != held and _SPACED.search(lines):
            held = [bare for text in held if (bare := text.strip(WHITE))]
            lines = "\n".join(held)
        blanks = np.array([not text or not text.strip(WHITE) for text in texts]) if len(held) < len(texts) else None
        return cls(lines, len(held), blanks)

    def __len__(self) -> int:
        return self.count

    def to_list(self) -> list[str]:
        """Return the cells."""
        return self.texts

    def distinct(self) -> list[str]:
        """Return each cell that differs from the others, at least once."""
        return self.texts

    @property
    def longest(self) -> int:
        """The number of characters of the longest cell."""
        return max(map(len, self.texts))

    def are(self, pattern: str) -> bool:
        """Return whether each cell is of a pattern."""
        return len(self.texts) == self.count and _lines(pattern).fullmatch(self.lines) is not None

    may_be = are

    def has_decimal_commas(self) -> bool:
        """Return whether commas are decimal marks."""
        return len(self.texts) == self.count and commas_are_decimal(self.texts)

    def replace(self, old: str, new: str) -> _Short:
        """Return the cells with a character replaced."""
        return _Short(self.lines.replace(old, new), self.count, self.blanks)

    def to_integers(self) -> Array | None:
        """Return int64 or uint64; None if not all cells are such integers."""
        if not self.are(INTEGER):
            return None
        numbers = list(map(int, self.texts))
        lowest, highest = min(numbers), max(numbers)
        if lowest < -(2**63) or highest >= 2**64 or (lowest < 0 and highest >= 2**63):
            return None
        return np.array(numbers, dtype=np.int64 if highest < 2**63 else np.uint64)

    def to_doubles(self) -> Array | None:
        """Return float64; None if a double does not keep one of the cells, which are numbers."""
        numbers = list(map(float, self.texts))
        if (lost := _find_lost(self.texts, numbers)) is None:
            return np.array(numbers)
        if has_too_many_digits(self.texts[lost]):
            raise _TooManyDigitsError(lost)
        return None

    def are_among(self, words: Sequence[str]) -> Array:
        """Return a mask of the cells that are one of some words."""
        return np.array([text in words for text in self.texts])

    def longest_fraction(self) -> int:
        """Return the number of digits that any cell has at most after its point."""
        return max((len(text.rpartition(".")[2]) for text in self.texts if "." in text), default=0)

    def keep_text(self, texts: list[str | None]) -> Array:
        """Return the cells of a column as they stand."""
        blanks = self.blanks.tolist() if self.blanks is not None else [False] * len(texts)
        return text_array(["" if blank else text or "" for text, blank in zip(texts, blanks, strict=True)])


class _Long:
    """The cells of a long column that are not blank, as `_Short` has them; what is not explained here is the same."""

    def __init__(self, held: pl.Series, blanks: Mask | None) -> None:
        self.held, self.blanks = held, blanks

    @classmethod
    def strip(cls, texts: pl.Series) -> _Long:
        bare = texts.str.strip_chars(WHITE)
        blanks = ((bare == "") | bare.is_null()).fill_null(value=True)
        return cls(bare.filter(~blanks), blanks.to_numpy()) if blanks.any() else cls(bare, None)

    def __len__(self) -> int:
        return len(self.held)

    def to_list(self) -> list[str]:
        return self.held.to_list()

    @cached_property
    def _sample(self) -> list[str]:
        return self.held.head(_SAMPLE).to_list()

    @property
    def first(self) -> str:
        return self._sample[0][:1]

    @property
    def longest(self) -> int:
        return longest_text(self.held)

    def may_be(self, pattern: str) -> bool:
        """Return whether the first cells are of a pattern."""
        return all(map(re.compile(pattern).fullmatch, self._sample))

    def are(self, pattern: str) -> bool:
        return self.may_be(pattern) and self.held.str.contains(f"^(?:{pattern})$").all()

    def has_decimal_commas(self) -> bool:
        held = self.held
        sure = held.str.contains(",", literal=True) & ~held.str.contains(f"^(?:{GROUPED})$")
        return bool(sure.any()) and self.are(COMMA_NUMBER)

    def replace(self, old: str, new: str) -> _Long:
        return _Long(self.held.str.replace_all(old, new, literal=True), self.blanks)

    def to_integers(self) -> Array | None:
        import polars as pl

        for dtype in (pl.Int64, pl.UInt64) if self.may_be(INTEGER) else ():
            integers = self.held.cast(dtype, strict=False)
            if not integers.null_count():
                other = self.held.filter(self.held != integers.cast(pl.String))
                return integers.to_numpy(writable=True) if other.str.contains(f"^(?:{INTEGER})$").all() else None
        return None

    def to_doubles(self) -> Array | None:
        """Return float64; None if a cell is no number, or a double does not keep it.

        Numerals that look different when the engine prints them again (`1.50`, `+2.5`, twenty digits) are looked at.
        """
        import polars as pl

        doubles = self.held.cast(pl.Float64, strict=False)
        if doubles.null_count():
            return None
        places = (self.held != doubles.cast(pl.String)).arg_true()
        texts = self.held.gather(places)
        hard = ~texts.str.contains(_EASY_NUMBER) | (texts.str.len_bytes() > _EASY_LENGTH) | (texts == "-0")
        places, texts = places.filter(hard), texts.filter(hard)
        if not texts.str.contains(f"^(?:{NUMBER})$").all():
            return None
        lost = _find_lost(texts.to_list(), doubles.gather(places).to_list())
        if lost is None:
            return doubles.to_numpy(writable=True)
        if has_too_many_digits(texts[lost]):
            raise _TooManyDigitsError(int(places[lost]))
        return None

    def distinct(self) -> list[str]:
        return self.held.unique().to_list()

    def are_among(self, words: Sequence[str]) -> Array:
        import polars as pl

        return self.held.is_in(pl.Series(words, dtype=pl.String)).to_numpy(writable=True)

    def longest_fraction(self) -> int:
        return longest_text(self.held.str.extract(r"\.([0-9]+)$"))

    def keep_text(self, texts: pl.Series) -> Array:
        import polars as pl

        blanks = pl.Series([False] if self.blanks is None else self.blanks)
        kept = pl.select(pl.when(blanks).then(pl.lit("")).otherwise(texts)).to_series()
        return buffer_from_text(kept, from_name("string"), TextLook(formulas="keep"))[0]
