"""The names of arrays that do not stand right above their headers: only blanks are between them.

In workbooks the data of all arrays begin in one row, so that a shorter header has blanks above it, and its name above
those. Only the first array of a column can have such a name: blanks between two arrays of a column are padding, and the
cell above them is an element.
"""

from __future__ import annotations

from collections import Counter
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
    """The only method of a sheet that the search for names needs."""

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of each zone."""


def add_distant_names(sheet: _Zones, anchors: Sequence[Anchor]) -> list[Anchor]:
    """Return anchors, named by the nearest cell above that is not blank where the cell right above is.

    That cell is a name only where another array has its name in the same row, and its data begin in the same row: a
    note somewhere above an array without a name is none. A damaged header, of which nobody knows where it begins, gets
    the cell as an alias too.
    """
    across = {anchor.row for anchor in anchors if anchor.orient == "rows"}
    distant = {index: place for index, place in _find_cells_above(sheet, anchors).items() if place[1] not in across}
    if not distant:
        return list(anchors)
    rows: dict[int, dict[int, int | None]] = {}  # by the row of names: where the data of each anchor begin
    for index, anchor in enumerate(anchors):
        if index in distant:
            rows.setdefault(distant[index][1], {})[index] = _data_row(anchor)
        elif anchor.orient == "columns" and (anchor.named or _is_damaged(anchor)):
            for row in range(anchor.row - (_BEFORE_KEYS + 1 if _is_damaged(anchor) else 1), anchor.row):
                rows.setdefault(row, {})[index] = _data_row(anchor)
    counts = {row: Counter(begins.values()) for row, begins in rows.items()}
    named = list(anchors)
    for index, (name, row) in distant.items():
        own, alike = _data_row(anchors[index]), counts[row]
        others = alike.total() if own is None else alike[own] + alike[None]
        if others > 1:
            named[index] = _with_name(anchors[index], name, row)
    return named


def _data_row(anchor: Anchor) -> int | None:
    """Return the row in which the data of an array begin; None where its header is broken."""
    return None if anchor.header is None else anchor.row + anchor.start


def _find_cells_above(sheet: _Zones, anchors: Sequence[Anchor]) -> dict[int, tuple[str, int]]:
    """Return the text and the row of the nearest cell that is not blank above an anchor, by the index of the anchor;
    anchors without such a cell are left out.
    """
    topmost: dict[int, int] = {}
    for index, anchor in enumerate(anchors):
        if anchor.orient == "columns":
            other = topmost.setdefault(anchor.column, index)
            if anchor.row < anchors[other].row:
                topmost[anchor.column] = index
    waiting = [index for index in topmost.values() if _may_be_distant(anchors[index])]
    cells_above: dict[int, tuple[str, int]] = {}
    for most in (_FIRST_LOOK, MOST_BLANKS + 1):
        blank = []
        for first in range(0, len(waiting), _ANCHORS_AT_ONCE):
            some = waiting[first : first + _ANCHORS_AT_ONCE]
            zones = [_zone_above(anchors[index], most) for index in some]
            for index, zone, cells in zip(some, zones, sheet.zones(zones), strict=True):
                place = _find_name([*cells, *[None] * (zone.count - len(cells))], damaged=_is_damaged(anchors[index]))
                if place is None:
                    blank.append(index)
                else:
                    cells_above[index] = str(cells[place]), zone.row + place
        waiting = [index for index in blank if anchors[index].row > _FIRST_LOOK]
    return cells_above


def _may_be_distant(anchor: Anchor) -> bool:
    """Return whether an array's name may stand further up."""
    return anchor.row > 0 and not anchor.named and anchor.aliases is not None


def _is_damaged(anchor: Anchor) -> bool:
    """Return whether a header is damaged, so that cells of it may stand above the anchor."""
    return anchor.header is None


def _zone_above(anchor: Anchor, most: int) -> Zone:
    count = min(anchor.row, most)
    return Zone(anchor.row - count, anchor.column, count, "columns")


def _find_name(cells: Sequence[Cell], *, damaged: bool) -> int | None:
    """Return the index of the last cell above blanks; None if no cell has blanks below it.

    Above the first whole key of a damaged header are up to three cells of it, whatever they hold now.
    """
    index = len(cells) - 1
    while damaged and index >= max(0, len(cells) - _BEFORE_KEYS) and not is_blank(cells[index]):
        index -= 1
    if index < 0 or not is_blank(cells[index]):
        return None
    while index >= 0 and (is_blank(cells[index]) or (damaged and _is_beginning(cells[index]))):
        index -= 1
    return index if index >= 0 else None


def _is_beginning(cell: Cell) -> bool:
    """Return whether a cell holds one of the words with which a header begins, so that it is no name."""
    return normalize_key(cell) in ("version", "ndarray") or bool(SEMVER.fullmatch(str(cell)))


def _with_name(anchor: Anchor, name: str, row: int) -> Anchor:
    aliases = (name, *anchor.aliases) if anchor.aliases else anchor.aliases
    return replace(anchor, name=name, named=True, blanks=anchor.row - row - 1, aliases=aliases)
