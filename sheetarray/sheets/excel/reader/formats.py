"""Number formats, and what they show: dates and durations, which are numbers of days."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from xml.parsers import expat

import numpy as np

from ....dtypes import Mask, Positions
from ....errors import FormatError
from ..package.parts import DOCTYPE_REFUSED, Package
from .blocks import inflate_blocks, to_utf8
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
_MOST_STYLES = 2**17


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
    return (
        SERIAL if "general" not in marks and any(mark in marks for mark in ("y", "m", "d", "h", "s", "a/p")) else NUMBER
    )


class Formats:
    """The kinds of numbers that the styles of a workbook show.

    `used`: the number of the format that each style has. `codes`: the codes of formats that are not built in, such as
    `yyyy-mm-dd`, by their numbers.
    """

    def __init__(self, used: Sequence[int], codes: Mapping[int, str]) -> None:
        kinds = {number: kind_of_format(code) for number, code in codes.items()}
        kinds = dict.fromkeys(_DATES, SERIAL) | dict.fromkeys(_DURATIONS, DURATION) | kinds
        self._kinds = np.array([*(kinds.get(number, NUMBER) for number in used), NUMBER], dtype=np.uint8)

    def kinds_as_shown(self, kinds: Kinds, styles: Positions) -> Kinds:
        """Return kinds in which numbers that are shown as dates or durations have become SERIAL or DURATION.

        `styles`: of each cell, its index; a style that the workbook does not have shows numbers as numbers.
        """
        known = np.minimum(styles, len(self._kinds) - 1)
        if (self._kinds[np.flatnonzero(np.bincount(known))] == NUMBER).all():
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
    reader = _Styles()
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler, parser.EndElementHandler = reader.begin, reader.end
    parser.StartDoctypeDeclHandler = reader.definition
    try:
        for block in to_utf8(inflate_blocks(package, part), part):
            parser.Parse(block)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise FormatError(f"the part is no well-formed XML ({reason})", location=part) from error
    return Formats(reader.used, reader.codes)


class _Styles:
    """The number formats of a workbook, collected while the XML of its styles is parsed."""

    def __init__(self) -> None:
        self.codes: dict[int, str] = {}
        self.used: list[int] = []
        self._open: list[str] = []

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        self._open.append(name.rpartition(":")[2])
        match self._open:
            case ["styleSheet", "numFmts", "numFmt"]:
                self.codes[_number(attributes.get("numFmtId", ""))] = attributes.get("formatCode", "")
            case ["styleSheet", "cellXfs", "xf"]:
                self.used.append(_number(attributes.get("numFmtId", "")))
        if max(len(self.used), len(self.codes), len(self._open)) > _MOST_STYLES:
            raise FormatError(f"more than {_MOST_STYLES} styles")

    def end(self, name: str) -> None:  # noqa: ARG002  (the parser sees to it that it is the right one)
        self._open.pop()

    def definition(self, *_: object) -> None:
        raise FormatError(DOCTYPE_REFUSED)


def _number(text: str) -> int:
    return int(text) if re.fullmatch("[0-9]{1,6}", text) else 0


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
