"""Functions that look values up: INDEX, MATCH, VLOOKUP and their kin."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace

from ....columns.grid import column_letters
from ..ranges import COLUMNS_LIMIT, quote_title
from .matching import has_wildcards, wildcard_pattern
from .mathematics import Function
from .operands import (
    Arguments,
    BlockOperand,
    FormulaError,
    Operand,
    Scalar,
    Value,
    as_block,
    fail,
    number,
    rank,
    single_value,
    text,
    truth,
    whole,
)


def line_of(block: BlockOperand) -> list[Value]:
    """Return the values of a single column or row; those of a column without blanks at the end."""
    columns = block.columns()
    if block.width == 1:
        return columns[0]
    return [column[0] if column else None for column in columns]


def positions_of(line: list[Value]) -> dict[object, int]:
    """Return the index of the first cell with each value of a line, by `rank`."""
    positions: dict[object, int] = {}
    for index, value in enumerate(line):
        if value is not None and not isinstance(value, FormulaError):
            positions.setdefault(rank(value), index)
    return positions


def _position(key: Scalar, block: BlockOperand, kind: int, function: str) -> int:
    """Return the index at which a line has a key, or fail with #N/A.

    Args:
        key: to be found.
        block: a single column or row.
        kind: 0 for the key itself; 1 for the last value that is not greater, in a line that ascends; -1 for the last
            value that is not less, in a line that descends.
        function: for the message.
    """
    if kind == 0:
        index = _exact(key, block)
    else:
        line = [value for value in line_of(block) if not isinstance(value, FormulaError)]
        same_kind = [(rank(value), at) for at, value in enumerate(line) if value is not None]
        same_kind = [entry for entry in same_kind if entry[0][0] == rank(key)[0]]
        ranks = [entry[0] for entry in same_kind]
        before = bisect_right(ranks, rank(key)) if kind > 0 else len(ranks) - bisect_left(ranks[::-1], rank(key))
        place = before - 1
        index = same_kind[place][1] if 0 <= place < len(same_kind) else None
    if index is None:
        shown = text(key)
        fail("#N/A", f"Did not find value '{shown}' in {function} evaluation.")
    return index


def _exact(key: Scalar, block: BlockOperand) -> int | None:
    from .blocks import CellBlock

    if isinstance(key, str) and has_wildcards(key):
        pattern = wildcard_pattern(key)
        line = line_of(block)
        return next((at for at, value in enumerate(line) if isinstance(value, str) and pattern.fullmatch(value)), None)
    positions = block.positions() if isinstance(block, CellBlock) else positions_of(line_of(block))
    return positions.get(rank(key))


def _match(arguments: Arguments) -> Operand:
    block = as_block(arguments[1], "MATCH")
    if block.width > 1 and block.height > 1:
        fail("#N/A", "MATCH range must be a single row or a single column.")
    kind = number(arguments[2]) if len(arguments) > 2 else 1.0
    return float(_position(single_value(arguments[0]), block, (kind > 0) - (kind < 0), "MATCH") + 1)


def _index(arguments: Arguments) -> Operand:
    from .blocks import CellBlock

    block = as_block(arguments[0], "INDEX")
    row = whole(arguments[1]) if len(arguments) > 1 else 0
    column = whole(arguments[2]) if len(arguments) > 2 else 0
    if len(arguments) == 2 and block.height == 1 and block.width > 1:
        row, column = 0, row
    for place, (value, size) in enumerate(((row, block.height), (column, block.width)), 2):
        if not 0 <= value <= size:
            fail(
                "#NUM!",
                f"Function INDEX parameter {place} value is {value}. Valid values are between 0 and {size} inclusive.",
            )
    rows = (row - 1, row) if row else (0, block.height)
    columns = (column - 1, column) if column else (0, block.width)
    part = block.part(*rows, *columns)
    return replace(part, spreads=part.width * part.height > 1) if isinstance(part, CellBlock) else part


def _looking_up(function: str, *, down: bool) -> Function:
    def work(arguments: Arguments) -> Operand:
        block = as_block(arguments[1], function)
        index = whole(arguments[2])
        ordered = truth(arguments[3]) if len(arguments) > 3 else True
        first = block.part(0, block.height, 0, 1) if down else block.part(0, 1, 0, block.width)
        if index < 1:
            fail("#VALUE!", f"Function {function} parameter 3 value is {index}. It should be at least 1.")
        if index > (block.width if down else block.height):
            fail("#REF!", f"{function} evaluates to an out of bounds range.")
        place = _position(single_value(arguments[0]), first, int(ordered), function)
        return block.value(place, index - 1) if down else block.value(index - 1, place)

    return 3, 4, work


def _lookup_with_default(arguments: Arguments) -> Operand:
    searched, results = as_block(arguments[1], "XLOOKUP"), as_block(arguments[2], "XLOOKUP")
    key = single_value(arguments[0])
    place = _exact(key, searched)
    if place is None:
        if len(arguments) > 3 and arguments[3] is not None:
            return arguments[3]
        fail("#N/A", f"Did not find value '{text(key)}' in XLOOKUP evaluation.")
    return results.value(place, 0) if results.width == 1 else results.value(0, place)


def _find(arguments: Arguments) -> Operand:
    block = as_block(arguments[1], "XMATCH")
    if len(arguments) > 2 and whole(arguments[2]) != 0:
        fail("#VALUE!", "The emulator knows exact matches of XMATCH only.")
    return float(_position(single_value(arguments[0]), block, 0, "XMATCH") + 1)


def _look_up(arguments: Arguments) -> Operand:
    """Return the value in the last line of an array, or in another range, where the first line has a value."""
    block = as_block(arguments[1], "LOOKUP")
    down = block.height >= block.width
    first = block.part(0, block.height, 0, 1) if down else block.part(0, 1, 0, block.width)
    place = _position(single_value(arguments[0]), first, 1, "LOOKUP")
    if len(arguments) == 2:
        return block.value(place, block.width - 1) if down else block.value(block.height - 1, place)
    results = as_block(arguments[2], "LOOKUP")
    return results.value(place, 0) if results.width == 1 else results.value(0, place)


def _address(arguments: Arguments) -> Operand:
    row, column = whole(arguments[0]), whole(arguments[1])
    kind = whole(arguments[2]) if len(arguments) > 2 and arguments[2] is not None else 1
    if row < 1 or not 1 <= column <= COLUMNS_LIMIT or not 1 <= kind <= 4:
        fail("#VALUE!", "Function ADDRESS has a parameter out of range.")
    by_letters = len(arguments) < 4 or arguments[3] is None or truth(arguments[3])
    fixed_row, fixed_column = kind in (1, 2), kind in (1, 3)
    if by_letters:
        cell = f"{'$' * fixed_column}{column_letters(column - 1)}{'$' * fixed_row}{row}"
    else:
        cell = f"R{row if fixed_row else f'[{row}]'}C{column if fixed_column else f'[{column}]'}"
    return f"{quote_title(text(arguments[4]))}!{cell}" if len(arguments) > 4 else cell


LOOKUPS: dict[str, Function] = {
    "ADDRESS": (2, 5, _address),
    "COLUMNS": (1, 1, lambda given: float(as_block(given[0], "COLUMNS").width)),
    "HLOOKUP": _looking_up("HLOOKUP", down=False),
    "INDEX": (1, 3, _index),
    "LOOKUP": (2, 3, _look_up),
    "XMATCH": (2, 3, _find),
    "MATCH": (2, 3, _match),
    "ROWS": (1, 1, lambda given: float(as_block(given[0], "ROWS").height)),
    "VLOOKUP": _looking_up("VLOOKUP", down=True),
    "XLOOKUP": (3, 4, _lookup_with_default),
}
