"""A spreadsheet for each test, and its client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from services import Book

from sheetarray.sheets.google import reading, worksheet
from sheetarray.sheets.google.worksheet import CELLS_A_REQUEST
from sheets_emulator import SheetsServer


@pytest.fixture
def book(server: SheetsServer) -> Book:
    return Book(server)


@pytest.fixture
def a_tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a request ask for a tenth of the cells, and take a tenth of a large worksheet for a large one."""
    for module in ("worksheet", "reading"):
        monkeypatch.setattr(f"sheetarray.sheets.google.{module}.CELLS_A_REQUEST", CELLS_A_REQUEST // 10)
    for module, name in ((reading, "MOST_AT_ONCE"), (reading, "_READ_AT_ONCE")):
        monkeypatch.setattr(module, name, getattr(module, name) // 10)
    monkeypatch.setitem(worksheet.GoogleSheet.__init__.__kwdefaults__, "at_once", worksheet.MOST_AT_ONCE // 10)
    for name in ("MOST_AT_ONCE", "MOST_HEAD_ROWS", "_SMALL_GRID"):
        monkeypatch.setattr(worksheet, name, getattr(worksheet, name) // 10)


@pytest.fixture(autouse=True)
def _clear_server(request: pytest.FixtureRequest) -> Iterator[None]:
    """Leave no request and no fault to the next test of the service."""
    yield
    if "server" in request.fixturenames:
        server: SheetsServer = request.getfixturevalue("server")
        server.requests.clear()
        server.faults.clear()
        server.on_request = None
