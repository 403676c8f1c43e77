"""A delimited text as an ordinary table: all of its columns, and the rows that hold something."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from ...columns import cell_address
from ...dtypes import Mask, Positions
from ...elements import Cell
from ...elements.scalars import DecimalMark
from ...errors import FormatError
from ...files import Source
from ...tables import SHORT, Table, TextColumn
from .sheet import CsvSheet

if TYPE_CHECKING:
    import polars as pl

_MOST_COLUMNS = 2**17
_LOW = 2**16  # rows of a column that is a list
MOST_BLANK = 2**24  # cells of a table that has more cells than its text has characters: nearly all of them are blank


class CsvTable(CsvSheet):
    """The one sheet of a delimited text that is meant as a table; see `tables.TableSheet`.

    `delimiter`: between cells; None finds it. `encoding`: None is the byte order mark's, else strict UTF-8.
    `skip_rows`: rows that are not looked at to find the delimiter: their number, or the rows themselves. `comment`:
    rows that begin with this text are not looked at either.
    """

    def __init__(
        self,
        source: Source,
        delimiter: str | None,
        decimal: DecimalMark | None,
        encoding: str | None,
        *,
        skip_rows: int | Collection[int] = 0,
        comment: str | None = None,
    ) -> None:
        super().__init__(source, delimiter, decimal, encoding, "keep", table=True, skip_rows=skip_rows, comment=comment)
        self._heads: dict[int, tuple[Sequence[Sequence[Cell]], bool]] = {}

    def head(self, budget: int) -> tuple[Sequence[Sequence[Cell]], bool]:
        """Return the first rows, and keep them: they are looked at for arrays, and for the width of the table."""
        if budget not in self._heads:
            self._heads[budget] = super().head(budget)
        return self._heads[budget]

    def table(self) -> Table:
        """Return all cells. Lines without a cell are no rows where there are several columns.

        Raises:
            FormatError: very many columns, or nearly all cells are blank; the delimiter is then a wrong one.
        """
        records = self.records
        width, rows = records.width, self._find_rows()
        if width > _MOST_COLUMNS:
            hint = "name the delimiter, for example delimiter=';'"
            raise FormatError(f"more than {_MOST_COLUMNS:,} columns", hint=hint)
        first, end = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
        is_sparse = width > 1 and len(rows) * width > len(self._content[0]) - len(records.blank_lines())
        if is_sparse and len(rows) * width > MOST_BLANK:
            raise FormatError(
                f"{len(rows):,} rows of {width:,} columns, most of their cells blank",
                location=cell_address(first, 0),
                hint="name the delimiter if it is another one (delimiter=), or delete lines that are not of the table",
            )
        columns: dict[int, Any] = {}
        if end - first <= SHORT:
            wanted = {*rows.tolist()}
            records_below = zip(range(first, end), records.rows_from(first), strict=False)
            listed = [cells for row, cells in records_below if row in wanted]
            for cells in listed:
                while cells and not cells[-1]:
                    cells.pop()
            columns = {number: TextColumn(list(texts)) for number, texts in enumerate(zip_longest(*listed))}
        elif not is_sparse and len(rows) == end - first and 2 * len(records.blank_lines()) < len(rows):
            for number, texts in enumerate(records.read([(column, first, end, "t") for column in range(width)])):
                columns[number] = TextColumn(texts)
        else:  # only cells that hold something: there may be thousands of columns with few, or millions of blank lines
            for number, (at, texts) in enumerate(records.read([(column, first, end, "s") for column in range(width)])):
                columns[number] = TextColumn(_spread(at, texts, rows))
        return Table(len(rows), columns, rows if first or len(rows) < end - first else None, self._are_quoted)

    def _find_rows(self) -> Positions:
        """Return the rows from the first that holds something to the last; of several columns, no blank lines."""
        records = self.records
        is_held = np.ones(records.count, np.bool_)
        is_held[records.blank_lines()] = False
        held = np.flatnonzero(is_held)
        return np.arange(held[0], held[-1] + 1) if records.width == 1 and len(held) else held

    def _are_quoted(self, rows: list[int], mark: str) -> Mask:
        """Return a mask of the rows whose first text stands in quotes; nothing is looked at if no quoted text begins
        with the mark.
        """
        quoted = np.zeros(len(rows), dtype=np.bool_)
        content = self._content[0]
        if re.search(rb'"\s*' + re.escape(mark.encode()), content):
            begins = re.compile(rb'[\s%s]*"' % re.escape(self.delimiter.encode()))
            starts = self.records.places_of(rows)
            quoted[: len(starts)] = [begins.match(content, start) is not None for start in starts]
        return quoted


def _spread(at: Positions, texts: list[str], rows: Positions) -> pl.Series | list[str | None]:
    """Return a column by its texts that are not blank, and the records in which these stand; a list if it is low.

    `rows`: the records that are rows of the table.
    """
    import polars as pl

    places = np.searchsorted(rows, at)
    held = np.append(rows, -1)[places] == at
    if len(rows) <= _LOW:
        listed: list[str | None] = [None] * len(rows)
        for index in np.flatnonzero(held).tolist():
            listed[places[index]] = texts[index]
        return listed
    column = pl.Series([None], dtype=pl.String).new_from_index(0, len(rows))
    kept = [texts[index] for index in np.flatnonzero(held).tolist()]
    return column.scatter(places[held], kept) if kept else column
