"""A delimited text as an ordinary table: all of its columns, split in plain Python where rows are few."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from ...dtypes import Mask, Positions
from ...elements import Cell
from ...elements.spelling import DecimalMark
from ...errors import FormatError
from ...files import Source
from ...tables import Table, TextColumn
from .blank import drop_blank_lines
from .bulk import parse_texts
from .records import Records
from .sheet import CsvSheet
from .sparse import read_sparse

if TYPE_CHECKING:
    import polars as pl

_FEW_ROWS = 256
_DENSE = 2**22  # cells; a table with no more is held whole, however many of them are blank
_SMALL = 2**26  # bytes; of a smaller text the lines are counted first
_BEGINNING = 2**16  # bytes of the beginning that are counted first: as a rule they show that there are many lines
_LOOKED_AT = 2**16  # bytes that are looked at for line feeds: they stay in the processor's cache
_MOST_COLUMNS = 2**17
_BLANK_LINE = re.compile(rb"(?:\A|\n)[ \t]*\r?(?=\n)")


class CsvTable(CsvSheet):
    """The one sheet of a delimited text that is meant as a table; see `tables.TableSheet`.

    Args:
        source: the text.
        delimiter: between cells; None finds it.
        encoding: None is the byte order mark's, else strict UTF-8.
        skip_rows: rows that are not looked at to find the delimiter: their number, or the rows themselves.
        comment: rows that begin with this text are not looked at either.
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
        """Return all cells."""
        self._text.take()
        whole = self._text.content
        blanks = f" \t\r\n{self._text.delimiter}".encode()
        beginning = bytes(whole[self._text.start : self._text.start + _BEGINNING])
        has_many_rows = beginning.count(b"\n") > _FEW_ROWS and beginning.strip(blanks)
        if len(whole) <= _SMALL and not has_many_rows:
            content = bytes(whole)
            if not content[self._text.start :].strip(blanks):
                return Table(0, {})
            if max(map(content.count, (b"\n", b"\r"))) <= _FEW_ROWS:
                return self._split()
        return self._parsed_table() or self._split()

    def _split(self) -> Table:
        """Return the table record by record."""
        self._text.check_sound()
        cells_of_rows = self._text.with_records(lambda records: [*records.rows_from(0, _MOST_COLUMNS + 1)])
        rows = [self._text.put_quotes_back(cells) for cells in cells_of_rows]
        lines = np.flatnonzero([len(cells) == 1 and not cells[0].strip() for cells in rows])
        for cells in rows:
            while cells and not cells[-1]:
                cells.pop()
        _check_width(max(map(len, rows), default=0))
        columns = zip_longest(*rows)
        columns_of_text = {number: TextColumn(list(texts)) for number, texts in enumerate(columns)}
        return Table(len(rows), columns_of_text, lines, are_quoted=self._are_quoted)

    def _parsed_table(self) -> Table | None:
        """Return the table as the engine parses it; None if the engine might parse the text in another way than we."""
        self._text.check_sound()
        whole = self._text.content
        text, _ = self._text.engine_source(self._text.start, 0)
        quoted = whole.find(b'"', self._text.start) >= 0
        sheet_rows = None
        fewer = drop_blank_lines(self._text.units, self._text.start, self._text.delimiter)
        if fewer is not None:
            whole, sheet_rows = fewer
            text = whole
        width = max(map(len, self.head(20_000)[0]), default=1)
        lines_at_most = _count_feeds(whole, self._text.start if sheet_rows is None else 0) + 1
        is_tried = not _is_sparse(lines_at_most * width, len(whole))
        columns = self._parse(text, width, quoted) if is_tried else None
        if columns is None:
            if (sparse := self._sparse_table(whole, sheet_rows)) is not None:
                return sparse
            if not quoted:
                width = _width(bytes(whole), self._text.delimiter)
                _check_width(width)
            if not (quoted and is_tried):
                columns = self._parse(text, width, quoted)
        if columns is None:
            return None
        if self._text.stand_in:
            columns = [column.str.replace_all(self._text.stand_in, '"', literal=True) for column in columns]
        lines = np.empty(0, dtype=np.int64)
        if (blank := _blank_rows(columns)) is not None:
            lines_of_text = bytes(whole)[0 if sheet_rows is not None else self._text.start :]
            if quoted and _BLANK_LINE.search(lines_of_text):
                return None  # a line is not always a record
            lines = lines if quoted else _blank_lines(lines_of_text, blank.to_numpy(), self._text.delimiter)
        cells = {number: TextColumn(column) for number, column in enumerate(columns)}
        return Table(len(columns[0]), cells, lines, sheet_rows, self._are_quoted)

    def _parse(self, text: Any, width: int, quoted: bool) -> list[pl.Series] | None:
        """Return the columns of the text, or of its file; None where a row has more than `width` cells."""
        return parse_texts(text, width, delimiter=self._text.delimiter, quotes=quoted)

    def _sparse_table(self, content: Any, sheet_rows: Positions | None) -> Table | None:
        """Return the table of a text of very uneven rows; None if it has fewer cells than bytes.

        Args:
            content: the text, perhaps without its blank lines.
            sheet_rows: the row of each line that is left; None if no line was left out.
        """
        if self._text.content is content and self._text.records is not None:
            records = self._text.records
        else:
            records = Records(np.frombuffer(content, np.uint8), 0, self._text.delimiter)
        height, width = records.size()
        if not _is_sparse(height * width, len(content)):
            return None
        _check_width(width)
        columns, lines = read_sparse(records, height)
        if self._text.stand_in:
            for column in columns.values():
                column.replace(self._text.stand_in, '"')
        return Table(height, columns, lines, sheet_rows, self._are_quoted)

    def _are_quoted(self, rows: list[int], mark: str) -> Mask:
        """Return a mask of the rows whose first text stands in quotes; nothing is looked at if no quoted text begins
        with the mark.
        """
        quoted = np.zeros(len(rows), dtype=np.bool_)
        if re.search(rb'"\s*' + re.escape(mark.encode()), self._text.content):
            begins = re.compile(rb'[\s%s]*"' % re.escape(self._text.delimiter.encode()))
            starts = self._text.with_records(lambda records: list(records.starts_of(rows)))
            quoted[: len(starts)] = [begins.match(self._text.content, start) is not None for start in starts]
        return quoted


def _count_feeds(content: Any, start: int) -> int:
    """Return the number of line feeds from a position on."""
    units = np.frombuffer(content, np.uint8)
    blocks = range(start, len(units), _LOOKED_AT)
    return sum(int(np.count_nonzero(units[position : position + _LOOKED_AT] == ord("\n"))) for position in blocks)


def _is_sparse(cells: int, size: int) -> bool:
    """Return whether a table has more cells, blanks included, than its text has bytes, and too many to hold."""
    return cells > max(size, _DENSE)


def _blank_rows(columns: Sequence[pl.Series]) -> pl.Series | None:
    """Return the rows of several columns in which no cell is more than white space; None if no row is blank."""
    blank = None
    for column in reversed(columns[1:]):
        if not column.null_count():
            return None
        blank = column.is_null() if blank is None else blank & column.is_null()
    if blank is None:
        return None
    rows = (blank & (columns[0].str.strip_chars().fill_null("") == "")).arg_true()
    return rows if len(rows) else None


def _blank_lines(text: bytes, rows: np.ndarray[Any, Any], delimiter: str) -> np.ndarray[Any, Any]:
    """Return those of some blank rows that are lines without a delimiter."""
    units = np.frombuffer(text, dtype=np.uint8)
    ends = np.concatenate([[-1], np.flatnonzero(units == ord("\n")), [len(text)]])
    starts, stops = ends[rows] + 1, ends[rows + 1]
    first = units[np.minimum(starts, len(units) - 1)]
    blank = (starts == stops) | ((stops - starts == 1) & (first == ord("\r")))
    for index in np.flatnonzero(~blank & (first != ord(delimiter))).tolist():
        blank[index] = not text[starts[index] : stops[index]].strip(b" \t\r")
    return np.asarray(rows[blank], dtype=np.int64)


def _check_width(width: int) -> None:
    """Refuse more than `_MOST_COLUMNS` columns: the delimiter is then a wrong one.

    Raises:
        FormatError: there are more.
    """
    if width > _MOST_COLUMNS:
        raise FormatError(f"more than {_MOST_COLUMNS:,} columns", hint="name the delimiter, for example delimiter=';'")


def _width(text: bytes, delimiter: str) -> int:
    """Return the number of cells in the longest line."""
    units = np.frombuffer(text, dtype=np.uint8)
    ends = np.concatenate([np.flatnonzero(units == ord("\n")), [len(units)]])
    marks = np.searchsorted(np.flatnonzero(units == ord(delimiter)), ends)
    return 1 + int(np.diff(marks, prepend=0).max())
