"""The ranges that a formula refers to, whose cells are read only when they are needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..grid import Formula, Spilled
from ..ranges import GridArea
from ..spreadsheet import ServedSheet
from .arrays import check_value
from .operands import Scalar, Value, fail
from .spills import CellKey

if TYPE_CHECKING:
    from .evaluator import FormulaScope


class PendingError(Exception):
    """Raised if a formula reads cells whose formulas have not been worked out yet.

    Attributes:
        places: those cells.
    """

    def __init__(self, places: list[CellKey]) -> None:
        super().__init__(places)
        self.places = places


@dataclass(frozen=True)
class CellBlock:
    """Cells that a formula refers to; see `operands.BlockOperand`.

    Attributes:
        scope: the scope of the formula that refers to them.
        sheet: on which they are.
        area: the cells.
        spreads: whether a formula that comes to them fills several cells with them.
    """

    scope: FormulaScope = field(repr=False)
    sheet: ServedSheet = field(repr=False)
    area: GridArea
    spreads: bool = False

    @property
    def height(self) -> int:
        """The number of its rows."""
        return self.area.height

    @property
    def width(self) -> int:
        """The number of its columns."""
        return self.area.width

    def part(self, top: int, bottom: int, left: int, right: int) -> CellBlock:
        """Return a part of it; rows and columns are counted from its first cell."""
        area = self.area
        inner = GridArea(area.top + top, area.top + bottom, area.left + left, area.left + right)
        return CellBlock(self.scope, self.sheet, inner, self.spreads)

    def value(self, row: int, column: int) -> Scalar:
        """Return the value of a row and a column, counted from its first cell; an error is raised."""
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
        return check_value(known[place])

    def columns(self) -> list[list[Value]]:
        """Return the values by column, without trailing blanks; errors are among them, and not raised."""
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
        """Return the value in the row or column of the formula, which a function of single values takes it for."""
        area, scope = self.area, self.scope
        if area.width == 1 and area.height == 1:
            return self.value(0, 0)
        if area.width == 1 and area.top <= scope.row < area.bottom:
            return self.value(scope.row - area.top, 0)
        if area.height == 1 and area.left <= scope.column < area.right:
            return self.value(0, scope.column - area.left)
        return fail("#VALUE!", "An array value could not be found.")

    def positions(self) -> dict[object, int]:
        """Return the index of the first cell with each value of a column or row, by `rank`; worked out only once."""
        held = self.scope.evaluator.positions
        key = (self.sheet.id, self.area)
        if key not in held:
            from .lookups import line_of, positions_of

            held[key] = positions_of(line_of(self))
        return held[key]
