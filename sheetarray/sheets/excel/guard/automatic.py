"""Decides whether a write keeps snapshots, where the caller leaves it to the size of the workbook."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....errors import FormatError
from ...content import SheetContent, WriteOptions
from ...guard_texts import keep_snapshots
from ..checksums.record import read_checksums
from ..workbook_part import WorkbookPart
from ..worksheet import ExcelSheet
from .guard_sheet import make_part, read_texts

MOST_GUARDED = 100_000  # elements of a workbook that has snapshots by itself


def decide_guard(
    contents: Sequence[SheetContent], options: WriteOptions, beside: int = 0, *, is_guarded: bool = False
) -> WriteOptions:
    """Return options that say whether the workbook keeps snapshots.

    `beside`: the elements of its arrays that are not written. `is_guarded`: whether it has snapshots already.
    """
    if options.guard != "auto":
        return options
    count = beside + sum(len(array.buffer) for content in contents for array in content.guarded.values())
    return replace(options, guard=is_guarded or count <= MOST_GUARDED)


def split_snapshots(
    own: WorkbookPart, guards: Sequence[ExcelSheet], titles: Collection[str]
) -> tuple[list[list[str]], dict[str, bytes]]:
    """Return what a write that replaces sheets has to do for the snapshots of others.

    It returns the snapshots of sheets that stay, from guards that go, as texts that the new guard takes; and the new
    content of the parts of guards that stay, from which the snapshots of sheets go.

    `own`: the own part of the workbook. `titles`: of the sheets that are replaced, in lower case.
    """
    taken: list[list[str]] = []
    renewed: dict[str, bytes] = {}
    parts = {sheet.title: sheet for sheet in own.sheets} if guards else {}
    for guard in guards:
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
