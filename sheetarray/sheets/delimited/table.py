"""Ordinary tables in delimited text, those with few cells in very many columns too."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from ...columns import column_letters
from ...dtypes import Mask, Positions
from ...elements import Cell, is_blank
from ...elements.scalars import DecimalMark
from ...errors import FormatError
from ...files import Source
from ...tables import Table, TableColumn, TextColumn
from ...tables.numerals import WHITE
from .sheet import CsvSheet

if TYPE_CHECKING:
    import polars as pl


# Tables of very uneven rows, as columns of few cells: all of their blanks would take more memory than the text.

_SHORT = 256  # cells that make a list, not a Series
MOST_CELLS = 2**27  # cells of a table that is mostly blank, blanks included; as floats they take 1 GiB


class SparseColumn:
    """A column most of whose cells are blank; see `tables.RawColumn`.

    `height`: the number of rows of the table.
    """

    def __init__(self, rows: Positions, texts: list[str], height: int) -> None:
        self._rows, self._texts, self._height = rows, texts, height

    def cell(self, row: int) -> Cell:
        """Return the cell in a row."""
        index = int(np.searchsorted(self._rows, row))
        return self._texts[index] if index < len(self._rows) and self._rows[index] == row else None

    def mark_filled(self) -> Mask:
        """Return a mask of the rows that hold something."""
        mask: Mask = np.zeros(self._height, np.bool_)
        mask[self._rows[[not is_blank(text) for text in self._texts]]] = True
        return mask

    def begins(self, mark: str) -> Positions:
        """Return the rows in which text begins with a mark."""
        return self._rows[[text.lstrip(WHITE).startswith(mark) for text in self._texts]]

    def take(self, rows: range | Positions) -> TableColumn:
        """Return the cells of some rows."""
        if isinstance(rows, range):
            first, end = np.searchsorted(self._rows, [rows.start, rows.stop]).tolist()
            indices, texts = self._rows[first:end] - rows.start, self._texts[first:end]
        else:
            indices, texts = _cut_to(rows, self._rows, self._texts)
        if len(rows) > _SHORT:
            return TableColumn(_series(indices, texts, len(rows)))
        cells: list[str | None] = [None] * len(rows)
        for index, text in zip(indices.tolist(), texts, strict=True):
            cells[index] = text
        return TableColumn(cells)


def _cut_to(kept: Positions, rows: Positions, texts: list[str]) -> tuple[Positions, list[str]]:
    """Return the texts that stand in some rows, and where each of their rows stands among `kept`."""
    indices = np.searchsorted(kept, rows)
    held = np.append(kept, -1)[indices] == rows
    return indices[held], [texts[index] for index in np.flatnonzero(held).tolist()]


def _series(indices: Positions, texts: list[str], count: int) -> pl.Series:
    import polars as pl

    column = pl.Series([None], dtype=pl.String).new_from_index(0, count)
    return column.scatter(indices, texts) if texts else column


# A delimited text as an ordinary table: all of its columns.

_FEW_ROWS = 256  # of which columns are lists
_DENSE = 2**20  # cells; a table with no more is held whole, however many of them are blank
_LEAST_SHARE = 1  # cells for each byte of the text, blanks included; a table with no more is held whole, too
_MANY_LINES = 10_000  # blank lines; fewer take no time
_MOST_COLUMNS = 2**17


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
        """Return all cells; of a table of several columns without its blank lines, if they are very many.

        Raises:
            FormatError: more than `_MOST_COLUMNS` columns; the delimiter is then a wrong one.
        """
        records = self.records
        height, width, lines = records.count, records.width, records.blank_lines()
        if width > _MOST_COLUMNS:
            hint = "name the delimiter, for example delimiter=';'"
            raise FormatError(f"more than {_MOST_COLUMNS:,} columns", hint=hint)
        kept, first, end = None, 0, height
        if width > 1 and len(lines) > _MANY_LINES:
            is_kept = np.ones(height, np.bool_)
            is_kept[lines] = False
            kept = np.flatnonzero(is_kept)
            first, end = int(kept[0]), int(kept[-1]) + 1
        is_blank = len(lines) > max(_MANY_LINES, height - height // 8)
        if height <= _FEW_ROWS:
            rows = list(records.rows_from(0))
            for cells in rows:
                while cells and not cells[-1]:
                    cells.pop()
            columns: dict[int, Any] = {n: TextColumn(list(texts)) for n, texts in enumerate(zip_longest(*rows))}
        elif is_blank or height * width > max(_LEAST_SHARE * len(self._content[0]), _DENSE):
            columns = self._read_sparse(kept, first, end)
        else:
            texts_of_columns = records.read([(column, first, end, "t") for column in range(width)])
            rows_of_text = None if kept is None else kept - first
            columns = {
                n: TextColumn(texts if rows_of_text is None else texts.gather(rows_of_text))
                for n, texts in enumerate(texts_of_columns)
            }
        if kept is not None:
            height, lines = len(kept), lines[:0]
        return Table(height, columns, lines, kept, self._are_quoted)

    def _read_sparse(self, kept: Positions | None, first: int, end: int) -> dict[int, SparseColumn]:
        """Return the columns of a text of very uneven rows, most of whose cells are blank.

        `kept`: the records that are rows of the table; None for all. `first`, `end`: all of these stand between them.
        """
        records = self.records
        height = records.count if kept is None else len(kept)
        cells = records.read([(column, first, end, "s") for column in range(records.width)])
        columns = {}
        for number, (rows, texts) in enumerate(cells):
            if kept is not None:
                rows, texts = _cut_to(kept, rows, texts)
            if len(rows):
                columns[number] = SparseColumn(rows, texts, height)
        if height * len(columns) > MOST_CELLS:
            raise FormatError(
                f"{height:,} rows of {len(columns):,} columns, most of their cells blank",
                location=f"column {column_letters(max(columns))}",
                hint="name the delimiter if it is another one (delimiter=), or delete lines that are not of the table",
            )
        return columns

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
