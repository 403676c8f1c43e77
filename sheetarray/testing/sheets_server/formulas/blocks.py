"""The cells that a formula refers to, looked at when they are needed, and not before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..grid import Formula, Spilled
from ..ranges import GridArea
from ..spreadsheet import ServedSheet
from .arrays import check_value
from .operands import FormulaError, Scalar, Value, fail
from .spills import CellKey

if TYPE_CHECKING:
    from .evaluator import FormulaScope


class PendingError(Exception):
    """Formulas that must be worked out before this one."""

    def __init__(self, places: list[CellKey]) -> None:
        super().__init__(places)
        self.places = places


@dataclass(frozen=True)
class CellBlock:
    """Cells that a formula refers to; see `operands.BlockOperand`.

    Attributes:
        scope: of the formula.
        sheet: of the cells.
        area: where they are.
        spreads: whether they fill several cells where a formula comes to them.
    """

    scope: FormulaScope = field(repr=False)
    sheet: ServedSheet = field(repr=False)
    area: GridArea
    spreads: bool = False

    @property
    def height(self) -> int:
        """Its rows."""
        return self.area.height

    @property
    def width(self) -> int:
        """Its columns."""
        return self.area.width

    def part(self, top: int, bottom: int, left: int, right: int) -> CellBlock:
        """Return a part of it, counted from its corner."""
        area = self.area
        inner = GridArea(area.top + top, area.top + bottom, area.left + left, area.left + right)
        return CellBlock(self.scope, self.sheet, inner, self.spreads)

    def value(self, row: int, column: int) -> Scalar:
        """Return one value, counted from its corner; an error is check_value."""
        row, column = self.area.top + row, self.area.left + column
        self.scope.reads.append((self.sheet.id, GridArea(row, row + 1, column, column + 1)))
        cell = self.scope.evaluator.grid(self.sheet).cell(row, column)
        if not isinstance(cell, Formula):
            return cell
        if type(cell) is Spilled:
            return check_value(cell.value)  # type: ignore[arg-type]
        place = (self.sheet.id, row, column)
        known = self.scope.evaluator.known
        if place not in known:
            raise PendingError([place])
        result = known[place]
        if isinstance(result, FormulaError):
            raise FormulaError(str(result), result.reason)
        return result

    def columns(self) -> list[list[Value]]:
        """Return the values by column, without trailing blanks; errors stand among them."""
        known, pending = self.scope.evaluator.known, []
        self.scope.reads.append((self.sheet.id, self.area))
        columns: list[list[Value]] = []
        for column, cells in enumerate(self.scope.evaluator.grid(self.sheet).block(self.area), self.area.left):
            column_values: list[Value] = []
            for row, cell in enumerate(cells, self.area.top):
                if not isinstance(cell, Formula):
                    column_values.append(cell)
                elif type(cell) is Spilled:
                    column_values.append(cell.value)  # type: ignore[arg-type]
                elif (place := (self.sheet.id, row, column)) in known:
                    column_values.append(known[place])
                else:
                    pending.append(place)
            columns.append(column_values)
        if pending:
            raise PendingError(pending)
        return columns

    def single(self) -> Scalar:
        """Return the value in the row or column of the formula, where one value is wanted."""
        area, scope = self.area, self.scope
        if area.width == 1 and area.height == 1:
            return self.value(0, 0)
        if area.width == 1 and area.top <= scope.row < area.bottom:
            return self.value(scope.row - area.top, 0)
        if area.height == 1 and area.left <= scope.column < area.right:
            return self.value(0, scope.column - area.left)
        return fail("#VALUE!", "An array value could not be found.")

    def positions(self) -> dict[object, int]:
        """Return the first place of each value in a column or row, by its rank; worked out only once."""
        held = self.scope.evaluator.positions
        key = (self.sheet.id, self.area)
        if key not in held:
            from .lookups import line_of, positions_of

            held[key] = positions_of(line_of(self))
        return held[key]
