"""`python -m sheets_emulator`: serve until interrupted."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading

from .server import SheetsServer


def main(given: list[str] | None = None) -> int:
    """Serve; an interrupt or a SIGTERM ends it."""
    parser = argparse.ArgumentParser(
        prog="python -m sheets_emulator",
        description="Serve the Google Sheets API on this machine, without credentials, and say where. "
        "Its state is gone when it ends. For faults and limits, start it from Python: help(sheets_emulator).",
    )
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; by default a free one")
    parser.add_argument("--key", help="key of the first spreadsheet; by default a new one")
    parser.add_argument("--quota", type=int, nargs=2, metavar=("READS", "WRITES"), help="requests in a minute")
    options = parser.parse_args(given)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        server = SheetsServer(port=options.port, quota=tuple(options.quota) if options.quota else None)
    except (OSError, OverflowError) as error:
        reason = os.strerror(error.errno or 0) if isinstance(error, OSError) else "there is no such port"
        sys.stderr.write(f"error: port {options.port}: {reason}\n")
        return 2
    with server:
        try:
            key = server.create(key=options.key)
        except ValueError as error:
            parser.error(str(error))
        sys.stdout.write(
            f"serving {server.url}\nkey     {key}\nurl     https://docs.google.com/spreadsheets/d/{key}/edit\n"
            "Interrupt to stop.\n"
        )
        sys.stdout.flush()
        stop.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
