"""What one value looks like in a cell, and what a cell can mean under a dtype.

The functions `parse_*` read one cell and raise `ValueError` with the reason, in words for the person who has the
sheet open. Everything accepted beyond what we write is what spreadsheet programs, stdlib or Python write.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from .spelling import EVALUATED, FALSE, FALSE_WORDS, INFINITY, NAN, NEGATIVE_INFINITY, TRUE, TRUE_WORDS

Cell = Any  # None | bool | int | float | str, as a sheet or JSON gives it; anything else is refused by dtype

_FLOAT = r"(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?|(?i:nan|inf(?:inity)?)"
_FLOAT_ONLY = re.compile(rf"[+-]?(?:{_FLOAT})", re.ASCII)
_COMPLEX = re.compile(
    rf"(?P<real>[+-]?(?:{_FLOAT}))??(?:\s*+(?P<sign>[+-])?\s*+(?P<imag>{_FLOAT})?(?P<unit>[ijIJ]))?", re.ASCII
)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
ROUNDED = 2**53  # from this double on, itself included, a double may be the rounding of several integers
_LONGEST_INTEGER = 400  # characters; no dtype needs 21, and int() of a long text takes quadratic time
_LONGEST_COMPLEX = 1000  # characters; no program writes as many for a complex number


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A cell that has no value for any dtype: an error, a formula without a result, a date among numbers."""

    reason: str  # what it is
    hint: str = ""  # what to do
    numeral: str = ""  # the text in a number cell that is no number, such as INF
    is_error: bool = False  # whether it is an error of the spreadsheet, such as #DIV/0!


def is_blank(cell: Cell) -> bool:
    """Return whether a cell holds nothing: None, or text of white space only."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def shortest_text(value: float, text: str) -> str:
    """Return the text of a float in a cell of text: `text` is its shortest decimal, a trailing `.0` is dropped."""
    if math.isfinite(value):
        return text.removesuffix(".0")
    return NAN if math.isnan(value) else INFINITY if value > 0 else NEGATIVE_INFINITY


def format_bool(value: object) -> str:
    """Return a boolean in a cell of text, as spreadsheets show it."""
    return TRUE if value else FALSE


def escape_formula(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would evaluate, or that begins with one."""
    return "'" + text if text.startswith(EVALUATED) else text


def unescape_formula(text: str) -> str:
    """Undo `escape_formula`; an apostrophe that it would not have written stays."""
    return text[1:] if text.startswith("'") and text[1:].startswith(EVALUATED) else text


def parse_float(cell: Cell, decimal: str = ".") -> float:
    """Return the float in a cell: a number, a numeral, NaN or an infinity, or stdlib's tagged object."""
    if isinstance(cell, float):
        return cell
    if isinstance(cell, int) and not isinstance(cell, bool):
        try:
            return float(cell)
        except OverflowError:
            raise ValueError("is beyond the range of float64") from None
    if isinstance(cell, dict):
        cell = cell.get("value") if cell.keys() == {"type", "value"} else cell
    text = _cell_text(cell, decimal)
    if text is None or not _FLOAT_ONLY.fullmatch(text):
        raise ValueError(f"expected a number, found {describe_cell(cell)}")
    value = float(text)
    if math.isinf(value) and "n" not in text.lower():
        raise ValueError(f"{describe_cell(cell)} is beyond the range of float64")
    return value


def parse_int(cell: Cell, decimal: str = ".") -> int:
    """Return the integer in a cell: `2`, `2.0`, `"2"`, `"1E+05"`; never rounded."""
    if isinstance(cell, int) and not isinstance(cell, bool):
        return cell
    if isinstance(cell, float):
        if not cell.is_integer():
            raise ValueError(f"expected an integer, found {describe_cell(cell)}")
        if abs(cell) >= ROUNDED:
            raise ValueError(
                f"expected an integer, found {describe_cell(cell)}: doubles of 2^53 or more may be rounded"
            )
        return int(cell)
    text = _cell_text(cell, decimal)
    if text is not None and len(text) <= _LONGEST_INTEGER:
        if _INTEGER.fullmatch(text):
            return int(text)
        if _FLOAT_ONLY.fullmatch(text) and "n" not in text.lower():
            try:
                number = Decimal(text)
            except InvalidOperation:  # an exponent of 19 digits
                raise ValueError(f"{describe_cell(cell)} is beyond the range of every integer dtype") from None
            if not number:
                return 0
            if number.adjusted() > _LONGEST_INTEGER:
                raise ValueError(f"{describe_cell(cell)} is beyond the range of every integer dtype")
            if number.as_tuple().exponent >= 0 or number == number.to_integral_value():  # type: ignore[operator]  # finite: the exponent is an int
                return int(number)
    raise ValueError(f"expected an integer, found {describe_cell(cell)}")


def split_complex(cell: Cell, decimal: str = ".") -> tuple[str, str]:
    """Return the numerals of the real and the imaginary part in a cell of text such as `3+4i`, `(1-2j)`, `i` or `5`."""
    text = _cell_text(cell, decimal)
    if text is not None and text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    match = _COMPLEX.fullmatch(text) if text and len(text) <= _LONGEST_COMPLEX else None
    if match is None or (match["unit"] and match["real"] and not match["sign"]):
        raise ValueError(f"expected a complex number, found {describe_cell(cell)}")
    real, unit = match["real"], match["unit"]
    return real or "0", f"{match['sign'] or ''}{match['imag'] or '1'}" if unit else "0"


def parse_complex(cell: Cell, decimal: str = ".") -> complex:
    """Return the complex number in a cell; a plain number is one without an imaginary part."""
    if isinstance(cell, (float, int, dict)):
        return complex(parse_float(cell), 0.0)
    real, imag = split_complex(cell, decimal)
    return complex(parse_float(real), parse_float(imag))


def parse_bool(cell: Cell) -> bool:
    """Return the boolean in a cell: true/false in any case, or 1/0."""
    if isinstance(cell, bool):
        return cell
    if isinstance(cell, (int, float)) and cell in (0, 1):
        return bool(cell)
    word = cell.strip().casefold() if isinstance(cell, str) else ""
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    raise ValueError(f"expected TRUE or FALSE, found {describe_cell(cell)}")


def parse_string(cell: Cell) -> str:
    """Return the text in a cell; a number or boolean that a program made of it is turned back as well as can be."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return format_bool(cell)
    if isinstance(cell, (int, float)):
        return shortest_text(float(cell), repr(cell)) if isinstance(cell, float) else str(cell)
    raise ValueError(f"expected text, found {describe_cell(cell)}")


def describe_cell(cell: Cell) -> str:
    """Return a cell's content for a message, cut to a readable length."""
    if is_blank(cell):
        return "a blank cell"
    if isinstance(cell, (list, dict)):
        return f"a JSON {'list' if isinstance(cell, list) else 'object'}"
    if isinstance(cell, int) and abs(cell) >= 10**40:
        return "an integer of more than 40 digits"
    text = repr(cell) if isinstance(cell, (str, bool, int, float)) else f"a {type(cell).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def _cell_text(cell: Cell, decimal: str) -> str | None:
    if not isinstance(cell, str):
        return None
    text = cell.strip()
    if decimal == ",":
        return None if "." in text else text.replace(",", ".")
    return text
