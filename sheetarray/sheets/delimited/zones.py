"""A few cells of a delimited text here and there: what headers and single elements need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...columns import Zone
from ...elements import Cell
from .blocks import QUOTE
from .records import LONG_RECORD, Records

_MANY_ZONES = 8  # that are worth a look at how they lie
_SHARED, _WORTH_SHARING = 8, 16  # lines that a zone may share with those before and after it; of how many lines or more


def read_zones(records: Records, zones: Sequence[Zone]) -> list[list[Cell]]:
    """Return the cells of each zone; it ends with the text."""
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
    """Return the cells of zones that share few rows with others, or none, if their lines are short and without quotes.

    A sheet may hold very many arrays one below the other: the lines of each are decoded at once. Those next to a
    neighbour's, where its name may stand, are decoded for both.
    """
    order = sorted(range(len(zones)), key=lambda index: zones[index].row)
    spans = [(zones[i].row, zones[i].row + (zones[i].count if zones[i].orient == "columns" else 1)) for i in order]
    alone: list[tuple[int, int, int]] = []
    after = 0
    for place, (first, end) in enumerate(spans):
        following = spans[place + 1][0] if place + 1 < len(spans) else end
        shared = _SHARED if end - first >= _WORTH_SHARING else 0
        if first >= after - shared and end <= following + shared and first < end:
            alone.append((order[place], first, end - 1))
        after = max(after, end)
    results: dict[int, list[Cell]] = {}
    if len(alone) < _MANY_ZONES:
        return results
    starts = records.spans(first for _, first, _ in alone)
    ends = records.spans(last for _, _, last in alone)
    for (index, _, _), (start, _), (_, end) in zip(alone, starts, ends, strict=False):
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
    """Return the rows that zones need, ascending, with their places."""
    spans = sorted((zone.row, zone.row + (zone.count if zone.orient == "columns" else 1)) for zone in zones)
    rows: list[int] = []
    after = 0
    for first, end in spans:
        rows += range(max(first, after), end)
        after = max(after, end)
    return zip(rows, records.spans(rows), strict=False)
