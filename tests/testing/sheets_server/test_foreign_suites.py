"""The emulator of Google Sheets under the tests that packages of other people ship, where an index has these."""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign_suites import SUITES, download, run

PAGE = Path(__file__).parents[3] / "docs" / "emulator.md"


def test_the_tests_of_other_packages_pass_but_for_those_that_are_named(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    cache: pytest.Cache | None = getattr(request.config, "cache", None)
    archives = cache.mkdir("sources-of-other-packages") if cache is not None else tmp_path
    if not all(download(suite, archives) for suite in SUITES):
        pytest.skip("no index has these packages")
    page = PAGE.read_text()
    for suite, (passed, failed) in zip(SUITES, run(archives, tmp_path), strict=True):
        assert failed.keys() == suite.exceptions.keys(), failed
        assert f"| {suite.package} {suite.version} | {len(passed)} of {len(passed) + len(failed)} |" in page
        assert all(test in page for test in suite.exceptions)
