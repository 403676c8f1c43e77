"""The emulator of Google Sheets under the tests that packages of other people ship, where an index has these."""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign_suites import SUITES, Suite, download, run

PAGE = Path(__file__).parents[3] / "docs" / "emulator.md"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    if not all(download(suite, folder) for suite in SUITES):
        pytest.skip("no index has these packages")
    return folder


@pytest.mark.parametrize("suite", SUITES, ids=[suite.package for suite in SUITES])
def test_the_tests_of_other_packages_pass_but_for_those_that_are_named(suite: Suite, sources: Path) -> None:
    passed, failed = run(suite, sources)
    assert failed.keys() == suite.exceptions.keys(), failed
    assert f"| {suite.package} {suite.version} | {len(passed)} of {len(passed) + len(failed)} |" in PAGE.read_text()
    assert all(test in PAGE.read_text() for test in suite.exceptions)
