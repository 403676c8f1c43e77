"""The dtype that keeps every cell of a column of text, and the values under it.

`infer` has the rules. It asks `_BareTexts`, which has few cells as a list, and many as a Series of the columnar
engine. That is 20 times as fast there, and slower where a table has thousands of columns of ten cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..dtypes import Array, Mask, from_name
from ..elements import DAY, TextLook, buffer_from_text, longest_text, moment_pattern, text_array
from .cells import mark_blanks
from .numerals import (
    APART,
    COMMA_NUMBER,
    EXACT,
    GERMAN,
    GROUPED,
    GROUPED_APART,
    GROUPED_COMMAS,
    GROUPED_POINTS,
    INTEGER,
    LONGEST,
    NUMBER,
    OF_BOTH,
    WHITE,
    WORD,
    MarksLook,
    NumeralMarks,
    has_too_many_digits,
    keeps_number,
    look_at_marks,
)

if TYPE_CHECKING:
    import polars as pl

_DATES = f"{DAY}|NaT"
MOMENTS = rf"{DAY}|{moment_pattern('')}|{moment_pattern('1,9')}|NaT"
_FIRST, _LAST = "1677-09-21T00:12:43.145224193", "2262-04-11T23:47:16.854775807"  # of nanoseconds
BOOLEAN = "[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]"
_GERMAN_NUMBER = GERMAN.number
_NUMERAL, _WORD = re.compile(f"{NUMBER}|{COMMA_NUMBER}|{_GERMAN_NUMBER}"), re.compile(WORD)
_GROUPED_POINTS = re.compile(GROUPED_POINTS)
_VALUES = BOOLEAN, NUMBER, COMMA_NUMBER, _GERMAN_NUMBER, MOMENTS, GROUPED_COMMAS, GROUPED_APART
_ANY_VALUE = re.compile("|".join(_VALUES))  # that a cell may be under some marks of numbers
_MOST_DIGITS = 15  # of a number that a spreadsheet keeps
_NO_DECIMAL = rf"[^,]*|{GROUPED}"  # cells without a comma that can be nothing but a decimal mark
_PRINTED = re.compile(r"[+-]?[0-9]+\.([0-9]+)(?:([eE])[+-][0-9]{2,3})?")
_BEGINNINGS = "0123456789+-.,nNiI"  # of numbers and dates
_MOST_MIXED = 2**22  # cells in which decimal points are looked for among decimal commas: it takes a copy of them
_SAMPLE = 100  # cells that say what a long column may be
_CELLS_A_PRINT = 2**16


@dataclass(frozen=True, slots=True)
class Inferred:
    """The values that a column was read as."""

    values: Array  # of its cells
    # the index of a decimal with more digits than a double holds, which made the column text; None if that was not the
    # reason, or the column is not text
    long: int | None = None
    look: MarksLook = None  # what the marks of its numbers show


class _TooManyDigitsError(Exception):
    """A decimal, by its index, has more digits than a double holds."""


def infer(
    texts: list[str | None] | pl.Series, marks: NumeralMarks, *, as_text: bool = False, nullable: bool = False
) -> Inferred:
    """Return the dtype that keeps every cell of a column of text, and its values.

    `texts`: None, "" and white space are blanks. `as_text`: they are text. `nullable`: integers with blanks among them
    are not made floats.

    Example:
        >>> infer(["1", "2"], NumeralMarks()).values, infer(["01", None], NumeralMarks()).values
        (array([1, 2]), array(['01', ''], dtype='<U2'))
    """
    is_open = marks.is_plain and marks.decimal is None
    if not as_text and isinstance(texts, list) and marks.is_plain and (numbers := _read_usual(texts)) is not None:
        if numbers.dtype.kind == "i":
            return Inferred(numbers)
        grouped = is_open and _GROUPED_POINTS.fullmatch(texts[0] or "") is not None
        return Inferred(numbers, look=look_at_marks(texts) if grouped else "point")
    column = _BareTexts.strip(texts)
    if not column.sample:
        return Inferred(np.full(len(texts), np.nan))
    first = column.sample[0][0]
    long = values = None
    look: MarksLook = None
    try:
        if first in "tTfF" and not as_text:
            values = _read_booleans(column)
        elif first in _BEGINNINGS and not as_text:
            values, look = _read_numbers(column, marks)
            values = _read_moments(column) if values is None else values
    except _TooManyDigitsError as error:
        long = error.args[0] if column.blanks is None else int(np.flatnonzero(~column.blanks)[error.args[0]])
    if values is None:
        look = _look_at_text(column, len(texts)) if look is None and is_open and not as_text else look
        return Inferred(_keep_text(texts, column.blanks), long, look)
    spread = values if column.blanks is None else _spread(values, column.blanks, nullable)
    return Inferred(spread, look=look if is_open else None)


def _look_at_text(column: _BareTexts, count: int) -> MarksLook:
    """Return what the marks of a column show that stays text, as it may hold numbers with other marks."""
    if column.are(GROUPED_COMMAS) and column.hold(","):
        return "commas"
    if column.are(GROUPED_POINTS) and column.hold("."):
        return "groups"
    if _are_apart(column):
        return "apart"
    is_mixed = count <= _MOST_MIXED and column.are(OF_BOTH) and column.hold(",") and column.hold(".")
    return "mixed" if is_mixed else None


def holds_text(texts: Sequence[str]) -> bool:
    """Return whether one of the first cells of a column can be nothing but text, whatever marks numbers have.

    Then the column is text, as `infer` says.
    """
    return any((bare := text.strip(WHITE)) and not _ANY_VALUE.fullmatch(bare) for text in texts)


def _are_apart(column: _BareTexts) -> bool:
    """Return whether blanks or apostrophes could part thousands in all cells.

    Codes have as many digits before them, no minus and no decimals.
    """
    if not any(map("\n".join(column.sample).__contains__, APART)) or not column.are(GROUPED_APART):
        return False
    lengths = {len(re.split(f"[{APART}.,]", text)[0]) for text in column.sample}
    return len(lengths) > 1 or any(text[0] == "-" or "." in text or "," in text for text in column.sample)


def _read_usual(texts: list[str | None]) -> Array | None:
    """Return numbers if each cell is what programs print for one, so that no rule is needed: an integer, the shortest
    text of a double, or doubles with one fixed number of digits.
    """
    if not texts or not texts[0] or texts[0][-1] not in "0123456789":
        return None
    try:
        if "." in texts[0]:
            numbers = list(map(float, texts))  # type: ignore[arg-type]  # None is a TypeError
            is_usual = list(map(repr, numbers)) == texts or _are_printed_alike(texts, numbers)  # type: ignore[arg-type]
            return np.array(numbers) if is_usual else None
        integers = list(map(int, texts))  # type: ignore[arg-type]
        return np.array(integers, np.int64) if list(map(str, integers)) == texts else None
    except (ValueError, TypeError, OverflowError):
        return None


def _read_numbers(column: _BareTexts, marks: NumeralMarks) -> tuple[Array | None, MarksLook]:
    """Return numbers, and what their marks show; None where a cell is no number."""
    if not marks.is_plain:
        return _read_marked(column, marks), None
    if column.may_be(NUMBER) and (values := _read_plain_numbers(column)) is not None:
        look: MarksLook = None
        if values.dtype.kind == "f":
            look = (
                "points" if column.are(GROUPED_POINTS) and column.hold(".") else "point" if column.hold(".") else None
            )
        return values, look
    if marks.decimal is None and column.are(COMMA_NUMBER) and not column.are(_NO_DECIMAL):
        return _read_plain_numbers(column.replace(",", ".")), "comma"
    if marks.decimal is None and column.are(_GERMAN_NUMBER) and column.hold(",") and not column.are(_NO_DECIMAL):
        return _read_marked(column, GERMAN), "both"
    return None, None


def _read_marked(column: _BareTexts, marks: NumeralMarks) -> Array | None:
    if not column.are(marks.number):
        return None
    for mark in marks.group:
        column = column.replace(mark, "")
    return _read_plain_numbers(column.replace(marks.point, "."))


def are_numerals(texts: Sequence[str]) -> bool:
    """Return whether texts are numbers that a spreadsheet would hold as such: as text, they were meant to be text.

    NaN, infinities, and integers of more digits than it keeps have no other way to be there.
    """
    bare = [text.strip(WHITE) for text in texts]
    if any(map(_WORD.fullmatch, bare)):
        return False
    return any(_NUMERAL.fullmatch(text) and sum(map(str.isdigit, text)) <= _MOST_DIGITS for text in bare)


def _read_plain_numbers(column: _BareTexts) -> Array | None:
    """Return int64, uint64 or float64; None where a cell is no number, or loses something as one."""
    if (integers := column.to_integers()) is not None:
        return integers
    if column.are("[+-]?[0-9]+") and column.longest > 16:
        return None  # integers of so many digits may be ids, even if doubles hold them exactly
    return column.to_doubles() if column.longest <= LONGEST else None


def _find_lost(texts: Sequence[str], values: Sequence[float]) -> int | None:
    """Return the index of the first numeral that would lose digits as a double; None if none would.

    Of numerals that stand many times, each is looked at once.
    """
    numbers_by_text = dict(zip(texts, values, strict=True))
    if 2 * len(numbers_by_text) < len(texts):
        lost = _find_lost([*numbers_by_text], [*numbers_by_text.values()])
        return None if lost is None else texts.index([*numbers_by_text][lost])
    for start in range(0, len(texts), _CELLS_A_PRINT):
        numerals, numbers = texts[start : start + _CELLS_A_PRINT], values[start : start + _CELLS_A_PRINT]
        if _are_printed_alike(numerals, numbers):
            continue
        for index, (text, number) in enumerate(zip(numerals, numbers, strict=True)):
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


def _read_booleans(column: _BareTexts) -> Array | None:
    if not column.are(BOOLEAN):
        return None
    if isinstance(column.held, list):
        return np.array([text[0] in "tT" for text in column.held])
    return column.held.str.contains("^[tT]").to_numpy(writable=True)


def _read_moments(column: _BareTexts) -> Array | None:
    """Return dates and moments in the coarsest unit that keeps them; None if one is in no calendar, or out of range."""
    unit = "D" if column.are(_DATES) else None
    if unit is None and not column.are(MOMENTS):
        return None
    texts = column.to_list()
    if unit is None:
        digits = max((len(text.rpartition(".")[2]) for text in texts if "." in text), default=0)
        unit = ("s", "ms", "us", "ns")[-(-digits // 3)]
    if {*texts} == {"NaT"}:
        return None
    if unit == "ns" and not all(_FIRST <= text.replace(" ", "T") <= _LAST for text in texts if text != "NaT"):
        return None
    try:
        return np.array(texts, dtype=f"datetime64[{unit}]")
    except ValueError:  # a 30th of February
        return None


def _spread(values: Array, blanks: Mask, nullable: bool) -> Array:
    """Return values with NaN, NaT or None for blanks; integers become floats where these hold them exactly."""
    kind = values.dtype.kind
    exact = kind == "f" or (kind in "iu" and not nullable and values.min() >= -EXACT and values.max() <= EXACT)
    dtype = values.dtype if kind == "M" else np.dtype(np.float64 if exact else object)
    spread = np.full(len(blanks), "NaT" if kind == "M" else np.nan if exact else None, dtype)
    spread[~blanks] = values
    return spread


def _keep_text(texts: list[str | None] | pl.Series, blanks: Mask | None) -> Array:
    """Return the cells of a column as they stand, empty text for blanks."""
    if isinstance(texts, list):
        if blanks is not None:
            texts = ["" if is_blank else text for text, is_blank in zip(texts, blanks.tolist(), strict=True)]
        return text_array(texts)  # type: ignore[arg-type]  # those that are None are blank
    import polars as pl

    if blanks is not None:
        texts = pl.select(pl.when(pl.Series(blanks)).then(pl.lit("")).otherwise(texts)).to_series()
    return buffer_from_text(texts, from_name("string"), TextLook(formulas="keep"))[0]


class _BareTexts:
    """The cells of a column that are not blank, without white space around them.

    `blanks`: a mask of all cells; None if none is blank.

    Attributes:
        sample: the first cells, which say what a long column may be; all of a list.
    """

    def __init__(self, cells: list[str] | pl.Series, blanks: Mask | None) -> None:
        self._cells, self.blanks = cells, blanks  # a Series still has its white space
        first = cells if isinstance(cells, list) else cells.head(_SAMPLE).str.strip_chars(WHITE).to_list()
        self.sample: list[str] = [*dict.fromkeys(first)]  # what stands many times is looked at once

    @cached_property
    def held(self) -> list[str] | pl.Series:
        """The cells; those of a column of text are never asked for."""
        return self._cells if isinstance(self._cells, list) else self._cells.str.strip_chars(WHITE)

    @classmethod
    def strip(cls, texts: list[str | None] | pl.Series) -> _BareTexts:
        """Return the cells of a column that are not blank, without white space around them."""
        if isinstance(texts, list):
            held = [bare for text in texts if text and (bare := text.strip(WHITE))]
            blanks = [not text or not text.strip(WHITE) for text in texts] if len(held) < len(texts) else None
            return cls(held, None if blanks is None else np.array(blanks))
        is_blank = mark_blanks(texts)
        return cls(texts.filter(~is_blank), is_blank) if is_blank.any() else cls(texts, None)

    def to_list(self) -> list[str]:
        """Return the cells."""
        return self.held if isinstance(self.held, list) else self.held.to_list()

    @property
    def longest(self) -> int:
        """The number of characters of the longest cell."""
        return max(map(len, self.held)) if isinstance(self.held, list) else longest_text(self.held)

    def may_be(self, pattern: str) -> bool:
        """Return whether the cells of the sample are of a pattern."""
        return all(map(re.compile(pattern).fullmatch, self.sample))

    def are(self, pattern: str) -> bool:
        """Return whether each cell is of a pattern."""
        if not self.may_be(pattern):
            return False
        return isinstance(self.held, list) or self.held.str.contains(f"^(?:{pattern})$").all()

    def shows(self, mark: str) -> bool:
        """Return whether a mark, such as a comma, is in a cell of the sample."""
        return any(mark in text for text in self.sample)

    def hold(self, mark: str) -> bool:
        """Return whether a mark is in any cell."""
        if isinstance(self.held, list) or self.shows(mark):
            return self.shows(mark)
        return bool(self.held.str.contains(mark, literal=True).any())

    def replace(self, old: str, new: str) -> _BareTexts:
        """Return the cells with a character replaced."""
        if isinstance(self.held, list):
            return _BareTexts([text.replace(old, new) for text in self.held], self.blanks)
        return _BareTexts(self.held.str.replace_all(old, new, literal=True), self.blanks)

    def to_integers(self) -> Array | None:
        """Return int64 or uint64; None if not all cells are such integers."""
        if not self.may_be(INTEGER):
            return None
        if isinstance(self.held, list):
            numbers = list(map(int, self.held))
            lowest, highest = min(numbers), max(numbers)
            if lowest < -(2**63) or highest >= 2**64 or (lowest < 0 and highest >= 2**63):
                return None
            return np.array(numbers, dtype=np.int64 if highest < 2**63 else np.uint64)
        import polars as pl

        for dtype in (pl.Int64, pl.UInt64):
            integers = self.held.cast(dtype, strict=False)
            if not integers.null_count():
                other = self.held.filter(self.held != integers.cast(pl.String))
                return integers.to_numpy(writable=True) if other.str.contains(f"^(?:{INTEGER})$").all() else None
        return None

    def to_doubles(self) -> Array | None:
        """Return float64; None if a cell is no number, or a double does not keep it.

        Of a Series, only numerals are looked at that the engine prints in another way (`1.50`, `+2.5`, twenty digits).
        """
        if isinstance(self.held, list):
            texts, places = self.held, None
            numbers = list(map(float, texts))
            doubles = np.array(numbers)
        else:
            import polars as pl

            column = self.held.cast(pl.Float64, strict=False)
            if column.null_count():
                return None
            places = (self.held != column.cast(pl.String)).arg_true()
            odd = self.held.gather(places)
            if not odd.str.contains(f"^(?:{NUMBER})$").all():
                return None
            texts, numbers, doubles = odd.to_list(), column.gather(places).to_list(), column.to_numpy(writable=True)
        if (lost := _find_lost(texts, numbers)) is None:
            return doubles
        if has_too_many_digits(texts[lost]):
            raise _TooManyDigitsError(lost if places is None else int(places[lost]))
        return None
