"""The service without its wire: which method a request calls, and the spreadsheets that it works on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote

from . import batch, creating, drive, filters, masks, resource, values
from .batch import metadata
from .batch.sheets import make_sheet
from .errors import ApiError, FileContent, Json, invalid
from .protection import protecting
from .schema import MessageSchemas, drop_nulls
from .spreadsheet import CELLS_LIMIT, Spreadsheet, new_key

_KEY = r"/v4/spreadsheets/(?P<spreadsheetId>[^/:]+)"
_RANGE = rf"{_KEY}/values/(?P<range>.+)"
_LISTS = {"ranges"}
_FLAGS = {"includeGridData", "includeValuesInResponse", "prettyPrint"}


@dataclass(frozen=True)
class Method:
    """A method of the service.

    Attributes:
        name: what the discovery document calls it.
        http: its HTTP method.
        path: of its URL, still quoted.
        prefix: where its body is bound, as messages show.
        writes: whether it counts as a write.
    """

    name: str
    http: str
    path: str
    prefix: str = ""
    writes: bool = False

    def match(self, http: str, path: str) -> dict[str, str] | None:
        """Return the parameters in the path of a request that calls it."""
        match = re.fullmatch(self.path, path) if http == self.http else None
        return {name: unquote(part) for name, part in match.groupdict().items()} if match else None


_FILES = "/drive/v3/files"
_FILE = rf"{_FILES}/(?P<fileId>[^/:]+)"
_PERMISSION = f"{_FILE}/permissions/(?P<permissionId>[^/]+)"

METHODS = [
    Method("drive.files.create", "POST", _FILES, "", True),
    Method("drive.files.list", "GET", _FILES),
    Method("drive.files.get", "GET", f"{_FILE}/?"),
    Method("drive.files.delete", "DELETE", f"{_FILE}/?", "", True),
    Method("drive.files.update", "PATCH", f"{_FILE}/?", "", True),
    Method("drive.files.copy", "POST", f"{_FILE}/copy", "", True),
    Method("drive.files.export", "GET", f"{_FILE}/export"),
    Method("drive.files.upload", "POST", f"/upload{_FILES}", "", True),
    Method("drive.files.replace", "PUT", "/upload/drive/v2/files/(?P<fileId>[^/:]+)", "", True),
    Method("drive.comments.list", "GET", f"{_FILE}/comments"),
    Method("drive.comments.create", "POST", f"{_FILE}/comments", "", True),
    Method("drive.permissions.create", "POST", f"{_FILE}/permissions", "", True),
    Method("drive.permissions.list", "GET", f"{_FILE}/permissions"),
    Method("drive.permissions.get", "GET", _PERMISSION),
    Method("drive.permissions.update", "PATCH", _PERMISSION, "", True),
    Method("drive.permissions.delete", "DELETE", _PERMISSION, "", True),
    Method("spreadsheets.create", "POST", "/v4/spreadsheets/?", "spreadsheet", True),
    Method("spreadsheets.get", "GET", f"{_KEY}/?"),
    Method("spreadsheets.batchUpdate", "POST", f"{_KEY}/?:batchUpdate", "", True),
    Method("spreadsheets.getByDataFilter", "POST", f"{_KEY}/?:getByDataFilter"),
    Method("spreadsheets.values.batchGetByDataFilter", "POST", f"{_KEY}/values:batchGetByDataFilter"),
    Method("spreadsheets.values.batchUpdateByDataFilter", "POST", f"{_KEY}/values:batchUpdateByDataFilter", "", True),
    Method("spreadsheets.values.batchClearByDataFilter", "POST", f"{_KEY}/values:batchClearByDataFilter", "", True),
    Method("spreadsheets.values.batchGet", "GET", f"{_KEY}/values:batchGet"),
    Method("spreadsheets.values.batchUpdate", "POST", f"{_KEY}/values:batchUpdate", "", True),
    Method("spreadsheets.values.batchClear", "POST", f"{_KEY}/values:batchClear", "", True),
    Method("spreadsheets.values.append", "POST", f"{_RANGE}:append", "data", True),
    Method("spreadsheets.values.clear", "POST", f"{_RANGE}:clear", "", True),
    Method("spreadsheets.values.update", "PUT", _RANGE, "data", True),
    Method("spreadsheets.values.get", "GET", _RANGE),
    Method("spreadsheets.developerMetadata.search", "POST", f"{_KEY}/developerMetadata:search"),
    Method("spreadsheets.developerMetadata.get", "GET", f"{_KEY}/developerMetadata/(?P<metadataId>[^/]+)"),
    Method("spreadsheets.sheets.copyTo", "POST", rf"{_KEY}/sheets/(?P<sheetId>[^/:]+):copyTo", "", True),
]


@dataclass
class Call:
    """A request that has found its method; `user` is None for the owner, and drive.NOBODY for a key of the API."""

    method: Method
    params: Json
    body: Json
    mask: masks.FieldMask
    user: str | None = None


@dataclass
class Service:
    """Spreadsheets by key, and who may touch them.

    Attributes:
        limit: cells of one spreadsheet.
        schema: what requests are held against; None for nothing.
        forbidden: keys that are refused: "all", or only "writes".
        users: who sends a request, by the token of its Authorization header; any other token is the owner's.
        entries: what Drive knows of spreadsheets, by their keys.
    """

    limit: int = CELLS_LIMIT
    schema: MessageSchemas | None = None
    spreadsheets: dict[str, Spreadsheet] = field(default_factory=dict)
    forbidden: dict[str, str] = field(default_factory=dict)
    users: dict[str, str] = field(default_factory=dict)
    entries: dict[str, drive.DriveEntry] = field(default_factory=dict)

    def find_method(self, http: str, path: str) -> tuple[Method, dict[str, str]]:
        """Return the method that a request calls, and the parameters of its path."""
        for method in METHODS:
            if (params := method.match(http, path)) is not None:
                return method, params
        raise ApiError(404, f"The emulator has no method {http} {path}")

    def read_call(self, method: Method, params: dict[str, str], query: str, body: bytes) -> Call:
        """Return a request, checked against the schema."""
        parameters = parse_qs(query, keep_blank_values=True)
        if method.name.startswith("drive."):
            content = _UPLOADS[method.name](body) if method.name in _UPLOADS else _parse_content(body)
            mask = masks.parse(parameters["fields"][-1]) if parameters.get("fields", [""])[-1] else {}
            return Call(method, {**_to_typed(parameters), **params}, content, mask)
        typed = self.schema.query(method.name, parameters) if self.schema else _to_typed(parameters)
        content = _parse_content(body) if method.http != "GET" else {}
        if method.name == "spreadsheets.batchUpdate" and isinstance(content, dict):
            content["requests"] = _flatten(content.get("requests"))
        checked = self.schema.body(method.name, content, method.prefix) if self.schema else drop_nulls(content)
        mask = masks.parse(parameters["fields"][-1]) if parameters.get("fields", [""])[-1] else {}
        if self.schema:
            self.schema.fields(method.name, mask)
        return Call(method, {**typed, **params}, checked, mask)

    def answer(self, call: Call) -> Json | FileContent:
        """Do what a request asks; a request that fails has changed nothing."""
        if not call.method.writes:
            return self._answer(call)
        self._forget_results()
        try:
            return self._answer(call)
        finally:
            self._forget_results()
            drive.note_change(self, call.params)

    def _forget_results(self) -> None:
        """Let formulas be worked out anew."""
        for spreadsheet in self.spreadsheets.values():
            spreadsheet.evaluator = None

    def _answer(self, call: Call) -> Json | FileContent:
        if call.user == drive.NOBODY:
            drive.refuse_nobody(self, call.params, writes=call.method.writes)
        if call.method.name.startswith("drive."):
            said = drive.answer(self, call.method.name.removeprefix("drive."), call.params, call.body)
            return said if isinstance(said, FileContent) else apply_mask(call, said)
        name = call.method.name.removeprefix("spreadsheets.")
        if name == "create":
            return self._create(call)
        spreadsheet = self.spreadsheet(call.params["spreadsheetId"], writes=call.method.writes)
        spreadsheet.user = call.user
        if name == "get":
            return self._get(spreadsheet, call)
        if name == "batchUpdate":
            return batch.update(spreadsheet, call.body, call.mask)
        if name == "getByDataFilter":
            return filters.get(spreadsheet, call.body, call.mask)
        if name == "sheets.copyTo":
            return apply_mask(call, self._copy_to(spreadsheet, call))
        answers: dict[str, Callable[[], Json]] = {
            "values.get": lambda: values.get(spreadsheet, call.params),
            "values.batchGet": lambda: values.batch_get(spreadsheet, call.params),
            "values.update": lambda: values.update(spreadsheet, call.params, call.body),
            "values.batchUpdate": lambda: values.batch_update(spreadsheet, call.body),
            "values.clear": lambda: values.clear(spreadsheet, call.params),
            "values.batchClear": lambda: values.batch_clear(spreadsheet, call.body),
            "values.append": lambda: values.append(spreadsheet, call.params, call.body),
            "values.batchGetByDataFilter": lambda: filters.batch_get(spreadsheet, call.body),
            "values.batchUpdateByDataFilter": lambda: filters.batch_update(spreadsheet, call.body),
            "values.batchClearByDataFilter": lambda: filters.batch_clear(spreadsheet, call.body),
            "developerMetadata.search": lambda: metadata.search(spreadsheet, call.body),
            "developerMetadata.get": lambda: metadata.get(spreadsheet, call.params["metadataId"]),
        }
        if not call.method.writes:
            return apply_mask(call, answers[name]())
        with protecting(spreadsheet):
            return apply_mask(call, answers[name]())

    def spreadsheet(self, key: str, *, writes: bool = False) -> Spreadsheet:
        """Return the spreadsheet of a key."""
        if self.forbidden.get(key) == "all" or (writes and key in self.forbidden):
            raise ApiError(403, "The caller does not have permission")
        if key not in self.spreadsheets:
            raise ApiError(404, "Requested entity was not found.")
        return self.spreadsheets[key]

    def add_spreadsheet(self, title: str, sheets: list[tuple[str, int, int]], key: str | None = None) -> Spreadsheet:
        """Return a new spreadsheet; its first sheet has the id 0."""
        spreadsheet = Spreadsheet(key or new_key(), title, limit=self.limit)
        for index, (name, rows, columns) in enumerate(sheets):
            wanted: Json = {"title": name, "gridProperties": {"rowCount": rows, "columnCount": columns}}
            wanted |= {} if index else {"sheetId": 0}
            spreadsheet.sheets.append(make_sheet(spreadsheet, wanted))
        self.spreadsheets[spreadsheet.key] = spreadsheet
        return spreadsheet

    def _create(self, call: Call) -> Json:
        spreadsheet = creating.create_spreadsheet(call.body, self.limit)
        self.spreadsheets[spreadsheet.key] = spreadsheet
        return resource.build_resource(spreadsheet, call.mask)

    def _get(self, spreadsheet: Spreadsheet, call: Call) -> Json:
        return resource.build_resource(
            spreadsheet,
            call.mask,
            ranges=call.params.get("ranges"),
            grid_data=bool(call.params.get("includeGridData")),
        )

    def _copy_to(self, spreadsheet: Spreadsheet, call: Call) -> Json:
        target = self.spreadsheet(call.body.get("destinationSpreadsheetId") or "", writes=True)
        text = call.params["sheetId"]
        if not text.isdecimal():
            raise invalid(f"Invalid value at 'sheet_id' (TYPE_INT32), \"{text}\"")
        draft = target.copy()
        source = spreadsheet.sheet(int(text))
        wanted = {"gridProperties": {"rowCount": source.grid.rows, "columnCount": source.grid.columns}}
        title = f"Copy of {source.title}"
        while draft.sheet_titled(title) is not None:
            title = f"Copy of {title}"
        new = make_sheet(draft, {**wanted, "title": title})
        copied = source.copy()
        copied.id, copied.title = new.id, title
        draft.sheets.append(copied)
        target.become(draft)
        return resource.build_sheet_properties(copied, len(draft.sheets) - 1)


def apply_mask(call: Call, answer: Json) -> Json:
    """Return the parts of an answer that the request's mask names."""
    wanted: Json = masks.select(answer, call.mask)
    return wanted


def _parse_content(body: bytes) -> Any:
    if not body.strip():
        return {}
    try:
        content = json.loads(body, parse_constant=_no_constant)
        if rb"\ud" in body or rb"\uD" in body:
            json.dumps(content, ensure_ascii=False).encode()  # a lone surrogate is no text
    except (ValueError, RecursionError):
        raise invalid("Invalid JSON payload received. Unexpected token.") from None
    return content


def _decode_text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise invalid("The uploaded text is not UTF-8.") from None


_UPLOADS: dict[str, Callable[[bytes], Any]] = {"drive.files.replace": _decode_text, "drive.files.upload": bytes}


def _flatten(requests: Any) -> Any:
    """Return the requests of a batch, those in lists among them too and nulls left out, as some clients send them."""
    if not isinstance(requests, list) or all(isinstance(request, dict) for request in requests):
        return requests
    flat = [inner for request in requests for inner in (request if isinstance(request, list) else [request])]
    return [request for request in flat if request is not None]


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _to_typed(query: dict[str, list[str]]) -> Json:
    """Return the parameters of a query, where no schema knows them."""
    return {
        name: values if name in _LISTS else values[-1].lower() == "true" if name in _FLAGS else values[-1]
        for name, values in query.items()
    }
