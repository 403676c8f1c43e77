"""Follows formulas that only repeat another cell, and gives them its value: columns whose elements stand in a view.

A formula without a value is followed to any cell; one with a value only to a view that people may have edited in a
program that computes nothing. One step is enough, since an element of a view is no formula: a formula that leads to
another one without a value, or in a circle, stays without a value, and is an error with its address.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from ...dtypes import Mask, Positions
from .reader.book import XmlBook
from .reader.cells import PENDING, ROW, CellRun

CellsOfRows = Callable[[str, list[tuple[int, int]]], CellRun]


class Followed:
    """The formulas of one sheet that repeat cells, and the cells that they repeat.

    `titles`: of all sheets, in lower case; a formula that leads to any other sheet is not followed. `cells_of_rows`:
    returns the cells of some rows by position, given the title of their sheet in lower case. `editable`: the titles of
    views for editing, in lower case. `changed`: the titles of views that a program has saved again, and of sheets that
    may be such views.
    """

    def __init__(
        self,
        title: str,
        container: XmlBook,
        titles: Collection[str],
        cells_of_rows: CellsOfRows,
        editable: frozenset[str],
        changed: frozenset[str],
    ) -> None:
        self._title, self._container, self._cells_of_rows = title, container, cells_of_rows
        self._titles, self._editable = titles, editable
        self.changed = changed - {title.casefold()}
        self._cells: dict[str, CellRun] = {}

    @property
    def are_wanted(self) -> bool:
        """Whether formulas that have a value are followed too."""
        return bool(self.changed) and not self.changed.isdisjoint(self._references[3])

    @cached_property
    def _references(self) -> tuple[Positions, Positions, Positions, list[str]]:
        """The positions of the formulas, sorted column by column, and those of the cells that they repeat.

        And for each formula the number of the sheet with that cell, and the titles of sheets by these numbers.
        """
        titles, rows = {"": 0}, [(-1, -1, 0)]  # a formula that no cell has, so that there is one at least
        for row, column, of_sheet, target_row, target_column in self._container.references(self._title):
            title = of_sheet or self._title.casefold()
            if title in self._titles:
                number = titles.setdefault(title, len(titles))
                rows.append((column * ROW + row, target_row * ROW + target_column, number))
        table = np.array(rows, np.int64)
        table = table[np.argsort(table[:, 0], kind="stable")]
        return table[:, 0], table[:, 1], table[:, 2], list(titles)

    def _find(self, positions: Positions) -> tuple[Positions, Mask]:
        """Return the index of each cell's reference, and a mask of the cells that have a reference."""
        formulas = self._references[0]
        places = np.minimum(np.searchsorted(formulas, positions), len(formulas) - 1)
        return places, formulas[places] == positions

    def _mark(self, positions: Positions, sheets: frozenset[str]) -> Mask:
        """Return a mask of the cells that repeat a cell of some sheets."""
        _, _, numbers, titles = self._references
        places, is_reference = self._find(positions)
        marks: Mask = is_reference & np.array([title in sheets for title in titles])[numbers[places]]
        return marks

    def cell_in_view(self, row: int, column: int) -> tuple[str, int, int] | None:
        """Return the cell of a view for editing that a formula repeats: its title in lower case, its row and column.

        None if the cell is no such formula.

        `row`: of the formula, from 0. `column`: of the formula, from 0.
        """
        _, targets, numbers, titles = self._references
        places, is_reference = self._find(np.array([column * ROW + row]))
        if not is_reference[0] or (title := titles[numbers[places[0]]]) not in self._editable:
            return None
        return title, *divmod(int(targets[places[0]]), ROW)

    def links_of(self, rows: Positions, column: int) -> Mask:
        """Return a mask of the cells of a column that repeat a cell of a view for editing.

        `rows`: of the cells, from 0. `column`: from 0.
        """
        return self._mark(column * ROW + rows, self._editable | self.changed)

    def without_links(self, run: CellRun) -> CellRun:
        """Return the same cells, in which those that repeat a view for editing no longer count as formulas."""
        if run.formulas is None or not self._editable:
            return run
        marks = run.formulas & ~self._mark(run.columns * ROW + run.rows, self._editable)
        return replace(run, formulas=marks if marks.any() else None)

    def follow(self, run: CellRun, column: int, first: int) -> CellRun:
        """Return the cells of a column, in which formulas that repeat other cells have the values of these.

        Formulas that repeat a blank are left out.

        `column`: the number of the column, from 0. `first`: the row from which on their rows are counted.
        """
        pending = run.kinds == PENDING
        positions = column * ROW + run.rows + first
        places, is_reference = self._find(positions)
        if not is_reference.any():
            return run
        _, targets, sheets, titles = self._references
        is_followed = (is_reference & pending) | self._mark(positions, self.changed)
        kinds, numbers, values = run.kinds.copy(), run.numbers.copy(), run.texts().clone()
        blank = np.zeros(len(run), np.bool_)
        for number, title in enumerate(titles):
            of_sheet = np.flatnonzero(is_followed & (sheets[places] == number))
            if not len(of_sheet):
                continue
            match, cells = self._cells_in(title, number).at(targets[places[of_sheet]])
            kinds[of_sheet[match]], numbers[of_sheet[match]] = cells.kinds, cells.numbers
            values = values.scatter(of_sheet[match], cells.texts())
            blank[np.delete(of_sheet, match)] = True
        return CellRun.of_line(run.rows, kinds, numbers, values).select(~blank)

    def _cells_in(self, title: str, number: int) -> CellRun:
        """Return the cells of another sheet that formulas repeat, by the sheet's title and its number."""
        if title not in self._cells:
            _, targets, numbers, _ = self._references
            rows = np.unique(targets[numbers == number] // ROW)
            self._cells[title] = self._cells_of_rows(title, list(_spans_of(rows)))
        return self._cells[title]


def _spans_of(rows: Positions) -> Iterator[tuple[int, int]]:
    """Yield rows as spans of those that follow one another."""
    for span in np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1):
        yield int(span[0]), int(span[-1]) + 1
