"""Names of groups of columns above the names of a table, as merged cells have them: `control,,fire,` over `X,Y,X,Y`.

A cell of an upper row counts for the blank ones to its right, and for those that repeat it. Since a row below may be
data as well, something else has to show that it holds names: columns of numbers that it does not fit, the same names
under several groups, or years.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..elements import Cell
from .kinds import BLANK, CODE, DATE, TYPED, WORD, YEARS, kind_of_cell, read_whole, share_of_kind

_MOST_UPPER = 4  # rows of groups
_LOWER = 16  # rows below the names that are looked at
_ALIKE = 0.7  # of the cells of a column that is typed are of its kind
_MOST_LOWER = 2  # rows of names below the first one under the groups
_FEWEST = 3  # rows that are looked at, and columns of years

Row = Sequence[Cell]


def count_grouped(grid: Sequence[Row]) -> int:
    """Return the number of rows of names at the top of a grid, if the upper ones name groups of columns; else 0.

    Example:
        >>> count_grouped([["control", None, "fire", None], ["X", "Y", "X", "Y"], ["1", "2", "3", "4"]])
        2
    """
    for upper in range(1, min(_MOST_UPPER, len(grid) - 2) + 1):
        if upper == 1 and _stand_above_years(grid):
            return 2
        spans = _list_spans(grid[:upper]) if _may_name_groups(grid[upper - 1]) else []
        if not spans:
            return 0
        names, below = grid[upper], grid[upper + 1 : upper + 1 + _LOWER]
        wide = [span for span in spans if sum(names[place] is not None for place in span) > 1]
        if wide and _are_all_named(grid[: upper + 1], below) and _show_names(wide, names, below):
            count = upper + 1
            while count < upper + 1 + _MOST_LOWER and _goes_on(wide, grid[count : count + 1 + _LOWER]):
                count += 1
            return count + _is_name_of_index(grid[:count], grid[count : count + _LOWER])
    return 0


def _may_name_groups(cells: Row) -> bool:
    """Return whether a row may hold names of groups: text or dates, one of them over more than one column."""
    covers = None in cells[1:] or any(mine == after for mine, after in pairwise(cells))
    return covers and all(cell is None or _is_name(cell) or _is_date(cell) for cell in cells)


def _is_date(cell: Cell) -> bool:
    number = read_whole(cell)
    return number in YEARS if number is not None else kind_of_cell(cell) == DATE


def _stand_above_years(grid: Sequence[Row]) -> bool:
    """Return whether a second row holds years in all columns but the first, which has a name above and data below."""
    first, second, *below = grid[: 2 + _LOWER]
    if second[0] is not None or len(second) < _FEWEST or None in second[1:]:
        return False
    if not _is_name(first[0]) or not all(cell is None or _is_name(cell) for cell in first):
        return False
    return _are_years(second[1:]) and not any(_are_years(row[1:]) for row in below) and below[0][0] is not None


def _are_years(cells: Sequence[Cell]) -> bool:
    """Return whether cells are whole numbers that may be years."""
    return bool(cells) and all(read_whole(cell) in YEARS for cell in cells)


def _is_name(cell: Cell) -> bool:
    return isinstance(cell, str) and kind_of_cell(cell) not in (*TYPED, BLANK) and not cell.rstrip().endswith(":")


def _list_spans(rows: Sequence[Row]) -> list[range]:
    """Return the places that each name of a group covers in the last of some rows; none if these are no groups.

    A group ends where a row above begins another one.
    """
    last = rows[-1]
    held = [cell for cell in last if cell is not None]
    if not held:
        return []
    starts = {place for row in rows for place, cell in enumerate(row) if _begins(row, place)}
    begins = sorted(starts)
    spans = [range(begin, end) for begin, end in zip(begins, [*begins[1:], len(last)], strict=True)]
    if len(held) > 1:
        return spans
    is_first = bool(spans) and spans[-1].start == 1 and len(spans) == 1  # as in `,t,` of a frame with one group
    return spans if is_first and kind_of_cell(held[0]) in (WORD, CODE) and " " not in str(held[0]) else []


def _begins(row: Row, place: int) -> bool:
    cell = row[place]
    return cell is not None and (not place or row[place - 1] != cell)


def _are_all_named(names: Sequence[Row], below: Sequence[Row]) -> bool:
    """Return whether each column with data has a name of its own; the first one may have none."""
    single = {place for row in names[:-1] for place, cell in enumerate(row) if cell is not None}
    return all(
        cell is not None or place in single or not place or all(row[place] is None for row in below)
        for place, cell in enumerate(names[-1])
    )


def _show_names(spans: Sequence[range], names: Row, below: Sequence[Row]) -> bool:
    """Return whether a row below names of groups, which cover several columns each, holds names rather than data."""
    if _are_years_alone(spans, names, below) or _fits_no_kind(names, below):
        return True
    if not _repeats(spans, names):
        return False
    looks_alike = _repeats if all(map(_is_name, names[spans[0].start : spans[0].stop])) else _are_in_sequences
    return not all(looks_alike(spans, row) for row in below[:_FEWEST])


def _are_in_sequences(spans: Sequence[range], row: Row) -> bool:
    return all(_are_in_sequence(row[span.start : span.stop]) for span in spans)


def _goes_on(spans: Sequence[range], rows: Sequence[Row]) -> bool:
    """Return whether the row directly below a row of names holds names, too, such as units."""
    if len(rows) < 2 or None in rows[0][1:]:
        return False
    return _fits_no_kind(rows[0], rows[1:]) or (_repeats(spans, rows[0]) and not _repeats(spans, rows[1]))


def _repeats(spans: Sequence[range], names: Row) -> bool:
    """Return whether a row holds the same names under two groups at least, each of them once."""
    under = [tuple(names[place] for place in span if names[place] is not None) for span in spans]
    if len(under) < 2 or any(len({*each}) < len(each) for each in under):
        return False
    longest = max(under, key=len)
    is_sound = all(map(_is_name, longest)) or _are_in_sequence(longest)
    return is_sound and all(each == longest[: len(each)] for each in under)


def _are_in_sequence(cells: Sequence[Cell]) -> bool:
    numbers = [read_whole(cell) for cell in cells]
    steps = {after - before for before, after in pairwise(number for number in numbers if number is not None)}
    return None not in numbers and len(steps) == 1 and abs(steps.pop()) == 1


def _are_years_alone(spans: Sequence[range], names: Row, below: Sequence[Row]) -> bool:
    """Return whether years stand under each group, and data that are no years below them."""
    under = [[names[place] for place in span if names[place] is not None] for span in spans]
    if not all(_are_years(years) and len({*map(read_whole, years)}) == len(years) for years in under):
        return False
    columns = [[row[place] for row in below if row[place] is not None] for span in spans for place in span]
    return not any(map(_are_years, columns))


def _fits_no_kind(names: Row, below: Sequence[Row]) -> bool:
    """Return whether names stand above two or more columns of values."""
    above = []
    for name, cells in zip(names, zip(*below, strict=True), strict=True):
        kind, share = share_of_kind([*map(kind_of_cell, cells)])
        if kind in TYPED and share >= _ALIKE and name is not None:
            above.append(name)
    return len(above) > 1 and all(map(_is_name, above))


def _is_name_of_index(names: Sequence[Row], below: Sequence[Row]) -> bool:
    """Return whether the first row below holds nothing but the name of a first column, as pandas writes it.

    Above it, the first column is blank, or has the name of the rows of names in the last of them.
    """
    is_alone = [_is_name(row[0]) and all(cell is None for cell in row[1:]) for row in below]
    if is_alone.count(True) != 1 or not is_alone[0] or len(below) < 2 or below[1][0] is None:
        return False
    return names[-1][0] is not None or all(row[0] is None for row in names)
