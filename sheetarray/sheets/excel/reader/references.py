"""Finds formulas that are one plain reference to a cell: `='temperature view'!B2`, `of:=['temperature view'.B2]`.

Programs that compute nothing (openpyxl) drop the values of formulas, and others leave old ones. Where a formula
only repeats a cell, its value is that of the cell, and nobody has to compute it. Only formulas that stand in
their cell as text are found: array formulas, and those that a program shares between cells, are no plain
references.

Source: ECMA-376 part 1, 18.3.1.40 (f), 18.17.2.3 (references); OASIS OpenDocument 1.3 part 4, 5.8 (references).
"""

from __future__ import annotations

import re

from ....columns.grid import column_number
from ...workbooks import MOST_COLUMNS, MOST_ROWS

_LONGEST = 200  # bytes of such a formula
_REFERENCE = re.compile(r"""(?:(?:'((?:[^']++|'')++)'|([^\W\d][\w.]*))!)?\$?([A-Za-z]{1,3})\$?([0-9]{1,7})(?:&"")?""")
_OPEN_REFERENCE = re.compile(
    r"""of:=\[(?:\$?(?:'((?:[^']++|'')++)'|([^\[\].'#$! ]+)))?\.\$?([A-Za-z]{1,3})\$?([0-9]{1,7})\](?:&"")?"""
)
_SHEETJS_REFERENCE = re.compile(  # which puts the sheet as in .xlsx before a reference as in .ods
    r"""of:=((?:'(?:[^']++|'')++'|[^\W\d][\w.]*)!)\[\.([$A-Za-z0-9]{2,12})\]((?:&"")?)"""
)


def parse_reference(formula: str) -> tuple[str, int, int] | None:
    """Return the sheet, the row and the column of the cell that a formula of .xlsx repeats; None for any other formula.

    Example:
        >>> parse_reference("'Ann''s view'!$B$2"), parse_reference('C3&""'), parse_reference("B2*2")
        (("ann's view", 1, 1), ('', 2, 2), None)
    """
    return _read_match(_REFERENCE.fullmatch(formula.strip()))


def parse_open_reference(formula: str) -> tuple[str, int, int] | None:
    """Return the sheet, the row and the column of the cell that a formula of OpenDocument repeats; None for any other.

    Example:
        >>> parse_open_reference("of:=[$'Ann''s view'.$B$2]"), parse_open_reference("of:=[.C3]*2")
        (("ann's view", 1, 1), None)
    """
    if len(formula) > _LONGEST:
        return None
    if (match := _SHEETJS_REFERENCE.fullmatch(formula)) is not None:
        return parse_reference("".join(match.groups()))
    return _read_match(_OPEN_REFERENCE.fullmatch(formula))


def _read_match(match: re.Match[str] | None) -> tuple[str, int, int] | None:
    """Return the sheet, the row and the column in a match; None if there is no match, or no sheet has such a cell."""
    if match is None:
        return None
    row, column = int(match[4]) - 1, column_number(match[3])
    if not (0 <= row < MOST_ROWS and column < MOST_COLUMNS):
        return None
    return (match[1] or match[2] or "").replace("''", "'").casefold(), row, column
