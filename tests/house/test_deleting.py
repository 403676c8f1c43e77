"""An adapter can be deleted: its folder, its rows and its tests; what is left imports, collects and passes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("delete_adapter.py")
ADAPTERS = ["interchange/rawarray", "interchange/avro", "interchange/sciserialize"]
# What knows of every adapter; the script itself runs all tests that are left.
TESTS = [
    "tests/house/test_imports.py",
    "tests/house/test_public.py",
    "tests/registry",
    "tests/promise/test_keeps.py",
    "tests/promise/test_messages.py",
    "tests/promise/test_warnings.py",
]


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_the_rest_is_green_without(adapter: str) -> None:
    run = subprocess.run([sys.executable, SCRIPT, adapter, "--", "-q", *TESTS], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    assert f"without {adapter}: all tests pass" in run.stdout


@pytest.mark.slow
def test_every_test_that_is_left_can_be_collected() -> None:
    options = ["-q", "--collect-only", "--assert=plain"]  # assertions that are not rewritten take half the time
    run = subprocess.run([sys.executable, SCRIPT, "interchange/npy", "--", *options], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
