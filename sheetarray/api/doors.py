"""Which adapter a place belongs to, and whether it knows the options that were given."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import fields
from inspect import iscoroutinefunction
from typing import IO, Any, TypeGuard

from ..errors import LimitError
from ..files import name_part
from ..registry import Format, format_of, nearest

SourceOrTarget = str | os.PathLike[str] | IO[bytes] | IO[str] | Any  # any: workbooks of other libraries, without types


def folder_beside(target: SourceOrTarget) -> str | None:
    """Return the folder in which a path lies; None for a URL or an open file."""
    if not isinstance(target, (str, os.PathLike)) or "://" in os.fspath(target):
        return None
    return os.path.dirname(os.path.realpath(target))


def is_path(place: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether a place is a path or a URL, and no open file."""
    return isinstance(place, (str, os.PathLike))


def check_suffixes(goal: Format, row: Format, source: object, target: object) -> None:
    """Refuse a target of the source's format that is another kind of file, such as .xlsm and .xlsx.

    Raises:
        LimitError: names both suffixes.
    """
    suffixes = [os.path.splitext(name_part(place))[1].lower() for place in (source, target) if is_path(place)]
    if goal.name == row.name and not row.compressible and len(set(suffixes)) > 1:
        raise LimitError(f"{suffixes[0]} and {suffixes[1]} are other kinds of files: keep the suffix")


def find_format(verb: str, place: SourceOrTarget, format: str | None, options: Mapping[str, Any]) -> Format:
    """Return the format of a place, once the options are known to be its adapter's.

    Raises:
        NotFoundError: no such format, or it has no such verb.
        TypeError: it has no such option, or takes no file that was opened for text.
        ValueError: the file is closed.
    """
    writes = verb in ("write", "write_table")
    if iscoroutinefunction(getattr(place, "read", None)):
        raise TypeError(
            f"a file whose methods are coroutines: give the file in it, such as {type(place).__name__}.file"
        )
    row = format_of(place, format, reading=not writes)
    if not row.text and isinstance(place, io.TextIOBase):
        raise TypeError(f"a file opened for text: open it with mode {'wb' if writes else 'rb'!r} for {row.title}")
    if getattr(place, "closed", False):
        raise ValueError(f"{getattr(place, 'name', 'the file')}: the file is closed: open it again, or give its path")
    known = row.options(verb)
    for option in options:
        if option not in known:
            known = [name for name in known if name != "table"] + list(_table_keywords() if "table" in known else ())
            meant = nearest(option, known)
            has = f"it has {', '.join(known)}" if meant is None else f"did you mean {meant}?"
            has = row.instead_of(option).format(verb=verb) or has
            raise TypeError(f"{verb} has no option {option!r} for {row.title}; {has}")
    return row


def _table_keywords() -> list[str]:
    from ..tables import TableOptions

    return [attribute.name for attribute in fields(TableOptions)]
