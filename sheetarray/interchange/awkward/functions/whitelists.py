"""Whitelists: the functions that a schema may name, found in a table or imported with the leave of the caller.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/docs/serialization.adoc, "Whitelist specification". The
default whitelist lists the constructors, and nothing else is ever called; a name in a file is looked up in a table.
A whitelist that the caller passes may narrow that, and its own patterns may also let a module be imported.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any

from ....errors import FormatError

Spec = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NamedFunction:
    """A function that a schema named."""

    spec: Spec  # its module, and names within each other
    function: Callable[..., Any]  # what that stands for
    ours: bool  # whether it is a constructor; else it is the caller's

    @property
    def name(self) -> str:
        """As an error names it."""
        return f"{'.'.join(self.spec):.100}"


Whitelist = str | Sequence[str] | Sequence[Sequence[str]]
Functions = Mapping[Spec, Callable[..., Any]]

TOPYTHON: Spec = ("awkward0.persist", "topython")
_OURS = ("awkward0", "awkward")  # modules from which nothing is imported, and that mean the same
_RENAMED = {"awkward": "awkward0", "uproot_methods": "uproot3_methods"}


class Lookup:
    """Finds the function of a name: a constructor, a function of the caller's, or what the whitelist lets in.

    Raises TypeError where there is no whitelist, or no mapping of functions.
    """

    def __init__(self, constructors: Functions, whitelist: Whitelist, functions: Functions | None) -> None:
        self._constructors = constructors
        self._patterns = to_patterns(whitelist)
        self._importing = [pattern for pattern in self._patterns if pattern not in constructors]
        self._functions: dict[Spec, Callable[..., Any]] = {}
        self._known: dict[Spec, NamedFunction] = {}
        if not isinstance(functions, Mapping | None):
            raise TypeError(f"functions must map names to callables, but it is a {type(functions).__name__}")
        for spec, function in (functions or {}).items():
            if not isinstance(spec, tuple) or len(spec) < 2 or not callable(function):
                raise TypeError(f"functions must map tuples such as ('module', 'name') to callables, not {spec!r}")
            self._functions[_rename_0_15(spec)] = function

    def allows(self, spec: Spec) -> bool:
        """Return whether a pattern matches a name; a shorter one matches all that begins so, a longer one none."""
        return any(matches(pattern, name) for pattern in self._patterns for name in {spec, _rename_0_15(spec)})

    def find(self, names: object) -> NamedFunction:
        """Return the function that a schema names."""
        spec = _spec(names)
        if spec not in self._known:
            self._known[spec] = self._find(spec)
        return self._known[spec]

    def _find(self, spec: Spec) -> NamedFunction:
        same = _rename_0_15(spec)
        if same in self._functions:
            return NamedFunction(spec, self._functions[same], ours=False)
        if not self.allows(spec):
            raise _refusal(spec, "is not in the whitelist")
        if same in self._constructors:
            return NamedFunction(spec, self._constructors[same], ours=True)
        if same[0].partition(".")[0] in _OURS:
            raise _refusal(spec, "has no counterpart here")
        if not any(matches(pattern, spec) for pattern in self._importing):
            raise _refusal(spec, "is not known")
        return NamedFunction(spec, _import_function(spec), ours=False)


def matches(pattern: Sequence[str], spec: Spec) -> bool:
    """Return whether a pattern allows a name: each of its parts, a glob, matches the part of the name at its place.

    Example:
        >>> matches(("awkward0", "*Array"), ("awkward0", "JaggedArray", "fromcounts"))
        True
        >>> matches(("awkward0", "JaggedArray", "from*"), ("awkward0", "JaggedArray"))
        False
    """
    return len(pattern) <= len(spec) and all(map(fnmatchcase, spec, pattern))


def to_patterns(whitelist: Whitelist) -> tuple[Spec, ...]:
    """Return a whitelist as patterns: a string becomes a pattern of one part, a single pattern a list of one.

    Example:
        >>> to_patterns("*"), to_patterns(["awkward0", "*Array"])
        ((('*',),), (('awkward0', '*Array'),))
    """
    parts: Any = [[whitelist]] if isinstance(whitelist, str) else whitelist
    if isinstance(parts, Sequence) and parts and isinstance(parts[0], str):
        parts = [parts]
    if not isinstance(parts, Sequence) or not all(map(_is_pattern, parts)):
        raise TypeError("a whitelist must be a list of patterns, each a list of strings")
    return tuple(tuple(pattern) for pattern in parts)


def _is_pattern(pattern: Any) -> bool:
    """Return whether something is a list of at least one string."""
    if isinstance(pattern, str) or not isinstance(pattern, Sequence) or not pattern:
        return False
    return all(isinstance(part, str) for part in pattern)


def _spec(names: object) -> Spec:
    if not isinstance(names, list) or len(names) < 2 or not all(isinstance(name, str) and name for name in names):
        raise FormatError(
            f"{names!r:.80} is not the name of a function",
            hint="a function is a list of strings: its module, and the names inside of it",
        )
    return tuple(names)


def _rename_0_15(spec: Spec) -> Spec:
    """Return the name as version 0.15 has it: until then, modules were awkward and uproot_methods."""
    head, dot, tail = spec[0].partition(".")
    return (f"{_RENAMED.get(head, head)}{dot}{tail}", *spec[1:])


def _refusal(spec: Spec, why: str) -> FormatError:
    return FormatError(
        f"the function {'.'.join(spec):.100} {why}", hint=f"functions={{{spec!r:.200}: callable}} supplies one"
    )


def _import_function(spec: Spec) -> Callable[..., Any]:
    """Import the function of a name that the caller's whitelist allows."""
    for name in (*spec[0].split("."), *spec[1:]):
        if name.startswith("_") or not name.isidentifier():
            raise _refusal(spec, "is private, or not a name")
    target: Any = None
    try:
        target = import_module(spec[0])
        for name in spec[1:]:
            target = getattr(target, name)
            if isinstance(target, types.ModuleType):
                raise _refusal(spec, "leads to another module")
    except FormatError:
        raise
    except Exception as error:
        raise _refusal(spec, f"cannot be imported ({type(error).__name__}: {error!s:.100})") from error
    if not callable(target):
        raise _refusal(spec, "is not a function")
    function: Callable[..., Any] = target
    return function
