"""What every test shares: rewritten assertions in the helpers, and how hypothesis behaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from sheetarray.testing.sheets_server import SheetsServer

pytest_plugins = ["sheetarray.testing.pytest_plugin"]  # an installed package brings it by itself
pytest.register_assert_rewrite("grids", "hostile")

settings.register_profile(
    "sheetarray",
    deadline=None,  # no test is timed
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("sheetarray")


@pytest.fixture(scope="module")
def server(shared_sheets_server: SheetsServer) -> SheetsServer:
    """A Google Sheets service for the tests of a module."""
    return shared_sheets_server
