"""The rows of the sheet of a view, as XML: formulas, and the values that these have when the view is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from ....columns import column_letters
from ...views.array_cells import to_values
from ...views.formulas import ViewFormulas
from ...views.plans import ViewPlan
from ...workbooks import EXACT_INTEGER
from ...xml_texts import escape_text
from ..row_xml import cells_xml, with_formula
from ..styles.cell_styles import CellStyles
from .grids import NOT_AVAILABLE, cell_xml

_MARKS = ("\x01", "\x02")
"""They stand for the column and the row of a cell in a formula that is made once for all cells. No title and no name of
an array has these characters."""


class ViewGrid(ViewFormulas):
    """The rows of a view.

    `name_of`: returns the defined name of the cells of an array, given the name of the array.

    Attributes:
        captions: the texts in the first column.
        frozen_rows: the number of rows that stay in sight.
        ranges: of the elements, as ranges of cells.
        open_ranges: the cells that people may change.
    """

    def __init__(self, plan: ViewPlan, name_of: Callable[[str], str], styles: CellStyles) -> None:
        super().__init__(plan, name_of, EXACT_INTEGER)
        self.styles, self.frozen_rows, self.ranges = styles, self.label_row, [self.grid_range.replace("$", "")]
        self.captions = [plan.caption, f"{plan.rows.dim} \\ {plan.columns.dim}"]
        self.captions += [chooser.caption for chooser in self.choosers.values()]
        self.open_ranges = [f"B{chooser.row}" for chooser in self.choosers.values()]

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
        first = self.plan.array.offset + self.plan.rows.first + 1
        cells.append(cell_xml(f"{self.hidden_column}{row}", first, formula=self.base_formula()))
        return f'<row r="{row}" hidden="1">{"".join(cells)}</row>'

    def _line_row(self, letters: list[str]) -> str:
        """Return the hidden row with the values of the line chart."""
        if not self.plan.has_numbers:
            return f'<row r="{self.line_row}" hidden="1"/>'
        values = to_values(self.to_typed(self.elements()[: self.plan.width]))
        formula, title = self.chart_title()
        cells = [cell_xml(f"A{self.line_row}", title, formula=formula)]
        for letter, value in zip(letters, values, strict=True):
            number = value if isinstance(value, (int, float)) else NOT_AVAILABLE
            cells.append(cell_xml(f"{letter}{self.line_row}", number, formula=self.line_formula(letter)))
        return f'<row r="{self.line_row}" hidden="1">{"".join(cells)}</row>'

    def _label_row(self, letters: list[str]) -> str:
        """Return the row of the labels of columns."""
        row, axis = self.label_row, self.plan.columns
        cells = [cell_xml(f"A{row}", f"{self.plan.rows.dim} \\ {axis.dim}", style=self.styles.bold)]
        values = self.cells.values(axis, len(letters))
        style = self.styles.bold_right if axis.labels is None or axis.labels.style is None else axis.labels.style
        for letter, value in zip(letters, values, strict=True):
            position = f"{letter}${self.position_row}"
            cells.append(cell_xml(f"{letter}{row}", value, formula=self.label_of(axis, position), style=style))
        return f'<row r="{row}">{"".join(cells)}</row>'

    def _grid_rows(self, letters: list[str]) -> Iterator[str]:
        """Yield the rows of elements: the label of each, its elements, and its position in the hidden column."""
        plan = self.plan
        height, width, axis = plan.height, plan.width, plan.rows
        formula = escape_text(self.element_formula(*_MARKS))
        values = iter(cells_xml(self.to_typed(self.elements()), plan.style))
        labels = self.cells.values(axis, height)
        style = self.styles.bold if axis.labels is None or axis.labels.style is None else axis.labels.style
        for place, row in enumerate(range(self.first_row, self.last_row + 1)):
            position = f"${self.hidden_column}{row}"
            label = cell_xml(f"A{row}", labels[place], formula=self.label_of(axis, position), style=style)
            in_row = formula.replace(_MARKS[1], str(row))
            across = "".join(
                f'<c r="{letter}{row}"{with_formula(value, in_row.replace(_MARKS[0], letter))}'
                for letter, value in zip(letters, islice(values, width), strict=True)
            )
            index = cell_xml(f"{self.hidden_column}{row}", place, formula=self.position("first row", place, axis))
            yield f'<row r="{row}">{label}{across}{index}</row>'
