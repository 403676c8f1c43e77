"""Every code block of README.md runs; the console blocks of the command line too."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON_BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    line.removeprefix("$ ").partition("  #")[0].strip()
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
    if line.startswith(("$ sheetarray", "$ cat"))
]


def test_there_is_something_to_run() -> None:
    assert len(PYTHON_BLOCKS) >= 4
    assert len(COMMANDS) >= 6


@pytest.mark.parametrize("block", PYTHON_BLOCKS, ids=range(len(PYTHON_BLOCKS)))
def test_python_block_runs(block: str, tmp_path: Path) -> None:
    script = tmp_path / "block.py"
    script.write_text(block, encoding="utf-8")
    run = subprocess.run([sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_command_lines_run(tmp_path: Path) -> None:
    (tmp_path / "sample_sheets").symlink_to(ROOT / "sample_sheets")
    on_path = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for command in COMMANDS:
        wanted = 1 if shlex.split(command)[1] == "check" else 0  # the damaged samples have findings
        run = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, env=on_path)
        assert run.returncode == wanted, (command, run.stdout, run.stderr)
        assert "Traceback" not in run.stderr


def test_make_targets_named_in_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\$ make (\w+)|`make (\w+)`", README):
        assert re.search(rf"^{''.join(target)}:", makefile, re.MULTILINE), target
