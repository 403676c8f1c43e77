"""Nodes of formulas: functions that work a part of a formula out in a scope, such as an operator or a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .arrays import any_block, broadcast
from .lambdas import LambdaOperand
from .operands import Operand, fail, is_block, number

if TYPE_CHECKING:
    from .evaluator import FormulaScope

Node = Callable[["FormulaScope"], Operand]
Work = Callable[[Operand, Operand], Operand]


def apply_apart(
    work: Callable[[list[Operand]], Operand], given: list[Operand], apart: list[int], scope: FormulaScope
) -> Operand:
    """Return the result of a function for some arguments.

    In an array formula, it is applied to each value of the arguments at the indices `apart`, which it takes as single
    values.
    """
    if not scope.array or not any_block([given[place] for place in apart]):
        return work(given)

    def once(values: list[Operand]) -> Operand:
        arguments = given.copy()
        for place, value in zip(apart, values, strict=True):
            arguments[place] = value
        return work(arguments)

    return broadcast(once, [given[place] for place in apart])


def chain_nodes(first: Node, rest: list[tuple[Work, Node]]) -> Node:
    """Return a node for operators of one precedence, applied from left to right in a loop, not in nested nodes."""

    def work_out(scope: FormulaScope) -> Operand:
        result = first(scope)
        for work, node in rest:
            right = node(scope)
            if scope.array and (is_block(result) or is_block(right)):
                result = broadcast(_on_two(work), [result, right])
            else:
                result = work(result, right)
        return result

    return work_out


def _on_two(work: Work) -> Callable[[list[Operand]], Operand]:
    return lambda values: work(values[0], values[1])


def name_node(name: str) -> Node:
    """Return a node for a name of LET, or of a parameter of LAMBDA."""
    return lambda scope: scope.names[name]


def call_node(node: Node, arguments: list[Node]) -> Node:
    """Return a node that calls a LAMBDA."""

    def work_out(scope: FormulaScope) -> Operand:
        made: object = node(scope)
        if not isinstance(made, LambdaOperand):
            fail("#NAME?", "Only a LAMBDA can be called.")
        return made(*(argument(scope) for argument in arguments))

    return work_out


def postpone(node: Node, scope: FormulaScope) -> Callable[[], Operand]:
    """Return a function that works an operand out when it is called."""
    return lambda: node(scope)


def scale_node(node: Node, by: float) -> Node:
    """Return a node that multiplies a number by a constant; 0.01 stands for a percent sign."""

    def multiply(operand: Operand) -> float:
        return number(operand) / 100 if by == 0.01 else by * number(operand)

    def work_out(scope: FormulaScope) -> Operand:
        operand = node(scope)
        if scope.array and is_block(operand):
            return broadcast(lambda values: multiply(values[0]), [operand])
        return multiply(operand)

    return work_out
