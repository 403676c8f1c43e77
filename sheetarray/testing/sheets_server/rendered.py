"""How cells are answered: as they look, as they are, or as they were entered."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from .formats import is_date, shown
from .formulas import Evaluator
from .grid import Cell, Formula
from .ranges import Area
from .spreadsheet import Sheet, Spreadsheet

Rendered = bool | int | float | str


def number(double: float) -> int | float:
    """A double as JSON has it: the shortest digits that read back to it, and no fraction where it is whole."""
    if not double.is_integer() or abs(double) >= 1e21:
        return double
    return int(double) if abs(double) < 2**53 else int(Decimal(repr(double)))


def columns(
    spreadsheet: Spreadsheet, sheet: Sheet, area: Area, *, option: str = "FORMATTED_VALUE", dates: str = "SERIAL_NUMBER"
) -> list[list[Rendered]]:
    """The cells of an area by column, blanks as "", without trailing ones."""
    look = Look(Evaluator(spreadsheet), option, dates)
    return [
        look.column(sheet, column, area.top, cells) for column, cells in enumerate(sheet.grid.block(area), area.left)
    ]


@dataclass(frozen=True)
class Look:
    """How cells are to be answered.

    Attributes:
        evaluator: for formulas.
        option: a ValueRenderOption.
        dates: a DateTimeRenderOption.
    """

    evaluator: Evaluator
    option: str = "FORMATTED_VALUE"
    dates: str = "SERIAL_NUMBER"

    def column(self, sheet: Sheet, column: int, top: int, cells: list[Cell]) -> list[Rendered]:
        """A part of a column."""
        formatted = self.option == "FORMATTED_VALUE" or self.dates != "SERIAL_NUMBER"
        found: list[Rendered] = []
        for row, cell in enumerate(cells, top):
            if formatted or isinstance(cell, Formula):
                found.append(self.cell(sheet, row, column, cell))
            elif isinstance(cell, float):
                found.append(number(cell))
            else:
                found.append("" if cell is None else cell)
        return found

    def cell(self, sheet: Sheet, row: int, column: int, cell: Cell) -> Rendered:
        """One cell."""
        if isinstance(cell, Formula) and self.option == "FORMULA":
            return cell.text
        result = self.evaluator.value(sheet, row, column, cell)
        if result is None:
            return ""
        if isinstance(result, bool):
            return result if self.option != "FORMATTED_VALUE" else "TRUE" if result else "FALSE"
        if isinstance(result, str):
            return result
        mark = sheet.grid.mark(row, column) or {}
        number_format = (mark.get("userEnteredFormat") or {}).get("numberFormat")
        if self.option == "FORMATTED_VALUE" or (self.dates == "FORMATTED_STRING" and is_date(number_format)):
            return shown(result, number_format)
        return number(result)
