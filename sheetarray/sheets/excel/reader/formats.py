"""Number formats, and what they show: dates and durations, which are numbers of days."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from ....dtypes import Mask, Positions
from ....errors import FormatError
from ..package.markup import children_named, local_name, parse_tree
from ..package.parts import Package
from .cells import DURATION, NUMBER, ROUNDED, SERIAL, Kinds

# Number formats: which styles show a number as a date, and which as a duration.
#
# Source: ECMA-376 part 1, 18.8.30 (numFmt), 18.8.45 (xf), 18.8.31 (format codes). The binary workbooks number their
# formats and styles in the same way.

_DATES = frozenset((*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)))  # built in; from 27 on East Asian
_DURATIONS = frozenset((46,))
_LITERAL = re.compile(r'"[^"]*"?|\\.|_.|\*.', re.DOTALL)
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_BRACKETS = re.compile(r"\[[^\]]*\]?")
_MARKS = re.compile("[ymdhs]|a/p")  # what dates and times of day are shown with
_FORMAT_NUMBER = re.compile("[0-9]{1,6}")
_MOST_STYLES, _MOST_ELEMENTS, _MOST_BYTES = 2**17, 2**20, 2**25  # of the part with the styles


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
        known = np.minimum(styles, len(self._used))
        met = np.flatnonzero(np.bincount(known))
        for style in met[self._kinds[met] == 0].tolist():
            number = self._used[style]
            built_in = SERIAL if number in _DATES else DURATION if number in _DURATIONS else NUMBER
            self._kinds[style] = kind_of_format(self._codes[number]) if number in self._codes else built_in
        if (self._kinds[met] == NUMBER).all():
            return kinds
        format_kinds = self._kinds[known]
        return np.where((kinds == NUMBER) & (format_kinds != NUMBER), format_kinds, kinds)


def read_formats(package: Package, part: str | None) -> Formats:
    """Return the formats in the styles of a workbook.

    `part`: in which the styles are; None if the workbook has no styles.

    Raises:
        FormatError: the part is damaged.
    """
    if part is None:
        return Formats([], {})
    root = parse_tree(package.read(part, limit=_MOST_BYTES), location=part, limit=_MOST_BYTES, most=_MOST_ELEMENTS)
    if local_name(root) != "styleSheet":
        return Formats([], {})
    formats = [entry for around in children_named(root, "numFmts") for entry in children_named(around, "numFmt")]
    styles = [style for around in children_named(root, "cellXfs") for style in children_named(around, "xf")]
    if max(len(styles), len(formats)) > _MOST_STYLES:
        raise FormatError(f"more than {_MOST_STYLES} styles")
    used = [style.get("numFmtId", "") for style in styles]
    numbers = {text: int(text) if _FORMAT_NUMBER.fullmatch(text) else 0 for text in set(used)}
    codes = {
        numbers[text]: entry.get("formatCode", "") for entry in formats if (text := entry.get("numFmtId")) in numbers
    }
    return Formats([numbers[text] for text in used], codes)


# Doubles of workbooks: which ones tell all that was written, and durations, which are numbers of days.
#
# Spreadsheet programs keep milliseconds of durations. Source: ECMA-376 part 1, 18.17.4.

Doubles = np.ndarray[tuple[int], np.dtype[np.float64]]

_MILLISECONDS = 86_400_000  # of a day
_LONGEST = 1e8  # days: no program shows as many as a duration


def format_duration(serial: float) -> str | None:
    """Return hours, minutes and seconds, as programs show a number of days as a duration; None if it is too large.

    Example:
        >>> format_duration(1.5), format_duration(0.000000058)
        ('36:00:00', '00:00:00.005')
    """
    if not abs(serial) < _LONGEST:
        return None
    seconds, milliseconds = divmod(round(abs(serial) * _MILLISECONDS), 1000)
    fraction = f".{milliseconds:03}" if milliseconds else ""
    hours, seconds = divmod(seconds, 3600)
    sign = "-" if serial < 0 else ""
    return f"{sign}{hours:02}:{seconds // 60:02}:{seconds % 60:02}{fraction}"


def are_exact_doubles(numbers: Doubles) -> Mask:
    """Return a mask of the doubles that are so small that none stands for several integers."""
    with np.errstate(invalid="ignore"):  # NaN that signals
        return np.abs(numbers) < ROUNDED


def are_plain_doubles(numbers: Doubles) -> bool:
    """Return whether doubles tell all that was written: none is so large that it may have been rounded, none is -0."""
    return bool(mark_plain_doubles(numbers).all())


def mark_plain_doubles(numbers: Doubles) -> Mask:
    """Return a mask of the doubles of which `are_plain_doubles` is true."""
    mask = are_exact_doubles(numbers)
    zeros = np.flatnonzero(numbers == 0)
    mask[zeros[np.signbit(numbers[zeros])]] = False
    return mask
