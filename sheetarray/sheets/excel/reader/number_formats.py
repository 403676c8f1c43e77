"""Number formats: which styles show a number as a date, and which as a duration.

Source: ECMA-376 part 1, 18.8.30 (numFmt), 18.8.45 (xf), 18.8.31 (format codes). Binary workbooks number their formats
and styles in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from ....dtypes import Positions
from .cells import (
    DURATION,
    NUMBER,
    SERIAL,
    Kinds,
)

_DATES = frozenset((*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)))  # built in; from 27 on East Asian
_DURATIONS = frozenset((46,))
_LITERAL = re.compile(r'"[^"]*"?|\\.|_.|\*.', re.DOTALL)
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_BRACKETS = re.compile(r"\[[^\]]*\]?")
_MARKS = re.compile("[ymdhs]|a/p")  # what dates and times of day are shown with
FORMAT_NUMBER = re.compile("[0-9]{1,6}")
MOST_STYLES, MOST_ELEMENTS, MOST_OF_STYLES = 2**17, 2**20, 2**25  # of the part with the styles


def kind_of_format(code: str) -> int:
    """Return the kind of number that a format code shows: NUMBER, SERIAL or DURATION.

    Example:
        >>> kind_of_format("yyyy-mm-dd") == SERIAL, kind_of_format('0.00E+00" days"') == NUMBER
        (True, True)
    """
    first = _LITERAL.sub("", code).split(";")[0]
    if _ELAPSED.search(first):
        return DURATION
    marks = _BRACKETS.sub("", first).lower()
    return SERIAL if "general" not in marks and _MARKS.search(marks) else NUMBER


class Formats:
    """The kinds of numbers that the styles of a workbook show.

    `used`: the number of the format that each style has. `codes`: the codes of formats that are not built in, such as
    `yyyy-mm-dd`, by their numbers.
    """

    def __init__(self, used: Sequence[int], codes: Mapping[int, str]) -> None:
        self._used, self._codes = used, codes
        self._kinds = np.zeros(len(used) + 1, np.uint8)  # of each style that was met; 0 of the others
        self._kinds[-1] = NUMBER

    def kinds_as_shown(self, kinds: Kinds, styles: Positions) -> Kinds:
        """Return kinds in which numbers that are shown as dates or durations have become SERIAL or DURATION.

        `styles`: of each cell, its index; a style that the workbook does not have shows numbers as numbers.
        """
        style_index = np.minimum(styles, len(self._used))
        met = np.flatnonzero(np.bincount(style_index))
        for style in met[self._kinds[met] == 0].tolist():
            number = self._used[style]
            built_in = SERIAL if number in _DATES else DURATION if number in _DURATIONS else NUMBER
            self._kinds[style] = kind_of_format(self._codes[number]) if number in self._codes else built_in
        if (self._kinds[met] == NUMBER).all():
            return kinds
        format_kinds = self._kinds[style_index]
        return np.where((kinds == NUMBER) & (format_kinds != NUMBER), format_kinds, kinds)
