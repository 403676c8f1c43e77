"""Names the columns of a table, and finds the ones that a caller asks for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ..columns import column_letters
from ..elements import Cell, Unreadable, format_bool, is_blank, parse_string, unescape_formula
from ..errors import NotFoundError, check_kinds, quote_names
from .cells import Table
from .doubts import Doubt
from .numerals import WHITE
from .rows import TableRows

INDEX = "index"
"""The name of a first column that has none, beside columns that have names: what pandas and R write."""

_MOST_LISTED = 20  # names in a message


def name_columns(table: Table, rows: TableRows, doubts: list[Doubt]) -> dict[str, int]:
    """Return the numbers of columns, counted from 0, by their names: the text in the rows of names, else the letter.

    A name that another column has already becomes `name_2`, or `name_3` if a further column is called `name_2`. Columns
    that have neither a name nor a cell are left out. In a text without names only delimiters tell of columns: there a
    blank one counts, so that files of one kind have the same columns.
    """
    numbers = sorted(table.columns)
    cells = [[_text(cell) for cell in table.columns[number].cells(rows.names)] for number in numbers]
    texts = [text for (text,) in cells] if len(rows.names) == 1 else _join_names(cells)
    if rows.heading.is_shifted:
        texts = ["", *texts[:-1]]
    has_index = rows.heading.has_index or rows.heading.is_shifted
    if has_index and INDEX not in texts and rows.hold_data(table.columns[numbers[0]]):
        texts[0] = INDEX
    given = {*texts} - {""}
    names: dict[str, int] = {}
    width: int | None = None
    counts: dict[str, int] = {}  # by name, the last number that was appended to it: very many columns may share one
    for number, text in zip(numbers, texts, strict=True):
        if not text and not rows.hold_data(table.columns[number]):
            width = _count_delimited(table, rows) if width is None else width
            if number >= width:
                continue
        name = (unescape_formula(text) if table.formulas == "escape" else text) or column_letters(number)
        if name in names or (not text and name in given):
            base, name = name, _number_name(name, names, given, counts)
            row = rows.name_row if rows.names else rows.row(0)
            message = f"{base!r} is the name of another column, too, so this one is read as {name!r}"
            doubts.append(Doubt("repeated", message, row, number))
        names[name] = number
    return names


def _number_name(base: str, names: Collection[str], given: Collection[str], counts: dict[str, int]) -> str:
    """Return a name with the next number that makes it another one than those before, and those that stand there."""
    count = counts.get(base, 1) + 1
    while (name := f"{base}_{count}") in names or name in given:
        count += 1
    counts[base] = count
    return name


def _count_delimited(table: Table, rows: TableRows) -> int:
    """Return the number of columns that each row of a text has by its delimiters; 0 if names tell of the columns, or
    white space delimits, which often ends lines.
    """
    is_delimited = table.marks is not None and table.marks.delimiter.strip(" ") != ""
    if rows.names or table.count_cells is None or not is_delimited or not len(rows.data):
        return 0
    counts = table.count_cells()
    data = rows.data
    return int((counts[data.start : data.stop] if isinstance(data, range) else counts[data]).min())


def _join_names(cells: list[list[str]]) -> list[str]:
    """Return the name of each column from its cells in the rows of names, a list for each column.

    In a row above others, a cell counts for the blank ones to its right, as if they were merged, where names stand
    below them, up to the column in which a row above begins another group.
    """
    height = max(map(len, cells), default=0)
    names: list[list[str]] = [[] for _ in cells]
    for row in range(height):
        last = ""
        for column, name in zip(cells, names, strict=True):
            if any(column[:row]):
                last = ""
            if column[row]:  # names below it are those of a group
                last = column[row] if any(column[row + 1 :]) else ""
            name.append(column[row] or (last if any(column[row + 1 :]) else ""))
    return [" ".join(filter(None, name)) for name in names]


def _text(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell.strip(WHITE)
    if is_blank(cell) or isinstance(cell, Unreadable):
        return ""
    return format_bool(cell) if isinstance(cell, bool) else parse_string(cell)


def select_names(names: Mapping[str, int], columns: Sequence[str] | None) -> list[str]:
    """Return the names of the columns that the caller asked for, each once. A column's letter is a name of it, too.

    Raises:
        NotFoundError: no such column; the message lists those that there are.
    """
    check_kinds(Collection | None, "a list of names, or one name", columns=columns)
    if columns is None:
        return list(names)
    by_letter = {column_letters(number): name for name, number in names.items()}
    selected = []
    for column in [columns] if isinstance(columns, str) else columns:
        name = column if column in names else by_letter.get(column)
        if name is None:
            raise NotFoundError(f"no column {column!r}; there is {quote_names(list(names), _MOST_LISTED)}")
        selected.append(name)
    return list(dict.fromkeys(selected))
