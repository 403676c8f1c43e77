"""Functions that count and add up what meets criteria: SUMIF, COUNTIFS and their kin."""

from __future__ import annotations

import math

from .matching import make_criterion
from .mathematics import ANY, Function, average
from .operands import Arguments, BlockOperand, FormulaError, Operand, Scalar, as_block, fail, single_value


def _cells(block: BlockOperand, height: int, width: int) -> list[Scalar | FormulaError]:
    """Return the values of a block of a size, column by column, blanks as None."""
    cells: list[Scalar | FormulaError] = []
    for column in block.columns()[:width]:
        cells += column[:height]
        cells += [None] * (height - len(column[:height]))
    return cells


def _sizes(blocks: list[BlockOperand]) -> tuple[int, int]:
    """Return a height up to the last value of any block, and the width that they have in common."""
    if len({(block.height, block.width) for block in blocks}) > 1:
        fail("#VALUE!", "Array arguments are of different size.")
    height = max((len(column) for block in blocks for column in block.columns()), default=0)
    return height, blocks[0].width


def _meeting(pairs: list[Operand]) -> tuple[list[bool], int, int]:
    """Return a mask of the cells that meet every criterion, and its size; arguments are ranges and criteria."""
    if len(pairs) % 2:
        fail("#N/A", "Every range needs a criterion.")
    blocks = [as_block(block, "a range of criteria") for block in pairs[::2]]
    height, width = _sizes(blocks)
    meeting = [True] * (height * width)
    for block, wanted in zip(blocks, pairs[1::2], strict=True):
        test = make_criterion(single_value(wanted))
        cells = _cells(block, height, width)
        meeting = [
            meets and not isinstance(cell, FormulaError) and test(cell)
            for meets, cell in zip(meeting, cells, strict=True)
        ]
    return meeting, height, width


def _numbers(meeting: tuple[list[bool], int, int], block: BlockOperand) -> list[float]:
    """Return the numbers of a block where the criteria are met; its size follows theirs."""
    meets, height, width = meeting
    numeric = []
    for met, cell in zip(meets, _cells(_grown(block, height, width), height, width), strict=False):
        if met and isinstance(cell, FormulaError):
            raise cell
        if met and type(cell) is float:
            numeric.append(cell)
    return numeric


def _grown(block: BlockOperand, height: int, width: int) -> BlockOperand:
    """Return the block of a size that begins where one of another size does."""
    from .blocks import CellBlock

    if not isinstance(block, CellBlock):
        return block
    grid = block.sheet.grid
    height, width = min(height, grid.rows - block.area.top), min(width, grid.columns - block.area.left)
    return block.part(0, height, 0, width)


def _count_ifs(arguments: Arguments) -> Operand:
    meeting, height, width = _meeting(arguments)
    count = sum(meeting)
    blanks = as_block(arguments[0], "COUNTIF").height * width - height * width  # below the last value
    if blanks and all(make_criterion(single_value(wanted))(None) for wanted in arguments[1::2]):
        count += blanks
    return float(count)


def _one(arguments: Arguments) -> list[float]:
    """Return the numbers of SUMIF and AVERAGEIF: a range, a criterion, and the range of the numbers."""
    counted = as_block(arguments[2] if len(arguments) > 2 else arguments[0], "SUMIF")
    return _numbers(_meeting(arguments[:2]), counted)


def _several(arguments: Arguments) -> list[float]:
    return _numbers(_meeting(arguments[1:]), as_block(arguments[0], "SUMIFS"))


CONDITIONAL: dict[str, Function] = {
    "AVERAGEIF": (2, 3, lambda given: average(_one(given))),
    "AVERAGEIFS": (3, ANY, lambda given: average(_several(given))),
    "COUNTIF": (2, 2, _count_ifs),
    "COUNTIFS": (2, ANY, _count_ifs),
    "MAXIFS": (3, ANY, lambda given: max(_several(given), default=0.0)),
    "MINIFS": (3, ANY, lambda given: min(_several(given), default=0.0)),
    "SUMIF": (2, 3, lambda given: math.fsum(_one(given))),
    "SUMIFS": (3, ANY, lambda given: math.fsum(_several(given))),
}
