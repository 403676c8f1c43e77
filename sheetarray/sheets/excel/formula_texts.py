"""Formulas in other rows: cells that they refer to move with them, as when a person fills a column down."""

from __future__ import annotations

import re

# texts, quoted titles of sheets and structured references hold no addresses of cells
_TOKEN = re.compile(
    r"\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'|\[(?:[^\[\]]|\[[^\[\]]*\])*\]"
    r"|(?<![\w.$])(\$?[A-Z]{1,3})(\$?)([1-9][0-9]{0,6})(?![\w.(])"
)
_RANGE = re.compile(r"(?<![\w.$!])(\$?[A-Z]{1,3}\$?[0-9]{1,7}:\$?[A-Z]{1,3}\$?)([0-9]{1,7})(?![\w.(])")


def move_rows(formula: str, by: int) -> str:
    """Return a formula as it reads some rows further down: rows without a `$` move with it.

    Example:
        >>> move_rows('B2*C$1+SUM(Sales[[#This Row],[t]])&"B2"', 3)
        'B5*C$1+SUM(Sales[[#This Row],[t]])&"B2"'
    """

    def move(match: re.Match[str]) -> str:
        if match[1] is None or match[2]:
            return match[0]
        return f"{match[1]}{int(match[3]) + by}"

    return _TOKEN.sub(move, formula)


def extend_ranges(formula: str, last: int, by: int) -> str:
    """Return a formula in which ranges of its own sheet that end in a row, counted from 1, take in some rows more.

    Example:
        >>> extend_ranges("SUBTOTAL(109,B2:B9)+SUM(B2:B8)", 9, 2)
        'SUBTOTAL(109,B2:B11)+SUM(B2:B8)'
    """
    return _RANGE.sub(lambda match: f"{match[1]}{last + by}" if int(match[2]) == last else match[0], formula)


def refers_to(formula: str, row: int) -> bool:
    """Return whether a formula names a cell of a row, counted from 1.

    Example:
        >>> refers_to("A4/2", 4), refers_to("A4/2", 5)
        (True, False)
    """
    return any(match[3] is not None and int(match[3]) == row for match in _TOKEN.finditer(formula))
