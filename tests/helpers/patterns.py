"""The regular expressions of the package, how each is used, and long texts that make bad ones go back and forth."""

from __future__ import annotations

import ast
import importlib
import re
import re._constants as codes
import re._parser as parser
import signal
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import sheetarray

METHODS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
UNITS = (  # what texts are made of, besides what the pattern itself names
    *(" ", "\t", "\n", "\r", "0", "9", "a", "Z", "_", "-", "+", ".", ",", ";", ":", "'", '"', "(", "[", "{", "<", "/"),
    *('""', "''", "0,", "0.", "a.", "a b", " \n", "<a ", "_x", "\\", "é"),
)


class Use(NamedTuple):
    """One way in which the package uses a pattern.

    Attributes:
        where: the module, and the name of the pattern or its line.
        pattern: compiled.
        method: the name of the method.
    """

    where: str
    pattern: re.Pattern[Any]
    method: str


def find_uses() -> list[Use]:
    """Return how each pattern of the package is used, whether a module has a name for it or not."""
    uses: dict[tuple[str, bytes | str, int, str], Use] = {}
    root = Path(sheetarray.__file__).parent
    for path in sorted(root.rglob("*.py")):
        name = ".".join(("sheetarray", *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")
        if name.endswith("__main__"):
            continue
        module = importlib.import_module(name)
        for use in _uses_in(name, ast.parse(path.read_text(encoding="utf-8")), module):
            uses.setdefault((use.where, use.pattern.pattern, use.pattern.flags, use.method), use)
    return list(uses.values())


class _StoppedError(Exception):
    """The timer of CPU time has run off."""


def is_stopped(use: Use, size: int, seconds: float) -> bool:
    """Return whether a use of a pattern takes more CPU time than that for a text of so many characters."""

    def stop(*_: object) -> None:
        raise _StoppedError

    before = signal.signal(signal.SIGPROF, stop)
    method = getattr(use.pattern, use.method)
    try:
        for text in long_texts(use.pattern, size):
            signal.setitimer(signal.ITIMER_PROF, seconds)
            if use.method == "finditer":
                deque(method(text), maxlen=0)
            else:
                method(*([text[:0]] if use.method in ("sub", "subn") else []), text)
            signal.setitimer(signal.ITIMER_PROF, 0)
    except _StoppedError:
        return True
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return False


def _uses_in(name: str, tree: ast.Module, module: Any) -> Iterator[Use]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS and isinstance(node.value, ast.Name):
            held = getattr(module, node.value.id, None)
            if isinstance(held, re.Pattern):
                yield Use(f"{name}.{node.value.id}", held, node.attr)
            elif node.value.id == "re" and (call := _call_of(tree, node)) is not None:
                try:
                    pattern, flags = (eval(ast.unparse(given), vars(module)) for given in _given(call))
                    yield Use(f"{name}:{node.lineno}", re.compile(pattern, flags), node.attr)
                except (NameError, TypeError):  # of the function that makes it
                    continue


def _call_of(tree: ast.Module, function: ast.Attribute) -> ast.Call | None:
    return next((node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.func is function), None)


def _given(call: ast.Call) -> tuple[ast.expr, ast.expr]:
    """Return the pattern and the flags of a call such as `re.sub(pattern, .., flags=re.DOTALL)`."""
    position = {"sub": 4, "subn": 4, "split": 3}.get(call.func.attr, 2)  # type: ignore[attr-defined]
    flags = next((keyword.value for keyword in call.keywords if keyword.arg == "flags"), None)
    if flags is None:
        flags = call.args[position] if len(call.args) > position else ast.Constant(0)
    return call.args[0], flags


def long_texts(pattern: re.Pattern[Any], size: int) -> Iterator[Any]:
    """Yield texts of about so many characters that a pattern may fail on only after a long search."""
    runs = list(
        dict.fromkeys(_literal_runs(parser.parse(pattern.pattern, pattern.flags & ~getattr(re, "TEMPLATE", 0))))
    )
    units = list(dict.fromkeys((*UNITS, *runs, *(mark for run in runs for mark in run))))
    heads = ["", *runs[:3], *({"".join(runs[:2]), "".join(runs[:3])} - {*runs, ""})]
    for head in heads:
        for unit in units:
            text = head + unit * (size // len(unit)) + "\x01"  # which nothing expects
            yield text.encode() if isinstance(pattern.pattern, bytes) else text


def _literal_runs(parsed: Any) -> Iterator[str]:
    """Yield runs of characters that a pattern asks for, and characters of its sets."""
    run = ""
    for code, argument in parsed:
        if code is codes.LITERAL:
            run += chr(argument)
            continue
        if run:
            yield run
        run = ""
        if code is codes.NOT_LITERAL:
            yield chr(argument)
        elif code is codes.IN:
            yield from (
                chr(low[0] if isinstance(low, tuple) else low)
                for kind, low in argument
                if isinstance(low, (int, tuple)) and kind in (codes.LITERAL, codes.RANGE)
            )
        else:
            for inner in argument if isinstance(argument, tuple) else (argument,):
                for part in inner if isinstance(inner, list) else (inner,):
                    if isinstance(part, parser.SubPattern):
                        yield from _literal_runs(part)
    if run:
        yield run
