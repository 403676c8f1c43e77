"""The functions that formulas may use, and how operands become numbers and text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NoReturn

from .formats import format_plain

Scalar = bool | float | str | None
Operand = Scalar | list[Scalar]
Arguments = list[Operand]


class FormulaError(Exception):
    """A value such as #DIV/0!."""


def fail(error: str) -> NoReturn:
    """Give up with an error such as #NUM!."""
    raise FormulaError(error)


def single_value(operand: Operand) -> Scalar:
    """Return an operand that is one value; a range must be one cell."""
    if isinstance(operand, list):
        return operand[0] if len(operand) == 1 else fail("#VALUE!")
    return operand


def number(operand: Operand) -> float:
    """Return an operand as a number; a blank is 0, text must look like one."""
    value = single_value(operand)
    if not isinstance(value, str):
        return float(value or 0.0)
    try:
        parsed = float(value)
    except ValueError:
        parsed = math.nan
    return parsed if math.isfinite(parsed) else fail("#VALUE!")


def text(operand: Operand) -> str:
    """Return an operand as text."""
    value = single_value(operand)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return format_plain(value) if isinstance(value, float) else value or ""


def _numbers(arguments: Arguments) -> list[float]:
    """Return every number: those in ranges as they are, other arguments made into one."""
    numbers: list[float] = []
    for argument in arguments:
        if isinstance(argument, list):
            numbers += [cell for cell in argument if type(cell) is float]
        else:
            numbers.append(number(argument))
    return numbers


_ANY = 255  # arguments


def _average(arguments: Arguments) -> Scalar:
    numbers = _numbers(arguments)
    return math.fsum(numbers) / len(numbers)


def _filled(arguments: Arguments) -> Scalar:
    cells = [cell for argument in arguments for cell in (argument if isinstance(argument, list) else [argument])]
    return float(sum(cell is not None for cell in cells))


FUNCTIONS: dict[str, tuple[int, int, Callable[[Arguments], Scalar]]] = {
    "ABS": (1, 1, lambda given: abs(number(given[0]))),
    "AVERAGE": (1, _ANY, _average),
    "COUNT": (1, _ANY, lambda given: float(len(_numbers(given)))),
    "COUNTA": (1, _ANY, _filled),
    "MAX": (1, _ANY, lambda given: max(_numbers(given), default=0.0)),
    "MIN": (1, _ANY, lambda given: min(_numbers(given), default=0.0)),
    "PI": (0, 0, lambda _: math.pi),
    "SQRT": (1, 1, lambda given: math.sqrt(number(given[0]))),
    "SUM": (1, _ANY, lambda given: math.fsum(_numbers(given))),
}
