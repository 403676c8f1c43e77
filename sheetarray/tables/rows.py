"""Selects the rows with the names and the data of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dtypes import Mask, Positions
from ..elements import Cell, is_blank
from ..errors import FormatError
from .cells import RawColumn, Table
from .heading import Heading, find_heading, list_cells
from .options import TableOptions

_MOST_OUTSIDE = 1200  # rows, and columns, of what stands outside a table that are looked at


class EmptySheetError(FormatError):
    """The error of a sheet that holds no cell."""


@dataclass(frozen=True)
class TableRows:
    """The rows of a table."""

    table: Table  # whose rows they are
    names: list[int]  # the rows that hold the names of columns
    data: range | Positions  # the rows that hold data, ascending
    heading: Heading  # what was found of the rows above the data
    all: range | Positions  # the rows that may belong to the table, those above it among them

    def row(self, index: int) -> int:
        """Return the row in the sheet of a cell of a column, by its index."""
        return self.table.row_of(int(self.data[index])) if index < len(self.data) else self.name_row

    def index_of(self, row: int) -> int | None:
        """Return the index of the cells of a row of the sheet; None if it holds no data."""
        place = self.table.index_of(row)
        index = int(np.searchsorted(np.asarray(self.data, np.int64), place))
        is_data = index < len(self.data) and int(self.data[index]) == place and self.table.row_of(place) == row
        return index if is_data else None

    @property
    def name_row(self) -> int:
        """The last row of the sheet that holds names; the first row if none does."""
        return self.table.row_of(self.names[-1]) if self.names else 0

    def find_runs(self) -> list[tuple[int, int]]:
        """Return where rows of data stand one below the other: for each such run the number of its first row of data,
        and the row of the sheet in which that stands.
        """
        if isinstance(self.data, range) and self.table.sheet_rows is None:
            return [(0, self.data.start)] if len(self.data) else []
        rows = self.table.rows_of(np.asarray(self.data, np.int64))
        firsts = np.flatnonzero(np.diff(rows, prepend=rows[:1] - 2) != 1)
        return list(zip(firsts.tolist(), rows[firsts].tolist(), strict=True))

    def list_outside(self, whole: Table) -> dict[tuple[int, int], Cell]:
        """Return the cells of the whole sheet that the table leaves out, by row and column: the first ones of them."""
        end = int(self.data[-1]) + 1 if len(self.data) else 0  # a record may tell of blank rows further below
        inside = np.zeros(max(whole.height, self.table.height, end), np.bool_)
        data = self.data
        inside[self.names], inside[slice(data.start, data.stop) if isinstance(data, range) else data] = True, True
        outside = np.flatnonzero(~inside)[:_MOST_OUTSIDE].tolist()
        cells: dict[tuple[int, int], Cell] = {}
        for number in sorted(whole.columns)[:_MOST_OUTSIDE]:
            rows = range(min(whole.height, _MOST_OUTSIDE)) if number not in self.table.columns else outside
            if rows:
                held = zip(rows, whole.columns[number].cells(rows), strict=True)
                cells |= {(whole.row_of(row), number): cell for row, cell in held if not is_blank(cell)}
        return dict(sorted(cells.items()))

    def hold_data(self, column: RawColumn) -> bool:
        """Return whether a column holds something in the rows of data."""
        data = self.data
        if len(data) and not is_blank(column.cells([int(data[0])])[0]):
            return True
        filled = column.mark_filled()
        if isinstance(data, range):
            return bool(filled[data.start : data.stop].any())
        return bool(filled[data[data < len(filled)]].any())


def select_rows(table: Table, options: TableOptions, least_rows: int = 0) -> TableRows:
    """Return the rows that hold the names and the data of a table.

    `least_rows`: of data, which count although the last of them are blank.

    Raises:
        FormatError: no row holds anything, or there are fewer than those of names.
    """
    is_cut = options.skipped_above or options.skipped_rows or options.skip_footer or options.comment is not None
    rows = range(table.height) if table.is_full and not is_cut else _take_rows(table, options, least_rows)
    if not len(rows):
        raise _empty_table_error(table, options)
    if len(rows) < int(options.header or 0):
        raise FormatError(
            f"header={int(options.header or 0)}, but the table ends after row {table.row_of(int(rows[-1])) + 1}",
            hint=f"it has {len(rows)} {'row' if len(rows) == 1 else 'rows'}, including the rows of names",
        )
    heading = find_heading(table, rows, None if options.header is None else int(options.header))
    first = heading.above
    data = rows[first + heading.names + heading.rules :]
    if heading.names > 1 and len(data) > 1:
        cells = list_cells(table, sorted(table.columns), [int(data[0])])[0]
        if cells.count(None) == len(cells):  # pandas writes a blank row below names in several rows
            data = data[1:]
    if options.nrows is not None:
        data = data[: options.nrows]
    return TableRows(table, [int(row) for row in rows[first : first + heading.names]], data, heading, rows)


def _empty_table_error(table: Table, options: TableOptions) -> FormatError:
    """Return an error that says that a table has no rows, and names the options that passed over all there were."""
    filled, _ = _filled_rows(table, None)
    if not filled.any():
        return EmptySheetError("an empty table")
    given = [f"skip_rows={options.skip_rows!r:.40}"] if options.skipped_above or options.skipped_rows else []
    given += [f"skip_footer={options.skip_footer}"] if options.skip_footer else []
    given += [f"comment={options.comment!r}"] if options.comment is not None else []
    count = int(np.count_nonzero(filled))
    return FormatError(
        f"an empty table: {' and '.join(given) or 'its options'} skipped all of its rows",
        hint=f"{count} {'row holds' if count == 1 else 'rows hold'} something, down to row "
        f"{table.row_of(int(np.flatnonzero(filled)[-1])) + 1}",
    )


def _take_rows(table: Table, options: TableOptions, least_rows: int) -> range | Positions:
    """Return the rows from the first to the last that hold something, without skipped rows and comments."""
    above = max(table.first, table.index_of(options.skipped_above))
    counts = np.ones(table.height, dtype=bool)
    counts[:above] = False
    skipped = [(row, table.index_of(row)) for row in options.skipped_rows]
    counts[[index for row, index in skipped if index < table.height and table.row_of(index) == row]] = False
    filled, comments = _filled_rows(table, options.comment)
    counts[comments] = False
    if options.skip_footer:
        end = (table.count_rows() if table.end is None else table.end) - options.skip_footer
        counts[table.index_of(max(end, 0)) :] = False
    held = filled & counts
    if not held.any():
        return range(0)
    first, end = int(held.argmax()), len(held) - int(held[::-1].argmax())
    if least_rows:
        return range(first, max(end, first + (1 if options.header is None else int(options.header)) + least_rows))
    return range(first, end) if counts[first:end].all() else first + np.flatnonzero(counts[first:end])


def _filled_rows(table: Table, comment: str | None) -> tuple[Mask, Mask]:
    """Return masks of the rows that hold something, and of those that begin with the mark of a comment."""
    filled, comments = np.zeros(table.height, dtype=bool), np.zeros(table.height, dtype=bool)
    for number in sorted(table.columns):
        column = table.columns[number]
        if comment is not None:
            rows = column.begins(comment)
            rows = rows[rows < table.height]
            comments[rows[~filled[rows]]] = True
        held = column.mark_filled()[: table.height]
        filled[: len(held)] |= held
        if comment is None and filled.all():
            break  # one full column says it of all
    filled[: table.first] = False
    if comment is not None and table.are_quoted is not None and comments.any():
        rows = np.flatnonzero(comments)
        comments[rows[table.are_quoted([table.row_of(int(row)) for row in rows], comment)]] = False
    return filled, comments
