"""The objects of a generic array: which are scalars that a cell holds, and what to do with all others.

A scalar is None, a bool, an int, a finite float or a text. What else people put into arrays of objects (dates, bytes,
decimals, lists) is refused in words that say what it is and what to write instead.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import numpy as np

# How values are spelt in cells of text: the words, marks and patterns that single values and whole columns share.
#
# `scalar_text` reads and writes one value by them, `sheetarray.elements` and `sheetarray.tables` whole columns.
# Patterns are written for Python's regular expressions and for those of the columnar engine alike.

DecimalMark = Literal[".", ","]
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


# The objects of a generic array.

SCALARS = (type(None), bool, int, float, str)
_PLAIN = frozenset(SCALARS)

_MISSING = "use None for a missing value"
_LISTS = "make one array of equal lists, np.array(value), or an awkward.Array of lists of different lengths"
_MOMENTS = "make a datetime64 array, np.array(values, 'datetime64[us]')"
_DURATIONS = "make a timedelta64 array, np.array(values, 'timedelta64[us]')"
_TEXT = "make text of it, str(value)"

# By the name of a class or of one of its bases, so that no package is imported to know its objects.
_INSTEAD = {
    "bytes": "decode it to text, value.decode('utf-8'), or make an array of it, np.frombuffer(value, 'uint8')",
    "bytearray": "make an array of it, np.frombuffer(value, 'uint8')",
    "memoryview": "make an array of it, np.frombuffer(value, 'uint8')",
    "Decimal": "str(value) keeps every digit, float(value) is rounded",
    "Fraction": "str(value) keeps it as text, float(value) is rounded",
    "Timestamp": "make a datetime64 array, pd.to_datetime(values).to_numpy()",
    "Timedelta": "make a timedelta64 array, pd.to_timedelta(values).to_numpy()",
    "NaTType": _MISSING,
    "NAType": _MISSING,
    "MaskedConstant": _MISSING,
    "Period": "make a datetime64 array, pd.PeriodIndex(values).to_timestamp().to_numpy(), or text, str(value)",
    "Interval": "write one array of .left and one of .right, or text, str(value)",
    "datetime": f"{_MOMENTS}; times with a zone first in UTC, without it",
    "date": "make a datetime64 array, np.array(values, 'datetime64[D]')",
    "time": "make text of it, value.isoformat()",
    "timedelta": _DURATIONS,
    "datetime64": "make one array of all of them, np.array(values, 'datetime64[us]')",
    "timedelta64": "make one array of all of them, np.array(values, 'timedelta64[us]')",
    "complex": "make a complex array, np.array(values, 'complex128')",
    "complexfloating": "make a complex array, np.array(values, 'complex128')",
    "longdouble": "float(value) is rounded, str(value) keeps every digit",
    "dict": "write one array for each key",
    "Mapping": "write one array for each key",
    "set": "make a list of it, sorted(value)",
    "frozenset": "make a list of it, sorted(value)",
    "list": _LISTS,
    "tuple": _LISTS,
    "ndarray": _LISTS,
    "range": "make a list of it, list(value)",
    "generator": "make a list of it, list(value)",
    "Iterator": "make a list of it, list(value)",
    "PurePath": _TEXT,
    "UUID": _TEXT,
    "Enum": "write its value, member.value",
}


def to_scalar(value: Any) -> Any:
    """Return the scalar that an object is, NumPy's scalars and subclasses of Python's unwrapped; any other object as it
    is.

    Example:
        >>> [to_scalar(value) for value in (np.int8(3), np.float32(0.5), np.str_("a"))]
        [3, 0.5, 'a']
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, np.generic):
        kept = value.dtype.kind in "biuU" or (value.dtype.kind == "f" and value.dtype.itemsize <= 8)
        return value.item() if kept else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    return str.__str__(value) if isinstance(value, str) else value


def describe_object(value: Any) -> str:
    """Return a noun with its article that says what kind of object a value is: `a Decimal`, `an ndarray`.

    Example:
        >>> describe_object(b"x"), describe_object(None), describe_object([1])
        ('bytes', 'None', 'a list')
    """
    if value is None:
        return "None"
    name = type(value).__name__
    if name in ("bytes", "NAType", "NaTType"):
        return {"NAType": "NA", "NaTType": "NaT"}.get(name, name)
    return f"{'an' if name == 'ndarray' or (name[:1] in 'AEIOaeiou') else 'a'} {name}"


def suggest_instead(value: Any) -> str:
    """Return advice on what to write in place of an object that no cell can hold."""
    if type(value).__module__.partition(".")[0] == "cftime":
        return "convert the calendar, dataset.convert_calendar('standard', use_cftime=False), or make text, str(value)"
    for base in type(value).__mro__:
        if base.__name__ in _INSTEAD:
            return _INSTEAD[base.__name__]
    if hasattr(value, "__next__"):
        return _INSTEAD["Iterator"]
    return "make numbers or text of it"


# What one value looks like in a cell, and what a cell can mean under a dtype.
#
# The functions `parse_*` read one cell and raise `ValueError` with the reason, in words for the person who has the
# sheet open. Everything accepted beyond what we write is what spreadsheet programs, stdlib or Python write.

Cell = Any  # None | bool | int | float | str, as a sheet or JSON gives it; anything else is refused by dtype

_FLOAT = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|(?i:nan|inf(?:inity)?)"
_FLOAT_ONLY = re.compile(rf"[+-]?(?:{_FLOAT})", re.ASCII)
_COMPLEX = re.compile(
    rf"(?P<real>[+-]?(?:{_FLOAT}))??(?:\s*(?P<sign>[+-])?\s*(?P<imag>{_FLOAT})?(?P<unit>[ijIJ]))?", re.ASCII
)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,299})(?P<float>(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?)", re.ASCII)
_BEGIN_NUMBERS, _BEGIN_BOOLEANS = frozenset("-0123456789"), frozenset("tTfF")
_ROUNDED = 2**53  # from this double on, itself included, a double may be the rounding of several integers
_LONGEST_INTEGER = 400  # characters; no dtype needs 21, and int() of a long text takes quadratic time
_LONGEST_COMPLEX = 1000  # characters; where the real part ends is tried at each of them


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


# Text that a spreadsheet would take for a formula ------------------------------------------------------------


def escape_formula(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would evaluate, or that begins with one."""
    return "'" + text if text.startswith(EVALUATED) else text


def unescape_formula(text: str) -> str:
    """Undo `escape_formula`; an apostrophe that it would not have written stays."""
    return text[1:] if text.startswith("'") and text[1:].startswith(EVALUATED) else text


# Generic elements in containers that only have text ----------------------------------------------------------


def generic_to_text(value: Cell, *, formulas: str, decimal: str = ".") -> str | None:
    """Return a generic element in a cell of text; text that reads as something else gets an apostrophe.

    With formulas="typed" the container marks the cell as text, so that no program takes it for a formula.

    Raises:
        ValueError: `formulas="keep"`, and the text would come back as another value.
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return format_bool(value)
    if isinstance(value, str):
        if _reads_as_other_kind(value):
            if formulas == "keep":
                raise ValueError(f"with formulas='keep' the text {value!r:.60} would come back as another value")
            return "'" + value
        if formulas == "typed":
            return "'" + value if value.startswith("'") else value
        return escape_formula(value) if formulas == "escape" else value
    return repr(value) if decimal == "." else repr(value).replace(".", decimal)


def generic_to_typed(value: Cell, exact: int) -> Cell:
    """Return a generic element in a container that tells text, booleans and doubles apart, but not 2 from 2.0.

    A number cell is an integer up to `exact` or has a fraction; other numbers are text. None is a blank.

    Example:
        >>> [generic_to_typed(value, 10**15) for value in (2, 2.0, 0.5, "2", "x", "", None)]
        [2, '2.0', 0.5, "'2", 'x', "'", None]
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and not value.is_integer():
        return value
    if isinstance(value, int) and abs(value) <= exact:
        return value
    return generic_to_text(value, formulas="typed")


def generic_from_typed(cell: Cell) -> Cell:
    """Return the generic element that such a cell holds; the opposite of `generic_to_typed`.

    Example:
        >>> [generic_from_typed(cell) for cell in (2.0, 0.5, 10**16, "2", "'2", True)]
        [2, 0.5, 1e+16, 2, '2', True]
    """
    if isinstance(cell, str):
        return generic_from_text(cell, formulas="typed")
    if isinstance(cell, bool) or not isinstance(cell, (int, float)):
        return cell
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _ROUNDED:
        return int(cell)
    return as_double(cell)


def as_double(cell: Cell) -> Cell:
    """Return the double nearest to an integer beyond 2^53, for a container whose numbers are all doubles; any other
    cell as it is.
    """
    large = isinstance(cell, int) and _ROUNDED < abs(cell) < 10**300
    return float(cell) if large else cell


def generic_from_text(text: str | None, *, formulas: str) -> Cell:
    """Return the generic element that a cell of text holds; the opposite of `generic_to_text`, with either decimal
    mark.
    """
    if text is None or text == "":
        return None
    first = text[0]  # most text is known by it
    if first == "'":
        if formulas == "typed" or (formulas == "escape" and _reads_as_other_kind(text[1:])):
            return text[1:]
        return unescape_formula(text) if formulas == "escape" else text
    if first in _BEGIN_NUMBERS and (number := _numeral(text)):
        return float(number[0]) if number["float"] else int(number[0])
    if first in _BEGIN_BOOLEANS and text.upper() in (TRUE, FALSE):
        return text.upper() == TRUE
    return text


def _reads_as_other_kind(text: str) -> bool:
    if text == "":
        return True
    if text[0] in _BEGIN_BOOLEANS:
        return text.upper() in (TRUE, FALSE)
    return text[0] in _BEGIN_NUMBERS and _numeral(text) is not None


def _numeral(text: str) -> re.Match[str] | None:
    number = _JSON_NUMBER.fullmatch(text)
    if number is None and "," in text:
        return _JSON_NUMBER.fullmatch(text.replace(".", "?").replace(",", "."))
    return number


# One cell under a dtype --------------------------------------------------------------------------------------


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
        if abs(cell) >= _ROUNDED:
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
