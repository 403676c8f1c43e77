"""The cells of a view and their formulas: choosers at the top, labels, and a grid that looks into the array's column.

Each cell of the grid looks into the array's column through the defined name of it, at 1 + the offset + the sum of index
times stride over the chosen dimensions + its own index down and across, each times its stride. That sum stands in one
hidden cell, the indices down and across in a hidden column and a hidden row, so that a choice costs one formula and one
look-up for each cell.

    row 1              caption                       hidden column: least value, largest, middle, line of the chart
    row 2 ..           `time:` and its chooser; colours; line of the chart; in a window where it begins, and its step
    two hidden rows    positions across, in the hidden column what the choosers add; what the chart shows: in words,
                       and its line
    one row            labels of the columns         frozen down to here
    all others         the label of the row, and the grid
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ...columns import column_letters
from ...elements import Cell, TypedCells
from .array_cells import ArrayCells, extremes, keep_blanks, times, to_values
from .chart_titles import make_chart_title
from .choosers import make_choosers
from .geometry import Axis
from .plans import ViewPlan

CHART_ROWS = 14  # rows that the chart takes, beside the choosers


class ViewFormulas:
    """The cells of everything in a view, and the formulas in them.

    `name_of`: the defined name of the cells of an array. `exact`: the largest integer that a cell holds as a number.

    Attributes:
        choosers: by keys that say what is chosen; see `choosers.make_choosers`.
        cells: of elements and labels.
    """

    def __init__(self, plan: ViewPlan, name_of: Callable[[str], str], exact: int) -> None:
        self.plan, self.name_of = plan, name_of
        self.cells = ArrayCells(name_of, plan.as_text, exact)
        self.choosers = make_choosers(plan, self.cells)

    # Rows and columns ----------------------------------------------------------------------------------------

    @cached_property
    def position_row(self) -> int:
        """The hidden row of the positions across."""
        return max(len(self.choosers) + 2, CHART_ROWS if self.plan.has_numbers else 0)

    @property
    def line_row(self) -> int:
        """The hidden row of a view whose numbers the chart draws."""
        return self.position_row + 1

    @property
    def label_row(self) -> int:
        """The row of the columns' labels."""
        return self.position_row + 2

    @property
    def first_row(self) -> int:
        """The first row of the grid."""
        return self.position_row + 3

    @property
    def last_row(self) -> int:
        """The last row of the grid."""
        return self.position_row + 2 + self.plan.height

    @property
    def last_column(self) -> str:
        """The letters of the last column of the grid."""
        return column_letters(self.plan.width)

    @property
    def hidden_place(self) -> int:
        """The hidden column, from 0: right of the grid and of the labels of the choices."""
        return max(self.plan.width + 1, 3)

    @property
    def hidden_column(self) -> str:
        """The letters of the hidden column."""
        return column_letters(self.hidden_place)

    def hidden_cell(self, row: int) -> str:
        """Return the absolute address of a cell of the hidden column."""
        return f"${self.hidden_column}${row}"

    # Formulas ------------------------------------------------------------------------------------------------

    def base_formula(self) -> str:
        """Return a formula for the position, from 1, of the slice's first element in the column."""
        terms = [str(1 + self.plan.array.offset + self.plan.rows.first)]
        for number, axis in enumerate(self.plan.choosers):
            cell = self.choosers[f"dimension {number}"].cell
            if axis.choosable is not None:
                index = f"(MATCH({cell},{self.name_of(axis.choosable.name)},0)-1)"
            else:
                index = f"IF(AND({cell}>=0,{cell}<{axis.size},{cell}=INT({cell})),{cell},NA())"
            terms.append(f"{times(index, axis.stride) or f'{times(index, 1)}*0'}")
        return "".join(terms)

    def element_formula(self, column: str, row: str) -> str:
        """Return the formula of a cell of the grid, by the letters of its column and the number of its row."""
        plan = self.plan
        down, across = f"${self.hidden_column}{row}", f"{column}${self.position_row}"
        index = self.hidden_cell(self.position_row)
        index += times(down, plan.rows.stride) + times(across, plan.columns.stride)
        look = keep_blanks(self._look_up(index), plan.array.dtype_entry.kind)
        return f'IF(AND(ISNUMBER({down}),ISNUMBER({across})),{look},"")' if plan.windowed else look

    def _look_up(self, index: str) -> str:
        """Return the formula of an element, by its index in the buffer from 1."""
        block = self.plan.block
        if block.columns == 1:
            return f"INDEX({self.name_of(self.plan.name)},{index})"
        return f"INDEX({block.cells},MOD({index}-1,{block.rows})+1,INT(({index}-1)/{block.rows})+1)"

    def helper_cells(self) -> dict[int, tuple[str, Cell]]:
        """Return the formulas at the top of the hidden column, and their values."""
        if not self.plan.has_numbers:
            return {}
        colours, line = self.choosers["colours"].cell, self.choosers["line"].cell
        name, grid = self.name_of(self.plan.name), self.grid_range
        shown = self.plan.array.buffer if self.plan.colors == "array" else self.elements()
        least, largest = extremes(shown)
        return {
            1: (f'IF({colours}="array",MIN({name}),MIN({grid}))', least),
            2: (f'IF({colours}="array",MAX({name}),MAX({grid}))', largest),
            3: (f"({self.hidden_cell(1)}+{self.hidden_cell(2)})/2", (least + largest) / 2),
            4: (f"MATCH({line},{self.line_choices},0)", 1),
        }

    @property
    def grid_range(self) -> str:
        """The absolute range of the grid."""
        return f"$B${self.first_row}:${self.last_column}${self.last_row}"

    @property
    def line_choices(self) -> str:
        """The range of labels or indices from which people choose the line of the chart."""
        column = "A" if self.plan.rows.choosable is not None else self.hidden_column
        return f"${column}${self.first_row}:${column}${self.last_row}"

    def position(self, first: str, index: int | str, axis: Axis) -> str:
        """Return the formula of a position in a window; empty in a view without a window, whose positions are numbers.

        `first`: the chooser of where it begins. `axis`: of which it is a position.
        """
        if not self.plan.windowed:
            return ""
        position = f"{self.choosers[first].cell}+{index}*{self.choosers['step'].cell}"
        return f'IF(AND({position}>=0,{position}<{axis.size}),INT({position}),"")'

    def line_formula(self, letter: str) -> str:
        """Return the formula of one column of the hidden row, the values of the line chart."""
        cell = f"INDEX({letter}${self.first_row}:{letter}${self.last_row},{self.hidden_cell(4)})"
        return f"IF(ISNUMBER({cell}),{cell},NA())"

    def chart_title(self) -> tuple[str, str]:
        """Return the formula of what the chart shows, and its value at first; it stands left of the chart's line."""
        plan = self.plan
        column = "A" if plan.rows.labels is not None else self.hidden_column
        line = f"INDEX(${column}${self.first_row}:${column}${self.last_row},{self.hidden_cell(4)})"
        choices = [(plan.rows, line)]
        for number, axis in enumerate(plan.choosers):
            chooser = self.choosers[f"dimension {number}"]
            choices.append((axis, chooser.cell if chooser.shown is None else f"$C${chooser.row}"))
        return make_chart_title(plan.caption, "$A$1", choices)

    def label_of(self, axis: Axis, position: str) -> str:
        """Return the formula of the label of a row or a column."""
        label = position if axis.labels is None else self.cells.formula(axis.labels, position)
        return f'IF(ISNUMBER({position}),{label},"")' if self.plan.windowed else label

    # Values --------------------------------------------------------------------------------------------------

    def elements(self) -> np.ndarray[Any, Any]:
        """Return the elements of the grid at first, row by row."""
        plan = self.plan
        down, across = (np.arange(count) for count in (plan.height, plan.width))
        first = plan.array.offset + plan.rows.first
        indices = first + np.add.outer(down * plan.rows.stride, across * plan.columns.stride)
        elements: np.ndarray[Any, Any] = plan.array.buffer[indices.ravel()]
        return elements

    def sample(self, count: int) -> list[Cell]:
        """Return the first elements of the grid, at most `count`."""
        return to_values(self.to_typed(self.elements()[:count]))

    def to_typed(self, elements: np.ndarray[Any, Any]) -> TypedCells:
        """Return elements as the cells of the array's column hold them."""
        return self.cells.to_typed(elements, self.plan.array.dtype_entry, self.plan.style)
