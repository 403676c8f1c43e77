"""Values of cells as answers give them: as they look, as they are, or as they were entered (ValueRenderOption)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from .errors import Json
from .formats import format_number, format_text, is_date
from .formulas import Evaluator, evaluator_of, number_format_of
from .grid import Formula, GridCell, Spilled
from .ranges import GridArea
from .spreadsheet import ServedSheet, Spreadsheet

Rendered = bool | int | float | str


def number_to_json(double: float) -> int | float:
    """Return a double as JSON has it: an integer if it is whole, with the shortest digits that read back to it."""
    if not double.is_integer() or abs(double) >= 1e21:
        return double
    return int(double) if abs(double) < 2**53 else int(Decimal(repr(double)))


def render_columns(
    spreadsheet: Spreadsheet,
    sheet: ServedSheet,
    area: GridArea,
    *,
    option: str = "FORMATTED_VALUE",
    dates: str = "SERIAL_NUMBER",
) -> list[list[Rendered]]:
    """Return the values of an area by column, blanks as "", without blanks at the end of a column."""
    evaluator = evaluator_of(spreadsheet)
    renderer = Renderer(evaluator, option, dates)
    columns_read = enumerate(evaluator.grid(sheet).block(area), area.left)
    return [renderer.render_column(sheet, column, area.top, cells) for column, cells in columns_read]


@dataclass(frozen=True)
class Renderer:
    """Gives the values of cells by the options of a request.

    Attributes:
        evaluator: works formulas out.
        option: a ValueRenderOption.
        dates: a DateTimeRenderOption.
    """

    evaluator: Evaluator
    option: str = "FORMATTED_VALUE"
    dates: str = "SERIAL_NUMBER"

    def render_column(self, sheet: ServedSheet, column: int, top: int, cells: list[GridCell]) -> list[Rendered]:
        """Return the values of cells of a column, the first of which stands in row `top`."""
        formatted = self.option == "FORMATTED_VALUE" or self.dates != "SERIAL_NUMBER"
        cells_shown: list[Rendered] = []
        for row, cell in enumerate(cells, top):
            if formatted or isinstance(cell, Formula):
                cells_shown.append(self.render_cell(sheet, row, column, cell))
            elif isinstance(cell, float):
                cells_shown.append(number_to_json(cell))
            else:
                cells_shown.append("" if cell is None else cell)
        return cells_shown

    def render_cell(self, sheet: ServedSheet, row: int, column: int, cell: GridCell) -> Rendered:
        """Return the value of one cell; "" for a blank."""
        if isinstance(cell, Formula) and self.option == "FORMULA" and type(cell) is not Spilled:
            return cell.text
        result = self.evaluator.value(sheet, row, column, cell)
        if result is None:
            return ""
        if isinstance(result, bool):
            return result if self.option != "FORMATTED_VALUE" else "TRUE" if result else "FALSE"
        if isinstance(result, str) and (self.option != "FORMATTED_VALUE" or not sheet.grid.marks_of(column)):
            return result
        if not isinstance(result, str) and self.option != "FORMATTED_VALUE" and self.dates == "SERIAL_NUMBER":
            return number_to_json(result)
        number_format = self.number_format(sheet, row, column, cell)
        if isinstance(result, str):
            return format_text(result, number_format)
        if self.option == "FORMATTED_VALUE" or (self.dates == "FORMATTED_STRING" and is_date(number_format)):
            return format_number(result, number_format)
        return number_to_json(result)

    def number_format(self, sheet: ServedSheet, row: int, column: int, cell: GridCell) -> Json | None:
        """Return the NumberFormat of a cell, or the one that its formula brings along; None if it has none."""
        if isinstance(cell, Formula):
            return number_format_of(self.evaluator, sheet, row, column)
        mark = sheet.grid.mark(row, column) or {}
        own: Json | None = (mark.get("userEnteredFormat") or {}).get("numberFormat")
        return own
