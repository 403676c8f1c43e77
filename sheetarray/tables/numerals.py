"""How numbers look in ordinary tables, and whether a double keeps one that a table holds.

A number loses leading zeros (`007`), the plus before a telephone number, and digits beyond those of a double; a column
with one of these is text. A comma is a decimal mark only where it can be nothing else in some cell of the column
(`3,14`) and no cell contradicts it. Where every comma could part thousands (`1,234`), it is not known what it means.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

WHITE = "\t\n\x0b\x0c\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
"""The characters that are white space: around a number they mean nothing, and a cell of nothing else is blank."""

EXACT = 2**53  # from here on one double may stand for several integers
_SHORTEST = 17  # digits that the shortest text of a double has at most
LONGEST = 1000  # characters of a numeral; a double never needs more than 767 digits

_EXPONENT = r"(?:[eE][+-]?[0-9]+)?"
_WHOLE = r"(?:0|[1-9][0-9]*)"
WORD = r"[+-]?(?:[nN][aA][nN]|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)"
INTEGER = r"(?:0|-?[1-9][0-9]{0,19}|\+(?:0|[1-9][0-9]{0,5}))"  # a plus before more digits begins a telephone number
NUMBER = rf"(?:[+-]?(?:{_WHOLE}(?:\.[0-9]*)?|\.[0-9]+){_EXPONENT}|{WORD})"
_LONG_INTEGER = r"[+-]?[0-9]+"
COMMA_NUMBER = rf"(?:[+-]?(?:{_WHOLE}(?:,[0-9]+)?|,[0-9]+){_EXPONENT}|{WORD})"
GROUPED = r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+"  # a comma that could part thousands
GROUPED_POINTS = (
    rf"(?:[+-]?[1-9][0-9]{{0,2}}(?:\.[0-9]{{3}})+|[+-]?{_WHOLE}|{WORD})"  # points that could part thousands
)
GROUPED_COMMAS = rf"(?:{GROUPED}(?:\.[0-9]*)?|{NUMBER})"
OF_BOTH = rf"(?:{NUMBER}|{COMMA_NUMBER})"  # numbers of which some have a decimal point and others a comma
APART = " '\u2019\xa0\u2009\u202f"
"""Characters between thousands that no plain number holds."""
GROUPED_APART = (  # as in 1 234,5
    rf"(?:[+-]?[1-9][0-9]{{0,2}}(?:[{APART}][0-9]{{3}})+(?:[.,][0-9]*)?|[+-]?[0-9]{{1,3}}(?:[.,][0-9]*)?)"
)
PHONE = r"\+[0-9]{7,}"

_PARTS = re.compile(r"[+-]?([0-9]*+)\.?+([0-9]*+)(?:[eE]([+-]?[0-9]+))?")
_GROUPED = re.compile(GROUPED)
_COMMA_NUMBER = re.compile(COMMA_NUMBER)
_GROUPED_POINTS = re.compile(GROUPED_POINTS)
_GROUPED_COMMAS = re.compile(GROUPED_COMMAS)
_PHONE = re.compile(PHONE)
_ALL_INTEGER = re.compile(_LONG_INTEGER)
MarksLook = Literal["comma", "both", "commas", "point", "points", "groups", "apart", "mixed"] | None
"""What the marks in a column show: a decimal comma for certain, also with points between thousands (`both`); commas
that could part thousands, points alike, also two in one number (`groups`); blanks or apostrophes that could; numbers
with a point beside numbers with a comma (`mixed`).
"""

_ALIKE = {" ": " \xa0\u2009\u202f", "'": "'\u2019"}  # thousands are parted by what looks like it, too


@dataclass(frozen=True)
class NumeralMarks:
    """The marks in the numbers of a table.

    Raises:
        ValueError: marks that could not be told apart.
    """

    decimal: str | None = None  # the decimal mark; None finds it for each column
    thousands: str | None = None  # the mark between thousands; None for no such mark

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"the decimal mark is '.' or ',', not {self.decimal!r}")
        mark = self.thousands
        if mark is None:
            return
        if not isinstance(mark, str) or len(mark) != 1 or mark.isalnum() or mark in '"+-\r\n\t\0':
            raise ValueError(f"thousands is one character such as ',' '.' ' ' or \"'\", not {mark!r}")
        if mark == self.decimal:
            raise ValueError(f"the decimal mark and the mark between thousands are both {mark!r}")

    @property
    def is_plain(self) -> bool:
        """Whether numbers have a decimal point and no mark between thousands."""
        return self.decimal != "," and self.thousands is None

    @property
    def point(self) -> str:
        """The decimal mark: the one given, or the one that fits the mark between thousands."""
        return self.decimal or ("," if self.thousands == "." else ".")

    @property
    def number(self) -> str:
        """The regular expression of a number with these marks. Marks between thousands are optional."""
        whole, point = _WHOLE, re.escape(self.point)
        if self.thousands is not None:
            whole = rf"(?:[1-9][0-9]{{0,2}}(?:[{re.escape(self.group)}][0-9]{{3}})+|{_WHOLE})"
        return rf"(?:[+-]?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+){_EXPONENT}|{WORD})"

    @property
    def group(self) -> str:
        """The characters that part thousands."""
        return _ALIKE.get(self.thousands or "", self.thousands or "")


def keeps_number(text: str, value: float) -> bool:
    """Return whether a float64 keeps a numeral: written out with the same digits, or as its shortest text, it gives the
    same numeral.

    Example:
        >>> [keeps_number(text, 0.1) for text in ("0.1", "1.00000000000000005551e-01", "0.1000000000000000001")]
        [True, True, False]
    """
    parts = _PARTS.fullmatch(text)
    if parts is None:
        return True  # NaN, or infinity in words
    whole, fraction, exponent = parts.groups()
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return value == 0
    if value == 0 or value in (float("inf"), float("-inf")) or _PHONE.fullmatch(text):
        return False
    if len(digits) <= 15 and 1e-290 < abs(value) < 1e290:
        return True
    if len(digits) > LONGEST:
        return False
    mantissa, printed = f"{abs(value):.{len(digits) - 1}e}".split("e")
    scale = int(exponent or 0) + len(whole) - 1 - (len(whole + fraction) - len(digits))
    if mantissa.replace(".", "") == digits and int(printed) == scale:
        return True
    # Halfway between two numerals, as 2**-24 is, %e prints the even one, and the shortest text may be the other.
    return len(digits) <= _SHORTEST and Decimal(repr(value)) == Decimal(text)


def is_lost(text: str | None, value: float | None) -> bool:
    """Return whether an integer, given as text, differs from the float64 that it was read as."""
    if text is None or value is None or not _ALL_INTEGER.fullmatch(text) or len(text) > LONGEST:
        return False
    return int(text) != value


def has_too_many_digits(text: str) -> bool:
    """Return whether a number has more digits than every float64 keeps; False for an integer that begins with 0."""
    parts = _PARTS.fullmatch(text)
    if parts is None or (_ALL_INTEGER.fullmatch(text) and parts[1][:1] == "0"):
        return False
    return len((parts[1] + parts[2]).lstrip("0")) > 15


GERMAN = NumeralMarks(",", ".")
"""Marks of numbers such as 1.234,5."""

_GERMAN = re.compile(GERMAN.number)


def look_at_marks(texts: Sequence[str | None]) -> MarksLook:
    """Return what a column's cells show about the decimal mark and the mark between thousands.

    Example:
        >>> [look_at_marks(texts) for texts in (["1.234,5"], ["1,234", "2"], ["1.234"], ["1.25"], ["x"])]
        ['comma', 'commas', 'points', 'point', None]
    """
    held = [bare for text in texts if text and (bare := text.strip(WHITE))]
    if commas_are_decimal(held) or (
        any("," in text and not _GROUPED.fullmatch(text) for text in held) and all(map(_GERMAN.fullmatch, held))
    ):
        return "comma"
    if any("." in text for text in held) and all(map(_GROUPED_POINTS.fullmatch, held)):
        return "points"
    if any("," in text for text in held):
        return "commas" if all(map(_GROUPED_COMMAS.fullmatch, held)) else None
    number = re.compile(NUMBER)
    return "point" if any("." in text for text in held) and all(map(number.fullmatch, held)) else None


def commas_are_decimal(texts: Sequence[str]) -> bool:
    """Return whether the commas in a column are decimal marks: one cell can mean nothing else, and no number
    contradicts it.

    `texts`: the cells that are not blank, without white space around.

    Example:
        >>> commas_are_decimal(["3,14", "2,718"]), commas_are_decimal(["1,234", "5,678"])
        (True, False)
    """
    certain = False
    for text in texts:
        if not _COMMA_NUMBER.fullmatch(text):
            if "." in text or _GROUPED.fullmatch(text):
                return False
        elif "," in text and not _GROUPED.fullmatch(text):
            certain = True
    return certain
