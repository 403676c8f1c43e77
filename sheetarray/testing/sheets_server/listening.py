"""A threaded WSGI server on 127.0.0.1 that says nothing and can be closed at any time."""

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
    """Return a server that listens already; port 0 finds a free one.

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
        def log(self, *_: Any) -> None:
            """Say nothing."""

        def connection_dropped(self, *_: Any) -> None:
            """Wait for nothing more."""
            self.close_connection = True

    class Server(ThreadedWSGIServer):
        daemon_threads = False  # closing waits for requests under way

        def get_request(self) -> tuple[socket.socket, Any]:
            """Take a connection, and remember it."""
            connection, address = super().get_request()
            connections.add(connection)
            return connection, address

        def shutdown_request(self, request: Any) -> None:
            """Forget a connection that is done with."""
            connections.discard(request)
            super().shutdown_request(request)

        def server_close(self) -> None:
            """Cut the connections on which no request will come any more, then wait for the rest."""
            for connection in list(connections):
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RD)
            super().server_close()

    connections: set[Any] = set()
    with socket.create_server((HOST, port)) as listening:  # werkzeug itself would exit where the port is taken
        return Server(HOST, listening.getsockname()[1], application, handler=Handler, fd=listening.fileno())
