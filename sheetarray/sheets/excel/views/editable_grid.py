"""A view for editing: all slices of an array one below the other.

The array's own column is formulas that refer to it. Each slice takes these rows:

    one row      only for arrays of three dimensions or more: `time:` and its label, `level:` and its label
    one row      the caption and the two dimensions, then the labels of the columns
    more rows    the label of each row, then its elements, as values
    one row      blank; the next slice begins below it

Where several indices of the array mean one element of the buffer (by a stride of 0), the element stands in the
first of their cells, and the other cells are formulas that refer to this one. Elements of the buffer that no
index of the array means stay in the column as values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from ....columns import column_letters, quote_title
from ....elements import Cell
from ...views.array_cells import ArrayCells, extremes, to_values
from ...views.plans import ViewPlan
from ...workbooks import EXACT_INTEGER
from ...xml_texts import escape_text
from ..row_xml import cells_xml, with_formula
from ..styles.cell_styles import CellStyles
from .grids import cell_xml

MOST_RANGES = 100  # of cells in one rule of colours
TEXT_STYLE = "@"  # the key of the style of text in `CellStyles.choosers`


class EditableGrid:
    """The rows of a view for editing, with the attributes of a `ViewGrid`.

    `name_of`: returns the defined name of the cells of an array, given the name of the array.
    """

    def __init__(self, plan: ViewPlan, name_of: Callable[[str], str], styles: CellStyles) -> None:
        self.plan, self.styles = plan, styles
        self._name_of = name_of
        self._cells = ArrayCells(name_of, plan.as_text, EXACT_INTEGER)
        self.captions = [f"{plan.caption}: {plan.rows.dim} \\ {plan.columns.dim}"]
        self.captions += [f"{axis.dim}:" for axis in plan.choosers]
        self.first_row = self.heading + 1
        self.slices = math.prod(axis.size for axis in plan.choosers)
        self.frozen_rows = self.heading if self.slices == 1 else 0
        rows = range(self.first_row, self.last_row + 1, self.step)
        self.ranges = [f"B{row}:{self.last_column}{row + plan.height - 1}" for row in rows]
        self.open_ranges = self.ranges

    # Places of the cells -------------------------------------------------------------------------------------

    @property
    def heading(self) -> int:
        """The number of rows of a slice above its elements."""
        return 2 if self.plan.choosers else 1

    @property
    def step(self) -> int:
        """The number of rows that a slice takes, with the blank row below it."""
        return self.heading + self.plan.height + 1

    @property
    def last_row(self) -> int:
        """The number of the last row that holds something, counted from 1."""
        return self.slices * self.step - 1

    @property
    def last_column(self) -> str:
        """The letters of the last column of elements."""
        return column_letters(self.plan.width)

    @property
    def hidden_place(self) -> int:
        """The number of the hidden column, counted from 0: it is right of the elements and of the labels of slices."""
        return max(self.plan.width + 1, 2 * len(self.plan.choosers))

    def hidden_cell(self, row: int) -> str:
        """Return the absolute address of a cell of the hidden column."""
        return f"${column_letters(self.hidden_place)}${row}"

    @cached_property
    def _indices(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """For each cell of the grid, the index of its element in the buffer: axes are slices, rows and columns."""
        plan = self.plan
        places = np.full(1, plan.array.offset + plan.rows.first, np.int64)
        for axis in (*plan.choosers, plan.rows, plan.columns):
            places = np.add.outer(places, np.arange(axis.size, dtype=np.int64) * axis.stride)
        return places.reshape(-1, plan.height, plan.width)

    @cached_property
    def _first_places(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The indices of the buffer's elements that the view shows, and for each the first cell of the grid with it.

        Cells of the grid are counted slice by slice, row by row.
        """
        elements, places = np.unique(self._indices.ravel(), return_index=True)
        return elements, places

    def _addresses(self, places: np.ndarray[Any, Any]) -> list[str]:
        """Return the addresses of some cells of the grid, which are counted slice by slice, row by row."""
        plan = self.plan
        rows, columns = np.divmod(places, plan.width)
        slices, rows = np.divmod(rows, plan.height)
        letters = [column_letters(place) for place in range(1, plan.width + 1)]
        numbers = (slices * self.step + rows + self.heading + 1).tolist()
        return [f"{letters[column]}{number}" for column, number in zip(columns.tolist(), numbers, strict=True)]

    # Formulas ------------------------------------------------------------------------------------------------

    def column_formulas(self) -> list[str | None]:
        """Return the formulas of the array's column, escaped, one for each element of the buffer.

        It is None for an element that no index of the array means: this stays in the column as a value.
        """
        elements, places = self._first_places
        sheet = escape_text(quote_title(self.plan.title))
        formulas: list[str | None] = [None] * self.plan.array.capacity
        for element, address in zip(elements.tolist(), self._addresses(places), strict=True):
            formulas[element] = f"{sheet}!{address}{self._end}"
        return formulas

    @property
    def _end(self) -> str:
        """The end of a formula that refers to a cell of the view: without it a blank among texts would become 0."""
        return '&amp;""' if self.plan.array.dtype_entry.kind == "string" else ""

    def _helper_cells(self) -> dict[int, tuple[str, Cell]]:
        """Return the helper cells, by row, each a formula and its value.

        They hold the least and the largest number and the middle of the two, between which the colours are spread.
        """
        if not self.plan.has_numbers:
            return {}
        name = self._name_of(self.plan.name)
        least, largest = extremes(self.plan.array.buffer)
        middle = f"({self.hidden_cell(1)}+{self.hidden_cell(2)})/2"
        return {1: (f"MIN({name})", least), 2: (f"MAX({name})", largest), 3: (middle, (least + largest) / 2)}

    # Rows ----------------------------------------------------------------------------------------------------

    def iter_rows(self) -> Iterator[str]:
        """Yield the rows of the sheet, as XML."""
        plan, helpers = self.plan, self._helper_cells()
        choices = product(*(range(axis.size) for axis in plan.choosers))
        slice_labels = [self._cells.values(axis, axis.size) for axis in plan.choosers]
        down, across = self._cells.values(plan.rows, plan.height), self._cells.values(plan.columns, plan.width)
        cells = self._element_cells()
        for number, choice in enumerate(choices):
            row = number * self.step + 1
            lines = [self._choice_cells(row, choice, slice_labels)] if plan.choosers else []
            lines.append(self._label_cells(row + len(lines), across))
            for place in range(plan.height):
                lines.append(self._row_label(row + len(lines), place, down[place]) + "".join(next(cells)))
            for line in (*lines, ""):
                if row in helpers:
                    formula, value = helpers[row]
                    line += cell_xml(self.hidden_cell(row).replace("$", ""), value, formula=formula)
                if line:
                    yield f'<row r="{row}">{line}</row>'
                row += 1

    def _choice_cells(self, row: int, choice: tuple[int, ...], slice_labels: list[list[Cell]]) -> str:
        """Return the XML of the cells above a slice that say which slice it is."""
        cells = []
        for place, (axis, index) in enumerate(zip(self.plan.choosers, choice, strict=True)):
            letters, labels = column_letters(2 * place), axis.labels
            cells.append(cell_xml(f"{letters}{row}", f"{axis.dim}:"))
            formula = "" if labels is None else self._cells.formula(labels, index)
            style = None if labels is None else labels.style
            value = slice_labels[place][index]
            cells.append(cell_xml(f"{column_letters(2 * place + 1)}{row}", value, formula=formula, style=style))
        return "".join(cells)

    def _label_cells(self, row: int, values: list[Cell]) -> str:
        """Return the XML of the row with the caption and the labels of columns."""
        labels = self.plan.columns.labels
        cells = [cell_xml(f"A{row}", self.captions[0], style=self.styles.bold)]
        style = self.styles.bold_right if labels is None or labels.style is None else labels.style
        for place, value in enumerate(values):
            formula = "" if labels is None else self._cells.formula(labels, place)
            cells.append(cell_xml(f"{column_letters(place + 1)}{row}", value, formula=formula, style=style))
        return "".join(cells)

    def _row_label(self, row: int, place: int, value: Cell) -> str:
        """Return the XML of the label of a row of the grid, in a row of the sheet."""
        labels = self.plan.rows.labels
        formula = "" if labels is None else self._cells.formula(labels, place)
        style = self.styles.bold if labels is None or labels.style is None else labels.style
        return cell_xml(f"A{row}", value, formula=formula, style=style)

    def _element_cells(self) -> Iterator[list[str]]:
        """Yield the XML of the cells of each row of elements."""
        plan, indices = self.plan, self._indices.ravel()
        elements, firsts = self._first_places
        first_of_each = firsts[np.searchsorted(elements, indices)]
        style = plan.style
        cells = cells_xml(
            self._cells.to_typed(plan.array.buffer[indices], plan.array.dtype_entry, style),
            self.styles.unlocked.get(style, style),
        )
        repeated = np.flatnonzero(first_of_each != np.arange(len(indices)))
        for place, address in zip(repeated.tolist(), self._addresses(first_of_each[repeated]), strict=True):
            cells[place] = with_formula(cells[place], address + self._end)
        other = self.styles.unlocked.get(None)  # of texts and blanks
        if plan.array.dtype_entry.kind == "string":  # whatever people type in a cell of this style stays text
            other = self.styles.choosers.get(TEXT_STYLE)
        if other is not None:
            cells = [cell if cell and cell.startswith(' s="') else f' s="{other}"{cell or "/>"}' for cell in cells]
        addresses = self._addresses(np.arange(len(indices)))
        placed = [f'<c r="{place}"{cell}' if cell else "" for place, cell in zip(addresses, cells, strict=True)]
        for start in range(0, len(placed), plan.width):
            yield placed[start : start + plan.width]

    def sample(self, count: int) -> list[Cell]:
        """Return the first `count` elements of the view as cells."""
        indices = self._indices.ravel()[:count]
        plan = self.plan
        return to_values(self._cells.to_typed(plan.array.buffer[indices], plan.array.dtype_entry, plan.style))
