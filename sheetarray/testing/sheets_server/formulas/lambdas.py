"""LAMBDA, LET, and the functions that call a LAMBDA for each value: MAP, BYROW, MAKEARRAY and their kin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .arrays import ArrayBlock, catch_errors, check_size, padded_columns, rows_of, size_of
from .operands import Arguments, Operand, Value, fail, whole

if TYPE_CHECKING:
    from .evaluator import FormulaScope


@dataclass(frozen=True)
class LambdaOperand:
    """A function that a formula has made with LAMBDA.

    Attributes:
        names: the names of its parameters, in capitals.
        body: the node that works out its result.
        scope: in which it was made, and whose names it may use.
    """

    names: tuple[str, ...]
    body: Callable[[FormulaScope], Operand]
    scope: FormulaScope

    def __call__(self, *arguments: Operand) -> Operand:
        """Return the result for some arguments."""
        if len(arguments) != len(self.names):
            wanted = f"Expected {len(self.names)} arguments, but got {len(arguments)}."
            fail("#N/A", f"Wrong number of arguments to LAMBDA. {wanted}")
        held: dict[str, Any] = {**self.scope.names, **dict(zip(self.names, arguments, strict=True))}
        return self.body(replace(self.scope, names=held))


def _function(arguments: Arguments, function: str) -> LambdaOperand:
    made: object = arguments[-1]
    if not isinstance(made, LambdaOperand):
        fail("#VALUE!", f"The last argument of {function} must be a LAMBDA.")
    return made


def _map(arguments: Arguments) -> Operand:
    call = _function(arguments, "MAP")
    blocks = [padded_columns(operand) for operand in arguments[:-1]]
    if len({size_of(operand) for operand in arguments[:-1]}) > 1:
        fail("#VALUE!", "Array arguments to MAP are of different size.")
    lines = [
        [catch_errors(partial(call, *values)) for values in zip(*columns, strict=True)]
        for columns in zip(*blocks, strict=True)
    ]
    return ArrayBlock(lines, len(lines[0]))


def _by_row(arguments: Arguments) -> Operand:
    call = _function(arguments, "BYROW")
    rows = [ArrayBlock.of_rows([row]) for row in rows_of(arguments[0])]
    return ArrayBlock([[catch_errors(partial(call, row)) for row in rows]], len(rows))


def _by_column(arguments: Arguments) -> Operand:
    call = _function(arguments, "BYCOL")
    columns = [ArrayBlock([column], len(column)) for column in padded_columns(arguments[0])]
    return ArrayBlock([[catch_errors(partial(call, column))] for column in columns], 1)


def _make_array(arguments: Arguments) -> Operand:
    call, height, width = _function(arguments, "MAKEARRAY"), whole(arguments[0]), whole(arguments[1])
    if height < 1 or width < 1:
        fail("#NUM!", "Function MAKEARRAY parameters 1 and 2 must be at least 1.")
    check_size(height, width)
    lines: list[list[Value]] = [
        [catch_errors(partial(call, float(row), float(column))) for row in range(1, height + 1)]
        for column in range(1, width + 1)
    ]
    return ArrayBlock(lines, height)


def _reduce(arguments: Arguments) -> Operand:
    call, result = _function(arguments, "REDUCE"), arguments[0]
    for row in rows_of(arguments[1]):
        for value in row:
            result = call(result, value)  # type: ignore[arg-type]
    return result


def _same(operand: Operand) -> Operand:
    return operand


def _scan(arguments: Arguments) -> Operand:
    call, result = _function(arguments, "SCAN"), arguments[0]
    rows: list[list[Value]] = []
    for row in rows_of(arguments[1]):
        rows.append([])
        for value in row:
            result = call(result, value)  # type: ignore[arg-type]
            rows[-1].append(catch_errors(partial(_same, result)))
    return ArrayBlock.of_rows(rows)


CALLING: dict[str, tuple[int, int, Callable[[Arguments], Operand]]] = {
    "BYCOL": (2, 2, _by_column),
    "BYROW": (2, 2, _by_row),
    "MAKEARRAY": (3, 3, _make_array),
    "MAP": (2, 255, _map),
    "REDUCE": (3, 3, _reduce),
    "SCAN": (3, 3, _scan),
}
LAMBDAS = CALLING.keys() | {"LAMBDA", "LET"}
