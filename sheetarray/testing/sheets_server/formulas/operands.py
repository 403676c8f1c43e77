"""Operands of formulas: single values, ranges and arrays, errors; their conversion to numbers and text, their order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NoReturn, Protocol

from .. import entered
from ..formats import format_plain

Scalar = bool | float | str | None


class FormulaError(Exception):
    """An error such as #DIV/0!: raised while a formula is worked out, and a value of cells afterwards.

    Attributes:
        reason: the explanation that people read at the cell.
    """

    def __init__(self, shown: str, reason: str = "") -> None:
        super().__init__(shown)
        self.reason = reason

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FormulaError) and (str(self), self.reason) == (str(other), other.reason)

    def __hash__(self) -> int:
        return hash((str(self), self.reason))


Value = Scalar | FormulaError


class BlockOperand(Protocol):
    """A range or an array; the cells of a range are read only when they are needed.

    Attributes:
        height: the number of its rows.
        width: the number of its columns.
    """

    @property
    def height(self) -> int:
        """Its rows."""

    @property
    def width(self) -> int:
        """Its columns."""

    def value(self, row: int, column: int) -> Scalar:
        """Return the value of a row and a column, counted from its first cell; an error is raised."""

    def columns(self) -> list[list[Value]]:
        """Return the values by column, without trailing blanks; errors are among them, and not raised."""

    def part(self, top: int, bottom: int, left: int, right: int) -> BlockOperand:
        """Return a part of it; rows and columns are counted from its first cell."""

    def single(self) -> Scalar:
        """Return the one value that a function of single values takes it for."""


Operand = Scalar | BlockOperand
Arguments = list[Operand]


def fail(error: str, reason: str = "") -> NoReturn:
    """Raise an error such as #NUM!, with its explanation."""
    raise FormulaError(error, reason)


def is_block(operand: Operand) -> bool:
    """Return whether an operand is a range or an array."""
    return operand is not None and not isinstance(operand, (bool, float, str))


def as_block(operand: Operand, function: str) -> BlockOperand:
    """Return an operand that must be a range or an array, for a function that messages name."""
    if operand is None or isinstance(operand, (bool, float, str)):
        fail("#N/A", f"Argument must be a range: {function}.")
    return operand


def single_value(operand: Operand) -> Scalar:
    """Return an operand as one value."""
    return operand if operand is None or isinstance(operand, (bool, float, str)) else operand.single()


def number(operand: Operand) -> float:
    """Return an operand as a number; a blank is 0, a text is read as if it was typed."""
    value = single_value(operand)
    if not isinstance(value, str):
        return float(value or 0.0)
    cell = entered.cell_from_entry(value)[0]
    if type(cell) is float:
        return cell
    fail("#VALUE!", f"'{value}' is a text and cannot be coerced to a number.")


def text(operand: Operand) -> str:
    """Return an operand as text."""
    value = single_value(operand)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return format_plain(value) if isinstance(value, float) else value or ""


def truth(operand: Operand) -> bool:
    """Return an operand as a boolean; any number but 0 is true."""
    value = single_value(operand)
    if isinstance(value, str):
        if value.upper() in ("TRUE", "FALSE", ""):
            return value.upper() == "TRUE"
        fail("#VALUE!", f"'{value}' is a text and cannot be coerced to a boolean.")
    return bool(value)


def whole(operand: Operand) -> int:
    """Return an operand as an integer, its fraction cut off."""
    value = number(operand)
    return int(value) if math.isfinite(value) else fail("#NUM!")


def rank(value: Scalar) -> tuple[int, bool | float | str]:
    """Return the key by which values are ordered: numbers, then text whatever its case, then booleans."""
    if isinstance(value, bool):
        return 2, value
    return (1, value.casefold()) if isinstance(value, str) else (0, value or 0.0)


def compare(left: Scalar, right: Scalar) -> int:
    """Return -1, 0 or 1 for left < right, =, >; a blank is taken as "", FALSE or 0, as suits the other."""
    if left is None or right is None:
        other = right if left is None else left
        blank: Scalar = "" if isinstance(other, str) else False if isinstance(other, bool) else 0.0
        left, right = blank if left is None else left, blank if right is None else right
    a, b = rank(left), rank(right)
    return (a > b) - (a < b)


# The comparisons of formulas and criteria, by what `compare` returns; the longer signs come first
COMPARISONS: dict[str, Callable[[int], bool]] = {
    "<>": lambda order: order != 0,
    "<=": lambda order: order <= 0,
    ">=": lambda order: order >= 0,
    "=": lambda order: order == 0,
    "<": lambda order: order < 0,
    ">": lambda order: order > 0,
}


def values(arguments: Arguments) -> Iterator[Value]:
    """Yield single arguments, and the values of ranges and arrays that are not blank; errors are not raised."""
    for argument in arguments:
        if argument is None or isinstance(argument, (bool, float, str)):
            yield argument
        else:
            for column in argument.columns():
                yield from (cell for cell in column if cell is not None)


def numbers(arguments: Arguments) -> list[float]:
    """Return the numbers in ranges and arrays, and single arguments converted to numbers; errors are raised."""
    numeric: list[float] = []
    for argument in arguments:
        if argument is None or isinstance(argument, (bool, float, str)):
            numeric.append(number(argument))
            continue
        for column in argument.columns():
            for cell in column:
                if type(cell) is float:
                    numeric.append(cell)
                elif isinstance(cell, FormulaError):
                    raise cell
    return numeric
