"""Values of cells as answers give them: as they look, as they are, or as they were entered (ValueRenderOption)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from .formats import format_number, is_date
from .formulas import Evaluator
from .grid import Formula, GridCell
from .spreadsheet import ServedSheet

Rendered = bool | int | float | str


def number_to_json(double: float) -> int | float:
    """Return a double as JSON has it: an integer if it is whole, with the shortest digits that read back to it."""
    if not double.is_integer() or abs(double) >= 1e21:
        return double
    return int(double) if abs(double) < 2**53 else int(Decimal(repr(double)))


@dataclass(frozen=True)
class Renderer:
    """Gives the values of cells by the options of a request."""

    evaluator: Evaluator  # works formulas out
    option: str = "FORMATTED_VALUE"  # a ValueRenderOption
    dates: str = "SERIAL_NUMBER"  # a DateTimeRenderOption

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
        if isinstance(cell, Formula) and self.option == "FORMULA":
            return cell.text
        result = self.evaluator.value(sheet, row, column, cell)
        if result is None:
            return ""
        if isinstance(result, bool):
            return result if self.option != "FORMATTED_VALUE" else "TRUE" if result else "FALSE"
        if isinstance(result, str):
            return result
        if self.option != "FORMATTED_VALUE" and self.dates == "SERIAL_NUMBER":
            return number_to_json(result)
        number_format = ((sheet.grid.mark(row, column) or {}).get("userEnteredFormat") or {}).get("numberFormat")
        if self.option == "FORMATTED_VALUE" or (self.dates == "FORMATTED_STRING" and is_date(number_format)):
            return format_number(result, number_format)
        return number_to_json(result)
