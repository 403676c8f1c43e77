"""Which sheets of a workbook are views: what its record says of them, and whether they are still as they were written.

A view holds no array, so that whoever looks for arrays passes it over. That is done only where the size and the CRC-32
of its part are those of the record: a sheet that anybody has changed or saved again is searched like any other.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ....views.description import View
from ....views.geometry import ViewPlan
from ..package.parts import Package

KEY = "view"
_WORD = " view"


@dataclass(frozen=True)
class ViewSheets:
    """The views in a workbook, by the titles of their sheets.

    Attributes:
        recorded: all that its record names.
        intact: those of them that hold what was written.
        editable: those in which the elements of arrays stand.
        linked: the names of these arrays.
        changed: those of them that anybody has saved again, and sheets titled like views of which the record says
            nothing, since programs lose it.
        asked: the views that somebody asked for, by the names of their arrays, in the order of their sheets.
    """

    recorded: frozenset[str] = frozenset()
    intact: frozenset[str] = frozenset()
    editable: frozenset[str] = frozenset()
    linked: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    asked: Mapping[str, View] = field(default_factory=dict)


def describe_view(plan: ViewPlan, crc: int, size: int) -> dict[str, Any]:
    """Return the record of a view: its part, and the way it was asked for.

    Args:
        plan: of the view.
        crc: the CRC-32 of the sheet's part.
        size: bytes of the same.
    """
    asked = {"rows": plan.rows.dim, "columns": plan.columns.dim, "colors": plan.colors}
    more = {"as_text": plan.as_text, "editable": plan.editable}
    true = {key: value for key, value in more.items() if value}
    return {KEY: {"array": plan.name, "crc": crc, "size": size, **asked, **true}}


def describe_part(content: bytes) -> dict[str, int]:
    """Return by what the part of a view is known again."""
    return {"crc": zlib.crc32(content), "size": len(content)}


def find_views(package: Package, parts: Mapping[str, str], read_record: Callable[[], Mapping[str, Any]]) -> ViewSheets:
    """Return the sheets of a workbook that are views; none, at no cost, if no title reads like one.

    Args:
        package: of the workbook.
        parts: of its worksheets, by their titles; an empty one where it is in no part of its own.
        read_record: returns what the workbook remembers.
    """
    if not any(_WORD in title for title in parts):
        return ViewSheets()
    record = read_record()
    known = {
        title.casefold(): view
        for title, sheet in record.get("sheets", {}).items()
        if isinstance(view := sheet.get(KEY), Mapping)
    }
    recorded = {title: view for title in parts if (view := known.get(title.casefold())) is not None}
    intact = {title for title, view in recorded.items() if _is_intact(package, parts[title], view)}
    editable = {title for title, view in recorded.items() if view.get("editable") is True}
    linked = {array for title in editable if isinstance(array := recorded[title].get("array"), str)}
    changed = (editable - intact) | {title for title in parts if _WORD in title and title not in recorded}
    asked: dict[str, View] = {}
    for title in parts:
        view = recorded.get(title, {})
        array = view.get("array") if view else title.removesuffix(_WORD)
        if isinstance(array, str) and (view or title.endswith(_WORD)):
            asked.setdefault(array, read_view(view))
    all_recorded, all_intact = frozenset(recorded), frozenset(intact)
    return ViewSheets(all_recorded, all_intact, frozenset(editable), frozenset(linked), frozenset(changed), asked)


def read_view(says: Mapping[str, Any]) -> View:
    """Return the way a view was asked for, as its record says it; the usual one where it says nothing."""
    rows, columns = says.get("rows"), says.get("columns")
    return View(
        rows if isinstance(rows, str) else None,
        columns if isinstance(columns, str) else None,
        "slice" if says.get("colors") == "slice" else "array",
        editable=says.get("editable") is True,
    )


def recorded_views(record: Mapping[str, Any], sheet: str) -> set[str]:
    """Return the titles of the views of one sheet of arrays, in lower case, as the record of a workbook has them."""
    return {
        title.casefold()
        for title, more in record.get("sheets", {}).items()
        if isinstance(more.get(KEY), Mapping) and str(more.get("of", "")).casefold() == sheet.casefold()
    }


def _is_intact(package: Package, part: str, view: Mapping[str, Any]) -> bool:
    if part not in package:
        return False
    member = package.member(part)
    return view.get("crc") == member.crc and view.get("size") == member.size
