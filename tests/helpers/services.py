"""Services on this machine: a web server of files in memory, and spreadsheets of the emulator."""

from __future__ import annotations

import json
import re
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from recorded import write_quietly

import sheetarray as sa
from sheets_emulator import SheetsServer

# A web server on this machine, of files in memory, that notes what it was asked for.


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


# Spreadsheets of the emulator as places to write to and read from, and what they hold.

ENDPOINT = "SHEETARRAY_SHEETS_ENDPOINT"


def dump(server: SheetsServer, key: str) -> dict[str, Any]:
    """Everything that a reader can see of a spreadsheet: cells and sizes of worksheets, and named ranges."""
    snapshot = server.snapshot(key)
    titles = {sheet.id: sheet.title for sheet in snapshot.sheets}
    return {
        "sheets": {
            sheet.title: {"size": (sheet.grid.rows, sheet.grid.columns), "cells": server.cells(key, sheet.title)}
            for sheet in snapshot.sheets
        },
        "ranges": {named.name: (titles.get(named.sheet), str(named.span)) for named in snapshot.named.values()},
    }


def leave_stage(
    server: SheetsServer, key: str, ago: float, *, gid: int = 77, machine: str = "00000000", process: int = 1
) -> str:
    """Leave the hidden sheet of a write that a process began some seconds ago, and return its title."""
    began = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() - ago))
    title = f"sheetarray write {began} by {machine}-{process}-0123456789ab 1"
    requests = [
        {"addSheet": {"properties": {"sheetId": gid, "title": title, "hidden": True}}},
        {"addNamedRange": {"namedRange": {"name": f"sheetarray_{gid}", "range": {"sheetId": gid}}}},
    ]
    server.client().http_client.batch_update(key, {"requests": requests})
    return title


@contextmanager
def meanwhile(server: SheetsServer, strikes: Callable[[Any], object], do: Callable[[], object]) -> Iterator[None]:
    """Do something once, right before the first request that `strikes` is true of; there must be one."""
    done: list[bool] = []

    def act(record: Any) -> None:
        if not done and strikes(record):
            done.append(True)
            do()

    server.on_request = act
    try:
        yield
    finally:
        server.on_request = None
    assert done


@contextmanager
def at_each_request(server: SheetsServer, look: Callable[[], object]) -> Iterator[None]:
    """Do something right before each request, but for those that it makes itself."""
    inside = threading.Event()

    def act(_: Any) -> None:
        if not inside.is_set():
            inside.set()
            look()
            inside.clear()

    server.on_request = act
    try:
        yield
    finally:
        server.on_request = None


class Spreadsheet(str):
    """The worksheet `arrays` of a new spreadsheet: its URL, with what tests of files ask of a path."""

    server: SheetsServer
    key: str
    folder: Path

    @classmethod
    def new(cls, server: SheetsServer, folder: Path, *, empty: bool = False) -> Spreadsheet:
        """A spreadsheet without the worksheet, or with an empty one."""
        key = server.create(sheets=[("Sheet1", 1000, 26), *([("arrays", 5, 2)] if empty else [])])
        place = cls(f"gsheets://{key}/arrays")
        place.server, place.key, place.folder = server, key, folder
        return place

    name = "arrays"

    def exists(self) -> bool:
        return bool(dump(self.server, self.key)["sheets"].get("arrays", {}).get("cells"))

    def read_bytes(self) -> bytes:
        return json.dumps(dump(self.server, self.key)).encode()

    @property
    def parent(self) -> Path:
        """A folder that lists the worksheets, but those that the spreadsheet began with and that hold nothing."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        for title, sheet in dump(self.server, self.key)["sheets"].items():
            if title not in ("Sheet1", "arrays") or sheet["cells"]:
                (folder / title).touch()
        return folder


class Book:
    """A spreadsheet of the emulator, and what people and programs do with it.

    Attributes:
        url: of the spreadsheet.
        opened: the same as an object of gspread.
    """

    def __init__(self, server: SheetsServer, sheets: Any = (("Sheet1", 1000, 26),)) -> None:
        self.server, self.client = server, server.client()
        self.key = server.create(sheets=sheets)
        self.url = f"gsheets://{self.key}"
        self.opened = self.client.open_by_key(self.key)
        server.requests.clear()

    def write(self, arrays: Any, **options: Any) -> str:
        return sa.write_gsheet(self.key, arrays, client=self.client, **options)

    def append(self, arrays: Any, **options: Any) -> str:
        from sheetarray.sheets.google.appending import append_gsheet

        return append_gsheet(self.key, arrays, client=self.client, **options)

    def read(self, names: Any = None, **options: Any) -> dict[str, Any]:
        return sa.read_gsheet(self.key, names, client=self.client, **options)

    def scan(self, **options: Any) -> dict[str, Any]:
        return sa.scan(self.url, client=self.client, **options)

    def check(self) -> list[Any]:
        return list(sa.check(self.url, client=self.client))

    def accept(self) -> sa.Changes:
        return sa.accept(self.url, client=self.client)

    def dump(self) -> dict[str, Any]:
        return dump(self.server, self.key)

    def resource(self, title: str) -> Any:
        """A worksheet as the API shows it."""
        (sheet,) = self.opened.fetch_sheet_metadata({"includeGridData": "true", "ranges": title})["sheets"]
        return sheet

    def put(self, sheet: str, cell: str, rows: list[list[Any]], **options: Any) -> None:
        self.sheet(sheet).update(rows, cell, **options)

    def sheet(self, title: str) -> Any:
        return self.opened.worksheet(title)

    def cells(self, title: str = "arrays") -> list[list[Any]]:
        return self.server.cells(self.key, title)

    def column(self, index: int, title: str = "arrays") -> list[Any]:
        return [row[index] if index < len(row) else None for row in self.cells(title)]

    def size(self, title: str = "arrays") -> tuple[int, int]:
        size: tuple[int, int] = dump(self.server, self.key)["sheets"][title]["size"]
        return size

    def ranges(self) -> dict[str, list[Any]]:
        """The cells of each named range of an array."""
        result = {}
        for named in self.opened.list_named_ranges():
            if not named["name"].startswith("sheetarray_"):
                result[named["name"]] = [
                    cell
                    for column in self.opened.values_get(
                        named["name"], {"majorDimension": "COLUMNS", "valueRenderOption": "UNFORMATTED_VALUE"}
                    ).get("values", [])
                    for cell in column
                ]
        return result

    def wrote(self) -> bool:
        return any(record.writes for record in self.server.requests)

    def change_requests(self, change: Callable[[str, bytes], bytes]) -> None:
        """Have the body of each request changed on its way, as a service might; `change` gets its method and body."""
        http = type(self.client.http_client)
        request = http.request

        def changing(client: Any, method: str, *args: Any, **options: Any) -> Any:
            if options.get("data"):
                options["data"] = change(method, options["data"])
            return request(client, method, *args, **options)

        http.request = changing  # a client of the emulator has a class of its own


class TableBook(Book):
    """A spreadsheet with tables."""

    def write(self, table: Any, **options: Any) -> str:
        return str(write_quietly(self.url, table, client=self.client, **options))

    @property
    def table(self) -> Any:
        return self.opened.worksheet("table")

    def counted(self, call: Any) -> tuple[Any, int]:
        """What a call returns, and its requests."""
        self.server.requests.clear()
        return call(), len(self.server.requests)

    def sheets(self, word: str = "") -> list[str]:
        """The titles of all sheets, hidden ones too, that have a word."""
        return [sheet.title for sheet in self.server.snapshot(self.key).sheets if word in sheet.title]
