"""The pytest plugin: the fixtures `sheets_server`, `shared_sheets_server` and `gspread_client`.

    def test_report(gspread_client):                       # no credentials, no network
        book = gspread_client.create("report")
        book.sheet1.update([["total", "=1+2"]], "A1", raw=False)
        assert book.sheet1.acell("B1").value == "3"

The marker `sheets_server` gives the emulator other limits: `@pytest.mark.sheets_server(cells=1000, quota=(60, 60))`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from gspread import Client

    from . import SheetsServer


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", "sheets_server(cells, quota, payload): limits of the Sheets emulator")


@pytest.fixture
def sheets_server(request: pytest.FixtureRequest) -> Iterator[SheetsServer]:
    """Serve an empty Google Sheets service on this machine; its limits are those of the marker `sheets_server`."""
    yield from _serve(request)


@pytest.fixture
def gspread_client(sheets_server: SheetsServer) -> Client:
    """Return a real gspread client, sent to the emulator: what `gspread.service_account()` gives elsewhere."""
    return sheets_server.client()


@pytest.fixture(scope="module")
def shared_sheets_server(request: pytest.FixtureRequest) -> Iterator[SheetsServer]:
    """Serve one Google Sheets service to all tests of a module; the marker is the module's `pytestmark`."""
    yield from _serve(request)


def _serve(request: pytest.FixtureRequest) -> Iterator[SheetsServer]:
    from . import SheetsServer

    marker = request.node.get_closest_marker("sheets_server")
    with SheetsServer(**(marker.kwargs if marker else {})) as server:
        yield server
