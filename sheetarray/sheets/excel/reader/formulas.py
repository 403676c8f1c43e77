"""Formulas of a sheet: which cells are formulas, and formulas that are one plain reference to a cell."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ....columns.grid import column_number
from ....dtypes import Positions
from ...workbooks import MOST_COLUMNS, MOST_ROWS
from .cells import PENDING, CellRun

# Which cells of a sheet are formulas. Of an array formula, only the first cell counts as one.
#
# Source: ECMA-376 part 1, 18.3.1.40 (f), 18.18.6 (ST_CellFormulaType).

_LINE = 2**31  # a position is a line times this, plus the place in the line


class FormulaSummary(NamedTuple):
    """The number of formulas among some cells, and where they are.

    Attributes:
        number: of the formulas.
        first: the index, among these cells, of the first formula.
        last: the index of the last formula.
    """

    number: int
    first: int
    last: int


class FormulaCells:
    """Collects the formulas of a sheet while its cells are read; a cell may be read several times."""

    def __init__(self) -> None:
        self._rows: list[Positions] = []
        self._columns: list[Positions] = []
        self._sorted: dict[bool, Positions] = {}  # positions, in which rows are the lines if True, else columns

    def add(self, run: CellRun) -> None:
        """Note which of some cells are formulas with values; one without a value is an error wherever it is read."""
        if run.formulas is None or not len(run):
            return
        marks = run.formulas & (run.kinds != PENDING)
        self._rows.append(run.rows[marks])
        self._columns.append(run.columns[marks])
        self._sorted = {}

    def __bool__(self) -> bool:
        return bool(self._rows)

    def find_among(self, row: int, column: int, count: int, *, lying: bool) -> FormulaSummary | None:
        """Return the formulas among some cells in one line; None if no cell is a formula.

        `row`: of the first cell, from 0. `column`: of the first cell, from 0. `count`: the number of cells. `lying`:
        whether they run to the right; otherwise they run downwards.
        """
        if not self:
            return None
        if lying not in self._sorted:
            rows, columns = np.concatenate(self._rows), np.concatenate(self._columns)
            self._sorted[lying] = np.unique(rows * _LINE + columns if lying else columns * _LINE + rows)
        start = row * _LINE + column if lying else column * _LINE + row
        low, high = np.searchsorted(self._sorted[lying], [start, start + count]).tolist()
        places = (self._sorted[lying][low:high] - start).tolist()
        return FormulaSummary(len(places), places[0], places[-1]) if places else None


# Finds formulas that are one plain reference to a cell: `='temperature view'!B2`, `of:=['temperature view'.B2]`.
#
# Programs that compute nothing (openpyxl) drop the values of formulas, and others leave old ones. Where a formula
# only repeats a cell, its value is that of the cell, and nobody has to compute it. Only formulas that stand in
# their cell as text are found: array formulas, and those that a program shares between cells, are no plain
# references.
#
# Source: ECMA-376 part 1, 18.3.1.40 (f), 18.17.2.3 (references); OASIS OpenDocument 1.3 part 4, 5.8 (references).

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
