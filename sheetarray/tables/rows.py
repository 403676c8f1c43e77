"""Selects the rows of a sheet in which the names and the data of a table stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dtypes import Mask, Positions
from ..elements import Cell, is_blank
from ..errors import FormatError
from .cells import Table
from .numerals import reads_as_value
from .options import TableOptions

_FEW = 16  # rows at either end of a table, which are looked at one by one before masks of all rows are made


@dataclass(frozen=True)
class TableRows:
    """The rows of a table.

    Attributes:
        table: whose rows they are.
        names: the rows that hold the names of columns.
        data: the rows that hold data, ascending.
    """

    table: Table
    names: list[int]
    data: range | Positions

    def row(self, index: int) -> int:
        """Return the row in the sheet of a cell of a column, by its index."""
        return self.table.row_of(int(self.data[index])) if index < len(self.data) else self.name_row

    @property
    def name_row(self) -> int:
        """The last row of the sheet that holds names; the first row if none does."""
        return self.table.row_of(self.names[-1]) if self.names else 0


def select_rows(table: Table, options: TableOptions) -> TableRows:
    """Return the rows that hold the names and the data of a table.

    Rows without a cell count within the table, and neither above nor below it; lines that hold nothing, not even a
    delimiter, count only where there is but one column.

    Raises:
        FormatError: no row holds anything, or there are fewer than those of names.
    """
    rows = _take_rows(table, options)
    if not len(rows):
        raise _empty_table_error(table, options)
    if len(rows) < int(options.header or 0):
        raise FormatError(
            f"header={int(options.header or 0)}, but the table ends after row {table.row_of(int(rows[-1])) + 1}",
            hint=f"it has {len(rows)} {'row' if len(rows) == 1 else 'rows'}, those of names among them",
        )
    if options.header is None:
        count = int(has_names([column.cell(int(rows[0])) for column in table.columns.values()]))
    else:
        count = int(options.header)
    return TableRows(table, [int(row) for row in rows[:count]], rows[count:])


def _empty_table_error(table: Table, options: TableOptions) -> FormatError:
    """Return an error that says that a table has no rows, and names the options that passed over all there were."""
    filled, _ = _filled_rows(table, None)
    if not filled.any():
        return FormatError("an empty table")
    given = [f"skip_rows={options.skip_rows!r:.40}"] if options.skipped_above or options.skipped_rows else []
    given += [f"skip_footer={options.skip_footer}"] if options.skip_footer else []
    given += [f"comment={options.comment!r}"] if options.comment is not None else []
    count = int(np.count_nonzero(filled))
    return FormatError(
        f"an empty table: {' and '.join(given) or 'its options'} passed over all of its rows",
        hint=f"{count} {'row holds' if count == 1 else 'rows hold'} something, down to row "
        f"{table.row_of(int(np.flatnonzero(filled)[-1])) + 1}",
    )


def has_names(cells: list[Cell]) -> bool:
    """Return whether a first row holds names: some cell of it reads neither as a number nor as a date or a boolean."""
    return any(isinstance(cell, str) and not is_blank(cell) and not reads_as_value(cell) for cell in cells)


def _take_rows(table: Table, options: TableOptions) -> range | Positions:
    """Return the rows from the first that holds something to the last, without those that are passed over."""
    lines = table.lines if len(table.columns) > 1 else table.lines[:0]
    above = table.index_of(options.skipped_above)
    if not (options.skipped_rows or options.comment or options.skip_footer or len(lines)):
        first, last = _first(table, above), _last(table)
        if first is not None and last is not None:
            return range(first, last + 1)
    counts = np.ones(table.height, dtype=bool)
    counts[:above] = False
    counts[lines] = False
    skipped = [(row, table.index_of(row)) for row in options.skipped_rows]
    counts[[index for row, index in skipped if index < table.height and table.row_of(index) == row]] = False
    filled, comments = _filled_rows(table, options.comment)
    counts[comments] = False
    held = np.flatnonzero(filled & counts)
    if options.skip_footer:
        held = held[: max(0, len(held) - options.skip_footer)]
    if not len(held):
        return range(0)
    counts[: held[0]] = False
    counts[held[-1] + 1 :] = False
    return np.flatnonzero(counts)


def _first(table: Table, start: int) -> int | None:
    """Return the first row that holds something, if it is one of the first few."""
    rows = range(start, min(start + _FEW, table.height))
    return next((row for row in rows if _holds(table, row)), None)


def _last(table: Table) -> int | None:
    """Return the last row that holds something, if it is one of the last few."""
    rows = range(table.height - 1, max(table.height - 1 - _FEW, -1), -1)
    return next((row for row in rows if _holds(table, row)), None)


def _holds(table: Table, row: int) -> bool:
    return any(not is_blank(column.cell(row)) for column in table.columns.values())


def _filled_rows(table: Table, comment: str | None) -> tuple[Mask, Mask]:
    """Return masks of the rows that hold something, and of those that begin with the mark of a comment."""
    filled, comments = np.zeros(table.height, dtype=bool), np.zeros(table.height, dtype=bool)
    for number in sorted(table.columns):
        column = table.columns[number]
        if comment is not None:
            rows = column.begins(comment)
            comments[rows[~filled[rows]]] = True
        held = column.mark_filled()
        filled[: len(held)] |= held
    if comment is not None and table.are_quoted is not None and comments.any():
        rows = np.flatnonzero(comments)
        comments[rows[table.are_quoted([table.row_of(int(row)) for row in rows], comment)]] = False
    return filled, comments
