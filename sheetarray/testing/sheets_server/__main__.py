"""`python -m sheetarray.testing.sheets_server`: serve until interrupted."""

from __future__ import annotations

import argparse
import signal
import sys
import threading

from ...errors import MissingDependencyError
from .server import PAYLOAD_LIMIT, SheetsServer
from .spreadsheet import CELLS_LIMIT


def _arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m sheetarray.testing.sheets_server",
        description="Serve the Google Sheets API on this machine, and say where. Its state is gone when it ends.",
    )
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; by default a free one")
    parser.add_argument("--title", default="test", help="title of the first spreadsheet")
    parser.add_argument("--key", help="key of the first spreadsheet; by default a new one")
    parser.add_argument("--rows", type=int, default=1000, help="rows of its sheet, Sheet1")
    parser.add_argument("--columns", type=int, default=26, help="columns of its sheet")
    parser.add_argument("--cells", type=int, default=CELLS_LIMIT, help="limit of cells in a spreadsheet")
    parser.add_argument("--payload", type=int, default=PAYLOAD_LIMIT, help="limit of bytes in a request")
    parser.add_argument("--quota", type=int, nargs=2, metavar=("READS", "WRITES"), help="requests in a minute")
    parser.add_argument(
        "--validate",
        action=argparse.BooleanOptionalAction,
        help="hold requests against the service's schemas; by default where google-api-python-client is installed",
    )
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    """Serve; an interrupt or a SIGTERM ends it."""
    options = _arguments(given)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    quota = (options.quota[0], options.quota[1]) if options.quota else None
    try:
        server = SheetsServer(
            port=options.port,
            cells=options.cells,
            quota=quota,
            payload=options.payload,
            validate=options.validate,
        )
    except (MissingDependencyError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    with server:
        key = server.create(options.title, [("Sheet1", options.rows, options.columns)], key=options.key)
        sys.stdout.write(
            f"serving {server.url}\nkey     {key}\nurl     https://docs.google.com/spreadsheets/d/{key}/edit\n"
            f"schema  {'validated' if server.validates else 'not validated'}\nInterrupt to stop.\n"
        )
        sys.stdout.flush()
        stop.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
