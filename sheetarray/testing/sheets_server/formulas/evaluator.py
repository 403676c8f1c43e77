"""What formulas come to: each is worked out once, whatever else refers to it, and circles come to an end."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..errors import ApiError
from ..grid import Formula, GridCell
from ..ranges import GridArea, Span
from ..spreadsheet import ServedSheet, Spreadsheet
from .operands import FormulaError, Operand, Scalar, Value, fail, single_value
from .parsing import parse
from .references import CellReference

CellKey = tuple[int, int, int]  # the id of a sheet, a row, a column


class _PendingError(Exception):
    """Formulas that must be worked out before this one."""

    def __init__(self, places: list[CellKey]) -> None:
        super().__init__(places)
        self.places = places


class Evaluator:
    """Works out formulas, each once; good for as long as no cell changes.

    Example:
        >>> from ..grid import SheetGrid
        >>> sheet = ServedSheet(0, "S", SheetGrid(2, 2))
        >>> Evaluator(Spreadsheet("key", "title", sheets=[sheet])).value(sheet, 0, 0, Formula("=1+2"))
        3.0
    """

    def __init__(self, spreadsheet: Spreadsheet) -> None:
        self.spreadsheet = spreadsheet
        self.known: dict[CellKey, Value] = {}
        self.positions: dict[tuple[int, GridArea], dict[object, int]] = {}

    def value(self, sheet: ServedSheet, row: int, column: int, cell: GridCell) -> Scalar:
        """Return the value of a cell, worked out; an error is the text that stands in the cell."""
        if not isinstance(cell, Formula):
            return cell
        result = self.result(sheet, row, column, cell)
        return str(result) if isinstance(result, FormulaError) else result

    def result(self, sheet: ServedSheet, row: int, column: int, cell: Formula) -> Value:
        """Return the result of a formula, which may be an error."""
        place = (sheet.id, row, column)
        if place not in self.known:
            self._work_out(place, cell)
        return self.known[place]

    def calculate(self, sheet: ServedSheet, row: int, column: int, formula: str) -> Value:
        """Return the result that a formula would have in a cell that need not hold it."""
        while True:
            try:
                return self._result((sheet.id, row, column), Formula(formula))
            except _PendingError as pending:
                for place in pending.places:
                    held = self.spreadsheet.sheet(place[0]).grid.cell(*place[1:])
                    assert isinstance(held, Formula)
                    self._work_out(place, held)

    def _work_out(self, place: CellKey, cell: Formula) -> None:
        """Without recursion from cell to cell, so that a column of running totals may be of any length."""
        waiting: list[tuple[CellKey, Formula]] = [(place, cell)]
        begun: set[CellKey] = set()
        while waiting:
            place, cell = waiting[-1]
            if place in self.known:
                waiting.pop()
                begun.discard(place)
                continue
            begun.add(place)
            try:
                self.known[place] = self._result(place, cell)
            except _PendingError as pending:
                if begun.intersection(pending.places):
                    self.known[place] = FormulaError("#REF!", "Circular dependency detected.")
                    continue
                for other in pending.places:
                    formula = self.spreadsheet.sheet(other[0]).grid.cell(*other[1:])
                    assert isinstance(formula, Formula)
                    waiting.append((other, formula))

    def _result(self, place: CellKey, cell: Formula) -> Value:
        scope = FormulaScope(self, self.spreadsheet.sheet(place[0]), place[1], place[2])
        try:
            result = single_value(parse(cell.text)(scope))
        except FormulaError as error:
            return error
        except ZeroDivisionError:
            return FormulaError("#DIV/0!", "Evaluation caused a divide by zero error.")
        except (OverflowError, ValueError):
            return FormulaError("#NUM!", "The result is no number that a cell can hold.")
        if isinstance(result, float) and not math.isfinite(result):
            return FormulaError("#NUM!", "The result is no number that a cell can hold.")
        return 0.0 if result is None else result


@dataclass(frozen=True)
class FormulaScope:
    """The place of a formula.

    Attributes:
        evaluator: knows the other formulas.
        sheet: of the formula.
        row: of the formula.
        column: of the formula.
    """

    evaluator: Evaluator
    sheet: ServedSheet
    row: int
    column: int

    def cells(self, reference: CellReference) -> Operand:
        """Return the cells of a reference."""
        sheet: ServedSheet | None = self.sheet
        if reference.title is not None:
            sheet = self.evaluator.spreadsheet.sheet_titled(reference.title)
            if sheet is None:
                fail("#REF!", f"Unresolved sheet name '{reference.title}'.")
        assert sheet is not None
        return self.block(sheet, reference.span)

    def named(self, name: str) -> Operand:
        """Return the cells of a named range."""
        held = self.evaluator.spreadsheet.range_named(name)
        if held is None:
            fail("#NAME?", f"Unknown range name: '{name.upper()}'.")
        if held.span is None:
            fail("#REF!", "Reference does not exist.")
        return self.block(self.evaluator.spreadsheet.sheet(held.sheet), held.span)

    def block(self, sheet: ServedSheet, span: Span) -> CellBlock:
        """Return the cells of a span."""
        try:
            return CellBlock(self, sheet, sheet.area(span))
        except ApiError:
            fail("#REF!", "Reference does not exist.")


@dataclass(frozen=True)
class CellBlock:
    """Cells that a formula refers to; see `operands.BlockOperand`.

    Attributes:
        scope: of the formula.
        sheet: of the cells.
        area: where they are.
    """

    scope: FormulaScope = field(repr=False)
    sheet: ServedSheet = field(repr=False)
    area: GridArea

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
        return CellBlock(self.scope, self.sheet, inner)

    def value(self, row: int, column: int) -> Scalar:
        """Return one value, counted from its corner; an error is raised."""
        row, column = self.area.top + row, self.area.left + column
        cell = self.sheet.grid.cell(row, column)
        if not isinstance(cell, Formula):
            return cell
        place = (self.sheet.id, row, column)
        known = self.scope.evaluator.known
        if place not in known:
            raise _PendingError([place])
        result = known[place]
        if isinstance(result, FormulaError):
            raise FormulaError(str(result), result.reason)
        return result

    def columns(self) -> list[list[Value]]:
        """Return the values by column, without trailing blanks; errors stand among them."""
        known, pending = self.scope.evaluator.known, []
        columns: list[list[Value]] = []
        for column, cells in enumerate(self.sheet.grid.block(self.area), self.area.left):
            column_values: list[Value] = []
            for row, cell in enumerate(cells, self.area.top):
                if not isinstance(cell, Formula):
                    column_values.append(cell)
                elif (place := (self.sheet.id, row, column)) in known:
                    column_values.append(known[place])
                else:
                    pending.append(place)
            columns.append(column_values)
        if pending:
            raise _PendingError(pending)
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
