"""Where a recorded table stands in a sheet: found by the names of its columns, beside whatever else stands there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from ..columns import Sheet, Zone
from ..columns.grid import Area
from ..labels import TableNote
from ..tables import WHITE, Table, list_cells

_FIRST_BELOW, _MORE_BELOW = 64, 32  # rows below a table that are looked at first, and how many times more then
_MOST_ROWS_ABOVE = 1000  # of a sheet, among which the names of columns are looked for


def names_of_columns(tree: object) -> frozenset[str]:
    """Return the names of the columns of a table that its note tells, without white space around them."""
    dtypes = tree.get("dtypes") if isinstance(tree, dict) else None
    return frozenset(str(name).strip(WHITE) for name in dtypes) if isinstance(dtypes, dict) else frozenset()


def find_area(table: Table, note: TableNote, ends: Collection[str] = ()) -> tuple[Area | None, int]:
    """Return the area of a table, found by the names of its columns, and the number of its rows.

    The area is None where no row holds half of the names. It ends above the first blank row, but not before there
    are as many rows as were written. Of the rows, blank ones at the end do not count.

    `ends`: the names of what stands beside the table. Columns of these names are none that people have added to it.
    """
    numbers = sorted(table.columns)
    names = {name.strip(WHITE) for name in note.dtypes}
    rows = range(min(table.height, _MOST_ROWS_ABOVE))
    texts = [[str(cell).strip(WHITE) for cell in row] for row in list_cells(table, numbers, rows)]
    columns_of_rows = [_find_names(row, names) for row in texts]
    top = max(range(len(columns_of_rows)), key=lambda row: len(columns_of_rows[row]), default=0)
    if not columns_of_rows or 2 * len(columns_of_rows[top]) < len(names):
        return None, 0
    titled = {number: text for number, text in zip(numbers, texts[top], strict=True) if text not in ("", "None")}
    left, right = numbers[columns_of_rows[top][0]], numbers[columns_of_rows[top][-1]] + 1
    while left - 1 in titled and titled[left - 1] not in ends:  # columns that people have added
        left -= 1
    while right in titled and titled[right] not in ends:
        right += 1
    filled = np.zeros(table.height, np.bool_)
    for number in numbers:
        if left <= number < right:
            held = table.columns[number].mark_filled()[: table.height]
            filled[: len(held)] |= held
    blank = ~filled[top + 1 :]
    blank[: note.rows or 0] = False
    bottom = top + 1 + (int(np.argmax(blank)) if blank.any() else len(blank))
    row = table.row_of(top)
    last = np.flatnonzero(filled[top:bottom])[-1]
    return Area(row, left, row + max(bottom - top, 1 + (note.rows or 0)), right), int(last)


def _find_names(row: Sequence[str], names: Collection[str]) -> list[int]:
    """Return the places at which the names of a table stand in a row, each once; of several runs the longest one.

    Example:
        >>> _find_names(["day", "t", "", "day", "u", "v"], {"day", "u", "v"})
        [3, 4, 5]
    """
    places = [place for place, text in enumerate(row) if text in names]
    last: dict[str, int] = {}
    first, best = 0, (0, 0)  # of the run, and the ends of the longest one
    for number, place in enumerate(places):
        first = max(first, last.get(row[place], -1) + 1)
        last[row[place]] = number
        best = max(best, (first, number + 1), key=lambda ends: ends[1] - ends[0])
    return places[slice(*best)]


def extend_area(sheet: Sheet, area: Area) -> Area:
    """Return the range of a table with the rows below it that fill at least half of its columns.

    Not every program makes the range larger where somebody types below it.
    """
    bottom, columns, count = area.bottom, range(area.left, area.right), _FIRST_BELOW
    while True:
        filled = np.zeros(count, np.int64)
        for cells in sheet.zones([Zone(bottom, column, count, "columns") for column in columns]):
            filled[: len(cells)] += [cell is not None and cell != "" for cell in cells]
        is_row = filled * 2 >= len(columns)
        if not is_row.all():
            return area._replace(bottom=bottom + int(np.argmin(is_row)))
        bottom, count = bottom + count, count * _MORE_BELOW  # the sheet is searched a few times at most


def find_renamed(written: Iterable[str], present: Iterable[str]) -> list[str]:
    """Return the columns of a table that are gone where as many others stand in it now, so that they were renamed."""
    names, now = [name.strip(WHITE) for name in written], {name for name in present if name}
    gone = [name for name in names if name not in now]
    return gone if len(gone) == len(now - {*names}) else []
