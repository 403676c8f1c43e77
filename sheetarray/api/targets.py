"""What the verbs are given: sources and targets, and tables by title."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO, Any, TypeGuard

from ..errors import DTypeError, LimitError, NotFoundError
from ..files import is_url
from ..formats import Format
from ..labels import LabelledArrays
from ..values import is_of, is_table, name_of

SourceOrTarget = str | os.PathLike[str] | IO[bytes] | IO[str] | Any  # any: workbooks of other libraries, without types


def folder_beside(target: SourceOrTarget) -> str | None:
    """Return the folder in which a path lies; None for a URL or an open file."""
    if not isinstance(target, (str, os.PathLike)) or "://" in os.fspath(target):
        return None
    return os.path.dirname(os.path.realpath(target))


def is_path(place: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether a place is a path or a URL, and no open file."""
    return isinstance(place, (str, os.PathLike))


def split_tables(arrays: Any) -> dict[str, Any] | None:
    """Return the tables of a mapping by their titles; None for anything else that is written.

    Raises:
        DTypeError: a title that is not text, or arrays beside tables.
        LimitError: two titles that differ in upper and lower case alone.
    """
    if type(arrays) is not dict and (
        not isinstance(arrays, Mapping) or isinstance(arrays, LabelledArrays) or is_of(arrays, "xarray")
    ):
        return None
    tables = {key: table for key, table in arrays.items() if is_table(table)}
    if not tables:
        return None
    first = next(iter(tables))
    if no_tables := [key for key in arrays if key not in tables]:
        raise DTypeError(
            f"{first!r:.60} is a table, which gets a sheet of its own, and {no_tables[0]!r:.60} is an array: write the "
            'tables first, then the arrays, to a workbook with mode="a"'
        )
    titles = list(map(name_of, tables))
    folded = [title.casefold() for title in titles]
    if twice := [title for title in titles if folded.count(title.casefold()) > 1]:
        raise LimitError(f"two sheets would have the same title, {twice[0]!r:.60} and {twice[1]!r:.60}: rename one")
    return dict(zip(titles, tables.values(), strict=True))


def list_written_sheets(source: Any, row: Format) -> list[str]:
    """Return the titles of the sheets of a source, if each was written on its own; none if one write filled several."""
    try:
        list_writes = row.function("list_writes")
    except NotFoundError:
        return []
    titles: list[str] = list_writes(source)
    return titles


def first_url(places: Mapping[str, Any]) -> str | None:
    """Return the URL of the first sheet, if it is in a service such as Google Sheets; else None."""
    first = next(iter(places.values()), None)
    return first if isinstance(first, str) and is_url(first) else None
