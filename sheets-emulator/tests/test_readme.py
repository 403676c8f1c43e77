"""The examples of the README and of the docstrings run."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sheets_emulator
from sheets_emulator import faults, server

PROJECT = Path(__file__).parents[1]


def test_the_tests_in_the_readme_pass(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (PROJECT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    for number, block in enumerate(blocks):
        (tmp_path / f"test_block{number}.py").write_text(block, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(tmp_path)]
    command += ["-p", "no:cacheprovider", "-p", "sheets_emulator.pytest_plugin", str(tmp_path)]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert f"{len(blocks)} passed" in done.stdout, done.stdout
    assert len(blocks) == 2


@pytest.mark.parametrize("module", [sheets_emulator, faults, server], ids=lambda module: module.__name__)
def test_examples_in_docstrings_give_what_they_say(module: object) -> None:
    failed, tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert failed == 0 < tried


def test_every_request_is_described_by_the_docstring_of_its_handler() -> None:
    from sheets_emulator.batch import REQUESTS

    for name, handler in REQUESTS.items():
        assert str(handler.__doc__).startswith(f"`{name}`"), name
