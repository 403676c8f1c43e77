"""Tables whose record says which arrays they are: `read` and `read_dataset` take them as the arrays that were written.

The record of a sheet keeps a `TableNote` of its table: dtypes, labels, dimensions, and which column holds which part of
which array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....columns import Sheet
from ....elements import generic_from_text
from ....errors import FormatError, locating
from ....labels import TableNote, give_labels, stack_labels
from ....linear.named import select
from ....tables import TableOptions, read_table
from ..workbook import Workbook
from .cells import ExcelTable

ArraysByName = dict[str, np.ndarray[Any, Any]]


def find_recorded(book: Workbook, sheets: Sequence[Sheet]) -> dict[str, TableNote]:
    """Return the notes of tables on some sheets, by the titles of the sheets."""
    recorded = {title.casefold(): more.get("table") for title, more in book.record.get("sheets", {}).items()}
    notes = {}
    for sheet in sheets:
        tree = recorded.get((sheet.title or "").casefold())
        if isinstance(tree, dict) and (note := TableNote.from_json(tree)) is not None:
            notes[sheet.title or ""] = replace(note, table=str(tree.get("name", "")))
    return notes


def read_recorded(book: Workbook, notes: dict[str, TableNote], names: Sequence[str] | None) -> ArraysByName:
    """Return the arrays of recorded tables; the labels of one table go to the caller who asks for labels.

    Raises:
        FormatError: the cells of a table are not those of its arrays any more, or two tables have arrays of one name.
        NotFoundError: no array has one of the names.
    """
    arrays: ArraysByName = {}
    places: dict[str, str] = {}
    for title, note in notes.items():
        with locating(sheet=title):
            columns = _read_columns(book, title, note)
            stacked, labels = stack_labels(columns, None, None, note, np.array)
        for name, array in note.as_written(stacked).items():
            if name in places:
                raise FormatError(
                    f"two arrays have the name {name!r:.80}, in the sheets {places[name]!r} and {title!r}",
                    hint="sheet= reads one of the sheets",
                )
            arrays[name], places[name] = array, title
        if len(notes) == 1 and note.is_labelled:
            give_labels(labels)
    return arrays if names is None else select(arrays, names)


def _read_columns(book: Workbook, title: str, note: TableNote) -> ArraysByName:
    """Return the columns of a table, in the dtypes that were written."""
    tables = {} if book.own is None else book.own.tables()
    there = next((table for name, table in tables.items() if name.casefold() == note.table.casefold()), None)
    dtypes = note.dtypes | dict.fromkeys(note.texts, "string")
    options = TableOptions(dtype=dtypes, header=1)
    if there is not None and there.title.casefold() == title.casefold():
        options = TableOptions(dtype=dtypes, table=note.table)
    _, options = options.locate(title, dict, lambda: tables)
    columns: ArraysByName = dict(read_table(ExcelTable(book.sheet(title), is_foreign=False), None, options))
    for name in columns:
        if name in note.texts:
            columns[name] = np.array([text or None for text in columns[name].tolist()], object)
        elif note.dtypes.get(name) == "generic":
            columns[name] = np.array([*map(_without_mark, columns[name].tolist()), None], object)[:-1]
    return columns


def _without_mark(value: Any) -> Any:
    """Return a value of a generic column, without the apostrophe that tells a text such as "1" from a number."""
    is_marked = isinstance(value, str) and value.startswith("'")
    return generic_from_text(value, formulas="escape") if is_marked else value
