"""Numbers written by a pattern such as `#,##0.00` or `0%;(0%)`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[([<>=]{1,2})(-?\d+(?:\.\d+)?)\]|\[[^\]]*\]|_.|\*.')
_DIGITS = re.compile(
    r"(?P<whole>[#0?,]*)(?:\.(?P<fraction>[#0?]*))?(?P<scale>,*)(?:(?P<letter>[eE])(?P<sign>[-+])(?P<exponent>0+))?"
)
_FRACTION = re.compile(r"(?P<whole>[#0?]+ +)?(?P<upper>[#0?]+)/(?P<lower>[#0?]+|[1-9]\d*)")
_MARKS = "#0?,.%;@/"
_HIDDEN = {
    ord(mark): chr(0xE000 + index) for index, mark in enumerate(_MARKS)
}  # private characters that stand for marks in quotes, which mean themselves
_SHOWN = {ord(hidden): chr(mark) for mark, hidden in _HIDDEN.items()}
_WIDEST = 60  # characters of a section with digits
_GENERAL = "General"
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "<>": operator.ne,
    "=": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
}


class _Section:
    """A part of a pattern up to a semicolon.

    Attributes:
        condition: a comparison and a number, such as ("<", 100.0) for `[<100]`; None if the section has none.
        text: the section without its condition and colours; marks in quotes are replaced by those of `_HIDDEN`.
    """

    def __init__(self, text: str) -> None:
        self.condition: tuple[str, float] | None = None
        self.text = _LITERAL.sub(self._hide, text)

    def _hide(self, match: re.Match[str]) -> str:
        """Return quoted text or a currency, its marks hidden; "" for colours and padding. A condition is kept."""
        if match[4] in _COMPARISONS:
            self.condition = match[4], float(match[5])
        return (match[1] or match[2] or match[3] or "").translate(_HIDDEN)

    def holds(self, number: float) -> bool:
        """Return whether a number meets the condition; True without one."""
        return self.condition is None or _COMPARISONS[self.condition[0]](number, self.condition[1])


def _sections(pattern: str) -> list[_Section]:
    """Return the sections of a pattern, which semicolons outside of quotes separate."""
    ends = [match.start() for match in re.finditer(r'"[^"]*"|\\.|\[[^\]]*\]|;', pattern) if match[0] == ";"]
    return [
        _Section(pattern[start:stop])
        for start, stop in zip([0, *(end + 1 for end in ends)], [*ends, None], strict=True)
    ]


def write_text(text: str, pattern: str) -> str:
    """Return a text as a pattern writes it: by the fourth section, or the only one, if that has an `@`.

    Example:
        >>> write_text("x", '0;-0;0;"<"@">"'), write_text("x", "0.00")
        ('<x>', 'x')
    """
    sections = _sections(pattern) if "@" in pattern else []
    if len(sections) not in (1, 4):
        return text
    return "".join(text if part == "@" else part.translate(_SHOWN) for part in re.split("(@)", sections[-1].text))


def write_number(number: float, pattern: str) -> str | None:
    """Return a number as a pattern writes it; None for a pattern that the emulator does not know.

    Example:
        >>> write_number(1234.5, "#,##0.00"), write_number(-0.256, "0.0%"), write_number(7, "000")
        ('1,234.50', '-25.6%', '007')
    """
    sections = _sections(pattern)
    sign = "-" if number < 0 else ""
    if any(section.condition for section in sections):
        section = next((section for section in sections if section.holds(number)), sections[-1]).text
    else:
        index = 1 if number < 0 else 2 if number == 0 else 0
        sign = "" if index == 1 and len(sections) > 1 else sign
        section = sections[index if index < min(len(sections), 3) else 0].text
    if match := _FRACTION.search(section):
        written: str | None = _written_fraction(abs(number), match)
        before, after = section[: match.start()], section[match.end() :]
    else:
        digits = next((match for match in _DIGITS.finditer(section) if match[0].strip(",.")), None)
        if digits is None:
            known = section.strip("%,. ") not in ("", "@", _GENERAL) or not section
            return section.translate(_SHOWN) if known else None
        before, after = section[: digits.start()], section[digits.end() :]
        if len(section) > _WIDEST:
            return None
        if any(mark in after for mark in "#0?"):
            before, written, after = "", _written_apart(abs(number), section), ""
        else:
            written = _write_digits(abs(number), digits, 2 * (before + after).count("%"))
    if written is None:
        return None
    sign = sign if any(digit in "123456789" for digit in written) else ""
    return f"{sign}{before}{written}{after}".translate(_SHOWN)


def _write_digits(size: float, digits: re.Match[str], powers: int) -> str:
    """Return a number that is not negative, times 10 to the power of `powers`, by the digits of a section."""
    whole, fraction = digits["whole"], digits["fraction"] or ""
    decimal = Decimal(repr(size)).scaleb(powers)
    if digits["exponent"]:
        return _scientific(decimal, digits)
    thousands = len(whole) - len(whole.rstrip(",")) + len(digits["scale"])
    decimal = decimal.scaleb(-3 * thousands)
    text = f"{_round(decimal, len(fraction)):f}"
    integer, _, decimals = text.partition(".")
    integer = _fill(integer.lstrip("0"), whole.replace(",", ""))
    if "," in whole.rstrip(","):
        integer = _group(integer)
    decimals = _optional(decimals, fraction)
    point = "." if "." in digits[0] and (decimals or digits["fraction"] == "") else ""
    return integer + point + decimals


def _fill(integer: str, marks: str) -> str:
    """Return digits with zeros and spaces before them, for each `0` and `?` of the marks beyond their number."""
    missing = marks[: max(0, len(marks) - len(integer))]
    first_zero = missing.find("0")
    blank = missing if first_zero < 0 else missing[:first_zero]
    return " " * blank.count("?") + "0" * (len(missing) - len(blank)) + integer


def _written_apart(size: float, section: str) -> str | None:
    """Return a number whose digits stand apart, as in `(000) 000-0000`; text between them stays where it is."""
    if any(mark in section for mark in ".%,eE"):
        return None
    rest = f"{_round(Decimal(repr(size)), 0):f}".lstrip("0")
    parts: list[str] = []
    left = sum(section.count(mark) for mark in "#0?")
    for mark in reversed(section):
        if mark not in "#0?":
            parts.append(mark)
            continue
        left -= 1
        count = 1 if left else len(rest)  # the first mark of the pattern takes all digits that are left
        taken, rest = (rest[-count:], rest[:-count]) if rest else ("", "")
        parts.append(taken or {"0": "0", "?": " "}.get(mark, ""))
    return "".join(reversed(parts))


def _written_fraction(size: float, match: re.Match[str]) -> str:
    """Return a number as a fraction, such as `1 1/8`."""
    lower = match["lower"]
    if lower.isdecimal() and lower.strip("0"):
        upper_value, lower_value = round(size * int(lower)), int(lower)
    else:
        nearest = Fraction(size).limit_denominator(10 ** len(lower) - 1)
        upper_value, lower_value = nearest.numerator, nearest.denominator
    whole = ""
    if match["whole"]:
        whole_value, upper_value = divmod(upper_value, lower_value)
        whole = _fill(str(whole_value or ""), match["whole"].strip()) + match["whole"][len(match["whole"].rstrip()) :]
    if match["whole"] and not upper_value:
        return (whole if whole.strip() else "0 ").ljust(len(whole) + len(match["upper"]) + 1 + len(lower))
    upper = _fill(str(upper_value or ""), match["upper"])
    return f"{whole}{upper or '0'}/{str(lower_value).ljust(len(lower) if '?' in lower else 0)}"


def _round(decimal: Decimal, digits: int) -> Decimal:
    """Return a number rounded to so many digits after the point; one of more than 25 digits is only filled up."""
    if decimal.adjusted() + digits > 25:
        return Decimal(f"{decimal:f}" + ("" if "." in f"{decimal:f}" or not digits else "." + "0" * digits))
    return decimal.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)


def _group(integer: str) -> str:
    """Return digits with a comma between thousands."""
    first = len(integer) % 3
    groups = [integer[:first]] if first else []
    return ",".join(groups + [integer[at : at + 3] for at in range(first, len(integer), 3)])


def _optional(decimals: str, fraction: str) -> str:
    """Return decimals without zeros at the end that stand at a `#` or `?` of the pattern; a space for each `?`."""
    kept, spaces = decimals[: len(fraction)], ""
    while kept and kept[-1] == "0" and fraction[len(kept) - 1] in "#?":
        spaces += " " * (fraction[len(kept) - 1] == "?")
        kept = kept[:-1]
    return kept + spaces


def _scientific(decimal: Decimal, digits: re.Match[str]) -> str:
    """Return a number with an exponent; by a pattern such as `##0.0E+0`, the exponent is a multiple of 3."""
    fraction, step = digits["fraction"] or "", len(digits["whole"].replace(",", ""))
    power = decimal.adjusted() if decimal else 0
    if step > 1 and "#" in digits["whole"]:
        power -= power % step
    mantissa = _round(decimal.scaleb(-power), len(fraction))
    if mantissa >= 10 ** max(step, 1):
        power += max(step, 1)
        mantissa = _round(decimal.scaleb(-power), len(fraction))
    sign = "-" if power < 0 else "+" if digits["sign"] == "+" else ""
    integer, _, decimals = f"{mantissa:f}".partition(".")
    decimals = _optional(decimals, fraction)
    shown = f"{integer}{'.' if decimals else ''}{decimals}"
    return f"{shown}{digits['letter']}{sign}{abs(power):0{len(digits['exponent'])}d}"
