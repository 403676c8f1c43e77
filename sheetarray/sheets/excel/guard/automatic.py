"""Decides whether a write keeps snapshots, where the caller leaves it to the size of the workbook."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from ....errors import FormatError
from ....files import Source
from ...guard_texts import keep_snapshots, may_be_guard
from ..checksums.record import read_checksums
from ..workbook import Workbook
from ..workbook_part import WorkbookPart
from .guard_sheet import make_part, read_texts

MOST_GUARDED = 100_000  # elements of a workbook that has snapshots by itself


def wants_guard(guard: bool | Literal["auto"], elements: int, *, is_guarded: bool = False) -> bool:
    """Return whether a write keeps snapshots.

    `guard`: as the caller asks for it. `elements`: of all arrays of the workbook. `is_guarded`: whether it has a
    snapshot already.

    Example:
        >>> wants_guard("auto", 100_000), wants_guard("auto", 100_001), wants_guard("auto", 100_001, is_guarded=True)
        (True, False, True)
    """
    return is_guarded or elements <= MOST_GUARDED if guard == "auto" else bool(guard)


def has_guard(source: Source, own: WorkbookPart) -> bool:
    """Return whether a workbook, whose own part is read, has a sheet of snapshots."""
    if not any(map(may_be_guard, own.parts)):
        return False
    try:
        with Workbook(source, own=own) as book:
            return bool(book.guards())
    except FormatError:  # who reads it says so
        return False


def find_snapshots_beside(
    source: Source, own: WorkbookPart, titles: Collection[str]
) -> tuple[list[list[str]], dict[str, bytes]]:
    """Return what a write that replaces sheets has to do for the snapshots of others.

    It returns the snapshots of sheets that stay, from guards that go, as texts that the new guard takes; and the new
    content of the parts of guards that stay, from which the snapshots of sheets go.

    `titles`: of the sheets that are replaced, in lower case.
    """
    taken: list[list[str]] = []
    renewed: dict[str, bytes] = {}
    if not any(map(may_be_guard, own.parts)):
        return taken, renewed
    parts = {sheet.title: sheet for sheet in own.sheets}
    with Workbook(source, own=own) as book:
        for guard in book.guards():
            texts, title = read_texts(guard), guard.title or ""
            left = keep_snapshots(texts, lambda snapshot: snapshot.sheet.casefold() not in titles)
            first = str(own.record["sheets"].get(title, {}).get("of", "")).casefold()
            if first in titles:
                taken += left
            elif sum(map(len, left)) + 1 < len(texts):
                renewed[parts[title].part] = make_part(own, parts[title], left)
    return taken, renewed


def count_recorded(sheets: Mapping[str, Mapping[str, Any]], without: Collection[str]) -> int:
    """Return the number of elements of the arrays that a workbook's record knows.

    `sheets`: of the record, by their titles. `without`: the titles of sheets that are written anew, in lower case.
    """
    count = 0
    for title, sheet in sheets.items():
        if title.casefold() in without:
            continue
        try:
            sums = [*read_checksums(sheet).values(), *read_checksums(sheet.get("columns")).values()]
        except FormatError:  # a damaged record, or a newer one
            continue
        count += sum(each.count for each in sums if each is not None)
    return count
