"""Functions of numbers as they are written: in other bases, in Roman letters, as addresses of the web."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

from .mathematics import Function
from .operands import Arguments, Operand, fail, single_value, text, whole

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ROMAN = {"M": 1000, "CM": 900, "D": 500, "CD": 400, "C": 100, "XC": 90, "L": 50, "XL": 40, "X": 10}
_ROMAN |= {"IX": 9, "V": 5, "IV": 4, "I": 1}
_BITS = {2: 10, 8: 30, 16: 40}  # that ten digits of a base have; the first bit is the sign
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(\.[\w-]+)+")
_URL = re.compile(r"((https?|ftp)://)?[\w-]+(\.[\w-]+)+(/\S*)?")


def in_base(value: int, base: int) -> str:
    """Return a whole number from 0 on in a base up to 36."""
    digits = ""
    while value:
        value, digit = divmod(value, base)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def _to_decimal(function: str, base: int) -> Function:
    def work(arguments: Arguments) -> Operand:
        shown = text(arguments[0])
        if not re.fullmatch(rf"[{_DIGITS[:base]}]{{1,10}}", shown.upper()):
            fail("#NUM!", f"Function {function} parameter 1 value '{shown}' is no number of base {base}.")
        value = int(shown, base)
        return float(value - (1 << _BITS[base]) if value >> (_BITS[base] - 1) else value)

    return 1, 1, work


def _from_decimal(function: str, base: int) -> Function:
    def work(arguments: Arguments) -> Operand:
        value, half = whole(arguments[0]), 1 << (_BITS[base] - 1)
        if not -half <= value < half:
            fail("#NUM!", f"Function {function} parameter 1 value {value} is out of range.")
        return _pad(in_base(value % (2 * half), base), arguments, function)

    return 1, 2, work


def _pad(digits: str, arguments: Arguments, function: str) -> str:
    places = whole(arguments[1]) if len(arguments) > 1 else len(digits)
    if not len(digits) <= places <= 255:
        fail("#NUM!", f"Function {function} parameter 2 value {places} is out of range.")
    return digits.rjust(places, "0")


def _base(arguments: Arguments) -> Operand:
    value, base = whole(arguments[0]), whole(arguments[1])
    if value < 0 or not 2 <= base <= 36:
        fail("#NUM!", "Function BASE takes numbers from 0 on, and bases from 2 to 36.")
    return _pad(in_base(value, base), [arguments[0], *arguments[2:]], "BASE")


def _decimal(arguments: Arguments) -> Operand:
    shown, base = text(arguments[0]), whole(arguments[1])
    if not 2 <= base <= 36 or not re.fullmatch(rf"[{_DIGITS[:base]}]{{1,200}}", shown.upper()):
        fail("#NUM!", f"Function DECIMAL parameter 1 value '{shown}' is no number of base {base}.")
    return float(int(shown, base))


def _roman(arguments: Arguments) -> Operand:
    value = whole(arguments[0])
    if not 1 <= value <= 3999:
        fail("#VALUE!", f"Function ROMAN parameter 1 value is {value}. Valid values are between 1 and 3999 inclusive.")
    letters = ""
    for name, size in _ROMAN.items():
        letters += name * (value // size)
        value %= size
    return letters


def _arabic(arguments: Arguments) -> Operand:
    shown = text(arguments[0]).strip().upper()
    if not re.fullmatch(r"-?M*(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})", shown):
        fail("#VALUE!", f"Function ARABIC parameter 1 value '{shown}' is no Roman numeral.")
    sizes = [_ROMAN[letter] for letter in shown.lstrip("-")]
    total = sum(-size if size < after else size for size, after in zip(sizes, [*sizes[1:], 0], strict=True))
    return float(-total if shown.startswith("-") else total)


def _looks_like(pattern: re.Pattern[str]) -> Callable[[Arguments], Operand]:
    def work(arguments: Arguments) -> Operand:
        value = single_value(arguments[0])
        return isinstance(value, str) and pattern.fullmatch(value) is not None

    return work


NUMERALS: dict[str, Function] = {
    "ARABIC": (1, 1, _arabic),
    "BASE": (2, 3, _base),
    "BIN2DEC": _to_decimal("BIN2DEC", 2),
    "DEC2BIN": _from_decimal("DEC2BIN", 2),
    "DEC2HEX": _from_decimal("DEC2HEX", 16),
    "DEC2OCT": _from_decimal("DEC2OCT", 8),
    "DECIMAL": (2, 2, _decimal),
    "ENCODEURL": (1, 1, lambda given: quote(text(given[0]), safe="")),
    "HEX2DEC": _to_decimal("HEX2DEC", 16),
    "ISEMAIL": (1, 1, _looks_like(_EMAIL)),
    "ISURL": (1, 1, _looks_like(_URL)),
    "OCT2DEC": _to_decimal("OCT2DEC", 8),
    "ROMAN": (1, 1, _roman),
    "TO_TEXT": (1, 1, lambda given: text(given[0])),
}
