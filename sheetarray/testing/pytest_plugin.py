"""The pytest plugin of sheetarray: detailed errors of the assertions in the conformance suite."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    "sheetarray.testing.cases", "sheetarray.testing.conformance", "sheetarray.testing.conformance_hooks"
)
