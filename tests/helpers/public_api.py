"""The public API as a text, line by line: `python tests/helpers/public_api.py` writes that of a release."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import click

import sheetarray as sa

ROOT = Path(__file__).parents[2]
RELEASED = ROOT / "tests" / "house" / "public_api.txt"
MODULES = {  # beside `sheetarray` itself; docs/releasing.md names them
    "adapters": None,  # all that it lists
    "registry": ["FORMATS", "Format", "register_format"],
    "testing.conformance": None,
    "interchange.avro": ["SCHEMA", "pack", "unpack"],
    "interchange.rawarray": ["read", "read_metadata", "write"],
    "interchange.sciserialize": ["decode_types", "dumps", "encode_types", "loads", "packb", "unpackb"],
    "interchange.awkward": ["COMPRESSION", "WHITELIST", "deserialize", "hdf5", "load", "save", "serialize"],
}
PLAIN = (bool, int, float, str, type(None))  # defaults that are a promise; others are only there


def describe_api() -> list[str]:
    """Return a line for each public name, parameter, attribute of a class, option of a format, command and extra."""
    lines = [line for name in sorted(set(sa.__all__) - {"__version__"}) for line in _describe(name, getattr(sa, name))]
    for name, listed in MODULES.items():
        module = import_module(f"sheetarray.{name}")
        for member in sorted(set(listed or module.__all__) - set(sa.__all__)):
            lines += _describe(f"{name}.{member}", getattr(module, member))
    for row in import_module("sheetarray.registry").FORMATS.values():
        for verb in ("read",) if row.instead else ("read", "write"):
            lines += [f"format {row.name} {verb} {option}" for option in row.options(verb)]
    lines += _describe_command("sheetarray", import_module("sheetarray.cli").main)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
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
    if not inspect.isroutine(thing) and (not inspect.isclass(thing) or getattr(thing, "_is_protocol", False)):
        return
    with suppress(ValueError):  # a class of C, such as an error's, has no signature
        for parameter in inspect.signature(thing).parameters.values():
            if parameter.name != "self":
                yield f"{name}({parameter.kind.name.lower()} {parameter.name}{_default(parameter)})"


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return ""
    plain = isinstance(parameter.default, PLAIN) or parameter.default == ()
    return f"={parameter.default!r}" if plain else "=.."


def _describe_command(path: str, command: click.Command) -> Iterator[str]:
    yield path
    for parameter in command.params:
        options = parameter.opts if isinstance(parameter, click.Option) else [parameter.human_readable_name]
        yield from (f"{path} {option}" for option in [*options, *parameter.secondary_opts])
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _describe_command(f"{path} {name}", inner)


if __name__ == "__main__":
    RELEASED.write_text("\n".join(describe_api()) + "\n", encoding="utf-8")
