"""Formulas of a sheet: which cells are formulas, and formulas that are one plain reference to a cell."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from ....columns.grid import column_number
from ....dtypes import Positions
from ...workbooks import MOST_COLUMNS, MOST_ROWS
from .cells import PENDING, CellRun, FormulaArea

# Which cells of a sheet are formulas: the ranges of array formulas, and a collection that answers questions about
# all.
#
# Source: ECMA-376 part 1, 18.3.1.40 (f), 18.18.6 (ST_CellFormulaType).

_RANGE = re.compile("([A-Za-z]{1,3})([0-9]{1,7}):([A-Za-z]{1,3})([0-9]{1,7})")
_MOST_AREAS = 2**16
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


def find_area(kind: str | None, reference: str | None) -> list[FormulaArea]:
    """Return the range of an array formula, by its type and reference; nothing for others and for a single cell."""
    corners = _RANGE.fullmatch(reference) if kind in ("array", "dataTable") and reference else None
    if corners is None:
        return []
    area = int(corners[2]) - 1, column_number(corners[1]), int(corners[4]) - 1, column_number(corners[3])
    sound = 0 <= area[0] <= area[2] < MOST_ROWS and 0 <= area[1] <= area[3] < MOST_COLUMNS
    return [area] if sound and area[:2] != area[2:] else []


class FormulaCells:
    """Collects the formulas of a sheet while its cells are read; a cell may be read several times."""

    def __init__(self) -> None:
        self._positions: list[Positions] = []
        self._areas: set[FormulaArea] = set()
        self._standing: Positions | None = None  # sorted positions, in which columns are the lines
        self._lying: Positions | None = None  # sorted positions, in which rows are the lines
        self._corners: np.ndarray[Any, np.dtype[np.int64]] | None = None

    def add(self, run: CellRun) -> None:
        """Note which of some cells are formulas with values; one without a value is an error wherever it is read."""
        if run.formulas is None or not len(run):
            return
        marks = run.formulas & (run.kinds != PENDING)
        self._positions.append(run.columns[marks] * _LINE + run.rows[marks])
        for area in run.areas:
            if len(self._areas) < _MOST_AREAS:
                self._areas.add(area)
        self._standing = self._lying = self._corners = None

    def __bool__(self) -> bool:
        return bool(self._positions)

    def find_among(self, row: int, column: int, count: int, *, lying: bool) -> FormulaSummary | None:
        """Return the formulas among some cells in one line; None if no cell is a formula.

        Beyond 65,536 array formulas of several cells, only the first cell of each is known.

        `row`: of the first cell, from 0. `column`: of the first cell, from 0. `count`: the number of cells. `lying`:
        whether they run to the right; otherwise they run downwards.
        """
        if not self._positions:
            return None
        first, line = (column, row) if lying else (row, column)
        positions = self._sort(lying=lying)
        low, high = np.searchsorted(positions, [line * _LINE + first, line * _LINE + first + count]).tolist()
        places = positions[low:high] - (line * _LINE + first)
        number, ends = len(places), [*places[:1].tolist(), *places[-1:].tolist()]
        for begin, end in self._spans(line, first, first + count, lying=lying):
            inside = np.searchsorted(places, [begin - first, end - first])
            number += end - begin - int(inside[1] - inside[0])
            ends += [begin - first, end - first - 1]
        return FormulaSummary(number, min(ends), max(ends)) if number else None

    def _sort(self, *, lying: bool) -> Positions:
        if self._standing is None:
            self._standing = np.unique(np.concatenate(self._positions))
            self._positions = [self._standing]
        if not lying:
            return self._standing
        if self._lying is None:
            columns, rows = np.divmod(self._standing, _LINE)
            self._lying = np.sort(rows * _LINE + columns)
        return self._lying

    def _spans(self, line: int, first: int, end: int, *, lying: bool) -> list[tuple[int, int]]:
        """Return the cells of a line that array formulas fill, as spans that do not overlap.

        `line`: the row, if `lying`, or the column. `first`: the first cell of the line that counts. `end`: the cell
        after the last one that counts. `lying`: whether the line is a row.
        """
        if not self._areas:
            return []
        if self._corners is None:
            self._corners = np.array(sorted(self._areas), np.int64)
        top, left, bottom, right = self._corners.T
        across, along = ((top, bottom), (left, right)) if lying else ((left, right), (top, bottom))
        meets = (across[0] <= line) & (line <= across[1]) & (along[0] < end) & (along[1] >= first)
        spans: list[tuple[int, int]] = []
        begins, ends = np.maximum(along[0][meets], first), np.minimum(along[1][meets] + 1, end)
        for begin, stop in sorted(zip(begins.tolist(), ends.tolist(), strict=True)):
            if spans and begin <= spans[-1][1]:
                spans[-1] = spans[-1][0], max(spans[-1][1], stop)
            else:
                spans.append((begin, stop))
        return spans


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
