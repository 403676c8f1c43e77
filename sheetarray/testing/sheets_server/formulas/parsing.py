"""A parser of formulas: it turns the text of a formula into a node, a function that works the formula out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from .arrays import join_rows
from .functions import ARRAYS, EAGER, LAZY, takes_whole
from .lambdas import LambdaOperand
from .mathematics import divide, power
from .nodes import Node, Work, apply_apart, call_node, chain_nodes, name_node, postpone, scale_node
from .operands import COMPARISONS, FormulaError, Operand, compare, fail, number, single_value, text
from .references import Token, parse_reference, tokenize

if TYPE_CHECKING:
    from .evaluator import FormulaScope

_DEPTH = 40  # parentheses within each other that a formula may have
_PARTS = re.compile(
    r"""(
        "(?:[^"]|"")*" | '(?:[^']|'')*'
      | (?<![\w$.!:'])\$?[A-Za-z]{1,3}\$?[1-9][0-9]{0,8} (?::\$?[A-Za-z]{1,3}\$?[1-9][0-9]{0,8})? (?![\w$.!:'(])
    )""",
    re.VERBOSE,
)


def _comparing(decide: Callable[[int], bool]) -> Work:
    return lambda left, right: decide(compare(single_value(left), single_value(right)))


_COMPARISONS: dict[str, Work] = {sign: _comparing(decide) for sign, decide in COMPARISONS.items()}
_SUMS: dict[str, Work] = {
    "+": lambda left, right: number(left) + number(right),
    "-": lambda left, right: number(left) - number(right),
}
_PRODUCTS: dict[str, Work] = {
    "*": lambda left, right: number(left) * number(right),
    "/": lambda left, right: divide(number(left), number(right)),
}


def parse(formula: str) -> tuple[Node, list[str]]:
    """Return a node that works a formula out in a scope, and the references to cells that the scope is to have.

    Formulas that differ in their references only, as those of a column do, are parsed once and have one node, which
    asks the scope for the references by index. Text that is no formula has a node that fails with #ERROR!.
    """
    parts = _PARTS.split(formula)
    references = []
    for index in range(1, len(parts), 2):
        if parts[index][0] not in "\"'":
            references.append(parts[index])
            parts[index] = ""
    node = _read_pattern(tuple(parts)) if references else None
    return (_read(formula, ()), []) if node is None else (node, references)


@lru_cache(maxsize=4_096)
def _read_pattern(parts: tuple[str, ...]) -> Node | None:
    """Return the node of all formulas that have the same text between references.

    None if a text that looks like a reference means something else there, such as a part of a name.
    """
    formula, places = "", []
    for index, part in enumerate(parts):
        if index % 2 and not part:
            places.append(len(formula))
        formula += "A1" if index % 2 and not part else part
    names = {token.start for token in tokenize(formula) or () if token.kind == "name" and token.text == "A1"}
    bound = any(token.text.upper() in ("LAMBDA", "LET") for token in tokenize(formula) or ())
    return None if bound or not names.issuperset(places) else _read(formula, tuple(places))


@lru_cache(maxsize=16_384)
def _read(formula: str, places: tuple[int, ...]) -> Node:
    """Return the node of a formula; the references that begin at some characters (`places`) are left to the scope."""
    tokens = tokenize(formula)
    try:
        if tokens is None:
            raise _parse_error()
        return _Reader(tokens, places).all()
    except FormulaError as error:
        return _failing(error)


def _parse_error() -> FormulaError:
    return FormulaError("#ERROR!", "Formula parse error.")


def _failing(error: FormulaError) -> Node:
    shown, reason = str(error), error.reason
    return lambda _: fail(shown, reason)


class _Reader:
    """Reads the tokens of a formula from left to right, with a method for each precedence."""

    def __init__(self, tokens: tuple[Token, ...], places: tuple[int, ...]) -> None:
        self.places = {place: index for index, place in enumerate(places)}
        self.tokens = list(reversed(tokens))
        self.nested = 0
        self.names: list[str] = []  # of LAMBDA and LET, around what is being read

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
        return self.chain(self.parse_joined, _COMPARISONS)

    def parse_joined(self) -> Node:
        return self.chain(self.sum, {"&": lambda left, right: text(left) + text(right)})

    def sum(self) -> Node:
        return self.chain(self.product, _SUMS)

    def product(self) -> Node:
        return self.chain(self.power, _PRODUCTS)

    def power(self) -> Node:
        return self.chain(self.parse_signed, {"^": lambda left, right: power(number(left), number(right))})

    def chain(self, read: Callable[[], Node], works: dict[str, Work]) -> Node:
        """Read operands of one precedence."""
        first = read()
        rest: list[tuple[Work, Node]] = []
        while mark := self.take(*works):
            rest.append((works[mark], read()))
        return chain_nodes(first, rest) if rest else first

    def parse_signed(self) -> Node:
        sign, signs = 1.0, 0
        while mark := self.take("-", "+"):
            sign *= -1.0 if mark == "-" else 1.0
            signs += 1
        node = self.atom()
        while self.take("%"):
            node = scale_node(node, 0.01)
        return scale_node(node, sign) if signs else node

    def atom(self) -> Node:
        if self.take("("):
            return self.nest(self.parse_closed)
        if self.take("{"):
            return self.nest(self.braces)
        if not self.tokens or self.tokens[-1].kind == "mark":
            raise _parse_error()
        kind, token, start, _ = self.tokens.pop()
        if start in self.places:
            index = self.places[start]
            return lambda scope: scope.reference(index)
        if kind == "number":
            constant: float | str | bool = float(token)
            return lambda _: constant
        if kind == "text":
            quoted = token[1:-1].replace('""', '"')
            return lambda _: quoted
        if kind == "error":
            return _failing(FormulaError(token))
        if kind == "call":
            return self.parse_call_of_lambda(self.nest(lambda: self.call(token.upper())))
        if token.upper() in ("TRUE", "FALSE"):
            known = token.upper() == "TRUE"
            return lambda _: known
        if token.upper() in self.names:
            return name_node(token.upper())
        reference = parse_reference(token)
        if reference is not None:
            return lambda scope: scope.cells(reference)
        return lambda scope: scope.named_range(token)

    def nest(self, read: Callable[[], Node]) -> Node:
        self.nested += 1
        if self.nested > _DEPTH:
            raise _parse_error()
        node = read()
        self.nested -= 1
        return node

    def parse_closed(self) -> Node:
        node = self.comparison()
        if not self.take(")"):
            raise _parse_error()
        return node

    def argument(self) -> Node:
        return (lambda _: None) if self.sees(",", ";", ")", "}") else self.comparison()

    def braces(self) -> Node:
        """Read an array in braces: rows of operands."""
        rows: list[list[Node]] = [[self.comparison()]]
        while mark := self.take(",", ";"):
            if mark == ";":
                rows.append([])
            rows[-1].append(self.comparison())
        if not self.take("}"):
            raise _parse_error()
        return lambda scope: join_rows([[node(scope) for node in row] for row in rows])

    def parse_call_of_lambda(self, node: Node) -> Node:
        """Read the arguments of a LAMBDA that is called where it stands."""
        while self.take("("):
            node = self.nest(lambda made=node: call_node(made, self.arguments()))  # type: ignore[misc]
        return node

    def arguments(self) -> list[Node]:
        arguments: list[Node] = []
        if not self.take(")"):
            arguments.append(self.argument())
            while self.take(",", ";"):
                arguments.append(self.argument())
            if not self.take(")"):
                raise _parse_error()
        return arguments

    def name(self) -> str:
        if not self.tokens or self.tokens[-1].kind != "name":
            raise _parse_error()
        return self.tokens.pop().text.upper()

    def function(self) -> Node:
        """Read a LAMBDA: the names of its parameters, then its body."""
        count = len(self.names)
        while len(self.tokens) > 1 and self.tokens[-1].kind == "name" and self.tokens[-2].text in (",", ";"):
            self.names.append(self.name())
            self.take(",", ";")
        names = tuple(self.names[count:])
        body = self.comparison()
        if not self.take(")"):
            raise _parse_error()
        del self.names[count:]

        def make_lambda(scope: FormulaScope) -> Operand:
            return cast("Operand", LambdaOperand(names, body, scope))

        return make_lambda

    def parse_let(self) -> Node:
        """Read a LET: names and what they stand for, then what is worked out with them."""
        count, steps = len(self.names), list[Node]()
        while len(self.tokens) > 1 and self.tokens[-1].kind == "name" and self.tokens[-2].text in (",", ";"):
            name = self.name()
            self.take(",", ";")
            steps.append(self.argument())
            self.names.append(name)
            if not self.take(",", ";"):
                raise _parse_error()
        names = self.names[count:]
        body = self.comparison()
        if not names or not self.take(")"):
            raise _parse_error()
        del self.names[count:]

        def work_out(scope: FormulaScope) -> Operand:
            for name, step in zip(names, steps, strict=True):
                scope = replace(scope, names={**scope.names, name: step(scope)})
            return body(scope)

        return work_out

    def call(self, function: str) -> Node:
        if function in ("LAMBDA", "LET"):
            return self.function() if function == "LAMBDA" else self.parse_let()
        arguments = self.arguments()
        if function in self.names:
            return call_node(name_node(function), arguments)
        least, most = (LAZY.get(function) or EAGER.get(function) or (0, len(arguments)))[:2]
        if not least <= len(arguments) <= most:
            count = f"{least}" if least == most else f"between {least} and {most}"
            reason = f"Wrong number of arguments to {function}. Expected {count} arguments, but got {len(arguments)}."
            return _failing(FormulaError("#N/A", reason))
        if function in LAZY:
            lazy = LAZY[function][2]
            return lambda scope: lazy(scope, [postpone(node, scope) for node in arguments])
        if function in EAGER:
            work = EAGER[function][2]
            if function in ARRAYS:
                return lambda scope: work([node(inner) for inner in (scope.for_arrays(),) for node in arguments])
            apart = [place for place in range(len(arguments)) if place not in takes_whole(function)]
            if not apart:
                return lambda scope: work([node(scope) for node in arguments])
            return lambda scope: apply_apart(work, [node(scope) for node in arguments], apart, scope)
        return _failing(FormulaError("#NAME?", f"Unknown function: '{function}'."))
