"""A plan of a view -> the rows of its sheet: choosers at the top, labels, and the grid of formulas.

Each cell of the grid looks into the array's column through its defined name, at 1 + the offset + what the choosers
add + its own position down and across, each times the stride. What the choosers add stands in one hidden cell, the
positions in a hidden column and a hidden row, so that a choice costs one formula and one look-up for each cell.

    row 1              caption                       hidden column: least value, largest, middle, line of the chart
    row 2 ..           `time:` and its chooser; colours; line of the chart; in a window where it begins, and its step
    two hidden rows    positions across, in the hidden column what the choosers add; the line that the chart shows
    one row            labels of the columns         frozen down to here
    all others         the label of the row, and the grid
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ....cells import TypedCells
from ....columns import column_letters
from ....elements import Cell
from ..package.markup import escape_text
from ..package.styles import CellStyles
from .axes import Axis
from .cells import NOT_AVAILABLE, cell_xml, formulas_xml, to_typed, to_values
from .choosers import Chooser, make_choosers
from .geometry import ViewPlan
from .label_cells import LabelCells, times

CHART_ROWS = 14  # beside which the choosers stand


@dataclass
class ViewGrid:
    """The rows of a view.

    Args:
        plan: of the view.
        name_of: the defined name of the cells of an array.
        styles: those that the workbook has.

    Attributes:
        choosers: by what they choose, see `choosers`.
    """

    plan: ViewPlan
    name_of: Callable[[str], str]
    styles: CellStyles
    choosers: dict[str, Chooser] = field(init=False)

    def __post_init__(self) -> None:
        self._labels = LabelCells(self.name_of, self.plan.as_text)
        self.choosers = make_choosers(self.plan, self._labels, self.styles)

    # Where what stands ---------------------------------------------------------------------------------------

    @cached_property
    def position_row(self) -> int:
        """The hidden row of the positions across."""
        return max(len(self.choosers) + 2, CHART_ROWS if self.plan.has_numbers else 0)

    @property
    def line_row(self) -> int:
        """The hidden row that the chart shows."""
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
    def hidden_column(self) -> str:
        """The letters of the hidden column."""
        return column_letters(self.plan.width + 1)

    def hidden_cell(self, row: int) -> str:
        """Return the absolute address of a cell of the hidden column."""
        return f"${self.hidden_column}${row}"

    # Formulas ------------------------------------------------------------------------------------------------

    def base_formula(self) -> str:
        """Return where the first element of the slice stands in the column, from 1."""
        terms = [str(1 + self.plan.array.offset)]
        for place, axis in enumerate(self.plan.choosers):
            cell = self.choosers[f"dimension {place}"].cell
            if axis.choosable is not None:
                index = f"(MATCH({cell},{self.name_of(axis.choosable.name)},0)-1)"
            else:
                index = f"IF(AND({cell}>=0,{cell}<{axis.size},{cell}=INT({cell})),{cell},NA())"
            terms.append(f"{times(index, axis.stride) or f'{times(index, 1)}*0'}")
        return "".join(terms)

    def element_formula(self, column: str, row: str) -> str:
        """Return the formula of a cell of the grid, `{}` for its column and its row where these are such."""
        plan = self.plan
        down, across = f"${self.hidden_column}{row}", f"{column}${self.position_row}"
        index = self.hidden_cell(self.position_row)
        index += times(down, plan.rows.stride) + times(across, plan.columns.stride)
        look = self._look_up(index)
        if plan.array.dtype_entry.kind == "generic":  # a blank would be 0
            look = f'IF({look}="","",{look})'
        elif plan.array.dtype_entry.kind == "string":
            look += '&amp;""'  # of a blank too; what stands in bulk has no other character to escape
        return f'IF(AND(ISNUMBER({down}),ISNUMBER({across})),{look},"")' if plan.windowed else look

    def _look_up(self, index: str) -> str:
        """Return the formula of an element, by its index in the buffer from 1."""
        block = self.plan.block
        if block.columns == 1:
            return f"INDEX({self.name_of(self.plan.name)},{index})"
        cells = escape_text(block.cells).replace("{", "&#123;")  # as it stands in a format
        return f"INDEX({cells},MOD({index}-1,{block.rows})+1,INT(({index}-1)/{block.rows})+1)"

    # Rows ----------------------------------------------------------------------------------------------------

    def iter_rows(self) -> Iterator[str]:
        """Yield the rows of the sheet, as XML."""
        yield from self._top_rows()
        letters = [column_letters(place) for place in range(1, self.plan.width + 1)]
        yield self._position_row(letters)
        yield self._line_row(letters)
        yield self._label_row(letters)
        yield from self._grid_rows(letters)

    def _top_rows(self) -> Iterator[str]:
        by_row = {chooser.row: chooser for chooser in self.choosers.values()}
        helpers = self._helper_cells()
        for row in range(1, self.position_row):
            cells = [cell_xml("A1", self.plan.caption, style=self.styles.bold)] if row == 1 else []
            if row in by_row:
                chooser = by_row[row]
                cells.append(cell_xml(f"A{row}", chooser.caption))
                cells.append(cell_xml(f"B{row}", chooser.value, style=chooser.style))
                if chooser.shown is not None:
                    formula, value, style = chooser.shown
                    cells.append(cell_xml(f"C{row}", value, formula=formula, style=style))
            if row in helpers:
                formula, value = helpers[row]
                cells.append(cell_xml(f"{self.hidden_column}{row}", value, formula=formula))
            if cells:
                yield f'<row r="{row}">{"".join(cells)}</row>'

    def _helper_cells(self) -> dict[int, tuple[str, Cell]]:
        """Return the formulas at the top of the hidden column, and their values."""
        if not self.plan.has_numbers:
            return {}
        colours, line = self.choosers["colours"].cell, self.choosers["line"].cell
        name, grid = self.name_of(self.plan.name), self.grid_range
        shown = self.plan.array.buffer if self.plan.colors == "array" else self._elements()
        least, largest = extremes(shown)
        labels = "$A" if self.plan.rows.choosable is not None else f"${self.hidden_column}"
        where = f"{labels}${self.first_row}:{labels}${self.last_row}"
        return {
            1: (f'IF({colours}="array",MIN({name}),MIN({grid}))', least),
            2: (f'IF({colours}="array",MAX({name}),MAX({grid}))', largest),
            3: (f"({self.hidden_cell(1)}+{self.hidden_cell(2)})/2", (least + largest) / 2),
            4: (f"MATCH({line},{where},0)", 1),
        }

    @property
    def grid_range(self) -> str:
        """The absolute range of the grid."""
        return f"$B${self.first_row}:${self.last_column}${self.last_row}"

    @property
    def line_choices(self) -> str:
        """The range of the labels, or the indices, of which one names the line of the chart."""
        column = "A" if self.plan.rows.choosable is not None else self.hidden_column
        return f"${column}${self.first_row}:${column}${self.last_row}"

    def _position_row(self, letters: list[str]) -> str:
        row = self.position_row
        cells = [
            cell_xml(f"{letter}{row}", place, formula=self._position("first column", place, self.plan.columns))
            for place, letter in enumerate(letters)
        ]
        cells.append(cell_xml(f"{self.hidden_column}{row}", self._first_element() + 1, formula=self.base_formula()))
        return f'<row r="{row}" hidden="1">{"".join(cells)}</row>'

    def _position(self, first: str, place: int, axis: Axis) -> str:
        """Return the formula of a position in a window; empty where there is none, and positions are numbers."""
        if not self.plan.windowed:
            return ""
        position = f"{self.choosers[first].cell}+{place}*{self.choosers['step'].cell}"
        return f'IF(AND({position}>=0,{position}<{axis.size}),INT({position}),"")'

    def _line_row(self, letters: list[str]) -> str:
        if not self.plan.has_numbers:
            return f'<row r="{self.line_row}" hidden="1"/>'
        values = to_values(self._typed(self._elements()[: self.plan.width]))
        cells = []
        for letter, value in zip(letters, values, strict=True):
            cell = f"INDEX({letter}${self.first_row}:{letter}${self.last_row},{self.hidden_cell(4)})"
            number = value if isinstance(value, (int, float)) else NOT_AVAILABLE
            formula = f"IF(ISNUMBER({cell}),{cell},NA())"
            cells.append(cell_xml(f"{letter}{self.line_row}", number, formula=formula))
        return f'<row r="{self.line_row}" hidden="1">{"".join(cells)}</row>'

    def _label_row(self, letters: list[str]) -> str:
        row, axis = self.label_row, self.plan.columns
        cells = [cell_xml(f"A{row}", f"{self.plan.rows.dim} \\ {axis.dim}", style=self.styles.bold)]
        values = self._labels.values(axis, len(letters))
        style = self.styles.bold_right if axis.labels is None or axis.labels.style is None else axis.labels.style
        for letter, value in zip(letters, values, strict=True):
            position = f"{letter}${self.position_row}"
            cells.append(cell_xml(f"{letter}{row}", value, formula=self._label_of(axis, position), style=style))
        return f'<row r="{row}">{"".join(cells)}</row>'

    def _label_of(self, axis: Axis, position: str) -> str:
        """Return the formula of the label of a row or a column."""
        label = position if axis.labels is None else self._labels.formula(axis.labels, position)
        return f'IF(ISNUMBER({position}),{label},"")' if self.plan.windowed else label

    def _grid_rows(self, letters: list[str]) -> Iterator[str]:
        import polars as pl

        plan = self.plan
        height, width, axis = plan.height, plan.width, plan.rows
        numbers = np.arange(self.first_row, self.last_row + 1)
        columns = pl.Series(np.tile(np.array(letters), height).tolist(), dtype=pl.String)
        rows = pl.Series(np.repeat(numbers, width)).cast(pl.String)
        formula = self.element_formula("{}", "{}")
        names = ["column" if follows == "$" else "row" for follows in re.findall(r"\{\}(.)", formula + " ")]
        frame = pl.DataFrame({"column": columns, "row": rows})
        formulas = pl.repeat(formula, len(rows), eager=True)
        if names:
            formulas = frame.select(pl.format(formula, *names)).to_series()
        cells = formulas_xml(columns, rows, formulas, self._typed(self._elements()), plan.style).to_list()
        values = self._labels.values(axis, height)
        style = self.styles.bold if axis.labels is None or axis.labels.style is None else axis.labels.style
        for place, row in enumerate(numbers.tolist()):
            position = f"${self.hidden_column}{row}"
            label = cell_xml(f"A{row}", values[place], formula=self._label_of(axis, position), style=style)
            across = "".join(cells[place * width : (place + 1) * width])
            index = cell_xml(f"{self.hidden_column}{row}", place, formula=self._position("first row", place, axis))
            yield f'<row r="{row}">{label}{across}{index}</row>'

    # Values --------------------------------------------------------------------------------------------------

    def _first_element(self) -> int:
        """Return the index in the buffer of the first element of the slice."""
        return self.plan.array.offset

    def _elements(self) -> np.ndarray[Any, Any]:
        """Return the elements of the grid at first, row by row."""
        plan = self.plan
        down, across = (np.arange(count) for count in (plan.height, plan.width))
        places = self._first_element() + np.add.outer(down * plan.rows.stride, across * plan.columns.stride)
        elements: np.ndarray[Any, Any] = plan.array.buffer[places.ravel()]
        return elements

    def sample(self, count: int) -> TypedCells:
        """Return the first elements of the grid as cells."""
        return self._typed(self._elements()[:count])

    def _typed(self, elements: np.ndarray[Any, Any]) -> TypedCells:
        return to_typed(elements, self.plan.array.dtype_entry, self.plan.style, as_text=self.plan.as_text)


def extremes(elements: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the least and the largest of the numbers among some elements; 0 where there is none."""
    numbers = elements.astype(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    return (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 0.0)
