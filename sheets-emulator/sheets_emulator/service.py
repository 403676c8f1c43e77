"""The service without HTTP: its methods, its spreadsheets, and the answer to a request."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote

from . import batch, drive, masks, resource, values
from .batch.sheets import make_sheet
from .errors import ApiError, Json, invalid, unsupported_error
from .schema import MessageSchemas
from .spreadsheet import CELLS_LIMIT, Spreadsheet, new_key, now

_KEY = r"/v4/spreadsheets/(?P<spreadsheetId>[^/:]+)"
_RANGE = rf"{_KEY}/values/(?P<range>.+)"
_FILES = "/drive/v3/files"
_FILE = rf"{_FILES}/(?P<fileId>[^/:]+)"
_PERMISSION = f"{_FILE}/permissions/(?P<permissionId>[^/]+)"


@dataclass(frozen=True)
class Method:
    """A method of the service."""

    name: str  # as in the discovery document
    http: str  # its HTTP method
    path: str  # a pattern for the path of its URL, still quoted; its groups are parameters
    prefix: str = ""  # the field of the request in which the service takes the body; messages name fields from there
    writes: bool = False  # whether it changes something, and counts as a write for the quota


METHODS = [
    Method("drive.files.create", "POST", _FILES, writes=True),
    Method("drive.files.list", "GET", _FILES),
    Method("drive.files.get", "GET", f"{_FILE}/?"),
    Method("drive.files.delete", "DELETE", f"{_FILE}/?", writes=True),
    Method("drive.files.copy", "POST", f"{_FILE}/copy", writes=True),
    Method("drive.comments.list", "GET", f"{_FILE}/comments"),
    Method("drive.permissions.create", "POST", f"{_FILE}/permissions", writes=True),
    Method("drive.permissions.list", "GET", f"{_FILE}/permissions"),
    Method("drive.permissions.delete", "DELETE", _PERMISSION, writes=True),
    Method("spreadsheets.create", "POST", "/v4/spreadsheets/?", "spreadsheet", writes=True),
    Method("spreadsheets.get", "GET", f"{_KEY}/?"),
    Method("spreadsheets.batchUpdate", "POST", f"{_KEY}/?:batchUpdate", writes=True),
    Method("spreadsheets.values.batchGet", "GET", f"{_KEY}/values:batchGet"),
    Method("spreadsheets.values.batchUpdate", "POST", f"{_KEY}/values:batchUpdate", writes=True),
    Method("spreadsheets.values.batchClear", "POST", f"{_KEY}/values:batchClear", writes=True),
    Method("spreadsheets.values.append", "POST", f"{_RANGE}:append", "data", writes=True),
    Method("spreadsheets.values.clear", "POST", f"{_RANGE}:clear", writes=True),
    Method("spreadsheets.values.update", "PUT", _RANGE, "data", writes=True),
    Method("spreadsheets.values.get", "GET", _RANGE),
]


@dataclass(frozen=True)
class Call:
    """A request that has been read."""

    method: Method  # which it calls
    params: Json  # of its path and its query
    body: Json  # checked; {} without one
    mask: masks.FieldMask  # the fields of the answer that are wanted; {} for all


@dataclass
class Service:
    """The state of the service."""

    schema: MessageSchemas  # that requests must follow
    limit: int = CELLS_LIMIT  # the most cells that one spreadsheet may have
    spreadsheets: dict[str, Spreadsheet] = field(default_factory=dict)  # by key
    # the keys for which requests are refused: "all" of them, or only "writes"
    forbidden: dict[str, str] = field(default_factory=dict)
    # with whom Drive shares spreadsheets, by key
    permissions: dict[str, drive.Permissions] = field(default_factory=dict)

    def find_method(self, http: str, path: str) -> tuple[Method, dict[str, str]]:
        """Return the method that a request calls, and the parameters of its path."""
        for method in METHODS:
            if http == method.http and (match := re.fullmatch(method.path, path)):
                return method, {name: unquote(part) for name, part in match.groupdict().items()}
        raise ApiError(404, f"The emulator has no method {http} {path}")

    def read_call(self, method: Method, params: dict[str, str], query: str, body: bytes) -> Call:
        """Return a request with its query and body read and checked."""
        parameters = parse_qs(query, keep_blank_values=True)
        content = _parse_content(body) if method.http != "GET" else {}
        mask = masks.parse(parameters["fields"][-1]) if parameters.get("fields", [""])[-1] else {}
        if method.name.startswith("drive."):
            last = {name: texts[-1] for name, texts in parameters.items()}
            return Call(method, {**last, **params}, content, mask)
        typed = self.schema.query(method.name, parameters)
        self.schema.fields(method.name, mask)
        return Call(method, {**typed, **params}, self.schema.body(method.name, content, method.prefix), mask)

    def answer(self, call: Call) -> Json:
        """Do what a request asks, and return the answer."""
        try:
            return self._answer(call)
        finally:
            for spreadsheet in self.spreadsheets.values() if call.method.writes else ():
                spreadsheet.evaluator = None  # formulas are worked out anew
            if (
                call.method.writes
                and (written := self.spreadsheets.get(call.params.get("spreadsheetId", ""))) is not None
            ):
                written.modified = now()

    def _answer(self, call: Call) -> Json:
        room, _, name = call.method.name.partition(".")
        if room == "drive":
            selected: Json = masks.select(drive.answer(self, name, call.params, call.body), call.mask)
            return selected
        if name == "create":
            return resource.build_resource(self._create(call.body), call.mask)
        spreadsheet = self.spreadsheet(call.params["spreadsheetId"], writes=call.method.writes)
        if name == "get":
            ranges, grid_data = call.params.get("ranges"), bool(call.params.get("includeGridData"))
            return resource.build_resource(spreadsheet, call.mask, ranges=ranges, grid_data=grid_data)
        if name == "batchUpdate":
            return batch.update(spreadsheet, call.body, call.mask)
        answers: dict[str, Callable[[], Json]] = {
            "values.get": lambda: values.get(spreadsheet, call.params),
            "values.batchGet": lambda: values.batch_get(spreadsheet, call.params),
            "values.update": lambda: values.update(spreadsheet, call.params, call.body),
            "values.batchUpdate": lambda: values.batch_update(spreadsheet, call.body),
            "values.clear": lambda: values.clear(spreadsheet, call.params),
            "values.batchClear": lambda: values.batch_clear(spreadsheet, call.body),
            "values.append": lambda: values.append(spreadsheet, call.params, call.body),
        }
        wanted: Json = masks.select(answers[name](), call.mask)
        return wanted

    def spreadsheet(self, key: str, *, writes: bool = False) -> Spreadsheet:
        """Return the spreadsheet that has a key, for a request that writes or does not."""
        if self.forbidden.get(key) == "all" or (writes and key in self.forbidden):
            raise ApiError(403, "The caller does not have permission")
        if key not in self.spreadsheets:
            raise ApiError(404, "Requested entity was not found.")
        return self.spreadsheets[key]

    def add_spreadsheet(self, title: str, sheets: list[tuple[str, int, int]], key: str) -> Spreadsheet:
        """Add a spreadsheet, whose first sheet has the id 0, and return it."""
        spreadsheet = Spreadsheet(key, title, limit=self.limit)
        for index, (name, rows, columns) in enumerate(sheets):
            wanted: Json = {"title": name, "gridProperties": {"rowCount": rows, "columnCount": columns}}
            wanted |= {} if index else {"sheetId": 0}
            spreadsheet.sheets.append(make_sheet(spreadsheet, wanted))
        self.spreadsheets[key] = spreadsheet
        return spreadsheet

    def _create(self, body: Json) -> Spreadsheet:
        """`spreadsheets.create`: make a spreadsheet with empty sheets of some properties, by default with one."""
        wanted = body.get("sheets") or [{"properties": {"sheetId": 0, "title": "Sheet1"}}]
        if unknown := {*body, *(name for sheet in wanted for name in sheet)} - {"properties", "sheets"}:
            raise unsupported_error(f"{', '.join(sorted(unknown))} in a new spreadsheet")
        properties = dict(body.get("properties") or {})
        spreadsheet = Spreadsheet(new_key(), properties.pop("title", "Untitled spreadsheet"), limit=self.limit)
        spreadsheet.properties = properties
        for sheet in wanted:
            spreadsheet.sheets.append(make_sheet(spreadsheet, sheet.get("properties") or {}))
        self.spreadsheets[spreadsheet.key] = spreadsheet
        return spreadsheet


def _parse_content(body: bytes) -> Any:
    """Return the JSON of a body; {} for an empty one."""
    if not body.strip():
        return {}
    try:
        content = json.loads(body, parse_constant=_refuse_constant)
        if rb"\ud" in body or rb"\uD" in body:
            json.dumps(content, ensure_ascii=False).encode()  # a lone surrogate is not text
    except (ValueError, RecursionError):
        raise invalid("Invalid JSON payload received. Unexpected token.") from None
    return content


def _refuse_constant(name: str) -> None:
    """Refuse NaN and Infinity, which are no JSON."""
    raise ValueError(name)
