"""A threaded WSGI server on 127.0.0.1, without a log, that can be closed while clients keep their connections."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING, Any

from ...errors import MissingDependencyError

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication
    from werkzeug.serving import BaseWSGIServer

HOST = "127.0.0.1"


def listen(port: int, application: WSGIApplication) -> BaseWSGIServer:
    """Return a server for a WSGI application that listens on a port already; port 0 stands for any free one.

    Raises:
        OSError: the port is taken.
        MissingDependencyError: werkzeug is not installed.
    """
    try:
        from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler
    except ImportError:
        raise MissingDependencyError(
            "the Google Sheets emulator needs werkzeug: pip install 'sheetarray[testing]'"
        ) from None

    class Handler(WSGIRequestHandler):
        disable_nagle_algorithm = True  # no answer waits for the client to confirm the one before

        def run_wsgi(self) -> None:
            """Answer one request; the connection stays for the next one where the client asks for that.

            Werkzeug itself closes each connection, because an application may leave a part of a body unread; ours
            reads every body to its end.
            """
            body = b"".join(application(self.make_environ(), self._start_response))
            self.wfile.write(b"".join([*self._headers_buffer, b"\r\n", body if self.command != "HEAD" else b""]))

        def _start_response(self, status: str, headers: list[tuple[str, str]], _: Any = None) -> Any:
            """Keep the head of an answer, which is sent together with its body."""
            code, _, reason = status.partition(" ")
            self._headers_buffer: list[bytes] = []  # filled by the two methods that are called next
            self.send_response(int(code), reason)
            for name, value in headers:
                self.send_header(name, value)
            if self.headers.get("Connection", "").lower() != "keep-alive":
                self.send_header("Connection", "close")

        def log(self, *_: Any) -> None:
            """Write no log."""

        def connection_dropped(self, *_: Any) -> None:
            """Close the connection after a client has gone away."""
            self.close_connection = True

    class Server(ThreadedWSGIServer):
        daemon_threads = False  # closing waits for requests under way

        def get_request(self) -> tuple[socket.socket, Any]:
            """Accept a connection, and remember it for `server_close`."""
            connection, address = super().get_request()
            connections.add(connection)
            return connection, address

        def shutdown_request(self, request: Any) -> None:
            """Close a connection, and forget it."""
            connections.discard(request)
            super().shutdown_request(request)

        def server_close(self) -> None:
            """Let no more requests come on the open connections, then wait for those that are being answered."""
            for connection in list(connections):
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RD)
            super().server_close()

    connections: set[Any] = set()
    with socket.create_server((HOST, port)) as listening:  # werkzeug itself would end the process if the port is taken
        return Server(HOST, listening.getsockname()[1], application, handler=Handler, fd=listening.fileno())
