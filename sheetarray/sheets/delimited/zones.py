"""Reads a few cells of a delimited text here and there: those of headers, and single elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...columns import Zone
from ...elements import Cell
from .blocks import QUOTE
from .records import LONG_RECORD, Records

_MANY_ZONES = 8  # zones; of fewer it is not found out whether they share lines
_SHARED, _WORTH_SHARING = 8, 16  # lines that a zone may share with its neighbours, if it has the second number or more


def read_zones(records: Records, zones: Sequence[Zone]) -> list[list[Cell]]:
    """Return the cells of each zone; cells beyond the end of the text are left out."""
    results = _zones_alone(records, zones)
    waiting = sorted((index for index in range(len(zones)) if index not in results), key=lambda i: zones[i].row)
    waiting.reverse()
    results |= {index: [] for index in waiting}
    going: list[int] = []
    for row, (start, end) in _rows_of(records, [zones[index] for index in waiting]):
        while waiting and zones[waiting[-1]].row == row:
            going.append(waiting.pop())
        widths = [zones[index].column + (zones[index].count if zones[index].orient == "rows" else 1) for index in going]
        cells = records.record(start, end, max(widths))
        still: list[int] = []
        for index in going:
            zone, result = zones[index], results[index]
            if zone.orient == "rows":
                result += cells[zone.column : zone.column + zone.count]
            else:
                result.append(cells[zone.column] if zone.column < len(cells) else None)
                if len(result) < zone.count:
                    still.append(index)
        going = still
    return [results[index] for index in range(len(zones))]


def _zones_alone(records: Records, zones: Sequence[Zone]) -> dict[int, list[Cell]]:
    """Return the cells of those zones that share few lines with others, by their index, if the lines are short and
    without quotes.

    A sheet may hold very many arrays one below the other: the lines of each zone are decoded together. A line that
    belongs to two zones, since the name of an array may stand in it, is decoded twice.
    """
    results: dict[int, list[Cell]] = {}
    if len(zones) < _MANY_ZONES:
        return results
    firsts = np.array([zone.row for zone in zones], np.int64)
    ends = firsts + np.array([zone.count if zone.orient == "columns" else 1 for zone in zones], np.int64)
    order = np.argsort(firsts, kind="stable")
    firsts, ends = firsts[order], ends[order]
    shared = np.where(ends - firsts >= _WORTH_SHARING, _SHARED, 0)
    is_alone = firsts < ends
    is_alone[1:] &= firsts[1:] >= np.maximum.accumulate(ends)[:-1] - shared[1:]
    is_alone[:-1] &= ends[:-1] <= firsts[1:] + shared[:-1]
    alone = order[is_alone].tolist()
    if len(alone) < _MANY_ZONES:
        return results
    starts = records.spans(firsts[is_alone].tolist())
    stops = records.spans((ends[is_alone] - 1).tolist())
    for index, (start, _), (_, end) in zip(alone, starts, stops, strict=False):
        if end - start >= LONG_RECORD:
            continue
        text = records.content[start:end].tobytes()
        if QUOTE not in text:
            results[index] = _cells_of_lines(records, text.decode("utf-8"), zones[index])
    return results


def _cells_of_lines(records: Records, text: str, zone: Zone) -> list[Cell]:
    """Return the cells of a zone that has some lines without quotes for itself."""
    lines = text.removesuffix("\n").replace("\r\n", "\n").removesuffix("\r").split("\n")
    column, mark = zone.column, records.delimiter
    if zone.orient == "rows":
        return [*lines[0].split(mark, column + zone.count)[column : column + zone.count]]
    if mark not in text:
        return [*lines] if column == 0 else [None] * len(lines)
    rows = [line.split(mark, column + 1) for line in lines]
    return [cells[column] if column < len(cells) else None for cells in rows]


def _rows_of(records: Records, zones: Sequence[Zone]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Return the rows that zones need, ascending, each with the positions at which its record begins and ends."""
    spans = sorted((zone.row, zone.row + (zone.count if zone.orient == "columns" else 1)) for zone in zones)
    rows: list[int] = []
    after = 0
    for first, end in spans:
        rows += range(max(first, after), end)
        after = max(after, end)
    return zip(rows, records.spans(rows), strict=False)
