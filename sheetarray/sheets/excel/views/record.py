"""Finds out which sheets of a workbook are views, and whether these are still as they were written.

The record of the workbook, in its document properties, lists its views. A view holds no array, so the search for arrays
passes it over; but only while the size and the CRC-32 of its part are those of the record. A view that anybody has
changed or saved again is searched like any other sheet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...views.description import View
from ...views.plans import ViewPlan
from ..package.package import Package
from ..package.searches import content_of

KEY = "view"  # of what the record of a sheet says of its view
WORD = " view"  # with which the titles of views end


@dataclass(frozen=True)
class ViewSheets:
    """The views in a workbook, by the titles of their sheets."""

    recorded: frozenset[str] = frozenset()  # the titles of all views that the record of the workbook names
    intact: frozenset[str] = frozenset()  # those of them whose parts are as they were written
    editable: frozenset[str] = frozenset()  # those of them that are views for editing
    linked: frozenset[str] = frozenset()  # the names of the arrays whose elements stand in views for editing
    # the views for editing that anybody has changed or saved again; and sheets with the title of a view of which the
    # record says nothing, since some programs lose the record
    changed: frozenset[str] = frozenset()
    # the `View` that each array was written with, by the array's name, in the order of the sheets
    asked: Mapping[str, View] = field(default_factory=dict)
    shown: Mapping[str, str] = field(default_factory=dict)  # the array that each view shows, by the view's title
    # the number of elements of each array that has a view for editing, by its name: rows that were added to it later
    # are values in its column
    counts: Mapping[str, int] = field(default_factory=dict)
    # the text above the labels of the rows of each view that the record names, by the view's title
    corners: Mapping[str, str] = field(default_factory=dict)
    north_up: frozenset[str] = frozenset()  # the titles of views whose rows are a latitude that was turned


def describe_view(plan: ViewPlan, crc: int, size: int) -> dict[str, Any]:
    """Return the record of a view: the size and checksum of its part, and the options that it was written with.

    `crc`: the CRC-32 of the sheet's part. `size`: the number of bytes of the sheet's part.
    """
    asked = {"rows": plan.rows.dim, "columns": plan.columns.dim, "colors": plan.colors}
    more = {"as_text": plan.as_text, "editable": plan.editable, "count": plan.editable and plan.array.capacity}
    more["north_up"] = plan.rows.is_turned
    true = {key: value for key, value in more.items() if value}
    return {KEY: {"array": plan.name, "crc": crc, "size": size, **asked, **true}}


def find_view_sheets(package: Package, parts: Mapping[str, str], record: Mapping[str, Any]) -> ViewSheets:
    """Return the sheets of a workbook that are views.

    `parts`: the name of the part of each worksheet, by its title; empty for a worksheet that has no part of its own.
    `record`: of the workbook.
    """
    view_by_title = {
        title.casefold(): view
        for title, sheet in record.get("sheets", {}).items()
        if isinstance(view := sheet.get(KEY), Mapping)
    }
    recorded = {title: view for title in parts if (view := view_by_title.get(title.casefold())) is not None}
    intact = {
        title
        for title, view in recorded.items()
        if content_of(package, parts[title]) == (view.get("crc"), view.get("size"))
    }
    editable = {title for title, view in recorded.items() if view.get("editable") is True}
    linked = {array for title in editable if isinstance(array := recorded[title].get("array"), str)}
    changed = (editable - intact) | {title for title in parts if WORD in title and title not in recorded}
    asked: dict[str, View] = {}
    shown: dict[str, str] = {}
    for title in parts:
        view = recorded.get(title, {})
        array = view.get("array") if view else title.removesuffix(WORD)
        if isinstance(array, str) and (view or title.endswith(WORD)):
            asked.setdefault(array, read_view(view))
            shown[title] = array
    corners = {title: f"{view.get('rows')} \\ {view.get('columns')}" for title, view in recorded.items()}
    all_recorded, all_intact = frozenset(recorded), frozenset(intact)
    sheets = all_recorded, all_intact, frozenset(editable), frozenset(linked), frozenset(changed)
    counts = {shown[title]: count for title in editable if isinstance(count := recorded[title].get("count"), int)}
    north_up = frozenset({title for title, view in recorded.items() if view.get("north_up") is True})
    return ViewSheets(*sheets, asked, shown, counts, corners, north_up)


def read_view(says: Mapping[str, Any]) -> View:
    """Return the `View` that a record describes; an option that the record lacks has its default."""
    rows, columns = says.get("rows"), says.get("columns")
    return View(
        rows if isinstance(rows, str) else None,
        columns if isinstance(columns, str) else None,
        "slice" if says.get("colors") == "slice" else "array",
        editable=says.get("editable") is True,
    )


def recorded_views(record: Mapping[str, Any], sheet: str) -> set[str]:
    """Return the titles, case-folded, of the recorded views of the arrays that stand in one sheet."""
    return {
        title.casefold()
        for title, more in record.get("sheets", {}).items()
        if isinstance(more.get(KEY), Mapping) and str(more.get("of", "")).casefold() == sheet.casefold()
    }
