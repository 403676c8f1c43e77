"""Finds names that stand further above their headers, with nothing but blanks between.

In workbooks the data of all arrays begin in one row, so that a shorter header has blanks above it, and its name
above those. Only the first array of a column can have such a name: blanks between two arrays of a column are
padding, and the cell above them is an element.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ..elements import Cell, is_blank
from ..linear.header import MAX_HEADER_CELLS
from ..linear.parsing import normalize_key
from .sheet import HeaderCells, Zone
from .words import SEMVER, Anchor

MOST_BLANKS = MAX_HEADER_CELLS  # between a name and its header: no header is taller than this one by more
_BEFORE_KEYS = 3  # cells of a header before its first key with a value
_ANCHORS_AT_ONCE = 2**13


def add_distant_names(sheet: HeaderCells, anchors: Sequence[Anchor]) -> list[Anchor]:
    """Return anchors; if the cell above an anchor is blank, the next cell above that is not blank is the name.

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
        elif anchor.orient == "columns" and (anchor.named or anchor.header is None):
            for row in range(anchor.row - (_BEFORE_KEYS + 1 if anchor.header is None else 1), anchor.row):
                rows.setdefault(row, {})[index] = _data_row(anchor)
    counts = {row: Counter(begins.values()) for row, begins in rows.items()}
    named = list(anchors)
    for index, (name, row) in distant.items():
        own, alike = _data_row(anchors[index]), counts[row]
        namesakes = alike.total() if own is None else alike[own] + alike[None]
        if namesakes > 1:
            anchor = anchors[index]
            aliases = (name, *anchor.aliases) if anchor.aliases else anchor.aliases
            named[index] = replace(anchor, name=name, named=True, blanks=anchor.row - row - 1, aliases=aliases)
    return named


def _data_row(anchor: Anchor) -> int | None:
    """Return the row in which the data of an array begin; None where its header is broken."""
    return None if anchor.header is None else anchor.row + anchor.start


def _find_cells_above(sheet: HeaderCells, anchors: Sequence[Anchor]) -> dict[int, tuple[str, int]]:
    """Return the text and the row of the nearest cell that is not blank above an anchor, by the index of the anchor;
    anchors without such a cell are left out.
    """
    topmost: dict[int, int] = {}
    for index, anchor in enumerate(anchors):
        if anchor.orient == "columns":
            other = topmost.setdefault(anchor.column, index)
            if anchor.row < anchors[other].row:
                topmost[anchor.column] = index
    nameless = [
        index
        for index in topmost.values()
        if anchors[index].row and not anchors[index].named and anchors[index].aliases is not None
    ]
    cells_above: dict[int, tuple[str, int]] = {}
    for first in range(0, len(nameless), _ANCHORS_AT_ONCE):
        batch = nameless[first : first + _ANCHORS_AT_ONCE]
        counts = [min(anchors[index].row, MOST_BLANKS + 1) for index in batch]
        zones = [
            Zone(anchors[index].row - count, anchors[index].column, count, "columns")
            for index, count in zip(batch, counts, strict=True)
        ]
        for index, zone, cells in zip(batch, zones, sheet.zones(zones), strict=True):
            damaged = anchors[index].header is None
            place = _find_name([*cells, *[None] * (zone.count - len(cells))], damaged=damaged)
            if place is not None:
                cells_above[index] = str(cells[place]), zone.row + place
    return cells_above


def _find_name(cells: Sequence[Cell], *, damaged: bool) -> int | None:
    """Return the index of the last cell above blanks; None if no cell has blanks below it.

    Above the first whole key of a damaged header are up to three cells of it, whatever they hold now.
    """
    index = len(cells) - 1
    while damaged and index >= max(0, len(cells) - _BEFORE_KEYS) and not is_blank(cells[index]):
        index -= 1
    if index < 0 or not is_blank(cells[index]):
        return None
    while index >= 0 and (is_blank(cells[index]) or (damaged and _begins_header(cells[index]))):
        index -= 1
    return index if index >= 0 else None


def _begins_header(cell: Cell) -> bool:
    return normalize_key(cell) in ("version", "ndarray") or bool(SEMVER.fullmatch(str(cell)))
