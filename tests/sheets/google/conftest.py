"""A spreadsheet for each test, and its client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from services import Book

from sheets_emulator import SheetsServer


@pytest.fixture
def book(server: SheetsServer) -> Book:
    return Book(server)


@pytest.fixture(autouse=True)
def _clear_server(request: pytest.FixtureRequest) -> Iterator[None]:
    """Leave no request and no fault to the next test of the service."""
    yield
    if "server" in request.fixturenames:
        server: SheetsServer = request.getfixturevalue("server")
        server.requests.clear()
        server.faults.clear()
        server.on_request = None
