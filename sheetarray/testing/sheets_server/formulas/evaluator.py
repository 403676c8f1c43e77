"""Results of formulas: each is worked out once, and formulas that refer to each other in a circle are errors."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import ApiError, Json
from ..grid import Formula, GridCell, SheetGrid, Spilled
from ..ranges import GridArea, Span
from ..spreadsheet import ServedSheet, Spreadsheet
from .arrays import ArrayBlock, catch_errors, padded_columns, size_of, spreads
from .blocks import CellBlock, PendingError
from .operands import FormulaError, Operand, Scalar, Value, fail, single_value
from .parsing import parse
from .references import CellReference, parse_reference
from .spills import ROUNDS, CellKey, Spills, find_spreading


class Evaluator:
    """Works out the formulas of a spreadsheet, each once; valid until a cell changes.

    Attributes:
        spreadsheet: whose formulas are worked out.
        known: the results so far, by cell.
        positions: for a range, the index of the first cell with each value, for lookups.
        formats: the number formats that formulas bring along, by cell.

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
        self.formats: dict[CellKey, Json | None] = {}
        self._spills = Spills()
        self._grids: dict[int, SheetGrid] | None = None  # of the sheets that arrays fill; None: not worked out yet
        self._circular: set[CellKey] = set()

    def grid(self, sheet: ServedSheet) -> SheetGrid:
        """Return the cells of a sheet, `Spilled` ones among them where the array of a formula fills them."""
        if self._grids is None:
            self._spread()
        return (self._grids or {}).get(sheet.id, sheet.grid)

    def _spread(self) -> None:
        """Work out the formulas that may come to arrays, in rounds, until no round changes what they fill."""
        self._grids = {}
        spreading = find_spreading(self.spreadsheet)
        if not spreading:
            return
        lasting: dict[
            CellKey, Value
        ] = {}  # results of formulas with random numbers, which are kept from round to round
        before: dict[CellKey, ArrayBlock] = {}
        kept: dict[CellKey, ArrayBlock] = {}
        for count in itertools.count(1):
            self._spills = Spills()
            for place, cell in spreading:
                if place in kept:
                    self.known[place] = self._spills.claim(self.spreadsheet.sheet(place[0]), *place[1:], kept[place])
                elif place not in self.known:
                    self._work_out(place, cell)
            arrays = self._spills.arrays
            if arrays == before:
                return
            if count % ROUNDS == 0:
                self._circular |= {place for place, array in arrays.items() if array != before.get(place)}
            if count == 1:
                lasting = {place: value for place, value in self.known.items() if self._is_random(place)}
                kept = {place: array for place, array in arrays.items() if place in lasting}
            before = arrays
            self._grids = self._spills.grids(self.spreadsheet)
            self.known, self.positions = {place: value for place, value in lasting.items() if place not in kept}, {}

    def _is_random(self, place: CellKey) -> bool:
        cell = self.spreadsheet.sheet(place[0]).grid.cell(*place[1:])
        return isinstance(cell, Formula) and "RAND" in cell.text.upper()

    def value(self, sheet: ServedSheet, row: int, column: int, cell: GridCell) -> Scalar:
        """Return the value of a cell; of a formula, its result; of an error, its text such as `#REF!`."""
        if not isinstance(cell, Formula):
            return cell
        result = self.result(sheet, row, column, cell)
        return str(result) if isinstance(result, FormulaError) else result

    def result(self, sheet: ServedSheet, row: int, column: int, cell: Formula) -> Value:
        """Return the result of a formula, which may be an error."""
        if type(cell) is Spilled:
            return cell.value  # type: ignore[return-value]
        place = (sheet.id, row, column)
        if self._grids is None:
            self._spread()
        if place not in self.known:
            self._work_out(place, cell)
        return self.known[place]

    def calculate(self, sheet: ServedSheet, row: int, column: int, formula: str) -> Value:
        """Return the result that a formula would have in a cell, without writing it there."""
        while True:
            try:
                return self._result((sheet.id, row, column), Formula(formula), fills=False)
            except PendingError as pending:
                for place in pending.places:
                    held = self.spreadsheet.sheet(place[0]).grid.cell(*place[1:])
                    assert isinstance(held, Formula)
                    self._work_out(place, held)

    def _work_out(self, place: CellKey, cell: Formula) -> None:
        """Evaluate a formula, after those that it needs, without recursion: a column of running totals may be long."""
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
            except PendingError as pending:
                if begun.intersection(pending.places):
                    self.known[place] = _circle()
                    continue
                for other in pending.places:
                    formula = self.spreadsheet.sheet(other[0]).grid.cell(*other[1:])
                    assert isinstance(formula, Formula)
                    waiting.append((other, formula))

    def _result(self, place: CellKey, cell: Formula, *, fills: bool = True) -> Value:
        node, references = parse(cell.text)
        scope = FormulaScope(self, self.spreadsheet.sheet(place[0]), place[1], place[2], references)
        if place in self._circular:
            return _circle()

        def work() -> Operand | FormulaError:
            operand = node(scope)
            if fills and spreads(operand) and size_of(operand) != (1, 1):
                columns = padded_columns(operand)
                filled = GridArea(place[1], place[1] + len(columns[0]), place[2], place[2] + len(columns))
                if any(sheet_id == place[0] and area.meets(filled) for sheet_id, area in scope.reads):
                    return _circle()
                return self._spills.claim(scope.sheet, scope.row, scope.column, ArrayBlock(columns, len(columns[0])))
            value = single_value(operand)
            return 0.0 if value is None else value

        return catch_errors(work)


def _circle() -> FormulaError:
    return FormulaError("#REF!", "Circular dependency detected.")


def evaluator_of(spreadsheet: Spreadsheet) -> Evaluator:
    """Return the evaluator that is kept until the next request that writes, for those that only read."""
    if not isinstance(spreadsheet.evaluator, Evaluator):
        spreadsheet.evaluator = Evaluator(spreadsheet)
    return spreadsheet.evaluator


@dataclass(frozen=True)
class FormulaScope:
    """The cell in which a formula is worked out, and all that its node needs to know there.

    Attributes:
        evaluator: has the results of other formulas.
        sheet: of the cell.
        row: of the cell.
        column: of the cell.
        references: the references to cells that the node takes from here by index; see `parsing.parse`.
        array: whether functions of single values take arrays, as they do within ARRAYFORMULA.
        names: the operands for the names of LET and of the parameters of LAMBDA.
        reads: the cells that the formula has read so far, with the ids of their sheets.
    """

    evaluator: Evaluator
    sheet: ServedSheet
    row: int
    column: int
    references: list[str]
    array: bool = False
    names: Mapping[str, Any] = field(default_factory=dict)
    reads: list[tuple[int, GridArea]] = field(default_factory=list, repr=False)

    def for_arrays(self) -> FormulaScope:
        """Return the scope within ARRAYFORMULA."""
        return self if self.array else replace(self, array=True)

    def reference(self, index: int) -> Operand:
        """Return the cells of one of its references."""
        reference = parse_reference(self.references[index])
        return fail("#ERROR!", "Formula parse error.") if reference is None else self.cells(reference)

    def cells(self, reference: CellReference) -> Operand:
        """Return the cells of a reference."""
        sheet: ServedSheet | None = self.sheet
        if reference.title is not None:
            sheet = self.evaluator.spreadsheet.sheet_titled(reference.title)
            if sheet is None:
                fail("#REF!", f"Unresolved sheet name '{reference.title}'.")
        assert sheet is not None
        return self.block(sheet, reference.span)

    def named_range(self, name: str) -> Operand:
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
