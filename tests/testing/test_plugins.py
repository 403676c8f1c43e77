"""Formats from outside: the example of the documentation, installed and tested as a stranger would; broken packages."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "example_adapter"
PAGE = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")


def run(code: str, *folders: Path) -> str:
    path = os.pathsep.join(map(str, [*folders, ROOT]))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        cwd=folders[0] if folders else None,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# The example -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["sheetarray_jsonl.py", "pyproject.toml", "test_jsonl.py"])
def test_the_page_shows_the_files_of_the_example(file: str) -> None:
    assert (EXAMPLE / file).read_text(encoding="utf-8").strip() in PAGE


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which pip has installed the example, from nothing but its own files."""
    source = tmp_path_factory.mktemp("source") / "example"
    shutil.copytree(EXAMPLE, source)
    site = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run(
        [*command, "--disable-pip-version-check", "--target", site, source], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return site


def test_the_example_passes_the_shipped_suite(site: Path, tmp_path: Path) -> None:
    shutil.copy(EXAMPLE / "test_jsonl.py", tmp_path)
    command = [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_jsonl.py"]
    path = os.pathsep.join(map(str, [site, ROOT]))
    environment = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # it needs no plugin
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert re.fullmatch(r"1[0-9]{2} passed, 2 skipped in .*", last), last


def test_every_verb_and_the_command_line_know_the_example(site: Path, tmp_path: Path) -> None:
    code = """
import sys, numpy as np, sheetarray as sa
sa.write("x.csv", {"t": np.arange(6.0).reshape(2, 3), "s": np.array(["ü", "=1"])})
assert "importlib.metadata" not in sys.modules or "sheetarray_jsonl" not in sys.modules
sa.convert("x.csv", "x.jsonl.gz")
back = sa.read("x.jsonl.gz")
assert back["t"].tolist() == [[0, 1, 2], [3, 4, 5]] and back["s"].tolist() == ["ü", "=1"]
assert sa.scan("x.jsonl.gz")["t"].shape == (2, 3) and list(sa.check("x.jsonl.gz")) == []
assert sa.registry.FORMATS["jsonl"].package == "sheetarray-jsonl"
try:
    sa.read("x.jsonl.gz", format="jsonl", colour=1)
except TypeError as error:
    assert "JSON lines" in str(error)
from click.testing import CliRunner
from sheetarray.cli import main
for arguments, expected in (
    (["info", "x.jsonl.gz"], "JSON lines"),
    (["convert", "x.jsonl.gz", "-", "--to", "jsonl"], '["t", ["version"'),
):
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert expected in done.output, done.output
"""
    run(code, tmp_path, site)
    done = subprocess.run(
        [sys.executable, "-m", "sheetarray", "--help"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [site, ROOT]))},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert "jsonl" in done.stdout


# Packages that are looked for, and packages that are wrong ------------------------------------------------------


def package(folder: Path, name: str, code: str, **formats: str) -> None:
    """An installed package, as pip leaves it behind."""
    module = name.replace("-", "_")
    (folder / f"{module}.py").write_text(f"print('loaded {name}')\nfrom sheetarray.registry import Format\n{code}")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"{row} = {module}:{target}" for row, target in formats.items()]
    (info / "entry_points.txt").write_text("\n".join(["[sheetarray.formats]", *lines, ""]))


ONE_AFTER_THE_OTHER = """
import os, warnings, sheetarray as sa
warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)  # of threads of NumPy's, from Python 3.12 on
for ask in (
    lambda: sa.registry.format_of("x.good.zst").package,
    lambda: "good" in sa.registry.FORMATS,
    lambda: "csv" in list(sa.registry.FORMATS),
):  # a process for each
    if (child := os.fork()) == 0:
        print(ask(), "|", flush=True)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
ROW = "ROW = Format(name={name!r}, suffixes={suffixes!r}, module='json', stem='x', title='a title')\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_no_package_is_loaded_or_looked_for_before_it_is_needed(tmp_path: Path) -> None:
    package(tmp_path, "good", ROW.format(name="good", suffixes=(".good",)), good="ROW")
    code = """
import sys, io, numpy as np, sheetarray as sa, sheetarray.registry
from unittest import mock
with mock.patch("importlib.metadata.entry_points", side_effect=AssertionError):
    sa.write("x.csv", np.arange(3))
    sa.read("x.csv"), sa.scan("x.csv"), list(sa.check("x.csv")), sa.convert("x.csv", "x.json"), sa.read("x.json")
    sa.read(io.BytesIO(open("x.csv", "rb").read()), format="csv")
    import sheetarray.cli
"""
    assert run(code, tmp_path) == ""
    assert run(ONE_AFTER_THE_OTHER, tmp_path).split("|\n") == ["loaded good\ngood ", "True ", "loaded good\nTrue |"]


BROKEN = {
    "cannot be imported": ("import no_such_module\n", "no_such_module"),
    "raises": ("1 / 0\n", "ZeroDivisionError"),
    "has no such object": ("", "no attribute 'ROW'"),
    "gives no row": ("ROW = 5\n", "gives a int"),
    "gives another name": (ROW.format(name="other", suffixes=(".bad",)), "'other'"),
    "claims a suffix": (ROW.format(name="bad", suffixes=(".bad", ".csv")), "'.csv' belongs to csv"),
    "claims the end of a suffix": (ROW.format(name="bad", suffixes=(".x.json",)), "'.x.json' belongs to json"),
    "has a suffix without a dot": (ROW.format(name="bad", suffixes=("bad",)), "not a suffix"),
    "has a suffix that is no tuple": (ROW.format(name="bad", suffixes=".bad"), "not a tuple"),
    "has a suffix of a compression": (ROW.format(name="bad", suffixes=(".bad.gz",)), "not a suffix"),
    "has no suffix": (ROW.format(name="bad", suffixes=()), "neither suffixes nor prefixes"),
}


ASK = """
import sheetarray as sa
assert sa.registry.format_of("x.good").name == "good" and "bad" not in list(sa.registry.FORMATS)
for ask, kind in (
    (lambda: sa.read("x.bad", format="bad"), sa.MissingDependencyError),
    (lambda: sa.write("x.bad", [1.5], format="bad"), sa.MissingDependencyError),
    (lambda: sa.read("x.unknown"), sa.NotFoundError),
):
    try:
        ask()
    except kind as error:
        assert "bad-package" in str(error) and reason in str(error), error
    else:
        raise AssertionError(kind)
sa.write("x.csv", [1.5])
print(sa.read("x.csv")["array"].tolist(), flush=True)
sys.argv = ["sheetarray", "--help"]
sheetarray.cli.main()
"""
EACH = f"""
import gc, os, sys, warnings, numpy.ma, polars, sheetarray.cli, sheetarray.sheets.delimited
gc.freeze()  # or the first collection of each process copies all of it
warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)  # of threads of NumPy's, from Python 3.12 on
for folder, reason in {{cases!r}}.items():  # a process for each, forked off one that has imported what they need
    if (child := os.fork()) == 0:
        os.chdir(folder)
        sys.path.insert(0, folder)
        os.dup2(os.open("output", os.O_WRONLY | os.O_CREAT), 1)
        exec({ASK!r})
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, folder
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_a_broken_package_is_named_when_its_format_is_asked_for_and_else_in_nobodys_way(tmp_path: Path) -> None:
    folders = {case: tmp_path / case for case in BROKEN}
    for case, folder in folders.items():
        folder.mkdir()
        package(folder, "bad-package", BROKEN[case][0], bad="ROW")
        package(folder, "good", ROW.format(name="good", suffixes=(".good",)), good="ROW")
    assert run(EACH.format(cases={str(folders[case]): reason for case, (_, reason) in BROKEN.items()})) == ""
    for folder in folders.values():
        said = (folder / "output").read_text(encoding="utf-8")
        assert "[1.5]\n" in said
        assert "not available: the format 'bad' comes from the package bad-package" in " ".join(said.split())


def test_two_packages_of_one_format_are_named(tmp_path: Path) -> None:
    for name in ("one", "two"):
        package(tmp_path, name, ROW.format(name="same", suffixes=(f".{name}",)), same="ROW")
    code = """
import sheetarray as sa
try:
    sa.registry.FORMATS["same"]
except sa.MissingDependencyError as error:
    print(error)
"""
    assert run(code, tmp_path) == "several packages give a format 'same': one, two; uninstall all but one"


def test_of_two_packages_with_one_suffix_the_second_is_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        package(tmp_path, name, ROW.format(name=name, suffixes=(".same",)), **{name: "ROW"})
    code = """
import json, sheetarray as sa
print(json.dumps([sa.registry.format_of("x.same").name, sa.registry.FORMATS.problems]))
"""
    name, problems = json.loads(run(code, tmp_path).splitlines()[-1])
    assert name == "one"
    assert problems == [
        "the format 'two' comes from the package two, which does not work ('.same' belongs to one already)"
    ]


def test_an_adapter_that_cannot_be_imported_names_its_package(tmp_path: Path) -> None:
    row = ROW.format(name="late", suffixes=(".late",)).replace("'json'", "'no_such_adapter'")
    package(tmp_path, "late-package", row, late="ROW")
    code = """
import sheetarray as sa
try:
    sa.read("x.late")
except sa.MissingDependencyError as error:
    print(error)
"""
    assert "the package late-package, which does not work (ModuleNotFoundError: " in run(code, tmp_path)
