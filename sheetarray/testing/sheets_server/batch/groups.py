"""Requests that group rows and columns.

A row or column may lie in several groups, one within the other; their number is its depth. A request changes the
depth of some rows or columns, and the groups are formed anew from the depths.
"""

from __future__ import annotations

from itertools import pairwise

from .. import masks
from ..errors import Json, invalid
from ..resource import build_groups
from ..spreadsheet import ServedSheet, Spreadsheet
from .dimensions import WORDS, find_dimension_range

_DEEPEST = 8  # groups, one within the other


def add_group(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`addDimensionGroup`: put rows or columns one group deeper; groups of one depth that touch become one."""
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, request.get("range"))
    _change_depth(sheet, dimension, start, stop, 1)
    sheet.grid_properties[f"{WORDS[dimension]}GroupControlAfter"] = True
    return {"dimensionGroups": build_groups(sheet, dimension)}


def delete_group(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`deleteDimensionGroup`: take all rows or columns of a range out of their innermost group."""
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, request.get("range"))
    _change_depth(sheet, dimension, start, stop, -1)
    left = build_groups(sheet, dimension)
    return {"dimensionGroups": left} if left else {}


def update_group(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateDimensionGroup`: hide the rows or columns of a group, or show them again."""
    changed = request.get("dimensionGroup") or {}
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, changed.get("range"))
    group = {"dimension": dimension, "startIndex": start, "endIndex": stop, "depth": changed.get("depth") or 1}
    if group not in sheet.groups:
        raise invalid("There is no such group of rows or columns.")
    if "collapsed" not in masks.parse(request.get("fields") or ""):
        raise invalid("Only the field collapsed of a group can be changed.")
    sheet.collapsed = [other for other in sheet.collapsed if other != group]
    if folded := bool(changed.get("collapsed")):
        sheet.collapsed.append(group)
    special = sheet.dimensions[dimension]
    for index in range(start, stop):
        kept = {name: value for name, value in special.get(index, {}).items() if name != "hiddenByUser"}
        special[index] = kept | ({"hiddenByUser": True} if folded else {})
        if not special[index]:
            del special[index]


def _change_depth(sheet: ServedSheet, dimension: str, start: int, stop: int, by: int) -> None:
    """Add 1 or -1 (`by`) to the depth of rows or columns, and form the groups of the dimension anew."""
    held = [group for group in sheet.groups if group["dimension"] == dimension]
    ends = sorted({start, stop, *(group[end] for group in held for end in ("startIndex", "endIndex"))})
    depths = []
    for first, last in pairwise(ends):
        depth = sum(group["startIndex"] <= first and last <= group["endIndex"] for group in held)
        inside = start <= first and last <= stop
        if inside and not 0 <= depth + by <= _DEEPEST:
            no_group = "There is no such group of rows or columns."
            raise invalid(no_group if by < 0 else f"Groups are at most {_DEEPEST} levels deep.")
        depths.append((first, last, depth + by * inside))
    formed = []
    for depth in range(1, max(depth for _, _, depth in depths) + 1):
        runs: list[list[int]] = []
        for first, last, reached in depths:
            if reached >= depth and runs and runs[-1][1] == first:
                runs[-1][1] = last
            elif reached >= depth:
                runs.append([first, last])
        formed += [
            {"dimension": dimension, "startIndex": first, "endIndex": last, "depth": depth} for first, last in runs
        ]
    sheet.groups = [group for group in sheet.groups if group["dimension"] != dimension] + formed
    sheet.collapsed = [group for group in sheet.collapsed if group in sheet.groups]
