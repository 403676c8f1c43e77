"""An adapter can be deleted: its folder, its rows and its tests; what is left imports, collects and passes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from examples import PART

SCRIPT = Path(__file__).with_name("delete_adapter.py")
ADAPTERS = ["interchange/rawarray", "interchange/avro", "interchange/sciserialize"]
OTHERS = ["interchange/npy", "interchange/awkward", "sheets/google"]
# What knows of every adapter; all others are collected, and the script itself runs all tests that are left.
TESTS = ["test_imports.py", "test_public.py", "registry", "test_keeps.py", "test_messages.py", "test_warnings.py"]


@pytest.mark.slow
def test_the_rest_is_collected_and_green_without() -> None:
    # Together: an adapter imports no other one, as test_imports.py shows, and so the rest is what may need any of them.
    deleted = ["+".join(ADAPTERS)] if PART > 1 else [*ADAPTERS, *OTHERS, "+".join([*ADAPTERS, *OTHERS])]
    options = ["-v", "-k", " or ".join(TESTS)]  # takes back the -q of the project: the last line counts
    run = subprocess.run([sys.executable, SCRIPT, *deleted, "--", *options], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    assert run.stdout.count(": all tests pass\n") == len(deleted)
    assert all(f"without {adapters}: all tests pass" in run.stdout for adapters in deleted)
    assert len(re.findall(r"\d\d passed, .*\d{5} deselected", run.stdout)) == len(deleted)
