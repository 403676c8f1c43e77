"""Functions that count and add up what meets criteria: SUMIF, COUNTIFS and their kin."""

from __future__ import annotations

import math

from .matching import make_criterion
from .mathematics import ANY, Function, average
from .operands import Arguments, BlockOperand, FormulaError, Operand, Scalar, as_block, fail, single_value


def _cells(block: BlockOperand, height: int, width: int) -> list[Scalar | FormulaError]:
    """Return the first values of a range, column by column, blanks as None: `height` rows and `width` columns of it."""
    cells: list[Scalar | FormulaError] = []
    for column in block.columns()[:width]:
        cells += column[:height]
        cells += [None] * (height - len(column[:height]))
    return cells


def _sizes(blocks: list[BlockOperand]) -> tuple[int, int]:
    """Return the number of rows down to the last value of any range, and the number of columns, which all share."""
    if len({(block.height, block.width) for block in blocks}) > 1:
        fail("#VALUE!", "Array arguments are of different size.")
    height = max((len(column) for block in blocks for column in block.columns()), default=0)
    return height, blocks[0].width


def _meeting(pairs: list[Operand]) -> tuple[list[bool], int, int]:
    """Return a mask of the cells that meet all criteria, column by column, and its height and width.

    `pairs` are ranges and criteria in turn.
    """
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
    """Return the numbers in a range at the cells of a mask (`_meeting`); the range is taken to have its size."""
    meets, height, width = meeting
    numeric = []
    for met, cell in zip(meets, _cells(_grown(block, height, width), height, width), strict=False):
        if met and isinstance(cell, FormulaError):
            raise cell
        if met and type(cell) is float:
            numeric.append(cell)
    return numeric


def _grown(block: BlockOperand, height: int, width: int) -> BlockOperand:
    """Return the range of a size that begins at the first cell of another range; cut where the grid ends."""
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
    """Return the numbers that SUMIF and AVERAGEIF take, from a range, a criterion and perhaps a range of numbers."""
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
