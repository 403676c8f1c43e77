"""Numbers written by a pattern such as `#,##0.00` or `0%;(0%)`."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[[^\]]*\]|_.|\*.')
_DIGITS = re.compile(r"(?P<whole>[#0?,]*)(?:\.(?P<fraction>[#0?]*))?(?:[eE](?P<sign>[-+])(?P<exponent>0+))?")
_MARKS = "#0?,.%;@"
_HIDDEN = {ord(mark): chr(0xE000 + index) for index, mark in enumerate(_MARKS)}  # marks that stand for themselves
_SHOWN = {ord(hidden): chr(mark) for mark, hidden in _HIDDEN.items()}
_WIDEST = 60  # digits of a pattern


def write_number(number: float, pattern: str) -> str | None:
    """Return a number as a pattern writes it; None where the pattern is of no kind that is known here.

    Example:
        >>> write_number(1234.5, "#,##0.00"), write_number(-0.256, "0.0%"), write_number(7, "000")
        ('1,234.50', '-25.6%', '007')
    """
    sections = _LITERAL.sub(_hide_marks, pattern).split(";")
    section, sign = sections[0], "-" if number < 0 else ""
    if number < 0 and len(sections) > 1:
        section, sign = sections[1], ""
    elif number == 0 and len(sections) > 2:
        section = sections[2]
    digits = next((match for match in _DIGITS.finditer(section) if match[0].strip(",.")), None)
    if digits is None:
        return None if section.strip("%,. ") in ("", "@", "General") and section else section.translate(_SHOWN)
    before, after = section[: digits.start()], section[digits.end() :]
    if any(mark in after for mark in "#0?") or len(digits[0]) > _WIDEST:
        return None
    percents = (before + after).count("%")
    written = _written(abs(number), digits, 2 * percents)
    sign = sign if any(digit in "123456789" for digit in written) else ""
    return f"{sign}{before}{written}{after}".translate(_SHOWN)


def _hide_marks(match: re.Match[str]) -> str:
    """Return quoted text with its marks hidden; colours and padding are left out."""
    return (match[1] or match[2] or "").translate(_HIDDEN)


def _written(size: float, digits: re.Match[str], powers: int) -> str:
    whole, fraction = digits["whole"], digits["fraction"] or ""
    decimal = Decimal(repr(size)).scaleb(powers)
    if digits["exponent"]:
        return _scientific(decimal, digits)
    thousands = len(whole) - len(whole.rstrip(","))
    decimal = decimal.scaleb(-3 * thousands)
    text = f"{_rounded(decimal, len(fraction)):f}"
    integer, _, decimals = text.partition(".")
    integer = integer.lstrip("0").rjust(sum(mark in "0?" for mark in whole), "0")
    if "," in whole.rstrip(","):
        integer = _grouped(integer)
    decimals = _optional(decimals, fraction)
    point = "." if "." in digits[0] and (decimals or digits[0][-1:] == ".") else ""
    return integer + point + decimals


def _rounded(decimal: Decimal, digits: int) -> Decimal:
    if decimal.adjusted() + digits > 25:
        return Decimal(f"{decimal:f}" + ("" if "." in f"{decimal:f}" or not digits else "." + "0" * digits))
    return decimal.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)


def _grouped(integer: str) -> str:
    first = len(integer) % 3
    groups = [integer[:first]] if first else []
    return ",".join(groups + [integer[at : at + 3] for at in range(first, len(integer), 3)])


def _optional(decimals: str, fraction: str) -> str:
    """Return decimals without the zeros at the end that a pattern does not insist on."""
    kept = decimals[: len(fraction)]
    while kept and kept[-1] == "0" and fraction[len(kept) - 1] == "#":
        kept = kept[:-1]
    return kept


def _scientific(decimal: Decimal, digits: re.Match[str]) -> str:
    fraction = digits["fraction"] or ""
    mantissa, _, exponent = f"{decimal:.{len(fraction)}E}".partition("E")
    power = int(exponent) if decimal else 0
    sign = "-" if power < 0 else "+" if digits["sign"] == "+" else ""
    integer, _, decimals = mantissa.partition(".")
    decimals = _optional(decimals, fraction)
    return f"{integer}{'.' if decimals else ''}{decimals}E{sign}{abs(power):0{len(digits['exponent'])}d}"
