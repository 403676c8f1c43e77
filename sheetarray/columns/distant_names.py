"""The names of arrays that do not stand right above their headers: only blanks are between them.

In workbooks the data of all arrays begin in one row, so that a shorter header has blanks above it, and its name above
those. Only the first array of a column can be so: between two arrays, blanks are padding, and what stands above them is
an element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from ..elements import Cell, is_blank
from ..header import MAX_HEADER_CELLS, normalize_key
from .grid import SEMVER, Anchor
from .sheet import Zone

MOST_BLANKS = MAX_HEADER_CELLS  # between a name and its header: no header is taller than this one by more
_BEFORE_KEYS = 3  # cells of a header before its first key with a value
_FIRST_LOOK = 16  # cells that are looked at first; most names are among them
_ANCHORS_AT_ONCE = 2**13


class _Zones(Protocol):
    """What a search needs of a sheet."""

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of each zone."""


def add_distant_names(sheet: _Zones, anchors: Sequence[Anchor]) -> list[Anchor]:
    """Return anchors, named by the nearest cell above that is not blank where the cell right above is.

    A damaged header, of which nobody knows where it begins, gets that cell as an alias too.
    """
    across = {anchor.row for anchor in anchors if anchor.orient == "rows"}
    topmost: dict[int, int] = {}
    for index, anchor in enumerate(anchors):
        if anchor.orient == "columns":
            other = topmost.setdefault(anchor.column, index)
            if anchor.row < anchors[other].row:
                topmost[anchor.column] = index
    waiting = [index for index in topmost.values() if _may_be_distant(anchors[index])]
    named = list(anchors)
    for most in (_FIRST_LOOK, MOST_BLANKS + 1):
        unnamed = []
        for first in range(0, len(waiting), _ANCHORS_AT_ONCE):
            some = waiting[first : first + _ANCHORS_AT_ONCE]
            zones = [_zone_above(anchors[index], most) for index in some]
            for index, zone, cells in zip(some, zones, sheet.zones(zones), strict=True):
                place = _find_name([*cells, *[None] * (zone.count - len(cells))], damaged=_is_damaged(anchors[index]))
                if place is None:
                    unnamed.append(index)
                elif zone.row + place not in across:
                    named[index] = _with_name(anchors[index], str(cells[place]), zone.count - place - 1)
        waiting = [index for index in unnamed if anchors[index].row > _FIRST_LOOK]
    return named


def _may_be_distant(anchor: Anchor) -> bool:
    """Return whether an array's name may stand further up."""
    return anchor.row > 0 and not anchor.named and anchor.aliases is not None


def _is_damaged(anchor: Anchor) -> bool:
    """Return whether cells of its header may stand above the first cell that is known of it."""
    return anchor.header is None


def _zone_above(anchor: Anchor, most: int) -> Zone:
    count = min(anchor.row, most)
    return Zone(anchor.row - count, anchor.column, count, "columns")


def _find_name(cells: Sequence[Cell], *, damaged: bool) -> int | None:
    """Return the index of the last cell above blanks; None where there is no such cell.

    Above the first whole key of a damaged header are up to three cells of it, whatever they hold now.
    """
    index = len(cells) - 1
    while damaged and index >= len(cells) - _BEFORE_KEYS and not is_blank(cells[index]):
        index -= 1
    if index < 0 or not is_blank(cells[index]):
        return None
    while index >= 0 and (is_blank(cells[index]) or (damaged and _is_beginning(cells[index]))):
        index -= 1
    return index if index >= 0 else None


def _is_beginning(cell: Cell) -> bool:
    """Return whether a cell is one of those with which a header begins, and no name."""
    return normalize_key(cell) in ("version", "ndarray") or bool(SEMVER.fullmatch(str(cell)))


def _with_name(anchor: Anchor, name: str, blanks: int) -> Anchor:
    aliases = (name, *anchor.aliases) if anchor.aliases else anchor.aliases
    return replace(anchor, name=name, named=True, blanks=blanks, aliases=aliases)
