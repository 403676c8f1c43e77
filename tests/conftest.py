"""What every test shares: rewritten assertions in the helpers, and how hypothesis behaves."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("cases", "conformance", "grids", "hostile")

settings.register_profile(
    "sheetarray",
    deadline=None,  # no test is timed
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("sheetarray")
