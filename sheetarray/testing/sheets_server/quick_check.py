"""A fast check for bodies that are exactly as their schema says; any other body is left to `schema`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .errors import Json

Check = Callable[[Any], Any]  # returns a value with its numbers as floats; raises OddError


class OddError(Exception):
    """A body that may be wrong, or right but spelled otherwise: `schema` has to find out."""


class QuickCheck:
    """The checks of all schemas, each of which is made when it is first needed.

    Example:
        >>> check = QuickCheck({"Cell": {"properties": {"size": {"type": "integer"}}}})
        >>> check.check({"size": 5}, "Cell")
        {'size': 5}
    """

    def __init__(self, schemas: Json) -> None:
        self._schemas = schemas
        self._checks: dict[str, Check] = {}

    def check(self, body: Any, reference: str) -> Any:
        """Return a body, with numbers as floats, that is as the schema of a name (`reference`) says.

        Raises:
            OddError: something is otherwise; a null is enough.
        """
        return self._object(reference)(body)

    def _object(self, reference: str) -> Check:
        if reference in self._checks:
            return self._checks[reference]
        known: dict[str, Check] = {}

        def check(value: Any) -> Any:
            if type(value) is not dict:
                raise OddError
            result = value
            for name, part in value.items():
                inner = known.get(name)
                if inner is None or part is None:
                    raise OddError
                checked = inner(part)
                if checked is not part:
                    if result is value:
                        result = dict(value)
                    result[name] = checked
            return result

        self._checks[reference] = check
        for name, schema in self._schemas[reference].get("properties", {}).items():
            known[name] = self._value(schema)
        return check

    def _value(self, schema: Json) -> Check:
        kind = schema.get("type")
        if "$ref" in schema:
            return self._object(schema["$ref"])
        if kind == "array":
            items = schema["items"]
            if items.get("type") == "array" and items["items"].get("type") == "any":
                return _lists
            return _list(self._value(items))
        if kind == "boolean":
            return _exactly(bool)
        if kind == "string" and "enum" in schema:
            return _one_of(frozenset(schema["enum"]))
        if kind == "string" and schema.get("format") not in ("int64", "uint64"):
            return _exactly(str)
        if kind == "integer" and schema.get("format", "int32") == "int32":
            return _integer
        return _number if kind == "number" else _odd


def _list(inner: Check) -> Check:
    def check(value: Any) -> Any:
        if type(value) is not list:
            raise OddError
        return [inner(item) for item in value]

    return check


def _lists(value: Any) -> Any:
    if type(value) is not list or not all(type(line) is list for line in value):
        raise OddError
    return value


def _exactly(kind: type) -> Check:
    def check(value: Any) -> Any:
        if type(value) is not kind:
            raise OddError
        return value

    return check


def _one_of(names: frozenset[str]) -> Check:
    def check(value: Any) -> Any:
        if type(value) is not str or value not in names:
            raise OddError
        return value

    return check


def _integer(value: Any) -> Any:
    if type(value) is not int or not -(2**31) <= value < 2**31:
        raise OddError
    return value


def _number(value: Any) -> Any:
    if type(value) is int and abs(value) < 2**53:
        return float(value)
    if type(value) is not float or not math.isfinite(value):
        raise OddError
    return value


def _odd(_: Any) -> Any:
    raise OddError
