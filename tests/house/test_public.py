"""The public names, what importing them costs, and that every example in a docstring runs.

`PYTHONPATH=tests/helpers python tests/house/test_public.py` writes the names that a release has to public_api.txt.
"""

from __future__ import annotations

import doctest
import inspect
import pickle
import pkgutil
import re
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path

import click
import numpy as np
import pytest
from adapters_deleted import DELETED, NAMES_DELETED

import sheetarray as sa
from sheetarray.formats.inside import INSIDE

NAMES = [
    *("ArrayInfo", "Changes", "DTypeError", "Finding", "FormatError", "LimitError", "LinearArray", "Merged"),
    *("MissingDependencyError", "NotFoundError", "Page", "RemoteError", "SheetArrayError", "SheetArrayWarning"),
    *("View", "__version__", "accept", "append", "check", "convert", "diff", "from_linear", "iter_blocks"),
    *("merge", "open_many"),
    *("open_writer", "page", "read", "read_columns", "read_csv", "read_dataset", "read_excel", "read_frame"),
    *("read_gsheet", "read_json", "restore", "scan", "to_linear", "write", "write_csv", "write_excel"),
    *("write_gsheet", "write_json", "write_table"),
]
PRESENT = [name for name in NAMES if name not in NAMES_DELETED]  # all, unless the adapter of one was deleted

ROOT = Path(sa.__file__).parent
PROJECT = Path(__file__).parents[2]
RELEASED = Path(__file__).with_name("public_api.txt")
MODULES = sorted(
    ".".join(("sheetarray", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
    if path.stem != "__main__"
)


def test_the_public_names_are_exactly_these():
    assert sa.__all__ == NAMES
    assert sorted(sa.__all__) == sa.__all__
    assert dir(sa) == NAMES
    assert [name for name in PRESENT if getattr(sa, name, None) is None] == []


# The public API, a line for each name, parameter and option -------------------------------------------------------

PUBLIC_MODULES = {  # beside `sheetarray` itself; docs/releasing.md names them
    "adapters": None,  # all that it lists
    "registry": ["FORMATS", "Format", "register_format"],
    "testing.conformance": None,
    "interchange.avro": ["SCHEMA", "pack", "unpack"],
    "interchange.rawarray": ["read", "read_metadata", "write"],
    "interchange.sciserialize": ["decode_types", "dumps", "encode_types", "loads", "packb", "unpackb"],
    "interchange.awkward": ["COMPRESSION", "WHITELIST", "deserialize", "hdf5", "load", "save", "serialize"],
}
PROMISED = (bool, int, float, str, type(None))  # defaults that are a promise; others are only there


def describe_api() -> list[str]:
    """Return a line for each public name, parameter, attribute of a class, option of a format, command and extra."""
    lines = [line for name in sorted(set(sa.__all__) - {"__version__"}) for line in _describe(name, getattr(sa, name))]
    for name, listed in PUBLIC_MODULES.items():
        module = import_module(f"sheetarray.{name}")
        for member in sorted(set(listed or module.__all__) - set(sa.__all__)):
            lines += _describe(f"{name}.{member}", getattr(module, member))
    for row in import_module("sheetarray.registry").FORMATS.values():
        for verb in ("read",) if row.instead else ("read", "write"):
            lines += [f"format {row.name} {verb} {option}" for option in row.options(verb)]
    lines += _describe_command("sheetarray", import_module("sheetarray.cli").main)
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return lines + [f"extra {name}" for name in extras if name not in ("docs", "bench", "dev")]


def _describe(name: str, thing: object) -> Iterator[str]:
    yield name
    if inspect.isclass(thing):
        yield from (f"{name} is a {base.__name__}" for base in thing.__mro__[1:] if issubclass(base, Exception))
        for member in sorted(_members(thing)):
            yield f"{name}.{member}"
            yield from _parameters(f"{name}.{member}", getattr(thing, member, None))
    yield from _parameters(name, thing)


def _members(kind: type) -> set[str]:
    ours = [base for base in kind.__mro__ if base.__module__.startswith("sheetarray")]
    members = {member for base in ours for member in {*vars(base), *inspect.get_annotations(base)}}
    return {member for member in members if not member.startswith(("_", "test_"))}


def _parameters(name: str, thing: object) -> Iterator[str]:
    if isinstance(thing, cached_property):
        return
    if not inspect.isroutine(thing) and (not inspect.isclass(thing) or getattr(thing, "_is_protocol", False)):
        return
    with suppress(ValueError):  # a class of C, such as an error's, has no signature
        for parameter in inspect.signature(thing).parameters.values():
            if parameter.name != "self":
                yield f"{name}({parameter.kind.name.lower()} {parameter.name}{_default(parameter)})"


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return ""
    plain = isinstance(parameter.default, PROMISED) or parameter.default == ()
    return f"={parameter.default!r}" if plain else "=.."


def _describe_command(path: str, command: click.Command) -> Iterator[str]:
    yield path
    for parameter in command.params:
        options = parameter.opts if isinstance(parameter, click.Option) else [parameter.human_readable_name]
        yield from (f"{path} {option}" for option in [*options, *parameter.secondary_opts])
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _describe_command(f"{path} {name}", inner)


@pytest.mark.skipif(bool(DELETED), reason="an adapter was deleted")
def test_everything_that_was_released_is_still_public():
    missing = set(RELEASED.read_text(encoding="utf-8").splitlines()) - set(describe_api())
    assert sorted(missing) == [], "deprecate it for two minor versions first (docs/releasing.md)"


@pytest.mark.parametrize("verb", ["read", "write"])
def test_help_names_the_options_of_every_format(verb):
    listed, text = {}, re.sub(r"\n {10}(?=\w)", " ", inspect.cleandoc(getattr(sa, verb).__doc__))
    for label, options in re.findall(r"^ {8}- (.*): (.*)$", text, re.MULTILINE):
        for name in re.findall(r"[\w-]+", label.partition(",")[0]):
            listed[name] = [] if options == "none" else options.split(", ")
        for function in re.findall(r"`(\w+)`", label):
            assert function in NAMES
    for row in INSIDE.values():
        if row.instead is None or verb == "read":
            known = row.options(verb)
            assert listed.pop(row.name) == [name for name in known if name != "storage_options"], row.name
    assert not set(listed) - DELETED


def test_importing_loads_nothing_heavy_json_no_columnar_engine_and_a_text_nothing_of_the_network():
    heavy = [
        *("polars", "pandas", "openpyxl", "fastexcel", "gspread", "rich", "click", "xarray", "zstandard", "awkward"),
        "fastavro",
    ]
    code = f"""
import io, sys, sheetarray as sa
sa.scan; sa.to_linear([1.5])
print(sorted(set({heavy!r}) & set(sys.modules)))
sa.write(io.BytesIO(), [1.5], format="json")
print("polars" in sys.modules)
text = io.BytesIO("\\n".join(map(str, ["t", *sa.to_linear([1.5])])).encode())
print(sa.read(text, "t", format="csv"), sorted({{"ssl", "xml.sax", "urllib.request", "email"}} & {{*sys.modules}}))
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "False", "[1.5] []"]


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        ("FormatError", ValueError),
        ("DTypeError", TypeError),
        ("LimitError", ValueError),
        ("NotFoundError", KeyError),
        ("MissingDependencyError", ImportError),
        ("RemoteError", OSError),
    ],
)
def test_errors_have_one_root_and_the_builtin(error, builtin):
    assert issubclass(getattr(sa, error), sa.SheetArrayError)
    assert issubclass(getattr(sa, error), builtin)
    assert issubclass(sa.SheetArrayWarning, UserWarning)


def test_errors_show_place_element_and_hint():
    error = sa.FormatError(
        "expected float64, found 'abc'", location="arrays!C17", element="t[0, 3]", source="run.xlsx", hint="fix it"
    )
    assert str(error) == "run.xlsx, sheet arrays, cell C17 (t[0, 3]): expected float64, found 'abc' (fix it)"
    assert str(sa.NotFoundError("no array 'x'")) == "no array 'x'"


def test_no_setting_of_the_process_is_changed():
    with suppress(ImportError):
        import_module("zarr")  # a store of ours is a class of its; a package below it adds a filter of warnings
    before = (np.geterr(), list(warnings.filters), sys.getrecursionlimit(), sys.get_int_max_str_digits())
    sa.from_linear(sa.to_linear(np.array([np.nan, 1e300])))
    for name in MODULES:
        import_module(name)
    assert (np.geterr(), list(warnings.filters), sys.getrecursionlimit(), sys.get_int_max_str_digits()) == before


@pytest.mark.usefixtures("own_registry")  # one registers a format, which is refused if there is CSV
def test_examples_in_docstrings_run(monkeypatch):
    runner, finder = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE), doctest.DocTestFinder()
    for name in set(MODULES) - {"sheetarray"}:  # whose functions stand in other modules
        for test in finder.find(import_module(name)):
            if test.examples:  # even one without any costs the runner a millisecond, and there are thousands
                runner.run(test)
    assert runner.failures == 0, "what differs is printed above"
    assert runner.tries > 100


@pytest.mark.parametrize("name", [name for name in PRESENT if inspect.isfunction(getattr(sa, name))])
def test_every_public_function_has_an_example_and_typed_keyword_only_options(name):
    function = getattr(sa, name)
    assert ">>>" in (inspect.getdoc(function) or "")
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.default is not parameter.empty:
            assert parameter.name in ("names", "columns", "target"), f"{name}({parameter.name}) is to be keyword-only"


@pytest.mark.parametrize("name", [name for name in PRESENT if inspect.isfunction(getattr(sa, name))])
def test_every_public_function_can_be_pickled(name):
    assert pickle.loads(pickle.dumps(getattr(sa, name))) is getattr(sa, name)


def test_the_package_is_typed():
    assert (pkgutil.get_data("sheetarray", "py.typed")) is not None


if __name__ == "__main__":
    RELEASED.write_text("\n".join(describe_api()) + "\n", encoding="utf-8")
