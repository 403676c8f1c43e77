"""`Connection`: a WSGI application that makes answers of requests, and the faults that tests ask for."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote

from ...columns import without_collection
from . import bundles
from .drive import NOBODY
from .errors import ApiError, FileContent, Json, invalid
from .faults import ODD_ANSWERS, Fault, Quota, find_fault
from .methods import Method
from .service import Service

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

# The target of a request: a method and the parameters of its path; a text, the media type of a bundle; or an error
Target = tuple[Method, dict[str, str]] | str | ApiError
ServiceAnswer = Json | FileContent | ApiError
_JSON = "application/json; charset=UTF-8"
_NAMES = ("127.0.0.1", "localhost")  # the hosts that a request may name


@dataclass
class Record:
    """One request, and how it was answered.

    Attributes:
        method: the HTTP method.
        path: of the URL, quoted as it was sent.
        query: of the URL, quoted as it was sent.
        received: the body.
        sent: the body of the answer, or the part of it that was sent.
        status: the HTTP status of the answer; 0 if none was sent.
        writes: whether it counts as a write for the quota.
        user: who sent it; None for the owner, "" for somebody who has an API key only.
    """

    method: str
    path: str
    query: str
    received: bytes = field(repr=False)
    writes: bool = False
    user: str | None = None
    status: int = 0
    sent: bytes = field(default=b"", repr=False)


class DroppedError(ConnectionError):
    """The connection of a request is gone, so that it cannot be answered."""


class Connection:
    """A WSGI application around a service.

    Attributes:
        requests: the records of all requests so far.
        faults: the faults that tests ask for.
        on_request: called with the record of each request before it is answered.
        crashes: exceptions that are bugs of the emulator.
        lock: held while the state of the service is read or changed.
        closing: set when the server closes, which ends the waiting of faults.
    """

    def __init__(self, service: Service, quota: Quota, payload: int) -> None:
        self.requests: list[Record] = []
        self.faults: list[Fault] = []
        self.on_request: Callable[[Record], object] | None = None
        self.crashes: list[Exception] = []
        self.lock = threading.RLock()
        self.closing = threading.Event()
        self._service = service
        self._quota = quota
        self._payload = payload

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        record = _read_record(environ)
        try:
            return self._serve(environ, start_response, record)
        except DroppedError:
            raise
        except Exception as crash:  # a bug of the emulator must not pass for an answer of the service
            self.crashes.append(crash)
            return _respond(start_response, record, ApiError(500, f"The emulator failed: {crash!r}"))

    def _serve(self, environ: WSGIEnvironment, start_response: StartResponse, record: Record) -> Iterable[bytes]:
        record.user = self._find_user(environ, record)
        target = self._find_target(environ, record)
        with self.lock:
            self.requests.append(record)
        if self.on_request is not None:
            self.on_request(record)
        with self.lock:
            fault = find_fault(self.faults, record.method, unquote(f"{record.path}?{record.query}"))
        if fault is None:
            return _respond(start_response, record, self._answer(record, target))
        if fault.status == "reset-before":
            _reset(environ)
        if fault.error_code and not fault.applied:
            return _respond(start_response, record, fault.error(writes=record.writes))
        if fault.odd:
            if fault.applied:
                self._answer(record, target)
            return _send(start_response, record, self._odd_answer(fault, record), "200 OK")
        if fault.status == "late":
            self.closing.wait(fault.seconds)
        answer = self._answer(record, target)
        if fault.status == "slow":
            self.closing.wait(fault.seconds)
        if fault.status == "reset-after":
            _reset(environ)
        if fault.error_code:
            answer = fault.error(writes=record.writes)
        return _respond(start_response, record, answer, truncated=fault.status == "truncated")

    def _find_user(self, environ: WSGIEnvironment, record: Record) -> str | None:
        """Return the user whose token a request has; None for any other token; NOBODY for an API key without one."""
        token = str(environ.get("HTTP_AUTHORIZATION", ""))
        keyed = "HTTP_X_GOOG_API_KEY" in environ or "key=" in record.query
        if keyed and not token and ("HTTP_X_GOOG_API_KEY" in environ or parse_qs(record.query).get("key")):
            return NOBODY
        return self._service.users.get(token.removeprefix("Bearer "))

    def _odd_answer(self, fault: Fault, record: Record) -> bytes:
        """Return the body of an answer that has the status of a success, but not the content (`Fault.odd`)."""
        with self.lock:
            before = [other.sent for other in self.requests if other is not record and other.status == 200]
        return before[-1] if fault.status == "repeated" and before else ODD_ANSWERS.get(str(fault.status), b"{}")

    def _find_target(self, environ: WSGIEnvironment, record: Record) -> Target:
        """Return the method that a request calls, the media type of the bundle that it is, or an error."""
        if str(environ.get("HTTP_HOST", "")).partition(":")[0] not in _NAMES:
            return ApiError(403, "The emulator answers to 127.0.0.1 and localhost only.")
        if bundles.is_bundle(record.method, record.path):
            return str(environ.get("CONTENT_TYPE", ""))
        return self._find_method(record)

    def _find_method(self, record: Record) -> Target:
        try:
            method, params = self._service.find_method(record.method, record.path)
        except ApiError as error:
            return error
        record.writes = method.writes
        return method, params

    def _answer_bundle(self, record: Record, content_type: str) -> ServiceAnswer:
        """Return the answer to a bundle; each of its requests has a record, and counts for the quota."""
        answers = []
        try:
            for request in bundles.read_bundle(record.received, content_type):
                path, _, query = request.target.partition("?")
                inner = Record(request.method, path, query, request.body, user=record.user)
                answer = self._answer(inner, self._find_method(inner))
                inner.status, inner.sent, kind = _encode_answer(answer)
                with self.lock:
                    self.requests.append(inner)
                answers.append((request.content_id, inner.status, inner.sent, kind))
        except ApiError as error:
            return error
        return bundles.write_bundle(answers)

    def _answer(self, record: Record, target: Target) -> ServiceAnswer:
        """Return the answer of the service to a request; an error is returned too, not raised."""
        if isinstance(target, str):
            return self._answer_bundle(record, target)
        if isinstance(target, ApiError):
            return target
        try:
            self._quota.take(writes=record.writes)
            if len(record.received) > self._payload:
                raise invalid(f"Request payload size exceeds the limit: {self._payload} bytes.")
            with without_collection():
                call = self._service.read_call(*target, record.query, record.received)
                call.user = record.user
                with self.lock:
                    return self._service.answer(call)
        except ApiError as error:
            return error
        except (AttributeError, KeyError, TypeError, ValueError):
            if self._service.schema is not None:
                raise
            return invalid("Request contains an invalid argument.")  # a body that no schema has checked is to blame


def _read_record(environ: WSGIEnvironment) -> Record:
    """Read a request to its end, and return its record."""
    from werkzeug.exceptions import ClientDisconnected
    from werkzeug.wsgi import get_input_stream

    path, _, query = str(environ["RAW_URI"]).partition("?")
    method = str(environ["REQUEST_METHOD"])
    try:
        body = get_input_stream(environ).read()
    except (ClientDisconnected, OSError):
        raise DroppedError("the client went away in the middle of its request") from None
    if method == "POST" and (other := str(environ.get("HTTP_X_HTTP_METHOD_OVERRIDE", "")).upper()):
        method = other  # clients send a query that is too long for a URL in the body
        if str(environ.get("CONTENT_TYPE", "")).startswith("application/x-www-form-urlencoded"):
            query, body = "&".join(filter(None, (query, body.decode("latin-1")))), b""
    return Record(method, path, query, body)


def _respond(
    start_response: StartResponse, record: Record, answer: ServiceAnswer, *, truncated: bool = False
) -> Iterable[bytes]:
    """Send an answer; a truncated one ends after half of the bytes that its Content-Length says."""
    headers = list(answer.headers.items()) if isinstance(answer, ApiError) else []
    reason = "Error" if isinstance(answer, ApiError) else "OK"
    record.status, body, kind = _encode_answer(answer)
    part = body[: len(body) // 2] if truncated else body
    if truncated:
        headers.append(("Connection", "close"))
    return _send(start_response, record, part, f"{record.status} {reason}", headers, len(body), kind)


def _encode_answer(answer: ServiceAnswer) -> tuple[int, bytes, str]:
    """Return the status, the bytes and the media type of an answer."""
    if isinstance(answer, FileContent):
        return 200, answer.content, answer.kind
    if isinstance(answer, ApiError):
        return answer.code, _to_json(answer.body()), _JSON
    return 200, _to_json(answer), _JSON


def _to_json(content: Json | ApiError) -> bytes:
    """Return JSON; integers of more than 64 bits, which orjson refuses, are written by Python's `json`."""
    import orjson

    try:
        return orjson.dumps(content)
    except orjson.JSONEncodeError:
        return json.dumps(content, ensure_ascii=False).encode()


def _send(
    start_response: StartResponse,
    record: Record,
    body: bytes,
    status: str,
    headers: Sequence[tuple[str, str]] = (),
    length: int | None = None,
    kind: str = _JSON,
) -> Iterable[bytes]:
    """Send bytes as the body of an answer, whose Content-Length may be another (`length`)."""
    record.status, record.sent = int(status.partition(" ")[0]), body
    content = ("Content-Type", kind)
    start_response(status, [*headers, content, ("Content-Length", str(len(body) if length is None else length))])
    return [body]


def _reset(environ: WSGIEnvironment) -> None:
    """Break a connection off, so that the client gets a TCP reset instead of the end of an answer."""
    connection: socket.socket = environ["werkzeug.socket"]
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(connection.detach())
    raise DroppedError("reset on purpose")
