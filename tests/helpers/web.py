"""A web server on this machine, of files in memory, that notes what it was asked for."""

from __future__ import annotations

import re
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Web:
    """The server: its address, its files, and what it was asked for.

    `answers` are statuses by the path; `after` is called with the path when a GET was answered.
    """

    address: str = ""
    ranges: bool = True
    sized: bool = True
    files: dict[str, bytes] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    requests: list[list[Any]] = field(default_factory=list)
    after: Any = None

    def url(self, path: str) -> str:
        return f"{self.address}/{path}"

    def asked(self) -> list[tuple[str, str, int]]:
        """Return method, path and bytes of each request since this was called last."""
        requests, self.requests = self.requests, []
        return [(method, path, size) for method, path, size in requests]


class _Handler(BaseHTTPRequestHandler):
    web: Web
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(b"", head=True)

    def do_GET(self) -> None:
        self._answer(b"", head=False)

    def _answer(self, content: bytes, *, head: bool) -> None:
        web, path = self.web, self.path.partition("?")[0].lstrip("/")
        status = web.statuses.get(path, 200 if path in web.files else 404)
        content = web.files.get(path, b"") if status == 200 else b"no"
        asked = self.headers.get("Range")
        if status == 200 and web.ranges and asked and (match := re.fullmatch(r"bytes=(\d+)-(\d+)", asked)):
            first, last = int(match[1]), min(int(match[2]), len(content) - 1)
            whole, content, status = len(content), content[first : last + 1], 206
        self.send_response(status)
        if status == 206:
            self.send_header("Content-Range", f"bytes {first}-{last}/{whole}")
        self.send_header("ETag", f'"{web.versions.get(path, 0)}"')
        if web.sized or status != 200:
            self.send_header("Content-Length", str(len(content)))
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        sent, request = 0, [self.command, path, 0]
        web.requests.append(request)
        try:
            while not head and sent < len(content):
                sent += len(chunk := content[sent : sent + 65536])
                request[2] = sent
                if web.after is not None and sent == len(content):
                    web.after(path)
                self.wfile.write(chunk)
        except OSError:
            self.close_connection = True  # whoever asked has read enough


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # of whoever has read enough
            super().handle_error(request, client_address)


@contextmanager
def serve_web(host: str = "127.0.0.1") -> Iterator[Web]:
    """Run a server at an address of this machine, of either kind."""
    web = Web()
    kind = type("Server", (_Server,), {"address_family": socket.AF_INET6 if ":" in host else socket.AF_INET})
    server = kind((host, 0), type("Handler", (_Handler,), {"web": web}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    web.address = f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}"
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
