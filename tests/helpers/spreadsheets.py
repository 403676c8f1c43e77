"""Spreadsheets of the emulator as places to write to and read from, and what they hold."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from sheetarray.testing.sheets_server import SheetsServer

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
