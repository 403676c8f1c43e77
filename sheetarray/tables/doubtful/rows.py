"""Rows that speak against what was found: longer or shorter ones, those below the table, and names that come again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from ...columns import column_letters
from ...dtypes import Array, Positions
from ...elements import Cell, is_blank
from ..cells import Table
from ..doubts import Doubt
from ..heading import list_cells
from ..kinds import BLANK, TYPED, kind_of_cell, share_of_kind
from ..options import TableOptions
from ..rows import TableRows
from .totals import is_word_for_sum

_MOST_BELOW = 32  # rows at the end that may stand below the table
_SPARSE = 1 / 3  # of the cells of most rows; a row below the table has no more
_SHOWN = 1e11  # a spreadsheet shows whole numbers from here on with an exponent
_CUT = re.compile(r"-?[1-9](?:\.[0-9]{1,5})?E\+[0-9]{2}")
_MOST_NUMBERS = 1000  # columns whose cells are looked at
_MOST_STARTS, _ABOVE = 8, 8  # blank rows below which names are looked for, and rows above them that have kinds


def doubt_rows(
    table: Table, rows: TableRows, names: Mapping[str, int], selected: Mapping[str, int], options: TableOptions
) -> list[Doubt]:
    """Return doubts about rows that are longer or shorter than the names, about rows below the table, and the first.

    `names`, `selected`: the numbers of all columns, and of those that are read, by name.
    """
    is_open = not options.skip_footer and options.nrows is None
    if table.is_full and isinstance(rows.data, range):  # no row is longer or shorter than another
        firsts = table.columns[min(table.columns)].cells(rows.data[-_MOST_BELOW:])
        is_total = is_open and rows.heading.usual > 1 < len(rows.data) and _is_total(firsts)
        return [_tell_below(table, rows, 1)] if is_total else []
    doubts = _doubt_longer(table, rows, selected)
    below = (_doubt_below(table, rows) or _doubt_second_table(table, rows, names)) if is_open else []
    shorter = [] if doubts else _doubt_shorter(table, rows, names)
    if below and shorter and (shorter[0].row or 0) >= (below[0].row or 0):
        shorter = []  # rows below the table are short
    beside = [] if doubts else _doubt_beside(table, rows, selected)
    return doubts + shorter + below + _doubt_first(table, rows) + beside


def _doubt_longer(table: Table, rows: TableRows, selected: Mapping[str, int]) -> list[Doubt]:
    """Return a doubt if cells stand to the right of all names."""
    if not rows.names or rows.heading.is_shifted:
        return []
    numbers = sorted(table.columns)
    from_right = reversed(numbers)
    named = (number for number in from_right if not all(map(is_blank, table.columns[number].cells(rows.names))))
    last = next(named, None)  # of the columns that have a name
    beyond = [number for number in numbers if last is None or number > last]
    if table.marks is None:  # the cells of a worksheet are not shifted
        beyond = [number for number in beyond if number in selected.values()]
    held: list[tuple[int, int]] = []
    longer: Positions = np.zeros(0, np.int64)
    for number in beyond:
        filled = np.flatnonzero(table.columns[number].mark_filled())
        filled = (
            filled[np.isin(filled, rows.data)]
            if not isinstance(rows.data, range)
            else filled[(filled >= rows.data.start) & (filled < rows.data.stop)]
        )
        if len(filled):
            held.append((int(filled[0]), number))
            longer = np.union1d(longer, filled)
    if not held or last is None:
        return []
    row, number = min(held)
    more = _and_others(len(longer) - 1)
    sheet_row = table.row_of(row)
    message = f"row {sheet_row + 1} has more cells than there are names{more}: were its cells shifted?"
    hint = "quote delimiters in text, or name the marks (delimiter=, decimal=, header=)"
    if table.marks is None:
        message = f"row {sheet_row + 1} has a cell beside the table, where no name stands{more}"
        hint = "columns= names the columns to read"
    return [Doubt("width", message, sheet_row, number, hint)]


def _doubt_shorter(table: Table, rows: TableRows, names: Mapping[str, int]) -> list[Doubt]:
    """Return a doubt if rows of a text end before the last column."""
    last = max(names.values(), default=0)
    column = table.columns.get(last)
    has_blanks = getattr(column, "has_blanks", None)  # of texts
    if table.count_cells is None or last == 0 or has_blanks is None or not has_blanks():
        return []
    counts = table.count_cells()
    data = rows.data
    held = counts[data.start : data.stop] if isinstance(data, range) else counts[data]
    widest = int(held.max(initial=0))
    short = np.flatnonzero(held < min(last + 1, widest))
    if not len(short):
        return []
    row = table.row_of(int(data[int(short[0])]))
    if int(short[0]) == len(data) - 1 and not table.is_ended:
        message = f"row {row + 1}, the last one, is incomplete: {held[short[0]]} of {widest} cells, and no line end"
        return [Doubt("width", message, row, 0, "was a program killed while it wrote? append cuts the row off")]
    more = _and_others(len(short) - 1)
    message = f"row {row + 1} has fewer cells than the others, {held[short[0]]} of {widest}{more}; the rest is blank"
    hint = "is a delimiter missing? delimiter= names it"
    if str(list_cells(table, [min(names.values())], [int(data[int(short[0])])])[0][0]).startswith("#"):
        hint = 'comment="#" leaves out rows that begin with it'
    return [Doubt("width", message, row, 0, hint)]


def _and_others(count: int) -> str:
    return f", as have {count:,} other rows" if count > 1 else ", as has 1 other row" if count else ""


def _doubt_first(table: Table, rows: TableRows) -> list[Doubt]:
    """Return a doubt if the first row below the names holds one cell, where spreadsheets of pivot tables have the name
    of the first column, and no other row does.
    """
    data, kinds = rows.data, rows.heading.kinds
    if not rows.names or len(data) < 2 or not kinds:
        return []
    first, *below_first = list_cells(
        table, sorted(table.columns)[:_MOST_NUMBERS], [int(row) for row in data[:_MOST_BELOW]]
    )
    if len(first) < 2 or not _is_alone(first) or any(map(_is_alone, below_first)) or kind_of_cell(first[0]) in TYPED:
        return []
    row = table.row_of(int(data[0]))
    message = f"row {row + 1}, right below the names, holds one cell, and is read as data"
    message += ": is it the name of the first column?"
    return [Doubt("alone", message, row, min(table.columns), f"skip_rows=[{row}] leaves it out")]


def _is_alone(cells: Sequence[Cell]) -> bool:
    """Return whether a row of several columns holds its first cell alone."""
    return cells[0] is not None and cells[-1] is None and cells.count(None) == len(cells) - 1


def _doubt_below(table: Table, rows: TableRows) -> list[Doubt]:
    """Return a doubt if rows at the end have far fewer cells than the others."""
    data, usual = rows.data, rows.heading.usual
    if len(data) < 2 or usual < 2:
        return []
    numbers = sorted(table.columns)[:_MOST_NUMBERS]
    last = [int(row) for row in data[-_MOST_BELOW:]]
    grid = list_cells(table, numbers, last)
    fills = [len(cells) - cells.count(None) for cells in grid]
    below = 0
    for row, fill in zip(reversed(last), reversed(fills), strict=True):
        is_line = fill <= 1 and table.count_cells is not None and table.width_of(row) == 1
        if fill > max(usual * _SPARSE, 1 if usual > 2 else 0) and not is_line:
            break
        below += 1
    while below and not fills[len(fills) - below]:
        below -= 1
    above = fills[: len(fills) - below]
    sparse = sum(fill <= max(usual * _SPARSE, 1) for fill in above)
    if len(data) < 4 or below == len(last) or below > len(data) // 2 or 10 * sparse > len(above):
        below = 0
    below = below or _count_apart(table, last, fills, usual) or int(_is_total([cells[0] for cells in grid]))
    return [_tell_below(table, rows, below)] if below else []


def _tell_below(table: Table, rows: TableRows, count: int) -> Doubt:
    row = table.row_of(int(rows.data[-count]))
    end = table.count_rows() if table.end is None else table.end
    rows_of = "rows stand" if count > 1 else "row stands"
    message = f"{count} {rows_of} below the table, and {'are' if count > 1 else 'is'} read as data"
    return Doubt("below", message, row, min(table.columns), f"skip_footer={end - row} leaves out what is below")


def _doubt_second_table(table: Table, rows: TableRows, names: Mapping[str, int]) -> list[Doubt]:
    """Return a doubt if a second table may begin below a blank row, with text in a column of values."""
    data, numbers = rows.data, sorted(table.columns)[:_MOST_NUMBERS]
    if len(numbers) < 2:
        return []
    titles = {number: name for name, number in names.items()}
    for place in _find_starts_below_blanks(table, rows):
        above = list_cells(table, numbers, [int(row) for row in data[max(0, place - _ABOVE) : place]])
        below = list_cells(table, numbers, [int(row) for row in data[place : place + 2]])
        fills = [len(cells) - cells.count(None) for cells in below]
        again = any(cell is not None and cell == titles.get(at) for at, cell in zip(numbers, below[0], strict=True))
        if again or len(fills) < 2 or min(fills) < 2:
            continue  # `doubt_repeated_names` tells the same names
        shares = [share_of_kind([kind_of_cell(cells[at]) for cells in above]) for at in range(len(numbers))]
        typed = [at for at, (kind, share) in enumerate(shares) if kind in TYPED and share == 1]
        kinds = {kind_of_cell(below[0][at]) for at in typed} - {BLANK}
        if kinds and not kinds & TYPED:
            row = table.row_of(int(data[place]))
            end = table.count_rows() if table.end is None else table.end
            message = f"row {row + 1}, below a blank row, is read as data: does a second table begin here?"
            return [Doubt("again", message, row, min(numbers), f"skip_footer={end - row} leaves it out")]
    return []


def _doubt_beside(table: Table, rows: TableRows, selected: Mapping[str, int]) -> list[Doubt]:
    """Return a doubt if columns on both sides of a blank one end in different rows, as two tables side by side do."""
    numbers = sorted(selected.values())
    right = next((place for place in range(1, len(numbers)) if numbers[place] - numbers[place - 1] > 1), 0)
    if not right or not rows.names:
        return []
    last = [
        max((int(filled[-1]) for number in side if len(filled := _find_filled(table, number))), default=-1)
        for side in (numbers[:right], numbers[right : right + _MOST_NUMBERS])
    ]
    if last[0] == last[1] or min(last) < 0 or is_blank(table.columns[numbers[right]].cells(rows.names)[-1]):
        return []
    first, end = column_letters(numbers[right]), table.row_of(last[1]) + 1
    message = f"column {first}, right of a blank column, ends in row {end}, those before it in row "
    message += f"{table.row_of(last[0]) + 1}: does a second table begin here?"
    return [Doubt("beside", message, rows.name_row, numbers[right], "columns= names the columns to read")]


def _find_filled(table: Table, number: int) -> Positions:
    return np.flatnonzero(table.columns[number].mark_filled())


def _find_starts_below_blanks(table: Table, rows: TableRows) -> list[int]:
    """Return the first places among the rows of data above which a row is blank."""
    filled = np.zeros(table.height, np.bool_)
    for column in table.columns.values():
        held = column.mark_filled()[: table.height]
        filled[: len(held)] |= held
        if filled.all():
            break
    if filled.all() and len(rows.find_runs()) < 2:
        return []
    data = np.asarray(rows.data, np.int64)
    data = data[data < table.height]  # a record may tell of blank rows further below
    sheet_rows = table.rows_of(data)
    is_start = np.diff(sheet_rows, prepend=sheet_rows[:1]) > 1
    is_start[1:] |= ~filled[data[:-1]] & filled[data[1:]]
    return [int(place) for place in np.flatnonzero(is_start)[:_MOST_STARTS]]


def _count_apart(table: Table, rows: Sequence[int], fills: Sequence[int], usual: int) -> int:
    """Return the number of rows at the end that a blank row parts from all others, none of which is as full as they."""
    for place in range(len(rows) - 1, 0, -1):
        if fills[place] >= usual:
            return 0
        if table.row_of(rows[place]) - table.row_of(rows[place - 1]) > 1 or not fills[place - 1]:
            return len(rows) - place if fills[place] and 2 * place > len(rows) else 0
    return 0


def _is_total(cells: Sequence[Cell]) -> bool:
    """Return whether a first column ends with a word for a sum, and has it nowhere else."""
    words = [cell.strip().rstrip(":").casefold() if isinstance(cell, str) else "" for cell in cells]
    return len(words) > 2 and is_word_for_sum(words[-1]) and words[-1] not in words[:-1]


def doubt_repeated_names(
    table: Table, rows: TableRows, selected: Mapping[str, int], arrays: Mapping[str, Array]
) -> list[Doubt]:
    """Return a doubt if the names stand again among the data, as above a second table."""
    if not rows.names:
        return []
    for name, number in selected.items():
        array = arrays[name]
        if array.ndim != 1 or array.dtype.kind not in "UT":
            continue
        again = np.flatnonzero(array == name)
        if len(again) and (number in rows.heading.kinds or _are_names(arrays, int(again[0]))):
            row = rows.row(int(again[0]))
            message = f"row {row + 1} holds names again, and is read as data: does a second table begin here?"
            end = table.count_rows() if table.end is None else table.end
            return [Doubt("again", message, row, number, f"skip_footer={end - row} leaves it out")]
    return []


def _are_names(arrays: Mapping[str, Array], index: int) -> bool:
    """Return whether most columns hold their own name at an index; at least two do."""
    alike = sum(array.ndim == 1 and index < len(array) and str(array[index]) == name for name, array in arrays.items())
    return alike > 1 and 3 * alike >= 2 * len(arrays)


def doubt_cut_integers(
    table: Table,
    rows: TableRows,
    selected: Mapping[str, int],
    arrays: Mapping[str, Array],
    kinds: str,
) -> list[Doubt]:
    """Return a doubt for each column of whole numbers in which a spreadsheet has cut large ones to an exponent.

    `kinds`: of the arrays that may have such cells; integers only if the caller gave their dtype.
    """
    doubts: list[Doubt] = []
    for name, number in islice(selected.items(), _MOST_NUMBERS) if table.count_cells is not None else ():
        values = arrays[name]
        if values.ndim != 1 or values.dtype.kind not in kinds or number not in table.columns:
            continue
        if max(float(np.fmax.reduce(values, initial=0)), -float(np.fmin.reduce(values, initial=0))) >= _SHOWN:
            doubts += _doubt_cut(table, rows, name, number, values)
    return doubts


def _doubt_cut(table: Table, rows: TableRows, name: str, number: int, values: Array) -> list[Doubt]:
    """Return a doubt if a column holds whole numbers alone, and all large ones have lost digits."""
    if not (np.isnan(values) | (values == np.rint(values))).all():
        return []
    held = np.flatnonzero(np.abs(values, dtype=np.float64) >= _SHOWN)
    cells = table.columns[number].cells([int(rows.data[index]) for index in held[:_MOST_BELOW]])
    if not all(isinstance(cell, str) and _CUT.fullmatch(cell.strip()) for cell in cells):
        return []
    more = f", as are {len(held) - 1:,} more of column {name!r}" if len(held) > 1 else ""
    message = f"{cells[0]} is a whole number that a spreadsheet has cut{more}: digits are lost"
    hint = "save the file anew with the number format 0; dtype=str reads the text"
    return [Doubt("cut", message, rows.row(int(held[0])), number, hint)]
