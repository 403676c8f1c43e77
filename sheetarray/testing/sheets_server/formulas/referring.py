"""Functions that look at references themselves: INDIRECT, OFFSET, FORMULATEXT; and pictures, which have no value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..grid import Formula
from ..ranges import GridArea
from .logic import Later, LazyFunction
from .operands import FormulaError, Operand, as_block, fail, single_value, text, truth, whole
from .references import parse_reference

if TYPE_CHECKING:
    from .blocks import CellBlock
    from .evaluator import FormulaScope


def _indirect(scope: FormulaScope, given: list[Later]) -> Operand:
    from .blocks import CellBlock

    shown = text(given[0]())
    if len(given) > 1 and not truth(given[1]()):
        fail("#REF!", "The emulator knows references by letters only.")
    reference = parse_reference(shown)
    try:
        block = scope.cells(reference) if reference is not None else scope.named_range(shown)
        return replace(block, spreads=True) if isinstance(block, CellBlock) else block
    except FormulaError:
        fail("#REF!", f"Function INDIRECT parameter 1 value is '{shown}'. It is not a valid cell/range reference.")


def _offset(_: FormulaScope, given: list[Later]) -> Operand:
    block = _cells(given[0](), "OFFSET")
    sizes = [whole(later()) for later in given[1:]]
    area = block.area
    top, left = area.top + sizes[0], area.left + sizes[1]
    height = sizes[2] if len(sizes) > 2 else area.height
    width = sizes[3] if len(sizes) > 3 else area.width
    grid = block.sheet.grid
    if height < 1 or width < 1:
        fail("#REF!", "Function OFFSET parameters 4 and 5 must be at least 1.")
    if top < 0 or left < 0 or top + height > grid.rows or left + width > grid.columns:
        fail("#REF!", "Function OFFSET evaluates to an out of bounds range.")
    from .blocks import CellBlock

    return CellBlock(block.scope, block.sheet, GridArea(top, top + height, left, left + width), spreads=True)


def _is_formula(_: FormulaScope, given: list[Later]) -> Operand:
    return _formula_at(given[0](), "ISFORMULA") is not None


def _formula_text(_: FormulaScope, given: list[Later]) -> Operand:
    formula = _formula_at(given[0](), "FORMULATEXT")
    return formula.text if formula is not None else fail("#N/A", "The cell holds no formula.")


def _is_reference(_: FormulaScope, given: list[Later]) -> Operand:
    from .blocks import CellBlock

    try:
        return isinstance(given[0](), CellBlock)
    except FormulaError:
        return False


def _formula_at(operand: Operand, function: str) -> Formula | None:
    block = _cells(operand, function)
    cell = block.sheet.grid.cell(block.area.top, block.area.left)
    return cell if isinstance(cell, Formula) else None


def _cells(operand: Operand, function: str) -> CellBlock:
    from .blocks import CellBlock

    block = as_block(operand, function)
    if not isinstance(block, CellBlock):
        fail("#N/A", f"Argument must be a range: {function}.")
    return block


def _picture(_: FormulaScope, given: list[Later]) -> Operand:
    """Return an empty text, as the service does; what is drawn in the cell is not modelled."""
    given[0]()
    return ""


def _subtotal(_: FormulaScope, given: list[Later]) -> Operand:
    from .mathematics import MATHEMATICS
    from .statistics import STATISTICS

    names = ("AVERAGE", "COUNT", "COUNTA", "MAX", "MIN", "PRODUCT", "STDEV", "STDEVP", "SUM", "VAR", "VARP")
    kind = whole(single_value(given[0]()))
    if not 1 <= kind % 100 <= len(names) or kind not in (kind % 100, kind % 100 + 100):
        fail("#VALUE!", f"Function SUBTOTAL parameter 1 value is {kind}.")
    return (MATHEMATICS | STATISTICS)[names[kind % 100 - 1]][2]([later() for later in given[1:]])


REFERRING: dict[str, LazyFunction] = {
    "FORMULATEXT": (1, 1, _formula_text),
    "IMAGE": (1, 4, _picture),
    "INDIRECT": (1, 2, _indirect),
    "ISFORMULA": (1, 1, _is_formula),
    "ISREF": (1, 1, _is_reference),
    "OFFSET": (3, 5, _offset),
    "SPARKLINE": (1, 2, _picture),
    "SUBTOTAL": (2, 255, _subtotal),
}
