"""Formats from outside: the example of the documentation, installed and tested as a stranger would; broken packages."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize(
    "file",
    ["sheetarray_jsonl/__init__.py", "sheetarray_jsonl/sheetarray_formats.json", "pyproject.toml", "test_jsonl.py"],
)
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


COMPOSITES = """
import awkward as ak, numpy as np, pandas as pd, sheetarray as sa, xarray as xr
from click.testing import CliRunner
from sheetarray.cli import main
from sheetarray_jsonl import read_jsonl, scan_jsonl, write_jsonl
events = ak.Array([[1, 2], [], [3]])
run = xr.Dataset({"t": (("x", "y"), [[1.5, 2.5]])}, {"x": ["p"]})
frame = pd.DataFrame({"level": [1.5, 2.5]}, index=pd.Index(["a", "b"], name="site"))
for arrays in ({"events": events, "n": np.arange(2)}, run, frame):
    write_jsonl("direct.jsonl", arrays)
    sa.write("through.jsonl", arrays)
    sa.write("as.csv", arrays)
    sa.convert("as.csv", "from.jsonl")
    names = list(sa.read("as.csv"))
    for path in ("direct.jsonl", "through.jsonl", "from.jsonl"):
        assert list(sa.read(path)) == list(read_jsonl(path)) == names, (path, list(sa.read(path)), names)
        assert [i.shape for i in sa.scan(path).values()] == [i.shape for i in sa.scan("as.csv").values()]
        assert [i.dims for i in sa.scan(path).values()] == [i.dims for i in sa.scan("as.csv").values()]
        assert list(scan_jsonl(path)) == names and list(sa.check(path)) == []
        done = CliRunner().invoke(main, ["diff", path, "as.csv"])
        assert done.exit_code == 0, done.output
    sa.convert("through.jsonl", "back.csv")
    assert open("back.csv").read() == open("as.csv").read()
xr.testing.assert_identical((sa.write("x.jsonl", run), sa.read_dataset("x.jsonl"))[1], run)
sa.write("x.jsonl", frame)
pd.testing.assert_frame_equal(sa.read_frame("x.jsonl"), frame)
sa.write("a.jsonl", {"events": events})
assert sa.read("a.jsonl")["events"].to_list() == [[1, 2], [], [3]]
sa.write("a.csv", {"events": ak.Array([[1, 2], [], [4]])})
done = CliRunner().invoke(main, ["diff", "a.jsonl", "a.csv"])
assert done.exit_code == 1 and "events" in done.output, done.output
"""


def test_every_verb_and_the_command_line_know_the_example(site: Path, tmp_path: Path) -> None:
    code = """
import sys, numpy as np, sheetarray as sa
sa.write("x.csv", {"t": np.arange(6.0).reshape(2, 3), "s": np.array(["ü", "=1"])})
assert "sheetarray_jsonl" not in sys.modules
sa.convert("x.csv", "x.jsonl.gz")
back = sa.read("x.jsonl.gz")
assert back["t"].tolist() == [[0, 1, 2], [3, 4, 5]] and back["s"].tolist() == ["ü", "=1"]
assert sa.scan("x.jsonl.gz")["t"].shape == (2, 3) and list(sa.check("x.jsonl.gz")) == []
assert sa.registry.FORMATS["jsonl"].package == "sheetarray-jsonl"
sa.write("y.jsonl", {"t": np.arange(3)})
with open("y.jsonl", "rb") as file:
    import io
    assert sa.read(io.BytesIO(file.read()))["t"].tolist() == [0, 1, 2]
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
    run(COMPOSITES, tmp_path, site)
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

ROW = "ROW = Format(name={name!r}, suffixes={suffixes!r}, module=__name__, stem='x', title='a title')\n"
ADAPTER = """
def read_x(source, names=None):
    return {"from": __name__}
"""


def package(folder: Path, name: str, code: str, declared: Any, **formats: str) -> None:
    """An installed package, as pip leaves it behind; `declared` is what its file says, as JSON or as it is."""
    module = name.replace("-", "_")
    (folder / module).mkdir(parents=True)
    loud = f"print('loaded {name}')\nfrom sheetarray.registry import Format\n{code}{ADAPTER}"
    (folder / module / "__init__.py").write_text(loud)
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"{row} = {module}:{target}" for row, target in formats.items()]
    (info / "entry_points.txt").write_text("\n".join(["[sheetarray.formats]", *lines, ""]))
    listed = [f"{module}/__init__.py,,", f"{info.name}/METADATA,,", f"{info.name}/RECORD,,"]
    if declared is not None:
        content = declared if isinstance(declared, bytes) else json.dumps(declared).encode()
        (folder / module / "sheetarray_formats.json").write_bytes(content)
        listed.append(f"{module}/sheetarray_formats.json,,")
    (info / "RECORD").write_text("\n".join(listed) + "\n")


def give(folder: Path, name: str, *suffixes: str, **more: Any) -> None:
    """An installed package with one format, whose name is the package's."""
    row = ROW.format(name=name, suffixes=suffixes)
    package(folder, name, row, [{"name": name, "suffixes": list(suffixes), **more}], **{name: "ROW"})


PRELUDE = """
import io, json, os, sys, numpy as np, sheetarray as sa
from pathlib import Path
def told(ask):
    try:
        return ask()
    except (sa.SheetArrayError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
def command(*arguments):
    from click.testing import CliRunner
    from sheetarray.cli import main
    done = CliRunner().invoke(main, arguments)
    return done.exit_code, done.output
"""


def answers(folder: Path, *asked: str) -> list[Any]:
    """What a new process answers to some questions, and what it prints while it does so."""
    listed = ", ".join(f"told(lambda: {question})" for question in asked)
    return run(f"{PRELUDE}print(json.dumps([{listed}], default=str))", folder).splitlines()


def test_no_package_is_imported_before_it_is_needed_and_none_looked_for_by_most_formats(tmp_path: Path) -> None:
    give(tmp_path, "good", ".good", ".json", magic=[{"bytes": "GOOD"}])
    code = f"""{PRELUDE}
from unittest import mock
with mock.patch("importlib.metadata.distributions", side_effect=AssertionError):
    sa.write("x.csv", np.arange(3))
    sa.read("x.csv"), sa.scan("x.csv"), list(sa.check("x.csv")), sa.convert("x.csv", "x.json"), sa.read_columns
    sa.write("x.json", {{"t": np.arange(3)}}), sa.convert("x.csv", "x.npy"), sa.convert("x.npy", "x.xlsx")
    sa.read(io.BytesIO(Path("x.csv").read_bytes()), format="csv")
    assert command("info", "x.csv")[0] == 0
sa.read("x.json"), sa.read(io.BytesIO(Path("x.csv").read_bytes())), list(sa.registry.FORMATS), repr(sa.registry.FORMATS)
told(lambda: sa.read("x.unknown")), told(lambda: sa.read("x.csv", format="csw")), "good" in sa.registry.FORMATS
told(lambda: sa.page({{"t": np.arange(3)}})), sa.registry.FORMATS.problems, len(sa.registry.FORMATS)
assert command("--help")[0] == command("check", "x.json")[0] == 0
print("now")
print(sa.registry.format_of("x.good.gz").package)
"""
    assert run(code, tmp_path).splitlines() == ["now", "loaded good", "good"]


# What a package gives, and declares; what an error says
ONE = [{"name": "bad", "suffixes": [".bad"]}]
GIVEN = ROW.format(name="bad", suffixes=(".bad",))
BROKEN: dict[str, tuple[str, Any, str]] = {
    "cannot be imported": ("import no_such_module\n", ONE, "no_such_module"),
    "raises": ("1 / 0\n", ONE, "ZeroDivisionError"),
    "has no such object": ("", ONE, "no attribute 'ROW'"),
    "gives no row": ("ROW = 5\n", ONE, "gives a int"),
    "gives another name": (ROW.format(name="other", suffixes=(".bad",)), ONE, "'other'"),
    "gives other suffixes": (ROW.format(name="bad", suffixes=(".b",)), ONE, "the suffixes are ('.bad',)"),
    "gives another object": (GIVEN.replace("module=", "objects=('inks.A',), module="), ONE, "no object 'inks.A'"),
    "is never compressed": (GIVEN.replace("module=", "compressible=False, module="), ONE, "compressible is True"),
    "declares nothing": (GIVEN, None, "it has no sheetarray_formats.json"),
    "declares another": (GIVEN, [{"name": "x", "suffixes": [".x"]}], "has no format 'bad'"),
    "claims a suffix": (GIVEN, [{"name": "bad", "suffixes": [".csv"]}], "'.csv' belongs to csv"),
    "shares a suffix that is not shared": (
        GIVEN,
        [{"name": "bad", "suffixes": [".csv"], "magic": [{"bytes": "BAD"}]}],
        "'.csv' belongs to csv",
    ),
    "claims a suffix that is shared": (GIVEN, [{"name": "bad", "suffixes": [".json"]}], "'.json' belongs to json"),
    "claims the end of a suffix": (GIVEN, [{"name": "bad", "suffixes": [".x.json"]}], "'.x.json' belongs to json"),
    "claims a prefix": (GIVEN, [{"name": "bad", "prefixes": ["gsheets://x"]}], "'gsheets://x' belongs to gsheet"),
    "claims an object": (GIVEN, [{"name": "bad", "objects": ["openpyxl.Workbook"]}], "belongs to workbook"),
    "has a suffix without a dot": (GIVEN, [{"name": "bad", "suffixes": ["bad"]}], "not a suffix"),
    "has a suffix that is no list": (GIVEN, [{"name": "bad", "suffixes": ".bad"}], "suffixes is no list"),
    "has a suffix that is no text": (GIVEN, [{"name": "bad", "suffixes": [5]}], "suffixes has something other"),
    "has a suffix of a compression": (GIVEN, [{"name": "bad", "suffixes": [".bad.gz"]}], "not a suffix"),
    "has no suffix": (GIVEN, [{"name": "bad"}], "neither suffixes nor prefixes"),
    "has an unknown key": (GIVEN, [{"name": "bad", "suffix": [".bad"]}], "the key 'suffix'; known are name, suffixes"),
    "has no name": (GIVEN, [{"suffixes": [".bad"]}], "an object with a name"),
    "has a name that is a number": (GIVEN, [{"name": 5, "suffixes": [".bad"]}], "5 is not the name of a format"),
    "is said twice": (GIVEN, [*ONE, *ONE], "has a format twice"),
    "is no list": (GIVEN, {"name": "bad"}, "no list of at most 100 formats"),
    "is too long a list": (GIVEN, ONE * 101, "no list of at most 100 formats"),
    "is no JSON": (GIVEN, b"[{", "its sheetarray_formats.json is wrong: "),
    "is no UTF-8": (GIVEN, b'[{"name": "\xff"}]', "its sheetarray_formats.json is wrong: "),
    "is nested": (GIVEN, b"[" * 90_000, "its sheetarray_formats.json is wrong: "),
    "is too large": (GIVEN, b" " * 100_001, "no file of at most 100,000 bytes"),
    "has one byte of magic": (GIVEN, [{**ONE[0], "magic": [{"bytes": "["}]}], "magic is bytes, 2 to 200 characters"),
    "has magic that is a text": (GIVEN, [{**ONE[0], "magic": ["BAD"]}], "magic is bytes"),
    "has no magic": (GIVEN, [{**ONE[0], "magic": []}], "magic is no list of one to 100"),
    "has magic far below": (GIVEN, [{**ONE[0], "magic": [{"bytes": "BAD", "offset": 4094}]}], "the first 4096 bytes"),
    "has magic before": (GIVEN, [{**ONE[0], "magic": [{"bytes": "BAD", "offset": -1}]}], "the first 4096 bytes"),
    "has magic of letters": (
        GIVEN,
        [{**ONE[0], "magic": [{"bytes": "\u0141\u0142"}]}],
        "a character of magic is a byte",
    ),
    "is compressible as a text": (GIVEN, [{**ONE[0], "compressible": "no"}], "neither true nor false"),
}


ASK = """
import sheetarray as sa
assert sa.registry.format_of("x.good").name == "good"
for ask, kind in (
    (lambda: sa.read("x.bad", format="bad"), sa.MissingDependencyError),
    (lambda: sa.write("x.bad", [1.5], format="bad"), sa.MissingDependencyError),
    (lambda: sa.registry.FORMATS["bad"], sa.MissingDependencyError),
    (lambda: sa.read("x.bad"), (sa.MissingDependencyError, sa.NotFoundError)),
):
    try:
        ask()
    except kind as error:
        assert "bad-package" in str(error) and reason in str(error), error
    else:
        raise AssertionError(kind)
sa.write("x.csv", [1.5])
sa.write("x.json", [1.5])
print(sa.read("x.csv")["array"].tolist(), sa.read("x.json")["array"].tolist(), flush=True)
if "bad" not in sa.registry.FORMATS:
    assert any("bad-package" in problem and reason in problem for problem in sa.registry.FORMATS.problems)
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
        code, declared, _ = BROKEN[case]
        package(folder, "bad-package", code, declared, bad="ROW")
        give(folder, "good", ".good")
    assert run(EACH.format(cases={str(folders[case]): reason for case, (_, _, reason) in BROKEN.items()})) == ""
    for case, folder in folders.items():
        said = (folder / "output").read_text(encoding="utf-8")
        assert "[1.5] [1.5]\n" in said
        static = BROKEN[case][0] == GIVEN
        assert not static or "not available: the format 'bad' comes from the package bad-package" in " ".join(
            said.split()
        )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_file_that_is_none_is_not_read(tmp_path: Path) -> None:
    for name, make in {"dir": Path.mkdir, "pipe": os.mkfifo}.items():
        package(tmp_path, name, ROW.format(name=name, suffixes=(f".{name}",)), [], **{name: "ROW"})
        path = tmp_path / name / "sheetarray_formats.json"
        path.unlink()
        make(path)
    asked = ["sa.read('x.dir')", "sa.read('x.pipe')", "sa.registry.format_of('x.csv').name", "command('info', 'x.dir')"]
    (said,) = answers(tmp_path, *asked)
    folder, pipe, csv, (status, printed) = json.loads(said)
    assert "the package dir, which does not work (its sheetarray_formats.json is wrong" in folder
    assert "the package pipe, which does not work (its sheetarray_formats.json is wrong" in pipe
    assert csv == "csv"
    assert status == 2
    assert "the package dir, which does not work" in printed


def test_metadata_that_is_damaged_is_told_and_in_nobodys_way(tmp_path: Path) -> None:
    for name in ("one", "two", "good"):
        give(tmp_path, name, f".{name}")
    (tmp_path / "one-1.0.dist-info" / "entry_points.txt").write_text("[sheetarray.formats]\nno equals sign\n")
    (tmp_path / "two-1.0.dist-info" / "METADATA").unlink()
    (said,) = answers(tmp_path, "sa.registry.FORMATS.problems", "'good' in sa.registry.FORMATS")
    problems, good = json.loads(said)
    assert good
    assert any("the package one has damaged metadata" in problem for problem in problems), problems


def test_a_file_cannot_take_the_format_of_another_package(tmp_path: Path) -> None:
    give(tmp_path, "good", ".good")
    claims = [{"name": name, "suffixes": [f".{name}"]} for name in ("bad", "good", "csv")]
    package(tmp_path, "bad", ROW.format(name="bad", suffixes=(".bad",)), claims, bad="ROW")
    *_, said = answers(tmp_path, "sa.read('x.good')", "sa.read('x.bad')", "sa.registry.FORMATS.problems")
    good, bad, problems = json.loads(said)
    assert (good, bad) == ({"from": "good"}, {"from": "bad"})
    assert sorted(problem.partition(" (")[2] for problem in problems) == [
        "it has no entry point 'csv')",
        "it has no entry point 'good')",
    ]


def test_two_packages_of_one_format_are_named(tmp_path: Path) -> None:
    for name in ("one", "two"):
        row = ROW.format(name="same", suffixes=(f".{name}",))
        package(tmp_path, name, row, [{"name": "same", "suffixes": [f".{name}"]}], same="ROW")
    (said,) = answers(tmp_path, "sa.registry.FORMATS['same']", "sa.read('x.one')", "sa.read('x.csv', format='same')")
    problem = "several packages give a format 'same': one, two; uninstall all but one"
    first, second, third = json.loads(said)
    assert first == third == f"MissingDependencyError: {problem}"
    assert problem in second


def test_a_package_that_is_installed_twice_is_one(tmp_path: Path) -> None:
    give(tmp_path, "one", ".one")
    shutil.copytree(tmp_path, tmp_path / "again")
    code = f"{PRELUDE}sys.path.insert(1, 'again')\nprint(sa.registry.format_of('x.one').name)"
    assert run(code, tmp_path) == "loaded one\none"


def test_of_two_packages_with_one_suffix_the_second_is_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        give(tmp_path, name, ".same")
    *_, said = answers(tmp_path, "sa.registry.format_of('x.same').name", "sa.registry.FORMATS.problems")
    assert json.loads(said) == [
        "one",
        ["the format 'two' comes from the package two, which does not work ('.same' belongs to one already)"],
    ]


def test_a_suffix_is_shared_by_magic(tmp_path: Path) -> None:
    give(tmp_path, "plain", ".same")
    give(tmp_path, "inks", ".same", ".json", magic=[{"bytes": "%INK", "offset": 0}, {"bytes": "INK2", "offset": 6}])
    give(tmp_path, "pens", ".same", magic=[{"bytes": "\x89PEN"}])
    (tmp_path / "a.same").write_bytes(b"%INK 1")
    (tmp_path / "b.same").write_bytes(b"{12345INK2")
    (tmp_path / "c.same").write_bytes(b"x" * 4092 + b"\x89PEN")
    (tmp_path / "d.same").write_bytes(b"x" * 4093 + b"\x89PEN")  # a byte too late
    (tmp_path / "a.json").write_bytes(b"%INK 1")
    (tmp_path / "b.json").write_bytes(b" %INK 1")
    (tmp_path / "c.json.gz").write_bytes(gzip.compress(b'{"t": INK2'))
    names = ["a.same", "b.same", "c.same", "d.same", "a.json", "b.json", "c.json.gz"]
    asked = [f"sa.registry.format_of({name!r}, reading=True).name" for name in names]
    writing = [f"sa.registry.format_of({name!r}).name" for name in ("a.same", "a.json")]
    uploads = [f"sa.registry.format_of(io.BytesIO(Path({name!r}).read_bytes()), reading=True).name" for name in names]
    *loaded, said = answers(tmp_path, *asked, *writing, *uploads, "sa.read('a.json')", "sa.read(open('b.same', 'rb'))")
    expected = ["inks", "inks", "pens", "plain", "inks", "json", "inks"]
    in_memory = ["inks", "inks", "pens", "csv", "inks", "csv", "inks"]
    assert json.loads(said) == [*expected, "plain", "json", *in_memory, {"from": "inks"}, {"from": "inks"}]
    assert loaded == ["loaded inks", "loaded pens", "loaded plain"]


def test_nobody_guesses_which_of_two_formats_is_written(tmp_path: Path) -> None:
    for name in ("inks", "pens"):
        give(tmp_path, name, ".same", magic=[{"bytes": name}])
    (tmp_path / "x.same").write_bytes(b"neither")
    asked = ["sa.write('y.same', [1])", "sa.read('x.same')", "sa.read('x.same', format='pens')"]
    asked += ["command('convert', 'x.csv', 'y.same')[1]", "command('info', 'x.same')[1]"]
    *_, said = answers(tmp_path, "sa.write('x.csv', [1])", *asked)
    _, wrote, read, named, converted, listed = json.loads(said)
    several = "several formats have the suffix .same: inks, pens"
    assert wrote == f"NotFoundError: y.same: {several} (or name the format with format=)"
    assert read == f"NotFoundError: x.same: {several} (or name the format with format=)"
    assert named == {"from": "pens"}
    assert f"error: y.same: {several}\nhint: name the format with --to: " in converted
    assert f"error: x.same: {several}\nhint: name the format with --from: " in listed


def test_an_object_of_another_library_is_found_by_its_class(tmp_path: Path) -> None:
    (tmp_path / "inklib").mkdir()
    (tmp_path / "inklib" / "__init__.py").write_text("from inklib.shapes import Picture, Line\n")
    (tmp_path / "inklib" / "shapes.py").write_text("class Picture: pass\nclass Line: pass\n")
    give(tmp_path, "inks", ".inks", objects=["inklib.Picture"])
    give(tmp_path, "pens", objects=["penlib"])
    (tmp_path / "penlib.py").write_text("class Pen: pass\n")
    code = f"""{PRELUDE}
import inklib, penlib
class Mine(inklib.Picture):
    pass
assert told(lambda: sa.read(np.arange(3))).startswith("TypeError: expected a path")
assert told(lambda: sa.read(inklib.Line())).startswith("TypeError: expected a path")
assert "inks" not in sys.modules and "pens" not in sys.modules
assert sa.read(inklib.Picture()) == sa.read(Mine()) == {{"from": "inks"}}
assert sa.read(penlib.Pen()) == {{"from": "pens"}}
print(told(lambda: sa.read(penlib.Pen(), format="csv")))
print(told(lambda: sa.write(penlib.Pen(), [1])))
"""
    assert run(code, tmp_path).splitlines() == [
        "loaded inks",
        "loaded pens",
        "TypeError: format='csv' is for files: a Pen is a a title",
        "NotFoundError: a title: there is no write for it",
    ]


def test_a_project_that_is_edited_in_place_declares_its_formats_beside_its_module(tmp_path: Path) -> None:
    give(tmp_path / "source", "inks", ".inks")
    give(tmp_path / "source", "pens", ".pens")
    for name in ("inks", "pens"):
        info = f"{name}-1.0.dist-info"
        shutil.move(tmp_path / "source" / info, tmp_path / info)
        (tmp_path / info / "RECORD").write_text(f"{info}/METADATA,,\n")
    (tmp_path / "pens-1.0.dist-info" / "RECORD").unlink()
    entry = "[sheetarray.formats]\npens = pens.deep.er:ROW\n"
    (tmp_path / "pens-1.0.dist-info" / "entry_points.txt").write_text(entry)
    (tmp_path / "source" / "pens" / "deep").mkdir()
    moved = tmp_path / "source" / "pens" / "deep" / "sheetarray_formats.json"
    shutil.move(tmp_path / "source" / "pens" / "sheetarray_formats.json", moved)
    (tmp_path / "source" / "pens" / "deep" / "er.py").write_text("from pens import ROW\n")
    code = f"{PRELUDE}print(sa.registry.format_of('x.inks').name, sa.registry.format_of('x.pens').name)"
    assert run(code, tmp_path, tmp_path / "source").splitlines() == ["loaded inks", "loaded pens", "inks pens"]


def test_an_adapter_that_cannot_be_imported_names_its_package(tmp_path: Path) -> None:
    row = ROW.format(name="late", suffixes=(".late",)).replace("__name__", "'no_such_adapter'")
    package(tmp_path, "late-package", row, [{"name": "late", "suffixes": [".late"]}], late="ROW")
    *_, said = answers(tmp_path, "sa.read('x.late')")
    assert "the package late-package, which does not work (ModuleNotFoundError: " in said
