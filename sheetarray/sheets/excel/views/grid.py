"""The rows of the sheet of a view, as XML: formulas, and the values that these have when the view is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

from ....columns import column_letters
from ....views.formulas import ViewFormulas
from ....views.geometry import ViewPlan
from ....views.label_cells import to_values
from ...workbooks import EXACT_INTEGER
from ..package.markup import escape_text
from ..package.relations import CellStyles
from .cells import NOT_AVAILABLE, cell_xml, formulas_xml

# They stand for the column and the row of a cell in a formula that is made once for all cells. No title and no name of
# an array has these characters
_MARKS = ("\x01", "\x02")


class ViewGrid(ViewFormulas):
    """The rows of a view.

    `name_of`: returns the defined name of the cells of an array, given the name of the array.
    """

    def __init__(self, plan: ViewPlan, name_of: Callable[[str], str], styles: CellStyles) -> None:
        super().__init__(plan, name_of, EXACT_INTEGER)
        self.styles = styles

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
        """Yield the rows above the hidden ones: caption, choosers and helper cells."""
        by_row = {chooser.row: chooser for chooser in self.choosers.values()}
        helpers = self.helper_cells()
        for row in range(1, self.position_row):
            cells = [cell_xml("A1", self.plan.caption, style=self.styles.bold)] if row == 1 else []
            if row in by_row:
                chooser = by_row[row]
                cells.append(cell_xml(f"A{row}", chooser.caption))
                cells.append(cell_xml(f"B{row}", chooser.value, style=self.styles.choosers.get(chooser.kind)))
                if chooser.shown is not None:
                    formula, value, style = chooser.shown
                    cells.append(cell_xml(f"C{row}", value, formula=formula, style=style))
            if row in helpers:
                formula, value = helpers[row]
                cells.append(cell_xml(f"{self.hidden_column}{row}", value, formula=formula))
            if cells:
                yield f'<row r="{row}">{"".join(cells)}</row>'

    def _position_row(self, letters: list[str]) -> str:
        """Return the hidden row that says which index along its dimension each column of the grid shows."""
        row = self.position_row
        cells = [
            cell_xml(f"{letter}{row}", place, formula=self.position("first column", place, self.plan.columns))
            for place, letter in enumerate(letters)
        ]
        cells.append(cell_xml(f"{self.hidden_column}{row}", self.first_element() + 1, formula=self.base_formula()))
        return f'<row r="{row}" hidden="1">{"".join(cells)}</row>'

    def _line_row(self, letters: list[str]) -> str:
        """Return the hidden row that holds the values of the line chart."""
        if not self.plan.has_numbers:
            return f'<row r="{self.line_row}" hidden="1"/>'
        values = to_values(self.to_typed(self.elements()[: self.plan.width]))
        cells = []
        for letter, value in zip(letters, values, strict=True):
            number = value if isinstance(value, (int, float)) else NOT_AVAILABLE
            cells.append(cell_xml(f"{letter}{self.line_row}", number, formula=self.line_formula(letter)))
        return f'<row r="{self.line_row}" hidden="1">{"".join(cells)}</row>'

    def _label_row(self, letters: list[str]) -> str:
        """Return the row of the labels of columns."""
        row, axis = self.label_row, self.plan.columns
        cells = [cell_xml(f"A{row}", f"{self.plan.rows.dim} \\ {axis.dim}", style=self.styles.bold)]
        values = self.labels.values(axis, len(letters))
        style = self.styles.bold_right if axis.labels is None or axis.labels.style is None else axis.labels.style
        for letter, value in zip(letters, values, strict=True):
            position = f"{letter}${self.position_row}"
            cells.append(cell_xml(f"{letter}{row}", value, formula=self.label_of(axis, position), style=style))
        return f'<row r="{row}">{"".join(cells)}</row>'

    def _grid_rows(self, letters: list[str]) -> Iterator[str]:
        """Yield the rows of elements: the label of each, its elements, and its position in the hidden column."""
        import polars as pl

        plan = self.plan
        height, width, axis = plan.height, plan.width, plan.rows
        numbers = np.arange(self.first_row, self.last_row + 1)
        columns = pl.Series(np.tile(np.array(letters), height).tolist(), dtype=pl.String)
        rows = pl.Series(np.repeat(numbers, width)).cast(pl.String)
        formula, names = self._element_format()
        frame = pl.DataFrame({"column": columns, "row": rows})
        formulas = pl.repeat(formula, len(rows), eager=True)
        if names:
            formulas = frame.select(pl.format(formula, *names)).to_series()
        cells = formulas_xml(columns, rows, formulas, self.to_typed(self.elements()), plan.style).to_list()
        values = self.labels.values(axis, height)
        style = self.styles.bold if axis.labels is None or axis.labels.style is None else axis.labels.style
        for place, row in enumerate(numbers.tolist()):
            position = f"${self.hidden_column}{row}"
            label = cell_xml(f"A{row}", values[place], formula=self.label_of(axis, position), style=style)
            across = "".join(cells[place * width : (place + 1) * width])
            index = cell_xml(f"{self.hidden_column}{row}", place, formula=self.position("first row", place, axis))
            yield f'<row r="{row}">{label}{across}{index}</row>'

    def _element_format(self) -> tuple[str, list[str]]:
        """Return the escaped formula of any cell of the grid, and what the `{}` in it stand for.

        Each `{}` is to be replaced by the letters of the cell's column or by the number of its row; the list says
        "column" or "row" for each of them, in their order.
        """
        formula = escape_text(self.element_formula(*_MARKS)).replace("{", "&#123;")
        names = ["column" if mark == _MARKS[0] else "row" for mark in re.findall(f"[{''.join(_MARKS)}]", formula)]
        for mark in _MARKS:
            formula = formula.replace(mark, "{}")
        return formula, names
