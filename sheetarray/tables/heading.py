"""Finds the rows above a table, its rows of names, and its first row of data, from the kinds of its columns.

Names are the rows above the first one that fits the kinds of at least half of the typed columns. What stands above the
names has far fewer cells than the table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from ..dtypes import Positions
from ..elements import Cell
from .cells import Table
from .doubts import Doubt
from .groups import count_grouped
from .kinds import BLANK, MONEY, NUMBER, TYPED, YEARS, kind_of_cell, read_whole, share_of_kind

_TOP = 40  # rows in which names are looked for
_MOST_COLUMNS = 1000  # whose cells are counted
_MOST_TYPED = 48  # columns whose kinds are looked at
_LOWER = 16  # rows that tell the kinds of columns
_MOST_NAMES = 8  # rows of names
_SPARSE = 1 / 3  # of the cells of most rows: a row above or below the table has no more
_ALIKE = 0.7  # of the cells of a column that is typed are of its kind
_FEWEST_WORDS = 3  # before the first comma of a sentence above names
_LONGEST_UNIT = 3  # characters; a row of longer words below names holds no units
_RULE = re.compile(r"(?=[-=_+:| ]*?(?:--|==|__))[-=_+:| ]*+")  # a cell of a line that a program draws below names
_END = re.compile(r"\*+ ?end[_ ]of[_ ]header ?\*+|\[data\]", re.IGNORECASE)  # the last row above names, of instruments
_MARK = re.compile(r"[#%!*;]|//")  # of comments above a table
_SIGN = re.compile(_MARK.pattern + r"|\[")  # with which comments begin, and the last row of settings


@dataclass
class Heading:
    """The rows of a table by what they hold.

    Attributes:
        above: the number of rows that stand above the names.
        names: the number of rows that hold names.
        rules: the number of rows of dashes below the names, which are left out.
        has_index: whether the first column holds names of rows, and has no name itself.
        is_shifted: whether the row of names has one cell less than all others, which begin with names of rows.
        kinds: by column, the kind of most of its cells, if that is a kind of values.
        usual: the number of cells that most rows hold.
        doubts: what speaks against this.
    """

    above: int = 0
    names: int = 0
    rules: int = 0
    has_index: bool = False
    is_shifted: bool = False
    kinds: dict[int, str] = field(default_factory=dict)
    usual: int = 1
    doubts: list[Doubt] = field(default_factory=list)


def find_heading(table: Table, rows: range | Positions, header: int | None) -> Heading:
    """Return which of some rows hold names.

    `rows`: those that may belong to the table. `header`: the number of rows of names, if the caller gave it.
    """
    numbers = sorted(table.columns)[:_MOST_COLUMNS]
    top = [int(row) for row in rows[:_TOP]]
    lower = _choose_lower(rows)
    asked = sorted({*top, *lower})
    by_row = dict(zip(asked, list_cells(table, numbers, asked), strict=True))
    grid, sample = ([by_row[row] for row in each] for each in (top, lower))
    fills = sorted(len(cells) - cells.count(None) for cells in sample)
    heading = Heading(kinds=_find_kinds(numbers, sample), usual=fills[len(fills) // 2])
    is_plain = table.is_full and isinstance(rows, range) and _is_plain(grid)
    if header is not None:
        heading.names = min(header, len(rows))
        if header:
            _pass_rule(heading, table, grid, top)
    elif is_plain:
        _find_names(heading, table, grid, top, numbers, is_plain=True)
    else:
        heading.above = _count_above(heading, table, top, grid, numbers)
        if (grouped := _find_grouped(table, grid, top, heading.above)) is not None:
            heading.above, heading.names = grouped
            _tell_joined(heading, table, top)
        else:
            _find_names(heading, table, grid, top, numbers)
        _tell_above(heading, table, top, numbers)
    if not is_plain:
        _find_index(heading, table, numbers, grid[heading.above :], top[heading.above :])
    return heading


def _is_plain(grid: Sequence[Sequence[Cell]]) -> bool:
    """Return whether nothing can stand above the names of a full table: no row begins as a comment or settings do, and
    the first is no sentence, and names no groups of columns.
    """
    first = grid[0]
    is_sentence = any(isinstance(cell, str) and cell[:1] in " \t" for cell in first)
    return not is_sentence and len({*first}) == len(first) and not any(_SIGN.match(str(cells[0])) for cells in grid)


def _find_names(
    heading: Heading,
    table: Table,
    grid: Sequence[Sequence[Cell]],
    top: Sequence[int],
    numbers: Sequence[int],
    *,
    is_plain: bool = False,
) -> None:
    """Count the rows of names from the first row that fits the columns, and the rows above that are settings."""
    above, kinds = heading.above, heading.kinds
    places = {number: place for place, number in enumerate(numbers)}
    fits: list[bool | None] = []
    for index in range(above, len(grid) if kinds else 0):
        fits.append(_fits_with_next(grid[index : index + 2], kinds, places))
        if fits[-1]:
            break
    if not is_plain:
        blocks = _count_settings(table, grid[above:], fits, top[above:])
        blocks += _count_above_years(heading, table, grid[above + blocks :], fits[blocks:], top[above + blocks :])
        heading.above, above, fits = above + blocks, above + blocks, fits[blocks:]
    below = grid[above:]
    rule = next((index for index, cells in enumerate(below[: _MOST_NAMES + 1]) if _is_rule(cells)), 0)
    if rule and not any(fits[:rule]):
        heading.names = rule
        _pass_rule(heading, table, below, top[above:])
    elif not kinds:
        heading.names = 1 if below and _holds_text(below[0]) else 0
    else:
        heading.names = _count_names(heading, table, below, fits, top[above:], places)
        if heading.names > 1:
            _tell_joined(heading, table, top)


def _find_grouped(
    table: Table, grid: Sequence[Sequence[Cell]], rows: Sequence[int], above: int
) -> tuple[int, int] | None:
    """Return the number of rows above names of groups and that of rows of names, which follow at once; else None."""
    for row in range(above + 1):
        count = count_grouped(grid[row:])
        if count and table.row_of(rows[row + count - 1]) - table.row_of(rows[row]) == count - 1:
            return row, count
    return None


def _tell_above(heading: Heading, table: Table, top: Sequence[int], numbers: Sequence[int]) -> None:
    above = heading.above
    if not above:
        return
    first, last = table.row_of(top[0]) + 1, table.row_of(top[above - 1]) + 1
    skipped = f"rows {first} to {last} are" if last > first else f"row {first} is"
    below_row = table.row_of(top[above]) if above < len(top) else last
    hint = f"skip_rows={below_row} says the same, skip_rows=0 with header= reads them as names or data"
    message = f"{skipped} above the table, and skipped"
    heading.doubts.append(Doubt("above", message, table.row_of(top[0]), min(numbers, default=0), hint))


def _tell_joined(heading: Heading, table: Table, top: Sequence[int]) -> None:
    rows = top[heading.above : heading.above + heading.names]
    message = f"the names are in {heading.names} rows, down to row {table.row_of(rows[-1]) + 1}, and joined"
    heading.doubts.append(Doubt("names", message, table.row_of(rows[0]), 0, "header=1 takes the first row alone"))


def _is_rule(cells: Sequence[Cell]) -> bool:
    held = [cell for cell in cells if cell is not None]
    return bool(held) and all(isinstance(cell, str) and _RULE.fullmatch(cell) for cell in held)


def _pass_rule(heading: Heading, table: Table, grid: Sequence[Sequence[Cell]], rows: Sequence[int]) -> None:
    """Leave out a row of dashes directly below the names."""
    if heading.names < len(grid) - 1 and _is_rule(grid[heading.names]):
        heading.rules = 1
        row = table.row_of(rows[heading.names])
        message = f"row {row + 1} is a line of dashes below the names, and left out"
        heading.doubts.append(Doubt("rule", message, row, 0, f"skip_rows=[{row}] says the same"))


def _count_settings(
    table: Table, grid: Sequence[Sequence[Cell]], fits: Sequence[bool | None], rows: Sequence[int]
) -> int:
    """Return the number of rows above a blank line that are settings of an instrument, and no part of the table."""
    first = next((index for index, fit in enumerate(fits) if fit), None)
    if first is None or table.count_cells is None:
        return 0
    for index in range(first - 1, 0, -1):
        is_apart = _stands_apart(table, rows[index - 1], rows[index])
        if is_apart and not any(None in cells for cells in grid[:index]):
            return index
    return 0


def _count_above_years(
    heading: Heading,
    table: Table,
    grid: Sequence[Sequence[Cell]],
    fits: Sequence[bool | None],
    rows: Sequence[int],
) -> int:
    """Return the number of rows above a row of names that holds years; 0 if one of them is as full as the names."""
    first = next((index for index, fit in enumerate(fits) if fit), 0)
    if not first or not isinstance(grid[first][0], str) or read_whole(grid[first][0]) is not None:
        return 0
    fills = [len(cells) - cells.count(None) for cells in grid[: first + 1]]
    return first if max(fills[:-1]) < fills[-1] and _name_first_row(heading, table, grid[first:], rows[first:]) else 0


def list_cells(table: Table, numbers: Sequence[int], rows: Sequence[int]) -> list[list[Cell]]:
    """Return some rows as cells, those of some columns; blanks, and texts of white space, are None.

    The table keeps them for the next question, which is about the same columns.
    """
    listed = table.listed.setdefault(tuple(numbers), {})
    if numbers and (asked := [row for row in rows if row not in listed]):
        columns = [table.columns[number].cells(asked) for number in numbers]
        listed |= zip(asked, [_drop_blanks([*cells]) for cells in zip(*columns, strict=True)], strict=True)
    return [listed[row] if numbers else [] for row in rows]


def _drop_blanks(cells: list[Cell]) -> list[Cell]:
    """Return the cells of a row with None for white space."""
    types = {*map(type, cells)}
    if str not in types or (len(types) == 1 and all(map(str.strip, cells))):
        return cells
    return [None if isinstance(cell, str) and not cell.strip() else cell for cell in cells]


def _choose_lower(rows: range | Positions) -> list[int]:
    """Return rows of the beginning, the middle and the end, from which the kinds of columns are known."""
    count = len(rows)
    if count <= 2 * _LOWER:
        return [int(row) for row in rows[max(count // 4, min(count // 2, 3)) :]]
    third = _LOWER // 3 + 1
    places = [*range(_LOWER, _LOWER + third), *range(count // 2, count // 2 + third), *range(count - third, count)]
    return [int(rows[place]) for place in sorted({place for place in places if place < count})]


def _find_kinds(numbers: Sequence[int], sample: Sequence[Sequence[Cell]]) -> dict[int, str]:
    """Return the kinds of the typed columns, by their numbers."""
    kinds: dict[int, str] = {}
    for place, number in enumerate(numbers[:_MOST_TYPED]):
        kind, share = share_of_kind([_plain(kind_of_cell(cells[place])) for cells in sample])
        if kind in TYPED and share >= _ALIKE:
            kinds[number] = kind
    return kinds


def _plain(kind: str) -> str:
    return NUMBER if kind == MONEY else kind


def _fits(cells: Sequence[Cell], kinds: dict[int, str], places: dict[int, int]) -> bool | None:
    """Return whether a row fits the kinds of at least half of the typed columns; None if it is blank in all of them."""
    pairs = [(_plain(kind_of_cell(cells[places[number]])), kind) for number, kind in kinds.items()]
    held = [pair for pair in pairs if pair[0] != BLANK]
    if not held:
        return None
    return 2 * sum(mine == kind for mine, kind in held) >= len(held)


def _fits_with_next(pair: Sequence[Sequence[Cell]], kinds: dict[int, str], places: dict[int, int]) -> bool | None:
    """Return whether a row fits. If only half of its cells fit, the next row has to fit too."""
    fit = _fits(pair[0], kinds, places)
    held = [(kind_of_cell(pair[0][places[number]]), kind) for number, kind in kinds.items()]
    strangers = sum(_plain(mine) not in (kind, BLANK) for mine, kind in held)
    is_half = fit and strangers > 0 and 2 * strangers == sum(mine != BLANK for mine, _ in held)
    return False if is_half and len(pair) > 1 and _fits(pair[1], kinds, places) is False else fit


def _count_above(
    heading: Heading, table: Table, top: Sequence[int], grid: Sequence[Sequence[Cell]], numbers: Sequence[int]
) -> int:
    """Return the number of rows above the names."""
    usual, kinds = heading.usual, heading.kinds
    most, fills = usual * _SPARSE, [len(cells) - cells.count(None) for cells in grid]
    places = {number: place for place, number in enumerate(numbers)}
    above = max((index + 1 for index, cells in enumerate(grid[:-2]) if _ends_settings(cells)), default=0)
    above = above or _count_comments(table, top, grid, usual) or _count_sentences(table, top, grid)
    above = above or _count_pairs(table, top, grid, kinds, places)
    if above:
        return above + next((index for index, fill in enumerate(fills[above:]) if fill), 0)
    for index, fill in enumerate(fills[:-1]):
        is_banner = fill == 1 and usual > 1 and table.count_cells is not None and table.width_of(top[index]) == 1
        if fill and fill > most and not is_banner and not _is_title(index, grid, fills, kinds, places):
            break
        above = index + 1
    if above and (above >= len(fills) - 1 or above == _TOP - 1):
        return 0
    above = _pass_other_widths(above, table, top, grid, kinds, places)
    if above and fills[above - 1] and table.width_of(top[above - 1]) != 1 and _fits(grid[above], kinds, places):
        return above - 1  # the row above the data may hold the names of a few columns
    while above and _names_groups(grid[above - 1], grid[above:], kinds, places):
        above -= 1
    return above


def _ends_settings(cells: Sequence[Cell]) -> bool:
    return isinstance(cells[0], str) and _END.fullmatch(cells[0]) is not None


def _count_comments(table: Table, top: Sequence[int], grid: Sequence[Sequence[Cell]], usual: int) -> int:
    """Return the number of rows above the first one that begins with no mark of comments; 0 if they may hold names: the
    mark is part of a cell in a row as wide as the others.
    """
    if table.count_cells is None or usual < 2:
        return 0
    for index, cells in enumerate(grid[:-1]):
        match = _MARK.match(cells[0]) if isinstance(cells[0], str) else None
        if match is None:
            return index
        if match.end() < len(cells[0].rstrip()) and table.width_of(top[index]) == usual:
            return 0
    return 0


def _count_sentences(table: Table, top: Sequence[int], grid: Sequence[Sequence[Cell]]) -> int:
    """Return the number of rows above names that hold sentences, in which a blank stands behind each delimiter; 0 if a
    row below does so too, or if rows below are as wide and follow at once, unless it is prose above other names.
    """
    if table.count_cells is None:
        return 0
    first = next((row for row, cells in enumerate(grid) if not _is_sentence(cells)), 0)
    if not any(cells.count(None) < len(cells) - 1 for cells in grid[:first]) or len(grid) < first + 2:
        return 0
    below = grid[first:]
    if any(isinstance(cell, str) and cell[:1] in " \t" for cells in below for cell in cells):
        return 0
    widths = {table.width_of(row) for row in top[first:]}
    is_apart = _stands_apart(table, top[first - 1], top[first])
    is_other = all(table.width_of(row) not in widths for row in top[:first])
    is_above = is_apart or is_other or all(_is_prose(cells, below) for cells in grid[:first])
    return first if len(widths) == 1 and is_above and _holds_text(below[0]) else 0


def _count_pairs(
    table: Table, top: Sequence[int], grid: Sequence[Sequence[Cell]], kinds: dict[int, str], places: dict[int, int]
) -> int:
    """Return the number of rows above a blank row that hold settings and their values, as of a bank; 0 unless names of
    all columns and a row of values follow.
    """
    above: list[Sequence[Cell]] = []
    for index, cells in enumerate(grid[:-1]):
        if above and (_stands_apart(table, top[index - 1], top[index]) or _is_blank_row(grid[index - 1])):
            is_full = bool(kinds) and None not in cells and _are_names(cells, len(cells), kinds, places)
            if is_full and _fits(grid[index + 1], kinds, places):
                return index if _are_pairs(above, len(cells)) else 0
        above += [] if _is_blank_row(cells) else [cells]
    return 0


def _stands_apart(table: Table, above: int, row: int) -> bool:
    return table.row_of(row) - table.row_of(above) > 1


def _is_blank_row(cells: Sequence[Cell]) -> bool:
    return cells[-1:] in ([], [None]) and cells.count(None) == len(cells)


def _are_pairs(rows: Sequence[Sequence[Cell]], width: int) -> bool:
    """Return whether rows of fewer cells than a table hold settings: names, which end in a colon or whose values are of
    several kinds, as those of a column are not.
    """
    held = [[cell for cell in cells if cell is not None] for cells in rows]
    pairs = [cells for cells in held if len(cells) > 1]
    are_short = all(
        cells[: len(short)] == short and len(short) < width for cells, short in zip(rows, held, strict=True)
    )
    if not are_short or not pairs or any(kind_of_cell(cells[0]) in (*TYPED, BLANK) for cells in held):
        return False
    if all(str(cells[0]).rstrip().endswith((":", "=")) for cells in pairs):
        return True
    kind, share = share_of_kind([kind_of_cell(cells[1]) for cells in pairs[1:]])
    return len(pairs) == 1 or kind not in TYPED or share < 1


def _is_prose(cells: Sequence[Cell], below: Sequence[Sequence[Cell]]) -> bool:
    """Return whether a row is a sentence of several words rather than names, with names and values right below it."""
    words = [len(cell.split()) for cell in cells if isinstance(cell, str)]
    has_names = any(isinstance(cell, str) and len(cell) > _LONGEST_UNIT for cell in below[0])
    if not words or words[0] < _FEWEST_WORDS or not has_names or len(below) < 2:
        return False
    columns = zip(below[0], zip(*below[1 : 1 + _LOWER], strict=True), strict=True)
    return any(
        kind_of_cell(name) not in TYPED and all(kind_of_cell(cell) in TYPED for cell in values)
        for name, values in columns
    )


def _is_sentence(cells: Sequence[Cell]) -> bool:
    """Return whether a row holds one cell, the first, or text in which a blank stands behind each delimiter."""
    held = [cell for cell in cells if cell is not None]
    more = all(isinstance(cell, str) and cell[:1] in " \t" for cell in held[1:])
    return bool(held) and cells[0] is not None and more and _holds_text(cells)


def _is_title(
    index: int, grid: Sequence[Sequence[Cell]], fills: Sequence[int], kinds: dict[int, str], places: dict[int, int]
) -> bool:
    """Return whether a row is a title: only its first cell is filled, and below it stand titles or names."""
    if fills[index] != 1:
        return False
    while index < len(fills) and (not fills[index] or (fills[index] == 1 and grid[index][0] is not None)):
        index += 1
    return index < len(fills) and _are_names(grid[index], fills[index], kinds, places)


def _pass_other_widths(
    above: int,
    table: Table,
    top: Sequence[int],
    grid: Sequence[Sequence[Cell]],
    kinds: dict[int, str],
    places: dict[int, int],
) -> int:
    """Return the number of rows above a row of names that is as wide as the data, if other rows are not.

    A row of another width stands above the table if it is wider, or has no blank among its cells.
    """
    fits = [_fits(cells, kinds, places) for cells in grid[above : above + 2]]
    if table.count_cells is None or not kinds or len(fits) < 2 or (fits[1] and None not in grid[above + 1]):
        return above
    counts = table.count_cells()
    widths = [int(count) for count in counts[list(top)]]
    width = int(np.bincount(counts).argmax())
    rows = range(above, len(grid))
    first = next((row for row in rows if widths[row] == width and _fits(grid[row], kinds, places)), None)
    if first is None or first < above + 2 or not _holds_text(grid[first - 1]):
        return above
    names = first - 1
    while names > above and widths[names] == width and first - names <= _MOST_NAMES:
        names -= 1
    if names == first - 1 or widths[names] == width:
        return above
    is_other = widths[names] > width or None not in grid[names][: widths[names]]
    return names + 1 if is_other else above


def _names_groups(
    cells: Sequence[Cell], below: Sequence[Sequence[Cell]], kinds: dict[int, str], places: dict[int, int]
) -> bool:
    """Return whether a row right above names holds names of groups of columns, or of columns without another name."""
    held = [place for place, cell in enumerate(cells) if cell is not None]
    if len(held) < 2 or not _are_names(below[0], len(held), kinds, places):
        return False
    first = next((index for index, row in enumerate(below) if _fits(row, kinds, places)), None)
    if cells[0] is None or first is None:
        return cells[0] is None
    nameless = [place for place in held if all(row[place] is None for row in below[:first])]
    return any(row[place] is not None for row in below[first:] for place in nameless)


def _are_names(cells: Sequence[Cell], fill: int, kinds: dict[int, str], places: dict[int, int]) -> bool:
    return fill > 1 and _holds_text(cells) and not _fits(cells, kinds, places)


def _holds_text(cells: Sequence[Cell]) -> bool:
    return any(isinstance(cell, str) and kind_of_cell(cell) not in (*TYPED, BLANK) for cell in cells)


def _count_names(
    heading: Heading,
    table: Table,
    below: Sequence[Sequence[Cell]],
    fits: Sequence[bool | None],
    rows: Sequence[int],
    places: dict[int, int],
) -> int:
    """Return the number of rows of names above the data of a table with typed columns."""
    if not below:
        return 0
    first = next((index for index, fit in enumerate(fits) if fit), None)
    if first == 0:
        count = _name_first_row(heading, table, below, rows)
        typed = [below[0][places[number]] for number in heading.kinds]
        if not count and len(below) > 1 and _holds_text(typed):
            row = table.row_of(rows[0])
            message = f"row {row + 1} fits most columns, and is read as data"
            heading.doubts.append(Doubt("names", message, row, 0, "header=True reads it as names"))
        return count
    if not _holds_text(below[0]) and below[0][0] is not None:
        return 0
    count = 1
    for index in range(1, first if first is not None and first <= _MOST_NAMES else 1):
        if any(cell is not None for cell in below[index]):
            goes_on = count == index or below[index][0] is None  # blank rows may stand between
            is_data = table.count_cells is None and not _holds_text(below[index])  # numbers with a format of dates
            if fits[index] is not False or not goes_on or is_data or _is_shifted(below[index], heading.kinds):
                break
            count = index + 1
    if count > 1 and len(heading.kinds) < 2 and any(cells[0] is not None for cells in below[1:count]):
        doubt = "row {} fits no kind of its columns; it is read as data"
        row = table.row_of(rows[1])
        heading.doubts.append(Doubt("names", doubt.format(row + 1), row, 0, "header=2 reads it as names"))
        return 1
    return count


def _is_shifted(cells: Sequence[Cell], kinds: dict[int, str]) -> bool:
    """Return whether a row holds values of the kinds that the columns have, but in other columns."""
    held = Counter(_plain(kind_of_cell(cell)) for cell in cells) & Counter(kinds.values())
    return 2 <= held.total() >= len(kinds) / 2


def _name_first_row(
    heading: Heading,
    table: Table,
    below: Sequence[Sequence[Cell]],
    rows: Sequence[int],
) -> int:
    """Return 1 if a first row that looks like data holds names all the same, else 0."""
    cells = below[0]
    held = [cell for cell in cells if cell is not None]
    if not held:
        return 0
    if len(below) > 1 and len(cells) > 1 and cells[0] is None and len(held) == len(cells) - 1:
        if len({*held}) < len(held):  # programs that leave the corner blank write each name once
            return 0
        return int(sum(row[0] is not None for row in below[1:]) * 2 > len(below) - 1)
    placed = [(place, number) for place, cell in enumerate(cells) if (number := read_whole(cell)) is not None]
    whole = [number for _, number in placed]
    texts = [cell for cell in held if read_whole(cell) is None]
    if len(whole) < 2 or len(below) < 2 or any(kind_of_cell(text) in TYPED for text in texts):
        return 0
    steps = {after - before for before, after in pairwise(whole)}
    rows_below = ([cells[place] for place, _ in placed if cells[place] is not None] for cells in below[1:])
    again = [read_whole(cell) for cell in next(filter(None, rows_below), [])]
    if len(steps) != 1 or steps == {0}:
        return 0
    row = table.row_of(rows[0])
    are_years = all(number in YEARS for number in whole)
    if are_years and all(number in YEARS for number in again):
        if texts:
            message = f"row {row + 1} holds years in sequence, as rows below do, and is read as data"
            heading.doubts.append(Doubt("names", message, row, 0, "header=True reads it as names"))
        return 0
    if not are_years and not (whole[0] == 0 and steps == {1} and None in again and texts in ([], held[:1])):
        return 0
    if not texts:
        message = f"row {row + 1} holds numbers in sequence, and is read as names"
        heading.doubts.append(Doubt("names", message, row, 0, "header=False reads it as data"))
    return 1


def _find_index(
    heading: Heading, table: Table, numbers: Sequence[int], below: Sequence[Sequence[Cell]], rows: Sequence[int]
) -> None:
    """Note whether the first column has no name, and whether the names are one too few."""
    if not heading.names or not numbers or len(below) <= heading.names:
        return
    names = below[: heading.names]
    if len(numbers) > 1 and all(cells[0] is None for cells in names) and names[-1][1] is not None:
        heading.has_index = True
    if table.count_cells is None or heading.names != 1:
        return
    width = table.width_of(rows[0])
    if 1 <= width == len(table.columns) - 1 and table.width_of(rows[1]) == width + 1:
        counts = table.count_cells()
        if (counts[rows[1] :] == width + 1).all() and any(cells[-1] is not None for cells in below[1:]):
            heading.is_shifted = True
            message = "each row has one cell more than the row of names; the first column is read as 'index'"
            heading.doubts.append(
                Doubt("width", message, table.row_of(rows[0]), 0, "header=False reads all rows as data")
            )
