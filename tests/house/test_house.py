"""The house is in order: what the pages for contributors say is so, and what is switched off bears its reason."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from adapters_deleted import FOLDERS_DELETED, LADDER, MODULES, RUNG

import sheetarray.adapters

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sheetarray"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
(_ALL,) = PYPROJECT["project"]["optional-dependencies"]["all"]
ALL_EXTRAS = _ALL.partition("[")[2].rstrip("]").split(",")


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_ladder_in_the_documentation_is_the_one_that_holds():
    table = page("docs/architecture.md").partition("| room |")[2].partition("\n\n")[0]
    cells = [re.findall(r"`([\w.]+)`", line.split("|")[1]) for line in table.splitlines()[2:]]
    rooms = [room for line in cells for room in line]
    assert set(rooms) == {module.partition(".")[0] for module in MODULES} - {"", "__init__", "__main__"}
    assert set(LADDER) <= set(rooms)
    rungs = [RUNG[room] for room in rooms]
    assert rungs == sorted(rungs)


def test_a_rule_that_is_switched_off_bears_its_reason():
    for path in sorted((ROOT / "sheetarray").rglob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if mark := re.search(r"# noqa\b(.*)", line):
                assert re.match(r": [A-Z0-9, ]+  \(.{3,}\)", mark[1]), f"{path.name}: {line.strip()}"


def test_every_disabled_lint_rule_bears_its_reason():
    text = page("pyproject.toml").partition("[tool.ruff.lint]")[2].partition("[tool.mypy]")[0]
    ignored = text.partition("ignore = [")[2].partition("]")[0].strip().splitlines()
    per_file = text.partition("per-file-ignores]")[2].strip().splitlines()
    assert len(ignored) + len(per_file) >= 8
    for line in [*ignored, *per_file]:
        assert re.search(r"# .{10,}", line), line


def test_one_version_everywhere():
    assert f"version: {sheetarray.__version__}\n" in page("CITATION.cff")
    assert f"## {sheetarray.__version__.partition('.dev')[0]} " in page("CHANGELOG.md")


def is_deleted(path: str) -> bool:
    """Whether a path is in the folder of an adapter that was deleted."""
    return path.startswith(tuple(f"tests/{folder}" for folder in FOLDERS_DELETED))


def test_every_file_that_a_page_or_a_setting_names_is_there():
    settings = [".pre-commit-config.yaml", ".ci/run", "Makefile", "pyproject.toml", ".github/workflows/ci.yml"]
    pages = [path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]]
    named = {(name, path) for name in settings + pages for path in re.findall(r"\btests/[\w/]+(?:\.\w+)?", page(name))}
    assert {(name, path) for name, path in named if not (ROOT / path).exists() and not is_deleted(path)} == set()
    assert len(named) > 10


def test_the_demo_runs_with_nothing_else(tmp_path):
    demo = page("Makefile").partition("\ndemo:")[2].partition("\n\n")[0]
    commands = re.findall(r"\$\(BIN\)/sheetarray (.*)", demo)
    assert len(commands) == 4
    absent = ["pandas", "openpyxl", "gspread", "zstandard", "isal", "awkward", "h5py", "requests", "google"]
    commands = [command.replace("sample_sheets", str(ROOT / "sample_sheets")).split() for command in commands]
    start = f"""
import runpy, sys
sys.modules.update(dict.fromkeys({absent!r}))
for arguments in {commands!r}:
    sys.argv = ["sheetarray", *arguments]
    try:
        runpy.run_module("sheetarray", run_name="__main__")
    except SystemExit as end:
        assert not end.code, (arguments, end.code)
"""
    done = subprocess.run([sys.executable, "-c", start], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_file_holds_one_thing_of_at_most_seven_hundred_lines():
    lengths = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in MODULES.items()}
    assert {module for module, length in lengths.items() if length > 700} == set()


def test_a_folder_has_at_most_twenty_modules():
    modules = Counter(path.parent for path in MODULES.values() if path.name != "__init__.py")
    assert {folder.name: count for folder, count in modules.items() if count > 20} == {}


def test_the_page_on_adapters_has_every_function_of_one():
    described = re.findall(r"^    (\w+)\(.*\) +(?:must|may):", str(sheetarray.adapters.__doc__), re.MULTILINE)
    assert len(described) > 8
    assert set(re.findall(r"^\| `(\w+)_<stem>\(", page("docs/adapters.md"), re.MULTILINE)) == set(described)


def test_the_documentation_names_modules_that_exist():
    named = re.findall(r"`([a-z_]+\.[A-Za-z_]+)`", page("docs/architecture.md"))
    modules = [name for name in named if name.partition(".")[0] in RUNG]
    assert len(modules) > 5
    for name in modules:
        room, _, rest = name.partition(".")
        assert name in MODULES or hasattr(import_module(f"sheetarray.{room}"), rest), name


@pytest.mark.skipif(bool(FOLDERS_DELETED), reason="the rooms name functions of adapters as examples")
def test_a_room_names_modules_and_functions_that_it_has() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    functions = {*re.findall(r"^def (\w+)", "".join(texts.values()), re.MULTILINE)}
    everywhere = functions | {path.stem for path in PACKAGE.glob("*")} | {*dir(sheetarray)}
    for init in (path for path in texts if path.name == "__init__.py"):
        description = ast.get_docstring(ast.parse(texts[init]), clean=False) or ""
        code = "".join(text for path, text in texts.items() if init.parent in path.parents).replace(description, "")
        present = everywhere | {path.stem for path in init.parent.glob("*")} | {*re.findall(r"[a-z_]+", code)}
        named = re.findall(r"`([a-z_]+)`", description)
        assert [name for name in named if name not in present] == [], init


def test_the_extra_for_benchmarks_has_all_that_they_import():
    extras = PYPROJECT["project"]["optional-dependencies"]
    needs = [
        *PYPROJECT["project"]["dependencies"],
        *(need for name in ("bench", "awkward", "dask") for need in extras[name]),
    ]
    present = {name.lower() for need in needs for name in re.findall(r"[\w-]+", re.split(r"[<>=;]", need)[0])}
    imported = {
        word.replace("_", "-")
        for path in ROOT.glob("benchmarks/*.py")
        for word in re.findall(r"^\s*(?:import|from) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        if word not in sys.stdlib_module_names
    }
    assert {"fastexcel", "psutil"} <= imported
    assert imported <= present | {
        "sheetarray",
        "sheets-emulator",
        "browser",
        "foreign-books",
    }  # the last two of the tests' helpers


def test_the_oldest_releases_are_those_that_the_project_names():
    project = PYPROJECT["project"]
    extras = [project["optional-dependencies"][name] for name in ALL_EXTRAS]
    named = re.findall(
        r"^([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", "\n".join(sum(extras, project["dependencies"])), re.MULTILINE
    )
    pinned = dict(re.findall(r"^([\w-]+)==(.*)$", page("tests/oldest.txt"), re.MULTILINE))
    assert {name for name, _ in named} - {"pytest"} == set(pinned)
    for name, version in named:
        assert name == "pytest" or f"{pinned[name]}.".startswith(f"{version}."), (name, version)
