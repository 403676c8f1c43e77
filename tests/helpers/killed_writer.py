"""Processes that tests kill while they write to Google Sheets, and what they do; it imports nothing else of theirs."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np

from sheetarray import merge, write_gsheet
from sheets_emulator import Fault, SheetsServer

NEW = {"t": np.full(300, 2.0), "fresh": np.array([2.0])}
STAGED = NEW | {"odd": np.array(["\x7f"])}  # text that a service may tidy up is tried on a stage


def write_when_told(url: str, key: str, go: Any, *, direct: bool) -> None:
    """Write `NEW`, at once or by a stage, to a spreadsheet of an emulator as soon as `go` is set."""
    os.environ["SHEETARRAY_SHEETS_ENDPOINT"] = url
    go.wait()
    write_gsheet(key, NEW if direct else STAGED)


def merge_when_told(url: str, places: list[str], go: Any) -> None:
    """Merge copies into the first place, as soon as `go` is set."""
    os.environ["SHEETARRAY_SHEETS_ENDPOINT"] = url
    go.wait()
    merge(*places, target=places[0])


def killed_at(
    processes: Any, server: SheetsServer, index: int, what: Any, *arguments: Any, before: bool = True, **options: Any
) -> bool:
    """Kill a process at its nth request that writes, before or after it takes effect; whether it got that far.

    `what`: called in the process with the URL of the server, `arguments`, an event and `options`.
    """
    go = processes.Event()
    process = processes.Process(target=what, args=(server.url, *arguments, go), kwargs=options)
    process.start()
    count = 0

    def kill(record: Any) -> None:
        nonlocal count
        if record.writes and count == index:
            os.kill(process.pid, signal.SIGKILL)
            if before:
                server.faults.append(Fault("reset-before"))
        count += record.writes

    server.on_request = kill
    go.set()
    process.join()
    server.on_request = None
    server.faults.clear()
    code: int = process.exitcode
    assert code in (0, -signal.SIGKILL)
    process.close()
    return code != 0
