"""The plugin whose fixtures the tests take; an installed package brings it by itself."""

from __future__ import annotations

import pytest

from sheets_emulator import SheetsServer

pytest_plugins = ["sheets_emulator.pytest_plugin"]


@pytest.fixture(scope="module")
def server(shared_sheets_server: SheetsServer) -> SheetsServer:
    """A Google Sheets service for the tests of a module."""
    return shared_sheets_server
