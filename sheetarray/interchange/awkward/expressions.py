"""Expressions: how an array is made of blobs, as a graph, and the order in which it is evaluated.

In an expression an id may be missing. A reference may lead forward, and is evaluated when it is met. Each expression is
evaluated once, however often it is referred to. Nothing here calls itself: no nesting is too deep for the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...errors import FormatError
from .budget import DEEPEST_EXPRESSION

KINDS = ("call", "read", "list", "tuple", "dict", "pairs", "dtype", "function", "json", "python", "ref")
_NESTED = {"list": list, "tuple": list, "pairs": list, "dict": dict, "call": list}
_OPEN, _DONE = 1, 2
_LONGEST_PATH = 300  # characters


class Expression:
    """One JSON object of a schema."""

    __slots__ = ("_at", "_state", "body", "height", "kind", "names", "parent", "parts", "value")

    def __init__(self, kind: str, body: Any, parent: Expression | None, at: str) -> None:
        self.kind, self.body, self.parent, self._at = kind, body, parent, at  # its identifying key, and the JSON object
        self.parts: list[Expression] = []  # in the order of the JSON; of a reference, what it refers to
        self.names: list[str] = []  # of the last parts: of keyword arguments, keys, pairs
        self.value: Any = None  # once it is evaluated
        self.height, self._state = 0, 0

    @property
    def path(self) -> str:
        """The path to the expression, such as `schema.args[1].list[0]`; a long one is shortened in the middle."""
        steps, expression = [], self
        while expression.parent is not None:
            steps.append(expression._at)
            expression = expression.parent
        way = "".join(["schema", *reversed(steps)])
        return way if len(way) <= _LONGEST_PATH else f"{way[: _LONGEST_PATH // 2]}...{way[-_LONGEST_PATH // 2 :]}"

    def error(self, reason: str, hint: str | None = None) -> FormatError:
        """Return an error whose location is the path to the expression."""
        return FormatError(reason, location=self.path, hint=hint)


def parse_expression(tree: Any) -> Expression:
    """Return the graph of an expression, references resolved.

    Example:
        >>> graph = parse_expression({"list": [{"json": 5, "id": 0}, {"ref": 0}]})
        >>> evaluate(graph, lambda expression: expression.kind)
        'list'
        >>> [part.value for part in graph.parts]
        ['json', 'json']
    """
    top = _expression(tree, None, "")
    waiting, every = [top], []
    expressions: dict[int, Expression] = {}
    while waiting:
        expression = waiting.pop()
        every.append(expression)
        for at, body in _inside(expression):
            part = _expression(body, expression, at)
            expression.parts.append(part)
            waiting.append(part)
        if isinstance(expression.body, dict) and "id" in expression.body:
            _note(expression, expressions)
    for expression in every:
        if expression.kind == "ref":
            number = expression.body["ref"]
            if not _is_id(number) or number not in expressions:
                raise expression.error(f"a reference to {number!r:.40}, which is not an id in this schema")
            expression.parts.append(expressions[number])
    return top


def evaluate(top: Expression, value_of: Callable[[Expression], Any]) -> Any:
    """Return the value of an expression: each part's before its own, and each only once."""
    stack = [top]
    while stack:
        expression = stack[-1]
        if expression._state == 0:
            expression._state = _OPEN
            for part in reversed(expression.parts):
                if part._state == _OPEN:
                    raise expression.error(
                        f"the reference {expression.body['ref']} leads back to an array that it is part of",
                        hint="awkward 2 has no cyclic arrays",
                    )
                if part._state == 0:
                    stack.append(part)
            continue
        stack.pop()
        if expression._state == _OPEN:
            expression.height = 1 + max((part.height for part in expression.parts), default=0)
            if expression.height > DEEPEST_EXPRESSION:
                raise expression.error(f"expressions are nested more than {DEEPEST_EXPRESSION} deep")
            if expression.kind == "ref":
                expression.value = expression.parts[0].value
            else:
                try:
                    expression.value = value_of(expression)
                except FormatError as error:
                    error.location = error.location or expression.path
                    raise
            expression._state = _DONE
    return top.value


def _expression(body: Any, parent: Expression | None, at: str) -> Expression:
    if body is None or isinstance(body, str):  # as version 0.5 writes an encoding
        return Expression("json", {"json": body}, parent, at)
    kinds = [kind for kind in KINDS if kind in body] if isinstance(body, dict) else []
    expression = Expression(kinds[0] if kinds else "", body, parent, at)
    if len(kinds) != 1:
        what = f"a {type(body).__name__}" if not isinstance(body, dict) else " and ".join(kinds) or "none of them"
        raise expression.error(f"an expression has one of the keys {', '.join(KINDS)}; found {what}")
    return expression


def _inside(expression: Expression) -> Iterator[tuple[str, Any]]:
    """Yield the parts of an expression, each with its step of the path."""
    kind, body = expression.kind, expression.body
    if kind not in _NESTED:
        return
    if not isinstance(body[kind], _NESTED[kind]):
        raise expression.error(f"{kind} is a {type(body[kind]).__name__}, not a {_NESTED[kind].__name__}")
    if kind == "call":
        arguments, named = body.get("args", []), body.get("kwargs", {})
        if not isinstance(arguments, list) or not isinstance(named, dict):
            raise expression.error("args must be a list, and kwargs an object")
        for index, argument in enumerate(arguments):
            yield f".args[{index}]", argument
        for name, argument in named.items():
            expression.names.append(name)
            yield f".kwargs[{name!r:.40}]", argument
    elif kind == "dict":
        for name, item in body["dict"].items():
            expression.names.append(name)
            yield f".dict[{name!r:.40}]", item
    elif kind == "pairs":
        for index, pair in enumerate(body["pairs"]):
            if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
                raise expression.error(f"pair {index} is not a name and expression")
            expression.names.append(pair[0])
            yield f".pairs[{pair[0]!r:.40}]", pair[1]
    else:
        for index, item in enumerate(body[kind]):
            yield f".{kind}[{index}]", item


def _note(expression: Expression, known: dict[int, Expression]) -> None:
    number = expression.body["id"]
    if not _is_id(number):
        raise expression.error(f"the id {number!r:.40}; an id is a number from 0 on")
    if number in known:
        raise expression.error(f"the id {number} belongs to {known[number].path} already")
    known[number] = expression


def _is_id(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0
