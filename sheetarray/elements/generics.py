"""Generic elements in cells of containers that have only text, or text, booleans and doubles, and the way back."""

from __future__ import annotations

import re

from .scalars import ROUNDED, Cell, escape_formula, format_bool, unescape_formula
from .spelling import FALSE, TRUE

_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,299})(?P<float>(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?)", re.ASCII)
_BEGIN_NUMBERS, _BEGIN_BOOLEANS = frozenset("-0123456789"), frozenset("tTfF")


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
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < ROUNDED:
        return int(cell)
    return as_double(cell)


def as_double(cell: Cell) -> Cell:
    """Return the double nearest to an integer beyond 2^53, for a container whose numbers are all doubles; any other
    cell as it is.
    """
    large = isinstance(cell, int) and ROUNDED < abs(cell) < 10**300
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
