"""The JSON object that describes an array: its text, its metadata, and its expression as a graph.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/docs/serialization.adoc. The text is measured before it is
parsed: neither its length nor its nesting can harm. In an expression an id may be missing; a reference may lead
forward, and is evaluated when it is met; each expression is evaluated once, however often it is referred to. Nothing
here calls itself: no nesting is too deep for the interpreter.

Metadata have what awkward 2 has and awkward0 has not: `{"sheetarray": {"layout": {"3": {"parameters": {"units": "mm"},
"size": 2}}, "attrs": {}, "ndarray": "<U5"}}`. `layout` says by the id of an expression what the array that it gives
was; `attrs` are those of the whole array; `ndarray` is the dtype of one that was no awkward array. What stands beside
the key `sheetarray` belongs to others. A file can claim anything here: what does not fit is a `FormatError`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import DTypeError, FormatError
from ...linear.json_text import parse_json
from .blobs import DEEPEST_EXPRESSION, DEEPEST_JSON, MOST_SCHEMA_BYTES, MOST_SCHEMA_PARTS, Budget

# What awkward0 passes over --------------------------------------------------------------------------------------------

KEY = "sheetarray"
TEXTUAL = ("__array__", "__list__", "__record__")  # parameters that are names

METADATA = f"metadata.{KEY}"  # where it stands in a schema
_PARTS = ("layout", "attrs", "ndarray")
_TRANSIENT = "@"  # what attrs begin with that awkward itself never stores
_LARGEST_SIZE = 2**62  # elements of a list


@dataclass(frozen=True, slots=True)
class Traits:
    """The traits of an array that its expression does not say."""

    parameters: Mapping[str, Any] = field(default_factory=dict)  # of its layout, besides what makes it a string
    inner: tuple[Mapping[str, Any], ...] = ()  # of what is in an n-d block, or of a string's characters
    size: int | None = None  # of each list, where all have the same by their type
    empty: Any = None  # the form of an array without elements, where awkward0 has none of that type
    is_tuple: bool = False  # records that have no names for their fields
    is_unmasked: bool = False  # of an option type, but no element may be missing

    def to_json(self) -> dict[str, Any]:
        """Return the entry of the metadata; empty where there is nothing to say."""
        inner = list(self.inner) if any(self.inner) else None
        flags = (self.is_tuple or None, self.is_unmasked or None)
        values = (self.parameters or None, inner, self.size, self.empty, *flags)
        return {key: value for key, value in zip(_ENTRY, values, strict=True) if value is not None}

    @classmethod
    def from_json(cls, entry: Any) -> Traits:
        """Return the traits that an entry of the metadata says."""
        if not isinstance(entry, dict):
            raise FormatError("an entry that is not an object")
        if unknown := [key for key in entry if key not in _ENTRY]:
            raise FormatError(f"an entry with the unknown key {unknown[0]!r:.80}")
        size, inner = entry.get("size"), entry.get("inner", [])
        if size is not None and (type(size) is not int or not 0 <= size <= _LARGEST_SIZE):
            raise FormatError(f"the size of lists cannot be {size!r:.40}")
        if not isinstance(inner, list):
            raise FormatError("inner must be a list")
        flags = [entry.get(key, False) for key in ("tuple", "unmasked")]
        if not all(isinstance(flag, bool) for flag in flags):
            raise FormatError("tuple and unmasked must be true or false")
        parameters = _parameters(entry.get("parameters", {}))
        return cls(parameters, tuple(map(_parameters, inner)), size, entry.get("empty"), *flags)


_ENTRY = ("parameters", "inner", "size", "empty", "tuple", "unmasked")


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a schema."""

    traits: Mapping[int, Traits] = field(default_factory=dict)  # of arrays, by the ids of their expressions
    attrs: Mapping[str, Any] = field(default_factory=dict)  # of the whole array
    ndarray: str | None = None  # the dtype of an array of NumPy; None where it is an awkward one, or nothing is said
    rownames: Mapping[str, str] = field(default_factory=dict)  # of records by ids, in older files
    is_ours: bool = False  # whether there is anything of this package in them

    def to_json(self) -> dict[str, Any]:
        """Return the value of the schema's key `metadata`; empty where there is nothing to say."""
        layout = {str(ident): entry for ident, traits in self.traits.items() if (entry := traits.to_json())}
        parts = {"layout": layout, "attrs": self.attrs, "ndarray": self.ndarray}
        ours = {name: part for name, part in parts.items() if part}
        return {KEY: ours} if ours else {}

    @classmethod
    def from_json(cls, metadata: Any) -> Metadata:
        """Return the metadata of a schema, which may hold anything."""
        if not isinstance(metadata, dict):
            return cls()
        rownames = metadata.get("rowname")
        named = {key: name for key, name in rownames.items() if isinstance(name, str)} if type(rownames) is dict else {}
        if KEY not in metadata:
            return cls(rownames=named)
        ours = metadata[KEY]
        if not isinstance(ours, dict) or any(key not in _PARTS for key in ours):
            raise FormatError(f"expected a JSON object with the keys {', '.join(_PARTS)}", location=METADATA)
        layout, attrs, ndarray = ours.get("layout", {}), ours.get("attrs", {}), ours.get("ndarray")
        if not isinstance(layout, dict) or not isinstance(attrs, dict) or not isinstance(ndarray, str | None):
            raise FormatError("layout and attrs must be objects, and ndarray must be text", location=METADATA)
        traits = {}
        for key, entry in layout.items():
            try:
                traits[_ident(key)] = Traits.from_json(entry)
            except FormatError as error:
                error.location = f"{METADATA}.layout[{key!r:.40}]"
                raise
        lasting = {name: value for name, value in attrs.items() if not name.startswith(_TRANSIENT)}
        return cls(traits, lasting, ndarray, named, is_ours=True)


def _ident(key: str) -> int:
    if not (key.isascii() and key.isdigit() and len(key) < 10 and str(int(key)) == key):
        raise FormatError("an entry without an id; an id is a number from 0 on")
    return int(key)


def _parameters(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise FormatError("parameters that are not an object")
    for name in TEXTUAL:
        if not isinstance(value.get(name, ""), str):
            raise FormatError(f"the parameter {name} is not text")
    return value


def check_form(tree: Any) -> None:
    """Refuse a form with parameters that no array should have."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            _parameters(part.get("parameters") or {})
            waiting += [value for key, value in part.items() if key != "parameters"]


def attrs_of(array: Any) -> dict[str, Any]:
    """Return the attrs of an array that are stored; those whose names begin with `@` never are."""
    attrs = getattr(array, "attrs", None) if type(array).__module__.partition(".")[0] == "awkward" else None
    lasting = {name: value for name, value in (attrs or {}).items() if not name.startswith(_TRANSIENT)}
    for name, value in lasting.items():
        check_plain_json({name: value}, "the attribute")
    return lasting


def check_plain_json(value: Any, what: str) -> Any:
    """Return the same value, where JSON gives it back as it is."""
    try:
        shown = f"{value!r:.80}"
        same = repr(json.loads(json.dumps(value, allow_nan=False))) == repr(value)  # equal, in all its types
    except (TypeError, ValueError, RecursionError):
        same, shown = False, f"{', '.join(value)}" if isinstance(value, dict) else type(value).__name__
    if not same:
        raise DTypeError(
            f"{what} {shown}, which JSON does not hold exactly: make it of dicts with text for keys, lists, "
            f"text, finite numbers, booleans and None, or remove it"
        )
    return value


# Expressions, and the order in which they are evaluated ---------------------------------------------------------------

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


# The JSON of an array -------------------------------------------------------------------------------------------------

SIGNATURES = ("awkward0", "awkward")  # the second until version 0.14


@dataclass(frozen=True, slots=True)
class Schema:
    """The outermost object of awkward0's JSON."""

    expression: Any  # the array, as plain JSON
    prefix: str  # stands before the names of the blobs
    metadata: Metadata  # what this package has noted, and awkward0 passes over
    version: str  # of the package that wrote it


def parse_schema(content: object, budget: Budget | None = None) -> Schema:
    """Return the schema of an array, whose values are counted in a budget, if one is given.

    Example:
        >>> schema = parse_schema(b'{"awkward0": "0.15.5", "schema": {"json": null}}')
        >>> schema.expression, schema.prefix, schema.version
        ({'json': None}, '', '0.15.5')
    """
    most = {"most_bytes": MOST_SCHEMA_BYTES, "most_values": MOST_SCHEMA_PARTS, "deepest": DEEPEST_JSON}
    text = _text(content)
    tree = parse_json(text, "a schema", **most)
    if budget is not None:
        budget.note_schema(text)
    if not isinstance(tree, dict) or not any(signature in tree for signature in SIGNATURES):
        raise FormatError(
            "not the schema of an awkward array: it has neither the key awkward0 nor the key awkward",
            hint="the schema is the JSON that was stored under the array's own name",
        )
    if "schema" not in tree:
        raise FormatError("the schema has no expression: the key 'schema' is missing")
    prefix = tree.get("prefix", "")
    if not isinstance(prefix, str):
        raise FormatError("a prefix that is not text", location="prefix")
    version = next(tree[signature] for signature in SIGNATURES if signature in tree)
    metadata = Metadata.from_json(tree.get("metadata"))
    return Schema(tree["schema"], prefix, metadata, version if isinstance(version, str) else "")


def _text(content: object) -> bytes:
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    elif isinstance(content, np.ndarray):
        if content.dtype.kind not in "uiS" or content.dtype.itemsize > 1:
            raise FormatError(f"the schema has the dtype {content.dtype}, not bytes")
        content = content.tobytes() if content.size <= MOST_SCHEMA_BYTES else bytes(MOST_SCHEMA_BYTES + 1)
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise FormatError(f"a schema that is a {type(content).__name__}, not JSON")
    if len(content) > MOST_SCHEMA_BYTES:
        raise FormatError(f"the schema has more than {MOST_SCHEMA_BYTES} bytes")
    return bytes(content)
