"""One browser for all tests of pages: it takes longer to start than a test takes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import Browser, running_browser


@pytest.fixture(scope="session")
def shared_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running_browser(tmp_path_factory.mktemp("pages")) as browser:
        yield browser


@pytest.fixture
def browser(shared_browser: Browser) -> Iterator[Browser]:
    """The browser. After each test: no console message, and no request but for the page itself."""
    yield shared_browser
    assert shared_browser.messages() == []
    assert [url for url in shared_browser.requests() if not url.startswith(("file:", "about:", "data:,"))] == []
