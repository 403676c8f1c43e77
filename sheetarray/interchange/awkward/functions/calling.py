"""Calls of the functions that a schema names, with the arguments that it gives.

A constructor takes the builder, then what awkward0's own takes, under the same names; arguments that do not fit are an
error in the file. A function of the caller takes and returns `ak.Array`, ndarrays, bytes and plain Python values.
An exception of it passes through, unless it was called with a blob, as functions that decompress are: then the blob is
damaged.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ....errors import FormatError, SheetArrayError
from ..blobs import StoredBlob
from ..builder import Builder
from .whitelists import NamedFunction


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
