"""`SheetsServer`: the emulator behind real HTTP on 127.0.0.1, in a thread of its own, with faults on demand."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from weakref import WeakSet

from .errors import ApiError, Json, invalid
from .faults import ODD_ANSWERS, Fault, Quota, find_fault
from .formulas import Scalar, evaluator_of
from .schema import MessageSchemas
from .service import Method, Service
from .spreadsheet import CELLS_LIMIT, Spreadsheet, new_key

if TYPE_CHECKING:
    from gspread import Client

HOST = "127.0.0.1"
PAYLOAD_LIMIT = 10_485_760  # bytes of a body
_NAMES = (HOST, "localhost")  # the hosts that a request may name
_ORIGINS = ("https://sheets.googleapis.com/v4/", "https://www.googleapis.com/drive/v3/")


@dataclass
class Record:
    """One request, and how it was answered."""

    method: str  # the HTTP method
    path: str  # of the URL, quoted as it was sent
    query: str  # of the URL, quoted as it was sent
    received: bytes = field(repr=False)  # the body
    writes: bool = False  # whether it counts as a write for the quota
    status: int = 0  # the HTTP status of the answer; 0 if none was sent
    sent: bytes = field(default=b"", repr=False)  # the body of the answer, or the part of it that was sent


class SheetsServer:
    """A Google Sheets service on 127.0.0.1, to test against; see the package's docstring.

    Args:
        port: of 127.0.0.1; 0 for any free one.
        cells: the most cells that one spreadsheet may have.
        quota: the most reads and the most writes in a minute; None for no limit.
        payload: the most bytes that the body of a request may have.

    Attributes:
        url: the URL of the service, without a slash at the end.
        clock: returns the seconds by which the quota counts minutes; `time.monotonic`, unless a test replaces it.
        requests: the record of every request so far, oldest first; the list may be cleared.
        faults: the faults that happen on purpose; may be added to and cleared at any time.
        on_request: called with the record of each request before anything is done about it.

    Example:
        >>> with SheetsServer() as server:
        ...     key = server.create(sheets=[("readings", 100, 4)])
        ...     sheet = server.client().open_by_key(key).worksheet("readings")
        ...     _ = sheet.update([["a", 1.5]], "A1")
        ...     server.cells(key, "readings")
        [['a', 1.5]]
    """

    def __init__(
        self,
        *,
        port: int = 0,
        cells: int = CELLS_LIMIT,
        quota: tuple[int, int] | None = None,
        payload: int = PAYLOAD_LIMIT,
    ) -> None:
        self.clock: Callable[[], float] = time.monotonic
        self.requests: list[Record] = []
        self.faults: list[Fault] = []
        self.on_request: Callable[[Record], object] | None = None
        self._service = Service(MessageSchemas.load(), limit=cells)
        self._quota, self._payload = Quota(quota, lambda: self.clock()), payload
        self._lock = threading.RLock()  # held while the state of the service is read or changed
        self._closing = threading.Event()  # ends the waiting of faults
        self._crashes: list[Exception] = []  # bugs of the emulator
        self._sessions: WeakSet[Any] = WeakSet()  # weakly, so that a client that is garbage closes its connections
        self._server = _Server((HOST, port), type("Handler", (_Handler,), {"answer": self._answer_request}))
        self.url = f"http://{HOST}:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def __enter__(self) -> SheetsServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(quietly=error is not None)

    def close(self, *, quietly: bool = False) -> None:
        """Stop serving.

        Args:
            quietly: whether to say nothing of errors of the emulator.

        Raises:
            RuntimeError: the emulator itself failed at a request.
        """
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        for session in list(self._sessions):
            session.close()
        if self._crashes and not quietly:
            raise RuntimeError("the emulator failed at a request") from self._crashes[0]

    def client(self) -> Client:
        """Return a real gspread client whose requests come here; any other address is refused."""
        import gspread
        import requests
        from gspread.http_client import HTTPClient

        url = self.url

        class Local(HTTPClient):
            def request(self, method: str, endpoint: str, *args: Any, **kwargs: Any) -> requests.Response:
                if not endpoint.startswith(_ORIGINS):
                    raise ValueError(f"{endpoint} is not served by the emulator")
                return super().request(method, f"{url}/{endpoint.split('/', 3)[3]}", *args, **kwargs)

        session = requests.Session()
        session.trust_env = False
        self._sessions.add(session)
        return gspread.Client(auth=None, session=session, http_client=Local)  # type: ignore[arg-type]

    def create(
        self,
        title: str = "test",
        sheets: Iterable[tuple[str, int, int]] = (("Sheet1", 1000, 26),),
        *,
        key: str | None = None,
    ) -> str:
        """Make a spreadsheet, and return its key.

        Args:
            title: of the spreadsheet.
            sheets: title, number of rows and number of columns of each sheet.
            key: letters, digits, `-` and `_`; None for a random one of the length that Google's have.

        Raises:
            ValueError: no spreadsheet can have these sheets or this key, or another spreadsheet has the key.
        """
        wanted = list(sheets)
        with self._lock:
            if key is not None and not re.fullmatch(r"[\w-]+", key, re.ASCII):
                raise ValueError(f"a key has letters, digits, - and _ only, unlike {key!r}")
            if key in self._service.spreadsheets:
                raise ValueError(f"there is a spreadsheet {key!r} already")
            if not wanted or any(min(rows, columns) < 1 for _, rows, columns in wanted):
                raise ValueError("a spreadsheet has at least one sheet, and each at least one row and one column")
            try:
                return self._service.add_spreadsheet(title, wanted, key or new_key()).key
            except ApiError as error:
                raise ValueError(error.message) from None

    def cells(self, key: str, sheet: str) -> list[list[Scalar]]:
        """Return the values of a sheet row by row, with None for a blank, and without blanks at the end of each row.

        Raises:
            KeyError: there is no such spreadsheet, or no such sheet.
        """
        with self._lock:
            spreadsheet = self._spreadsheet(key)
            held = spreadsheet.sheet_titled(sheet)
            if held is None:
                titles = [other.title for other in spreadsheet.sheets]
                raise KeyError(f"there is no sheet {sheet!r}; there are {titles}")
            evaluator, grid = evaluator_of(spreadsheet), held.grid
            columns = [grid.column(index, 0, grid.rows) for index in range(grid.columns)]
            rows = []
            for row in range(max(map(len, columns), default=0)):
                line = [evaluator.value(held, row, index, grid.cell(row, index)) for index in range(grid.columns)]
                while line and line[-1] is None:
                    line.pop()
                rows.append(line)
            return rows

    def snapshot(self, key: str) -> Spreadsheet:
        """Return the whole state of a spreadsheet as it is now; later requests do not change it.

        Raises:
            KeyError: there is none of this key.
        """
        with self._lock:
            return self._spreadsheet(key).copy()

    def _spreadsheet(self, key: str) -> Spreadsheet:
        if key not in self._service.spreadsheets:
            raise KeyError(f"there is no spreadsheet {key!r}; there are {list(self._service.spreadsheets)}")
        return self._service.spreadsheets[key]

    def forbid(self, key: str, *, writes_only: bool = False) -> None:
        """Answer requests for a key, or only those that write, with 403."""
        with self._lock:
            self._service.forbidden[key] = "writes" if writes_only else "all"

    def allow(self, key: str) -> None:
        """Undo `forbid`."""
        with self._lock:
            self._service.forbidden.pop(key, None)

    def _answer_request(self, handler: _Handler, record: Record) -> None:
        try:
            self._answer_or_fail(handler, record)
        except OSError:
            handler.close_connection = True  # nobody is there any more who could be answered
        except Exception as crash:  # a bug of the emulator must not pass for an answer of the service
            self._crashes.append(crash)
            handler.respond(record, ApiError(500, f"The emulator failed: {crash!r}"))

    def _answer_or_fail(self, handler: _Handler, record: Record) -> None:
        """Answer a request, unless a fault strikes it."""
        target = self._find_target(handler, record)
        with self._lock:
            self.requests.append(record)
        if self.on_request is not None:
            self.on_request(record)
        with self._lock:
            fault = find_fault(self.faults, record.method, unquote(f"{record.path}?{record.query}"))
        if fault is None:
            handler.respond(record, self._answer(record, target))
        elif fault.status == "reset-before":
            handler.reset()
        elif fault.error_code and not fault.applied:
            handler.respond(record, fault.error(writes=record.writes))
        elif fault.odd:
            if fault.applied:
                self._answer(record, target)
            handler.send(record, 200, self._odd_answer(fault, record))
        else:
            if fault.status == "late":
                self._closing.wait(fault.seconds)
            answer = self._answer(record, target)
            if fault.status == "slow":
                self._closing.wait(fault.seconds)
            if fault.status == "reset-after":
                handler.reset()
                return
            answer = fault.error(writes=record.writes) if fault.error_code else answer
            handler.respond(record, answer, truncated=fault.status == "truncated")

    def _odd_answer(self, fault: Fault, record: Record) -> bytes:
        """Return the body of an answer that has the status of a success, but not the content (`Fault.odd`)."""
        with self._lock:
            before = [other.sent for other in self.requests if other is not record and other.status == 200]
        return before[-1] if fault.status == "repeated" and before else ODD_ANSWERS.get(str(fault.status), b"{}")

    def _find_target(self, handler: _Handler, record: Record) -> _Target:
        """Return the method that a request calls with the parameters of its path, or an error."""
        if handler.headers.get("Host", "").partition(":")[0] not in _NAMES:
            return ApiError(403, "The emulator answers to 127.0.0.1 and localhost only.")
        try:
            method, params = self._service.find_method(record.method, record.path)
        except ApiError as error:
            return error
        record.writes = method.writes
        return method, params

    def _answer(self, record: Record, target: _Target) -> Json | ApiError:
        """Return the answer of the service to a request; an error is returned too, not raised."""
        if isinstance(target, ApiError):
            return target
        try:
            self._quota.take(writes=record.writes)
            if len(record.received) > self._payload:
                raise invalid(f"Request payload size exceeds the limit: {self._payload} bytes.")
            call = self._service.read_call(*target, record.query, record.received)
            with self._lock:
                return self._service.answer(call)
        except ApiError as error:
            return error


# The method that a request calls with the parameters of its path, or an error
_Target = tuple[Method, dict[str, str]] | ApiError


class _Handler(BaseHTTPRequestHandler):
    """Reads requests and sends answers, without a log; connections stay open where the client asks for that."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # no answer waits for the client to confirm the one before
    wbufsize = -1  # the head of an answer is sent together with its body
    answer: Callable[[_Handler, Record], None]

    def _take_request(self) -> None:
        path, _, query = self.path.partition("?")
        wanted = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(wanted)
        if len(body) == wanted:  # or the client went away in the middle of its request
            type(self).answer(self, Record(self.command, path, query, body))

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _take_request  # noqa: N815  (http.server looks for these names)

    def respond(self, record: Record, answer: Json | ApiError, *, truncated: bool = False) -> None:
        """Send an answer; a truncated one ends after half of the bytes that its Content-Length says."""
        status, content = (answer.code, answer.body()) if isinstance(answer, ApiError) else (200, answer)
        headers = answer.headers if isinstance(answer, ApiError) else {}
        body = json.dumps(content, ensure_ascii=False).encode()
        self.send(record, status, body, headers, len(body) // 2 if truncated else None)

    def send(
        self, record: Record, status: int, body: bytes, headers: dict[str, str] | None = None, sent: int | None = None
    ) -> None:
        """Send the body of an answer, or only so many bytes of it (`sent`)."""
        record.status, record.sent = status, body[:sent]
        self.send_response(status)
        content = {"Content-Type": "application/json; charset=UTF-8", "Content-Length": str(len(body))}
        for name, value in {**(headers or {}), **content}.items():
            self.send_header(name, value)
        if sent is not None or self.headers.get("Connection", "").lower() != "keep-alive":
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(record.sent)
        self.wfile.flush()

    def reset(self) -> None:
        """Break the connection off, so that the client gets a TCP reset instead of the end of an answer."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Write no log."""


class _Server(ThreadingHTTPServer):
    """A threaded server that can be closed while clients keep their connections."""

    daemon_threads = False  # closing waits for requests under way
    allow_reuse_address = False

    def __init__(self, *args: Any) -> None:
        self._connections: set[Any] = set()
        super().__init__(*args)

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection, and remember it for `server_close`."""
        connection, address = super().get_request()
        self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        """Close a connection, and forget it."""
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, *_: Any) -> None:
        """Say nothing of a client that has gone away."""

    def server_close(self) -> None:
        """Let no more requests come on the open connections, then wait for those that are being answered."""
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RD)
        super().server_close()
