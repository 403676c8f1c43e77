"""The service without HTTP: its methods, its spreadsheets, and the answer to a request."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from . import batch, creating, drive, filters, masks, resource, values
from .batch import metadata
from .batch.sheets import make_sheet
from .errors import ApiError, FileContent, Json, invalid
from .methods import METHODS, Method
from .protection import protecting
from .schema import MessageSchemas, drop_nulls
from .spreadsheet import CELLS_LIMIT, Spreadsheet, new_key

# Parameters of queries that may stand several times, and those that are booleans
_LISTS = {"ranges"}
_FLAGS = {"includeGridData", "includeValuesInResponse", "prettyPrint"}


@dataclass
class Call:
    """A request that has been read.

    Attributes:
        method: which it calls.
        params: of its path and its query.
        body: checked; {} without one.
        mask: the fields of the answer that are wanted; {} for all.
        user: who sends it; None is the owner, `drive.NOBODY` somebody who has an API key only.
    """

    method: Method
    params: Json
    body: Json
    mask: masks.FieldMask
    user: str | None = None


@dataclass
class Service:
    """The state of the service.

    Attributes:
        limit: the most cells that one spreadsheet may have.
        schema: the schemas that requests must follow; None to check none.
        spreadsheets: by key.
        forbidden: the keys for which requests are refused: "all" of them, or only "writes".
        users: the addresses of users by the tokens of Authorization headers; any other token is the owner's.
        entries: what Drive keeps of spreadsheets, by key.
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
        """Return a request with its query and body read and checked.

        Args:
            method: which it calls.
            params: of the path.
            query: of the URL, quoted.
            body: as it was sent.

        Raises:
            ApiError: the query or the body is not what the method takes.
        """
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
        """Do what a request asks, and return the answer.

        Raises:
            ApiError: the request is refused, and has changed nothing.
        """
        if not call.method.writes:
            return self._answer(call)
        self._forget_results()
        try:
            return self._answer(call)
        finally:
            self._forget_results()
            drive.note_change(self, call.params)

    def _forget_results(self) -> None:
        """Forget the results of all formulas, so that they are worked out anew."""
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
        """Return the spreadsheet that has a key, for a request that writes or does not.

        Raises:
            ApiError: 403 if requests for it are refused, 404 if no spreadsheet has the key.
        """
        if self.forbidden.get(key) == "all" or (writes and key in self.forbidden):
            raise ApiError(403, "The caller does not have permission")
        if key not in self.spreadsheets:
            raise ApiError(404, "Requested entity was not found.")
        return self.spreadsheets[key]

    def add_spreadsheet(self, title: str, sheets: list[tuple[str, int, int]], key: str | None = None) -> Spreadsheet:
        """Add a spreadsheet, whose first sheet has the id 0, and return it.

        Args:
            title: of the spreadsheet.
            sheets: title, number of rows and number of columns of each sheet.
            key: None for a random one.
        """
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
    """Return the JSON of a body; {} for an empty one."""
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
    """Return the requests of a batchUpdate without nulls, and with lists of requests among them made one list.

    Some clients send such lists and nulls, and the service takes them.
    """
    if not isinstance(requests, list) or all(isinstance(request, dict) for request in requests):
        return requests
    flat = [inner for request in requests for inner in (request if isinstance(request, list) else [request])]
    return [request for request in flat if request is not None]


def _no_constant(name: str) -> None:
    """Refuse NaN and Infinity, which are no JSON."""
    raise ValueError(name)


def _to_typed(query: dict[str, list[str]]) -> Json:
    """Return the parameters of a query as lists, booleans and texts; used if no schema says their types."""
    return {
        name: values if name in _LISTS else values[-1].lower() == "true" if name in _FLAGS else values[-1]
        for name, values in query.items()
    }
