"""An adapter can be deleted: its folder, its rows and its tests; what is left imports, collects and passes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from adapters_deleted import DELETED, FOLDERS
from examples import PART

SCRIPT = Path(__file__).with_name("delete_adapter.py")
PROJECT = SCRIPT.parents[2]
ADAPTERS = ["interchange/rawarray", "interchange/avro", "interchange/sciserialize"]
OTHERS = ["interchange/npy", "interchange/awkward", "sheets/google"]
NAMES = "|".join([n for n, folder in FOLDERS.items() if folder in ADAPTERS] + [Path(f).name for f in ADAPTERS])
NAMED = re.compile(rf"\b(?:{NAMES})\b")
NEEDED = re.compile(rf"\b(?:import|from) .*\b(?:{NAMES})\b|\[.(?:{NAMES}).\]")  # which can fail in a module of tests
# What knows of every adapter runs. What needs one is collected too; the script itself runs all tests that are left.
TESTS = ["test_imports.py", "test_public.py", "formats", "test_keeps.py", "test_messages.py", "test_warnings.py"]
# What is true of each module of all is true of each that is left; of the examples that are left, none names an adapter.
OF_EACH = ["point_down", "neither_each", "registry_alone", "nothing_heavy_is_imported", "in_docstrings_run"]

pytestmark = pytest.mark.skipif(bool(DELETED), reason="an adapter was deleted already")


def is_left(path: Path) -> bool:
    """Whether a file of the project is in no folder of a deleted adapter."""
    return not any(adapter in path.relative_to(PROJECT).as_posix() for adapter in ADAPTERS)


@pytest.mark.slow
def test_the_rest_is_collected_and_green_without():
    # Together: an adapter imports no other one, as test_imports.py shows, and so the rest is what may need any of them.
    deleted = ["+".join(ADAPTERS)] if PART > 1 else [*ADAPTERS, *OTHERS, "+".join([*ADAPTERS, *OTHERS])]
    options = ["-v", "-k", " or ".join(TESTS)]  # takes back the -q of the project: the last line counts
    if PART > 1:
        files = [path for path in (PROJECT / "tests").rglob("test_*.py") if is_left(path)]
        known = {path for path in files if path.name in TESTS or path.parent.name in TESTS}
        needing = {path for path in files if NEEDED.search(path.read_text(encoding="utf-8"))} - known
        assert min(len(known) - len(TESTS), len(needing) - 1) >= 0
        options[-1] = f"({options[-1]}) and not {' and not '.join(OF_EACH)}"
        options += [str(path.relative_to(PROJECT)) for path in sorted(known | needing)]
    run = subprocess.run(
        [sys.executable, SCRIPT, *deleted, "--", *options],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # it rewrites the asserts of the whole package
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    assert run.stdout.count(": all tests pass\n") == len(deleted)
    assert all(f"without {adapters}: all tests pass" in run.stdout for adapters in deleted)
    assert len(re.findall(r"\d{3} passed, .*\d\d deselected", run.stdout)) == len(deleted)


def test_no_example_of_another_module_uses_an_adapter_that_can_be_deleted():
    modules = {path: path.read_text(encoding="utf-8") for path in (PROJECT / "sheetarray").rglob("*.py")}
    lines = {path: re.findall(r"(?m)^ *(?:>>>|\.\.\.) .*", text) for path, text in modules.items()}
    uses = {path for path in lines if any(NAMED.search(line) for line in lines[path])}
    assert {path.relative_to(PROJECT).as_posix() for path in uses if is_left(path)} == set()
    assert any(NAMED.search(text) for text in modules.values())  # their own modules
