"""How values are spelt in cells of text: the words, marks and patterns that single values and whole columns share.

`scalars` reads and writes one value by them, the rest of `sheetarray.elements` and `sheetarray.tables` whole columns.
Patterns are written for Python's regular expressions and for those of the columnar engine alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

DecimalMark = Literal[".", ","]
FormulaMode = Literal["escape", "keep"]  # what a container of nothing but text may do


@dataclass(frozen=True, slots=True)
class TextLook:
    """How a container of text writes values: its decimal mark, and what it does with formulas."""

    decimal: Literal[".", ","] = "."  # the decimal mark of floats and complex numbers
    # "escape" puts an apostrophe before text that a spreadsheet would evaluate, "keep" does not; "typed" is a container
    # that knows text from numbers and formulas by itself
    formulas: Literal["escape", "keep", "typed"] = "escape"


NAN, INFINITY, NEGATIVE_INFINITY = "NaN", "Infinity", "-Infinity"
NO_TIME = "NaT"

FALSE, TRUE = "FALSE", "TRUE"
TRUE_WORDS, FALSE_WORDS = ("true", "1"), ("false", "0")  # what a cell may hold under `bool`, in lower case

EVALUATED = ("=", "+", "-", "@", "'", "\t", "\r")
"""With one of these begins text that a spreadsheet would evaluate, or whose apostrophe it would take away."""
EVALUATED_PATTERN = r"[=+\-@'\t\r]"

DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
ANY_MOMENT = r"[+-]?\d{4,19}(?:-\d\d(?:-\d\d(?:[T ]\d\d(?::\d\d(?::\d\d(?:\.\d{1,18})?)?)?)?)?)?"
"""A moment as precise as anybody writes it, from the year alone to the last digit, whether there is one or not."""
_TIME_OF_DAY = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"


def moment_pattern(digits: str, *, between: str = "[T ]") -> str:
    r"""Return the pattern of a day with its time and so many digits of the second (`""` for none):
    `2020-01-31T10:20:30.5`.

    Example:
        >>> moment_pattern("", between="T")
        '[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]'
    """
    return rf"{DAY}{between}{_TIME_OF_DAY}" + (rf"\.[0-9]{{{digits}}}" if digits else "")


def shows_minus(values: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return a mask of the floats whose text begins with a minus: negative numbers and -0, but never a NaN."""
    minus: np.ndarray[Any, np.dtype[np.bool_]] = np.signbit(values) & ~np.isnan(values)
    return minus


SHEET_ERRORS = frozenset(
    ("#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#ERROR!", "#SPILL!", "#CALC!")
)
"""What spreadsheet programs show instead of a value."""

MISSING_WORDS = frozenset(
    (
        *("na", "n/a", "n.a.", "#n/a", "nan", "nat", "null", "none", "nil", "missing", "\\n"),
        *("-", "--", "---", "?", "??", "???", ".", "..", "..."),
    )
)
"""Words for a missing value, in lower case: one list for arrays, tables and `check`."""


def is_missing_word(text: str) -> bool:
    """Return whether a text stands for a missing value: a word, or an error of a spreadsheet.

    Example:
        >>> is_missing_word(" N/A "), is_missing_word("#DIV/0!"), is_missing_word("nothing")
        (True, True, False)
    """
    bare = text.strip()
    return bare.lower() in MISSING_WORDS or bare in SHEET_ERRORS
