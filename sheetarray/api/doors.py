"""Which adapter a place belongs to, and whether it knows the options that were given."""

from __future__ import annotations

import inspect
import io
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import IO, Any, TypeGuard

from ..registry import Format, format_of, nearest

SourceOrTarget = str | os.PathLike[str] | IO[bytes] | IO[str]


def folder_beside(target: SourceOrTarget) -> str | None:
    """Return the folder in which a path lies; None for a URL or an open file."""
    if not isinstance(target, (str, os.PathLike)) or "://" in os.fspath(target):
        return None
    return os.path.dirname(os.path.realpath(target))


def is_path(place: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether a place is a path or a URL, and no open file."""
    return isinstance(place, (str, os.PathLike))


@lru_cache(maxsize=256)
def options_of(function: Callable[..., Any]) -> list[str]:
    """Return the names of the options that a function of an adapter has."""
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]


def adapter_function(
    verb: str, place: SourceOrTarget, format: str | None, options: Mapping[str, Any]
) -> tuple[Format, Callable[..., Any]]:
    """Return the format, and the adapter's function, once its options are known to be its own."""
    writes = verb in ("write", "write_table")
    row = format_of(place, format, reading=not writes)
    if not row.text and isinstance(place, io.TextIOBase):
        raise TypeError(f"a file opened for text: open it with mode {'wb' if writes else 'rb'!r} for {row.title}")
    if getattr(place, "closed", False):
        raise ValueError(f"{getattr(place, 'name', 'the file')}: the file is closed: open it again, or give its path")
    function = row.function(verb)
    known = options_of(function)
    for option in options:
        if option not in known:
            meant = nearest(option, known)
            has = f"it has {', '.join(known)}" if meant is None else f"did you mean {meant}?"
            raise TypeError(f"{verb} has no option {option!r} for {row.title}; {has}")
    return row, function
