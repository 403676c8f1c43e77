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
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from .errors import ApiError, Json, invalid, violation

_DOCUMENT = ("discovery_cache", "documents", "sheets.v4.json")
_TYPES = "type.googleapis.com/"
_SHEETS = f"{_TYPES}google.apps.sheets.v4."
_INTEGERS = {"int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1), "int64": (-(2**63), 2**63 - 1)}
_PAYLOAD = "Invalid JSON payload received. Unknown name"

Check = Callable[[Any], Any]  # returns a value as the service takes it; raises _WrongError


class _WrongError(Exception):
    """A value that breaks its schema.

    Attributes:
        kind: the type that the service expects; "" if the field itself is wrong.
        value: what was sent, or the name of the field.
        reason: what is wrong with the field.
        path: of the value, from the message that is being checked on.
    """

    def __init__(self, kind: str, value: Any, reason: str = "") -> None:
        super().__init__(kind)
        self.kind, self.value, self.reason, self.path = kind, value, reason, ""

    def below(self, name: str) -> _WrongError:
        """Put a name or an index such as `[2]` before the path."""
        self.path = name + ("." if self.path and not self.path.startswith("[") else "") + self.path
        return self

    def to_error(self) -> ApiError:
        """Return the answer of the service."""
        if self.kind:
            shown = json.dumps(self.value, ensure_ascii=False)[:1000]
            return violation(self.path, f"Invalid value at '{self.path}' ({self.kind}), {shown}")
        at = f" at '{self.path}'" if self.path else ""
        return violation(self.path, f'{_PAYLOAD} "{self.value}"{at}: {self.reason}')


class MessageSchemas:
    """The schemas of bodies and queries, from the discovery document."""

    def __init__(self, document: Json) -> None:
        self._schemas: Json = document["schemas"]
        self._common = set(document["parameters"])
        self._methods: Json = {}
        self._collect(document)
        self._checks: dict[str, Check] = {}

    @classmethod
    def load(cls) -> MessageSchemas:
        """Return the schemas of the document that is installed."""
        spec = importlib.util.find_spec("googleapiclient")
        for folder in (spec.submodule_search_locations or []) if spec else []:
            path = Path(folder).joinpath(*_DOCUMENT)
            if path.is_file():
                return cls(json.loads(path.read_text(encoding="utf-8")))
        raise ImportError("the schemas of Google Sheets are missing: pip install google-api-python-client")

    def _collect(self, node: Json) -> None:
        """Note the methods of a part of the document by their names, such as `spreadsheets.values.get`."""
        for method in node.get("methods", {}).values():
            self._methods[method["id"].removeprefix("sheets.")] = method
        for resource in node.get("resources", {}).values():
            self._collect(resource)

    def body(self, method: str, body: Any, prefix: str) -> Json:
        """Return the body of a request, checked."""
        reference = self._methods[method].get("request", {}).get("$ref")
        try:
            return dict(self._message(reference)(body)) if reference is not None else {}
        except _WrongError as error:
            raise (error.below(prefix) if prefix else error).to_error() from None

    def query(self, method: str, query: dict[str, list[str]]) -> Json:
        """Return the parameters of a query, checked, and converted to the types that the method has for them."""
        known = self._methods[method]["parameters"]
        params: Json = {}
        for name, values in query.items():
            if name in self._common:
                continue
            if name not in known or known[name].get("location") != "query":
                absent = f"Field '{name}' could not be found in request message."
                raise violation("", f'{_PAYLOAD} "{name}": Cannot bind query parameter. {absent}')
            typed = [_parameter(name, known[name], value) for value in values]
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
                absent = f"Cannot find matching fields for path '{path}{name}'."
                raise invalid(f"Error expanding 'fields' parameter. {absent}")
            inner = properties[name].get("items", properties[name])
            if branch and "$ref" in inner:
                self._fields(branch, inner["$ref"], f"{path}{name}.")

    def _message(self, reference: str) -> Check:
        """Return the check of the messages of a name, which is made when it is first needed."""
        if reference in self._checks:
            return self._checks[reference]
        known: dict[str, tuple[str, Check, bool]] = {}  # by each spelling: the name, its check, whether it takes a list

        def check(value: Any) -> Any:
            if type(value) is not dict:
                raise _WrongError(f"{_SHEETS}{reference}", value)
            checked: Json = {}
            for given, part in value.items():
                if given not in known:
                    raise _WrongError("", given, "Cannot find field.")
                name, inner, takes_list = known[given]
                if type(part) is list and not takes_list:
                    raise _WrongError("", given, "Proto field is not repeating, cannot start list.")
                if part is not None:
                    try:
                        checked[name] = inner(part)
                    except _WrongError as error:
                        raise error.below(_snake(name)) from None
            return checked

        self._checks[reference] = check
        for name, schema in self._schemas[reference].get("properties", {}).items():
            known[name] = known[_snake(name)] = name, self._field(name, schema), schema.get("type") in ("array", "any")
        return check

    def _field(self, name: str, schema: Json) -> Check:
        if schema.get("type") == "array":
            items = schema["items"]
            return _list_of(_as_line if items.get("items", {}).get("type") == "any" else self._field(name, items))
        return self._message(schema["$ref"]) if "$ref" in schema else _scalar(name, schema)


def _list_of(inner: Check) -> Check:
    """Return the check of a list; a single item stands for a list of it."""

    def check(value: Any) -> Any:
        if type(value) is not list:
            return [inner(value)]
        checked = []
        for item in value:
            try:
                checked.append(inner(item))
            except _WrongError as error:
                raise error.below(f"[{len(checked)}]") from None
        return checked

    return check


def _as_line(value: Any) -> Any:
    """Return a row or column of cells; the cells are checked by `values`."""
    if type(value) is not list:
        raise _WrongError(f"{_TYPES}google.protobuf.ListValue", value)
    return value


def _scalar(name: str, schema: Json) -> Check:
    kind, form, names = schema.get("type"), schema.get("format", ""), schema.get("enum")
    if kind == "integer" or (kind == "string" and form in _INTEGERS):
        return lambda value: _integer(value, form or "int32")
    if kind == "number":
        return lambda value: _double(value, form or "double")
    wanted = {"boolean": bool, "string": str}.get(str(kind), object)
    expected = f"{_SHEETS}{_enum_name(name)}" if names else f"TYPE_{'BOOL' if kind == 'boolean' else 'STRING'}"

    def check(value: Any) -> Any:
        if not isinstance(value, wanted) or (names and value not in names):
            raise _WrongError(expected, value)
        return value

    return check


def _integer(value: Any, form: str) -> int:
    least, most = _INTEGERS.get(form, _INTEGERS["int32"])
    number: int | None = None
    if isinstance(value, str):
        number = int(value) if re.fullmatch(r"-?[0-9]{1,20}", value) else None
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and value == value // 1:
        number = int(value)
    if number is None or not least <= number <= most:
        raise _WrongError(f"TYPE_{form.upper()}", value)
    return number


def _double(value: Any, form: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise _WrongError(f"TYPE_{form.upper()}", value)
    return number


def _parameter(name: str, known: Json, value: str) -> Any:
    field = _snake(name)
    if known["type"] == "boolean":
        if value.lower() not in ("true", "false"):
            raise violation(field, f"Invalid value at '{field}' (TYPE_BOOL), \"{value}\"")
        return value.lower() == "true"
    if "enum" in known and value not in known["enum"]:
        raise violation(field, f"Invalid value at '{field}' ({_SHEETS}{_enum_name(name)}), \"{value}\"")
    return value


@cache
def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def _enum_name(name: str) -> str:
    """Return the name of the enumeration of a field, guessed from that of the field: the document does not say it."""
    word = {"majorDimension": "dimension"}.get(name, name)
    return word[:1].upper() + word[1:]
