"""Spreadsheets of the emulator as places to write to and read from, and what they hold."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from sheetarray.sheets.google import read_gsheet, write_gsheet
from sheets_emulator import SheetsServer

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


class Book:
    """A spreadsheet of the emulator."""

    def __init__(self, server: SheetsServer, sheets: Any = (("Sheet1", 1000, 26),)) -> None:
        self.server, self.client = server, server.client()
        self.key = server.create(sheets=sheets)
        server.requests.clear()

    def write(self, arrays: Any, **options: Any) -> None:
        write_gsheet(self.key, arrays, client=self.client, **options)

    def read(self, names: Any = None, **options: Any) -> dict[str, Any]:
        return read_gsheet(self.key, names, client=self.client, **options)

    def put(self, sheet: str, cell: str, rows: list[list[Any]], **options: Any) -> None:
        self.client.open_by_key(self.key).worksheet(sheet).update(rows, cell, **options)

    def sheet(self, title: str) -> Any:
        return self.client.open_by_key(self.key).worksheet(title)

    def cells(self, title: str = "arrays") -> list[list[Any]]:
        return self.server.cells(self.key, title)

    def column(self, index: int, title: str = "arrays") -> list[Any]:
        return [row[index] if index < len(row) else None for row in self.cells(title)]

    def size(self, title: str = "arrays") -> tuple[int, int]:
        size: tuple[int, int] = dump(self.server, self.key)["sheets"][title]["size"]
        return size

    def ranges(self) -> dict[str, list[Any]]:
        """The cells of each named range of an array."""
        book = self.client.open_by_key(self.key)
        result = {}
        for named in book.list_named_ranges():
            if not named["name"].startswith("sheetarray_"):
                result[named["name"]] = [
                    cell
                    for column in book.values_get(
                        named["name"], {"majorDimension": "COLUMNS", "valueRenderOption": "UNFORMATTED_VALUE"}
                    ).get("values", [])
                    for cell in column
                ]
        return result

    def wrote(self) -> bool:
        return any(record.writes for record in self.server.requests)
