"""A page that asks a server on this machine for what it shows: for arrays that are too large to stand in the page.

The server listens on 127.0.0.1 alone, and every address of it begins with a token that nobody can guess. A request
that names another host is refused, which ends DNS rebinding, and so is one that another site sends. Nothing that it
answers is kept by a browser.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from ..errors import LimitError, SheetArrayError
from ..header import MAX_DIMENSIONS
from .answers import Answers
from .contents import Contents
from .html_file import make_html, page_policy
from .served import encode_elements

HOST = "127.0.0.1"
SILENCE = 150.0  # seconds without a request after a page was closed, which end the server; open pages ask every 20
_WAIT = 30.0  # seconds for a request to come in whole
_AXIS = re.compile(r"([0-9]{1,15}):([0-9]{1,15}):([0-9]{1,15})")
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


class ServedPage:
    """A page that is served until it is closed, by a thread of its own.

    Attributes:
        url: what a browser opens; it holds the token, so that only those who know it see the arrays.

    Example:
        >>> from sheetarray.pages import page
        >>> with page({"t": [[1.5, 2.5]]}, serve=True) as served:
        ...     served.url.startswith("http://127.0.0.1:")
        True
    """

    def __init__(self, contents: Contents, opened: ExitStack) -> None:
        self._contents, self._opened = contents, opened
        self._server = _Server(contents)
        self.url = self._server.url
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.2,), daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Return once all pages have been closed for some minutes, or the server has been closed."""
        while self._thread.is_alive() and not self._server.is_left():
            self._thread.join(0.5)

    def close(self) -> None:
        """End the server, and delete the temporary files of what was read."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server.answers.close()
        self._opened.close()

    def __enter__(self) -> ServedPage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ServedPage of {len(self._contents.listed):,} arrays: {self.url}>"

    def _repr_html_(self) -> str:
        return f'<a href="{self.url}" target="_blank" rel="noopener noreferrer">{self.url}</a>'


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, contents: Contents) -> None:
        super().__init__((HOST, 0), _Handler)
        contents.add_differences()
        self.answers = Answers(contents)
        self.token = secrets.token_urlsafe(32)
        self.host = f"{HOST}:{self.server_address[1]}"
        self.url = f"http://{self.host}/{self.token}/"
        self.served = contents.served
        self.html = make_html(contents, is_served=True).encode("utf-8")
        self._closed_since: float | None = None

    def note_request(self, *, closes: bool) -> None:
        """Remember whether the last request said that a page was closed."""
        self._closed_since = time.monotonic() if closes else None

    def is_left(self) -> bool:
        """Return whether a page was closed a while ago, and no other one has asked for anything since."""
        since = self._closed_since
        return since is not None and time.monotonic() - since > SILENCE

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has gone."""


class _RefusedError(Exception):
    """A request of a browser that is refused: the status of HTTP, and why."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "sheetarray"
    sys_version = ""
    timeout = _WAIT

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: addresses hold the token."""

    def do_GET(self) -> None:
        verbs: dict[str, Callable[..., None]] = {"": self._give_page, "box": self._give_box, "open": self._give_nothing}
        self._answer(verbs | dict.fromkeys(("summary", "search", "findings"), self._give_json))

    def do_POST(self) -> None:
        self._answer({"closed": self._give_nothing})

    def _answer(self, verbs: dict[str, Callable[..., None]]) -> None:
        self.close_connection = True  # so that what else a request holds is never taken for the next one
        try:
            parts = urlsplit(self.path)
            verb = self._verb(parts.path)
            if verb not in verbs:
                raise _RefusedError(404, "no such page")
            self.server.note_request(closes=verb == "closed")
            verbs[verb](verb, parts.query)
        except _RefusedError as error:
            self._refuse(*error.args)
        except (SheetArrayError, OSError, ValueError) as error:
            if isinstance(error, ConnectionError):
                return
            self._refuse(400 if isinstance(error, LimitError) else 409, str(error))

    def _verb(self, path: str) -> str:
        """Return the verb of a request, once host, origin and token show that it may be made."""
        own = f"http://{self.server.host}"
        if self.headers.get_all("Host") != [self.server.host]:
            raise _RefusedError(403, "another host")
        if self.headers.get("Origin", own) != own:
            raise _RefusedError(403, "another origin")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise _RefusedError(403, "another site")
        empty, _, rest = path.partition("/")
        token, slash, verb = rest.partition("/")
        if empty or not slash or not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise _RefusedError(404, "no such page")
        return verb

    def _give_page(self, *_: str) -> None:
        self._send(200, "text/html; charset=utf-8", self.server.html)

    def _give_nothing(self, *_: str) -> None:
        self._send(204, "", b"")

    def _give_box(self, _: str, query: str) -> None:
        try:
            options = dict(parse_qsl(query, strict_parsing=True, max_num_fields=2))
            number, text = int(options["entry"]) if options["entry"].isascii() else -1, options["box"]
        except (ValueError, KeyError):
            raise _RefusedError(400, "a box is asked for as entry=0&box=0:2:1,0:3:1") from None
        served = self.server.served.get(number)
        if served is None:
            raise _RefusedError(404, "no such array")
        encoded = encode_elements(served.take(parse_box(text)))
        self._send(
            200,
            "application/octet-stream",
            b"".join(encoded.buffers),
            {"Sheetarray-Lengths": ",".join(str(len(buffer)) for buffer in encoded.buffers)},
        )

    def _give_json(self, verb: str, query: str) -> None:
        try:
            options = dict(parse_qsl(query, strict_parsing=bool(query), max_num_fields=4, keep_blank_values=True))
        except ValueError:
            raise _RefusedError(400, f"a {verb} is asked for as entry=0, with a query and a start") from None
        try:
            answer = self.server.answers.give(verb, options)
        except KeyError:
            raise _RefusedError(404, "no such array") from None
        self._send(200, "application/json", json.dumps(answer).encode("ascii"))

    def _refuse(self, status: int, reason: str) -> None:
        self._send(status, "application/json", json.dumps({"error": reason}).encode("ascii"))

    def _send(self, status: int, kind: str, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        policy = page_policy(is_served=True) + "; frame-ancestors 'none'"
        more = {"Content-Type": kind, "Content-Length": str(len(content)), "Content-Security-Policy": policy}
        for name, value in {**_HEADERS, **(headers or {}), **(more if kind else {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def parse_box(text: str) -> tuple[slice, ...]:
    """Return the box that a request names.

    Example:
        >>> parse_box("0:2:1,3:9:2")
        (slice(0, 2, 1), slice(3, 9, 2))
    """
    matches = [_AXIS.fullmatch(part) for part in text.split(",", MAX_DIMENSIONS)]
    box = tuple(slice(*map(int, match.groups())) for match in matches if match)
    if len(box) != len(matches):
        raise LimitError("a box is start:stop:step of each axis, with commas between them")
    return box
