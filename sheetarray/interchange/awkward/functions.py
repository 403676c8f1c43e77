"""The functions that a schema names: found in a table or by the caller's leave, and called.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/docs/serialization.adoc, "Whitelist specification". The
default whitelist lists the constructors, and nothing else is ever called; a name in a file is looked up in a table.
A whitelist that the caller passes may narrow that, and its own patterns may also let a module be imported.

A constructor takes the builder, then what awkward0's own takes, under the same names; arguments that do not fit are an
error in the file. A function of the caller's takes and gives `ak.Array`, ndarrays, bytes and plain Python values. What
it raises is not caught, unless it was given a blob, as what decompresses is: then the blob is damaged.
"""

from __future__ import annotations

import base64
import binascii
import inspect
import pickle
import pickletools
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from typing import Any

from ...errors import FormatError, SheetArrayError
from .blobs import StoredBlob
from .builder import Builder

# Calling what a schema names ------------------------------------------------------------------------------------------

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


def call_function(
    build: Builder,
    named: NamedFunction,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    reader: Mapping[str, Any] | None = None,
) -> Any:
    """Return the result of a function that a schema calls."""
    own = {name: value for name, value in (reader or {}).items() if name not in kwargs}
    if named.ours:
        try:
            bound = _signature(named.function).bind(build, *args, **kwargs, **own)
        except TypeError as error:
            raise FormatError(f"{named.name}: {error}") from error
        return named.function(*bound.args, **bound.kwargs)
    seen: dict[int, Any] = {}
    given = [_to_public(build, argument, seen) for argument in args]
    keywords = {name: _to_public(build, argument, seen) for name, argument in kwargs.items()}
    try:
        result = named.function(*given, **keywords, **own)
    except SheetArrayError:
        raise
    except Exception as error:
        if not any(isinstance(argument, StoredBlob) for argument in args):
            raise
        reason = f"{type(error).__name__}: {error!s:.200}"
        raise FormatError(f"{named.name} does not take the blob that it was given ({reason})") from error
    return result.layout if isinstance(result, build.ak.Array) else result


@cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def _to_public(build: Builder, value: Any, seen: dict[int, Any]) -> Any:
    """Return a value as the caller's functions take it; what stands in several places is the same object in each."""
    if isinstance(value, build.ak.contents.Content):
        return build.ak.Array(value)
    if isinstance(value, StoredBlob):
        return value.content if value.packed is None else bytes(value.inflate(None, build.budget))
    if isinstance(value, NamedFunction):
        return value.function
    if not isinstance(value, (list, tuple, dict)):
        return value
    if id(value) not in seen:
        if isinstance(value, dict):
            seen[id(value)] = {key: _to_public(build, item, seen) for key, item in value.items()}
        else:
            seen[id(value)] = type(value)(_to_public(build, item, seen) for item in value)
    return seen[id(value)]


# python expressions ---------------------------------------------------------------------------------------------------

_MOST_CHARACTERS = 2000  # of base64, for one plain value
_SILENT = ("PROTO", "FRAME", "MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT", "STOP")
_FIXED = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_LITERAL = ["INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "FLOAT", "BINFLOAT", "UNICODE", "BINUNICODE"]
_LITERAL += ["SHORT_BINUNICODE", "BINBYTES", "SHORT_BINBYTES"]


def read_pickle(text: object, *, allowed: bool) -> Any:
    """Return the None, bool, number, text or bytes that a pickle holds; if allowed whatever it holds.

    Any other pickle may execute anything when it is read.

    Example:
        >>> read_pickle(base64.b64encode(pickle.dumps(float("nan"))).decode(), allowed=False)
        nan
    """
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True) if isinstance(text, str) else None
    except (binascii.Error, UnicodeEncodeError):
        data = None
    if data is None:
        raise FormatError("a python expression that is not base64")
    values: list[Any] = []
    try:
        for opcode, argument, _ in pickletools.genops(data if len(data) <= _MOST_CHARACTERS else b""):
            if opcode.name in _FIXED or opcode.name in _LITERAL:
                values.append(_FIXED.get(opcode.name, argument))
            elif opcode.name not in _SILENT:
                values = []
                break
    except (ValueError, OverflowError):
        values = []
    if len(values) == 1:
        return values[0]
    if not allowed:
        raise FormatError(
            "a pickled Python object, which could execute anything when it is read",
            hint=f"whitelist=[*WHITELIST, {list(TOPYTHON)}] reads it, if you trust the file",
        )
    try:
        return pickle.loads(data)  # noqa: S301  (the caller's whitelist names it)
    except Exception as error:
        raise FormatError(f"a pickle that cannot be read ({type(error).__name__}: {error!s:.100})") from error


# Whitelists, and the function of a name -------------------------------------------------------------------------------

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
