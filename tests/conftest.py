"""What every test shares: rewritten assertions in the helpers, hypothesis, and adapters that were deleted."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest
from _pytest.runner import runtestprotocol
from adapters_deleted import ASKED, DELETED, find_deleted, find_missing_format, note_missing_formats
from examples import ANEW, examples
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from sheets_emulator import SheetsServer

if "PYTEST_XDIST_WORKER" in os.environ:  # as many processes as there are cores are at work already
    os.environ.setdefault("POLARS_MAX_THREADS", "1")

pytest_plugins = ["sheetarray.testing.pytest_plugin", "sheets_emulator.pytest_plugin"]  # as installed packages bring it
pytest.register_assert_rewrite("excel_packages", "hostile", "round_trips")

settings.register_profile(
    "sheetarray",
    max_examples=examples(100),
    deadline=None,  # no test is timed
    database=None,
    derandomize=not ANEW,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("sheetarray")

if DELETED:
    note_missing_formats()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that renews transcripts."""
    parser.addoption("--rewrite", action="store_true", help="write what is printed now into tests/transcripts/*.txt")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to renew transcripts where nobody looks at them."""
    if config.getoption("rewrite") and os.environ.get("CI"):
        raise pytest.UsageError("--rewrite is for people: the environment variable CI is set")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that take longest, so that no worker waits for one at the end."""
    items.sort(key=lambda item: item.path.name != "test_deleting.py")


def pytest_collection_finish() -> None:
    """Spare every collection of garbage the walk through all tests, which live to the end, and collect more rarely."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)  # new objects, not 700: collections took some 4 % of the time of all tests


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Let a worker say of a test only how it went, not that it began and ended well too: so many words cost seconds."""
    if "PYTEST_XDIST_WORKER" not in os.environ or item.config.getoption("xmlpath", None):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(scope="session", autouse=True)
def _keep_files_in_memory() -> Iterator[None]:
    """Wait for no disk: what is written for tests need not outlive a loss of power."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formats that a test registers are forgotten after it."""
    from sheetarray.formats import lookup

    monkeypatch.setattr(lookup, "_rows", {**lookup.INSIDE})


@pytest.fixture(scope="module")
def server(shared_sheets_server: SheetsServer) -> SheetsServer:
    """A Google Sheets service for the tests of a module."""
    return shared_sheets_server


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None]:
    """Skip what needs an adapter that was deleted for what a test is given."""
    yield from _skip_without_adapter()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None]:
    """Skip what needs an adapter that was deleted, its folder gone; see delete_adapter.py."""
    yield from _skip_without_adapter()


def _skip_without_adapter() -> Generator[None]:
    """Skip a test that fails with an error about a deleted format, or after one that something else has caught."""
    if not DELETED:
        return (yield)
    ASKED.clear()
    try:
        return (yield)
    except (Exception, pytest.fail.Exception) as error:
        if (name := find_deleted(error)) is None:
            raise
        pytest.skip(f"the adapter of {name} was deleted")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip a module of tests that imports an adapter that was deleted."""
    report: pytest.CollectReport = yield
    if report.failed and (name := find_missing_format(str(report.longrepr))) is not None:
        report.outcome, report.longrepr = "skipped", (str(collector.path), 1, f"the adapter of {name} was deleted")
    return report
