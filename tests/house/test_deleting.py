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


PLAIN = ["-q", "--assert=plain"]  # assertions that are not rewritten take half the time


def delete(*adapters: str, options: list[str]) -> str:
    """What is said where each adapter is deleted, and nothing fails."""
    run = subprocess.run([sys.executable, SCRIPT, *adapters, "--", *options], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    return run.stdout


@pytest.mark.slow
def test_the_rest_is_green_without() -> None:
    said = delete(*ADAPTERS, options=[*PLAIN, *TESTS])
    assert said.count(": all tests pass\n") == len(ADAPTERS)
    assert all(f"without {adapter}: all tests pass" in said for adapter in ADAPTERS)


@pytest.mark.slow
def test_every_test_that_is_left_can_be_collected() -> None:
    assert "tests/test_linear.py" in delete("interchange/npy", options=[*PLAIN, "--collect-only"])
