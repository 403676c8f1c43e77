"""From the text of a formula to what works it out, by precedence; each text is read once."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from .functions import EAGER, LAZY
from .mathematics import divide, power
from .operands import FormulaError, Operand, compare, fail, number, single_value, text
from .references import Token, parse_reference, tokenize

if TYPE_CHECKING:
    from .evaluator import FormulaScope

Node = Callable[["FormulaScope"], Operand]
_DEPTH = 40  # of parentheses
Work = Callable[[Operand, Operand], Operand]


def _comparing(decide: Callable[[int], bool]) -> Work:
    return lambda left, right: decide(compare(single_value(left), single_value(right)))


_COMPARISONS: dict[str, Work] = {
    "=": _comparing(lambda order: order == 0),
    "<>": _comparing(lambda order: order != 0),
    "<": _comparing(lambda order: order < 0),
    ">": _comparing(lambda order: order > 0),
    "<=": _comparing(lambda order: order <= 0),
    ">=": _comparing(lambda order: order >= 0),
}
_SUMS: dict[str, Work] = {
    "+": lambda left, right: number(left) + number(right),
    "-": lambda left, right: number(left) - number(right),
}
_PRODUCTS: dict[str, Work] = {
    "*": lambda left, right: number(left) * number(right),
    "/": lambda left, right: divide(number(left), number(right)),
}


@lru_cache(maxsize=16_384)
def parse(formula: str) -> Node:
    """Return a node that works a formula out in a scope; text that is no formula works out to #ERROR!."""
    tokens = tokenize(formula)
    try:
        if tokens is None:
            raise _parse_error()
        return _Reader(tokens).all()
    except FormulaError as error:
        return _failing(error)


def _parse_error() -> FormulaError:
    return FormulaError("#ERROR!", "Formula parse error.")


def _failing(error: FormulaError) -> Node:
    shown, reason = str(error), error.reason
    return lambda _: fail(shown, reason)


class _Reader:
    """Reads a formula from left to right."""

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self.tokens = list(reversed(tokens))
        self.nested = 0

    def all(self) -> Node:
        node = self.comparison()
        if self.tokens:
            raise _parse_error()
        return node

    def sees(self, *marks: str) -> bool:
        return bool(self.tokens) and self.tokens[-1].kind == "mark" and self.tokens[-1].text in marks

    def take(self, *marks: str) -> str | None:
        return self.tokens.pop().text if self.sees(*marks) else None

    def comparison(self) -> Node:
        return self.chain(self.joined, _COMPARISONS)

    def joined(self) -> Node:
        return self.chain(self.sum, {"&": lambda left, right: text(left) + text(right)})

    def sum(self) -> Node:
        return self.chain(self.product, _SUMS)

    def product(self) -> Node:
        return self.chain(self.power, _PRODUCTS)

    def power(self) -> Node:
        return self.chain(self.signed, {"^": lambda left, right: power(number(left), number(right))})

    def chain(self, read: Callable[[], Node], works: dict[str, Work]) -> Node:
        """Operands of one precedence, from left to right; however many they are, they nest no deeper."""
        first = read()
        rest: list[tuple[Work, Node]] = []
        while mark := self.take(*works):
            rest.append((works[mark], read()))
        if not rest:
            return first

        def worked(scope: FormulaScope) -> Operand:
            result = first(scope)
            for work, node in rest:
                result = work(result, node(scope))
            return result

        return worked

    def signed(self) -> Node:
        sign, signs = 1.0, 0
        while mark := self.take("-", "+"):
            sign *= -1.0 if mark == "-" else 1.0
            signs += 1
        node = self.atom()
        while self.take("%"):
            node = _scaled(node, 0.01)
        return _scaled(node, sign) if signs else node

    def atom(self) -> Node:
        if self.take("("):
            return self.nest(self.closed)
        if not self.tokens or self.tokens[-1].kind == "mark":
            raise _parse_error()
        kind, token, *_ = self.tokens.pop()
        if kind == "number":
            constant: float | str | bool = float(token)
            return lambda _: constant
        if kind == "text":
            quoted = token[1:-1].replace('""', '"')
            return lambda _: quoted
        if kind == "error":
            return _failing(FormulaError(token))
        if kind == "call":
            return self.nest(lambda: self.call(token.upper()))
        if token.upper() in ("TRUE", "FALSE"):
            known = token.upper() == "TRUE"
            return lambda _: known
        reference = parse_reference(token)
        if reference is not None:
            return lambda scope: scope.cells(reference)
        return lambda scope: scope.named(token)

    def nest(self, read: Callable[[], Node]) -> Node:
        self.nested += 1
        if self.nested > _DEPTH:
            raise _parse_error()
        node = read()
        self.nested -= 1
        return node

    def closed(self) -> Node:
        node = self.comparison()
        if not self.take(")"):
            raise _parse_error()
        return node

    def argument(self) -> Node:
        return (lambda _: None) if self.sees(",", ";", ")") else self.comparison()

    def call(self, function: str) -> Node:
        arguments: list[Node] = []
        if not self.take(")"):
            arguments.append(self.argument())
            while self.take(",", ";"):
                arguments.append(self.argument())
            if not self.take(")"):
                raise _parse_error()
        least, most = (LAZY.get(function) or EAGER.get(function) or (0, len(arguments)))[:2]
        if not least <= len(arguments) <= most:
            count = f"{least}" if least == most else f"between {least} and {most}"
            reason = f"Wrong number of arguments to {function}. Expected {count} arguments, but got {len(arguments)}."
            return _failing(FormulaError("#N/A", reason))
        if function in LAZY:
            lazy = LAZY[function][2]
            return lambda scope: lazy(scope, [_later(node, scope) for node in arguments])
        if function in EAGER:
            work = EAGER[function][2]
            return lambda scope: work([node(scope) for node in arguments])
        return _failing(FormulaError("#NAME?", f"Unknown function: '{function}'."))


def _later(node: Node, scope: FormulaScope) -> Callable[[], Operand]:
    return lambda: node(scope)


def _scaled(node: Node, by: float) -> Node:
    if by == 0.01:
        return lambda scope: number(node(scope)) / 100
    return lambda scope: by * number(node(scope))
