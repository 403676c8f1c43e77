"""Functions of numbers: sums and counts, rounding, powers and logarithms."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal

from .operands import Arguments, FormulaError, Operand, Scalar, as_block, fail, is_block, number, numbers, values, whole

ANY = 255  # the most arguments that a function may have

# The least and the most arguments of a function, and its work
Function = tuple[int, int, Callable[[Arguments], Operand]]


def number_at(arguments: Arguments, index: int, default: float = 0.0) -> float:
    """Return the argument of an index as a number; a default if it is blank or missing."""
    return number(arguments[index]) if len(arguments) > index and arguments[index] is not None else float(default)


def average(numeric: list[float]) -> float:
    """Return the mean of numbers, or fail with #DIV/0! without any."""
    if not numeric:
        fail("#DIV/0!", "Evaluation of function AVERAGE caused a divide by zero error.")
    return math.fsum(numeric) / len(numeric)


def _variance(numeric: list[float]) -> float:
    if len(numeric) < 2:
        fail("#DIV/0!", "Evaluation of function VAR caused a divide by zero error.")
    mean = average(numeric)
    return math.fsum((value - mean) ** 2 for value in numeric) / (len(numeric) - 1)


def _median(arguments: Arguments) -> Scalar:
    ordered = sorted(numbers(arguments))
    if not ordered:
        fail("#NUM!", "MEDIAN has no valid input data.")
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _count(arguments: Arguments) -> Scalar:
    count = 0
    for argument in arguments:
        if is_block(argument):
            count += sum(type(value) is float for value in values([argument]))
        else:
            try:
                number(argument)
            except FormulaError:
                continue
            count += 1
    return float(count)


def _count_blank(arguments: Arguments) -> Scalar:
    block = as_block(arguments[0], "COUNTBLANK")
    return float(block.height * block.width - sum(value != "" for value in values([block])))


def _sum_product(arguments: Arguments) -> Scalar:
    blocks = [as_block(argument, "SUMPRODUCT") for argument in arguments]
    if len({(block.height, block.width) for block in blocks}) > 1:
        fail("#VALUE!", "Array arguments to SUMPRODUCT are of different size.")
    total = []
    for columns in zip(*(block.columns() for block in blocks), strict=True):
        for line in zip(*columns, strict=False):
            factors = [value if type(value) is float else 0.0 for value in line]
            total.append(math.prod(factors))
    return math.fsum(total)


def _mod(arguments: Arguments) -> Scalar:
    value, by = number(arguments[0]), number(arguments[1])
    if not by:
        fail("#DIV/0!", "Function MOD parameter 2 cannot be zero.")
    return value - by * math.floor(value / by)


def _quotient(arguments: Arguments) -> Scalar:
    value, by = number(arguments[0]), number(arguments[1])
    if not by:
        fail("#DIV/0!", "Function QUOTIENT parameter 2 cannot be zero.")
    return float(math.trunc(value / by))


def _rounding(mode: str) -> Callable[[Arguments], Scalar]:
    def work(arguments: Arguments) -> Scalar:
        value = number(arguments[0])
        digits = whole(arguments[1]) if len(arguments) > 1 else 0
        if not math.isfinite(value) or not -400 < digits < 400:
            return value
        decimal = Decimal(repr(value))
        if decimal.adjusted() + digits > 25 or digits > 340:
            return value  # finer than any digit that it has
        return float(decimal.quantize(Decimal(1).scaleb(-digits), rounding=mode))

    return work


def _multiple(round_it: Callable[[float], int]) -> Callable[[Arguments], Scalar]:
    def work(arguments: Arguments) -> Scalar:
        value, step = number(arguments[0]), number(arguments[1]) if len(arguments) > 1 else 1.0
        return float(round_it(value / step)) * step if step else 0.0

    return work


def _logarithm(arguments: Arguments) -> Scalar:
    value, base = number(arguments[0]), number(arguments[1]) if len(arguments) > 1 else 10.0
    if value <= 0 or base <= 0 or base == 1:
        fail("#NUM!", "Function LOG parameters must be positive, and its base not 1.")
    return math.log10(value) if base == 10 else math.log(value) / math.log(base)


def divide(left: float, right: float) -> float:
    """Return a quotient."""
    return left / right if right else fail("#DIV/0!", "Function DIVIDE parameter 2 cannot be zero.")


def power(left: float, right: float) -> float:
    """Return a power; one that is no real number is an error."""
    if not left and right < 0:
        fail("#DIV/0!", "Function POWER parameter 1 cannot be zero where parameter 2 is negative.")
    raised = left**right
    return raised if isinstance(raised, float) else fail("#NUM!")


def _product(arguments: Arguments) -> Scalar:
    return math.prod(numbers(arguments))


def _extreme(select: Callable[[list[float]], float]) -> Callable[[Arguments], Scalar]:
    return lambda given: select(numbers(given) or [0.0])


MATHEMATICS: dict[str, Function] = {
    "ABS": (1, 1, lambda given: abs(number(given[0]))),
    "ADD": (2, 2, lambda given: number(given[0]) + number(given[1])),
    "AVERAGE": (1, ANY, lambda given: average(numbers(given))),
    "CEILING": (1, 2, _multiple(math.ceil)),
    "COUNT": (1, ANY, _count),
    "COUNTA": (1, ANY, lambda given: float(sum(1 for _ in values(given)))),
    "COUNTBLANK": (1, 1, _count_blank),
    "DIVIDE": (2, 2, lambda given: divide(number(given[0]), number(given[1]))),
    "EXP": (1, 1, lambda given: math.exp(number(given[0]))),
    "FLOOR": (1, 2, _multiple(math.floor)),
    "INT": (1, 1, lambda given: float(math.floor(number(given[0])))),
    "LN": (1, 1, lambda given: math.log(number(given[0]))),
    "LOG": (1, 2, _logarithm),
    "LOG10": (1, 1, _logarithm),
    "MAX": (1, ANY, _extreme(max)),
    "MEDIAN": (1, ANY, _median),
    "MIN": (1, ANY, _extreme(min)),
    "MINUS": (2, 2, lambda given: number(given[0]) - number(given[1])),
    "MOD": (2, 2, _mod),
    "MULTIPLY": (2, 2, lambda given: number(given[0]) * number(given[1])),
    "PI": (0, 0, lambda _: math.pi),
    "POW": (2, 2, lambda given: power(number(given[0]), number(given[1]))),
    "POWER": (2, 2, lambda given: power(number(given[0]), number(given[1]))),
    "PRODUCT": (1, ANY, _product),
    "QUOTIENT": (2, 2, _quotient),
    "ROUND": (1, 2, _rounding(ROUND_HALF_UP)),
    "ROUNDDOWN": (1, 2, _rounding(ROUND_DOWN)),
    "ROUNDUP": (1, 2, _rounding(ROUND_UP)),
    "SIGN": (1, 1, lambda given: float((number(given[0]) > 0) - (number(given[0]) < 0))),
    "STDEV.S": (1, ANY, lambda given: math.sqrt(_variance(numbers(given)))),
    "UMINUS": (1, 1, lambda given: -number(given[0])),
    "UNARY_PERCENT": (1, 1, lambda given: number(given[0]) / 100),
    "UPLUS": (1, 1, lambda given: number(given[0])),
    "VAR.S": (1, ANY, lambda given: _variance(numbers(given))),
    "SQRT": (1, 1, lambda given: math.sqrt(number(given[0]))),
    "STDEV": (1, ANY, lambda given: math.sqrt(_variance(numbers(given)))),
    "SUM": (1, ANY, lambda given: math.fsum(numbers(given))),
    "SUMPRODUCT": (1, ANY, _sum_product),
    "TRUNC": (1, 2, _rounding(ROUND_DOWN)),
    "VAR": (1, ANY, lambda given: _variance(numbers(given))),
}
