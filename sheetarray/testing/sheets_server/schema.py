"""Bodies and queries held against the schemas that the service's publisher ships in its discovery document.

The document comes with google-api-python-client; nothing else of that package is used. A body that passes is handed on
without nulls, with names spelled as in the document, and with numbers in place of texts that mean them. Any other is
answered with the error of the service.
"""

from __future__ import annotations

import importlib.util
import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

from ...errors import MissingDependencyError
from .errors import ApiError, Json, invalid, violation
from .quick_check import OddError, QuickCheck

_DOCUMENT = ("discovery_cache", "documents", "sheets.v4.json")
_TYPES = "type.googleapis.com/"
_INTEGERS = {"int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1), "int64": (-(2**63), 2**63 - 1)}


def find_document() -> Path | None:
    """Return the path of the discovery document; None if google-api-python-client, which has it, is not installed."""
    spec = importlib.util.find_spec("googleapiclient")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder).joinpath(*_DOCUMENT)
        if path.is_file():
            return path
    return None


class MessageSchemas:
    """The schemas of bodies and queries, from the discovery document.

    Attributes:
        revision: the day on which the document was published, as `YYYYMMDD`.
    """

    def __init__(self, document: Json) -> None:
        self._schemas: Json = document["schemas"]
        self._common = set(document["parameters"])
        self.revision = str(document["revision"])
        self._methods: Json = {}
        self._collect(document)
        self._quick = QuickCheck(self._schemas)

    @classmethod
    def load(cls, required: bool | None) -> MessageSchemas | None:
        """Return the schemas, or None without them.

        Args:
            required: True, False for no schemas, or None for schemas if the document is installed.

        Raises:
            MissingDependencyError: they are required, and the document is not installed.
        """
        path = find_document() if required is not False else None
        if path is not None:
            return cls(json.loads(path.read_text(encoding="utf-8")))
        if required:
            raise MissingDependencyError(
                "validating requests needs google-api-python-client: pip install google-api-python-client"
            )
        return None

    def _collect(self, node: Json) -> None:
        """Note the methods of a part of the document by their names, such as `spreadsheets.values.get`."""
        for method in node.get("methods", {}).values():
            self._methods[method["id"].removeprefix("sheets.")] = method
        for resource in node.get("resources", {}).values():
            self._collect(resource)

    def body(self, method: str, body: Any, prefix: str) -> Json:
        """Return the body of a request, checked.

        Args:
            method: the name of the method that the request calls.
            body: JSON.
            prefix: the field of the request in which the service takes a body; its messages name fields from there.

        Raises:
            ApiError: the body breaks its schema.
        """
        reference = self._methods[method].get("request", {}).get("$ref")
        if reference is None:
            return {}
        try:
            return dict(self._quick.check(body, reference))
        except OddError:
            pass  # `_object` takes other spellings too, and says what is wrong
        checked = self._object(body, reference, prefix)
        assert isinstance(checked, dict)
        return checked

    def query(self, method: str, query: dict[str, list[str]]) -> Json:
        """Return the parameters of a query, checked, and converted to the types that the method has for them."""
        known = self._methods[method]["parameters"]
        params: Json = {}
        for name, values in query.items():
            if name in self._common:
                continue
            if name not in known or known[name].get("location") != "query":
                raise violation(
                    "",
                    f'Invalid JSON payload received. Unknown name "{name}": Cannot bind query parameter. '
                    f"Field '{name}' could not be found in request message.",
                )
            typed = [self._parameter(name, known[name], value) for value in values]
            params[name] = typed if known[name].get("repeated") else typed[-1]
        return params

    def fields(self, method: str, mask: Json) -> None:
        """Refuse a mask with a field that the answer does not have."""
        self._fields(mask, self._methods[method]["response"]["$ref"], "")

    def _fields(self, mask: Json, reference: str, path: str) -> None:
        properties = self._schemas[reference].get("properties", {})
        for name, branch in mask.items():
            if name == "*":
                continue
            if name not in properties:
                raise invalid(
                    f"Error expanding 'fields' parameter. Cannot find matching fields for path '{path}{name}'."
                )
            inner = properties[name]
            inner = inner.get("items", inner)
            if branch and "$ref" in inner:
                self._fields(branch, inner["$ref"], f"{path}{name}.")

    def _parameter(self, name: str, known: Json, value: str) -> Any:
        field = _snake(name)
        if known["type"] == "boolean":
            if value.lower() not in ("true", "false"):
                raise violation(field, f"Invalid value at '{field}' (TYPE_BOOL), \"{value}\"")
            return value.lower() == "true"
        if "enum" in known and value not in known["enum"]:
            kind = f"{_TYPES}google.apps.sheets.v4.{_enum_name(name)}"
            raise violation(field, f"Invalid value at '{field}' ({kind}), \"{value}\"")
        return value

    def _object(self, value: Any, reference: str, path: str) -> Any:
        if not isinstance(value, dict):
            raise _wrong(path, f"{_TYPES}google.apps.sheets.v4.{reference}", value)
        properties = self._schemas[reference].get("properties", {})
        checked: Json = {}
        for name, part in value.items():
            spelled = name if name in properties else _camel(name)
            if spelled not in properties:
                at = f" at '{path}'" if path else ""
                raise violation(path, f'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.')
            if part is not None:
                inner = f"{path}.{_snake(spelled)}" if path else _snake(spelled)
                checked[spelled] = self._value(part, properties[spelled], inner)
        return checked

    def _value(self, value: Any, schema: Json, path: str) -> Any:
        kind = schema.get("type")
        if "$ref" in schema:
            if isinstance(value, list):
                raise _repeating(path)
            return self._object(value, schema["$ref"], path)
        if kind == "array":
            items = value if isinstance(value, list) else [value]
            inner = schema["items"]
            if inner.get("type") == "array" and inner["items"].get("type") == "any":
                return _lists(items, path, alone=not isinstance(value, list))
            indexed = isinstance(value, list)
            return [
                self._value(item, inner, f"{path}[{index}]" if indexed else path) for index, item in enumerate(items)
            ]
        if isinstance(value, list) and kind != "any":
            raise _repeating(path)
        return self._scalar(value, schema, path)

    def _scalar(self, value: Any, schema: Json, path: str) -> Any:
        kind = schema.get("type")
        if kind == "boolean":
            if not isinstance(value, bool):
                raise _wrong(path, "TYPE_BOOL", value)
        elif kind == "integer" or (kind == "string" and schema.get("format") in _INTEGERS):
            return _integer(value, schema.get("format", "int32"), path)
        elif kind == "number":
            return _double(value, schema.get("format", "double"), path)
        elif kind == "string":
            if not isinstance(value, str):
                raise _wrong(path, "TYPE_STRING", value)
            if "enum" in schema and value not in schema["enum"]:
                name = _enum_name(path.rpartition(".")[2])
                raise _wrong(path, f"{_TYPES}google.apps.sheets.v4.{name}", value)
        return value


def drop_nulls(value: Any) -> Any:
    """Return a body without its nulls, but for those among the cells of `values`; used if there is no schema."""
    if isinstance(value, dict):
        return {
            name: part if name == "values" and _is_block(part) else drop_nulls(part)
            for name, part in value.items()
            if part is not None
        }
    return [drop_nulls(item) for item in value] if isinstance(value, list) else value


def _is_block(part: Any) -> bool:
    return isinstance(part, list) and bool(part) and isinstance(part[0], list)


def _lists(lines: list[Any], path: str, *, alone: bool) -> list[list[Any]]:
    """Return rows or columns of cells, after refusing one that is no list; the cells are checked by `values`.

    Args:
        lines: the rows or columns.
        path: of their field, for messages.
        alone: whether the request had the only line itself in place of a list of lines.
    """
    for index, line in enumerate(lines):
        if not isinstance(line, list):
            raise _wrong(path if alone else f"{path}[{index}]", f"{_TYPES}google.protobuf.ListValue", line)
    return lines


def _integer(value: Any, kind: str, path: str) -> int:
    least, most = _INTEGERS.get(kind, _INTEGERS["int32"])
    number: int | None = None
    if isinstance(value, str):
        number = int(value) if re.fullmatch(r"-?[0-9]{1,20}", value) else None
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and value == value // 1:
        number = int(value)
    if number is None or not least <= number <= most:
        raise _wrong(path, f"TYPE_{kind.upper()}", value)
    return number


def _double(value: Any, kind: str, path: str) -> float:
    number = math.nan
    if not isinstance(value, bool) and isinstance(value, (int, float, str)):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = math.nan
    if not math.isfinite(number):
        raise _wrong(path, f"TYPE_{kind.upper()}", value)
    return number


def _wrong(path: str, kind: str, value: Any) -> ApiError:
    shown = json.dumps(value, ensure_ascii=False)
    return violation(path, f"Invalid value at '{path}' ({kind}), {shown[:1000]}")


def _repeating(path: str) -> ApiError:
    parent, _, name = path.rpartition(".")
    at = f" at '{parent}'" if parent else ""
    return violation(
        parent,
        f'Invalid JSON payload received. Unknown name "{_camel(name)}"{at}: '
        "Proto field is not repeating, cannot start list.",
    )


@cache
def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def _camel(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)


def _enum_name(name: str) -> str:
    """Return the name of the enumeration of a field, guessed from that of the field: the document does not say it."""
    words = _camel(_snake(re.sub(r"\[\d+\]", "", name)))
    words = {"majorDimension": "dimension"}.get(words, words)
    return words[:1].upper() + words[1:]
