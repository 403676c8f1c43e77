"""What pytest gets from sheetarray, wherever it is installed: the fixture `sheets_server`, and telling assertions.

    def test_upload(sheets_server):
        key = sheets_server.create()
        sheetarray.write_gsheet(key, {"t": [1.5]}, client=sheets_server.client())
        assert sheets_server.cells(key, "arrays")[0] == ["t"]

The marker `sheets_server` gives the emulator other limits: `@pytest.mark.sheets_server(cells=1000, quota=(60, 60))`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .sheets_server import SheetsServer

pytest.register_assert_rewrite("sheetarray.testing.cases", "sheetarray.testing.conformance")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers", "sheets_server(cells, quota, payload, validate): limits of the emulator of Google Sheets"
    )


@pytest.fixture
def sheets_server(request: pytest.FixtureRequest) -> Iterator[SheetsServer]:
    """Serve an empty Google Sheets service on this machine; its limits are those of the marker `sheets_server`."""
    yield from _serve(request)


@pytest.fixture(scope="module")
def shared_sheets_server(request: pytest.FixtureRequest) -> Iterator[SheetsServer]:
    """Serve one Google Sheets service to all tests of a module; the marker is the module's `pytestmark`."""
    yield from _serve(request)


def _serve(request: pytest.FixtureRequest) -> Iterator[SheetsServer]:
    from .sheets_server import SheetsServer

    marker = request.node.get_closest_marker("sheets_server")
    with SheetsServer(**(marker.kwargs if marker else {})) as server:
        yield server
