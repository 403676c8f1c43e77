"""Words for messages: counts with nouns, names of arrays in a row, an element, and an element before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..elements import label_text
from ..errors import escape_controls
from .formulas import FormulaText

MOST_NAMED = 5  # arrays that a message names; others are counted
_SHORT, _DIGITS = 8, 6  # characters of a number that is shown as it is, and digits of any other
_LARGE = 1e15  # smaller numbers are shown with all digits before the point


def count_noun(count: int, noun: str) -> str:
    """Return a count and its noun.

    Example:
        >>> count_noun(1, "array"), count_noun(2000, "cell")
        ('1 array', '2,000 cells')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def join_names(names: Sequence[str]) -> str:
    """Return the first of many names of arrays, and the number of others.

    Example:
        >>> join_names(["t", "u", "v", "w", "x", "y"])
        't, u, v, w, x and 1 more array'
    """
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {count_noun(more, 'more array')}" if more > 0 else "")


def format_value(value: Any) -> str:
    """Return an element as a message shows it: the shortest text that reads back as it; text in quotes."""
    if isinstance(value, str) and not isinstance(value, FormulaText):
        return escape_controls(repr(str(value)))
    return escape_controls(label_text(value) if isinstance(value, np.generic) else repr(value))


def format_change(before: Any, after: Any) -> str:
    """Return an element before and after, as people say it: six digits of floats, more if these are the same.

    Example:
        >>> format_change(12.116715301656049, 99.5), format_change(0.1, 0.10000000000000002)
        ('12.1167 -> 99.5', '0.1 -> 0.10000000000000002')
    """
    exact = [f"{format_value(value):.60}" for value in (before, after)]
    short = [_shorten(value, text) for value, text in zip((before, after), exact, strict=True)]
    return " -> ".join(exact if short[0] == short[1] else short)


def _shorten(value: Any, text: str) -> str:
    if not isinstance(value, (float, np.floating)) or len(text) <= _SHORT:
        return text
    number = float(value)
    whole = len(str(abs(int(number)))) if abs(number) < _LARGE else 0
    return f"{number:.{max(whole, _DIGITS)}g}"
