"""`python -m sheetarray.testing.sheets_server`: serve until interrupted."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import threading
from collections.abc import Callable

from ...errors import MissingDependencyError
from .server import PAYLOAD_LIMIT, SheetsServer
from .spreadsheet import CELLS_LIMIT


def _whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a function that reads a whole number on the command line."""

    def read(text: str) -> int:
        upper = "" if most is None else f" to {most}"
        if not re.fullmatch(r"\d{1,12}", text, re.ASCII) or not least <= int(text) <= (most or int(text)):
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least}{upper}")
        return int(text)

    return read


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sheetarray.testing.sheets_server",
        description="Serve the Google Sheets API on this machine, without credentials, and say where. "
        "Its state is gone when it ends.",
        epilog="For quotas that pass quickly, faults on demand and a look at every request, start it from Python: "
        "help(sheetarray.testing.sheets_server).",
    )
    parser.add_argument("--port", type=_whole(0, 65_535), default=0, help="port on 127.0.0.1; by default a free one")
    parser.add_argument("--title", default="test", help="title of the first spreadsheet")
    parser.add_argument("--key", help="key of the first spreadsheet; by default a new one")
    parser.add_argument("--rows", type=_whole(1), default=1000, help="rows of its sheet, Sheet1")
    parser.add_argument("--columns", type=_whole(1), default=26, help="columns of its sheet")
    parser.add_argument("--cells", type=_whole(1), default=CELLS_LIMIT, help="limit of cells in a spreadsheet")
    parser.add_argument("--payload", type=_whole(1), default=PAYLOAD_LIMIT, help="limit of bytes in a request")
    parser.add_argument("--quota", type=_whole(0), nargs=2, metavar=("READS", "WRITES"), help="requests in a minute")
    parser.add_argument(
        "--validate",
        action=argparse.BooleanOptionalAction,
        help="hold requests against the service's schemas; by default where google-api-python-client is installed",
    )
    return parser


def main(given: list[str] | None = None) -> int:
    """Serve; an interrupt or a SIGTERM ends it."""
    parser = _parser()
    options = parser.parse_args(given)
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
    except MissingDependencyError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"error: port {options.port}: {os.strerror(error.errno or 0)}\n")
        return 2
    with server:
        try:
            key = server.create(options.title, [("Sheet1", options.rows, options.columns)], key=options.key)
        except ValueError as error:
            parser.error(str(error))
        sys.stdout.write(
            f"serving {server.url}\nkey     {key}\nurl     https://docs.google.com/spreadsheets/d/{key}/edit\n"
            f"schema  {'validated' if server.validates else 'not validated'}\n"
            f"use it  export SHEETARRAY_SHEETS_ENDPOINT={server.url}; sheetarray info gsheets://{key}\n"
            "Interrupt to stop.\n"
        )
        sys.stdout.flush()
        stop.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
