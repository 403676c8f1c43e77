"""Which cells of a sheet are formulas: array formulas in worksheet XML, and all of them gathered for questions.

Source: ECMA-376 part 1, 18.3.1.40 (f), 18.18.6 (ST_CellFormulaType).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from ....columns.grid import column_number
from ....dtypes import Positions
from .cells import MOST_COLUMNS, MOST_ROWS, PENDING, CellRun, FormulaArea

TRUE, FALSE = b">TRUE()", b">FALSE()"  # of LibreOffice, for truth values, which nobody has to calculate
CONSTANTS = ("TRUE()", "FALSE()")

_OVER_AREAS = (b"array", b"dataTable")
_TAG = re.compile(rb"<f\s[^<>]*>")
_TYPE = re.compile(rb"""\st\s*=\s*["'](array|dataTable)["']""")
_REFERENCE = re.compile(rb"""\sref\s*=\s*["']([^"']*)["']""")
_RANGE = re.compile("([A-Za-z]{1,3})([0-9]{1,7}):([A-Za-z]{1,3})([0-9]{1,7})")
_MOST_AREAS = 2**16
_ROW = 2**31  # what a column counts in a position; a row in one of cells that lie


class FormulaSummary(NamedTuple):
    """The formulas among some cells.

    Attributes:
        number: how many there are.
        first: which of the cells is the first of them, counted from 0.
        last: which is the last.
    """

    number: int
    first: int
    last: int


def areas_of(block: bytes) -> tuple[FormulaArea, ...]:
    """Return the areas of array formulas and data tables in worksheet XML, but for those of a single cell."""
    if not any(word in block for word in _OVER_AREAS):
        return ()
    areas: list[FormulaArea] = []
    for tag in _TAG.finditer(block):
        kind, reference = _TYPE.search(tag[0]), _REFERENCE.search(tag[0])
        if kind and reference:
            areas += area_in(kind[1].decode(), reference[1].decode("ascii", "replace"))
    return tuple(areas)


def area_in(kind: str | None, reference: str | None) -> list[FormulaArea]:
    """Return the area of a formula, by its type and its reference; nothing where it is a single cell's."""
    corners = _RANGE.fullmatch(reference) if kind in ("array", "dataTable") and reference else None
    if corners is None:
        return []
    area = int(corners[2]) - 1, column_number(corners[1]), int(corners[4]) - 1, column_number(corners[3])
    sound = 0 <= area[0] <= area[2] < MOST_ROWS and 0 <= area[1] <= area[3] < MOST_COLUMNS
    return [area] if sound and area[:2] != area[2:] else []


class FormulaCells:
    """The formulas of a sheet, gathered while its cells go by; cells may go by several times."""

    def __init__(self) -> None:
        self._positions: list[Positions] = []
        self._areas: set[FormulaArea] = set()
        self._standing: Positions | None = None
        self._lying: Positions | None = None
        self._corners: np.ndarray[Any, np.dtype[np.int64]] | None = None

    def add(self, run: CellRun) -> None:
        """Note which of some cells are formulas with values; those without cannot be read, which is told elsewhere."""
        if run.formulas is None or not len(run):
            return
        marks = run.formulas & (run.kinds != PENDING)
        self._positions.append(run.columns[marks] * _ROW + run.rows[marks])
        self._areas.update(run.areas if len(self._areas) < _MOST_AREAS else ())
        self._standing = self._lying = self._corners = None

    def __bool__(self) -> bool:
        return bool(self._positions)

    def find_among(self, row: int, column: int, count: int, *, lying: bool) -> FormulaSummary | None:
        """Return the formulas among some cells, which run downwards or to the right from one on; None for no formula.

        Beyond 65,536 array formulas of several cells, only the first cell of each is known.
        """
        if not self._positions:
            return None
        first, line = (column, row) if lying else (row, column)
        positions = self._sort(lying=lying)
        low, high = np.searchsorted(positions, [line * _ROW + first, line * _ROW + first + count]).tolist()
        places = positions[low:high] - (line * _ROW + first)
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
            columns, rows = np.divmod(self._standing, _ROW)
            self._lying = np.sort(rows * _ROW + columns)
        return self._lying

    def _spans(self, line: int, first: int, end: int, *, lying: bool) -> list[tuple[int, int]]:
        """Return the cells of a line that array formulas fill, as spans that do not overlap."""
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
