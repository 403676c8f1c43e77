"""The pytest plugin of sheetarray: detailed errors of the assertions in the conformance suite."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    *(f"sheetarray.testing.{module}" for module in ("cases", "conformance", "conformance_hooks", "hostile"))
)
