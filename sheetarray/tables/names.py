"""The names of a table's columns, and which of them a caller means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..columns import cell_address, column_letters
from ..elements import Cell, Unreadable, format_bool, is_blank, parse_string
from ..errors import NotFoundError, quote_names
from .cells import RawColumn, Table
from .notes import Notes
from .numerals import WHITE
from .rows import TableRows

_MOST_LISTED = 20  # names in a message


def name_columns(table: Table, rows: TableRows, notes: Notes) -> dict[str, int]:
    """Return the numbers of columns, counted from 0, by their names: the text in the rows of names, else the letter.

    A name that another column has already becomes `name_2`, or `name_3` if a further column is called `name_2`. Columns
    that have neither a name nor a cell are left out.
    """
    texts = {number: _name(table.columns[number], rows.names) for number in sorted(table.columns)}
    given = set(texts.values()) - {""}
    names: dict[str, int] = {}
    counts: dict[str, int] = {}  # by name, the last number that was appended to it: very many columns may share one
    for number, text in texts.items():
        if not text and not _holds_data(table.columns[number], rows):
            continue
        name = text or column_letters(number)
        if name in names or (not text and name in given):
            base, count = name, counts.get(name, 1) + 1
            while (name := f"{base}_{count}") in names or name in given:
                count += 1
            counts[base] = count
            address = cell_address(rows.name_row if rows.names else rows.row(0), number)
            notes.add("names", f"{base!r} is the name of another column too: read as {name!r}", address)
        names[name] = number
    return names


def _name(column: RawColumn, rows: Sequence[int]) -> str:
    return " ".join(text for row in rows if (text := _text(column.cell(row))))


def _text(cell: Cell) -> str:
    if is_blank(cell) or isinstance(cell, Unreadable):
        return ""
    return format_bool(cell) if isinstance(cell, bool) else parse_string(cell).strip(WHITE)


def _holds_data(column: RawColumn, rows: TableRows) -> bool:
    if len(rows.data) and not is_blank(column.cell(int(rows.data[0]))):
        return True
    filled = column.mark_filled()
    data = rows.data
    if isinstance(data, range):
        return bool(filled[data.start : data.stop].any())
    return bool(filled[data[data < len(filled)]].any())


def select_names(names: Mapping[str, int], columns: Sequence[str] | None) -> list[str]:
    """Return the names that are meant, each once; a column's letter means it as well.

    Raises:
        NotFoundError: no such column; the message lists those that there are.
    """
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
